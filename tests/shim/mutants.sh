#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants faults in what only a GPU's compiler reads, one at a time, and asks whether the conformance suite finds each where
# the simulated driver runs that text (SLIPRING_FAKE_CUDA_BY=text), and not where it interprets what the front end reads.
# usage: tests/shim/mutants.sh [NAME]   (some minutes: each is built; `make shim-mutants`)
set -euo pipefail
cd "$(dirname "$0")/../.."
only=${1:-}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# name | file | sed expression, which must change something | options of the suite, among them which cases
mutants='
a wrong operator|slr_cuda.h|s/(int)((slri_u32)a - (slri_u32)b)/(int)((slri_u32)a + (slri_u32)b)/|--device cuda:0 --filter language/
a conversion that does not saturate|slr_cuda.h|s/slri_clamp(slri_to_int(a), 0, 255)/slri_to_int(a)/|--device cuda:0 --filter language/
no __syncthreads in a handler|slr_cuda_ring.h|s/^#define SLRI_IN_BLOCK__syncthreads() slri_meet(0)$/#define SLRI_IN_BLOCK__syncthreads() ((void)0)/|--device cuda:0?ring=persistent --filter blocks/
a buffer one byte shorter|slr_cuda_ring.h|s/has - (slri_u64)at >= n/has - (slri_u64)at > n/|--device cuda:0?ring=persistent --filter blocks/,limits/,instances/,faults/
half of a buffer|emit_cuda.c|s/", call->bound\[%u\].bytes", index/", call->bound[%u].bytes \/ 2", index/|--device cuda:0?ring=persistent --filter blocks/,limits/,instances/,faults/
lanes that do not meet|cu_team.h|s/^#define SLR_MEET() __syncwarp()$/#define SLR_MEET() (void)0/|--device cuda:0?ring=persistent --filter mailboxes/
no fence before lanes publish a batch|cu_run.h|s/^    SLR_ORDER(); \/\/ by each lane$//|--device cuda:0?ring=persistent --filter mailboxes/,priority/,instances/,limits/
no fence before a batch is published|cu_handle.h|s/^        SLR_ORDER();$//|--device cuda:0?ring=persistent --filter mailboxes/,priority/,instances/,limits/
'

git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy"
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLIPRING_BUILD_TESTS=ON "-DSLIPRING_TEST_CACHE=$copy/cache")
command -v ccache > /dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake -S "$copy" -B "$copy/build" "${options[@]}" > /dev/null
export SLIPRING_CUDA_LIB=$copy/build/lib/libslipring_fake_cuda.so SLIPRING_NVRTC_LIB=$copy/build/lib/libslipring_fake_cuda.so
export SLIPRING_CACHE_DIR=$copy/cache

build() {
    cmake --build "$copy/build" --parallel "${JOBS:-2}" --target slipring_fake_cuda slipring_cts > "$copy/log" 2>&1 ||
        { tail -20 "$copy/log"; exit 1; }
}

# What the suite says: by "text" or, as ever, by interpreting.
suite() { # BY OPTION...
    SLIPRING_FAKE_CUDA_BY=$1 timeout 500 "$copy/build/bin/slipring-cts" --timeout 20 --optimize 1 "${@:2}" > "$copy/log" 2>&1
}

missed=0
while IFS='|' read -r name file change asked; do
    [[ -n "$name" && (-z "$only" || "$name" == "$only") ]] || continue
    read -r -a cases <<< "$asked"
    path=$(find "$copy/src" -name "$file")
    cp "$path" "$copy/kept"
    sed -i "$change" "$path"
    if cmp -s "$path" "$copy/kept"; then
        echo "STALE  $name: $file has no such line any more"
        missed=1
        continue
    fi
    build
    by_ir=passes by_text=found what=''
    suite interpreter "${cases[@]}" || by_ir=found
    suite text "${cases[@]}" && by_text=passes
    [[ $by_text == found ]] && what=$(grep -E -m1 ' failed$' "$copy/log" || tail -1 "$copy/log")
    [[ $by_text == found && $by_ir == passes ]] || missed=1
    printf '%-6s by text, %-6s by interpreting: %s (%s)\n' "$by_text" "$by_ir" "$name" "$(tr -s ' ' <<< "$what")"
    cp "$copy/kept" "$path"
done <<< "$mutants"
exit $missed

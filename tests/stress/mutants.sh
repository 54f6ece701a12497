#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants faults that the library once had in a copy of it, one at a time, and asks whether random use finds each.
# usage: tests/stress/mutants.sh [SECONDS [NAME]]   (some minutes: each is built; `make api-stress-mutants`)
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-30} only=${2:-}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# name | device, with the address sanitizer; cuda: the simulated driver | file | sed expression, which must change something
mutants='
routes changed beside the first activation|cpu|src/ring/outlets.c|/^static bool has_no_owner/,/^}/ s/^    slri_mutex_.*$//
a call answered by the reply to another|cpu|src/ring/receive.c|s/return found->connection->ring == ring \&\& ring->S/return (void)ring, found->connection->ring->S/; /^static bool is_collected/,/^}/ s/return .*/return (void)found, false;/
replies passed on when all of a batch are there|cuda:0?ring=persistent|src/hal/cuda/device/cu_handle.h|/next reply takes the place/,/slr_pass_on/d; s/^        mb_word claimed = P.MBP_BATCH_COUNT.;/&\n        for (mb_word k = 0u; slr_team.together == 0u \&\& slr_team.set.passage != 0u \&\& k < done; ++k) slr_pass_on(S, P, k);/
credits given back early|cuda:0?ring=persistent|src/ring/grant.c|/^static uint32_t keep/,/^}/ s/open < grant ? open : grant;/open > grant ? open : 0;/
a failed subscriber forgotten|cpu|src/ring/topic.c|/^static bool is_subscribed/,/^}/ s/return .*/return takes_part(ring);/
'

git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy"
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLIPRING_BUILD_TESTS=ON -DSLIPRING_BUILD_TOOLS=OFF -DSLIPRING_SANITIZE=address)
command -v ccache > /dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake -S "$copy" -B "$copy/build" "${options[@]}" > /dev/null
export SLIPRING_CACHE_DIR=$copy/cache
export SLIPRING_CUDA_LIB=$copy/build/lib/libslipring_fake_cuda.so SLIPRING_NVRTC_LIB=$copy/build/lib/libslipring_fake_cuda.so

alive=0
while IFS='|' read -r name device file change; do
    [[ -n "$name" && ( -z "$only" || "$name" == "$only" ) ]] || continue
    cp "$copy/$file" "$copy/kept"
    sed -i "$change" "$copy/$file"
    if cmp -s "$copy/$file" "$copy/kept"; then
        echo "STALE  $name: $file has no such line any more"
        alive=$((alive + 1))
        continue
    fi
    cmake --build "$copy/build" --parallel "${JOBS:-2}" --target slipring_api_stress slipring_fake_cuda > "$copy/log" 2>&1 ||
        { cat "$copy/log"; exit 1; }
    if "$copy/build/tests/api_stress" "$seconds" "$device" > "$copy/log" 2>&1; then
        echo "ALIVE  $name"
        alive=$((alive + 1))
    else
        printf 'found  %s: %s\n' "$name" "$(grep -m1 -E '^api_stress: |ERROR: |runtime error' "$copy/log" || tail -1 "$copy/log")"
    fi
    cp "$copy/kept" "$copy/$file"
done <<< "$mutants"
exit $((alive != 0))

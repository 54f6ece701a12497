#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench-check.sh [BASE]: whether this tree is slower than BASE, a commit (default: HEAD where files differ from it, else
# HEAD~1) or a file of rows that an earlier call has kept. A commit is built beside this tree, and both are measured in
# turn: figures of another hour say little on a machine that others use.
#
# BENCHES ("latency throughput"), FILTER, RUNS (5), PAIRS (15): what is measured, and how often. TOLERANCE (10): percent.
# BENCH_OLD, BENCH_NEW: programs to measure; then nothing is built. BENCH_OUT (build/bench-check): where old.json, new.json
# and index.html go.
# Exit code: that of `slipring bench compare`: 0, 1 where a row has regressed, 4 where the comparison is incomplete.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly out=${BENCH_OUT:-build/bench-check} runs=${RUNS:-5} pairs=${PAIRS:-15}
read -ra benches <<< "${BENCHES:-latency throughput}"
filter=()
[[ -z ${FILTER:-} ]] || filter=(--filter "$FILTER")
mkdir -p "$out"

# build SOURCE BUILD: the program alone.
build() {
    cmake -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE='-O2 -DNDEBUG' > /dev/null
    cmake --build "$2" --parallel "$(nproc)" --target slipring_tool > /dev/null
}

base=${1:-}
if [[ -z $base && -z ${BENCH_OLD:-} ]]; then
    if git diff --quiet HEAD --; then base=HEAD~1; else base=HEAD; fi
fi
old=${BENCH_OLD:-} new=${BENCH_NEW:-}
if [[ -z $old && ! -f $base ]]; then
    commit=$(git rev-parse --verify --short "$base^{commit}")
    if [[ ! -x $out/$commit/build/bin/slipring ]]; then
        mkdir -p "$out/$commit/source"
        git archive "$commit" | tar -x -C "$out/$commit/source"
        echo "building $commit"
        build "$out/$commit/source" "$out/$commit/build"
    fi
    old=$out/$commit/build/bin/slipring
fi
if [[ -z $new ]]; then
    echo "building this tree"
    build . "$out/new"
    new=$out/new/bin/slipring
fi

# measure PROGRAM FILE: one run of each benchmark. A part that fails leaves the rows of the others.
measure() {
    local bench
    for bench in "${benches[@]}"; do
        "$1" bench "$bench" --json --pairs "$pairs" "${filter[@]}" >> "$2" || echo "bench $bench: exit code $?"
    done
}

: > "$out/new.json"
if [[ -n $old ]]; then : > "$out/old.json"; else cp "$base" "$out/old.json"; fi
for ((run = 1; run <= runs; run++)); do
    echo "run $run of $runs"
    if ((run % 2)) && [[ -n $old ]]; then measure "$old" "$out/old.json"; fi
    measure "$new" "$out/new.json"
    if ! ((run % 2)) && [[ -n $old ]]; then measure "$old" "$out/old.json"; fi
done
"$new" bench compare "$out/old.json" "$out/new.json" --tolerance "${TOLERANCE:-10}" --html "$out/index.html"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [--afl] SECONDS [NAME...]: fuzzes each harness of tests/fuzz (or those named) for so long, one at a time.
# With libFuzzer, and address and undefined behaviour sanitizers; or with AFL++. What is found, and the corpus as it
# grows, lies in build/fuzz/found, or build/afl/found. Exits with 1 where something was found.
set -euo pipefail
cd "$(dirname "$0")/.."

engine=fuzz
if [[ ${1-} == --afl ]]; then
    engine=afl
    shift
fi
if [[ ! ${1-} =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: fuzz.sh [--afl] SECONDS [NAME...]" >&2
    exit 2
fi
seconds=$1
shift
names=("$@")
if ((${#names[@]} == 0)); then
    for file in tests/fuzz/*_fuzz.c; do
        name=${file##*/}
        names+=("${name%_fuzz.c}")
    done
fi

build=build/$engine
found=$build/found
cmake --preset "$engine" > /dev/null
cmake --build --preset "$engine" --parallel "${JOBS:-$(nproc)}" > /dev/null
mkdir -p "$found"

# All seeds of a harness in one folder: AFL++ takes only one.
gather() {
    local seeds=$1 name=$2
    rm -rf "$seeds"
    cp -r "tests/fuzz/corpus/$name" "$seeds"
    if [[ $name == kernel ]]; then cp examples/*/*.cu tests/kernel/*.cu "$seeds"; fi
}

fuzz() { # NAME SEEDS
    if [[ $engine == afl ]]; then
        AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1 \
            afl-fuzz -V "$seconds" -t 20000 -i "$2" -o "$found/$1" "$build/fuzz/fuzz_$1" || return 1
        ! compgen -G "$found/$1/default/crashes/id*" && ! compgen -G "$found/$1/default/hangs/id*"
    else
        mkdir -p "$found/$1"
        "$build/fuzz/fuzz_$1" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2500 -max_len=4096 \
            -artifact_prefix="$found/$1-" -print_final_stats=1 "$found/$1" "$2"
    fi
}

failed=0
for name in "${names[@]}"; do
    printf '%-10s ' "$name"
    gather "$found/$name.seeds" "$name"
    if fuzz "$name" "$found/$name.seeds" > "$found/$name.log" 2>&1; then
        echo "$seconds s, nothing found"
    else
        echo "FOUND something, or did not run: see $found/$name.log and $found/$name*"
        failed=1
    fi
done
exit "$failed"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The suite finds what is planted, and the support matrix of docs/support.md is the one that it prints.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
cts=${SLIPRING_BINARY_DIR:?run by ctest}/bin/slipring-cts
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[[ -x $cts ]] || { echo "$cts is not there"; exit 1; }

fail() {
    echo "$1"
    exit 1
}

# ---- the matrix
"$cts" --matrix > "$folder/printed"
sed -n '/<!-- slipring-cts --matrix -->/,/<!-- end of it -->/p' "$source_dir/docs/support.md" | sed '1d;$d' > "$folder/committed"
diff "$folder/committed" "$folder/printed" ||
    fail "The support matrix of docs/support.md is not what 'slipring-cts --matrix' prints: put that between its two marks"

# ---- what is planted: every case fails as it should, but for the one that is listed and passes. Only the one that never ends
# takes all the time that it may.
planted() { # CODE TIMEOUT CASES
    local status=0
    "$cts" --filter "$3" --timeout "$2" --optimize 1 --device 'cpu?engine=interpreted' --device 'cpu?engine=compiled' \
        > "$folder/planted" 2>&1 || status=$?
    ((status == $1)) || { cat "$folder/planted"; fail "$3 ends with $status, not $1"; }
}
planted 0 5 planted/never_ends
cases=$("$cts" --list --filter planted | grep -v never_ends | tr '\n' ',')
planted 1 120 "${cases%,}"
wrong=$(grep -c WRONG "$folder/planted")
((wrong == 2)) || { cat "$folder/planted"; fail "$wrong cases are wrong, not 2"; }
grep -A 1 'planted/is_listed_and_passes' "$folder/planted" > "$folder/stale"
grep -q 'take the line out' "$folder/stale" || { cat "$folder/planted"; fail 'a stale line is not told'; }

# ---- PoCL, where it is: what known.c says of it is so
if "$cts" --device opencl:0 --timeout 120 --filter launch/two > "$folder/opencl" 2>&1 && grep -q 'Portable Computing Language' "$folder/opencl"; then
    areas='language/*,math/*,atomics/*,barriers/*,warps/*,memory/*,launch/*,streams/*'
    "$cts" --device opencl:0 --timeout 120 --filter "$areas" > "$folder/opencl" 2>&1 || { cat "$folder/opencl"; fail 'PoCL is not as listed'; }
    "$cts" --device opencl:0 --timeout 120 --filter planted/is_off --verbose > "$folder/off" 2>&1 ||
        { cat "$folder/off"; fail 'PoCL is not as planted'; }
    grep -q 'is_off_by_more_than_its_bound .*failed' "$folder/off" || { cat "$folder/off"; fail 'a bound that is passed is not told'; }
fi

# ---- a driver that loses the process for good: that is told once, and the other cases run in a new process
if [[ -n ${SLIPRING_FAKE_LOSING-} ]] && SLIPRING_OPENCL_LIB=$SLIPRING_FAKE_LOSING "$cts" --device opencl:0 --filter launch/two > "$folder/lost"; then
    export SLIPRING_OPENCL_LIB=$SLIPRING_FAKE_LOSING FAKE_LOSES_AT=dynamic_shared_memory SLIPRING_CACHE_DIR=$folder/cache
    mkdir -m 700 "$folder/cache"
    few=barriers/barriers_that_count,barriers/dynamic,barriers/shared_structs,streams/an_event
    count=$("$cts" --list --filter "$few" | wc -l)
    for way in --verbose --json; do
        status=0
        rm -rf "$folder/cache/"* # of a program in the cache the fake sees no text
        "$cts" --device opencl:0 --filter "$few" --timeout 120 "$way" > "$folder/lost" 2>&1 || status=$?
        ((status == 1)) || { cat "$folder/lost"; fail "a lost process ends with $status"; }
        (($(grep -c 'lost for this process: .*clCreateContext gives error -9999' "$folder/lost") == 1)) ||
            { cat "$folder/lost"; fail 'the loss is not told once'; }
    done
    grep -q "\"passed\": $((count - 1)), .*\"failed\": 1, " "$folder/lost" || { cat "$folder/lost"; fail 'not all cases ran, once each'; }
    if command -v python3 > /dev/null; then python3 -m json.tool "$folder/lost" > /dev/null || fail 'of two processes comes no JSON'; fi
    # One that does not return from a call hides no other case, either.
    status=0
    rm -rf "$folder/cache/"*
    env -u FAKE_LOSES_AT FAKE_HANGS_AT=dynamic_shared_memory "$cts" --device opencl:0 --filter "$few" --timeout 8 --json \
        > "$folder/lost" 2> "$folder/said" || status=$?
    ((status == 4)) || { cat "$folder/lost" "$folder/said"; fail "a case that does not return ends with $status"; }
    grep -q 'does not return.*barriers/dynamic_shared_memory on opencl:0' "$folder/said" || fail 'the case that does not return is not named'
    grep -q '"dynamic_shared_memory", "result": "hung", .*"why": "it did not return within 25 s"' "$folder/lost" || { cat "$folder/lost"; fail 'it is not told'; }
    grep -q "\"passed\": $((count - 1)), .*\"failed\": 1, " "$folder/lost" || { cat "$folder/lost"; fail 'not all cases ran, once each'; }
    if command -v python3 > /dev/null; then python3 -m json.tool "$folder/lost" > /dev/null || fail 'behind a case that does not return comes no JSON'; fi
    unset SLIPRING_OPENCL_LIB FAKE_LOSES_AT SLIPRING_CACHE_DIR
fi

# ---- clang, where it is: its vectoriser reads past where an index wraps, unless it is kept from that
if command -v clang > /dev/null; then
    for level in 1 2; do
        SLIPRING_CC=clang "$cts" --device 'cpu?engine=compiled' --timeout 120 --optimize $level --filter memory/an_index_that_wraps \
            > "$folder/clang" 2>&1 || { cat "$folder/clang"; fail 'a kernel that clang compiled reads what it should not'; }
    done
fi

# ---- the command line
[[ $("$cts" --list | wc -l) -ge 150 ]] || fail 'fewer than 150 cases'
status=0
"$cts" --no-such-option 2> /dev/null || status=$?
((status == 2)) || fail "an unknown option ends with $status"
status=0
"$cts" --device nowhere:0 > /dev/null 2>&1 || status=$?
((status == 3)) || fail "no device ends with $status"
# Not by a pipe: who has found it reads no more, and what is printed then ends the suite.
"$cts" --json --timeout 120 --filter launch/two --device 'cpu?engine=interpreted' > "$folder/json"
grep -q '"area": "launch", "name": "two_dimensions", "result": "passed", "as_expected": true' "$folder/json" ||
    { cat "$folder/json"; fail 'JSON has another form'; }

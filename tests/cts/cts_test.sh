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

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD PATTERN [JOBS]: runs the tests of a build for Windows whose names match, by Wine, in a folder for Wine's files
# that is BUILD's own. Then the command line: a ring kernel over a file and over a pipe, and what is refused there.
set -euo pipefail
build=$(cd "${1:?usage: run.sh BUILD PATTERN [JOBS]}" && pwd)
cd "$(dirname "$0")/../.."
export WINEPREFIX=$build/wine WINEDEBUG=-all,err+all WINEDLLOVERRIDES="mscoree=;mshtml=" # neither .NET nor a browser
mkdir -p "$WINEPREFIX"
# One server of Wine for the whole run: else it ends with its last program, and begins again with the next.
wineserver -p || true # one may run already
trap 'wineserver -k || true' EXIT
tests/windows/wine.sh wineboot --init > /dev/null 2>&1 || true # once, before many programs would do it at the same time

ctest --test-dir "$build" --output-on-failure --parallel "${3:-2}" -R "${2:-.}"

tool=(tests/windows/wine.sh "$build/bin/slipring.exe")
fail() {
    echo "windows: $1"
    exit 1
}
ward=examples/ward
said=$("${tool[@]}" devices) || fail "devices end with $?"
grep -q '^cpu  *opens' <<< "$said" || fail "devices do not name the cpu: $said"
# The handlers' replies are the same bytes as Linux's, whose interpreter the tests compare with the compiled code.
"${tool[@]}" run --device 'cpu?engine=interpreted' $ward/ward.cu --input $ward/mitdb-208-excerpt.csv --output "$build/file.csv"
"${tool[@]}" run --device 'cpu?engine=interpreted' $ward/ward.cu < $ward/mitdb-208-excerpt.csv > "$build/pipe.csv"
[[ $(wc -l < "$build/file.csv") -gt 100 ]] || fail 'too few beats'
cmp "$build/file.csv" "$build/pipe.csv" || fail 'a file and a pipe give different beats'
SLIPRING_CC=Z:$build/tests/cross_cc.exe "${tool[@]}" run --device 'cpu?engine=compiled' $ward/ward.cu \
    --input $ward/mitdb-208-excerpt.csv --output "$build/compiled.csv"
cmp "$build/file.csv" "$build/compiled.csv" || fail 'the compiled handler gives different beats'
for verb in bench profile; do
    status=0
    said=$("${tool[@]}" $verb 2>&1) || status=$?
    [[ $status == 2 && $said == *Windows* ]] || fail "'$verb' is not refused: $status $said"
done
echo 'windows: the command line is as it should be'

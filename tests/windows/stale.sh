#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stale.sh BUILD [SECONDS]: fails if a test that exceptions.txt names passes by Wine after all, within SECONDS (60): one of its
# cases at least, the others passed over. Those that cannot even be built for Windows are exceptions as they should be.
# BUILD is one with the tests whose names matter.
set -euo pipefail
build=$(cd "${1:?usage: stale.sh BUILD [SECONDS]}" && pwd)
wine=$(cd "$(dirname "$0")" && pwd)/wine.sh
export WINEPREFIX=$build/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree=;mshtml="
wineserver -p || true # as in run.sh
trap 'wineserver -k || true' EXIT
# Wine's services stay as long as the server. They must not have a test's pipe, whose end would never come.
"$wine" wineboot --init > /dev/null 2>&1 || true
mapfile -t environment < "$build/tests/environment.txt"
built=0 passing=()
mapfile -t targets < <(cut -d' ' -f2 "$build/tests/excepted.txt")
on=(-k) # after a target that cannot be built
[[ ! -e $build/build.ninja ]] || on=(-k 0)
cmake --build "$build" --parallel 2 --target cross_cc "${targets[@]}" -- "${on[@]}" > /dev/null 2>&1 || true
while read -r name target; do
    [[ -x $build/tests/$target.exe ]] || continue
    built=$((built + 1))
    status=0
    said=$(cd "$build" && env "${environment[@]}" timeout "${2:-60}" "$wine" "tests/$target.exe" < /dev/null 2>&1) || status=$?
    [[ $status != 0 || $said != *'[       OK ]'* ]] || passing+=("$name")
    echo "windows: $name ends with $status, $(grep -c '\[       OK \]' <<< "$said" || true) cases are as they should be"
done < "$build/tests/excepted.txt"
echo "windows: of $(wc -l < "$build/tests/excepted.txt") exceptions $built are built, and ${#passing[@]} pass"
for name in "${passing[@]}"; do
    echo "windows: $name passes: take it out of tests/windows/exceptions.txt"
done
[[ ${#passing[@]} == 0 && $built != 0 ]]

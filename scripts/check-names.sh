#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-names.sh: is the name of each static function unique in its folder of src? A debugger, a profile and a search then
# find one. And are the test cases and functions there that docs/platforms.md names as evidence? Prints a line for each
# name that is wrong, and exits with 1.
set -euo pipefail
cd "$(dirname "$0")/.."

found=0
for folder in $(find src -type d -printf '%P\n' | sort); do
    mapfile -t files < <(find "src/$folder" -maxdepth 1 -name '*.c' ! -name '*_test.c' | sort)
    ((${#files[@]})) || continue
    while read -r name where; do
        echo "src/$folder: $name() is static in $where: rename all but one, or share it"
        found=1
    done < <(awk '
        FNR == 1 { open = "" }
        /^static / && !/^static inline/ { open = $0 }
        /^static / && /;/ { open = "" }
        open != "" && !/^static / { open = open " " $0 }
        open != "" && /^\{/ {
            name = open
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            n = split(FILENAME, path, "/")
            if (index(open, "(") && !((name, FILENAME) in seen)) {
                seen[name, FILENAME] = 1
                times[name]++
                where[name] = where[name] " " path[n]
            }
            open = ""
        }
        open != "" && /;/ { open = "" }
        END { for (name in times) if (times[name] > 1) print name, where[name] }' "${files[@]}" | sort)
done

# Those of four words and more: shorter ones are also fields, words of options and rows whose names are put together.
mapfile -t named < <(tr -cs 'a-z0-9_' '\n' < docs/platforms.md | grep -xE '[a-z0-9]+(_[a-z0-9]+){3,}' | sort -u)
while read -r name; do
    echo "docs/platforms.md: $name is in no source and no test"
    found=1
done < <(comm -23 <(printf '%s\n' "${named[@]}") <(grep -rhowE "$(IFS='|'; echo "${named[*]}")" src tests tools include | sort -u))
exit $found

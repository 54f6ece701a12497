#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-names.sh: is the name of each static function unique in its folder of src? A debugger, a profile and a search then
# find one. Prints a line for each name with its files, and exits with 1.
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
exit $found

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-symbols.sh BUILD [ROOT]: does the link respect the layers, as the includes do (check-layers.sh)? An object of one
# folder of src may need a symbol of another folder only if its README.md names that folder after `May include:`, or a
# header there that declares the symbol. BUILD is a build folder whose library was built.
# Prints a line for each violation and exits with 1.
set -euo pipefail

objects=$(cd "${1:?usage: check-symbols.sh BUILD [ROOT]}" && pwd)/CMakeFiles/slipring_objects.dir/src
cd "${2:-$(dirname "$0")/..}"
[[ -d $objects ]] || { echo "check-symbols: no objects in $objects"; exit 1; }

# What each layer's README allows, as " base abi public ".
declare -A allowed_by
while read -r readme; do
    allowed_by[${readme%/README.md}]=" $(sed -n 's/^May include: *//p' "src/$readme" | tr ',' ' ') "
done < <(find src -name README.md -printf '%P\n')

# The layer of a folder: the nearest one above it with a README, as in check-layers.sh.
layer_of() {
    local layer=$1
    while [[ $layer == */* && -z ${allowed_by[$layer]:-} ]]; do layer=${layer%/*}; done
    echo "$layer"
}

# The objects in a folder whose sources are still there: a build keeps those of files that are gone.
objects_in() {
    local object
    for object in "$objects/$1"/*.o; do
        if [[ -e src/$1/$(basename "${object%.o}") ]]; then printf '%s\0' "$object"; fi
    done
}

# "LAYER FILE KIND SYMBOL", a line a global symbol: kind U is needed, any other capital is there. What is made in BUILD
# alone (embedded texts) is of no layer, and in no line.
symbols() {
    local folder
    while read -r folder; do
        objects_in "$folder" | xargs -0 -r nm -A | awk -v layer="$(layer_of "$folder")" -v folder="$folder" '{
            kind = $(NF - 1)
            sub(/\.o:.*/, "", $1)
            sub(/.*\//, "", $1)
            if (kind ~ /^[A-Z]$/) print layer, folder "/" $1, kind, $NF
        }'
    done < <(find "$objects" -name '*.o' -printf '%h\n' | sed "s:^$objects/::" | sort -u)
}

# "LAYER FILE OTHER SYMBOL": what crosses from one layer to another.
crossings() {
    symbols | awk '
        $3 != "U" { of[$4] = $1; next }
        { needed[++count] = $0 }
        END {
            for (i = 1; i <= count; i++) {
                split(needed[i], word, " ")
                if (word[4] in of && of[word[4]] != word[1]) print word[1], word[2], of[word[4]], word[4]
            }
        }' | sort
}

# May LAYER use SYMBOL of OTHER?
is_allowed() {
    local each
    [[ ${allowed_by[$1]} != *" $2 "* ]] || return 0
    for each in ${allowed_by[$1]}; do
        if [[ $each == "$2"/*.h ]] && grep -qw "$3" "src/$each"; then return 0; fi
    done
    return 1
}

violations=0
found=0
while read -r layer file other symbol; do
    found=$((found + 1))
    is_allowed "$layer" "$other" "$symbol" && continue
    echo "src/$file: $layer may not use $symbol, which is of $other"
    violations=$((violations + 1))
done < <(crossings)
((found > 0)) || { echo "check-symbols: no symbol crosses from one folder to another; are these the objects?"; exit 1; }
((violations == 0))

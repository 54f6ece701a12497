#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# uninstall.sh MANIFEST PREFIX [DESTDIR]: removes the files that the last `make install` has noted in MANIFEST, and the
# folders of ours that are empty then. Whatever else lies in them stays, and so do they.
set -euo pipefail
readonly manifest=${1:?usage: uninstall.sh MANIFEST PREFIX [DESTDIR]} prefix=${2:?usage: uninstall.sh MANIFEST PREFIX [DESTDIR]}
readonly destination=${3-}

refuse() {
    echo "uninstall: $1" >&2
    exit 1
}

[[ -r $manifest ]] || refuse "there is no $manifest: nothing was installed from here"
files=()
while IFS= read -r file || [[ -n $file ]]; do # the last line has no end
    [[ $file == "${prefix%/}"/* ]] ||
        refuse "the last install from here has put $file there, which is not in $prefix: say PREFIX= as then"
    files+=("$file")
done < "$manifest"

removed=0
for file in "${files[@]}"; do
    here=$destination$file
    [[ -e $here || -L $here ]] || continue # a second time, or with another DESTDIR
    rm -- "$here" || refuse "cannot remove $here"
    removed=$((removed + 1))
done

# Ours are those that have our name, and what is in them.
for file in "${files[@]}"; do
    folder=${file%/*}
    while [[ ${folder#"${prefix%/}"} == */slipring* ]]; do
        if [[ -d $destination$folder ]]; then rmdir -- "$destination$folder" 2> /dev/null || break; fi
        folder=${folder%/*}
    done
done
((removed)) || refuse "none of the ${#files[@]} files is in $destination$prefix"
echo "removed $removed of ${#files[@]} files from $destination$prefix"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-links.sh FOLDER: prints each link of the Markdown files in FOLDER to a file that is not there, and exits with 1
# if there is one.
set -euo pipefail
folder=${1:?FOLDER is missing}
missing=0
while read -r page; do
    while read -r link; do
        [[ -e $(dirname "$page")/$link ]] && continue
        echo "$page: $link is not there"
        missing=1
    done < <(grep -oE '\]\([^) ]+\)' "$page" | sed -e 's/^](//' -e 's/)$//' -e 's/#.*//' | grep -vE '^$|://' | sort -u)
done < <(find "$folder" -name '*.md' | sort)
exit "$missing"

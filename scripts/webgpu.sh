#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# webgpu.sh: prints the folder with the Python packages of wgpu-native (naga) and of Dawn (Tint), which compile WGSL and need no
# GPU: SLIPRING_WEBGPU_PYTHON, or that in which it installs them from PyPI if it must (WEBGPU_DIR, 60 MB). Prints nothing where
# that is not possible: tests that need them are then skipped.
set -euo pipefail
readonly version=0.32.0 dawn=0.32.0.4
readonly folder=${SLIPRING_WEBGPU_PYTHON:-${WEBGPU_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/webgpu-$version}}

if [[ ! -e $folder/wgpu/__init__.py || ! -e $folder/wgpudawn/__init__.py ]]; then
    command -v pip3 > /dev/null || exit 0
    pip3 install --quiet --disable-pip-version-check --target "$folder" "wgpu==$version" "wgpudawn==$dawn" > /dev/null 2>&1 || exit 0
fi
echo "$folder"

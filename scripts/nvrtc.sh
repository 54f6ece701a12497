#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nvrtc.sh: prints the path of libnvrtc.so, which compiles CUDA C and needs no GPU: SLIPRING_NVRTC_LIB, the CUDA
# toolkit's, or that of the package nvidia-cuda-nvrtc of PyPI, which it installs in its own folder if it must
# (NVRTC_DIR, 90 MB). Prints nothing where that is not possible: tests that need it are then skipped.
set -euo pipefail
readonly version=13.0.88
readonly folder=${NVRTC_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/nvrtc-$version}

find_library() {
    local path
    for path in "${SLIPRING_NVRTC_LIB:-}" /usr/local/cuda*/lib*/libnvrtc.so.13 "$folder"/nvidia/*/lib/libnvrtc.so.13; do
        if [[ -n $path && -e $path ]]; then
            echo "$path"
            return 0
        fi
    done
    return 1
}

if find_library; then exit 0; fi
command -v pip3 > /dev/null || exit 0
pip3 install --quiet --disable-pip-version-check --no-deps --target "$folder" "nvidia-cuda-nvrtc==$version" > /dev/null 2>&1 || exit 0
find_library || true

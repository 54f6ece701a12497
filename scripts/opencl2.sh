#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# opencl2.sh: prints the OpenCL library of a second vendor, Intel's runtime for CPUs, which tests run on beside PoCL:
# SLIPRING_OPENCL2_LIB, or that which it installs from PyPI if it must (OPENCL2_DIR, 500 MB). Prints nothing where that is
# not possible: tests that need it are then skipped. It is for tests only, and no part of slipring.
set -euo pipefail
readonly version=2026.2.0
readonly folder=${OPENCL2_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/slipring/opencl2-$version}

found() {
    [[ -d $folder ]] || return 0
    find "$folder" -name libintelocl.so -print -quit
}

if [[ -n ${SLIPRING_OPENCL2_LIB:-} ]]; then
    echo "$SLIPRING_OPENCL2_LIB"
    exit 0
fi
if [[ -z $(found) && ${1:-} != --found ]]; then
    command -v pip3 > /dev/null && [[ $(uname -m) == x86_64 ]] || exit 0
    pip3 install --quiet --disable-pip-version-check --prefix "$folder" --ignore-installed "intel-opencl-rt==$version" "intel-cmplr-lib-rt==$version" > /dev/null 2>&1 || exit 0
fi
found

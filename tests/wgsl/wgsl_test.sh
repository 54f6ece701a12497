#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every kernel of the examples and of the conformance suite as WGSL: compilers take it, and devices do with it what the
# interpreter does (README.md). Skipped where SLIPRING_WEBGPU_PYTHON (scripts/webgpu.sh) or a driver of Vulkan is missing.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
tool=${SLIPRING_TOOL:?run by ctest}

[[ -x $tool ]] || { echo "skipped: the command line is not built"; exit 77; }
[[ -n ${SLIPRING_WEBGPU_PYTHON-} ]] || { echo "skipped: SLIPRING_WEBGPU_PYTHON does not say where wgpu and wgpudawn are"; exit 77; }
export PYTHONPATH=$SLIPRING_WEBGPU_PYTHON PYTHONDONTWRITEBYTECODE=1
XDG_RUNTIME_DIR=$(mktemp -d) # drivers complain where there is none
export XDG_RUNTIME_DIR
trap 'rm -rf "$XDG_RUNTIME_DIR"' EXIT

first_of() { # FILE...: the first that is there
    local file
    for file in "$@"; do
        [[ ! -e $file ]] || { echo "$file"; return 0; }
    done
}
lavapipe=$(first_of /usr/share/vulkan/icd.d/lvp_icd.*.json)
swiftshader=$(first_of /usr/lib/chromium/vk_swiftshader_icd.json)

ran=0
run() { # PACKAGE ICD [FILTER]
    local status=0
    [[ -n $2 ]] || return 0
    VK_ICD_FILENAMES=$2 python3 "$source_dir/tests/wgsl/check.py" "$tool" "$1" ${3+"$3"} || status=$?
    ((status == 0 || status == 77)) || exit "$status"
    ((status == 77)) || ran=1
}
run wgpu "$lavapipe"
run wgpu "$swiftshader" warps/
run wgpudawn "$swiftshader"
((ran)) || { echo "skipped: no driver of Vulkan that WebGPU runs on (mesa-vulkan-drivers, chromium)"; exit 77; }

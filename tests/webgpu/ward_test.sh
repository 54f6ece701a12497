#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on WebGPU as on the cpu: by wgpu-native, and by Dawn where its library is.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
native=${SLIPRING_WEBGPU_PYTHON-}/wgpu/resources/libwgpu_native-release.so
swiftshader=/usr/lib/chromium/vk_swiftshader_icd.json
[[ -e $native ]] || { echo 'skipped: SLIPRING_WEBGPU_PYTHON does not say where wgpu is'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR=$folder

run() { # DEVICE OUTPUT
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1" > "$2"
}

compare() { # LIBRARY
    SLIPRING_WEBGPU_LIB=$1 run webgpu:0 "$folder/webgpu" 2> "$folder/why" || {
        if grep -q 'finds no adapter' "$folder/why"; then exit 77; fi
        cat "$folder/why"
        exit 1
    }
    cmp "$folder/cpu" "$folder/webgpu" || { echo "webgpu:0 of $1 finds other beats"; exit 1; }
}

run cpu "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
compare "$native"
if [[ -n ${SLIPRING_DAWN-} && -e $swiftshader ]]; then
    VK_ICD_FILENAMES=$swiftshader compare "$SLIPRING_DAWN"
fi

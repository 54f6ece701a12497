#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on WebGPU as on the cpu.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
SLIPRING_WEBGPU_LIB=${SLIPRING_WEBGPU_PYTHON-}/wgpu/resources/libwgpu_native-release.so
export SLIPRING_WEBGPU_LIB
[[ -e $SLIPRING_WEBGPU_LIB ]] || { echo 'skipped: SLIPRING_WEBGPU_PYTHON does not say where wgpu is'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR=$folder

run() { # DEVICE OUTPUT
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1" > "$2"
}

run cpu "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
run webgpu:0 "$folder/webgpu" 2> "$folder/why" || {
    if grep -q 'finds no adapter' "$folder/why"; then exit 77; fi
    cat "$folder/why"
    exit 1
}
cmp "$folder/cpu" "$folder/webgpu" || { echo 'webgpu:0 finds other beats'; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on a simulated Metal as on the cpu.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
export SLIPRING_METAL_LIB=${SLIPRING_FAKE_METAL:?run by ctest}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR=$folder

run() { # DEVICE OUTPUT
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1" > "$2"
}

run cpu "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
run metal:0 "$folder/metal"
cmp "$folder/cpu" "$folder/metal" || { echo 'metal:0 finds other beats'; exit 1; }

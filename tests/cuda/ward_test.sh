#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on a CUDA device that is simulated, in each mode, as on the cpu; and by
# the text for HIP, on waves of 32 and of 64.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
export SLIPRING_CUDA_LIB=${SLIPRING_FAKE_CUDA:?run by ctest} SLIPRING_NVRTC_LIB=$SLIPRING_FAKE_CUDA
export SLIPRING_HIP_LIB=$SLIPRING_FAKE_CUDA SLIPRING_HIPRTC_LIB=$SLIPRING_FAKE_CUDA
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() {
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1"
}

run cpu > "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
for device in 'cuda:0?ring=persistent' 'cuda:0?ring=relaunch' 'cuda:0?memory=mapped&ring=relaunch'; do
    run "$device" > "$folder/cuda"
    cmp "$folder/cpu" "$folder/cuda" || { echo "$device finds other beats"; exit 1; }
done
how=text
if [[ -n ${SLIPRING_SANITIZE-} ]]; then how=interpreted; fi # ThreadSanitizer does not follow the fibres that run the text
for wave in 32 64; do
    SLIPRING_FAKE_HIP_WAVE=$wave SLIPRING_FAKE_CUDA_BY=$how run hip:0 > "$folder/hip"
    cmp "$folder/cpu" "$folder/hip" || { echo "hip:0 finds other beats with waves of $wave"; exit 1; }
done

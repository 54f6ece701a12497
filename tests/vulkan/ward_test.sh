#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on Vulkan as on the cpu; where SwiftShader is, on that, too, in batches
# and by a kernel that stays.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() { # DEVICE OUTPUT
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1" > "$2"
}

run cpu "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
run vulkan:0 "$folder/vulkan" 2> "$folder/why" || {
    if grep -q 'cannot load\|no Vulkan driver\|no driver\|runs no kernels\|without Vulkan' "$folder/why"; then exit 77; fi
    cat "$folder/why"
    exit 1
}
cmp "$folder/cpu" "$folder/vulkan" || { echo 'vulkan:0 finds other beats'; exit 1; }

words=/usr/lib/chromium/vk_swiftshader_icd.json
[[ -f $words ]] || exit 0
export VK_ICD_FILENAMES=$words VK_DRIVER_FILES=$words
for device in vulkan:0 'vulkan:0?ring=persistent'; do
    run "$device" "$folder/words"
    cmp "$folder/cpu" "$folder/words" || { echo "$device on SwiftShader finds other beats"; exit 1; }
done

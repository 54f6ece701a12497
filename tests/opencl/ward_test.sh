#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ward finds the same beats, byte for byte, on OpenCL in each mode as on the cpu; also where two processes share the device, and
# begin with the same empty cache of built programs.
set -euo pipefail
ward=${SLIPRING_SOURCE_DIR:?run by ctest}/examples/ward
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

run() { # DEVICE OUTPUT
    "${SLIPRING_TOOL:?run by ctest}" run "$ward/ward.cu" --input "$ward/mitdb-208-excerpt.csv" --device "$1" > "$2"
}

run cpu "$folder/cpu"
(($(wc -l < "$folder/cpu") > 400)) || { echo 'fewer than 400 beats on the cpu'; exit 1; }
run 'opencl:0' "$folder/opencl" 2> "$folder/why" || {
    if grep -q 'cannot load\|no driver\|no device' "$folder/why"; then exit 77; fi
    cat "$folder/why"
    exit 1
}

export SLIPRING_CACHE_DIR=$folder/cache
for device in 'opencl:0?ring=persistent' 'opencl:0?ring=relaunch&svm=0'; do
    run "$device" "$folder/one" &
    other=$!
    run "$device" "$folder/two"
    wait "$other"
    for output in one two; do
        cmp "$folder/cpu" "$folder/$output" || { echo "$device finds other beats"; exit 1; }
    done
done

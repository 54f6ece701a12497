#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/ward finds the beats that it finds on the cpu, byte for byte, where PTX runs as NVRTC makes it: in a kernel that
# stays, and launched for each batch. Ends with 77 where there is no NVRTC.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest} ward=${SLIPRING_SOURCE_DIR:?}/examples/ward
[[ -n ${SLIPRING_PTX_NVRTC:-} ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

beats() { # DEVICE
    "$tool" run "$ward/ward.cu" --device "$1" < "$ward/mitdb-208-excerpt.csv"
}

beats cpu > "$folder/cpu"
[[ $(wc -l < "$folder/cpu") -ge 500 ]] || { echo "no beats on the cpu"; exit 1; }
for ring in persistent relaunch; do
    beats "cuda:0?ring=$ring" > "$folder/$ring"
    cmp "$folder/cpu" "$folder/$ring"
done

# It is PTX that runs: a fault that is planted in one of its instructions is seen.
SLIPRING_PTX_TRACE=$folder/trace beats 'cuda:0?ring=relaunch' > "$folder/again"
read -r name line < <(grep -m1 . "$folder/trace")
if SLIPRING_PTX_PLANT=$name:$line:'trap;' beats 'cuda:0?ring=relaunch' > "$folder/changed" 2> "$folder/said" &&
    cmp -s "$folder/cpu" "$folder/changed"; then
    echo "nothing of $name is run"
    exit 1
fi

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The floor of a benchmark opens lavapipe for itself. The driver's threads may run on as many cores as those of
# slipring's device: they do not inherit the core to which the benchmark pins its caller.
set -euo pipefail
own=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) || exit 77
(($(nproc) > 1)) || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"${SLIPRING_TOOL:?run by ctest}" bench kernels --device vulkan:0 --filter launch_empty_bare --pairs 5 --json \
    > "$folder/rows" 2> "$folder/why" &
bench=$!
while kill -0 "$bench" 2> "$folder/gone"; do # a thread may end before it is read
    for task in "/proc/$bench"/task/*; do
        [[ $(cat "$task/comm" 2>> "$folder/gone") == llvmpipe-* ]] || continue
        cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status" 2>> "$folder/gone") || continue
        [[ -z $cores ]] || echo "${task##*/} $(cat "$task/comm" 2>> "$folder/gone") $cores" >> "$folder/threads"
    done
    sleep 0.02
done
wait "$bench" || {
    if grep -q 'cannot load\|no Vulkan driver\|no driver\|runs no kernels\|without Vulkan' "$folder/why"; then exit 77; fi
    cat "$folder/why"
    exit 1
}
[[ -s $folder/threads ]] || exit 77 # another driver
sort -u "$folder/threads" > "$folder/seen"
drivers=$(awk '$2 == "llvmpipe-0"' "$folder/seen" | wc -l) # each driver that is open has one
((drivers > 1)) || { echo 'lavapipe is open once: the floor has no driver of its own'; exit 1; }
awk -v own="$own" '$3 != own' "$folder/seen" > "$folder/pinned"
[[ ! -s $folder/pinned ]] || { echo "threads of the driver that may not run on $own:"; cat "$folder/pinned"; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The floor of a benchmark opens lavapipe for itself. The driver's threads may run on as many cores as those of
# slipring's device: they do not inherit the core to which the benchmark pins its caller.
set -euo pipefail
own=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status) || exit 77
(($(nproc) > 1)) || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

drivers() { # that were open: each has one thread of that name
    sort -u "$folder/threads" | awk '$2 == "llvmpipe-0"' | wc -l
}

# Until both drivers were seen, as long as that takes on a loaded machine; then it is stopped.
: > "$folder/threads"
"${SLIPRING_TOOL:?run by ctest}" bench kernels --device vulkan:0 --filter launch_empty_bare --pairs 150 --json \
    > "$folder/rows" 2> "$folder/why" &
bench=$!
while kill -0 "$bench" 2> "$folder/gone" && (($(drivers) < 2)); do
    for task in "/proc/$bench"/task/*; do # a thread may end before it is read
        name=$(cat "$task/comm" 2>> "$folder/gone") || continue
        [[ $name == llvmpipe-* ]] || continue
        cores=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$task/status" 2>> "$folder/gone") || continue
        [[ -z $cores ]] || echo "${task##*/} $name $cores" >> "$folder/threads"
    done
    sleep 0.02
done
(($(drivers) < 2)) || kill "$bench" 2>> "$folder/gone" || true
wait "$bench" || (($(drivers) > 1)) || {
    if grep -q 'cannot load\|no Vulkan driver\|no driver\|runs no kernels\|without Vulkan' "$folder/why"; then exit 77; fi
    cat "$folder/why"
    exit 1
}
[[ -s $folder/threads ]] || exit 77 # another driver
(($(drivers) > 1)) || { echo 'lavapipe is open once: the floor has no driver of its own'; exit 1; }
sort -u "$folder/threads" | awk -v own="$own" '$3 != own' > "$folder/pinned"
[[ ! -s $folder/pinned ]] || { echo "threads of the driver that may not run on $own:"; cat "$folder/pinned"; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Vulkan's validation layer, with synchronisation, has nothing to say of a part of the suite; and it is at work, because
# it complains where barriers are left out: of copies, because what kernels reach by address it does not see. Theirs are
# counted (counts_test.c).
set -euo pipefail
cts=${SLIPRING_TOOL:?run by ctest}-cts
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[[ -e /usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ]] || exit 77

validate() { # FILTER
    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation \
        VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT \
        "$cts" --device vulkan:0 --timeout 120 --filter "$1" > "$log" 2>&1
}

status=0
validate launch/,memory/,streams/,atomics/,barriers/,mailboxes/,faults/,parameters/ || status=$?
if ((status == 3)) || grep -q 'runs no kernels' "$log"; then exit 77; fi
if ((status)) || grep -q 'VUID-\|SYNC-\|UNASSIGNED-' "$log"; then
    grep -m 5 'VUID-\|SYNC-\|UNASSIGNED-\|WRONG' -A 3 "$log"
    exit 1
fi

export SLIPRING_VULKAN_LIB=${SLIPRING_FAKE_VULKAN:?run by ctest} SLIPRING_FAKE_VULKAN_DROPS=1
validate streams/ || true
grep -q 'SYNC-HAZARD' "$log" || { echo 'no barrier, and no complaint'; tail "$log"; exit 1; }

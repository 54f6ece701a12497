#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The suite on Intel's OpenCL for CPUs, where scripts/opencl2.sh has it: another compiler, and sub-groups of a driver's own.
set -euo pipefail
library=${SLIPRING_OPENCL2_LIB:-}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[[ -e $library ]] || exit 77

export OCL_ICD_VENDORS=$library
"${SLIPRING_TOOL:?run by ctest}-cts" --device opencl:0 --timeout 100 \
    --filter language/,math/,warps/,mailboxes/ > "$log" 2>&1 || {
    grep -B 1 -A 2 'WRONG\|does not return' "$log" || tail "$log"
    exit 1
}
grep -q 'Intel' "$log" || { echo 'opencl:0 is not the second vendor'; tail "$log"; exit 1; }
! grep -q '^  0 passed' "$log" || exit 1

# SPIR-V, which no other driver here takes.
status=0
"$(dirname "$SLIPRING_TOOL")/../tests/tests_opencl_spirv_test" > "$log" 2>&1 || status=1
if ((status)) || grep -q SKIPPED "$log"; then
    cat "$log"
    exit 1
fi

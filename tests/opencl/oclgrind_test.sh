#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Emitted OpenCL C under oclgrind, a second opinion: it interprets kernels, and tells data races, accesses out of bounds, barriers that
# some work-items miss, and, where kernels run in the thread that enqueues them, values that were never set.
#
# What it cannot run: its compiler refuses OpenCL 3 (so OpenCL 1.2's atomics are what is tried), it has neither shared memory nor
# kernels that stay, and its search for unset values crashes where another thread enqueues, as ours do. It does not follow order
# between groups by fences, so a case that is made of that is left out.
set -euo pipefail
tests=${SLIPRING_BINARY_DIR:?run by ctest}/tests
cts=$SLIPRING_BINARY_DIR/bin/slipring-cts
export SLIPRING_OPENCL_LIB=${SLIPRING_OCLGRIND_LIB:-/usr/lib/oclgrind/liboclgrind-rt.so}
[[ -e $SLIPRING_OPENCL_LIB ]] || { echo "$SLIPRING_OPENCL_LIB is not there (Debian: oclgrind)"; exit 77; }
if grep -q '^SLIPRING_SANITIZE:[^=]*=.' "$SLIPRING_BINARY_DIR/CMakeCache.txt"; then exit 77; fi # it is no code of ours, and slow
[[ -x $tests/tests_kernel_opencl_test && -x $cts ]] || { echo 'the programs are not built'; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OCLGRIND_DATA_RACES=1 OCLGRIND_LOG=$folder/log OCLGRIND_MAX_ERRORS=20

clean() { # NAME COMMAND...: it passes, and oclgrind has nothing to tell
    rm -f "$folder/log"
    "${@:2}" > "$folder/out" 2>&1 || { cat "$folder/out"; echo "$1 fails under oclgrind"; exit 1; }
    [[ ! -s $folder/log ]] || { cat "$folder/log"; echo "$1: see above what oclgrind tells"; exit 1; }
}

OCLGRIND_UNINITIALIZED=1 clean 'the example kernels' "$tests/tests_kernel_opencl_test"
# A case takes a second or two, most of it in oclgrind's compiler. SLIPRING_OCLGRIND=all runs all that it can.
cases=$("$cts" --list | grep -E '^(barriers|warps)/|^memory/variables_|^launch/what_a_kernel_prints' | grep -v the_last_block_sums_up)
if [[ ${SLIPRING_OCLGRIND-} != all ]]; then
    cases=$(grep -E 'tree_red|two_buffers|tiled|returned|that_count|dynamic_sh|halving|part|rounds|leave_early|variables|prints' <<< "$cases")
fi
cases=$(tr '\n' ',' <<< "$cases")
clean 'barriers, warps, variables, printf' "$cts" --device 'opencl:0?ring=relaunch' --filter "${cases%,}" --timeout 60

# ---- it does tell
cat > "$folder/races.cu" << 'END'
__global__ void races(int *p) { __shared__ int s[32]; s[threadIdx.x] = 1; p[threadIdx.x] = s[31 - threadIdx.x]; }
END
rm -f "$folder/log"
"${SLIPRING_TOOL:?run by ctest}" kernel run "$folder/races.cu" races --device opencl:0 --grid 1 --block 32 --arg 'p=int[32]:zero'
grep -q 'data race' "$folder/log" || { echo 'oclgrind does not tell a race that was planted'; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu-check.sh: what holds on the NVIDIA GPU of this machine. Builds the library and the conformance suite with a C compiler
# and CMake alone, without a network; runs the suite on the device with the times of its launches; writes them to
# bench/results/DEVICE.json, and to DEVICE-persistent.json what its ring kernels do as kernels that never return.
#
# GPU_DEVICE (default cuda:0): which. GPU_RESULTS: another folder. GPU_BUILD: a folder where slipring-cts is built already.
# Exit code: 0 all as it should be, 1 something was not, 3 no GPU that slipring can open.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly device=${GPU_DEVICE:-cuda:0} results=${GPU_RESULTS:-bench/results}
readonly areas=language/,math/,atomics/,ordering/,barriers/,warps/,memory/,streams/,launch/
readonly rings=mailboxes/,priority/,overflow/,instances/,keys/,blocks/,routes/,limits/ # not faults/: they lose the device

if [[ -z ${GPU_BUILD:-} ]]; then
    GPU_BUILD=build/gpu
    cmake -S . -B "$GPU_BUILD" -DCMAKE_BUILD_TYPE=Release > /dev/null # leaves out the command line where jansson is not
    cmake --build "$GPU_BUILD" --parallel "$(nproc)"
fi
found=$(mktemp)
found_rings=$(mktemp)
trap 'rm -f "$found" "$found_rings"' EXIT
status=0
"$GPU_BUILD/bin/slipring-cts" --device "$device" --filter "$areas" --perf --json > "$found" || status=$?
if ((status == 3)); then
    echo "gpu-check: $device cannot be opened here, so nothing was run on a GPU. See 'slipring doctor'."
    exit 3
fi
if ((status != 0 && status != 1)); then
    echo "gpu-check: the suite ended with $status"
    exit 1
fi
rings_status=0
timeout 600 "$GPU_BUILD/bin/slipring-cts" --device "$device?ring=persistent" --filter "$rings" --json > "$found_rings" || rings_status=$?
if ((rings_status != 0 && rings_status != 1)); then
    echo "gpu-check: ring kernels ended the suite with $rings_status"
fi
name=$(sed -n 's/.*"description": "\([^"]*\)".*/\1/p' "$found" | sed -n '1{s/[^A-Za-z0-9.-]\{1,\}/-/g;s/^-//;s/-$//;p}')
mkdir -p "$results"
cp "$found" "$results/${name:-unknown}.json"
cp "$found_rings" "$results/${name:-unknown}-persistent.json"
grep -h '"as_expected": false' "$found" "$found_rings" || true
sed -n 's/^ *"passed": \([0-9]*\), "unsupported": \([0-9]*\), "failed": \([0-9]*\).*/\1 passed, \2 unsupported, \3 failed/p' "$found" "$found_rings"
echo "gpu-check: $device, figures in $results/${name:-unknown}.json"
if ((status || rings_status)); then
    echo "gpu-check: FAILED"
    exit 1
fi

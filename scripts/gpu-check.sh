#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu-check.sh: what holds on the NVIDIA GPU of this machine. Builds the library and the conformance suite with a C compiler
# and CMake alone, without a network; runs the suite on the device with the times of its launches; writes them to
# bench/results/DEVICE.json.
#
# GPU_DEVICE (default cuda:0): which. GPU_RESULTS: another folder. GPU_BUILD: a folder where slipring-cts is built already.
# Exit code: 0 all as it should be, 1 something was not, 3 no GPU that slipring can open.
set -euo pipefail
cd "$(dirname "$0")/.."
readonly device=${GPU_DEVICE:-cuda:0} results=${GPU_RESULTS:-bench/results}
readonly areas=language/,math/,atomics/,ordering/,barriers/,warps/,memory/,streams/,launch/ # the rest is ring kernels

if [[ -z ${GPU_BUILD:-} ]]; then
    GPU_BUILD=build/gpu
    cmake -S . -B "$GPU_BUILD" -DCMAKE_BUILD_TYPE=Release > /dev/null # leaves out the command line where jansson is not
    cmake --build "$GPU_BUILD" --parallel "$(nproc)"
fi
found=$(mktemp)
trap 'rm -f "$found"' EXIT
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
name=$(sed -n 's/.*"description": "\([^"]*\)".*/\1/p' "$found" | sed -n '1{s/[^A-Za-z0-9.-]\{1,\}/-/g;s/^-//;s/-$//;p}')
mkdir -p "$results"
cp "$found" "$results/${name:-unknown}.json"
grep '"as_expected": false' "$found" || true
sed -n 's/^ *"passed": \([0-9]*\), "unsupported": \([0-9]*\), "failed": \([0-9]*\).*/\1 passed, \2 unsupported, \3 failed/p' "$found"
echo "gpu-check: $device, figures in $results/${name:-unknown}.json"
if ((status)); then echo "gpu-check: FAILED"; fi
exit "$status"

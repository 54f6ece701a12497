#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# headers_test.sh: what src/ops declares of cuBLASLt and cuDNN is what the vendor's headers say, where those are: the
# CUDA toolkit's folder, or SLIPRING_CUDA_INCLUDE.
set -euo pipefail
cd "$SLIPRING_SOURCE_DIR"
include=
for folder in ${SLIPRING_CUDA_INCLUDE:-} /usr/local/cuda*/include; do
    if [[ -e $folder/cublasLt.h && -e $folder/cudnn.h ]]; then include=$folder; fi
done
if [[ -z $include ]]; then
    echo "skipped: no folder has cublasLt.h and cudnn.h; SLIPRING_CUDA_INCLUDE names one"
    exit 77
fi
compile() {
    "$CXX" -std=c++17 -fsyntax-only -Isrc -isystem "$include" "$@" tests/ops/headers.cpp
}
compile
if compile -DPLANTED 2> /dev/null; then
    echo "a constant that differs was not seen"
    exit 1
fi

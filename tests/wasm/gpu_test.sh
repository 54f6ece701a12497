#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slipring.mjs on navigator.gpu, in headless Chromium whose adapter is SwiftShader: kernels, rings, errors, calls of JavaScript.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v chromium > /dev/null || { echo 'skipped: no chromium (Debian: chromium)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/browser/slipring.wasm ]] || { echo 'skipped: no build/wasm/browser; run make wasm'; exit 77; }
node tests/wasm/gpu_test.mjs build/wasm/browser

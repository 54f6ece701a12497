#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A part of the conformance suite in headless Chromium, on WebGPU over SwiftShader; `make browser-cts` runs all of it.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v chromium > /dev/null || { echo 'skipped: no chromium (Debian: chromium)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/cts/slipring-cts.wasm ]] || { echo 'skipped: no build/wasm/cts; run make wasm'; exit 77; }
node tests/wasm/cts_test.mjs build/wasm/cts --device=webgpu:0 --timeout=60 --verbose --filter=mailboxes/,launch/

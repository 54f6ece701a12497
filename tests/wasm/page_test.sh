#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# examples/browser in headless Chromium: the beats of the command line, byte for byte, compiled ahead and interpreted, and a console
# without errors.
# SLIPRING_SCREENSHOTS=folder: pictures of it, to be looked at.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v chromium > /dev/null || { echo 'skipped: no chromium (Debian: chromium)'; exit 77; }
command -v emcc > /dev/null || { echo 'skipped: no emcc (Debian: emscripten)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/browser/slipring.wasm ]] || { echo 'skipped: no build/wasm/browser; run make wasm'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

XDG_RUNTIME_DIR=$folder "${SLIPRING_TOOL:?run by ctest}" run examples/ward/ward.cu --input examples/ward/mitdb-208-excerpt.csv \
    --device cpu > "$folder/native.csv"
(($(wc -l < "$folder/native.csv") > 400)) || { echo 'fewer than 400 beats natively'; exit 1; }
cp -r build/wasm/browser "$folder/page"
scripts/browser-ahead.sh "$SLIPRING_TOOL" "$folder/page"
[[ -e build/wasm/browser/slipring-threads.wasm ]] || { echo 'no build/wasm/browser/slipring-threads.wasm; run make wasm'; exit 1; }
for mode in one-thread threads; do
    echo "$mode:"
    node tests/wasm/page_test.mjs "$folder/page" build/wasm/browser "$folder/native.csv" "$mode" \
        ${SLIPRING_SCREENSHOTS:+"$SLIPRING_SCREENSHOTS"}
done

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slipring.mjs in node: its calls and their errors, and the ward's beats, byte for byte those of the command line.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v emcc > /dev/null || { echo 'skipped: no emcc (Debian: emscripten)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/slipring.wasm ]] || { echo 'skipped: no build/wasm; run make wasm'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compressed=$(gzip -9 < build/wasm/slipring.wasm | wc -c)
echo "slipring.wasm: $compressed bytes compressed"
((compressed <= 700000)) || { echo 'more than 700,000 bytes for a page to load'; exit 1; }
node tests/wasm/slipring_test.mjs build/wasm
XDG_RUNTIME_DIR=$folder "${SLIPRING_TOOL:?run by ctest}" run examples/ward/ward.cu --input examples/ward/mitdb-208-excerpt.csv \
    --device cpu > "$folder/native.csv"
(($(wc -l < "$folder/native.csv") > 400)) || { echo 'fewer than 400 beats natively'; exit 1; }
node tests/wasm/ward.mjs build/wasm examples/ward > "$folder/wasm.csv"
cmp "$folder/native.csv" "$folder/wasm.csv" || { echo 'WebAssembly finds other beats'; exit 1; }

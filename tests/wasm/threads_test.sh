#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slipring.mjs with threads, in headless Chromium, from a server that isolates the page.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v chromium > /dev/null || { echo 'skipped: no chromium (Debian: chromium)'; exit 77; }
command -v emcc > /dev/null || { echo 'skipped: no emcc (Debian: emscripten)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/browser/slipring-threads.wasm ]] || { echo 'skipped: no build/wasm/browser; run make wasm'; exit 77; }
tool=${SLIPRING_TOOL:?run by ctest}
"$tool" build --help > /dev/null || { echo 'skipped: this slipring was built without jansson'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

compressed=$(gzip -9 < build/wasm/slipring-threads.wasm | wc -c)
echo "slipring-threads.wasm: $compressed bytes compressed"
((compressed <= 700000)) || { echo 'more than 700,000 bytes for a page to load'; exit 1; }
node -e 'import("./tests/wasm/sum.mjs").then(({ SUM }) => process.stdout.write(SUM))' > "$folder/sum.cu"
# Emscripten's tools look for Debian's JavaScript libraries, which another node than Debian's does not find.
NODE_PATH=/usr/share/nodejs XDG_RUNTIME_DIR=$folder "$tool" build "$folder/sum.cu" --target wasm -o "$folder/sum.wasm" > /dev/null
node tests/wasm/threads_test.mjs build/wasm/browser "$folder" "$@"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# browser-ahead.sh SLIPRING FOLDER: compiles the handler of the page in FOLDER (build/wasm/browser) ahead, by `slipring build`,
# and has the page load that. Without it the page interprets the handler.
set -euo pipefail
readonly slipring=$1 folder=$2
# Emscripten's tools look for Debian's JavaScript libraries, which another node than Debian's does not find.
NODE_PATH=/usr/share/nodejs "$slipring" build "$folder/ward.cu" --target wasm -o "$folder/ward.wasm" > /dev/null
echo '["ward.wasm"]' > "$folder/built.json"

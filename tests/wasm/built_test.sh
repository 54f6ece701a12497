#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# slipring build --target wasm, and what node runs of it: the same beats and numbers as interpreted; other text is interpreted.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:?run by ctest}"
command -v emcc > /dev/null || { echo 'skipped: no emcc (Debian: emscripten)'; exit 77; }
command -v node > /dev/null || { echo 'skipped: no node (Debian: nodejs)'; exit 77; }
[[ -e build/wasm/slipring.wasm ]] || { echo 'skipped: no build/wasm; run make wasm'; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_RUNTIME_DIR=$folder
tool=${SLIPRING_TOOL:?run by ctest}
"$tool" build --help > /dev/null || { echo 'skipped: this slipring was built without jansson'; exit 77; }

fails() { # CODE WORDS ARGUMENT...
    local code=$1 words=$2 got=0 # `search`: where programs are looked for
    shift 2
    env ${search:+PATH="$search"} "$tool" build "$@" > "$folder/out" 2> "$folder/err" || got=$?
    [[ $got == "$code" ]] || { echo "slipring build $*: exit code $got, not $code"; exit 1; }
    grep -q -- "$words" "$folder/err" || { echo "slipring build $*: lacks '$words':"; cat "$folder/err"; exit 1; }
}

# Emscripten's tools look for Debian's JavaScript libraries, which another node than Debian's does not find.
export NODE_PATH=/usr/share/nodejs
"$tool" build examples/ward/ward.cu --target wasm -o "$folder/ward.wasm" --json > "$folder/out"
grep -q '"detect"' "$folder/out"
cat > "$folder/kernels.cu" <<'SOURCE'
__global__ void scale(float *y, const float *x, float a, int n)
{
    __shared__ float part[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    if (i < n)
        y[i] = a * part[threadIdx.x] / 3 + sqrtf(x[i]) + expf(-x[i]) + part[threadIdx.x ^ 1];
}
SOURCE
"$tool" build "$folder/kernels.cu" --target wasm --block 64 > "$folder/out"
grep -q '1 handlers and kernels' "$folder/out"
[[ -e $folder/kernels.wasm ]] || { echo 'no kernels.wasm beside its source'; exit 1; }
[[ -z $(find "$folder" -name '*.c') ]] || { echo 'emitted text was left'; exit 1; }
fails 2 'target is missing' examples/ward/ward.cu
fails 2 'expected wasm' examples/ward/ward.cu --target arm
echo '__global__ void k(int *a) { a[0] = b; }' > "$folder/wrong.cu"
fails 1 'wrong.cu:1' "$folder/wrong.cu" --target wasm
search=$folder fails 3 'emscripten' "$folder/kernels.cu" --target wasm
node tests/wasm/built_test.mjs build/wasm examples/ward "$folder"

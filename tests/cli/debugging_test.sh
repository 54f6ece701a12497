#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The session of docs/debugging.md, in gdb, as it stands there: what follows a command is found behind it, in order. And
# what is compiled for a debugger computes the same.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
binary_dir=${SLIPRING_BINARY_DIR:?run by ctest}
page=$source_dir/docs/debugging.md
slipring=$binary_dir/bin/slipring
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SLIPRING_CACHE_DIR=$folder/cache ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-} # gdb traces it already
mkdir "$SLIPRING_CACHE_DIR"

# block LANGUAGE: the first block of the page in that language
block() {
    awk -v begin="^\`\`\`$1\$" '$0 ~ begin { inside = 1; next } /^```/ && inside { exit } inside' "$page"
}
block c > "$folder/average.cu"
block gdb > "$folder/session"
printf 'price\n1\n5\n' > "$folder/ticks.csv"
printf '1 2 3' > "$folder/weights.txt"
[[ -s $folder/average.cu && -s $folder/session ]] || { echo "$page lacks its blocks"; exit 1; }
cd "$folder"

run=(run average.cu --device cpu --bind weights=weights.txt --input ticks.csv)
"$slipring" "${run[@]}" > plain
"$slipring" "${run[@]}" -g > debugged
SLIPRING_DEBUG=1 "$slipring" "${run[@]}" > asked
cmp plain debugged
cmp plain asked
kept=$(find cache -name 'debug-*.c')
[[ $(wc -l <<< "$kept") == 1 && -n $kept ]] || { echo "one emitted file was to be kept, found: $kept"; exit 1; }
grep -q '^#line 15 "average.cu"' "$kept"
[[ $(find cache -name '*.so' | wc -l) == 2 ]] || { echo "-g has no entry of its own"; exit 1; }

head -3000 "$source_dir/examples/ward/mitdb-208-excerpt.csv" > ward.csv
ward=(run "$source_dir/examples/ward/ward.cu" --device cpu --input ward.csv)
"$slipring" "${ward[@]}" > plain
"$slipring" "${ward[@]}" -g > debugged
cmp plain debugged

printf '__global__ void twice(int *x) { int i = threadIdx.x; x[i] = 2 * x[i]; }\n' > twice.cu
"$slipring" kernel run twice.cu twice -g --grid 1 --block 4 --arg 'x=[4]:iota' --print x > printed
grep -q '0 2 4 6' printed

command -v gdb > /dev/null || { echo "gdb is not installed"; exit 77; }
sed -n 's/^(gdb) //p' session > commands
gdb -nx -q -batch -ex 'set pagination off' -ex 'set debuginfod enabled off' -x commands \
    --args "$slipring" "${run[@]}" -g > output 2>&1 || true
if grep -Eq 'ptrace: |Operation not permitted|not being run' output && ! grep -q 'hit Breakpoint' output; then
    echo "gdb may trace nothing here:"
    head -5 output
    exit 77
fi

# Each line of the session that is no command comes, behind the one before it.
line=0
while IFS= read -r wanted; do
    [[ $wanted == "(gdb) "* ]] && continue
    found=$(tail -n +$((line + 1)) output | grep -nFx -m 1 -- "$wanted" | cut -d: -f1) || true
    [[ -n $found ]] || { echo "gdb does not say, behind line $line of its output: $wanted"; cat output; exit 1; }
    line=$((line + found))
done < session

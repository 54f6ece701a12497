#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The link of this build respects the layers, and the check would say so if it did not.
set -euo pipefail
build=${SLIPRING_BINARY_DIR:?run by ctest}
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
check=$source_dir/scripts/check-symbols.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A tree in which ring uses base, and one function of a header of hal/cpu.
mkdir -p "$folder"/src/{base,ring,hal/cpu}
cd "$folder"
echo 'May include: public' > src/base/README.md
echo 'May include: base, hal/cpu/worker.h' > src/ring/README.md
echo 'May include: base' > src/hal/cpu/README.md
echo 'int base_function(void);' > src/base/base.h
echo 'int worker_function(void);' > src/hal/cpu/worker.h
echo 'int base_function(void) { return 1; }' > src/base/base.c
echo 'int worker_function(void) { return 1; } int other_function(void) { return 1; }' > src/hal/cpu/worker.c

# try SOURCE FILE: compiles the tree with SOURCE in FILE, and checks it.
try() {
    local file
    echo "$1" > "$2"
    rm -rf build
    while read -r file; do
        mkdir -p "build/CMakeFiles/slipring_objects.dir/$(dirname "$file")"
        "${CC:-cc}" -c "$file" -o "build/CMakeFiles/slipring_objects.dir/$file.o"
    done < <(find src -name '*.c')
    "$check" build .
}

# expect_violation SOURCE FILE WORDS
expect_violation() {
    local said
    if said=$(try "$1" "$2"); then
        echo "not reported: $1 in $2"
        exit 1
    fi
    if [[ $said != *"$2: $3"* ]]; then
        echo "reported otherwise: $said"
        exit 1
    fi
    rm "$2"
}

try 'int base_function(void), worker_function(void); int ring(void) { return base_function() + worker_function(); }' \
    src/ring/ring.c || { echo "the clean tree was refused"; exit 1; }
expect_violation 'int ring(void); int upward(void) { return ring(); }' src/base/upward.c 'base may not use ring'
expect_violation 'extern int told; int read(void) { return told; } int ring(void); int up(void) { return ring(); }' \
    src/hal/cpu/up.c 'hal/cpu may not use ring'
expect_violation 'int other_function(void); int past(void) { return other_function(); }' src/ring/past.c \
    'ring may not use other_function, which is of hal/cpu'

# Objects of a source that is gone count for nothing.
echo 'int ring(void); int upward(void) { return ring(); }' > gone.c
"${CC:-cc}" -c gone.c -o build/CMakeFiles/slipring_objects.dir/src/base/gone.c.o
"$check" build . || { echo "an object without a source was looked at"; exit 1; }

"$check" "$build" "$source_dir"

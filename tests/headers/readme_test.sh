#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's C program (its first ```c block) compiles as C17 and as C++17, and runs.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
binary_dir=${SLIPRING_BINARY_DIR:?run by ctest}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

awk '/^```c$/ { inside = 1; next } /^```/ && inside { exit } inside' "$source_dir/README.md" > "$folder/program.c"
[[ -s $folder/program.c ]] || { echo "README.md has no \`\`\`c block"; exit 1; }

# build_and_run COMPILER LANGUAGE STANDARD
build_and_run() {
    "$1" -x "$2" -std="$3" -Wall -Wextra -Wpedantic -Werror -I"$source_dir/include" "$folder/program.c" \
        -o "$folder/program" -L"$binary_dir/lib" -lslipring -Wl,-rpath,"$binary_dir/lib"
    # From the repository's root, so that the program may name a file of it.
    (cd "$source_dir" && "$folder/program") || { echo "as $3 it exits with $?"; exit 1; }
}
build_and_run "${CC:-cc}" c c17
build_and_run "${CXX:-c++}" c++ c++17

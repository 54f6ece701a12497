#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each public header compiles alone, as C17 and as C++17, by every compiler that is here.
set -euo pipefail
cd "${SLIPRING_SOURCE_DIR:-$(dirname "$0")/../..}"

readonly warnings='-Wall -Wextra -Wpedantic -Werror'
compiled=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
    # shellcheck disable=SC2086 # the warnings are several words
    printf '#include <%s>\nint one_declaration;\n' "$4" | "$1" -x "$2" -std="$3" $warnings -Iinclude -fsyntax-only - || {
        echo "$4 does not compile by $1 as $3"
        exit 1
    }
    compiled=$((compiled + 1))
}

headers=$(find include -name '*.h' -printf '%P\n' | sort)
for compiler in gcc clang; do
    command -v $compiler > /dev/null || continue
    for header in $headers; do compile $compiler c c17 "$header"; done
done
for compiler in g++ clang++; do
    command -v $compiler > /dev/null || continue
    for header in $headers; do compile $compiler c++ c++17 "$header"; done
done
echo "$compiled compilations of $(wc -w <<< "$headers") headers"
((compiled >= 2 * $(wc -w <<< "$headers")))

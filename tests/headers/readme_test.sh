#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The README's C program (its first ```c block) compiles as C17 and as C++17, and runs. What it shows of the command line is
# what the command line prints: each block that begins with "$ slipring". The line that streams records does that.
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

tool=${SLIPRING_TOOL:?run by ctest}
[[ -x $tool ]] || exit 0 # built without it
cd "$source_dir"

# The blocks, one after the other: its command, then what is to be printed, then a line of "end".
shown=0
command=''
while IFS= read -r line; do
    case $line in
        '$ slipring '*) command=${line#'$ slipring '} wanted='' ;;
        'end of a block')
            read -r -a words <<< "$command"
            said=$("$tool" "${words[@]}" 2>&1) || true # its exit code may say what was found
            diff <(printf '%s' "$wanted") <(printf '%s\n' "$said") || { echo "README.md shows something else of '$command'"; exit 1; }
            shown=$((shown + 1))
            ;;
        *) wanted+=$line$'\n' ;;
    esac
done < <(awk '/^```/ { if (inside) print "end of a block"; inside = 0; first = !open; open = !open; next }
              open && first { inside = /^\$ slipring /; first = 0 } inside' README.md)
((shown >= 1)) || { echo 'README.md shows no command'; exit 1; }

line=$(grep -m 1 '^build/release/bin/slipring run ' README.md)
read -r -a words <<< "${line#build/release/bin/slipring }"
[[ ${words[*]: -2} == '| head' ]] || { echo "the README's line is not read here: $line"; exit 1; }
rows=$("$tool" "${words[@]:0:${#words[@]}-2}" | head | wc -l)
((rows == 10)) || { echo "'$line' prints $rows lines"; exit 1; }

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-layers.sh [ROOT]: does every #include respect the layers? Each folder of src has a README.md with a line
#     May include: base, abi, hal/hal.h, public
# naming folders of src, single headers, and `public` for include/slipring; `Tests may also include:` is such a line for
# its *_test files. Checked:
#   - a source of src includes its own folder and what that line names; only base reaches beyond ISO C,
#     and hal/vulkan for Vulkan's types;
#   - public headers include public headers and ISO C; tools, examples and bench nothing of src;
#   - no source of src calls getenv but base/environment.c, which knows when not to believe the environment;
#   - folders that include one another form no circle;
#   - each folder's README is there and has at most 60 lines.
# Prints a line for each violation and exits with 1.
set -euo pipefail

root=${1:-$(dirname "$0")/..}
cd "$root"

readonly iso_c=' assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h
signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h
threads.h time.h uchar.h wchar.h wctype.h '

violations=0
violation() {
    printf '%s\n' "$1"
    violations=$((violations + 1))
}

# "FILE:LINE:#include "x"" of the files below the folders given, without generated ones.
includes_below() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print0 2> /dev/null |
        xargs -0 -r grep -nHE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' || true
}

# Sets `layer` to that of a path below src: the nearest folder above it with a README, or . where there is none.
# "hal/cpu/worker.c" -> "hal/cpu"
find_layer() {
    layer=$1
    while [[ $layer == */* ]]; do
        layer=${layer%/*}
        if [[ -e src/$layer/README.md ]]; then return; fi
    done
    layer=.
}

# What each layer's README allows, as " base abi public ".
declare -A allowed_by tests_allowed_by
read_readmes() {
    local readme
    while read -r readme; do
        allowed_by[${readme%/README.md}]=" $(sed -n 's/^May include: *//p' "src/$readme" | tr ',' ' ') "
        tests_allowed_by[${readme%/README.md}]=" $(sed -n 's/^Tests may also include: *//p' "src/$readme" | tr ',' ' ') "
    done < <(find src -name README.md -printf '%P\n')
}

is_iso_c() {
    [[ $iso_c =~ [[:space:]]"$1"[[:space:]] ]]
}

# check_src_include FILE LINE KIND NAME, where KIND is < or "
check_src_include() {
    local file=${1#src/} name=$4 layer own allowed
    find_layer "$file"
    if [[ $layer == . ]]; then return; fi # said once, by check_readmes
    own=$layer
    allowed=${allowed_by[$own]}
    if [[ $file == *_test.[ch] ]]; then allowed+=${tests_allowed_by[$own]}; fi
    if [[ $3 == '<' ]]; then
        if [[ $name == slipring/* ]]; then
            [[ $allowed == *' public '* ]] || violation "$1:$2: $own may not include public headers (<$name>)"
        elif [[ $own != base && $file != *_test.[ch] ]]; then
            is_iso_c "$name" || [[ $own/$name == hal/vulkan/vulkan/vulkan_core.h ]] ||
                violation "$1:$2: <$name> is not ISO C: only base knows the operating system"
        fi
        return
    fi
    if [[ $name == ../* ]]; then
        violation "$1:$2: \"$name\": write includes from src/"
        return
    fi
    if [[ ! -e src/$name ]]; then
        [[ -e src/${file%/*}/$name ]] || violation "$1:$2: \"$name\" is neither in src/ nor beside the file"
        return
    fi
    find_layer "$name"
    [[ $layer == "$own" || $allowed == *" $layer "* || $allowed == *" $name "* ]] ||
        violation "$1:$2: $own may not include \"$name\""
}

check_public_include() {
    if [[ $4 == slipring/* ]] && [[ -e include/$4 ]]; then return; fi
    is_iso_c "$4" || violation "$1:$2: a public header may include public headers and ISO C only ($4)"
}

# Tests of tools and examples may look inside; the programs may not.
check_outer_include() {
    [[ $1 == *_test.c || ! -e src/$4 ]] || violation "$1:$2: \"$4\" is the library's own: only public headers here"
}

# each_include CHECK FOLDER...
each_include() {
    local check=$1 file line text
    local pattern='include[[:space:]]*([<"])([^>"]*)'
    shift
    while IFS=: read -r file line text; do
        [[ $text =~ $pattern ]] && "$check" "$file" "$line" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"
    done < <(includes_below "$@")
    return 0
}

check_readmes() {
    local folder layer readme
    while read -r folder; do
        find_layer "$folder/any"
        readme=src/$layer/README.md
        if [[ $layer == . ]]; then
            violation "src/$folder: no README.md"
        elif ! grep -q '^May include:' "$readme"; then
            violation "$readme: no line 'May include: …'"
        elif (($(wc -l < "$readme") > 60)); then
            violation "$readme: more than 60 lines"
        fi
    done < <(find src -type f -name '*.[ch]' -printf '%P\n' | xargs -r dirname | sort -u)
}

check_environment() {
    local found
    while read -r found; do
        violation "${found%%:*}: call slri_environment (base/environment.h), not getenv"
    done < <(grep -rnwE 'getenv|secure_getenv' src --include='*.c' --include='*.h' |
        grep -vE '^src/(base/environment\.c|[^:]*_test\.[ch]):' | grep -vE ':[[:space:]]*//' || true)
}

# "A B": a source of folder A includes a header of folder B.
print_edges() {
    local file line text
    local pattern='include[[:space:]]*"([^"]*)"'
    while IFS=: read -r file line text; do
        [[ $file != *_test.[ch] && $text =~ $pattern && -e src/${BASH_REMATCH[1]} ]] || continue
        file=${file#src/}
        printf '%s %s\n' "${file%/*}" "$(dirname "${BASH_REMATCH[1]}")"
    done < <(includes_below src) | sort -u | awk '$1 != $2'
}

check_circles() {
    local found
    while read -r found; do
        violation "src: a circle of includes: ${found#tsort: }"
    done < <(print_edges | tsort 2>&1 > /dev/null)
}

read_readmes
check_readmes
check_environment
each_include check_src_include src
each_include check_public_include include
each_include check_outer_include tools examples bench
check_circles
((violations == 0))

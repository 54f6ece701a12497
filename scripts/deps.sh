#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh TARGET: installs what `make TARGET` needs and is missing. Prints nothing where all is there.
# deps.sh --list: the table, with what is here.
#
# On a terminal it asks first. It installs by apt-get, as root or by sudo; where it cannot, it prints the one line to run
# and exits with 1.
set -euo pipefail

# target | what shows that it is here | Debian package
# "command X": X is on PATH. "header H": the C compiler finds H. "library L": the loader finds L. "driver D": OpenCL has D.
# "vulkan D": Vulkan has driver D. "layer L": Vulkan has layer L. "python M": python3 imports M.
# "bitcode B": AMD's device libraries have B.
readonly table='
build | command cc | gcc
build | command cmake | cmake
build | command make | make
build | header stdio.h | libc6-dev
build | header jansson.h | libjansson-dev
test  | header cmocka.h | libcmocka-dev
test  | command c++ | g++
test  | command pkg-config | pkg-config
test  | command spin | spin
test  | command spirv-val | spirv-tools
test  | library libnats.so.3.4 | libnats3.4
test  | library libOpenCL.so.1 | ocl-icd-libopencl1
test  | driver pocl | pocl-opencl-icd
test  | library libclblast.so.1 | libclblast1
test  | library libdnnl.so.2 | libdnnl2
test  | header vulkan/vulkan_core.h | libvulkan-dev
test  | library libvulkan.so.1 | libvulkan1
test  | vulkan lvp_icd | mesa-vulkan-drivers
test  | layer khronos_validation | vulkan-validationlayers
bench | command c++ | g++
bench | header caf/all.hpp | libcaf-dev
bench | library libmimalloc.so.2 | libmimalloc2.0
bench | library libopenblas.so.0 | libopenblas0-pthread
bench | library libOpenCL.so.1 | ocl-icd-libopencl1
bench | driver pocl | pocl-opencl-icd
bench | command glslangValidator | glslang-tools
bench | command python3 | python3-venv
perfetto | command node | nodejs
perfetto | command python3 | python3-venv
fuzz  | command clang | clang
fuzz  | command afl-clang-fast | afl++
windows | command x86_64-w64-mingw32-gcc-posix | gcc-mingw-w64-x86-64-posix
windows | command wine | wine
macos | command pip3 | python3-pip
wasm  | command emcc | emscripten
wasm  | command node | nodejs
wasm  | command python3 | python3
hip   | bitcode ocml | rocm-device-libs
hip   | command clang-15 | clang-15
hip   | command lld | lld
hip   | library libamdhip64.so.5 | libamdhip64-5
hip   | library libhiprtc-builtins.so.5 | libhiprtc-builtins5
ci    | command abidiff | abigail-tools
ci    | command ccache | ccache
ci    | command chromium | chromium
ci    | command clang | clang
ci    | command clang-format | clang-format
ci    | library libpython3.11.so.1.0 | libpython3.11
ci    | command lld | lld
ci    | command ninja | ninja-build
ci    | command oclgrind | oclgrind
ci    | command pip3 | python3-pip
ci    | command python3 | python3
ci    | python jsonschema | python3-jsonschema
ci    | command shellcheck | shellcheck
'

# The targets that each target stands on.
targets_of() {
    case $1 in
        build | demo) echo build ;;
        test | bench) echo build "$1" ;;
        perfetto | fuzz | hip) echo build test "$1" ;;
        windows | macos | wasm) echo build "$1" ;;
        ci) echo build test windows macos wasm hip ci ;;
        *) return 1 ;;
    esac
}

header_is_here() {
    local include
    # Not by compiling: a C++ header is looked for too, and there may be no compiler yet.
    for include in /usr/include "/usr/include/$(uname -m)-linux-gnu" /usr/local/include ${CPATH:+${CPATH//:/ }}; do
        [[ -e $include/$1 ]] && return 0
    done
    return 1
}

library_is_here() {
    /sbin/ldconfig -p 2> /dev/null | grep -qF "$1 "
}

is_here() { # KIND NAME
    case $1 in
        command) command -v "$2" > /dev/null ;;
        header) header_is_here "$2" ;;
        library) library_is_here "$2" ;;
        python) python3 -c "import $2" 2> /dev/null ;;
        driver) [[ -e /etc/OpenCL/vendors/$2.icd ]] ;;
        bitcode) compgen -G "/usr/lib/*/amdgcn/bitcode/$2.bc" > /dev/null ;;
        vulkan) compgen -G "/usr/share/vulkan/icd.d/$2*.json" > /dev/null ;;
        layer) [[ -e /usr/share/vulkan/explicit_layer.d/VkLayer_$2.json ]] ;;
    esac
}

# Calls `$1 target kind name package` for each row.
each_row() {
    local target kind name package
    while IFS='| ' read -r target kind name package; do
        if [[ -n $target ]]; then "$1" "$target" "$kind" "$name" "$package"; fi
    done <<< "$table"
}

print_row() {
    local here='missing'
    if is_here "$2" "$3"; then here='here'; fi
    printf '%-8s %-8s %-16s %-16s %s\n' "$1" "$2" "$3" "$4" "$here"
}

missing=()
note_missing() {
    if [[ " $wanted " == *" $1 "* && " ${missing[*]-} " != *" $4 "* ]] && ! is_here "$2" "$3"; then
        missing+=("$4")
    fi
}

confirm() {
    local answer
    [[ -t 0 && -t 1 ]] || return 0
    read -r -p "$1 needs ${missing[*]}: install by apt-get? [Y/n] " answer
    [[ -z $answer || $answer == [Yy]* ]]
}

lists_are_fresh() { # a list of packages that is younger than a week
    [[ -n $(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -7 -print -quit 2> /dev/null) ]]
}

install_missing() {
    local -a become=()
    if ((EUID != 0)); then
        become=(sudo -n)
        if [[ -t 0 && -t 1 ]]; then become=(sudo); fi
        command -v sudo > /dev/null || return 1
    fi
    become+=(env DEBIAN_FRONTEND=noninteractive)
    command -v apt-get > /dev/null || return 1
    lists_are_fresh || "${become[@]}" apt-get update -qq || return 1
    "${become[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

main() {
    if [[ ${1-} == --list ]]; then
        each_row print_row
        return
    fi
    if [[ $# -ne 1 ]] || ! wanted=$(targets_of "$1"); then
        echo "usage: deps.sh build|demo|test|bench|perfetto|fuzz|windows|macos|wasm|hip|ci, or deps.sh --list" >&2
        return 2
    fi
    each_row note_missing
    ((${#missing[@]})) || return 0
    if confirm "$1" && install_missing; then return 0; fi
    echo "$1 needs packages that are missing; as root: apt-get install ${missing[*]}" >&2
    return 1
}
main "$@"

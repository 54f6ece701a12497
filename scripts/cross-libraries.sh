#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cross-libraries.sh windows|macos FOLDER: jansson, and for Windows cmocka, as static libraries below FOLDER, from Debian's own
# source packages, which apt-get checks: Debian has no packages of them for other systems. For macOS SLIPRING_ZIG must be
# set. Needs no root. Does nothing where they are.
set -euo pipefail
readonly system=${1:?usage: cross-libraries.sh windows|macos FOLDER}
mkdir -p "${2:?usage: cross-libraries.sh windows|macos FOLDER}"
folder=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
if [[ -e $folder/lib/libjansson.a && ($system == macos || -e $folder/lib/libcmocka.a) ]]; then exit 0; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The sources of what apt-get installs from, in lists of their own: this machine's stay as they are.
download() {
    mkdir -p "$work/lists/partial" "$work/parts"
    local file
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        if [[ -e $file ]]; then sed -n 's/^deb /deb-src /p' "$file" >> "$work/parts/these.list"; fi
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        if [[ -e $file ]]; then sed 's/^Types:.*/Types: deb-src/' "$file" > "$work/parts/${file##*/}"; fi
    done
    local -a apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts"
        -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root)
    "${apt[@]}" update
    (cd "$work" && "${apt[@]}" source --download-only jansson cmocka)
}

build() { # NAME CMAKE_ARGUMENTS...
    mkdir "$work/$1"
    tar -xf "$work/$1"_*.orig.tar.[gx]z -C "$work/$1" --strip-components=1
    if ! cmake -S "$work/$1" -B "$work/$1/build" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/$system.cmake" -DSLIPRING_ZIG="${SLIPRING_ZIG:-}" \
        -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX="$folder" "${@:2}" > "$work/log" 2>&1 ||
        ! cmake --build "$work/$1/build" --target install >> "$work/log" 2>&1; then
        cat "$work/log"
        return 1
    fi
}

download
build jansson -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF -DJANSSON_BUILD_SHARED_LIBS=OFF
if [[ $system == macos ]]; then exit 0; fi
build cmocka -DWITH_STATIC_LIB=ON -DWITH_EXAMPLES=OFF -DUNIT_TESTING=OFF -DWITH_CMOCKERY_SUPPORT=OFF
rm "$folder/bin/cmocka.dll" "$folder/lib/libcmocka.dll.a" # it makes a DLL in any case
mv "$folder/lib/libcmocka-static.a" "$folder/lib/libcmocka.a"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installed into a prefix and moved elsewhere, the library is found by find_package(slipring) and by pkg-config, and a
# consumer runs, as C17 and as C++17.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
binary_dir=${SLIPRING_BINARY_DIR:?run by ctest}
cmake=${SLIPRING_CMAKE:-cmake}
consumer=$source_dir/tests/install/consumer
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$cmake" --install "$binary_dir" --prefix "$folder/first" > /dev/null
mv "$folder/first" "$folder/moved"
prefix=$folder/moved

# expect_version COMMAND...: the consumer says the version that the header says.
version=$(sed -n 's/^#define SLR_VERSION "\(.*\)"/\1/p' "$source_dir/include/slipring/api.h")
expect_version() {
    local said
    said=$("$@")
    [[ $said == "slipring $version: SLR_FULL" ]] || { echo "$1 said: $said"; exit 1; }
}

"$cmake" -S "$consumer" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
"$cmake" --build "$folder/build" > /dev/null
expect_version "$folder/build/consumer_c"
expect_version "$folder/build/consumer_cpp"

pc=$(find "$prefix" -name slipring.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[[ $(pkg-config --modversion slipring) == "$version" ]] || { echo "pkg-config says another version"; exit 1; }
read -r -a flags <<< "$(pkg-config --cflags --libs slipring)"
libdir=$(pkg-config --variable=libdir slipring)
"${CC:-cc}" -std=c17 "$consumer/main.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$folder/pc_c"
"${CXX:-c++}" -std=c++17 -x c++ "$consumer/main.c" -x none "${flags[@]}" -Wl,-rpath,"$libdir" -o "$folder/pc_cpp"
expect_version "$folder/pc_c"
expect_version "$folder/pc_cpp"
awk '/^```c$/ { inside = 1; next } /^```/ && inside { exit } inside' "$source_dir/README.md" > "$folder/app.c" # as README.md says
"${CC:-cc}" "$folder/app.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$folder/app"
[[ $("$folder/app") == $'after 1: 1\nafter 2: 1.5\nafter 3: 2' ]] || { echo 'the program of README.md prints something else'; exit 1; }

# Each page that a header names is there.
grep -rhoE 'docs/contract/[a-z]+\.md' "$prefix/include" | sort -u | while read -r page; do
    [[ -e $prefix/share/doc/slipring/$page ]] || { echo "a header names $page: not installed"; exit 1; }
done

# What an installed page links to is installed, and the unit starts the program that was installed with it.
"$source_dir/scripts/check-links.sh" "$prefix/share/doc/slipring"
[[ -e $prefix/share/doc/slipring/examples/cluster/count.cu ]] || { echo 'the example of the guide is not installed'; exit 1; }
if [[ -e $prefix/bin/slipring && $(uname) == Linux ]]; then
    grep -qF "ExecStart=$folder/first/bin/slipring serve " "$prefix/lib/systemd/system/slipring-serve@.service" ||
        { echo 'the unit starts another program'; exit 1; }
fi

# The command line finds its library beside it.
if [[ -e $prefix/bin/slipring ]]; then "$prefix/bin/slipring" --help > /dev/null; fi
if [[ -e $prefix/bin/slipring-cts ]]; then
    "$prefix/bin/slipring-cts" --filter launch/one_thread --device 'cpu?engine=interpreted' > /dev/null
fi

# What was installed is removed again, with its folders, and nothing else.
fail() { echo "$1"; exit 1; }
manifest=$binary_dir/install_manifest.txt
uninstall=$source_dir/scripts/uninstall.sh
mkdir -p "$folder/root/opt/a b/include/slipring"
touch "$folder/root/opt/a b/include/other.h" "$folder/root/opt/a b/include/slipring/mine.h"
DESTDIR=$folder/root "$cmake" --install "$binary_dir" --prefix '/opt/a b' > /dev/null
! "$uninstall" "$manifest" /opt "$folder/elsewhere" 2> "$folder/said" || fail 'uninstall elsewhere has removed something'
grep -q "^uninstall: none of the [0-9]* files is in $folder/elsewhere/opt" "$folder/said" || fail "$(cat "$folder/said")"
! "$uninstall" "$manifest" /usr/local "$folder/root" 2> "$folder/said" || fail 'uninstall takes another prefix'
grep -q 'which is not in /usr/local: say PREFIX= as then' "$folder/said" || fail "$(cat "$folder/said")"
"$uninstall" "$manifest" '/opt/a b' "$folder/root" > "$folder/said" || fail "$(cat "$folder/said")"
grep -q "^removed \([0-9]*\) of \1 files from $folder/root/opt/a b$" "$folder/said" || fail "$(cat "$folder/said")"
left=$(cd "$folder/root/opt/a b" && find . -type f -o -type d -name '*slipring*' -o -type l | sort | tr '\n' ' ')
[[ $left == './include/other.h ./include/slipring ./include/slipring/mine.h ' ]] || fail "left: $left"
! "$uninstall" "$folder/none" /usr 2> "$folder/said" || fail 'uninstall without a manifest'
grep -q 'nothing was installed from here' "$folder/said" || fail "$(cat "$folder/said")"
said=$(make -n -C "$source_dir" uninstall 'PREFIX=/opt/a b' DESTDIR=/d)
[[ $said == *"scripts/uninstall.sh build/release/install_manifest.txt '/opt/a b' '/d'"* ]] || fail "make uninstall: $said"

# The command line is built with all of its verbs, or not by mistake: here jansson is nowhere.
nowhere=(-DCMAKE_FIND_ROOT_PATH="$folder/none" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY)
! "$cmake" -S "$source_dir" -B "$folder/tool" "${nowhere[@]}" > /dev/null 2> "$folder/said" || fail 'no jansson, and nothing said'
grep -q 'needs jansson' "$folder/said" || fail "$(cat "$folder/said")"
for way in -DSLIPRING_BUILD_TOOLS=OFF -DSLIPRING_WITHOUT_JANSSON=ON; do
    "$cmake" -S "$source_dir" -B "$folder/tool$way" "${nowhere[@]}" "$way" > /dev/null 2> "$folder/said" || fail "$(cat "$folder/said")"
done
grep -q '^build .*libjansson-dev' <("$source_dir/scripts/deps.sh" --list) || fail 'deps.sh build does not ask for jansson'

# What is installed compiles by compilers that warn of more.
grep -q '^SLIPRING_WERROR:BOOL=OFF' "$folder/tool-DSLIPRING_BUILD_TOOLS=OFF/CMakeCache.txt" || fail 'warnings are errors'
"$cmake" -S "$source_dir" -B "$folder/release" --preset release > /dev/null
grep -q '^SLIPRING_WERROR:[A-Z]*=OFF' "$folder/release/CMakeCache.txt" || fail 'warnings are errors in the release preset'

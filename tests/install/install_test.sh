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

# Each page that a header names is there.
grep -rhoE 'docs/contract/[a-z]+\.md' "$prefix/include" | sort -u | while read -r page; do
    [[ -e $prefix/share/doc/slipring/${page#docs/} ]] || { echo "a header names $page: not installed"; exit 1; }
done

# The command line finds its library beside it.
if [[ -e $prefix/bin/slipring ]]; then "$prefix/bin/slipring" --help > /dev/null; fi
if [[ -e $prefix/bin/slipring-cts ]]; then
    "$prefix/bin/slipring-cts" --filter launch/one_thread --device 'cpu?engine=interpreted' > /dev/null
fi

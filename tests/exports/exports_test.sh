#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The shared library exports slr_* and nothing else, and every function that a public header marks SLR_API is there.
set -euo pipefail
library=${SLIPRING_BINARY_DIR:?run by ctest}/lib/libslipring.so
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}

# "slr_call@@SLIPRING_0.1"; the versions themselves are absolute symbols (A).
exported=$(nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" { print $3 }' | sort -u)
if unversioned=$(grep -v '@@SLIPRING_' <<< "$exported"); then
    echo "exported without a version (cmake/slipring.map): $unversioned"
    exit 1
fi
exported=$(awk -F@@ '{ print $1 }' <<< "$exported")
if foreign=$(grep -v '^slr_' <<< "$exported"); then
    echo "exported, and not slr_*: $foreign"
    exit 1
fi

declared=$(sed -nE 's/^SLR_API .*[ *](slr_[a-z0-9_]+)\(.*/\1/p' "$source_dir"/include/slipring/*.h "$source_dir"/include/slipring/native/*.h | sort -u)
[[ -n $declared ]] || { echo "no SLR_API function found in the headers"; exit 1; }
if absent=$(grep -vxF "$exported" <<< "$declared"); then
    echo "declared in a public header, not in the library:" "$absent"
    exit 1
fi

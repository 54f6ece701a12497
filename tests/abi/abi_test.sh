#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whether a program of version 0.1 runs with this library, as far as types and symbols say (abidiff): nothing that 0.1
# had may be gone or lie elsewhere. Descriptions and reports (src/base/sized.h) may have more fields at their end, and
# enumerations more values. Then the same is asked of planted changes, to see that they are found.
set -euo pipefail
library=${SLIPRING_BINARY_DIR:?run by ctest}/lib/libslipring.so
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
command -v abidiff > /dev/null || { echo "abidiff is not installed (Debian: abigail-tools)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# build_stub HEADERS OUT: a library with the types and functions of these headers, which do nothing.
build_stub() {
    {
        echo '#include <slipring/slipring.h>'
        awk '/^SLR_API/ { on = 1 } on { print } /;$/ { on = 0 }' "$1"/slipring/*.h | tr '\n' ' ' | sed 's/; */;\n/g' > "$folder/declared"
        sed -E 's/^.*[ *](slr_[a-z0-9_]+)\(.*$/#undef \1/' "$folder/declared"
        sed -E 's/;$/ { __builtin_trap(); }/' "$folder/declared"
    } > "$folder/stub.c"
    "${CC:-cc}" -g -shared -fPIC -w -Wl,-soname,libslipring.so.0 -I"$1" "$folder/stub.c" -Wl,--version-script="$source_dir/cmake/slipring.map" -o "$2"
}

# What may grow at its end is left to keeps_fields: abidiff would also pass over a field that became another.
growing=$(sed -nE 's/^ *X\((slr_[a-z_]+), [0-9]+\).*/\1/p' "$source_dir/src/base/sized.h")
[[ $growing == *slr_ring_desc*slr_ring_stats* ]]
for type in $growing; do
    printf '[suppress_type]\n  type_kind = struct\n  name = %s\n  has_size_change = yes\n\n' "$type"
done > "$folder/may_grow"

# fields TYPE XML: "OFFSET NAME TYPE" of each field, in order.
fields() {
    awk -v type="name='$1'" '
        /<class-decl / { on = index($0, type) && /size-in-bits/ }
        on && /layout-offset-in-bits/ { split($0, part, "\x27"); offset = part[4] }
        on && /<var-decl / { split($0, part, "\x27"); print offset, part[2], part[4] }
        /<\/class-decl>/ { on = 0 }' "$2"
}

# describe HEADERS LIBRARY OUT
describe() {
    abidw --type-id-style hash --no-show-locs --drop-private-types --headers-dir "$1" --out-file "$3" "$2"
}

# keeps_fields XML1 XML2: each struct that may grow begins as it was.
keeps_fields() {
    local type before after
    for type in $growing; do
        before=$(fields "$type" "$1")
        after=$(fields "$type" "$2")
        [[ -n $before ]] || continue # a later version had it first
        if [[ $after != "$before"* ]]; then
            echo "the fields of 0.1 in $type are not where they were (bits, name, type):"
            diff <(echo "$before") <(echo "$after") || return 1
        fi
    done
}

# compare HEADERS LIBRARY: with version 0.1.
compare() {
    abidiff --no-added-syms --drop-private-types --suppressions "$folder/may_grow" \
        --headers-dir1 "$first" --headers-dir2 "$1" "$folder/first.so" "$2" || return 1
    describe "$1" "$2" "$folder/other.xml" && keeps_fields "$folder/first.xml" "$folder/other.xml"
}

first=$source_dir/tests/abi/0.1
build_stub "$first" "$folder/first.so"
describe "$first" "$folder/first.so" "$folder/first.xml"
compare "$source_dir/include" "$library" || {
    echo "a program that was compiled with the headers of 0.1 may not run with this library"
    exit 1
}

# plant FILE SED: the headers of 0.1 with a change, as a library.
plant() {
    rm -rf "$folder/planted"
    cp -r "$first" "$folder/planted"
    sed -i -E "$2" "$folder/planted/slipring/$1"
    if diff -rq "$first" "$folder/planted" > /dev/null; then echo "nothing was planted by $2"; exit 1; fi
    build_stub "$folder/planted" "$folder/planted.so"
}
found=0
must_find() {
    plant "$@"
    if compare "$folder/planted" "$folder/planted.so" > "$folder/said"; then
        echo "abidiff does not see: $2"
        exit 1
    fi
    found=$((found + 1))
}
may_be() {
    plant "$@"
    compare "$folder/planted" "$folder/planted.so"
}

may_be ring.h 's/^\} slr_ring_desc;/uint64_t appended; &/'
may_be ring.h 's/^\} slr_ring_stats;/uint64_t appended; &/'
may_be status.h 's/^SLR_API const char \*slr_status_name/SLR_API int slr_new(void);\n&/'
must_find ring.h 's/^    uint32_t queue_size;/uint32_t inserted; &/'
must_find ring.h 's/^    uint64_t handled;/uint64_t inserted; &/'
must_find ring.h 's/^    uint64_t fuel;/uint32_t fuel;/'
must_find port.h 's/^\} slr_reply;/uint64_t appended; &/'
must_find ring.h 's/^\} slr_delivery;/uint64_t appended; &/'
must_find key.h 's/^\} slr_key;/uint64_t appended; &/'
must_find ring.h 's/SLR_RING_PAUSED = 8/SLR_RING_PAUSED = 9/'
must_find status.h '/^SLR_API const char \*slr_status_name/d'
must_find port.h 's/^(SLR_API slr_status slr_port_close|SLR_API void slr_port_close)\(slr_port \*port/&, int more/'
echo "as in 0.1; $found planted changes are found"

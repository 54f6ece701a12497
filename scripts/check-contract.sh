#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-contract.sh: is the contract of a backend still small, and what one more backend adds? Counted: the slots of struct
# slri_backend (hal/hal.h), the calls of struct slri_resident_ops (engine/resident.h), and lines, all of them, of
#   - the smallest backend, and the toy of tests/fakes;
#   - Metal: the C sources and headers of hal/metal and emit/msl without tests, not the kernel in Metal's own language that
#     copies bytes (bytes.metal);
#   - HIP: the files of src that nothing but HIP needs, and each line of the others that names HIP.
# Prints a line for each count, and exits with 1 where one is too large.
set -euo pipefail
cd "$(dirname "$0")/.."

calls_of() { # HEADER STRUCT: members that are function pointers
    sed -n "/^struct $2 {/,/^};/p" "$1" | grep -cE '^    [a-z_ ]+\*?\(\*[a-z_]+\)\('
}

too_many=0
bound() { # WHAT COUNT MOST
    echo "$1: $2 (at most $3)"
    if (($2 == 0 || $2 > $3)); then
        too_many=1
    fi
}
bound 'slots of struct slri_backend' "$(calls_of src/hal/hal.h slri_backend)" 22
bound 'calls of struct slri_resident_ops' "$(calls_of src/engine/resident.h slri_resident_ops)" 6
bound 'lines of null' "$(cat src/hal/null/*.c | wc -l)" 150
bound 'lines of the toy' "$(cat tests/fakes/toy/*.[ch] | wc -l)" 900

metal=$(find src/hal/metal src/emit/msl -name '*.[ch]' ! -name '*_test.*' -exec cat {} + | wc -l)
bound 'lines of Metal, host and emitter' "$metal" 2200
hip=(src/emit/cuda/slr_hip.h src/hal/cuda/{hip,rocm_smi,waves}.[ch])
own=$(cat "${hip[@]}" | wc -l)
named=$(find src -name '*.[ch]' ! -name '*_test.*' -print0 | xargs -0 grep -HiE '(^|[^a-z])hip' |
    grep -vcE "^($(IFS='|'; echo "${hip[*]}")):")
bound 'lines of HIP, with those elsewhere that name it' $((own + named)) 900
exit $too_many

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check-contract.sh: is the contract of a backend still small? Counted: the slots of struct slri_backend (hal/hal.h), the
# calls of struct slri_resident_ops (engine/resident.h), the lines of the smallest backend and of the toy.
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
exit $too_many

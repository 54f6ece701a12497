#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line without jansson, which `make gpu-check` builds: it links, has the verbs that read no JSON, and says which
# others need jansson.
set -euo pipefail
bare=$SLIPRING_BARE
fail() { echo "$1"; exit 1; }

! ldd "$bare" | grep -q jansson || fail 'it needs jansson'
"$bare" doctor > /dev/null || fail 'doctor'
"$bare" bench latency --device cpu --small --filter plain > /dev/null || fail 'bench'
for words in 'doctor --cluster nats://127.0.0.1:1' 'run x.cu' 'bench compare a b'; do
    status=0
    # shellcheck disable=SC2086 # words
    said=$("$bare" $words 2>&1) || status=$?
    [[ $status == 2 && $said == *jansson* ]] || fail "$words: $status, $said"
done

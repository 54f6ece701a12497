#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/guide/cluster.md: its script runs, and the guide's commands are those of the script.
set -euo pipefail
root=${SLIPRING_SOURCE_DIR:?run by ctest}
script=$root/examples/cluster/three-servers.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { # what the script printed comes with it
    touch "$folder/out" "$folder/err"
    cat "$folder/out" "$folder/err"
    echo "$1"
    exit 1
}

# Every command of the guide is one of the script's, but for the names of programs.
# shellcheck disable=SC2016 # the script's text
sed -e 's/"\$tool"/slipring/; s/"\$handler"/count.cu/; s/^ *//' "$script" > "$folder/script"
# shellcheck disable=SC2016
sed -n '/^```sh$/,/^```$/p' "$root/docs/guide/cluster.md" | grep -v '^```' > "$folder/guide"
[[ $(wc -l < "$folder/guide") -ge 7 ]] || fail 'the guide has no commands'
while read -r line; do
    grep -qF -- "$line" "$folder/script" || fail "the guide's command is not in the script: $line"
done < "$folder/guide"

if [[ ! -x ${SLIPRING_NATS_SERVER:-} ]]; then
    echo 'skipped: SLIPRING_NATS_SERVER names no nats-server'
    exit 77
fi
"${SLIPRING_TOOL:?run by ctest}" doctor --cluster nats://127.0.0.1:1 2> "$folder/doctor" || true
if grep -q libnats "$folder/doctor"; then
    cat "$folder/doctor"
    exit 77
fi

# Ports that nobody listens to. Another program may take one meanwhile: then others are tried.
is_free() {
    for i in 0 1 2 10 11 12; do
        if (: < "/dev/tcp/127.0.0.1/$(($1 + i))") 2> "$folder/connect"; then return 1; fi
    done
}
for try in 1 2 3; do
    port=$((10240 + RANDOM % 20000))
    is_free "$port" || continue
    if PORT=$port "$script" > "$folder/out" 2> "$folder/err"; then break; fi
    if ! grep -q 'address already in use' "$folder/err" || ((try == 3)); then fail 'the script failed'; fi
done
says() { grep -qF -- "$1" "$folder/out" || fail "the script does not print '$1'"; }
says 'survives    the loss of 1 of 3 servers'
says '0 outputs too many, 0 numbers not exactly once for each account'
says 'the worker has ended with 0'
# The copy and the restored name are counted alike: a drained worker has left nothing to be handled again.
copies=$(grep -cE '^8 partitions: 50 states of [0-9]+ messages, 0 frames after them' "$folder/out") || true
((copies == 2)) || fail "$copies of 2 copies have all states"

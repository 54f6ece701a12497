#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants faults in a copy of the library, one at a time, and asks whether the random programs find each and cut it down.
# usage: tests/sim/mutants.sh [SEEDS [NAME]]   (some minutes: each is built; `make sim-mutants`)
set -euo pipefail
cd "$(dirname "$0")/../.."
seeds=${1:-5000} only=${2:-}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

# name | file | sed expression, which must change something
mutants='
priorities forgotten|src/abi/sender.h|s/seen == 0u ? priority + 1u : MB_MIXED_MARK;/priority + 1u;/
state kept behind a fault|src/engine/owner_pass.c|s/^ *slri_shard_reset(shard, call->state);$//
END looked at behind the replies|src/ring/receive.c|s/^        if (over)$/        if (__atomic_load_n(\&c->ring->over, __ATOMIC_ACQUIRE))/
a claimed message lost by terminate|src/ring/terminate.c|s/k < shard->own\[MBP_BATCH_COUNT\]; ++k/k + 1 < shard->own[MBP_BATCH_COUNT]; ++k/
a message handled again behind a fault|src/abi/mailbox.h|s/mb_word k = done; k < batch/mb_word k = done - 1u; k < batch/
credits of a route not given back|src/ring/relay.c|s/^                mb_give_back(target(outlet)->S, unused);$//
no second look before sleeping|src/engine/owner.c|s/^    if (slri_shard_may_sleep(shard) .*$/    if (true)/
state kept behind a restart|src/ring/failure.c|s/^        slri_arena_set_states(ring, .*$/        continue;/
the highest dropped|src/abi/overflow.h|s/before = priority < P\[MBP_VICTIM_PRIORITY\]/before = priority > P[MBP_VICTIM_PRIORITY]/
a pause that waits for the mailbox|src/abi/mailbox.h|s/command == MB_PAUSE ? MB_PAUSED/command == MB_PAUSE \&\& P[MBP_WAITING] == 0u ? MB_PAUSED/
'

git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$copy"
options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DSLIPRING_BUILD_TESTS=ON -DSLIPRING_BUILD_TOOLS=OFF)
command -v ccache > /dev/null && options+=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
cmake -S "$copy" -B "$copy/build" "${options[@]}" > /dev/null

alive=0
while IFS='|' read -r name file change; do
    [[ -n "$name" && ( -z "$only" || "$name" == "$only" ) ]] || continue
    cp "$copy/$file" "$copy/kept"
    sed -i "$change" "$copy/$file"
    if cmp -s "$copy/$file" "$copy/kept"; then
        echo "STALE  $name: $file has no such line any more"
        alive=$((alive + 1))
        continue
    fi
    cmake --build "$copy/build" --parallel "${JOBS:-2}" --target slipring_sim > "$copy/log" 2>&1 || { cat "$copy/log"; exit 1; }
    if "$copy/build/tests/sim" --seeds "$seeds" --once > "$copy/log" 2>&1; then
        echo "ALIVE  $name"
        alive=$((alive + 1))
    else
        left=$(sed -n '/^cut down/,/^what happened/p' "$copy/log" | grep -cE '^  (client|controller)' || true)
        printf 'found  %s: %s; cut down to %s operations: %s\n' "$name" "$(sed -n 1p "$copy/log")" "$left" \
            "$(grep '^cut down' "$copy/log" | sed 's/^cut down ([^)]*): //')"
    fi
    cp "$copy/kept" "$copy/$file"
done <<< "$mutants"
exit $((alive != 0))

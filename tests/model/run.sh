#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Checks the models: the protocol must pass, exhaustively; each mutant must die by the property named here.
# run.sh [deep] [MODEL]: the small bounds, or the large ones; all models, or one. Exit status 0: all as expected.
# Needs spin and a C compiler ($CC). One core, under 1.5 GiB; deep: minutes and under 6 GiB, with states told apart by
# hashes: a few in a thousand are missed.
# Two thirds of the time are the compiler's. With CMAKE_C_COMPILER_LAUNCHER=ccache a model that is as it was is not compiled again; it is always searched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra compiler <<< "${CC:-cc}" # may be several words
bad=0 dead=0 passed=0

# expected | model | definitions. `passes`: no property fails and no run stops short. Else: the property that fails first.
readonly small='
passes              | lane      | N=3 PAUSES=0
passes              | lane      | N=1 PAUSES=1
passes              | lane      | N=3 CAP=1 PAUSES=0
passes              | ports     | NA=2 NB=2
passes              | ports     | NA=2 NB=2 SHARDS=2 CAP=1
passes              | ports     | NA=5 NB=1 CAP=1 COUNTS=6 DEPTH=8
passes              | pending   |
passes              | park      | REQUESTS=1
passes              | park      | REQUESTS=1 UNEVEN
passes              | close     | NA=2 NB=1
passes              | close     | NA=1 NB=2
passes              | granted   |
passes              | granted   | N=2 GRANT=1
passes              | granted   | N=2 OTHERS=2 DEPTH=9
passes              | granted   | N=2 GRANT=1 CAP=2 OTHERS=2 DEPTH=9
passes              | granted   | N=2 ASKED
passes              | granted   | N=2 SLEEPS
passes              | lifecycle |
passes              | evict     |
passes              | evict     | LOWEST
passes              | evict     | KEEP=2
passes              | marks     | NC=0
passes              | marks     | NB=0
passes              | marks     | NA=2 NB=0 NC=0
passes              | durable   |
passes              | durable   | KILLS=4 SNAPSHOTS=3
passes              | cluster   |
passes              | cluster   | LOG=4 LOSSES=2 TAKES=2
passes              | proof     |
passes              | restart   | FAULTS=1
passes              | restart   | N=1 FAULTS=1 CLOSES=1
passes              | restart   | N=1 FAULTS=1 RESTARTS=2
no_race             | lane      | PUBLISH=RLX PAUSES=0
no_race             | lane      | TAKE=RLX PAUSES=0
no_race             | lane      | REPLY=RLX PAUSES=0
no_race             | lane      | RECEIVE=RLX PAUSES=0
credit_shows_reply  | lane      | RETIRE=RLX PAUSES=0
credit_shows_reply  | lane      | CREDIT=RLX PAUSES=0
no_overwrite        | lane      | RETURN=RLX PAUSES=0
no_overwrite        | lane      | ROOM=RLX PAUSES=0
no_race             | lane      | COMMAND=RLX PAUSES=0 N=1
no_race             | lane      | OBEY=RLX PAUSES=0 N=1
accounted           | lane      | ANSWER=RLX PAUSES=0
accounted           | lane      | AWAIT=RLX PAUSES=0
fifo                | lane      | M_NO_LAP PAUSES=0
no_overwrite        | lane      | M_NO_CREDIT PAUSES=0
capacity_exact      | lane      | M_CREDIT_OFF_BY_ONE CAP=1 PAUSES=0
no_overwrite        | lane      | M_NO_ROOM PAUSES=0
no_overwrite        | lane      | M_ROOM_NOT_RESERVED PAUSES=0
credit_shows_reply  | lane      | M_RETIRE_BEFORE_REPLY PAUSES=0
no_loss             | lane      | M_LANES_BEFORE_END PAUSES=0
paused_is_paused    | lane      | M_ANSWER_WITHOUT_NUMBER PAUSES=2 N=1 STOPS=0 DEPTH=7
invalid_end_state   | lane      | M_CLOSE_KEEPS_PAUSE N=1 STOPS=0
full_is_full        | ports     | PUBLISH=RLX
full_is_full        | ports     | TAKE=RLX
no_overwrite        | ports     | RETIRE=RLX
no_overwrite        | ports     | CREDIT=RLX
cache_forward       | ports     | NOTE=RLX
cache_forward       | ports     | CACHED=RLX
cache_forward       | ports     | M_NOTE_BY_WINDOW NA=5 NB=1 CAP=1 COUNTS=6 DEPTH=8
no_overwrite        | ports     | M_STALE_IS_FREE
capacity_exact      | ports     | M_CLAIM_IN_TWO_STEPS NA=1 NB=1 CAP=1
no_overwrite        | ports     | CAP=2 SLOTS=1
most_urgent         | pending   | PUBLISH=RLX
most_urgent         | pending   | TAKE=RLX
most_urgent         | pending   | M_MARK_BEHIND_MESSAGE
most_urgent         | pending   | M_MARK_READ_FIRST
most_urgent         | pending   | M_MARK_READ_ONCE
most_urgent         | pending   | M_ANY_PURE_LANE
most_urgent         | pending   | M_FIRST_COME
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_SENDER
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_SHARD
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_UNPARK
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_PARK
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_PUBLISHED
invalid_end_state   | park      | REQUESTS=1 M_NO_FENCE_RECEIVER
invalid_end_state   | park      | REQUESTS=1 UNEVEN M_NO_FENCE_OWNER
invalid_end_state   | park      | REQUESTS=1 UNEVEN M_NO_FENCE_RECEIVER
invalid_end_state   | park      | REQUESTS=1 M_NO_LAST_LOOK_SHARD
invalid_end_state   | park      | REQUESTS=1 M_NO_LAST_LOOK_WORKER
invalid_end_state   | park      | REQUESTS=1 M_NO_LAST_LOOK_PORT
invalid_end_state   | park      | REQUESTS=2 M_NO_UNBLOCK
invalid_end_state   | park      | REQUESTS=2 M_KIND_NOT_LOOKED_AT
in_one_place        | park      | REQUESTS=1 M_TAKES_BACK_BLINDLY
in_one_place        | park      | REQUESTS=1 M_EVERYBODY_PUSHES
link_is_whole       | park      | REQUESTS=1 PUSH=RLX
link_is_whole       | park      | REQUESTS=1 ADOPT=RLX
no_race             | close     | COMMAND=RLX
no_race             | close     | OBEY=RLX
close_drains        | close     | M_END_WHEN_EMPTY
close_drains        | close     | M_CLOSED_BIT_APART
adopted_whole       | close     | ACKNOWLEDGE=RLX
adopted_whole       | close     | IS_EMPTY=RLX
adopted_whole       | close     | M_ADOPTS_AT_ONCE
waker_lives         | close     | M_ACKNOWLEDGES_UNSEEN
waker_lives         | close     | PORTS_CHANGED=RLX
waker_lives         | close     | REREAD=RLX
invalid_end_state   | close     | M_EPOCH_NOT_LOOKED_AT
no_race             | granted   | PUBLISH=RLX
no_race             | granted   | TAKE=RLX
no_overwrite        | granted   | RETIRE=RLX
no_overwrite        | granted   | CREDIT=RLX
no_overwrite        | granted   | M_NO_GRANT
no_overwrite        | granted   | SLOTS=1
told_whole          | granted   | REST=RLX
told_whole          | granted   | AWAIT=RLX
close_drains        | granted   | M_GIVES_BACK_EARLY
within_capacity     | granted   | M_GIVES_BACK_EARLY N=2 OTHERS=2 LATE DEPTH=9
accepted_covers     | granted   | COUNT=RLX ASKED
accepted_covers     | granted   | READ=RLX ASKED
accepted_covers     | granted   | M_TOLD_BEHIND ASKED
invalid_end_state   | granted   | M_SLEEPS_BY_LANE N=2 SLEEPS
accounted           | lifecycle | M_STOPPED_IS_TERMINATED
used_after_free     | lifecycle | M_LEAVES_FIRST
used_after_free     | lifecycle | M_WAITS_FOR_OVER
no_race             | evict     | PUBLISH=RLX
no_race             | evict     | TAKE=RLX
keeps_exactly       | evict     | M_TWO_SUMS
no_more_than_excess | evict     | M_CUTS_BLINDLY
no_more_than_excess | evict     | M_BEGUN_STILL_COUNTS
the_right_one       | evict     | M_FIRST_PORT_FIRST
the_right_one       | evict     | M_FIRST_PORT_FIRST LOWEST
invalid_end_state   | marks     | M_MARKS_FIRST
invalid_end_state   | marks     | M_CLEARS_BEHIND NC=0
invalid_end_state   | marks     | M_NO_FENCE_OWNER
invalid_end_state   | marks     | M_NO_FENCE_CLEAR NC=0
invalid_end_state   | marks     | M_NO_FENCE_PUSH
invalid_end_state   | marks     | M_NO_FENCE_BEGIN NB=0 NC=0
invalid_end_state   | marks     | M_NO_FENCE_PARK
no_race             | marks     | M_EVERYBODY_PUSHES NC=0
link_is_whole       | marks     | PUSH=RLX
link_is_whole       | marks     | TAKE=RLX
no_race             | marks     | CLEAR=RLX NC=0
no_race             | marks     | SET=RLX NC=0
no_race             | marks     | M_LINK_READ_BEHIND NC=0
stored_is_accepted  | durable   | M_HANDLED_BEFORE_ACCEPTED
stored_once         | durable   | M_STORED_AGAIN
nothing_lost        | durable   | M_NOT_SETTLED
snapshot_is_whole   | durable   | M_HEAD_FIRST
no_gap              | durable   | M_PURGE_FIRST
handled_once        | cluster   | M_REPEATED_TAKEN
in_order            | cluster   | M_GAP_TAKEN
nothing_lost        | cluster   | M_NUMBERS_FORGOTTEN
nothing_lost        | cluster   | M_ONLY_THE_FAILED
stored_once         | cluster   | M_NO_EXPECTED_SEQUENCE
owner_snapshots     | cluster   | M_NO_FENCE
no_gap              | cluster   | M_PURGE_FIRST
nothing_lost        | cluster   | M_NOT_SETTLED
stored_once         | cluster   | M_AHEAD_IS_SETTLED
reply_counts        | proof     | M_PROOF_IN_FLIGHT
reply_counts        | proof     | M_REFUSED_IS_STORED
reply_counts        | proof     | M_ANSWER_IS_ENOUGH
renewed_at_rest     | restart   | M_RENEWS_AT_ONCE
renewed_at_rest     | restart   | M_BOTH_RESTART RESTARTS=2 N=3
renewed_at_rest     | restart   | M_ANSWER_WITHOUT_NUMBER RESTARTS=2 N=3
invalid_end_state   | restart   | M_TERMINATE_NOT_LOOKED_AT FAULTS=1
refused_while_failed | restart   | M_STATE_FIRST FAULTS=1
reopened_is_open    | restart   | M_STATE_BEFORE_OPEN FAULTS=1
'
readonly large='
passes              | lane      | N=4 PAUSES=0
passes              | lane      | N=2 PAUSES=1 STOPS=0
passes              | ports     | NA=3 NB=2
passes              | ports     | NA=3 NB=3 SHARDS=2 CAP=1 DEPTH=8
passes              | pending   | N=3
passes              | pending   | N=3 BATCH=3
passes              | park      | REQUESTS=1 NO_REPLIES COMMANDED_END=1
passes              | park      | REQUESTS=1 NO_REPLIES COMMANDED=1 COMMANDED_END=2
passes              | park      | REQUESTS=2 DEPTH=16
passes              | park      | REQUESTS=2 DEPTH=16 UNEVEN
passes              | close     | NA=2 NB=2
passes              | cluster   | LOG=4 LOSSES=2
passes              | cluster   | LOG=4 TAKES=4
passes              | marks     | DEPTH=16
'

# What the search said: a property, invalid_end_state, passes, or incomplete.
verdict() {
    local property
    property=$(sed -nE 's/^pan:[0-9]+: (assertion violated )?(.*) \(at depth.*/\2/p' "$1" | head -n 1)
    if [[ -n $property ]]; then
        echo "${property// /_}"
    elif grep -q 'errors: 0' "$1" && ! grep -qi 'not completed\|out of memory\|max search depth' "$1"; then
        echo passes
    else
        echo incomplete
    fi
}

check() { # EXPECTED MODEL DEFINITIONS...
    local expected=$1 model=$2 optimise=-O0 found states start=${EPOCHREALTIME/[.,]/}
    shift 2
    [[ $expected == passes ]] && optimise=-O1 # a mutant dies early: most of its time is the compiler's
    cd "$work"
    rm -f pan pan.*
    if ! { spin -a "${@/#/-D}" "$here/$model.pml" &&
        ${CMAKE_C_COMPILER_LAUNCHER-} "${compiler[@]}" -w $optimise -DSAFETY -DNOREDUCE -DVECTORSZ=8192 -DMEMLIM=$limit_mib $compact -c pan.c &&
        "${compiler[@]}" -o pan pan.o; } > log 2>&1; then
        cat log
        bad=1
        return
    fi
    ./pan -m100000 -w$hash_bits > log 2>&1 || true
    found=$(verdict log)
    states=$(sed -nE 's/^ *([0-9]+) states, stored.*/\1/p' log | head -n 1)
    local as=ok
    if [[ $found != "$expected" ]]; then
        as="NOT $expected"
        bad=1
    elif [[ $found == passes ]]; then
        passed=$((passed + 1))
    else
        dead=$((dead + 1))
    fi
    printf '%-9s %-52s %-19s %9s states %6s ms  %s\n' "$model" "$*" "$found" "${states:-?}" \
        $(((${EPOCHREALTIME/[.,]/} - start) / 1000)) "$as"
}

rows=$small limit_mib=1500 hash_bits=20 compact=''
if [[ ${1-} == deep ]]; then
    rows=$large limit_mib=6000 hash_bits=26 compact=-DHC4
    shift
fi
while IFS='| ' read -r expected model definitions; do
    [[ -n $expected && ${1:-$model} == "$model" ]] || continue
    # shellcheck disable=SC2086 # words
    check "$expected" "$model" $definitions
done <<< "$rows"
echo "$passed pass, $dead mutants dead$( ((bad)) && echo ', and not all is as expected')"
exit $bad

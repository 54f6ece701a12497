#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `slipring run --state` and `slipring state` as their users see them: what goes on, what is refused, and what is said.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > sum.cu << 'END'
struct row { int a; };
struct out { int a; long long sum; };
struct state { long long sum; };
__ring__ void sum(struct state *state, const struct row *in)
{
    struct out out;
    out.a = in->a / (in->a - 13) * 0 + in->a;
    state->sum += in->a;
    out.sum = state->sum;
    ring_reply(&out);
}
END
sed 's/state->sum += in->a/state->sum += 2 * in->a/' sum.cu > twice.cu
sed 's/long long sum; };/long long sum; int more; };/' sum.cu > more.cu

fail() {
    echo "$1"
    exit 1
}

# says TEXT: the last command's standard error.
says() {
    grep -qF -- "$1" err || fail "'$1' is not in: $(cat err)"
}

# ends CODE COMMAND...
ends() {
    local code=$1 status=0
    shift
    "$tool" "$@" > out 2> err || status=$?
    ((status == code)) || fail "'$*' ends with $status, not $code: $(cat err)"
}

# await COMMAND...: until it succeeds.
await() {
    for ((i = 0; i < 1200; i++)); do
        if "$@"; then return; fi
        sleep 0.1
    done
    fail "not within two minutes: $*: $(tail -n 5 ./*err)"
}

# killed SECONDS RUN-ARGUMENTS...: by a signal, after so long.
killed() {
    local after=$1 run
    shift
    "$tool" run "$@" --snapshot 20ms 2> err &
    run=$!
    sleep "$after"
    kill -9 "$run" 2> kill.err || true
    wait "$run" 2> kill.err || true
}

# A file goes on behind what was accepted; its output too, without a second head.
printf 'a\n1\n2\n3\n' > in.csv
ends 0 run sum.cu --input in.csv --output sums.csv --state kept
printf 'a\n1\n2\n3\n4\n' > in.csv
ends 0 run sum.cu --input in.csv --output sums.csv --state kept
says 'goes on after message 3; that many messages of the input are skipped'
printf 'a,sum\n1,1\n2,3\n3,6\n4,10\n' | cmp - sums.csv

# What is no file is new from its first row on.
printf 'a\n5\n' | "$tool" run sum.cu --output sums.csv --state kept 2> err
says 'the input is no file, and all of it is new'
printf 'a,sum\n1,1\n2,3\n3,6\n4,10\n5,15\n' | cmp - sums.csv

# Without --output FILE: what is new alone.
printf 'a\n6\n' | "$tool" run sum.cu --state kept 2> err > out
printf 'a,sum\n6,21\n' | cmp - out

# The file of earlier runs is still known then: it goes on behind its own lines, and another one is not cut.
printf 'a\n6\n' > precious.csv
cp precious.csv precious.was
printf 'a\n0\n' > zero.csv
cp -rp kept kept2
cp sums.csv sums2.csv
status=0
"$tool" run sum.cu --output precious.csv --state kept2 < <(cat zero.csv) 2> err || status=$?
((status == 1)) || fail "another file is cut: $(cat precious.csv)"
says "'precious.csv' is shorter than the"
cmp precious.csv precious.was
"$tool" run sum.cu --output sums2.csv --state kept2 < <(cat zero.csv) 2> err || fail "$(cat err)"
printf 'a,sum\n1,1\n2,3\n3,6\n4,10\n5,15\n0,21\n' | cmp - sums2.csv

# Other code, the same layouts: states go on.
printf 'a\n1\n' | "$tool" run twice.cu --state kept 2> err > out || fail "$(cat err)"
printf 'a\n0\n' | "$tool" run sum.cu --state kept 2> err > out
printf 'a,sum\n0,23\n' | cmp - out

# Messages that are handled again with other bindings are counted, all of them, and said.
cat > bound.cu << 'END'
struct row { int a; };
struct out { int a, b; };
struct state { int n; };
__ring__ void bound(struct state *state, const struct row *in, int factor)
{
    struct out out;
    state->n++;
    out.a = in->a;
    out.b = in->a * factor;
    ring_reply(&out);
}
END
mkfifo waits
"$tool" run bound.cu --bind factor=2 --snapshot 1000s --state bound --output bound.csv < waits 2> bound.err &
holder=$!
exec 7> waits
{ echo a; seq 1 500; } >&7
await grep -qs '^500,1000' bound.csv
kill -9 "$holder"
wait "$holder" 2> /dev/null || true
exec 7>&-
cp -rp bound bound2
cp -p bound.csv bound2.csv
printf 'a\n501\n' | "$tool" run bound.cu --bind factor=3 --state bound --output bound.csv --json 2> err > out
says '500 messages have other outputs than before the restart'
grep -q '"replayed": 500, "differing": 500,' out || fail "$(cat out)"
[[ $(tail -n 1 bound.csv) == 501,1503 ]] || fail "$(tail -n 1 bound.csv)"
printf 'a\n501\n' | "$tool" run bound.cu --bind factor=2 --state bound2 --output bound2.csv --stats 2> err
says 'state differing   0'
if grep -q 'other outputs' err; then fail "$(cat err)"; fi

# Another layout, another input, a shorter output.
ends 1 run more.cu --input in.csv --state kept
says 'states of 8 B'
printf 'a\n9\n9\n' > other.csv
ends 0 run sum.cu --input in.csv --output new.csv --state new
ends 1 run sum.cu --input other.csv --output new.csv --state new
says 'the input has 2 messages, and 4 were accepted before'
printf 'a\n9\n9\n9\n9\n9\n' > other.csv
ends 1 run sum.cu --input other.csv --output new.csv --state new
says 'the first 4 messages are not those that were accepted before'

# The same rows by another column as key: the messages are equal, their keys are not. What was stored stays.
printf 'id,a\n1,2\n2,3\n' > keys.csv
printf 'id,a\n1,2\n2,3\n3,9\n' > more-keys.csv
ends 0 run sum.cu --key id --input keys.csv --output keyed.csv --state keyed
ends 1 run sum.cu --key a --input more-keys.csv --output keyed.csv --state keyed
says 'the first 2 messages are those that were accepted before, but for other keys'
ends 0 run sum.cu --key id --input more-keys.csv --output keyed.csv --state keyed
sort keyed.csv | cmp - <(printf '1,2,2\n2,3,3\n3,9,9\nid,a,sum\n')
# Likewise with keys that are all known, and after a kill: the keys of messages behind the last snapshot count, too.
printf 'x,y,a\nk,l,1\nl,k,1\n' > swap.csv
ends 0 run sum.cu --key x --input swap.csv --state swapped
ends 1 run sum.cu --key y --input swap.csv --state swapped
says 'but for other keys'
: > new.csv
ends 1 run sum.cu --input in.csv --output new.csv --state new
says "'new.csv' is shorter than the"

# A message that faults ends the run, and the next one goes on behind it.
printf 'a\n1\n13\n2\n' > bad.csv
ends 1 run sum.cu --input bad.csv --output bad.out --state bad
says 'the handler faulted'
ends 0 run sum.cu --input bad.csv --output bad.out --state bad
printf 'a,sum\n1,1\n2,2\n' | cmp - bad.out
ends 0 state show bad --json
grep -q '"dead": 1' out || fail "no dead letter: $(cat out)"
grep -q '"accepted": 3' out || fail "not 3 messages: $(cat out)"

# It is read back, as `cluster dead` prints one, also while the folder is in use.
ends 0 state dead bad --json
line='{"sequence": 1, "message": 2, "instance": 0, "reason": "'
grep -qF "$line" out || fail "$(cat out)"
grep -qF 'division by zero", "bytes": "0d000000"}' out || fail "$(cat out)"
(($(wc -l < out) == 1)) || fail "$(cat out)"
ends 0 state dead local:bad
grep -q '^1: message 2, instance 0: .*division by zero' out || fail "$(cat out)"
grep -q '^    0d000000$' out || fail "$(cat out)"
mkfifo held
cp -rp bad used
cp bad.out used.out
"$tool" run sum.cu --output used.out --state used < held 2> held.err &
holder=$!
exec 7> held
printf 'a\n4\n' >&7
await grep -qs '^4,' used.out
ends 0 state dead used --json
(($(wc -l < out) == 1)) || fail "$(cat out)"
exec 7>&-
wait "$holder" || fail "$(cat held.err)"
ends 0 state dead kept
[[ ! -s out ]] || fail "$(cat out)"
ends 2 state dead
says 'DIR is missing'
cp -rp bad hurt
printf 'a\n1\n13\n2\n13\n' > hurt.csv
ends 1 run sum.cu --input hurt.csv --state hurt
ends 0 state dead hurt --json
(($(wc -l < out) == 2)) || fail "$(cat out)"
printf X | dd of="$(echo hurt/dead-*1.log)" bs=1 seek=120 conv=notrunc status=none
ends 1 state dead hurt
says 'dead-00000000000000000001.log'
cp -rp bad cut
truncate -s -5 "$(echo cut/dead-*1.log)" # a letter is missing, and that is said
ends 1 state dead cut
says 'cut off'

ends 0 run sum.cu --input bad.csv --output bad.out --state bad --json
grep -q '"state": {"accepted": 3, "handled": 2, "faulted": 1, "outputs": 2,' out || fail "$(cat out)"
grep -q '"repeated": 3, "replayed": 0,' out || fail "$(cat out)"
ends 0 run sum.cu --input bad.csv --output bad.out --state bad --stats
says 'state repeated    3'

# SIGTERM drains, and the next run has nothing to do again.
mkfifo signalled
"$tool" run sum.cu --state term --output term.csv < signalled 2> term.err &
holder=$!
exec 7> signalled
printf 'a\n1\n2\n' >&7
await grep -qs '^2,' term.csv
kill -TERM "$holder"
wait "$holder" || fail "SIGTERM ends with $?: $(cat term.err)"
exec 7>&-
ends 0 state show term --json
grep -q '"pending": 0' out || fail "$(cat out)"
printf 'a\n3\n' | "$tool" run sum.cu --state term --output term.csv 2> err
printf 'a,sum\n1,1\n2,3\n3,6\n' | cmp - term.csv

# Keys come back as they were written.
cat > keyed.cu << 'END'
struct row { int a; };
struct state { int n; };
__ring__ void keyed(struct state *state, const struct row *in) { int n = ++state->n * 100 + in->a; ring_reply(&n); }
END
printf '{"k":7,"a":1}\n{"k":"x y","a":1}\n' | "$tool" run keyed.cu --key k --format ndjson --state keys > out 2> err
printf '{"k":7,"a":2}\n{"k":"x y","a":2}\n' | "$tool" run keyed.cu --key k --format ndjson --state keys > out 2> err
grep -qF '{"k":7,"value":202}' out || fail "7 is not there: $(cat out)"
grep -qF '{"k":"x y","value":202}' out || fail "x y is not there: $(cat out)"
ends 1 run keyed.cu --key k --instances 1 --format ndjson --state keys
says 'keys holds 2 keys, and slr_ring_desc.instances (--instances) allows 1'
ends 1 run keyed.cu --format ndjson --state keys
says 'was begun with keys that are texts, and now slr_ring_desc.keys (--key) says no keys: give the same keys'
printf '{"k":"%s","a":2}\n' "$(printf '%070d' 1)" > long.ndjson
ends 1 run keyed.cu --key k --input long.ndjson --state long
says '--key-bytes allows 60'

# A second process is refused, and names the first.
mkfifo pipe
"$tool" run sum.cu --state kept --output sums.csv < pipe 2> held.err &
holder=$!
exec 7> pipe
printf 'a\n1\n' >&7
await grep -qs '^1,24' sums.csv
ends 1 run sum.cu --input in.csv --state kept
says "is in use by process $holder"
kill -9 "$holder"
wait "$holder" 2> /dev/null || true
exec 7>&-
ends 0 state verify kept
printf 'a\n0\n' | "$tool" run sum.cu --state kept > out 2> err || fail "after a kill: $(cat err)"
grep -q '^0,24$' out || fail "the killed run's message is lost: $(cat out)"

# A file may not grow: nothing of the row is accepted, and later all goes on.
{ echo a; seq 20 40000; } > much.csv
"$tool" run sum.cu --input much.csv --output much.whole
status=0
(ulimit -f 100; exec "$tool" run sum.cu --input much.csv --output much.out --state full --sync never) 2> err || status=$?
((status == 1)) || fail "a full disk ends with $status: $(cat err)"
says 'File too large'
ends 0 run sum.cu --input much.csv --output much.out --state full
cmp much.whole much.out

# An output that is another file, or in another format, is not cut and not mixed.
cp much.out foreign.out
printf 'precious' | dd of=foreign.out bs=1 seek=$(($(wc -c < much.out) - 100)) conv=notrunc status=none
cp foreign.out foreign.was
{ cat much.csv; echo 7; } > more.csv
ends 1 run sum.cu --input more.csv --output foreign.out --state full
says "'foreign.out' is not the file that earlier runs have written: its last 4096 B before byte"
cmp foreign.was foreign.out
ends 1 run sum.cu --input more.csv --format csv:ndjson --output much.out --state full
says "'much.out' was written as csv, and now ndjson is to follow"
cmp much.whole much.out
ends 0 run sum.cu --input more.csv --output much.out --state full
[[ $(tail -n 1 much.out) == 7,* ]] || fail "$(tail -n 1 much.out)"
mv more.csv much.csv

# A missing file is damage for both, and messages do not go silently.
for log in in out snap; do
    rm -rf gone
    cp -rp full gone
    rm gone/"$log"-*.log
    ends 1 state verify gone --json
    grep -q '"usable": false' out || fail "without $log: $(cat out)"
    ends 1 state verify gone
    grep -q "$log-[0-9]*.log is missing (a start refuses the folder)" out || fail "$(cat out)"
    says '.log is missing; a start refuses the folder' # as for each exit code but 0
    ends 1 run sum.cu --input much.csv --output much.out --state gone
    says '.log is missing'
done
mkdir foreign
echo x > foreign/x
ends 1 state show foreign
says "holds no durable ring kernel: it has no file 'head'"
for verb in show verify dead; do
    mkdir -p empty
    for no in empty foreign foreign/x nowhere; do
        ends 1 state "$verb" "$no"
        says "slipring state $verb: " # and the folder once
        says "; DIR is a folder that 'slipring run --state DIR' has made"
        (($(grep -oF -- "$no" err | wc -l) == 1)) || fail "$(cat err)"
    done
    ends 1 state "$verb" foreign/x
    says 'foreign/x is a file, not a folder'
    ends 1 state "$verb" nowhere
    says 'there is no folder nowhere'
    ends 2 state "$verb" ''
    says "DIR is empty: ''"
    [[ ! -e nowhere ]] || fail 'looking made a folder'
done

# Root may write anywhere: then another user's copy is read as that user.
reader=()
if ((EUID == 0)); then
    chmod 711 .
    reader=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
if ((EUID != 0)) || "${reader[@]}" "$tool" --version > out 2> err; then
    cp -rp full backup
    chmod 500 backup
    if ((EUID == 0)); then
        chown -R 65534:65534 backup
    fi
    if "${reader[@]}" touch backup/new 2> err; then fail "the backup can be written to"; fi
    for verb in verify show; do
        "${reader[@]}" "$tool" state "$verb" backup > out 2> err || fail "state $verb without the right to write: $(cat err)"
    done
    chmod 700 backup
    rm -rf backup
else
    echo 'not run: state verify as another user than root'
fi

# Damage: at the end it is cut off and said, before that the folder is refused, and verify tells them apart.
cp -rp full torn
logs=(torn/in-*.log)
printf 'xxxxx' >> "${logs[-1]}"
ends 1 state verify torn
grep -q 'the next start removes it' out || fail "$(cat out)"
cp -p much.out copy.out
ends 0 run sum.cu --input much.csv --output much.out --state torn
says 'are a write that was cut off'
ends 0 state verify torn
logs=(full/out-*.log)
file=${logs[-1]}
printf 'xxxxx' | dd of="$file" bs=1 seek=100 conv=notrunc status=none
ends 1 state verify full --json
grep -q '"usable": false' out || fail "$(cat out)"
ends 1 run sum.cu --input much.csv --output copy.out --state full
says 'damage at byte 32'

# --ordered: the order of the input over all keys, also where a killed run had held replies back.
cat > keyed.cu << 'END'
struct row { int a; };
struct out { int a, count; };
struct state { int count; };
__ring__ void keyed(struct state *state, const struct row *in)
{
    struct out out;
    state->count++;
    out.a = in->a;
    out.count = state->count;
    ring_reply(&out);
}
END
awk 'BEGIN { print "a,k"; for (i = 0; i < 90000; i++) print i "," (i * 7919) % 97 }' > rows.csv
"$tool" run keyed.cu --key k --ordered --input rows.csv --output ordered.whole 2> err
for try in 1 2 3 4 5 6; do
    killed "0.0$((try * 3))" keyed.cu --key k --ordered --state ordered --input rows.csv --output ordered.csv
done
ends 0 run keyed.cu --key k --ordered --state ordered --input rows.csv --output ordered.csv
cmp ordered.whole ordered.csv
printf 'a,k\n90000,5\n' > one.csv
"$tool" run keyed.cu --key k --ordered --state ordered --output ordered.csv < <(cat one.csv) 2> err
[[ $(tail -n 1 ordered.csv) == 5,90000,* ]] || fail "$(tail -n 1 ordered.csv)"

# A batch handler goes on behind a kill like any other, and a message that faults takes no other with it.
cat > many.cu << 'END'
struct row { int a; };
struct out { int a, count; };
struct state { int count; };
__ring_batch__ void many(struct state *state, const struct row *in, int n)
{
    for (int i = 0; i < n; i++) {
        struct out out;
        state->count++;
        out.a = in[i].a;
        out.count = state->count / (in[i].a == -1 ? 0 : 1);
        ring_reply_to(i, &out);
    }
}
END
head -n 20001 rows.csv > few.csv
"$tool" run keyed.cu --key k --ordered --input few.csv --output few.whole 2> err
for try in 1 2 3; do
    killed "0.0$((try * 2))" many.cu --key k --ordered --state many --input few.csv --output few.out
done
ends 0 run many.cu --key k --ordered --state many --input few.csv --output few.out
cmp few.whole few.out
{ echo a; seq 1 50; echo -1; seq 52 100; } > faults.csv
"$tool" devices --json > found.json
for device in cpu 'opencl:0?ring=relaunch'; do
    rm -rf faults
    grep -q "\"${device%\?*}\"" found.json || continue
    ends 0 run many.cu --device "$device" --on-error skip --state faults --input faults.csv --output faults.out
    ends 0 state show faults --json
    grep -q '"dead": 1' out || fail "$device: more than one dead letter: $(cat out)"
    [[ $(tail -n 1 faults.out) == 100,49 ]] || fail "$device: $(tail -n 1 faults.out)"
done

# What is not possible together.
for option in '--record r' '--replay r' '--keep a' '--key a --key-limit evict' '--batch 4'; do
    # shellcheck disable=SC2086
    ends 2 run sum.cu --state kept $option
    says 'cannot be used with --state: '
done
ends 2 run sum.cu --sync always
says '--sync needs --state'
ends 2 run sum.cu --state kept --sync often
says "'often' is not always, interval or never"
ends 2 state show
says 'DIR is missing'
# Damage that hides what the folder holds: nothing is made up about it.
ends 0 run sum.cu --input in.csv --state hidden
printf XXXXXXXX | dd of="$(ls hidden/in-*.log)" bs=1 seek=0 conv=notrunc 2> dd.err
ends 1 state show hidden
grep -q '^damage .*a start refuses the folder' out || fail "$(cat out)"
if grep -q 'handler\|accepted' out; then fail "$(cat out)"; fi
ends 1 state show --json hidden
grep -q '"usable": false' out || fail "$(cat out)"
if grep -q 'handler\|accepted' out; then fail "$(cat out)"; fi
ends 1 state verify in.csv
says 'in.csv is a file, not a folder'
ends 1 state show none
[[ ! -e none ]] || fail "showing makes a folder"
echo fine

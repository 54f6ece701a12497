#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# chaos-state.sh [KILLS [SEED]]: kills `slipring run --state` with SIGKILL at random moments of a stream of keyed
# messages, tears the ends of its files, and starts it again. At the end of each stream the output must be that of a
# run without kills: nothing lost, doubled or out of order a key. SLIPRING_TOOL is the program (default: build/dev).
set -euo pipefail
kills=${1:-500}
RANDOM=${2:-1}
tool=$(realpath "${SLIPRING_TOOL:-$(dirname "$0")/../build/dev/bin/slipring}")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

cat > count.cu << 'END'
struct hit { int account; int amount; };
struct total { int account; int count; long long sum; };
struct state { int count; long long sum; };
__ring__ void count(struct state *state, const struct hit *hit)
{
    struct total total;
    state->count++;
    state->sum += hit->amount;
    total.account = hit->account;
    total.count = state->count;
    total.sum = state->sum;
    ring_reply(&total);
}
END
awk -v n="${ROWS:-60000}" 'BEGIN {
    srand(7); print "account,amount"
    for (i = 0; i < n; i++) print int(rand() * 300) "," int(rand() * 1000)
}' > in.csv
"$tool" run count.cu --key account --input in.csv --output whole.csv

# One line a key, with its counts in order: what must be the same.
by_key() {
    tail -n +2 "$1" | sort -t, -k1,1 -s
}
by_key whole.csv > whole.keys

# What a power cut may leave behind the last whole record: a part of the next one.
tear() {
    local files file
    case $((RANDOM % 4)) in
    0) files=(state/in-*.log) ;;
    1) files=(state/out-*.log) ;;
    2) files=(state/snap-*.log) ;;
    *) return 0 ;;
    esac
    file=${files[-1]}
    [[ -e $file ]] || return 0
    head -c $((RANDOM % 90 + 1)) "$file" | tail -c +33 > part
    cat part >> "$file"
    torn=$((torn + 1))
}

compare() {
    by_key out.csv > out.keys
    if ! cmp -s whole.keys out.keys; then
        echo "the output differs after $done_kills kills:"
        diff whole.keys out.keys | head -5
        exit 1
    fi
}

done_kills=0 torn=0 streams=0 named=0
while ((done_kills < kills)); do
    rm -rf state out.csv
    streams=$((streams + 1))
    policies=(never interval always)
    while ((done_kills < kills)); do
        "$tool" run count.cu --key account --input in.csv --output out.csv --state state --snapshot 5ms \
            --sync "${policies[RANDOM % 3]}" 2>> said &
        child=$!
        sleep "0.0$((RANDOM % 60 + 10))"
        kill -9 "$child" 2> /dev/null || true
        status=0
        wait "$child" 2> /dev/null || status=$?
        ((status == 0)) && break
        if ((status != 137)); then
            echo "a start after $done_kills kills ends with $status: $(tail -3 said)"
            exit 1
        fi
        done_kills=$((done_kills + 1))
        if [[ -d state ]]; then tear; fi
    done
    "$tool" run count.cu --key account --input in.csv --output out.csv --state state 2>> said
    compare
done
named=$(grep -c 'a write that was cut off' said || true)
"$tool" state verify state > /dev/null
echo "$done_kills kills in $streams streams, $torn torn ends ($named named): nothing lost, doubled or out of order"

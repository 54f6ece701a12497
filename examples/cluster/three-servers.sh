#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A handler that two workers serve, with three NATS servers that replicate. Meanwhile a worker and a server are killed,
# and each message is counted once. docs/guide/cluster.md explains the steps. Everything runs on this machine, in a folder of its own.
set -euo pipefail
nats=${SLIPRING_NATS_SERVER:-nats-server}
tool=${SLIPRING_TOOL:-slipring}
port=${PORT:-4222} # and the next two for clients, 10 more for the servers among themselves
handler=$(dirname "$(realpath "$0")")/count.cu
folder=$(mktemp -d)
cd "$folder"
command -v "$nats" > nats.log || { echo "SLIPRING_NATS_SERVER names no nats-server: scripts/nats-server.sh prints the path of one"; exit 1; }
patience() { for ((i = 0; i < 600; i++)); do if "$@"; then return 0; fi; sleep 0.1; done; return 1; } # a minute at most
end() {
    local status=$?
    set +e
    { jobs -p | xargs -r kill -9; wait; } 2> end.log
    if ((status != 0)); then tail -n 5 "$folder"/*.log; fi
    rm -rf "$folder"
}
trap end EXIT

echo '== three servers'
for i in 0 1 2; do
    cat > server-$i.conf << END
server_name: s$i
listen: 127.0.0.1:$((port + i))
jetstream { store_dir: $folder/store-$i }
cluster {
    name: three
    listen: 127.0.0.1:$((port + 10 + i))
    routes: [ nats://127.0.0.1:$((port + 10)), nats://127.0.0.1:$((port + 11)), nats://127.0.0.1:$((port + 12)) ]
}
END
    "$nats" --config server-$i.conf --log server-$i.log &
    servers[i]=$!
done
cluster=nats://127.0.0.1:$port,nats://127.0.0.1:$((port + 1)),nats://127.0.0.1:$((port + 2))
doctor() { # until they have found each other, and all follow
    "$tool" doctor --cluster "$cluster" --replicas 3 > doctor.out 2> doctor.log && grep '3 of them up to date' doctor.out > found.log
}
patience doctor
cat doctor.out

echo '== two workers'
for i in 0 1; do
    "$tool" serve "$handler" --cluster "$cluster" --name hits --replicas 3 --partitions 8 --lease 1s 2> worker-$i.log &
    workers[i]=$!
done
show() { "$tool" cluster show --cluster "$cluster" --name hits 2> show.log; }
both() { show | grep 'workers     2, for 8 of 8'; }
patience both

echo '== messages, while a worker and a server are killed'
awk 'BEGIN { print "account,amount"; for (i = 1; i <= 500; i++) print i % 50 "," i }' > hits.csv
flow() { # the same 500 messages again and again: 3 times before the kills, meanwhile, and 3 times after them
    local left=3 runs=0
    while ((left > 0)); do
        "$tool" run "$handler" --cluster "$cluster" --name hits --key account --input hits.csv || return
        echo $((++runs)) >> runs.log
        if [[ -e killed ]]; then ((left--)) || true; fi
    done
}
begun() { [[ -e runs.log && $(wc -l < runs.log) -ge 3 ]]; }
flow > flow.log 2>&1 &
flow=$!
patience begun
kill -9 "${servers[2]}" "${workers[0]}"
touch killed
wait "${servers[2]}" "${workers[0]}" 2> wait.log || true
wait "$flow"
runs=$(wc -l < runs.log)

echo '== each message was counted once'
all() {
    "$tool" cluster outputs --cluster "$cluster" --name hits > outputs.jsonl && [[ $(wc -l < outputs.jsonl) -ge $((500 * runs)) ]]
}
patience all
# A reply begins with the count of its account. 50 accounts count from 1 to 10 times the runs: each number comes 50 times.
numbers=$(grep -o '"reply": "[0-9a-f]\{16\}' outputs.jsonl | sort | uniq -c | awk '$1 == 50' | wc -l)
echo "$(($(wc -l < outputs.jsonl) - 500 * runs)) outputs too many, $((10 * runs - numbers)) numbers not exactly once for each account"

echo '== an orderly end, and a copy'
# A partition whose server was killed is free for some seconds, until the worker has taken it again.
whole() { show | grep 'workers     1, for 8 of 8'; }
patience whole
# A stream whose leader was killed has none for a moment.
found() { worker=$(show | awk -v process="${workers[1]}" '$0 ~ "process " process " " { print $2 }') && [[ -n $worker ]]; }
patience found
"$tool" cluster drain --cluster "$cluster" --name hits --worker "$worker"
wait "${workers[1]}"
echo 'the worker has ended with 0'
copied() { rm -rf copy; "$tool" cluster snapshot --cluster "$cluster" --name hits --to copy 2> snapshot.log; }
patience copied
"$tool" cluster restore --cluster "$cluster" --name again --from copy

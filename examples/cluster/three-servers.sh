#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A handler that two workers serve, with three NATS servers that replicate. Meanwhile a worker is killed and a server is stopped,
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
doctor() { "$tool" doctor --cluster "$cluster" --replicas 3 2> doctor.log; }
patience doctor # until they have found each other

echo '== two workers'
for i in 0 1; do
    "$tool" serve "$handler" --cluster "$cluster" --name hits --replicas 3 --partitions 8 --lease 1s 2> worker-$i.log &
    workers[i]=$!
done
show() { "$tool" cluster show --cluster "$cluster" --name hits 2> show.log; }
both() { show | grep 'workers     2, for 8 of 8'; }
patience both

echo '== messages, while a worker is killed and a server is stopped'
awk 'BEGIN { print "account,amount"; for (i = 1; i <= 500; i++) print i % 50 "," i }' > hits.csv
"$tool" run "$handler" --cluster "$cluster" --name hits --key account --input hits.csv
kill "${servers[2]}"
kill -9 "${workers[0]}"
wait "${servers[2]}" "${workers[0]}" 2> wait.log || true
"$tool" run "$handler" --cluster "$cluster" --name hits --key account --input hits.csv

echo '== each message was counted once'
all() {
    "$tool" cluster outputs --cluster "$cluster" --name hits > outputs.jsonl && [[ $(wc -l < outputs.jsonl) -ge 1000 ]]
}
patience all
echo "$(wc -l < outputs.jsonl) outputs, $(cut -d, -f1,2 outputs.jsonl | sort -u | wc -l) of them different"

echo '== an orderly end, and a copy'
worker=$(show | awk -v process="${workers[1]}" '$0 ~ "process " process " " { print $2 }')
"$tool" cluster drain --cluster "$cluster" --name hits --worker "$worker"
wait "${workers[1]}" && echo 'the worker has ended with 0'
"$tool" cluster snapshot --cluster "$cluster" --name hits --to copy
"$tool" cluster restore --cluster "$cluster" --name again --from copy

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/bench-check.sh with programs that give figures of their own: it measures both sides in turn, hears of a slower
# one, and takes a file as the other side.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# make NAME NS: a program whose rows take about so long; it notes each run.
make() {
    cat > "$folder/$1" << END
#!/bin/bash
if [[ \$2 == compare ]]; then exec "$tool" "\$@"; fi
echo $1 >> "$folder/order"
echo '{"bench": "'\$2'", "device": "cpu", "rows": [{"name": "a", "stat": "p50", "value": $2, "unit": "ns", "floor": 100,'
echo '"ratio": '\$(($2 + RANDOM % 3))'.0, "better": "less"}]}'
END
    chmod +x "$folder/$1"
}
make old 1000
make same 1001
make slow 2000

check() { # CODE NEW ARGUMENT...
    local code=0 wanted=$1 new=$2
    shift 2
    rm -f "$folder/order"
    BENCH_NEW=$folder/$new BENCH_OUT=$folder/out RUNS=4 BENCHES="one two" "$source_dir/scripts/bench-check.sh" "$@" > "$folder/said" 2>&1 || code=$?
    if ((code != wanted)); then
        cat "$folder/said"
        echo "exit code $code, not $wanted"
        exit 1
    fi
}

BENCH_OLD=$folder/old check 0 same
grep -q '0 regressed, 0 improved, 2 same' "$folder/said"
[[ $(uniq -c "$folder/order" | tr -s ' ' | tr '\n' ';') == ' 2 old; 4 same; 4 old; 4 same; 2 old;' ]] || { uniq -c "$folder/order"; exit 1; }
[[ -s $folder/out/index.html ]]
BENCH_OLD=$folder/old check 1 slow
grep -q '2 regressed' "$folder/said"
BENCH_OLD=$folder/slow check 0 old
grep -q '2 improved' "$folder/said"
cp "$folder/out/new.json" "$folder/kept.json" # of old
check 1 slow "$folder/kept.json"
[[ $(sort -u "$folder/order") == slow ]]
check 0 same "$folder/kept.json"
echo "bench-check sees a slower program, and no other"

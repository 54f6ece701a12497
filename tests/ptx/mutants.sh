#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants faults in PTX as NVRTC made it, one at a time, in instructions that a case of the conformance suite runs, and asks
# whether one of the cases that run it fails. The last line counts; README.md explains who stays alive.
# usage: tests/ptx/mutants.sh [MOST [KIND]]   (at most MOST of each kind, 40; some minutes: `make ptx-mutants`)
set -euo pipefail
cd "$(dirname "$0")/../.."
most=${1:-40} only=${2:-} build=$PWD/${BUILD:-build/dev}
[[ -n ${SLIPRING_PTX_NVRTC:-} ]] || SLIPRING_PTX_NVRTC=$(scripts/nvrtc.sh)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fake=$build/lib/libslipring_fake_cuda.so
export SLIPRING_PTX_NVRTC SLIPRING_FAKE_CUDA_BY=ptx SLIPRING_CUDA_LIB=$fake SLIPRING_NVRTC_LIB=$fake
export SLIPRING_PTX_CACHE=$folder/ptx SLIPRING_CACHE_DIR=$folder/cache

run_case() { # DEVICE CASE
    timeout 120 "$build/bin/slipring-cts" --device "$1" --filter "$2" --timeout 20
}

# ---- which case runs which instruction: NAME LINE MATTERS DEVICE CASE. A release that had nothing to release and a guard
# that left no lane out change nothing where they go.

rings='^(mailboxes|priority|references|overflow|instances|keys|blocks|routes|limits)/'
map_case() { # DEVICE CASE
    local trace
    trace=$(mktemp -p "$folder")
    SLIPRING_PTX_TRACE=$trace run_case "$1" "$2" > /dev/null 2>&1 ||
        { echo "$1: $2 fails without any fault" >&2; return 1; }
    sort -u "$trace" | sed "s|\$| $1 $2|" > "$trace.mapped"
}
export -f run_case map_case
export folder build
{
    "$build/bin/slipring-cts" --list | grep -vE "$rings" | sed 's|^|cuda:0 |'
    "$build/bin/slipring-cts" --list | grep -E "$rings|^faults/" | sed 's|^|cuda:0?ring=persistent |'
} | xargs -P "$(nproc)" -L 1 bash -c 'map_case "$@"' map
cat "$folder"/*.mapped > "$folder/map"

# ---- what may be planted: KIND|NAME|LINE|NEW|OLD. Of the kernels that stay only one has the loop: the others repeat it.

plant() { # < map
    local name lines
    while read -r name; do
        grep -q 'entry slr_stay' "$SLIPRING_PTX_CACHE/$name" && ! grep -q 'extern .func' "$SLIPRING_PTX_CACHE/$name" && continue
        lines=$(awk -v name="$name" '$1 == name { print $2 * 2 + $3 }' "$folder/map" | sort -un | tr '\n' ' ')
        awk -v name="$name" -v lines="$lines" '
            function put(kind, text) { print kind "|" name "|" NR "|" text "|" old }
            BEGIN { n = split(lines, list, " "); for (i = 1; i <= n; ++i) { ran[int(list[i] / 2)] = 1; if (list[i] % 2) matters[int(list[i] / 2)] = 1 } }
            !(NR in ran) { next }
            { gsub(/^[ \t]+|[ \t]+$/, ""); gsub(/[ \t]+/, " "); old = $0; sub(/\|/, " / ", old); text = $0 }
            /^st\.release/ { sub(/release/, "relaxed", text); if (NR in matters) put("release", text) }
            /^atom.*\.acq_rel\./ { sub(/acq_rel/, "relaxed", text); if (NR in matters) put("release", text) }
            /^(ld|atom).*\.acquire\./ { sub(/acquire/, "relaxed", text); put("acquire", text) }
            /^fence/ { if (NR in matters) put("fence", "") }
            /^bar\.sync/ { put("barrier", "") }
            /^bar\.warp\.sync/ { put("warp barrier", "") }
            /^(shfl|vote|redux|match)\./ { sub(/, [^,]*;$/, ", 65535;", text); gsub(/\|/, ",", text); put("mask", text) }
            /^@/ {
                if (!sub(/^@!/, "@", text))
                    sub(/^@/, "@!", text)
                put("inverted", text)
                text = $0
                sub(/^@!?%[a-z0-9]+ /, "", text)
                if (NR in matters)
                    put("unguarded", text)
            }' "$SLIPRING_PTX_CACHE/$name"
    done < <(cut -d' ' -f1 "$folder/map" | sort -u)
}
plant > "$folder/all"

# ---- one after another

is_found() { # NAME LINE NEW
    local seed device case
    for seed in 1 2; do
        while read -r device case; do
            SLIPRING_PTX_SEED=$seed SLIPRING_PTX_PLANT=$1:$2:$3 run_case "$device" "$case" > "$folder/log" 2>&1 || return 0
        done < <(awk -v name="$1" -v line="$2" '$1 == name && $2 == line { print $4, $5 }' "$folder/map" |
                 shuf --random-source="$folder/all" | head -8)
    done
    return 1
}

all=0 found=0
for kind in release acquire fence barrier 'warp barrier' mask inverted unguarded; do
    [[ -z $only || $only == "$kind" ]] || continue
    of_kind=0 found_of_kind=0
    while IFS='|' read -r _ name line new old; do
        of_kind=$((of_kind + 1))
        if is_found "$name" "$line" "$new"; then
            found_of_kind=$((found_of_kind + 1))
        else
            echo "ALIVE  $kind: $name:$line: $old ($(awk -v n="$name" -v l="$line" '$1 == n && $2 == l { print $5 }' "$folder/map" | sort -u | head -2 | tr '\n' ' '))"
        fi
    done < <(grep "^$kind|" "$folder/all" | shuf --random-source="$folder/map" | head -"$most")
    echo "$kind: $found_of_kind of $of_kind found"
    all=$((all + of_kind)) found=$((found + found_of_kind))
done
echo "$found of $all found"

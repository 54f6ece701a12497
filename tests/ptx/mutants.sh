#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Plants faults in PTX as NVRTC made it, one at a time, in instructions that a case of the conformance suite runs, and asks
# whether one of the cases that run it fails. Who stays alive must be in survivors.txt, with a reason: else this fails, and
# also where one that is listed there is found. README.md has the figures.
# usage: tests/ptx/mutants.sh [MOST [KIND]]   (at most MOST of each kind, 24; some minutes: `make ptx-mutants`)
set -euo pipefail
cd "$(dirname "$0")/../.."
most=${1:-24} only=${2:-} build=$PWD/${BUILD:-build/dev}
[[ -n ${SLIPRING_PTX_NVRTC:-} ]] || SLIPRING_PTX_NVRTC=$(scripts/nvrtc.sh)
if [[ -n ${SLIPRING_PTX_MUTANTS:-} ]]; then # a folder to keep: the next run finds there which case runs what
    folder=$SLIPRING_PTX_MUTANTS
    mkdir -p "$folder"
else
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
fi
fake=$build/lib/libslipring_fake_cuda.so
export SLIPRING_PTX_NVRTC SLIPRING_FAKE_CUDA_BY=ptx SLIPRING_CUDA_LIB=$fake SLIPRING_NVRTC_LIB=$fake
export SLIPRING_PTX_CACHE=$folder/ptx SLIPRING_CACHE_DIR=$folder/cache
export folder build

# With a kernel that stays, the library says what it does with memory that the kernel reaches.
run_case() { # DEVICE CASE
    local load=
    [[ $1 != *persistent* ]] || load=$build/lib/libslipring_watched.so
    timeout 60 env LD_PRELOAD="$load" "$build/bin/slipring-cts" --device "$1" --filter "$2" --timeout 20
}

# ---- which case runs which instruction: NAME LINE MATTERS DEVICE CASE. A release that had nothing to release, an acquire
# that had nothing to learn, and a guard that left no lane out change nothing where they go.

rings='^(mailboxes|priority|references|overflow|instances|keys|blocks|batches|routes|limits)/'
map_case() { # DEVICE CASE
    local trace
    trace=$(mktemp -p "$folder" trace.XXXXXX)
    SLIPRING_PTX_TRACE=$trace run_case "$1" "$2" > /dev/null 2>&1 ||
        { echo "$1: $2 fails without any fault" >&2; return 1; }
    sort -u "$trace" | sed "s|\$| $1 $2|" > "$trace.mapped"
}
export -f run_case map_case
if [[ ! -s $folder/map ]]; then
    {
        "$build/bin/slipring-cts" --list | grep -vE "$rings" | sed 's|^|cuda:0 |'
        "$build/bin/slipring-cts" --list | grep -E "$rings|^faults/" | sed 's|^|cuda:0?ring=persistent |'
    } | xargs -P "$(nproc)" -L 1 bash -c 'map_case "$@"' map
    cat "$folder"/trace.*.mapped | sort > "$folder/map"
fi

# ---- what may be planted: ORDER|KIND|KEY|NAME|LINE|NEW. Of the kernels that stay only one has the loop: the others repeat it.
# KEY: the case, or the loop's function; the instruction without its registers' numbers; and which of these it is there.

plant() { # < map
    local name where
    while read -r name; do
        where=
        if grep -q 'entry slr_stay' "$SLIPRING_PTX_CACHE/$name"; then
            grep -q 'extern .func' "$SLIPRING_PTX_CACHE/$name" || continue
        else
            where=$(awk -v name="$name" '$1 == name { print $5; exit }' "$folder/map")
        fi
        awk -v name="$name" -v where="$where" '
            BEGIN { kinds = split("rd rs r p fd f h", of); for (i = 32; i < 127; ++i) code[sprintf("%c", i)] = i }
            function checksum(text,    i, sum) {
                for (i = 1; i <= length(text); ++i) sum = (sum * 31 + code[substr(text, i, 1)]) % 2147483647
                return (sum * 7919) % 1000003
            }
            function put(kind, text) { print checksum(kind key) "|" kind "|" key "|" name "|" FNR "|" text }
            NR == FNR { if ($1 == name) { ran[$2] = 1; if ($3) matters[$2] = 1 } next }
            /^(\.visible |\.weak |\.extern )*\.(func|entry)/ {
                inside = where
                if (where == "" && match($0, /[0-9](slr|mb|mbo|slri)_[a-z_]+E/)) inside = substr($0, RSTART + 1, RLENGTH - 2)
                else if (where == "" && match($0, /\.entry [a-z_]+/)) inside = substr($0, RSTART + 7, RLENGTH - 7)
                split("", times)
            }
            { gsub(/^[ \t]+|[ \t]+$/, ""); gsub(/[ \t]+/, " "); text = $0; bare = $0 }
            { gsub(/\$L__BB[0-9_]+/, "$L", bare); gsub(/\|/, "/", bare)
              for (i = 1; i <= kinds; ++i) gsub("%" of[i] "[0-9]+", "%" of[i], bare) }
            { key = inside " " bare " " ++times[bare] }
            !(FNR in ran) { next }
            /^st\.release/ { sub(/release/, "relaxed", text); if (FNR in matters) put("release", text) }
            /^atom.*\.acq_rel\./ { sub(/acq_rel/, "relaxed", text); if (FNR in matters) put("release", text) }
            /^(ld|atom).*\.acquire\./ { sub(/acquire/, "relaxed", text); if (FNR in matters) put("acquire", text) }
            /^fence/ { if (FNR in matters) put("fence", "") }
            /^bar\.sync/ { put("barrier", "") }
            /^bar\.warp\.sync/ { put("warp barrier", "") }
            /^(shfl|vote|redux|match)\./ { sub(/, [^,]*;$/, ", 65535;", text); gsub(/\|/, ",", text); put("mask", text) }
            /^@/ {
                if (!sub(/^@!/, "@", text))
                    sub(/^@/, "@!", text)
                put("inverted", text)
                text = $0
                sub(/^@!?%[a-z0-9]+ /, "", text)
                if (FNR in matters)
                    put("unguarded", text)
            }' "$folder/map" "$SLIPRING_PTX_CACHE/$name"
    done < <(cut -d' ' -f1 "$folder/map" | sort -u)
}
plant > "$folder/all"

# ---- each one: six runs or more, of up to forty cases, first those in which the instruction matters, and of these one of
# each area; each run has a seed of its own. On a busy machine a case may fail by its limit of time: so a run that finds
# what survivors.txt lists says what it has seen, and counts where two more of it find that, too

run_planted() { # SEED NAME:LINE:NEW DEVICE CASE
    SLIPRING_PTX_SEED=$1 SLIPRING_PTX_PLANT=$2 run_case "$3" "$4" 2>&1 < /dev/null
}

finds_again() { # SEED NAME:LINE:NEW DEVICE CASE
    local said n
    for n in 2 3; do
        said=$(run_planted "$@") && { printf '  run %d of %s with it passes\n' "$n" "$4" >&2; return 1; }
        printf '  run %d of %s with it:\n%s\n' "$n" "$4" "$(head -n 4 <<< "$said")" >&2
    done
}

try_one() { # KIND|KEY|NAME|LINE|NEW
    local kind key name line new seed device case cases said
    IFS='|' read -r kind key name line new <<< "$1"
    mapfile -t cases < <(awk -v n="$name" -v l="$line" '$1 == n && $2 == l { print 1 - $3, $4, $5 }' "$folder/map" |
        sort -u | awk '!($3 in had) { had[$3] = 1; print $1, length($3), $2, $3 }' | sort -k1,1n -k2,2n |
        awk '{ split($4, part, "/"); print $1, of[$1 part[1]]++ + 0, $2, $3, $4 }' | sort -k1,1n -k2,2n -k3,3n |
        awk 'NR <= 40' | cut -d' ' -f4-)
    for ((seed = 1; seed <= (${#cases[@]} < 6 ? 6 : ${#cases[@]}); ++seed)); do
        read -r device case <<< "${cases[(seed - 1) % ${#cases[@]}]}"
        said=$(run_planted "$seed" "$name:$line:$new" "$device" "$case") && continue
        if grep -qF -- "$kind|$key|" tests/ptx/survivors.txt; then
            printf 'survivors.txt lists %s, and with it %s fails on %s:\n%s\n' "$kind|$key" "$case" "$device" \
                "$(head -n 4 <<< "$said")" >&2
            finds_again "$seed" "$name:$line:$new" "$device" "$case" || continue
        fi
        echo "$kind|$key|found|$name:$line"
        return
    done
    echo "$kind|$key|alive|$name:$line"
}
export -f try_one run_planted finds_again

# The same ones each time, as long as the texts are the same: in the order of a checksum.
for kind in release acquire fence barrier 'warp barrier' mask inverted unguarded; do
    [[ -z $only || $only == "$kind" ]] || continue
    grep "^[0-9]*|$kind|" "$folder/all" | sort -n | cut -d'|' -f2- | awk -v most="$most" 'NR <= most'
done > "$folder/chosen"
# shellcheck disable=SC2016 # the inner shell expands it
xargs -P "$(nproc)" -d '\n' -n 1 bash -c 'try_one "$1"' try < "$folder/chosen" > "$folder/told"

# ---- against survivors.txt: KIND|KEY|REASON

awk -F'|' '
    FILENAME ~ /survivors/ { if (!/^#/ && NF == 3) why[$1 "|" $2] = $3; next }
    { ++all[$1]; if (!($1 in order)) { order[$1] = ++kinds; name[kinds] = $1 } }
    $3 == "found" { ++found[$1] }
    $3 == "found" && ($1 "|" $2) in why { print "FOUND, but survivors.txt says that it is not: " $1 "|" $2 "  (" $4 ")"; bad = 1 }
    $3 == "alive" && ($1 "|" $2) in why { if (why[$1 "|" $2] ~ /^open:/) ++open[$1]; else ++told[$1] }
    $3 == "alive" && !(($1 "|" $2) in why) { print "ALIVE, and survivors.txt has no reason: " $1 "|" $2 "  (" $4 ")"; bad = 1 }
    END {
        for (i = 1; i <= kinds; ++i) {
            k = name[i]
            printf "%s: %d of %d found, %d explained, %d open\n", k, found[k], all[k], told[k], open[k]
            a += all[k]; f += found[k]; t += told[k]; o += open[k]
        }
        printf "%d of %d found, %d explained, %d open: %.1f %% of those that change anything\n", f, a, t, o, 100 * f / (a - t)
        exit bad
    }' tests/ptx/survivors.txt "$folder/told"

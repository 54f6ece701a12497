#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of files with quotes, line feeds, control characters and bytes that are no UTF-8: whatever a verb prints as JSON, or
# writes as SARIF, another reader reads.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
command -v python3 > /dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
seen=0

fail() {
    printf '%s\n' "$1"
    exit 1
}

# is_json WANTED COMMAND...: it ends so, and each line that is an object, or all of it, is JSON in UTF-8.
is_json() {
    local wanted=$1 status=0
    shift
    "$tool" "$@" > out 2> err || status=$?
    ((status == wanted)) || fail "'$*' ends with $status, not $wanted: $(cat err)"
    python3 - out << 'END' || fail "'$*' prints no JSON: $(cat out)"
import json, sys
text = open(sys.argv[1], 'rb').read().decode('utf-8')
try:
    json.loads(text)
except ValueError:
    for line in text.splitlines():
        json.loads(line)
END
    seen=$((seen + 1))
}

names=($'quote"back\\slash.cu' $'line\nfeed bell\a.cu' $'bytes\xff\xc0 \xed\xa0\x80half \xc3\xbc.cu')
for name in "${names[@]}"; do
    cat > "$name" << 'END'
struct row { int a; };
struct out { int a; };
__ring__ void echo(const struct row *in) { struct out o = { in->a }; ring_reply(&o); }
__global__ void scale(float *x, int n) { x[n] = 2 * x[n]; }
__global__ void bad(float *x) { x[0] = nothing; }
END
    printf 'this is no C\n' > "broken $name"
    printf 'a\n1\n2\n' > "$name.csv"
    is_json 0 kernel list --json "$name"
    is_json 1 kernel list --json "broken $name"
    is_json 0 kernel emit --json "$name" scale
    is_json 0 kernel emit --json --batched --lang cuda "$name" echo
    is_json 0 kernel explain --json "$name" scale
    is_json 0 kernel run --json "$name" scale --grid 1 --block 1 --arg 'x=float[4]:iota' --arg n=3 --print x
    is_json 1 kernel run --json "$name" scale --grid 1 --block 1 --arg 'x=float[4]:iota' --arg n=4
    "$tool" kernel check --json --sarif "$name.sarif" "$name" > out 2> err || (($? == 1)) || fail "kernel check: $(cat err)"
    python3 -c 'import json, sys
for name in sys.argv[1:]: json.loads(open(name, "rb").read().decode("utf-8"))' out "$name.sarif" || fail "kernel check: $(cat out)"
    is_json 1 kernel check --json --sarif "$name.sarif" "broken $name"
    is_json 0 cache warm --json --kernel scale --block 64 "$name"
    is_json 0 run "$name" --input "$name.csv" --output "$name.out" --record "$name.rec" --json
    is_json 0 run "$name" --replay "$name.rec" --json
    is_json 0 run "$name" --input "$name.csv" --output "$name.out" --json --trace "$name.trace"
    is_json 0 trace print --json "$name.trace"
    is_json 0 profile --json -- "$tool" run "$name" --input "$name.csv" --output "$name.out"
done
is_json 0 cache ls --json
is_json 0 cache verify --json
SLIPRING_CACHE_DIR=$folder/$'odd\xff"dir' is_json 0 doctor --json
SLIPRING_CACHE_DIR=$folder/$'odd\xff"dir' is_json 0 cache ls --json
echo "$seen objects"

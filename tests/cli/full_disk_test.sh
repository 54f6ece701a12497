#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A disk that is full, and a folder that is not there, for each file that a verb writes and for its standard output: the
# exit code is 1 (or what the verb found, where that is another), and the message names the file.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
[[ -c /dev/full ]] || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
seen=0

cat > k.cu << 'END'
struct row { int a; };
struct out { int a; };
__ring__ void echo(const struct row *in) { struct out o = { in->a }; ring_reply(&o); }
__global__ void scale(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 2 * x[threadIdx.x]; }
END
printf '__global__ void over(float *x, int n) { x[n] = 1; }\n' > wrong.cu
{ echo a; seq 1000; } > n.csv
"$tool" run k.cu --input n.csv --output /dev/null --trace trace --record recording

fail() {
    echo "$1"
    exit 1
}

# refuses NAMED COMMAND...: exit code 1, and standard error names that.
refuses() {
    local named=$1 status=0
    shift
    "$tool" "$@" > out 2> err || status=$?
    ((status == 1)) || fail "'$*' ends with $status: $(cat err)"
    grep -qF "$named" err || fail "'$*' does not name $named: $(cat err)"
    seen=$((seen + 1))
}

# The reason, although a write long before the end has failed: each prints more than stdio's buffer holds.
for ((i = 0; i < 200; i++)); do
    printf '__global__ void scale%d(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = %d * x[threadIdx.x]; }\n' $i $i
done > long.cu
status=0
"$tool" kernel list long.cu > /dev/full 2> err || status=$?
((status == 1)) || fail "kernel list ends with $status: $(cat err)"
grep -q 'cannot write standard output: No space left' err || fail "kernel list: $(cat err)"
refuses 'No space left on device' tune k.cu scale --size 64 --arg n=%n --arg 'x=float[%n]:zero' --evaluations 1 \
    --repeats 1 --device 'cpu?engine=interpreted' --html /dev/full

for file in /dev/full "$folder/none/file"; do
    refuses "'$file'" run k.cu --input n.csv --output "$file"
    refuses "'$file'" run k.cu --input n.csv --output /dev/null --record "$file"
    refuses "'$file'" run k.cu --input n.csv --output /dev/null --trace "$file"
    refuses "'$file'" kernel check k.cu --sarif "$file"
    refuses "'$file'" demo ward --patients 1 --seconds 3 --report "$file"
    refuses "'$file'" demo ward --patients 1 --seconds 3 --beats "$file"
    refuses "'$file'" profile --html "$file" -- "$tool" run k.cu --input n.csv --output /dev/null
    refuses "'$file'" profile --trace "$file" -- "$tool" run k.cu --input n.csv --output /dev/null
    refuses "'$file'" tune k.cu scale --size 64 --arg n=%n --arg 'x=float[%n]:zero' --evaluations 1 --repeats 1 \
        --device 'cpu?engine=interpreted' --html "$file"
done

# What takes long tries its file before: nothing has run, and no file is left behind.
early() {
    refuses "cannot open '$folder/none/file'" "$@"
    [[ ! -s out ]] || fail "'$*' has run: $(cat out)"
}
early tune k.cu scale --size 64 --arg n=%n --arg 'x=float[%n]:zero' --discard --html "$folder/none/file"
early profile --html "$folder/none/file" -- sh -c 'echo ran'
early profile --trace "$folder/none/file" -- sh -c 'echo ran'
early kernel check k.cu --sarif "$folder/none/file"
early demo beats --epochs 1 --report "$folder/none/file"
early demo ward --patients 1 --seconds 3 --report "$folder/none/file"
refuses 'no such thing' profile --html page.html -- sh -c 'echo no such thing >&2' # it opened no device
[[ ! -e page.html ]] || fail 'a page without a report'

# Who reads a pipe gets the page and nothing before it.
mkfifo pipe
cat pipe > page.html &
"$tool" tune k.cu scale --size 64 --arg n=%n --arg 'x=float[%n]:zero' --evaluations 1 --repeats 1 --discard \
    --device 'cpu?engine=interpreted' --html pipe > out
wait
grep -q '</html>' page.html || fail 'a pipe gets no page'

# A result never replaces the source.
cp k.cu kept.cu
for own in "tune k.cu scale --size 64 --html" "kernel check k.cu --sarif"; do
    status=0
    # shellcheck disable=SC2086 # words
    "$tool" $own k.cu > out 2> err || status=$?
    ((status == 2)) || fail "'$own' ends with $status: $(cat err)"
    grep -qF "'k.cu' is the same file as the input 'k.cu' and would overwrite it" err || fail "$(cat err)"
done
cmp k.cu kept.cu

# lost CODE COMMAND...: with its standard output on a full disk.
lost() {
    local code=$1 status=0
    shift
    "$tool" "$@" > /dev/full 2> err || status=$?
    ((status == code)) || fail "'$*' ends with $status, not $code: $(cat err)"
    grep -q 'cannot write .*output' err || fail "'$*' says: $(cat err)"
    seen=$((seen + 1))
}

lost 1 run k.cu --input n.csv
lost 1 run k.cu --input n.csv --output /dev/null --json
lost 1 run k.cu --replay recording
lost 1 run k.cu --replay recording --json
lost 1 kernel list k.cu
lost 1 kernel list k.cu --json
lost 1 kernel emit k.cu scale
lost 1 kernel explain k.cu --json
lost 1 kernel fuse --ops add,multiply
lost 1 kernel run k.cu scale --grid 1 --block 4 --arg n=4 --arg 'x=float[4]:iota' --print x
lost 1 kernel check k.cu
lost 1 kernel check wrong.cu
lost 1 kernel check wrong.cu --json
lost 1 cache ls
lost 1 cache verify --json
lost 1 cache warm k.cu --kernel scale --block 64
lost 1 trace print trace
lost 1 trace print trace --json
lost 1 doctor
lost 1 devices --json
lost 1 --help
lost 1 bench --help
lost 1 help exit-codes
lost 1 version
echo "$seen ways"

#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Work of more than two seconds says what it is at, where standard error is a terminal (script(1) makes one), and nothing at
# all where it is none.
set -euo pipefail
tool=${SLIPRING_TOOL:?run by ctest}
command -v script > /dev/null && command -v timeout > /dev/null || exit 77 # timeout: where there is no terminal
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export SLIPRING_CACHE_DIR=$folder/cache

cat > slow.cu << 'END'
struct row { int a; };
struct out { int a; };
__ring__ void stuck(const struct row *in, int *sink)
{
    struct out o = { in->a };
    while (in->a > 3) atomicAdd(&sink[0], 1);
    ring_reply(&o);
}
__global__ void spin(unsigned *x)
{
    unsigned v = 0;
    for (unsigned i = 0; i < 4000000000u; i++) v = v * 1664525u + i;
    x[0] = v;
}
END
{ echo a; seq 10000; } > rows.csv
# A compiler that waits with a kernel, and with no handler or trial, until it has been seen.
cat > slow-cc << END
#!/bin/sh
for source in "\$@"; do :; done
if [ -e "\$source" ] && grep -q slrk_blocks "\$source"; then until [ -e $folder/seen ]; do sleep 0.1; done; fi
exec cc "\$@"
END
chmod +x slow-cc

# shows PATTERN COMMAND: on a terminal, some time or other. Then the command has done what it is there for.
shows() {
    local line="^$1"
    rm -f seen typed
    script -qefc "$2" typed < /dev/null > script.out 2>&1 &
    local running=$!
    for ((i = 0; i < 1200; i++)); do
        sleep 0.1
        if [[ -e typed ]] && tr '\r' '\n' < typed > said && grep -q "$line" said; then break; fi
        kill -0 "$running" 2> gone || break
    done
    touch seen
    kill "$running" 2> gone || true
    wait "$running" 2> gone || true
    tr '\r' '\n' < typed > said
    grep -q "$line" said || { echo "'$2' does not show '$1':"; tail -n 5 said script.out | cat -v; exit 1; }
    awk '{ sub(/\033\[K/, "") } length($0) > 80 { print "too long: " $0; found = 1 } END { exit found }' < <(grep "$line" said)
}

run="'$tool' run slow.cu --bind sink=zeros:4 --fuel 18446744073709551615 --device cpu?threads=1 --drain 0s --output out.csv"
shows '[1-9][0-9]* %, [0-9]* rows, [0-9]* rows/s, 3 replies' "exec $run --input rows.csv"
head -n 10 rows.csv > few.csv
shows 'all read, 9 messages, 3 replies' "exec $run --input few.csv"
check="'$tool' kernel check slow.cu spin --grid 1 --block 1 --fuel 4000000000 --steps 40000000000"
shows 'checking kernel spin, [0-9]* s' "exec $check"
shows 'compiling kernel spin, [0-9]* s' "SLIPRING_CC=$folder/slow-cc exec '$tool' cache warm slow.cu --kernel spin --block 64 --device cpu"
shows 'ward: [0-9]* pairs kept of [0-9]*, [0-9]* s' "exec '$tool' bench ward --pairs 150"

# No terminal, no progress.
bash -c "timeout -s INT 4 $run --input rows.csv" > /dev/null 2> err || true
bash -c "timeout 4 $check" > out 2>> err || true
! grep -q $'\r\|\033\|pairs\|rows/s\|checking' err out || { echo 'progress without a terminal:'; cat -v err out; exit 1; }

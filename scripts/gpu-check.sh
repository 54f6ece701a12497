#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# gpu-check.sh: what holds on the NVIDIA GPU of this machine. Builds the library, the conformance suite and what measures
# with a C compiler and CMake alone, without a network; runs them part by part, and writes bench/results/DEVICE.json after
# each, so that what was seen stays, whatever comes. Parts that are not run now stay there as they were, with their commit. A part that fails or does not end keeps none of the others from running.
#
#   suite       the conformance suite's kernels, with the times of their launches
#   persistent  its ring kernels, as kernels that never return; relaunch: the same, relaunched
#   faults      kernels and handlers that divide by zero, run out of fuel and the like: told, and the device lives on
#   latency, throughput, claims, kernels, ward, pipeline, transfer   rows of `slipring bench`, each beside its floor by hand in CUDA C++
#   deadlocks   every call that may wait for a kernel that never returns, made while one runs
#   operations  random cases of operations beside references in double: with cuBLASLt and cuDNN, where they are
#   ops         rows of `slipring bench ops`: cuBLASLt and cuDNN through slipring, and slipring's kernels, beside the two bare
#   tune        the tuner's choice for six kernels, beside the default and the best that a search of some seconds finds
#   soak        random launches, pauses, failures and terminations, for GPU_SOAK seconds (60)
#   opencl, vulkan   the whole suite on the same GPU by these backends, where they open it
#   sanitizer   compute-sanitizer over a part of the suite, where it is installed
#
# GPU_PARTS: some of these ("latency soak"). GPU_DEVICE (cuda:0): which; GPU_OPENCL, GPU_VULKAN: which it is there, where its name does
# not say so. GPU_SECONDS (900): for all parts together; those for which no time is left are named. GPU_PART_SECONDS: for each at most. GPU_RESULTS: another folder. GPU_BUILD: a folder where all is built already.
# GPU_SLOWER=n: n times as long may each part take, on a device that is simulated.
# GPU_COMMIT: what the tree is, where git does not say it. GPU_SMALL=1: sizes of a test, which measure nothing. SLIPRING_NVRTC_LIB: where NVRTC is, if it is not found.
# Exit code: 0 all as it should be, 1 something was not, 3 no GPU that slipring can open.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
readonly device=${GPU_DEVICE:-cuda:0} results=${GPU_RESULTS:-bench/results} small=${GPU_SMALL:-} slower=${GPU_SLOWER:-1}
readonly all_parts='latency throughput suite persistent relaunch faults deadlocks operations claims kernels ops tune ward pipeline transfer soak opencl vulkan sanitizer'
# What runs at once, where that is possible. faults/ are a part of their own: what fails there may lose the device.
kernels=('language/,parameters/,launch/' 'math/,ordering/,streams/' 'atomics/,barriers/,warps/,matrix/,memory/')
rings=('mailboxes/,priority/' 'overflow/,instances/,keys/' 'blocks/,batches/,references/' 'routes/,limits/')
if [[ $small ]]; then
    kernels=(launch/ streams/)
    rings=(instances/ priority/)
fi
readonly kernels rings
readonly few=barriers/,atomics/ # that the sanitizer looks at
readonly began=$SECONDS
deadline=$((SECONDS + ${GPU_SECONDS:-900}))

# ---- what is needed -------------------------------------------------------------------------------------------------

if [[ -z ${GPU_BUILD:-} ]]; then
    GPU_BUILD=build/gpu
    cmake -S . -B "$GPU_BUILD" -DCMAKE_BUILD_TYPE=Release -DSLIPRING_WITHOUT_JANSSON=ON > /dev/null && # bench needs none
        cmake --build "$GPU_BUILD" --parallel "$(nproc)" --target slipring_tool slipring_cts slipring_gpu || exit 1
    deadline=$((SECONDS + ${GPU_SECONDS:-900}))
fi
readonly bin=$GPU_BUILD/bin

# Where slipring itself does not look: the toolkit of any version, and NVIDIA's wheels. The newest, wherever it is: an old
# NVRTC does not know all that is emitted.
find_library() { # VARIABLE FILE...
    local variable=$1 name library site
    shift
    if [[ -n ${!variable:-} ]]; then return; fi
    site=$(python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))' 2> /dev/null)
    for name; do
        if [[ $(PATH=$PATH:/sbin ldconfig -p 2> /dev/null) == *$name* ]]; then return; fi
        for library in /usr/local/cuda*/{lib64,lib,targets/*/lib}/"$name" "$site"/nvidia/*/lib/"$name"; do
            if [[ -e $library ]]; then
                export "$variable=$library"
                return
            fi
        done
    done
}
find_library SLIPRING_NVRTC_LIB libnvrtc.so.13 libnvrtc.so.12
find_library SLIPRING_CUBLASLT_LIB libcublasLt.so.13 libcublasLt.so.12
find_library SLIPRING_CUDNN_LIB libcudnn.so.9

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# ---- JSON -----------------------------------------------------------------------------------------------------------

quoted() { # of standard input, on one line
    local text
    text=$(tr '\n\t' '  ' | tr -d '\000-\037' | sed 's/ *$//')
    text=${text//\\/\\\\}
    printf '"%s"' "${text//\"/\\\"}"
}

# close_json FILE: what a program told before it was killed, ended there. A row and a case are a line each, told whole. What was
# told to its end has a last line of its own.
close_json() {
    local last end=']'
    last=$(tail -n 1 "$1")
    if [[ $last == '}' || $last == ']' || $last == '], "wrong": '*'}' ]]; then return; fi
    if grep -q '"cases": \[' "$1"; then end=']}]'; fi
    sed -i '$s/,$//' "$1"
    printf '\n%s, "cut": true}\n' "$end" >> "$1"
}

# The block of a part in the results of an earlier run, without a comma at its end.
earlier() { # PART
    [[ -e $folder/earlier ]] || return 0
    awk -v part="\"$1\": {" '/^"[a-z]+": \{"ended"/ || /^}}$/ { on = index($0, part) == 1 } on' "$folder/earlier" | sed '$s/,$//'
}

write_results() {
    local part block first=1
    {
        printf '{"device": %s, "version": %s, "commit": %s, "small": %s,\n' "$(printf '%s' "$description" | quoted)" \
            "$("$bin/slipring" --version | quoted)" "$(printf '%s' "$commit" | quoted)" \
            "$([[ $small ]] && echo true || echo false)"
        printf ' "doctor": %s,\n "parts": {' "$(quoted < "$folder/doctor")"
        for part in $all_parts; do
            block=''
            [[ -e $folder/$part.state ]] || block=$(earlier "$part")
            [[ -e $folder/$part.state || $block ]] || continue
            ((first)) || printf ','
            first=0
            if [[ $block ]]; then
                printf '\n%s' "$block"
                continue
            fi
            printf '\n"%s": {%s, "result":\n' "$part" "$(< "$folder/$part.state")"
            if [[ -s $folder/$part ]]; then cat "$folder/$part"; else echo null; fi
            printf '}'
        done
        printf '\n}}\n'
    } > "$folder/whole"
    mkdir -p "$results"
    cp "$folder/whole" "$results/$name.json"
}

# ---- parts ----------------------------------------------------------------------------------------------------------

failed=''
part_wanted() {
    [[ " ${GPU_PARTS:-$all_parts} " == *" $1 "* ]]
}

state() { # PART ENDED SECONDS SAID
    printf '"ended": "%s", "seconds": %d, "commit": %s, "said": %s' "$2" "$3" "$(printf '%s' "$commit" | quoted)" \
        "$(printf '%s' "$4" | quoted)" > "$folder/$1.state"
    printf '%4d s  %-10s %s in %d s%s\n' "$((SECONDS - began))" "$1" "$2" "$3" "${4:+: $4}"
    write_results
}

# part NAME SECONDS COMMAND...: its standard output is the part's result.
part() {
    local part=$1 limit=$(($2 * slower)) most=${GPU_PART_SECONDS:-$((600 * slower))} left start=$SECONDS status=0 ended
    shift 2
    part_wanted "$part" || return 0
    left=$((deadline - SECONDS))
    if ((limit > most)); then limit=$most; fi
    if ((left < 5)); then
        state "$part" 'left out' 0 'no time was left'
        failed+=" $part"
        return
    fi
    export part_seconds=$((limit < left ? limit : left))
    timeout -k 5 "$part_seconds" "$@" > "$folder/$part" 2> "$folder/said" || status=$?
    case $status in
        0) ended='done' ;;
        1) ended='failed' ;;
        3) ended='left out' ;;
        124 | 137) ended='cut off' ;;
        *) ended="ended with $status" ;;
    esac
    ((status == 0 || status == 3)) || failed+=" $part"
    if [[ -s $folder/$part ]]; then close_json "$folder/$part"; fi
    state "$part" "$ended" $((SECONDS - start)) "$(tail -n 3 "$folder/said")"
}

bench() { # NAME SECONDS [OPTION]...
    part "$1" "$2" "$bin/slipring" bench "$1" --device "$device" --json --pairs 15 "${@:3}" ${small:+--small}
}

joined() { # of its arguments, with commas
    local IFS=,
    printf '%s' "$*"
}

# The suite in several processes at once, because these drivers' compilers take most of its time: an array of what each tells.
suites() { # DEVICE FILTER...
    local on=$1 i ended status=0 processes=()
    shift
    for ((i = 1; i <= $#; i++)); do
        timeout -k 5 $((part_seconds - 2)) "$bin/slipring-cts" --device "$on" --filter "${!i}" --json > "$folder/suite.$i" &
        processes+=($!)
    done
    for i in "${processes[@]}"; do
        ended=0
        wait "$i" || ended=$?
        ((ended <= status)) || status=$ended
    done
    for ((i = 1; i <= $#; i++)); do
        if [[ -s $folder/suite.$i ]]; then close_json "$folder/suite.$i"; else echo null > "$folder/suite.$i"; fi
        ((i == 1)) && echo '[' || echo ,
        cat "$folder/suite.$i"
    done
    echo ']'
    return "$status"
}

# The same GPU by another backend: the first device of that name, or the one that the caller names.
elsewhere() { # BACKEND SECONDS NAMED [OPTIONS]
    local on=$3
    part_wanted "$1" || return 0
    if [[ ! $on ]]; then on=$(awk -v backend="$1" -v name="opens: ${description%%,*}" 'index($1, backend) == 1 && index($0, name) { print $1; exit }' "$folder/doctor"); fi
    if [[ ! $on ]]; then
        state "$1" 'left out' 0 "no device of this name: $(grep "^$1" "$folder/doctor" | tr -s ' ')"
        return
    fi
    part "$1" "$2" bash -c 'suites "$@"' suites "$on${4:-}" "${kernels[@]}" "${rings[@]}" faults/
}

# What it says is a program's text, which is put between quotes.
sanitize() {
    local tool
    tool=$(command -v compute-sanitizer || printf '%s\n' /usr/local/cuda*/bin/compute-sanitizer | head -n 1)
    if [[ ! -x $tool ]]; then
        echo 'compute-sanitizer is not installed' >&2
        return 3
    fi
    local status=0
    timeout "$1" "$tool" --error-exitcode 9 "$bin/slipring-cts" --device "$device?ring=relaunch" --filter "$few" \
        > "$folder/sanitized" 2>&1 || status=$?
    printf '{"tool": %s, "status": %d, "said": %s\n}\n' "$(printf '%s' "$tool" | quoted)" "$status" \
        "$(tail -n 20 "$folder/sanitized" | quoted)"
    return $((status != 0))
}

timeout -k 5 $((60 * slower)) "$bin/slipring" doctor > "$folder/doctor" 2>&1
description=$(sed -n "s/^${device%%\?*} *opens: //p" "$folder/doctor" | head -n 1)
if [[ -z $description ]]; then
    echo "gpu-check: $device cannot be opened here, so nothing was run on a GPU. See 'slipring doctor':"
    grep -A 1 '^cuda' "$folder/doctor"
    exit 3
fi
name=$(printf '%s' "${description%%,*}" | sed 's/[^A-Za-z0-9.-]\{1,\}/-/g; s/^-//; s/-$//')
commit=${GPU_COMMIT:-$(git rev-parse --short HEAD 2> /dev/null)}
readonly name description commit
if [[ -e $results/$name.json ]]; then cp "$results/$name.json" "$folder/earlier"; fi
echo "gpu-check: $description"

with=$([[ $device == *\?* ]] && echo '&' || echo '?')
bench latency 60
bench throughput 90
export -f suites close_json sanitize quoted
export bin folder device few
part suite 180 "$bin/slipring-cts" --device "$device" --filter "$(joined "${kernels[@]}")" --perf --json
part persistent 150 "$bin/slipring-cts" --device "$device${with}ring=persistent" --filter "$(joined "${rings[@]}")" --json
part relaunch 150 "$bin/slipring-cts" --device "$device${with}ring=relaunch" --filter "$(joined "${rings[@]}")" --json
part faults 60 "$bin/slipring-cts" --device "$device" --filter faults/ --json
part deadlocks 90 "$bin/slipring-gpu" deadlocks "$device" "$([[ $small ]] && echo 50 || echo 300)"
part operations 60 "$bin/slipring-gpu" operations "$device" "$([[ $small ]] && echo 5 || echo 30)"
bench claims 150
bench kernels 120
bench ops 60
bench tune 90 --filter "$([[ $small ]] && echo tune_transpose || echo tune_)" --budget 4
bench ward 60
bench pipeline 40
bench transfer 60
part soak $((${GPU_SOAK:-60} + 30)) "$bin/slipring-gpu" soak "$device" "${GPU_SOAK:-60}"
elsewhere opencl 150 "${GPU_OPENCL:-}"
elsewhere vulkan 120 "${GPU_VULKAN:-}" '?ring=relaunch' # a kernel that stays may lose the GPU
part sanitizer 70 bash -c 'sanitize 60'

grep -h '"as_expected": false' "$folder"/{suite,persistent,relaunch,faults,opencl,vulkan} 2> /dev/null || true
echo "gpu-check: $device in $((SECONDS - began)) s, figures in $results/$name.json"
if [[ $failed ]]; then
    echo "gpu-check: FAILED:$failed"
    exit 1
fi

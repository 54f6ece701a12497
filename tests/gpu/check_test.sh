#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/gpu-check.sh from end to end, on a driver that is simulated: every part runs and what it writes is whole, so that
# nothing is left for the first GPU to find but what a GPU does. It measures nothing.
set -euo pipefail
source_dir=${SLIPRING_SOURCE_DIR:?run by ctest}
export SLIPRING_CUDA_LIB=${SLIPRING_FAKE_CUDA:?run by ctest} SLIPRING_NVRTC_LIB=$SLIPRING_FAKE_CUDA
export SLIPRING_CUBLASLT_LIB=$SLIPRING_FAKE_CUDA SLIPRING_CUDNN_LIB=$SLIPRING_FAKE_CUDA
export GPU_BUILD=${SLIPRING_BINARY_DIR:?run by ctest} GPU_SMALL=1 GPU_SOAK=1 GPU_SLOWER=10 GPU_SECONDS=800
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GPU_RESULTS=$folder
found=$folder/Fake-GPU-0.json

fail() {
    cat "$folder/said"
    if [[ -e $found ]]; then cat "$found"; fi
    echo "$1"
    exit 1
}

check() { # WANTED...: runs it; its exit code
    local status=0
    "$source_dir/scripts/gpu-check.sh" > "$folder/said" 2>&1 || status=$?
    ((status == $1)) || fail "ended with $status, not $1"
}

is_json() {
    if command -v python3 > /dev/null; then python3 -m json.tool "$found" > /dev/null || fail "$found is no JSON"; fi
}

# ---- all of it, with a sanitizer that says something, in quotes
mkdir "$folder/tools"
cat > "$folder/tools/compute-sanitizer" << 'END'
#!/bin/bash
echo '========= "COMPUTE-SANITIZER" \'
exec "${@:3}"
END
chmod +x "$folder/tools/compute-sanitizer"
PATH=$folder/tools:$PATH check 0
is_json
for part in latency throughput suite persistent relaunch faults deadlocks operations claims kernels ops tune ward pipeline transfer soak sanitizer; do
    grep -q "\"$part\": {\"ended\": \"done\"" "$found" || fail "part $part is not done"
done
grep -q '"status": 0, "said": "=* ."COMPUTE-SANITIZER." ' "$found" || fail 'what the sanitizer says is lost'
for part in opencl vulkan; do
    grep -q "\"$part\": {\"ended\": \"left out\", .*\"said\": \"no device of this name: $part" "$found" || fail "no reason why $part is left out"
done
(($(grep -c '"as_expected": true' "$found") > 20)) || fail 'cases are lost'
for row in rtt_64B rtt_64B_relayed rtt_64B_launch rtt_64B_graph rtt_64B_copy rtt_64B_copy_queued oneway_64B oneway_64B_x32 reqrep_64B relaunch_64B_x1000 batch_4K small_recorded \
    small_ring_many block_100K stride_8 divergent launch_empty pinned_4M overlap latency_global bandwidth_L2 occupancy pipeline4_latency ring_to_ring write_4M read_64M bare_pinned_40K recorded_100 pool_miss \
    saxpy_vs_hand matmul_vs_hand mandelbrot_vs_nvrtc gemm_own conv_provider tune_transpose ward_patients; do
    grep -q "{\"name\": \"$row\"" "$found" || fail "no row $row"
done
grep -q '"name": "rtt_64B", .*No floor, because the handwritten echo in CUDA C++' "$found" || fail 'what the simulation cannot run is not told'
grep -q '"call": "cuMemAlloc", "through": "driver", "ended": "blocked until parked"' "$found" || fail 'cuMemAlloc blocks there'
! grep -q '"through": "slipring", "ended": "blocked' "$found" || fail "a call of slipring's blocks"

# ---- a part alone: what the others told before stays
before=$(grep -c '"ended": "' "$found")
GPU_PARTS=faults GPU_COMMIT=later check 0
is_json
(($(grep -c '"ended": "' "$found") == before)) || fail 'parts of an earlier run are lost'
grep -q '"faults": {"ended": "done", .*"commit": "later"' "$found" || fail 'a part does not say its commit'
grep -q '"latency": {"ended": "done", .*"commit": "later"' "$found" && fail 'an earlier part has a later commit'
grep -q '{"name": "ring_to_ring"' "$found" || fail 'rows of an earlier part are lost'

# ---- the table of it
cp "$source_dir/docs/gpu.md" "$folder/gpu.md"
GPU_TABLE=$folder/gpu.md "$source_dir/scripts/gpu-table.sh" > "$folder/said"
for line in '### Fake GPU 0, compute capability 9.0' 'rtt_64B_launch' '| soak | done | ' '| cuMemAlloc | blocked until parked | '; do
    grep -qF "$line" "$folder/gpu.md" || fail "the table has no '$line'"
done
grep -qF '<!-- end of it -->' "$folder/gpu.md" || fail 'the table has lost its end'

# ---- what does not end is cut off, and what it told till then stays; what follows is run
mkdir "$folder/slow"
cat > "$folder/slow/slipring" << END
#!/bin/bash
[[ \$1 == bench && \$2 == latency ]] || exec "$GPU_BUILD/bin/slipring" "\$@"
printf '{\n  "bench": "latency",\n  "rows": [\n    {"name": "first"}'
exec sleep 60
END
chmod +x "$folder/slow/slipring"
cat > "$folder/slow/slipring-gpu" << 'END' # it takes no time
#!/bin/bash
printf '{\n"seconds": 1\n}\n'
END
chmod +x "$folder/slow/slipring-gpu"
printf '#!/bin/bash\nexec "%s" "$@"\n' "$GPU_BUILD/bin/slipring-cts" > "$folder/slow/slipring-cts"
chmod +x "$folder/slow/slipring-cts"
mkdir "$folder/bin"
mv "$folder/slow" "$folder/bin/bin"
rm "$found"
GPU_BUILD=$folder/bin GPU_PARTS='latency soak' GPU_PART_SECONDS=10 check 1
is_json
grep -q '"latency": {"ended": "cut off"' "$found" || fail 'what hangs is not cut off'
grep -q '{"name": "first"}' "$found" || fail 'what it had told is lost'
grep -q '"soak": {"ended": "done"' "$found" || fail 'what follows is not run'

# ---- by another backend, where there is one: in several processes, of which one is cut off
if "$GPU_BUILD/bin/slipring-cts" --device opencl:0 --filter launch/two > /dev/null; then
    began=$SECONDS
    GPU_OPENCL=opencl:0 GPU_PARTS=opencl check 0
    took=$((SECONDS - began))
    is_json
    (($(grep -c '"device": "opencl:0", "kind"' "$found") == 5)) || fail 'not all processes of the suite have told'
    sed '/<!-- gpu-table -->/,$d' "$source_dir/docs/gpu.md" > "$folder/gpu.md"
    printf '<!-- gpu-table -->\n<!-- end of it -->\n' >> "$folder/gpu.md"
    GPU_TABLE=$folder/gpu.md "$source_dir/scripts/gpu-table.sh" > "$folder/said"
    passed=$(grep -c '"result": "passed"' "$found")
    grep -q "^- opencl: $passed passed, " "$folder/gpu.md" || fail "the table does not say that $passed cases passed"
    cat > "$folder/bin/bin/slipring-cts" << END
#!/bin/bash
[[ \$* == *faults* ]] || exec "$GPU_BUILD/bin/slipring-cts" "\$@"
printf '{"suite": "slipring-cts", "devices": [\n  {"device": "opencl:0", "cases": [\n      {"area": "faults", "name": "first"},'
exec sleep 600
END
    rm "$found"
    # Time for all processes but the one that hangs: twice as long as they have just taken, for a machine that is busy now.
    GPU_BUILD=$folder/bin GPU_OPENCL=opencl:0 GPU_PARTS=opencl GPU_PART_SECONDS=$((2 * took + 5)) check 1
    is_json
    grep -q '"opencl": {"ended": "cut off"' "$found" || fail 'a process of the suite that hangs is not cut off'
    grep -q '"name": "first"}' "$found" || fail 'what a process of the suite had told is lost'
fi

# ---- an operation that is none
status=0
"$GPU_BUILD/bin/slipring-gpu" operations cuda:0 1 nonsense > "$folder/said" 2>&1 || status=$?
((status == 2)) || fail "an unknown kind of operations ends with $status"

# ---- no GPU
GPU_DEVICE=cuda:7 check 3

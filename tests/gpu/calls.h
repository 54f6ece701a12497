// SPDX-License-Identifier: Apache-2.0
// The calls that may wait for a kernel that never returns, each made once in the thread that makes it: to the driver,
// by hand, and to slipring.
#ifndef TESTS_GPU_CALLS_H
#define TESTS_GPU_CALLS_H

#include "gpu.h"

#include <stdbool.h>

enum { GPU_RETURNED = 0, GPU_ABSENT = -1 }; // what a call may give; else an error's number

struct gpu_calls;

// Calls are made in order: some give back what an earlier one took.
struct gpu_call {
    const char *name;
    int32_t (*make)(struct gpu_calls *calls);
};

// The driver, its primary context and a kernel that is not loaded yet. NULL, and why: they are not to be had.
struct gpu_calls *gpu_calls_open(slr_device *device, uint32_t number, const char **why);
void gpu_calls_close(struct gpu_calls *calls); // NULL is fine
void gpu_calls_enter(struct gpu_calls *calls); // the context, for the calling thread
void gpu_calls_leave(struct gpu_calls *calls);

extern const struct gpu_call gpu_driver_calls[], gpu_slipring_calls[]; // until one without a name

#endif

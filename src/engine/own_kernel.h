// SPDX-License-Identifier: Apache-2.0
// Kernels of slipring's own as text in the kernel subset, which our own front end compiles: trials of what a device can
// do, and kernels that stay, with a handler in them (engine/stay.h). From there on each is a kernel as any other.
#ifndef SLRI_ENGINE_OWN_KERNEL_H
#define SLRI_ENGINE_OWN_KERNEL_H

#include "engine/buffered_device.h"
#include "engine/code.h"

struct slri_shard;

struct slri_own_kernel {
    struct slri_module *text, *module; // the latter: with a handler in it
    struct slri_ready_kernel ready;
};

// Launches one group of it. `bound`: one a binding of its entry.
struct slri_command slri_own_kernel_launch(const struct slri_own_kernel *own, const struct slri_bound *bound);

// A kernel, a queue for it, and memory that it works in. All zero before. The kernel is of `text`; or, where that is
// NULL, the one that stays, around the shard's handler. Errors: those of the compilers, NO_MEMORY, DEVICE_LOST.
struct slri_own_run {
    struct slri_own_kernel kernel;
    void *queue, *memory;
    enum slri_memory_kind kind; // of the memory, and the next
    uint64_t bytes;
};
slr_status slri_own_run_make(struct slri_buffered_device *device, const char *text, const struct slri_shard *shard,
                             enum slri_memory_kind kind, uint64_t bytes, struct slri_own_run *run);
void slri_own_run_free(struct slri_buffered_device *device, struct slri_own_run *run); // also a part of it

// As slri_canary_run: launches the canary's kernel, and waits.
slr_status slri_own_kernel_canary(void *device, uint32_t word[3]);

#endif

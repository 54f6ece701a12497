// SPDX-License-Identifier: Apache-2.0
// What the files of this folder share.
#ifndef SLRI_BACKEND_CPU_CPU_H
#define SLRI_BACKEND_CPU_CPU_H

#include "backend/cpu/crew.h"
#include "device/queue_pool.h"
#include "device/backend.h"
#include "device/owner.h"

#define SLRI_CPU_MOST_WORKERS 256
#define SLRI_CPU_DEFAULT_MOST_WORKERS 64

struct slri_cpu {
    slr_allocator allocator_copy;
    const slr_allocator *allocator;
    bool interpreted, engine_was_asked;
    bool threads_were_asked;
    bool separate; // "unified=0"
    struct slri_owners owners;
    struct slri_queue_pool pool;
    struct slri_cpu_crew crew;
};

// engine.c
slr_status slri_cpu_program_create(void *device, const struct slri_module *module, void **program);
void slri_cpu_program_destroy(void *device, void *program);
slr_status slri_cpu_program_globals(void *device, void *program, void **out);
slr_status slri_cpu_handler_create(void *device, void *program, const struct slri_entry *entry, slri_handler **handler,
                                   void **self);
void slri_cpu_handler_destroy(void *device, void *program, void *self);

// kernel.c: `__global__` kernels.
struct slri_cpu_kernels; // of a program: those that are ready
slr_status slri_cpu_kernels_create(const slr_allocator *allocator, const struct slri_module *module,
                                   struct slri_cpu_kernels **out);
void slri_cpu_kernels_destroy(struct slri_cpu_kernels *kernels);
slr_status slri_cpu_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                   const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready);
slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command, slr_status before);
// engine.c, for it: what the program is made of.
struct slri_interp;
struct slri_cpu_kernels *slri_cpu_program_kernels(void *program, struct slri_interp **interp, unsigned char **globals);

// submit.c: streams' commands.
slr_status slri_cpu_queue_open(void *device, struct slri_queue *queue);
slr_status slri_cpu_submit(void *device, struct slri_submission *submission);

#endif

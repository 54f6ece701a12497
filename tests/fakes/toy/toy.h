// SPDX-License-Identifier: Apache-2.0
// A simulated device with memory of its own: what its files share.
#ifndef TESTS_FAKES_TOY_TOY_H
#define TESTS_FAKES_TOY_TOY_H

#include "engine/loss.h"
#include "hal/cpu/cpu.h"

struct toy {
    const slr_allocator *allocator;
    struct slri_loss loss;
    struct slri_cpu compiler; // by which hal/cpu compiles; it is no device
    bool words;               // words.c
};

// memory.c: an address of the device is none of the host's, so the host faults where it touches one.
#define TOY_APART ((uintptr_t)1 << 62)
static inline void *toy_host(const void *memory) // NULL stays NULL
{
    return memory ? (void *)((uintptr_t)memory ^ TOY_APART) : NULL;
}
slr_status toy_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory);
void toy_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes);

// queue.c
slr_status toy_queue_create(void *device, uint32_t priority, void **queue);
void toy_queue_destroy(void *device, void *queue);
slr_status toy_encode(void *device, void *queue, const struct slri_command *command, const struct slri_extras *extras,
                      uint32_t commands);
slr_status toy_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times);
slr_status toy_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                           uint32_t commands, void **list);
void toy_list_destroy(void *device, void *list);

// code.c
slr_status toy_code_write(void *device, struct slri_code_text *text);
slr_status toy_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded);
slr_status toy_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out);
void toy_dispatch(const struct slri_command *command, const struct slri_extras *extras);

// batch.c: a dispatch of a block's handler in batched launches.

// words.c: kernels as words, of those that the passes take.
bool toy_words_take(const struct slri_code_text *of);
slr_status toy_words_kernel(const struct slri_code_text *of, struct slri_kernel *out);
void toy_words_dispatch(const struct slri_command *command, const void *native, struct slri_launch *launch);

extern const struct slri_backend slri_backend_toy;

#endif

// SPDX-License-Identifier: Apache-2.0
// What the layers above do for those below: one table of functions. No layer below names a symbol of one above, so the
// link has the layers' order, too (scripts/check-symbols.sh).
//
// src/api fills the table before the first device is opened. All else is of a device, so no caller finds it empty.
#ifndef SLRI_ENGINE_HOOKS_H
#define SLRI_ENGINE_HOOKS_H

#include "hal/hal.h"

#include <slipring/heap.h>

struct slri_batch_seen;

struct slri_hooks {
    const struct slri_backend *const *backends; // of this build; NULL-terminated

    // src/memory, for buffers: device/store.h says what each does.
    slr_status (*store_open)(slr_device *device, const slr_device_desc *desc);
    void (*store_report)(slr_device *device);
    slr_status (*store_reset)(slr_device *device);
    void (*store_free)(slr_device *device);
    slr_status (*store_take)(slr_device *device, bool is_private, uint64_t bytes, uint64_t alignment, const char *file,
                             uint32_t line, slr_span *out);
    void (*store_give)(slr_device *device, bool is_private, const slr_span *span);
    slr_status (*store_take_host)(slr_device *device, uint64_t bytes, slr_span *out);
    void (*store_give_host)(slr_device *device, const slr_span *span);
    bool (*store_keep)(slr_buffer *buffer);

    // src/ring. When a device closes: none of its ring kernels runs on.
    void (*rings_close)(slr_device *device);
    // Before a lost device is opened again: its ring kernels fail, are quiet by the deadline, and let go of what lay in
    // its memory. Errors: TIMEOUT, WRONG_STATE.
    slr_status (*rings_lose)(slr_device *device, uint64_t deadline_ns);
    void (*rings_renew)(slr_device *device); // and after that, while no group of a persistent kernel runs

    // src/observe: engine/observe.h says what each does. All but the first are called while somebody watches, only.
    void (*observe_flush)(void);
    uint64_t (*observe_command)(slr_device *device, struct slri_queue *queue, const struct slri_command *command,
                                uint64_t begin);
    const struct slri_launch_count *(*observe_launch)(struct slr_kernel *kernel, const uint32_t *grid,
                                                      const uint32_t *block, const struct slri_bound *bound);
    void (*observe_memory)(slr_heap *heap, const slr_memory_event *event);
    void (*observe_message)(const struct slri_shard *shard, uint64_t duration_ns);
    void (*observe_messages)(const struct slri_shard *shard, const struct slri_histogram *now,
                             struct slri_histogram *told);
    void (*observe_batch)(struct slri_shard *shard, const struct slri_batch_seen *batch);
    void (*observe_handled)(struct slri_shard *shard, uint64_t begin, uint32_t messages);
    void (*observe_reply)(slr_address to, uint64_t begin);
    void (*observe_full)(slr_ring *ring, uint64_t begin);
    void (*observe_wait)(struct slri_queue *queue, uint64_t begin);
    void (*observe_compile)(const char *name, bool was_cached, uint64_t begin);
    void (*observe_algorithm)(slr_device *device, const char *operation, const char *algorithm, bool is_kept_out,
                              uint64_t ns);
};

// Before anything else of slipring is used; again and again, by any thread, with the same table, which is constant.
void slri_hooks_set(const struct slri_hooks *hooks);

extern const struct slri_hooks *slri_hooks_table; // atomic
// Relaxed: the table is constant, and whoever has something of a device comes after the opening, which has set it.
static inline const struct slri_hooks *slri_hooks(void)
{
    return __atomic_load_n(&slri_hooks_table, __ATOMIC_RELAXED);
}

#endif

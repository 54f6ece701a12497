// SPDX-License-Identifier: Apache-2.0
/// Memory events report each allocation and each free in a device's memory or in a heap, with the call site (the line
/// of the program that called slipring). Memory events also report memory that is still allocated when its heap is
/// destroyed or its device is closed. Contract: docs/contract/pools.md.
#ifndef SLIPRING_MEMORY_EVENT_H
#define SLIPRING_MEMORY_EVENT_H

#include <slipring/api.h>

#include <stdint.h>

enum {
    SLR_MEMORY_TAKEN = 1,
    SLR_MEMORY_GIVEN,
    SLR_MEMORY_REUSED,  ///< a buffer that waited in a pool is used again; its memory was allocated earlier
    SLR_MEMORY_REFUSED, ///< out of memory; `bytes` were requested
    SLR_MEMORY_LEAKED   ///< still allocated when its heap was destroyed or its device closed
};

typedef struct slr_memory_event {
    uint32_t what;
    uint32_t line;    ///< the line of the call site in `file`
    const char *file; ///< NULL: the call has no call site
    const char *heap; ///< the heap's name
    void *memory;     ///< the device's address; NULL on a device without storage
    uint64_t bytes;
    uint64_t live_bytes; ///< allocated bytes of the heap after the event
    uint64_t number; ///< the event's number in its heap, from 1; threads may report events in another order. 0: a leak
} slr_memory_event;

/// slipring calls slr_on_memory during the call that causes the event, on the same thread. The event and its texts are
/// valid only until slr_on_memory returns. slr_on_memory must not call any function of slipring.
typedef void slr_on_memory(void *user, const slr_memory_event *event);

#endif

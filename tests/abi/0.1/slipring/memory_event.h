// SPDX-License-Identifier: Apache-2.0
/// What is told to who watches the memory of a device or a heap: each span with its call site, and at the end what was
/// left. Contract: docs/contract/pools.md.
#ifndef SLIPRING_MEMORY_EVENT_H
#define SLIPRING_MEMORY_EVENT_H

#include <slipring/api.h>

#include <stdint.h>

enum {
    SLR_MEMORY_TAKEN = 1,
    SLR_MEMORY_GIVEN,
    SLR_MEMORY_REUSED,  ///< acquired from a pool, where it waited: taken before, and not given back since
    SLR_MEMORY_REFUSED, ///< out of memory; `bytes` were asked for
    SLR_MEMORY_LEAKED   ///< still taken when its heap is destroyed, or its device closed
};

typedef struct slr_memory_event {
    uint32_t what;
    uint32_t line;    ///< with `file`: where it was taken, or asked for
    const char *file; ///< NULL: by a call that does not say
    const char *heap; ///< its name
    void *memory;     ///< the device's address; NULL where it stores nothing
    uint64_t bytes;
    uint64_t live_bytes; ///< of the heap, behind it
    uint64_t number;     ///< of the event in its heap, from 1: threads may tell theirs in another order. 0: a leak
} slr_memory_event;

/// Called by the thread whose call it is about, in that call. The event and its texts are borrowed for its length. It
/// must not call slipring.
typedef void slr_on_memory(void *user, const slr_memory_event *event);

#endif

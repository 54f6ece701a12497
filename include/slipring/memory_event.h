// SPDX-License-Identifier: Apache-2.0
/// Memory events report each allocation, each refused request and each free in a device's memory or in a heap, with the
/// call site (the line of the program that called slipring). Memory events also report memory that is still allocated
/// when its heap is destroyed or its device is closed. Contract: docs/contract/pools.md.
#ifndef SLIPRING_MEMORY_EVENT_H
#define SLIPRING_MEMORY_EVENT_H

#include <slipring/api.h>

#include <stdint.h>

enum {
    SLR_MEMORY_TAKEN = 1, ///< memory was allocated
    SLR_MEMORY_GIVEN,     ///< memory was freed
    SLR_MEMORY_REUSED,  ///< a pool gives a buffer that waited in it to a new request; the memory was allocated earlier
    SLR_MEMORY_REFUSED, ///< a request was refused for lack of memory; the field `bytes` has the requested size
    SLR_MEMORY_LEAKED   ///< memory that was still allocated when its heap was destroyed or its device was closed
};

typedef struct slr_memory_event {
    uint32_t what;
    uint32_t line;    ///< the line of the call site in `file`
    const char *file; ///< the source file of the call site; NULL: slipring does not know the call site
    const char *heap; ///< the heap's name
    void *memory;     ///< the address of the memory on the device; NULL on a device without memory, such as null
    uint64_t bytes;
    uint64_t live_bytes; ///< bytes that are allocated from the heap after the event
    uint64_t number; ///< the event's number in its heap, from 1; events of several threads may arrive in another order.
                     ///< A leak has the number 0
} slr_memory_event;

/// slr_on_memory is the type of a function of the program that receives memory events. slipring calls slr_on_memory
/// during the call that causes the event, on the same thread. The event and its texts are valid only until
/// slr_on_memory returns. slr_on_memory must not call any function of slipring.
typedef void slr_on_memory(void *user, const slr_memory_event *event);

#endif

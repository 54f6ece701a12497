// SPDX-License-Identifier: Apache-2.0
// Where the memory of buffers comes from: the device's own heap. It is in src/memory, above, and reached by the table
// of engine/hooks.h.
#ifndef SLRI_DEVICE_STORE_H
#define SLRI_DEVICE_STORE_H

#include "device/device.h"
#include "engine/hooks.h"

// Makes the device's heap, when its backend is open.
static inline slr_status slri_store_open(slr_device *device, const slr_device_desc *desc)
{
    return slri_hooks()->store_open(device, desc);
}

// At close: tells the device's watcher what is still taken.
static inline void slri_store_report(slr_device *device)
{
    slri_hooks()->store_report(device);
}

// Gives back to a lost device what no buffer uses. Errors: WRONG_STATE (one does).
static inline slr_status slri_store_reset(slr_device *device)
{
    return slri_hooks()->store_reset(device);
}

// When nothing holds the device any more, and its backend is still open.
static inline void slri_store_free(slr_device *device)
{
    slri_hooks()->store_free(device);
}

// `bytes` zeroed bytes at a multiple of `alignment`, 0: 64. Errors: NO_MEMORY; what failed while they were made zero.
// Private: of its private heap, which it has.
static inline slr_status slri_store_take(slr_device *device, bool is_private, uint64_t bytes, uint64_t alignment,
                                         const char *file, uint32_t line, slr_span *out)
{
    return slri_hooks()->store_take(device, is_private, bytes, alignment, file, line, out);
}
static inline void slri_store_give(slr_device *device, bool is_private, const slr_span *span)
{
    slri_hooks()->store_give(device, is_private, span);
}

// Page-locked memory of the host that the device reaches by itself, zeroed, on a page. For devices with a heap of it.
static inline slr_status slri_store_take_host(slr_device *device, uint64_t bytes, slr_span *out)
{
    return slri_hooks()->store_take_host(device, bytes, out);
}
static inline void slri_store_give_host(slr_device *device, const slr_span *span)
{
    slri_hooks()->store_give_host(device, span);
}

// Of a buffer of a pool that nothing holds any more: true, and it waits there for its next user; or false, and it is to
// be freed as any other.
static inline bool slri_store_keep(slr_buffer *buffer)
{
    return slri_hooks()->store_keep(buffer);
}

#endif

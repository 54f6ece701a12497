// SPDX-License-Identifier: Apache-2.0
// Where the memory of buffers comes from: the device's own heap. It is in src/memory, which this layer may not include;
// so what it does for buffers is declared here and defined there (memory/store.c).
#ifndef SLRI_DEVICE_STORE_H
#define SLRI_DEVICE_STORE_H

#include "device/device.h"

// Makes the device's heap, when its backend is open.
slr_status slri_store_open(slr_device *device, const slr_device_desc *desc);

// At close: tells the device's watcher what is still taken.
void slri_store_report(slr_device *device);

// Gives back to a lost device what no buffer uses. Errors: WRONG_STATE (one does).
slr_status slri_store_reset(slr_device *device);

// When nothing holds the device any more, and its backend is still open.
void slri_store_free(slr_device *device);

// `bytes` zeroed bytes at a multiple of `alignment`, 0: 64. Errors: NO_MEMORY; what failed while they were made zero.
slr_status slri_store_take(slr_device *device, uint64_t bytes, uint64_t alignment, const char *file, uint32_t line,
                           slr_span *out);
void slri_store_give(slr_device *device, const slr_span *span);

// Page-locked memory of the host that the device reaches by itself, zeroed, on a page. For devices with a heap of it.
slr_status slri_store_take_host(slr_device *device, uint64_t bytes, slr_span *out);
void slri_store_give_host(slr_device *device, const slr_span *span);

// Of a buffer of a pool that nothing holds any more: true, and it waits there for its next user; or false, and it is to
// be freed as any other.
bool slri_store_keep(slr_buffer *buffer);

#endif

// SPDX-License-Identifier: Apache-2.0
// A device's own heaps and pool, for the table of engine/hooks.h: device/store.h says what each function does.
#ifndef SLRI_MEMORY_STORE_H
#define SLRI_MEMORY_STORE_H

#include "device/device.h"

slr_status slri_device_heap_open(slr_device *device, const slr_device_desc *desc);
void slri_device_heap_report(slr_device *device);
slr_status slri_device_heap_reset(slr_device *device);
void slri_device_heap_free(slr_device *device);
slr_status slri_device_heap_take(slr_device *device, bool is_private, uint64_t bytes, uint64_t alignment,
                                 const char *file, uint32_t line, slr_span *out);
void slri_device_heap_give(slr_device *device, bool is_private, const slr_span *span);
slr_status slri_device_heap_take_host(slr_device *device, uint64_t bytes, slr_span *out);
void slri_device_heap_give_host(slr_device *device, const slr_span *span);
bool slri_pool_keep(slr_buffer *buffer);

#endif

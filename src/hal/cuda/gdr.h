// SPDX-License-Identifier: Apache-2.0
// GDRCopy's library, libgdrapi: it lets the host write into the device's memory, through a window of the bus (BAR1). As
// much of it as is called. Names follow it; the prototypes are our own.
#ifndef SLRI_HAL_CUDA_GDR_H
#define SLRI_HAL_CUDA_GDR_H

#include "base/dl.h"

#include <stddef.h>
#include <stdint.h>

typedef struct slri_gdr_object *slri_gdr;
typedef struct {
    unsigned long h;
} slri_gdr_handle;

// X(result, name, parameters). An integer result is 0 or an errno. A mapping is write-combined; it begins where the
// pinned memory does, if that is on a page of the GPU's.
#define SLRI_GDR_FUNCTIONS(X)                                                                                          \
    X(slri_gdr, open, (void)) /* NULL: its module of the kernel, gdrdrv, is not there, or not for this user */         \
    X(int32_t, close, (slri_gdr gdr))                                                                                  \
    X(int32_t, pin_buffer,                                                                                             \
      (slri_gdr gdr, unsigned long address, size_t bytes, uint64_t token, uint32_t space, slri_gdr_handle *handle))    \
    X(int32_t, unpin_buffer, (slri_gdr gdr, slri_gdr_handle handle))                                                   \
    X(int32_t, map, (slri_gdr gdr, slri_gdr_handle handle, void **memory, size_t bytes))                               \
    X(int32_t, unmap, (slri_gdr gdr, slri_gdr_handle handle, void *memory, size_t bytes))

struct slri_gdr_functions {
#define SLRI_GDR_MEMBER(result, name, parameters) result(*name) parameters;
    SLRI_GDR_FUNCTIONS(SLRI_GDR_MEMBER)
#undef SLRI_GDR_MEMBER
};

#define SLRI_GDR_PAGE ((uint64_t)64 << 10) // of the GPU's: what is pinned begins and ends on one

// Opens the library, for the caller to close: what SLIPRING_GDR_LIB names, else libgdrapi.so.2.
// Errors: NOT_FOUND, which says what was not: the library, a function of it.
slr_status slri_gdr_load(slri_dl **library, struct slri_gdr_functions *out);

#endif

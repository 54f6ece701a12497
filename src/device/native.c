// SPDX-License-Identifier: Apache-2.0
// What a buffer is to the driver below.
#include "base/status.h"
#include "device/device.h"

#include <slipring/native/metal.h>

#include <string.h>

slr_status slr_metal_get_buffer(slr_buffer *buffer, void **mtl_buffer, uint64_t *offset)
{
    if (!buffer || !mtl_buffer || !offset)
        return SLRI_FAIL(INVALID, "slr_metal_get_buffer: %s is NULL",
                         !buffer       ? "buffer"
                         : !mtl_buffer ? "mtl_buffer"
                                       : "offset");
    const struct slri_backend *backend = buffer->device->backend;
    if (!backend->locate || strcmp(backend->name, "metal") != 0)
        return SLRI_FAIL(UNSUPPORTED, "slr_metal_get_buffer: the buffer is of a device of '%s', not of metal",
                         backend->name);
    struct slri_memory_place place;
    backend->locate(buffer->device->self, buffer->memory, &place);
    *mtl_buffer = place.native;
    *offset = place.offset;
    return SLR_OK;
}

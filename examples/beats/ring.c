// SPDX-License-Identifier: Apache-2.0
// The trained network as a ring kernel.
#include "network.h"

#define PATIENCE_NS 60000000000ull

static slr_status bind_weights(slr_device *device, const beats_result *result, slr_binding bindings[BEATS_PARAMETERS])
{
    slr_status status = SLR_OK;
    for (int i = 0; i < BEATS_PARAMETERS && status == SLR_OK; i++) {
        size_t bytes = beats_parameter_sizes[i] * sizeof(float);
        bindings[i] = (slr_binding){.name = beats_parameter_names[i]};
        status = slr_buffer_create(device, bytes, &bindings[i].buffer);
        if (status == SLR_OK)
            status = slr_buffer_write(bindings[i].buffer, 0, result->weights[i], bytes);
    }
    return status;
}

slr_status beats_ring_open(slr_device *device, const char *source, const beats_result *result, uint32_t instances,
                           slr_program **program, slr_ring **ring)
{
    slr_binding bindings[BEATS_PARAMETERS] = {0};
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_status status = slr_program_from_text(device, "beats.cu", source, NULL, program);
    if (status == SLR_OK)
        status = bind_weights(device, result, bindings);
    desc.program = *program, desc.handler = "classify", desc.instances = instances;
    desc.bindings = bindings, desc.binding_count = BEATS_PARAMETERS;
    desc.message_bytes = sizeof(struct beat_window), desc.reply_bytes = sizeof(struct beat_kind);
    if (status == SLR_OK)
        status = slr_ring_create(device, &desc, ring);
    if (status == SLR_OK)
        status = slr_ring_launch(*ring);
    if (status == SLR_OK)
        status = slr_ring_activate(*ring, PATIENCE_NS);
    for (int i = 0; i < BEATS_PARAMETERS; i++)
        slr_buffer_destroy(bindings[i].buffer); // the ring kernel holds them
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// The ring kernel of the demo: one instance a patient.
#include "demo/demo.h"

#include "say.h"

static slr_status open_ring(demo *demo, uint32_t patients, demo_ring *out)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = demo->program;
    desc.handler = "detect";
    desc.instances = patients;
    desc.message_bytes = sizeof(struct samples);
    desc.reply_bytes = sizeof(struct beat);
    desc.time_stamps = 1;
    slr_status status = slr_ring_create(demo->device, &desc, &out->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(out->ring);
    if (status == SLR_OK)
        status = slr_ring_activate(out->ring, DEMO_TIMEOUT_NS);
    if (status == SLR_OK)
        status = slr_port_open(demo->device, &out->port);
    return status == SLR_OK ? slr_ring_get_address(out->ring, 0, &out->to) : status;
}

bool demo_ring_open(demo *demo, uint32_t patients, demo_ring *out)
{
    *out = (demo_ring){0};
    slr_status status = open_ring(demo, patients, out);
    if (status != SLR_OK)
        say_failure(status, "the ring kernel 'detect'");
    return status == SLR_OK;
}

void demo_ring_close(demo_ring *ring)
{
    slr_port_close(ring->port);
    slr_ring_destroy(ring->ring);
}

// SPDX-License-Identifier: Apache-2.0
// Ring kernels and ports.
#include "bridge.h"

#include <string.h>

static uint64_t nanoseconds(double timeout_ms)
{
    return (uint64_t)(timeout_ms * 1e6);
}

// What slipring.mjs writes, as numbers of four bytes.
struct ring_options {
    const char *name, *handler; // NULL: the default
    const slr_binding *bindings;
    uint32_t binding_count, instances, queue_size, max_replies;
    uint32_t fuel[2]; // the lower half first
};

static slr_status start(slr_ring *ring, double timeout_ms)
{
    slr_status status = slr_ring_launch(ring);
    return status == SLR_OK ? slr_ring_activate(ring, nanoseconds(timeout_ms)) : status;
}

// A page has one thread that sends: a few places for ports do, and WebAssembly's memory is there as soon as it is
// taken.
enum { MOST_PORTS = 4, ACTIVATE_MS = 10000 };

EMSCRIPTEN_KEEPALIVE void bridge_ring(slr_device *device, slr_program *program, const struct ring_options *options)
{
    slr_ring *ring = NULL;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    desc.name = options->name;
    desc.handler = options->handler;
    desc.bindings = options->bindings;
    desc.binding_count = options->binding_count;
    desc.instances = options->instances;
    desc.queue_size = options->queue_size;
    desc.max_replies = options->max_replies;
    desc.fuel = (uint64_t)options->fuel[1] << 32 | options->fuel[0];
    desc.max_ports = MOST_PORTS;
    desc.time_stamps = 1;
    slr_status status = slr_ring_create(device, &desc, &ring);
    if (status == SLR_OK && (status = start(ring, ACTIVATE_MS)) != SLR_OK)
        slr_ring_destroy(ring);
    bridge_give(status, ring);
}

EMSCRIPTEN_KEEPALIVE void bridge_ring_terminate(slr_ring *ring, double timeout_ms)
{
    bridge_give(slr_ring_terminate(ring, nanoseconds(timeout_ms), NULL, NULL, NULL), NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_ring_destroy(slr_ring *ring)
{
    slr_ring_destroy(ring);
    bridge_give(SLR_OK, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_ring_describe(slr_ring *ring)
{
    slr_ring_stats stats;
    struct json json = {0};
    slr_status status = slr_ring_get_stats(ring, &stats);
    if (status != SLR_OK) {
        bridge_give(status, NULL);
        return;
    }
    json_open(&json, NULL, '{');
    json_text(&json, "state", slr_ring_state_name(stats.state));
    json_number(&json, "accepted", (double)stats.accepted);
    json_number(&json, "handled", (double)stats.handled);
    json_number(&json, "faulted", (double)stats.faulted);
    json_number(&json, "pending", (double)stats.pending);
    json_number(&json, "replied", (double)stats.replied);
    json_text(&json, "lastFault", stats.last_fault);
    json_text(&json, "firstFault", stats.first_fault);
    json_close(&json, '}');
    bridge_give_json(&json);
}

// ---- ports ---------------------------------------------------------------------------------------------------------

EMSCRIPTEN_KEEPALIVE void bridge_port(slr_device *device)
{
    slr_port *port = NULL;
    slr_status status = slr_port_open(device, &port);
    bridge_give(status, port);
}

EMSCRIPTEN_KEEPALIVE void bridge_port_close(slr_port *port)
{
    slr_port_close(port);
    bridge_give(SLR_OK, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_send(slr_port *port, slr_ring *ring, uint32_t instance, const void *message,
                                      uint32_t bytes, double timeout_ms)
{
    slr_address to;
    slr_status status = slr_ring_get_address(ring, instance, &to);
    if (status == SLR_OK)
        status = slr_send(port, to, message, bytes, nanoseconds(timeout_ms));
    bridge_give(status, NULL);
}

EMSCRIPTEN_KEEPALIVE void bridge_receive(slr_port *port, void *payload, uint32_t capacity, double timeout_ms)
{
    slr_reply reply;
    slr_status status = slr_receive(port, &reply, payload, capacity, nanoseconds(timeout_ms));
    bridge_give(status, NULL);
    if (status != SLR_OK)
        return;
    const uint32_t told[] = {reply.from.instance, (uint32_t)reply.status, reply.correlation, reply.bytes};
    memcpy(bridge_result.reply, told, sizeof told);
}

EMSCRIPTEN_KEEPALIVE void bridge_call(slr_port *port, slr_ring *ring, uint32_t instance, const void *message,
                                      uint32_t bytes, void *reply, uint32_t reply_bytes, double timeout_ms)
{
    slr_address to;
    slr_status status = slr_ring_get_address(ring, instance, &to);
    if (status == SLR_OK)
        status = slr_call(port, to, message, bytes, reply, reply_bytes, nanoseconds(timeout_ms));
    bridge_give(status, NULL);
}

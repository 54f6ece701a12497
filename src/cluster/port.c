// SPDX-License-Identifier: Apache-2.0
// A port on each device, as one.
#include "cluster/ring.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

// Without a reply all ports are looked at a number of times; then one of them is waited for, in turn, for as long.
#define LOOKS 64u
#define TURN_NS UINT64_C(100000)

static size_t port_bytes(uint32_t count)
{
    const slr_cluster_port *none = NULL;
    return sizeof *none + count * sizeof none->of[0];
}

slr_status slr_cluster_port_open(slr_cluster_ring *ring, slr_cluster_port **out)
{
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_port_open: %s is NULL", ring ? "out" : "ring");
    slr_cluster_port *port = slri_alloc(NULL, port_bytes(ring->count));
    if (!port)
        return SLRI_FAIL(NO_MEMORY, "no memory for a port on %u devices", ring->count);
    port->ring = ring;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < ring->count && status == SLR_OK; ++i)
        status = slr_port_open(ring->cluster->device[i].device, &port->of[i].port);
    if (status == SLR_OK)
        *out = port;
    else
        slr_cluster_port_close(port);
    return status;
}

void slr_cluster_port_close(slr_cluster_port *port)
{
    if (!port)
        return;
    uint32_t count = port->ring->count;
    for (uint32_t i = 0; i < count; ++i)
        slr_port_close(port->of[i].port);
    slri_free(NULL, port, port_bytes(count));
}

// ---- sending -------------------------------------------------------------------------------------------------------

// The device's port and address for an instance.
static slr_status aim(slr_cluster_port *port, uint32_t instance, slr_port **by, slr_address *to)
{
    uint32_t device, local;
    if (!port)
        return SLRI_FAIL(INVALID, "slr_cluster_send: port is NULL");
    SLRI_TRY(slr_cluster_ring_find(port->ring, instance, &device, &local));
    port->of[device].was_used = true;
    *by = port->of[device].port;
    *to = port->ring->part[device].address;
    to->instance = local;
    return SLR_OK;
}

static slr_status aim_key(slr_cluster_port *port, slr_key key, slr_port **by, slr_address *to)
{
    uint32_t device;
    if (!port)
        return SLRI_FAIL(INVALID, "slr_cluster_send_key: port is NULL");
    SLRI_TRY(slr_cluster_ring_find_key(port->ring, key, &device));
    port->of[device].was_used = true;
    *by = port->of[device].port;
    *to = port->ring->part[device].address;
    return SLR_OK;
}

slr_status slr_cluster_send(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                            const slr_send_options *options, uint64_t timeout_ns)
{
    slr_port *by;
    slr_address to;
    SLRI_TRY(aim(port, instance, &by, &to));
    return slr_send_with(by, to, message, bytes, options, timeout_ns);
}

slr_status slr_cluster_send_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                const slr_send_options *options, uint64_t timeout_ns)
{
    slr_port *by;
    slr_address to;
    SLRI_TRY(aim_key(port, key, &by, &to));
    return slr_send_key(by, to, key, message, bytes, options, timeout_ns);
}

slr_status slr_cluster_call(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes, void *reply,
                            size_t reply_bytes, uint64_t timeout_ns)
{
    slr_port *by;
    slr_address to;
    SLRI_TRY(aim(port, instance, &by, &to));
    return slr_call(by, to, message, bytes, reply, reply_bytes, timeout_ns);
}

slr_status slr_cluster_call_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes, void *reply,
                                size_t reply_bytes, uint64_t timeout_ns)
{
    slr_port *by;
    slr_address to;
    SLRI_TRY(aim_key(port, key, &by, &to));
    return slr_call_key(by, to, key, message, bytes, reply, reply_bytes, timeout_ns);
}

// ---- receiving -----------------------------------------------------------------------------------------------------

struct receiving {
    slr_cluster_port *port;
    slr_reply *reply;
    void *payload;
    size_t capacity;
    uint32_t from; // the device that gave the result
};

// One device's port. TIMEOUT: it has none. END of one device is none while others go on.
static slr_status receive_from(struct receiving *r, uint32_t device, uint64_t timeout_ns)
{
    slr_cluster_port *port = r->port;
    if (port->of[device].is_over || !port->of[device].was_used)
        return SLR_TIMEOUT;
    slr_status status = slr_receive(port->of[device].port, r->reply, r->payload, r->capacity, timeout_ns);
    r->from = device;
    port->of[device].is_over = status == SLR_END;
    return status == SLR_END ? SLR_TIMEOUT : status;
}

static bool all_over(const slr_cluster_port *port)
{
    bool any = false, over = true;
    for (uint32_t i = 0; i < port->ring->count; ++i) {
        any |= port->of[i].was_used;
        over &= port->of[i].is_over || !port->of[i].was_used;
    }
    return any && over;
}

static slr_status look_at_all(struct receiving *r)
{
    uint32_t count = r->port->ring->count;
    slr_status status = SLR_TIMEOUT;
    for (uint32_t i = 0; i < count && status == SLR_TIMEOUT; ++i) {
        uint32_t device = r->port->next;
        r->port->next = (device + 1) % count;
        status = receive_from(r, device, 0);
    }
    return status;
}

static slr_status await_any(struct receiving *r, uint64_t deadline_ns)
{
    for (uint32_t looks = 0;; ++looks) {
        slr_status status = look_at_all(r);
        if (status != SLR_TIMEOUT)
            return status;
        if (all_over(r->port))
            return SLRI_FAIL(END, "the ring kernel has ended on every device that the port has sent to");
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "no reply from any of %u devices", r->port->ring->count);
        if (looks < LOOKS) {
            slri_pause();
            continue;
        }
        uint64_t now_ns = deadline_ns == SLRI_FOREVER ? 0 : slri_now_ns();
        uint64_t left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
        status = receive_from(r, r->port->next, left_ns < TURN_NS ? left_ns : TURN_NS);
        if (status != SLR_TIMEOUT)
            return status;
        if (!r->port->of[r->port->next].was_used || r->port->of[r->port->next].is_over)
            slri_yield();
        r->port->next = (r->port->next + 1) % r->port->ring->count;
    }
}

slr_status slr_cluster_receive(slr_cluster_port *port, slr_reply *reply, uint32_t *device, uint32_t *instance,
                               void *payload, size_t capacity, uint64_t timeout_ns)
{
    if (!port || !reply)
        return SLRI_FAIL(INVALID, "slr_cluster_receive: %s is NULL", port ? "reply" : "port");
    struct receiving r = {port, reply, payload, capacity, 0};
    slr_status status = await_any(&r, slri_deadline_after(timeout_ns));
    if (status != SLR_OK && status != SLR_RING_FAILED)
        return status;
    if (device)
        *device = r.from;
    if (instance)
        *instance = reply->from.instance + (port->ring->keys ? 0 : port->ring->part[r.from].first);
    return status;
}

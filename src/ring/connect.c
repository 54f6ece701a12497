// SPDX-License-Identifier: Apache-2.0
// A port's lanes in a ring kernel: taken with the first message, given back when the port closes.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/sim.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

#define ADOPT_NS 100000000ull // how long a new port waits for a closed one's lane to run empty

slr_status slr_port_open(slr_device *device, slr_port **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_port_open: %s is NULL", device ? "out" : "device");
    struct slri_ring_device *table;
    SLRI_TRY(slri_sim_from_environment()); // on the thread where everything is
    SLRI_TRY(slri_ring_device_get(device, &table));
    slr_port *port = slri_alloc(device->allocator, sizeof *port);
    if (!port)
        return SLRI_FAIL(NO_MEMORY, "no memory for a port");
    slr_status status = slri_waker_create(device->allocator, &port->waker);
    if (status != SLR_OK) {
        slri_free(device->allocator, port, sizeof *port);
        return status;
    }
    slri_device_hold(device);
    port->device = device;
    *out = port;
    return SLR_OK;
}

// ---- lanes, under the ring kernel's lock ---------------------------------------------------------------------------

// Tells the owners of a change in the port sets. The bits are relaxed: they are read behind an acquire of the epoch.
static void publish_ports(slr_ring *ring, uint32_t port, bool used, bool gone)
{
    uint32_t *S = ring->S;
    uint32_t bit = 1u << (port & 31), word = port >> 5;
    MB_STORE(MB_PORT_SET(word), used ? MB_LOAD(MB_PORT_SET(word)) | bit : MB_LOAD(MB_PORT_SET(word)) & ~bit);
    MB_STORE(MB_PORT_GONE(word), gone ? MB_LOAD(MB_PORT_GONE(word)) | bit : MB_LOAD(MB_PORT_GONE(word)) & ~bit);
    MB_RELEASE(MB_PORT_EPOCH, ++ring->port_epoch);
}

// Whether every owner has found that nothing of the closed port is left. Acquire: its words for the next port. An
// owner that is the host's for a while does not see what lies in a lane near.
static bool is_empty(const slr_ring *ring, uint32_t port)
{
    uint32_t *S = ring->S;
    if (!slri_near_is_empty(ring, port))
        return false;
    for (uint32_t s = 0; s < ring->shards; ++s) {
        uint32_t at = mb_reply_lane(S, mb_owner(S, s), port);
        if ((int32_t)(MB_ACQUIRE(at + MB_GONE_EPOCH) - ring->lane[port].gone_epoch) < 0)
            return false;
    }
    return true;
}

// A closed port's lane goes on where it stands, behind the replies that nobody received.
static void adopt(slr_ring *ring, uint32_t port)
{
    uint32_t *S = ring->S;
    slri_grants_settle(ring); // all that lay here is retired; the next port counts from there
    for (uint32_t s = 0; s < ring->shards; ++s) {
        struct slri_lane_cursor *cursor = &ring->lane[port].cursor[s];
        uint32_t lane = mb_lane(S, s, port);
        cursor->received = MB_LOAD(mb_reply_lane(S, mb_owner(S, s), port) + MB_GONE_AT);
        cursor->mark = 0;
        MB_STORE(lane + MB_MIXED, 0);
        mb_return_replies(S, lane, cursor->received);
    }
    slri_near_leave(ring, port);
    slri_waker_release(ring->lane[port].waker); // the owners' acknowledgement was their last look at it
}

// Finds a lane: a fresh one, else a closed port's that has run empty. max_ports: there is none.
static uint32_t find_lane(slr_ring *ring, bool *closing)
{
    uint32_t fresh = ring->max_ports;
    for (uint32_t i = 0; i < ring->max_ports; ++i) {
        if (ring->lane[i].gone && is_empty(ring, i))
            return i;
        *closing = *closing || ring->lane[i].gone;
        if (!ring->lane[i].used && fresh == ring->max_ports)
            fresh = i;
    }
    return fresh;
}

static slr_status take_lane(slr_ring *ring, struct slri_waker *waker, uint32_t i, bool silent)
{
    struct slri_lane *lane = &ring->lane[i];
    if (lane->gone) {
        adopt(ring, i);
    } else {
        lane->cursor = slri_alloc(ring->device->allocator, ring->shards * sizeof *lane->cursor);
        if (!lane->cursor)
            return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a port", ring->name);
    }
    slri_hold(&waker->holds);
    __atomic_store_n(&lane->waker, waker, __ATOMIC_RELEASE);
    lane->used = true;
    lane->gone = false;
    lane->failures_told = ring->failures;
    publish_ports(ring, i, true, silent);
    return SLR_OK;
}

static void wake_shards(slr_ring *ring)
{
    for (uint32_t s = 0; s < ring->shards; ++s)
        slri_ring_wake_shard(&ring->shard[s]);
}

slr_status slri_lane_take(slr_ring *ring, struct slri_waker *waker, bool silent, uint32_t *out)
{
    struct slri_backoff backoff = {.until.deadline_ns = slri_deadline_after(ADOPT_NS)};
    for (;;) {
        bool closing = false;
        slri_mutex_lock(&ring->lock);
        uint32_t i = find_lane(ring, &closing);
        slr_status status = i < ring->max_ports ? take_lane(ring, waker, i, silent) : SLR_INVALID;
        slri_mutex_unlock(&ring->lock);
        *out = i;
        if (i < ring->max_ports)
            return status;
        if (!closing || slri_backoff_step(&backoff) == SLRI_TOO_LATE)
            return SLRI_FAIL(INVALID,
                             "ring kernel '%s' has max_ports = %u ports already; raise slr_ring_desc.max_ports",
                             ring->name, ring->max_ports);
        wake_shards(ring);
        slri_yield();
    }
}

// ---- connections, the port's owner's -------------------------------------------------------------------------------

static slr_status reserve(slr_port *port, uint32_t slot)
{
    const slr_allocator *allocator = port->device->allocator;
    if (slot >= port->slots) {
        uint32_t slots = slot < 8 ? 16 : slot * 2;
        struct slri_connection **by_slot = slri_alloc(allocator, slots * sizeof *by_slot);
        if (!by_slot)
            return SLRI_FAIL(NO_MEMORY, "no memory for a port's %u connections", slots);
        if (port->slots)
            memcpy(by_slot, port->by_slot, port->slots * sizeof *by_slot);
        slri_free(allocator, port->by_slot, port->slots * sizeof *by_slot);
        port->by_slot = by_slot;
        port->slots = slots;
    }
    if (port->connections == port->connection_room) {
        uint32_t room = port->connection_room ? port->connection_room * 2 : 8;
        struct slri_connection **list = slri_alloc(allocator, room * sizeof *list);
        if (!list)
            return SLRI_FAIL(NO_MEMORY, "no memory for a port's %u connections", room);
        if (port->connections)
            memcpy(list, port->connection, port->connections * sizeof *list);
        slri_free(allocator, port->connection, port->connection_room * sizeof *list);
        port->connection = list;
        port->connection_room = room;
    }
    return SLR_OK;
}

// What a sender is told whose ring kernel takes no messages now; OK where it does.
static slr_status check_open(const slr_ring *ring)
{
    switch (slr_ring_get_state(ring)) {
    case SLR_RING_LAUNCHED:
    case SLR_RING_ACTIVE:
    case SLR_RING_PAUSED:
        return SLR_OK;
    case SLR_RING_CREATED:
        return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is created; a send needs it launched", ring->name);
    case SLR_RING_DRAINING:
        return SLRI_FAIL(CLOSED, "ring kernel '%s' is draining: its input is closed", ring->name);
    case SLR_RING_IN_FAILURE:
        return SLRI_FAIL(RING_FAILED, "ring kernel '%s' has failed", ring->name);
    case SLR_RING_TERMINATED:
        break;
    }
    return SLRI_FAIL(RING_DEAD, "ring kernel '%s' has terminated", ring->name);
}

static slr_status connect_held(slr_port *port, slr_ring *ring, struct slri_connection **out)
{
    SLRI_TRY(check_open(ring));
    if (ring->device != port->device)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is on another device than the port", ring->name);
    SLRI_TRY(reserve(port, ring->slot));
    struct slri_connection *connection = slri_alloc(port->device->allocator, sizeof *connection);
    if (!connection)
        return SLRI_FAIL(NO_MEMORY, "no memory for a connection");
    slr_status status = slri_lane_take(ring, port->waker, false, &connection->port);
    if (status != SLR_OK) {
        slri_free(port->device->allocator, connection, sizeof *connection);
        return status;
    }
    connection->ring = ring;
    connection->lane = &ring->lane[connection->port];
    port->by_slot[ring->slot] =
        connection; // one of a ring kernel that is gone, whose slot it was, is kept until its END
    port->connection[port->connections++] = connection;
    port->was_connected = true;
    wake_shards(ring);
    *out = connection;
    return SLR_OK;
}

slr_status slri_connect(slr_port *port, slr_address to, struct slri_connection **out)
{
    slr_ring *ring;
    SLRI_TRY(slri_table_find(to, &ring));
    slr_status status = connect_held(port, ring, out);
    if (status != SLR_OK)
        slri_ring_release(ring);
    return status;
}

void slri_lane_leave(slr_ring *ring, uint32_t i)
{
    slri_mutex_lock(&ring->lock);
    ring->lane[i].gone = true;
    publish_ports(ring, i, true, true);
    ring->lane[i].gone_epoch = ring->port_epoch;
    slri_mutex_unlock(&ring->lock);
    if (!__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE))
        wake_shards(ring);
}

void slri_disconnect(slr_port *port, struct slri_connection *connection)
{
    slr_ring *ring = connection->ring;
    slri_lane_leave(ring, connection->port);
    if (port->by_slot[ring->slot] == connection)
        port->by_slot[ring->slot] = NULL;
    for (uint32_t i = 0; i < port->connections; ++i)
        if (port->connection[i] == connection)
            port->connection[i] = port->connection[--port->connections];
    slri_free(port->device->allocator, connection, sizeof *connection);
    slri_ring_release(ring);
}

void slr_port_close(slr_port *port)
{
    if (!port)
        return;
    slr_device *device = port->device;
    while (port->connections)
        slri_disconnect(port, port->connection[0]);
    while (port->kept_first) {
        struct slri_kept_reply *kept = port->kept_first;
        port->kept_first = kept->next;
        slri_free(device->allocator, kept, kept->allocated);
    }
    slri_free(device->allocator, port->by_slot, port->slots * sizeof *port->by_slot);
    slri_free(device->allocator, port->connection, port->connection_room * sizeof *port->connection);
    slri_waker_release(port->waker);
    slri_free(device->allocator, port, sizeof *port);
    slri_device_release(device);
}

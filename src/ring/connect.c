// SPDX-License-Identifier: Apache-2.0
// A port's lanes in a ring kernel: taken with the first message, given back when the port closes.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/sim.h"
#include "base/status.h"
#include "base/thread.h"
#include "ring/ring.h"

#include <string.h>

#define LOOK_NS 50000u // between looks whether a closed port's lane has run empty

slr_status slri_port_create(slr_device *device, slr_port **out)
{
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
    slri_connections_init(port);
    slri_links_init(&port->ready);
    slri_links_init(&port->ended);
    slri_links_init(&port->failed);
    slri_links_init(&port->given_back);
    slri_links_init(&port->polled);
    *out = port;
    return SLR_OK;
}

slr_status slr_port_open(slr_device *device, slr_port **out)
{
    if (!device || !out)
        return SLRI_FAIL(INVALID, "slr_port_open: %s is NULL", device ? "out" : "device");
    struct slri_ring_device *table;
    SLRI_TRY(slri_device_check_process(device));
    SLRI_TRY(slri_sim_from_environment()); // on the thread where everything is
    SLRI_TRY(slri_ring_device_get(device, &table));
    return slri_port_create(device, out);
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
        uint32_t at = mb_reply_lane(S, s, port);
        if ((int32_t)(MB_ACQUIRE(at + MB_GONE_EPOCH) - slri_lane_at(ring, port)->gone_epoch) < 0)
            return false;
    }
    return true;
}

// A closed port's lane goes on where it stands, behind the replies that nobody received.
static void adopt(slr_ring *ring, uint32_t port)
{
    uint32_t *S = ring->S;
    slri_slices_forsake(ring, port);
    slri_grants_settle(ring); // all that lay here is retired; the next port counts from there
    for (uint32_t s = 0; s < ring->shards; ++s) {
        struct slri_lane_cursor *cursor = &slri_lane_at(ring, port)->cursor[s];
        uint32_t lane = mb_lane(S, s, port);
        cursor->received = MB_LOAD(mb_reply_lane(S, s, port) + MB_GONE_AT);
        cursor->mark = 0;
        MB_STORE(lane + MB_MIXED, 0);
        mb_return_replies(S, lane, cursor->received);
    }
    slri_near_leave(ring, port);
    // The owners' acknowledgement was their last look at these.
    slri_connection_release(ring->device->allocator, slri_lane_at(ring, port)->connection);
    slri_waker_release(slri_lane_at(ring, port)->waker);
}

// Finds a lane: a fresh one, else a closed port's that has run empty. max_ports: there is none. `closing`: how many are
// closed ports', and not empty as far as their owners have said.
static uint32_t find_lane(slr_ring *ring, uint32_t *closing)
{
    uint32_t opened = slri_ports_opened(ring);
    for (uint32_t i = 0; i < opened; ++i) {
        if (slri_lane_at(ring, i)->gone && is_empty(ring, i))
            return i;
        *closing += slri_lane_at(ring, i)->gone;
    }
    return opened; // the next
}

static slr_status take_lane(slr_ring *ring, struct slri_waker *waker, struct slri_connection *c, uint32_t i,
                            bool silent)
{
    if (i < ring->ports_opened)
        adopt(ring, i);
    else
        SLRI_TRY(slri_arena_open_port(ring, i));
    struct slri_lane *lane = slri_lane_at(ring, i);
    slri_hold(&waker->holds);
    if (c)
        slri_hold(&c->holds);
    lane->connection = c;
    __atomic_store_n(&lane->waker, waker, __ATOMIC_RELEASE);
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

// What a sender is told whose ring kernel takes no messages now; OK where it does.
static slr_status check_open(slr_ring *ring)
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
        return slri_refuse_failed(ring);
    case SLR_RING_TERMINATED:
        break;
    }
    return SLRI_FAIL(RING_DEAD, "ring kernel '%s' has terminated", ring->name);
}

static slr_status refuse_lane(const slr_ring *ring, uint32_t closing, const struct slri_until *until)
{
    if (closing == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has max_ports = %u ports already; raise slr_ring_desc.max_ports",
                         ring->name, ring->max_ports);
    const char *says = "ring kernel '%s': all max_ports = %u places are in use; %u belong to closed ports whose "
                       "messages have not completed%s";
    return slri_until_now(until) ? SLRI_FAIL(FULL, says, ring->name, ring->max_ports, closing, " yet")
                                 : SLRI_FAIL(TIMEOUT, says, ring->name, ring->max_ports, closing, " by the deadline");
}

// A lane is free when each owner has said so, however long that takes: until then its words are the closed port's.
slr_status slri_lane_take(slr_ring *ring, struct slri_waker *waker, struct slri_connection *c, bool silent,
                          struct slri_until *until, uint32_t *out)
{
    struct slri_backoff backoff = {.until = *until};
    for (;;) {
        uint32_t closing = 0;
        SLRI_TRY(check_open(ring)); // it may have ended, and its owners with it
        slri_mutex_lock(&ring->lock);
        uint32_t i = find_lane(ring, &closing);
        slr_status status = i < ring->max_ports ? take_lane(ring, waker, c, i, silent) : SLR_INVALID;
        slri_mutex_unlock(&ring->lock);
        *out = i;
        if (i < ring->max_ports)
            return status;
        enum slri_wait wait = closing == 0 ? SLRI_TOO_LATE : slri_backoff_step(&backoff);
        *until = backoff.until; // when the wait began
        if (wait == SLRI_TOO_LATE)
            return refuse_lane(ring, closing, until);
        wake_shards(ring);
        if (wait == SLRI_PARK)
            slri_sleep_ns(LOOK_NS);
    }
}

// ---- connections, the port's owner's -------------------------------------------------------------------------------

static slr_status connect_held(slr_port *port, slr_ring *ring, struct slri_until *until, struct slri_connection **out)
{
    SLRI_TRY(slri_ring_check_process(ring));
    SLRI_TRY(check_open(ring));
    if (ring->device != port->device)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is on another device than the port", ring->name);
    SLRI_TRY(slri_connections_reserve(port));
    struct slri_connection *connection = slri_alloc_packed(port->device->allocator, sizeof *connection);
    if (!connection)
        return SLRI_FAIL(NO_MEMORY, "no memory for a connection");
    connection->holds = 1;
    connection->ring = ring;
    connection->connected = true;
    if (port->late_ns < slri_late_ns(ring))
        port->late_ns = slri_late_ns(ring);
    port->spins |= ring->mode != SLR_RING_RELAUNCHED;
    if (!port->is_marked && port->connections == SLRI_FEW_CONNECTIONS)
        slri_marks_begin(port); // before the lane is there
    slr_status status = slri_lane_take(ring, port->waker, connection, false, until, &connection->port);
    if (status != SLR_OK) {
        slri_connection_release(port->device->allocator, connection);
        return status;
    }
    connection->lane = slri_lane_at(ring, connection->port);
    slri_connections_enter(port, connection);
    if (port->is_marked)
        slri_marks_enter(port, connection);
    port->was_connected = true;
    wake_shards(ring);
    *out = connection;
    return SLR_OK;
}

slr_status slri_connect(slr_port *port, slr_address to, bool to_send, struct slri_until *until,
                        struct slri_connection **out)
{
    slr_ring *ring;
    SLRI_TRY(slri_table_find(to, &ring));
    slr_status status = connect_held(port, ring, until, out);
    if (status == SLR_OK)
        return SLR_OK;
    if (to_send && (status == SLR_FULL || status == SLR_TIMEOUT))
        __atomic_fetch_add(&ring->refused, 1, __ATOMIC_RELAXED);
    slri_ring_release(ring);
    return status;
}

void slri_lane_leave(slr_ring *ring, uint32_t i)
{
    slri_mutex_lock(&ring->lock);
    slri_lane_at(ring, i)->gone = true;
    publish_ports(ring, i, true, true);
    slri_lane_at(ring, i)->gone_epoch = ring->port_epoch;
    slri_mutex_unlock(&ring->lock);
    if (!__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE))
        wake_shards(ring);
}

void slri_disconnect(slr_port *port, struct slri_connection *connection)
{
    slr_ring *ring = connection->ring;
    // While the lane is this port's. What owners answer before they know that it is not: when the lane is taken anew.
    slri_slices_forsake(ring, connection->port);
    slri_lane_leave(ring, connection->port);
    slri_connections_leave(port, connection);
    slri_marks_leave(port, connection);
    connection->connected = false; // who marks it may still have it
    slri_connection_release(port->device->allocator, connection);
    slri_ring_release(ring);
}

void slr_port_close(slr_port *port)
{
    if (!port || slri_device_is_anothers(port->device))
        return;
    slr_device *device = port->device;
    while (port->connections)
        slri_disconnect(port, port->connection[port->connections - 1]);
    while (port->kept_first) {
        struct slri_kept_reply *kept = port->kept_first;
        port->kept_first = kept->next;
        slri_free(device->allocator, kept, kept->allocated);
    }
    slri_connections_free(port);
    slri_free(device->allocator, port->connection, port->connection_room * sizeof *port->connection);
    slri_waker_release(port->waker);
    slri_free(device->allocator, port, sizeof *port);
    slri_device_release(device);
}

// SPDX-License-Identifier: Apache-2.0
// What a port is connected to: a list, and a table from an address's slot to the connection. The table is open, by a
// multiplicative hash: slots are small numbers that the device gives, so nobody can choose them to meet. The port's
// owner's.
#include "base/alloc.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

static struct slri_connection *none[1]; // the table of a port without connections

void slri_connections_init(slr_port *port)
{
    port->by_slot = none;
    port->by_slot_mask = 0;
    port->by_slot_shift = 32;
}

// Where the slot's connection is, or would be.
static struct slri_connection **place_of(const slr_port *port, uint32_t slot)
{
    uint32_t i = slri_connection_home(port, slot);
    while (port->by_slot[i] && port->by_slot[i]->ring->slot != slot)
        i = (i + 1) & port->by_slot_mask;
    return &port->by_slot[i];
}

static slr_status grow_table(slr_port *port)
{
    slr_port old = *port;
    uint32_t bits = port->by_slot == none ? 3 : 33 - port->by_slot_shift;
    struct slri_connection **table = slri_alloc(port->device->allocator, ((size_t)1 << bits) * sizeof *table);
    if (!table)
        return SLRI_FAIL(NO_MEMORY, "no memory for a port's %u connections", 1u << (bits - 1));
    port->by_slot = table;
    port->by_slot_mask = (1u << bits) - 1;
    port->by_slot_shift = 32 - bits;
    for (uint32_t i = 0; i <= old.by_slot_mask; ++i)
        if (old.by_slot[i])
            *place_of(port, old.by_slot[i]->ring->slot) = old.by_slot[i];
    slri_connections_free(&old);
    return SLR_OK;
}

static slr_status grow_list(slr_port *port)
{
    const slr_allocator *allocator = port->device->allocator;
    uint32_t room = port->connection_room ? port->connection_room * 2 : 8;
    struct slri_connection **list = slri_alloc(allocator, room * sizeof *list);
    if (!list)
        return SLRI_FAIL(NO_MEMORY, "no memory for a port's %u connections", room);
    if (port->connections)
        memcpy(list, port->connection, port->connections * sizeof *list);
    slri_free(allocator, port->connection, port->connection_room * sizeof *list);
    port->connection = list;
    port->connection_room = room;
    return SLR_OK;
}

slr_status slri_connections_reserve(slr_port *port)
{
    if (port->by_slot == none || (port->connections + 1) * 2 > port->by_slot_mask) // at most half full
        SLRI_TRY(grow_table(port));
    return port->connections == port->connection_room ? grow_list(port) : SLR_OK;
}

void slri_connections_enter(slr_port *port, struct slri_connection *c)
{
    *place_of(port, c->ring->slot) = c; // one of a ring kernel that is gone, whose slot it was, is kept until its END
    c->at = port->connections;
    port->connection[port->connections++] = c;
}

// What lies behind it in the table moves up, as far as it belongs there.
static void close_gap(slr_port *port, uint32_t gap)
{
    uint32_t mask = port->by_slot_mask;
    for (uint32_t i = (gap + 1) & mask; port->by_slot[i]; i = (i + 1) & mask) {
        uint32_t home = slri_connection_home(port, port->by_slot[i]->ring->slot);
        if (((i - home) & mask) < ((i - gap) & mask))
            continue; // its home is behind the gap
        port->by_slot[gap] = port->by_slot[i];
        gap = i;
    }
    port->by_slot[gap] = NULL;
}

void slri_connections_leave(slr_port *port, struct slri_connection *c)
{
    struct slri_connection **place = place_of(port, c->ring->slot);
    if (*place == c)
        close_gap(port, (uint32_t)(place - port->by_slot));
    struct slri_connection *last = port->connection[--port->connections];
    port->connection[c->at] = last;
    last->at = c->at;
}

void slri_connections_free(slr_port *port)
{
    if (port->by_slot != none)
        slri_free(port->device->allocator, port->by_slot, ((size_t)port->by_slot_mask + 1) * sizeof *port->by_slot);
}

// SPDX-License-Identifier: Apache-2.0
// Routes: what the host's side (route.c, route_check.c, outlets.c, deadlock.c), the owners' side (relay.c) and topics
// (topic.c) share.
//
// A route is a port of its destination for each shard of its source: one writer a lane. What an owner works with is an
// outlet for each of its routes, listed in a table that the host exchanges as a whole when routes change.
#ifndef SLRI_RING_ROUTE_H
#define SLRI_RING_ROUTE_H

#include "base/thread.h"
#include "hal/hal.h"

#include <slipring/ring.h>
#include <slipring/route.h>

#include <stdbool.h>

struct slri_connection;

// One shard's way along one route. Kept while the route lasts, whatever table lists it.
struct slri_outlet {
    struct slri_connection *c; // into the destination; of a route to a port: the port's, in the source itself
    bool to_port;
    uint32_t parameter;   // 0: for the replies; else 1 + which parameter is the outlet that the handler sends through
    uint32_t each;        // messages that one handled may cause: max_replies, or max_sends
    uint32_t instance_at; // as slr_route_desc.instance_at
    uint32_t since;       // of a route to a port: port sets that are older show who had its lane before
    // The owner's.
    bool open;      // takes messages in this pass
    bool gone;      // the port has been closed
    uint32_t place; // of the next message in the order of acceptance, for a destination that drops
    uint32_t used;  // messages of this batch that are filled, not yet flushed
    uint32_t freed; // 1: credits were given back, and nobody has been told yet
    // Written by the owner alone, read by others; atomic.
    uint32_t turn; // raised before a claim or a return of credits changes what is held
    uint32_t held; // credits claimed and without a message yet
    uint64_t routed, unrouted;
    uint32_t held_before; // the host's, under route_lock
};

// The outlets of one shard. The lowest destination slot first: of two shards that need the same two mailboxes, the one
// that gets the first never finds that the other has the second.
struct slri_outlets {
    struct slri_outlets *older; // tables before it, until the owner has taken this one up
    bool reply_too;
    struct slri_outlet *first; // for replies, or NULL; then `reply_too`
    uint32_t blocked_passes;   // in a row
    unsigned char *aside;      // where a handler replies when no slot of a destination can be aimed at: `aside_slots`
    uint32_t aside_slots, aside_stride;
    uint32_t count;
    struct slri_outlet *outlet[];
};

struct slri_route {
    slr_ring *from, *to; // `to` is held; of a route to a port: `from` itself, and not held
    bool to_port, reply_too, close_with_source;
    uint32_t since;                        // of a route to a port: the port epoch when it was made
    uint32_t each, parameter;              // as slri_outlet's
    struct slri_waker *waker;              // of its lanes: nobody ever sleeps on it
    struct slri_outlet *outlet;            // a shard of `from` each
    struct slri_connection *connection;    // likewise
    struct slri_passage *passage;          // likewise, of a persistent ring kernel; NULL of others
    struct slri_route *next_out, *next_in; // in the lists of `from` and `to`
};

// Of a ring kernel, in slr_ring.
struct slri_routes {
    struct slri_route *out, *in; // under route_lock
    struct slri_route *leaving;  // taken away, while a handler that does not return may use them
    uint64_t routed, unrouted;   // along routes that are gone; under route_lock
    slr_ring *next_reached;      // this and what follows is deadlock.c's, under route_lock
    bool reached;
    struct slri_found_route {
        slr_ring *before, *next;
        uint32_t accepted, retired;
        bool seen;
    } search;
};

// relay.c
extern const struct slri_relay slri_relay;
void slri_relay_published(struct slri_shard *shard); // behind mb_finish and a full fence

// route_device.c and grant.c: routes from persistent ring kernels.
extern const struct slri_relay slri_device_relay;
slr_status slri_passages_check(const slr_ring *from);                            // whether routes may lead from it
slr_status slri_passages_check_pair(slr_ring *from, slr_ring *to);               // OK of other ring kernels
slr_status slri_passages_create(struct slri_route *route, uint64_t deadline_ns); // likewise; takes credits of `to`
void slri_passages_destroy(struct slri_route *route);                            // its shards work with them no more
// What the shards are to work with: the routes in the list, and one more. Made with no lock held but that of changes;
// `fresh` is commit's. Then awaited; a deadline that passes leaves it to take effect later.
slr_status slri_passages_prepare(slr_ring *ring, struct slri_route *with, struct slri_passages ***fresh);
slr_status slri_passages_begin(slr_ring *ring); // at launch, under its lock: what a handler that sends works with
void slri_passages_commit(slr_ring *ring, struct slri_passages **fresh);
// It is in the list no more, and its shards are to work without it: needs no memory. Under route_lock.
void slri_passages_leave(struct slri_route *route);
// Until the shards work as was last asked for: without `leaves`, or (NULL) with what was committed.
slr_status slri_passages_await(slr_ring *ring, const struct slri_route *leaves, uint64_t deadline_ns);
void slri_passages_free(const slr_ring *ring, struct slri_passages *table); // and those before it
void slri_passages_extend(slr_ring *ring); // brings the 64-bit counts forward; under count_lock
void slri_passages_end(slr_ring *from);    // its shards run no more: gives up what its routes have of others
void slri_grants_recall(slr_ring *to);     // its input is closed: others give up what they have of it, when at rest
void slri_grants_listed(slr_ring *from, slr_ring *to); // a route is in the lists: it may be too late for an end of one
bool slri_grants_await(slr_ring *to, uint64_t deadline_ns); // until they have; false: not by then
// Under count_lock: what MB_ACCEPTED lacks of messages along such routes, less what it has of their credits.
uint32_t slri_grants_accepted(const slr_ring *ring);
uint32_t slri_grants_open(slr_ring *ring); // messages along such routes that are not done with
// Some are: gives back the credits that were kept for them, and brings the counts forward before they wrap.
void slri_grants_told(slr_ring *ring);
void slri_grants_settle(slr_ring *to); // its part about credits
void slri_grants_forget(slr_ring *to); // its shards are over: gives back all that is kept

// route_check.c
slr_status slri_route_check_source(const slr_ring *from, const slr_route_desc *desc);
slr_status slri_route_check_pair(const slr_ring *from, const slr_ring *to, const slr_route_desc *desc);
// What a sender is told, as one who asks for a route is told it: the state is the wrong one.
slr_status slri_route_refused(const slr_ring *ring, slr_status status);
const slr_handler_info *slri_ring_handler_info(const slr_ring *ring); // NULL: a host handler

// outlets.c: as route_device.c's functions for persistent ones.
slr_status slri_outlets_begin(slr_ring *ring);    // at launch
slr_status slri_outlets_exchange(slr_ring *ring); // a table of the routes in the list for every shard: all or none
slr_status slri_outlets_await(slr_ring *ring, uint64_t deadline_ns);      // until they are taken up; frees those before
void slri_outlets_free(const slr_ring *ring, struct slri_outlets *table); // and those before it

// route.c
struct slri_backoff;
slr_status slri_route_wait(const slr_ring *ring, struct slri_backoff *backoff); // a step of waiting for owners; TIMEOUT
void slri_routes_wake(slr_ring *ring);                     // sources that wait for credits of `ring`
void slri_routes_source_ended(slr_ring *ring);             // closes the inputs that were to be closed with it
void slri_routes_drop(slr_ring *ring);                     // its outgoing routes; its shards run no more
slr_status slri_route_check(slr_ring *from, slr_ring *to); // whether a route with defaults is possible
// Makes one that has been checked, if there is none yet. `full`: it failed because there was no room, at once or by the
// time that any route waits for it.
slr_status slri_route_once(slr_ring *from, slr_ring *to, bool waits, bool *full);
// Under route_lock: a look at what MB_ACCEPTED says, and at how many of that, at most, are credits that routes hold and
// that are no messages. False: owners have claimed meanwhile, and it says nothing.
bool slri_routes_accepted(const slr_ring *ring, uint32_t *accepted, uint32_t *held);
void slri_routes_count(slr_ring *ring, slr_ring_stats *out); // likewise
slr_status slri_routes_prepare(slr_ring *ring); // at launch: a handler that sends has a table of routes from the start
void slri_routes_lock(void);                    // the lists; taken before a ring kernel's own lock
void slri_routes_unlock(void);

// topic.c
void slri_topics_forget(slr_ring *ring);
// After a restart: makes the routes that were not made while the ring kernel had failed, because others advertised or
// subscribed then. Routes that exist stay as they are. Errors: those of slr_route, the first.
slr_status slri_topics_rejoin(const slr_ring *ring);
// After it was reactivated: likewise, if a restart has left something to that.
slr_status slri_topics_pay(slr_ring *ring);

// deadlock.c: looks for a cycle of full mailboxes through `ring`; names it and fails its ring kernels.
void slri_deadlock_look(slr_ring *ring);
bool slri_route_leads(slr_ring *from,
                      slr_ring *to); // whether routes lead there, or they are the same; under route_lock

#endif

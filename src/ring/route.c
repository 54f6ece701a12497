// SPDX-License-Identifier: Apache-2.0
// The host's side of routes: making them and taking them away, and what happens to them when one of their ends does.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/forks.h"
#include "base/sized.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

// One change of routes at a time: held while owners take it up, which never take this lock.
static slri_mutex routing = SLRI_MUTEX_INIT;
// The lists of routes. Taken before a ring kernel's own lock.
static slri_mutex route_lock = SLRI_MUTEX_INIT;
SLRI_RENEW_IN_CHILD(renew_routing, &routing, NULL)
SLRI_RENEW_IN_CHILD(renew_route_lock, &route_lock, NULL)

void slri_routes_lock(void)
{
    slri_mutex_lock(&route_lock);
}
void slri_routes_unlock(void)
{
    slri_mutex_unlock(&route_lock);
}

// ---- making and freeing --------------------------------------------------------------------------------------------

static void free_route(struct slri_route *route)
{
    slr_ring *from = route->from;
    const slr_allocator *allocator = from->device->allocator;
    slri_passages_destroy(route);
    for (uint32_t s = 0; route->connection && s < from->shards && !route->to_port; ++s)
        if (route->connection[s].ring)
            slri_lane_leave(route->to, route->connection[s].port);
    slri_free(allocator, route->outlet, from->shards * sizeof *route->outlet);
    slri_free(allocator, route->connection, from->shards * sizeof *route->connection);
    if (!route->to_port) {
        slri_waker_release(route->waker);
        slri_ring_release(route->to);
    }
    slri_free(allocator, route, sizeof *route);
}

// Without its lanes.
static struct slri_route *new_route(slr_ring *from, slr_ring *to, const slr_route_desc *desc, bool to_port)
{
    const slr_allocator *allocator = from->device->allocator;
    struct slri_route *route = slri_alloc(allocator, sizeof *route);
    if (!route)
        return NULL;
    *route = (struct slri_route){.from = from,
                                 .to = to,
                                 .to_port = to_port,
                                 .reply_too = desc->reply_too,
                                 .close_with_source = desc->close_with_source,
                                 .each = desc->outlet ? from->max_sends : from->max_replies};
    const slr_handler_info *info = slri_ring_handler_info(from);
    for (uint32_t i = 0; desc->outlet && i < info->parameter_count; ++i)
        if (strcmp(info->parameters[i].name, desc->outlet) == 0)
            route->parameter = i + 1;
    if (!to_port)
        slri_ring_hold(to);
    route->outlet = slri_alloc(allocator, from->shards * sizeof *route->outlet);
    route->connection = slri_alloc(allocator, from->shards * sizeof *route->connection);
    if (!route->outlet || !route->connection || (!to_port && slri_waker_create(allocator, &route->waker) != SLR_OK)) {
        free_route(route);
        return NULL;
    }
    for (uint32_t s = 0; s < from->shards; ++s)
        route->outlet[s] = (struct slri_outlet){.c = &route->connection[s],
                                                .to_port = to_port,
                                                .parameter = route->parameter,
                                                .each = route->each,
                                                .instance_at = desc->instance_at};
    return route;
}

static slr_status take_lanes(struct slri_route *route, uint64_t patience_ns)
{
    slr_ring *to = route->to;
    for (uint32_t s = 0; s < route->from->shards; ++s) {
        uint32_t lane;
        struct slri_until until = {.timeout_ns = patience_ns};
        SLRI_TRY(slri_route_refused(to, slri_lane_take(to, route->waker, NULL, true, &until, &lane)));
        route->connection[s] = (struct slri_connection){.ring = to, .port = lane, .lane = slri_lane_at(to, lane)};
    }
    for (uint32_t s = 0; s < to->shards; ++s)
        slri_ring_wake_shard(&to->shard[s]);
    return SLR_OK;
}

// ---- what the owners work with -------------------------------------------------------------------------------------

slr_status slri_routes_prepare(slr_ring *ring)
{
    if (!ring->has_outlets)
        return SLR_OK;
    return ring->mode == SLR_RING_PERSISTENT ? slri_passages_begin(ring) : slri_outlets_begin(ring);
}

slr_status slri_route_wait(const slr_ring *ring, struct slri_backoff *backoff)
{
    enum slri_wait wait = slri_backoff_step(backoff);
    if (wait == SLRI_TOO_LATE)
        return SLRI_FAIL(TIMEOUT,
                         "ring kernel '%s': a handler has not returned within %llu s; its routes change when it has",
                         ring->name, (unsigned long long)(slri_ring_patience_ns(ring) / 1000000000u));
    if (wait == SLRI_PARK)
        slri_sleep_ns(50000);
    return SLR_OK;
}

// Waits until the owners work with what was last exchanged, without `leaves`. Under `routing` alone.
static slr_status await(slr_ring *ring, const struct slri_route *leaves)
{
    uint64_t deadline_ns = slri_deadline_after(slri_ring_patience_ns(ring));
    return ring->mode == SLR_RING_PERSISTENT ? slri_passages_await(ring, leaves, deadline_ns)
                                             : slri_outlets_await(ring, deadline_ns);
}

// ---- the lists -----------------------------------------------------------------------------------------------------

static void link_out(struct slri_route *route)
{
    route->next_out = route->from->routes.out;
    route->from->routes.out = route;
}

static void unlink_out(struct slri_route *route)
{
    for (struct slri_route **at = &route->from->routes.out; *at; at = &(*at)->next_out) {
        if (*at != route)
            continue;
        *at = route->next_out;
        return;
    }
}

static void link_in(struct slri_route *route)
{
    if (route->to_port)
        return;
    route->next_in = route->to->routes.in;
    route->to->routes.in = route;
}

static void unlink_in(struct slri_route *route)
{
    for (struct slri_route **at = &route->to->routes.in; !route->to_port && *at; at = &(*at)->next_in) {
        if (*at != route)
            continue;
        *at = route->next_in;
        return;
    }
}

static struct slri_route *find(const slr_ring *from, const slr_ring *to)
{
    struct slri_route *r = from->routes.out;
    while (r && (r->to_port || r->to != to))
        r = r->next_out;
    return r;
}

// Adds a route that is complete, or frees it. The tables of a persistent ring kernel's shards lie in memory of its
// device, which is taken without route_lock: who watches its kernels may have to wait for that, and the device for
// them.
static slr_status add_route(struct slri_route *route)
{
    slr_ring *from = route->from;
    struct slri_passages **passages = NULL;
    slr_status status = route->passage ? slri_passages_prepare(from, route, &passages) : SLR_OK;
    if (status != SLR_OK) {
        free_route(route);
        return status;
    }
    slri_mutex_lock(&route_lock);
    link_out(route);
    link_in(route);
    if (passages)
        slri_passages_commit(from, passages);
    else
        status = slri_outlets_exchange(from);
    if (status != SLR_OK) {
        unlink_out(route);
        unlink_in(route);
    }
    slri_mutex_unlock(&route_lock);
    if (status == SLR_OK && route->passage && !route->to_port)
        slri_grants_listed(from, route->to);
    if (status == SLR_OK)
        return await(from, NULL);
    free_route(route);
    return status;
}

// The counts of a route that goes stay with its source.
static void retire(struct slri_route *route)
{
    struct slri_routes *of = &route->from->routes;
    if (route->passage)
        slri_ring_extend(route->from);
    for (uint32_t s = 0; s < route->from->shards; ++s) {
        of->routed += __atomic_load_n(&route->outlet[s].routed, __ATOMIC_RELAXED);
        of->unrouted += __atomic_load_n(&route->outlet[s].unrouted, __ATOMIC_RELAXED);
    }
    unlink_in(route);
}

// Takes a route out of use; it is freed when no owner knows it any more.
static slr_status take_away(struct slri_route *route)
{
    slr_ring *from = route->from, *to = route->to;
    slr_status status = SLR_OK;
    slri_mutex_lock(&route_lock);
    unlink_out(route);
    if (route->passage)
        slri_passages_leave(route);
    else
        status = slri_outlets_exchange(from);
    if (status != SLR_OK)
        link_out(route);
    slri_mutex_unlock(&route_lock);
    SLRI_TRY(status);
    status = await(from, route);
    slri_mutex_lock(&route_lock);
    if (status == SLR_OK) {
        retire(route);
    } else {
        route->next_out = from->routes.leaving;
        from->routes.leaving = route;
    }
    slri_mutex_unlock(&route_lock);
    if (status == SLR_OK) {
        slri_routes_wake(to); // its credits may be what others wait for
        free_route(route);
    }
    return status;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

// Waits for room as long as `patience_ns`. `full` (may be NULL): there was none, and nothing has been made.
static slr_status make(slr_ring *from, slr_ring *to, const slr_route_desc *desc, uint64_t patience_ns, bool *full)
{
    if (find(from, to))
        return SLRI_FAIL(INVALID, "'%s' has a route to '%s' already", from->name, to->name);
    SLRI_TRY(slri_passages_check_pair(from, to));
    struct slri_route *route = new_route(from, to, desc, false);
    if (!route)
        return SLRI_FAIL(NO_MEMORY, "no memory for a route from '%s' to '%s'", from->name, to->name);
    slr_status status = take_lanes(route, patience_ns);
    if (status == SLR_OK)
        status = slri_passages_create(route, patience_ns ? slri_deadline_after(patience_ns) : 0);
    if (status == SLR_OK)
        return add_route(route);
    if (full)
        *full = status == SLR_TIMEOUT || status == SLR_FULL;
    free_route(route);
    return status;
}

slr_status slr_route(slr_ring *from, slr_ring *to, const slr_route_desc *desc)
{
    if (!from || !to)
        return SLRI_FAIL(INVALID, "slr_route: %s is NULL", from ? "to" : "from");
    SLRI_TRY(slri_ring_check_process(from));
    SLRI_TRY(slri_ring_check_process(to));
    slr_route_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_route_desc, &whole, desc));
    SLRI_TRY(slri_route_check_source(from, &whole));
    SLRI_TRY(slri_route_check_pair(from, to, &whole));
    slri_mutex_lock(&routing);
    slr_status status = make(from, to, &whole, slri_ring_patience_ns(to), NULL);
    slri_mutex_unlock(&routing);
    return status;
}

slr_status slri_route_check(slr_ring *from, slr_ring *to)
{
    slr_route_desc defaults = SLR_ROUTE_DESC_INIT;
    SLRI_TRY(slri_route_check_source(from, &defaults));
    SLRI_TRY(slri_route_check_pair(from, to, &defaults));
    return slri_passages_check_pair(from, to);
}

slr_status slri_route_once(slr_ring *from, slr_ring *to, bool waits, bool *full)
{
    slr_route_desc defaults = SLR_ROUTE_DESC_INIT;
    *full = false;
    slri_mutex_lock(&routing);
    slr_status status =
        find(from, to) ? SLR_OK : make(from, to, &defaults, waits ? slri_ring_patience_ns(to) : 0, full);
    slri_mutex_unlock(&routing);
    return status;
}

// Whether the port collects the replies of `from` already. Its lane may have been another's before, as the lane's last
// closing says: what the owners know of it may not have come home yet.
static bool collects(const slr_ring *from, const struct slri_connection *c)
{
    for (const struct slri_route *r = from->routes.out; r; r = r->next_out)
        if (r->to_port && r->connection[0].port == c->port && (int32_t)(c->lane->gone_epoch - r->since) <= 0)
            return true;
    return false;
}

static slr_status make_to_port(slr_ring *from, const struct slri_connection *c, const slr_route_desc *desc)
{
    if (collects(from, c))
        return SLRI_FAIL(INVALID, "'%s' has a route to this port already", from->name);
    struct slri_route *route = new_route(from, from, desc, true);
    if (!route)
        return SLRI_FAIL(NO_MEMORY, "no memory for a route from '%s' to a port", from->name);
    slri_mutex_lock(&from->lock);
    route->since = from->port_epoch;
    slri_mutex_unlock(&from->lock);
    for (uint32_t s = 0; s < from->shards; ++s) {
        route->connection[s] = (struct slri_connection){.ring = from, .port = c->port, .lane = c->lane};
        route->outlet[s].since = route->since;
    }
    slr_status status = slri_passages_create(route, 0);
    if (status == SLR_OK)
        return add_route(route);
    free_route(route);
    return status;
}

slr_status slr_route_to_port(slr_ring *from, slr_port *port, const slr_route_desc *desc)
{
    if (!from || !port)
        return SLRI_FAIL(INVALID, "slr_route_to_port: %s is NULL", from ? "port" : "from");
    SLRI_TRY(slri_ring_check_process(from));
    slr_route_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_route_desc, &whole, desc));
    SLRI_TRY(slri_route_check_source(from, &whole));
    if (whole.instance_at || whole.close_with_source || whole.outlet)
        return SLRI_FAIL(
            INVALID,
            "route from '%s' to a port: instance_at, close_with_source and outlet work only for routes to ring kernels",
            from->name);
    slr_address address;
    SLRI_TRY(slr_ring_get_address(from, 0, &address));
    struct slri_connection *c = slri_connection_of(port, address);
    struct slri_until until = {.timeout_ns = slri_ring_patience_ns(from)};
    if (!c)
        SLRI_TRY(slri_route_refused(from, slri_connect(port, address, false, &until, &c)));
    slri_mutex_lock(&routing);
    slr_status status = make_to_port(from, c, &whole);
    slri_mutex_unlock(&routing);
    return status;
}

slr_status slr_unroute(slr_ring *from, slr_ring *to)
{
    if (!from || !to)
        return SLRI_FAIL(INVALID, "slr_unroute: %s is NULL", from ? "to" : "from");
    SLRI_TRY(slri_ring_check_process(from));
    slri_mutex_lock(&routing);
    struct slri_route *route = find(from, to);
    slr_status status =
        route ? take_away(route) : SLRI_FAIL(NOT_FOUND, "'%s' has no route to '%s'", from->name, to->name);
    slri_mutex_unlock(&routing);
    return status;
}

// ---- what happens at the ends --------------------------------------------------------------------------------------

void slri_routes_wake(slr_ring *ring)
{
    // Acquire: who set it has announced its sleep before.
    if (!__atomic_exchange_n(&ring->route_waiters, 0, __ATOMIC_ACQUIRE))
        return;
    slri_mutex_lock(&route_lock);
    for (const struct slri_route *r = ring->routes.in; r; r = r->next_in)
        for (uint32_t s = 0; s < r->from->shards; ++s)
            if (__atomic_load_n(&r->from->shard[s].asleep, __ATOMIC_RELAXED) == SLRI_ASLEEP_BLOCKED)
                slri_ring_wake_shard(&r->from->shard[s]);
    slri_mutex_unlock(&route_lock);
}

// Whether every source that a ring kernel is to be closed with has ended, this one among them.
static bool is_last(const slr_ring *to)
{
    for (const struct slri_route *r = to->routes.in; r; r = r->next_in)
        if (r->close_with_source && !__atomic_load_n(&r->from->over, __ATOMIC_ACQUIRE))
            return false;
    return slr_ring_get_state(to) & (SLR_RING_ACTIVE | SLR_RING_PAUSED);
}

static slr_ring *next_to_close(const slr_ring *ring)
{
    slr_ring *found = NULL;
    slri_mutex_lock(&route_lock);
    for (const struct slri_route *r = ring->routes.out; r && !found; r = r->next_out)
        if (r->close_with_source && is_last(r->to))
            found = r->to;
    if (found)
        slri_ring_hold(found);
    slri_mutex_unlock(&route_lock);
    return found;
}

void slri_routes_source_ended(slr_ring *ring)
{
    slri_passages_end(ring);
    for (slr_ring *to; (to = next_to_close(ring)) != NULL;) {
        slr_ring_close_input(to); // refused where another thread was first: then it is no longer active
        slri_ring_release(to);
    }
}

static void drop(struct slri_route *route)
{
    while (route) {
        struct slri_route *next = route->next_out;
        free_route(route);
        route = next;
    }
}

void slri_routes_drop(slr_ring *ring)
{
    slri_mutex_lock(&routing);
    slri_mutex_lock(&route_lock);
    struct slri_route *out = ring->routes.out, *leaving = ring->routes.leaving;
    ring->routes.out = ring->routes.leaving = NULL;
    for (struct slri_route *r = out; r; r = r->next_out)
        retire(r);
    for (struct slri_route *r = leaving; r; r = r->next_out)
        retire(r);
    slri_mutex_unlock(&route_lock);
    drop(out);
    drop(leaving);
    for (uint32_t s = 0; ring->shard && s < ring->shards; ++s) {
        slri_outlets_free(ring, ring->shard[s].route.next_outlets);
        ring->shard[s].route.outlets = ring->shard[s].route.next_outlets = NULL;
        slri_passages_free(ring, ring->shard[s].route.next_passages);
        ring->shard[s].route.passages = ring->shard[s].route.next_passages = NULL;
    }
    slri_mutex_unlock(&routing);
}

// ---- counts --------------------------------------------------------------------------------------------------------

static void count_out(const struct slri_route *route, slr_ring_stats *out)
{
    for (; route; route = route->next_out)
        for (uint32_t s = 0; s < route->from->shards; ++s) {
            out->routed += __atomic_load_n(&route->outlet[s].routed, __ATOMIC_RELAXED);
            out->unrouted += __atomic_load_n(&route->outlet[s].unrouted, __ATOMIC_RELAXED);
        }
}

static uint32_t turns_in(const slr_ring *ring)
{
    uint32_t turns = 0;
    for (const struct slri_route *r = ring->routes.in; r; r = r->next_in)
        for (uint32_t s = 0; s < r->from->shards; ++s)
            turns += __atomic_load_n(&r->outlet[s].turn, __ATOMIC_RELAXED);
    return turns;
}

// What is held of each outlet's credits, noted there, or (again) the larger of that and what it is now.
static uint32_t held_in(const slr_ring *ring, bool again)
{
    uint32_t sum = 0;
    for (const struct slri_route *r = ring->routes.in; r; r = r->next_in)
        for (uint32_t s = 0; s < r->from->shards; ++s) {
            struct slri_outlet *outlet = &r->outlet[s];
            uint32_t held = __atomic_load_n(&outlet->held, __ATOMIC_ACQUIRE); // what is gone has been given back
            if (!again || held > outlet->held_before)
                outlet->held_before = held;
            sum += outlet->held_before;
        }
    return sum;
}

// What is held is read on both sides of what was accepted, in one turn of each owner. A claim raises what is held
// first, a return lowers it last, and the accesses between acquire: so of each outlet the larger reading has all that
// `accepted` has.
bool slri_routes_accepted(const slr_ring *ring, uint32_t *accepted, uint32_t *held)
{
    const uint32_t *S = ring->S;
    uint32_t turns = turns_in(ring);
    (void)held_in(ring, false);
    *accepted = MB_ACQUIRE(MB_ACCEPTED);
    *held = held_in(ring, true);
    return turns == turns_in(ring);
}

void slri_routes_count(slr_ring *ring, slr_ring_stats *out)
{
    out->routed = ring->routes.routed;
    out->unrouted = ring->routes.unrouted;
    count_out(ring->routes.out, out);
    count_out(ring->routes.leaving, out);
    for (uint32_t s = 0; ring->shard && s < ring->shards; ++s)
        out->unrouted += __atomic_load_n(&ring->shard[s].route.unsent, __ATOMIC_RELAXED);
}

// SPDX-License-Identifier: Apache-2.0
// Credits that a route from a persistent ring kernel has of its destination, as long as it lasts: claimed by the host,
// counted by the kernel (abi/passage.h), and given up at rest. Of a route that goes, the credits of messages that its
// destination has not retired stay claimed (kept): the host gives them back as they are retired.
#include "abi/passage.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "ring/route_device.h"

#define EXTEND_EVERY (1u << 24) // as send.c
#define GRANT_MOST 32u          // messages handled, a shard of the source, that a grant is enough for: a batch

// ---- checks --------------------------------------------------------------------------------------------------------

slr_status slri_passages_check(const slr_ring *from)
{
    if (from->mode == SLR_RING_PERSISTENT && slri_ring_is_lost(from))
        return SLRI_FAIL(
            DEVICE_LOST,
            "the device of ring kernel '%s' was lost: call slr_device_reopen and slr_ring_restart before slr_route",
            from->name);
    if (from->mode != SLR_RING_PERSISTENT || from->device->facts.passes_on)
        return SLR_OK;
    return SLRI_FAIL(UNSUPPORTED,
                     "ring kernel '%s' is persistent, and its routes need an owner on the host: set slr_ring_desc.mode "
                     "to SLR_RING_RELAUNCHED",
                     from->name);
}

slr_status slri_passages_check_pair(slr_ring *from, slr_ring *to)
{
    if (from->mode != SLR_RING_PERSISTENT)
        return SLR_OK;
    if (to->mode != SLR_RING_PERSISTENT)
        return SLRI_FAIL(UNSUPPORTED,
                         "ring kernel '%s' is persistent and '%s' is not, so the device cannot send without the host: "
                         "set slr_ring_desc.mode of '%s' to SLR_RING_RELAUNCHED",
                         from->name, to->name, from->name);
    if (to->stamped && !from->stamped)
        return SLRI_FAIL(UNSUPPORTED,
                         "ring kernel '%s' has time_stamps and '%s' has not: a persistent source forwards the time of "
                         "its own messages; set slr_ring_desc.time_stamps of '%s'",
                         to->name, from->name, from->name);
    slri_routes_lock();
    bool circle = slri_route_leads(to, from);
    slri_routes_unlock();
    if (circle)
        return SLRI_FAIL(UNSUPPORTED,
                         "a route from '%s' to '%s' closes a cycle of persistent ring kernels, whose deadlock could "
                         "not be detected: set slr_ring_desc.mode to SLR_RING_RELAUNCHED",
                         from->name, to->name);
    return SLR_OK;
}

// ---- grants --------------------------------------------------------------------------------------------------------

// Acquire: a count that is seen retired has been seen sent.
uint32_t slri_grants_sent(const slr_ring *ring)
{
    const uint32_t *S = ring->S;
    uint32_t sent = MB_LOAD(MB_GRANTS_SENT);
    for (const struct slri_passage *p = ring->grants.in; p; p = p->next_in)
        sent += __atomic_load_n(&p->words[MBO_TOLD_SENT], __ATOMIC_ACQUIRE) - p->first;
    return sent;
}

uint32_t slri_grants_accepted(const slr_ring *ring)
{
    return slri_grants_sent(ring) - ring->grants.credits - ring->grants.kept;
}

uint32_t slri_grants_open(slr_ring *ring)
{
    slri_mutex_lock(&ring->count_lock);
    const uint32_t *S = ring->S;
    uint32_t retired = mb_granted_retired(S);
    uint32_t open = slri_grants_sent(ring) - retired;
    slri_mutex_unlock(&ring->count_lock);
    return open;
}

// How many credits each shard of the source gets: for a batch of it, or its part of half of what is left. Credits that
// are kept for routes that have gone come back: claim() waits for them.
static slr_status size_grant(const struct slri_route *route, uint32_t *out)
{
    slr_ring *from = route->from, *to = route->to;
    slri_mutex_lock(&to->count_lock);
    uint32_t given = to->grants.credits;
    slri_mutex_unlock(&to->count_lock);
    uint32_t each = route->each, left = to->queue_size > given ? to->queue_size - given : 0;
    uint32_t part = left / (2 * from->shards) / each;
    uint64_t grant = (uint64_t)(part < 1 ? 1 : part > GRANT_MOST ? GRANT_MOST : part) * each;
    *out = (uint32_t)grant;
    if (grant * from->shards <= left)
        return SLR_OK;
    return SLRI_FAIL(INVALID,
                     "a route from '%s' reserves %u messages of '%s' for each of its %u shards, and others have "
                     "reserved %u of %u: raise queue_size of '%s' to %llu",
                     from->name, (unsigned)grant, to->name, from->shards, given, to->queue_size, to->name,
                     (unsigned long long)(given + grant * from->shards));
}

// Claims them, as room comes.
static slr_status claim_grant(slr_ring *to, struct slri_passage *p, uint32_t want, uint64_t deadline_ns)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    while (p->grant < want) {
        slri_mutex_lock(&to->count_lock);
        uint32_t place, got = mb_claim_place(to->S, want - p->grant, &place);
        p->grant += got;
        to->grants.credits += got;
        slri_mutex_unlock(&to->count_lock);
        if (got == 0 && place & MB_CLOSED)
            SLRI_TRY(slri_route_refused(to, slri_refuse_closed(to)));
        if (p->grant == want)
            return SLR_OK;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return SLRI_FAIL(TIMEOUT, "ring kernel '%s' had no free messages for a route within %llu s", to->name,
                             (unsigned long long)(slri_ring_patience_ns(to) / 1000000000u));
        if (wait == SLRI_PARK)
            slri_sleep_ns(50000);
    }
    return SLR_OK;
}

// Who waits for credits, or for the last message of one that is closed.
static void tell_freed(slr_ring *to)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the credits, before the looks at who waits for them
    __atomic_fetch_add(&to->credit_event, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&to->credit_event, UINT32_MAX);
    for (uint32_t s = 0; s < to->shards; ++s)
        slri_ring_wake_shard(&to->shard[s]);
}

// ---- credits of routes that have gone ------------------------------------------------------------------------------

// Whether nobody can say yet how many messages lie in a lane: it was in the memory of a device that is lost, and its
// owner has not counted them (slri_near_lose).
static bool is_unknown(const slr_ring *to, const struct slri_lane *lane)
{
    return lane->is_near && slri_ring_is_lost(to);
}

// Of the messages that the ports of a lane have sent, those that are not retired. Under count_lock. A lost source may
// have told of fewer than its destination has counted: then none.
static uint32_t count_open(const slr_ring *to, const struct slri_lane *lane)
{
    uint64_t number = (uint64_t)((const unsigned char *)lane - to->lanes) / to->lane_stride;
    uint32_t open = lane->granted - slri_lane_retired(to, (uint32_t)number);
    return (int32_t)open > 0 ? open : 0;
}

// Under count_lock, when what was sent is final. Gives how many of `grant` credits stay claimed: one for each message
// that is not retired. All of them where that is not known.
static uint32_t keep_grant(slr_ring *to, struct slri_lane *lane, uint32_t grant)
{
    uint32_t open = is_unknown(to, lane) ? grant : count_open(to, lane);
    lane->kept = open < grant ? open : grant;
    to->grants.kept += lane->kept;
    return lane->kept;
}

// Gives back what is kept above `open`. Under count_lock.
static void release_grant(slr_ring *to, struct slri_lane *lane, uint32_t open)
{
    if (lane->kept <= open)
        return;
    mb_give_back(to->S, lane->kept - open);
    to->grants.kept -= lane->kept - open;
    lane->kept = open;
}

void slri_grants_settle(slr_ring *to)
{
    slri_mutex_lock(&to->count_lock);
    for (uint32_t i = 0; to->grants.kept != 0 && i < slri_ports_opened(to); ++i)
        if (slri_lane_at(to, i)->kept != 0 && !is_unknown(to, slri_lane_at(to, i)))
            release_grant(to, slri_lane_at(to, i), count_open(to, slri_lane_at(to, i)));
    slri_mutex_unlock(&to->count_lock);
}

void slri_grants_forget(slr_ring *to)
{
    slri_mutex_lock(&to->count_lock);
    for (uint32_t i = 0; to->grants.kept != 0 && i < slri_ports_opened(to); ++i)
        release_grant(to, slri_lane_at(to, i), 0);
    slri_mutex_unlock(&to->count_lock);
}

// ---- giving up -----------------------------------------------------------------------------------------------------

void slri_passage_detach(struct slri_passage *p)
{
    slr_ring *to = p->to;
    uint32_t *O = p->words, *S = to->S;
    if (!p->lanes)
        return;
    slri_mutex_lock(&to->count_lock);
    bool mine = p->attached;
    p->attached = false;
    slri_mutex_unlock(&to->count_lock);
    if (!mine)
        return;
    O[MBO_OPEN] = 0;
    mbo_publish(O, O, p->lanes); // where its owner was lost in the middle
    for (uint32_t t = 0; t < to->shards; ++t)
        p->c->lane->cursor[t].sent = O[MBO_CURSOR(t) + MBO_NEXT]; // the lane's next port goes on from here
    slri_mutex_lock(&to->count_lock);
    struct slri_passage **at = &to->grants.in;
    while (*at != p)
        at = &(*at)->next_in;
    *at = p->next_in;
    p->c->lane->granted = O[MBO_SENT];
    __atomic_fetch_add(&S[MB_GRANTS_SENT], O[MBO_SENT] - p->first, __ATOMIC_RELAXED); // a count alone
    mb_give_back(S, p->grant - keep_grant(to, p->c->lane, p->grant));
    to->grants.credits -= p->grant;
    slri_mutex_unlock(&to->count_lock);
    tell_freed(to);
}

static void run_detach(struct slri_operation *op, struct slri_shard *shard)
{
    (void)shard;
    slri_passage_detach(op->to);
}

// Under route_lock.
static void detach_later(struct slri_route *route)
{
    for (uint32_t s = 0; route->passage && s < route->from->shards; ++s) {
        struct slri_passage *p = &route->passage[s];
        if (p->leaving)
            continue;
        p->leaving = true;
        p->detach = (struct slri_operation){.run = run_detach, .instance = s, .at_rest = true, .to = p};
        slri_ring_operate_later(route->from, &p->detach);
    }
}

void slri_grants_recall(slr_ring *to)
{
    slri_routes_lock();
    for (struct slri_route *r = to->routes.in; r; r = r->next_in)
        detach_later(r);
    slri_routes_unlock();
}

void slri_grants_listed(slr_ring *from, slr_ring *to)
{
    slri_mutex_lock(&to->lock);
    bool ends = to->terminating || slr_ring_get_state(to) & (SLR_RING_DRAINING | SLR_RING_TERMINATED);
    slri_mutex_unlock(&to->lock);
    if (ends)
        slri_grants_recall(to);
    if (__atomic_load_n(&from->over, __ATOMIC_ACQUIRE))
        slri_passages_end(from);
}

void slri_passages_end(slr_ring *from)
{
    slri_routes_lock();
    for (struct slri_route *r = from->routes.out; r; r = r->next_out)
        detach_later(r);
    for (struct slri_route *r = from->routes.leaving; r; r = r->next_out)
        detach_later(r);
    slri_routes_unlock();
}

bool slri_grants_await(slr_ring *to, uint64_t deadline_ns)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    for (;;) {
        slri_mutex_lock(&to->count_lock);
        bool none = to->grants.credits == 0;
        slri_mutex_unlock(&to->count_lock);
        if (none)
            return true;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return false;
        if (wait == SLRI_PARK)
            slri_sleep_ns(50000);
    }
}

// ---- making and freeing passages -----------------------------------------------------------------------------------

static uint64_t words_bytes(const slr_ring *to)
{
    return slri_passage_round_up(MBO_WORDS(to->shards), MB_LINE) * 4;
}

// To a port: its lane is in `from` itself.
static void write_port(struct slri_passage *p, const struct slri_route *route)
{
    p->words[MBO_PORT] = p->c->port + 1;
    p->words[MBO_SINCE] = route->since;
    p->words[MBO_MESSAGE_WORDS] = (route->from->reply_bytes + 3) / 4;
}

static void write_lanes(struct slri_passage *p, const struct slri_route *route, uint32_t grant)
{
    const slr_ring *to = route->to;
    uint32_t *O = p->words, *S = to->S, port = p->c->port;
    p->lanes = &S[mb_lane(S, 0, port)];
    p->retired = &S[mb_reply_lane(S, 0, port) + MB_PORT_RETIRED];
    O[MBO_GRANT] = grant;
    O[MBO_MOST] = grant / route->each < MB_BATCH ? grant / route->each : MB_BATCH;
    O[MBO_PARAMETER] = route->parameter;
    O[MBO_INSTANCE_AT] = p->outlet->instance_at;
    O[MBO_INSTANCES] = to->instances;
    O[MBO_SHARDS] = to->shards;
    O[MBO_SLOT_WORDS] = S[MB_SLOT_WORDS];
    O[MBO_LANE_MASK] = S[MB_LANE_MASK];
    O[MBO_MESSAGE_WORDS] = (to->message_bytes + 3) / 4;
    O[MBO_STAMPED] = to->stamped;
    O[MBO_LANES_STRIDE] = S[MB_LANES_STRIDE];
    O[MBO_RETIRED_STRIDE] = S[MB_REPLIES_STRIDE];
    // The lane's ports before have sent so many, and all are done with: it was empty when it was taken.
    p->first = p->seen = mbo_retired(O, p->retired);
    O[MBO_SENT] = O[MBO_SEEN] = O[MBO_TOLD_SENT] = p->first;
    for (uint32_t t = 0; t < to->shards; ++t)
        O[MBO_CURSOR(t) + MBO_NEXT] = p->c->lane->cursor[t].sent;
}

static void enter(struct slri_passage *p)
{
    slri_mutex_lock(&p->from->count_lock);
    p->next_out = p->from->grants.out;
    p->from->grants.out = p;
    slri_mutex_unlock(&p->from->count_lock);
    if (!p->lanes)
        return;
    slri_mutex_lock(&p->to->count_lock);
    p->attached = true;
    p->next_in = p->to->grants.in;
    p->to->grants.in = p;
    slri_mutex_unlock(&p->to->count_lock);
}

static void leave(struct slri_passage *p)
{
    slri_mutex_lock(&p->from->count_lock);
    struct slri_passage **at = &p->from->grants.out;
    while (*at && *at != p)
        at = &(*at)->next_out;
    if (*at)
        *at = p->next_out;
    slri_mutex_unlock(&p->from->count_lock);
}

void slri_passages_destroy(struct slri_route *route)
{
    slr_ring *from = route->from;
    uint64_t bytes = words_bytes(route->to);
    if (!route->passage)
        return;
    for (uint32_t s = 0; s < from->shards; ++s) {
        struct slri_passage *p = &route->passage[s];
        if (p->attached)
            slri_passage_detach(p);                   // nobody has worked with it
        else if (p->lanes == NULL && p->grant != 0) { // claimed, and not attached
            slri_mutex_lock(&route->to->count_lock);
            mb_give_back(route->to->S, p->grant);
            route->to->grants.credits -= p->grant;
            slri_mutex_unlock(&route->to->count_lock);
            tell_freed(route->to);
        }
        leave(p);
    }
    slri_near_words_destroy(route->passage);
    slri_passage_memory_destroy(from, route->passage[0].words, bytes * from->shards);
    slri_free(from->device->allocator, route->passage, from->shards * sizeof *route->passage);
    route->passage = NULL;
}

static slr_status attach(struct slri_route *route, uint64_t deadline_ns)
{
    uint32_t grant;
    SLRI_TRY(size_grant(route, &grant));
    for (uint32_t s = 0; s < route->from->shards; ++s)
        SLRI_TRY(claim_grant(route->to, &route->passage[s], grant, deadline_ns));
    uint64_t address;
    for (uint32_t s = 0; s < route->from->shards; ++s)
        SLRI_TRY(slri_near_take(route->to, route->passage[s].c->port, &address));
    for (uint32_t s = 0; s < route->from->shards; ++s)
        write_lanes(&route->passage[s], route, grant);
    return SLR_OK;
}

slr_status slri_passages_create(struct slri_route *route, uint64_t deadline_ns)
{
    slr_ring *from = route->from;
    uint64_t bytes = words_bytes(route->to);
    void *words;
    if (from->mode != SLR_RING_PERSISTENT)
        return SLR_OK;
    SLRI_TRY(slri_passage_memory_create(from, bytes * from->shards, &words));
    route->passage = slri_alloc(from->device->allocator, from->shards * sizeof *route->passage);
    if (!route->passage) {
        slri_passage_memory_destroy(from, words, bytes * from->shards);
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a route", from->name);
    }
    for (uint32_t s = 0; s < from->shards; ++s) {
        struct slri_passage *p = &route->passage[s];
        *p = (struct slri_passage){.from = from,
                                   .to = route->to,
                                   .outlet = &route->outlet[s],
                                   .c = &route->connection[s],
                                   .words = (uint32_t *)(void *)((unsigned char *)words + bytes * s)};
        p->words[MBO_EACH] = route->each;
        p->words[MBO_OPEN] = 1;
        if (route->to_port)
            write_port(p, route);
    }
    SLRI_TRY(slri_near_words_create(route->passage, from->shards, bytes));
    if (!route->to_port)
        SLRI_TRY(attach(route, deadline_ns));
    for (uint32_t s = 0; s < from->shards; ++s)
        enter(&route->passage[s]);
    return SLR_OK;
}

void slri_grants_told(slr_ring *ring)
{
    slri_grants_settle(ring);
    uint32_t retired = mb_granted_retired(ring->S);
    if (retired - __atomic_load_n(&ring->grants.extended_at, __ATOMIC_RELAXED) <= EXTEND_EVERY)
        return;
    __atomic_store_n(&ring->grants.extended_at, retired, __ATOMIC_RELAXED);
    slri_ring_extend(ring);
}

// SPDX-License-Identifier: Apache-2.0
// The owner's side of routes: reserves room at the destinations, lets handlers write their replies there, publishes
// them. No lock, no system call, but to wake who sleeps.
//
// Before a batch is taken credits are claimed at every destination, for as many messages as show, times what each may
// cause there (max_replies, or max_sends);
// all or nothing, so a shard that waits for one mailbox keeps nothing of another. What the handlers did not use is
// given back.
#include "base/clock.h"
#include "base/futex.h"
#include "ring/ring.h"

#include <string.h>

#define LOOK_EVERY 1024u // passes of a blocked shard that does not get to sleep, between looks for a deadlock

// Release: who finds credits gone from `held` has seen them given back (route.c). deadlock.c has fences of its own.
static void set_held(struct slri_outlet *outlet, uint32_t value)
{
    __atomic_store_n(&outlet->held, value, __ATOMIC_RELEASE);
}

// Before credits of a destination are claimed or given back. Relaxed: both are releases, or have a fence before them,
// so who sees their effect on what was accepted sees the new turn.
static void next_turn(struct slri_outlet *outlet)
{
    __atomic_store_n(&outlet->turn, outlet->turn + 1, __ATOMIC_RELAXED);
}

static slr_ring *target(const struct slri_outlet *outlet)
{
    return outlet->c->ring;
}

// ---- reserving -----------------------------------------------------------------------------------------------------

// How many messages, at most a batch, the shard could take but for its routes.
static uint32_t shown(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own, n = P[MBP_BATCH_COUNT]; // left of a batch, behind a fault
    if (P[MBP_STATE] != MB_RUNNING || P[MBP_MOST] == 0)
        return 0;
    P[MBP_ROOM] = 0; // what the routes allow is not known yet
    for (uint32_t port = mb_next_port(S, P, 0); port < MB_MAX_PORTS && n < P[MBP_MOST];
         port = mb_next_port(S, P, port + 1)) {
        uint32_t q = mb_port(P, port);
        uint32_t run = mb_full_run(S, mb_lane_of(S, P, port), P[q + MBQ_NEXT_IN]) + P[q + MBQ_WAITING];
        n += run != 0 && mb_has_room(S, P, port, q) ? run : 0;
    }
    uint32_t most = S[MB_KEEP] != 0 ? 1 : P[MBP_MOST]; // where owners evict they take one at a time
    return n < most ? n : most;
}

// Whether the port behind an outlet has been closed. Looked at behind every mb_begin and before the next: its lane does
// not become another port's in between.
static bool is_gone(const struct slri_shard *shard, struct slri_outlet *outlet)
{
    uint32_t port = outlet->c->port;
    const uint32_t *P = shard->own;
    if ((int32_t)(P[MBP_EPOCH] - outlet->since) >= 0 && mb_is_gone(P, port))
        outlet->gone = true;
    return outlet->gone;
}

// Room for the replies to up to `want` messages in the lane of a port that collects them.
static uint32_t reserve_replies(struct slri_shard *shard, struct slri_outlet *outlet, uint32_t want)
{
    uint32_t *S = shard->shared, *P = shard->own;
    uint32_t port = outlet->c->port, q = mb_port(P, port), each = outlet->each;
    outlet->open = !is_gone(shard, outlet);
    if (!outlet->open)
        return want;
    uint32_t slots = S[MB_REPLY_MASK] + 1;
    uint32_t end = P[q + MBQ_REPLIES] + P[q + MBQ_RESERVED];
    if (end + want * each - P[q + MBQ_READ_SEEN] > slots) // acquire: the port has finished with those slots
        P[q + MBQ_READ_SEEN] = MB_ACQUIRE(mb_lane_of(S, P, port) + MB_REPLY_READ);
    uint32_t room = (slots - (end - P[q + MBQ_READ_SEEN])) / each;
    room = room < want ? room : want;
    P[q + MBQ_RESERVED] += room * each;
    set_held(outlet, room * each);
    return room;
}

// Keeps `credits` of those that an outlet holds.
static void trim(struct slri_shard *shard, struct slri_outlet *outlet, uint32_t credits)
{
    if (outlet->held <= credits)
        return;
    uint32_t excess = outlet->held - credits;
    if (outlet->to_port) {
        shard->own[mb_port(shard->own, outlet->c->port) + MBQ_RESERVED] -= excess;
    } else {
        next_turn(outlet);
        mb_give_back(target(outlet)->S, excess);
        outlet->freed = 1;
    }
    set_held(outlet, credits);
}

// Whether a ring kernel takes no more messages, for good: a failed one may be restarted, and is waited for. The closed
// bit comes a moment before the state.
static bool has_ended(const slr_ring *ring)
{
    const uint32_t *S = ring->S;
    return MB_LOAD(MB_ACCEPTED) & MB_CLOSED && slr_ring_get_state(ring) & (SLR_RING_DRAINING | SLR_RING_TERMINATED);
}

// Credits for the replies to up to `want` messages. A destination that takes no more messages does not hold up the
// others.
static uint32_t reserve_messages(struct slri_shard *shard, struct slri_outlet *outlet, uint32_t want)
{
    uint32_t each = outlet->each;
    uint32_t *S = target(outlet)->S;
    next_turn(outlet);
    set_held(outlet, want * each);
    __atomic_thread_fence(__ATOMIC_RELEASE); // who sees the claim knows that it may not be messages yet (deadlock.c)
    uint32_t credits = mb_claim_place(S, want * each, &outlet->place);
    set_held(outlet, credits);
    outlet->open = credits != 0 || !has_ended(target(outlet));
    if (!outlet->open)
        return want;
    trim(shard, outlet, credits / each * each);
    return credits / each;
}

// Whether an outlet's mailbox has no room for a single message's replies. A look: nothing is claimed, to be given back
// again.
static bool is_channel_full(const struct slri_outlet *outlet)
{
    const uint32_t *S = target(outlet)->S;
    uint32_t accepted = MB_LOAD(MB_ACCEPTED), capacity = S[MB_CAPACITY], each = outlet->each;
    if (outlet->to_port || accepted & MB_CLOSED)
        return false;
    uint32_t used = (accepted - MB_LOAD(MB_RETIRED_SEEN)) & MB_COUNT;
    if (used + each <= capacity)
        return false;
    used = (accepted - mb_retired(S)) & MB_COUNT;
    return used <= capacity && used + each > capacity; // more: `accepted` is the older of the two
}

void slri_credits_freed(slr_ring *to)
{
    if (__atomic_load_n(&to->credit_waiters, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&to->credit_event, 1, __ATOMIC_RELEASE);
        slri_futex_wake(&to->credit_event, UINT32_MAX);
    }
    if (__atomic_load_n(&to->route_waiters, __ATOMIC_RELAXED))
        slri_routes_wake(to);
    const uint32_t *S = to->S;
    for (uint32_t s = 0; MB_LOAD(MB_ACCEPTED) & MB_CLOSED && s < to->shards; ++s)
        slri_rouse(to, s); // what it waited for may have been these
}

// Behind a full fence.
static void tell_relay_freed(struct slri_outlet *outlet)
{
    outlet->freed = 0;
    slri_credits_freed(target(outlet));
}

// Keeps what `messages` may need, at every destination.
static void keep_for(struct slri_shard *shard, uint32_t messages)
{
    struct slri_outlets *o = shard->route.outlets;
    bool freed = false;
    for (uint32_t i = 0; i < o->count; ++i) {
        trim(shard, o->outlet[i], messages * o->outlet[i]->each);
        freed = freed || o->outlet[i]->freed;
    }
    if (!freed)
        return;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the credits, before the looks at who waits for them
    for (uint32_t i = 0; i < o->count; ++i)
        if (o->outlet[i]->freed)
            tell_relay_freed(o->outlet[i]);
}

// Reserves for as many messages as possible; gives how many. 0: `full` gets the outlet that had no room, or NULL where
// no message shows.
static uint32_t reserve_room(struct slri_shard *shard, struct slri_outlet **full)
{
    struct slri_outlets *o = shard->route.outlets;
    uint32_t room = shown(shard);
    bool several = o->count > 1 || (o->count == 1 && o->outlet[0]->each > 1); // then a claim may be in vain
    *full = NULL;
    for (uint32_t i = 0; i < o->count && room != 0 && several; ++i) {
        if (!is_channel_full(o->outlet[i]))
            continue;
        *full = o->outlet[i];
        return 0;
    }
    for (uint32_t i = 0; i < o->count && room != 0; ++i) {
        struct slri_outlet *outlet = o->outlet[i];
        room = outlet->to_port ? reserve_replies(shard, outlet, room) : reserve_messages(shard, outlet, room);
        if (room == 0)
            *full = outlet;
    }
    keep_for(shard, room);
    return room;
}

// Takes up a change of routes.
static void take_up(struct slri_shard *shard)
{
    struct slri_outlets *next = __atomic_load_n(&shard->route.next_outlets, __ATOMIC_ACQUIRE); // the table itself
    if (next == shard->route.outlets)
        return;
    shard->own[MBP_SILENT] = next && !next->reply_too;
    shard->own[MBP_ROOM] = 0;
    __atomic_store_n(&shard->route.outlets, next, __ATOMIC_RELEASE); // the owner has finished with the table before
}

static void begin(struct slri_shard *shard)
{
    take_up(shard);
    struct slri_outlets *o = shard->route.outlets;
    if (!o)
        return;
    struct slri_outlet *full;
    uint32_t room = reserve_room(shard, &full);
    shard->own[MBP_ROOM] = room + 1;
    o->blocked_passes = full && !full->to_port ? o->blocked_passes + 1 : 0;
    if (o->blocked_passes % LOOK_EVERY == LOOK_EVERY - 1) // draining, or on a busy worker, it never sleeps
        slri_deadlock_look(shard->ring);
}

static uint32_t taken(struct slri_shard *shard)
{
    uint32_t batch = shard->own[MBP_STATE] == MB_RUNNING ? shard->own[MBP_BATCH_COUNT] : 0;
    uint32_t room = shard->own[MBP_ROOM] - 1;
    batch = batch < room ? batch : room;
    // Release and, in deadlock.c, acquire: who finds a shard at rest finds its batch retired.
    __atomic_store_n(&shard->route.busy, batch, __ATOMIC_RELEASE);
    keep_for(shard, batch);
    for (uint32_t i = 0; i < shard->route.outlets->count; ++i) {
        struct slri_outlet *outlet = shard->route.outlets->outlet[i];
        if (!outlet->to_port || !is_gone(shard, outlet))
            continue;
        trim(shard, outlet, 0);
        outlet->open = false;
    }
    return batch;
}

// Announces at each destination without room that this shard is about to sleep, and looks again behind it; the
// destination retires, full fence, looks at the announcement (slri_ring_published).
static bool may_sleep_routed(struct slri_shard *shard)
{
    if (__atomic_load_n(&shard->route.next_outlets, __ATOMIC_ACQUIRE) != shard->route.outlets)
        return false;
    if (!shard->route.outlets)
        return true;
    struct slri_outlet *announced = NULL, *full;
    for (;;) {
        uint32_t room = reserve_room(shard, &full);
        keep_for(shard, 0);
        shard->own[MBP_ROOM] = 1; // nothing is taken before the next pass
        if (room != 0)
            return false;
        if (!full || full == announced || full->to_port)
            break;
        __atomic_store_n(&target(full)->route_waiters, 1, __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        announced = full;
    }
    if (full && !full->to_port)
        slri_deadlock_look(shard->ring);
    return true;
}

// ---- passing on ----------------------------------------------------------------------------------------------------

static uint32_t shard_of_relay(const slr_ring *ring, uint32_t instance)
{
    return ring->shards == 1 ? 0 : instance % ring->shards;
}

// The instance that a reply is for.
static uint32_t instance_of(const struct slri_outlet *outlet, const struct slri_call *call, const void *reply)
{
    uint32_t instance = target(outlet)->instances == 1 ? 0 : call->instance;
    if (outlet->instance_at)
        memcpy(&instance, (const char *)reply + outlet->instance_at - 1, sizeof instance);
    return instance;
}

static void aim_at(struct slri_call *call, uint32_t *slots, uint32_t at, uint32_t mask, uint32_t slot_words)
{
    call->reply_base = (unsigned char *)(slots + MB_PAYLOAD);
    call->reply_at = at;
    call->reply_mask = mask;
    call->reply_stride = slot_words * 4;
}

// Straight into the slots of the first destination, where it is known before the handler has run; else aside.
static void aim(struct slri_shard *shard, struct slri_call *call)
{
    struct slri_outlets *o = shard->route.outlets;
    struct slri_outlet *first = o->first;
    slri_shard_clear_out(shard);
    call->out = shard->route.out;
    if (o->reply_too)
        return; // into the sender's reply lane, as without routes
    if (first->open && first->to_port) {
        uint32_t *S = shard->shared, *P = shard->own;
        uint32_t lane = mb_reply_lane_of(S, P, first->c->port);
        aim_at(call, &S[mb_reply_slot(S, lane, 0)], P[mb_port(P, first->c->port) + MBQ_REPLIES], S[MB_REPLY_MASK],
               S[MB_REPLY_SLOT_WORDS]);
    } else if (first->open && (!first->instance_at || target(first)->shards == 1)) {
        slr_ring *to = target(first);
        uint32_t *S = to->S;
        uint32_t s = first->instance_at ? 0 : shard_of_relay(to, instance_of(first, call, NULL));
        struct slri_lane_cursor *cursor = &first->c->lane->cursor[s];
        aim_at(call, &S[mb_lane_slot(S, mb_lane(S, s, first->c->port), 0)], cursor->sent + cursor->filled,
               S[MB_LANE_MASK], S[MB_SLOT_WORDS]);
    } else {
        call->reply_base = o->aside;
        call->reply_at = 0;
        call->reply_mask = o->aside_slots - 1;
        call->reply_stride = o->aside_stride;
    }
}

static uint64_t sent_ns(const uint32_t *S, uint32_t at)
{
    uint64_t ns = 0;
    if (S[MB_STAMPED])
        memcpy(&ns, &S[at + S[MB_SLOT_WORDS] - 2], sizeof ns);
    return ns;
}

// One reply to a port that collects them; its header is that of any reply to message k of the batch, but for a flag.
static void give_reply(struct slri_shard *shard, struct slri_outlet *outlet, const void *reply, uint32_t k)
{
    uint32_t *S = shard->shared, *P = shard->own;
    uint32_t q = mb_port(P, outlet->c->port);
    uint32_t slot = mb_reply_slot(S, mb_reply_lane_of(S, P, outlet->c->port), P[q + MBQ_REPLIES]);
    if (reply != &S[slot + MB_PAYLOAD])
        memcpy(&S[slot + MB_PAYLOAD], reply, shard->reply_bytes);
    mb_head_reply(S, P, outlet->c->port, 0, P[MBP_BATCH(k) + 1], mb_collected(P, outlet->c->port, k));
    P[q + MBQ_REPLIES] += 1;
    P[q + MBQ_RESERVED] -= 1;
}

// `instance` SLRI_OWN_INSTANCE: as the route says.
static bool give_relay(struct slri_shard *shard, struct slri_outlet *outlet, const struct slri_call *call,
                       const void *reply, uint32_t instance, uint32_t k)
{
    const uint32_t *S = shard->shared;
    uint32_t at = shard->own[MBP_BATCH(k) + 1];
    if (!outlet->open)
        return false;
    if (outlet->to_port) {
        if (shard->calls.settled)
            slri_slices_pass(shard, k, NULL, outlet->c->port, reply);
        give_reply(shard, outlet, reply, k);
    } else {
        if (instance == SLRI_OWN_INSTANCE)
            instance = instance_of(outlet, call, reply);
        if (instance >= target(outlet)->instances)
            return false;
        if (shard->calls.settled)
            slri_slices_pass(shard, k, target(outlet), 0, reply);
        slri_lane_fill(outlet->c, shard_of_relay(target(outlet), instance), instance, reply, S[at + MB_HEAD] & 255u,
                       S[at + MB_CORRELATION], outlet->place++, sent_ns(S, at));
    }
    ++outlet->used;
    return true;
}

static void add(uint64_t *count, uint64_t n)
{
    __atomic_store_n(count, *count + n, __ATOMIC_RELAXED); // one writer; read for statistics
}

static uint32_t give_replies(struct slri_shard *shard, struct slri_outlet *outlet, const struct slri_call *call,
                             uint32_t k)
{
    uint32_t given = 0;
    for (uint32_t n = 0; n < call->replies; ++n) {
        uint32_t slot = (call->reply_at + n) & call->reply_mask;
        given +=
            give_relay(shard, outlet, call, call->reply_base + (size_t)slot * call->reply_stride, SLRI_OWN_INSTANCE, k);
    }
    return given;
}

static uint32_t give_sent(struct slri_shard *shard, struct slri_outlet *outlet, const struct slri_call *call,
                          uint32_t k)
{
    const struct slri_out *out = &call->out[outlet->parameter - 1];
    uint32_t given = 0, instance;
    for (uint32_t n = 0; n < out->count; ++n) {
        const unsigned char *from = out->base + (size_t)n * out->stride;
        memcpy(&instance, from, sizeof instance);
        given += give_relay(shard, outlet, call, from + SLRI_OUT_HEAD, instance, k);
    }
    return given;
}

// What went through outlets that no route leads from.
static void count_unsent(struct slri_shard *shard)
{
    const struct slri_outlets *o = shard->route.outlets;
    for (uint32_t p = 0; p < shard->outs; ++p) {
        uint32_t i = 0;
        while (i < o->count && o->outlet[i]->parameter != p + 1)
            ++i;
        if (i == o->count && shard->route.out[p].count != 0)
            add(&shard->route.unsent, shard->route.out[p].count);
    }
}

// The destinations in turn, the first last where the replies lie in its slots: an instance that it does not have leaves
// a gap there, and the replies behind it move up.
static void pass_on(struct slri_shard *shard, const struct slri_call *call, uint32_t k)
{
    struct slri_outlets *o = shard->route.outlets;
    for (uint32_t i = o->count; i-- > 0;) {
        struct slri_outlet *outlet = o->outlet[i];
        bool sent = outlet->parameter != 0;
        uint32_t of = sent ? call->out[outlet->parameter - 1].count : call->replies;
        uint32_t given = of == 0 ? 0 : sent ? give_sent(shard, outlet, call, k) : give_replies(shard, outlet, call, k);
        add(&outlet->routed, given);
        if (given != of)
            add(&outlet->unrouted, of - given);
    }
    if (call->out)
        count_unsent(shard);
    if (shard->own[MBP_SILENT] != 0)
        shard->own[MBP_REPLIED] += call->replies;
}

// ---- publishing ----------------------------------------------------------------------------------------------------

static void publish_replies(struct slri_shard *shard, uint32_t port)
{
    uint32_t *S = shard->shared, *P = shard->own;
    uint32_t q = mb_port(P, port), lane = mb_reply_lane_of(S, P, port);
    for (uint32_t position = P[q + MBQ_REPLIES]; position != P[q + MBQ_PUBLISHED];) { // the first last, as mb_finish
        --position;
        mb_publish(S, mb_reply_slot(S, lane, position), position);
    }
    P[q + MBQ_PUBLISHED] = P[q + MBQ_REPLIES];
}

// What was passed on becomes visible before the batch is retired, so a credit that is seen implies it.
static void flush_relay(struct slri_shard *shard)
{
    struct slri_outlets *o = shard->route.outlets;
    for (uint32_t i = 0; i < o->count; ++i) {
        struct slri_outlet *outlet = o->outlet[i];
        if (!outlet->open)
            continue;
        uint32_t unused = outlet->held - outlet->used;
        if (outlet->to_port) {
            publish_replies(shard, outlet->c->port);
            shard->own[mb_port(shard->own, outlet->c->port) + MBQ_RESERVED] -= unused;
        } else {
            for (uint32_t s = 0; s < target(outlet)->shards; ++s)
                slri_lane_publish(outlet->c, s);
            if (unused != 0) {
                next_turn(outlet);
                mb_give_back(target(outlet)->S, unused);
                outlet->freed = 1;
            }
        }
        set_held(outlet, 0);
    }
}

void slri_relay_published(struct slri_shard *shard)
{
    struct slri_outlets *o = shard->route.outlets;
    __atomic_store_n(&shard->route.busy, 0, __ATOMIC_RELEASE); // the batch is retired
    for (uint32_t i = 0; i < o->count; ++i) {
        struct slri_outlet *outlet = o->outlet[i];
        if (outlet->used != 0 && outlet->to_port) {
            slri_lane_tell(outlet->c->lane);
        } else if (outlet->used != 0) {
            slri_lanes_tell(target(outlet));
            slri_count_accepted(target(outlet));
        }
        outlet->used = 0;
        if (outlet->freed)
            tell_relay_freed(outlet);
    }
}

const struct slri_relay slri_relay = {.begin = begin,
                                      .taken = taken,
                                      .aim = aim,
                                      .pass_on = pass_on,
                                      .flush = flush_relay,
                                      .may_sleep = may_sleep_routed};

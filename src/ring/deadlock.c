// SPDX-License-Identifier: Apache-2.0
// Finds ring kernels in a cycle of routes whose mailboxes are all full: none of them can take a message before the next
// has retired one. They are failed, with the cycle's names, so that nobody waits for them for ever.
//
// Nothing is guessed from time. A cycle is a deadlock when every mailbox in it has no room for one message of the one
// before
// (`is_full`), all its credits are messages, none merely reserved, and none of its owners has a batch in hand
// (`at_rest`). Then no owner in it can reserve, and only they retire. The words are read while others write, so each
// mailbox's counts are noted before the rest is looked at, and must stand when all is looked at again behind a fence: a
// batch taken in between would have been retired, or be in hand.
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

// ---- looking, under the lock of routes -----------------------------------------------------------------------------

// What a message of `from` may need in `to`.
static uint32_t each(const slr_ring *from, const slr_ring *to)
{
    const struct slri_route *r = from->routes.out;
    while (r && (r->to_port || r->to != to))
        r = r->next_out;
    return r ? r->each : from->max_replies;
}

// Whether a route is held up: its destination has no room for the replies to one message. A closed one holds nothing
// up.
static bool is_full(const slr_ring *from, const slr_ring *to)
{
    const uint32_t *S = to->S;
    uint32_t accepted = MB_ACQUIRE(MB_ACCEPTED);
    if (accepted & MB_CLOSED || slri_ring_drops(to)) // the owners of one that drops make room themselves
        return false;
    uint32_t used = (accepted - mb_retired(S)) & MB_COUNT;
    return used <= S[MB_CAPACITY] && used + each(from, to) > S[MB_CAPACITY];
}

static void forget_deadlock(slr_ring *first)
{
    while (first) {
        slr_ring *next = first->routes.search.next;
        first->routes.search = (struct slri_found_route){0};
        first = next;
    }
}

// Searches along full mailboxes, breadth first, for a way back. `before` of each that was seen is where it was reached
// from; `next` chains them all.
static bool find_cycle(slr_ring *start)
{
    slr_ring *last = start;
    start->routes.search.seen = true;
    for (slr_ring *at = start; at; at = at->routes.search.next)
        for (const struct slri_route *r = at->routes.out; r; r = r->next_out) {
            struct slri_found_route *to = &r->to->routes.search;
            if (r->to_port || !is_full(at, r->to) || (to->seen && r->to != start))
                continue;
            to->before = at;
            if (r->to == start)
                return true;
            to->seen = true;
            last->routes.search.next = r->to;
            last = r->to;
        }
    return false;
}

// One that was only launched is looked at when it is activated.
static bool at_rest(const slr_ring *ring)
{
    if (!(slr_ring_get_state(ring) & (SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_DRAINING)))
        return false;
    for (uint32_t s = 0; s < ring->shards; ++s)
        if (__atomic_load_n(&ring->shard[s].route.busy, __ATOMIC_ACQUIRE) != 0)
            return false;
    for (const struct slri_route *r = ring->routes.in; r; r = r->next_in)
        for (uint32_t s = 0; s < r->from->shards; ++s)
            if (__atomic_load_n(&r->outlet[s].held, __ATOMIC_RELAXED) != 0) // behind the acquires in `note`
                return false;
    return true;
}

// Notes the counts of every mailbox in the cycle. False: they are not those noted before.
static bool note_deadlock(slr_ring *start)
{
    bool same = true;
    slr_ring *ring = start;
    do {
        const uint32_t *S = ring->S;
        struct slri_found_route *search = &ring->routes.search;
        uint32_t accepted = MB_ACQUIRE(MB_ACCEPTED), retired = mb_retired(S);
        same = same && search->accepted == accepted && search->retired == retired;
        search->accepted = accepted;
        search->retired = retired;
        ring = search->before;
    } while (ring != start);
    return same;
}

static bool all_at_rest(const slr_ring *start)
{
    const slr_ring *ring = start;
    do {
        const slr_ring *before = ring->routes.search.before;
        if (!at_rest(ring) || !is_full(before, ring))
            return false;
        ring = before;
    } while (ring != start);
    return true;
}

static bool is_deadlock(slr_ring *start)
{
    note_deadlock(start);
    if (!all_at_rest(start))
        return false;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return all_at_rest(start) && note_deadlock(start);
}

// ---- telling -------------------------------------------------------------------------------------------------------

// "a -> b -> a", as messages go. `before` leads the other way, so it is written from its end; of a long cycle the first
// and the last are named.
static void name_cycle(const slr_ring *start, char *out, size_t room)
{
    char names[112], *at = names + sizeof names;
    const slr_ring *ring = start;
    const char *arrow = "";
    bool first = true;
    for (; first || ring != start; ring = ring->routes.search.before, arrow = " -> ", first = false) {
        size_t name = strlen(ring->name), bytes = name + strlen(arrow);
        if ((size_t)(at - names) < bytes)
            break;
        at -= bytes;
        memcpy(at, ring->name, name);
        memcpy(at + name, arrow, bytes - name);
    }
    snprintf(out, room, "deadlock: %s%s%.*s: each waits for credit of the next", start->name,
             ring == start ? " -> " : " -> ... -> ", (int)(names + sizeof names - at), at);
}

// Under the lock of routes, which waking other sources would take: they go on waiting all the same.
static void fail_all(slr_ring *start)
{
    char text[192];
    name_cycle(start, text, sizeof text);
    slr_ring *ring = start;
    do {
        if (slri_ring_fail_untold(ring, text)) // not one that is being terminated: that has a deadline of its own
            slri_ring_wake_host(ring);
        ring = ring->routes.search.before;
    } while (ring != start);
}

static void forget_reached(slr_ring *first)
{
    for (slr_ring *at = first, *next; at; at = next) {
        next = at->routes.next_reached;
        at->routes.next_reached = NULL;
        at->routes.reached = false;
    }
}

static void look_from(slr_ring *start)
{
    if (find_cycle(start) && is_deadlock(start))
        fail_all(start);
    forget_deadlock(start);
}

// Also for cycles that `ring` only feeds: it may have kept its last look for room in one from being at rest, when the
// ring kernels in that one looked.
void slri_deadlock_look(slr_ring *ring)
{
    slri_routes_lock();
    slr_ring *last = ring;
    ring->routes.reached = true;
    for (slr_ring *at = ring; at; at = at->routes.next_reached) {
        look_from(at);
        for (const struct slri_route *r = at->routes.out; r; r = r->next_out) {
            if (r->to_port || r->to->routes.reached || !is_full(at, r->to))
                continue;
            r->to->routes.reached = true;
            last->routes.next_reached = r->to;
            last = r->to;
        }
    }
    forget_reached(ring);
    slri_routes_unlock();
}

bool slri_route_leads(slr_ring *from, slr_ring *to)
{
    slr_ring *last = from;
    from->routes.reached = true;
    for (slr_ring *at = from; at; at = at->routes.next_reached)
        for (const struct slri_route *r = at->routes.out; r; r = r->next_out) {
            if (r->to_port || r->to->routes.reached)
                continue;
            r->to->routes.reached = true;
            last->routes.next_reached = r->to;
            last = r->to;
        }
    bool leads = to->routes.reached;
    forget_reached(from);
    return leads;
}

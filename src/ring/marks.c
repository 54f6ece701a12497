// SPDX-License-Identifier: Apache-2.0
// Which of a port's many connections have something for its owner: a reply, an end, a failure. Whoever publishes such a
// thing, an owner of a shard most often, marks the connection: pushes it on the stack of the port's waker, unless it is
// there. The port's owner takes the stack and looks at those alone, in turn, each until it has run empty.
//
// Marking: publish, full fence, look at the mark; who changes it from 0 to 1 pushes. Taking: clear the mark, full
// fence, look into the lanes. Of two such threads at least one sees the other: either the mark is found cleared, and
// the connection is pushed again, or what was published is found (tests/model/marks.pml).
#include "base/alloc.h"
#include "ring/ring.h"

// ---- lifetime ------------------------------------------------------------------------------------------------------

// Its holds are the port's, its lane's (until the lane is another's, or the ring kernel is gone) and the stack's.
void slri_connection_release(const slr_allocator *allocator, struct slri_connection *c)
{
    if (c && slri_let_go(&c->holds))
        slri_free(allocator, c, sizeof *c);
}

void slri_marks_drop(struct slri_waker *waker)
{
    for (struct slri_connection *c = waker->marked, *next; c; c = next) {
        next = c->next_marked;
        slri_connection_release(waker->allocator, c);
    }
}

// ---- marking -------------------------------------------------------------------------------------------------------

static void mark(struct slri_waker *waker, struct slri_connection *c)
{
    // Relaxed: the caller's fence is behind what it has published. Acquire: of the clear, before which the port's owner
    // has read `next_marked`, which is written again here.
    if (__atomic_load_n(&c->marked, __ATOMIC_RELAXED) || __atomic_exchange_n(&c->marked, 1, __ATOMIC_ACQUIRE))
        return; // it is in the stack, or who has set the mark is about to push it, and wakes behind that
    slri_hold(&c->holds);
    struct slri_connection *head = __atomic_load_n(&waker->marked, __ATOMIC_RELAXED);
    do
        c->next_marked = head;
    while (
        !__atomic_compare_exchange_n(&waker->marked, &head, c, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)); // its link
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the push, before the look at who sleeps
}

void slri_lane_mark(const struct slri_lane *lane, struct slri_waker *waker)
{
    // Relaxed: behind the caller's fence. Where this is still 0, the port's owner looks at every connection behind the
    // fence that follows its store (slri_marks_begin).
    if (__atomic_load_n(&waker->marking, __ATOMIC_RELAXED) && lane->connection)
        mark(waker, lane->connection);
}

// ---- taking: the port's owner --------------------------------------------------------------------------------------

// Behind a fence that follows the clear of its mark.
static void note_failure(slr_port *port, struct slri_connection *c)
{
    if (__atomic_load_n(&c->ring->failures, __ATOMIC_ACQUIRE) == c->lane->failures_told)
        return;
    slri_link_last(&port->failed, &c->in_failed);
    // Who failed it may have stored this before the mark came: relaxed, for this very thread.
    __atomic_store_n(&port->waker->failed, 1, __ATOMIC_RELAXED);
}

static void take(slr_port *port, struct slri_connection *c)
{
    // Release: `next_marked` was read before it may be written again.
    __atomic_store_n(&c->marked, 0, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // cleared, before the looks
    if (c->connected) {
        note_failure(port, c);
        if (!slri_is_linked(&c->turn))
            slri_link_last(&port->ready, &c->turn);
    }
    slri_connection_release(port->device->allocator, c);
}

void slri_marks_take(slr_port *port)
{
    struct slri_waker *waker = port->waker;
    if (!__atomic_load_n(&waker->marked, __ATOMIC_RELAXED))
        return;
    // Acquire: the links. They are turned round, so that who came first has its turn first.
    struct slri_connection *c = __atomic_exchange_n(&waker->marked, NULL, __ATOMIC_ACQUIRE), *first = NULL;
    while (c) {
        struct slri_connection *next = c->next_marked;
        c->next_marked = first;
        first = c;
        c = next;
    }
    while (first) {
        c = first;
        first = c->next_marked;
        take(port, c);
    }
}

void slri_marks_begin(slr_port *port)
{
    port->is_marked = true;
    __atomic_store_n(&port->waker->marking, 1, __ATOMIC_RELAXED);
    slri_announced(); // before the looks at what was published by who has not seen it
    for (uint32_t i = 0; i < port->connections; ++i) {
        slri_marks_enter(port, port->connection[i]);
        note_failure(port, port->connection[i]);
    }
}

void slri_marks_enter(slr_port *port, struct slri_connection *c)
{
    slri_link_last(&port->ready, &c->turn); // what came before it was marked, an end above all
    c->given_back = &port->given_back;
    slri_link_last(c->given_back, &c->in_given_back);
    // Its owners publish without the host; who watches them marks some time after.
    if (c->ring->mode == SLR_RING_PERSISTENT && c->ring->max_replies) {
        slri_link_last(&port->polled, &c->in_polled);
        ++port->polled_count;
    }
}

void slri_marks_leave(slr_port *port, struct slri_connection *c)
{
    if (slri_is_linked(&c->in_polled))
        --port->polled_count;
    slri_unlink(&c->turn);
    slri_unlink(&c->in_failed);
    slri_unlink(&c->in_given_back);
    slri_unlink(&c->in_polled);
}

// ---- finding -------------------------------------------------------------------------------------------------------

// Those whose turn it is: a look that finds nothing is the last until the next mark.
static bool find_ready(slr_port *port, struct slri_found *found)
{
    for (struct slri_link *link; (link = slri_links_first(&port->ready)) != NULL;) {
        struct slri_connection *c = SLRI_LINKED(struct slri_connection, turn, link);
        uint32_t over = __atomic_load_n(&c->ring->over, __ATOMIC_ACQUIRE); // before its lanes
        ++port->looks;
        if (slri_find_in(c, found)) {
            slri_link_last(&port->ready, link); // the others first
            return true;
        }
        slri_unlink(link);
        if (over)
            slri_link_last(&port->ended, link);
    }
    return false;
}

static bool find_polled(slr_port *port, struct slri_found *found)
{
    for (uint32_t k = 0; k < port->polled_count; ++k) {
        struct slri_link *link = slri_links_first(&port->polled);
        slri_link_last(&port->polled, link);
        ++port->looks;
        if (slri_find_in(SLRI_LINKED(struct slri_connection, in_polled, link), found))
            return true;
    }
    return false;
}

bool slri_marks_find(slr_port *port, struct slri_found *found, struct slri_connection **ended)
{
    slri_marks_take(port);
    port->polls_first = !port->polls_first; // neither sort keeps the other waiting
    if (port->polls_first ? find_polled(port, found) || find_ready(port, found)
                          : find_ready(port, found) || find_polled(port, found))
        return true;
    struct slri_link *first = slri_links_first(&port->ended);
    *ended = first ? SLRI_LINKED(struct slri_connection, turn, first) : NULL;
    return false;
}

struct slri_connection *slri_marks_find_failure(slr_port *port)
{
    slri_marks_take(port);
    struct slri_link *link = slri_links_first(&port->failed);
    if (!link)
        return NULL;
    struct slri_connection *c = SLRI_LINKED(struct slri_connection, in_failed, link);
    struct slri_found found;
    if (slri_find_in(c, &found)) { // replies go first; this one is marked and about to be pushed
        slri_link_last(&port->ready, &c->turn);
        __atomic_store_n(&port->waker->failed, 1, __ATOMIC_RELAXED); // for this thread's next look
        return NULL;
    }
    slri_unlink(link);
    return c;
}

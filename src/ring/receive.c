// SPDX-License-Identifier: Apache-2.0
// Receiving: a port looks through its reply lanes in turn. That a ring kernel has ended is read before its lanes are,
// so that an end is never told before the last reply.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

// ---- finding -------------------------------------------------------------------------------------------------------

static inline bool find_in(struct slri_connection *c, struct slri_found *found)
{
    const slr_ring *ring = c->ring;
    const uint32_t *S = ring->S;
    for (uint32_t k = 0; k < ring->shards; ++k) {
        uint32_t shard = c->next_shard + k < ring->shards ? c->next_shard + k : c->next_shard + k - ring->shards;
        uint32_t at = c->lane->cursor[shard].received;
        uint32_t slot = mb_reply_slot(S, mb_reply_lane(S, shard, c->port), at);
        if (!mb_has_reply(S, slot, at))
            continue;
        *found = (struct slri_found){.connection = c, .shard = shard, .slot = slot};
        return true;
    }
    return false;
}

bool slri_find_in(struct slri_connection *c, struct slri_found *found)
{
    return find_in(c, found);
}

bool slri_find_reply(slr_port *port, struct slri_found *found, struct slri_connection **ended)
{
    *ended = NULL;
    if (port->is_marked)
        return slri_marks_find(port, found, ended);
    for (uint32_t k = 0; k < port->connections; ++k) {
        uint32_t i = port->next_connection < port->connections ? port->next_connection : 0;
        port->next_connection = i + 1;
        struct slri_connection *c = port->connection[i];
        uint32_t over = __atomic_load_n(&c->ring->over, __ATOMIC_ACQUIRE); // before its lanes
        if (find_in(c, found))
            return true;
        if (over)
            *ended = c;
    }
    return false;
}

static struct slri_connection *next_failed(slr_port *port)
{
    if (port->is_marked)
        return slri_marks_find_failure(port);
    for (uint32_t k = 0; k < port->connections; ++k) {
        struct slri_connection *c = port->connection[k];
        if (c->lane->failures_told != __atomic_load_n(&c->ring->failures, __ATOMIC_ACQUIRE))
            return c;
    }
    return NULL;
}

struct slri_connection *slri_find_failure(slr_port *port)
{
    struct slri_waker *waker = port->waker;
    // Acquire: the counts of failures behind the mark. One mark may stand for several: it is set again for the next
    // look.
    if (!__atomic_load_n(&waker->failed, __ATOMIC_RELAXED) || !__atomic_exchange_n(&waker->failed, 0, __ATOMIC_ACQUIRE))
        return NULL;
    struct slri_connection *c = next_failed(port);
    if (c) {
        c->lane->failures_told = __atomic_load_n(&c->ring->failures, __ATOMIC_ACQUIRE);
        __atomic_store_n(&waker->failed, 1, __ATOMIC_RELAXED);
    }
    return c;
}

void slri_describe_reply(const struct slri_found *found, slr_reply *out)
{
    const slr_ring *ring = found->connection->ring;
    const uint32_t *S = ring->S, *slot = &S[found->slot];
    slr_status status = slri_reply_status(slot[MB_HEAD]);
    *out = (slr_reply){.from = {ring->place, ring->slot, ring->generation, slot[MB_INSTANCE]},
                       .status = status,
                       .correlation = slot[MB_CORRELATION],
                       .priority = slot[MB_HEAD] & 255u,
                       .bytes = status == SLR_OK ? ring->reply_bytes : 0,
                       .redelivered = (slot[MB_HEAD] & MB_FLAG_REDELIVERED) != 0};
    if (ring->stamped)
        memcpy(&out->sent_ns, &slot[S[MB_REPLY_SLOT_WORDS] - 2], sizeof out->sent_ns);
}

// What is collected is another's answer: its correlation may be that of any call.
static bool is_collected(const struct slri_found *found)
{
    return found->connection->ring->S[found->slot + MB_HEAD] & MB_FLAG_COLLECTED;
}

bool slri_answers(const struct slri_found *found, const slr_ring *ring, uint32_t correlation)
{
    return found->connection->ring == ring && ring->S[found->slot + MB_CORRELATION] == correlation &&
           !is_collected(found);
}

bool slri_is_late(const struct slri_found *found)
{
    return found->connection->ring->S[found->slot + MB_CORRELATION] & SLRI_CALL_BIT && !is_collected(found);
}

const void *slri_reply_payload(const struct slri_found *found)
{
    return &found->connection->ring->S[found->slot + MB_PAYLOAD];
}

// A shard that sleeps because this port had no room for its replies.
static void unblock(slr_ring *ring, uint32_t shard)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the replies given back, before the look at who sleeps
    if (__atomic_load_n(&ring->shard[shard].asleep, __ATOMIC_RELAXED) == SLRI_ASLEEP_BLOCKED)
        slri_ring_wake_shard(&ring->shard[shard]);
}

void slri_consume_reply(const struct slri_found *found)
{
    struct slri_connection *c = found->connection;
    slr_ring *ring = c->ring;
    uint32_t *S = ring->S;
    uint32_t received = ++c->lane->cursor[found->shard].received;
    mb_return_replies(S, mb_lane(S, found->shard, c->port), received);
    if (c->given_back && !slri_is_linked(&c->in_given_back))
        slri_link_last(c->given_back, &c->in_given_back);
    c->next_shard = found->shard + 1 < ring->shards ? found->shard + 1 : 0;
    // Not at every reply: a look costs a fence. Twice a lap of the lane, and once in 32 where it is longer, so that a
    // blocked shard goes on before its lane is empty; what is given back behind the last look is told before this
    // thread waits for anything: slri_unblock_shards, and send.c where it waits for credit.
    if ((received & ring->unblock_mask) == 0 && !__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE))
        unblock(ring, found->shard);
}

static void unblock_all(slr_ring *ring)
{
    for (uint32_t s = 0; s < ring->shards && !__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE); ++s)
        unblock(ring, s);
}

// Of many connections those are left out from which nothing was taken since the last look: a shard that announced its
// sleep behind that look has looked for room behind the announcement, and had all of it.
void slri_unblock_shards(slr_port *port)
{
    for (uint32_t i = 0; i < port->connections && !port->is_marked; ++i)
        unblock_all(port->connection[i]->ring);
    for (struct slri_link *link; (link = slri_links_first(&port->given_back)) != NULL;) {
        slri_unlink(link);
        unblock_all(SLRI_LINKED(struct slri_connection, in_given_back, link)->ring);
    }
}

void slri_report_end(slr_port *port, struct slri_connection *ended, slr_reply *out)
{
    const slr_ring *ring = ended->ring;
    *out = (slr_reply){.from = {ring->place, ring->slot, ring->generation, 0}, .status = SLR_END};
    slri_disconnect(port, ended);
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// Whether a look at the lanes would find a reply, an end or a failure: any, or only those of the ring kernel that a
// call waits for.
static bool has_news(slr_port *port, const slr_ring *only)
{
    struct slri_found found;
    struct slri_connection *ended;
    if (slri_find_reply(port, &found, &ended))
        return true;
    if (only)
        return __atomic_load_n(&only->over, __ATOMIC_ACQUIRE) ||
               __atomic_load_n(&only->failures, __ATOMIC_ACQUIRE) != port->call_failures;
    return ended || __atomic_load_n(&port->waker->failed, __ATOMIC_RELAXED);
}

void slri_port_park(slr_port *port, const slr_ring *only, uint64_t deadline_ns)
{
    struct slri_waker *waker = port->waker;
    slri_unblock_shards(port);
    __atomic_store_n(&waker->asleep, 1, __ATOMIC_RELAXED);
    slri_announced(); // before the last look (wait.c)
    if (!has_news(port, only))
        slri_futex_wait(&waker->asleep, 1, deadline_ns);
    __atomic_store_n(&waker->asleep, 0, __ATOMIC_RELAXED);
}

// Before a receive gives TIMEOUT: arms the descriptor, if there is one. False: something has come meanwhile.
static bool may_give_up(slr_port *port)
{
    struct slri_waker *waker = port->waker;
    slri_unblock_shards(port);
    if (slri_sim_on()) // an application may come back at once
        slri_sim_step();
    if (!waker->has_event)
        return true;
    slri_event_clear(&waker->event);
    __atomic_store_n(&waker->polled, 1, __ATOMIC_RELEASE); // the event itself, for the worker that signals it
    slri_announced();
    return !has_news(port, NULL);
}

// ---- the calls -----------------------------------------------------------------------------------------------------

static slr_status too_small(const slr_reply *reply, size_t capacity)
{
    return SLRI_FAIL(INVALID, "the reply has %u B; the buffer has %zu B", reply->bytes, capacity);
}

// Takes a reply that slr_call had passed over.
static slr_status receive_kept(slr_port *port, slr_reply *reply, void *payload, size_t capacity)
{
    struct slri_kept_reply *kept = port->kept_first;
    *reply = kept->reply;
    if (reply->bytes > capacity)
        return too_small(reply, capacity);
    if (reply->bytes)
        memcpy(payload, kept->payload, reply->bytes);
    port->kept_first = kept->next;
    if (!kept->next)
        port->kept_last = NULL;
    slri_free(port->device->allocator, kept, kept->allocated);
    return SLR_OK;
}

static slr_status receive_found(const struct slri_found *found, slr_reply *reply, void *payload, size_t capacity)
{
    slri_describe_reply(found, reply);
    if (reply->bytes > capacity)
        return too_small(reply, capacity);
    if (reply->bytes)
        memcpy(payload, slri_reply_payload(found), reply->bytes);
    slri_consume_reply(found);
    return SLR_OK;
}

// One look: a reply, an end, or SLR_TIMEOUT without a message.
static slr_status try_receive(slr_port *port, slr_reply *reply, void *payload, size_t capacity)
{
    if (port->kept_first)
        return receive_kept(port, reply, payload, capacity);
    struct slri_found found;
    struct slri_connection *ended;
    uint32_t failure = __atomic_load_n(&port->waker->failed, __ATOMIC_ACQUIRE); // before the lanes: replies go first
    while (slri_find_reply(port, &found, &ended)) {
        if (!slri_is_late(&found))
            return receive_found(&found, reply, payload, capacity);
        slri_discard_reply(&found);
    }
    if (failure || ended)
        SLRI_TRY(slri_device_check_process(port->device)); // what follows takes locks
    const struct slri_connection *failed = failure ? slri_find_failure(port) : NULL;
    if (failed) {
        slr_ring *ring = failed->ring;
        *reply = (slr_reply){.from = {ring->place, ring->slot, ring->generation, 0}, .status = SLR_RING_FAILED};
        return slri_refuse_failed(ring);
    }
    if (ended) {
        char name[sizeof ended->ring->name];
        memcpy(name, ended->ring->name, sizeof name);
        slri_report_end(port, ended, reply);
        return SLRI_FAIL(END, "ring kernel '%s' has ended", name);
    }
    if (port->was_connected && port->connections == 0) {
        *reply = (slr_reply){.status = SLR_END};
        return SLRI_FAIL(END, "every ring kernel that this port has used has ended");
    }
    return SLR_TIMEOUT;
}

slr_status slr_receive(slr_port *port, slr_reply *reply, void *payload, size_t capacity, uint64_t timeout_ns)
{
    if (!port || !reply || (!payload && capacity))
        return SLRI_FAIL(INVALID, "slr_receive: %s is NULL", !port ? "port" : !reply ? "reply" : "payload");
    struct slri_backoff backoff = {
        .until.timeout_ns = timeout_ns, .late_ns = port->late_ns, .batched = port->late_ns && !port->spins};
    for (;;) {
        slr_status status = try_receive(port, reply, payload, capacity);
        if (status != SLR_TIMEOUT)
            return status;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait != SLRI_POLL_AGAIN)
            SLRI_TRY(slri_queue_device_check_process(&port->device->queues));
        if (wait == SLRI_PARK)
            slri_port_park(port, NULL, backoff.until.deadline_ns);
        if (wait == SLRI_TOO_LATE && may_give_up(port))
            return SLRI_FAIL(TIMEOUT, "no reply came within %llu ns", (unsigned long long)timeout_ns);
    }
}

slr_status slr_receive_many(slr_port *port, slr_reply *replies, void *payloads, size_t stride, uint32_t most,
                            uint64_t timeout_ns, uint32_t *received)
{
    if (!replies || !received || most == 0)
        return SLRI_FAIL(INVALID, "slr_receive_many: %s", most == 0 ? "most is 0" : "replies or received is NULL");
    SLRI_TRY(slr_receive(port, replies, payloads, stride, timeout_ns));
    *received = 1;
    struct slri_found found;
    struct slri_connection *ended;
    while (*received < most && !port->kept_first && slri_find_reply(port, &found, &ended)) {
        if (slri_is_late(&found)) {
            slri_discard_reply(&found);
            continue;
        }
        if (receive_found(&found, &replies[*received], (char *)payloads + *received * stride, stride) != SLR_OK)
            return SLR_OK; // too large for the stride: the next call says so
        ++*received;
    }
    return SLR_OK;
}

slr_status slr_port_get_fd(slr_port *port, int *out)
{
    if (!port || !out)
        return SLRI_FAIL(INVALID, "slr_port_get_fd: %s is NULL", port ? "out" : "port");
    struct slri_waker *waker = port->waker;
    if (!waker->has_event) {
        SLRI_TRY(slri_event_create(&waker->event));
        waker->has_event = true;
        // Armed from the first: what has come before makes it readable.
        if (!may_give_up(port) || port->kept_first)
            slri_event_signal(&waker->event);
    }
    *out = waker->event.fd;
    return SLR_OK;
}

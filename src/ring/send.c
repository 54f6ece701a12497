// SPDX-License-Identifier: Apache-2.0
// Sending: claim a credit, fill a slot, publish it, wake the owner if it sleeps.
#include "base/clock.h"
#include "base/copy.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/status.h"
#include "base/thread.h"
#include "engine/observe.h"
#include "ring/ring.h"

#include <string.h>

#define PAUSES_A_LOOK 16 // some 2,000 cycles: as long as a batch takes
#define CACHE_LINE 64
#define EXTEND_EVERY (1u << 24) // well below 2^32 / 64 replies a message: no count is missed

// ---- credits -------------------------------------------------------------------------------------------------------

// Why no credit was given, with the input closed. The closed bit comes a moment before the state, under the lock. OK: a
// restart has opened it again since.
slr_status slri_refuse_closed(slr_ring *ring)
{
    const uint32_t *S = ring->S;
    slri_mutex_lock(&ring->lock);
    slr_ring_state state = slr_ring_get_state(ring);
    bool closed = MB_LOAD(MB_ACCEPTED) & MB_CLOSED;
    slri_mutex_unlock(&ring->lock);
    if (!closed)
        return SLR_OK;
    if (state == SLR_RING_TERMINATED)
        return SLRI_FAIL(RING_DEAD, "ring kernel '%s' has terminated", ring->name);
    if (state == SLR_RING_IN_FAILURE)
        return slri_refuse_failed(ring);
    return SLRI_FAIL(CLOSED, "ring kernel '%s': its input is closed", ring->name);
}

static slr_status refuse_message(slr_ring *ring, bool late)
{
    __atomic_fetch_add(&ring->refused, 1, __ATOMIC_RELAXED);
    if (slri_sim_on()) // it may be tried again, over and over
        slri_sim_step();
    if (late)
        return SLRI_FAIL(TIMEOUT, "ring kernel '%s': mailbox was full (%u messages) until the deadline", ring->name,
                         ring->queue_size);
    return SLRI_FAIL(FULL, "ring kernel '%s': mailbox is full (%u messages)", ring->name, ring->queue_size);
}

// The shards that sleep for reply room which this port has made since: nobody else would tell them. Behind a fence.
static void rouse_all(slr_ring *ring)
{
    for (uint32_t shard = 0; shard < ring->shards; ++shard)
        slri_rouse(ring, shard);
}

// Credits in doubt are those of messages that may still be refused: statistics leave them out (ring.c). They are
// counted from before their claim until their messages are certain, or they have gone back. Fence: who sees the claim
// sees them.
static void begin_doubt(slr_ring *ring, uint32_t count)
{
    __atomic_fetch_add(&ring->doubt.begun, count, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

// Release: who sees this sees those that went back.
static void end_doubt(slr_ring *ring, uint32_t count)
{
    __atomic_fetch_add(&ring->doubt.ended, count, __ATOMIC_RELEASE);
}

// Sleeps until a credit may have come back. Announce, fence, look again, sleep.
static void sleep_for_credit(slr_ring *ring, uint64_t deadline_ns)
{
    uint32_t event = __atomic_load_n(&ring->credit_event, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(&ring->credit_waiters, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint32_t *S = ring->S;
    uint32_t accepted = MB_LOAD(MB_ACCEPTED);
    bool full = ((accepted - mb_retired(S)) & MB_COUNT) >= S[MB_CAPACITY];
    rouse_all(ring);
    if (full && !(accepted & MB_CLOSED))
        slri_futex_wait(&ring->credit_event, event, deadline_ns);
    __atomic_fetch_sub(&ring->credit_waiters, 1, __ATOMIC_RELAXED);
}

// Claims up to `want` credits, without waiting. False: there is none.
static bool try_claim(slr_ring *ring, uint32_t want, bool in_doubt, struct slri_granted *granted)
{
    if (in_doubt)
        begin_doubt(ring, want);
    granted->count = mb_claim_place(ring->S, want, &granted->place);
    if (in_doubt && granted->count < want)
        end_doubt(ring, want - granted->count);
    return granted->count != 0;
}

static slr_status look_for_credit(slr_ring *ring, uint32_t want, bool in_doubt, struct slri_until *until,
                                  struct slri_granted *granted)
{
    SLRI_TRY(slri_ring_check_process(ring)); // there is nobody to free a credit
    bool reject = ring->overflow == SLR_OVERFLOW_REJECT || slri_until_now(until);
    struct slri_backoff backoff = {.until.deadline_ns = slri_until_deadline(until),
                                   .late_ns = slri_late_ns(ring),
                                   .batched = ring->mode == SLR_RING_RELAUNCHED};
    while (!try_claim(ring, want, in_doubt, granted)) {
        if (granted->place & MB_CLOSED) { // as the claim found it: what it is now would not say why nothing was given
            SLRI_TRY(slri_refuse_closed(ring));
            continue;
        }
        if (reject) {
            __atomic_thread_fence(__ATOMIC_SEQ_CST); // the replies given back, before the look at who sleeps
            rouse_all(ring);
            return refuse_message(ring, false);
        }
        // Each look takes the line of the retired count away from the owner that is about to write it.
        for (int i = 0; i < PAUSES_A_LOOK; ++i)
            slri_pause();
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return refuse_message(ring, true);
        if (wait == SLRI_PARK)
            sleep_for_credit(ring, backoff.until.deadline_ns);
    }
    return SLR_OK;
}

static slr_status wait_for_credit(slr_ring *ring, uint32_t want, bool in_doubt, struct slri_until *until,
                                  struct slri_granted *granted)
{
    uint64_t begin = slri_observe_begin();
    slr_status status = look_for_credit(ring, want, in_doubt, until, granted);
    if (begin != 0)
        slri_observe_full(ring, begin);
    return status;
}

void slri_count_accepted(slr_ring *ring)
{
    uint32_t *S = ring->S;
    uint32_t accepted = MB_LOAD(MB_ACCEPTED) & MB_COUNT;
    if (((accepted - __atomic_load_n(&ring->extended_at, __ATOMIC_RELAXED)) & MB_COUNT) <= EXTEND_EVERY)
        return;
    __atomic_store_n(&ring->extended_at, accepted, __ATOMIC_RELAXED);
    slri_ring_extend(ring);
}

// Claims up to `want` credits, at least one.
static inline slr_status claim(slr_ring *ring, uint32_t want, struct slri_until *until, struct slri_granted *granted)
{
    uint32_t *S = ring->S;
    granted->count = mb_claim_place(S, want, &granted->place);
    if (granted->count == 0)
        SLRI_TRY(wait_for_credit(ring, want, false, until, granted));
    slri_count_accepted(ring);
    return SLR_OK;
}

slr_status slri_credits_claim(slr_ring *ring, uint32_t want, struct slri_until *until, struct slri_granted *granted)
{
    if (!try_claim(ring, want, true, granted))
        SLRI_TRY(wait_for_credit(ring, want, true, until, granted));
    slri_count_accepted(ring);
    return SLR_OK;
}

bool slri_credits_try(slr_ring *ring, uint32_t want, struct slri_granted *granted)
{
    if (!try_claim(ring, want, true, granted))
        return false;
    slri_count_accepted(ring);
    return true;
}

void slri_credits_give_back(slr_ring *ring, uint32_t count)
{
    mb_give_back(ring->S, count);
    end_doubt(ring, count);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the credits, before the looks at who waits for them
    slri_credits_freed(ring);
}

// Those that were claimed before, or else up to `want`.
static inline slr_status take_paid(slr_ring *ring, uint32_t want, struct slri_until *until, struct slri_granted *paid,
                                   struct slri_granted *granted)
{
    if (!paid || paid->count == 0)
        return claim(ring, want, until, granted);
    *granted = *paid;
    paid->count = 0;
    end_doubt(ring, granted->count);
    return SLR_OK;
}

// ---- one message ---------------------------------------------------------------------------------------------------

// Not inlined: one message in many.
static __attribute__((noinline)) void note_time(uint32_t *S, uint32_t lane, uint32_t slot, uint32_t position)
{
    uint64_t now = slri_now_ns();
    uint32_t words[2];
    memcpy(words, &now, sizeof now);
    mb_write_time(S, lane, slot, position, words[0], words[1]);
}

// Fills the lane's slot at a position. A credit is held. `sent_ns` 0: now. Gives the slot. Always inline: as a call it
// took an eighth of the rate of a run.
__attribute__((always_inline)) static inline uint32_t fill_at(const struct slri_connection *c, uint32_t shard,
                                                              uint32_t position, uint32_t instance, const void *message,
                                                              uint32_t priority, uint32_t correlation, uint32_t place,
                                                              uint64_t sent_ns)
{
    const slr_ring *ring = c->ring;
    uint32_t *S = ring->S;
    struct slri_lane_cursor *cursor = &c->lane->cursor[shard];
    uint32_t lane = mb_lane(S, shard, c->port);
    uint32_t slot = mb_lane_slot(S, lane, position);
    if (message != &S[slot + MB_PAYLOAD])
        memcpy(&S[slot + MB_PAYLOAD], message, ring->message_bytes);
    mb_write_header(S, slot, priority, instance, correlation);
    if (ring->stamped) {
        uint64_t now = sent_ns ? sent_ns : slri_now_ns();
        memcpy(&S[slot + S[MB_SLOT_WORDS] - 2], &now, sizeof now);
    }
    if (slri_ring_drops(ring))
        S[slot + S[MB_TICKET]] = place & MB_COUNT;
    cursor->mark = mb_mark_priority(S, lane, cursor->mark, priority);
    if (mb_is_timed(S, position))
        note_time(S, lane, slot, position);
    return slot;
}

// Fills the lane's next slot.
static inline void fill(const struct slri_connection *c, uint32_t shard, uint32_t instance, const void *message,
                        uint32_t priority, uint32_t correlation, uint32_t place, uint64_t sent_ns)
{
    struct slri_lane_cursor *cursor = &c->lane->cursor[shard];
    fill_at(c, shard, cursor->sent + cursor->filled, instance, message, priority, correlation, place, sent_ns);
    ++cursor->filled;
}

// Not inlined: kernels that stay, on few devices. The slots are in the host's memory, coherent for the device; the flag
// is in the device's, and a store to it is held in a write-combining buffer, which keeps no order with other stores.
// Fence: the slots' sequences are seen before it, so who acquires the flag finds what it counts. What empties the
// buffer is the full fence in `tell`.
static __attribute__((noinline)) void raise_flag(uint32_t *flag, uint32_t sent)
{
    slri_order_bus_stores();
    __atomic_store_n(flag, sent, __ATOMIC_RELEASE);
}

static inline void flag(const struct slri_connection *c, uint32_t shard, uint32_t sent)
{
    uint32_t *flags = __atomic_load_n(&c->ring->shard[shard].flags, __ATOMIC_ACQUIRE); // as they were begun
    if (__builtin_expect(flags != NULL, 0))
        raise_flag(&flags[c->port], sent);
}

// Publishes what is filled, the first slot last: the owner polls that one, and finds all of them at once. In order it
// would chase the sender from slot to slot and take each line away while the next message is written to it.
static inline void publish(const struct slri_connection *c, uint32_t shard)
{
    uint32_t *S = c->ring->S;
    struct slri_lane_cursor *cursor = &c->lane->cursor[shard];
    uint32_t lane = mb_lane(S, shard, c->port);
    for (uint32_t k = cursor->filled; k-- > 0;)
        mb_publish(S, mb_lane_slot(S, lane, cursor->sent + k), cursor->sent + k);
    if (cursor->filled == 0)
        return;
    cursor->sent += cursor->filled;
    cursor->filled = 0;
    flag(c, shard, cursor->sent);
}

// Tells the owners of shards `first` up to `end` of what was published.
static inline void tell(slr_ring *ring, uint32_t first, uint32_t end)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the messages, before the look at who sleeps (wait.c)
    for (uint32_t shard = first; shard < end; ++shard)
        slri_rouse(ring, shard);
    if (slri_ring_drops(ring) && slri_ring_state(ring) == SLR_RING_LAUNCHED)
        slri_ring_evict_launched(ring);
}

void slri_lane_fill(const struct slri_connection *c, uint32_t shard, uint32_t instance, const void *message,
                    uint32_t priority, uint32_t correlation, uint32_t place, uint64_t sent_ns)
{
    fill(c, shard, instance, message, priority, correlation, place, sent_ns);
}

void slri_lane_publish(const struct slri_connection *c, uint32_t shard)
{
    publish(c, shard);
}

void slri_lanes_tell(slr_ring *ring)
{
    tell(ring, 0, ring->shards);
}

static slr_status refuse_instance(const slr_ring *ring, uint32_t instance)
{
    if (ring->key_sort)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is keyed; use slr_send_key or slr_send_many_keys", ring->name);
    return SLRI_FAIL(INVALID, "ring kernel '%s' has instances 0 to %u; a message was sent to %u", ring->name,
                     ring->instances - 1, instance);
}

static inline slr_status check_bytes(const slr_ring *ring, size_t bytes)
{
    if (bytes == ring->message_bytes)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "ring kernel '%s': its messages have %u B, %zu B were sent", ring->name,
                     ring->message_bytes, bytes);
}

static inline slr_status check_instance(const slr_ring *ring, uint32_t instance)
{
    return instance < ring->addressable ? SLR_OK : refuse_instance(ring, instance);
}

static slr_status refuse_no_message(void)
{
    return SLRI_FAIL(INVALID, "the message is NULL");
}

slr_status slri_check_message(const slr_ring *ring, const void *message, size_t bytes)
{
    return message ? check_bytes(ring, bytes) : refuse_no_message();
}

static inline slr_status connection(slr_port *port, slr_address to, struct slri_until *until,
                                    struct slri_connection **out)
{
    *out = slri_connection_of(port, to);
    return *out ? SLR_OK : slri_connect(port, to, true, until, out);
}

slr_status slri_connection_get(slr_port *port, slr_address to, struct slri_until *until, struct slri_connection **out)
{
    return connection(port, to, until, out);
}

static __attribute__((noinline)) slr_status check_references(const slr_ring *ring, const void *message, size_t bytes)
{
    SLRI_TRY(check_bytes(ring, bytes));
    return slri_slices_check(ring, message);
}

// As take_paid, for a message with references. The credit goes back where another has taken a buffer meanwhile.
static __attribute__((noinline)) slr_status depart(slr_ring *ring, const void *message, struct slri_until *until,
                                                   struct slri_granted *paid, struct slri_granted *granted)
{
    if (!slri_slices_own(ring))
        return take_paid(ring, 1, until, paid, granted);
    if (paid && paid->count != 0) {
        *granted = *paid;
        paid->count = 0;
    } else {
        SLRI_TRY(slri_credits_claim(ring, 1, until, granted));
    }
    slr_status status = slri_slices_depart(ring, message);
    if (status != SLR_OK)
        slri_credits_give_back(ring, granted->count);
    else
        end_doubt(ring, granted->count);
    return status;
}

slr_status slri_check_sendable(const slr_ring *ring, const void *message, size_t bytes)
{
    SLRI_TRY(slri_check_message(ring, message, bytes));
    return bytes != ring->plain_bytes ? slri_slices_check(ring, message) : SLR_OK;
}

slr_status slri_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint32_t priority,
                     uint32_t correlation, struct slri_granted *by_key, struct slri_until *until)
{
    struct slri_connection *c;
    struct slri_granted granted;
    if (!message)
        return refuse_no_message();
    SLRI_TRY(connection(port, to, until, &c));
    slr_ring *ring = c->ring;
    bool looks = bytes != ring->plain_bytes; // into the message, for references: a size that is wrong is refused there
    if (looks)
        SLRI_TRY(check_references(ring, message, bytes));
    if (!by_key)
        SLRI_TRY(check_instance(ring, to.instance));
    if (looks)
        SLRI_TRY(depart(ring, message, until, by_key, &granted));
    else
        SLRI_TRY(take_paid(ring, 1, until, by_key, &granted));
    uint32_t shard = ring->shards == 1 ? 0 : to.instance % ring->shards;
    fill(c, shard, to.instance, message, priority ? priority - 1 : ring->priority, correlation, granted.place, 0);
    publish(c, shard);
    tell(ring, shard, shard + 1);
    return SLR_OK;
}

slr_status slr_send(slr_port *port, slr_address to, const void *message, size_t bytes, uint64_t timeout_ns)
{
    return slr_send_with(port, to, message, bytes, NULL, timeout_ns);
}

slr_status slri_check_options(const slr_send_options *options)
{
    if (options->priority > 256)
        return SLRI_FAIL(INVALID, "priority %u; expected 0 to 255, as SLR_PRIORITY(0..255)", options->priority - 1);
    if (options->correlation & SLRI_CALL_BIT)
        return SLRI_FAIL(INVALID, "correlation %u; expected 1 to 2147483647", options->correlation);
    return SLR_OK;
}

slr_status slri_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                          const slr_send_options *options, struct slri_granted *by_key, struct slri_until *until)
{
    slr_send_options defaults = {0};
    if (!options)
        options = &defaults;
    SLRI_TRY(slri_check_options(options));
    if (!port)
        return slri_shared_send(to, message, bytes, options, until);
    uint32_t next = port->correlation + 1;
    SLRI_TRY(slri_send(port, to, message, bytes, options->priority,
                       options->correlation ? options->correlation : next & ~SLRI_CALL_BIT, by_key, until));
    port->correlation = options->correlation ? port->correlation : next;
    return SLR_OK;
}

slr_status slr_send_with(slr_port *port, slr_address to, const void *message, size_t bytes,
                         const slr_send_options *options, uint64_t timeout_ns)
{
    struct slri_until until = {.timeout_ns = timeout_ns};
    return slri_send_with(port, to, message, bytes, options, NULL, &until);
}

// ---- many ----------------------------------------------------------------------------------------------------------

static slr_status check_many(const slr_ring *ring, slr_address to, const uint32_t *instances, uint32_t count)
{
    if (!instances)
        return check_instance(ring, to.instance);
    for (uint32_t k = 0; k < count; ++k)
        SLRI_TRY(check_instance(ring, instances[k]));
    return SLR_OK;
}

// Asks for the lines of a run of slots, in the order in which they will be written. The owner read them last; stores
// leave a core in order, so that each line would be waited for by itself. Beyond the lane's end it asks in vain.
static inline void fetch_slots(const uint32_t *S, uint32_t first, uint32_t slots)
{
    const char *at = (const char *)&S[first], *end = at + (size_t)slots * S[MB_SLOT_WORDS] * 4;
    for (; at < end; at += CACHE_LINE)
        slri_fetch_to_write(at);
}

// As fill_at and publish of each, with what all have in common taken out of the loop: a store to a slot may change any
// word of the arena, for all that a compiler knows. Neither timestamps nor places.
static void send_plain_backwards(slr_port *port, const struct slri_connection *c, uint32_t to,
                                 const uint32_t *instances, const char *messages, uint32_t count)
{
    const size_t bytes = c->ring->message_bytes;
    const uint32_t priority = c->ring->priority, first = c->lane->cursor[0].sent, correlation = port->correlation + 1;
    uint32_t *const S = c->ring->S, *const mark = &c->lane->cursor[0].mark;
    const uint32_t lane = mb_lane(S, 0, c->port);
    *mark = mb_mark_priority(S, lane, *mark, priority);
    for (uint32_t k = count; k-- > 0;) {
        const uint32_t slot = mb_lane_slot(S, lane, first + k);
        slri_copy_message(&S[slot + MB_PAYLOAD], messages + k * bytes, bytes);
        mb_write_header(S, slot, priority, instances ? instances[k] : to, (correlation + k) & ~SLRI_CALL_BIT);
        if (mb_is_timed(S, first + k))
            note_time(S, lane, slot, first + k);
        mb_publish(S, slot, first + k);
    }
}

// A run into a ring kernel of one shard: from the last slot to the first, each filled and published at once. So each
// line is fetched once, and the one that the owner polls last.
static void send_backwards(slr_port *port, const struct slri_connection *c, uint32_t to, const uint32_t *instances,
                           const char *messages, const struct slri_granted *granted)
{
    const slr_ring *ring = c->ring;
    struct slri_lane_cursor *cursor = &c->lane->cursor[0];
    fetch_slots(ring->S, mb_lane_slot(ring->S, mb_lane(ring->S, 0, c->port), cursor->sent), granted->count);
    const bool is_plain = !ring->stamped && !slri_ring_drops(ring);
    if (is_plain)
        send_plain_backwards(port, c, to, instances, messages, granted->count);
    for (uint32_t k = is_plain ? 0 : granted->count; k-- > 0;) {
        uint32_t slot =
            fill_at(c, 0, cursor->sent + k, instances ? instances[k] : to, messages + (size_t)k * ring->message_bytes,
                    ring->priority, (port->correlation + 1 + k) & ~SLRI_CALL_BIT, granted->place + k, 0);
        mb_publish(ring->S, slot, cursor->sent + k);
    }
    cursor->sent += granted->count;
    flag(c, 0, cursor->sent);
    port->correlation += granted->count;
}

// Messages that are looked into go one at a time.
static slr_status send_each(slr_port *port, const struct slri_connection *c, uint32_t to, const uint32_t *instances,
                            const char *messages, uint32_t count, struct slri_granted *paid, struct slri_until *until,
                            uint32_t *done)
{
    const slr_ring *ring = c->ring;
    struct slri_granted none = {0}, *by_key = paid ? paid : &none;
    for (; *done < count; ++*done, ++port->correlation) {
        slr_address at = {ring->place, ring->slot, ring->generation, instances ? instances[*done] : to};
        SLRI_TRY(slri_send(port, at, messages + (size_t)*done * ring->message_bytes, ring->message_bytes, 0,
                           (port->correlation + 1) & ~SLRI_CALL_BIT, by_key, until));
    }
    return SLR_OK;
}

slr_status slri_send_run(slr_port *port, const struct slri_connection *c, uint32_t to, const uint32_t *instances,
                         const void *messages, uint32_t count, struct slri_granted *paid, struct slri_until *until,
                         uint32_t *done)
{
    slr_ring *ring = c->ring;
    if (ring->plain_bytes != ring->message_bytes)
        return send_each(port, c, to, instances, messages, count, paid, until, done);
    while (*done < count) {
        struct slri_granted granted;
        SLRI_TRY(take_paid(ring, count - *done, until, paid, &granted));
        if (ring->shards == 1) {
            send_backwards(port, c, to, instances ? instances + *done : NULL,
                           (const char *)messages + (size_t)*done * ring->message_bytes, &granted);
            *done += granted.count;
            tell(ring, 0, 1);
            continue;
        }
        for (uint32_t end = *done + granted.count; *done < end; ++*done) {
            uint32_t instance = instances ? instances[*done] : to;
            fill(c, instance % ring->shards, instance, (const char *)messages + (size_t)*done * ring->message_bytes,
                 ring->priority, ++port->correlation & ~SLRI_CALL_BIT, granted.place++, 0);
        }
        for (uint32_t shard = 0; shard < ring->shards; ++shard)
            publish(c, shard);
        tell(ring, 0, ring->shards);
    }
    return SLR_OK;
}

slr_status slr_send_many(slr_port *port, slr_address to, const uint32_t *instances, const void *messages, size_t bytes,
                         uint32_t count, uint64_t timeout_ns, uint32_t *accepted)
{
    uint32_t none, *done = accepted ? accepted : &none;
    *done = 0;
    if (!port)
        return SLRI_FAIL(INVALID, "slr_send_many: port is NULL");
    if (count == 0)
        return SLR_OK;
    struct slri_connection *c;
    struct slri_until until = {.timeout_ns = timeout_ns};
    if (!messages)
        return refuse_no_message();
    SLRI_TRY(connection(port, to, &until, &c));
    SLRI_TRY(check_bytes(c->ring, bytes));
    SLRI_TRY(check_many(c->ring, to, instances, count));
    return slri_send_run(port, c, to.instance, instances, messages, count, NULL, &until, done);
}

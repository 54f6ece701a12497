// SPDX-License-Identifier: Apache-2.0
// The life of a ring kernel: its states, the calls that change them, its counts.
#include "ring/ring.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/sized.h"
#include "base/status.h"
#include "engine/loss.h"
#include "engine/resident_groups.h"
#include "ring/keys.h"
#include "ring/printing.h"

#include <stdio.h>
#include <string.h>

#define LOOKS 1000u // at what was accepted, some 50 ns each: where senders or routes go on claiming meanwhile
#define TURNS 16u   // for a sender in doubt that has lost its core: 1 left out up to 32 messages, in 0.25 % of readings
#define COMMAND_NS 100000ull // how long a control answer is waited for at a time

// ---- states --------------------------------------------------------------------------------------------------------

const char *slr_ring_state_name(slr_ring_state state)
{
    switch (state) {
    case SLR_RING_CREATED:
        return "created";
    case SLR_RING_LAUNCHED:
        return "launched";
    case SLR_RING_ACTIVE:
        return "active";
    case SLR_RING_PAUSED:
        return "paused";
    case SLR_RING_DRAINING:
        return "draining";
    case SLR_RING_TERMINATED:
        return "terminated";
    case SLR_RING_IN_FAILURE:
        return "failed";
    }
    return "?";
}

slr_ring_state slr_ring_get_state(const slr_ring *ring)
{
    if (slri_sim_on()) // an application may ask over and over
        slri_sim_step();
    return ring ? slri_ring_state(ring) : (slr_ring_state)0;
}

void slri_ring_raise_event(slr_ring *ring)
{
    // Release: whoever wakes by it sees what was changed.
    __atomic_fetch_add(&ring->state_event, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&ring->state_event, UINT32_MAX);
}

void slri_ring_set_state(slr_ring *ring, slr_ring_state state)
{
    slri_telemetry_note_state(ring, state);
    __atomic_store_n(&ring->state, (uint32_t)state, __ATOMIC_RELEASE);
    slri_ring_raise_event(ring);
}

static slr_status wrong_ring_state(const slr_ring *ring, const char *call, const char *needs)
{
    return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; %s needs it %s", ring->name,
                     slr_ring_state_name(slr_ring_get_state(ring)), call, needs);
}

slr_status slri_ring_check_process(const slr_ring *ring)
{
    return slri_queue_device_check_process(&ring->device->queues);
}

#define ALL_STATES (2u * SLR_RING_IN_FAILURE - 1) // that is the last one

slr_status slr_ring_wait(slr_ring *ring, uint32_t states, uint64_t timeout_ns)
{
    if (!ring || states == 0)
        return SLRI_FAIL(INVALID, "slr_ring_wait: %s", ring ? "no state was named" : "ring is NULL");
    if (states & ~ALL_STATES)
        return SLRI_FAIL(INVALID, "slr_ring_wait: 0x%x names no state", states & ~ALL_STATES);
    uint64_t deadline = slri_deadline_after(timeout_ns);
    for (;;) {
        uint32_t event = __atomic_load_n(&ring->state_event, __ATOMIC_ACQUIRE);
        slr_ring_state state = slr_ring_get_state(ring);
        if (state & states)
            return SLR_OK;
        SLRI_TRY(slri_ring_check_process(ring));
        if (slri_passed(deadline))
            return SLRI_FAIL(TIMEOUT, "ring kernel '%s' is still %s", ring->name, slr_ring_state_name(state));
        slri_futex_wait(&ring->state_event, event, deadline);
    }
}

// ---- commands to the shards ----------------------------------------------------------------------------------------

void slri_ring_wake_shard(struct slri_shard *shard)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // the store that it is woken for, before the look at `asleep`
    if (__atomic_load_n(&shard->asleep, __ATOMIC_RELAXED) && __atomic_exchange_n(&shard->asleep, 0, __ATOMIC_ACQ_REL)) {
        const slr_ring *ring = shard->ring;
        if (ring->loop)
            slri_loop_wake(ring->loop);
        else
            slri_resident_wake(shard);
    }
}

uint32_t slri_ring_command(slr_ring *ring, uint32_t command)
{
    uint32_t number = ++ring->control_number & (UINT32_MAX >> 3); // an answer has three bits beside the number
    uint32_t *S = ring->S;
    MB_RELEASE(MB_CONTROL, number << 2 | command); // the close, and all that was set up before
    for (uint32_t i = 0; i < ring->shards; ++i)
        slri_ring_wake_shard(&ring->shard[i]);
    return number;
}

// Whether every shard has answered command `number` or a later one, or needs none because it has ended.
static bool answered(const slr_ring *ring, uint32_t number)
{
    uint32_t *S = ring->S;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        uint32_t answer = MB_ACQUIRE(mb_owner(S, i) + MB_ANSWER);
        bool ended = (answer & 7) == MB_ENDED || (answer & 7) == MB_STOPPED;
        if (!ended && (((answer >> 3) - number) & (UINT32_MAX >> 3)) > UINT32_MAX >> 4)
            return false;
    }
    return true;
}

slr_status slri_ring_await(slr_ring *ring, uint32_t number, uint64_t deadline_ns, const char *call)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    for (;;) {
        uint32_t event = __atomic_load_n(&ring->state_event, __ATOMIC_ACQUIRE);
        if (answered(ring, number))
            return SLR_OK;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return SLRI_FAIL(TIMEOUT, "ring kernel '%s' has not acknowledged %s yet: %s", ring->name, call,
                             number == 1 ? "its owner is still busy with other ring kernels" // its first: to activate
                                         : "a handler is still running, or its owner has not run since");
        // Woken by slri_ring_answered; the short deadline is for answers given without a change of state.
        uint64_t soon = slri_deadline_after(COMMAND_NS);
        if (wait == SLRI_PARK)
            slri_futex_wait(&ring->state_event, event, soon < deadline_ns ? soon : deadline_ns);
    }
}

void slri_ring_wait_event(slr_ring *ring, uint64_t deadline_ns)
{
    uint32_t event = __atomic_load_n(&ring->state_event, __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE))
        slri_futex_wait(&ring->state_event, event, deadline_ns);
}

void slri_ring_wake_all(slr_ring *ring)
{
    slri_ring_wake_host(ring);
    slri_routes_wake(ring);
}

void slri_ring_wake_host(slr_ring *ring)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    __atomic_fetch_add(&ring->credit_event, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&ring->credit_event, UINT32_MAX);
    slri_mutex_lock(&ring->lock);
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i)
        slri_lane_tell(slri_lane_at(ring, i));
    slri_mutex_unlock(&ring->lock);
}

// ---- called by the owners of the shards ----------------------------------------------------------------------------

void slri_ring_shown(struct slri_shard *shard, uint32_t port)
{
    slr_ring *ring = shard->ring;
    if (!ring->max_replies)
        return;
    const struct slri_lane *lane = slri_lane_at(ring, port);
    slri_fence_light(); // what was published, before the look at who sleeps; the other half: ring.h, slri_announced
    if (slri_lane_has_waiter(lane)) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST); // what was published, before the look at a mark (marks.c)
        slri_lane_tell(lane);
    }
}

void slri_ring_tell(struct slri_shard *shard, uint32_t batch)
{
    slr_ring *ring = shard->ring;
    const uint32_t *P = shard->own;
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // what was published, before the looks at who sleeps
    if (batch == SLRI_ALL_PORTS) {
        // Who watches kernels that stay, and not the owner: a closed port's waker may go once the owner has let go of
        // it.
        slri_mutex_lock(&ring->lock);
        for (uint32_t port = 0; port < slri_ports_opened(ring) && ring->max_replies; ++port)
            slri_lane_tell(slri_lane_at(ring, port)); // to look for nothing, most of them
        slri_mutex_unlock(&ring->lock);
        batch = 0;
    }
    uint32_t last = UINT32_MAX;
    for (uint32_t k = 0; k < batch && ring->max_replies; ++k) {
        uint32_t port = P[MBP_BATCH(k)];
        if (port != last)
            slri_lane_tell(slri_lane_at(ring, port));
        last = port;
    }
    if (slri_ring_drops(ring))
        slri_ring_evicted(shard);
    if (__atomic_load_n(&ring->credit_waiters, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&ring->credit_event, 1, __ATOMIC_RELEASE);
        slri_futex_wake(&ring->credit_event, UINT32_MAX);
    }
}

// Of owners that are kernels which stay: one that has nothing to do goes to sleep while it drains, too, and does not
// see that the last message of another was the last of all.
static void wake_to_end(slr_ring *ring)
{
    const uint32_t *S = ring->S;
    if (!(MB_LOAD(MB_ACCEPTED) & MB_CLOSED) || mb_drained(S) == 0)
        return;
    for (uint32_t s = 0; s < ring->shards; ++s)
        slri_rouse(ring, s);
}

void slri_ring_published(struct slri_shard *shard, uint32_t batch)
{
    slr_ring *ring = shard->ring;
    if (ring->mode == SLR_RING_PERSISTENT)
        slri_grants_told(ring); // gives credits back, so before those who wait for them are woken
    slri_ring_tell(shard, batch);
    if (__atomic_load_n(&ring->route_waiters, __ATOMIC_RELAXED)) // after the fence
        slri_routes_wake(ring);
    if (shard->route.outlets)
        slri_relay_published(shard);
    if (ring->mode == SLR_RING_PERSISTENT)
        wake_to_end(ring);
}

void slri_ring_answered(struct slri_shard *shard, uint32_t state)
{
    slr_ring *ring = shard->ring;
    if (state != MB_ENDED && state != MB_STOPPED) {
        slri_ring_raise_event(ring);
        return;
    }
    slri_ring_operate_last(shard);
    if (__atomic_add_fetch(&ring->over_count, 1, __ATOMIC_ACQ_REL) == ring->shards) {
        __atomic_store_n(&ring->over, 1, __ATOMIC_RELEASE); // the last replies of all shards
        // Drained by close_input alone: nobody else will say so. Terminate has its own last steps; so a shard that
        // stopped leaves the state to it, even where it has given up: tried again, it hands back what is left.
        slri_mutex_lock(&ring->lock);
        bool alone = state == MB_ENDED && !ring->terminating && slr_ring_get_state(ring) == SLR_RING_DRAINING;
        if (alone)
            slri_ring_set_state(ring, SLR_RING_TERMINATED);
        slri_mutex_unlock(&ring->lock);
        slri_ring_raise_event(ring);
        slri_ring_wake_all(ring);
        slri_routes_source_ended(ring);
    }
    __atomic_fetch_sub(&ring->leaving, 1, __ATOMIC_RELEASE); // from here on destroy may free it
}

slr_status slr_reply_to(const slr_delivery *delivery, const void *reply, size_t bytes)
{
    if (!delivery || !reply)
        return SLRI_FAIL(INVALID, "slr_reply_to: %s is NULL", delivery ? "reply" : "delivery");
    if (delivery->ticket && !slri_loop_holds(delivery))
        return SLRI_FAIL(INVALID, "slr_reply_to: this loop no longer holds the message");
    struct slri_call *call = delivery->reply_context;
    if (bytes != call->reply_bytes || bytes == 0)
        return SLRI_FAIL(INVALID, "slr_reply_to: the reply has %zu B; the ring kernel declared %u B", bytes,
                         call->reply_bytes);
    if (call->replies == call->max_replies)
        return SLRI_FAIL(INVALID, "slr_reply_to: more than max_replies (%u) replies to one message", call->max_replies);
    uint32_t at = (call->reply_at + call->replies) & call->reply_mask;
    memcpy(call->reply_base + (size_t)at * call->reply_stride, reply, bytes);
    ++call->replies;
    return SLR_OK;
}

slr_delivery slri_ring_delivery(const slr_ring *ring, struct slri_call *call)
{
    const uint32_t *slot = (const uint32_t *)call->message - MB_PAYLOAD;
    return (slr_delivery){.message = call->message,
                          .state = call->state,
                          .bytes = ring->message_bytes,
                          .instance = call->instance,
                          .reply_context = call,
                          .correlation = slot[MB_CORRELATION],
                          .priority = slot[MB_HEAD] & 255u};
}

uint32_t slri_ring_host_handler(void *self, struct slri_call *call)
{
    const slr_ring *ring = self;
    slr_delivery delivery = slri_ring_delivery(ring, call);
    call->fault_line = 0; // slr_fail may set it
    slr_status status = ring->on_message(ring->user, &delivery);
    if (status == SLR_OK)
        status = (slr_status)call->fault_line;
    call->fault_line = (uint32_t)status;
    return status == SLR_OK ? SLRI_FAULT_NONE : SLRI_FAULT_STATUS;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

slr_status slr_ring_launch(slr_ring *ring)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_ring_launch: ring is NULL");
    SLRI_TRY(slri_ring_check_process(ring));
    slri_mutex_lock(&ring->lock);
    slr_status status;
    if (slr_ring_get_state(ring) != SLR_RING_CREATED) {
        status = wrong_ring_state(ring, "slr_ring_launch", "created");
    } else {
        status = slri_arena_create(ring);
        if (status == SLR_OK)
            slri_ring_set_state(ring, SLR_RING_LAUNCHED);
        else
            slri_arena_destroy(ring);
    }
    slri_mutex_unlock(&ring->lock);
    return status;
}

static slr_status start_shard(slr_ring *ring, struct slri_shard *shard)
{
    slr_device *device = ring->device;
    return ring->loop ? slri_loop_start(ring)
           : shard->mode == SLR_RING_PERSISTENT
               ? slri_loss_seen(device->facts.loss, slri_groups_start(device->facts.residents, shard))
               : slri_ring_owners_start(&device->owners, shard);
}

// Starts the shards; under lock. The first that does not start ends the others.
static slr_status start_shards(slr_ring *ring)
{
    for (uint32_t i = 0; i < ring->shards; ++i) {
        __atomic_fetch_add(&ring->leaving, 1, __ATOMIC_RELAXED);
        ring->shard[i].turn.owned = true;
        slr_status status = start_shard(ring, &ring->shard[i]);
        if (status == SLR_OK)
            continue;
        ring->shard[i].turn.owned = false;
        // The rest never ran: they count as over.
        __atomic_fetch_sub(&ring->leaving, 1, __ATOMIC_RELAXED);
        if (__atomic_add_fetch(&ring->over_count, ring->shards - i, __ATOMIC_ACQ_REL) == ring->shards)
            __atomic_store_n(&ring->over, 1, __ATOMIC_RELEASE);
        mb_close(ring->S);
        slri_ring_command(ring, MB_STOP);
        ring->failures++;
        char why[1024];
        snprintf(why, sizeof why, "it could not be started: %s", slr_error_message());
        slri_failure_note(ring, why);
        slri_ring_set_state(ring, SLR_RING_IN_FAILURE);
        return status;
    }
    return SLR_OK;
}

// The three calls that change between running and paused. Setting the state first and waiting outside the lock lets a
// terminate overtake.
static slr_status change(slr_ring *ring, const char *call, slr_ring_state from, slr_ring_state to, uint32_t command,
                         uint64_t timeout_ns)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "%s: ring is NULL", call);
    SLRI_TRY(slri_ring_check_process(ring));
    uint64_t deadline = slri_deadline_after(timeout_ns);
    slri_mutex_lock(&ring->lock);
    slr_status status = SLR_OK;
    uint32_t number = 0;
    if (slr_ring_get_state(ring) != from) {
        status = wrong_ring_state(ring, call, slr_ring_state_name(from));
    } else {
        number = slri_ring_command(ring, command);
        if (from == SLR_RING_LAUNCHED)
            status = start_shards(ring);
        if (status == SLR_OK)
            slri_ring_set_state(ring, to);
    }
    slri_mutex_unlock(&ring->lock);
    if (status == SLR_OK) {
        if (from == SLR_RING_LAUNCHED)
            slri_deadlock_look(
                ring); // its shards may have looked and gone to sleep before the state said that they run
        return slri_ring_await(ring, number, deadline, call);
    }
    if (slr_ring_get_state(ring) == SLR_RING_IN_FAILURE)
        slri_ring_wake_all(ring); // who waits for credit learns it
    return status;
}

slr_status slr_ring_activate(slr_ring *ring, uint64_t timeout_ns)
{
    return change(ring, "slr_ring_activate", SLR_RING_LAUNCHED, SLR_RING_ACTIVE, MB_RUN, timeout_ns);
}

slr_status slr_ring_deactivate(slr_ring *ring, uint64_t timeout_ns)
{
    return change(ring, "slr_ring_deactivate", SLR_RING_ACTIVE, SLR_RING_PAUSED, MB_PAUSE, timeout_ns);
}

slr_status slr_ring_reactivate(slr_ring *ring, uint64_t timeout_ns)
{
    slr_status status = change(ring, "slr_ring_reactivate", SLR_RING_PAUSED, SLR_RING_ACTIVE, MB_RUN, timeout_ns);
    if (status != SLR_OK && status != SLR_TIMEOUT) // behind a timeout it takes effect all the same
        return status;
    slr_status joined = slri_topics_pay(ring);
    return status == SLR_OK ? joined : status;
}

slr_status slr_ring_close_input(slr_ring *ring)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_ring_close_input: ring is NULL");
    SLRI_TRY(slri_ring_check_process(ring));
    slri_mutex_lock(&ring->lock);
    slr_status status = SLR_OK;
    if (slr_ring_get_state(ring) & (SLR_RING_ACTIVE | SLR_RING_PAUSED)) {
        mb_close(ring->S);
        slri_ring_set_state(ring, SLR_RING_DRAINING);
        slri_ring_command(ring, MB_CLOSE);
    } else {
        status = wrong_ring_state(ring, "slr_ring_close_input", "active or paused");
    }
    slri_mutex_unlock(&ring->lock);
    if (status == SLR_OK) {
        slri_ring_wake_all(ring); // senders that wait for credit now get CLOSED
        slri_grants_recall(ring);
    }
    return status;
}

slr_status slr_ring_get_address(const slr_ring *ring, uint32_t instance, slr_address *out)
{
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_ring_get_address: %s is NULL", ring ? "out" : "ring");
    if (slr_ring_get_state(ring) == SLR_RING_CREATED)
        return wrong_ring_state(ring, "slr_ring_get_address", "launched");
    if (instance >= ring->instances)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has instances 0 to %u; %u was asked for", ring->name,
                         ring->instances - 1, instance);
    *out = (slr_address){ring->place, ring->slot, ring->generation, instance};
    return SLR_OK;
}

// ---- counts --------------------------------------------------------------------------------------------------------

void slri_ring_extend(slr_ring *ring)
{
    slri_mutex_lock(&ring->count_lock);
    uint32_t *S = ring->S;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        uint32_t owner = mb_owner(S, i);
        // Acquire: that those messages were accepted.
        struct slri_seen now = {.handled = MB_ACQUIRE(owner + MB_HANDLED),
                                .faulted = MB_ACQUIRE(owner + MB_FAULTED),
                                .replied = MB_LOAD(owner + MB_REPLIED),
                                .dropped = MB_ACQUIRE(owner + MB_DROPPED),
                                .in_doubt = MB_ACQUIRE(owner + MB_IN_DOUBT),
                                .letters_lost = MB_LOAD(owner + MB_LETTERS_LOST)};
        ring->handled += now.handled - ring->shard[i].turn.seen.handled;
        ring->faulted += now.faulted - ring->shard[i].turn.seen.faulted;
        ring->replied += now.replied - ring->shard[i].turn.seen.replied;
        ring->dropped += now.dropped - ring->shard[i].turn.seen.dropped;
        ring->in_doubt += now.in_doubt - ring->shard[i].turn.seen.in_doubt;
        ring->letters_lost += now.letters_lost - ring->shard[i].turn.seen.letters_lost;
        ring->shard[i].turn.seen = now;
    }
    slri_passages_extend(ring); // behind what was handled: what that has sent
    slri_mutex_unlock(&ring->count_lock);
}

// How many of the accepted messages are not retired, at least. What was accepted is read behind what is retired, so
// that nothing retired is missing from it. More may have been retired meanwhile, and accepted in its place: no more
// than there are credits was open when `retired` was read.
//
// Credits that are not messages yet are left out, each time with all that may be such. Those in doubt: the ones that
// ended are read before what was accepted, by an acquire, and the ones that began behind it. So the difference has each
// that `accepted` has, and no look gives too much. The largest of several is closest. False: no look at this moment.
static bool look_open(const slr_ring *ring, uint32_t retired, uint32_t *open, uint32_t *in_doubt)
{
    const uint32_t *S = ring->S;
    uint32_t accepted, held, ended = __atomic_load_n(&ring->doubt.ended, __ATOMIC_ACQUIRE);
    if (!slri_routes_accepted(ring, &accepted, &held))
        return false;
    *in_doubt = __atomic_load_n(&ring->doubt.begun, __ATOMIC_RELAXED) - ended;
    *open = (accepted + slri_grants_accepted(ring) - retired - held - *in_doubt) & MB_COUNT;
    if (*open > MB_COUNT / 2) // less than nothing; what kernels have sent is told a moment late, too (cu_passage.h)
        *open = 0;
    if (*open > S[MB_CAPACITY])
        *open = S[MB_CAPACITY];
    return true;
}

// Gives whether no credit was in doubt at a look.
static bool count_unretired(const slr_ring *ring, uint32_t retired, uint32_t *open)
{
    *open = 0;
    for (uint32_t look = 0; look < LOOKS; ++look) {
        uint32_t now, in_doubt;
        bool looked = look_open(ring, retired, &now, &in_doubt);
        if (looked && now > *open)
            *open = now;
        if (looked && in_doubt == 0)
            return true;
        slri_pause();
    }
    return false;
}

// Under the locks of routes and of counts.
static bool count_messages(slr_ring *ring, slr_ring_stats *out)
{
    uint32_t retired = 0, open;
    for (uint32_t i = 0; i < ring->shards; ++i)
        retired += ring->shard[i].turn.seen.handled + ring->shard[i].turn.seen.faulted +
                   ring->shard[i].turn.seen.dropped + ring->shard[i].turn.seen.in_doubt;
    out->handled = ring->handled;
    out->faulted = ring->faulted;
    out->replied = ring->replied;
    out->undelivered = ring->undelivered;
    out->dropped = ring->dropped;
    out->in_doubt = ring->in_doubt;
    out->dropped_oldest = ring->overflow == SLR_OVERFLOW_DROP_OLDEST ? ring->dropped : 0;
    out->dropped_lowest = ring->overflow == SLR_OVERFLOW_DROP_LOWEST ? ring->dropped : 0;
    out->dead_letters_lost = ring->letters_lost;
    out->redelivered = out->records_dropped = 0;
    for (uint32_t i = 0; i < ring->shards; ++i) {
        out->redelivered += __atomic_load_n(&ring->shard[i].notes.redelivered, __ATOMIC_RELAXED);
        out->records_dropped += __atomic_load_n(&ring->shard[i].watch.records_dropped, __ATOMIC_RELAXED);
    }
    bool certain = count_unretired(ring, retired, &open);
    // At least so many were accepted by each of the three: the largest is closest, and never falls.
    uint64_t done = out->handled + out->faulted + out->dropped + out->in_doubt;
    uint64_t over = done + out->undelivered, told = ring->accepted_told, now = done + open;
    out->accepted = now > over ? now : over;
    out->accepted = told > out->accepted ? told : out->accepted;
    out->pending = out->accepted - over;
    ring->accepted_told = out->accepted;
    return certain;
}

// A sender may have lost its core between the count of its doubt and its claim, and until it goes on each look leaves
// out as many messages: then it gets some turns to do so, with no lock held.
static void count(slr_ring *ring, slr_ring_stats *out)
{
    bool certain = false;
    for (uint32_t turn = 0; !certain && turn < TURNS; ++turn) {
        if (turn != 0)
            slri_yield();
        slri_routes_lock();
        slri_ring_extend(ring);
        slri_mutex_lock(&ring->count_lock);
        certain = count_messages(ring, out);
        slri_mutex_unlock(&ring->count_lock);
        slri_routes_count(ring, out);
        slri_routes_unlock();
    }
    out->refused = __atomic_load_n(&ring->refused, __ATOMIC_RELAXED);
    slri_faults_describe(ring, out);
    slri_printing_count(ring, out);
    slri_keys_count(ring, out);
    slri_telemetry_count(ring, out);
}

static void read_stats(slr_ring *ring, slr_ring_stats *out)
{
    *out = (slr_ring_stats){.state = slr_ring_get_state(ring), .mode = ring->mode};
    snprintf(out->mode_reason, sizeof out->mode_reason, "%s", ring->mode_reason ? ring->mode_reason : "");
    slri_mutex_lock(&ring->lock);
    out->failures = ring->failures;
    out->restarts = ring->failure.restarts;
    slri_failure_read(ring, out->last_failure, sizeof out->last_failure);
    slri_mutex_unlock(&ring->lock);
    if (out->state != SLR_RING_CREATED && ring->S)
        count(ring, out);
}

slr_status slr_ring_get_stats_sized(slr_ring *ring, slr_ring_stats *out, size_t bytes)
{
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_ring_get_stats: %s is NULL", ring ? "out" : "ring");
    SLRI_TRY(slri_ring_check_process(ring));
    slr_ring_stats whole;
    read_stats(ring, &whole);
    return SLRI_GIVE_REPORT(slr_ring_stats, out, bytes, &whole);
}

slr_status(slr_ring_get_stats)(slr_ring *ring, slr_ring_stats *out)
{
    return slr_ring_get_stats_sized(ring, out, SLRI_FIRST_slr_ring_stats);
}

// ---- holds ---------------------------------------------------------------------------------------------------------

void slri_ring_hold(slr_ring *ring)
{
    slri_hold(&ring->holds);
}

void slri_ring_release(slr_ring *ring)
{
    if (slri_let_go(&ring->holds))
        slri_ring_dispose(ring);
}

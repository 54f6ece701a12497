// SPDX-License-Identifier: Apache-2.0
// Ending a ring kernel: close, drain until the deadline, stop, and hand back each message that was accepted and not
// handled.
#include "base/clock.h"
#include "base/kept.h"
#include "base/sized.h"
#include "base/status.h"
#include "ring/printing.h"
#include "ring/ring.h"

struct hand_back {
    slr_ring *ring;
    slr_on_undelivered *call;
    void *user;
    const char *reason;
    uint32_t count;
};

static void give(struct hand_back *back, const struct slri_shard *shard, uint32_t at)
{
    uint32_t *S = back->ring->S;
    back->count++;
    mb_write_letter(S, shard->own, at, MB_LETTER_UNDELIVERED); // its owner is over
    if (!back->call)
        return;
    slr_undelivered undelivered = {.message = &S[at + MB_PAYLOAD],
                                   .bytes = back->ring->message_bytes,
                                   .instance = S[at + MB_INSTANCE],
                                   .correlation = S[at + MB_CORRELATION],
                                   .priority = S[at + MB_HEAD] & 255u,
                                   .reason = back->reason};
    back->call(back->user, &undelivered);
}

// What a look before sleeping had claimed when the stop came: in no list and in no lane.
static void give_claimed(struct hand_back *back, const struct slri_shard *shard)
{
    for (uint32_t k = 0; k < shard->own[MBP_BATCH_COUNT]; ++k)
        give(back, shard, shard->own[MBP_BATCH(k) + 1]);
}

// What a loop had taken and not ended. Its main has returned.
static void give_held(struct hand_back *back)
{
    const slr_context *loop = back->ring->loop;
    for (uint32_t node = 1; loop && node <= back->ring->shard[0].own[MBP_USED]; ++node)
        if (slri_loop_held(loop, node))
            give(back, &back->ring->shard[0], slri_loop_held(loop, node));
}

// A port's pending messages in one shard, highest priority first.
static void give_pending(struct hand_back *back, const struct slri_shard *shard, uint32_t port)
{
    const uint32_t *S = shard->shared;
    const uint32_t *P = shard->own;
    uint32_t q = mb_port(P, port);
    for (uint32_t priority = 256; priority-- > 0 && P[q + MBQ_SUMMARY];) {
        if (!(P[q + MBQ_BITS(priority >> 5)] & (1u << (priority & 31))))
            continue;
        for (uint32_t node = P[mb_lists(P, port) + MBL_FIRST(priority)]; node != 0; node = S[mb_node(S, P, node)])
            give(back, shard, mb_node(S, P, node));
    }
}

// What a lane shows and the owner has not taken. Moves the owner's cursor: it will not run again.
static void give_lane(struct hand_back *back, const struct slri_shard *shard, uint32_t port)
{
    const uint32_t *S = shard->shared;
    uint32_t *next = &shard->own[mb_port(shard->own, port) + MBQ_NEXT_IN];
    uint32_t lane = mb_lane(S, shard->number, port);
    while (MB_ACQUIRE(mb_lane_slot(S, lane, *next) + MB_SEQUENCE) == *next + 1) {
        give(back, shard, mb_lane_slot(S, lane, *next));
        ++*next;
    }
}

static void give_taken(struct hand_back *back)
{
    const slr_ring *ring = back->ring;
    // Acquire: the lanes are there.
    uint32_t ports = __atomic_load_n(&ring->ports_opened, __ATOMIC_ACQUIRE);
    give_held(back);
    for (uint32_t s = 0; s < ring->shards; ++s) {
        give_claimed(back, &ring->shard[s]);
        for (uint32_t port = 0; port < ports; ++port)
            give_pending(back, &ring->shard[s], port);
    }
}

static bool has_given_all(const struct hand_back *back)
{
    slr_ring *ring = back->ring;
    const uint32_t *S = ring->S;
    return back->count >= ((MB_LOAD(MB_ACCEPTED) - mb_retired(S)) & MB_COUNT) + slri_grants_open(ring);
}

// Under no lock: the shards are over, the input is closed, and only this thread is here. False: something was accepted
// and has not been published; the next try goes on from here.
static bool give_all(struct hand_back *back)
{
    slr_ring *ring = back->ring;
    mb_close(ring->S);
    back->count = ring->handed_back;
    if (!ring->hands_back)
        give_taken(back);
    ring->hands_back = true;
    // A sender that has claimed but not published yet is a few stores away, a route's up to a batch of handlers; that
    // one may give credits back, too, so what is open is looked at again. Where it gets no core for longer, its message
    // is not given up: no time says that it will not come.
    struct slri_backoff backoff = {.until.deadline_ns = slri_deadline_after(slri_ring_patience_ns(ring))};
    uint32_t ports =
        __atomic_load_n(&ring->ports_opened, __ATOMIC_ACQUIRE); // the lanes; a port that comes later gets no credit
    do {
        for (uint32_t s = 0; s < ring->shards; ++s)
            for (uint32_t port = 0; port < ports; ++port)
                give_lane(back, &ring->shard[s], port);
    } while (!has_given_all(back) && slri_backoff_step(&backoff) != SLRI_TOO_LATE);
    ring->handed_back = back->count;
    return has_given_all(back);
}

static bool finish(slr_ring *ring, struct hand_back *back)
{
    if (!ring->hands_back)
        slri_near_bring(ring);
    slri_grants_forget(ring); // the input is closed, and its owners retire no more
    bool all = give_all(back);
    if (all)
        slri_slices_end(ring);
    slri_mutex_lock(&ring->count_lock);
    ring->undelivered = back->count;
    slri_mutex_unlock(&ring->count_lock);
    if (!all)
        return false;
    slri_mutex_lock(&ring->lock);
    __atomic_store_n(&ring->over, 1, __ATOMIC_RELEASE);
    slri_ring_set_state(ring, SLR_RING_TERMINATED);
    slri_mutex_unlock(&ring->lock);
    slri_ring_wake_all(ring);
    slri_routes_source_ended(ring);
    return true;
}

static bool wait_over(slr_ring *ring, uint64_t deadline_ns)
{
    // slri_ring_answered raises the state's event when the last shard is over; the state itself is terminate's to set.
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    while (!__atomic_load_n(&ring->over, __ATOMIC_ACQUIRE)) {
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return false;
        if (wait == SLRI_PARK)
            slri_ring_wait_event(ring, deadline_ns);
    }
    return true;
}

// Begins the end, under lock. Gives the state that it found. `at_once`: no message begins any more.
static slr_ring_state begin_terminate(slr_ring *ring, bool at_once)
{
    slr_ring_state state = slr_ring_get_state(ring);
    switch (state) {
    case SLR_RING_CREATED:
        slri_ring_set_state(ring, SLR_RING_TERMINATED);
        break;
    case SLR_RING_LAUNCHED: // no shard runs
        mb_close(ring->S);
        __atomic_store_n(&ring->over, 1, __ATOMIC_RELEASE);
        break;
    case SLR_RING_ACTIVE:
    case SLR_RING_PAUSED:
        mb_close(ring->S);
        slri_ring_command(ring, at_once ? MB_STOP : MB_CLOSE);
        break;
    case SLR_RING_IN_FAILURE: // it handles nothing any more
        slri_ring_command(ring, MB_STOP);
        break;
    case SLR_RING_DRAINING:
    case SLR_RING_TERMINATED:
        break;
    }
    if (state & (SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED))
        slri_ring_set_state(ring, SLR_RING_DRAINING);
    return state;
}

static slr_status give_up(slr_ring *ring, const char *who)
{
    slri_mutex_lock(&ring->lock);
    ring->terminating = false; // it can be tried again
    slri_mutex_unlock(&ring->lock);
    return SLRI_FAIL(TIMEOUT, "ring kernel '%s': %s has not returned within %llu s of the deadline", ring->name, who,
                     (unsigned long long)(slri_ring_patience_ns(ring) / 1000000000u));
}

static slr_status end(slr_ring *ring, uint64_t deadline_ns, struct hand_back *back)
{
    slri_ring_wake_all(ring); // blocked senders learn that the input is closed
    slri_grants_recall(ring);
    if (!wait_over(ring, deadline_ns)) {
        slri_mutex_lock(&ring->lock);
        slri_ring_command(ring, MB_STOP);
        slri_mutex_unlock(&ring->lock);
        if (!wait_over(ring, slri_deadline_after(slri_ring_patience_ns(ring))))
            return give_up(ring, "a handler");
    }
    if (!slri_grants_await(ring, slri_deadline_after(slri_ring_patience_ns(ring))))
        return give_up(ring, "a handler that sends to it");
    return finish(ring, back) ? SLR_OK : give_up(ring, "a sender");
}

slr_status slr_ring_terminate_sized(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered, void *user,
                                    slr_ring_stats *stats, size_t bytes)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_ring_terminate: ring is NULL");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_ring_stats, bytes));
    SLRI_TRY(slri_ring_check_process(ring));
    uint64_t deadline = slri_deadline_after(timeout_ns);
    slri_mutex_lock(&ring->lock);
    bool first = !ring->terminating;
    slr_ring_state found = first ? begin_terminate(ring, timeout_ns == 0) : slr_ring_get_state(ring);
    bool mine = first && !(found & (SLR_RING_CREATED | SLR_RING_TERMINATED));
    ring->terminating = ring->terminating || mine;
    slri_mutex_unlock(&ring->lock);
    struct hand_back back = {.ring = ring,
                             .call = on_undelivered,
                             .user = user,
                             .reason = found == SLR_RING_LAUNCHED ? "it was never activated"
                                                                  : "terminated before it was handled"};
    slr_status status = SLR_OK;
    if (mine)
        status = end(ring, deadline, &back);
    else if (!first) // another thread is at it, with a deadline of its own
        status = slr_ring_wait(ring, SLR_RING_TERMINATED,
                               timeout_ns < UINT64_MAX / 2 ? timeout_ns + 2 * slri_ring_patience_ns(ring) : timeout_ns);
    if (status == SLR_OK)
        slri_printing_flush(ring, slri_deadline_after(slri_ring_patience_ns(ring)));
    if (status == SLR_OK && stats)
        status = slr_ring_get_stats_sized(ring, stats, bytes);
    return status;
}

slr_status(slr_ring_terminate)(slr_ring *ring, uint64_t timeout_ns, slr_on_undelivered *on_undelivered, void *user,
                               slr_ring_stats *stats)
{
    return slr_ring_terminate_sized(ring, timeout_ns, on_undelivered, user, stats, SLRI_FIRST_slr_ring_stats);
}

// The owners' last words in slri_ring_answered are a few steps behind `over`.
static void wait_left(const slr_ring *ring)
{
    struct slri_backoff backoff = {.until.deadline_ns = SLRI_FOREVER};
    while (__atomic_load_n(&ring->leaving, __ATOMIC_ACQUIRE) != 0)
        if (slri_backoff_step(&backoff) == SLRI_PARK)
            slri_yield();
}

void slr_ring_destroy(slr_ring *ring)
{
    if (!ring || slri_device_is_anothers(ring->device))
        return;
    bool ended = slr_ring_terminate(ring, 0, NULL, NULL, NULL) == SLR_OK;
    slri_table_leave(ring);
    slri_topics_forget(ring);
    slri_printing_finish(ring);
    if (!ended) { // a handler still runs on its memory: it stays allocated
        slri_kept_add(ring->arena_bytes + ring->shards * (ring->own_bytes + ring->states_bytes));
        return;
    }
    wait_left(ring);
    slri_loop_join(ring->loop);
    slri_routes_drop(ring);
    if (ring->relaunch)
        slri_relaunch_drop(
            ring->relaunch); // ports may hold the rest for long, and the device be opened again meanwhile
    slri_ring_release(ring);
}

// SPDX-License-Identifier: Apache-2.0
// Ring kernels in loop form. The thread of a main is the owner of the one shard: it does what a worker does for
// handlers, inside the calls that main makes. So nothing here is shared but the mailbox, and nothing is locked on the
// way of a message.
#include "abi/held.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/share.h"
#include "base/sim.h"
#include "base/status.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

struct held { // a message that main has taken; found by its node in the pool
    struct slri_call call;
    slr_context *loop;
    uint64_t ticket; // 0: not held
    uint32_t node, port;
    uint32_t replies[]; // written, and sent when it ends: max_replies, whole words each
};

struct slr_context {
    slr_ring *ring;
    struct slri_shard *shard;
    unsigned char *held; // by node
    size_t held_stride;
    struct slri_share share; // what holds `held`
    uint32_t reply_words;
    uint64_t tickets;
    uint32_t told_control; // what slri_ring_answered was last called for
    slr_port *port;
    bool started;
    slri_thread thread;
    uint32_t failed; // atomic; behind `status`
    slr_status status;
};

static struct held *held_at(const slr_context *loop, uint32_t node)
{
    return (struct held *)(void *)(loop->held + node * loop->held_stride);
}

// ---- hearing and sleeping -------------------------------------------------------------------------------------------

static uint32_t state_of(const slr_context *loop)
{
    return loop->shard->own[MBP_STATE];
}

// Obeys what has been commanded. That a stop was heard is not told here: the shard is over when main has returned.
static void hear(slr_context *loop)
{
    uint32_t *P = loop->shard->own;
    mb_hear(loop->shard->shared, P);
    if (P[MBP_CONTROL] == loop->told_control)
        return;
    loop->told_control = P[MBP_CONTROL];
    if (state_of(loop) != MB_STOPPED)
        slri_ring_answered(loop->shard, state_of(loop));
}

// Whether nothing will come any more.
static bool is_over(const slr_context *loop)
{
    const uint32_t *P = loop->shard->own;
    return state_of(loop) == MB_STOPPED || mb_all_taken(loop->shard->shared, P, P[MBP_CONTROL] - 1);
}

static void describe_loop(slr_context *loop, uint32_t k, slr_delivery *out)
{
    const slr_ring *ring = loop->ring;
    const uint32_t *S = loop->shard->shared, *entry = &loop->shard->own[MBP_BATCH(k)];
    const uint32_t *slot = &S[entry[1]];
    struct held *held = held_at(loop, entry[2]);
    uint32_t instance = slot[MB_INSTANCE];
    held->call = (struct slri_call){
        .state = ring->state_bytes ? loop->shard->states + instance * loop->shard->state_stride : NULL,
        .message = &slot[MB_PAYLOAD],
        .reply_base = (unsigned char *)held->replies,
        .reply_mask = UINT32_MAX,
        .reply_stride = loop->reply_words * 4,
        .reply_bytes = ring->reply_bytes,
        .max_replies = ring->max_replies,
        .instance = instance,
    };
    held->loop = loop;
    held->ticket = ++loop->tickets;
    held->port = entry[0];
    held->node = entry[2];
    *out = slri_ring_delivery(ring, &held->call);
    out->ticket = held->ticket;
}

// Hears, and takes what there is, up to `most`.
static uint32_t look(slr_context *loop, slr_delivery *out, uint32_t most)
{
    hear(loop);
    uint32_t *P = loop->shard->own;
    uint32_t taken = 0, came = state_of(loop) == MB_RUNNING;
    while (taken < most && came != 0) {
        P[MBP_MOST] = most - taken < MB_BATCH ? most - taken : MB_BATCH;
        came = mb_hold(loop->shard->shared, P);
        for (uint32_t k = 0; k < came; ++k)
            describe_loop(loop, k, &out[taken + k]);
        taken += came;
    }
    return taken;
}

static uint32_t sleep_kind(const slr_context *loop)
{
    if (state_of(loop) == MB_PAUSED)
        return SLRI_ASLEEP_PAUSED;
    return loop->shard->own[MBP_WAITING] != 0 ? SLRI_ASLEEP_BLOCKED : SLRI_ASLEEP;
}

// Announce, full fence, look again, sleep (wait.c). The announcement carries no data, so it is relaxed. A look may find
// a message without reply room: its sender saw the announcement of a sleep for messages, and its receiver must find
// another.
static uint32_t look_and_sleep(slr_context *loop, slr_delivery *out, uint32_t most, uint64_t deadline_ns)
{
    uint32_t *asleep = &loop->shard->asleep;
    uint32_t kind = sleep_kind(loop);
    __atomic_store_n(asleep, kind, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint32_t taken = look(loop, out, most);
    if (taken == 0 && !is_over(loop) && sleep_kind(loop) == kind)
        slri_futex_wait(asleep, kind, deadline_ns);
    __atomic_store_n(asleep, 0, __ATOMIC_RELAXED);
    return taken;
}

// Whoever wakes has taken `asleep` back to 0, and holds the ring kernel.
void slri_loop_wake(slr_context *loop)
{
    slri_futex_wake(&loop->shard->asleep, 1);
}

// ---- main's calls: waiting ------------------------------------------------------------------------------------------

static slr_status end_of(const slr_context *loop)
{
    return SLRI_FAIL(END, "ring kernel '%s': %s", loop->ring->name,
                     state_of(loop) == MB_STOPPED ? "it must stop" : "its input is closed and all messages are taken");
}

slr_status slr_take(slr_context *context, slr_delivery *out, uint32_t most, uint64_t linger_ns, uint64_t timeout_ns,
                    uint32_t *taken)
{
    if (taken)
        *taken = 0;
    if (!context || !out || !taken || most == 0)
        return SLRI_FAIL(INVALID, "slr_take: %s",
                         !context ? "context is NULL"
                         : !out   ? "out is NULL"
                         : !taken ? "taken is NULL"
                                  : "most is 0");
    *taken = look(context, out, most);
    bool lingers = false;
    struct slri_backoff backoff = {.until.timeout_ns = timeout_ns};
    for (;;) {
        if (*taken == most || (*taken != 0 && state_of(context) != MB_RUNNING))
            return SLR_OK;
        if (is_over(context))
            return *taken ? SLR_OK : end_of(context);
        if (*taken != 0 && !lingers) { // the first have come
            lingers = true;
            backoff = (struct slri_backoff){.until.timeout_ns = linger_ns};
        }
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return *taken
                       ? SLR_OK
                       : SLRI_FAIL(TIMEOUT, "ring kernel '%s': %s within %llu ns", context->ring->name,
                                   state_of(context) == MB_PAUSED ? "it was still paused" : "no message could be taken",
                                   (unsigned long long)timeout_ns);
        *taken += wait == SLRI_PARK ? look_and_sleep(context, out + *taken, most - *taken, backoff.until.deadline_ns)
                                    : look(context, out + *taken, most - *taken);
    }
}

slr_status slr_wait_until_active(slr_context *context, uint64_t timeout_ns)
{
    if (!context)
        return SLRI_FAIL(INVALID, "slr_wait_until_active: context is NULL");
    struct slri_backoff backoff = {.until.timeout_ns = timeout_ns};
    for (;;) {
        hear(context);
        if (state_of(context) == MB_STOPPED)
            return end_of(context);
        if (state_of(context) == MB_RUNNING)
            return SLR_OK;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_TOO_LATE)
            return SLRI_FAIL(TIMEOUT, "ring kernel '%s' was still paused after %llu ns", context->ring->name,
                             (unsigned long long)timeout_ns);
        if (wait == SLRI_PARK)
            look_and_sleep(context, NULL, 0, backoff.until.deadline_ns);
    }
}

// What main may ask for over and over.
static void step_if_simulated(void)
{
    if (slri_sim_on())
        slri_sim_step();
}

int slr_is_active(slr_context *context)
{
    if (!context)
        return 0;
    step_if_simulated();
    hear(context);
    return state_of(context) == MB_RUNNING;
}

int slr_should_terminate(slr_context *context)
{
    if (!context)
        return 0;
    step_if_simulated();
    hear(context);
    return state_of(context) == MB_STOPPED;
}

slr_status slr_context_port(slr_context *context, slr_port **out)
{
    if (!context || !out)
        return SLRI_FAIL(INVALID, "slr_context_port: %s is NULL", context ? "out" : "context");
    if (!context->port)
        SLRI_TRY(slr_port_open(context->ring->device, &context->port));
    *out = context->port;
    return SLR_OK;
}

// ---- main's calls: ending a message ---------------------------------------------------------------------------------

bool slri_loop_holds(const slr_delivery *delivery)
{
    const struct held *held = delivery->reply_context;
    return held && held->ticket == delivery->ticket;
}

// Notes how long it took, where it is timed; before it is published.
static void note_latency(const struct held *held)
{
    struct slri_shard *shard = held->loop->shard;
    const uint32_t *S = shard->shared;
    uint32_t at = mb_node(S, shard->own, held->node);
    if (S[at + MB_HEAD] & MB_FLAG_TIMED)
        slri_shard_note_latency(shard, held->port, at, held->node, slri_now_ns());
}

static void end_held(struct held *held, uint32_t replies, uint32_t flags)
{
    struct slri_shard *shard = held->loop->shard;
    held->ticket = 0;
    note_latency(held);
    mb_end_held(shard->shared, shard->own, held->port, held->node, replies, flags);
    slri_ring_published(shard, 1); // mb_end_held left it in the batch's first entry
}

slr_status slr_done(const slr_delivery *delivery)
{
    if (!delivery || !delivery->ticket || !slri_loop_holds(delivery))
        return SLRI_FAIL(INVALID, "slr_done: %s",
                         !delivery           ? "delivery is NULL"
                         : !delivery->ticket ? "a handler's message completes when the handler returns"
                                             : "this loop no longer holds the message");
    struct held *held = delivery->reply_context;
    const slr_context *loop = held->loop;
    for (uint32_t n = 0; n < held->call.replies; ++n)
        mb_copy_reply(loop->shard->shared, loop->shard->own, held->port, n, &held->replies[n * loop->reply_words],
                      loop->reply_words);
    end_held(held, held->call.replies, 0);
    return SLR_OK;
}

static void note_fault(const slr_context *loop, slr_status status, uint32_t instance)
{
    const struct slri_call call = {.fault_line = (uint32_t)status, .instance = instance};
    slri_shard_note_fault(loop->shard, SLRI_FAULT_STATUS, &call);
}

static void reset(const slr_ring *ring, void *state)
{
    if (state && ring->initial_state)
        memcpy(state, ring->initial_state, ring->state_bytes);
    else if (state)
        memset(state, 0, ring->state_bytes);
}

slr_status slr_fail(const slr_delivery *delivery, slr_status status)
{
    if (!delivery || status == SLR_OK)
        return SLRI_FAIL(INVALID, "slr_fail: %s", delivery ? "status is SLR_OK" : "delivery is NULL");
    struct slri_call *call = delivery->reply_context;
    if (!delivery->ticket) { // a handler's: settled when it returns
        call->fault_line = (uint32_t)status;
        return SLR_OK;
    }
    if (!slri_loop_holds(delivery))
        return SLRI_FAIL(INVALID, "slr_fail: this loop no longer holds the message");
    struct held *held = delivery->reply_context;
    note_fault(held->loop, status, call->instance);
    reset(held->loop->ring, call->state);
    end_held(held, call->max_replies ? 1 : 0, MB_FLAG_FAULT);
    return SLR_OK;
}

uint32_t slri_loop_held(const slr_context *loop, uint32_t node)
{
    return held_at(loop, node)->ticket ? mb_node(loop->shard->shared, loop->shard->own, node) : 0;
}

// ---- the thread -----------------------------------------------------------------------------------------------------

// Main has returned, by itself unless a terminate is under way, which then says how it ends.
static void decide(slr_context *loop, slr_status status)
{
    slr_ring *ring = loop->ring;
    const uint32_t *P = loop->shard->own;
    slri_mutex_lock(&ring->lock);
    bool whole = mb_close(ring->S) == ((P[MBP_HANDLED] + P[MBP_FAULTED]) & MB_COUNT);
    if (!ring->terminating && status == SLR_OK && whole) {
        slri_ring_set_state(ring, SLR_RING_DRAINING); // slri_ring_answered makes it `terminated`
    } else if (!ring->terminating) {
        loop->status = status;
        __atomic_store_n(&loop->failed, 1, __ATOMIC_RELEASE);
        slri_ring_set_state(ring, SLR_RING_IN_FAILURE);
    }
    slri_mutex_unlock(&ring->lock);
}

static void run_loop(void *arg)
{
    slr_context *loop = arg;
    slr_ring *ring = loop->ring;
    hear(loop); // activate waits for the answer, not for main's first call
    slr_status status = ring->main(ring->user, loop);
    slr_port_close(loop->port);
    hear(loop);
    decide(loop, status);
    if (state_of(loop) != MB_STOPPED)
        mb_answer(loop->shard->shared, loop->shard->own, MB_ENDED);
    slri_ring_answered(loop->shard, state_of(loop)); // from here on only slri_loop_join knows the thread
}

void slri_loop_describe(const slr_context *loop, char *out, size_t room)
{
    if (!__atomic_load_n(&loop->failed, __ATOMIC_ACQUIRE))
        return;
    if (loop->status != SLR_OK)
        snprintf(out, room, "main returned %s", slr_status_name(loop->status));
    else
        snprintf(out, room, "main returned before all of its messages had ended");
}

slr_status slri_loop_start(slr_ring *ring)
{
    char name[16];
    snprintf(name, sizeof name, "slr-%.11s", ring->name);
    SLRI_TRY(slri_thread_start(&ring->loop->thread, name, run_loop, ring->loop));
    ring->loop->started = true;
    return SLR_OK;
}

void slri_loop_join(slr_context *loop)
{
    if (loop && loop->started)
        slri_thread_join(&loop->thread);
}

// ---- making ---------------------------------------------------------------------------------------------------------

slr_status slri_loop_create(slr_ring *ring)
{
    slr_context *loop = slri_alloc(ring->device->allocator, sizeof *loop);
    if (!loop)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a context", ring->name);
    ring->loop = loop;
    loop->ring = ring;
    loop->shard = &ring->shard[0];
    loop->reply_words = (ring->reply_bytes + 3) / 4;
    size_t bytes = sizeof(struct held) + (size_t)ring->max_replies * loop->reply_words * 4;
    loop->held_stride = (bytes + 63) / 64 * 64;
    size_t nodes = (size_t)ring->queue_size + 1; // they count from 1
    loop->held = slri_share_bytes(loop->held_stride * nodes, &loop->share);
    return loop->held
               ? SLR_OK
               : SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory to hold %u messages", ring->name, ring->queue_size);
}

void slri_loop_destroy(slr_ring *ring)
{
    slr_context *loop = ring->loop;
    if (!loop)
        return;
    slri_share_give(&loop->share, 0);
    slri_free(ring->device->allocator, loop, sizeof *loop);
    ring->loop = NULL;
}

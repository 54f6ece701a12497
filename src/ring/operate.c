// SPDX-License-Identifier: Apache-2.0
// Operations on a shard that is running: its owner does them between two batches, so that they never meet a handler.
// They wait in a list of the shard under the ring kernel's lock, which the owner takes only when it is asked to:
// control has a way that messages cannot fill. Where no owner runs (launched, terminated) the caller does them under
// the same lock.
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/text.h"
#include "ring/keys.h"
#include "ring/ring.h"

#include <string.h>

// ---- the owner's side ---------------------------------------------------------------------------------------

// Under lock. Release: what it did, for its caller, who may be gone behind it.
static void run_all(struct slri_shard *shard, bool at_rest)
{
    for (struct slri_operation **at = &shard->turn.first; *at;) {
        struct slri_operation *op = *at;
        if (op->at_rest && !at_rest) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        op->run(op, shard);
        __atomic_store_n(&op->ran, 1, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&shard->turn.asked, shard->turn.first ? SLRI_ASKED_AT_REST : 0, __ATOMIC_RELAXED);
}

void slri_ring_operate_all(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    slri_mutex_lock(&ring->lock);
    run_all(shard, shard->turn.at_rest);
    slri_mutex_unlock(&ring->lock);
    slri_ring_raise_event(ring);
}

void slri_ring_operate_last(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    slri_mutex_lock(&ring->lock);
    shard->turn.owned = false; // from here on callers help themselves
    run_all(shard, true);
    slri_mutex_unlock(&ring->lock);
    slri_ring_raise_event(ring);
}

// ---- the caller's side --------------------------------------------------------------------------------------

static void enter_operate(struct slri_shard *shard, struct slri_operation *op)
{
    struct slri_operation **at = &shard->turn.first;
    while (*at)
        at = &(*at)->next;
    *at = op;
    op->next = NULL;
    if (op->at_rest ||
        !__atomic_load_n(&shard->turn.asked, __ATOMIC_RELAXED)) // before the fence in slri_ring_wake_shard
        __atomic_store_n(&shard->turn.asked, op->at_rest ? SLRI_ASKED_AT_REST : SLRI_ASKED, __ATOMIC_RELAXED);
}

// Takes an operation back that has not run. False: it has run after all.
static bool withdraw(slr_ring *ring, struct slri_shard *shard, const struct slri_operation *op)
{
    bool found = false;
    slri_mutex_lock(&ring->lock);
    for (struct slri_operation **at = &shard->turn.first; *at && !found; at = found ? at : &(*at)->next) {
        found = *at == op;
        if (found)
            *at = op->next;
    }
    slri_mutex_unlock(&ring->lock);
    return found;
}

static slr_status await_operate(slr_ring *ring, struct slri_shard *shard, struct slri_operation *op,
                                uint64_t deadline_ns, const char *call)
{
    struct slri_backoff backoff = {.until.deadline_ns = deadline_ns};
    for (;;) {
        uint32_t event = __atomic_load_n(&ring->state_event, __ATOMIC_ACQUIRE);
        if (__atomic_load_n(&op->ran, __ATOMIC_ACQUIRE))
            return SLR_OK;
        enum slri_wait wait = slri_backoff_step(&backoff);
        if (wait == SLRI_PARK)
            slri_futex_wait(&ring->state_event, event, deadline_ns);
        if (wait == SLRI_TOO_LATE)
            return withdraw(ring, shard, op)
                       ? SLRI_FAIL(TIMEOUT,
                                   "ring kernel '%s': %s of instance %u: a handler is still running, or its "
                                   "owner has not run since",
                                   ring->name, call, op->instance)
                       : SLR_OK;
    }
}

void slri_ring_operate_later(slr_ring *ring, struct slri_operation *op)
{
    struct slri_shard *shard = &ring->shard[op->instance % ring->shards];
    slri_mutex_lock(&ring->lock);
    op->ran = 0;
    bool owned = shard->turn.owned;
    if (owned) {
        enter_operate(shard, op);
    } else {
        op->run(op, shard);
        __atomic_store_n(&op->ran, 1, __ATOMIC_RELEASE); // as run_all
    }
    slri_mutex_unlock(&ring->lock);
    if (owned)
        slri_ring_wake_shard(shard);
}

slr_status slri_ring_operate(slr_ring *ring, struct slri_operation *op, uint64_t deadline_ns, const char *call)
{
    SLRI_TRY(slri_ring_check_process(ring)); // an owner would never come
    slri_ring_operate_later(ring, op);
    return await_operate(ring, &ring->shard[op->instance % ring->shards], op, deadline_ns, call);
}

// ---- states -------------------------------------------------------------------------------------------------

static slr_status check_state_call(const slr_ring *ring, uint32_t instance, size_t bytes, const char *call)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "%s: ring is NULL", call);
    if (ring->main)
        return SLRI_FAIL(UNSUPPORTED, "ring kernel '%s' is a loop: only its main may access its states", ring->name);
    if (slr_ring_get_state(ring) == SLR_RING_CREATED || !ring->shard)
        return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; %s needs it launched", ring->name,
                         slr_ring_state_name(slr_ring_get_state(ring)), call);
    if (instance >= ring->instances)
        return SLRI_FAIL(INVALID, "ring kernel '%s' has instances 0 to %u; %s was asked for %u", ring->name,
                         ring->instances - 1, call, instance);
    if (bytes != ring->state_bytes)
        return SLRI_FAIL(INVALID, "ring kernel '%s': its states have %u B, %s was given %zu B", ring->name,
                         ring->state_bytes, call, bytes);
    return SLR_OK;
}

// A keyed instance is kept from being evicted meanwhile: its state would be another key's.
static slr_status operate_on_state(slr_ring *ring, struct slri_operation *op, uint64_t timeout_ns, const char *call)
{
    if (ring->keys)
        SLRI_TRY(slri_keys_pin_instance(ring, op->instance));
    slr_status status = slri_ring_operate(ring, op, slri_deadline_after(timeout_ns), call);
    if (ring->keys)
        slri_keys_unpin(ring, op->instance);
    if (status == SLR_OK && op->lost)
        return SLRI_FAIL(
            WRONG_STATE,
            "ring kernel '%s': %s: an abandoned handler still uses the state; restart the ring kernel first",
            ring->name, call);
    if (status == SLR_OK && op->status != SLR_OK) // the owner's thread has the device's message
        return slri_fail(op->status, "ring kernel '%s': %s: its device could not copy the state: %s", ring->name, call,
                         op->why);
    return status;
}

static void note_copy(struct slri_operation *op, slr_status status)
{
    op->status = status;
    if (status != SLR_OK)
        slri_text_fit(op->why, sizeof op->why, slr_error_message());
}

static void copy_out(struct slri_operation *op, struct slri_shard *shard)
{
    const void *state = slri_shard_state(shard, op->instance);
    op->lost = !state;
    if (state)
        note_copy(op, slri_shard_load(shard, state, op->to));
}

static void copy_in(struct slri_operation *op, struct slri_shard *shard)
{
    void *state = slri_shard_state(shard, op->instance);
    op->lost = !state;
    if (state)
        note_copy(op, slri_shard_store(shard, state, op->from));
}

slr_status slr_ring_snapshot(slr_ring *ring, uint32_t instance, void *state, size_t bytes, uint64_t timeout_ns)
{
    SLRI_TRY(check_state_call(ring, instance, bytes, "slr_ring_snapshot"));
    if (ring->state_bytes == 0)
        return SLR_OK;
    if (!state)
        return SLRI_FAIL(INVALID, "slr_ring_snapshot: state is NULL");
    struct slri_operation op = {.run = copy_out, .instance = instance, .to = state};
    return operate_on_state(ring, &op, timeout_ns, "slr_ring_snapshot");
}

slr_status slr_ring_restore(slr_ring *ring, uint32_t instance, const void *state, size_t bytes, uint64_t timeout_ns)
{
    if (ring && !state && bytes == 0)
        bytes = ring->state_bytes;
    SLRI_TRY(check_state_call(ring, instance, bytes, "slr_ring_restore"));
    if (ring->state_bytes == 0)
        return SLR_OK;
    struct slri_operation op = {.run = copy_in, .instance = instance, .from = state};
    return operate_on_state(ring, &op, timeout_ns, "slr_ring_restore");
}

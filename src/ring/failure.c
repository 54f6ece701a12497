// SPDX-License-Identifier: Apache-2.0
// Failing, checkpoints and restart.
//
// A failed ring kernel is a paused one whose input is closed: its shards stop between two messages, what is pending
// stays where it is, and a restart has only to set the states and to open it again.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/share.h"
#include "base/status.h"
#include "base/text.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

// ---- the description ----------------------------------------------------------------------------------------------
static slr_status refuse_failed(const slr_ring *ring, const char *field, uint64_t given, const char *possible)
{
    return SLRI_FAIL(INVALID, "ring kernel '%s': %s is %llu; expected %s", ring->name, field, (unsigned long long)given,
                     possible);
}

slr_status slri_failure_describe(slr_ring *ring, const slr_ring_desc *desc)
{
    ring->fault_policy = desc->fault_policy ? desc->fault_policy : SLR_FAULT_GO_ON;
    ring->fault_limit = desc->fault_limit ? desc->fault_limit : 10;
    ring->fault_window_ns = desc->fault_window_ns ? desc->fault_window_ns : 1000000000u;
    ring->handler_timeout_ns = desc->handler_timeout_ns;
    if (ring->main && (desc->fault_policy || desc->handler_timeout_ns))
        return SLRI_FAIL(INVALID, "ring kernel '%s': fault_policy and handler_timeout_ns need a handler, not a main",
                         ring->name);
    if (slri_takes_batches(ring) && desc->handler_timeout_ns)
        return SLRI_FAIL(INVALID, "ring kernel '%s': handler_timeout_ns needs a handler of one message per call",
                         ring->name);
    if (ring->fault_policy > SLR_FAULT_LIMIT)
        return refuse_failed(ring, "fault_policy", ring->fault_policy, "an slr_fault_policy");
    if (ring->fault_policy != SLR_FAULT_LIMIT && (desc->fault_limit || desc->fault_window_ns))
        return SLRI_FAIL(INVALID, "ring kernel '%s': fault_limit and fault_window_ns need SLR_FAULT_LIMIT", ring->name);
    if (ring->fault_limit > 65536)
        return refuse_failed(ring, "fault_limit", ring->fault_limit, "1 to 65536");
    // Below half the clock's range, so that a deadline never is one of the watchdog's marks.
    if (ring->handler_timeout_ns && (ring->handler_timeout_ns < 1000000 || ring->handler_timeout_ns > UINT64_MAX / 4))
        return refuse_failed(ring, "handler_timeout_ns", ring->handler_timeout_ns, "0 or 1000000 (1 ms) to 2^62");
    if (ring->fault_policy != SLR_FAULT_LIMIT)
        return SLR_OK;
    ring->failure.fault_ns = slri_alloc(ring->device->allocator, ring->fault_limit * sizeof *ring->failure.fault_ns);
    return ring->failure.fault_ns ? SLR_OK
                                  : SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u times of faults",
                                              ring->name, ring->fault_limit);
}

static uint64_t checkpoint_bytes(const slr_ring *ring)
{
    return ring->states_bytes * ring->shards;
}

void slri_failure_dispose(slr_ring *ring)
{
    slri_free(ring->device->allocator, ring->failure.fault_ns, ring->fault_limit * sizeof *ring->failure.fault_ns);
    slri_free(ring->device->allocator, ring->failure.why, SLRI_WHY_BYTES);
    slri_share_give(&ring->failure.share, 0);
}

// ---- failing ------------------------------------------------------------------------------------------------------
void slri_bell_ring(struct slri_bell *bell)
{
    __atomic_fetch_add(&bell->rings, 1, __ATOMIC_RELEASE); // the state that it rings for
    slri_futex_wake(&bell->rings, UINT32_MAX);
}

void slri_failure_note(slr_ring *ring, const char *why)
{
    if (!ring->failure.why) // most never fail
        ring->failure.why = slri_alloc(ring->device->allocator, SLRI_WHY_BYTES);
    if (ring->failure.why)
        slri_text_fit(ring->failure.why, SLRI_WHY_BYTES, why);
}

void slri_failure_read(const slr_ring *ring, char *out, size_t room)
{
    const char *why = ring->failure.why ? ring->failure.why : "there was no memory for what failed it";
    snprintf(out, room, "%s", ring->failures != 0 ? why : "");
}

slr_status slri_refuse_failed(slr_ring *ring)
{
    char why[SLRI_WHY_BYTES];
    slri_mutex_lock(&ring->lock);
    slri_failure_read(ring, why, sizeof why);
    slri_mutex_unlock(&ring->lock);
    return SLRI_FAIL(RING_FAILED, "ring kernel '%s' has failed: %s", ring->name, why);
}

// Under lock. The state comes behind the closed bit: who has seen it is refused.
static void fail(slr_ring *ring, slr_ring_state from, const char *why)
{
    ring->failure.from = from;
    slri_failure_note(ring, why);
    mb_close(ring->S);
    slri_ring_command(ring, MB_PAUSE);
    // Release, as `failed`: who finds one finds the other.
    __atomic_fetch_add(&ring->failures, 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST); // before the looks at the marks
    for (uint32_t i = 0; i < slri_ports_opened(ring); ++i) {
        struct slri_lane *lane = slri_lane_at(ring, i);
        if (!lane->waker)
            continue;
        slri_lane_mark(lane, lane->waker); // first: who finds `failed` looks for it there
        __atomic_store_n(&lane->waker->failed, 1, __ATOMIC_RELEASE);
    }
    slri_ring_set_state(ring, SLR_RING_IN_FAILURE);
    if (ring->failure.word)
        __atomic_fetch_or(ring->failure.word, ring->failure.bit, __ATOMIC_RELEASE); // the state
    if (ring->failure.bell)
        slri_bell_ring(ring->failure.bell);
}

bool slri_ring_fail_untold(slr_ring *ring, const char *why)
{
    slri_mutex_lock(&ring->lock);
    slr_ring_state state = slr_ring_get_state(ring);
    bool fails = !ring->terminating && !ring->main && state & (SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_DRAINING);
    if (fails)
        fail(ring, state, why);
    slri_mutex_unlock(&ring->lock);
    return fails;
}

bool slri_ring_fail(slr_ring *ring, const char *why)
{
    bool fails = slri_ring_fail_untold(ring, why);
    if (fails)
        slri_ring_wake_all(ring);
    return fails;
}

// Counts a fault; whether there are more than fault_limit in a window: the fault that many before is in it too.
static bool past_limit(slr_ring *ring)
{
    uint64_t now = slri_now_ns();
    slri_mutex_lock(&ring->lock);
    struct slri_failure *f = &ring->failure;
    uint64_t *slot = &f->fault_ns[f->faults++ % ring->fault_limit];
    bool past = f->faults > ring->fault_limit && now - *slot < ring->fault_window_ns;
    *slot = now;
    slri_mutex_unlock(&ring->lock);
    return past;
}

void slri_ring_faulted(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    char why[128] = "a message faulted";
    if (ring->fault_policy == SLR_FAULT_LIMIT) {
        if (!past_limit(ring))
            return;
        snprintf(why, sizeof why, "more than %u messages faulted within %llu ns", ring->fault_limit,
                 (unsigned long long)ring->fault_window_ns);
    }
    slri_ring_fail(ring, why);
}

void slri_ring_abandoned(struct slri_shard *shard)
{
    slr_ring *ring = shard->ring;
    struct slri_box *box = shard->box;
    slri_ring_hold(ring);
    box->ring = ring;
    box->share = shard->share;
    box->handler_self = shard->handler_self;
    box->out = shard->route.out;
    box->out_bytes = ring->out_bytes;
    shard->states = NULL;
    shard->share = (struct slri_share){0};
    shard->route.out = NULL;
    shard->handler = NULL;
    shard->box = NULL;
    shard->prints = NULL; // a restart brings another: this one is the abandoned handler's
    char why[128];
    snprintf(why, sizeof why, "a handler ran for more than %llu ns and was abandoned",
             (unsigned long long)ring->handler_timeout_ns);
    if (!slri_ring_fail(ring, why)) {
        // Being terminated, or failed already: nothing may be handled here without a handler.
        slri_mutex_lock(&ring->lock);
        slri_ring_command(ring, ring->terminating ? MB_STOP : MB_PAUSE);
        slri_mutex_unlock(&ring->lock);
    }
    slri_box_let_go(box);
}

void slri_ring_lost(struct slri_shard *shard, const char *why)
{
    slri_ring_fail(shard->ring, why);
}

// ---- quiet points -------------------------------------------------------------------------------------------------
static slr_status wrong_state(const slr_ring *ring, const char *call, const char *why)
{
    return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; %s %s", ring->name,
                     slr_ring_state_name(slr_ring_get_state(ring)), call, why);
}

static bool lacks_states(const slr_ring *ring)
{
    for (uint32_t i = 0; i < ring->shards; ++i)
        if (!ring->shard[i].states)
            return true;
    return false;
}

static slr_status load_states(const slr_ring *ring, const struct slri_shard *shard, unsigned char *to)
{
    if (ring->relaunch)
        return slri_relaunch_load(ring->relaunch, shard->states, to, ring->states_bytes);
    memcpy(to, shard->states, ring->states_bytes);
    return SLR_OK;
}

// Under lock, at a quiet point.
static slr_status copy_states(slr_ring *ring)
{
    if (lacks_states(ring))
        return wrong_state(ring, "slr_ring_checkpoint",
                           "cannot copy the state of an abandoned handler: restart the ring kernel first");
    unsigned char *to = ring->failure.checkpoint;
    if (!to)
        to = slri_share_bytes(checkpoint_bytes(ring), &ring->failure.share);
    if (!to)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a checkpoint of %llu B", ring->name,
                         (unsigned long long)checkpoint_bytes(ring));
    ring->failure.checkpoint = to;
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < ring->shards && status == SLR_OK; ++i)
        status = load_states(ring, &ring->shard[i], to + i * ring->states_bytes);
    if (status != SLR_OK) { // it is half of one
        slri_share_give(&ring->failure.share, 0);
        ring->failure.checkpoint = NULL;
    }
    return status;
}

// Pauses what is active; its state does not say so, because every other call that changes it gives another command.
// Gives the state.
static slr_ring_state pause(slr_ring *ring, uint32_t *command)
{
    slri_mutex_lock(&ring->lock);
    slr_ring_state state = slr_ring_get_state(ring);
    if (state == SLR_RING_ACTIVE)
        slri_ring_command(ring, MB_PAUSE);
    *command = slri_ring_current_command(ring);
    slri_mutex_unlock(&ring->lock);
    return state;
}

slr_status slr_ring_checkpoint(slr_ring *ring, uint64_t timeout_ns)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_ring_checkpoint: ring is NULL");
    SLRI_TRY(slri_ring_check_process(ring));
    const uint32_t allowed = SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED | SLR_RING_IN_FAILURE;
    uint64_t deadline = slri_deadline_after(timeout_ns);
    if (ring->state_bytes == 0 || ring->main)
        return wrong_state(ring, "slr_ring_checkpoint", "needs a ring kernel with state, not a loop");
    if (ring->key_sort)
        return wrong_state(ring, "slr_ring_checkpoint",
                           "is not of keyed ones: an instance may get another key; slr_ring_snapshot is");
    uint32_t command;
    slr_ring_state found = pause(ring, &command);
    if (!(found & allowed))
        return wrong_state(ring, "slr_ring_checkpoint", "needs it launched, active, paused or failed");
    slr_status status =
        found == SLR_RING_LAUNCHED ? SLR_OK : slri_ring_await(ring, command, deadline, "slr_ring_checkpoint");
    slri_mutex_lock(&ring->lock);
    bool overtaken = slri_ring_current_command(ring) != command || ring->terminating;
    if (status == SLR_OK)
        status =
            overtaken ? wrong_state(ring, "slr_ring_checkpoint", "was overtaken by another call") : copy_states(ring);
    if (found == SLR_RING_ACTIVE && !overtaken)
        slri_ring_command(ring, MB_RUN);
    slri_mutex_unlock(&ring->lock);
    return status;
}

// ---- restart ------------------------------------------------------------------------------------------------------
static slr_status may_restart(const slr_ring *ring, slr_restart_from from)
{
    const char *call = "slr_ring_restart";
    if (slr_ring_get_state(ring) != SLR_RING_IN_FAILURE)
        return wrong_state(ring, call, "needs it failed");
    if (ring->terminating)
        return wrong_state(ring, call, "came after slr_ring_terminate");
    if (ring->failure.from == 0)
        return wrong_state(ring, call, "cannot help: it could not be started, or is a main; terminate it");
    if (from == SLR_RESTART_CHECKPOINT && !ring->failure.checkpoint)
        return wrong_state(ring, call, "needs a checkpoint, but there is none");
    return SLR_OK;
}

// What lay in the memory of a device that was opened again.
static slr_status renew_relaunch(slr_ring *ring)
{
    SLRI_TRY(slri_relaunch_make(ring->relaunch));
    for (uint32_t i = 0; i < ring->shards && ring->states_bytes; ++i)
        ring->shard[i].states = (unsigned char *)ring->relaunch->states + i * ring->states_bytes;
    return SLR_OK;
}

// Under lock, with every shard paused: sets the states, and gives shards whose handler was abandoned what they lack.
static slr_status renew(slr_ring *ring, slr_restart_from from)
{
    if (ring->relaunch)
        SLRI_TRY(renew_relaunch(ring));
    for (uint32_t i = 0; i < ring->shards; ++i)
        SLRI_TRY(slri_arena_outfit(ring, &ring->shard[i]));
    for (uint32_t i = 0; i < ring->shards; ++i)
        SLRI_TRY(slri_arena_set_states(ring, &ring->shard[i],
                                       from == SLR_RESTART_CHECKPOINT ? ring->failure.checkpoint : NULL));
    return SLR_OK;
}

// Under lock. The state comes last: who has seen it is not refused.
static void reopen(slr_ring *ring)
{
    slr_ring_state to = ring->failure.from;
    ring->failure.faults = 0;
    ++ring->failure.restarts;
    // It was draining, and its last shard had nothing left to do when it failed: nobody else will say so.
    if (to == SLR_RING_DRAINING && __atomic_load_n(&ring->over, __ATOMIC_ACQUIRE)) {
        slri_ring_set_state(ring, SLR_RING_TERMINATED);
        return;
    }
    if (to != SLR_RING_DRAINING)
        mb_reopen(ring->S);
    slri_ring_command(ring, to == SLR_RING_ACTIVE ? MB_RUN : to == SLR_RING_PAUSED ? MB_PAUSE : MB_CLOSE);
    slri_ring_set_state(ring, to);
}

slr_status slr_ring_restart(slr_ring *ring, slr_restart_from from, uint64_t timeout_ns)
{
    if (!ring || (from != SLR_RESTART_INITIAL && from != SLR_RESTART_CHECKPOINT))
        return SLRI_FAIL(INVALID, "slr_ring_restart: %s", ring ? "`from` is not an slr_restart_from" : "ring is NULL");
    SLRI_TRY(slri_ring_check_process(ring));
    uint64_t deadline = slri_deadline_after(timeout_ns);
    slri_mutex_lock(&ring->lock);
    slr_status status = may_restart(ring, from);
    if (status == SLR_OK && ring->failure.restarting)
        status = wrong_state(ring, "slr_ring_restart", "is at work in another thread");
    bool mine = status == SLR_OK;
    ring->failure.restarting = ring->failure.restarting || mine;
    uint32_t number = slri_ring_current_command(ring);
    slri_mutex_unlock(&ring->lock);
    if (!mine)
        return status;
    status = slri_ring_await(ring, number, deadline, "slr_ring_restart");
    slri_mutex_lock(&ring->lock);
    if (status == SLR_OK)
        status = may_restart(ring, from); // a terminate may have come
    if (status == SLR_OK)
        status = renew(ring, from);
    if (status == SLR_OK)
        reopen(ring);
    ring->failure.restarting = false;
    slri_mutex_unlock(&ring->lock);
    if (status != SLR_OK)
        return status;
    slri_routes_wake(ring);   // their messages have waited
    slri_deadlock_look(ring); // its shards may have looked before the state said that they run
    return slri_topics_rejoin(ring);
}

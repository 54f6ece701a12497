// SPDX-License-Identifier: Apache-2.0
// One pass over one shard: take a batch, call the handler for each message, publish. No lock, no system call.
#include "backend/cpu/cpu.h"

#include <string.h>

static void reset_state(const struct slri_shard *shard, void *state)
{
    if (!state)
        return;
    if (shard->initial_state)
        memcpy(state, shard->initial_state, shard->state_bytes);
    else
        memset(state, 0, shard->state_bytes);
}

static void note_fault(const struct slri_shard *shard, uint32_t fault, const struct slri_call *call)
{
    uint32_t *S = shard->shared;
    uint32_t owner = shard->own[MBP_OWNER];
    MB_STORE(owner + MB_FAULT_FILE, call->fault_file);
    MB_STORE(owner + MB_FAULT_LINE, call->fault_line);
    MB_STORE(owner + MB_FAULT_INSTANCE, call->instance);
    MB_STORE(owner + MB_FAULT_KIND, fault);
}

static void *state_of(const struct slri_shard *shard, uint32_t instance)
{
    if (!shard->states)
        return NULL;
    uint32_t mine = shard->shards == 1 ? instance : instance / shard->shards;
    return shard->states + mine * shard->state_stride;
}

// With thousands of instances the next message's state is not in the cache: fetched while this one is handled.
static void prefetch_next(const struct slri_shard *shard, uint32_t k, uint32_t batch)
{
    if (k + 1 < batch && shard->states)
        __builtin_prefetch(state_of(shard, shard->shared[shard->own[MBP_BATCH(k + 1) + 1] + MB_INSTANCE]), 1);
}

static void handle(struct slri_shard *shard, uint32_t batch)
{
    uint32_t *S = shard->shared, *P = shard->own;
    struct slri_call call = {.bound = shard->bound,
                             .reply_mask = S[MB_REPLY_MASK],
                             .reply_stride = S[MB_REPLY_SLOT_WORDS] * 4,
                             .reply_bytes = shard->reply_bytes,
                             .max_replies = S[MB_MAX_REPLIES]};
    for (uint32_t k = 0; k < batch; ++k) {
        uint32_t port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1];
        prefetch_next(shard, k, batch);
        call.message = &S[at + MB_PAYLOAD];
        call.instance = S[at + MB_INSTANCE];
        call.state = state_of(shard, call.instance);
        call.reply_base = (unsigned char *)&S[mb_reply_slot(S, mb_reply_lane(S, P[MBP_OWNER], port), 0) + MB_PAYLOAD];
        call.reply_at = P[MBP_PORT(port) + MBQ_REPLIES];
        call.replies = 0;
        call.fuel = shard->fuel;
        uint32_t fault = shard->handler(shard->handler_self, &call);
        if (fault == SLRI_FAULT_NONE) {
            mb_handled(S, P, k, call.replies, 0);
            continue;
        }
        // The message is done with, its replies are dropped, its instance begins anew; its sender is told, where the
        // handler replies at all.
        note_fault(shard, fault, &call);
        reset_state(shard, call.state);
        mb_handled(S, P, k, call.max_replies ? 1 : 0, MB_FLAG_FAULT);
    }
}

enum slri_pass slri_shard_pass(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    uint32_t batch = mb_begin(S, P);
    bool evicted = P[MBP_EVICTED] != 0;
    if (evicted) // before the handler runs: who waits for credit need not wait for it
        shard->published(shard, 0);
    if (batch != 0) {
        handle(shard, batch);
        mb_finish(S, P);
        shard->published(shard, batch);
    }
    bool draining = ((P[MBP_CONTROL] - 1) & 3) == MB_CLOSE;
    if (P[MBP_CONTROL] != shard->told_control || P[MBP_STATE] != shard->told_state) {
        shard->told_control = P[MBP_CONTROL];
        shard->told_state = P[MBP_STATE];
        bool over = P[MBP_STATE] == MB_ENDED || P[MBP_STATE] == MB_STOPPED;
        shard->answered(shard); // when over: not a word of the shard is read behind this
        return over ? SLRI_PASS_OVER : SLRI_PASS_WORKED;
    }
    return batch != 0 || evicted ? SLRI_PASS_WORKED : draining ? SLRI_PASS_WAITS : SLRI_PASS_IDLE;
}

uint32_t slri_shard_sleep_kind(const struct slri_shard *shard)
{
    if (shard->own[MBP_STATE] == MB_PAUSED) // where it evicts, it does so while paused too
        return shard->shared[MB_KEEP] ? SLRI_ASLEEP : SLRI_ASLEEP_PAUSED;
    return mb_idle(shard->shared, shard->own) ? SLRI_ASLEEP : SLRI_ASLEEP_BLOCKED;
}

// A batch that this look claims is handled by the next pass, and so is a command that it obeys: only a pass tells the ring
// layer of an end, and a shard that is asleep is never over.
bool slri_shard_may_sleep(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own;
    if (mb_begin(S, P) != 0 || P[MBP_EVICTED] != 0)
        return false;
    return P[MBP_CONTROL] == shard->told_control && P[MBP_STATE] == shard->told_state;
}

// SPDX-License-Identifier: Apache-2.0
// What a shard's owner leaves of a fault in its mailbox, for who asks: the last one, and the first, which stays. On the
// way of a message that faulted alone.
#include "base/clock.h"
#include "hal/hal.h"

static void store_wide(uint32_t *S, uint32_t at, uint64_t value)
{
    MB_STORE(at, (uint32_t)value);
    MB_STORE(at + 1, (uint32_t)(value >> 32));
}

static void note_first(const struct slri_shard *shard, uint32_t fault, const struct slri_call *call)
{
    uint32_t *S = shard->shared;
    const uint32_t *P = shard->own;
    uint32_t owner = P[MBP_OWNER];
    if (MB_LOAD(owner + MB_FIRST_KIND) != SLRI_FAULT_NONE) // this owner wrote it, or one before it that is over
        return;
    MB_STORE(owner + MB_FIRST_FILE, call->fault_file);
    MB_STORE(owner + MB_FIRST_LINE, call->fault_line);
    MB_STORE(owner + MB_FIRST_COLUMN, call->fault_column);
    MB_STORE(owner + MB_FIRST_INSTANCE, call->instance);
    store_wide(S, owner + MB_FIRST_INDEX, call->fault_index);
    store_wide(S, owner + MB_FIRST_SIZE, call->fault_size);
    MB_STORE(owner + MB_FIRST_NUMBER,
             P[MBP_HANDLED] + P[MBP_FAULTED] + P[MBP_DROPPED] + P[MBP_IN_DOUBT] + 1); // it is not counted yet
    store_wide(S, owner + MB_FIRST_TIME, slri_now_ns());
    MB_RELEASE(owner + MB_FIRST_KIND, fault); // the words above, which are not written again
}

static void release_wide(uint32_t *S, uint32_t at, uint64_t value)
{
    MB_RELEASE(at, (uint32_t)value);
    MB_RELEASE(at + 1, (uint32_t)(value >> 32));
}

// The last one's words, as mb_begin_fault says.
void slri_shard_note_fault(const struct slri_shard *shard, uint32_t fault, const struct slri_call *call)
{
    uint32_t *S = shard->shared;
    uint32_t owner = shard->own[MBP_OWNER];
    note_first(shard, fault, call);
    mb_begin_fault(S, shard->own);
    MB_RELEASE(owner + MB_FAULT_FILE, call->fault_file);
    MB_RELEASE(owner + MB_FAULT_LINE, call->fault_line);
    MB_RELEASE(owner + MB_FAULT_COLUMN, call->fault_column);
    MB_RELEASE(owner + MB_FAULT_INSTANCE, call->instance);
    release_wide(S, owner + MB_FAULT_INDEX, call->fault_index);
    release_wide(S, owner + MB_FAULT_SIZE, call->fault_size);
    MB_RELEASE(owner + MB_FAULT_WHEN, (uint32_t)(slri_now_ns() >> 16));
    MB_RELEASE(owner + MB_FAULT_KIND, fault);
    mb_end_fault(S, shard->own);
}

// SPDX-License-Identifier: Apache-2.0
// Text for NVRTC: the kernel that stays. It stands behind a handler's emitted text, the table's layout
// (device/resident_layout.h) and the mailbox (abi/mailbox.h), and is their loop. Each block is one thread, and serves
// every gridDim.x-th shard of the table, so all blocks must run at once. SLR_HANDLER is the handler, SLR_BINDINGS how
// many parameters it has behind the message. C as well as C++: the simulated driver of the tests compiles it, too.
//
// Memory orders: as the mailbox says at each word, for the whole system, because the host is the other side. A launch
// acquires what the host wrote before it; `gone` is released behind all that any block did.
// clang-format off
#ifndef SLR_KERNEL
#define SLR_KERNEL extern "C" __global__ void __launch_bounds__(1)
#define SLR_FN __device__
#define SLR_SHARED __shared__
__device__ struct slr_blocks { unsigned idle, ended, ending; } slr_blocks; // zero between launches
#define SLR_BLOCKS (&slr_blocks)
#define SLR_CALL(call) SLR_HANDLER(call)
#endif
#define SLR_LOAD(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_STORE(word, value) __nv_atomic_store_n(&(word), value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_IDLE_LOOKS 256u // then a pass without work sleeps: a look at the host's memory takes 1.1 us on an H100
#define SLR_SLEEP_NS 200u

SLR_FN void slr_reset(const struct slri_resident_entry *entry, void *state)
{
    const SLRI_ADDRESS *initial = (const SLRI_ADDRESS *)entry->initial_state;
    SLRI_ADDRESS *words = (SLRI_ADDRESS *)state;
    for (SLRI_ADDRESS i = 0; state && i < (entry->state_bytes + 7) / 8; ++i) // strides are multiples of 16
        words[i] = initial ? initial[i] : 0;
}

SLR_FN void slr_fault(struct slri_resident_entry *entry, mb_word *S, mb_word *P, const struct slri_call *call, mb_word fault)
{
    MB_STORE(P[MBP_OWNER] + MB_FAULT_FILE, call->fault_file);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_LINE, call->fault_line);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_INSTANCE, call->instance);
    MB_STORE(P[MBP_OWNER] + MB_FAULT_KIND, fault);
    slr_reset(entry, call->state);
}

// Handles the batch, or what comes of it up to a fault that the host is to judge; gives how many messages that was.
SLR_FN mb_word slr_handle(struct slri_resident_entry *entry, mb_word *S, mb_word *P, mb_word batch,
                          struct slri_call *call, mb_word *judge)
{
    call->bound = (const struct slri_bound *)entry->bound;
    call->out = 0;
    call->reply_base = 0;
    call->reply_at = 0;
    call->reply_mask = S[MB_REPLY_MASK];
    call->reply_stride = S[MB_REPLY_SLOT_WORDS] * 4;
    call->reply_bytes = 0; // the handler knows
    call->max_replies = S[MB_MAX_REPLIES];
    for (mb_word k = 0; k < batch; ++k) {
        mb_word port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1u];
        call->message = &S[at + MB_PAYLOAD];
        call->instance = S[at + MB_INSTANCE];
        SLRI_ADDRESS mine = entry->shards > 1 ? call->instance / entry->shards : call->instance;
        call->state = entry->states ? (void *)(entry->states + mine * entry->state_stride) : (void *)0;
        if (call->max_replies != 0) {
            call->reply_base = (unsigned char *)&S[mb_reply_slot(S, mb_reply_lane(S, P[MBP_OWNER], port), 0) + MB_PAYLOAD];
            call->reply_at = P[MBP_PORT(port) + MBQ_REPLIES];
        }
        call->replies = 0;
        call->fuel = entry->fuel;
        call->fault_file = 0;
        call->fault_line = 0;
        mb_word fault = SLR_CALL(call);
        if (fault != 0)
            slr_fault(entry, S, P, call, fault);
        mb_handled(S, P, k, fault == 0 ? call->replies : call->max_replies ? 1u : 0u, fault == 0 ? 0u : MB_FLAG_FAULT);
        if (fault != 0 && entry->judges) {
            *judge = 1;
            return k + 1;
        }
    }
    return batch;
}

// One pass over one shard: whether there was something to do.
SLR_FN mb_word slr_serve(struct slri_resident_entry *entry, struct slri_call *call)
{
    if (entry->used == 0 || entry->left != 0)
        return 0;
    mb_word hold = SLR_LOAD(entry->hold), was_held = entry->held;
    if (hold != was_held)
        SLR_STORE(entry->held, hold); // what it did with the shard, for the host
    if ((hold & 1) != 0)
        return hold != was_held;
    mb_word faulted = entry->faulted;
    if (faulted != SLR_LOAD(entry->judged))
        return 1;
    mb_word *S = (mb_word *)entry->shared, *P = (mb_word *)entry->own;
    mb_word control = P[MBP_CONTROL], batch = mb_begin(S, P);
    if (batch != 0) {
        mb_word judge = 0, done = slr_handle(entry, S, P, batch, call, &judge);
        P[MBP_BATCH_COUNT] = done;
        mb_finish(S, P);
        if (done < batch)
            mb_keep_rest(S, P, done, batch);
        if (judge != 0)
            SLR_STORE(entry->faulted, faulted + 1);
        return 1;
    }
    mb_word state = P[MBP_STATE];
    if (state == MB_ENDED || state == MB_STOPPED) {
        SLR_STORE(entry->left, 1u); // its last touch of the shard
        return 1;
    }
    return P[MBP_CONTROL] != control;
}

SLR_FN mb_word slr_count(mb_word *word, mb_word more)
{
    return __nv_atomic_fetch_add(word, more, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_SYSTEM) + more;
}

// All blocks have been idle for long: then they end, and the next message has the kernel launched again. It does no
// harm if one of them gets work meanwhile: what it leaves is found by whoever looks next.
SLR_FN mb_word slr_note_idle(mb_word worked, mb_word idle, mb_word most_idle)
{
    if (worked != 0) {
        if (idle >= most_idle)
            slr_count(&SLR_BLOCKS->idle, 0u - 1u);
        return 0;
    }
    if (idle + 1 == most_idle && slr_count(&SLR_BLOCKS->idle, 1u) == gridDim.x)
        SLR_STORE(SLR_BLOCKS->ending, 1u);
    if (idle >= SLR_IDLE_LOOKS)
        __nanosleep(SLR_SLEEP_NS);
    return idle < most_idle ? idle + 1 : idle;
}

SLR_KERNEL slr_stay(struct slri_resident_table *table)
{
    SLR_SHARED struct slri_call call; // not of the thread: a handler counts its replies by an atomic operation
    mb_word launch = table->launch, most_idle = table->most_idle, idle = 0;
    while (SLR_LOAD(table->stop) != launch && SLR_LOAD(SLR_BLOCKS->ending) == 0) {
        mb_word worked = 0;
        for (mb_word i = blockIdx.x; i < table->entries; i += gridDim.x)
            worked |= slr_serve(&table->entry[i], &call);
        idle = slr_note_idle(worked, idle, most_idle);
    }
    if (slr_count(&SLR_BLOCKS->ended, 1u) != gridDim.x)
        return;
    SLR_STORE(SLR_BLOCKS->idle, 0u);
    SLR_STORE(SLR_BLOCKS->ended, 0u);
    SLR_STORE(SLR_BLOCKS->ending, 0u);
    SLR_STORE(table->gone, launch);
}

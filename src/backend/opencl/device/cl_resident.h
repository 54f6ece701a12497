// SPDX-License-Identifier: Apache-2.0
// Text for OpenCL's compiler: the kernel that stays. It stands behind a handler's emitted text, cl_words.h, the table's
// layout (device/resident_layout.h) and the mailbox (abi/mailbox.h), and is their loop: one work-item, a group of its
// own, serves the shards of a table. SLR_HANDLER is the handler, SLR_BINDINGS how many parameters it has behind the
// message, SLR_SHARED_BYTES the local memory that it wants.
//
// Memory orders: as the mailbox says at each word, by the scope that cl_words.h chose and probe.c tried. A launch
// acquires what the host wrote before it enqueued; `gone` is released behind all else, for the host.
// clang-format off
#define SLR_LOAD(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_STORE(word, value) __nv_atomic_store_n(&(word), value, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_IDLE_LOOKS 64u // then each pass without work gives the core to whoever wants it: PoCL's groups are threads

static void slr_reset(const __global struct slri_resident_entry *entry, __global uchar *state)
{
    const __global ulong *initial = (const __global ulong *)entry->initial_state;
    for (ulong i = 0; state && i < (entry->state_bytes + 7) / 8; ++i) // strides are multiples of 16
        ((__global ulong *)state)[i] = initial ? initial[i] : 0;
}

// Handles the batch, or what comes of it up to a fault that the host is to judge; gives how many messages that was.
static uint slr_handle(__global struct slri_resident_entry *entry, __global uint *S, __global uint *P, uint batch,
                       volatile __local uint *replies, __local uchar *shared, __global uchar *dump, uint *judge)
{
    struct slri_bound bound[SLR_BINDINGS + 1];
    const __global ulong *given = (const __global ulong *)entry->bound;
    for (uint i = 0; i < SLR_BINDINGS; ++i) {
        bound[i].data = (__global uchar *)given[2 * i];
        bound[i].bytes = given[2 * i + 1];
    }
    struct slri_call call;
    call.bound = bound;
    call.out = 0;
    call.reply_base = 0;
    call.reply_at = 0;
    call.reply_mask = S[MB_REPLY_MASK];
    call.reply_stride = S[MB_REPLY_SLOT_WORDS] * 4;
    call.max_replies = S[MB_MAX_REPLIES];
    call.replies = replies;
    call.dump = dump;
    for (uint k = 0; k < batch; ++k) {
        uint port = P[MBP_BATCH(k)], at = P[MBP_BATCH(k) + 1u];
        call.message = (__global uchar *)&S[at + MB_PAYLOAD];
        call.instance = S[at + MB_INSTANCE];
        ulong mine = entry->shards > 1 ? call.instance / entry->shards : call.instance;
        call.state = entry->states ? (__global uchar *)(entry->states + mine * entry->state_stride) : 0;
        if (call.max_replies != 0) {
            call.reply_base = (__global uchar *)&S[mb_reply_slot(S, mb_reply_lane(S, P[MBP_OWNER], port), 0) + MB_PAYLOAD];
            call.reply_at = P[MBP_PORT(port) + MBQ_REPLIES];
        }
        *replies = 0;
        call.fuel = entry->fuel;
        call.fault_file = 0;
        call.fault_line = 0;
        uint fault = SLR_HANDLER(&call, shared);
        if (fault == 0) {
            mb_handled(S, P, k, *replies, 0);
            continue;
        }
        MB_STORE(P[MBP_OWNER] + MB_FAULT_FILE, call.fault_file);
        MB_STORE(P[MBP_OWNER] + MB_FAULT_LINE, call.fault_line);
        MB_STORE(P[MBP_OWNER] + MB_FAULT_INSTANCE, call.instance);
        MB_STORE(P[MBP_OWNER] + MB_FAULT_KIND, fault);
        slr_reset(entry, call.state);
        mb_handled(S, P, k, call.max_replies ? 1 : 0, MB_FLAG_FAULT);
        if (entry->judges) {
            *judge = 1;
            return k + 1;
        }
    }
    return batch;
}

// One pass over one shard: whether there was something to do.
static uint slr_serve(__global struct slri_resident_entry *entry, volatile __local uint *replies, __local uchar *shared,
                      __global uchar *dump)
{
    if (entry->used == 0 || entry->left != 0)
        return 0;
    uint hold = SLR_LOAD(entry->hold);
    uint was_held = entry->held;
    if (hold != was_held)
        SLR_STORE(entry->held, hold); // what it did with the shard, for the host
    if ((hold & 1) != 0)
        return hold != was_held;
    uint faulted = entry->faulted;
    if (faulted != SLR_LOAD(entry->judged))
        return 1;
    __global uint *S = (__global uint *)entry->shared, *P = (__global uint *)entry->own;
    uint control = P[MBP_CONTROL];
    uint batch = mb_begin(S, P);
    if (batch != 0) {
        uint judge = 0;
        uint done = slr_handle(entry, S, P, batch, replies, shared, dump, &judge);
        P[MBP_BATCH_COUNT] = done;
        mb_finish(S, P);
        if (done < batch)
            mb_keep_rest(S, P, done, batch);
        if (judge != 0)
            SLR_STORE(entry->faulted, faulted + 1);
        return 1;
    }
    uint state = P[MBP_STATE];
    if (state == MB_ENDED || state == MB_STOPPED) {
        SLR_STORE(entry->left, 1u); // its last touch of the shard
        return 1;
    }
    return P[MBP_CONTROL] != control;
}

__kernel void slr_stay(__global struct slri_resident_table *table, __global uchar *dump)
{
    __local ulong shared[(SLR_SHARED_BYTES + 7) / 8];
    __local uint replies;
    uint launch = table->launch, idle = 0;
    while (idle < table->most_idle && SLR_LOAD(table->stop) != launch) {
        uint worked = 0;
        for (uint i = 0; i < table->entries; ++i)
            worked |= slr_serve(&table->entry[i], &replies, (__local uchar *)shared, dump);
        idle = worked ? 0 : idle + 1;
        if (idle >= SLR_IDLE_LOOKS)
            slr_yield();
    }
    SLR_STORE(table->gone, launch);
}

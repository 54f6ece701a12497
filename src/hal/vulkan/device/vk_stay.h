// SPDX-License-Identifier: Apache-2.0
// The kernel that stays, in the kernel subset: slipring's own front end compiles it, behind the table's layout
// (engine/resident_layout.h) and the mailbox (abi/mailbox.h), and ir/pass/handler_stay.c puts a handler into it. A
// group serves one shard, the first of its table. Its first thread speaks with the host; with SLR_BLOCK the handler has
// all threads of the group, and they meet at SLR_MEET. What they share lies in R, whose words are the host's no more.
//
// Memory orders: as the mailbox says at each word. Vulkan's memory model ends at the device, so that these reach the
// host is nowhere promised; hal/vulkan/probe.c tries it.
#define SLR_LOAD(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_STORE(word, value) __nv_atomic_store_n(&(word), (value), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)
#define SLR_WORKED 0x80000000u // beside the size of a batch
#ifdef SLR_BLOCK
#define SLR_FIRST (threadIdx.x == 0u)
#define SLR_MEET() __syncthreads()
#else
#define SLR_FIRST (1)
#define SLR_MEET() (void)0
#endif

// Words of R, before the record that the handler writes (abi/relaunch.h).
#define SLR_SLOT 0 // of the message in S
#define SLR_STATE 1
#define SLR_BATCH 2  // messages to handle
#define SLR_JUDGED 3 // 1: the last one has faulted, and the host is to judge that
#define SLR_RECORD 16

// Its body is the handler, on the message at R[SLR_SLOT]: handler_stay.c.
__device__ void slr_handle(unsigned *R)
{
    R[SLR_RECORD] = 0u;
}

// Replies go from the record to the port's next slots.
__device__ void slr_give_replies(unsigned *S, unsigned *P, const unsigned *R, const unsigned *C, unsigned k)
{
    unsigned port = P[MBP_BATCH(k)], replies = R[SLR_RECORD + RL_REPLIES];
    unsigned lane = mb_reply_lane_of(S, P, port), at = P[P[MBP_BATCH(k) + 3u] + MBQ_REPLIES];
    unsigned from = SLR_RECORD + C[RL_REPLIES_AT] / 4u, words = C[RL_REPLY_STRIDE] / 4u;
    unsigned most = MB_SIZE(MB_REPLY_SLOT_WORDS) - MB_PAYLOAD;
    unsigned copied = words < most ? words : most;
    for (unsigned n = 0u; n < replies; ++n) {
        unsigned slot = mb_reply_slot(S, lane, at + n) + MB_PAYLOAD;
        for (unsigned i = 0u; i < copied; ++i) {
            S[slot + i] = R[from + i];
        }
        from += words;
    }
}

__device__ void slr_note_fault(unsigned *S, unsigned *P, const unsigned *R, unsigned k)
{
    unsigned owner = P[MBP_OWNER], instance = S[P[MBP_BATCH(k) + 1u] + MB_INSTANCE];
    if (MB_LOAD(owner + MB_FIRST_KIND) == 0u) { // engine/fault.c; no clock here is the host's
        MB_STORE(owner + MB_FIRST_FILE, R[SLR_RECORD + RL_FILE]);
        MB_STORE(owner + MB_FIRST_LINE, R[SLR_RECORD + RL_LINE]);
        MB_STORE(owner + MB_FIRST_INSTANCE, instance);
        MB_STORE(owner + MB_FIRST_NUMBER, P[MBP_HANDLED] + P[MBP_FAULTED] + P[MBP_DROPPED] + P[MBP_IN_DOUBT] + 1u);
        MB_RELEASE(owner + MB_FIRST_KIND, R[SLR_RECORD + RL_FAULT]);
    }
    MB_STORE(owner + MB_FAULT_FILE, R[SLR_RECORD + RL_FILE]);
    MB_STORE(owner + MB_FAULT_LINE, R[SLR_RECORD + RL_LINE]);
    MB_STORE(owner + MB_FAULT_INSTANCE, instance);
    MB_STORE(owner + MB_FAULT_KIND, R[SLR_RECORD + RL_FAULT]);
}

__device__ void slr_begin(unsigned *S, unsigned *P, unsigned *R, const struct slri_resident_entry *entry, unsigned k)
{
    unsigned at = P[MBP_BATCH(k) + 1u], instance = S[at + MB_INSTANCE];
    R[SLR_SLOT] = at;
    R[SLR_STATE] = entry->shards > 1u ? instance / entry->shards : instance;
}

__device__ void slr_end(unsigned *S, unsigned *P, unsigned *R, const unsigned *C,
                        const struct slri_resident_entry *entry, unsigned k)
{
    unsigned replies = R[SLR_RECORD + RL_REPLIES], flags = 0u;
    if (R[SLR_RECORD + RL_FAULT] == 0u) {
        slr_give_replies(S, P, R, C, k);
    } else {
        slr_note_fault(S, P, R, k);
        R[SLR_JUDGED] = entry->judges;
        replies = MB_SIZE(MB_MAX_REPLIES) != 0u ? 1u : 0u;
        flags = MB_FLAG_FAULT;
    }
    mb_handled(S, P, k, replies, flags);
}

__device__ void slr_finish(unsigned *S, unsigned *P, struct slri_resident_entry *entry, unsigned done, unsigned judged)
{
    unsigned batch = P[MBP_BATCH_COUNT];
    P[MBP_BATCH_COUNT] = done;
    mb_finish(S, P);
    if (done < batch) {
        mb_keep_rest(S, P, done, batch);
    }
    if (judged != 0u) {
        SLR_STORE(entry->faulted, entry->faulted + 1u);
    }
}

// How many messages are to be handled, and SLR_WORKED where there was something to do.
__device__ unsigned slr_look(unsigned *S, unsigned *P, struct slri_resident_entry *entry)
{
    if (entry->used == 0u || entry->left != 0u) {
        return 0u;
    }
    unsigned hold = SLR_LOAD(entry->hold), was_held = entry->held;
    if (hold != was_held) {
        SLR_STORE(entry->held, hold); // what it did with the shard, for the host
    }
    if ((hold & 1u) != 0u) {
        return hold != was_held ? SLR_WORKED : 0u;
    }
    if (entry->faulted != SLR_LOAD(entry->judged)) {
        return SLR_WORKED;
    }
    unsigned control = P[MBP_CONTROL], batch = mb_begin(S, P);
    if (batch != 0u) {
        return batch | SLR_WORKED;
    }
    if (P[MBP_STATE] == MB_ENDED || P[MBP_STATE] == MB_STOPPED) {
        SLR_STORE(entry->left, 1u); // its last touch of the shard
        return SLR_WORKED;
    }
    return P[MBP_CONTROL] != control ? SLR_WORKED : 0u;
}

// Whether a look would find nothing to do, and changes nothing. Drivers that run all branches of what they compile do
// this in a tenth of a look's time.
__device__ unsigned slr_is_quiet(unsigned *S, unsigned *P, const struct slri_resident_entry *entry)
{
    if (SLR_LOAD(entry->hold) != entry->held) {
        return 0u;
    }
    if ((entry->held & 1u) != 0u || entry->faulted != SLR_LOAD(entry->judged)) {
        return 1u;
    }
    return P[MBP_BATCH_COUNT] == 0u ? mb_idle(S, P) : 0u;
}

// Looks until there are messages, or it is time to end: 0. First it is seen whether it shall stay at all.
__device__ unsigned slr_find(unsigned *S, unsigned *P, struct slri_resident_table *table, unsigned launch)
{
    unsigned idle = 0u, batch = 0u, most = table->most_idle;
    while (batch == 0u && idle < most && SLR_LOAD(table->stop) != launch) {
        while (idle < most && table->entries != 0u && slr_is_quiet(S, P, &table->entry[0]) != 0u &&
               SLR_LOAD(table->stop) != launch) {
            idle = idle + 1u;
        }
        unsigned look = table->entries != 0u ? slr_look(S, P, &table->entry[0]) : 0u;
        idle = look != 0u ? 0u : idle + 1u;
        batch = look & ~SLR_WORKED;
    }
    return batch;
}

__global__ void slr_stay(unsigned *S, unsigned *R, unsigned *states, const unsigned *C, unsigned chains, unsigned *P,
                         struct slri_resident_table *table)
{
    unsigned launch = table->launch, stays = 1u;
    while (stays != 0u) {
        if (SLR_FIRST) {
            R[SLR_BATCH] = slr_find(S, P, table, launch);
            R[SLR_JUDGED] = 0u;
        }
        SLR_MEET();
        unsigned batch = R[SLR_BATCH], done = 0u;
        stays = batch;
        while (done < batch) {
            if (SLR_FIRST) {
                slr_begin(S, P, R, &table->entry[0], done);
            }
            SLR_MEET();
            slr_handle(R);
            SLR_MEET();
            if (SLR_FIRST) {
                slr_end(S, P, R, C, &table->entry[0], done);
            }
            SLR_MEET();
            done = done + 1u;
            if (R[SLR_JUDGED] != 0u) {
                batch = done;
            }
        }
        if (SLR_FIRST && done != 0u) {
            slr_finish(S, P, &table->entry[0], done, R[SLR_JUDGED]);
        }
        SLR_MEET();
    }
    if (SLR_FIRST) {
        SLR_STORE(table->gone, launch);
    }
}

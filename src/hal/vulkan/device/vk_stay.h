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
#define SLR_OTHER 0xffffffffu  // where a mark is asked for: what a whole look must see to
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
#define SLR_NEXT 4   // what comes next:
#define SLR_STRAIGHT 0u
#define SLR_LOOKS 1u
#define SLR_ENDS 2u
#define SLR_IDLE 5 // passes without work, one after the other
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

// What a whole look would find: 0 nothing; the mark that all lanes with messages have in common; or SLR_OTHER. Changes
// nothing. The whole look is a tenth as quick: there are drivers that run all branches of what they compile.
__device__ unsigned slr_peek(unsigned *S, unsigned *P, const struct slri_resident_entry *entry)
{
    if (entry->used == 0u || entry->left != 0u) {
        return 0u;
    }
    if (SLR_LOAD(entry->hold) != entry->held) {
        return SLR_OTHER;
    }
    if ((entry->held & 1u) != 0u || entry->faulted != SLR_LOAD(entry->judged)) {
        return 0u;
    }
    unsigned control = MB_ACQUIRE(MB_CONTROL);
    if (control + 1u != P[MBP_CONTROL] || MB_ACQUIRE(MB_PORT_EPOCH) != P[MBP_EPOCH] || P[MBP_GONE_OPEN] != 0u ||
        P[MBP_BATCH_COUNT] != 0u) {
        return SLR_OTHER;
    }
    if (P[MBP_STATE] != MB_RUNNING) {
        return P[MBP_STATE] == MB_PAUSED ? 0u : SLR_OTHER;
    }
    return P[MBP_WAITING] != 0u || (control & 3u) == MB_CLOSE ? SLR_OTHER : mb_look(S, P);
}

// Waits for messages, which it claims as a whole look would, straight from their lanes; for something else, that a
// whole look is for; or until it is time to end.
__device__ void slr_find(unsigned *S, unsigned *P, unsigned *R, struct slri_resident_table *table, unsigned launch)
{
    unsigned idle = R[SLR_IDLE], most = table->most_idle, found = 0u, ends = 0u;
    while (found == 0u && ends == 0u) {
        found = slr_peek(S, P, &table->entry[0]);
        idle = idle + 1u;
        ends = idle >= most || SLR_LOAD(table->stop) == launch ? 1u : 0u;
    }
    unsigned next = ends != 0u ? SLR_ENDS : SLR_LOOKS;
    if (ends == 0u && found != SLR_OTHER && found != MB_MIXED_MARK) {
        mb_claim_straight(S, P, found);
        if (P[MBP_BATCH_COUNT] != 0u) {
            next = SLR_STRAIGHT;
            idle = 0u;
        }
    }
    R[SLR_BATCH] = next == SLR_STRAIGHT ? P[MBP_BATCH_COUNT] : 0u; // what was kept back waits for a whole look
    R[SLR_JUDGED] = 0u;
    R[SLR_NEXT] = next;
    R[SLR_IDLE] = idle;
}

// A whole look, by the first thread.
__device__ void slr_look_up(unsigned *S, unsigned *P, unsigned *R, struct slri_resident_table *table, unsigned launch)
{
    unsigned ends = R[SLR_IDLE] >= table->most_idle || SLR_LOAD(table->stop) == launch ? 1u : 0u, look = 0u;
    if (ends == 0u) {
        look = slr_look(S, P, &table->entry[0]);
        R[SLR_IDLE] = look != 0u ? 0u : R[SLR_IDLE] + 1u;
    }
    R[SLR_BATCH] = look & ~SLR_WORKED;
    R[SLR_JUDGED] = 0u;
    R[SLR_NEXT] = ends != 0u ? SLR_ENDS : SLR_STRAIGHT;
}

// All threads of the group: the batch's messages, one after the other.
__device__ void slr_serve(unsigned *S, unsigned *P, unsigned *R, const unsigned *C, struct slri_resident_entry *entry,
                          unsigned batch)
{
    unsigned done = 0u;
    while (done < batch) {
        if (SLR_FIRST) {
            slr_begin(S, P, R, entry, done);
        }
        SLR_MEET();
        slr_handle(R);
        SLR_MEET();
        if (SLR_FIRST) {
            slr_end(S, P, R, C, entry, done);
        }
        SLR_MEET();
        done = done + 1u;
        if (R[SLR_JUDGED] != 0u) {
            batch = done;
        }
    }
    if (SLR_FIRST && done != 0u) {
        slr_finish(S, P, entry, done, R[SLR_JUDGED]);
    }
}

// It is first seen whether it shall stay at all.
__global__ void slr_stay(unsigned *S, unsigned *R, unsigned *states, const unsigned *C, unsigned chains, unsigned *P,
                         struct slri_resident_table *table)
{
    unsigned launch = table->launch, next = SLR_LOOKS;
    if (SLR_FIRST) {
        R[SLR_IDLE] = 0u;
    }
#ifdef SLR_BLOCK
    while (next != SLR_ENDS) {
        if (SLR_FIRST && next == SLR_LOOKS) {
            slr_look_up(S, P, R, table, launch);
        } else if (SLR_FIRST) {
            slr_find(S, P, R, table, launch);
        }
        SLR_MEET();
        unsigned batch = R[SLR_BATCH];
        next = R[SLR_NEXT];
        slr_serve(S, P, R, C, &table->entry[0], batch);
        SLR_MEET();
    }
#else // the outer loop has what is rare, so that a message that comes alone passes through the inner one alone
    while (next != SLR_ENDS) {
        slr_look_up(S, P, R, table, launch);
        unsigned batch = R[SLR_BATCH];
        next = R[SLR_NEXT];
        while (next == SLR_STRAIGHT) {
            if (batch == 0u) {
                slr_find(S, P, R, table, launch);
            }
            next = R[SLR_NEXT];
            slr_serve(S, P, R, C, &table->entry[0], R[SLR_BATCH]);
            batch = 0u;
        }
    }
#endif
    if (SLR_FIRST) {
        SLR_STORE(table->gone, launch);
    }
}

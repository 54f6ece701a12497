// SPDX-License-Identifier: Apache-2.0
// The kernel that stays, in the kernel subset: slipring's own front end compiles it, behind the table's layout
// (engine/resident_layout.h) and the mailbox (abi/mailbox.h), and ir/pass/handler_stay.c puts a handler into it. A
// group serves one shard, the first of its table. Its first thread speaks with the host; with SLR_BLOCK the handler has
// all threads of the group, and they meet at SLR_MEET. What they share lies in R, whose words are the host's no more.
//
// Memory orders: as the mailbox says at each word. Where the device's memory model ends at the device (Vulkan's does),
// nothing promises that these reach the host; the backend tries it.
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
#define SLR_IDLE 5     // passes without work, one after the other
#define SLR_LANE 6     // bytes into S: the payload of the first slot of the port's reply lane
#define SLR_POSITION 7 // of the next reply there
#define SLR_RECORD 16

// Its body is the handler, on the message at R[SLR_SLOT]: handler_stay.c.
__device__ void slr_handle(unsigned *R)
{
    R[SLR_RECORD] = 0u;
}

// Message k of the batch has faulted.
__device__ void slr_fault(unsigned *S, unsigned *P, unsigned *R, const struct slri_resident_entry *entry, unsigned k)
{
    mb_note_fault(S, P, R[SLR_RECORD + RL_FAULT], R[SLR_RECORD + RL_FILE], R[SLR_RECORD + RL_LINE],
                  S[P[MBP_BATCH(k) + 1u] + MB_INSTANCE]);
    R[SLR_JUDGED] = entry->judges;
    mb_handled(S, P, k, MB_SIZE(MB_MAX_REPLIES) != 0u ? 1u : 0u, MB_FLAG_FAULT);
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

// A whole look, by the first thread. Behind the shard's end nothing is left to do: the host frees S and P then.
__device__ void slr_look_up(unsigned *S, unsigned *P, unsigned *R, struct slri_resident_table *table, unsigned launch)
{
    unsigned ends = R[SLR_IDLE] >= table->most_idle || SLR_LOAD(table->stop) == launch ? 1u : 0u, look = 0u;
    if (ends == 0u) {
        look = slr_look(S, P, &table->entry[0]);
        R[SLR_IDLE] = look != 0u ? 0u : R[SLR_IDLE] + 1u;
        ends = table->entry[0].left;
    }
    R[SLR_BATCH] = look & ~SLR_WORKED;
    R[SLR_JUDGED] = 0u;
    R[SLR_NEXT] = ends != 0u ? SLR_ENDS : SLR_STRAIGHT;
}

#ifdef SLR_BLOCK
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

// What the handler is given: the message at `at`, and where in S its replies go.
__device__ void slr_give(const unsigned *S, const unsigned *P, unsigned *R, unsigned port, unsigned q, unsigned at)
{
    unsigned instance = S[at + MB_INSTANCE];
    R[SLR_SLOT] = at;
    R[SLR_STATE] = MB_SIZE(MB_SHARDS) > 1u ? instance / MB_SIZE(MB_SHARDS) : instance;
    if (MB_SIZE(MB_MAX_REPLIES) != 0u) {
        R[SLR_LANE] = (mb_reply_lane_of(S, P, port) + MB_REPLY_SLOTS + MB_PAYLOAD) * 4u;
        R[SLR_POSITION] = P[q + MBQ_REPLIES];
    }
}

// All threads of the group: the batch's messages, one after the other.
__device__ void slr_serve(unsigned *S, unsigned *P, unsigned *R, struct slri_resident_entry *entry, unsigned batch)
{
    unsigned done = 0u;
    while (done < batch) {
        if (SLR_FIRST) {
            slr_give(S, P, R, P[MBP_BATCH(done)], P[MBP_BATCH(done) + 3u], P[MBP_BATCH(done) + 1u]);
        }
        SLR_MEET();
        slr_handle(R);
        SLR_MEET();
        if (SLR_FIRST) {
            if (R[SLR_RECORD + RL_FAULT] == 0u) {
                mb_handled(S, P, done, R[SLR_RECORD + RL_REPLIES], 0u);
            } else {
                slr_fault(S, P, R, entry, done);
            }
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
    while (next != SLR_ENDS) {
        if (SLR_FIRST && next == SLR_LOOKS) {
            slr_look_up(S, P, R, table, launch);
        } else if (SLR_FIRST) {
            slr_find(S, P, R, table, launch);
        }
        SLR_MEET();
        unsigned batch = R[SLR_BATCH];
        next = R[SLR_NEXT];
        slr_serve(S, P, R, &table->entry[0], batch);
        SLR_MEET();
    }
    if (SLR_FIRST) {
        SLR_STORE(table->gone, launch);
    }
}
#else
// Of one thread. There are drivers that run all branches of what they compile, and jump at the ends of loops alone; and
// put each function where it is called, with all that it begins with. So there are loops in loops, and the text of a
// message is in one piece, without loops where it has at most one reply:
// - the outermost has what is rare;
// - the next looks at all that may change what the outermost has found;
// - the next handles messages, knowing the words that it needs of P. It stores new ones to P at once: what comes next
//   reads them there, and the host goes on from there if the device is lost;
// - the innermost polls the one word that shows the next message of the only port, if there is just one.
#define SLR_TURNS 256u // of the innermost loop, until all else is looked at again: some 2 us on a CPU
#define SLR_A_MESSAGE (SLR_TURNS / MB_BATCH) // turns: a command waits for no more messages than a batch has
#define SLR_PASSES 8u                        // of most_idle, which counts short ones, for so long a pass

// Whether the owner's own words let it take a message without a whole look.
__device__ unsigned slr_is_quiet(const unsigned *P, const struct slri_resident_entry *entry)
{
    if (entry->used == 0u || entry->left != 0u || (entry->held & 1u) != 0u ||
        entry->faulted != SLR_LOAD(entry->judged)) {
        return 0u;
    }
    return P[MBP_STATE] == MB_RUNNING && ((P[MBP_CONTROL] - 1u) & 3u) != MB_CLOSE && P[MBP_WAITING] == 0u &&
                   P[MBP_BATCH_COUNT] == 0u && P[MBP_GONE_OPEN] == 0u && P[MBP_SILENT] == 0u && P[MBP_ROOM] == 0u
               ? 1u
               : 0u;
}

// 0: no lane shows a message; 1 + the port of the only one that does; SLR_OTHER: there are several. Acquire: as
// mb_look.
__device__ unsigned slr_only(const unsigned *S, const unsigned *P)
{
    unsigned only = 0u;
    for (unsigned word = 0u; word < MB_SIZE(MB_PORT_WORDS); ++word) {
        unsigned bits = P[MBP_SET(word)];
        while (bits != 0u) {
            unsigned port = word * 32u + 31u - (unsigned)__clz((int)(bits & (0u - bits)));
            bits = bits & (bits - 1u);
            if (mb_shows(S, mb_lane_of(S, P, port), P[mb_port(P, port) + MBQ_NEXT_IN]) != 0u) {
                only = only == 0u ? port + 1u : SLR_OTHER;
            }
        }
    }
    return only;
}

// 1 + the only port there is; 0: there are none, or several. Where slr_is_quiet, nothing is left of those that are
// gone, and a new port in their lanes has a new epoch.
__device__ unsigned slr_sole(const unsigned *P)
{
    unsigned sole = 0u, ports = 0u;
    for (unsigned word = 0u; word < MB_SIZE(MB_PORT_WORDS); ++word) {
        unsigned bits = P[MBP_SET(word)] & ~P[MBP_GONE(word)];
        if (bits != 0u) {
            sole = word * 32u + 32u - (unsigned)__clz((int)bits);
            ports += (bits & (bits - 1u)) != 0u ? 2u : 1u;
        }
    }
    return ports == 1u ? sole : 0u;
}

// What the inner loop has left: a fault of the batch's last message so far, and the end of the batch.
__device__ unsigned slr_settle(unsigned *S, unsigned *P, unsigned *R, struct slri_resident_entry *entry, unsigned done,
                               unsigned has_faulted)
{
    unsigned batch = P[MBP_BATCH_COUNT];
    if (has_faulted != 0u) {
        slr_fault(S, P, R, entry, done - 1u);
    }
    if (done != batch && R[SLR_JUDGED] == 0u) {
        return done;
    }
    for (unsigned k = 0u; k < done; ++k) {
        mb_note_granted(P, P[MBP_BATCH(k)], S[P[MBP_BATCH(k) + 1u] + MB_HEAD]);
    }
    slr_finish(S, P, entry, done, R[SLR_JUDGED]);
    return 0u;
}

// It is first seen whether it shall stay at all.
__global__ void slr_stay(unsigned *S, unsigned *R, unsigned *states, const unsigned *C, unsigned chains, unsigned *P,
                         struct slri_resident_table *table)
{
    unsigned launch = table->launch, most = table->most_idle, next = SLR_LOOKS, owner = P[MBP_OWNER];
    unsigned done = 0u, port = 0u, q = 0u, at = 0u, has_faulted = 0u; // done: messages of the batch, and the last one
    R[SLR_IDLE] = 0u;
    while (next != SLR_ENDS) {
        struct slri_resident_entry *entry = &table->entry[0];
        if (done != 0u) {
            done = slr_settle(S, P, R, entry, done, has_faulted);
        }
        if (done == 0u) {
            slr_look_up(S, P, R, table, launch);
        }
        next = done != 0u ? SLR_STRAIGHT : R[SLR_NEXT];
        if (next == SLR_ENDS) {
            break; // P may be gone
        }
        unsigned idle = R[SLR_IDLE], held = entry->held, control = P[MBP_CONTROL], epoch = P[MBP_EPOCH];
        unsigned batch = R[SLR_BATCH]; // what was kept back waits for a whole look
        unsigned sole = batch == 0u ? slr_sole(P) : 0u, handled = P[MBP_HANDLED], replied = P[MBP_REPLIED];
        unsigned not_handled = P[MBP_FAULTED] + P[MBP_DROPPED] + P[MBP_IN_DOUBT] - P[MBP_GRANTED_RETIRED];
        if (next == SLR_STRAIGHT && batch == 0u && slr_is_quiet(P, entry) == 0u) {
            next = SLR_LOOKS;
        }
        has_faulted = 0u;
        while (next == SLR_STRAIGHT) {
            unsigned found = batch;
            do {
                if (batch == 0u) {
                    found = SLR_LOAD(entry->hold) != held || MB_ACQUIRE(MB_CONTROL) + 1u != control ||
                                    MB_ACQUIRE(MB_PORT_EPOCH) != epoch || idle >= most ||
                                    SLR_LOAD(table->stop) == launch
                                ? SLR_OTHER
                            : sole != 0u ? sole
                                         : slr_only(S, P);
                    idle = idle + (sole != 0u ? SLR_PASSES : 1u);
                }
            } while (found == 0u);
            unsigned watches = sole != 0u && found != SLR_OTHER ? 1u : 0u, turns = watches != 0u ? SLR_TURNS : 1u;
            unsigned shows = watches == 0u && found != SLR_OTHER ? 1u : 0u;
            next = found == SLR_OTHER ? SLR_LOOKS : SLR_STRAIGHT;
            if (batch != 0u) {
                port = P[MBP_BATCH(done)];
            } else if (found != SLR_OTHER) {
                port = found - 1u;
            }
            q = mb_port(P, port);
            unsigned lane = mb_lane_of(S, P, port), replies_at = mb_reply_lane_of(S, P, port);
            unsigned position = P[q + MBQ_NEXT_IN], first = P[q + MBQ_REPLIES], read = P[q + MBQ_READ_SEEN];
            unsigned is_gone = mb_is_gone(P, port);
            at = batch != 0u ? P[MBP_BATCH(done) + 1u] : mb_lane_slot(S, lane, position);
            R[SLR_LANE] = (replies_at + MB_REPLY_SLOTS + MB_PAYLOAD) * 4u;
            do {
                do { // acquire: as mb_shows
                    shows = shows | (watches & (MB_ACQUIRE(at + MB_SEQUENCE) == position + 1u ? 1u : 0u));
                    turns = turns - 1u;
                } while (((shows == 0u) & (turns != 0u)) != 0);
                // Whether a message can be taken by itself: it is of the lane's one priority, has no credit of its
                // port's own, and its replies have room. No other port may have come before it was sent: that one's
                // message could be the more urgent one. Acquires in order: a new epoch is seen behind the message.
                if (shows != 0u && batch == 0u) {
                    unsigned head = S[at + MB_HEAD], end = first + MB_SIZE(MB_MAX_REPLIES);
                    if (end - read > MB_SIZE(MB_REPLY_MASK) + 1u) { // acquire: as in mb_has_room
                        read = MB_ACQUIRE(lane + MB_REPLY_READ);
                        P[q + MBQ_READ_SEEN] = read;
                    }
                    unsigned is_more = MB_MARK(lane) > 256u | (head & (MB_FLAG_GRANTED | MB_FLAG_TIMED)) != 0u;
                    is_more = is_more | MB_ACQUIRE(MB_PORT_EPOCH) != epoch | is_gone;
                    is_more = is_more | (MB_SIZE(MB_MAX_REPLIES) != 0u & end - read > MB_SIZE(MB_REPLY_MASK) + 1u);
                    if (is_more != 0u) {
                        shows = 0u;
                        next = SLR_LOOKS;
                    }
                }
                if (shows != 0u) {
                    unsigned instance = S[at + MB_INSTANCE];
                    R[SLR_SLOT] = at;
                    R[SLR_STATE] = MB_SIZE(MB_SHARDS) > 1u ? instance / MB_SIZE(MB_SHARDS) : instance;
                    R[SLR_POSITION] = first;
                    slr_handle(R);
                    turns = turns > SLR_A_MESSAGE ? turns - SLR_A_MESSAGE : 0u;
                    idle = 0u;
                    if (batch == 0u) {
                        position = position + 1u;
                        P[q + MBQ_NEXT_IN] = position;
                    } else {
                        done = done + 1u;
                    }
                    has_faulted = R[SLR_RECORD + RL_FAULT] != 0u ? 1u : 0u;
                    next = has_faulted != 0u || (batch != 0u && done == batch) ? SLR_LOOKS : SLR_STRAIGHT;
                }
                if (shows != 0u && has_faulted == 0u) {
                    // As mb_handled, and as mb_finish of a message that came alone: its replies, then its credit.
                    unsigned replies = is_gone != 0u ? 0u : R[SLR_RECORD + RL_REPLIES], slot = 0u;
                    handled = handled + 1u;
                    P[MBP_HANDLED] = handled;
                    if (MB_SIZE(MB_MAX_REPLIES) != 0u) {
                        replied = replied + replies;
                        P[MBP_REPLIED] = replied;
                        P[q + MBQ_REPLIES] = first + replies;
                    }
                    if (MB_SIZE(MB_MAX_REPLIES) == 1u) {
                        slot = mb_reply_slot(S, replies_at, first);
                        if (replies != 0u) {
                            mb_head_slot(S, slot, at, 0u);
                        }
                    } else {
                        for (unsigned n = 0u; n < replies; ++n) {
                            mb_head_slot(S, mb_reply_slot(S, replies_at, first + n), at, 0u);
                        }
                    }
                    first = first + replies;
                    if (batch == 0u) {
                        if (MB_SIZE(MB_MAX_REPLIES) == 1u) {
                            if (replies != 0u) {
                                MB_PUBLISH(slot + MB_SEQUENCE, first); // its payload and header
                                P[q + MBQ_PUBLISHED] = first;
                            }
                        } else if (MB_SIZE(MB_MAX_REPLIES) != 0u) {
                            mb_publish_behind(S, P, port, q);
                        }
                        if (MB_SIZE(MB_MAX_REPLIES) != 0u) {
                            MB_STORE(owner + MB_REPLIED, replied);
                        }
                        MB_PUBLISH(owner + MB_HANDLED, handled);
                        MB_RELEASE(owner + MB_RETIRED, handled + not_handled); // as mb_retire
                        P[MBP_TURN] = port + 1u;
                        at = mb_lane_slot(S, lane, position);
                    }
                }
                shows = 0u;
            } while (((turns != 0u) & (next == SLR_STRAIGHT)) != 0);
        }
        R[SLR_IDLE] = idle;
        if (has_faulted != 0u && batch == 0u) { // as if a whole look had claimed it
            mb_add_to_batch(S, P, port, q, at, 0u);
            done = 1u;
        }
    }
    SLR_STORE(table->gone, launch);
}
#endif

// SPDX-License-Identifier: Apache-2.0
// The sending side of a port that has credits of its own: how an owner on a device passes messages on to another ring
// kernel of the device, without the host. A part of the protocol, in the kernel subset.
//
// Why credits of its own. Senders claim by a compare-and-swap on the accepted count, which the host changes too; over
// PCIe a device cannot do that. So the host claims some credits when a route is made, and leaves them claimed: a grant.
// Within it the port counts for itself. What it has sent is in its own words O; what its messages' owners have done
// with they count for each port (MB_PORT_RETIRED), and not among the retired of all. Each word has one writer.
//
// A credit of a grant implies a free slot by the argument at the head of mailbox.h, with the grant in the place of the
// capacity, of which it is a part. MB_FLAG_GRANTED travels with the message, so that it is counted right whoever has
// the lane next.
//
// Why an end waits for it. A mailbox that was closed ends when all that was accepted is retired, and the credits of a
// grant are accepted and never retired. To give one up: no message is in flight at the source any more; the count of
// those sent is added to MB_GRANTS_SENT, and the credits are given back (mb_drained). A credit whose message is
// not retired is kept until that message is: given back earlier, the mailbox would accept more than its capacity, and
// the pending set would overflow (tests/model/granted.pml).
//
// O, an outlet's words: the owner's of the source. L: the lanes of its port in the target, at the first shard's; R: the
// words MB_PORT_RETIRED, likewise.
#ifndef SLRI_ABI_PASSAGE_H
#define SLRI_ABI_PASSAGE_H

#include "abi/mailbox.h"

// ---- O: constant while the owner works with it, set by the host ----------------------------------------------------
#define MBO_OPEN 0u        // 1: it takes messages
#define MBO_GRANT 1u       // credits; the lanes have at least so many slots
#define MBO_MOST 2u        // messages handled for which that is enough, at most a batch
#define MBO_EACH 3u        // messages that one handled may cause
#define MBO_PARAMETER 4u   // 0: takes replies; else 1 + which parameter is the outlet that the handler sends through
#define MBO_INSTANCE_AT 5u // 0, or 1 + the byte of a reply where the instance stands that it is for
#define MBO_INSTANCES 6u   // of the target
#define MBO_SHARDS 7u
#define MBO_SLOT_WORDS 8u
#define MBO_LANE_MASK 9u
#define MBO_MESSAGE_WORDS 10u // of a payload
#define MBO_STAMPED 11u       // 1: the target's messages say when they were sent, and the source's do
#define MBO_LANES_STRIDE 12u  // words from one shard's lane to the next one's
#define MBO_RETIRED_STRIDE 13u
#define MBO_PORT 14u  // 0, or 1 + the port of the source itself that collects its replies: no lanes, no grant
#define MBO_SINCE 15u // of such: the port epoch when it was made
// ---- the owner's ---------------------------------------------------------------------------------------------------
#define MBO_SENT 32u // messages, modulo 2^32: filled, so a few may not be visible yet
#define MBO_SEEN 33u // of them, done with: as was last seen
#define MBO_ROUTED 34u
#define MBO_UNROUTED 35u
#define MBO_GONE 36u // 1: the port that collected has been closed
// ---- what the owner tells the host, at O's home --------------------------------------------------------------------
#define MBO_TOLD_SENT 64u // stored before the messages become visible: no target counts one that is not in it
#define MBO_TOLD_ROUTED 65u
#define MBO_TOLD_UNROUTED 66u
#define MBO_TOLD_GONE 67u
// ---- a target's shard: the owner's ---------------------------------------------------------------------------------
#define MBO_CURSOR(shard) (96u + (shard)*4u)
#define MBO_NEXT 0u   // the lane's next position to publish
#define MBO_FILLED 1u // slots behind it that are written
#define MBO_MARK 2u   // the lane's mark (MB_MIXED)
#define MBO_WORDS(shards) (MBO_CURSOR(shards))

// Where O, L and R are near, an owner says otherwise how it reads and shows words. It may have one fence before all
// that it shows, and tell behind it: then the host takes the later of what is told and what is counted.
#ifndef MBO_SEE
#define MBO_SEE(word) __nv_atomic_load_n(&(word), __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM)
#define MBO_SHOW(word, value) __nv_atomic_store_n(&(word), (value), __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM)
#define MBO_TELL(word, value) __nv_atomic_store_n(&(word), (value), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)
#endif

// How many of its messages are done with. Acquire: the target's owners have finished with their slots.
__device__ mb_word mbo_retired(const MB_ARENA *O, const MB_ARENA *R)
{
    mb_word sum = 0u;
    for (mb_word shard = 0u; shard < O[MBO_SHARDS]; ++shard) {
        sum += MBO_SEE(R[shard * O[MBO_RETIRED_STRIDE]]);
    }
    return sum;
}

// For how many messages handled there is room, at most a batch. The target's words are looked at only when less than
// half of what there can be is known: its owners write them all the time.
__device__ mb_word mbo_room(MB_ARENA *O, const MB_ARENA *R)
{
    if (O[MBO_OPEN] == 0u) {
        return MB_BATCH; // a target that takes no more holds nobody up
    }
    mb_word room = (O[MBO_GRANT] - (O[MBO_SENT] - O[MBO_SEEN])) / O[MBO_EACH];
    if (room * 2u < O[MBO_MOST] + 1u) {
        mb_word retired = mbo_retired(O, R);
        if (retired - O[MBO_SEEN] <=
            MB_COUNT) { // R near a device that was opened again is behind until its owner looks
            O[MBO_SEEN] = retired;
        }
        room = (O[MBO_GRANT] - (O[MBO_SENT] - O[MBO_SEEN])) / O[MBO_EACH];
    }
    return room < MB_BATCH ? room : MB_BATCH;
}

// Likewise of a port that collects the replies of the source itself. No room is reserved in its lane while senders
// receive none; else each message of the batch may be its own, and reserve as much again.
__device__ mb_word mbo_port_room(const MB_ARENA *S, const MB_ARENA *O, MB_ARENA *P)
{
    mb_word port = O[MBO_PORT] - 1u;
    mb_word q = mb_port(P, port);
    if (O[MBO_OPEN] == 0u || O[MBO_GONE] != 0u) {
        return MB_BATCH;
    }
    mb_word slots = MB_SIZE(MB_REPLY_MASK) + 1u;
    mb_word end = P[q + MBQ_REPLIES] + P[q + MBQ_RESERVED];
    mb_word each = P[MBP_SILENT] != 0u ? O[MBO_EACH] : O[MBO_EACH] + MB_SIZE(MB_MAX_REPLIES);
    mb_word room = (slots - (end - P[q + MBQ_READ_SEEN])) / each;
    if (room < MB_BATCH) { // acquire: the port has finished with the slots that are about to be overwritten
        P[q + MBQ_READ_SEEN] = MB_ACQUIRE(P[MBP_LANES] + port * MB_SIZE(MB_LANE_STRIDE) + MB_REPLY_READ);
        room = (slots - (end - P[q + MBQ_READ_SEEN])) / each;
    }
    return room < MB_BATCH ? room : MB_BATCH;
}

__device__ mb_word mbo_slot(const MB_ARENA *O, mb_word shard, mb_word position)
{
    return shard * O[MBO_LANES_STRIDE] + MB_LANE_SLOTS + (position & O[MBO_LANE_MASK]) * O[MBO_SLOT_WORDS];
}

// The instance that a reply of instance `own` is for.
__device__ mb_word mbo_instance(const MB_ARENA *O, mb_word own, const MB_ARENA *reply)
{
    mb_word at = O[MBO_INSTANCE_AT];
    if (at == 0u) {
        return O[MBO_INSTANCES] == 1u ? 0u : own;
    }
    mb_word word = (at - 1u) >> 2u;
    mb_word shift = ((at - 1u) & 3u) * 8u;
    return shift == 0u ? reply[word] : reply[word] >> shift | reply[word + 1u] << (32u - shift);
}

// Makes a message of `from`, with what the one that the source handles, at `at` in S, says of priority, correlation and
// time. There is room. It becomes visible with mbo_publish.
__device__ void mbo_give(const MB_ARENA *S, MB_ARENA *O, MB_ARENA *L, mb_word at, mb_word instance,
                         const MB_ARENA *from)
{
    if (O[MBO_OPEN] == 0u || instance >= O[MBO_INSTANCES]) {
        O[MBO_UNROUTED] += 1u;
        return;
    }
    mb_word shard = O[MBO_SHARDS] == 1u ? 0u : instance % O[MBO_SHARDS];
    mb_word cursor = MBO_CURSOR(shard);
    mb_word slot = mbo_slot(O, shard, O[cursor + MBO_NEXT] + O[cursor + MBO_FILLED]);
    mb_word priority = MB_TAKEN(at, MB_HEAD) & 255u;
    for (mb_word k = 0u; k < O[MBO_MESSAGE_WORDS]; ++k) {
        L[slot + MB_PAYLOAD + k] = from[k];
    }
    mb_write_header(L, slot, priority | MB_FLAG_GRANTED, instance, MB_TAKEN(at, MB_CORRELATION));
    if (O[MBO_STAMPED] != 0u) { // the stamp is the slot's last two words, here as there
        L[slot + O[MBO_SLOT_WORDS] - 2u] = MB_TAKEN(at, MB_SIZE(MB_SLOT_WORDS) - 2u);
        L[slot + O[MBO_SLOT_WORDS] - 1u] = MB_TAKEN(at, MB_SIZE(MB_SLOT_WORDS) - 1u);
    }
    O[cursor + MBO_MARK] = mb_mark_priority(L, shard * O[MBO_LANES_STRIDE], O[cursor + MBO_MARK], priority);
    O[cursor + MBO_FILLED] += 1u;
    O[MBO_SENT] += 1u;
    O[MBO_ROUTED] += 1u;
}

// Likewise of a port that collects replies, here to message k of the batch: the next reply in its lane.
__device__ void mbo_give_port(MB_ARENA *S, MB_ARENA *O, MB_ARENA *P, mb_word k, const MB_ARENA *from)
{
    mb_word port = O[MBO_PORT] - 1u;
    if (O[MBO_OPEN] == 0u || O[MBO_GONE] != 0u) {
        O[MBO_UNROUTED] += 1u;
        return;
    }
    mb_word slot = mb_reply_slot(S, mb_reply_lane_of(S, P, port), P[mb_port(P, port) + MBQ_REPLIES]);
    for (mb_word word = 0u; word < O[MBO_MESSAGE_WORDS]; ++word) {
        S[slot + MB_PAYLOAD + word] = from[word];
    }
    mb_head_reply(S, P, port, 0u, P[MBP_BATCH(k) + 1u], mb_collected(P, port, k));
    P[mb_port(P, port) + MBQ_REPLIES] += 1u;
    O[MBO_ROUTED] += 1u;
}

// Behind each look at the port sets, and before the next: the lane does not become another port's in between. A look
// from before the outlet was made shows who had the lane then.
__device__ void mbo_note_gone(MB_ARENA *O, MB_ARENA *H, const MB_ARENA *P)
{
    if (O[MBO_PORT] != 0u && O[MBO_GONE] == 0u && P[MBP_EPOCH] - O[MBO_SINCE] <= MB_COUNT &&
        mb_is_gone(P, O[MBO_PORT] - 1u) != 0u) {
        O[MBO_GONE] = 1u;
        MBO_TELL(H[MBO_TOLD_GONE], 1u);
    }
}

// Shows what was given, the first of each lane last: the target finds all at once. Before mb_finish, so that what is
// seen to be retired has been passed on. `H` is O's home, for the host. Again is as good as once.
__device__ void mbo_publish(MB_ARENA *O, MB_ARENA *H, MB_ARENA *L)
{
    MBO_TELL(H[MBO_TOLD_ROUTED], O[MBO_ROUTED]);
    MBO_TELL(H[MBO_TOLD_UNROUTED], O[MBO_UNROUTED]);
    MBO_TELL(H[MBO_TOLD_SENT], O[MBO_SENT]);
    for (mb_word shard = 0u; shard < O[MBO_SHARDS]; ++shard) {
        mb_word cursor = MBO_CURSOR(shard);
        mb_word next = O[cursor + MBO_NEXT];
        mb_word position = next + O[cursor + MBO_FILLED];
        while (position != next) { // release: the payload, the header, the mark, and what was told above
            position -= 1u;
            MBO_SHOW(L[mbo_slot(O, shard, position) + MB_SEQUENCE], position + 1u);
        }
        O[cursor + MBO_NEXT] = next + O[cursor + MBO_FILLED];
        O[cursor + MBO_FILLED] = 0u;
    }
}

#endif

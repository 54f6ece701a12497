// SPDX-License-Identifier: Apache-2.0
// A sender's side of a mailbox: credits, its lane's slots, and the replies that it reads. A part of mailbox.h, which
// includes it in its midst.
#ifndef SLRI_ABI_SENDER_H
#define SLRI_ABI_SENDER_H

// The shards' retired counts. Acquire: the owner has finished with those messages' slots, and their replies are there.
__device__ mb_word mb_retired(const MB_ARENA *S)
{
    mb_word sum = 0u;
    for (mb_word shard = 0u; shard < MB_SIZE(MB_SHARDS); ++shard) {
        sum += MB_ACQUIRE(mb_owner(S, shard) + MB_RETIRED);
    }
    return sum & MB_COUNT;
}

// Moves MB_RETIRED_SEEN forward, from `seen`, which the caller acquired before it summed up `retired`: so `retired` is
// no older. Who finds another value there leaves it: it is about as good, or this sender was away so long that a
// comparison modulo 2^31 would take its old sum for a newer one (tests/model/ports.pml).
// Release: who takes this value as its credit must see what the acquires in mb_retired saw.
__device__ void mb_note_retired(MB_ARENA *S, mb_word seen, mb_word retired)
{
    if (retired != seen) {
        __nv_atomic_compare_exchange_n(&S[MB_RETIRED_SEEN], &seen, retired, 0, __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED,
                                       __NV_THREAD_SCOPE_SYSTEM);
    }
}

// Claims up to `want` credits; gives how many. `place` gets the first one's place in the order of acceptance, modulo
// 2^31; with 0 given, MB_CLOSED in it where that was because the input is closed, else it is full.
// The count and the closed bit are one word, so that no claim slips in behind a close. Relaxed: a claim publishes
// nothing; the acquire is on the retired count.
__device__ mb_word mb_claim_place(MB_ARENA *S, mb_word want, mb_word *place)
{
    mb_word capacity = MB_SIZE(MB_CAPACITY);
    mb_word accepted = MB_LOAD(MB_ACCEPTED);
    mb_word granted = 0u;
    mb_word done = 0u;
    while (done == 0u && (accepted & MB_CLOSED) == 0u) {
        mb_word seen = MB_ACQUIRE(MB_RETIRED_SEEN);
        mb_word used = (accepted - seen) & MB_COUNT;
        if (used + want > capacity) {
            mb_word retired = mb_retired(S);
            mb_note_retired(S, seen, retired);
            used = (accepted - retired) & MB_COUNT;
        }
        // `used` above the capacity: `accepted` is older than the retired count. Then it is read again.
        granted = used < capacity ? capacity - used : 0u;
        granted = granted < want ? granted : want;
        if (granted != 0u) {
            done = __nv_atomic_compare_exchange_n(&S[MB_ACCEPTED], &accepted, (accepted + granted) & MB_COUNT, 1,
                                                  __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
        } else {
            mb_word now = MB_LOAD(MB_ACCEPTED);
            done = now == accepted;
            accepted = now;
        }
    }
    *place = accepted;
    return done != 0u ? granted : 0u;
}

__device__ mb_word mb_claim(MB_ARENA *S, mb_word want)
{
    mb_word place = 0u;
    return mb_claim_place(S, want, &place);
}

// Gives back credits that were claimed and that no unretired message has: a route claims before it knows how many its
// handlers will send, and keeps a grant as long as it lasts. Also after a close. Who claims them acquires the retired
// count itself. Release: that the messages of a port that was granted them are retired, for mb_drained.
__device__ void mb_give_back(MB_ARENA *S, mb_word credits)
{
    mb_word accepted = MB_LOAD(MB_ACCEPTED);
    while (!__nv_atomic_compare_exchange_n(&S[MB_ACCEPTED], &accepted,
                                           ((accepted - credits) & MB_COUNT) | (accepted & MB_CLOSED), 1,
                                           __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)) {
    }
}

// Messages of ports with credits of their own that are done with. Acquire: as mb_retired.
__device__ mb_word mb_granted_retired(const MB_ARENA *S)
{
    mb_word sum = 0u;
    for (mb_word shard = 0u; shard < MB_SIZE(MB_SHARDS); ++shard) {
        sum += MB_ACQUIRE(mb_owner(S, shard) + MB_GRANTED_RETIRED);
    }
    return sum;
}

// Whether, of a closed mailbox, all that was accepted is retired. Behind a close the count of accepted messages only
// falls, by credits given back, and never below the messages sent; what is retired only rises, and never above them. So
// once the two are equal they stay so. A port that has credits of its own keeps them claimed, and so does the host for
// its unretired messages when the port is gone: then there are none of either. Acquire: that those are retired.
__device__ mb_word mb_drained(const MB_ARENA *S)
{
    mb_word retired = mb_retired(S);
    return retired == (MB_ACQUIRE(MB_ACCEPTED) & MB_COUNT) ? 1u : 0u;
}

// Refuses all later claims; gives the count so far. Any number of times.
__device__ mb_word mb_close(MB_ARENA *S)
{
    mb_word accepted = MB_LOAD(MB_ACCEPTED);
    while (!__nv_atomic_compare_exchange_n(&S[MB_ACCEPTED], &accepted, accepted | MB_CLOSED, 1, __NV_ATOMIC_RELAXED,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)) {
    }
    return accepted & MB_COUNT;
}

// Lets claims in again. Relaxed, as the claims are: what the owners need comes with the control word.
__device__ void mb_reopen(MB_ARENA *S)
{
    mb_word accepted = MB_LOAD(MB_ACCEPTED);
    while (!__nv_atomic_compare_exchange_n(&S[MB_ACCEPTED], &accepted, accepted & MB_COUNT, 1, __NV_ATOMIC_RELAXED,
                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM)) {
    }
}

// Fills the header of the slot at a lane's `position`; the caller has filled the payload, then publishes.
__device__ void mb_write_header(MB_ARENA *S, mb_word slot, mb_word priority, mb_word instance, mb_word correlation)
{
    S[slot + MB_HEAD] = priority;
    S[slot + MB_INSTANCE] = instance;
    S[slot + MB_CORRELATION] = correlation;
}

// Whether the message at a lane's `position` is one of those that are timed. Multiples of 2^32 over the golden ratio
// lie evenly between 0 and 2^32: one in N is below 2^32 / N, in gaps that are Fibonacci numbers, more than N / 4, and
// so in step with no batch size.
__device__ mb_word mb_is_timed(const MB_ARENA *S, mb_word position)
{
    return (position * 2654435769u) >> 1u < MB_SIZE(MB_TIMED_BELOW) ? 1u : 0u;
}

// Where the time of a lane's message lies. Two positions a lane's length apart have different times, as do two timed
// ones nearer: so it is not written again before its message was taken.
__device__ mb_word mb_lane_time(const MB_ARENA *S, mb_word lane, mb_word position)
{
    return lane + MB_SIZE(MB_LANE_TIMES_AT) + ((position >> MB_SIZE(MB_TIMES_SHIFT)) & MB_SIZE(MB_TIMES_MASK)) * 2u;
}

// Notes when the message in a slot was sent, behind mb_write_header and before mb_publish.
__device__ void mb_write_time(MB_ARENA *S, mb_word lane, mb_word slot, mb_word position, mb_word low, mb_word high)
{
    mb_word at = mb_lane_time(S, lane, position);
    S[at] = low;
    S[at + 1u] = high;
    S[slot + MB_HEAD] |= MB_FLAG_TIMED;
}

// Notes which priorities a lane has carried, before the message that changes it is published: the owner reads the mark
// after its acquire of the sequence, so it never takes a mixed lane for one of a single priority. `seen` is the
// sender's copy of the mark; the new one is returned.
__device__ mb_word mb_mark_priority(MB_ARENA *S, mb_word lane, mb_word seen, mb_word priority)
{
    if (seen == priority + 1u || seen == MB_MIXED_MARK) {
        return seen;
    }
    mb_word mark = seen == 0u ? priority + 1u : MB_MIXED_MARK;
    MB_STORE(lane + MB_MIXED, mark);
    return mark;
}

// Release: the slot's payload, its header and the lane's mark.
__device__ void mb_publish(MB_ARENA *S, mb_word slot, mb_word position)
{
    MB_RELEASE(slot + MB_SEQUENCE, position + 1u);
}

// Whether the reply at `position` is there. Acquire: its payload, and all that its handler wrote.
__device__ mb_word mb_has_reply(const MB_ARENA *S, mb_word slot, mb_word position)
{
    return MB_ACQUIRE(slot + MB_SEQUENCE) == position + 1u ? 1u : 0u;
}

// Release: the port has read the replies before `position`; the owner may overwrite them.
__device__ void mb_return_replies(MB_ARENA *S, mb_word lane, mb_word position)
{
    MB_RELEASE(lane + MB_REPLY_READ, position);
}

#endif

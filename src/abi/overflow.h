// SPDX-License-Identifier: Apache-2.0
// The owner's side of a mailbox that drops: who is evicted, and when. A part of mailbox.h, which includes it in its
// midst.
//
// Where MB_KEEP is set, senders have some credits more than that, so that they need not wait for a handler, and the
// owners evict what is too much: at the start of each pass, paused or not, an owner moves all that its lanes show into
// its pending set, adds their number to MB_KEPT, and claims the excess over MB_KEEP, at most what it has. It then takes
// one message at a time: what waits behind it can still be evicted.
//
// Exact with several shards. Every change of MB_KEPT is one step on one word. Let an owner be done when it has claimed
// behind its last addition; then MB_KEPT is at most MB_KEEP plus what owners that are not done have added. For an owner
// adds n with at least n waiting of its own, so it can claim all that it has made too much, whatever others do
// meanwhile; and a claim is cut from what the word held at that step, so no two claim the same excess. Relaxed: the
// word is a count alone, and publishes nothing.

#ifndef SLRI_ABI_OVERFLOW_H
#define SLRI_ABI_OVERFLOW_H

// Makes the first message of a port's list the victim if it is before the one found so far.
__device__ void mb_weigh(const MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word priority)
{
    mb_word node = MB_LIST(P, mb_lists(P, port) + MBL_FIRST(priority));
    mb_word found = P[MBP_VICTIM_NODE];
    if (found != 0u) {
        mb_word ticket = mb_node(S, P, node) + MB_SIZE(MB_TICKET);
        mb_word age = (S[mb_node(S, P, found) + MB_SIZE(MB_TICKET)] - S[ticket]) & MB_COUNT;
        mb_word before = age < 0x40000000u ? 1u : 0u;
        if (MB_SIZE(MB_EVICT) == MB_EVICT_LOWEST && priority != P[MBP_VICTIM_PRIORITY]) {
            before = priority < P[MBP_VICTIM_PRIORITY] ? 1u : 0u;
        }
        if (before == 0u) {
            return;
        }
    }
    P[MBP_VICTIM_PORT] = port;
    P[MBP_VICTIM_PRIORITY] = priority;
    P[MBP_VICTIM_NODE] = node;
}

// The message to evict is first in its list: a list is one port's and one priority's, in the order of acceptance. With
// MB_EVICT_LOWEST a port's lowest list is enough.
__device__ void mb_find_victim(const MB_ARENA *S, MB_ARENA *P)
{
    P[MBP_VICTIM_NODE] = 0u;
    for (mb_word port = mb_next_port(S, P, 0u); port < MB_MAX_PORTS; port = mb_next_port(S, P, port + 1u)) {
        mb_word q = mb_port(P, port);
        mb_word words = P[q + MBQ_SUMMARY];
        while (words != 0u) {
            mb_word word = 31u - (mb_word)__clz((int)(words & (0u - words)));
            mb_word bits = P[q + MBQ_BITS(word)];
            while (bits != 0u) {
                mb_weigh(S, P, port, word * 32u + 31u - (mb_word)__clz((int)(bits & (0u - bits))));
                bits = MB_SIZE(MB_EVICT) == MB_EVICT_LOWEST ? 0u : bits & (bits - 1u);
            }
            words = MB_SIZE(MB_EVICT) == MB_EVICT_LOWEST ? 0u : words & (words - 1u);
        }
    }
}

// Takes the first message off a port's list.
__device__ void mb_unlink(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word priority)
{
    mb_word q = mb_port(P, port);
    mb_word l = mb_lists(P, port);
    mb_word next = S[mb_node(S, P, MB_LIST(P, l + MBL_FIRST(priority)))];
    MB_LIST(P, l + MBL_FIRST(priority)) = next;
    if (next == 0u) {
        mb_word word = priority >> 5u;
        P[q + MBQ_BITS(word)] &= ~(1u << (priority & 31u));
        if (P[q + MBQ_BITS(word)] == 0u) {
            P[q + MBQ_SUMMARY] &= ~(1u << word);
        }
    }
    P[q + MBQ_WAITING] -= 1u;
    P[MBP_WAITING] -= 1u;
}

// Tells the sender, where the handler replies at all and the port has room: a port that does not read its replies must
// not keep the owner from evicting.
__device__ void mb_notice(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word at)
{
    if (MB_SIZE(MB_MAX_REPLIES) == 0u || P[MBP_SILENT] != 0u || mb_is_gone(P, port) != 0u ||
        mb_has_room(S, P, port, mb_port(P, port)) == 0u) {
        return;
    }
    mb_head_reply(S, P, port, 0u, at, MB_FLAG_DROPPED);
    P[mb_port(P, port) + MBQ_REPLIES] += 1u;
    P[MBP_REPLIED] += 1u;
    P[MBP_NOTICED(port >> 5u)] |= 1u << (port & 31u);
}

__device__ void mb_evict(MB_ARENA *S, MB_ARENA *P)
{
    mb_find_victim(S, P);
    mb_word port = P[MBP_VICTIM_PORT];
    mb_word node = P[MBP_VICTIM_NODE];
    mb_word at = mb_node(S, P, node);
    mb_unlink(S, P, port, P[MBP_VICTIM_PRIORITY]);
    mb_write_letter(S, P, at, MB_SIZE(MB_EVICT) == MB_EVICT_OLDEST ? MB_LETTER_OLDEST : MB_LETTER_LOWEST);
    mb_notice(S, P, port, at);
    S[at] = P[MBP_FREE];
    P[MBP_FREE] = node;
    P[MBP_DROPPED] += 1u;
    P[MBP_EVICTED] += 1u;
}

// Publishes what the evictions have done: notices, counts, credits.
__device__ void mb_publish_evictions(MB_ARENA *S, MB_ARENA *P)
{
    for (mb_word word = 0u; word < MB_SIZE(MB_PORT_WORDS); ++word) {
        mb_word bits = P[MBP_NOTICED(word)];
        while (bits != 0u) {
            mb_publish_replies(S, P, word * 32u + 31u - (mb_word)__clz((int)(bits & (0u - bits))));
            bits &= bits - 1u;
        }
    }
    // Release: as in mb_finish.
    MB_RELEASE(P[MBP_OWNER] + MB_DROPPED, P[MBP_DROPPED]);
    MB_STORE(P[MBP_OWNER] + MB_REPLIED, P[MBP_REPLIED]);
    mb_retire(S, P);
}

// A message that was claimed and that no handler has begun goes back to where it was first, to be weighed with the
// others.
__device__ void mb_put_back(MB_ARENA *S, MB_ARENA *P)
{
    mb_word port = P[MBP_BATCH(0u)];
    mb_word at = P[MBP_BATCH(0u) + 1u];
    mb_word priority = S[at + MB_HEAD] & 255u;
    mb_word q = mb_port(P, port);
    mb_word l = mb_lists(P, port);
    mb_word bit = 1u << (priority & 31u);
    mb_word node = P[MBP_BATCH(0u) + 2u];
    if ((P[q + MBQ_BITS(priority >> 5u)] & bit) != 0u) {
        S[at] = MB_LIST(P, l + MBL_FIRST(priority));
    } else {
        S[at] = 0u;
        MB_LIST(P, l + MBL_LAST(priority)) = node;
        P[q + MBQ_BITS(priority >> 5u)] |= bit;
        P[q + MBQ_SUMMARY] |= 1u << (priority >> 5u);
    }
    MB_LIST(P, l + MBL_FIRST(priority)) = node;
    P[q + MBQ_WAITING] += 1u;
    P[q + MBQ_RESERVED] = 0u;
    P[MBP_WAITING] += 1u;
    P[MBP_BATCH_COUNT] = 0u;
}

// Takes what the lanes show and evicts what is too much.
__device__ void mb_keep(MB_ARENA *S, MB_ARENA *P)
{
    mb_word waited = P[MBP_WAITING];
    if (P[MBP_BATCH_COUNT] != 0u) {
        mb_put_back(S, P);
    }
    mb_take_all(S, P);
    mb_word taken = P[MBP_WAITING] - waited;
    if (taken == 0u) {
        return;
    }
    // A port that has come back may have sent what was just taken, and is owed its notices.
    mb_word epoch = MB_ACQUIRE(MB_PORT_EPOCH);
    if (epoch != P[MBP_EPOCH]) {
        mb_reread_ports(S, P, epoch);
    }
    mb_word kept = taken + __nv_atomic_fetch_add(&S[MB_KEPT], taken, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    mb_word excess = 0u;
    mb_word claimed = 0u;
    while (claimed == 0u) {
        excess = kept > MB_SIZE(MB_KEEP) ? kept - MB_SIZE(MB_KEEP) : 0u;
        excess = excess < P[MBP_WAITING] ? excess : P[MBP_WAITING];
        claimed =
            excess == 0u || __nv_atomic_compare_exchange_n(&S[MB_KEPT], &kept, kept - excess, 1, __NV_ATOMIC_RELAXED,
                                                           __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    }
    if (excess == 0u) {
        return;
    }
    for (mb_word k = 0u; k < excess; ++k) {
        mb_evict(S, P);
    }
    mb_publish_evictions(S, P);
}

// Takes one message.
__device__ void mb_claim_one(MB_ARENA *S, MB_ARENA *P)
{
    mb_claim_pending(S, P, 1u);
    if (P[MBP_BATCH_COUNT] != 0u) {
        __nv_atomic_fetch_sub(&S[MB_KEPT], 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
    }
}

#endif

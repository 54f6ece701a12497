// SPDX-License-Identifier: Apache-2.0
// Holding messages: an owner that takes some, works on them, and ends each when it likes, in any order; in the kernel
// subset.
//
// Why out of order is safe. A message is always taken through the pending set, so what is held lies in a node of the
// pool, and its lane's slot is free before anything behind it is retired: the argument at the head of mailbox.h, which
// needs that a lane is *taken* in order, stands as it is. Nodes: those pending and held are all unretired, so
// `capacity` suffice. Credits: the retired count only says how many, and each message ends once. Replies: room for
// `max_replies` is reserved when a message is taken and given back when it ends; positions are assigned when it ends,
// so a port still finds its replies without gaps.
#ifndef SLRI_ABI_HELD_H
#define SLRI_ABI_HELD_H

#include "abi/mailbox.h"

// Takes up to P[MBP_MOST] messages, the highest priority first; gives how many. They stand in the batch's entries until
// the next call, and are held until mb_end_held.
__device__ mb_word mb_hold(MB_ARENA *S, MB_ARENA *P)
{
    mb_take_all(S, P);
    if (P[MBP_WAITING] != 0u) {
        mb_claim_pending(S, P, P[MBP_MOST]);
    }
    mb_word held = P[MBP_BATCH_COUNT];
    P[MBP_BATCH_COUNT] = 0u;
    P[MBP_HELD] += held;
    return held;
}

// Whether the input is closed and all that was ever accepted has been taken: then nothing is under way in a lane
// either.
__device__ mb_word mb_all_taken(const MB_ARENA *S, const MB_ARENA *P, mb_word control)
{
    if ((control & 3u) != MB_CLOSE) {
        return 0u;
    }
    return ((P[MBP_HANDLED] + P[MBP_FAULTED] + P[MBP_HELD]) & MB_COUNT) == (MB_LOAD(MB_ACCEPTED) & MB_COUNT) ? 1u : 0u;
}

// Copies a reply's payload of `words` words to where reply n of the message that ends next lies.
__device__ void mb_copy_reply(MB_ARENA *S, const MB_ARENA *P, mb_word port, mb_word n, const mb_word *from,
                              mb_word words)
{
    mb_word slot = mb_reply_slot(S, mb_reply_lane_of(S, P, port), P[mb_port(P, port) + MBQ_REPLIES] + n);
    for (mb_word k = 0u; k < words; ++k) {
        S[slot + MB_PAYLOAD + k] = from[k];
    }
}

// Ends a held message, whose replies have been copied: a batch of one, which leaves the other messages' room reserved.
__device__ void mb_end_held(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word node, mb_word replies, mb_word flags)
{
    mb_word reserved = P[mb_port(P, port) + MBQ_RESERVED];
    P[MBP_BATCH(0u)] = port;
    P[MBP_BATCH(0u) + 1u] = mb_node(S, P, node);
    P[MBP_BATCH(0u) + 2u] = node;
    P[MBP_BATCH(0u) + 3u] = mb_port(P, port);
    P[MBP_BATCH_COUNT] = 1u;
    P[MBP_HELD] -= 1u;
    mb_handled(S, P, 0u, replies, flags);
    mb_finish(S, P);
    P[mb_port(P, port) + MBQ_RESERVED] = reserved - MB_SIZE(MB_MAX_REPLIES);
}

#endif

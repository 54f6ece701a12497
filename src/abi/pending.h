// SPDX-License-Identifier: Apache-2.0
// The owner's side of a mailbox: what it takes from the lanes, the pending set in which that waits by priority, and the
// batches that it claims. A part of mailbox.h, which includes it in its midst.
#ifndef SLRI_ABI_PENDING_H
#define SLRI_ABI_PENDING_H

// ---- the pending set -----------------------------------------------------------------------------------------------

// Where in P a port's lists lie.
__device__ mb_word mb_lists(const MB_ARENA *P, mb_word port)
{
    return P[MBP_LISTS] + port * MBL_WORDS;
}

__device__ mb_word mb_node(const MB_ARENA *S, const MB_ARENA *P, mb_word node)
{
    return P[MBP_POOL] + node * MB_SIZE(MB_SLOT_WORDS); // nodes count from 1; there is room for `capacity`
}

// Where the time of a message lies that has MB_FLAG_TIMED: in a lane's slot with that sequence, or in a node.
__device__ mb_word mb_time_at(const MB_ARENA *S, const MB_ARENA *P, mb_word port, mb_word sequence, mb_word node)
{
    return node == 0u ? mb_lane_time(S, mb_lane_of(S, P, port), sequence - 1u)
                      : P[MBP_OWNER] + MB_SIZE(MB_NODE_TIMES_AT) + node * 2u;
}

__device__ void mb_keep_time(MB_ARENA *S, const MB_ARENA *P, mb_word port, mb_word slot, mb_word node)
{
    mb_word from = mb_time_at(S, P, port, S[slot + MB_SEQUENCE], 0u);
    mb_word to = mb_time_at(S, P, port, 0u, node);
    S[to] = S[from];
    S[to + 1u] = S[from + 1u];
}

// Copies a message out of its lane into the list of its port and priority.
__device__ void mb_pend(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word slot)
{
    mb_word node = P[MBP_FREE];
    if (node != 0u) {
        P[MBP_FREE] = S[mb_node(S, P, node)];
    } else {
        node = P[MBP_USED] + 1u;
        P[MBP_USED] = node;
    }
    mb_word at = mb_node(S, P, node);
    S[at] = 0u; // the sequence word becomes the link
    for (mb_word k = 1u; k < MB_SIZE(MB_SLOT_WORDS); ++k) {
        S[at + k] = MB_AT(slot + k);
    }
    if ((S[at + MB_HEAD] & MB_FLAG_TIMED) != 0u) {
        mb_keep_time(S, P, port, slot, node);
    }
    mb_word priority = S[at + MB_HEAD] & 255u;
    mb_word word = priority >> 5u;
    mb_word bit = 1u << (priority & 31u);
    mb_word q = mb_port(P, port);
    mb_word l = mb_lists(P, port);
    if ((P[q + MBQ_BITS(word)] & bit) != 0u) {
        S[mb_node(S, P, MB_LIST(P, l + MBL_LAST(priority)))] = node;
    } else {
        MB_LIST(P, l + MBL_FIRST(priority)) = node;
        P[q + MBQ_BITS(word)] |= bit;
        P[q + MBQ_SUMMARY] |= 1u << word;
    }
    MB_LIST(P, l + MBL_LAST(priority)) = node;
    P[q + MBQ_WAITING] += 1u;
    P[MBP_WAITING] += 1u;
}

// The highest priority pending of a port, whose summary is not zero.
__device__ mb_word mb_top(const MB_ARENA *P, mb_word q)
{
    mb_word word = 31u - (mb_word)__clz((int)P[q + MBQ_SUMMARY]);
    return word * 32u + 31u - (mb_word)__clz((int)P[q + MBQ_BITS(word)]);
}

// Whether the replies of one more message fit. A closed port takes no replies, so it always has room; but the message
// may be of the next port in its lanes, which came after the sets were last read: then a change shows behind the
// acquire of the message, and the next pass knows. A lane elsewhere has none but such as take no replies.
__device__ mb_word mb_has_room(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word q)
{
    mb_word need = MB_SIZE(MB_MAX_REPLIES);
    if (P[MBP_ROOM] != 0u && P[MBP_BATCH_COUNT] + 1u >= P[MBP_ROOM]) {
        return 0u;
    }
    if (need == 0u || P[MBP_SILENT] != 0u) {
        return 1u;
    }
    if ((P[MBP_GONE(port >> 5u)] & (1u << (port & 31u))) != 0u) {
        return MB_IS_ELSEWHERE(P, port) != 0u || MB_LOAD(MB_PORT_EPOCH) == P[MBP_EPOCH] ? 1u : 0u;
    }
    mb_word end = P[q + MBQ_REPLIES] + P[q + MBQ_RESERVED] + need;
    if (end - P[q + MBQ_READ_SEEN] <= MB_SIZE(MB_REPLY_MASK) + 1u) {
        return 1u;
    }
    // Acquire: the port has finished with the slots that are about to be overwritten.
    P[q + MBQ_READ_SEEN] = MB_ACQUIRE(mb_lane_of(S, P, port) + MB_REPLY_READ);
    return end - P[q + MBQ_READ_SEEN] <= MB_SIZE(MB_REPLY_MASK) + 1u ? 1u : 0u;
}

// `q`: mb_port, as above.
__device__ void mb_add_to_batch(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word q, mb_word at, mb_word node)
{
    mb_word k = MBP_BATCH(P[MBP_BATCH_COUNT]);
    P[k] = port;
    P[k + 1u] = at;
    P[k + 2u] = node;
    P[k + 3u] = q;
    P[MBP_BATCH_COUNT] += 1u;
    P[q + MBQ_RESERVED] += MB_SIZE(MB_MAX_REPLIES);
}

// ---- taking --------------------------------------------------------------------------------------------------------

#ifndef MB_RUNS_ARE_KNOWN
// How many messages, at most a batch, a lane shows. Acquire each: the payload, the header and the lane's mark.
__device__ mb_word mb_full_run(const MB_ARENA *S, mb_word lane, mb_word position)
{
    mb_word n = 0u;
    while (n < MB_BATCH && MB_ACQUIRE(mb_lane_slot(S, lane, position + n) + MB_SEQUENCE) == position + n + 1u) {
        n += 1u;
    }
    return n;
}

// Whether it shows any. Acquire, likewise.
__device__ mb_word mb_shows(const MB_ARENA *S, mb_word lane, mb_word position)
{
    return MB_ACQUIRE(mb_lane_slot(S, lane, position) + MB_SEQUENCE) == position + 1u ? 1u : 0u;
}
#endif

// The next port of the set at or after `port`, or MB_MAX_PORTS.
__device__ mb_word mb_next_port(const MB_ARENA *S, const MB_ARENA *P, mb_word port)
{
    mb_word word = port >> 5u;
    mb_word bits = word < MB_SIZE(MB_PORT_WORDS) ? P[MBP_SET(word)] & (0xffffffffu << (port & 31u)) : 0u;
    while (bits == 0u) {
        word += 1u;
        if (word >= MB_SIZE(MB_PORT_WORDS)) {
            return MB_MAX_PORTS;
        }
        bits = P[MBP_SET(word)];
    }
    return word * 32u + 31u - (mb_word)__clz((int)(bits & (0u - bits)));
}

// Moves all that the lanes show into the pending set. The credits bound it.
MB_APART __device__ void mb_take_all(MB_ARENA *S, MB_ARENA *P)
{
    for (mb_word port = mb_next_port(S, P, 0u); port < MB_MAX_PORTS; port = mb_next_port(S, P, port + 1u)) {
        mb_word lane = mb_lane_of(S, P, port);
        mb_word position = P[mb_port(P, port) + MBQ_NEXT_IN];
        mb_word run = mb_full_run(S, lane, position);
        while (run != 0u) {
            for (mb_word k = 0u; k < run; ++k) {
                mb_pend(S, P, port, mb_lane_slot(S, lane, position + k));
            }
            position += run;
            run = mb_full_run(S, lane, position);
        }
        P[mb_port(P, port) + MBQ_NEXT_IN] = position;
    }
}

// Whether all lanes that show something carry one and the same priority: then the order of the lanes is the order of
// service, and the pending set (10 of 18 ns a message) can be passed by. 0: nothing to take; MB_MIXED_MARK: mixed; else
// the mark that they have in common.
__device__ mb_word mb_look(MB_ARENA *S, MB_ARENA *P)
{
    mb_word common = 0u;
    for (mb_word port = mb_next_port(S, P, 0u); port < MB_MAX_PORTS; port = mb_next_port(S, P, port + 1u)) {
        mb_word lane = mb_lane_of(S, P, port);
        mb_word position = P[mb_port(P, port) + MBQ_NEXT_IN];
        if (mb_shows(S, lane, position) != 0u) {
            mb_word mark = MB_MARK(lane); // behind the acquire: at least as new as the message
            if (mark > 256u || (common != 0u && mark != common)) {
                return MB_MIXED_MARK;
            }
            common = mark;
        }
    }
    return common;
}

// How many messages wait, pending or in the lanes: exact up to `most`.
__device__ mb_word mb_shown(const MB_ARENA *S, const MB_ARENA *P, mb_word most)
{
    mb_word n = P[MBP_WAITING];
    mb_word port = mb_next_port(S, P, 0u);
    while (port < MB_MAX_PORTS && n < most) {
        n += mb_full_run(S, mb_lane_of(S, P, port), P[mb_port(P, port) + MBQ_NEXT_IN]);
        port = mb_next_port(S, P, port + 1u);
    }
    return n;
}

// Takes up to `run` messages from a lane, as far as there is room.
__device__ void mb_claim_lane(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word run)
{
    mb_word lane = mb_lane_of(S, P, port);
    mb_word q = mb_port(P, port);
    mb_word position = P[q + MBQ_NEXT_IN];
    mb_word end = position + run;
    while (position != end && mb_has_room(S, P, port, q) != 0u) {
        mb_add_to_batch(S, P, port, q, mb_lane_slot(S, lane, position), 0u);
        position += 1u;
    }
    P[q + MBQ_NEXT_IN] = position;
}

// Takes a batch straight from the lanes, a run a port, beginning with the port whose turn it is.
// The mark is read again behind the acquire of the whole run: a run may hold messages sent after mb_look looked, in a
// lane that has become mixed, or that was empty then and is of another priority. Such a run waits for the next pass.
__device__ void mb_claim_straight(MB_ARENA *S, MB_ARENA *P, mb_word mark)
{
    mb_word first = mb_next_port(S, P, P[MBP_TURN]);
    if (first == MB_MAX_PORTS) {
        first = mb_next_port(S, P, 0u);
    }
    mb_word port = first;
    do {
        mb_word lane = mb_lane_of(S, P, port);
        mb_word q = mb_port(P, port);
        mb_word run = mb_full_run(S, lane, P[q + MBQ_NEXT_IN]);
        if (MB_MARK(lane) != mark) {
            run = 0u;
        }
        mb_word free = P[MBP_MOST] - P[MBP_BATCH_COUNT];
        mb_claim_lane(S, P, port, run < free ? run : free);
        port = mb_next_port(S, P, port + 1u);
        if (port == MB_MAX_PORTS) {
            port = mb_next_port(S, P, 0u);
        }
    } while (port != first && P[MBP_BATCH_COUNT] < P[MBP_MOST]);
    P[MBP_TURN] = first + 1u;
}

// Takes from one port's list of one priority until it, the room or the batch is at its end.
__device__ void mb_claim_run(MB_ARENA *S, MB_ARENA *P, mb_word port, mb_word priority, mb_word most)
{
    mb_word q = mb_port(P, port);
    mb_word l = mb_lists(P, port);
    mb_word node = MB_LIST(P, l + MBL_FIRST(priority));
    while (node != 0u && P[MBP_BATCH_COUNT] < most && mb_has_room(S, P, port, q) != 0u) {
        mb_word at = mb_node(S, P, node);
        mb_add_to_batch(S, P, port, q, at, node);
        node = S[at];
        P[q + MBQ_WAITING] -= 1u;
        P[MBP_WAITING] -= 1u;
    }
    MB_LIST(P, l + MBL_FIRST(priority)) = node;
    if (node == 0u) {
        mb_word word = priority >> 5u;
        P[q + MBQ_BITS(word)] &= ~(1u << (priority & 31u));
        if (P[q + MBQ_BITS(word)] == 0u) {
            P[q + MBQ_SUMMARY] &= ~(1u << word);
        }
    }
}

// Takes a batch from the pending set: the highest priority first, ports of equal priority in turn. A port whose reply
// lane is full is passed over: it blocks only itself.
MB_APART __device__ void mb_claim_pending(MB_ARENA *S, MB_ARENA *P, mb_word most)
{
    mb_word turn = P[MBP_TURN];
    mb_word best = 1u;
    while (best != 0u && P[MBP_BATCH_COUNT] < most) {
        mb_word from = 0u;
        best = 0u;                                   // priority + 1
        for (mb_word part = 0u; part < 2u; ++part) { // the ports from the turn on, then those before it
            mb_word port = mb_next_port(S, P, part == 0u ? turn : 0u);
            while (port < MB_MAX_PORTS && (part == 0u || port < turn)) {
                mb_word q = mb_port(P, port);
                if (P[q + MBQ_SUMMARY] != 0u && mb_top(P, q) + 1u > best && mb_has_room(S, P, port, q) != 0u) {
                    best = mb_top(P, q) + 1u;
                    from = port;
                }
                port = mb_next_port(S, P, port + 1u);
            }
        }
        if (best != 0u) {
            mb_claim_run(S, P, from, best - 1u, most);
            turn = from + 1u;
        }
    }
    P[MBP_TURN] = turn;
}

#endif

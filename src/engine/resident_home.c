// SPDX-License-Identifier: Apache-2.0
// An owner's words at home, when those near the group that worked on them are lost with it. The group has written them
// here when it took a batch, before it handled it; what it has done since shows in the mailbox: counts, the sequences
// of replies and letters.
#include "engine/resident.h"

#include <string.h>

// How many of the batch are done with: their counts are published, and all replies that go with them.
static uint32_t count_done(const uint32_t *S, const uint32_t *P)
{
    uint32_t owner = P[MBP_OWNER];
    // Relaxed: the group is gone, and who says so has acquired what it did, or nobody ever will.
    uint32_t done = MB_LOAD(owner + MB_HANDLED) + MB_LOAD(owner + MB_FAULTED) - P[MBP_HANDLED] - P[MBP_FAULTED];
    return done < P[MBP_BATCH_COUNT] ? done : P[MBP_BATCH_COUNT];
}

// The replies that are out. Those of a batch are published last to first, so they are all there, or the first is not. A
// port that only collects replies is in no batch, and what is known of it here may be any number of them old: those
// that it has read are out, and later ones still lie there.
static void find_replies(const uint32_t *S, uint32_t *P, uint32_t port)
{
    uint32_t q = MBP_PORT(port), lane = mb_reply_lane_of(S, P, port), at = P[q + MBQ_PUBLISHED];
    uint32_t read = MB_ACQUIRE(mb_lane_of(S, P, port) + MB_REPLY_READ); // the port has finished with those slots
    if ((int32_t)(read - at) > 0)
        at = read;
    P[q + MBQ_READ_SEEN] = read; // else there might seem to be more in the lane than it has room for
    while (S[MB_MAX_REPLIES] != 0 && MB_LOAD(mb_reply_slot(S, lane, at) + MB_SEQUENCE) == at + 1)
        ++at;
    P[q + MBQ_REPLIES] = P[q + MBQ_PUBLISHED] = at;
    P[q + MBQ_RESERVED] = 0;
}

// How many replies that its handlers wrote lie in the lane from position `from` on. Where routes take all of them none
// does. Others are of a port that collects.
static uint32_t count_replies(const uint32_t *S, const uint32_t *P, uint32_t port, uint32_t from)
{
    uint32_t lane = mb_reply_lane_of(S, P, port), count = 0;
    if (P[MBP_SILENT] != 0)
        return 0;
    for (; from != P[MBP_PORT(port) + MBQ_PUBLISHED]; ++from)
        count += (S[mb_reply_slot(S, lane, from) + MB_HEAD] & MB_FLAG_COLLECTED) == 0;
    return count;
}

static bool is_in_batch(const uint32_t *P, uint32_t port)
{
    uint32_t k = 0;
    while (k < P[MBP_BATCH_COUNT] && P[MBP_BATCH(k)] != port)
        ++k;
    return k < P[MBP_BATCH_COUNT];
}

// The replies of a batch are out before they are counted (mb_finish), and all of them were counted at once. What is
// known here of the batch's ports is what it began with.
static void find_all_replies(uint32_t *S, struct slri_shard *shard)
{
    uint32_t *P = shard->own, owner = P[MBP_OWNER], begun = P[MBP_REPLIED], out = 0;
    for (uint32_t port = 0; MBP_WORDS(port + 1) <= shard->own_words; ++port) {
        uint32_t from = P[MBP_PORT(port) + MBQ_PUBLISHED];
        find_replies(S, P, port);
        if (is_in_batch(P, port))
            out += count_replies(S, P, port, from);
    }
    uint32_t told = MB_LOAD(owner + MB_REPLIED);
    P[MBP_REPLIED] = told == begun ? begun + out : told;
    MB_STORE(owner + MB_REPLIED, P[MBP_REPLIED]); // relaxed: whoever asks for counts orders nothing by this one
}

static void find_letters(const uint32_t *S, uint32_t *P)
{
    uint32_t owner = P[MBP_OWNER];
    while (S[MB_LETTERS] != 0 && MB_LOAD(mb_letter_slot(S, owner, P[MBP_LETTERS]) + MB_SEQUENCE) == P[MBP_LETTERS] + 1)
        ++P[MBP_LETTERS];
    P[MBP_LETTERS_LOST] = MB_LOAD(owner + MB_LETTERS_LOST);
}

// ---- the pending set: messages that wait in lists, in nodes of the mailbox -----------------------------------------
//
// The group may have moved messages from the lanes into lists since it wrote the words here (mb_take_all): in nodes
// that are free by these words, linked behind what they call the last ones. By these words those messages are in their
// lanes, and there they are still: no slot is used again before its message is retired, and no batch since has retired
// any. So lists end where these words say, and every node is free that is in no list and in no batch.

#define IN_USE 0x80000000u // in MB_HEAD; no message has it

static void keep_list(uint32_t *S, const uint32_t *P, uint32_t first, uint32_t last)
{
    S[mb_node(S, P, last)] = 0;
    for (uint32_t node = first; node != 0; node = S[mb_node(S, P, node)])
        S[mb_node(S, P, node) + MB_HEAD] |= IN_USE;
}

static void keep_lists(uint32_t *S, const uint32_t *P, uint32_t port)
{
    const uint32_t *bits = &P[MBP_PORT(port) + MBQ_BITS(0)], *list = &P[mb_lists(P, port)];
    for (uint32_t priority = 0; priority < 256; ++priority)
        if (bits[priority >> 5] & 1u << (priority & 31))
            keep_list(S, P, list[MBL_FIRST(priority)], list[MBL_LAST(priority)]);
}

static void find_nodes(uint32_t *S, struct slri_shard *shard)
{
    uint32_t *P = shard->own;
    for (uint32_t port = 0; MBP_WORDS(port + 1) <= shard->own_words; ++port)
        keep_lists(S, P, port);
    for (uint32_t k = 0; k < P[MBP_BATCH_COUNT]; ++k)
        if (P[MBP_BATCH(k) + 2] != 0)
            S[mb_node(S, P, P[MBP_BATCH(k) + 2]) + MB_HEAD] |= IN_USE;
    P[MBP_FREE] = 0;
    for (uint32_t node = 1; node <= P[MBP_USED]; ++node) {
        const uint32_t at = mb_node(S, P, node);
        if (S[at + MB_HEAD] & IN_USE) {
            S[at + MB_HEAD] &= ~IN_USE;
            continue;
        }
        S[at] = P[MBP_FREE];
        P[MBP_FREE] = node;
    }
}

// ---- what was in hand ----------------------------------------------------------------------------------------------

static bool lay_near(const uint32_t *P, uint32_t k)
{
    return P[MBP_NEAR] != 0 && P[MBP_BATCH(k) + 1] & MB_NEAR;
}

// A message whose credit is its port's (passage.h) is done with: the owner's words at home do not count it yet.
static void note_granted(uint32_t *S, uint32_t *P, uint32_t k)
{
    uint32_t port = P[MBP_BATCH(k)], *retired = &P[MBP_PORT(port) + MBQ_RETIRED];
    *retired += 1;
    P[MBP_GRANTED_RETIRED] += 1;
    MB_RELEASE(mb_reply_lane_of(S, P, port) + MB_PORT_RETIRED, *retired); // as in mb_return_grants
}

// A port that was in earlier batches and not in this one has had its messages counted since its words were written.
static void find_retired(const uint32_t *S, uint32_t *P, uint32_t port)
{
    P[MBP_PORT(port) + MBQ_RETIRED] = MB_LOAD(mb_reply_lane_of(S, P, port) + MB_PORT_RETIRED);
}

// Those that were not handled are lost with the group: in doubt, whatever was asked for.
static void doubt_near(uint32_t *S, uint32_t *P)
{
    uint32_t kept = 0;
    for (uint32_t k = 0; k < P[MBP_BATCH_COUNT]; ++k) {
        if (lay_near(P, k)) {
            note_granted(S, P, k);
            P[MBP_IN_DOUBT] += 1;
            continue;
        }
        memmove(&P[MBP_BATCH(kept)], &P[MBP_BATCH(k)], 4 * sizeof *P);
        ++kept;
    }
    P[MBP_BATCH_COUNT] = kept;
    MB_RELEASE(P[MBP_OWNER] + MB_IN_DOUBT, P[MBP_IN_DOUBT]); // as in mb_doubt
}

void slri_resident_recover(struct slri_shard *shard)
{
    uint32_t *S = shard->shared, *P = shard->own, owner = P[MBP_OWNER];
    uint32_t batch = P[MBP_BATCH_COUNT], done = count_done(S, P);
    find_all_replies(S, shard);
    find_letters(S, P);
    for (uint32_t k = 0; k < done; ++k) {
        if (lay_near(P, k) || S[P[MBP_BATCH(k) + 1] + MB_HEAD] & MB_FLAG_GRANTED)
            note_granted(S, P, k);
    }
    for (uint32_t port = 0; MBP_WORDS(port + 1) <= shard->own_words; ++port)
        find_retired(S, P, port); // behind the above, which tells it for the ports of this batch
    for (uint32_t word = 0; word < (batch - done) * 4; ++word)
        P[MBP_BATCH(0) + word] = P[MBP_BATCH(done) + word];
    P[MBP_BATCH_COUNT] = batch - done;
    find_nodes(S, shard);
    P[MBP_HANDLED] = MB_LOAD(owner + MB_HANDLED);
    P[MBP_FAULTED] = MB_LOAD(owner + MB_FAULTED);
    doubt_near(S, P);
}

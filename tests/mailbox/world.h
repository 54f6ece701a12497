// SPDX-License-Identifier: Apache-2.0
// A mailbox of tiny sizes, its senders and owners, and what they must have done: the reference model.
#ifndef SLRI_TESTS_MAILBOX_WORLD_H
#define SLRI_TESTS_MAILBOX_WORLD_H

#include "abi/mailbox.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SHARDS = 3, PORTS = 3, LANES = 34, INSTANCES = 4, LEVELS = 4, MESSAGES = 1000, CAPACITY = 40, SLOTS = 64 };

static const uint32_t levels[LEVELS] = {0, 31, 32, 255}; // priorities: ends of the bitmap and of one of its words

enum state { NONE, POSTED, CLAIMED, HANDLED, RETIRED };

struct model_message {
    enum state state;
    uint32_t lane, shard, instance, level, order; // order: of its port, instance and level
};

// What a port may receive from one shard, in order; `published` of them by now.
struct model_replies {
    uint32_t id[4 * MESSAGES];
    uint32_t written, published, received;
};

struct sender {
    bool open;
    uint32_t lane;       // which of the mailbox's lanes; the ports' lanes are apart in the bitmap
    uint32_t credits;    // claimed, and not yet posted
    uint32_t only_level; // LEVELS: any
    uint32_t writing;    // 0, or 1 + the message whose slot is filled and not yet published
    uint32_t gone_epoch;
    struct cursor {
        uint32_t sent, received, mark, base;
    } cursor[SHARDS];
    struct model_replies replies[SHARDS];
};

struct owner {
    uint32_t P[MBP_WORDS(LANES)];
    uint32_t batch, next;  // size of the batch that is being handled, and how far it is
    uint32_t id[MB_BATCH]; // the batch's messages
    bool ended;
};

struct world {
    uint32_t seed;
    uint32_t shards, lanes, capacity, slots, reply_slots, max_replies, first_count;
    uint32_t S[MB_HEADER_WORDS(SHARDS) + 1200000 / 4];
    uint32_t words;
    struct owner owner[SHARDS];
    struct sender sender[PORTS];
    struct model_message message[MESSAGES];
    uint32_t messages, accepted, retired;
    uint32_t order[LANES][INSTANCES][LEVELS], claimed_order[LANES][INSTANCES][LEVELS];
    uint32_t control_number, port_epoch;
    bool closed, paused;
};

static inline uint32_t pick(struct world *w, uint32_t below)
{
    w->seed ^= w->seed << 13;
    w->seed ^= w->seed >> 17;
    w->seed ^= w->seed << 5;
    return (uint32_t)(((uint64_t)w->seed * below) >> 32);
}

static inline uint32_t power_of_two(uint32_t least)
{
    uint32_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

// ---- making one ---------------------------------------------------------------------------------------------------

// Where times are noted, of one message in 2^power; gives how many words a lane needs.
static inline uint32_t lay_out_times(uint32_t *S, uint32_t slots, uint32_t power)
{
    uint32_t shift = power > 2 ? power - 2 : 0, cover = slots >> shift ? slots >> shift : 1;
    S[MB_TIMED_BELOW] = (1u << 31) >> power;
    S[MB_TIMES_SHIFT] = shift;
    S[MB_TIMES_MASK] = 2 * cover - 1;
    return 4 * cover;
}

static inline void lay_out(struct world *w)
{
    uint32_t *S = w->S;
    uint32_t slot = 8, reply_slot = 8;
    S[MB_CAPACITY] = w->capacity;
    S[MB_SHARDS] = w->shards;
    S[MB_PORT_WORDS] = (w->lanes + 31) / 32;
    S[MB_SLOT_WORDS] = slot;
    S[MB_LANE_MASK] = w->slots - 1;
    S[MB_REPLY_SLOT_WORDS] = reply_slot;
    S[MB_REPLY_MASK] = w->reply_slots - 1;
    S[MB_MAX_REPLIES] = w->max_replies;
    S[MB_LANES_AT] = MB_HEADER_WORDS(w->shards);
    S[MB_LANE_TIMES_AT] = MB_LANE_SLOTS + w->slots * slot;
    S[MB_LANE_STRIDE] = S[MB_LANE_TIMES_AT] + lay_out_times(S, w->slots, pick(w, 7));
    S[MB_LANES_STRIDE] = S[MB_LANE_STRIDE] * w->lanes;
    S[MB_REPLIES_AT] = MB_HEADER_WORDS(w->shards) + S[MB_LANES_STRIDE] * w->shards;
    S[MB_REPLY_STRIDE] = MB_REPLY_SLOTS + w->reply_slots * reply_slot;
    S[MB_REPLIES_STRIDE] = S[MB_REPLY_STRIDE] * w->lanes;
    S[MB_OWNERS_AT] = S[MB_REPLIES_AT] + S[MB_REPLIES_STRIDE] * w->shards;
    S[MB_POOL_AT] = MB_OWNER_WORDS;
    S[MB_NODE_TIMES_AT] = S[MB_POOL_AT] + (w->capacity + 1) * slot;
    S[MB_OWNER_STRIDE] = S[MB_NODE_TIMES_AT] + (w->capacity + 1) * 2;
    w->words = S[MB_OWNERS_AT] + S[MB_OWNER_STRIDE] * w->shards;
}

// Sets a lane and its reply lane to positions in the middle of their life, so that they pass 2^32 soon.
static inline void age_lane(struct world *w, uint32_t shard, uint32_t lane_number, struct cursor *cursor)
{
    uint32_t *S = w->S, *q = &w->owner[shard].P[MBP_PORT(lane_number)];
    uint32_t lane = mb_lane(S, shard, lane_number), reply = mb_reply_lane(S, shard, lane_number);
    uint32_t sent = pick(w, 2) ? 0u - pick(w, 20) : pick(w, 50), received = pick(w, 2) ? 0u - pick(w, 20) : 0;
    for (uint32_t k = 0; k < w->slots; ++k) // what the last lap left
        S[mb_lane_slot(S, lane, sent + k) + MB_SEQUENCE] = sent + k - w->slots + 1;
    for (uint32_t k = 0; k < w->reply_slots; ++k)
        S[mb_reply_slot(S, reply, received + k) + MB_SEQUENCE] = received + k - w->reply_slots + 1;
    S[lane + MB_REPLY_READ] = received;
    q[MBQ_NEXT_IN] = sent;
    q[MBQ_REPLIES] = q[MBQ_PUBLISHED] = q[MBQ_READ_SEEN] = received;
    *cursor = (struct cursor){.sent = sent, .received = received, .base = received};
}

// Counts that soon pass 2^31 and 2^32.
static inline void age_counts(struct world *w)
{
    uint32_t *S = w->S, sum = 0;
    for (uint32_t s = 0; s < w->shards; ++s) {
        uint32_t retired = pick(w, 2) ? 0u - pick(w, 30) : 0x7fffffffu - pick(w, 30), faulted = pick(w, 20);
        S[mb_owner(S, s) + MB_RETIRED] = retired;
        w->owner[s].P[MBP_FAULTED] = faulted;
        w->owner[s].P[MBP_HANDLED] = retired - faulted;
        sum += retired;
    }
    w->first_count = sum & MB_COUNT;
    S[MB_ACCEPTED] = S[MB_RETIRED_SEEN] = w->first_count;
}

static inline void publish_ports(struct world *w, uint32_t lane, bool gone)
{
    uint32_t *S = w->S, bit = 1u << (lane & 31), word = lane >> 5;
    S[MB_PORT_SET(word)] |= bit;
    S[MB_PORT_GONE(word)] = gone ? S[MB_PORT_GONE(word)] | bit : S[MB_PORT_GONE(word)] & ~bit;
    S[MB_PORT_EPOCH] = ++w->port_epoch;
}

static inline void make_world(struct world *w, uint32_t seed)
{
    static const uint32_t capacities[] = {1, 2, 3, 7, 32, CAPACITY}, places[PORTS] = {1, 30, 33};
    memset(w, 0, sizeof *w);
    w->seed = seed * 2654435761u + 1;
    w->capacity = capacities[pick(w, 6)];
    w->shards = 1 + pick(w, SHARDS);
    w->lanes = LANES;
    w->slots = power_of_two(w->capacity);
    w->max_replies = pick(w, 4);
    w->reply_slots = power_of_two(w->max_replies ? w->max_replies : 1) << pick(w, 3);
    lay_out(w);
    age_counts(w);
    for (uint32_t s = 0; s < w->shards; ++s)
        mb_open(w->S, w->owner[s].P, s, MBP_LISTS_AT(LANES), MBP_PORT(0), MBP_PORT_WORDS);
    for (uint32_t i = 0; i < PORTS; ++i) {
        struct sender *sender = &w->sender[i];
        sender->lane = places[i];
        sender->open = true;
        sender->only_level = pick(w, 2) ? pick(w, LEVELS) : LEVELS;
        for (uint32_t s = 0; s < w->shards; ++s)
            age_lane(w, s, sender->lane, &sender->cursor[s]);
        publish_ports(w, sender->lane, false);
    }
}

#endif

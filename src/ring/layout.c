// SPDX-License-Identifier: Apache-2.0
// Lays out a mailbox: how large its parts are, and where in its memory each lies. On the host they are parts of a thing
// that shares mappings (base/share.h); a device's mailbox is one piece of memory.
#include "ring/layout.h"

#include "base/histogram.h"
#include "base/status.h"

#define BURST 256u
#define BURST_BYTES ((uint64_t)1 << 20)

uint64_t slri_power_of_two(uint64_t least)
{
    uint64_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

// A multiple of 16 bytes, so that a payload is aligned to 16.
uint64_t slri_slot_words(uint64_t bytes, uint32_t stamped, bool ticketed)
{
    return slri_round_up(MB_PAYLOAD + (bytes + 3) / 4 + ticketed + (stamped ? 2 : 0), 4);
}

static uint64_t burst_of(const slr_ring *ring)
{
    uint64_t burst = BURST_BYTES / (slri_slot_words(ring->message_bytes, ring->stamped, true) * 4);
    return burst < BURST ? burst : BURST;
}

// How many messages may be under way. Where owners evict, senders get so many more credits than the capacity that
// bursts need not wait for the owner to look: as many again, and of a short queue 256, or what of large messages 1 MiB
// holds.
static uint64_t credits(const slr_ring *ring)
{
    if (!slri_ring_drops(ring))
        return ring->queue_size;
    uint64_t burst = burst_of(ring);
    return ring->queue_size + (ring->queue_size < burst ? burst : ring->queue_size);
}

// Replies that a lane holds: for all that may be under way, but not for the burst where messages are that large.
static uint64_t replies(const slr_ring *ring)
{
    uint64_t most = slri_ring_drops(ring) && burst_of(ring) == 0 ? ring->queue_size : credits(ring);
    return most > ring->max_replies ? most : ring->max_replies;
}

// Where senders note times (mb_lane_time). Of two timed messages in one lane less than a quarter of `latency_every`
// lies between; the lane's length is covered twice, for a message may be written while one a lap before is not taken
// yet.
static void size_times(const slr_ring *ring, struct slri_layout *l)
{
    l->lane_times_at = slri_round_up(MB_LANE_SLOTS + l->lane_slots * l->slot, 2);
    while (ring->latency_every >> l->times_shift > 7)
        ++l->times_shift;
    uint64_t cover = l->lane_slots >> l->times_shift;
    l->times = ring->latency_every ? 2 * (cover ? cover : 1) : 0;
}

// What only some have: how many wait where owners evict, and how far dead letters were read.
static uint64_t header_words(const slr_ring *ring)
{
    return slri_ring_drops(ring) || ring->dead_letters ? MB_HEADER_WORDS(ring->shards) : MB_SMALL_HEADER_WORDS;
}

static void size(const slr_ring *ring, struct slri_layout *l)
{
    l->credits = credits(ring);
    l->slot = slri_slot_words(ring->message_bytes, ring->stamped, slri_ring_drops(ring));
    l->reply_slot = slri_slot_words(ring->reply_bytes, ring->stamped, false);
    l->lane_slots = slri_power_of_two(l->credits);
    l->reply_slots = ring->max_replies ? slri_power_of_two(replies(ring)) : 1;
    l->header = header_words(ring);
    size_times(ring, l);
    l->lane = slri_round_up(l->lane_times_at + 2 * l->times, MB_LINE);
    l->reply_lane = slri_round_up(MB_REPLY_SLOTS + l->reply_slots * l->reply_slot, MB_LINE);
    l->letter_slots = ring->dead_letters ? slri_power_of_two(ring->dead_letters) : 0;
    uint64_t pool = (l->credits + 1) * l->slot, letters = l->letter_slots * (l->slot + MB_LETTER_FAULT_WORDS);
    l->letters_at = slri_round_up(pool, MB_LINE);
    l->node_times_at = slri_round_up(l->letters_at + letters, MB_LINE);
    l->kept = slri_round_up(l->node_times_at + (ring->latency_every ? 2 * (l->credits + 1) : 0), MB_LINE);
    l->lists = MBL_WORDS * ring->max_ports;
    l->histogram = ring->latency_every ? slri_round_up(sizeof(struct slri_histogram) / 4, MB_LINE) : 0;
    l->shard = MB_OWNER_WORDS + l->kept + (l->lane + l->reply_lane) * ring->max_ports;
    l->total = l->header + l->shard * ring->shards;
}

slr_status slri_layout_check(const slr_ring *ring)
{
    struct slri_layout l = {0};
    size(ring, &l);
    if (l.shard <= UINT32_MAX && l.total <= UINT32_MAX) // a shard's first: the sum of 256 may not fit u64
        return SLR_OK;
    return SLRI_FAIL(INVALID,
                     "ring kernel '%s': a mailbox of %u messages of %u B and replies of %u B for %u ports needs %llu "
                     "MiB of address space; the limit is 16,384; lower queue_size or max_ports",
                     ring->name, ring->queue_size, ring->message_bytes, ring->reply_bytes, ring->max_ports,
                     (unsigned long long)(l.total >> 18));
}

// ---- places --------------------------------------------------------------------------------------------------------

// Shard by shard, and in each port by port: near.c relies on it.
static void place_in_one(const slr_ring *ring, struct slri_layout *l)
{
    l->lanes_at = l->header;
    l->lane_stride = l->lane;
    l->lanes_stride = l->lane * ring->max_ports;
    l->replies_at = l->lanes_at + l->lanes_stride * ring->shards;
    l->reply_stride = l->reply_lane;
    l->replies_stride = l->reply_lane * ring->max_ports;
    l->owners_at = l->replies_at + l->replies_stride * ring->shards;
    l->owner_stride = MB_OWNER_WORDS + l->kept;
    l->kept_at = MB_OWNER_WORDS;
    l->ports_at = MBP_PORT(0);
    l->port_stride = MBP_PORT_WORDS;
    l->lists_at = MBP_LISTS_AT(ring->max_ports);
}

struct slri_layout slri_layout_in_one(const slr_ring *ring)
{
    struct slri_layout l = {0};
    size(ring, &l);
    place_in_one(ring, &l);
    return l;
}

// Many times of a lane lie before it and not behind: then its first ones share a page with its first slots.
static void turn_times(struct slri_layout *l)
{
    if (2 * l->times < MB_LINE)
        return;
    l->lane_at = slri_round_up(2 * l->times, MB_LINE);
    l->lane_times_at = 0 - l->lane_at; // modulo 2^32, as all offsets
    l->lane = l->lane_at + slri_round_up(MB_LANE_SLOTS + l->lane_slots * l->slot, MB_LINE);
}

struct slri_shape slri_layout_outside(const slr_ring *ring)
{
    uint64_t lane = sizeof(struct slri_lane) + ring->shards * sizeof(struct slri_lane_cursor);
    return (struct slri_shape){.part = {[SLRI_PART_SHARDS] = ring->shards * sizeof(struct slri_shard)},
                               .each = {[SLRI_EACH_PORT] = lane},
                               .copies = ring->max_ports};
}

// Of several shards each owner's line lies with what it keeps, so that one stride does for both. A batch has no more
// messages than there are credits.
void slri_layout_shape(const slr_ring *ring, struct slri_layout *l, struct slri_shape *shape)
{
    uint64_t shards = ring->shards;
    *l = (struct slri_layout){0};
    size(ring, l);
    turn_times(l);
    l->owner_stride = shards == 1 ? MB_OWNER_WORDS : MB_OWNER_WORDS + l->kept;
    const uint32_t batch = ring->max_batch > MB_BATCH ? ring->max_batch : MB_BATCH;
    l->own_used = MBP_BATCH(l->credits < batch ? (uint32_t)l->credits : batch);
    l->own = slri_round_up(l->own_used, MB_LINE);
    const struct slri_shape outside = slri_layout_outside(ring);
    *shape = (struct slri_shape){.part = {[SLRI_PART_SHARDS] = outside.part[SLRI_PART_SHARDS],
                                          [SLRI_PART_OWN] = l->own * shards * 4,
                                          [SLRI_PART_HEADER] = l->header * 4,
                                          [SLRI_PART_OWNERS] = l->owner_stride * shards * 4,
                                          [SLRI_PART_LISTS] = l->lists * shards * 4,
                                          [SLRI_PART_HISTOGRAM] = l->histogram * shards * 4,
                                          [SLRI_PART_KEPT] = shards == 1 ? l->kept * 4 : 0},
                                 .each = {[SLRI_EACH_LANE] = l->lane * shards * 4,
                                          [SLRI_EACH_REPLY] = l->reply_lane * shards * 4,
                                          [SLRI_EACH_PORT] = outside.each[SLRI_EACH_PORT]},
                                 .copies = ring->max_ports};
}

static uint64_t words_between(const void *from, const void *to)
{
    return (uint64_t)((const unsigned char *)to - (const unsigned char *)from) / 4;
}

void slri_layout_place(const slr_ring *ring, struct slri_layout *l, const struct slri_share *share)
{
    const void *S = slri_share_part(share, SLRI_PART_HEADER), *owners = slri_share_part(share, SLRI_PART_OWNERS);
    const void *P = slri_share_part(share, SLRI_PART_OWN), *replies = slri_share_copy(share, SLRI_EACH_REPLY, 0);
    l->lanes_at = words_between(S, slri_share_copy(share, SLRI_EACH_LANE, 0)) + l->lane_at;
    l->replies_at = words_between(S, replies);
    l->lane_stride = l->reply_stride = slri_share_stride(share) / 4;
    l->lanes_stride = l->lane;
    l->replies_stride = l->reply_lane;
    l->owners_at = words_between(S, owners);
    l->kept_at = ring->shards == 1 ? words_between(owners, slri_share_part(share, SLRI_PART_KEPT)) : MB_OWNER_WORDS;
    l->lists_at = words_between(P, slri_share_part(share, SLRI_PART_LISTS));
    l->ports_at = words_between(P, replies) + MB_REPLY_PORT;
    l->port_stride = l->reply_stride;
    l->lists_next = l->lists - l->own; // modulo 2^32
    l->ports_next = l->reply_lane - l->own;
}

// ---- the words -----------------------------------------------------------------------------------------------------

void slri_layout_write(const slr_ring *ring, const struct slri_layout *l)
{
    uint32_t *S = ring->S;
    S[MB_CAPACITY] = (uint32_t)l->credits;
    S[MB_SHARDS] = ring->shards;
    S[MB_PORT_WORDS] = (ring->max_ports + 31) / 32;
    S[MB_SLOT_WORDS] = (uint32_t)l->slot;
    S[MB_LANE_MASK] = (uint32_t)l->lane_slots - 1;
    S[MB_REPLY_SLOT_WORDS] = (uint32_t)l->reply_slot;
    S[MB_REPLY_MASK] = (uint32_t)l->reply_slots - 1;
    S[MB_MAX_REPLIES] = ring->max_replies;
    S[MB_LANES_AT] = (uint32_t)l->lanes_at;
    S[MB_LANE_STRIDE] = (uint32_t)l->lane_stride;
    S[MB_LANES_STRIDE] = (uint32_t)l->lanes_stride;
    S[MB_OWNERS_AT] = (uint32_t)l->owners_at;
    S[MB_OWNER_STRIDE] = (uint32_t)l->owner_stride;
    S[MB_REPLIES_AT] = (uint32_t)l->replies_at;
    S[MB_REPLY_STRIDE] = (uint32_t)l->reply_stride;
    S[MB_REPLIES_STRIDE] = (uint32_t)l->replies_stride;
    S[MB_POOL_AT] = (uint32_t)l->kept_at;
    S[MB_STAMPED] = ring->stamped;
    S[MB_BATCH_BYTES] = slri_takes_batches(ring) && !ring->one_a_call ? ring->message_bytes : 0;
    S[MB_LETTERS] = ring->dead_letters;
    S[MB_LETTER_MASK] = ring->dead_letters ? (uint32_t)l->letter_slots - 1 : 0;
    S[MB_LETTERS_AT] = (uint32_t)(l->kept_at + l->letters_at);
    S[MB_TIMED_BELOW] = ring->latency_every ? (1u << 31) / ring->latency_every : 0;
    S[MB_TIMES_SHIFT] = (uint32_t)l->times_shift;
    S[MB_TIMES_MASK] = (uint32_t)l->times - 1;
    S[MB_LANE_TIMES_AT] = (uint32_t)l->lane_times_at;
    S[MB_NODE_TIMES_AT] = (uint32_t)(l->kept_at + l->node_times_at);
    if (slri_ring_drops(ring)) {
        S[MB_KEEP] = ring->queue_size;
        S[MB_EVICT] = ring->overflow == SLR_OVERFLOW_DROP_OLDEST ? MB_EVICT_OLDEST : MB_EVICT_LOWEST;
        S[MB_TICKET] = (uint32_t)l->slot - (ring->stamped ? 3 : 1);
    }
}

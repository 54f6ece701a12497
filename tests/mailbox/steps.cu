// SPDX-License-Identifier: Apache-2.0
// The mailbox as kernel source: a port that sends and receives, and an owner, each to its end in one call.
#include "abi/mailbox.h"

struct order {
    unsigned lane, count; // a port's: its lane, and how many messages to send
    unsigned turn;        // the first so many with `low`, then by turns with `high`
    unsigned low, high;
};

struct port {
    unsigned sent[3], received[3], mark[3]; // a shard's each
    unsigned replies, wrong;
};

__device__ void send_one(struct port *self, unsigned *S, unsigned lane_number, unsigned value, unsigned priority)
{
    unsigned shard = value % S[MB_SHARDS];
    unsigned lane = mb_lane(S, shard, lane_number);
    unsigned slot = mb_lane_slot(S, lane, self->sent[shard]);
    S[slot + MB_PAYLOAD] = value;
    mb_write_header(S, slot, priority, value, value);
    if (mb_is_timed(S, self->sent[shard]) != 0u) {
        mb_write_time(S, lane, slot, self->sent[shard], value, value);
    }
    self->mark[shard] = mb_mark_priority(S, lane, self->mark[shard], priority);
    mb_publish(S, slot, self->sent[shard]);
    self->sent[shard] += 1u;
}

__device__ void receive_some(struct port *self, unsigned *S, unsigned lane_number)
{
    for (unsigned shard = 0; shard < S[MB_SHARDS]; ++shard) {
        unsigned at = self->received[shard];
        unsigned slot = mb_reply_slot(S, mb_reply_lane(S, shard, lane_number), at);
        if (mb_has_reply(S, slot, at) != 0u) {
            if (S[slot + MB_PAYLOAD] != S[slot + MB_CORRELATION] * 3u) { self->wrong += 1u; }
            if (S[slot + MB_CORRELATION] % S[MB_SHARDS] != shard) { self->wrong += 1u; }
            self->replies += 1u;
            self->received[shard] = at + 1u;
            mb_return_replies(S, mb_lane(S, shard, lane_number), at + 1u);
        }
    }
}

__ring__ void port(struct port *self, const struct order *order, unsigned *S)
{
    for (unsigned k = 0; k < order->count; ++k) {
        while (mb_claim(S, 1u) == 0u) { receive_some(self, S, order->lane); }
        unsigned priority = k < order->turn || (k & 1u) != 0u ? order->low : order->high;
        send_one(self, S, order->lane, order->lane * 1000u + k, priority);
        receive_some(self, S, order->lane);
    }
    while (self->replies < order->count * S[MB_MAX_REPLIES]) { receive_some(self, S, order->lane); }
}

__ring__ void owner(const struct order *order, unsigned *S, unsigned *P, unsigned *seen)
{
    unsigned count = 0u;
    unsigned batch = 0u;
    while (P[MBP_STATE] != MB_ENDED) {
        unsigned n = mb_begin(S, P);
        for (unsigned k = 0u; k < n; ++k) {
            unsigned lane = P[MBP_BATCH(k)];
            unsigned at = P[MBP_BATCH(k) + 1u];
            for (unsigned r = 0u; r < S[MB_MAX_REPLIES]; ++r) {
                unsigned to = mb_reply_lane_of(S, P, lane);
                S[mb_reply_slot(S, to, P[MBP_PORT(lane) + MBQ_REPLIES] + r) + MB_PAYLOAD] = S[at + MB_PAYLOAD] * 3u;
            }
            seen[2u * count] = S[at + MB_PAYLOAD];
            if ((S[at + MB_HEAD] & MB_FLAG_TIMED) != 0u &&
                S[mb_time_at(S, P, lane, S[at + MB_SEQUENCE], P[MBP_BATCH(k) + 2u])] != S[at + MB_PAYLOAD]) {
                seen[2u * count] = 0xffffffffu; // of no port
            }
            seen[2u * count + 1u] = batch << 8u | (S[at + MB_HEAD] & 255u);
            count += 1u;
            mb_handled(S, P, k, S[MB_MAX_REPLIES], 0u);
        }
        if (n != 0u) { mb_finish(S, P); }
        batch += n != 0u ? 1u : 0u;
        seen[599] = count + order->count * 0u;
    }
}

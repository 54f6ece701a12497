// SPDX-License-Identifier: Apache-2.0
// How long messages take, from their place in the mailbox to the publication of what came of them. Called by a shard's
// owner, for the few that are timed.
#include "base/clock.h"
#include "device/backend.h"
#include "device/observe.h"

void slri_shard_note_latency(struct slri_shard *shard, uint32_t port, uint32_t at, uint32_t node, uint64_t now_ns)
{
    const uint32_t *S = shard->shared;
    uint64_t sent_ns;
    if (!(S[at + MB_HEAD] & MB_FLAG_TIMED))
        return;
    memcpy(&sent_ns, &S[mb_time_at(S, shard->own, port, S[at + MB_SEQUENCE], node)], sizeof sent_ns);
    uint64_t took_ns = now_ns > sent_ns ? now_ns - sent_ns : 0;
    slri_histogram_add(shard->latency, took_ns);
    if (slri_is_observed() && shard->ring)
        slri_observe_message(shard, took_ns);
}

void slri_shard_note_latencies(struct slri_shard *shard, uint32_t done)
{
    uint32_t *P = shard->own;
    uint64_t now_ns = slri_now_ns();
    P[MBP_TIMED] = 0;
    for (uint32_t k = 0; k < done; ++k)
        slri_shard_note_latency(shard, P[MBP_BATCH(k)], P[MBP_BATCH(k) + 1], P[MBP_BATCH(k) + 2], now_ns);
}

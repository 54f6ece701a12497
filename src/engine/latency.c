// SPDX-License-Identifier: Apache-2.0
// How long messages take, from their place in the mailbox to the publication of what came of them. Called by a shard's
// owner, for the few that are timed.
#include "base/clock.h"
#include "hal/hal.h"
#include "engine/observe.h"

// A ring kernel that is called now and then should not have the histogram's pages for it: the first few times are kept
// as they are. When there are more they go into the histogram, and stay what they are, so that a reader in between
// finds each once. Release: who sees the count sees what it counts, here or there.
static void add_time(struct slri_shard *shard, uint64_t took_ns)
{
    uint32_t early = shard->notes.early;
    if (early < SLRI_EARLY) {
        __atomic_store_n(&shard->notes.early_ns[early], took_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&shard->notes.early, early + 1, __ATOMIC_RELEASE);
        return;
    }
    for (uint32_t i = 0; i < SLRI_EARLY && early == SLRI_EARLY; ++i)
        slri_histogram_add(shard->notes.latency, shard->notes.early_ns[i]);
    slri_histogram_add(shard->notes.latency, took_ns);
    if (early == SLRI_EARLY)
        __atomic_store_n(&shard->notes.early, SLRI_EARLY_OVER, __ATOMIC_RELEASE);
}

void slri_shard_merge_latency(const struct slri_shard *shard, struct slri_histogram *into)
{
    uint32_t early = __atomic_load_n(&shard->notes.early, __ATOMIC_ACQUIRE);
    if (early == SLRI_EARLY_OVER)
        slri_histogram_merge(into, shard->notes.latency);
    for (uint32_t i = 0; i < early && early != SLRI_EARLY_OVER; ++i)
        slri_histogram_add(into, __atomic_load_n(&shard->notes.early_ns[i], __ATOMIC_RELAXED));
}

void slri_shard_note_latency(struct slri_shard *shard, uint32_t port, uint32_t at, uint32_t node, uint64_t now_ns)
{
    const uint32_t *S = shard->shared;
    uint64_t sent_ns;
    if (!(S[at + MB_HEAD] & MB_FLAG_TIMED))
        return;
    memcpy(&sent_ns, &S[mb_time_at(S, shard->own, port, S[at + MB_SEQUENCE], node)], sizeof sent_ns);
    uint64_t took_ns = now_ns > sent_ns ? now_ns - sent_ns : 0;
    add_time(shard, took_ns);
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

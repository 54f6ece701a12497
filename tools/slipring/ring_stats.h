// SPDX-License-Identifier: Apache-2.0
/// A ring kernel's own account, for people and as the object that docs/contract/telemetry.md describes.
#ifndef RING_STATS_H
#define RING_STATS_H

#include <slipring/telemetry.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/// A reading: the counts, the times, and of the latter the histogram, so that two readings can be told apart.
typedef struct ring_stats {
    slr_ring_stats counts;
    slr_latency latency;
    uint32_t buckets;
    slr_latency_bucket bucket[SLR_LATENCY_BUCKETS];
} ring_stats;

/// False where the ring kernel could not be read; the reading is then as it was.
bool ring_stats_read(slr_ring *ring, ring_stats *out);

/// What `to` says, and of the time since `from` (NULL: since activation) the rate and the latencies.
json_t *ring_stats_json(const char *name, const ring_stats *from, const ring_stats *to);

/// How long what was timed between two readings took.
slr_latency ring_stats_between(const ring_stats *from, const ring_stats *to);

/// A table of one ring kernel, since activation.
void ring_stats_print(FILE *to, const char *name, const ring_stats *stats);

#endif

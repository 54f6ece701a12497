// SPDX-License-Identifier: Apache-2.0
/// What a ring kernel says of itself: rates, and how long its messages take. Contract: docs/contract/telemetry.md.
/// Counts are in slr_ring_stats.
#ifndef SLIPRING_TELEMETRY_H
#define SLIPRING_TELEMETRY_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Nanoseconds from a message's place in the mailbox to the publication of its replies, over the messages that were
/// timed and handled, or have faulted, since launch. The quantiles are within 0.8 %, the others exact. All 0 where
/// `count` is.
typedef struct slr_latency {
    uint64_t count;
    uint32_t every; ///< of so many messages of a port one is timed; 0: none
    /// By how much each time may be wrong, either way, because the owner's clock is another than the senders': half of
    /// how long the widest comparison of the two took that times were taken by. 0: one clock.
    uint32_t off_ns;
    uint64_t min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns;
} slr_latency;

/// Some of them: those that took from `first_ns` to `last_ns`.
typedef struct slr_latency_bucket {
    uint64_t first_ns, last_ns, count;
} slr_latency_bucket;

/// The largest number of buckets that there can be.
#define SLR_LATENCY_BUCKETS 3776u

/// Before launch all is 0. This and the next two use 30 KiB of stack.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (NULL).
SLR_API slr_status slr_ring_get_latency(slr_ring *ring, slr_latency *out);

/// The histogram behind it: the buckets that hold something, in order. The limits of a bucket never change, so that of
/// two readings those of the time between can be told.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  `count` is set on OK. Errors: INVALID (NULL; more than `most` buckets
/// hold something: SLR_LATENCY_BUCKETS is always enough).
SLR_API slr_status slr_ring_get_latency_buckets(slr_ring *ring, slr_latency_bucket *out, uint32_t most,
                                                uint32_t *count);

/// The summary of some buckets, as slr_ring_get_latency makes it of all: for what two readings differ by, or of several
/// ring kernels. Least and largest are then the limits of a bucket, the mean is of the buckets' middles, all within
/// 0.8 %. `every` is left 0.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (NULL).
SLR_API slr_status slr_latency_summarise(const slr_latency_bucket *buckets, uint32_t count, slr_latency *out);

/// Messages handled or faulted a second, from one reading to a later one; `from` NULL: since activation.
/// Threads: any.  Blocks: no.
SLR_API double slr_ring_rate(const slr_ring_stats *from, const slr_ring_stats *to);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// This header gives the telemetry of a ring kernel (a message handler with a queue, its mailbox): the rates and the
/// latency of its messages. The counts of messages are in slr_ring_stats. Contract: docs/contract/telemetry.md.
#ifndef SLIPRING_TELEMETRY_H
#define SLIPRING_TELEMETRY_H

#include <slipring/ring.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_latency has the latency of messages in nanoseconds: the time from the moment when a sender has written a message
/// into the mailbox to the moment when the message's replies are visible. slipring measures the latency of some
/// messages only: the timed messages. The struct slr_latency covers the timed messages that were handled or faulted
/// since slr_ring_launch. The quantiles in slr_latency may be wrong by 0.8 %; its other values are exact. If `count` of
/// slr_latency is 0, all its times are 0, too.
typedef struct slr_latency {
    uint64_t count;
    uint32_t every; ///< slipring times one in `every` messages of each port (sender's object); 0: it times no messages
    /// `off_ns` is the largest error of the measured times in either direction, because the device's clock differs from
    /// the clock of the senders. `off_ns` is half the duration of the longest comparison of the two clocks. If senders
    /// and device use one clock, `off_ns` is 0.
    uint32_t off_ns;
    uint64_t min_ns, mean_ns, p50_ns, p99_ns, p999_ns, max_ns;
} slr_latency;

/// A bucket of the latency histogram counts the timed messages with latencies from `first_ns` to `last_ns`.
typedef struct slr_latency_bucket {
    uint64_t first_ns, last_ns, count;
} slr_latency_bucket;

/// SLR_LATENCY_BUCKETS is the maximum number of buckets in a histogram.
#define SLR_LATENCY_BUCKETS 3776u

/// Gives the latency of a ring kernel's messages so far. Before slr_ring_launch all values of the latency are 0.
/// slr_ring_get_latency, slr_ring_get_latency_buckets and slr_latency_summarise use 30 KiB of stack.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_ring_get_latency(slr_ring *ring, slr_latency *out);

/// The macro slr_ring_get_latency calls slr_ring_get_latency_sized with `sizeof(slr_latency)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_ring_get_latency_sized(slr_ring *ring, slr_latency *out, size_t bytes);
#define slr_ring_get_latency(ring, out) slr_ring_get_latency_sized((ring), (out), sizeof(slr_latency))

/// Gives the latency histogram: the buckets that are not empty, in order. The limits of a bucket never change, so the
/// difference of two readings is the histogram of the time between the readings.
///
/// Threads: any.  Blocks: no.  Owns: nothing.  If the call succeeds, `count` gets the number of buckets that are not
/// empty.
/// Errors: INVALID (a NULL argument; more than `most` buckets are not empty: SLR_LATENCY_BUCKETS is always enough).
SLR_API slr_status slr_ring_get_latency_buckets(slr_ring *ring, slr_latency_bucket *out, uint32_t most,
                                                uint32_t *count);

/// Computes the count, the times and the quantiles of slr_latency from buckets of a histogram. The buckets that
/// slr_latency_summarise gets may be the difference of two readings, or come from several ring kernels. In a summary of
/// buckets, `min_ns` and `max_ns` are limits of buckets, the mean comes from the middles of the buckets, and `every` is
/// 0. All times in a summary of buckets may be wrong by 0.8 %.
/// Threads: any.  Blocks: no.  Owns: nothing.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_latency_summarise(const slr_latency_bucket *buckets, uint32_t count, slr_latency *out);

/// The macro slr_latency_summarise calls slr_latency_summarise_sized with `sizeof(slr_latency)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_latency_summarise_sized(const slr_latency_bucket *buckets, uint32_t count, slr_latency *out,
                                               size_t bytes);
#define slr_latency_summarise(buckets, count, out)                                                                     \
    slr_latency_summarise_sized((buckets), (count), (out), sizeof(slr_latency))

/// Returns how many messages per second were handled or faulted between two readings of slr_ring_get_stats: `from` and
/// the later reading `to`. If `from` is NULL, the rate covers the time since activation.
/// Threads: any.  Blocks: no.
SLR_API double slr_ring_rate(const slr_ring_stats *from, const slr_ring_stats *to);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
// Reading a ring kernel's counts and times, and putting them out.
#include "ring_stats.h"

#include "clock.h"
#include "memory.h"
#include "kernel/kernel.h"

#include <slipring/status.h>

#include <inttypes.h>
#include <stdlib.h>

bool ring_stats_read(slr_ring *ring, ring_stats *out)
{
    slr_ring_stats counts;
    slr_latency latency;
    if (slr_ring_get_stats(ring, &counts) != SLR_OK || slr_ring_get_latency(ring, &latency) != SLR_OK ||
        slr_ring_get_latency_buckets(ring, out->bucket, SLR_LATENCY_BUCKETS, &out->buckets) != SLR_OK)
        return false;
    out->counts = counts;
    out->latency = latency;
    return true;
}

// What came into the buckets from one reading to the next.
static uint32_t subtract(const ring_stats *from, const ring_stats *to, slr_latency_bucket *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0, k = 0; i < to->buckets; i++) {
        slr_latency_bucket bucket = to->bucket[i];
        while (k < from->buckets && from->bucket[k].first_ns < bucket.first_ns)
            k++;
        if (k < from->buckets && from->bucket[k].first_ns == bucket.first_ns)
            bucket.count -= from->bucket[k].count;
        if (bucket.count > 0)
            out[count++] = bucket;
    }
    return count;
}

slr_latency ring_stats_between(const ring_stats *from, const ring_stats *to)
{
    slr_latency_bucket *buckets = memory_take(SLR_LATENCY_BUCKETS, sizeof *buckets);
    slr_latency latency = {0};
    slr_latency_summarise(buckets, subtract(from, to, buckets), &latency);
    latency.every = to->latency.every;
    latency.off_ns = to->latency.off_ns;
    free(buckets);
    return latency;
}

static json_t *latency_json(const slr_latency *latency)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "every", (json_int_t)latency->every, "count",
                     (json_int_t)latency->count, "min_ns", (json_int_t)latency->min_ns, "mean_ns",
                     (json_int_t)latency->mean_ns, "p50_ns", (json_int_t)latency->p50_ns, "p99_ns",
                     (json_int_t)latency->p99_ns, "p999_ns", (json_int_t)latency->p999_ns, "max_ns",
                     (json_int_t)latency->max_ns, "off_ns", (json_int_t)latency->off_ns);
}

static json_t *last_json(const ring_stats *from, const ring_stats *to)
{
    slr_latency latency = ring_stats_between(from, to);
    return json_pack("{s:f, s:f, s:o}", "seconds",
                     (double)(to->counts.running_ns - from->counts.running_ns) / (double)SECOND_NS, "messages_per_s",
                     slr_ring_rate(&from->counts, &to->counts), "latency", latency_json(&latency));
}

// Every count of slr_ring_stats that the object has.
#define COUNTS(X)                                                                                                      \
    X(received, accepted)                                                                                              \
    X(handled, handled)                                                                                                \
    X(faulted, faulted)                                                                                                \
    X(replied, replied)                                                                                                \
    X(dropped_oldest, dropped_oldest)                                                                                  \
    X(dropped_lowest, dropped_lowest)                                                                                  \
    X(undelivered, undelivered)                                                                                        \
    X(in_doubt, in_doubt)                                                                                              \
    X(pending, pending)                                                                                                \
    X(refused, refused)                                                                                                \
    X(routed, routed)                                                                                                  \
    X(unrouted, unrouted)                                                                                              \
    X(keys, keys)                                                                                                      \
    X(evicted, evicted)                                                                                                \
    X(printed, printed)                                                                                                \
    X(prints_lost, prints_lost)                                                                                        \
    X(failures, failures)                                                                                              \
    X(restarts, restarts)

static const char *mode_name(slr_ring_mode mode)
{
    static const char *const names[] = {
        [SLR_RING_ON_HOST] = "on the host", [SLR_RING_RELAUNCHED] = "relaunched", [SLR_RING_PERSISTENT] = "persistent"};
    return names[mode];
}

json_t *ring_stats_json(const char *name, const ring_stats *from, const ring_stats *to)
{
    json_t *object =
        json_pack("{s:o, s:s, s:s, s:o, s:f}", "ring", kernel_text(name), "state",
                  slr_ring_state_name(to->counts.state), "mode", mode_name(to->counts.mode), "mode_reason",
                  kernel_text(to->counts.mode_reason), "seconds", (double)to->counts.running_ns / (double)SECOND_NS);
#define ADD(field, count) json_object_set_new(object, #field, json_integer((json_int_t)to->counts.count));
    COUNTS(ADD)
#undef ADD
    if (to->counts.first_fault[0] != '\0')
        json_object_set_new(object, "first_fault",
                            json_pack("{s:s, s:I, s:I, s:f}", "what", to->counts.first_fault, "instance",
                                      (json_int_t)to->counts.first_fault_instance, "message",
                                      (json_int_t)to->counts.first_fault_message, "after_s",
                                      (double)to->counts.first_fault_ns / (double)SECOND_NS));
    json_object_set_new(object, "messages_per_s", json_real(slr_ring_rate(NULL, &to->counts)));
    json_object_set_new(object, "latency", latency_json(&to->latency));
    if (from != NULL)
        json_object_set_new(object, "last", last_json(from, to));
    return object;
}

// ---- for people ----------------------------------------------------------------------------------------------------

static void print_time(FILE *to, const char *name, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    unsigned unit = 0;
    for (; value >= 1000 && unit < 3; unit++)
        value /= 1000;
    fprintf(to, "  %-12s %9.*f %s\n", name, unit == 0 ? 0 : 1, value, units[unit]);
}

void ring_stats_print(FILE *to, const char *name, const ring_stats *stats)
{
    const slr_latency *latency = &stats->latency;
    const char *reason = stats->counts.mode_reason;
    fprintf(to, "ring kernel '%s', %s\n", name, slr_ring_state_name(stats->counts.state));
    if (stats->counts.mode != SLR_RING_ON_HOST)
        fprintf(to, "  %s%s%s\n", mode_name(stats->counts.mode), *reason ? ": " : "", reason);
#define PRINT(field, count)                                                                                            \
    if (stats->counts.count > 0 || #field[0] == 'h')                                                                   \
        fprintf(to, "  %-12s %9" PRIu64 "\n", #field, stats->counts.count);
    COUNTS(PRINT)
#undef PRINT
    if (stats->counts.first_fault[0] != '\0')
        fprintf(to, "  first fault: %s\n", stats->counts.first_fault);
    fprintf(to, "  %-12s %9.0f per second\n", "throughput", slr_ring_rate(NULL, &stats->counts));
    if (latency->count == 0)
        return;
    fprintf(to, "latency from mailbox to reply: %" PRIu64 " timed, one in %" PRIu32 "\n", latency->count,
            latency->every);
    print_time(to, "min", latency->min_ns);
    print_time(to, "mean", latency->mean_ns);
    print_time(to, "p50", latency->p50_ns);
    print_time(to, "p99", latency->p99_ns);
    print_time(to, "p99.9", latency->p999_ns);
    print_time(to, "max", latency->max_ns);
    if (latency->off_ns != 0)
        print_time(to, "clock error", latency->off_ns);
}

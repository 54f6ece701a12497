// SPDX-License-Identifier: Apache-2.0
// Rules about copies, and about what stands between two commands of a device.
#include "device/device.h"
#include "diagnose/rules.h"

enum { COPIES = 10, LAUNCHES = 50 };

static uint64_t moving_ns(const struct slri_diagnosing *d)
{
    return d->total[SLR_PROFILE_UPLOAD].total_ns + d->total[SLR_PROFILE_DOWNLOAD].total_ns;
}

void slri_rule_transfers(struct slri_diagnosing *d)
{
    const struct slri_total *up = &d->total[SLR_PROFILE_UPLOAD], *down = &d->total[SLR_PROFILE_DOWNLOAD];
    const uint64_t kernels_ns = d->total[SLR_PROFILE_KERNEL].total_ns;
    if (up->n + down->n < COPIES || moving_ns(d) < kernels_ns)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_TRANSFERS,
        .figure = slri_ratio((double)moving_ns(d), (double)(kernels_ns ? kernels_ns : 1)),
        .limit = 1,
        .measure = "time of copies / time of kernels",
        .change = "slr_stream_write(copies, next, 0, from, bytes, &point); slr_stream_wait(stream, point); // while "
                  "kernels use another buffer",
        .caller = slri_slowest_caller_of(d, "upload", "download")};
    slri_diagnosis_give(
        d, &verdict,
        "Copies between host and device took %.2f ms (%llu copies, %.1f MB); all kernels took %.2f ms. Keep data in "
        "buffers between launches, copy only changed ranges (slr_buffer_map), and copy on a second stream while "
        "kernels run.",
        slri_milliseconds(moving_ns(d)), (unsigned long long)(up->n + down->n), (double)(up->bytes + down->bytes) / 1e6,
        slri_milliseconds(kernels_ns));
}

void slri_rule_transfers_in_loop(struct slri_diagnosing *d)
{
    const struct slri_total *up = &d->total[SLR_PROFILE_UPLOAD], *down = &d->total[SLR_PROFILE_DOWNLOAD];
    uint64_t launches = d->total[SLR_PROFILE_KERNEL].n;
    uint64_t least = up->n < down->n ? up->n : down->n; // a stream of new data goes one way
    if (launches < LAUNCHES || 10 * least < 9 * launches)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_TRANSFERS_IN_LOOP,
        .figure = slri_ratio((double)least, (double)launches),
        .limit = 0.9,
        .measure = "copies in both directions / launches",
        .change = "slr_buffer_write(buffer, 0, from, bytes); for (...) SLR_LAUNCH(...); slr_buffer_read(buffer, 0, to, "
                  "bytes);",
        .caller = slri_slowest_caller_of(d, "upload", "download")};
    slri_diagnosis_give(
        d, &verdict,
        "%llu launches came with %llu copies to the device and %llu back, of %.1f KB and %.1f KB on average: "
        "%.2f ms. What stays the same, or is read by the next launch only, can stay on the device: write it "
        "before the loop and read it after (slr_buffer_write, slr_buffer_read).",
        (unsigned long long)launches, (unsigned long long)up->n, (unsigned long long)down->n,
        (double)up->bytes / 1e3 / (double)up->n, (double)down->bytes / 1e3 / (double)down->n,
        slri_milliseconds(moving_ns(d)));
}

#define LEAST_BYTES 1000000u

// Where a device has a copy engine, and memory of its own, it copies pageable memory in two steps.
void slri_rule_unpinned(struct slri_diagnosing *d)
{
    const struct slri_total *up = &d->total[SLR_PROFILE_UPLOAD], *down = &d->total[SLR_PROFILE_DOWNLOAD];
    const uint64_t bytes = up->bytes + down->bytes, kernels_ns = d->total[SLR_PROFILE_KERNEL].total_ns;
    if (!d->device || d->device->facts.unified || !d->device->facts.has_pinned || up->n + down->n < COPIES ||
        bytes < LEAST_BYTES || 2 * d->pinned_bytes > bytes || 10 * moving_ns(d) < kernels_ns)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_UNPINNED,
                                         .figure = slri_ratio((double)(bytes - d->pinned_bytes), (double)bytes),
                                         .limit = 0.5,
                                         .measure = "bytes copied from or to pageable memory / bytes copied",
                                         .change = "desc.pinned = 1; // slr_buffer_desc, for slr_buffer_create_with",
                                         .caller = slri_slowest_caller_of(d, "upload", "download")};
    slri_diagnosis_give(
        d, &verdict,
        "%llu copies moved %.1f MB, %.0f %% of them from or to pageable memory, in %.2f ms. %s copies page-locked "
        "memory directly, and while kernels run. Create buffers that are copied often with slr_buffer_desc.pinned, and "
        "write them by slr_buffer_map.",
        (unsigned long long)(up->n + down->n), (double)bytes / 1e6,
        slri_percent((double)(bytes - d->pinned_bytes), (double)bytes), slri_milliseconds(moving_ns(d)), d->name);
}

// ---- a device that waits -------------------------------------------------------------------------------------------

#define SOME_WORK 20u      // commands and batches, of a device that is to be judged by how busy it was
#define SOME_NS 100000000u // and the time traced

struct remedy {
    const char *text, *change, *caller;
};

// The host stands in waits for longer than it does anything else while the device is idle: then its own work is not
// what the device waits for.
static bool host_waits(const struct slri_diagnosing *d, uint64_t working_ns, uint64_t idle_ns)
{
    const uint64_t waits_ns = d->total[SLR_PROFILE_WAIT].total_ns;
    return waits_ns >= working_ns || 2 * (working_ns - waits_ns) < idle_ns;
}

// By what stands between two commands.
static struct remedy remedy_of(const struct slri_diagnosing *d, uint64_t working_ns, uint64_t idle_ns)
{
    const struct slri_total *total = d->total, *waits = &total[SLR_PROFILE_WAIT];
    if (4 * total[SLR_PROFILE_FULL].total_ns > idle_ns)
        return (struct remedy){"Senders wait for a full mailbox: raise queue_size.",
                               "desc.queue_size = 4096; // slr_ring_desc", ""};
    if (4 * moving_ns(d) > idle_ns)
        return (struct remedy){"Copies stand between: leave data on the device, or copy on a second stream meanwhile.",
                               "slr_stream_write(copies, next, 0, from, bytes, &point);", "upload"};
    if (waits->n > 0 && 2 * waits->n > total[SLR_PROFILE_KERNEL].n && 4 * waits->total_ns > idle_ns)
        return (struct remedy){
            "Waits of the host stand between: submit new work before the last completes, on several streams.",
            "slr_stream_finish(stream, timeout_ns); // once, after the loop", "wait"};
    if (total[SLR_PROFILE_BATCH].n > 0)
        return (struct remedy){"Between batches there are no messages: send several per call (slr_send_many).",
                               "slr_send_many(port, to, NULL, messages, bytes, count, timeout_ns, NULL);", ""};
    if (host_waits(d, working_ns, idle_ns))
        return (struct remedy){
            "The host waits for launches that it has already submitted: what each launch costs stands "
            "between. Do more work per launch (a larger grid, a loop in the kernel, "
            "slr_graph_fuse), or use a ring kernel.",
            "slr_graph_fuse(graph, &info); // or SLR_LAUNCH(...) with more work per launch", "launch"};
    return (struct remedy){"The host's own work stands between: prepare the next launch while one runs, or do the work "
                           "in the caller.",
                           "slr_stream_call(stream, prepare_next, user, NULL); // or on another thread of the host",
                           "launch"};
}

void slri_rule_idle(struct slri_diagnosing *d)
{
    const struct slri_total *kernels = &d->total[SLR_PROFILE_KERNEL], *batches = &d->total[SLR_PROFILE_BATCH];
    const uint64_t compiling_ns = d->total[SLR_PROFILE_COMPILE].total_ns + d->total[SLR_PROFILE_LOAD].total_ns;
    const uint64_t span_ns = d->timeline.span_ns, busy_ns = d->timeline.busy_ns;
    const uint64_t working_ns = span_ns > compiling_ns ? span_ns - compiling_ns : 0;
    if (10 * d->total[SLR_PROFILE_MISSING].n > batches->n) // a part of the busy time is not known
        return;
    if (kernels->n + batches->n < SOME_WORK || working_ns < SOME_NS || 2 * busy_ns >= working_ns)
        return;
    const struct remedy remedy = remedy_of(d, working_ns, working_ns - busy_ns);
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_IDLE,
                                         .figure = slri_ratio((double)busy_ns, (double)working_ns),
                                         .limit = 0.5,
                                         .measure = "busy time / time without compiling",
                                         .change = remedy.change,
                                         .caller = slri_caller_of(d, remedy.caller)};
    slri_diagnosis_give(
        d, &verdict,
        "The device was busy %.1f %% of the %.1f ms without compilation: %llu launches, %llu batches of messages; the "
        "host waited %.1f ms. %s If the input has a fixed rate, as from a sensor, idle time is normal.",
        slri_percent((double)busy_ns, (double)working_ns), slri_milliseconds(working_ns),
        (unsigned long long)kernels->n, (unsigned long long)batches->n,
        slri_milliseconds(d->total[SLR_PROFILE_WAIT].total_ns), remedy.text);
}

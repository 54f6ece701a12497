// SPDX-License-Identifier: Apache-2.0
// Advice: what the figures of a profile say about where time is lost. Each rule stands on counts or on a ratio far from
// one, so that a busy machine does not change what it says; each text has the figures that it stands on.
#include "profile/advice.h"

#include <stdarg.h>
#include <string.h>

#define FEW_INSTRUCTIONS 20000.0 // of a launch: some microseconds on one core, about what a launch costs
#define SHORT_NS 10000           // of a kernel of which the work is not known

void advice_give(advising *a, const char *rule, const char *format, ...)
{
    va_list arguments;
    if (a->count == PROFILE_ADVICE)
        return;
    profile_advice *advice = &a->out[a->count++];
    advice->rule = rule;
    va_start(arguments, format);
    vsnprintf(advice->text, sizeof advice->text, format, arguments);
    va_end(arguments);
}

double advice_ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

double advice_percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

// ---- the rules -----------------------------------------------------------------------------------------------------

static void transfers(advising *a)
{
    const profile_total *total = a->profile->total, *up = &total[SLR_PROFILE_UPLOAD],
                        *down = &total[SLR_PROFILE_DOWNLOAD];
    uint64_t moving_ns = up->total_ns + down->total_ns, kernels_ns = total[SLR_PROFILE_KERNEL].total_ns;
    if (up->n + down->n < 10 || moving_ns < kernels_ns)
        return;
    advice_give(
        a, "transfer-bound",
        "Copies between host and device took %.2f ms (%llu copies, %.1f MB); all kernels took %.2f ms. Keep data in "
        "buffers between launches, copy only changed ranges (slr_buffer_map), and copy on a second stream while "
        "kernels run.",
        advice_ms(moving_ns), (unsigned long long)(up->n + down->n), (double)(up->bytes + down->bytes) / 1e6,
        advice_ms(kernels_ns));
}

static bool is_short(const slr_profile_row *row)
{
    return row->counted != SLR_COUNTED_NOT ? (double)row->instructions < FEW_INSTRUCTIONS * (double)row->n
                                           : row->p50_ns < SHORT_NS;
}

static void launches(advising *a)
{
    const profile *p = a->profile;
    uint64_t n = 0, instructions = 0, ns = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_KERNEL || !is_short(row))
            continue;
        n += row->n;
        ns += row->total_ns;
        instructions += row->instructions;
    }
    if (n < ADVICE_MANY || 2 * n < p->total[SLR_PROFILE_KERNEL].n)
        return;
    char cost[64] = "";
    if (p->has_ceilings)
        snprintf(cost, sizeof cost, "; an empty launch costs %.1f us here", p->ceilings.launch_ns / 1e3);
    advice_give(
        a, "launch-bound",
        "%llu of %llu launches are small: %.0f operations and %.1f us on average%s. Combine launches (a larger grid, "
        "a loop in the kernel), record them once (slr_graph), or send messages to a ring kernel.",
        (unsigned long long)n, (unsigned long long)p->total[SLR_PROFILE_KERNEL].n, (double)instructions / (double)n,
        (double)ns / (double)n / 1e3, cost);
}

static void blocks(advising *a)
{
    const profile *p = a->profile;
    uint64_t ns = 0;
    const slr_profile_row *worst = NULL;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_KERNEL || row->blocks == 0 || row->blocks >= (uint64_t)p->workers * row->n)
            continue;
        ns += row->total_ns;
        worst = worst == NULL || row->total_ns > worst->total_ns ? row : worst;
    }
    if (worst == NULL || is_short(worst) || 2 * ns < p->total[SLR_PROFILE_KERNEL].total_ns)
        return;
    advice_give(
        a, "low utilisation",
        "%.0f %% of all kernel time is in launches with fewer blocks than workers: '%s' has %.1f blocks, and %s has "
        "%u workers, so some workers are idle. Divide the work into more, smaller blocks.",
        advice_percent((double)ns, (double)p->total[SLR_PROFILE_KERNEL].total_ns), worst->name,
        (double)worst->blocks / (double)worst->n, p->device, p->workers);
}

static void queues(advising *a)
{
    const profile *p = a->profile;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_FULL || (row->n < ADVICE_MANY && 4 * row->total_ns < p->span_ns))
            continue;
        advice_give(a, "queue too small",
                    "Backpressure: senders found the mailbox of '%s' full %llu times and waited %.2f ms. For bursts of "
                    "messages, raise queue_size. Under constant load the handler is slower than the senders: use more "
                    "instances or workers, or an overflow policy that drops messages.",
                    row->name, (unsigned long long)row->n, advice_ms(row->total_ns));
        return; // the one with the most time: rows are in that order
    }
}

static void stalls(advising *a)
{
    const profile_total *waits = &a->profile->total[SLR_PROFILE_WAIT],
                        *kernels = &a->profile->total[SLR_PROFILE_KERNEL];
    if (waits->n < ADVICE_MANY || 10 * waits->n < 8 * kernels->n)
        return;
    advice_give(
        a, "synchronisation stalls",
        "The host waited %llu times for streams, %.2f ms in total, with %llu launches. It waits for about each launch "
        "before the next, and the device is idle in between. Submit several launches, then wait once for the last "
        "point. For order between streams use slr_stream_wait, not the host.",
        (unsigned long long)waits->n, advice_ms(waits->total_ns), (unsigned long long)kernels->n);
}

// Where most of it was taken: trace_file.c sums marks by their call site.
static const trace_sum *busiest_site(const trace_file *file)
{
    const trace_sum *busiest = NULL;
    for (size_t i = 0; i < file->sum_count; i++)
        if (strcmp(file->sums[i].category, "taken at") == 0 && (busiest == NULL || file->sums[i].n > busiest->n))
            busiest = &file->sums[i];
    return busiest;
}

static void allocations(advising *a)
{
    const profile_total *memory = &a->profile->total[SLR_PROFILE_MEMORY],
                        *kernels = &a->profile->total[SLR_PROFILE_KERNEL];
    const trace_sum *site = busiest_site(&a->profile->trace);
    if (memory->n < ADVICE_MANY || 2 * memory->n < kernels->n || site == NULL || 2 * site->n < memory->n)
        return;
    advice_give(
        a, "allocation in a loop",
        "Device memory was allocated %llu times (%.1f MB), %llu of them at %s, with %llu launches. Create the buffer "
        "once before the loop, or use a pool (slr_pool_acquire), which reuses buffers without zeroing them.",
        (unsigned long long)memory->n, (double)memory->bytes / 1e6, (unsigned long long)site->n, site->name,
        (unsigned long long)kernels->n);
}

uint64_t profile_compiling_ns(const profile *p)
{
    return p->total[SLR_PROFILE_COMPILE].total_ns + p->total[SLR_PROFILE_LOAD].total_ns;
}

#define SOME_WORK 20u      // commands and batches, of a device that is to be judged by how busy it was
#define SOME_NS 100000000u // and the time traced

// By what stands between two commands.
static const char *remedy_of(const profile *p, uint64_t idle_ns)
{
    const profile_total *total = p->total;
    uint64_t moving_ns = total[SLR_PROFILE_UPLOAD].total_ns + total[SLR_PROFILE_DOWNLOAD].total_ns;
    if (4 * total[SLR_PROFILE_FULL].total_ns > idle_ns)
        return "Senders wait for a full mailbox: raise queue_size.";
    if (4 * moving_ns > idle_ns)
        return "Copies stand between: leave data on the device, or copy on a second stream meanwhile.";
    if (total[SLR_PROFILE_WAIT].n > 0 && 2 * total[SLR_PROFILE_WAIT].n > total[SLR_PROFILE_KERNEL].n)
        return "Waits of the host stand between: submit new work before the last completes, on several streams.";
    if (total[SLR_PROFILE_BATCH].n > 0)
        return "The host's own work stands between: send several messages per call (slr_send_many).";
    return "The host's own work stands between: prepare the next launch while one runs, or do the work in the caller.";
}

static void idle(advising *a)
{
    const profile *p = a->profile;
    const profile_total *kernels = &p->total[SLR_PROFILE_KERNEL], *batches = &p->total[SLR_PROFILE_BATCH];
    uint64_t working_ns = p->span_ns > profile_compiling_ns(p) ? p->span_ns - profile_compiling_ns(p) : 0;
    if (kernels->n + batches->n < SOME_WORK || working_ns < SOME_NS || 2 * p->busy_ns >= working_ns)
        return;
    advice_give(
        a, "device idle",
        "The device was busy %.1f %% of the %.1f ms without compilation: %llu launches, %llu batches of messages. "
        "%s If the input has a fixed rate, as from a sensor, idle time is normal.",
        advice_percent((double)p->busy_ns, (double)working_ns), advice_ms(working_ns), (unsigned long long)kernels->n,
        (unsigned long long)batches->n, remedy_of(p, working_ns - p->busy_ns));
}

// More than so many streams a worker take turns, and gain nothing.
#define STREAMS_A_WORKER 4u

static void oversubscribed(advising *a)
{
    const profile *p = a->profile;
    if (p->workers == 0 || p->streams <= STREAMS_A_WORKER * p->workers)
        return;
    advice_give(
        a, "oversubscription",
        "%u streams share the %u workers of %s. Their kernels run alternately, and the time of each includes the "
        "others. Use about one stream per worker, and one more for copies.",
        p->streams, p->workers, p->device);
}

static void compiling(advising *a)
{
    const profile *p = a->profile;
    uint64_t ns = p->total[SLR_PROFILE_COMPILE].total_ns;
    if (p->total[SLR_PROFILE_COMPILE].n == 0 || 10 * ns < p->span_ns || ns < SOME_NS)
        return;
    advice_give(
        a, "compiling",
        "Compilation took %.1f ms of %.1f ms, %llu times. The next run finds the code in the cache. 'slipring cache "
        "warm FILE.cu' compiles in advance, slr_program_prefetch compiles during the start, and fewer block shapes "
        "need fewer kernels.",
        advice_ms(ns), advice_ms(p->span_ns), (unsigned long long)p->total[SLR_PROFILE_COMPILE].n);
}

static void fragmented(advising *a)
{
    const profile *p = a->profile;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (row->kind != SLR_PROFILE_FRAGMENTED)
            continue;
        advice_give(
            a, "fragmented heap",
            "Heap '%s' refused %llu requests (%.1f MB) although enough bytes were free, in smaller pieces. Allocate "
            "large buffers first, use a separate heap for long-lived buffers, or use a pool for equal sizes "
            "(slr_pool_acquire).",
            row->name, (unsigned long long)row->n, (double)row->bytes / 1e6);
        return;
    }
}

// Of kernels that memory bounds: what few of them reach of computing's roof says less, for it needs all lanes at work.
#define LOW_ROOF 0.2

static bool is_far_below(const profile *p, const slr_profile_row *row)
{
    slr_roofline roof = profile_roofline(p, row);
    return row->kind == SLR_PROFILE_KERNEL && row->counted >= SLR_COUNTED_SAMPLED && !is_short(row) &&
           roof.bound == SLR_BOUND_MEMORY && roof.reached < LOW_ROOF &&
           4 * row->total_ns >= p->total[SLR_PROFILE_KERNEL].total_ns;
}

static void below_roof(advising *a)
{
    const profile *p = a->profile;
    for (size_t i = 0; i < p->row_count; i++) {
        const slr_profile_row *row = &p->rows[i];
        if (!is_far_below(p, row))
            continue;
        advice_give(
            a, "far from its roof",
            "'%s' moves %.2f GB/s, %.0f %% of the memory's peak here, in %.2f ms. Neighbouring threads should access "
            "neighbouring addresses (coalesced access). For patterns such as a transpose use shared memory. 'slipring "
            "kernel check' shows slow accesses by line.",
            row->name, row->bytes_per_second / 1e9, 100 * profile_roofline(p, row).reached, advice_ms(row->total_ns));
        return;
    }
}

unsigned profile_advise(const profile *profile, profile_advice out[PROFILE_ADVICE])
{
    static void (*const rules[])(advising *) = {
        transfers,      advice_transfers_in_loop, launches,         advice_fusable, blocks,
        queues,         advice_queue_too_large,   stalls,           allocations,    idle,
        oversubscribed, advice_contention,        compiling,        fragmented,     advice_strides,
        advice_banks,   advice_divergence,        advice_occupancy, below_roof};
    advising a = {profile, out, 0};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        rules[i](&a);
    return a.count;
}

// SPDX-License-Identifier: Apache-2.0
// One kernel, timed: launches between two events of the device, after some that do not count.
#include "base/alloc.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/kernel.h"
#include "engine/observe.h"
#include "tune/contest.h"

#include <slipring/event.h>
#include <slipring/profile.h>

#include <math.h>

enum { WARM_UP = 3, REPEATS = 31, MOST_REPEATS = 1000000 };

struct timing {
    slr_kernel *kernel;
    slr_shape shape;
    const slr_arg *args;
    uint32_t arg_count;
    slr_timing_desc desc;
    slr_stream *stream;
    slr_event *from, *to;
    double *sample;
};

static slr_status time_once(struct timing *t, double *ns)
{
    int64_t took;
    SLRI_TRY(slr_event_record(t->from, t->stream, NULL));
    for (uint32_t i = 0; i < t->desc.launches; ++i)
        SLRI_TRY(slr_launch(t->stream, t->kernel, t->shape, t->args, t->arg_count, NULL));
    SLRI_TRY(slr_event_record(t->to, t->stream, NULL));
    SLRI_TRY(slr_event_wait(t->to, t->desc.timeout_ns));
    SLRI_TRY(slr_event_elapsed_ns(t->from, t->to, &took));
    *ns = took > 0 ? (double)took / t->desc.launches : 0;
    return SLR_OK;
}

static slr_status take_samples(struct timing *t)
{
    double ns;
    SLRI_TRY(slr_stream_create(t->kernel->program->device, NULL, &t->stream));
    SLRI_TRY(slr_event_create(t->kernel->program->device, &t->from));
    SLRI_TRY(slr_event_create(t->kernel->program->device, &t->to));
    for (uint32_t i = 0; i < t->desc.warm_up; ++i)
        SLRI_TRY(time_once(t, &ns));
    for (uint32_t i = 0; i < t->desc.repeats; ++i)
        SLRI_TRY(time_once(t, &t->sample[i]));
    return SLR_OK;
}

static void sum_up(struct timing *t, slr_timing *out)
{
    const uint32_t n = t->desc.repeats;
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; ++i)
        sum += t->sample[i];
    out->mean_ns = sum / n;
    for (uint32_t i = 0; i < n; ++i)
        squares += (t->sample[i] - out->mean_ns) * (t->sample[i] - out->mean_ns);
    out->deviation_ns = n > 1 ? sqrt(squares / (n - 1)) : 0;
    out->n = n;
    out->min_ns = slri_quantile_of(t->sample, n, 0);
    out->p50_ns = slri_quantile_of(t->sample, n, 0.5);
    out->p95_ns = slri_quantile_of(t->sample, n, 0.95);
    out->p99_ns = slri_quantile_of(t->sample, n, 0.99);
    out->max_ns = slri_quantile_of(t->sample, n, 1);
}

static double rate_of(uint64_t amount, double ns)
{
    return ns > 0 ? (double)amount * 1e9 / ns : 0;
}

// What it does, where that is known.
static slr_status count_work(struct timing *t, slr_timing *out)
{
    bool none;
    struct slri_count count = {0};
    slr_shape shape = t->shape;
    slr_kernel *kernel = slri_tuned_settle(t->kernel, &shape);
    SLRI_TRY(slri_shape_settle(kernel, &shape, &none));
    for (int i = 0; i < 3; ++i) {
        out->block[i] = shape.block[i];
        out->grid[i] = shape.grid[i];
    }
    if (none || kernel->program->module->raw)
        return SLR_OK;
    SLRI_TRY(slri_launch_count(kernel, &shape, t->args, NULL, NULL, &count));
    out->counted = (uint32_t)count.counted;
    out->bytes = count.bytes;
    out->flops = count.flops + count.flops64;
    out->bytes_per_second = rate_of(out->bytes, out->p50_ns);
    out->flops_per_second = rate_of(out->flops, out->p50_ns);
    return SLR_OK;
}

static slr_status check_timing(const slr_timing_desc *desc)
{
    if (desc->repeats <= MOST_REPEATS && desc->launches <= MOST_REPEATS && desc->warm_up <= MOST_REPEATS)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "slr_timing_desc: repeats %u, launches %u, warm_up %u; expected at most %d",
                     desc->repeats, desc->launches, desc->warm_up, MOST_REPEATS);
}

static slr_status time_kernel(struct timing *t, slr_timing *out)
{
    const size_t bytes = t->desc.repeats * sizeof *t->sample;
    t->sample = slri_alloc(NULL, bytes);
    if (!t->sample)
        return SLRI_FAIL(NO_MEMORY, "no memory to time kernel %s", t->kernel->info.name);
    slr_status status = take_samples(t);
    if (status == SLR_OK) {
        sum_up(t, out);
        status = count_work(t, out);
    }
    slr_event_destroy(t->from);
    slr_event_destroy(t->to);
    slr_stream_destroy(t->stream);
    slri_free(NULL, t->sample, bytes);
    return status;
}

slr_status slr_profile_kernel_sized(slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count,
                                    const slr_timing_desc *desc, slr_timing *out, size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    struct timing t = {.kernel = kernel, .shape = shape, .args = args, .arg_count = count};
    slr_timing timing = {0};
    if (!kernel || !out || (!args && count))
        return SLRI_FAIL(INVALID, "slr_profile_kernel: %s is NULL", !kernel ? "kernel" : !out ? "out" : "args");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_timing, bytes));
    SLRI_TRY(SLRI_TAKE_DESC(slr_timing_desc, &t.desc, desc));
    SLRI_TRY(check_timing(&t.desc));
    t.desc.repeats = t.desc.repeats ? t.desc.repeats : REPEATS;
    t.desc.launches = t.desc.launches ? t.desc.launches : 1;
    t.desc.warm_up = t.desc.no_warm_up ? 0 : t.desc.warm_up ? t.desc.warm_up : WARM_UP;
    t.desc.timeout_ns = t.desc.timeout_ns ? t.desc.timeout_ns : UINT64_MAX;
    SLRI_TRY(time_kernel(&t, &timing));
    return SLRI_GIVE_REPORT(slr_timing, out, bytes, &timing);
}

slr_status(slr_profile_kernel)(slr_kernel *kernel, slr_shape shape, const slr_arg *args, uint32_t count,
                               const slr_timing_desc *desc, slr_timing *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_profile_kernel_sized(kernel, shape, args, count, desc, out, SLRI_FIRST_slr_timing);
}

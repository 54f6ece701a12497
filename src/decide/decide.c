// SPDX-License-Identifier: Apache-2.0
// A decision: every candidate is predicted or measured, then the best one is named.
#include "decide/decide.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/device.h"
#include "engine/observe.h"
#include "tune/contest.h"

#include <slipring/profile.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEAST_SAMPLES = 5, IN_A_ROW = 16 };
static const uint64_t default_budget_ns = 2000000000u;
static const uint64_t warm_up_ns = 20000000u;
static const double long_call_ns = 1e7; // what another candidate left behind is then a small part of the call
static const double close_ratio = 2, most_scale = 1e6, most_overhead = 0.9, least_divergence = 1e-9;

struct deciding {
    slr_work work;
    slr_candidate candidate[SLR_MOST_CANDIDATES];
    slr_device_model model[SLR_MOST_CANDIDATES]; // of those that are no plain call
    slr_estimate estimate[SLR_MOST_CANDIDATES];
    struct slri_place place[SLR_MOST_CANDIDATES];
    double scale[SLR_MOST_CANDIDATES];    // measured kernel, divided by the predicted one
    double overhead[SLR_MOST_CANDIDATES]; // the same of launches and copies
    bool is_measured[SLR_MOST_CANDIDATES];
    uint32_t count;
    struct slri_work_count counted;
    slr_decision decision;
};

// ---- candidates ----------------------------------------------------------------------------------------------------

static slr_status check_model(const slr_device_model *m)
{
    bool copies = m->unified || (m->upload_bytes_per_second > 0 && m->download_bytes_per_second > 0);
    if (m->units && m->unit_threads && m->bytes_per_second > 0 && m->flops_per_second > 0 &&
        m->flops64_per_second > 0 && m->instructions_per_second > 0 && m->branch_per_second > 0 &&
        m->instruction_ns >= 0 && m->round_trip_ns >= 0 && m->launch_ns >= 0 && copies)
        return SLR_OK;
    return SLRI_FAIL(INVALID, "slr_device_model '%.63s': a count or rate is 0, or a time is negative", m->name);
}

// The open candidate on the same processor; `count` where there is none.
static uint32_t same_processor_of(const struct deciding *d, uint32_t i)
{
    const slr_device *device = d->candidate[i].same_processor;
    uint32_t at = 0;
    while (at < d->count && (!device || d->candidate[at].device != device))
        ++at;
    return at;
}

static slr_status take_candidate(struct deciding *d, uint32_t i)
{
    const slr_candidate *c = &d->candidate[i];
    if ((c->device != NULL) + (c->model != NULL) + (c->call != NULL) != 1)
        return SLRI_FAIL(INVALID, "candidate %u: give one of device, model and call", i);
    if (c->same_processor && !c->model)
        return SLRI_FAIL(INVALID, "candidate %u: same_processor is given, and model is not", i);
    if (c->same_processor && same_processor_of(d, i) == d->count)
        return SLRI_FAIL(INVALID, "candidate %u: same_processor is no candidate", i);
    d->scale[i] = d->overhead[i] = 1;
    if (c->device)
        return slri_decide_model(c->device, &d->model[i]);
    if (c->call) {
        d->model[i] = (slr_device_model){.name = "plain call", .device_class = SLR_DEVICE_CPU, .units = 1};
        return SLR_OK;
    }
    SLRI_TRY(SLRI_CHECK_REPORT(slr_device_model, c->model_bytes));
    memcpy(&d->model[i], c->model, c->model_bytes);
    d->model[i].name[sizeof d->model[i].name - 1] = '\0';
    return check_model(&d->model[i]);
}

static slr_status check_work(const slr_work *work)
{
    if (!(work->wait_share >= 0 && work->wait_share < 1) || !(work->divergence >= 0 && work->divergence <= 1))
        return SLRI_FAIL(INVALID, "slr_work: wait_share is %g, divergence %g; expected 0 to 1, wait_share below 1",
                         work->wait_share, work->divergence);
    if (!(work->calls_per_second >= 0) || isinf(work->calls_per_second) || work->measure > SLR_MEASURE_NEVER)
        return SLRI_FAIL(INVALID, "slr_work: calls_per_second is %g, measure is %u", work->calls_per_second,
                         work->measure);
    return SLR_OK;
}

// ---- measuring -----------------------------------------------------------------------------------------------------

static bool can_be_measured(const struct deciding *d, uint32_t i)
{
    if (d->candidate[i].call)
        return true;
    if (!d->candidate[i].device || !d->work.kernel)
        return false;
    for (uint32_t k = 0; k < d->work.arg_count; ++k)
        if (d->work.args[k].kind == SLR_ARG_BUFFER && !d->work.args[k].value.buffer)
            return false;
    return true;
}

static bool is_close(const struct deciding *d, uint32_t i)
{
    for (uint32_t k = 0; k < d->count; ++k) {
        double a = d->estimate[i].predicted_ns, b = d->estimate[k].predicted_ns;
        if (k != i && (d->candidate[k].call || (a < close_ratio * b && b < close_ratio * a)))
            return true;
    }
    return false;
}

static slr_status choose_measured(struct deciding *d)
{
    for (uint32_t i = 0; i < d->count; ++i) {
        bool can = can_be_measured(d, i);
        if (d->work.measure == SLR_MEASURE_ALWAYS && !can && d->candidate[i].device)
            return SLRI_FAIL(UNSUPPORTED, "the work cannot be measured: it has no kernel, or a buffer that is NULL");
        d->is_measured[i] = d->candidate[i].call || (can && (d->work.measure == SLR_MEASURE_ALWAYS ||
                                                             (d->work.measure != SLR_MEASURE_NEVER && is_close(d, i))));
    }
    return SLR_OK;
}

static bool is_long(const struct slri_place *place)
{
    return place->samples > 0 && place->sample[place->samples - 1] >= long_call_ns;
}

// A program launches again and again on one device. After another candidate's calls the caches are cold and threads
// sleep; and for some milliseconds two threads of the device may share a core while the other driver's give up theirs.
// With one call of each in turn, cpu took twice as long beside PoCL on two cores as alone.
static slr_status take_turn(struct slri_place *place)
{
    const uint64_t begun = slri_now_ns();
    bool needs_warm_up = !is_long(place);
    while (needs_warm_up) {
        SLRI_TRY(slri_place_call(place));
        needs_warm_up = slri_now_ns() - begun < warm_up_ns;
    }
    for (uint32_t i = 0; i < IN_A_ROW && (i == 0 || !is_long(place)); ++i)
        SLRI_TRY(slri_place_sample(place));
    return SLR_OK;
}

static bool has_least(const struct deciding *d)
{
    for (uint32_t i = 0; i < d->count; ++i)
        if (d->is_measured[i] && d->place[i].samples < LEAST_SAMPLES)
            return false;
    return true;
}

// In turns, so that a machine that slows down does not decide.
static slr_status take_samples(struct deciding *d)
{
    uint64_t begun = slri_now_ns(), budget = d->work.budget_ns ? d->work.budget_ns : default_budget_ns;
    for (uint32_t round = 0; round < SLRI_DECIDE_SAMPLES; ++round) {
        if (has_least(d) && slri_now_ns() - begun > budget)
            break;
        for (uint32_t i = 0; i < d->count; ++i)
            if (d->is_measured[i] && d->place[i].samples < SLRI_DECIDE_SAMPLES)
                SLRI_TRY(take_turn(&d->place[i]));
    }
    return SLR_OK;
}

static slr_status measure_places(struct deciding *d)
{
    for (uint32_t i = 0; i < d->count; ++i)
        if (d->is_measured[i])
            SLRI_TRY(slri_place_open(&d->place[i]));
    return take_samples(d);
}

static void keep_measured(struct deciding *d, uint32_t i)
{
    slr_estimate *e = &d->estimate[i];
    double sorted[SLRI_DECIDE_SAMPLES];
    memcpy(sorted, d->place[i].sample, sizeof sorted);
    e->samples = d->place[i].samples;
    e->measured_ns = slri_quantile_of(sorted, e->samples, 0.5);
    // Launches that take less than when they were measured leave the kernel a part.
    double before = e->launch_ns + e->copy_ns, overhead = fmin(before, most_overhead * e->measured_ns);
    double kernel = e->measured_ns - overhead;
    d->overhead[i] = before > 0 ? overhead / before : 1;
    if (e->kernel_ns > 0) // what the count could not know, such as how well it vectorises
        d->scale[i] = fmin(fmax(kernel, e->kernel_ns / most_scale) / e->kernel_ns, most_scale);
}

// A launch took from nothing to twice what it should, so the kernel took from `least` to all of the measured time. Of
// these, the nearest to the prediction: of a small kernel, whose launch decides, the measurement says nothing.
double slri_decide_correction(double measured_ns, double overhead_ns, double kernel_ns)
{
    const double least = measured_ns - 2 * overhead_ns;
    if (kernel_ns <= 0)
        return 1;
    return fmin(fmax(fmin(measured_ns / kernel_ns, 1), least / kernel_ns), most_scale);
}

// Where the count is wrong, or the rates are, both predictions are. Uncorrected, one that is too short would win over
// what was measured.
static void correct(struct deciding *d, uint32_t i)
{
    uint32_t same = same_processor_of(d, i);
    if (same == d->count || !d->is_measured[same])
        return;
    const slr_estimate *e = &d->estimate[same];
    d->scale[i] = slri_decide_correction(e->measured_ns, e->launch_ns + e->copy_ns, e->kernel_ns);
    slri_decide_predict(&d->model[i], &d->counted.figures, d->scale[i], &d->estimate[i]);
    d->estimate[i].is_corrected = 1;
}

static slr_status measure_all(struct deciding *d)
{
    SLRI_TRY(choose_measured(d));
    for (uint32_t i = 0; i < d->count; ++i)
        d->place[i] = (struct slri_place){.candidate = &d->candidate[i], .work = &d->work, .count = &d->counted};
    slr_status status = measure_places(d);
    for (uint32_t i = 0; i < d->count; ++i) {
        if (status == SLR_OK && d->is_measured[i])
            keep_measured(d, i);
        slri_place_close(&d->place[i]);
    }
    for (uint32_t i = 0; status == SLR_OK && i < d->count; ++i)
        correct(d, i);
    return status;
}

// ---- estimates -----------------------------------------------------------------------------------------------------

static double service_of(const struct deciding *d, uint32_t i)
{
    const slr_estimate *e = &d->estimate[i];
    return d->is_measured[i] ? e->measured_ns : e->predicted_ns - e->wait_ns;
}

// What a call waits for besides, from its share on the slowest CPU, or else on the slowest of all.
static double waiting_of(const struct deciding *d)
{
    double slowest[2] = {0, 0};
    for (uint32_t i = 0; i < d->count; ++i) {
        bool is_cpu = d->estimate[i].device_class == SLR_DEVICE_CPU;
        slowest[is_cpu] = fmax(slowest[is_cpu], service_of(d, i));
    }
    return (slowest[1] > 0 ? slowest[1] : slowest[0]) * d->work.wait_share / (1 - d->work.wait_share);
}

static void predict_all(struct deciding *d)
{
    for (uint32_t i = 0; i < d->count; ++i) {
        slr_estimate *e = &d->estimate[i];
        memcpy(e->name, d->model[i].name, sizeof e->name);
        e->device_class = d->model[i].device_class;
        if (!d->candidate[i].call)
            slri_decide_predict(&d->model[i], &d->counted.figures, 1, e);
    }
}

static slr_status queue_at(struct deciding *d, uint32_t i)
{
    slr_estimate *e = &d->estimate[i];
    struct slri_queueing queueing = {0, e->wait_ns};
    double service = service_of(d, i), rate = d->work.calls_per_second;
    const double *sample = d->is_measured[i] ? d->place[i].sample : &service;
    uint32_t samples = d->is_measured[i] ? d->place[i].samples : 1;
    const double mean = slri_queueing_mean(sample, samples); // what fills a device, not the median
    if (rate > 0)
        SLRI_TRY(slri_queueing_at(sample, samples, e->wait_ns, rate, &queueing));
    else {
        double sorted[SLRI_DECIDE_SAMPLES];
        memcpy(sorted, sample, samples * sizeof *sample);
        queueing.p99_ns += slri_quantile_of(sorted, samples, 0.99);
    }
    e->queue_ns = queueing.mean_wait_ns;
    e->p99_ns = queueing.p99_ns;
    e->busy = rate > 0 ? fmin(rate * mean / 1e9, 1) : service / e->call_ns;
    e->capacity = 1e9 / mean;
    return d->work.latency_ns
               ? slri_queueing_capacity(sample, samples, e->wait_ns, (double)d->work.latency_ns, &e->capacity)
               : SLR_OK;
}

static slr_status finish_estimates(struct deciding *d)
{
    d->counted.figures.wait_ns = waiting_of(d);
    for (uint32_t i = 0; i < d->count; ++i) {
        slr_estimate *e = &d->estimate[i];
        e->wait_ns = d->counted.figures.wait_ns;
        e->predicted_ns += d->candidate[i].call ? 0 : e->wait_ns;
        e->by = d->is_measured[i] ? SLR_BY_MEASUREMENT : SLR_BY_MODEL;
        e->call_ns = service_of(d, i) + e->wait_ns;
        SLRI_TRY(queue_at(d, i));
    }
    return SLR_OK;
}

// ---- the crossover -------------------------------------------------------------------------------------------------

static slr_status resize(slr_work *work, double threads)
{
    SLRI_OBSERVE_SITE_OF_PROGRAM();
    return work->resize(work->user, (uint64_t)threads, work);
}

// The figures of another size: counted again where the user can make it.
static slr_status figures_at(struct deciding *d, double threads, struct slri_figures *out)
{
    if (!d->work.resize || d->counted.is_interpreted) { // to interpret each size would take long
        *out = slri_decide_scaled(&d->counted.figures, threads);
        return SLR_OK;
    }
    slr_work work = d->work;
    struct slri_work_count counted;
    SLRI_TRY(resize(&work, threads));
    work.divergence = fmax(d->counted.figures.divergence, least_divergence); // known
    SLRI_TRY(slri_decide_count(&work, &counted));
    *out = counted.figures;
    return SLR_OK;
}

static slr_status cost_at(void *user, double threads, double *first, double *second)
{
    struct deciding *d = user;
    const uint32_t at[] = {d->decision.candidate, d->decision.next};
    double ns[2];
    struct slri_figures figures;
    SLRI_TRY(figures_at(d, threads, &figures));
    for (int i = 0; i < 2; ++i) {
        slr_estimate estimate = {0};
        slri_decide_predict(&d->model[at[i]], &figures, d->scale[at[i]], &estimate);
        ns[i] = estimate.kernel_ns + d->overhead[at[i]] * (estimate.launch_ns + estimate.copy_ns);
    }
    *first = ns[0];
    *second = ns[1];
    return SLR_OK;
}

static slr_status find_crossover(struct deciding *d)
{
    const slr_candidate *a = &d->candidate[d->decision.candidate], *b = &d->candidate[d->decision.next];
    if (a == b || a->call || b->call) // a plain call is known for one size alone
        return SLR_OK;
    return slri_decide_crossover(cost_at, d, &d->decision.crossover_threads);
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static void fill_decision(struct deciding *d)
{
    const struct slri_figures *f = &d->counted.figures;
    slr_decision *out = &d->decision;
    out->counted = d->counted.counted;
    out->threads = f->threads;
    out->instructions = f->instructions;
    out->flops = f->flops;
    out->flops64 = f->flops64;
    out->memory_bytes = f->memory_bytes;
    out->bytes_in = f->bytes_in;
    out->bytes_out = f->bytes_out;
    out->divergence = f->divergence;
}

static slr_status decide(struct deciding *d)
{
    SLRI_TRY(check_work(&d->work));
    SLRI_TRY(slri_decide_count(&d->work, &d->counted));
    for (uint32_t i = 0; i < d->count; ++i)
        SLRI_TRY(take_candidate(d, i));
    predict_all(d);
    SLRI_TRY(measure_all(d));
    SLRI_TRY(finish_estimates(d));
    fill_decision(d);
    slri_decide_choose(d->estimate, d->count, &d->counted.figures, &d->work, &d->decision);
    return find_crossover(d);
}

static slr_status decide_and_give(struct deciding *d, slr_estimate *estimates, size_t estimate_bytes, slr_decision *out,
                                  size_t bytes)
{
    SLRI_TRY(decide(d));
    for (uint32_t i = 0; estimates && i < d->count; ++i)
        SLRI_TRY(SLRI_GIVE_REPORT(slr_estimate, (slr_estimate *)(void *)((char *)estimates + i * estimate_bytes),
                                  estimate_bytes, &d->estimate[i]));
    return SLRI_GIVE_REPORT(slr_decision, out, bytes, &d->decision);
}

slr_status slr_decide_sized(const slr_work *work, const slr_candidate *candidates, size_t candidate_bytes,
                            uint32_t count, slr_estimate *estimates, size_t estimate_bytes, slr_decision *out,
                            size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    if (!work || !candidates || !out)
        return SLRI_FAIL(INVALID, "slr_decide: %s is NULL", !work ? "work" : !candidates ? "candidates" : "out");
    if (count == 0 || count > SLR_MOST_CANDIDATES)
        return SLRI_FAIL(INVALID, "slr_decide: %u candidates; expected 1 to %u", count, SLR_MOST_CANDIDATES);
    SLRI_TRY(SLRI_CHECK_REPORT(slr_candidate, candidate_bytes));
    SLRI_TRY(SLRI_CHECK_REPORT(slr_estimate, estimate_bytes));
    SLRI_TRY(SLRI_CHECK_REPORT(slr_decision, bytes));
    struct deciding *d = slri_alloc(NULL, sizeof *d);
    if (!d)
        return SLRI_FAIL(NO_MEMORY, "no memory for a decision");
    d->count = count;
    for (uint32_t i = 0; i < count; ++i)
        memcpy(&d->candidate[i], (const char *)candidates + i * candidate_bytes, candidate_bytes);
    slr_status status = SLRI_TAKE_DESC(slr_work, &d->work, work);
    if (status == SLR_OK)
        status = decide_and_give(d, estimates, estimate_bytes, out, bytes);
    slri_free(NULL, d, sizeof *d);
    return status;
}

slr_status(slr_decide)(const slr_work *work, const slr_candidate *candidates, uint32_t count, slr_estimate *estimates,
                       slr_decision *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_decide_sized(work, candidates, SLRI_FIRST_slr_candidate, count, estimates, SLRI_FIRST_slr_estimate, out,
                            SLRI_FIRST_slr_decision);
}

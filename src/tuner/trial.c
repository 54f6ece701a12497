// SPDX-License-Identifier: Apache-2.0
// A candidate: compiled, launched, compared, measured.
#include "tuner/tuner.h"

#include "base/clock.h"
#include "base/status.h"
#include "engine/observe.h"

#include <slipring/occupancy.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LAUNCHES = 64, IN_A_ROW = 16, SHORT_NS = 30000, CONFIRMED_PERCENT = 3, REPEATS_AT_MOST = 4 };
static const uint64_t launch_timeout_ns = 60000000000u;

// ---- ready to launch -----------------------------------------------------------------------------------------------

static uint32_t slot_of(const char *defines)
{
    uint32_t hash = 5381; // D. Bernstein's
    for (const char *at = defines; *at; at++)
        hash = hash * 33 + (unsigned char)*at;
    return hash % SLRI_TUNER_VARIANTS;
}

slr_status slri_tuner_take(struct slri_tuner *tuner, struct slri_tuner_variant all[SLRI_TUNER_VARIANTS],
                           const char *defines, slri_tuner_maker *make, struct slri_tuner_variant **out)
{
    struct slri_tuner_variant *variant = &all[slot_of(defines)];
    if (!variant->program || strcmp(variant->defines, defines) != 0) {
        slr_program_destroy(variant->program);
        *variant = (struct slri_tuner_variant){0};
        SLRI_TRY(make(tuner->kernel->program, defines, &variant->program));
        snprintf(variant->defines, sizeof variant->defines, "%s", defines);
    }
    *out = variant;
    return SLR_OK;
}

// The caller gets a hold.
static slr_status take_program(struct slri_tuner *tuner, const char *defines, slr_program **out)
{
    struct slri_tuner_variant *variant;
    *out = tuner->kernel->program;
    if (*defines) {
        SLRI_TRY(slri_tuner_take(tuner, tuner->variant, defines, slri_tuned_variant, &variant));
        *out = variant->program;
    }
    slri_program_hold(*out);
    return SLR_OK;
}

slr_status slri_tuner_ready(struct slri_tuner *tuner, uint64_t code, struct slri_tuner_launch *out)
{
    bool none;
    slr_program *program;
    *out = (struct slri_tuner_launch){.code = code};
    if (!slri_tuner_decode(tuner, code, out->defines, &out->wanted))
        return SLRI_FAIL(INVALID, "the names and values of its macros have more than %d characters",
                         SLRI_TUNED_DEFINES_BYTES - 1);
    out->shape = out->wanted;
    SLRI_TRY(take_program(tuner, out->defines, &program));
    slr_status status = slr_program_get_kernel(program, tuner->kernel->info.name, &out->kernel);
    slr_program_destroy(program); // the kernel keeps it
    SLRI_TRY(status);
    status = slri_shape_settle(out->kernel, &out->shape, &none);
    if (status != SLR_OK)
        slri_tuner_unready(out);
    return status;
}

void slri_tuner_unready(struct slri_tuner_launch *launch)
{
    slr_kernel_destroy(launch->kernel);
    launch->kernel = NULL;
}

// ---- launching -----------------------------------------------------------------------------------------------------

static slr_status launch_once(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    return slr_launch(tuner->stream, launch->kernel, launch->shape, tuner->problem->args, tuner->problem->arg_count,
                      NULL);
}

// From what the buffers held at first to what the kernel leaves there. The stream works again behind a failure.
static slr_status run_once(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    SLRI_TRY(slri_tuner_restore(tuner));
    slr_status status = launch_once(tuner, launch);
    if (status == SLR_OK)
        status = slr_stream_finish(tuner->stream, launch_timeout_ns);
    if (status != SLR_OK) {
        snprintf(tuner->why, sizeof tuner->why, "%s", slr_error_message());
        slr_stream_recover(tuner->stream);
    }
    return status;
}

static slr_status time_launches(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, uint32_t launches,
                                double *ns)
{
    int64_t took;
    SLRI_TRY(slr_event_record(tuner->from, tuner->stream, NULL));
    for (uint32_t i = 0; i < launches; i++)
        SLRI_TRY(launch_once(tuner, launch));
    SLRI_TRY(slr_event_record(tuner->to, tuner->stream, NULL));
    SLRI_TRY(slr_event_wait(tuner->to, UINT64_MAX));
    SLRI_TRY(slr_event_elapsed_ns(tuner->from, tuner->to, &took));
    *ns = took > 0 ? (double)took / launches : 1; // a clock of the device may be coarser than the launch
    return SLR_OK;
}

slr_status slri_tuner_run(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, uint32_t launches,
                          double *ns)
{
    SLRI_TRY(slri_tuner_renew(tuner));
    return time_launches(tuner, launch, launches, ns);
}

static void describe_launch(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                            slr_tune_candidate *out)
{
    *out = (slr_tune_candidate){.defines = launch->defines,
                                .shape = launch->shape,
                                .state = SLR_TUNE_MEASURED,
                                .is_default = launch->code == tuner->start,
                                .why = "",
                                .evaluation = launch->evaluation,
                                .most = tuner->search.most < tuner->search.trials ? tuner->search.most
                                                                                  : tuner->search.trials,
                                .space = tuner->search.trials};
}

static slr_status ask_meter(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost)
{
    slr_tune_candidate candidate;
    describe_launch(tuner, launch, &candidate);
    *cost = 0;
    SLRI_OBSERVE_SITE_OF_PROGRAM();
    return tuner->desc->measure(tuner->desc->user, tuner->stream, launch->kernel, &candidate, cost);
}

slr_status slri_tuner_sample(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost)
{
    if (slri_tuner_counts_energy(tuner->desc))
        return slri_tuner_measure_energy(tuner, launch, cost);
    SLRI_TRY(slri_tuner_renew(tuner));
    if (!tuner->desc->measure)
        return time_launches(tuner, launch, tuner->launches, cost);
    SLRI_TRY(ask_meter(tuner, launch, cost));
    return isfinite(*cost) && *cost > 0 // costs are compared and divided
               ? SLR_OK
               : SLRI_FAIL(INVALID, "slr_tune_desc.measure gave the cost %g; expected a finite number above 0", *cost);
}

// ---- candidates ----------------------------------------------------------------------------------------------------

// What is too short for a clock is launched several times for a sample; the same number for all.
static slr_status choose_launches(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    double ns;
    tuner->launches = tuner->desc->metric == SLR_TUNE_THROUGHPUT ? IN_A_ROW : 1;
    if (slri_tuner_counts_energy(tuner->desc))
        return slri_tuner_choose_group(tuner, launch);
    if (tuner->desc->measure || tuner->desc->metric != SLR_TUNE_TIME)
        return SLR_OK;
    SLRI_TRY(slri_tuner_renew(tuner));
    SLRI_TRY(time_launches(tuner, launch, 1, &ns));
    if (ns < SHORT_NS)
        tuner->launches = ns < (double)SHORT_NS / MOST_LAUNCHES ? MOST_LAUNCHES : (uint32_t)(SHORT_NS / ns) + 1;
    return SLR_OK;
}

// What the driver says of the compiled default, for the model.
static void ask_registers(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    slr_kernel_occupancy occupancy;
    if (tuner->kernel->program->device->facts.cuda_arch &&
        slr_kernel_get_occupancy(launch->kernel, launch->shape, &occupancy) == SLR_OK)
        tuner->registers = occupancy.registers;
}

// The default once more: results that vary by themselves would keep or discard candidates by luck.
static slr_status check_default(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    bool is_exact;
    SLRI_TRY(run_once(tuner, launch));
    *tuner->why = '\0';
    slr_status status = slri_tuner_compare(tuner, &is_exact);
    if (status == SLR_WRONG_STATE && *tuner->why)
        return SLRI_FAIL(WRONG_STATE,
                         "kernel %s: the default launch gives different results each time (atomics in any order, a "
                         "race, or an access outside a buffer): %s. The tuner needs results that it can compare%s",
                         tuner->kernel->info.name, tuner->why,
                         tuner->differs_in_reals ? "; slr_tune_desc.tolerance (--tolerance) allows small differences"
                                                 : "");
    return status;
}

static slr_status guard_default(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    bool is_bad;
    SLRI_TRY(slri_tuner_guard(tuner, launch, &is_bad));
    return !is_bad ? SLR_OK
                   : SLRI_FAIL(INVALID, "kernel %s: the default launch is not right: %s", tuner->kernel->info.name,
                               tuner->why);
}

slr_status slri_tuner_begin(struct slri_tuner *tuner)
{
    struct slri_tuner_launch launch;
    SLRI_TRY(slri_tuner_ready(tuner, tuner->start, &launch));
    slr_status status = guard_default(tuner, &launch);
    if (status == SLR_OK)
        status = run_once(tuner, &launch);
    if (status == SLR_OK)
        status = slri_tuner_expect(tuner);
    if (status == SLR_OK)
        status = check_default(tuner, &launch);
    if (status == SLR_OK)
        status = slri_tuner_find_read(tuner, &launch);
    if (status == SLR_OK)
        status = choose_launches(tuner, &launch);
    if (status == SLR_OK)
        ask_registers(tuner, &launch);
    if (status == SLR_OK && tuner->desc->strategy == SLR_TUNE_MODEL)
        slri_tuner_find_scatter(tuner, &launch);
    slri_tuner_unready(&launch);
    return status;
}

static slr_tune_state refuse(struct slri_tuner *tuner, slr_status status)
{
    snprintf(tuner->why, sizeof tuner->why, "%s", slr_error_message());
    return status == SLR_INVALID || status == SLR_UNSUPPORTED ? SLR_TUNE_REFUSED : SLR_TUNE_FAILED;
}

static slr_tune_state say_wrong(struct slri_tuner *tuner)
{
    char why[SLRI_TUNER_WHY_BYTES];
    memcpy(why, tuner->why, sizeof why);
    snprintf(tuner->why, sizeof tuner->why, "its result differs from the default's: %.*s",
             (int)(sizeof why - sizeof "its result differs from the default's: "), why);
    return SLR_TUNE_WRONG;
}

slr_tune_state slri_tuner_check(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, bool *is_exact)
{
    *is_exact = false;
    slr_status status = run_once(tuner, launch);
    if (status != SLR_OK)
        return status == SLR_INVALID ? SLR_TUNE_REFUSED : SLR_TUNE_FAILED;
    status = slri_tuner_compare(tuner, is_exact);
    if (status == SLR_WRONG_STATE && *tuner->why)
        return say_wrong(tuner);
    return status == SLR_OK ? SLR_TUNE_MEASURED : refuse(tuner, status);
}

struct least {
    double first, second; // of the samples so far
};

static slr_status sample_least(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, struct least *least)
{
    double sample;
    SLRI_TRY(slri_tuner_sample(tuner, launch, &sample));
    least->second = fmin(least->second, fmax(least->first, sample));
    least->first = fmin(least->first, sample);
    return SLR_OK;
}

// A second sample is as small, so the first was no exception.
static bool is_confirmed(const struct least *least)
{
    return least->second <= least->first * (1 + CONFIRMED_PERCENT / 100.0);
}

// Samples of the candidate and of the reference in turn: a driver of the host may lose one of two cores for seconds,
// and then all that it launches takes twice as long. So the candidate's cost is told at the speed at which the
// reference's was. What disturbs a sample only adds to it: the least of each counts. Where all but one of the samples
// were disturbed, the next candidate would find the reference slower, so more are taken. Every other pair is the other
// way round: where every other launch is slow, a fixed order would give the reference all the slow ones.
static slr_status measure_in_turn(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost)
{
    const uint32_t repeats = tuner->desc->repeats;
    struct least own = {INFINITY, INFINITY}, beside = {INFINITY, INFINITY};
    const bool has_reference = tuner->reference.kernel != NULL;
    bool is_done = false;
    for (uint32_t i = 0; !is_done; i++) {
        if (has_reference && i % 2)
            SLRI_TRY(sample_least(tuner, &tuner->reference, &beside));
        SLRI_TRY(sample_least(tuner, launch, &own));
        if (has_reference && i % 2 == 0)
            SLRI_TRY(sample_least(tuner, &tuner->reference, &beside));
        bool is_sure = is_confirmed(&own) && (!has_reference || is_confirmed(&beside));
        is_done = i + 1 >= (is_sure ? repeats : REPEATS_AT_MOST * repeats);
    }
    *cost = own.first;
    if (has_reference)
        *cost *= tuner->reference_cost / beside.first;
    return SLR_OK;
}

// The next candidates are measured beside the fastest one. If that was only lucky, all of them seem as much too fast,
// and the next fastest one still more. So whichever seems faster is measured again, and the slower time counts. The
// last one is not: no other is measured beside it, and the time left is the contest's.
static slr_status measure(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost)
{
    SLRI_TRY(measure_in_turn(tuner, launch, cost));
    if (!tuner->reference.kernel || *cost >= tuner->reference_cost ||
        slri_tuner_has_spent(tuner, SLRI_TUNER_SEARCH_SHARE))
        return SLR_OK;
    const double first = *cost;
    SLRI_TRY(measure_in_turn(tuner, launch, cost));
    *cost = fmax(*cost, first);
    return SLR_OK;
}

// Two runs of the default may agree by luck. So it runs once more for each candidate that seems wrong.
static void check_default_again(struct slri_tuner *tuner)
{
    char why[SLRI_TUNER_WHY_BYTES];
    struct slri_tuner_launch launch;
    memcpy(why, tuner->why, sizeof why);
    if (slri_tuner_ready(tuner, tuner->start, &launch) == SLR_OK) {
        tuner->varies = check_default(tuner, &launch) == SLR_WRONG_STATE;
        if (tuner->varies)
            snprintf(tuner->reason, sizeof tuner->reason, "%s", slr_error_message());
        slri_tuner_unready(&launch);
    }
    memcpy(tuner->why, why, sizeof why);
}

static slr_tune_state measure_ready(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, double *cost)
{
    bool is_exact, is_bad;
    slri_tuner_guard_ahead(tuner, launch);
    slr_status status = slr_kernel_prepare(launch->kernel, launch->shape);
    if (status != SLR_OK)
        return refuse(tuner, status);
    status = slri_tuner_guard(tuner, launch, &is_bad);
    if (status != SLR_OK || is_bad)
        return status == SLR_INVALID ? SLR_TUNE_REFUSED : SLR_TUNE_FAILED;
    slr_tune_state state = slri_tuner_check(tuner, launch, &is_exact);
    if (state == SLR_TUNE_WRONG)
        check_default_again(tuner);
    if (state != SLR_TUNE_MEASURED)
        return state;
    status = slri_tuner_find_read(tuner, launch);
    if (status == SLR_OK)
        status = measure(tuner, launch, cost);
    return status == SLR_OK ? SLR_TUNE_MEASURED : refuse(tuner, status);
}

static void tell(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, const struct slri_trial *trial,
                 slr_tune_state state)
{
    slr_tune_candidate candidate;
    tuner->refused += state == SLR_TUNE_REFUSED;
    tuner->wrong += state == SLR_TUNE_WRONG;
    tuner->failed += state == SLR_TUNE_FAILED;
    if (!tuner->desc->watch)
        return;
    describe_launch(tuner, launch, &candidate);
    candidate.state = state;
    candidate.cost = state == SLR_TUNE_MEASURED ? trial->cost : 0;
    candidate.predicted = trial->predicted > 0 && isfinite(trial->predicted) ? trial->predicted : 0;
    candidate.why = tuner->why;
    SLRI_OBSERVE_SITE_OF_PROGRAM();
    tuner->desc->watch(tuner->desc->user, &candidate);
}

slr_tune_state slri_tuner_try(void *user, struct slri_trial *trial)
{
    struct slri_tuner *tuner = user;
    struct slri_tuner_launch launch;
    *tuner->why = '\0';
    slr_status status = slri_tuner_ready(tuner, trial->code, &launch);
    launch.evaluation = trial->evaluation;
    slr_tune_state state = status == SLR_OK ? measure_ready(tuner, &launch, &trial->cost) : refuse(tuner, status);
    tell(tuner, &launch, trial, state);
    if (state == SLR_TUNE_MEASURED && (!tuner->reference.kernel || trial->cost < tuner->reference_cost)) {
        slri_tuner_unready(&tuner->reference);
        tuner->reference = launch;
        tuner->reference_cost = trial->cost;
    } else {
        slri_tuner_unready(&launch);
    }
    return state;
}

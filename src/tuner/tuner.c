// SPDX-License-Identifier: Apache-2.0
// A problem of a kernel, from its candidates to its record.
#include "tuner/tuner.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "engine/observe.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 5, ENERGY_REPEATS = 2, LEAST_SAMPLES = 15, TAIL_SAMPLES = 100, ALL_FLAGS = 31 };
static const uint64_t default_budget_ns = 60000000000u,
                      energy_budget_ns = 600000000000u; // a sample takes 0.5 s or more

bool slri_tuner_has_spent(const struct slri_tuner *tuner, uint32_t percent)
{
    return slri_now_ns() - tuner->begun_ns >= tuner->desc->budget_ns / 100 * percent;
}

static bool is_search_over(void *user)
{
    const struct slri_tuner *tuner = user;
    return tuner->varies || slri_tuner_has_spent(tuner, SLRI_TUNER_SEARCH_SHARE); // the rest is the contest's
}

static bool is_contest_over(void *user)
{
    return slri_tuner_has_spent(user, 100);
}

static bool allows(void *user, uint64_t code)
{
    struct slri_tuner *tuner = user;
    char defines[SLRI_TUNED_DEFINES_BYTES], own[SLRI_TUNED_DEFINES_BYTES];
    slr_shape shape;
    bool is_allowed = true;
    if (!slri_tuner_decode(tuner, code, defines, &shape))
        return false;
    if (*defines && slri_tuned_is_allowed(tuner->kernel->program, defines, &is_allowed) != SLR_OK)
        return false;
    slri_tuner_own_defines(tuner, defines, own);
    tuner->forbidden += !is_allowed;
    tuner->other_choices += is_allowed && *own;
    return is_allowed;
}

// ---- the contest ---------------------------------------------------------------------------------------------------

static int by_cost(const void *a, const void *b)
{
    const struct slri_trial *x = *(const struct slri_trial *const *)a, *y = *(const struct slri_trial *const *)b;
    return x->cost != y->cost ? (x->cost > y->cost) - (x->cost < y->cost) : (x->code > y->code) - (x->code < y->code);
}

static slr_status add_contender(struct slri_tuner *tuner, uint64_t code, uint32_t evaluation)
{
    struct slri_tuner_launch *contender = &tuner->contender[tuner->contenders];
    SLRI_TRY(slri_tuner_ready(tuner, code, contender));
    contender->evaluation = evaluation;
    ++tuner->contenders;
    return SLR_OK;
}

// The default, and the best of the others.
static slr_status choose_contenders(struct slri_tuner *tuner)
{
    const struct slri_search *search = &tuner->search;
    size_t bytes = (search->trials + 1) * sizeof(struct slri_trial *);
    const struct slri_trial **measured = slri_alloc(NULL, bytes);
    uint32_t count = 0;
    if (!measured)
        return SLRI_FAIL(NO_MEMORY, "no memory to tune kernel %s", tuner->kernel->info.name);
    for (uint32_t i = 0; i < search->trials; i++)
        if (search->trial[i].state == SLR_TUNE_MEASURED && search->trial[i].code != tuner->start)
            measured[count++] = &search->trial[i];
    qsort(measured, count, sizeof *measured, by_cost);
    slr_status status = add_contender(tuner, tuner->start, 1); // tried first
    for (uint32_t i = 0; status == SLR_OK && i < count && tuner->contenders < SLRI_CONTENDERS; i++)
        status = add_contender(tuner, measured[i]->code, measured[i]->evaluation);
    slri_free(NULL, measured, bytes);
    return status;
}

static slr_status sample_contender(void *user, uint32_t contender, double *cost)
{
    struct slri_tuner *tuner = user;
    return slri_tuner_sample(tuner, &tuner->contender[contender], cost);
}

// What it takes of the device: threads, then shared memory.
static uint64_t size_of_contender(void *user, uint32_t contender)
{
    const struct slri_tuner *tuner = user;
    const struct slri_tuner_launch *launch = &tuner->contender[contender];
    const uint64_t threads = (uint64_t)launch->shape.block[0] * launch->shape.block[1] * launch->shape.block[2];
    return threads << 32 | launch->kernel->info.shared_bytes;
}

static slr_status hold_contest(struct slri_tuner *tuner, struct slri_contest *out)
{
    const slr_tune_desc *desc = tuner->desc;
    uint32_t most = desc->metric == SLR_TUNE_TAIL ? TAIL_SAMPLES : LEAST_SAMPLES;
    const uint32_t halvings = 3, rounds = 5; // of eight; of the last two
    most = (most > rounds * desc->repeats ? most : rounds * desc->repeats) + halvings * desc->repeats;
    const struct slri_contest_desc contest = {.contenders = tuner->contenders,
                                              .repeats = desc->repeats,
                                              .most = most,
                                              .quantile = desc->metric == SLR_TUNE_TAIL ? 0.99 : 0.5,
                                              .seed = desc->seed,
                                              .user = tuner,
                                              .sample = sample_contender,
                                              .size = size_of_contender,
                                              .is_over = is_contest_over};
    return slri_contest_run(&contest, out);
}

// ---- the result ----------------------------------------------------------------------------------------------------

static const char *metric_name(const slr_tune_desc *desc)
{
    return desc->measure ? "own" : slri_tuned_metric(desc->metric);
}

static void say_reason(const struct slri_tuner *tuner, const struct slri_contest *contest, slr_tuned *out)
{
    const bool is_energy = tuner->desc->metric == SLR_TUNE_ENERGY;
    if (!out->is_default && is_energy)
        snprintf(out->reason, sizeof out->reason, "The default takes %.3f times its energy (95 %%: %.3f to %.3f).",
                 out->speedup, out->speedup_low, out->speedup_high);
    else if (!out->is_default)
        snprintf(out->reason, sizeof out->reason, "It is %.3f times as fast as the default (95 %%: %.3f to %.3f).",
                 out->speedup, out->speedup_low, out->speedup_high);
    else if (tuner->contenders == 1)
        snprintf(out->reason, sizeof out->reason, "Nothing else could be measured.");
    else if (contest->winner)
        snprintf(out->reason, sizeof out->reason, "The best candidate's last run was not right.");
    else if (is_energy)
        snprintf(out->reason, sizeof out->reason,
                 "The default stays: it takes %.3f times the energy of the best candidate (95 %%: %.3f to %.3f).",
                 contest->speedup, contest->low, contest->high);
    else
        snprintf(out->reason, sizeof out->reason,
                 "The default stays: the best candidate is %.3f times as fast (95 %%: %.3f to %.3f).", contest->speedup,
                 contest->low, contest->high);
}

static __attribute__((format(printf, 2, 3))) void add_reason(slr_tuned *out, const char *format, ...)
{
    const size_t length = strlen(out->reason);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(out->reason + length, sizeof out->reason - length, format, arguments);
    va_end(arguments);
}

// "add.cu:4:26: error SLR-K025: ..." without the place, whose path may be long.
static const char *without_place(const char *message)
{
    const char *error = strstr(message, ": error ");
    return error ? error + 2 : message;
}

// Who sees the default alone would look for the reason in the measurements.
static void say_forbidden(const struct slri_tuner *tuner, slr_tuned *out)
{
    const struct slri_tuning *tuning = tuner->kernel->program->module->tuning;
    const bool is_default_out = tuning && !tuning->is_allowed;
    const bool is_drawn = slri_space_count(&tuner->space) > SLRI_SEARCH_CANDIDATES;
    if (tuner->forbidden && !tuner->other_choices)
        add_reason(out, " The source's `require` lines exclude all %s values of its macros%s.",
                   is_drawn ? "drawn" : "other", is_default_out ? ", and the default's, too" : "");
    else if (is_default_out)
        add_reason(out, " The source's `require` lines exclude the default's values of its macros.");
}

// Values of a macro with which the source has an error, such as a `block` line of 2,048 threads: no candidate has them.
// What `require` forbids is the source's own wish, and is not named.
static void say_left_out(const struct slri_tuner *tuner, slr_tuned *out)
{
    char why[256] = "", define[SLRI_TUNED_DEFINES_BYTES];
    bool is_allowed;
    for (uint32_t i = 0; i < tuner->macros; i++)
        for (uint32_t k = 0; k < tuner->space.size[i]; k++) {
            snprintf(define, sizeof define, "%s=%lld", tuner->macro[i], (long long)tuner->value[i][k]);
            if (tuner->value[i][k] == tuner->now[i] ||
                slri_tuned_is_allowed(tuner->kernel->program, define, &is_allowed) == SLR_OK)
                continue;
            add_reason(out, "%s%s", *why ? ", " : " Left out: ", define);
            if (!*why)
                snprintf(why, sizeof why, "%s", without_place(slr_error_message()));
        }
    if (*why)
        add_reason(out, ": %.*s.", (int)strcspn(why, "\n"), why);
}

static void say_unguarded(const struct slri_tuner *tuner, slr_tuned *out)
{
    const char *why = without_place(tuner->why_unguarded);
    if (tuner->unguarded)
        add_reason(out, " %u launches ran unguarded: %.*s.", tuner->unguarded, (int)strcspn(why, "\n"), why);
}

static void fill_result(struct slri_tuner *tuner, const struct slri_contest *contest, uint32_t winner, bool is_exact,
                        slr_tuned *out)
{
    const struct slri_tuner_launch *launch = &tuner->contender[winner];
    *out = (slr_tuned){.shape = launch->shape,
                       .is_default = winner == 0,
                       .is_exact = is_exact,
                       .default_cost = contest->cost[0],
                       .cost = contest->cost[winner],
                       .speedup = winner ? contest->speedup : 1,
                       .speedup_low = winner ? contest->low : 1,
                       .speedup_high = winner ? contest->high : 1,
                       .space = tuner->search.trials,
                       .evaluations = tuner->search.evaluations,
                       .refused = tuner->refused,
                       .wrong = tuner->wrong,
                       .failed = tuner->failed,
                       .metric = tuner->desc->metric};
    memcpy(out->defines, launch->defines, sizeof out->defines);
    say_reason(tuner, contest, out);
    say_forbidden(tuner, out);
    say_left_out(tuner, out);
    say_unguarded(tuner, out);
}

static uint64_t in_thousandths(double value)
{
    return value > 0 && value < 1e15 ? (uint64_t)(value * 1000 + 0.5) : 0;
}

static slr_status keep_result(struct slri_tuner *tuner, uint32_t winner, slr_tuned *result)
{
    const slr_shape *wanted = &tuner->contender[winner].wanted;
    struct slri_tuned_place place;
    struct slri_tuned_record record = {.vector_width = result->is_default ? 0 : wanted->vector_width,
                                       .is_exact = result->is_exact,
                                       .default_ps = in_thousandths(result->default_cost),
                                       .tuned_ps = in_thousandths(result->cost),
                                       .speedup_permille = in_thousandths(result->speedup),
                                       .low_permille = in_thousandths(result->speedup_low),
                                       .high_permille = in_thousandths(result->speedup_high),
                                       .evaluations = result->evaluations};
    slri_tuned_source(tuner->kernel->program, record.source);
    snprintf(record.kernel, sizeof record.kernel, "%s", tuner->kernel->info.name);
    snprintf(record.metric, sizeof record.metric, "%s", metric_name(tuner->desc));
    memcpy(record.threads, wanted->threads, sizeof record.threads);
    memcpy(record.block, wanted->block, sizeof record.block);
    memcpy(record.defines, result->defines, sizeof record.defines);
    SLRI_TRY(slri_tuned_add(tuner->kernel->program, &record));
    slri_tuned_place(tuner->kernel->program->device, &place);
    if (slri_tuned_keep(&place, &record) != SLR_OK) // this process alone has it
        add_reason(result, " Not stored for other processes: %s.", slr_error_message());
    return SLR_OK;
}

// A shape with a grid, or with a block, is launched as it is: no later launch would look for it.
static bool is_kept(const struct slri_tuner *tuner)
{
    const slr_shape *shape = &tuner->problem->shape;
    return !(tuner->desc->flags & SLR_TUNE_DISCARD) && !shape->block[0] && !shape->grid[0] &&
           strlen(tuner->kernel->info.name) < sizeof((struct slri_tuned_record *)0)->kernel;
}

static slr_status conclude(struct slri_tuner *tuner, slr_tuned *out)
{
    struct slri_contest contest;
    bool is_exact = true;
    SLRI_TRY(choose_contenders(tuner));
    SLRI_TRY(hold_contest(tuner, &contest));
    uint32_t winner = contest.winner;
    if (winner && slri_tuner_check(tuner, &tuner->contender[winner], &is_exact) != SLR_TUNE_MEASURED)
        winner = 0;
    fill_result(tuner, &contest, winner, winner == 0 || is_exact, out);
    return is_kept(tuner) ? keep_result(tuner, winner, out) : SLR_OK;
}

// ---- a problem -----------------------------------------------------------------------------------------------------

// Other macros are read from the file as it is now.
static slr_status check_source(struct slri_tuner *tuner)
{
    slr_program *program = tuner->kernel->program, *again;
    if (!program->source || program->source->text)
        return SLR_OK;
    SLRI_TRY(slri_tuned_variant(program, "", &again));
    bool is_same =
        memcmp(again->module->source_hash, program->module->source_hash, sizeof program->module->source_hash) == 0;
    slr_program_destroy(again);
    return is_same ? SLR_OK
                   : SLRI_FAIL(WRONG_STATE, "'%s' has changed since it was loaded; load it again to tune it",
                               program->source->path);
}

// A macro whose definition is not within #ifndef keeps its value: no candidate with another one compiles. Candidates
// that do not compile for other reasons are left out, as those that `require` forbids.
static slr_status check_macros(const struct slri_tuner *tuner)
{
    for (uint32_t i = 0; i < tuner->macros; i++) {
        int64_t other = tuner->value[i][tuner->value[i][0] == tuner->now[i] ? 1 : 0];
        char define[SLRI_TUNED_DEFINES_BYTES], refusal[SLRI_TUNED_DEFINES_BYTES];
        bool is_allowed;
        snprintf(define, sizeof define, "%s=%lld", tuner->macro[i], (long long)other);
        snprintf(refusal, sizeof refusal, "macro '%s' is defined as something else", tuner->macro[i]);
        if (tuner->space.size[i] > 1 && slri_tuned_is_allowed(tuner->kernel->program, define, &is_allowed) != SLR_OK &&
            strstr(slr_error_message(), refusal))
            return SLRI_FAIL(COMPILE, "the tunable macro %s cannot get another value: put its #define into #ifndef %s",
                             tuner->macro[i], tuner->macro[i]);
    }
    return SLR_OK;
}

static slr_status run_search(struct slri_tuner *tuner)
{
    const struct slri_search_desc search = {.space = tuner->space,
                                            .strategy = (slr_tune_strategy)tuner->desc->strategy,
                                            .seed = tuner->desc->seed,
                                            .start = tuner->start,
                                            .macros = tuner->macros,
                                            .evaluations = tuner->desc->evaluations,
                                            .user = tuner,
                                            .allows = allows,
                                            .predicts = slri_tuner_predict,
                                            .tries = slri_tuner_try,
                                            .is_over = is_search_over};
    slr_status status = slri_search_run(&search, &tuner->search);
    tuner->search.desc = NULL; // it ends here
    return status;
}

static slr_status tune_one(struct slri_tuner *tuner, slr_tuned *out)
{
    slr_device *device = tuner->kernel->program->device;
    tuner->begun_ns = slri_now_ns();
    SLRI_TRY(check_source(tuner));
    SLRI_TRY(slr_stream_create(device, NULL, &tuner->stream));
    SLRI_TRY(slr_event_create(device, &tuner->from));
    SLRI_TRY(slr_event_create(device, &tuner->to));
    SLRI_TRY(slri_tuner_make_space(tuner));
    SLRI_TRY(check_macros(tuner));
    SLRI_TRY(slri_tuner_save(tuner));
    SLRI_TRY(slri_tuner_begin(tuner));
    SLRI_TRY(run_search(tuner));
    if (tuner->varies)
        return SLRI_FAIL(WRONG_STATE, "%s", tuner->reason);
    SLRI_TRY(conclude(tuner, out));
    out->spent_ns = slri_now_ns() - tuner->begun_ns;
    return SLR_OK;
}

static void end(struct slri_tuner *tuner)
{
    if (tuner->output && tuner->stream)
        (void)slri_tuner_restore(tuner); // as far as that goes after a failure
    for (uint32_t i = 0; i < tuner->contenders; i++)
        slri_tuner_unready(&tuner->contender[i]);
    slri_tuner_unready(&tuner->reference);
    for (uint32_t i = 0; i < SLRI_TUNER_VARIANTS; i++) {
        slr_program_destroy(tuner->variant[i].program);
        slr_program_destroy(tuner->guarded[i].program);
    }
    slri_search_free(&tuner->search);
    if (tuner->output)
        slri_tuner_free_outputs(tuner);
    slr_event_destroy(tuner->from);
    slr_event_destroy(tuner->to);
    slr_stream_destroy(tuner->stream);
    slri_free(NULL, tuner, sizeof *tuner);
}

static slr_status tune_problem(slr_kernel *kernel, const slr_tune_problem *problem, const slr_tune_desc *desc,
                               slr_tuned *out)
{
    if (problem->arg_count != kernel->info.parameter_count || (problem->arg_count && !problem->args))
        return SLRI_FAIL(INVALID, "kernel %s takes %u arguments, but a problem has %u", kernel->info.name,
                         kernel->info.parameter_count, problem->args ? problem->arg_count : 0);
    struct slri_tuner *tuner = slri_alloc(NULL, sizeof *tuner);
    if (!tuner)
        return SLRI_FAIL(NO_MEMORY, "no memory to tune kernel %s", kernel->info.name);
    memset(tuner, 0, sizeof *tuner);
    tuner->kernel = kernel;
    tuner->problem = problem;
    tuner->desc = desc;
    slr_status status = tune_one(tuner, out);
    end(tuner);
    return status;
}

// ---- the call ------------------------------------------------------------------------------------------------------

static slr_status take_desc(const slr_tune_desc *given, slr_tune_desc *desc)
{
    SLRI_TRY(SLRI_TAKE_DESC(slr_tune_desc, desc, given));
    desc->metric = desc->metric ? desc->metric : SLR_TUNE_TIME;
    desc->strategy = desc->strategy ? desc->strategy : SLR_TUNE_MODEL;
    const bool is_energy = slri_tuner_counts_energy(desc);
    desc->repeats = desc->repeats ? desc->repeats : is_energy ? ENERGY_REPEATS : REPEATS;
    desc->budget_ns = desc->budget_ns ? desc->budget_ns : is_energy ? energy_budget_ns : default_budget_ns;
    if (desc->metric > SLR_TUNE_ENERGY || desc->strategy > SLR_TUNE_LOCAL || desc->flags > ALL_FLAGS ||
        desc->repeats > 10000)
        return SLRI_FAIL(INVALID,
                         "slr_tune_desc: metric %u, strategy %u, flags %u, repeats %u; expected a metric, a strategy, "
                         "flags, and at most 10,000",
                         desc->metric, desc->strategy, desc->flags, desc->repeats);
    if (!isfinite(desc->tolerance) || desc->tolerance < 0) // with an infinite one, all finite results would be right
        return SLRI_FAIL(INVALID,
                         "slr_tune_desc.tolerance is %g; give a finite number from 0, such as 1e-5 (0: results must be "
                         "equal bit for bit)",
                         desc->tolerance);
    return SLR_OK;
}

slr_status slr_tune_sized(slr_kernel *kernel, const slr_tune_problem *problems, uint32_t count,
                          const slr_tune_desc *given, slr_tuned *out, size_t bytes)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    slr_tune_desc desc;
    if (!kernel || !problems || !out)
        return SLRI_FAIL(INVALID, "slr_tune: %s is NULL", !kernel ? "kernel" : !problems ? "problems" : "out");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_tuned, bytes)); // before seconds of measuring
    SLRI_TRY(take_desc(given, &desc));
    if (kernel->program->module->raw)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a raw source, which slipring does not read",
                         kernel->program->module->name);
    if (slri_tuner_counts_energy(&desc))
        SLRI_TRY(slri_tuner_find_counter(kernel->program->device));
    for (uint32_t i = 0; i < count; i++) {
        slr_tuned whole;
        SLRI_TRY(tune_problem(kernel, &problems[i], &desc, &whole));
        SLRI_TRY(SLRI_GIVE_REPORT(slr_tuned, (slr_tuned *)((char *)out + i * bytes), bytes, &whole));
    }
    return SLR_OK;
}

slr_status(slr_tune)(slr_kernel *kernel, const slr_tune_problem *problems, uint32_t count, const slr_tune_desc *desc,
                     slr_tuned *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    return slr_tune_sized(kernel, problems, count, desc, out, SLRI_FIRST_slr_tuned);
}

// SPDX-License-Identifier: Apache-2.0
// What the tuning of a kernel came to, for people and as one object.
#include "tune/tune.h"

#include "kernel/kernel.h"
#include "memory.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

const char *tune_state_name(slr_tune_state state)
{
    static const char *const names[] = {[SLR_TUNE_MEASURED] = "measured",
                                        [SLR_TUNE_REFUSED] = "refused",
                                        [SLR_TUNE_WRONG] = "wrong",
                                        [SLR_TUNE_FAILED] = "failed"};
    return names[state];
}

void tune_spell_choice(const char *defines, const slr_shape *shape, bool is_default, char to[TUNE_CHOICE_BYTES])
{
    char width[32] = "", block[64] = "slipring's block"; // which is not known of what does not compile
    if (shape->vector_width > 0)
        snprintf(width, sizeof width, ", vector width %u", shape->vector_width);
    if (shape->block[0] > 0)
        snprintf(block, sizeof block, "block %ux%ux%u", shape->block[0], shape->block[1], shape->block[2]);
    snprintf(to, TUNE_CHOICE_BYTES, "%s%s%s%s%s", is_default ? "default: " : "", defines, *defines != '\0' ? ", " : "",
             block, width);
}

// ---- for people ----------------------------------------------------------------------------------------------------

static int by_cost(const void *a, const void *b)
{
    const tune_tried *x = *(const tune_tried *const *)a, *y = *(const tune_tried *const *)b;
    return (x->cost > y->cost) - (x->cost < y->cost);
}

static void print_best(const tune_options *options, const tune_problem *problem)
{
    const tune_tried **best = memory_take(problem->tried_count + 1, sizeof *best);
    size_t count = 0;
    for (size_t i = 0; i < problem->tried_count; i++)
        if (problem->tried[i].state == SLR_TUNE_MEASURED)
            best[count++] = &problem->tried[i];
    qsort(best, count, sizeof *best, by_cost);
    for (size_t i = 0; i < count && i < options->top; i++) {
        char choice[TUNE_CHOICE_BYTES];
        tune_spell_choice(best[i]->defines, &best[i]->shape, best[i]->is_default, choice);
        say_out("    %12.3f %s  %s\n", best[i]->cost / 1e3, tune_unit(problem->result.metric), choice);
    }
    free(best);
}

static size_t first_line(const char *why)
{
    return strcspn(why, "\n");
}

// Candidates with the same macros that failed for the same reason are one fact. So are wrong ones: which element of the
// result differs first may hang on the block.
static bool is_same_fact(const tune_tried *a, const tune_tried *b)
{
    size_t length = first_line(a->why);
    if (a->state != b->state || strcmp(a->defines, b->defines) != 0)
        return false;
    return a->state == SLR_TUNE_WRONG || (first_line(b->why) == length && strncmp(a->why, b->why, length) == 0);
}

static bool was_said(const tune_problem *problem, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (is_same_fact(&problem->tried[i], &problem->tried[at]))
            return true;
    return false;
}

static void print_thrown_out(const tune_problem *problem)
{
    for (size_t i = 0; i < problem->tried_count; i++) {
        const tune_tried *tried = &problem->tried[i];
        char choice[TUNE_CHOICE_BYTES], more[64] = "";
        size_t alike = 0;
        if (tried->state == SLR_TUNE_MEASURED || was_said(problem, i))
            continue;
        for (size_t k = i + 1; k < problem->tried_count; k++)
            alike += is_same_fact(tried, &problem->tried[k]);
        if (alike > 0)
            snprintf(more, sizeof more, " (and %zu more of its blocks and widths)", alike);
        tune_spell_choice(tried->defines, &tried->shape, tried->is_default, choice);
        say_out("    %s: %s%s: %.*s\n", tune_state_name(tried->state), choice, more, (int)first_line(tried->why),
                tried->why);
    }
}

// Whether another candidate's first samples were faster than the chosen one's.
static bool has_faster(const tune_problem *problem)
{
    const slr_tuned *chosen = &problem->result;
    double least = 0, own = 0;
    for (size_t i = 0; i < problem->tried_count; i++) {
        const tune_tried *tried = &problem->tried[i];
        if (tried->state != SLR_TUNE_MEASURED)
            continue;
        least = least == 0 || tried->cost < least ? tried->cost : least;
        if (strcmp(tried->defines, chosen->defines) == 0 && tried->is_default == (chosen->is_default != 0) &&
            tried->shape.vector_width == chosen->shape.vector_width &&
            memcmp(tried->shape.block, chosen->shape.block, sizeof chosen->shape.block) == 0)
            own = tried->cost;
    }
    return least < own;
}

static void print_tuned(const tune_problem *problem)
{
    const slr_tuned *result = &problem->result;
    char choice[TUNE_CHOICE_BYTES];
    tune_spell_choice(result->defines, &result->shape, result->is_default, choice);
    say_out("  %s\n", choice);
    say_out("  %s%s\n", result->reason, result->is_exact ? "" : " Its results are not the default's bit for bit.");
    const char *unit = tune_unit(result->metric);
    say_out("  default %.3f %s, chosen %.3f %s; %u of %u candidates tried, %u refused, %u wrong, %u failed; %.1f s\n",
            result->default_cost / 1e3, unit, result->cost / 1e3, unit, result->evaluations, result->space,
            result->refused, result->wrong, result->failed, (double)result->spent_ns / 1e9);
}

void tune_print(const tune_options *options, const tune_problem *problem)
{
    char size[KERNEL_SIZE_BYTES];
    kernel_spell_size(problem->size, size);
    say_out("%s %s, by %s:\n", options->name, size, tune_metric_name(problem->result.metric));
    print_tuned(problem);
    const bool is_energy = problem->result.metric == SLR_TUNE_ENERGY;
    say_out("  %s, by their first samples:\n", is_energy ? "the least energy" : "the fastest");
    print_best(options, problem);
    if (has_faster(problem))
        say_out("    The %s ones above lost the contest that followed: measured again in turn with the default, "
                "none was\n"
                "    proven %s than the choice.\n",
                is_energy ? "cheaper" : "faster", is_energy ? "cheaper" : "faster");
    print_thrown_out(problem);
}

// ---- as JSON -------------------------------------------------------------------------------------------------------

static json_t *three_json(uint64_t x, uint64_t y, uint64_t z)
{
    return json_pack("[I, I, I]", (json_int_t)x, (json_int_t)y, (json_int_t)z);
}

static json_t *tried_json(const tune_tried *tried, bool is_energy)
{
    json_t *object = json_pack("{s:s, s:b, s:o, s:o, s:i}", "state", tune_state_name(tried->state), "default",
                               (int)tried->is_default, "defines", kernel_text(tried->defines), "block",
                               three_json(tried->shape.block[0], tried->shape.block[1], tried->shape.block[2]),
                               "vector_width", (int)tried->shape.vector_width);
    if (tried->state == SLR_TUNE_MEASURED)
        json_object_set_new(object, is_energy ? "mj" : "ns", json_real(is_energy ? tried->cost / 1e3 : tried->cost));
    else
        json_object_set_new(object, "why", kernel_text(tried->why));
    if (tried->predicted > 0)
        json_object_set_new(object, "predicted", json_real(tried->predicted));
    return object;
}

static json_t *problem_json(const tune_problem *problem)
{
    const slr_tuned *r = &problem->result;
    json_t *tried = json_array();
    const bool is_energy = r->metric == SLR_TUNE_ENERGY;
    const double unit = is_energy ? 1e3 : 1; // mJ, or ns
    for (size_t i = 0; i < problem->tried_count; i++)
        json_array_append_new(tried, tried_json(&problem->tried[i], is_energy));
    json_t *object = json_pack(
        "{s:o, s:o, s:o, s:o, s:i, s:b, s:b, s:f, s:f, s:f, s:f, s:f}", "size",
        three_json(problem->size[0], problem->size[1], problem->size[2]), "defines", kernel_text(r->defines), "block",
        three_json(r->shape.block[0], r->shape.block[1], r->shape.block[2]), "grid",
        three_json(r->shape.grid[0], r->shape.grid[1], r->shape.grid[2]), "vector_width", (int)r->shape.vector_width,
        "default", (int)r->is_default, "exact", (int)r->is_exact, is_energy ? "default_mj" : "default_ns",
        r->default_cost / unit, is_energy ? "tuned_mj" : "tuned_ns", r->cost / unit, "speedup", r->speedup,
        "speedup_low", r->speedup_low, "speedup_high", r->speedup_high);
    json_t *more =
        json_pack("{s:i, s:i, s:i, s:i, s:i, s:I, s:o, s:o}", "space", (int)r->space, "evaluations",
                  (int)r->evaluations, "refused", (int)r->refused, "wrong", (int)r->wrong, "failed", (int)r->failed,
                  "spent_ns", (json_int_t)r->spent_ns, "reason", kernel_text(r->reason), "tried", tried);
    json_object_update(object, more);
    json_decref(more);
    return object;
}

json_t *tune_json(const tune_options *options, const char *device)
{
    json_t *problems = json_array();
    for (uint32_t i = 0; i < options->problem_count; i++)
        json_array_append_new(problems, problem_json(&options->problems[i]));
    return json_pack("{s:o, s:o, s:o, s:s, s:s, s:o}", "file", kernel_text(options->file), "kernel",
                     kernel_text(options->name), "device", kernel_text(device), "metric",
                     tune_metric_name(options->problems[0].result.metric), "strategy",
                     tune_strategy_name(options->desc.strategy), "problems", problems);
}

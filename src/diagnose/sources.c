// SPDX-License-Identifier: Apache-2.0
// The busiest kernels once more, where their files are still there: checked in the interpreter, with arguments that the
// checker invents, and asked about on the device. What cannot be read or checked gives no finding.
#include "check/findings.h"
#include "diagnose/rules.h"

#include <stdio.h>
#include <string.h>

#define BUSY_TENTHS 1u
#define STEPS 20000000u
#define MEMORY (UINT64_C(1) << 28)

// ---- what the checker says -----------------------------------------------------------------------------------------

static void keep_finding(const struct slri_finding *finding, struct slri_inspection *out)
{
    static const uint32_t codes[] = {[SLRI_STRIDED] = 60, [SLRI_BANKS] = 61, [SLRI_DIVERGENT] = 62};
    for (uint32_t kind = 0; kind < SLRI_SOURCE_FINDINGS; ++kind) {
        if (finding->code != codes[kind] || out->finding[kind].is_there)
            continue;
        out->finding[kind].is_there = true;
        out->finding[kind].line = finding->at.line;
        snprintf(out->finding[kind].text, sizeof out->finding[kind].text, "%s", finding->message);
        out->finding[kind].measure = finding->measure; // static
        out->finding[kind].figure = finding->figure;
        out->finding[kind].limit = finding->limit;
    }
}

static void check_source(slr_kernel *kernel, struct slri_inspection *out)
{
    slr_check *check;
    const struct slri_finding *finding;
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.steps = STEPS;
    desc.memory_bytes = MEMORY;
    if (slr_kernel_check(kernel, &desc, &check) != SLR_OK)
        return;
    for (uint32_t i = 0; (finding = slri_check_finding_at(check, i)) != NULL; ++i)
        keep_finding(finding, out);
    slr_check_destroy(check);
}

// Blocks of all launches are taken as alike, and as a row of threads: only their number counts.
static void ask_occupancy(slr_kernel *kernel, const slr_profile_row *row, struct slri_inspection *out)
{
    if (row->blocks == 0)
        return;
    uint32_t block = (uint32_t)(row->threads / row->blocks);
    if (slr_kernel_get_occupancy(kernel, SLR_1D_BLOCKS(row->threads / row->n, block), &out->occupancy) != SLR_OK)
        out->occupancy = (slr_kernel_occupancy){0};
}

void slri_inspect(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows && d->inspected < SLRI_INSPECTED; ++i) {
        const slr_profile_row *row = &d->row[i];
        slr_kernel *kernel;
        if (row->kind != SLR_PROFILE_KERNEL || *row->file == '\0' || row->n == 0 ||
            10 * row->total_ns < BUSY_TENTHS * d->total[SLR_PROFILE_KERNEL].total_ns)
            continue;
        struct slri_inspection *inspection = &d->inspection[d->inspected++];
        inspection->row = row;
        if (slr_kernel_load(d->device, row->file, row->name, &kernel) != SLR_OK)
            continue;
        check_source(kernel, inspection);
        ask_occupancy(kernel, row, inspection);
        slr_kernel_destroy(kernel);
    }
}

// ---- the rules -----------------------------------------------------------------------------------------------------

struct source_rule {
    enum slri_source_finding kind;
    struct slri_verdict verdict;
    const char *remedy;
};

static void give_finding(struct slri_diagnosing *d, const struct source_rule *rule)
{
    for (uint32_t i = 0; i < d->inspected; ++i) {
        const struct slri_inspection *found = &d->inspection[i];
        if (!found->finding[rule->kind].is_there)
            continue;
        struct slri_verdict verdict = rule->verdict;
        verdict.measure = found->finding[rule->kind].measure;
        verdict.figure = found->finding[rule->kind].figure;
        verdict.limit = found->finding[rule->kind].limit;
        verdict.file = found->row->file;
        verdict.line = found->finding[rule->kind].line;
        slri_diagnosis_give(d, &verdict, "'%s' has %.0f %% of the kernels' time, and on line %u %s. %s",
                            found->row->name,
                            slri_percent((double)found->row->total_ns, (double)d->total[SLR_PROFILE_KERNEL].total_ns),
                            verdict.line, found->finding[rule->kind].text, rule->remedy);
        return;
    }
}

void slri_rule_strided(struct slri_diagnosing *d)
{
    static const struct source_rule rule = {
        SLRI_STRIDED,
        {.bottleneck = SLR_BOTTLENECK_STRIDED,
         .change = "y[i] = f(x[i]); // i = blockIdx.x * blockDim.x + threadIdx.x, without a factor"},
        "Let neighbouring threads access neighbouring elements; load neighbours of one thread as float4; use "
        "a tile in shared memory for a transpose."};
    give_finding(d, &rule);
}

void slri_rule_banks(struct slri_diagnosing *d)
{
    static const struct source_rule rule = {
        SLRI_BANKS,
        {.bottleneck = SLR_BOTTLENECK_BANKS, .change = "__shared__ float tile[32][32 + 1];"},
        "Pad the rows of the shared array by one element."};
    give_finding(d, &rule);
}

void slri_rule_divergence(struct slri_diagnosing *d)
{
    static const struct source_rule rule = {
        SLRI_DIVERGENT,
        {.bottleneck = SLR_BOTTLENECK_DIVERGENCE,
         .change = "v = condition ? a : b; // or: -D SLIPRING_SELECT=1, for all short branches"},
        "Write short sides as a select (x = c ? a : b; -D SLIPRING_SELECT=1 does it for all), sort the work "
        "so that neighbours agree, or branch "
        "on threadIdx.x / 32."};
    give_finding(d, &rule);
}

#define HALF 0.5

void slri_rule_occupancy(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->inspected; ++i) {
        const struct slri_inspection *found = &d->inspection[i];
        const slr_kernel_occupancy *o = &found->occupancy;
        if (o->source == 0 || o->source == SLR_OCCUPANCY_UNKNOWN || o->theoretical >= HALF)
            continue;
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_OCCUPANCY,
                                             .figure = o->theoretical,
                                             .limit = HALF,
                                             .measure = "occupancy",
                                             .change = "SLR_LAUNCH(stream, kernel, SLR_1D(n), ...);",
                                             .file = found->row->file};
        slri_diagnosis_give(
            d, &verdict,
            "'%s' has %.0f %% of the kernels' time, and with blocks of %u threads its occupancy is %.0f %%: %s. "
            "Launch with SLR_1D(n), which chooses the block, or as 'slipring kernel suggest' says.",
            found->row->name, slri_percent((double)found->row->total_ns, (double)d->total[SLR_PROFILE_KERNEL].total_ns),
            o->block_threads, 100 * o->theoretical, o->why);
        return;
    }
}

// Of kernels that memory bounds: what few of them reach of computing's roof says less, for it needs all lanes at work.
#define LOW_ROOF 0.2

static bool is_far_below(const struct slri_diagnosing *d, const slr_profile_row *row)
{
    slr_roofline roof = slri_row_roofline(d, row);
    return row->kind == SLR_PROFILE_KERNEL && row->counted >= SLR_COUNTED_SAMPLED && !slri_row_is_short(row) &&
           roof.bound == SLR_BOUND_MEMORY && roof.reached < LOW_ROOF &&
           4 * row->total_ns >= d->total[SLR_PROFILE_KERNEL].total_ns;
}

void slri_rule_roof(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (!is_far_below(d, row))
            continue;
        const double reached = slri_row_roofline(d, row).reached;
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_ROOF,
                                             .figure = reached,
                                             .limit = LOW_ROOF,
                                             .measure = "rate / the memory's peak",
                                             .change = "__shared__ float tile[32][33]; // read rows, write rows",
                                             .file = row->file,
                                             .line = row->lines[0].line};
        slri_diagnosis_give(
            d, &verdict,
            "'%s' moves %.2f GB/s, %.0f %% of the memory's peak here, in %.2f ms. Neighbouring threads should access "
            "neighbouring addresses (coalesced access). For patterns such as a transpose use shared memory. 'slipring "
            "kernel check' shows slow accesses by line.",
            row->name, row->bytes_per_second / 1e9, 100 * reached, slri_milliseconds(row->total_ns));
        return;
    }
}

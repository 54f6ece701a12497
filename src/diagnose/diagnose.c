// SPDX-License-Identifier: Apache-2.0
// The public calls: a profile's figures in, the findings of all rules out.
#include "base/sized.h"
#include "base/status.h"
#include "diagnose/rules.h"
#include "observe/observe.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FEW_INSTRUCTIONS 20000.0 // of a launch
#define SHORT_NS 10000           // of a kernel of which the work is not known

const char *slr_bottleneck_name(uint32_t bottleneck)
{
    static const char *const names[] = {
        [SLR_BOTTLENECK_TRANSFERS] = "transfer-bound",
        [SLR_BOTTLENECK_TRANSFERS_IN_LOOP] = "transfers in a loop",
        [SLR_BOTTLENECK_UNPINNED] = "unpinned transfers",
        [SLR_BOTTLENECK_LAUNCHES] = "launch-bound",
        [SLR_BOTTLENECK_LAUNCH_LOOP] = "tight launch loop",
        [SLR_BOTTLENECK_APART] = "kernels that could be one",
        [SLR_BOTTLENECK_FEW_BLOCKS] = "low utilisation",
        [SLR_BOTTLENECK_QUEUE_SMALL] = "queue too small",
        [SLR_BOTTLENECK_QUEUE_LARGE] = "queue too large",
        [SLR_BOTTLENECK_STALLS] = "synchronisation stalls",
        [SLR_BOTTLENECK_ALLOCATION] = "allocation in a loop",
        [SLR_BOTTLENECK_IDLE] = "device idle",
        [SLR_BOTTLENECK_OVERSUBSCRIBED] = "oversubscription",
        [SLR_BOTTLENECK_CONTENTION] = "contention",
        [SLR_BOTTLENECK_COMPILING] = "compiling",
        [SLR_BOTTLENECK_FRAGMENTED] = "fragmented heap",
        [SLR_BOTTLENECK_STRIDED] = "strided access",
        [SLR_BOTTLENECK_BANKS] = "bank conflicts",
        [SLR_BOTTLENECK_DIVERGENCE] = "divergence",
        [SLR_BOTTLENECK_OCCUPANCY] = "low occupancy",
        [SLR_BOTTLENECK_ROOF] = "far from its roof",
        [SLR_BOTTLENECK_UNSCALED] = "missing loss scaling",
        [SLR_BOTTLENECK_DETERMINISTIC] = "deterministic mode without reason",
    };
    return bottleneck < sizeof names / sizeof *names ? names[bottleneck] : NULL;
}

double slri_milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

double slri_ratio(double part, double all)
{
    return all > 0 ? part / all : 0;
}

double slri_percent(double part, double all)
{
    return 100 * slri_ratio(part, all);
}

bool slri_row_is_short(const slr_profile_row *row)
{
    return row->counted != SLR_COUNTED_NOT ? (double)row->instructions < FEW_INSTRUCTIONS * (double)row->n
                                           : row->p50_ns < SHORT_NS;
}

slr_roofline slri_row_roofline(const struct slri_diagnosing *d, const slr_profile_row *row)
{
    return d->has_ceilings && strcmp(row->device, d->name) == 0 ? slr_profile_roofline(row, &d->ceilings)
                                                                : (slr_roofline){0};
}

static bool is_caller(const slr_profile_row *row, const char *what)
{
    return row->kind == SLR_PROFILE_CALLER && *row->file != '\0' && strcmp(row->name, what) == 0;
}

const slr_profile_row *slri_caller_of(const struct slri_diagnosing *d, const char *what)
{
    const slr_profile_row *most = NULL;
    for (uint32_t i = 0; i < d->rows; ++i)
        if (is_caller(&d->row[i], what) && (!most || d->row[i].n > most->n))
            most = &d->row[i];
    return most;
}

const slr_profile_row *slri_slowest_caller_of(const struct slri_diagnosing *d, const char *what, const char *or_what)
{
    const slr_profile_row *most = NULL;
    for (uint32_t i = 0; i < d->rows; ++i)
        if ((is_caller(&d->row[i], what) || is_caller(&d->row[i], or_what)) &&
            (!most || d->row[i].total_ns > most->total_ns))
            most = &d->row[i];
    return most;
}

void slri_diagnosis_give(struct slri_diagnosing *d, const struct slri_verdict *verdict, const char *format, ...)
{
    slr_diagnosis told = {
        .bottleneck = verdict->bottleneck, .line = verdict->line, .figure = verdict->figure, .limit = verdict->limit};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(told.text, sizeof told.text, format, arguments);
    va_end(arguments);
    snprintf(told.name, sizeof told.name, "%s", slr_bottleneck_name(verdict->bottleneck));
    snprintf(told.measure, sizeof told.measure, "%s", verdict->measure);
    snprintf(told.change, sizeof told.change, "%s", verdict->change);
    const slr_profile_row *caller = verdict->caller;
    const char *file = caller ? caller->file : verdict->file ? verdict->file : "";
    snprintf(told.file, sizeof told.file, "%s", file);
    if (caller) {
        told.line = caller->lines[0].line;
        told.offset = caller->offset;
    }
    if (d->count < d->most)
        memcpy(d->out + d->count * d->out_bytes, &told, d->out_bytes);
    ++d->count;
}

// ---- figures -------------------------------------------------------------------------------------------------------

// Rows of a program with earlier headers are shorter.
static slr_status take_given(const slr_diagnose_desc *desc, slr_profile_row **out)
{
    SLRI_TRY(SLRI_CHECK_REPORT(slr_profile_row, desc->row_bytes));
    *out = calloc(desc->row_count + (size_t)1, sizeof **out);
    if (!*out)
        return SLRI_FAIL(NO_MEMORY, "no memory to diagnose %u rows", desc->row_count);
    for (uint32_t i = 0; i < desc->row_count; ++i) {
        slr_profile_row *row = &(*out)[i];
        memcpy(row, (const char *)desc->rows + (size_t)i * desc->row_bytes, desc->row_bytes);
        row->name = row->name ? row->name : "";
        row->device = row->device ? row->device : "";
        row->file = row->file ? row->file : "";
    }
    return SLR_OK;
}

static slr_status take_rows(const slr_diagnose_desc *desc, slr_profile_row **out, uint32_t *count)
{
    *count = desc->row_count;
    if (desc->rows)
        return take_given(desc, out);
    if (desc->row_count != 0)
        return SLRI_FAIL(INVALID, "slr_diagnose: rows is NULL, and row_count is %u", desc->row_count);
    SLRI_TRY(slr_profile_read(NULL, 0, count));
    const uint32_t room = *count + 1;
    *out = calloc(room, sizeof **out);
    if (!*out)
        return SLRI_FAIL(NO_MEMORY, "no memory to diagnose %u rows", *count);
    SLRI_TRY(slr_profile_read(*out, room, count));
    *count = *count < room ? *count : room;
    return SLR_OK;
}

static void add_up(struct slri_diagnosing *d)
{
    uint64_t most = 0;
    d->name = "";
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        const uint32_t kind = row->kind;
        if (kind >= SLRI_ROW_KINDS)
            continue;
        d->total[kind].n += row->n;
        d->total[kind].total_ns += row->total_ns;
        d->total[kind].bytes += row->bytes;
        if (kind == SLR_PROFILE_UPLOAD || kind == SLR_PROFILE_DOWNLOAD)
            d->pinned_bytes += row->pinned_bytes;
        bool is_work = kind <= SLR_PROFILE_CALL || kind == SLR_PROFILE_MESSAGE || kind == SLR_PROFILE_BATCH;
        if (is_work && *row->device && row->total_ns > most) {
            most = row->total_ns;
            d->name = row->device;
        }
    }
}

// Without a trace what kernels, copies and batches took together: no less than their union.
static uint64_t most_busy(const struct slri_diagnosing *d, uint64_t span_ns)
{
    static const uint32_t kinds[] = {SLR_PROFILE_KERNEL, SLR_PROFILE_UPLOAD, SLR_PROFILE_DOWNLOAD,
                                     SLR_PROFILE_COPY,   SLR_PROFILE_FILL,   SLR_PROFILE_BATCH};
    uint64_t ns = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
        ns += d->total[kinds[i]].total_ns;
    return ns < span_ns ? ns : span_ns;
}

static slr_status take_timeline(const slr_diagnose_desc *desc, struct slri_diagnosing *d)
{
    SLRI_TRY(SLRI_TAKE_DESC(slr_timeline, &d->timeline, desc->timeline));
    if (!desc->timeline && !desc->rows) {
        d->timeline.span_ns = slri_profile_span_ns();
        d->timeline.busy_ns = most_busy(d, d->timeline.span_ns);
    }
    return SLR_OK;
}

static void take_ceilings(const slr_diagnose_desc *desc, struct slri_diagnosing *d)
{
    d->has_ceilings = desc->ceilings || (*d->name && slri_ceilings_find(d->name, &d->ceilings));
    if (desc->ceilings) { // the fields of the first version alone are read
        d->ceilings.bytes_per_second = desc->ceilings->bytes_per_second;
        d->ceilings.flops_per_second = desc->ceilings->flops_per_second;
        d->ceilings.flops64_per_second = desc->ceilings->flops64_per_second;
        d->ceilings.launch_ns = desc->ceilings->launch_ns;
    }
}

// ---- the call ------------------------------------------------------------------------------------------------------

static void run_rules(struct slri_diagnosing *d)
{
    static slri_rule *const rules[] = {slri_rule_transfers,      slri_rule_transfers_in_loop, slri_rule_unpinned,
                                       slri_rule_launches,       slri_rule_launch_loop,       slri_rule_apart,
                                       slri_rule_few_blocks,     slri_rule_queue_small,       slri_rule_queue_large,
                                       slri_rule_stalls,         slri_rule_allocation,        slri_rule_idle,
                                       slri_rule_oversubscribed, slri_rule_contention,        slri_rule_compiling,
                                       slri_rule_fragmented,     slri_rule_strided,           slri_rule_banks,
                                       slri_rule_divergence,     slri_rule_occupancy,         slri_rule_roof,
                                       slri_rule_unscaled,       slri_rule_deterministic};
    _Static_assert(sizeof rules / sizeof *rules == SLR_BOTTLENECKS, "a rule for each bottleneck");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
        rules[i](d);
}

static slr_status diagnose(const slr_diagnose_desc *desc, struct slri_diagnosing *d)
{
    slr_device_info info;
    add_up(d);
    SLRI_TRY(take_timeline(desc, d));
    take_ceilings(desc, d);
    d->device = desc->device;
    if (d->device) {
        SLRI_TRY(slr_device_get_info(d->device, &info));
        d->workers = info.workers;
        if (!desc->no_sources)
            slri_inspect(d);
    }
    run_rules(d);
    return SLR_OK;
}

slr_status slr_diagnose_sized(const slr_diagnose_desc *desc, slr_diagnosis *out, size_t bytes, uint32_t most,
                              uint32_t *count)
{
    slr_diagnose_desc whole;
    slr_profile_row *rows = NULL;
    uint32_t held;
    if (!count || (!out && most != 0))
        return SLRI_FAIL(INVALID, "slr_diagnose: %s is NULL", count ? "out" : "count");
    SLRI_TRY(SLRI_TAKE_DESC(slr_diagnose_desc, &whole, desc));
    SLRI_TRY(SLRI_CHECK_REPORT(slr_diagnosis, bytes));
    slr_status status = take_rows(&whole, &rows, &held);
    struct slri_diagnosing d = {
        .row = rows, .rows = held, .out = (unsigned char *)out, .out_bytes = bytes, .most = most};
    if (status == SLR_OK)
        status = diagnose(&whole, &d);
    if (status == SLR_OK)
        *count = d.count;
    free(rows);
    return status;
}

slr_status(slr_diagnose)(const slr_diagnose_desc *desc, slr_diagnosis *out, uint32_t most, uint32_t *count)
{
    return slr_diagnose_sized(desc, out, SLRI_FIRST_slr_diagnosis, most, count);
}

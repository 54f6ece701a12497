// SPDX-License-Identifier: Apache-2.0
// The profiler's calls, and its rows as a file.
#include "base/clock.h"
#include "base/forks.h"
#include "base/output.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "observe/names.h"
#include "observe/observe.h"
#include "observe/trace.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// How long rows have been counted.
static slri_mutex span_lock = SLRI_MUTEX_INIT;
static uint64_t since_ns, before_ns; // of now, 0: it is off; of earlier times
SLRI_RENEW_IN_CHILD(renew_span_lock, &span_lock, NULL)

static void span_turn(bool on, bool clears)
{
    slri_mutex_lock(&span_lock);
    uint64_t now_ns = slri_now_ns();
    if (since_ns != 0)
        before_ns += now_ns - since_ns;
    if (clears)
        before_ns = 0;
    since_ns = on ? now_ns : 0;
    slri_mutex_unlock(&span_lock);
}

uint64_t slri_profile_span_ns(void)
{
    slri_mutex_lock(&span_lock);
    uint64_t ns = before_ns + (since_ns != 0 ? slri_now_ns() - since_ns : 0);
    slri_mutex_unlock(&span_lock);
    return ns;
}

static bool is_profiling(void)
{
    return (__atomic_load_n(&slri_observed, __ATOMIC_RELAXED) & SLRI_OBSERVE_PROFILE) != 0; // a hint
}

slr_status slr_profile_start(void)
{
    slri_observe_watch(SLRI_OBSERVE_PROFILE, true);
    span_turn(true, false);
    return SLR_OK;
}

void slr_profile_stop(void)
{
    slri_observe_watch(SLRI_OBSERVE_PROFILE, false);
    span_turn(false, false);
}

void slr_profile_clear(void)
{
    slri_rows_clear();
    span_turn(is_profiling(), true);
}

const char *slr_profile_kind_name(uint32_t kind)
{
    static const char *const names[] = {
        [SLR_PROFILE_KERNEL] = "kernel",
        [SLR_PROFILE_UPLOAD] = "upload",
        [SLR_PROFILE_DOWNLOAD] = "download",
        [SLR_PROFILE_COPY] = "copy",
        [SLR_PROFILE_FILL] = "fill",
        [SLR_PROFILE_CALL] = "call",
        [SLR_PROFILE_WAIT] = "wait",
        [SLR_PROFILE_COMPILE] = "compile",
        [SLR_PROFILE_LOAD] = "load",
        [SLR_PROFILE_REGION] = "region",
        [SLR_PROFILE_MESSAGE] = "message",
        [SLR_PROFILE_FULL] = "full",
        [SLR_PROFILE_MEMORY] = "memory",
        [SLR_PROFILE_BATCH] = "batch",
        [SLR_PROFILE_OWNER] = "owner",
        [SLR_PROFILE_REPLY] = "reply",
        [SLR_PROFILE_FRAGMENTED] = "fragmented",
        [SLR_PROFILE_CALLER] = "caller",
        [SLR_PROFILE_ALGORITHM] = "algorithm",
        [SLR_PROFILE_KEPT_OUT] = "kept out",
        [SLR_PROFILE_MISSING] = "missing",
        [SLR_PROFILE_UNTIMED] = "untimed",
    };
    return kind < sizeof names / sizeof *names ? names[kind] : NULL;
}

// ---- reading -------------------------------------------------------------------------------------------------------

// The program's array, whose rows are as long as in the program's headers.
struct places {
    unsigned char *row;
    size_t bytes;
    uint32_t most;
};

static uint64_t time_at(const struct places *places, uint32_t index)
{
    uint64_t total_ns;
    memcpy(&total_ns, places->row + index * places->bytes + offsetof(slr_profile_row, total_ns), sizeof total_ns);
    return total_ns;
}

// Puts a row into its place by falling time, where there is one.
static void insert(struct places *to, uint32_t held, const slr_profile_row *row)
{
    uint32_t at = held < to->most ? held : to->most;
    if (at == to->most && (at == 0 || time_at(to, at - 1) >= row->total_ns))
        return;
    if (at == to->most)
        --at;
    for (; at > 0 && time_at(to, at - 1) < row->total_ns; --at)
        memcpy(to->row + at * to->bytes, to->row + (at - 1) * to->bytes, to->bytes);
    memcpy(to->row + at * to->bytes, row, to->bytes);
}

slr_status slr_profile_read_sized(slr_profile_row *out, size_t row_bytes, uint32_t most, uint32_t *count)
{
    struct places to = {(unsigned char *)out, row_bytes, most};
    uint32_t held = 0;
    if (!count || (!out && most != 0))
        return SLRI_FAIL(INVALID, "slr_profile_read: %s is NULL", count ? "out" : "count");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_profile_row, row_bytes));
    for (struct slri_row *row = slri_rows(); row; row = row->next) {
        slr_profile_row read;
        slri_row_read(row, &read);
        if (read.n != 0)
            insert(&to, held++, &read);
    }
    *count = held;
    return SLR_OK;
}

slr_status(slr_profile_read)(slr_profile_row *out, uint32_t most, uint32_t *count)
{
    return slr_profile_read_sized(out, SLRI_FIRST_slr_profile_row, most, count);
}

// ---- roofline ------------------------------------------------------------------------------------------------------

// Reads fields of version 0.1 only: the program's row and ceilings may be of an earlier version than the library.
slr_roofline slr_profile_roofline(const slr_profile_row *row, const slr_ceilings *ceilings)
{
    slr_ceilings found;
    if (!row || row->kind != SLR_PROFILE_KERNEL || row->counted == SLR_COUNTED_NOT || row->total_ns == 0 ||
        (row->bytes == 0 && row->flops_per_second == 0))
        return (slr_roofline){0};
    if (!ceilings && slri_ceilings_find(row->device, &found))
        ceilings = &found;
    if (!ceilings || !(ceilings->bytes_per_second > 0) || !(ceilings->flops_per_second > 0) ||
        !(ceilings->flops64_per_second > 0))
        return (slr_roofline){0};
    // The least times that its bytes and its operations can take; the longer one bounds it.
    double bytes_s = (double)row->bytes / ceilings->bytes_per_second;
    double flops_s =
        (double)row->flops / ceilings->flops_per_second + (double)row->flops64 / ceilings->flops64_per_second;
    double least_s = bytes_s > flops_s ? bytes_s : flops_s;
    return (slr_roofline){.bound = bytes_s >= flops_s ? SLR_BOUND_MEMORY : SLR_BOUND_COMPUTE,
                          .reached = least_s * 1e9 / (double)row->total_ns};
}

// ---- the file ------------------------------------------------------------------------------------------------------

static void put_lines(slri_text *text, const slr_profile_row *row)
{
    slri_text_printf(text, ", \"file\": \"%s\", \"lines\": [", slri_name_json(slri_name(row->file)));
    for (uint32_t i = 0; i < SLR_PROFILE_LINES && row->lines[i].line != 0; ++i)
        slri_text_printf(text, "%s{\"line\": %u, \"ppm\": %u}", i ? ", " : "", row->lines[i].line,
                         (unsigned)((double)row->lines[i].share * 1e6)); // whole: the decimal point is the locale's
    slri_text_puts(text, "]");
}

// What is counted in the intermediate form: of kernels' launches, and of handlers' calls.
static void put_work(slri_text *text, const slr_profile_row *row)
{
    static const char *const counted[] = {"not", "at most", "sampled", "exact"};
    slri_text_printf(text,
                     ", \"counted\": \"%s\", \"threads\": %llu, \"blocks\": %llu, \"flops\": %llu, \"flops64\": %llu, "
                     "\"instructions\": %llu",
                     counted[row->counted], (unsigned long long)row->threads, (unsigned long long)row->blocks,
                     (unsigned long long)row->flops, (unsigned long long)row->flops64,
                     (unsigned long long)row->instructions);
    put_lines(text, row);
}

static void put_row(slri_text *text, const slr_profile_row *row, bool first)
{
    // A name is in the table, which has it escaped too.
    slri_text_printf(text, "%s\n  {\"kind\": \"%s\", \"name\": \"%s\", \"device\": \"%s\"", first ? "" : ",",
                     slr_profile_kind_name(row->kind), slri_name_json(slri_name(row->name)),
                     slri_name_json(slri_name(row->device)));
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {
        {"n", row->n},           {"total_ns", row->total_ns}, {"min_ns", row->min_ns}, {"mean_ns", row->mean_ns},
        {"p50_ns", row->p50_ns}, {"p95_ns", row->p95_ns},     {"p99_ns", row->p99_ns}, {"max_ns", row->max_ns},
        {"bytes", row->bytes}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        slri_text_printf(text, ", \"%s\": %llu", numbers[i].name, (unsigned long long)numbers[i].value);
    if (row->messages != 0)
        slri_text_printf(text, ", \"messages\": %llu", (unsigned long long)row->messages);
    if (row->pinned_bytes != 0)
        slri_text_printf(text, ", \"pinned_bytes\": %llu", (unsigned long long)row->pinned_bytes);
    if (row->kind >= SLR_PROFILE_CALLER) {
        slri_text_printf(text, ", \"offset\": %llu", (unsigned long long)row->offset);
        put_lines(text, row);
    }
    if (row->kind == SLR_PROFILE_KERNEL || row->kind == SLR_PROFILE_BATCH)
        put_work(text, row);
    slri_text_puts(text, "}");
}

static slr_status read_all(slr_profile_row **out, uint32_t *count)
{
    uint32_t held;
    slr_profile_row *rows = malloc(SLRI_ROWS * sizeof *rows);
    if (!rows)
        return SLRI_FAIL(NO_MEMORY, "no memory to read the profile");
    slr_profile_read(rows, SLRI_ROWS, &held);
    *out = rows;
    *count = held < SLRI_ROWS ? held : SLRI_ROWS;
    return SLR_OK;
}

static slr_status write_rows(const char *path, const slr_profile_row *rows, uint32_t count)
{
    slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, "{\"version\": 1, \"rows\": [");
    for (uint32_t i = 0; i < count; ++i)
        put_row(&text, &rows[i], i == 0);
    slri_text_puts(&text, "]}\n");
    slr_status status = text.out_of_memory ? SLRI_FAIL(NO_MEMORY, "no memory to write the profile")
                                           : slri_output_write(path, text.data, text.length);
    slri_text_free(&text);
    return status;
}

slr_status slr_profile_write(const char *path)
{
    slr_profile_row *rows;
    uint32_t count;
    char *name;
    if (!path || *path == '\0')
        return SLRI_FAIL(INVALID, "slr_profile_write: path is %s", path ? "empty" : "NULL");
    SLRI_TRY(slri_path_of(path, &name));
    slr_status status = read_all(&rows, &count);
    if (status == SLR_OK) {
        status = write_rows(name, rows, count);
        free(rows);
    }
    free(name);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
#include "check/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 500 };

static const struct row {
    unsigned code;
    slr_check_level level;
    const char *name, *advice;
} rows[] = {
#define ROW(number, name, level, text, advice) {number, SLR_CHECK_##level, text, advice},
    SLRI_CHECK_LIST(ROW)
#undef ROW
};

static const struct row *row_of(unsigned code)
{
    const struct row *row = rows;
    while (row->code != code)
        row++;
    return row;
}

slr_check_level slri_check_level(unsigned code)
{
    return row_of(code)->level;
}

const char *slri_check_name(unsigned code)
{
    return row_of(code)->name;
}

const char *slri_check_advice(unsigned code)
{
    return row_of(code)->advice;
}

// ---- one a pair of lines -------------------------------------------------------------------------------------------

static bool same_line(struct slri_where a, struct slri_where b)
{
    return a.file == b.file && a.line == b.line;
}

static int compare_where(struct slri_where a, struct slri_where b)
{
    if (a.file != b.file)
        return a.file < b.file ? -1 : 1;
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return (a.column > b.column) - (a.column < b.column);
}

static struct slri_finding *find_findings(struct slri_findings *all, unsigned code, struct slri_where at,
                                          struct slri_where other)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct slri_finding *one = &all->list[i];
        if (one->code == code && same_line(one->at, at) && same_line(one->other, other))
            return one;
    }
    return NULL;
}

static struct slri_finding *append(struct slri_findings *all)
{
    if (all->count == SLRI_FINDINGS_LIMIT)
        return NULL;
    if (all->count == all->room) {
        uint32_t room = all->room ? all->room * 2 : 16;
        struct slri_finding *list = slri_region_take(all->region, room * sizeof *list);
        if (list == NULL) {
            all->out_of_memory = true;
            return NULL;
        }
        if (all->count > 0)
            memcpy(list, all->list, all->count * sizeof *list);
        all->list = list;
        all->room = room;
    }
    return &all->list[all->count++];
}

bool slri_findings_add(struct slri_findings *all, unsigned code, struct slri_where at,
                       const struct slri_check_thread *by, const struct slri_where *other,
                       const struct slri_check_thread *by_other)
{
    bool is_weak = all->made != 0 && slri_check_level(code) == SLR_CHECK_ERROR;
    struct slri_finding made = {.code = code,
                                .level = is_weak ? SLR_CHECK_WARNING : slri_check_level(code),
                                .made = is_weak ? all->made : 0,
                                .at = at,
                                .by = *by,
                                .count = 1,
                                .launch = all->launch,
                                .launches = 1u << all->launch};
    if (other != NULL) {
        bool other_is_later = compare_where(*other, at) > 0;
        made.at = other_is_later ? *other : at;
        made.by = other_is_later ? *by_other : *by;
        made.other = other_is_later ? at : *other;
        made.by_other = other_is_later ? *by : *by_other;
    }
    all->made = 0;
    struct slri_finding *known = find_findings(all, code, made.at, made.other);
    if (known != NULL) {
        if (made.made == 0 && known->made != 0) { // seen once without doubt
            known->made = 0;
            known->level = slri_check_level(code);
        }
        known->count++;
        known->launches |= 1u << all->launch;
        return false;
    }
    struct slri_finding *to = append(all);
    if (to == NULL)
        return false;
    *to = made;
    return true;
}

void slri_findings_say(struct slri_findings *all, const char *format, ...)
{
    struct slri_finding *finding = &all->list[all->count - 1];
    char text[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    finding->message = slri_region_text(all->region, text, length < MESSAGE_BYTES ? (size_t)length : sizeof text - 1);
    all->out_of_memory |= finding->message == NULL;
}

void slri_findings_measure(struct slri_findings *all, const char *measure, double figure, double limit)
{
    struct slri_finding *finding = &all->list[all->count - 1];
    finding->measure = measure;
    finding->figure = figure;
    finding->limit = limit;
}

// ---- all of them ---------------------------------------------------------------------------------------------------

uint32_t slri_findings_count(const struct slri_findings *all, slr_check_level level)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; i++)
        count += all->list[i].level == level;
    return count;
}

static void weaken(struct slri_findings *all, struct slri_finding *one)
{
    static const char *const with[] = {"zeros", "random values", "the smallest and largest value of each type"};
    char text[MESSAGE_BYTES];
    int length = snprintf(text, sizeof text, "%s (with messages of %s)", one->message, with[one->launch]);
    one->level = SLR_CHECK_WARNING;
    one->message = slri_region_text(all->region, text, length < MESSAGE_BYTES ? (size_t)length : sizeof text - 1);
    all->out_of_memory |= one->message == NULL;
}

void slri_findings_explain(struct slri_findings *all, struct slri_finding *finding, const char *give)
{
    char text[MESSAGE_BYTES];
    if (give == NULL)
        return;
    int length =
        snprintf(text, sizeof text, "%s (perhaps only with generated values: give %s)", finding->message, give);
    finding->give = give;
    finding->message = slri_region_text(all->region, text, length < MESSAGE_BYTES ? (size_t)length : sizeof text - 1);
    all->out_of_memory |= finding->message == NULL;
}

void slri_findings_weigh(struct slri_findings *all, uint32_t launches)
{
    static const unsigned codes[] = {
        SLRI_C_OUTSIDE_BUFFER,   SLRI_C_OUTSIDE_ARRAY,  SLRI_C_MISALIGNED,   SLRI_C_OVERFLOW, SLRI_C_SHIFT,
        SLRI_C_DIVISION_BY_ZERO, SLRI_C_ENDLESS,        SLRI_C_ASSERTION,    SLRI_C_TRAPPED,  SLRI_C_TOO_MANY_SENDS,
        SLRI_C_BARRIER_DIVERGED, SLRI_C_BARRIER_PASSED, SLRI_C_WARP_DIVERGED};
    for (uint32_t i = 0; i < all->count; i++) {
        struct slri_finding *one = &all->list[i];
        for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
            if (one->code == codes[k] && (one->launches & launches) != launches && one->level == SLR_CHECK_ERROR)
                weaken(all, one);
    }
}

static bool is_race(const struct slri_findings *all, const struct slri_finding *harmless)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const struct slri_finding *one = &all->list[i];
        if ((one->code == SLRI_C_RACE_SHARED || one->code == SLRI_C_RACE_GLOBAL) && same_line(one->at, harmless->at) &&
            same_line(one->other, harmless->other))
            return true;
    }
    return false;
}

void slri_findings_drop_harmless(struct slri_findings *all)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].code != SLRI_C_SAME_VALUE || !is_race(all, &all->list[i]))
            all->list[kept++] = all->list[i];
    all->count = kept;
}

static int compare(const void *left, const void *right)
{
    const struct slri_finding *a = left, *b = right;
    int order = compare_where(a->at, b->at);
    return order ? order : a->code != b->code ? (a->code < b->code ? -1 : 1) : compare_where(a->other, b->other);
}

void slri_findings_sort(struct slri_findings *all)
{
    if (all->count > 0)
        qsort(all->list, all->count, sizeof *all->list, compare);
}

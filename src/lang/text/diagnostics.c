// SPDX-License-Identifier: Apache-2.0
// Collects the errors of a run and prints them in source order: place, message, source line, caret, advice, notes.
#include "lang/text/diagnostics.h"

#include "base/printable.h"
#include "base/status.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 400 // names in a message may be any length; the source line below shows them whole
#define SHOWN_BEFORE 80   // of a very long line: bytes kept before the caret, and in all
#define SHOWN_BYTES 160

struct error {
    struct slri_where where;
    unsigned code;
    char message[MESSAGE_BYTES];
    const char *advice; // NULL: the number's own
};

struct slri_report {
    struct error error[SLRI_ERRORS_LIMIT];
    uint32_t errors;
    struct error *last;                                // that slri_report_error was asked for; NULL: it is not kept
    struct slri_where included_from[SLRI_FILES_LIMIT]; // line 0: not included from anywhere
};

static const struct {
    unsigned number;
    const char *advice;
} diagnostics[] = {
#define SLRI_DIAGNOSTIC_ROW(number, name, advice) {number, advice},
    SLRI_DIAGNOSTIC_LIST(SLRI_DIAGNOSTIC_ROW)
#undef SLRI_DIAGNOSTIC_ROW
};

const char *slri_diagnostic_advice(unsigned number)
{
    for (size_t i = 0; i < sizeof diagnostics / sizeof diagnostics[0]; i++)
        if (diagnostics[i].number == number)
            return diagnostics[i].advice;
    return NULL;
}

struct slri_report *slri_report_create(struct slri_region *region)
{
    return slri_region_take(region, sizeof(struct slri_report));
}

void slri_report_included(struct slri_front *front, uint32_t file, struct slri_where where)
{
    if (file < SLRI_FILES_LIMIT)
        front->report->included_from[file] = where;
}

static bool same_place(struct slri_where a, struct slri_where b)
{
    return a.file == b.file && a.line == b.line && a.column == b.column;
}

static bool is_known(const struct slri_report *report, struct slri_where where, unsigned code)
{
    for (uint32_t i = 0; i < report->errors; i++)
        if (report->error[i].code == code && same_place(report->error[i].where, where))
            return true;
    return false;
}

// The message's bytes, but for a character that its end has cut.
static size_t whole_bytes(const char *message, size_t room)
{
    size_t bytes = strlen(message), at = bytes;
    uint32_t code;
    if (bytes + 1 < room)
        return bytes;
    while (at > 0 && bytes - at < 4 && ((unsigned char)message[at - 1] & 0xC0) == 0x80)
        at--;
    at -= at > 0;
    return slri_utf8_bytes(message + at, bytes - at, &code) ? bytes : at;
}

void slri_report_error(struct slri_front *front, struct slri_where where, unsigned code, const char *format, ...)
{
    struct slri_report *report = front->report;
    report->last = NULL;
    if (report->errors == SLRI_ERRORS_LIMIT || is_known(report, where, code))
        return;
    struct error *error = &report->error[report->errors++];
    char message[MESSAGE_BYTES];
    error->where = where;
    error->code = code;
    error->advice = NULL;
    report->last = error;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    slr_text_printable(message, whole_bytes(message, sizeof message), error->message, sizeof error->message);
}

void slri_report_advise(struct slri_front *front, const char *advice)
{
    if (advice && front->report->last)
        front->report->last->advice = advice;
}

uint32_t slri_report_errors(const struct slri_front *front)
{
    return front->report->errors;
}

unsigned slri_report_code(const struct slri_front *front, uint32_t index)
{
    return front->report->error[index].code;
}

struct slri_where slri_report_where(const struct slri_front *front, uint32_t index)
{
    return front->report->error[index].where;
}

const char *slri_report_message(const struct slri_front *front, uint32_t index)
{
    return front->report->error[index].message;
}

void slri_report_drop(struct slri_front *front, uint32_t errors)
{
    front->report->errors = errors;
    front->report->last = NULL;
}

// ---- source order --------------------------------------------------------------------------------------------------

static struct slri_where parent_of(const struct slri_report *report, struct slri_where where)
{
    return where.file < SLRI_FILES_LIMIT ? report->included_from[where.file] : (struct slri_where){0};
}

static unsigned depth_of(const struct slri_report *report, struct slri_where where)
{
    unsigned depth = 0;
    while ((where = parent_of(report, where)).line)
        depth++;
    return depth;
}

static int compare_in_file(struct slri_where a, struct slri_where b)
{
    if (a.file != b.file)
        return a.file < b.file ? -1 : 1;
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return (a.column > b.column) - (a.column < b.column);
}

// An included file stands where its #include does: both places are followed up to a file that they share.
static int compare(const struct slri_report *report, struct slri_where a, struct slri_where b)
{
    unsigned depth_a = depth_of(report, a), depth_b = depth_of(report, b);
    for (; depth_a > depth_b; depth_a--)
        a = parent_of(report, a);
    for (; depth_b > depth_a; depth_b--)
        b = parent_of(report, b);
    for (; depth_a && a.file != b.file; depth_a--) {
        a = parent_of(report, a);
        b = parent_of(report, b);
    }
    return compare_in_file(a, b);
}

// By insertion: at most 20, mostly in order, and errors at one place stay in the order of their passes.
static void sort_errors(struct slri_report *report)
{
    for (uint32_t i = 1; i < report->errors; i++) {
        struct error moved = report->error[i];
        uint32_t to = i;
        for (; to && compare(report, moved.where, report->error[to - 1].where) < 0; to--)
            report->error[to] = report->error[to - 1];
        report->error[to] = moved;
    }
}

// ---- printing ------------------------------------------------------------------------------------------------------

static const char *file_of(const struct slri_front *front, struct slri_where where)
{
    return where.file < front->files ? front->file[where.file] : front->source->path ? front->source->path : "<source>";
}

static const char *line_of(const struct slri_front *front, struct slri_where where)
{
    if (where.file >= front->files || !where.line)
        return NULL;
    const char *line = front->file_text[where.file];
    for (uint32_t i = 1; line && i < where.line; i++) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line;
}

static void put_printable(slri_text *out, const char *text, size_t length)
{
    char shown[4 * SHOWN_BYTES + 1];
    slri_text_append(out, shown, slr_text_printable(text, length, shown, sizeof shown));
}

// Tabs are repeated, so that the caret stands right at any tab width; the second and later bytes of a UTF-8 character
// take no room on the screen, and what is spelled takes more.
static void put_caret(slri_text *out, const char *line, size_t before)
{
    char shown[4 * SHOWN_BYTES + 1];
    size_t bytes = slr_text_printable(line, before, shown, sizeof shown);
    for (size_t i = 0; i < bytes; i++) {
        bool is_continuation = ((unsigned char)shown[i] & 0xC0) == 0x80;
        slri_text_puts(out, shown[i] == '\t' ? "\t" : is_continuation ? "" : " ");
    }
    slri_text_puts(out, "^\n");
}

static void put_source(slri_text *out, const struct slri_front *front, struct slri_where where)
{
    const char *line = line_of(front, where);
    if (!line)
        return;
    size_t length = strcspn(line, "\r\n"), before = where.column ? where.column - 1 : 0;
    if (before > length)
        before = length;
    if (length > SHOWN_BYTES && before > SHOWN_BEFORE) {
        size_t skipped = before - SHOWN_BEFORE;
        line += skipped;
        length -= skipped;
        before -= skipped;
    }
    put_printable(out, line, length < SHOWN_BYTES ? length : SHOWN_BYTES);
    slri_text_puts(out, "\n");
    put_caret(out, line, before < SHOWN_BYTES ? before : SHOWN_BYTES);
}

// All that a macro produced stands where it was used, and nothing else does.
static const char *macro_at(const struct slri_front *front, struct slri_where where)
{
    for (uint32_t i = 0; i < front->tokens; i++)
        if (front->token[i].macro && same_place(front->token[i].where, where))
            return front->token[i].macro;
    return NULL;
}

static void put_notes(slri_text *out, const struct slri_front *front, struct slri_where where)
{
    const char *macro = macro_at(front, where);
    if (macro)
        slri_text_printf(out, "note: in the expansion of macro '%s'\n", macro);
    while ((where = parent_of(front->report, where)).line)
        slri_text_printf(out, "note: included from %s:%u\n", file_of(front, where), where.line);
}

static void put_error(slri_text *out, const struct slri_front *front, const struct error *error)
{
    slri_text_puts(out, file_of(front, error->where));
    if (error->where.line)
        slri_text_printf(out, ":%u:%u", error->where.line, error->where.column);
    slri_text_printf(out, ": error SLR-K%03u: %s\n", error->code, error->message);
    put_source(out, front, error->where);
    const char *advice = error->advice ? error->advice : slri_diagnostic_advice(error->code);
    if (advice)
        slri_text_printf(out, "advice: %s\n", advice);
    put_notes(out, front, error->where);
}

slr_status slri_report_fail(struct slri_front *front)
{
    struct slri_report *report = front->report;
    sort_errors(report);
    slri_text out = SLRI_TEXT_INIT;
    for (uint32_t i = 0; i < report->errors; i++)
        put_error(&out, front, &report->error[i]);
    slri_text_printf(&out, "%u error%s", report->errors, report->errors == 1 ? "" : "s");
    slr_status status = SLRI_FAIL(COMPILE, "%s", slri_text_view(&out));
    slri_text_free(&out);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// The list of cases: sections of kernels/AREA.cu, then the host cases of that area.
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(area) extern const char cts_embedded_##area##_cu[];
TEXT(language)
TEXT(math)
TEXT(atomics)
TEXT(barriers)
TEXT(warps)
TEXT(matrix)
TEXT(memory)
TEXT(parameters)
TEXT(launch)
TEXT(faults)
TEXT(limits)
TEXT(planted)
TEXT(host)
#undef TEXT

const char *const cts_areas[] = {"language",   "math",      "atomics",    "ordering", "barriers", "warps",
                                 "matrix",     "memory",    "parameters", "streams",  "launch",   "mailboxes",
                                 "priority",   "instances", "blocks",     "batches",  "keys",     "routes",
                                 "references", "overflow",  "faults",     "limits"};
const size_t cts_area_count = sizeof cts_areas / sizeof *cts_areas;

static const struct {
    const char *area, *text;
} files[] = {
    {"language", cts_embedded_language_cu}, {"math", cts_embedded_math_cu},
    {"atomics", cts_embedded_atomics_cu},   {"barriers", cts_embedded_barriers_cu},
    {"warps", cts_embedded_warps_cu},       {"matrix", cts_embedded_matrix_cu},
    {"memory", cts_embedded_memory_cu},     {"parameters", cts_embedded_parameters_cu},
    {"launch", cts_embedded_launch_cu},     {"faults", cts_embedded_faults_cu},
    {"limits", cts_embedded_limits_cu},     {CTS_PLANTED, cts_embedded_planted_cu},
};

// What has been made lasts as long as the program.
static cts_case *list;
static size_t list_count;

static void *take(void *old, size_t bytes)
{
    void *made = realloc(old, bytes);
    if (!made) {
        fprintf(stderr, "slipring-cts: no memory\n");
        exit(1);
    }
    return made;
}

static void add(const cts_case *one)
{
    list = take(list, (list_count + 1) * sizeof *list);
    list[list_count++] = *one;
}

// ---- sections -------------------------------------------------------------------------------------------------------

// The next "//: NAME" at the beginning of a line, at or behind `at`; NULL behind the last.
static const char *next_section(const char *at)
{
    for (const char *found = at; (found = strstr(found, "//: ")) != NULL; found++)
        if (found[4] != ' ' && (found == at || found[-1] == '\n'))
            return found;
    return NULL;
}

typedef struct section {
    const char *head, *line, *text, *end; ///< head: its name; line: behind the name; text: from the next line on
} section;

static bool read_section(const char **at, section *out)
{
    const char *head = next_section(*at);
    if (!head)
        return false;
    out->head = head + 4;
    out->line = out->head + strcspn(out->head, " \n");
    out->text = strchr(out->line, '\n') + 1;
    const char *next = next_section(out->text);
    out->end = next ? next : out->text + strlen(out->text);
    *at = out->end;
    return true;
}

static const char *copy(const char *text, size_t length)
{
    char *made = take(NULL, length + 1);
    memcpy(made, text, length);
    made[length] = '\0';
    return made;
}

static void add_sections(const char *area, const char *text)
{
    section s;
    while (read_section(&text, &s))
        add(&(cts_case){.area = area,
                        .name = copy(s.head, (size_t)(s.line - s.head)),
                        .line = s.line,
                        .text = s.text,
                        .length = (size_t)(s.end - s.text)});
}

const char *cts_text(const char *name)
{
    static struct {
        const char *name, *text;
    } seen[64];
    static size_t known;
    const char *at = cts_embedded_host_cu;
    for (size_t i = 0; i < known; i++)
        if (strcmp(seen[i].name, name) == 0)
            return seen[i].text;
    for (section s; read_section(&at, &s);)
        if (strlen(name) == (size_t)(s.line - s.head) && memcmp(name, s.head, strlen(name)) == 0) {
            const char *text = copy(s.text, (size_t)(s.end - s.text));
            if (known < sizeof seen / sizeof *seen)
                seen[known].name = name, seen[known++].text = text;
            return text;
        }
    return NULL;
}

// ---- all ------------------------------------------------------------------------------------------------------------

static void add_host(const char *area, const cts_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(cases[i].area, area) == 0)
            add(&cases[i]);
}

static void add_area(const char *area)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].area, area) == 0)
            add_sections(area, files[i].text);
    add_host(area, cts_message_cases, cts_message_case_count);
    add_host(area, cts_ring_cases, cts_ring_case_count);
    add_host(area, cts_block_cases, cts_block_case_count);
    add_host(area, cts_batch_cases, cts_batch_case_count);
    add_host(area, cts_batch_with_cases, cts_batch_with_case_count);
    add_host(area, cts_route_cases, cts_route_case_count);
    add_host(area, cts_reference_cases, cts_reference_case_count);
    add_host(area, cts_stream_cases, cts_stream_case_count);
    add_host(area, cts_order_cases, cts_order_case_count);
}

const cts_case *cts_cases(size_t *count)
{
    if (!list) {
        for (size_t i = 0; i < cts_area_count; i++)
            add_area(cts_areas[i]);
        add_area(CTS_PLANTED);
    }
    *count = list_count;
    return list;
}

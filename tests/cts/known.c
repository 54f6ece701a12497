// SPDX-License-Identifier: Apache-2.0
// What a kind of device cannot do, and why: the only place where that is written. A line that is no longer true fails
// the suite, and the support matrix of the README is made from here.
#include "cts.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

// clang-format off
const cts_known cts_known_list[] = {
    {"*", "planted/*", CTS_MUST_FAIL, "it is there to fail"},
    {"cuda/*", "streams/host_functions_are_called_in_their_place", CTS_MUST_FAIL, "a fault of a kernel loses the device"},
    {"cuda/*", "streams/a_failure_holds_back_what_follows", CTS_MUST_FAIL, "a fault of a kernel loses the device"},
};
// clang-format on
const size_t cts_known_count = sizeof cts_known_list / sizeof *cts_known_list;

// The columns of the matrix.
static const struct {
    const char *kind, *title;
} columns[] = {
    {"cpu/compiled", "`cpu`, compiled"},
    {"cpu/interpreted", "`cpu`, interpreted"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

cts_expectation cts_expected(const char *kind, const cts_case *what, const cts_known **entry)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", what->area, what->name);
    for (size_t i = 0; i < cts_known_count; i++)
        if (fnmatch(cts_known_list[i].device, kind, 0) == 0 && fnmatch(cts_known_list[i].what, name, 0) == 0) {
            if (entry)
                *entry = &cts_known_list[i];
            return cts_known_list[i].expectation;
        }
    if (entry)
        *entry = NULL;
    return CTS_MUST_PASS;
}

// ---- the matrix -----------------------------------------------------------------------------------------------------

typedef struct cell {
    unsigned cases, passing, depending, failing;
} cell;

static cell count(const char *area, const char *kind)
{
    size_t all;
    const cts_case *cases = cts_cases(&all);
    cell made = {0};
    for (size_t i = 0; i < all; i++) {
        if (strcmp(cases[i].area, area) != 0)
            continue;
        cts_expectation expected = cts_expected(kind, &cases[i], NULL);
        made.cases++;
        made.passing += expected == CTS_MUST_PASS;
        made.depending += expected == CTS_MAY_REFUSE;
        made.failing += expected == CTS_MUST_FAIL;
    }
    return made;
}

static void print_cell(const cell *c)
{
    if (c->passing == c->cases)
        printf(" all |");
    else if (c->passing + c->depending == 0)
        printf(" no |");
    else
        printf(" %u of %u |", c->passing + c->depending, c->cases);
}

// Reasons, each once a device, below the table.
static void print_reasons(void)
{
    for (size_t d = 0; d < COLUMNS; d++)
        for (size_t i = 0; i < cts_known_count; i++)
            if (fnmatch(cts_known_list[i].device, columns[d].kind, 0) == 0 &&
                strcmp(cts_known_list[i].device, "*") != 0)
                printf("- %s, `%s`: %s%s.\n", columns[d].title, cts_known_list[i].what,
                       cts_known_list[i].expectation == CTS_MUST_FAIL    ? "a known defect: "
                       : cts_known_list[i].expectation == CTS_MAY_REFUSE ? "depends on the device: "
                                                                         : "",
                       cts_known_list[i].reason);
}

void cts_print_matrix(void)
{
    printf("| area | cases |");
    for (size_t d = 0; d < COLUMNS; d++)
        printf(" %s |", columns[d].title);
    printf("\n|---|---|");
    for (size_t d = 0; d < COLUMNS; d++)
        printf("---|");
    for (size_t a = 0; a < cts_area_count; a++) {
        printf("\n| %s | %u |", cts_areas[a], count(cts_areas[a], columns[0].kind).cases);
        for (size_t d = 0; d < COLUMNS; d++) {
            cell c = count(cts_areas[a], columns[d].kind);
            print_cell(&c);
        }
    }
    printf("\n\n");
    print_reasons();
}

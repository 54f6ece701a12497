// SPDX-License-Identifier: Apache-2.0
// What a kind of device cannot do, and why: the only place where that is written. A line that is no longer true fails
// the suite, and the support matrix of the README is made from here.
#include "cts.h"

#include <stdio.h>
#include <string.h>

// Reasons of several lines.
#define NEEDS_HOST "with ring=persistent the device owns the mailbox, and this needs an owner on the host"

#define FLUSHES "Vulkan lets a device take subnormal floats for 0"
#define NO_DOUBLES "without doubles a kernel computes no more than 32 of them, with integers"
#define NO_ATOMICS_OF_64 "a device with words of 32 bits has no atomics of 64"
#define NO_PRINTF "printf needs 64-bit integers on Vulkan"
#define ENDS_LOOPS "some drivers end a thread's loops after 65,535 turns, which is told"

// clang-format off
const cts_known cts_known_list[] = {
    {"cpu/*", "planted/is_off_by_more_than_its_bound", CTS_MUST_PASS, "its functions are slipring's"},
    {"*", "planted/*", CTS_MUST_FAIL, "it is there to fail"},
    {"opencl/*", "memory/a_slice_is_a_part_of_the_whole", CTS_MAY_REFUSE, "without SVM a slice is a part of a memory object, at the device's alignment"},
    {"opencl/*/persistent", "keys/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/a_buffer_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/a_reply_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/what_is_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "overflow/drop_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "overflow/a_dropped_call_says_so", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "limits/many_ring_kernels_side_by_side", CTS_MAY_REFUSE, "each ring kernel keeps a group of the device"},
    {"vulkan/*", "ordering/message_passing_*", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*", "ordering/coherence_of_two_reads", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*", "limits/a_long_loop", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*", "limits/the_most_static_shared_memory", CTS_MAY_REFUSE, "some devices have 32 KiB"},
    {"vulkan/words", "language/float_arithmetic_rounds_once", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "language/float_comparisons_with_nan", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "language/subnormal_floats_are_kept", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "math/rounding_to_integers", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "math/minimum_and_maximum_pass_over_nan", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "math/fmod_and_hypot", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words", "math/exponentials", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/logarithms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/sine_and_cosine", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/sine_of_large_arguments", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/tangent", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/inverse_trigonometry", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/atan2_in_all_quadrants", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/hyperbolic_functions", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/powers", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/powers_of_plain_numbers", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/cube_root_and_error_function", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/the_fast_forms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/double_exponentials_and_logarithms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/double_trigonometry", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/double_powers_and_tanh", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/floats_are_rounded_as_a_name_says", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/numbers_are_taken_apart", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/doubles_are_taken_apart", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/sine_and_cosine_at_once", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "math/gamma_and_normal_distribution", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words", "atomics/doubles_add_in_any_order", CTS_MUST_REFUSE, NO_ATOMICS_OF_64},
    {"vulkan/words", "atomics/64_bits_*", CTS_MUST_REFUSE, NO_ATOMICS_OF_64},
    {"vulkan/words", "memory/variables_keep_what_kernels_and_the_host_write", CTS_MUST_REFUSE, NO_PRINTF},
    {"vulkan/words", "launch/what_a_kernel_prints_is_told", CTS_MUST_REFUSE, NO_PRINTF},
    {"vulkan/*", "launch/the_largest_block", CTS_MAY_REFUSE, "some devices have blocks of 256 threads at most"},
    {"cuda/persistent", "keys/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/a_buffer_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/a_reply_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/what_is_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "overflow/drop_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "overflow/a_dropped_call_says_so", CTS_MUST_REFUSE, NEEDS_HOST},
};
// clang-format on
const size_t cts_known_count = sizeof cts_known_list / sizeof *cts_known_list;

// The columns of the matrix.
static const struct {
    const char *kind, *title;
} columns[] = {
    {"cpu/compiled", "`cpu`, compiled"},         {"cpu/interpreted", "`cpu`, interpreted"},
    {"opencl/pocl/auto", "`opencl:0`, PoCL"},    {"vulkan/SPIR-V", "`vulkan:0`, lavapipe"},
    {"vulkan/words", "`vulkan:0`, SwiftShader"},
};
#define COLUMNS (sizeof columns / sizeof *columns)

cts_expectation cts_expected(const char *kind, const cts_case *what, const cts_known **entry)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", what->area, what->name);
    for (size_t i = 0; i < cts_known_count; i++)
        if (cts_matches(cts_known_list[i].device, kind) && cts_matches(cts_known_list[i].what, name)) {
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
    unsigned cases, passing, depending, failing, bounded;
} cell;

static bool states_bound(const cts_case *what)
{
    const char *bound = what->line ? strstr(what->line, " ulp=") : NULL;
    return bound && bound < strchr(what->line, '\n');
}

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
        made.failing += expected == CTS_MUST_FAIL || expected == CTS_MAY_FAIL;
        made.bounded += strncmp(kind, "cpu/", 4) != 0 && states_bound(&cases[i]);
    }
    return made;
}

static void print_cell(const cell *c)
{
    if (c->passing == c->cases)
        printf(c->bounded ? " all, %u within a bound |" : " all |", c->bounded);
    else if (c->passing + c->depending == 0)
        printf(" no |");
    else
        printf(" %u of %u |", c->passing, c->cases);
}

static bool is_of_column(const cts_known *known, size_t column)
{
    return known->expectation != CTS_MUST_PASS && cts_matches(known->device, columns[column].kind) &&
           strcmp(known->device, "*") != 0;
}

// Reasons, each once a device, below the table: lines with the same one stand together in the list.
static void print_reasons(void)
{
    for (size_t d = 0; d < COLUMNS; d++)
        for (size_t i = 0; i < cts_known_count; i++) {
            const cts_known *known = &cts_known_list[i];
            if (!is_of_column(known, d))
                continue;
            printf("- %s, `%s`", columns[d].title, known->what);
            for (; i + 1 < cts_known_count && strcmp(known[1].reason, known->reason) == 0 && is_of_column(known + 1, d);
                 i++, known++)
                printf(", `%s`", known[1].what);
            printf(": %s%s.\n",
                   known->expectation == CTS_MUST_FAIL    ? "fails: "
                   : known->expectation == CTS_MAY_FAIL   ? "may fail: "
                   : known->expectation == CTS_MAY_REFUSE ? "depends on the device: "
                                                          : "",
                   known->reason);
        }
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

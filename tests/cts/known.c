// SPDX-License-Identifier: Apache-2.0
// What a kind of device cannot do, and why: the only place where that is written. A line that is no longer true fails
// the suite, and the support matrix of docs/support.md is made from here.
#include "cts.h"

#include <stdio.h>
#include <string.h>

// Reasons of several lines.
#define NEEDS_HOST "in persistent mode the device owns the mailbox, but each of these cases needs an owner on the host"
#define ONE_A_CALL "on Vulkan a persistent kernel calls its handler with only one message at a time"
#define ONE_GROUP "a Vulkan device has only one resident work-group, for one ring kernel at a time"

#define NO_FRAGMENTS "slipring computes matrix fragments only on CUDA and in the interpreter"
#define FLUSHES "Vulkan lets a device treat subnormal floats as 0"
#define NO_DOUBLES "on a device without doubles, a kernel may contain at most 32 operations on doubles"
#define NO_ATOMICS_OF_64 "a device with only 32-bit integers has no atomic operations on 64 bits"
#define ENDS_LOOPS "some drivers end a thread's loops after 65,535 iterations, and slipring then reports an error"

#define NO_WGSL_DOUBLES "each of these cases needs doubles, and WGSL (the kernel language of WebGPU) has none"
#define NO_WIDE_ATOMICS "WGSL has no atomic operations on 64 bits"
#define NO_ORDERS "WGSL's atomic operations do not order other accesses, and WGSL has no fences"
#define NO_PRINTS "kernels on WebGPU cannot print"
#define NO_WGSL_FUNCTION "WGSL lacks a math function that the case calls"
#define MAY_FLUSH "WGSL lets a device replace subnormal floats (of magnitude below 2^-126) by other numbers"
#define MAY_CONTRACT "WGSL lets a compiler fuse a product and a sum, so that the device rounds once instead of twice"
#define NO_METAL_DOUBLES "each of these cases needs doubles, and Metal has none"
#define NO_METAL_ATOMICS "Metal has no atomic operations on 64 bits that return a value"
#define WGSL_BOUNDS "WGSL allows larger errors of its math functions"

// clang-format off
const cts_known cts_known_list[] = {
    {"cpu/*", "planted/is_off_by_more_than_its_bound", CTS_MUST_PASS, "on the CPU the case calls slipring's math functions, as the interpreter does"},
    {"*", "planted/*", CTS_MUST_FAIL, "the case is there to fail"},
    {"cpu/compiled", "matrix/*", CTS_MUST_REFUSE, "compiled code for the CPU has no matrix fragments; the interpreter computes them"},
    {"toy/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"opencl/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"vulkan/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"webgpu/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"metal/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"hip/*", "matrix/*", CTS_MUST_REFUSE, NO_FRAGMENTS},
    {"cuda/*", "matrix/*", CTS_MAY_REFUSE, "GPUs of a compute capability below 8.0 have no such matrix fragments"},
    {"opencl/pocl/*", "memory/an_index_that_wraps", CTS_MAY_FAIL, "LLVM's vectoriser reads wrong elements where an index wraps (llvm-project issue 156849)"},
    {"opencl/*", "memory/a_slice_is_a_part_of_the_whole", CTS_MAY_REFUSE, "without shared virtual memory, a slice of a buffer must begin at a multiple of the device's alignment"},
    {"opencl/*/persistent", "keys/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "batches/keys_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/a_buffer_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/a_reply_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "references/what_is_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "overflow/drop_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "overflow/a_dropped_call_says_so", CTS_MUST_REFUSE, NEEDS_HOST},
    {"opencl/*/persistent", "limits/many_ring_kernels_side_by_side", CTS_MAY_REFUSE, "each ring kernel occupies a work-group of the device"},
    {"vulkan/*/persistent", "keys/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "batches/*", CTS_MUST_REFUSE, ONE_A_CALL},
    {"vulkan/*/persistent", "references/a_buffer_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "references/a_reply_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "references/what_is_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "overflow/drop_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "overflow/a_dropped_call_says_so", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "routes/replies_go_along_a_route", CTS_MUST_REFUSE, ONE_GROUP},
    {"vulkan/*/persistent", "routes/a_route_of_one", CTS_MUST_REFUSE, ONE_GROUP},
    {"vulkan/*/persistent", "routes/wide_messages_go_along_a_route", CTS_MUST_REFUSE, ONE_GROUP},
    {"vulkan/*/persistent", "routes/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"vulkan/*/persistent", "limits/many_ring_kernels_side_by_side", CTS_MUST_REFUSE, ONE_GROUP},
    {"vulkan/*/ends_loops*", "ordering/message_passing_*", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*/ends_loops*", "ordering/coherence_of_two_reads", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*/ends_loops*", "limits/a_long_loop", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"vulkan/*", "limits/the_most_static_shared_memory", CTS_MAY_REFUSE, "some devices have only 32 KiB of shared memory for a block"},
    {"vulkan/*/flushes*", "language/float_arithmetic_rounds_once", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/*/flushes*", "language/subnormal_floats_are_kept", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/*/flushes*", "math/fmod_and_hypot", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/SPIR-V/flushes*", "math/logarithms", CTS_MAY_FAIL, FLUSHES}, // others have no doubles for these
    {"vulkan/SPIR-V/flushes*", "math/sine_and_cosine", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/SPIR-V/flushes*", "math/tangent", CTS_MAY_FAIL, FLUSHES},
    {"vulkan/words*", "math/exponentials", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/logarithms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/sine_and_cosine", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/sine_of_large_arguments", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/tangent", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/inverse_trigonometry", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/atan2_in_all_quadrants", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/hyperbolic_functions", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/powers", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/powers_of_plain_numbers", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/cube_root_and_error_function", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/the_fast_forms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/double_exponentials_and_logarithms", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/double_trigonometry", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/double_powers_and_tanh", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/floats_are_rounded_as_a_name_says", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/numbers_are_taken_apart", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/doubles_are_taken_apart", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/sine_and_cosine_at_once", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "math/gamma_and_normal_distribution", CTS_MAY_REFUSE, NO_DOUBLES},
    {"vulkan/words*", "atomics/doubles_add_in_any_order", CTS_MUST_REFUSE, NO_ATOMICS_OF_64},
    {"vulkan/words*", "atomics/64_bits_*", CTS_MUST_REFUSE, NO_ATOMICS_OF_64},
    {"vulkan/*", "launch/the_largest_block", CTS_MAY_REFUSE, "some devices allow at most 256 threads in a block"},
    {"webgpu/WGSL", "memory/copies_of_floats", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "launch/numbers_of_every_type", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "launch/numbers_are_converted_where_nothing_is_lost", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "launch/what_a_kernel_prints_is_told", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "atomics/doubles_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "barriers/dynamic_beside_static_shared_memory", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "barriers/shared_structs_and_mixed_types", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "language/double_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "mailboxes/structs_keep_the_hosts_layout", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/classification", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/double_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/floats_are_rounded_as_a_name_says", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/doubles_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/sine_and_cosine_at_once", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/gamma_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/bits_of_doubles_and_back", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "math/overloads_*", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "parameters/vectors_of_every_width", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "warps/shuffles_of_every_type", CTS_MUST_REFUSE, NO_WGSL_DOUBLES},
    {"webgpu/WGSL", "memory/variables_keep_*", CTS_MUST_REFUSE, NO_PRINTS},
    {"webgpu/WGSL", "atomics/64_bits_*", CTS_MUST_REFUSE, NO_WIDE_ATOMICS},
    {"webgpu/WGSL", "atomics/exchange_hands_every_value_on_once", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "atomics/orders_and_scopes", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "atomics/compare_exchange_tells_what_it_found", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "barriers/the_last_block_sums_up", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "memory/fences_between_writes", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "ordering/message_passing_*", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "ordering/store_buffering_sequentially_consistent", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "ordering/store_buffering_by_fences", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "ordering/load_buffering_by_release_and_acquire", CTS_MUST_REFUSE, NO_ORDERS},
    {"webgpu/WGSL", "ordering/coherence_of_two_reads", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"webgpu/WGSL", "math/cube_root_and_error_function", CTS_MUST_REFUSE, NO_WGSL_FUNCTION},
    {"webgpu/WGSL", "math/numbers_are_taken_apart", CTS_MUST_REFUSE, NO_WGSL_FUNCTION},
    {"webgpu/WGSL", "limits/the_most_static_shared_memory", CTS_MAY_REFUSE, "some devices have only 16 or 32 KiB of shared memory for a block"},
    {"webgpu/WGSL", "launch/the_largest_block", CTS_MAY_REFUSE, "some devices allow at most 256 threads in a block"},
    {"webgpu/WGSL", "limits/a_long_loop", CTS_MAY_REFUSE, ENDS_LOOPS},
    {"webgpu/WGSL", "language/float_comparisons_with_nan", CTS_MAY_FAIL, "a compiler of WGSL may assume that no number is a NaN"},
    {"webgpu/WGSL", "math/sine_and_cosine", CTS_MAY_FAIL, "WGSL limits the errors of sin and cos only for arguments from -pi to pi"},
    {"webgpu/WGSL", "math/sine_of_large_arguments", CTS_MAY_FAIL, "WGSL limits the errors of sin and cos only for arguments from -pi to pi"},
    {"webgpu/WGSL", "math/tangent", CTS_MAY_FAIL, "WGSL limits the errors of sin and cos only for arguments from -pi to pi"},
    {"webgpu/WGSL", "math/atan2_in_all_quadrants", CTS_MAY_FAIL, "WGSL does not define atan2 of zeros and infinities"},
    {"webgpu/WGSL", "math/powers", CTS_MAY_FAIL, "WGSL does not define pow of infinities and NaN"},
    {"webgpu/WGSL", "language/subnormal_floats_are_kept", CTS_MAY_FAIL, MAY_FLUSH},
    {"webgpu/WGSL", "language/float_arithmetic_rounds_once", CTS_MAY_FAIL, MAY_FLUSH},
    {"webgpu/WGSL", "math/logarithms", CTS_MAY_FAIL, MAY_FLUSH},
    {"webgpu/WGSL", "math/rounding_to_integers", CTS_MAY_FAIL, MAY_FLUSH},
    {"webgpu/WGSL", "math/minimum_and_maximum_pass_over_nan", CTS_MAY_FAIL, MAY_FLUSH},
    {"webgpu/WGSL", "language/floats_are_not_contracted", CTS_MAY_FAIL, MAY_CONTRACT},
    {"webgpu/WGSL", "barriers/tiled_matrix_product", CTS_MAY_FAIL, MAY_CONTRACT},
    {"webgpu/WGSL", "math/exponentials", CTS_MAY_FAIL, "WGSL does not define exp of infinities and NaN"},
    {"webgpu/WGSL", "math/fmod_and_hypot", CTS_MAY_FAIL, "WGSL's function length may overflow in an intermediate result, and may treat small numbers as 0"},
    {"webgpu/WGSL", "math/fused_multiply_add_rounds_once", CTS_MAY_FAIL, "WGSL's fma may round twice"},
    {"metal/MSL", "language/double_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "launch/numbers_of_every_type", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "launch/what_a_kernel_prints_is_told", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/classification", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/double_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/doubles_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/floats_are_rounded_as_a_name_says", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/sine_and_cosine_at_once", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/gamma_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "math/overloads_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "barriers/dynamic_beside_static_shared_memory", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "barriers/shared_structs_and_mixed_types", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "warps/shuffles_of_every_type", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "parameters/vectors_of_every_width", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "mailboxes/structs_keep_the_hosts_layout", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "limits/the_most_static_shared_memory", CTS_MAY_REFUSE, "Apple's GPUs have only 32 KiB of shared memory for a block"},
    {"metal/MSL", "atomics/doubles_*", CTS_MUST_REFUSE, NO_METAL_DOUBLES},
    {"metal/MSL", "atomics/64_bits_*", CTS_MUST_REFUSE, NO_METAL_ATOMICS},
    {"cuda/persistent", "keys/*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "batches/keys_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/a_buffer_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/a_reply_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "references/what_is_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "overflow/drop_*", CTS_MUST_REFUSE, NEEDS_HOST},
    {"cuda/persistent", "overflow/a_dropped_call_says_so", CTS_MUST_REFUSE, NEEDS_HOST},
};

// "webgpu/..." has the bounds that WGSL gives its functions.
static const cts_bound bounds[] = {
    {"webgpu/WGSL", "math/exponentials", 4096, 1e-38, WGSL_BOUNDS},
    {"webgpu/WGSL", "math/powers_of_plain_numbers", 4096, 1e-38, WGSL_BOUNDS},
    {"webgpu/WGSL", "math/hyperbolic_functions", 4096, 1e-38, WGSL_BOUNDS},
    {"webgpu/WGSL", "math/inverse_trigonometry", 4096, 1e-38, WGSL_BOUNDS},
};
// clang-format on
const size_t cts_known_count = sizeof cts_known_list / sizeof *cts_known_list;

const cts_bound *cts_bound_of(const char *kind, const cts_case *what)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", what->area, what->name);
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (cts_matches(bounds[i].device, kind) && cts_matches(bounds[i].what, name))
            return &bounds[i];
    return NULL;
}

// The columns of the matrix.
static const struct {
    const char *kind, *title;
} columns[] = {
    {"cpu/compiled", "`cpu`, compiled"},
    {"cpu/interpreted", "`cpu`, interpreted"},
    {"opencl/pocl/auto", "`opencl:0`, PoCL"},
    {"opencl/other/auto", "`opencl:0`, Intel"},
    {"vulkan/SPIR-V/ends_loops", "`vulkan:0`, lavapipe"},
    {"vulkan/words/flushes*", "`vulkan:0`, SwiftShader"},
    {"webgpu/WGSL", "`webgpu:0`, wgpu-native"},
    {"metal/MSL", "`metal:0`, simulated"},
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
        made.bounded += strncmp(kind, "cpu/", 4) != 0 && (states_bound(&cases[i]) || cts_bound_of(kind, &cases[i]));
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

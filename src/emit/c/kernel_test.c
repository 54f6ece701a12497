// SPDX-License-Identifier: Apache-2.0
// What a kernel's text has for the sake of speed: which loads a loop asks for ahead, which sums stay alone, which loops
// are unrolled. What it computes does not change: hal/cpu/agreement_test.c, tests/generate.
#include "lang/compile_test.h"
#include "emit/c/kernel.h"

#include <stdlib.h>

// How often `part` stands in the kernel's text behind the helpers.
static unsigned count_in_kernel(const char *text, uint32_t block_x, uint32_t block_y, const char *part)
{
    struct slri_module *module = compile_text(text);
    const uint32_t block[] = {block_x, block_y, 1};
    struct slri_text out = SLRI_TEXT_INIT;
    assert_int_equal(slri_emit_c_kernel(module, &module->entry[0], block, &out), SLR_OK);
    const char *at = strstr(slri_text_view(&out), "slipring: kernel");
    unsigned found = 0;
    assert_non_null(at);
    for (; (at = strstr(at, part)) != NULL; at++)
        found++;
    slri_text_free(&out);
    slri_module_destroy(module);
    return found;
}

#define TILE(index, step)                                                                                              \
    "__global__ void f(const float *b, float *c, int n) {\n"                                                           \
    "    __shared__ float t[16][16];\n"                                                                                \
    "    int x = threadIdx.x, y = threadIdx.y;\n"                                                                      \
    "    float sum = 0.0f;\n"                                                                                          \
    "    for (int i = 0; i < n; " step ") {\n"                                                                         \
    "        t[y][x] = b[" index "];\n"                                                                                \
    "        __syncthreads();\n"                                                                                       \
    "        sum += t[x][y];\n"                                                                                        \
    "        __syncthreads();\n"                                                                                       \
    "    }\n"                                                                                                          \
    "    c[y * 16 + x] = sum;\n"                                                                                       \
    "}\n"

static unsigned prefetches(const char *text, uint32_t x, uint32_t y)
{
    return count_in_kernel(text, x, y, "__builtin_prefetch(");
}

static void rows_that_move_by_pages_are_asked_for_ahead(void **state)
{
    (void)state;
    assert_int_equal(prefetches(TILE("(i * 16 + y) * n + x", "i++"), 16, 16), 1);
    assert_int_equal(prefetches(TILE("(y - i) * n + x", "i += 4"), 16, 16), 1);
    assert_int_equal(prefetches(TILE("(i << 9) + y * n + x", "i++"), 16, 16), 1);
    // of 32 lanes each row is two lines
    assert_int_equal(prefetches(TILE("(i * 16 + y) * n + x", "i++"), 32, 8), 2);
}

static void the_next_address_is_this_one_and_what_a_trip_adds(void **state)
{
    (void)state;
    assert_int_equal(count_in_kernel(TILE("(y - i) * n + x", "i += 4"), 16, 16, "( - (int64_t)4)"), 1);
}

static void what_the_hardware_follows_or_nobody_knows_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(prefetches(TILE("y * n + i * 16 + x", "i++"), 16, 16), 0);          // the next line
    assert_int_equal(prefetches(TILE("y * n + x", "i++"), 16, 16), 0);                   // the same line
    assert_int_equal(prefetches(TILE("(i * i + y) * n + x", "i++"), 16, 16), 0);         // no line
    assert_int_equal(prefetches(TILE("(i * 16 + y) * n + x", "i += 1 + i"), 16, 16), 0); // no counter
    assert_int_equal(prefetches(TILE("i * n + x", "i++"), 256, 1), 0);                   // a long row
    assert_int_equal(prefetches(TILE("(i * 16 + y) * n + x * n", "i++"), 16, 16), 0);    // no row
}

// Each doubles the ways in which the next is made of the counter.
static void a_search_that_would_not_end_is_given_up(void **state)
{
    char text[4096] = "__global__ void f(const float *b, float *c, int n) {\n"
                      "    __shared__ float t[16][16];\n"
                      "    int x = threadIdx.x, y = threadIdx.y;\n"
                      "    for (int i = 0; i < n; i++) {\n"
                      "        int d0 = i;\n";
    (void)state;
    for (int i = 1; i < 40; i++) {
        char line[64];
        snprintf(line, sizeof line, "        int d%d = d%d + d%d;\n", i, i - 1, i - 1);
        strcat(text, line);
    }
    strcat(text, "        t[y][x] = b[(d39 + y) * n + x];\n"
                 "        __syncthreads();\n"
                 "        c[y * 16 + x] = t[x][y];\n"
                 "        __syncthreads();\n"
                 "    }\n"
                 "}\n");
    assert_int_equal(prefetches(text, 16, 16), 0);
}

#define ROWS(body)                                                                                                     \
    "__global__ void f(const int *first, const float *v, float *y) {\n"                                                \
    "    int i = threadIdx.x;\n"                                                                                       \
    "    float sum = 0.0f;\n"                                                                                          \
    "    for (int k = first[i]; k < first[i + 1]; k++)\n"                                                              \
    "        " body ";\n"                                                                                              \
    "    y[i] = sum;\n"                                                                                                \
    "}\n"

static unsigned alone(const char *text)
{
    return count_in_kernel(text, 64, 1, "SLRI_ALONE(");
}

// A loop is written twice where its indices may wrap.
static void a_threads_own_cheap_sum_is_added_up_without_vectors(void **state)
{
    (void)state;
    assert_true(alone(ROWS("sum += v[k] * v[k + 1]")) > 0);
    assert_int_equal(alone(ROWS("sum += expf(v[k])")), 0); // what is dear is worth a vector
    assert_int_equal(alone(ROWS("sum = v[k]")), 0);
    // Not in a loop that all take together: there the lanes are the vector.
    assert_int_equal(alone("__global__ void f(const float *v, float *y, int n) {\n"
                           "    float sum = 0.0f;\n"
                           "    for (int k = 0; k < n; k++)\n"
                           "        sum += v[k * 64 + threadIdx.x];\n"
                           "    y[threadIdx.x] = sum;\n"
                           "}\n"),
                     0);
}

#define SUM(begin, test, step)                                                                                         \
    "__global__ void f(const float *x, float *y) {\n"                                                                  \
    "    __shared__ float part[256];\n"                                                                                \
    "    int t = threadIdx.x;\n"                                                                                       \
    "    part[t] = x[t];\n"                                                                                            \
    "    __syncthreads();\n"                                                                                           \
    "    for (int s = " begin "; " test "; " step ") {\n"                                                              \
    "        if (t < s)\n"                                                                                             \
    "            part[t] += part[t + s];\n"                                                                            \
    "        __syncthreads();\n"                                                                                       \
    "    }\n"                                                                                                          \
    "    if (t == 0)\n"                                                                                                \
    "        y[blockIdx.x] = part[0];\n"                                                                               \
    "}\n"

static unsigned unrolled(const char *text)
{
    return count_in_kernel(text, 256, 1, "SLRI_TRIPS for");
}

static void trees_of_known_height_are_unrolled(void **state)
{
    (void)state;
    assert_int_equal(unrolled(SUM("128", "s > 0", "s >>= 1")), 1);
    assert_int_equal(unrolled(SUM("blockDim.x / 2", "s > 0", "s /= 2")), 1);
    assert_int_equal(unrolled(SUM("1", "s < 256", "s *= 2")), 1);
    assert_int_equal(unrolled(SUM("1", "s < 256", "s <<= 1")), 1);
}

static void other_loops_are_not(void **state)
{
    (void)state;
    assert_int_equal(unrolled(SUM("gridDim.x", "s > 0", "s >>= 1")), 0); // of unknown height
    assert_int_equal(unrolled(SUM("1", "s < gridDim.x", "s *= 2")), 0);  // likewise
    assert_int_equal(unrolled(SUM("128", "s > 0", "s--")), 0);           // no tree
    assert_int_equal(unrolled(SUM("4096", "s > 0", "s >>= 1")), 0);      // higher than a block
    assert_int_equal(unrolled(SUM("128", "s > -1", "s >>= 1")), 0);      // without an end
    assert_int_equal(unrolled(SUM("128", "s > 0", "s >>= s & 1")), 0);   // by what is not known
}

// Else each lane would be loaded from an address of its own.
static void the_index_of_a_choice_is_a_line(void **state)
{
    const char *line = "slri_load_F32(bound0 + (r";
    (void)state;
    assert_true(count_in_kernel("__global__ void f(const float *x, float *y, int n) {\n"
                                "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    y[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
                                "}\n",
                                64, 1, line) > 0);
    // Not where it is made of what the other threads have not.
    assert_int_equal(count_in_kernel("__global__ void f(const float *x, const int *to, float *y, int n) {\n"
                                     "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                     "    y[threadIdx.x] = i < n ? x[to[i]] : 0.0f;\n"
                                     "}\n",
                                     64, 1, line),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_move_by_pages_are_asked_for_ahead),
        cmocka_unit_test(the_next_address_is_this_one_and_what_a_trip_adds),
        cmocka_unit_test(what_the_hardware_follows_or_nobody_knows_is_left_alone),
        cmocka_unit_test(a_search_that_would_not_end_is_given_up),
        cmocka_unit_test(a_threads_own_cheap_sum_is_added_up_without_vectors),
        cmocka_unit_test(trees_of_known_height_are_unrolled),
        cmocka_unit_test(other_loops_are_not),
        cmocka_unit_test(the_index_of_a_choice_is_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

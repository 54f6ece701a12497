// SPDX-License-Identifier: Apache-2.0
// What launches are made of: counted without running them, and compared with what is known by hand.
#include "lang/compile_test.h"

#include "run/count.h"

struct work {
    struct slri_module *module;
    struct slri_bound bound[8];
    uint32_t bounds, grid[3], block[3];
    struct slri_count_wanted wanted;
    struct slri_count count;
};

static float buffer[4096];

static struct work begin(const char *text, uint32_t blocks, uint32_t threads)
{
    return (struct work){.module = compile_text(text), .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
}

#define GIVE(w, value, size) ((w)->bound[(w)->bounds++] = (struct slri_bound){(value), (size)})

static void count(struct work *w)
{
    const struct slri_count_launch launch = {w->module, &w->module->entry[0], w->grid, w->block, w->bound, w->wanted};
    assert_int_equal(w->module->entry[0].bindings, w->bounds);
    slri_count(&launch, &w->count);
    slri_module_destroy(w->module);
}

static void operations_and_bytes_of_a_straight_kernel_are_exact(void **state)
{
    (void)state;
    int n = 1024;
    float a = 2;
    struct work w = begin("__global__ void saxpy(float a, const float *x, float *y, int n) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < n) y[i] = a * x[i] + y[i];\n"
                          "}\n",
                          8, 128);
    GIVE(&w, &a, 4);
    GIVE(&w, buffer, 4096);
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.flops, 2 * 1024);
    assert_int_equal(w.count.flops64, 0);
    assert_int_equal(w.count.bytes, 3 * 4096); // x in, y in and out
    assert_int_equal(w.count.accessed_bytes, 3 * 4096);
    assert_int_equal(w.count.line[0].line, 3);
    assert_true(w.count.line[0].share > 0.5f && w.count.line[0].share < 1);
}

static void threads_beyond_the_end_are_sampled(void **state)
{
    (void)state;
    int n = 512;
    struct work w =
        begin("__global__ void f(double *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
              "x[i] = x[i] / 3; }\n",
              8, 128);
    GIVE(&w, buffer, 8 * 512);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_SAMPLED);
    assert_int_equal(w.count.flops, 0);
    assert_int_equal(w.count.flops64, 512); // half of the 64 that were walked
}

// The sides of the grid and of the block are powers of 2, as the number of threads that are walked is.
static void threads_inside_and_threads_at_the_edge_are_walked(void **state)
{
    (void)state;
    int n = 256;
    struct work w = begin("__global__ void f(float *x, int n) {\n"
                          "    __shared__ float sum[32];\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;\n"
                          "    if (threadIdx.x == 0) x[row] = 1;\n"
                          "    if (i > 0 && i < n - 1) sum[threadIdx.x] = sum[threadIdx.x] * 0.5f;\n"
                          "}\n",
                          8, 32);
    w.grid[1] = 256;
    GIVE(&w, buffer, sizeof buffer);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_SAMPLED);
    assert_in_range(w.count.flops, 254 * 256 * 9 / 10, 256 * 256); // exact: 254 * 256
    assert_in_range(w.count.accessed_bytes, 1, 2 * 4 * 8 * 256);   // exact: 4 * 8 * 256
    assert_int_equal(w.count.stores, 1);
}

// A kernel of (float *x, int n).
static struct slri_count count_of(const char *text, uint32_t blocks, uint32_t threads, int n)
{
    struct work w = begin(text, blocks, threads);
    GIVE(&w, buffer, sizeof buffer);
    GIVE(&w, &n, 4);
    count(&w);
    return w.count;
}

static void what_only_the_grids_first_thread_does_does_not_count_for_many(void **state)
{
    (void)state;
    static const char text[] = "__global__ void f(float *x, int n) {\n"
                               "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                               "    float s = 0;\n"
                               "    if (i == 0) for (int k = 0; k < n; ++k) s = s + 1.5f;\n"
                               "    x[i] = s;\n"
                               "}\n";
    assert_in_range(count_of(text, 256, 256, 1000).flops, 0, 1000); // exact: 1000
    assert_in_range(count_of(text, 2, 1024, 1000).flops, 0, 1000);
    struct slri_count serial = count_of(text, 256, 256, 100000); // more than is walked
    assert_int_equal(serial.counted, SLRI_COUNT_EXACT);
    assert_int_equal(serial.accessed_bytes, 4 * 65536);
}

static void what_each_blocks_first_thread_stores_is_seen(void **state)
{
    (void)state;
    struct slri_count sum = count_of("__global__ void f(float *x, int n) {\n"
                                     "    if (threadIdx.x == 0 && blockIdx.x < n) x[blockIdx.x] = 1;\n"
                                     "}\n",
                                     4096, 1024, 4096);
    assert_int_equal(sum.counted, SLRI_COUNT_SAMPLED);
    assert_int_equal(sum.stores, 1);
}

// Each is half of what is walked.
static void of_two_long_threads_one_is_in_the_second_half_of_the_grid(void **state)
{
    (void)state;
    struct slri_count half = count_of("__global__ void f(float *x, int n) {\n"
                                      "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "    float s = 0;\n"
                                      "    if (i < 32768) for (int k = 0; k < n; ++k) s = s + 1.5f;\n"
                                      "    x[i] = s;\n"
                                      "}\n",
                                      256, 256, 15000);
    assert_int_equal(half.counted, SLRI_COUNT_SAMPLED);
    assert_int_equal(half.flops, 32768ull * 15000);
}

static void loops_run_as_often_as_the_launchs_numbers_say(void **state)
{
    (void)state;
    int n = 32;
    struct work w =
        begin("__device__ float at(const float *m, int row, int column, int n) { return m[row * n + column]; }\n"
              "__global__ void matmul(const float *a, const float *b, float *c, int n) {\n"
              "    int row = blockIdx.x, column = threadIdx.x;\n"
              "    float sum = 0;\n"
              "    for (int k = 0; k < n; ++k) sum += at(a, row, k, n) * at(b, k, column, n);\n"
              "    c[row * n + column] = sum;\n"
              "}\n",
              32, 32);
    for (int i = 0; i < 3; ++i)
        GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.flops, 2 * 32 * 32 * 32);
    assert_int_equal(w.count.bytes, 3 * 4096); // each once, though each element is read 32 times
    assert_int_equal(w.count.accessed_bytes, 32 * 32 * (2 * 32 + 1) * 4);
}

static void what_the_threads_of_a_row_share_is_counted(void **state)
{
    (void)state;
    int n = 7;
    struct work w = begin("__global__ void f(const float *x, float *y, int n) {\n"
                          "    int i = threadIdx.x, j = i * n;\n"
                          "    float sum = 0;\n"
                          "    for (int k = 0; k < 8; k++) sum += x[j + k];\n"
                          "    y[i] = sum + x[n];\n"
                          "}\n",
                          2, 64);
    GIVE(&w, buffer, 4096);
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.updates, 2 * 64 * 8);
    assert_int_equal(w.count.scattered, 2 * 64 * 8); // not y[i], whose places lie side by side, nor x[n]
    // A thread's own: the loads and additions of the loop, the last addition, and the store.
    assert_int_equal(w.count.instructions - w.count.row_instructions, 2 * 64 * (8 * 2 + 2));
}

static void divisions_by_what_constants_do_not_give_are_counted(void **state)
{
    (void)state;
    int n = 7;
    struct work w = begin("__device__ int rest(int a, int b) { return a % b; }\n"
                          "__global__ void f(const int *x, int *y, int n) {\n"
                          "    int i = threadIdx.x, sum = 0;\n"
                          "    float ratio = (float)i / (float)n;\n" // is none of integers
                          "    for (int k = 1; k < 5; k++) sum += i % 64 + rest(i, 37) + i / (k * 2 - 1);\n"
                          "    for (int k = 1; k < 5; k++) sum += i / (k * n) + blockIdx.x % n;\n"
                          "    y[i] = sum + x[i] % x[n] + rest(i, n) + (int)ratio;\n"
                          "}\n",
                          2, 64);
    GIVE(&w, buffer, 4096);
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.divisions, 2 * 64 * (4 * 2 + 2));
    assert_int_equal(w.count.row_divisions, 2 * 64 * 4); // of the block's number
}

static void loads_of_one_place_by_a_row_and_barriers_are_counted(void **state)
{
    (void)state;
    int n = 16;
    struct work w = begin("__global__ void f(const float *same, const float *own, float *to, int n) {\n"
                          "    float sum = 0, mine[2];\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    mine[0] = own[i];\n"
                          "    for (int k = 0; k < n; ++k) {\n"
                          "        sum += same[k + blockIdx.x] + same[threadIdx.y] + own[i + k] * mine[0];\n"
                          "        __syncthreads();\n"
                          "    }\n"
                          "    to[i] = sum + own[(int)mine[0]];\n"
                          "}\n",
                          2, 32);
    w.block[1] = 2;
    for (int i = 0; i < 3; ++i)
        GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.common_bytes, 2 * 64 * 16 * 2 * 4); // both loads of `same`
    assert_int_equal(w.count.accessed_bytes, 2 * 64 * (16 * 3 + 3) * 4);
    assert_int_equal(w.count.barriers, 2 * 64 * 16);
}

static void loads_from_a_struct_that_is_given_by_value_are_no_accesses(void **state)
{
    (void)state;
    struct {
        float a, b, c;
        int n;
    } p = {2, 3, 4, 1024};
    struct work w = begin("struct P { float a, b, c; int n; };\n"
                          "__global__ void f(struct P p, float *y) {\n"
                          "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                          "    if (i < p.n) y[i] = p.a * p.b + p.c;\n"
                          "}\n",
                          8, 128);
    GIVE(&w, &p, sizeof p);
    GIVE(&w, buffer, 4096);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.accessed_bytes, 4096);
    assert_int_equal(w.count.common_bytes, 0);
    assert_int_equal(w.count.loads, 0);
}

static void a_branch_on_memory_counts_both_ways(void **state)
{
    (void)state;
    struct work w = begin("__global__ void f(float *x) {\n"
                          "    float v = x[threadIdx.x];\n"
                          "    if (v > 0) v = v * 2; else v = v * 3 + 1;\n"
                          "    if (v > 100) return;\n"
                          "    x[threadIdx.x] = v;\n"
                          "}\n",
                          1, 64);
    GIVE(&w, buffer, 256);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_AT_MOST);
    assert_int_equal(w.count.flops, 3 * 64);
    assert_int_equal(w.count.bytes, 512); // as if no thread had left
}

static void what_both_ways_agree_on_is_known_behind_them(void **state)
{
    (void)state;
    struct work w = begin("__global__ void f(float *x) {\n"
                          "    int rounds = 4, wild = 4;\n"
                          "    if (x[0] > 0) wild = 5;\n"
                          "    for (int i = 0; i < rounds; ++i) x[i] = x[i] + 1;\n"
                          "}\n",
                          1, 1);
    GIVE(&w, buffer, 256);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_AT_MOST);
    assert_int_equal(w.count.flops, 4);
}

static void a_loop_that_hangs_on_memory_is_not_known(void **state)
{
    (void)state;
    struct work w = begin("__global__ void f(const int *from, float *x) {\n"
                          "    for (int i = from[0]; i < from[1]; ++i) x[i] = x[i] + 1;\n"
                          "}\n",
                          1, 32);
    GIVE(&w, buffer, 256);
    GIVE(&w, buffer, 256);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_UNKNOWN);
}

static void a_loop_without_an_end_is_not_known(void **state)
{
    (void)state;
    struct work w = begin("__global__ void f(float *x) { while (1) { x[0] = x[0] + 1; } }\n", 1, 32);
    GIVE(&w, buffer, 256);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_UNKNOWN);
}

// One thread of a long kernel is walked, and stands for all.
static void a_long_walk_is_made_for_few_threads(void **state)
{
    (void)state;
    int n = 20000;
    struct work w = begin("__global__ void f(float *x, int n) { float s = 0; for (int i = 0; i < n; ++i) s += 1.5f; "
                          "x[threadIdx.x] = s; }\n",
                          100, 64);
    GIVE(&w, buffer, 256);
    GIVE(&w, &n, 4);
    count(&w);
    assert_true(w.count.counted == SLRI_COUNT_SAMPLED || w.count.counted == SLRI_COUNT_EXACT);
    assert_int_equal(w.count.flops, 100ull * 64 * 20000);
}

static void control_is_followed(void **state)
{
    (void)state;
    struct {
        int kind;
        float by;
    } p = {2, 3};
    struct work w =
        begin("struct p { int kind; float by; };\n"
              "__global__ void f(float *x, struct p p) {\n"
              "    float v = x[threadIdx.x];\n"
              "    switch (p.kind) { case 1: v = v + 1; break; case 2: v = v * p.by; /* and */ case 3: v = v - 1; "
              "break; default: v = v / 7 / 7; }\n"
              "    for (int i = 0;; ++i) { if (i == 2) continue; if (i == 5) break; v = v + 2; }\n"
              "    int k = 0; do { v = fmaf(v, v, v); ++k; } while (k < 3);\n"
              "    x[threadIdx.x] = v;\n"
              "}\n",
              1, 32);
    GIVE(&w, buffer, 128);
    GIVE(&w, &p, sizeof p);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.flops, 32 * (2 + 4 + 6));
}

static void a_fused_multiply_add_is_two_operations(void **state)
{
    (void)state;
    struct work w = begin("__global__ void f(float *x, double *y) {\n"
                          "    x[threadIdx.x] = __fmaf_rn(fmaf(x[0], x[1], x[2]), x[3], x[4]);\n"
                          "    y[threadIdx.x] = __fma_rn(fma(y[0], y[1], y[2]), y[3], y[4]);\n"
                          "}\n",
                          1, 32);
    GIVE(&w, buffer, 128);
    GIVE(&w, buffer, 256);
    count(&w);
    assert_int_equal(w.count.flops, 4 * 32);
    assert_int_equal(w.count.flops64, 4 * 32);
}

// A thread stores to `n` lines of one set of a cache of 12 ways, 4096 bytes apart; 16 threads share each.
static uint64_t misses_of_a_column(int n, const char *behind)
{
    char text[400];
    struct work w;
    snprintf(text, sizeof text,
             "__global__ void f(float *x, int n) {\n"
             "    for (int k = 0; k < n; k++) { x[k * 1024 + threadIdx.x] = 1; %s }\n"
             "}\n",
             behind);
    w = begin(text, 3, 64);
    w.wanted.cache_bytes = 12 * 4096;
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    return w.count.missed_lines;
}

static void lines_that_drive_each_other_out_of_a_cache_are_missed_again(void **state)
{
    (void)state;
    assert_int_equal(misses_of_a_column(12, ""), 3 * 12 * 4);
    assert_int_equal(misses_of_a_column(13, ""), 3 * 13 * 64);
    assert_int_equal(misses_of_a_column(13, "__syncthreads();"), 3 * 13 * 4); // all threads, then the next line
}

static void nothing_is_missed_where_no_cache_is_given(void **state)
{
    (void)state;
    int n = 4;
    struct work w = begin("__global__ void f(float *x, int n) { x[threadIdx.x * n] = 1; }\n", 1, 64);
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.counted, SLRI_COUNT_EXACT);
    assert_int_equal(w.count.missed_lines, 0);
}

// More accesses than are noted: the count is of the threads that had room, and of none where the first had not.
static void threads_beyond_the_room_are_left_out(void **state)
{
    (void)state;
    int n = 20000;
    static const char text[] =
        "__global__ void f(float *x, int n) { for (int k = 0; k < n; k++) x[threadIdx.x] = 1; }\n";
    struct work w = begin(text, 1, 1024);
    w.wanted.cache_bytes = 4096;
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_true(w.count.missed_lines >= 64 && w.count.missed_lines < 4096);
    n = 300000; // more instructions than are traced of several threads: the first alone
    w = begin(text, 1, 1024);
    w.wanted.cache_bytes = 4096;
    w.wanted.most = 4000000;
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.missed_lines, 1024);
    n = 2000000;
    w = begin(text, 1, 1024);
    w.wanted.cache_bytes = 4096;
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.missed_lines, 0);
}

// One array of 4,096 floats, one block.
static struct slri_warp_requests requests_of(const char *text, uint32_t threads)
{
    int n = 4096;
    struct work w = begin(text, 1, threads);
    w.wanted.requests = true;
    GIVE(&w, buffer, 16384);
    GIVE(&w, &n, 4);
    count(&w);
    return w.count.warps;
}

#define WARPS_OF(statement) "__global__ void f(float *x, int n) { int t = threadIdx.x; " statement " }\n"

static void a_warp_asks_for_the_sectors_that_its_lanes_reach(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t threads, requests, sectors;
    } cases[] = {
        {WARPS_OF("x[t] = 1;"), 64, 2, 8},
        {WARPS_OF("x[t * 2] = 1;"), 64, 2, 16},
        {WARPS_OF("x[t * 8] = 1;"), 64, 2, 64},
        {WARPS_OF("x[t + 1] = 1;"), 32, 1, 5},
        {WARPS_OF("x[n - 1] = 1;"), 64, 2, 2},
        {WARPS_OF("x[t] = x[n - t];"), 16, 2, 5}, // the lanes that are there
        {WARPS_OF("if (t & 1) x[t] = 1; else x[t] = 2;"), 32, 2, 8},
        {WARPS_OF("if (t & 1) x[t] = 1; x[t + 32] = 2;"), 32, 2, 8},
        {WARPS_OF("if (t == 5) x[t] = 1; x[t + 32] = 2;"), 32, 2, 5},
        {WARPS_OF("for (int i = 0; i < t % 2 + 1; i++) x[t + i * 32] = 1;"), 32, 2, 8},
        {WARPS_OF("int i = (int)x[0]; x[i] = x[i + t];"), 32, 3, 1 + 4 + 1},     // one place, whichever it is
        {WARPS_OF("int i = (int)x[t]; x[i & 4095] = 1;"), 32, 2, 4 + 32},        // anywhere
        {WARPS_OF("for (int k = 0; k < 2000; k++) x[k + t] = 1;"), 64, 4000, 0}, // more than are noted
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slri_warp_requests asked = requests_of(cases[i].text, cases[i].threads);
        if (cases[i].sectors)
            assert_int_equal(asked.sectors, cases[i].sectors);
        assert_true(asked.requests >= cases[i].requests * 0.99 && asked.requests <= cases[i].requests * 1.01);
        assert_int_equal(asked.shared_requests + asked.passes + asked.updates, 0);
    }
}

#define SHARED_OF(statement)                                                                                           \
    "__global__ void f(float *x, int n) { __shared__ int s[2048]; int t = threadIdx.x; " statement " }\n"

static void a_warp_takes_a_pass_for_each_word_of_the_busiest_bank(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t passes;
    } cases[] = {
        {SHARED_OF("s[t] = 1;"), 1},
        {SHARED_OF("s[t * 32] = 1;"), 32},
        {SHARED_OF("s[t * 33] = 1;"), 1},
        {SHARED_OF("s[t * 2] = 1;"), 2},
        {SHARED_OF("s[n & 7] = 1;"), 1},
        {SHARED_OF("s[(int)x[t] & 255] = 1;"), 3}, // as random places have it
        {SHARED_OF("atomicAdd(&s[t], 1);"), 1},
        {SHARED_OF("atomicAdd(&s[0], 1);"), 32},
        {SHARED_OF("atomicAdd(&s[(int)x[t] & 255], 1);"), 3}, // of global memory the load, and no update
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slri_warp_requests asked = requests_of(cases[i].text, 32);
        assert_int_equal(asked.shared_requests, 1);
        assert_int_equal(asked.passes, cases[i].passes);
        assert_int_equal(asked.updates, 0);
    }
    assert_int_equal(requests_of(WARPS_OF("atomicAdd(&x[t], 1.0f);"), 64).updates, 64);
}

static void the_warps_of_every_block_are_asked(void **state)
{
    (void)state;
    static const struct {
        uint32_t grid[3], block[3], requests, sectors;
    } cases[] = {
        {{1, 1, 1}, {1, 1, 1}, 1, 1},        {{1, 1, 1}, {31, 1, 1}, 1, 4},     {{1, 1, 1}, {40, 1, 1}, 2, 5},
        {{1, 1, 1}, {1024, 1, 1}, 32, 128},  {{1, 1, 1}, {8, 4, 2}, 2, 8},      {{1, 1, 1}, {3, 5, 7}, 4, 14},
        {{2, 3, 5}, {16, 2, 1}, 30, 30 * 4}, {{3, 1, 1}, {1, 1, 64}, 6, 3 * 8},
    };
    static const char text[] =
        "__global__ void f(float *x) { x[threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)] = 1; }\n";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct work w = begin(text, 1, 1);
        memcpy(w.grid, cases[i].grid, sizeof w.grid);
        memcpy(w.block, cases[i].block, sizeof w.block);
        w.wanted.requests = true;
        GIVE(&w, buffer, 16384);
        count(&w);
        if (w.count.warps.requests != cases[i].requests || w.count.warps.sectors != cases[i].sectors)
            fail_msg("case %zu: %llu requests, %llu sectors", i, (unsigned long long)w.count.warps.requests,
                     (unsigned long long)w.count.warps.sectors);
    }
}

// No sum of places and bytes goes past 64 bits, where the end of an access would lie before its beginning.
static void a_place_far_outside_is_one_place(void **state)
{
    (void)state;
    for (int shift = 40; shift < 64; shift++)
        for (int less = 0; less < 4; less++) {
            int64_t far = (int64_t)(0 - ((uint64_t)1 << shift) - (uint64_t)less);
            struct work w = begin("__global__ void f(long long far) { __shared__ char s[64]; s[far] = 1; }\n", 1, 32);
            w.wanted.requests = true;
            GIVE(&w, &far, 8);
            count(&w);
            assert_int_equal(w.count.warps.passes, 1);
        }
}

static void nothing_is_asked_of_warps_where_nobody_wants_to_know(void **state)
{
    (void)state;
    int n = 4;
    struct work w = begin(WARPS_OF("x[t * n] = 1;"), 1, 64);
    GIVE(&w, buffer, 4096);
    GIVE(&w, &n, 4);
    count(&w);
    assert_int_equal(w.count.warps.requests + w.count.warps.sectors, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_and_bytes_of_a_straight_kernel_are_exact),
        cmocka_unit_test(threads_beyond_the_end_are_sampled),
        cmocka_unit_test(threads_inside_and_threads_at_the_edge_are_walked),
        cmocka_unit_test(what_only_the_grids_first_thread_does_does_not_count_for_many),
        cmocka_unit_test(what_each_blocks_first_thread_stores_is_seen),
        cmocka_unit_test(of_two_long_threads_one_is_in_the_second_half_of_the_grid),
        cmocka_unit_test(loops_run_as_often_as_the_launchs_numbers_say),
        cmocka_unit_test(what_the_threads_of_a_row_share_is_counted),
        cmocka_unit_test(divisions_by_what_constants_do_not_give_are_counted),
        cmocka_unit_test(loads_of_one_place_by_a_row_and_barriers_are_counted),
        cmocka_unit_test(loads_from_a_struct_that_is_given_by_value_are_no_accesses),
        cmocka_unit_test(a_branch_on_memory_counts_both_ways),
        cmocka_unit_test(what_both_ways_agree_on_is_known_behind_them),
        cmocka_unit_test(a_loop_that_hangs_on_memory_is_not_known),
        cmocka_unit_test(a_loop_without_an_end_is_not_known),
        cmocka_unit_test(a_long_walk_is_made_for_few_threads),
        cmocka_unit_test(control_is_followed),
        cmocka_unit_test(a_fused_multiply_add_is_two_operations),
        cmocka_unit_test(lines_that_drive_each_other_out_of_a_cache_are_missed_again),
        cmocka_unit_test(nothing_is_missed_where_no_cache_is_given),
        cmocka_unit_test(threads_beyond_the_room_are_left_out),
        cmocka_unit_test(a_warp_asks_for_the_sectors_that_its_lanes_reach),
        cmocka_unit_test(a_warp_takes_a_pass_for_each_word_of_the_busiest_bank),
        cmocka_unit_test(the_warps_of_every_block_are_asked),
        cmocka_unit_test(a_place_far_outside_is_one_place),
        cmocka_unit_test(nothing_is_asked_of_warps_where_nobody_wants_to_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

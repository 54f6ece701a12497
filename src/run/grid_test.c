// SPDX-License-Identifier: Apache-2.0
// Kernels as people write them, run by the interpreter, against plain C; and what a grid does when a kernel is wrong.
#include "run/grid_test.h"

// ---- kernels -------------------------------------------------------------------------------------------------------

static void saxpy_touches_every_element_once(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void saxpy(int n, float a, const float *x, float *y) {\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    if (i < n) y[i] = a * x[i] + y[i];\n}\n",
                            "saxpy", 4, 64);
    float x[200], y[200], a = 2.5f;
    int n = 200;
    for (int i = 0; i < n; i++)
        x[i] = (float)i, y[i] = 1;
    GIVE(&l, &n, sizeof n), GIVE(&l, &a, sizeof a), GIVE(&l, x, sizeof x), GIVE(&l, y, sizeof y);
    for (uint64_t seed = 0; seed < 3; seed++) {
        l.grid.seed = seed;
        assert_int_equal(go(&l), SLRI_FAULT_NONE);
        for (int i = 0; i < n; i++)
            assert_float_equal(y[i], 1 + (float)(seed + 1) * a * (float)i, 0);
    }
    end(&l);
}

#define REDUCE                                                                                                         \
    "__global__ void reduce(const float *in, float *out, unsigned n) {\n"                                              \
    "    extern __shared__ float part[];\n"                                                                            \
    "    unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;\n"                                             \
    "    part[tid] = i < n ? in[i] : 0;\n"                                                                             \
    "    __syncthreads();\n"                                                                                           \
    "    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {\n"                                                        \
    "        if (tid < s) part[tid] += part[tid + s];\n"                                                               \
    "        __syncthreads();\n"                                                                                       \
    "    }\n"                                                                                                          \
    "    if (tid == 0) out[blockIdx.x] = part[0];\n"                                                                   \
    "}\n"

static void a_tree_reduction_sums_each_block(void **unused)
{
    (void)unused;
    struct launch l = begin(REDUCE, "reduce", 3, 128);
    float in[384], out[3];
    unsigned n = 300;
    for (unsigned i = 0; i < 384; i++)
        in[i] = (float)(i % 17);
    l.grid.dynamic_shared = 128 * sizeof(float);
    GIVE(&l, in, sizeof in), GIVE(&l, out, sizeof out), GIVE(&l, &n, sizeof n);
    for (uint64_t seed = 0; seed < 8; seed++) {
        l.grid.seed = seed;
        l.grid.resident = (uint32_t)seed;
        assert_int_equal(go(&l), SLRI_FAULT_NONE);
        for (unsigned block = 0; block < 3; block++) {
            float sum = 0;
            for (unsigned i = 128 * block; i < 128 * block + 128 && i < n; i++)
                sum += in[i];
            assert_float_equal(out[block], sum, 0); // small integers: any order gives the same
        }
    }
    end(&l);
}

static void a_tiled_matmul_in_two_dimensions(void **unused)
{
    (void)unused;
    enum { N = 32 };
    struct launch l = begin("#define T 8\n"
                            "__global__ void matmul(const float *a, const float *b, float *c, int n) {\n"
                            "    __shared__ float ta[T][T], tb[T][T];\n"
                            "    int x = threadIdx.x, y = threadIdx.y;\n"
                            "    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;\n"
                            "    float sum = 0;\n"
                            "    for (int t = 0; t < n / T; t++) {\n"
                            "        ta[y][x] = a[row * n + t * T + x];\n"
                            "        tb[y][x] = b[(t * T + y) * n + col];\n"
                            "        __syncthreads();\n"
                            "        for (int k = 0; k < T; k++) sum += ta[y][k] * tb[k][x];\n"
                            "        __syncthreads();\n"
                            "    }\n"
                            "    c[row * n + col] = sum;\n}\n",
                            "matmul", N / 8, 8);
    static float a[N * N], b[N * N], c[N * N];
    int n = N;
    for (int i = 0; i < N * N; i++)
        a[i] = (float)(i % 7) - 3, b[i] = (float)(i % 5) - 2;
    l.grid.grid[1] = N / 8;
    l.grid.block[1] = 8;
    GIVE(&l, a, sizeof a), GIVE(&l, b, sizeof b), GIVE(&l, c, sizeof c), GIVE(&l, &n, sizeof n);
    for (l.grid.seed = 0; l.grid.seed < 3; l.grid.seed++) {
        memset(c, 0xff, sizeof c);
        assert_int_equal(go(&l), SLRI_FAULT_NONE);
        for (int i = 0; i < N * N; i++) {
            float sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i / N * N + k] * b[k * N + i % N];
            assert_float_equal(c[i], sum, 0);
        }
    }
    assert_int_equal(l.module->entry[0].shared_bytes, 2 * 8 * 8 * sizeof(float));
    end(&l);
}

static void a_histogram_with_atomics_on_shared_and_global_memory(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void histogram(const unsigned char *in, unsigned n, unsigned *bins) {\n"
                            "    __shared__ unsigned local[16];\n"
                            "    if (threadIdx.x < 16) local[threadIdx.x] = 0;\n"
                            "    __syncthreads();\n"
                            "    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;\n"
                            "         i += gridDim.x * blockDim.x)\n"
                            "        atomicAdd(&local[in[i] & 15], 1u);\n"
                            "    __syncthreads();\n"
                            "    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);\n}\n",
                            "histogram", 3, 32);
    unsigned char in[500];
    unsigned n = 500, bins[16] = {0}, expected[16] = {0};
    for (unsigned i = 0; i < n; i++)
        in[i] = (unsigned char)(i * i + 3), expected[in[i] & 15]++;
    GIVE(&l, in, sizeof in), GIVE(&l, &n, sizeof n), GIVE(&l, bins, sizeof bins);
    l.grid.seed = 5;
    l.grid.resident = 3;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_memory_equal(bins, expected, sizeof bins);
    end(&l);
}

static void barriers_combine_a_value(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void votes(const int *in, int *out) {\n"
                            "    int v = in[threadIdx.x];\n"
                            "    int *own = out + 3 * threadIdx.x;\n"
                            "    own[0] = __syncthreads_count(v);\n"
                            "    own[1] = __syncthreads_and(v > 0);\n"
                            "    own[2] = __syncthreads_or(v > 7);\n}\n",
                            "votes", 1, 40);
    int in[40], out[120];
    for (int i = 0; i < 40; i++)
        in[i] = i % 8;
    GIVE(&l, in, sizeof in), GIVE(&l, out, sizeof out);
    l.grid.seed = 9;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(out[3 * i], 35);
        assert_int_equal(out[3 * i + 1], 0);
        assert_int_equal(out[3 * i + 2], 0);
    }
    end(&l);
}

static void structs_by_value_are_each_threads_own(void **unused)
{
    (void)unused;
    struct launch l = begin("struct shape { int n, scale; int table[4]; };\n"
                            "static int twice(struct shape s) { s.scale *= 2; return s.scale; }\n"
                            "__global__ void k(struct shape s, int *out) {\n"
                            "    out[threadIdx.x] = twice(s) + s.table[threadIdx.x & 3];\n}\n"
                            "__global__ void changes(struct shape s, int *out) {\n"
                            "    s.n += threadIdx.x; out[threadIdx.x] = s.n;\n}\n",
                            "k", 1, 8);
    struct {
        int n, scale, table[4];
    } s = {3, 5, {1, 2, 3, 4}};
    int out[8];
    GIVE(&l, &s, sizeof s), GIVE(&l, out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], 10 + s.table[i & 3]);
    l.grid.entry = 1;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], 3 + i);
    end(&l);
}

static void shared_memory_is_reached_from_device_functions(void **unused)
{
    (void)unused;
    struct launch l = begin("__constant__ int weight[2] = { 10, 100 };\n"
                            "__device__ int turn(int v) {\n"
                            "    __shared__ int slot[32];\n"
                            "    slot[threadIdx.x] = v;\n"
                            "    __syncthreads();\n"
                            "    int got = slot[blockDim.x - 1 - threadIdx.x];\n"
                            "    __syncthreads();\n"
                            "    return got;\n}\n"
                            "__device__ void add(int *at, int v) { atomicAdd(at, v * weight[v & 1]); }\n"
                            "__global__ void k(int *out) {\n"
                            "    __shared__ int total;\n"
                            "    if (threadIdx.x == 0) total = 0;\n"
                            "    int a = turn(threadIdx.x), b = turn(a);\n"
                            "    add(&total, a);\n"
                            "    __syncthreads();\n"
                            "    out[threadIdx.x] = a * 100000 + b * 1000000 + total;\n}\n",
                            "k", 1, 8);
    int out[8];
    GIVE(&l, out, sizeof out);
    l.grid.seed = 3;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], (7 - i) * 100000 + i * 1000000 + (0 + 2 + 4 + 6) * 10 + (1 + 3 + 5 + 7) * 100);
    assert_int_equal(l.module->entry[0].shared_bytes, 128 + 16);
    end(&l);
}

static void a_thread_that_spins_lets_the_others_go_on(void **unused)
{
    (void)unused;
    struct launch l =
        begin("__global__ void k(int *flag, int *out) {\n"
              "    if (threadIdx.x == 0) {\n"
              "        while (__nv_atomic_load_n(flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE) == 0)"
              " ;\n"
              "        *out = 7;\n"
              "    } else if (blockIdx.x == 1) {\n"
              "        __nv_atomic_store_n(flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);\n"
              "    }\n}\n",
              "k", 2, 2);
    int flag = 0, out = 0;
    GIVE(&l, &flag, sizeof flag), GIVE(&l, &out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_FUEL); // its other block never starts
    l.grid.resident = 2;
    flag = 0;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(out, 7);
    end(&l);
}

static void a_range_of_blocks_is_run_alone(void **unused)
{
    (void)unused;
    struct launch l =
        begin("__global__ void k(int *out) { out[blockIdx.y * gridDim.x + blockIdx.x] += 1; }", "k", 3, 1);
    int out[6] = {0};
    l.grid.grid[1] = 2;
    GIVE(&l, out, sizeof out);
    l.grid.first = 2;
    l.grid.count = 3;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    for (int i = 0; i < 6; i++)
        assert_int_equal(out[i], i >= 2 && i < 5);
    end(&l);
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void an_access_outside_a_buffer_says_who_and_where(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(int *out) {\n"
                            "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "    out[i] = i;\n}\n",
                            "k", 2, 4);
    int out[6];
    GIVE(&l, out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_ACCESS);
    assert_int_equal(l.end.at.block[0], 1);
    assert_int_equal(l.end.at.thread[0], 2);
    assert_int_equal(l.end.at.where.line, 3);
    end(&l);
}

static void shared_memory_has_its_extents(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(int which, int i) {\n"
                            "    __shared__ int fixed[8]; extern __shared__ int open[];\n"
                            "    if (which) fixed[i] = 1; else open[i] = 1;\n}\n",
                            "k", 1, 1);
    int which = 1, i = 7;
    GIVE(&l, &which, sizeof which), GIVE(&l, &i, sizeof i);
    l.grid.dynamic_shared = 16;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    i = 8;
    assert_int_equal(go(&l), SLRI_FAULT_INDEX);
    which = 0;
    i = 3;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    i = 4;
    assert_int_equal(go(&l), SLRI_FAULT_ACCESS);
    end(&l);
}

static void threads_at_two_barriers_are_a_fault(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(const int *in, int *out) {\n"
                            "    if (in[threadIdx.x])\n"
                            "        __syncthreads();\n"
                            "    else\n"
                            "        __syncthreads();\n"
                            "    out[threadIdx.x] = 1;\n}\n",
                            "k", 1, 4);
    int in[4] = {1, 1, 1, 1}, out[4];
    GIVE(&l, in, sizeof in), GIVE(&l, out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    in[2] = 0;
    assert_int_equal(go(&l), SLRI_FAULT_BARRIER);
    assert_int_equal(l.end.at.where.line, 3);
    assert_int_equal(l.end.at.thread[0], 0);
    assert_int_equal(l.end.other.where.line, 5);
    assert_int_equal(l.end.other.thread[0], 2);
    end(&l);
}

static void a_thread_that_has_returned_is_not_waited_for(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(int *out) {\n"
                            "    if (threadIdx.x >= 3) return;\n"
                            "    int n = __syncthreads_count(1);\n"
                            "    out[threadIdx.x] = n;\n}\n",
                            "k", 1, 5);
    int out[5] = {0};
    GIVE(&l, out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(out[2], 3);
    assert_int_equal(out[3], 0);
    assert_int_equal(l.end.missed, 1);
    end(&l);
}

static void launches_that_cannot_be_are_refused(void **unused)
{
    (void)unused;
    struct launch l =
        begin("__global__ void __launch_bounds__(64) k(int *out, double v) { out[0] = (int)v; }", "k", 1, 1);
    int out[1];
    double v = 3;
    static const struct {
        uint32_t grid[3], block[3];
        uint64_t shared;
        const char *words;
    } bad[] = {
        {{0, 1, 1}, {1, 1, 1}, 0, "a grid of 0 blocks along x"},
        {{1, 65536, 1}, {1, 1, 1}, 0, "65536 blocks along y"},
        {{1, 1, 1}, {1, 1, 65}, 0, "65 threads along z"},
        {{1, 1, 1}, {65, 1, 1}, 0, "expected at most 64 (__launch_bounds__)"},
        {{1, 1, 1}, {1, 1, 1}, 300000, "300000 bytes of dynamic and"},
    };
    GIVE(&l, out, sizeof out), GIVE(&l, &v, sizeof v);
    l.grid.arg = l.arg;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct slri_grid g = l.grid;
        memcpy(g.grid, bad[i].grid, sizeof g.grid);
        memcpy(g.block, bad[i].block, sizeof g.block);
        g.dynamic_shared = bad[i].shared;
        assert_int_equal(slri_interpret_grid(l.interp, &g, &l.end), SLR_INVALID);
        assert_non_null(strstr(slr_error_message(), bad[i].words));
    }
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(out[0], 3);
    l.arg[1].bytes = 4;
    assert_int_equal(slri_interpret_grid(l.interp, &l.grid, &l.end), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "argument 'v' has 8 bytes, but got 4"));
    l.grid.args = 1;
    assert_int_equal(slri_interpret_grid(l.interp, &l.grid, &l.end), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "takes 2 arguments, but got 1"));
    struct slri_interp_thread *thread;
    assert_int_equal(slri_interp_thread_create(l.interp, 0, &thread), SLR_UNSUPPORTED);
    end(&l);
}

// ---- watching ------------------------------------------------------------------------------------------------------

struct seen {
    uint32_t global_reads, global_writes, shared_writes, shared_reads, lifts;
    uint64_t bytes;
};

static void see(void *user, const struct slri_interp_thread *thread, const struct slri_code *code)
{
    struct seen *seen = user;
    struct slri_access access[2];
    uint32_t count = slri_watch_access(thread, code, access);
    for (uint32_t i = 0; i < count; i++) {
        bool is_shared = access[i].root.kind == SLRI_ROOT_SHARED;
        uint32_t *counter = access[i].is_write ? (is_shared ? &seen->shared_writes : &seen->global_writes)
                                               : (is_shared ? &seen->shared_reads : &seen->global_reads);
        ++*counter;
        seen->bytes += access[i].bytes;
        if (access[i].root.kind == SLRI_ROOT_BINDING && access[i].is_write)
            assert_int_equal(access[i].offset, 4 * (3 - slri_watch_number(thread)));
    }
}

static void see_lift(void *user, uint64_t block, const struct slri_code *barrier)
{
    struct seen *seen = user;
    (void)barrier;
    assert_int_equal(block, seen->lifts++);
}

static void a_watch_sees_every_access_and_barrier(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(const int *in, int *out) {\n"
                            "    __shared__ int s[4];\n"
                            "    s[threadIdx.x] = in[threadIdx.x];\n"
                            "    __syncthreads();\n"
                            "    out[3 - threadIdx.x] = s[threadIdx.x];\n}\n",
                            "k", 2, 4);
    int in[4] = {1, 2, 3, 4}, out[4];
    struct seen seen = {0};
    struct slri_watch watch = {.user = &seen, .step = see, .lift = see_lift};
    GIVE(&l, in, sizeof in), GIVE(&l, out, sizeof out);
    l.grid.watch = &watch;
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(seen.global_reads, 8);
    assert_int_equal(seen.global_writes, 8);
    assert_int_equal(seen.shared_reads, 8);
    assert_int_equal(seen.shared_writes, 8);
    assert_int_equal(seen.bytes, 128);
    assert_int_equal(seen.lifts, 2);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy_touches_every_element_once),
        cmocka_unit_test(a_tree_reduction_sums_each_block),
        cmocka_unit_test(a_tiled_matmul_in_two_dimensions),
        cmocka_unit_test(a_histogram_with_atomics_on_shared_and_global_memory),
        cmocka_unit_test(barriers_combine_a_value),
        cmocka_unit_test(structs_by_value_are_each_threads_own),
        cmocka_unit_test(shared_memory_is_reached_from_device_functions),
        cmocka_unit_test(a_thread_that_spins_lets_the_others_go_on),
        cmocka_unit_test(a_range_of_blocks_is_run_alone),
        cmocka_unit_test(an_access_outside_a_buffer_says_who_and_where),
        cmocka_unit_test(shared_memory_has_its_extents),
        cmocka_unit_test(threads_at_two_barriers_are_a_fault),
        cmocka_unit_test(a_thread_that_has_returned_is_not_waited_for),
        cmocka_unit_test(launches_that_cannot_be_are_refused),
        cmocka_unit_test(a_watch_sees_every_access_and_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// What a text does when its lanes are fibres: that it runs, and that what is wrong in it does not go well by chance.
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 64, BLOCKS = 3, N = THREADS * BLOCKS };

static struct shim_image *load(const char *text)
{
    const char *const kernel[] = {"k"};
    const struct shim_text one = {.text = text, .kernel = kernel, .kernels = 1};
    struct shim_image *image = shim_image_load(&one, 1);
    assert_non_null(image);
    return image;
}

static enum shim_end run(const struct shim_image *image, uint32_t blocks, uint32_t threads, void **parameter)
{
    const struct shim_launch launch = {
        image, shim_image_kernel(image, "k"), parameter, {blocks, 1, 1}, {threads, 1, 1}, NULL, NULL};
    return shim_run(&launch);
}

// Of a kernel of one buffer of N words, all i at first.
static enum shim_end run_words(const char *text, uint32_t threads, uint32_t words[N])
{
    struct shim_image *image = load(text);
    void *parameter[] = {&words};
    for (uint32_t i = 0; i < N; ++i)
        words[i] = i;
    enum shim_end end = run(image, N / threads, threads, parameter);
    shim_image_unload(image);
    return end;
}

static void threads_of_blocks_add_vectors(void **state)
{
    (void)state;
    struct shim_image *image =
        load("extern \"C\" __global__ void k(const float *a, const float *b, float *c, int n)\n"
             "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }\n");
    float a[N], b[N], c[N], *at[] = {a, b, c};
    int n = N - 5;
    void *parameter[] = {&at[0], &at[1], &at[2], &n};
    for (int i = 0; i < N; ++i)
        a[i] = (float)i, b[i] = 0.5f, c[i] = -1;
    assert_int_equal(run(image, BLOCKS, THREADS, parameter), SHIM_DONE);
    for (int i = 0; i < N; ++i)
        assert_float_equal(c[i], i < n ? (float)i + 0.5f : -1, 0);
    shim_image_unload(image);
}

#define TURN(barrier)                                                                                                  \
    "extern \"C\" __global__ void k(unsigned *x)\n"                                                                    \
    "{\n"                                                                                                              \
    "    __shared__ unsigned s[64];\n"                                                                                 \
    "    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;\n"                                                         \
    "    s[t] = x[i];\n" barrier "    x[i] = s[(t + by) % 64];\n"                                                      \
    "}\n"

static void shared_memory_is_in_order_by_a_barrier_alone(void **state)
{
    (void)state;
    static const char *const by[] = {"#define by 1\n", "#define by 63\n", "#define by 32\n"};
    static const uint32_t turn[] = {1, 63, 32};
    for (int i = 0; i < 3; ++i) {
        uint32_t x[N];
        char text[1000];
        snprintf(text, sizeof text, "%s%s", by[i], TURN("    __syncthreads();\n"));
        assert_int_equal(run_words(text, THREADS, x), SHIM_DONE);
        for (uint32_t at = 0; at < N; ++at)
            assert_int_equal(x[at], at / 64 * 64 + (at + turn[i]) % 64);
        uint32_t wrong = 0;
        snprintf(text, sizeof text, "%s%s", by[i], TURN(""));
        assert_int_equal(run_words(text, THREADS, x), SHIM_DONE);
        for (uint32_t at = 0; at < N; ++at)
            wrong += x[at] != at / 64 * 64 + (at + turn[i]) % 64;
        assert_int_not_equal(wrong, 0);
    }
}

#define KERNEL(body)                                                                                                   \
    "extern \"C\" __global__ void k(unsigned *x)\n{\n    unsigned t = threadIdx.x;\n    x += blockIdx.x * "            \
    "blockDim.x;\n" body "}\n"

static void what_a_GPU_would_not_end_is_told(void **state)
{
    (void)state;
    uint32_t x[N];
    assert_int_equal(run_words(KERNEL("if (t < 7) __syncthreads(); else __syncthreads();\n"), THREADS, x), SHIM_WRONG);
    assert_int_equal(
        run_words(KERNEL("if (t < 32) __syncthreads(); else __syncwarp(t == 32 ? 3u : 0xffffffffu);\n"), THREADS, x),
        SHIM_WRONG);
    assert_int_equal(run_words(KERNEL("x[t] = __shfl_sync(0xff, t, 0);\n"), THREADS, x), SHIM_WRONG);
    assert_int_equal(run_words(KERNEL("asm volatile(\"bar.arrive 1, 64;\");\n"), THREADS, x), SHIM_WRONG);
    assert_int_equal(run_words(KERNEL("if (t == 5) __trap(); __syncthreads();\n"), THREADS, x), SHIM_TRAPPED);
    assert_int_equal(run_words(KERNEL("if (t == 5) x = 0; x[t] = 1;\n"), THREADS, x), SHIM_ACCESS);
}

static void nobody_waits_for_a_thread_that_has_ended(void **state)
{
    (void)state;
    uint32_t x[N];
    assert_int_equal(run_words(KERNEL("if (t % 3 == 0) asm volatile(\"exit;\");\n"
                                      "    unsigned n = __syncthreads_count(t >= 32);\n"
                                      "    x[t] = 1000 * n + __popc(__ballot_sync(0xffffffffu, 1));\n"),
                               THREADS, x),
                     SHIM_DONE);
    for (uint32_t at = 0; at < N; ++at) {
        uint32_t t = at % 64; // of 0..31 eleven are multiples of three, of 32..63 eleven
        assert_int_equal(x[at], t % 3 == 0 ? at : 21 * 1000 + 21);
    }
}

static void lanes_give_each_other_values(void **state)
{
    (void)state;
    uint32_t x[N];
    assert_int_equal(
        run_words(
            KERNEL("unsigned all = 0xffffffffu, half = t & 16 ? 0xffff0000u : 0xffffu, l = t & 31, v = 0;\n"
                   "    v += __shfl_sync(half, l, 3, 16) == (l & 16) + 3;\n"
                   "    v += __shfl_up_sync(all, l, 2, 8) == ((l & 7) < 2 ? l : l - 2);\n"
                   "    v += __shfl_down_sync(all, 1.5 * l, 31) == (l == 0 ? 46.5 : 1.5 * l);\n"
                   "    v += __shfl_xor_sync(all, (long long)l << 40, 16) == (long long)(l ^ 16) << 40;\n"
                   "    v += __ballot_sync(half, l % 2) == (half & 0xaaaaaaaau);\n"
                   "    v += __match_any_sync(all, l / 5) == (l < 30 ? 31u << l / 5 * 5 : 3u << 30);\n"
                   "    v += __reduce_add_sync(half, (int)l) == (l & 16 ? 376 : 120);\n"
                   "    v += __reduce_max_sync(all, l) == 31 && __all_sync(all, l < 32) && !__any_sync(all, l > 31);\n"
                   "    if (l < 10) v += __activemask() == 1023;\n"
                   "    x[t] = v;\n"),
            THREADS, x),
        SHIM_DONE);
    for (uint32_t at = 0; at < N; ++at)
        assert_int_equal(x[at], (at % 32 < 10 ? 9 : 8));
}

static void threads_and_blocks_count_together(void **state)
{
    (void)state;
    uint32_t x[N];
    static const char text[] =
        "__device__ unsigned turn, sum;\n"
        "extern \"C\" __global__ void k(unsigned *x)\n"
        "{\n"
        "    for (bool done = false; !done;) {\n" // a lock that the threads of all blocks want
        "        if (atomicCAS(&turn, 0u, 1u) == 0u) {\n"
        "            sum = sum + 1;\n"
        "            x[0] = sum;\n"
        "            __nv_atomic_store_n(&turn, 0u, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);\n"
        "            done = true;\n"
        "        }\n"
        "    }\n"
        "}\n";
    assert_int_equal(run_words(text, THREADS, x), SHIM_DONE);
    assert_int_equal(x[0], N);
}

// ---- what comes late -----------------------------------------------------------------------------------------------

struct letter {
    uint32_t data[4], shown, read;
};

static void *send_letters(void *arg)
{
    const struct shim_launch *launch = arg;
    shim_run_block(launch, 0);
    return NULL;
}

// How often of 200 times a reader finds what is not there yet.
static uint32_t count_torn(const char *fence)
{
    char text[1000];
    snprintf(text, sizeof text,
             "extern \"C\" __global__ void k(unsigned *x)\n"
             "{\n"
             "    for (unsigned i = 1; i <= 200; ++i) {\n"
             "        if (threadIdx.x < 4) x[threadIdx.x] = i;\n"
             "        __syncwarp();\n"
             "        if (threadIdx.x == 0) {\n"
             "            %s\n"
             "            __nv_atomic_store_n(&x[4], i, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);\n"
             "            while (__nv_atomic_load_n(&x[5], __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM) != i) "
             "__nanosleep(9);\n"
             "        }\n"
             "        __syncwarp();\n"
             "    }\n"
             "}\n",
             fence);
    struct shim_image *image = load(text);
    struct letter letter = {0}, *at = &letter;
    void *parameter[] = {&at};
    const struct shim_launch launch = {image, shim_image_kernel(image, "k"), parameter, {1, 1, 1}, {32, 1, 1}, NULL,
                                       NULL};
    pthread_t sender;
    uint32_t torn = 0;
    assert_int_equal(pthread_create(&sender, NULL, send_letters, (void *)&launch), 0);
    for (uint32_t i = 1; i <= 200; ++i) {
        while (__atomic_load_n(&letter.shown, __ATOMIC_ACQUIRE) != i) {
        }
        torn += __atomic_load_n(&letter.data[2], __ATOMIC_RELAXED) != i;
        __atomic_store_n(&letter.read, i, __ATOMIC_RELEASE);
    }
    pthread_join(sender, NULL);
    shim_image_unload(image);
    return torn;
}

static void relaxed_store_is_seen_before_what_no_fence_orders(void **state)
{
    (void)state;
    assert_int_not_equal(count_torn(""), 0);
    assert_int_equal(count_torn("asm volatile(\"fence.acq_rel.sys;\" : : : \"memory\");"), 0);
    assert_int_equal(count_torn("__threadfence_system();"), 0);
}

int main(void)
{
#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer does not follow the fibres, and sees nothing of what an image orders");
    return 77;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_of_blocks_add_vectors),
        cmocka_unit_test(shared_memory_is_in_order_by_a_barrier_alone),
        cmocka_unit_test(what_a_GPU_would_not_end_is_told),
        cmocka_unit_test(nobody_waits_for_a_thread_that_has_ended),
        cmocka_unit_test(lanes_give_each_other_values),
        cmocka_unit_test(threads_and_blocks_count_together),
        cmocka_unit_test(relaxed_store_is_seen_before_what_no_fence_orders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Emitted MSL, compiled by the host's C++ compiler against tests/shim/metal/metal_stdlib, and run. `all` as an argument
// compiles each kernel that the tree has.
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include "abi/handler.h"
#include "base/status.h"
#include "emit/msl/emit_msl.h"
#include "ir/math/eval.h"
#include "ir/math/functions.h"
#include "ir/pass/handler_kernel.h"
#include "lang/kernel.h"

#include <glob.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct slri_module *compile(const char *path, const char *text)
{
    static const char *const folders[] = {SLIPRING_SOURCE_DIR "/src", SLIPRING_SOURCE_DIR "/include"};
    struct slri_source source = {.path = path, .text = text, .include = folders, .includes = 2};
    struct slri_module *module = NULL;
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        print_error("%s\n", slr_error_message());
    assert_non_null(module);
    return module;
}

static bool all;
static uint32_t compiled;

// ---- every kernel --------------------------------------------------------------------------------------------------

static uint32_t complaints_of(const struct slri_module *module, const struct slri_entry *entry)
{
    slri_text text = SLRI_TEXT_INIT;
    char *said = NULL;
    uint32_t count = 0;
    slr_status status = slri_emit_msl(module, entry, NULL, &text);
    const struct shim_text one = {.text = slri_text_view(&text)};
    if (status != SLR_OK) {
        assert_int_equal(status, SLR_UNSUPPORTED);
        assert_non_null(strstr(slr_error_message(), ": "));
        if (all)
            print_message("%s refused: %s\n", entry->name, slr_error_message());
    } else if (compiled++, !shim_compile(&one, &said)) {
        print_error("%s of %s: %.3000s\n", entry->name, module->name, said);
        count = 1;
    }
    free(said);
    slri_text_free(&text);
    return count;
}

static uint32_t complaints_of_file(const char *path)
{
    struct slri_module *module = compile(path, NULL);
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->entries; i++) {
        struct slri_module *batched = NULL;
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL) {
            count += complaints_of(module, &module->entry[i]);
        } else if (slri_handler_kernel(module, &module->entry[i], &batched) == SLR_OK) {
            count += complaints_of(batched, batched->entry);
            slri_module_destroy(batched);
        }
    }
    slri_module_destroy(module);
    return count;
}

static uint32_t complaints_of_files(const char *pattern)
{
    glob_t found;
    uint32_t count = 0;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        count += complaints_of_file(found.gl_pathv[i]);
    globfree(&found);
    return count;
}

static void every_kernel_is_text_that_compiles(void **state)
{
    (void)state;
    static const char *const pattern[] = {SLIPRING_SOURCE_DIR "/examples/*/*.cu", SLIPRING_SOURCE_DIR "/tests/*/*.cu",
                                          SLIPRING_SOURCE_DIR "/tests/check/*/*.cu"};
    uint32_t count = 0;
    for (size_t i = 0; i < (all ? sizeof pattern / sizeof *pattern : 0); i++)
        count += complaints_of_files(pattern[i]);
    count += complaints_of_files(SLIPRING_SOURCE_DIR "/examples/kernels/s*.cu");
    if (all)
        print_message("%u texts\n", compiled);
    assert_int_equal(count, 0);
}

// ---- what a text does ----------------------------------------------------------------------------------------------

enum { THREADS = 64, BLOCKS = 3, N = THREADS * BLOCKS };

static void emit_k(const char *source, slri_text *out)
{
    struct slri_module *module = compile("k.cu", source);
    if (slri_emit_msl(module, module->entry, NULL, out) != SLR_OK)
        fail_msg("%s", slr_error_message());
    slri_module_destroy(module);
}

static enum shim_end run_image(const struct shim_image *image, uint32_t blocks, const void *arguments)
{
    void *parameter[] = {(void *)arguments};
    const struct shim_launch launch = {
        image, shim_image_kernel(image, "slrk_k"), parameter, {blocks, 1, 1}, {THREADS, 1, 1}, NULL, NULL};
    assert_non_null(launch.kernel);
    return shim_run(&launch);
}

static enum shim_end run_text(const char *msl, uint32_t blocks, const void *arguments)
{
    const struct shim_text one = {.text = msl};
    struct shim_image *image = shim_image_load(&one, 1);
    assert_non_null(image);
    enum shim_end end = run_image(image, blocks, arguments);
    shim_image_unload(image);
    return end;
}

static enum shim_end run_source(const char *source, uint32_t blocks, const void *arguments)
{
    slri_text msl = SLRI_TEXT_INIT;
    emit_k(source, &msl);
    enum shim_end end = run_text(slri_text_view(&msl), blocks, arguments);
    slri_text_free(&msl);
    return end;
}

static void arguments_of_every_sort_arrive(void **state)
{
    (void)state;
    static const char source[] =
        "#include <cuda_fp16.h>\nstruct two { float4 a; int b; };\n"
        "__global__ void k(const int *none, int *out, short s, bool on, half h, long long l, struct two t)\n{\n"
        "    if (threadIdx.x || blockIdx.x) return;\n"
        "    out[0] = none ? 1 : 2; out[1] = s; out[2] = on; out[3] = (int)(__half2float(h) * 4.0f);\n"
        "    out[4] = (int)(l / 1000); out[5] = (int)(t.a.z * 2.0f); out[6] = t.b; out[7] = (int)gridDim.x;\n}\n";
    int out[8] = {0};
    const struct {
        const void *none;
        int *out;
        uint32_t s, on, half;
        int64_t l;
        _Alignas(16) float a[4];
        int b;
    } arguments = {NULL, out, (uint16_t)-7, 1, 0x3e00, INT64_C(-5000000000), {1, 2, 3.5f, 4}, 77};
    const int wanted[8] = {2, -7, 1, 6, -5000000, 7, 77, BLOCKS};
    assert_int_equal(run_source(source, BLOCKS, &arguments), SHIM_DONE);
    assert_memory_equal(out, wanted, sizeof wanted);
}

static void a_block_shares_memory_and_votes(void **state)
{
    (void)state;
    uint32_t x[N];
    const void *const arguments[] = {x};
    for (uint32_t i = 0; i < N; i++)
        x[i] = i * 7;
    assert_int_equal(run_source("__global__ void k(unsigned *x)\n{\n    __shared__ unsigned s[64];\n"
                                "    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;\n    s[t] = x[i];\n"
                                "    __syncthreads();\n    unsigned n = __syncthreads_count(x[i] % 2);\n"
                                "    x[i] = s[63 - t] + n;\n}\n",
                                BLOCKS, arguments),
                     SHIM_DONE);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(x[i], (i / 64 * 64 + 63 - i % 64) * 7 + 32);
}

static void lanes_of_a_simdgroup_give_each_other_values(void **state)
{
    (void)state;
    uint32_t x[N] = {0};
    const void *const arguments[] = {x};
    assert_int_equal(
        run_source("__global__ void k(unsigned *x)\n{\n    unsigned t = threadIdx.x, l = t & 31, v = 0;\n"
                   "    unsigned all = 0xffffffffu, half = t & 16 ? 0xffff0000u : 0xffffu;\n"
                   "    v += __shfl_sync(half, l, 3, 16) == (l & 16) + 3;\n"
                   "    v += __shfl_up_sync(all, l, 2, 8) == ((l & 7) < 2 ? l : l - 2);\n"
                   "    v += __shfl_down_sync(all, 1.5f * (float)l, 31) == (l == 0 ? 46.5f : 1.5f * (float)l);\n"
                   "    v += __shfl_xor_sync(all, (long long)l << 40, 16) == (long long)(l ^ 16) << 40;\n"
                   "    v += __ballot_sync(half, l % 2) == (half & 0xaaaaaaaau);\n"
                   "    v += __match_any_sync(all, l / 5) == (l < 30 ? 31u << l / 5 * 5 : 3u << 30);\n"
                   "    v += __reduce_add_sync(half, (int)l) == (l & 16 ? 376 : 120);\n"
                   "    v += __reduce_max_sync(all, l) == 31 && __all_sync(all, l < 32) && !__any_sync(all, l > 31);\n"
                   "    if (l < 10) v += __activemask() == 1023 && __reduce_min_sync(1023u, l + 5) == 5;\n"
                   "    x[blockIdx.x * 64 + t] = v;\n}\n",
                   BLOCKS, arguments),
        SHIM_DONE);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(x[i], i % 32 < 10 ? 9 : 8);
}

static void atomics_count_although_their_exchange_may_fail_without_a_reason(void **state)
{
    (void)state;
    struct {
        uint32_t sum, least, wraps, swapped;
        float real;
    } of = {0, 1000, 0, 0, 0};
    const void *const arguments[] = {&of, &of.real};
    assert_int_equal(
        run_source("__global__ void k(unsigned *a, float *real)\n{\n    unsigned i = blockIdx.x * 64 + threadIdx.x;\n"
                   "    atomicAdd(&a[0], i); atomicMin(&a[1], i + 3); atomicInc(&a[2], 9u);\n"
                   "    for (unsigned seen = a[3];;) {\n        unsigned was = atomicCAS(&a[3], seen, seen + 2);\n"
                   "        if (was == seen) break;\n        seen = was;\n    }\n"
                   "    atomicAdd(real, 0.5f);\n}\n",
                   BLOCKS, arguments),
        SHIM_DONE);
    assert_int_equal(of.sum, N * (N - 1) / 2);
    assert_int_equal(of.least, 3);
    assert_int_equal(of.wraps, N % 10);
    assert_int_equal(of.swapped, 2 * N);
    assert_float_equal(of.real, 0.5f * N, 0);
}

struct letter {
    uint32_t data[4], shown, read;
};

static void *send_letters(void *arg)
{
    shim_run_block(arg, 0);
    return NULL;
}

// How often of 200 times the host, which waits for a word, finds that what was stored before it is not there yet. A
// relaxed store may be seen before plain ones.
static uint32_t count_torn(const char *msl)
{
    const struct shim_text one = {.text = msl};
    struct shim_image *image = shim_image_load(&one, 1);
    assert_non_null(image);
    struct letter letter = {0};
    void *arguments[] = {&letter}, *parameter[] = {arguments};
    const struct shim_launch launch = {
        image, shim_image_kernel(image, "slrk_k"), parameter, {1, 1, 1}, {32, 1, 1}, NULL, NULL};
    pthread_t sender;
    uint32_t torn = 0;
    assert_int_equal(pthread_create(&sender, NULL, send_letters, (void *)&launch), 0);
    for (uint32_t i = 1; i <= 200; i++) {
        while (__atomic_load_n(&letter.shown, __ATOMIC_ACQUIRE) != i) {
        }
        torn += __atomic_load_n(&letter.data[2], __ATOMIC_RELAXED) != i;
        __atomic_store_n(&letter.read, i, __ATOMIC_RELEASE);
    }
    pthread_join(sender, NULL);
    shim_image_unload(image);
    return torn;
}

static void an_order_is_a_fence_before_a_relaxed_store(void **state)
{
    (void)state;
    static const char define[] = "#define SLRI_COHERENT";
    slri_text msl = SLRI_TEXT_INIT;
    emit_k("__global__ void k(unsigned *x)\n{\n    for (unsigned i = 1; i <= 200; ++i) {\n"
           "        if (threadIdx.x < 4) x[threadIdx.x] = i;\n        __syncwarp();\n        if (threadIdx.x == 0) {\n"
           "            __nv_atomic_store_n(&x[4], i, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_SYSTEM);\n"
           "            while (__nv_atomic_load_n(&x[5], __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM) != i) { }\n"
           "        }\n        __syncwarp();\n    }\n}\n",
           &msl);
    assert_int_equal(count_torn(slri_text_view(&msl)), 0);
    char *at = strstr(msl.data, define);
    assert_non_null(at);
    memset(at, ' ', sizeof define - 1); // then it has no fences
    assert_int_not_equal(count_torn(slri_text_view(&msl)), 0);
    slri_text_free(&msl);
}

static void faults_and_what_is_printed_are_told(void **state)
{
    (void)state;
    int32_t x[2] = {0, 5};
    uint32_t faulted[3] = {0};
    _Alignas(8) uint32_t printed[64] = {0, 0, 20};
    const void *const arguments[] = {x, printed, faulted};
    assert_int_equal(
        run_source("__global__ void k(int *x)\n{\n    if (threadIdx.x != 3) return;\n\n    x[1] = x[1] / x[0];\n"
                   "    printf(\"%d and %f, %f\", 12, 0.5, (float)x[0] + 7.625f);\n    x[0] = 9;\n}\n",
                   1, arguments),
        SHIM_DONE);
    assert_int_equal(faulted[0], SLRI_FAULT_DIVIDE);
    assert_int_equal(faulted[2], 5);
    assert_int_equal(x[0], 9);
    assert_int_equal(x[1], 0);
    double values[2];
    memcpy(values, printed + 8, sizeof values);
    assert_int_equal(printed[0], 4); // words of 8 bytes: which text, and three values
    assert_int_equal(printed[4], 0);
    assert_int_equal(printed[5], 3);
    assert_int_equal(printed[6], 12);
    assert_float_equal(values[0], 0.5, 0);
    assert_float_equal(values[1], 7.625, 0);
}

static void doubles_are_moved(void **state)
{
    (void)state;
    double a[6] = {0, 0, 0, 0, 1e300, -0.0};
    const struct {
        double *a;
        double d;
        const float *f;
    } arguments = {a, 1.0 / 3, (const float[]){0x1.8p-140f, 0x1.fffffep127f}};
    assert_int_equal(
        run_source("__device__ double second(const double *p) { double d = p[1]; return d; }\n"
                   "__global__ void k(double *a, double d, const float *f)\n{\n    if (threadIdx.x) return;\n"
                   "    a[0] = d; a[1] = f[0]; a[2] = f[1]; a[3] = second(a + 4);\n"
                   "    a[4] = __longlong_as_double(__double_as_longlong(a[4]) + 1); a[5] = 0.1;\n}\n",
                   1, &arguments),
        SHIM_DONE);
    const double wanted[6] = {1.0 / 3, 0x1.8p-140, 0x1.fffffep127, -0.0, nextafter(1e300, INFINITY), 0.1};
    assert_memory_equal(a, wanted, sizeof wanted);
}

// ---- functions that Metal has not, of floats
// -------------------------------------------------------------------------

static const struct {
    const char *source;
    unsigned id;
    uint32_t bound; // in units of the last place, of a result that is no subnormal
} functions[] = {
    {"expm1f(a)", SLRI_MATH_EXPM1F, 2},
    {"log1pf(a)", SLRI_MATH_LOG1PF, 2},
    {"cbrtf(a)", SLRI_MATH_CBRTF, 2},
    {"rcbrtf(a)", SLRI_MATH_RCBRTF, 3},
    {"erff(a)", SLRI_MATH_ERFF, 2},
    {"erfcf(a)", SLRI_MATH_ERFCF, 4},
    {"normcdff(a)", SLRI_MATH_NORMCDFF, 4},
    {"hypotf(a, b)", SLRI_MATH_HYPOTF, 1},
    {"rhypotf(a, b)", SLRI_MATH_RHYPOTF, 2},
    {"remainderf(a, b)", SLRI_MATH_REMAINDERF, 0},
    {"logbf(a)", SLRI_MATH_LOGBF, 0},
    {"nextafterf(a, b)", SLRI_MATH_NEXTAFTERF, 0},
    {"fmodf(a, b)", SLRI_MATH_FMODF, 0},
    {"roundf(a)", SLRI_MATH_ROUNDF, 0},
    {"__saturatef(a)", SLRI_MATH_FAST_SATURATEF, 0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, SAMPLES = 64 * 128 };

static uint32_t ulp(float a, float b)
{
    int32_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if (a != a || b != b)
        return a != a && b != b ? 0 : UINT32_MAX;
    x = x < 0 ? INT32_MIN - x : x;
    y = y < 0 ? INT32_MIN - y : y;
    return x > y ? (uint32_t)x - (uint32_t)y : (uint32_t)y - (uint32_t)x;
}

// Any bits, and as many of ordinary size.
static void fill_samples(float samples[SAMPLES])
{
    uint64_t z = 1;
    for (int i = 0; i < SAMPLES; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t bits = (uint32_t)(z >> 32);
        memcpy(&samples[i], &bits, sizeof bits);
        if (i % 2)
            samples[i] = (float)(int32_t)bits * (i % 4 == 1 ? 0x1p-29f : 0x1p-27f);
    }
    samples[0] = samples[2] = 0.0f;
    samples[4] = -0.0f;
    samples[6] = (float)(1 / (double)samples[0]);
}

static void functions_made_of_floats_keep_their_bounds(void **state)
{
    (void)state;
    static float in[SAMPLES], out[SAMPLES * FUNCTIONS];
    const void *const arguments[] = {in, out};
    char source[4096];
    size_t at = (size_t)snprintf(source, sizeof source,
                                 "#include <math.h>\n__global__ void k(const float *in, float *out)\n{\n"
                                 "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                 "    float a = in[i], b = in[(i + 129) %% %d];\n",
                                 SAMPLES);
    for (int f = 0; f < FUNCTIONS; f++)
        at += (size_t)snprintf(source + at, sizeof source - at, "    out[i * %d + %d] = %s;\n", FUNCTIONS, f,
                               functions[f].source);
    snprintf(source + at, sizeof source - at, "}\n");
    uint32_t wrong = 0;
    fill_samples(in);
    assert_int_equal(run_source(source, SAMPLES / THREADS, arguments), SHIM_DONE);
    for (int f = 0; f < FUNCTIONS; f++) {
        uint32_t worst = 0, where = 0;
        for (uint32_t i = 0; i < SAMPLES; i++) {
            union slri_scalar result, given[3] = {{.f32 = in[i]}, {.f32 = in[(i + 129) % SAMPLES]}};
            slri_math_eval(functions[f].id, given, &result);
            const uint32_t off = ulp(out[i * FUNCTIONS + f], result.f32);
            const bool is_subnormal = result.f32 > -0x1p-126f && result.f32 < 0x1p-126f && off < 8;
            where = off > worst && !is_subnormal ? i : where;
            worst = off > worst && !is_subnormal ? off : worst;
        }
        if (all || worst > functions[f].bound)
            print_message("%s: %u ULP, at a = %a, b = %a: %a\n", functions[f].source, worst, in[where],
                          in[(where + 129) % SAMPLES], out[where * FUNCTIONS + f]);
        wrong += worst > functions[f].bound;
    }
    assert_int_equal(wrong, 0);
}

// ---- what is wrong -------------------------------------------------------------------------------------------------

static void run_changed(const char *from, const char *to, uint32_t x[N])
{
    slri_text msl = SLRI_TEXT_INIT, changed = SLRI_TEXT_INIT;
    const void *const arguments[] = {x};
    emit_k("__global__ void k(unsigned *x)\n{\n    __shared__ unsigned s[64];\n    __shared__ unsigned sum;\n"
           "    unsigned t = threadIdx.x, i = blockIdx.x * 64 + t;\n    if (t == 0) sum = 0;\n    s[t] = i * i;\n"
           "    __syncthreads();\n    for (unsigned seen = sum;;) {\n"
           "        unsigned was = atomicCAS(&sum, seen, seen + s[63 - t]);\n        if (was == seen) break;\n"
           "        seen = was;\n    }\n    __syncthreads();\n"
           "    x[i] = sum + (unsigned)(float)__shfl_up_sync(0xffffffffu, t, 3) + __reduce_max_sync(0xffffffffu, t);\n"
           "    x[i] += (unsigned)((float)(int)t * -1.0f);\n}\n",
           &msl);
    const char *at = strstr(slri_text_view(&msl), from);
    assert_non_null(at);
    slri_text_append(&changed, msl.data, (size_t)(at - msl.data));
    slri_text_puts(&changed, to);
    slri_text_puts(&changed, at + strlen(from));
    memset(x, 0, N * sizeof *x);
    assert_int_equal(run_text(slri_text_view(&changed), BLOCKS, arguments), SHIM_DONE);
    slri_text_free(&changed);
    slri_text_free(&msl);
}

static void planted_faults_are_found(void **state)
{
    (void)state;
    static const char *const planted[][2] = {
        {"#define SLRI_SYNC() ", "#define SLRI_SYNC() (void)0 //"},
        {"&& seen == old)", "&& false)"},
        {"metal::simd_shuffle(bits, (ushort)lane)", "metal::simd_shuffle(bits, (ushort)(lane ^ 1))"},
        {"#define slri_simd_max metal::simd_max", "#define slri_simd_max metal::simd_min"},
        {"a <= first ? (type)(least)", "a <= first ? (type)(most)"},
        {"own - first ? own - (uint)by : own", "own - first ? own - (uint)by : first"}};
    uint32_t wanted[N], x[N];
    run_changed("#line 1", "#line 1", wanted);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++) {
        run_changed(planted[i][0], planted[i][1], x);
        if (memcmp(x, wanted, sizeof wanted) == 0)
            fail_msg("%s is not missed", planted[i][0]);
    }
}

static void a_pointer_into_another_space_is_refused_at_the_users_line(void **state)
{
    (void)state;
    slri_text msl = SLRI_TEXT_INIT;
    char *said = NULL;
    if (!shim_checks_spaces()) {
        print_message("no clang++ here: address spaces are not checked\n");
        skip();
    }
    emit_k(
        "__global__ void k(int *x)\n{\n    __shared__ int s[4];\n    s[threadIdx.x & 3] = 1;\n\n    x[0] = s[1];\n}\n",
        &msl);
    const struct shim_text one = {.text = slri_text_view(&msl)};
    assert_true(shim_compile(&one, &said));
    char *at = strstr(strstr(msl.data, "#line 4 \"k.cu\""), "slri_s0, ");
    assert_non_null(at);
    at = strstr(at, ", L)");
    memcpy(at, ", G)", 4);
    assert_false(shim_compile(&one, &said));
    assert_non_null(strstr(said, "k.cu:4:"));
    assert_non_null(strstr(said, "address"));
    free(said);
    slri_text_free(&msl);
}

int main(int argc, char **argv)
{
#ifdef __SANITIZE_THREAD__
    puts("skipped: ThreadSanitizer does not follow the fibres");
    return 77;
#endif
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_text_that_compiles),
        cmocka_unit_test(arguments_of_every_sort_arrive),
        cmocka_unit_test(a_block_shares_memory_and_votes),
        cmocka_unit_test(lanes_of_a_simdgroup_give_each_other_values),
        cmocka_unit_test(atomics_count_although_their_exchange_may_fail_without_a_reason),
        cmocka_unit_test(an_order_is_a_fence_before_a_relaxed_store),
        cmocka_unit_test(faults_and_what_is_printed_are_told),
        cmocka_unit_test(doubles_are_moved),
        cmocka_unit_test(functions_made_of_floats_keep_their_bounds),
        cmocka_unit_test(planted_faults_are_found),
        cmocka_unit_test(a_pointer_into_another_space_is_refused_at_the_users_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

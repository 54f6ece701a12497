// SPDX-License-Identifier: Apache-2.0
// What kernels have beside blocks and warps: atomics, vectors, printf and assert, and what C-like CUDA code borrows of
// C++.
#include "ir/format.h"
#include "run/grid_test.h"

#define K(body) "__global__ void k(int *out, float *real, const int *in) {\nint t = threadIdx.x;\n" body "\n}\n"

struct made {
    int out[64];
    float real[64];
    char printed[4096];
    uint32_t fault, line;
    const struct slri_module *module;
};

static void keep(void *user, uint32_t format, const union slri_scalar *value, uint32_t count)
{
    (void)count;
    struct made *made = user;
    struct slri_text text = SLRI_TEXT_INIT;
    size_t has = strlen(made->printed);
    slri_format_fill(made->module->format[format].text, value, &text);
    snprintf(made->printed + has, sizeof made->printed - has, "%s", slri_text_view(&text));
    slri_text_free(&text);
}

static struct made run(const char *text, uint32_t threads)
{
    struct made made = {.fault = 0};
    struct launch l = begin(text, "k", 1, threads);
    int in[64];
    for (int i = 0; i < 64; i++)
        in[i] = i * 3;
    GIVE(&l, made.out, sizeof made.out), GIVE(&l, made.real, sizeof made.real), GIVE(&l, in, sizeof in);
    made.module = l.module;
    l.grid.print = keep;
    l.grid.user = &made;
    made.fault = go(&l);
    made.line = l.end.at.where.line;
    end(&l);
    return made;
}

// ---- atomics -------------------------------------------------------------------------------------------------------

static void atomics_of_every_type(void **unused)
{
    (void)unused;
    struct made made =
        run(K("unsigned *u = (unsigned *)out + 8; long *wide = (long *)(out + 16);\n"
              "unsigned long long *uw = (unsigned long long *)(out + 24);\n"
              "double *d = (double *)(real + 8);\n"
              "atomicAdd(&out[0], t); atomicSub(&out[1], t); atomicMax(&out[2], t); atomicMin(&out[3], -t);\n"
              "atomicOr(&out[4], 1 << t); atomicXor(&out[5], t); atomicExch(&out[6], 7);\n"
              "atomicCAS(&out[7], t, t + 1);\n"
              "atomicAdd(&u[0], 2u); atomicInc(&u[1], 5u); atomicDec(&u[2], 5u); atomicMax(&u[3], 4000000000u);\n"
              "atomicMin(wide, -5L * t); atomicAdd_system(&uw[0], 1ull << 33); atomicAnd(&uw[1], 0ull);\n"
              "atomicAdd(&real[0], 0.5f); atomicAdd_block(d, 0.25); atomicExch(&real[1], 3.f);\n"
              "__nv_atomic_fetch_add(&real[2], 1.f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);"),
            8);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    static const int expected[] = {28, -28, 7, -7, 255, 0, 7, 8, 16, 2, 4};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(made.out[i], expected[i]);
    assert_int_equal((unsigned)made.out[11], 4000000000u);
    int64_t wide;
    unsigned long long sum;
    double d;
    memcpy(&wide, made.out + 16, 8), memcpy(&sum, made.out + 24, 8), memcpy(&d, made.real + 8, 8);
    assert_int_equal(wide, -35);
    assert_true(sum == 8ull << 33);
    assert_float_equal(d, 2.0, 0);
    assert_float_equal(made.real[0], 4, 0);
    assert_float_equal(made.real[1], 3, 0);
    assert_float_equal(made.real[2], 8, 0);
}

// ---- vectors -------------------------------------------------------------------------------------------------------

static void vectors_are_structs_that_every_source_knows(void **unused)
{
    (void)unused;
    struct made made =
        run("__device__ float4 scale(float4 v, float by) { v.x *= by; v.w = v.x; return v; }\n" K(
                "float4 v = make_float4(1, 2, 3, 4), w = scale(v, 2.f);\n"
                "float3 s = {5, 6, 7}; int2 pair; pair.x = t; pair.y = t + 1;\n"
                "((float4 *)real)[1] = w; ((float4 *)real)[2] = make_float4(s.x, s.y, s.z, 0);\n"
                "uint3 place = threadIdx; dim3 extent = blockDim;\n"
                "out[t] = pair.x + pair.y + (int)place.x + (int)extent.y + (int)make_uchar4(1, 2, 3, 4).z;\n"
                "out[8] = sizeof(float3) * 1000 + sizeof(double2) * 100 + sizeof(char3);\n"
                "struct packed { char c; float4 v; }; struct loose { char c; float3 v; };\n"
                "out[9] = sizeof(struct packed) * 100 + sizeof(struct loose);"),
            2);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    static const float expected[] = {2, 2, 3, 2, 5, 6, 7, 0};
    assert_memory_equal(made.real + 4, expected, sizeof expected);
    assert_int_equal(made.out[0], 0 + 1 + 0 + 1 + 3);
    assert_int_equal(made.out[1], 1 + 2 + 1 + 1 + 3);
    assert_int_equal(made.out[8], 12000 + 1600 + 3);
    assert_int_equal(made.out[9], 3200 + 16);
}

// ---- printf, assert ------------------------------------------------------------------------------------------------

static void what_is_printed_is_what_the_host_would_print(void **unused)
{
    (void)unused;
    struct made made =
        run(K("if (t == 0) out[0] = printf(\"%d %5u|%-4x|%08.3f %e %c %% %lld\\n\", -3, 7u, 255, 3.14159f,\n"
              "                             1e10, 'x', 1L << 40);\n"
              "if (t == 1) printf(\"plain\\n\");"),
            2);
    char expected[256];
    snprintf(expected, sizeof expected, "%d %5u|%-4x|%08.3f %e %c %% %lld\nplain\n", -3, 7u, 255, (double)3.14159f,
             1e10, 'x', 1LL << 40);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    assert_string_equal(made.printed, expected);
    assert_int_equal(made.out[0], 7);
}

static void a_text_and_its_values_must_agree(void **unused)
{
    (void)unused;
    assert_true(is_marked(K("printf(^^\"%d %d\", 1);"), SLRI_K_BAD_PRINT, "no value for %d"));
    assert_true(is_marked(K("printf(^^\"%d\", 1, 2);"), SLRI_K_BAD_PRINT, "2 values for 1 conversions"));
    assert_true(is_marked(K("printf(\"%d\", ^^1.5);"), SLRI_K_BAD_PRINT, "double, and is printed by %d"));
    assert_true(is_marked(K("printf(\"%f\", ^^t);"), SLRI_K_BAD_PRINT, "int, and is printed by %f"));
    assert_true(is_marked(K("printf(^^\"%s\", t);"), SLRI_K_BAD_PRINT, "'%s' is not known"));
    assert_true(is_marked("struct in { int a; };\n__ring__ void h(const struct in *m) { printf(\"%f\", m->^^a); }",
                          SLRI_K_BAD_PRINT, "int, and is printed by %f"));
}

static void an_assertion_that_does_not_hold_is_a_fault(void **unused)
{
    (void)unused;
    struct made made = run("#include <assert.h>\n" K("assert(t >= 0);\nassert(in[t] < 9);"), 3);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    made = run("#include <assert.h>\n" K("assert(t >= 0);\nassert(in[t] < 9);"), 4);
    assert_int_equal(made.fault, SLRI_FAULT_ASSERT);
    assert_int_equal(made.line, 5);
    made = run(K("if (t == 2)\n__trap();"), 4);
    assert_int_equal(made.fault, SLRI_FAULT_TRAP);
    assert_int_equal(made.line, 4);
}

// ---- C++ -----------------------------------------------------------------------------------------------------------

static void casts_as_cplusplus_writes_them(void **unused)
{
    (void)unused;
    struct made made = run("constexpr int N = 4;\n"
                           "struct pair { int a, b; };\n"
                           "__device__ __forceinline__ pair both(int a) { pair p = {a, N}; return p; }\n" K(
                               "pair p = both(t);\n"
                               "float f = float(t) + static_cast<float>(p.b) * 2;\n"
                               "real[t] = (float(t) + int(2.9f)) * 1.0f;\n"
                               "out[t] = int(f) + (int)(unsigned char)(300 + t);\n"
                               "out[40] = *reinterpret_cast<int *>(real) + __ldg(&in[2]);"),
                           2);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    assert_int_equal(made.out[0], 8 + 44);
    assert_int_equal(made.out[1], 9 + 45);
    assert_float_equal(made.real[1], 3, 0);
}

static void a_buffer_may_be_none(void **unused)
{
    (void)unused;
    struct launch l = begin("__global__ void k(const int *maybe, int *out) {\n"
                            "    int v = maybe != nullptr ? maybe[0] : -1;\n"
                            "    if (!maybe) v--;\n"
                            "    if (out == NULL) return;\n"
                            "    *out = v;\n}",
                            "k", 1, 1);
    int maybe = 5, out = 0;
    GIVE(&l, &maybe, sizeof maybe), GIVE(&l, &out, sizeof out);
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(out, 5);
    l.arg[0] = (struct slri_bound){NULL, 0};
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    assert_int_equal(out, -2);
    l.arg[1] = (struct slri_bound){NULL, 0};
    assert_int_equal(go(&l), SLRI_FAULT_NONE);
    end(&l);
}

// ---- halves --------------------------------------------------------------------------------------------------------

static void halves_are_rounded_after_each_operation(void **unused)
{
    (void)unused;
    struct made made =
        run("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
            "__constant__ half table[3] = { 1.5f, 2049, -0.1 };\n"
            "__device__ half twice(half v) { return v + v; }\n" K(
                "half *h = (half *)out; __nv_bfloat16 *b = (__nv_bfloat16 *)(out + 8);\n"
                "half big = 2048, one = 1; float f = big;\n"
                "if (t == 0) {\n"
                "    h[0] = big + one; h[1] = twice(table[1]); h[2] = table[2]; h[3] = __float2half(70000.f);\n"
                "    h[4] = h[0] / 3; h[4] += 1; h[5] = __hfma(big, one, one); h[6] = -h[2]; h[7] = 5;\n"
                "    b[0] = 257; b[1] = (__nv_bfloat16)1.0f / 3; b[2] = b[0] * b[1];\n"
                "    half2 v = __floats2half2_rn(1, 2), w = __hadd2(v, v);\n"
                "    real[0] = f + 1; real[1] = h[1]; real[2] = big < one ? 1 : 2; real[3] = w.y;\n"
                "    real[4] = __half2float(h[4]); real[5] = b[1]; real[6] = b[2]; real[7] = (float)sizeof(half2);\n"
                "    out[20] = __half_as_ushort(h[0]); out[21] = (int)h[2] + (h[2] == table[2]) * 10;\n"
                "    out[22] = __hgt(big, one);\n"
                "}\n"
                "half moved = __shfl_xor_sync(0xffffffff, (half)t, 1);\n"
                "if (t == 0) real[8] = moved;"),
            32);
    assert_int_equal(made.fault, SLRI_FAULT_NONE);
    static const uint16_t halves[] = {0x6800, 0x6c00, 0xae66, 0x7c00, 0x6157, 0x6800, 0x2e66, 0x4500};
    assert_memory_equal(made.out, halves, sizeof halves); // 2048 + 1 = 2048; 2049 = 2048; -0.1; infinity
    static const float reals[] = {2049, 4096, 2, 4, 683.5f, 0.333984375f, 85.5f, 4, 1};
    for (int i = 0; i < 9; i++)
        assert_float_equal(made.real[i], reals[i], 0);
    assert_int_equal(made.out[20], 0x6800);
    assert_int_equal(made.out[21], 10);
    assert_int_equal(made.out[22], 1);
    assert_true(is_marked("struct in { half a; };\n__ring__ void h(const struct in *^^m) { }", SLRI_K_HALF_IN_HANDLER,
                          "holds a half"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_of_every_type),
        cmocka_unit_test(vectors_are_structs_that_every_source_knows),
        cmocka_unit_test(what_is_printed_is_what_the_host_would_print),
        cmocka_unit_test(a_text_and_its_values_must_agree),
        cmocka_unit_test(an_assertion_that_does_not_hold_is_a_fault),
        cmocka_unit_test(casts_as_cplusplus_writes_them),
        cmocka_unit_test(a_buffer_may_be_none),
        cmocka_unit_test(halves_are_rounded_after_each_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

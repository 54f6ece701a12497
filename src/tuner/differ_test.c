// SPDX-License-Identifier: Apache-2.0
// Which results are the same, and what is said of those that are not. K=2 is faster than the default.
#include "tuner/tuner_test.h"

#define HEAD                                                                                                           \
    "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#ifndef K\n#define K 1\n#endif\n"                                 \
    "#pragma slipring tune K = 1, 2\n#pragma slipring block f = 64\n"
#define F(type, body)                                                                                                  \
    HEAD "__global__ void f(const float *x, " type " *y, int n) {\n"                                                   \
         "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n" body "\n}\n"
#define STRUCT "struct pair { int n; float v[2]; };\n"

// `why`: what is said of K=2; NULL: it is right, though not bit for bit.
static void expect(const char *text, double tolerance, const char *why)
{
    char said[256] = "";
    struct bench b;
    begin(&b, text, 0, meter_by_macro);
    b.desc.flags = SLR_TUNE_KEEP_BRANCHES;
    b.desc.tolerance = tolerance;
    must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
    if (why)
        snprintf(said, sizeof said, "K=2: its result differs from the default's: %s", why);
    if (strcmp(b.why, said) != 0)
        fail_msg("tolerance %g: '%s', not '%s'", tolerance, b.why, said);
    assert_string_equal(b.tuned.defines, why ? "" : "K=2");
    assert_int_equal(b.tuned.wrong, why != NULL);
    assert_int_equal(b.tuned.is_exact, why != NULL);
    end(&b);
}

static void without_a_tolerance_each_bit_counts(void **state)
{
    (void)state;
    expect(F("float", "y[i] = K == 2 && i == 5 ? -0.0f : 0.0f;"), 0, "y[5] is -0, not 0");
    expect(F("float", "y[i] = __int_as_float(K == 2 ? 0x7fc00001 : 0x7fc00000);"), 0,
           "y[0] is nan with the bits 0x7fc00001, not 0x7fc00000");
    expect(F("double", "if (i < 100) y[i] = K == 2 ? 0.1 : 0.30000000000000004 - 0.2;"), 0,
           "y[0] is 0.1, not 0.10000000000000003");
}

static void with_a_tolerance_zeros_and_nans_are_the_same(void **state)
{
    (void)state;
    expect(F("float", "y[i] = K == 2 ? -0.0f : 0.0f;"), 1e-9, NULL);
    expect(F("float", "y[i] = __int_as_float(K == 2 ? 0x7fc00001 : 0x7fc00000);"), 1e-9, NULL);
    expect(F("float", "y[i] = K == 2 ? 1.0f : 1.001f;"), 1e-2, NULL);
    expect(F("float", "y[i] = K == 2 ? 1.0f : 1.001f;"), 1e-4, "y[0] is 1, not 1.001");
    expect(F("float", "y[i] = K == 2 ? 1.0f : __int_as_float(0x7fc00000);"), 1e-2, "y[0] is 1, not nan");
    expect(F("float", "y[i] = K == 2 ? 1.0f : __int_as_float(0x7f800000);"), 1e-2, "y[0] is 1, not inf");
    expect(F("float", "y[i] = __int_as_float(K == 2 ? 0xff800000 : 0x7f800000);"), 1e-2, "y[0] is -inf, not inf");
}

static void a_tolerance_holds_for_halves(void **state)
{
    (void)state;
    static const char half[] = F("__half", "y[i] = __float2half(K == 2 ? 1.001f : 1.0f);"),
                      bfloat[] = F("__nv_bfloat16", "y[i] = __float2bfloat16(K == 2 ? 1.01f : 1.0f);");
    expect(half, 0, "y[0] is 1.001, not 1");
    expect(half, 1e-2, NULL);
    expect(half, 1e-4, "y[0] is 1.001, not 1");
    expect(bfloat, 0, "y[0] is 1.01, not 1");
    expect(bfloat, 1e-2, NULL);
}

static void a_tolerance_holds_for_the_numbers_in_vectors_and_structs(void **state)
{
    (void)state;
    static const char vector[] =
        F("float4", "if (i < 64) y[i] = make_float4(1, K == 2 && i == 3 ? 2.5f : 2.0f, 3, 4);");
    static const char pair[] = STRUCT F("struct pair", "if (i < 80) y[i].v[1] = K == 2 && i == 2 ? 7.5f : 7.0f;");
    expect(vector, 0, "y[3].y is 2.5, not 2");
    expect(vector, 0.3, NULL);
    expect(pair, 0, "y[2].v[1] is 7.5, not 7");
    expect(pair, 0.3, NULL);
}

static void a_wrong_integer_is_named_with_both_values_whatever_the_tolerance(void **state)
{
    (void)state;
    expect(F("int", "y[i] = K == 2 && i == 7 ? -5 : 9;"), 0.5, "y[7] is -5, not 9");
    expect(F("unsigned char", "y[i] = K == 2 && i == 200 ? 255 : 254;"), 0.5, "y[200] is 255, not 254");
    expect(F("unsigned long long", "if (i < 100) y[i] = K == 2 ? ~0ull : 1ull << 63;"), 0.5,
           "y[0] is 18446744073709551615, not 9223372036854775808");
    expect(STRUCT F("struct pair", "if (i < 80) y[i].n = K == 2 && i == 79 ? 3 : 4;"), 0.5, "y[79].n is 3, not 4");
}

// 1,024 bytes are 85 pairs and 4 bytes.
static void bytes_of_no_number_are_compared(void **state)
{
    (void)state;
    expect(STRUCT F("struct pair", "((int *)y)[i] = K == 2 && i == 255 ? 515 : 513;"), 0.5,
           "y[85] has the byte 0x03, not 0x01, at 0, where no number lies");
    expect("struct gap { char c; int n; };\n" F("struct gap", "((char *)y)[i] = K == 2 && i == 34 ? 5 : 6;"), 0.5,
           "y[4] has the byte 0x05, not 0x06, at 2, where no number lies");
}

// The default copies a struct whole, with the zeros between its members; K=2 leaves there what the buffer held. The
// zeros are the same on all devices and in each run, because a local variable begins as zeros.
static void bytes_between_members_count_in_structs_that_are_copied(void **state)
{
    (void)state;
    static const char *const here[] = {"cpu?engine=interpreted", "cpu?threads=2", "opencl:0", "vulkan:0", "cuda:0"};
    static const char text[] = "struct gap { char c; int n; };\n" F(
        "struct gap", "if (i < 100) { struct gap a; a.c = (char)i; a.n = n;\n"
                      "if (K == 1) y[i] = a; else { y[i].c = a.c; y[i].n = a.n; } }");
    EACH_HERE(i, here)
    {
        static unsigned char was[N * 4];
        struct bench b;
        begin_on(&b, here[i], text, 0, meter_by_macro);
        memset(was, 7, sizeof was);
        must(slr_buffer_write(b.y, 0, was, sizeof was));
        b.desc.flags = SLR_TUNE_KEEP_BRANCHES;
        b.desc.tolerance = 0.5;
        must(slr_tune(b.kernel, &b.problem, 1, &b.desc, &b.tuned));
        if (!strstr(b.why, "y[0] has the byte 0x07, not 0x00, at 1, where no number lies"))
            fail_msg("%s: '%s'", here[i], b.why);
        assert_string_equal(b.tuned.defines, "");
        end(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(without_a_tolerance_each_bit_counts),
        CASE(with_a_tolerance_zeros_and_nans_are_the_same),
        CASE(a_tolerance_holds_for_halves),
        CASE(a_tolerance_holds_for_the_numbers_in_vectors_and_structs),
        CASE(a_wrong_integer_is_named_with_both_values_whatever_the_tolerance),
        CASE(bytes_of_no_number_are_compared),
        CASE(bytes_between_members_count_in_structs_that_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

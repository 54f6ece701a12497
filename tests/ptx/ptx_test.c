// SPDX-License-Identifier: Apache-2.0
// What PTX does when it is interpreted: that it computes what the manual says, and that what is wrong in it does not go
// well by chance.
#define _POSIX_C_SOURCE 200809L
#include "tests/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N 128

// Of a kernel that gets N words; %rd1 is where they are, %r1 the thread.
#define HEAD(more)                                                                                                     \
    ".version 9.0\n.target sm_90\n.address_size 64\n" more ".visible .entry k(.param .u64 k_param_0)\n{\n"             \
    ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %fd<8>;\n"    \
    "ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\n"
#define TAIL "\n}\n"
#define KERNEL(more, body) HEAD(more) body TAIL
// Each thread's own word, at %rd2.
#define OWN "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"

static struct ptx_image *load(const char *text)
{
    struct ptx_text one = {(char *)(uintptr_t)text, "text"};
    return ptx_image_load(&one, 1);
}

struct look {
    bool (*goes_on)(void *user);
    void *user;
};

static enum ptx_end run_seen(const char *text, uint32_t threads, void *words, struct look look)
{
    struct ptx_image *image = load(text);
    assert_non_null(image);
    void *parameter[] = {&words};
    const struct ptx_launch launch = {.image = image,
                                      .kernel = ptx_image_kernel(image, "k"),
                                      .parameter = parameter,
                                      .grid = {1, 1, 1},
                                      .block = {threads, 1, 1},
                                      .goes_on = look.goes_on,
                                      .user = look.user};
    assert_non_null(launch.kernel);
    enum ptx_end end = ptx_run(&launch);
    ptx_image_unload(image);
    return end;
}

static enum ptx_end run(const char *text, uint32_t threads, uint32_t words[N])
{
    return run_seen(text, threads, words, (struct look){NULL, NULL});
}

static void set_seed(unsigned seed)
{
    char text[16];
    snprintf(text, sizeof text, "%u", seed);
    setenv("SLIPRING_PTX_SEED", text, 1);
}

// ---- what an instruction computes ----------------------------------------------------------------------------------

// %r2 to %r4 and %rd3, %rd4 are given, as are %f1, %f2 with the bits of %r2, %r3; the result is %r5 or %rd5.
static uint64_t computed(const char *body, uint64_t a, uint64_t b, uint64_t c)
{
    char text[4096];
    uint64_t words[N / 2] = {0, a, b, c};
    static const char before[] = HEAD("") "ld.u64 %rd3, [%rd1+8];\nld.u64 %rd4, [%rd1+16];\nld.u32 %r2, [%rd1+8];\n"
                                          "ld.u32 %r3, [%rd1+16];\nld.u32 %r4, [%rd1+24];\nmov.b32 %f1, %r2;\n"
                                          "mov.b32 %f2, %r3;\nmov.b64 %fd1, %rd3;\nmov.u64 %rd5, 0;\nmov.u32 %r5, 0;\n",
                      behind[] = "\ncvt.u64.u32 %rd6, %r5;\nor.b64 %rd5, %rd5, %rd6;\nst.u64 [%rd1], %rd5;\nret;" TAIL;
    snprintf(text, sizeof text, "%s%s%s", before, body, behind);
    assert_int_equal(run_seen(text, 1, words, (struct look){NULL, NULL}), PTX_DONE);
    return words[0];
}

static void integers_are_computed_as_the_manual_says(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        uint64_t a, b, c, result;
    } given[] = {
        {"add.s32 %r5, %r2, %r3;", 0xffffffff, 2, 0, 1},
        {"mul.hi.s32 %r5, %r2, %r3;", 0xffffffff, 2, 0, 0xffffffff},
        {"mul.hi.u32 %r5, %r2, %r3;", 0xffffffff, 2, 0, 1},
        {"mul.wide.s32 %rd5, %r2, %r3;", 0xffffffff, 2, 0, UINT64_MAX - 1},
        {"mad.lo.s32 %r5, %r2, %r3, %r4;", 5, 7, 1, 36},
        {"div.s32 %r5, %r2, %r3;", (uint32_t)-7, 2, 0, (uint32_t)-3},
        {"rem.s32 %r5, %r2, %r3;", (uint32_t)-7, 2, 0, (uint32_t)-1},
        {"div.s32 %r5, %r2, %r3;", 0x80000000, 0xffffffff, 0, 0x80000000},
        {"shr.s32 %r5, %r2, %r3;", 0x80000000, 40, 0, 0xffffffff},
        {"shr.u32 %r5, %r2, %r3;", 0x80000000, 40, 0, 0},
        {"shl.b32 %r5, %r2, %r3;", 1, 32, 0, 0},
        {"shf.l.wrap.b32 %r5, %r2, %r3, %r4;", 0x80000001, 0x12345678, 36, 0x23456788},
        {"shf.r.clamp.b32 %r5, %r2, %r3, %r4;", 0x80000001, 0x12345678, 36, 0x12345678},
        {"prmt.b32 %r5, %r2, %r3, 0x7b10;", 0x44332211, 0x88776655, 0, 0x88002211},
        {"bfi.b64 %rd5, %rd3, %rd4, 32, 32;", 7, 9, 0, UINT64_C(7) << 32 | 9},
        {"bfe.s32 %r5, %r2, 4, 4;", 0xf0, 0, 0, 0xffffffff},
        {"bfind.shiftamt.u32 %r5, %r2;", 1, 0, 0, 31},
        {"clz.b64 %r5, %rd3;", 0, 0, 0, 64},
        {"brev.b32 %r5, %r2;", 1, 0, 0, 0x80000000},
        {"sad.s32 %r5, %r2, %r3, %r4;", (uint32_t)-1, 2, 10, 13},
        {"add.cc.u32 %r6, %r2, %r3;\naddc.u32 %r5, %r4, 0;", 0xffffffff, 1, 5, 6},
        {"sub.cc.u32 %r6, %r2, %r3;\nsubc.u32 %r5, %r4, 0;", 0, 1, 5, 4},
        {"setp.lt.s32 %p1, %r2, %r3;\nselp.b32 %r5, 1, 2, %p1;", 0xffffffff, 0, 0, 1},
        {"setp.lt.u32 %p1, %r2, %r3;\nselp.b32 %r5, 1, 2, %p1;", 0xffffffff, 0, 0, 2},
        {"mov.b64 {%r6, %r5}, %rd3;", UINT64_C(3) << 32 | 4, 0, 0, 3},
        {"cvt.s16.s8 %rs1, %r2;\ncvt.s32.s16 %r5, %rs1;", 0x80, 0, 0, 0xffffff80},
        {"lop3.b32 %r5, %r2, %r3, %r4, 0x96;", 0xff, 0x0f, 0x55, 0xa5},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i)
        if (computed(given[i].body, given[i].a, given[i].b, given[i].c) != given[i].result)
            fail_msg("%s gives %#llx", given[i].body,
                     (unsigned long long)computed(given[i].body, given[i].a, given[i].b, given[i].c));
}

static void floats_are_rounded_and_saturate_as_the_manual_says(void **state)
{
    (void)state;
    enum { ONE = 0x3f800000, TINY = 0x00800000, NOT_A_NUMBER = 0x7fc00000 };
    static const struct {
        const char *body;
        uint64_t a, b, result;
    } given[] = {
        {"add.rn.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", ONE, 0x32800000, ONE},
        {"add.rp.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", ONE, 0x32800000, ONE + 1},
        {"fma.rz.f32 %f3, %f1, %f1, %f2;\nmov.b32 %r5, %f3;", ONE, 0xb2800000, ONE - 1},
        {"min.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", NOT_A_NUMBER, ONE, ONE},
        {"max.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", 0x80000000, 0, 0},
        {"add.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", NOT_A_NUMBER, ONE, 0x7fffffff},
        {"copysign.f32 %f3, %f1, %f2;\nmov.b32 %r5, %f3;", 0x80000000, ONE, 0xbf800000},
        {"cvt.rzi.s32.f32 %r5, %f1;", 0xcf800000, 0, 0x80000000}, // -2^32
        {"cvt.rzi.s32.f32 %r5, %f1;", NOT_A_NUMBER, 0, 0},
        {"cvt.rni.s32.f32 %r5, %f1;", 0x40200000, 0, 2}, // 2.5
        {"cvt.rpi.s32.f32 %r5, %f1;", 0x40200000, 0, 3},
        {"cvt.rzi.u32.f32 %r5, %f1;", 0xbf800000, 0, 0},
        {"cvt.sat.f32.f32 %f3, %f1;\nmov.b32 %r5, %f3;", 0x40200000, 0, ONE},
        {"cvt.rn.f16.f32 %rs1, %f1;\ncvt.u32.u16 %r5, %rs1;", ONE, 0, 0x3c00},
        {"cvt.rz.f32.u64 %f3, %rd3;\nmov.b32 %r5, %f3;", 0x1ffffff, 0, 0x4bffffff},
        {"ex2.approx.ftz.f32 %f3, %f1;\nmov.b32 %r5, %f3;", 0xc3000000, 0, 0}, // 2^-128
        {"ex2.approx.f32 %f3, %f1;\nmov.b32 %r5, %f3;", 0x41200000, 0, 0x44800000},
        {"setp.ltu.f32 %p1, %f1, %f2;\nselp.b32 %r5, 1, 2, %p1;", NOT_A_NUMBER, ONE, 1},
        {"setp.lt.f32 %p1, %f1, %f2;\nselp.b32 %r5, 1, 2, %p1;", NOT_A_NUMBER, ONE, 2},
        {"cvt.rzi.s64.f64 %rd5, %fd1;", UINT64_C(0xc3e0000000000001), 0, UINT64_C(1) << 63},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i)
        if (computed(given[i].body, given[i].a, given[i].b, 0) != given[i].result)
            fail_msg("%s gives %#llx", given[i].body,
                     (unsigned long long)computed(given[i].body, given[i].a, given[i].b, 0));
}

static void what_is_not_known_is_not_loaded(void **state)
{
    (void)state;
    struct ptx_image *known = load(KERNEL("", "add.s32 %r2, %r1, 1;\nret;"));
    assert_non_null(known);
    ptx_image_unload(known);
    assert_null(load(KERNEL("", "add.sat.s32 %r2, %r1, 1;\nret;")));
    assert_null(load(KERNEL("", "ld.release.sys.u32 %r2, [%rd1];\nret;")));
    assert_null(load(KERNEL("", "add.s32 %r2, %x1, 1;\nret;")));
    assert_null(load(KERNEL("", "bra $nowhere;\nret;")));
    assert_null(load(KERNEL("", "call.uni nobody, ();\nret;")));
}

// ---- lanes ---------------------------------------------------------------------------------------------------------

static void lanes_that_part_meet_again(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    // As many turns as the thread's number; then all of the warp vote.
    static const char text[] = KERNEL("", OWN "mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                                              "$again:\nsetp.ge.u32 %p1, %r2, %r1;\n@%p1 bra $done;\n"
                                              "add.s32 %r2, %r2, 1;\nadd.s32 %r3, %r3, %r2;\nbra.uni $again;\n"
                                              "$done:\nsetp.gt.u32 %p2, %r3, 100;\n"
                                              "vote.sync.ballot.b32 %r4, %p2, -1;\nadd.s32 %r3, %r3, %r4;\n"
                                              "st.u32 [%rd2], %r3;\nret;");
    for (unsigned seed = 0; seed < 5; ++seed) {
        set_seed(seed);
        assert_int_equal(run(text, 64, words), PTX_DONE);
        for (uint32_t t = 0; t < 64; ++t)
            assert_int_equal(words[t], t * (t + 1) / 2 + (t < 32 ? 0xffffffffu << 14 : 0xffffffffu));
    }
}

#define SHUFFLE(mask)                                                                                                  \
    KERNEL("", OWN "setp.gt.u32 %p1, %r1, 15;\n@%p1 bra $end;\n"                                                       \
                   "shfl.sync.idx.b32 %r3|%p2, %r1, 20, 31, " mask ";\nst.u32 [%rd2], %r3;\n$end:\nret;")

static void a_shuffle_gives_nothing_of_a_lane_that_takes_no_part(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    assert_int_equal(
        run(KERNEL("", OWN "shfl.sync.idx.b32 %r3|%p2, %r1, 20, 31, -1;\nst.u32 [%rd2], %r3;\nret;"), 32, words),
        PTX_DONE);
    assert_int_equal(words[5], 20);
    assert_int_equal(run(SHUFFLE("65535"), 32, words), PTX_WRONG); // its value is stored, and nobody has set it
    assert_int_equal(run(SHUFFLE("1"), 32, words), PTX_WRONG);     // a mask that leaves its own lane out
}

static void a_register_that_nobody_has_set_may_be_moved_and_not_used(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    assert_int_equal(run(KERNEL("", "mov.u32 %r2, %r3;\nadd.s32 %r2, %r2, 1;\nret;"), 32, words), PTX_DONE);
    assert_int_equal(run(KERNEL("", OWN "st.u32 [%rd2], %r3;\nret;"), 32, words), PTX_WRONG);
    assert_int_equal(run(KERNEL("", "setp.eq.u32 %p1, %r3, 0;\n@%p1 ret;\nret;"), 32, words), PTX_WRONG);
}

static void what_a_GPU_would_not_end_is_told(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    assert_int_equal(
        run(KERNEL("", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra $a;\nbar.sync 0;\nret;\n$a:\nbar.sync 0;\nret;"), 32, words),
        PTX_WRONG);
    assert_int_equal(
        run(KERNEL("", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra $a;\nbarrier.sync 0;\nret;\n$a:\nbarrier.sync 0;\nret;"), 32,
            words),
        PTX_DONE); // this one is not .aligned
    assert_int_equal(run(KERNEL("", "setp.lt.u32 %p1, %r1, 7;\n@%p1 bra $a;\nbar.warp.sync -1;\nret;\n"
                                    "$a:\nbarrier.sync 0;\nret;"),
                         32, words),
                     PTX_WRONG);
    assert_int_equal(run(KERNEL("", "trap;"), 32, words), PTX_TRAPPED);
}

static void addresses_are_checked(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
#define SHARED ".shared .align 4 .b8 tile[64];\n"
    assert_int_equal(run(KERNEL(SHARED, "ld.shared.u32 %r2, [tile+60];\nret;"), 1, words), PTX_DONE);
    assert_int_equal(run(KERNEL(SHARED, "ld.shared.u32 %r2, [tile+64];\nret;"), 1, words), PTX_ACCESS);
    assert_int_equal(run(KERNEL("", "ld.u32 %r2, [%rd1+2];\nret;"), 1, words), PTX_ACCESS);
    assert_int_equal(run(KERNEL("", "mov.u64 %rd1, 64;\nld.u32 %r2, [%rd1];\nret;"), 1, words), PTX_ACCESS);
    assert_int_equal(run(KERNEL("", "mov.u64 %rd1, 64;\nst.u32 [%rd1], %r1;\nret;"), 1, words), PTX_ACCESS);
}

// ---- calls ---------------------------------------------------------------------------------------------------------

#define FUNCTION                                                                                                       \
    ".func (.param .b32 func_retval0) sum(.param .b32 sum_param_0)\n{\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"           \
    "ld.param.u32 %r1, [sum_param_0];\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, 0;\n@%p1 bra $end;\n"                    \
    "add.s32 %r3, %r1, -1;\n{\n.param .b32 param0;\nst.param.b32 [param0+0], %r3;\n.param .b32 retval0;\n"             \
    "call.uni (retval0), sum, (param0);\nld.param.b32 %r2, [retval0+0];\n}\nadd.s32 %r2, %r2, %r1;\n$end:\n"           \
    "st.param.b32 [func_retval0+0], %r2;\nret;\n}\n"

static void a_function_may_call_itself(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    static const char text[] =
        KERNEL(FUNCTION, OWN "and.b32 %r2, %r1, 15;\n{\n.param .b32 param0;\nst.param.b32 [param0+0], %r2;\n"
                             ".param .b32 retval0;\ncall.uni (retval0), sum, (param0);\n"
                             "ld.param.b32 %r3, [retval0+0];\n}\nst.u32 [%rd2], %r3;\nret;");
    assert_int_equal(run(text, 64, words), PTX_DONE);
    for (uint32_t t = 0; t < 64; ++t)
        assert_int_equal(words[t], t % 16 * (t % 16 + 1) / 2);
    assert_int_equal(
        run(KERNEL(FUNCTION, "{\n.param .b32 param0;\nst.param.b32 [param0+0], 1000;\n.param .b32 retval0;\n"
                             "call.uni (retval0), sum, (param0);\n}\nret;"),
            1, words),
        PTX_WRONG); // too deep
}

static void what_a_kernel_prints_is_printed(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    static const char text[] = KERNEL(
        ".extern .func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);\n"
        ".global .align 1 .b8 format[13] = {37, 100, 32, 37, 46, 49, 102, 32, 37, 108, 120, 10};\n", // "%d %.1f %lx\n"
        ".local .align 8 .b8 depot[24];\nmov.u64 %rd2, depot;\nst.local.u32 [%rd2], -5;\n"
        "st.local.f64 [%rd2+8], 0d3FF8000000000000;\nst.local.u64 [%rd2+16], 255;\nmov.u64 %rd3, format;\n"
        "{\n.param .b64 param0;\nst.param.b64 [param0+0], %rd3;\n.param .b64 param1;\nst.param.b64 [param1+0], %rd2;\n"
        ".param .b32 retval0;\ncall.uni (retval0), vprintf, (param0, param1);\n}\nret;");
    char printed[64] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    enum ptx_end end = run(text, 1, words);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(file);
    assert_non_null(fgets(printed, sizeof printed, file));
    fclose(file);
    assert_int_equal(end, PTX_DONE);
    assert_string_equal(printed, "-5 1.5 ff\n");
}

// ---- order ---------------------------------------------------------------------------------------------------------

#define TURN(barrier)                                                                                                  \
    KERNEL(".shared .align 4 .b8 tile[256];\n", OWN                                                                    \
           "mov.u64 %rd3, tile;\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd3, %rd3, %rd4;\n"                              \
           "st.shared.u32 [%rd3], %r1;\n" barrier "xor.b32 %r2, %r1, 1;\nmul.wide.u32 %rd4, %r2, 4;\n"                 \
           "mov.u64 %rd3, tile;\nadd.s64 %rd3, %rd3, %rd4;\nld.shared.u32 %r3, [%rd3];\nst.u32 [%rd2], %r3;\nret;")

static void shared_memory_is_in_order_by_a_barrier_alone(void **state)
{
    (void)state;
    uint32_t words[N] = {0};
    assert_int_equal(run(TURN("bar.sync 0;\n"), 64, words), PTX_DONE);
    for (uint32_t t = 0; t < 64; ++t)
        assert_int_equal(words[t], t ^ 1);
    assert_int_equal(run(TURN("bar.warp.sync -1;\n"), 64, words), PTX_DONE);
    assert_int_equal(run(TURN(""), 64, words), PTX_WRONG);
    assert_int_equal(run(TURN("mov.u32 %r4, 3;\nvote.sync.any.pred %p1, 1, -1;\n"), 64, words), PTX_WRONG);
}

// Thread 0 tells thread 32 by word 1 what is in word 0; or block 0 the other one.
#define PASS(store, load) PASS_TO("32", "", store, load)
#define PASS_ACROSS(store, load) PASS_TO("1", "mov.u32 %r1, %ctaid.x;\n", store, load)
#define PASS_TO(who, head, store, load)                                                                                \
    KERNEL("", head "setp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r1, " who ";\n@%p2 bra $reads;\n@!%p1 bra $end;\n"    \
                    "st.u32 [%rd1], 7;\n" store "bra.uni $end;\n"                                                      \
                    "$reads:\n" load "setp.eq.u32 %p3, %r2, 0;\n@%p3 bra $reads;\nld.u32 %r3, [%rd1];\n"               \
                    "st.u32 [%rd1+8], %r3;\n$end:\nret;")
#define RELEASED "st.release.gpu.u32 [%rd1+4], 1;\n"
#define ACQUIRED "ld.acquire.gpu.u32 %r2, [%rd1+4];\n"

static void a_release_that_is_acquired_orders_and_nothing_less(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool orders;
    } given[] = {
        {PASS(RELEASED, ACQUIRED), true},
        {PASS("fence.acq_rel.gpu;\nst.relaxed.gpu.u32 [%rd1+4], 1;\n",
              "ld.relaxed.gpu.u32 %r2, [%rd1+4];\nfence.acq_rel.gpu;\n"),
         true},
        {PASS("atom.add.acq_rel.gpu.u32 %r4, [%rd1+4], 1;\n", ACQUIRED), true},
        {PASS("st.relaxed.gpu.u32 [%rd1+4], 1;\n", ACQUIRED), false},
        {PASS(RELEASED, "ld.relaxed.gpu.u32 %r2, [%rd1+4];\n"), false},
        {PASS("st.volatile.u32 [%rd1+4], 1;\n", ACQUIRED), false},
        {PASS("st.relaxed.gpu.u32 [%rd1+4], 1;\nfence.acq_rel.gpu;\n", ACQUIRED), false},
        {PASS("st.u32 [%rd1+4], 1;\n", ACQUIRED), false},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i) {
        uint32_t words[N] = {0};
        enum ptx_end end = run(given[i].text, 64, words);
        if (end != (given[i].orders ? PTX_DONE : PTX_WRONG))
            fail_msg("text %zu ends with %d", i, (int)end);
        if (given[i].orders)
            assert_int_equal(words[2], 7);
    }
}

static enum ptx_end run_two_blocks(const char *text, uint32_t words[N])
{
    struct ptx_image *image = load(text);
    assert_non_null(image);
    const struct ptx_launch launch = {.image = image,
                                      .kernel = ptx_image_kernel(image, "k"),
                                      .parameter = (void *[]){&words},
                                      .grid = {2, 1, 1},
                                      .block = {1, 1, 1}};
    assert_non_null(launch.kernel);
    enum ptx_end end = ptx_run(&launch);
    ptx_image_unload(image);
    return end;
}

// In what order the two come here must not matter: each text is run with some seeds.
static void blocks_are_in_order_by_what_is_released_for_more_than_one(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool orders;
    } given[] = {
        {PASS_ACROSS(RELEASED, ACQUIRED), true},
        {PASS_ACROSS("fence.acq_rel.gpu;\nst.relaxed.gpu.u32 [%rd1+4], 1;\n",
                     "ld.relaxed.gpu.u32 %r2, [%rd1+4];\nfence.acq_rel.gpu;\n"),
         true},
        {PASS_ACROSS("atom.add.acq_rel.gpu.u32 %r4, [%rd1+4], 1;\n", ACQUIRED), true},
        {PASS_ACROSS("atom.add.relaxed.gpu.u32 %r4, [%rd1+4], 1;\n", ACQUIRED), false},
        {PASS_ACROSS("fence.acq_rel.cta;\nst.relaxed.gpu.u32 [%rd1+4], 1;\n", ACQUIRED), false},
        {PASS_ACROSS("st.relaxed.gpu.u32 [%rd1+4], 1;\n", ACQUIRED), false},
        {PASS_ACROSS(RELEASED, "ld.relaxed.gpu.u32 %r2, [%rd1+4];\n"), false},
        {PASS_ACROSS(RELEASED, "ld.relaxed.gpu.u32 %r2, [%rd1+4];\nfence.acq_rel.cta;\n"), false},
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i)
        for (unsigned seed = 0; seed < 3; ++seed) {
            uint32_t words[N] = {0};
            set_seed(seed);
            enum ptx_end end = run_two_blocks(given[i].text, words);
            if (end != (given[i].orders ? PTX_DONE : PTX_WRONG))
                fail_msg("text %zu ends with %d", i, (int)end);
            if (given[i].orders)
                assert_int_equal(words[2], 7);
        }
}

// The host looks now and then: at the flag first, then at what it tells of.
struct watched {
    uint32_t *words, early;
};

static bool sees(void *user)
{
    struct watched *watched = user;
    uint32_t flag = __atomic_load_n(&watched->words[32], __ATOMIC_ACQUIRE);
    watched->early += flag != 0 && __atomic_load_n(&watched->words[0], __ATOMIC_ACQUIRE) != 7;
    return true;
}

static uint32_t early_looks(const char *text)
{
    uint32_t early = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        uint32_t words[N] = {0};
        struct watched watched = {words, 0};
        set_seed(seed);
        assert_int_equal(run_seen(text, 1, words, (struct look){sees, &watched}), PTX_DONE);
        assert_int_equal(words[0], 7); // in the end all have gone on
        early += watched.early != 0;
    }
    return early;
}

#define TELL(store)                                                                                                    \
    KERNEL("",                                                                                                         \
           "st.u32 [%rd1], 7;\n" store "mov.u32 %r2, 0;\n$wait:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 2000;\n"  \
           "@%p1 bra $wait;\nret;")

static void a_host_sees_a_store_late_unless_it_is_released(void **state)
{
    (void)state;
    assert_int_equal(early_looks(TELL("st.release.sys.u32 [%rd1+128], 1;\n")), 0);
    assert_int_equal(early_looks(TELL("fence.acq_rel.sys;\nst.relaxed.sys.u32 [%rd1+128], 1;\n")), 0);
    assert_int_equal(early_looks(TELL("membar.sys;\nst.volatile.u32 [%rd1+128], 1;\n")), 0);
    assert_true(early_looks(TELL("st.relaxed.sys.u32 [%rd1+128], 1;\n")) >= 5);
    assert_true(early_looks(TELL("fence.acq_rel.cta;\nst.relaxed.sys.u32 [%rd1+128], 1;\n")) >= 5);
}

static bool writes(void *user)
{
    uint32_t *words = user;
    if (words[64]++ == 20) {
        __atomic_store_n(&words[0], 7, __ATOMIC_RELEASE);
        __atomic_store_n(&words[32], 1, __ATOMIC_RELEASE);
    }
    return true;
}

#define HEAR(load)                                                                                                     \
    KERNEL("", "ld.u32 %r2, [%rd1];\n$wait:\n" load "setp.eq.u32 %p1, %r3, 0;\n@%p1 bra $wait;\nld.u32 %r4, [%rd1];\n" \
               "st.u32 [%rd1+4], %r4;\nret;")

static void a_plain_load_sees_what_was_read_before_until_an_acquire(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t result;
    } given[] = {{HEAR("ld.acquire.sys.u32 %r3, [%rd1+128];\n"), 7},
                 {HEAR("ld.relaxed.sys.u32 %r3, [%rd1+128];\nfence.acq_rel.sys;\n"), 7},
                 {HEAR("ld.relaxed.sys.u32 %r3, [%rd1+128];\n"), 0},
                 {HEAR("ld.acquire.cta.u32 %r3, [%rd1+128];\n"), 0}};
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i) {
        __attribute__((aligned(128))) uint32_t words[N] = {0};
        assert_int_equal(run_seen(given[i].text, 1, words, (struct look){writes, words}), PTX_DONE);
        assert_int_equal(words[1], given[i].result);
    }
}

static bool stops(void *user)
{
    return ++*(uint32_t *)user < 10;
}

static void a_kernel_that_stays_can_be_stopped(void **state)
{
    (void)state;
    uint32_t words[N] = {0}, asked = 0;
    assert_int_equal(
        run_seen(KERNEL("", "$again:\nnanosleep.u32 %r1;\nbra.uni $again;"), 32, words, (struct look){stops, &asked}),
        PTX_STOPPED);
    assert_int_equal(asked, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_computed_as_the_manual_says),
        cmocka_unit_test(floats_are_rounded_and_saturate_as_the_manual_says),
        cmocka_unit_test(what_is_not_known_is_not_loaded),
        cmocka_unit_test(lanes_that_part_meet_again),
        cmocka_unit_test(a_shuffle_gives_nothing_of_a_lane_that_takes_no_part),
        cmocka_unit_test(a_register_that_nobody_has_set_may_be_moved_and_not_used),
        cmocka_unit_test(what_a_GPU_would_not_end_is_told),
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(a_function_may_call_itself),
        cmocka_unit_test(what_a_kernel_prints_is_printed),
        cmocka_unit_test(shared_memory_is_in_order_by_a_barrier_alone),
        cmocka_unit_test(a_release_that_is_acquired_orders_and_nothing_less),
        cmocka_unit_test(blocks_are_in_order_by_what_is_released_for_more_than_one),
        cmocka_unit_test(a_host_sees_a_store_late_unless_it_is_released),
        cmocka_unit_test(a_plain_load_sees_what_was_read_before_until_an_acquire),
        cmocka_unit_test(a_kernel_that_stays_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

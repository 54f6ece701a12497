// SPDX-License-Identifier: Apache-2.0
// Kernels as words of 32 bits (ir/pass/words.h), and with threads that meet (meet.h): what they leave is what the
// kernel leaves. `tests/generate --level 4` does the same with random programs.
#include "ir/format.h"
#include "ir/pass/meet.h"
#include "ir/pass/words.h"
#include "run/grid_test.h"

enum { THREADS = 64, BYTES = 4096 };

struct words {
    struct launch l;
    struct slri_module *source;
};

static struct words words_of(const char *text, bool all_widths, bool meets)
{
    const struct slri_words_options options = {.all_widths = all_widths};
    struct words w = {.source = compile_text(text)};
    assert_int_equal(slri_words_kernel(w.source, w.source->entry, &options, &w.l.module), SLR_OK);
    if (meets)
        assert_int_equal(slri_meet_kernel(w.l.module, "WGSL"), SLR_OK);
    assert_int_equal(slri_interp_create(w.l.module, &w.l.interp), SLR_OK);
    w.l.grid = (struct slri_grid){.grid = {2, 1, 1}, .block = {THREADS, 1, 1}, .fuel = 1u << 24};
    return w;
}

static void done(struct words *w)
{
    end(&w->l);
    slri_module_destroy(w->source);
}

// A kernel of (const unsigned *in, unsigned *out), as it is and as words: both have the same in `out`.
static void agrees(const char *text)
{
    static uint32_t in[BYTES / 4], out[2][BYTES / 4];
    for (uint32_t i = 0; i < BYTES / 4; i++)
        in[i] = i % 5 == 0 ? UINT32_MAX - i : i % 5 == 1 ? UINT32_C(0x80000000) + i : i * UINT32_C(2654435761);
    memset(out, 0x5a, sizeof out);
    struct launch as_is = begin(text, "k", 2, THREADS);
    GIVE(&as_is, in, sizeof in);
    GIVE(&as_is, out[0], sizeof out[0]);
    assert_int_equal(go(&as_is), 0);
    end(&as_is);
    for (int how = 0; how < 3; how++) {
        memset(out[1], 0x5a, sizeof out[1]);
        struct words w = words_of(text, how == 2, how == 1);
        GIVE(&w.l, in, sizeof in);
        GIVE(&w.l, out[1], sizeof out[1]);
        assert_int_equal(go(&w.l), 0);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        done(&w);
    }
    bool wrote = false;
    for (uint32_t i = 0; i < BYTES / 4; i++)
        wrote |= out[0][i] != UINT32_C(0x5a5a5a5a);
    assert_true(wrote);
}

#define AT "int i = blockIdx.x * blockDim.x + threadIdx.x; "

static void integers_of_64_bits_are_two_words(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { " AT
           "long long a = (long long)((unsigned long long)in[i] << 32 | in[i + 1]), b = (int)in[i + 2] | 1;"
           "unsigned long long x = a, y = in[i + 3] | 1ull << (i & 40);"
           "long long sum = a + b * 3 - (a >> (i & 63)) + (a << (i & 31)) + a / b + a % b;"
           "unsigned long long more = x / y + x % y + (x >> (i & 63)) + (x > y) + (a < b) + x * y;"
           "out[4 * i] = (unsigned)sum; out[4 * i + 1] = (unsigned)(sum >> 32);"
           "out[4 * i + 2] = (unsigned)more; out[4 * i + 3] = (unsigned)(more >> 32); }");
}

static void neighbours_store_bytes_in_one_word(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { __shared__ unsigned char mine[64]; " AT
           "mine[threadIdx.x] = (unsigned char)in[i]; ((short *)out)[256 + i] = (short)in[i];"
           "((unsigned char *)out)[i] = (unsigned char)(in[i] >> 8); __syncthreads();"
           "out[300 + i] = mine[63 - threadIdx.x]; }");
}

static void floats_become_integers_of_64_bits(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { " AT
           "float f = __uint_as_float(in[i]); long long s = (long long)f; unsigned long long u = (unsigned long long)f;"
           "float back = (float)s + (float)u; long long r = llrintf(f);"
           "out[4 * i] = (unsigned)s ^ (unsigned)(s >> 32); out[4 * i + 1] = (unsigned)u ^ (unsigned)(u >> 32);"
           "out[4 * i + 2] = __float_as_uint(back); out[4 * i + 3] = (unsigned)(r ^ (r >> 32)); }");
}

static void structs_are_copied_where_they_lie(void **state)
{
    (void)state;
    agrees("struct three { unsigned char c[3]; }; struct large { unsigned w[40]; };"
           "__global__ void k(const unsigned *in, unsigned *out) { " AT
           "struct three t = ((const struct three *)in)[i]; ((struct three *)out)[i] = t;"
           "if (i < 4) { struct large z = ((const struct large *)in)[i]; z.w[i] = 7; ((struct large *)out)[i + 2] = z; "
           "} }");
}

// Accesses of fewer than 4 bytes.
static uint32_t narrow_in(const struct slri_block *block)
{
    uint32_t found = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        found += (in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE) && slri_kind_bytes(in->kind) < 4;
        for (int part = 0; part < 3; part++)
            found += narrow_in(in->body[part]);
    }
    return found;
}

static void structs_in_buffers_of_bytes_are_copied_by_words(void **state)
{
    (void)state;
    agrees("struct m { unsigned v[24]; }; __global__ void k(const char *in, short *out) { if (blockIdx.x == 0"
           " && threadIdx.x < 40) { struct m x = *(const struct m *)(in + 96 * threadIdx.x); x.v[threadIdx.x % 24]++;"
           "*(struct m *)(out + 48 * threadIdx.x) = x; } }");
    struct words w = words_of("struct m { int v[24]; }; __global__ void k(const char *in, short *out) {"
                              "*(struct m *)(out + 48 * threadIdx.x) = *(const struct m *)(in + 96 * threadIdx.x); }",
                              true, false);
    assert_int_equal(narrow_in(w.l.module->entry->function->body), 0);
    done(&w);
}

static void a_function_gives_64_bits(void **state)
{
    (void)state;
    agrees("__device__ long long wide(long long a, int *count) { *count += 1; return a * a - 1; }"
           "__global__ void k(const unsigned *in, unsigned *out) { " AT
           "int count = 0; long long a = wide((int)in[i], &count) ^ wide(in[i + 1], &count);"
           "out[2 * i] = (unsigned)a + count; out[2 * i + 1] = (unsigned)(a >> 32); }");
}

static void a_case_falls_into_the_next_and_a_loop_goes_on(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { " AT "unsigned sum = 0; long long wide = in[i] % 5;"
           "for (int j = 0; j < 6; ++j) {"
           "  switch ((in[i] >> j) & 7) { case 1: sum += 1; case 2: if (in[i] & 64) break; sum += 10; case 3: case 4:"
           "    if (in[i] & 128) continue; sum += 100; break; default: sum += 1000; case 6: sum += 10000; }"
           "  switch (wide) { case 0: sum ^= 1; case 1: sum ^= 2; break; case 4: sum ^= 4; }"
           "  sum += 7; }"
           "out[i] = sum; }");
}

static void a_division_is_of_magnitudes(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { " AT
           "int a = i == 3 ? 0x80000000 : (int)in[i], b = i == 3 ? -1 : (int)in[i + 1] >> (i & 31) | 1;"
           "out[4 * i] = a / b; out[4 * i + 1] = a % b; out[4 * i + 2] = a / -3 ^ a % -3 ^ a / 7 ^ a % 7;"
           "out[4 * i + 3] = in[i] / (in[i + 1] | 1) ^ in[i] % 10 ^ (unsigned)((long long)a * b / b); }");
}

static void a_half_is_rounded_once(void **state)
{
    (void)state;
    agrees("#include <cuda_fp16.h>\n"
           "__global__ void k(const unsigned *in, unsigned *out) { " AT
           "float f = __uint_as_float(i % 3 ? in[i] : 0x33000000 + i * 0x00400001); __half h = (__half)f;"
           "((__half *)out)[i] = h; out[256 + i] = __float_as_uint((float)((const __half *)in)[i]);"
           "out[512 + i] = __float_as_uint((float)(__half)(int)in[i]); }");
}

static void a_float_times_zero_has_a_sign(void **state)
{
    (void)state;
    agrees("__device__ unsigned bits(float x) { return x == x ? __float_as_uint(x) : 1; }"
           "__global__ void k(const unsigned *in, unsigned *out) { " AT "float f = __uint_as_float(in[i]);"
           "out[4 * i] = bits(f * 0.0f); out[4 * i + 1] = bits(-0.0f * f); out[4 * i + 2] = bits(0.0f / f);"
           "out[4 * i + 3] = (bool)f; }");
}

static void a_division_by_zero_is_a_fault(void **state)
{
    (void)state;
    for (int all_widths = 0; all_widths < 2; all_widths++) {
        int numbers[2] = {7, 0};
        struct words w = words_of("__global__ void k(int *a)\n{\n  a[0] /= a[1];\n}", all_widths, false);
        GIVE(&w.l, numbers, sizeof numbers);
        assert_int_equal(go(&w.l), SLRI_FAULT_DIVIDE);
        done(&w);
    }
}

// ---- what is left --------------------------------------------------------------------------------------------------

static bool is_word(enum slri_kind kind)
{
    return kind == SLRI_I32 || kind == SLRI_U32 || kind == SLRI_F32;
}

static void look_at(const struct slri_function *function, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        const bool is_offset = in->op == SLRI_OP_CONVERT && in->kind == SLRI_I64;
        assert_true(in->op != SLRI_OP_COPY && in->op != SLRI_OP_ZERO && in->op != SLRI_OP_INDEX);
        if (in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE ||
            (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS))
            assert_int_equal(in->kind, SLRI_U32);
        else if (in->kind != SLRI_VOID && !is_offset)
            assert_true(is_word(in->kind));
        if (is_offset)
            assert_int_equal(function->reg_kind[in->a], SLRI_U32);
        else if (in->dst != SLRI_NO_REG)
            assert_true(is_word(function->reg_kind[in->dst]));
        for (int part = 0; part < 3; part++)
            look_at(function, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            look_at(function, in->match[c].body);
    }
}

static void only_words_are_left(void **state)
{
    (void)state;
    struct words w = words_of("struct s { char c; short h; long long l; float f; };"
                              "__global__ void k(struct s *p, unsigned char *b, long long n, short m, _Bool z) {"
                              "struct s t = *p; t.c += b[n]; t.h ^= m; t.l <<= t.c; if (z) t.f += t.l;"
                              "atomicAdd(&p->f, t.f); atomicMin((int *)p, 3); p[1] = t; b[n] = t.h; }",
                              false, false);
    for (uint32_t i = 0; i < w.l.module->functions; i++)
        look_at(w.l.module->function[i], w.l.module->function[i]->body);
    assert_string_equal(w.l.module->entry->name, "k");
    done(&w);
}

static void refuses_with(const struct slri_words_options *options, const char *text, const char *words)
{
    struct slri_module *source = compile_text(text), *made = NULL;
    assert_int_equal(slri_words_kernel(source, source->entry, options, &made), SLR_UNSUPPORTED);
    assert_null(made);
    if (!strstr(slr_error_message(), words))
        fail_msg("'%s' does not say '%s'", slr_error_message(), words);
    slri_module_destroy(source);
}

static void refuses(const char *text, const char *words)
{
    refuses_with(NULL, text, words);
}

static void what_a_word_cannot_hold_is_refused_with_its_place(void **state)
{
    (void)state;
    refuses("__global__ void k(float *a)\n{\n  a[0] = a[0] * 0.1;\n}", ":3: double is not supported");
    refuses("__global__ void k(float *a)\n{\n  a[0] = a[0] * 0.1;\n}", "use float");
    refuses("__global__ void k(unsigned long long *a)\n{\n  atomicAdd(a, 1ull);\n}", ":3: an atomic of 64 bits");
    refuses("__global__ void k(int *a)\n{\n  printf(\"%d\", a[0]);\n}", ":3: printf is");
    const struct slri_words_options prints = {.tells = true, .doubles = true};
    refuses_with(&prints, "__global__ void k(double *a)\n{\n  printf(\"%g\", a[0]);\n}", ":3: printf of a double is");
    struct words w = words_of("__global__ void k(float *a) { a[0] = a[0] * 0.1f; }", false, false);
    done(&w);
}

static void doubles_stay_where_the_device_has_them(void **state)
{
    (void)state;
    const struct slri_words_options options = {.doubles = true};
    struct slri_module *source = compile_text("__global__ void k(double *a) { a[1] = a[0] * 0.1 + (long long)a[0]; }"),
                       *made;
    struct slri_interp *interp;
    struct slri_grid_end end;
    double a[2] = {-123456789012.75, 0};
    const struct slri_bound arg = {a, sizeof a};
    const struct slri_grid grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .arg = &arg, .args = 1, .fuel = 100};
    assert_int_equal(slri_words_kernel(source, source->entry, &options, &made), SLR_OK);
    assert_int_equal(slri_interp_create(made, &interp), SLR_OK);
    assert_int_equal(slri_interpret_grid(interp, &grid, &end), SLR_OK);
    assert_true(a[1] == -123456789012.75 * 0.1 + -123456789012.0);
    slri_interp_destroy(interp);
    slri_module_destroy(made);
    slri_module_destroy(source);
}

static void what_is_told_goes_to_two_buffers_behind_the_others(void **state)
{
    (void)state;
    static const struct slri_words_options options[] = {
        {.tells = true, .faults = true}, {.tells = true, .faults = true, .all_widths = true}, {.tells = true}};
    struct slri_module *source = compile_text("__global__ void k(int *a) {\n"
                                              "  printf(\"%d %lld\", a[0], a[0] * 10000000000ll);\n"
                                              "  printf(\"%u\", 7u);\n  printf(\"\");\n  a[0] = a[1] / a[2];\n"
                                              "  a[0] |= 5 % a[2]; }");
    for (uint32_t i = 0; i < 2 * (sizeof options / sizeof *options); i++) {
        const bool is_heard = i % 2;
        int32_t a[3] = {-3, 4, 0};
        uint32_t printed[4 + 8] = {0, 0, 4}, faulted[3] = {0}; // room for four words of 8 bytes
        struct launch l = {0};
        assert_int_equal(slri_words_kernel(source, source->entry, &options[i / 2], &l.module), SLR_OK);
        assert_int_equal(slri_interp_create(l.module, &l.interp), SLR_OK);
        l.grid = (struct slri_grid){.grid = {1, 1, 1}, .block = {1, 1, 1}, .fuel = 100};
        GIVE(&l, a, sizeof a);
        GIVE(&l, is_heard ? printed : NULL, is_heard ? sizeof printed : 0);
        GIVE(&l, faulted, sizeof faulted);
        assert_int_equal(go(&l), 0);
        const int64_t wide = -30000000000;
        const uint32_t told[12] = {4, 1, 4, 0, 0, 2, (uint32_t)-3, 0, (uint32_t)wide, (uint32_t)(wide >> 32), 2};
        const uint32_t untold[12] = {0, 0, 4}, of_division[3] = {SLRI_FAULT_DIVIDE, 0, 5}, none[3] = {0};
        assert_memory_equal(printed, is_heard ? told : untold, sizeof printed);
        assert_memory_equal(faulted, options[i / 2].faults ? of_division : none, sizeof faulted);
        assert_int_equal(a[0], 0);
        end(&l);
    }
    slri_module_destroy(source);
}

// ---- meet ----------------------------------------------------------------------------------------------------------

static void threads_that_have_returned_come_along(void **state)
{
    (void)state;
    agrees("__global__ void k(const unsigned *in, unsigned *out) { __shared__ unsigned s[64]; " AT
           "s[threadIdx.x] = 0; if (threadIdx.x >= 40) return; s[threadIdx.x] = in[i]; __syncthreads();"
           "out[i] = s[39 - threadIdx.x]; }");
}

static void some_lanes_vote_and_others_have_left_the_loop(void **state)
{
    (void)state;
    agrees(
        "__device__ unsigned vote(unsigned v, int n) { for (int k = 0; k < n; k++) {"
        "unsigned on = __ballot_sync(__activemask(), (v >> k) & 1); if (on == 0) return v; v += on + __popc(on); }"
        "return v ^ 1; }"
        "__global__ void k(const unsigned *in, unsigned *out) { " AT
        "unsigned v = in[i]; int n = threadIdx.x / 32 + 3; if (threadIdx.x % 32 < 20) v = vote(v, n);"
        "else { do { v = v / 4 + __shfl_xor_sync(0xfff00000u, v, 1) / 4; } while (__any_sync(0xfff00000u, v > 900)); }"
        "out[i] = v; }");
}

static const struct slri_function *only(const struct slri_module *module)
{
    assert_int_equal(module->functions, 1);
    return module->function[0];
}

static void what_meets_stays_as_it_is(void **state)
{
    (void)state;
    struct words w =
        words_of("__global__ void k(int *a, int n) { __shared__ int s[64]; s[threadIdx.x] = a[threadIdx.x];"
                 "for (int i = 32; i > n; i /= 2) { __syncthreads(); s[threadIdx.x] += s[threadIdx.x ^ i]; }"
                 "a[threadIdx.x] = s[0]; }",
                 false, false);
    const uint32_t regs = only(w.l.module)->regs;
    assert_int_equal(slri_meet_kernel(w.l.module, "WGSL"), SLR_OK);
    assert_int_equal(only(w.l.module)->regs, regs);
    done(&w);
    w = words_of("__global__ void k(int *a) { __shared__ int s[64]; if (threadIdx.x > 8) return; s[threadIdx.x] = 1;"
                 "__syncthreads(); a[threadIdx.x] = s[0]; }",
                 false, false);
    const uint32_t before = only(w.l.module)->regs;
    assert_int_equal(slri_meet_kernel(w.l.module, "WGSL"), SLR_OK);
    assert_true(only(w.l.module)->regs > before);
    done(&w);
}

static void a_wait_in_a_switch_of_some_is_refused_with_its_place(void **state)
{
    (void)state;
    static const char text[] = "__global__ void k(int *a)\n{\n  switch (a[threadIdx.x]) {\n  case 1:\n"
                               "    a[1] = __shfl_sync(0xf, a[0], 1);\n  }\n}";
    struct words w = words_of(text, false, false);
    assert_int_equal(slri_meet_kernel(w.l.module, "WGSL"), SLR_UNSUPPORTED);
    if (!strstr(slr_error_message(), ":3: WGSL cannot synchronise here: a switch"))
        fail_msg("%s", slr_error_message());
    done(&w);
    w = words_of("__global__ void k(int *a) { switch (a[threadIdx.x]) { case 1: a[1] = 2; }"
                 "if (threadIdx.x < 4) return; __syncthreads(); }",
                 false, false);
    assert_int_equal(slri_meet_kernel(w.l.module, "WGSL"), SLR_OK);
    done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_64_bits_are_two_words),
        cmocka_unit_test(neighbours_store_bytes_in_one_word),
        cmocka_unit_test(floats_become_integers_of_64_bits),
        cmocka_unit_test(structs_are_copied_where_they_lie),
        cmocka_unit_test(structs_in_buffers_of_bytes_are_copied_by_words),
        cmocka_unit_test(a_function_gives_64_bits),
        cmocka_unit_test(a_case_falls_into_the_next_and_a_loop_goes_on),
        cmocka_unit_test(a_division_is_of_magnitudes),
        cmocka_unit_test(a_half_is_rounded_once),
        cmocka_unit_test(a_float_times_zero_has_a_sign),
        cmocka_unit_test(a_division_by_zero_is_a_fault),
        cmocka_unit_test(only_words_are_left),
        cmocka_unit_test(what_a_word_cannot_hold_is_refused_with_its_place),
        cmocka_unit_test(doubles_stay_where_the_device_has_them),
        cmocka_unit_test(what_is_told_goes_to_two_buffers_behind_the_others),
        cmocka_unit_test(threads_that_have_returned_come_along),
        cmocka_unit_test(some_lanes_vote_and_others_have_left_the_loop),
        cmocka_unit_test(what_meets_stays_as_it_is),
        cmocka_unit_test(a_wait_in_a_switch_of_some_is_refused_with_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Kernels of programs as one kernel, by the names of their parameters.
#include "device/device_test.h"

static const char *const specs[] = {"cpu?engine=interpreted", "cpu?engine=compiled", "opencl:0", "cuda:0"};

#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "
static const char source[] =
    "__device__ void positive(float v) { if (v < 0) __trap(); }\n"
    "__device__ float at(const float *p, int k) { return p[k]; }\n"
    "__device__ float root(float v) { return sqrtf(v); }\n"
    "__global__ void turns(const float *y, float *z, int n) {\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; z[i] = y[i], i += gridDim.x * blockDim.x) ; }\n"
    "__global__ void sums(const float *y, float *z, int n) { float s = 0;\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { s += y[i]; z[i] = "
    "s; } }\n"
    "__global__ void traps(const float *y, float *z, int n) { " INDEX "{ positive(y[i]); z[i] = y[i]; } }\n"
    "__global__ void points(const float *y, float *z, int n) { " INDEX "z[i] = at(y, i); }\n"
    "__global__ void roots(const float *y, float *z, int n) { " INDEX "z[i] = root(y[i]); }\n"
    "__global__ void twice(const float *x, float *y, int n) { " INDEX "y[i] = 2 * x[i]; }\n"
    "__global__ void less(const float *y, float *z, int n) { " INDEX "z[i] = y[i] - 1; }\n"
    "__global__ void both(const float *a, const float *b, float *c, int m) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < m) c[i] = a[i] * b[i]; }\n"
    "__global__ void ints(const int *y, int *w, int n) { " INDEX "w[i] = y[i]; }\n"
    "__global__ void block(const float *y, float *z, int n) { " INDEX "{ __syncthreads(); z[i] = y[i]; } }\n"
    "__global__ void atoms(const float *y, int *w, int n) { " INDEX "atomicAdd(w, (int)y[i]); }\n"
    "__global__ void plain(const float *y, float *z) { z[threadIdx.x] = y[threadIdx.x]; }\n"
    "__global__ void more(float *x, int n) { " INDEX "x[i] = x[i] + 1; }\n"
    "__global__ void turned(const float *x, float *z, int n) { " INDEX "z[i] = -(-x[i]) - -(-2.0f); }\n"
    "__global__ void local(const float *y, float *z, int n) { " INDEX "{ float a[2]; a[i & 1] = y[i]; z[i] = a[0]; } "
    "}\n"
    "__global__ void sometimes(const float *x, float *y, int n) { " INDEX "if (x[i] > 0) y[i] = x[i]; }\n"
    "__global__ void backs(float *x, const float *z, int n) { " INDEX "x[i] = z[i]; }\n"
    "__global__ void lax(float *y, float *z, int n) { " INDEX "z[i] = y[i] - 1; }\n"
    "__global__ void halt(const float *y, float *z, int n) { " INDEX "{ if (y[i] < 0) return; z[i] = y[i]; } }\n";

struct fixture {
    slr_device *device;
    slr_program *program;
};

static struct fixture set_up(const char *spec)
{
    struct fixture f = {.device = open_device(spec)};
    must(slr_program_from_text(f.device, "parts.cu", source, NULL, &f.program));
    return f;
}

static void tear_down(struct fixture *f)
{
    slr_program_destroy(f->program);
    slr_device_close(f->device);
}

static slr_kernel_fusion_desc two(slr_fusion_part part[2], const struct fixture *f, const char *one, const char *other)
{
    slr_kernel_fusion_desc desc = SLR_KERNEL_FUSION_DESC_INIT;
    part[0] = (slr_fusion_part){f->program, one};
    part[1] = (slr_fusion_part){f->program, other};
    desc.parts = part;
    desc.part_count = 2;
    return desc;
}

static slr_buffer *floats(slr_device *device, const float *from)
{
    slr_buffer *buffer;
    must(slr_buffer_create(device, 16, &buffer));
    if (from)
        must(slr_buffer_write(buffer, 0, from, 16));
    return buffer;
}

static void parameters_of_one_name_are_one_and_what_is_between_is_gone(void **state)
{
    (void)state;
    static const float x[] = {1, 2, 3, 4};
    EACH_HERE(i, specs)
    {
        struct fixture f = set_up(specs[i]);
        slr_fusion_part part[2];
        slr_kernel_fusion_desc desc = two(part, &f, "twice", "less");
        slr_kernel *kernel;
        slr_kernel_info is;
        slr_fusion_info info;
        slr_stream *stream;
        float z[4];
        must(slr_fuse_kernels(&desc, &kernel, &info));
        must(slr_kernel_get_info(kernel, &is));
        assert_string_equal(is.name, "twice_less");
        assert_int_equal(is.parameter_count, 3);
        assert_int_equal(info.bytes_an_element, 8);
        assert_int_equal(info.bytes_apart, 16);
        must(slr_stream_create(f.device, NULL, &stream));
        slr_buffer *in = floats(f.device, x), *out = floats(f.device, NULL);
        must(SLR_LAUNCH(stream, kernel, SLR_1D(4), in, 4, out));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(out, 0, z, 16));
        assert_true(z[0] == 1 && z[1] == 3 && z[2] == 5 && z[3] == 7);
        refuses(SLR_LAUNCH(stream, kernel, SLR_1D(4), in, 4, in), INVALID, "__restrict__");
        slr_buffer_destroy(in);
        slr_buffer_destroy(out);
        slr_stream_destroy(stream);
        slr_kernel_destroy(kernel);
        tear_down(&f);
    }
}

static void joins_and_kept_buffers_are_as_told(void **state)
{
    (void)state;
    static const slr_fusion_join joins[] = {{0, 1, "y", "b"}, {0, 1, "x", "a"}, {0, 1, "n", "m"}};
    static const char *const keep[] = {"y"};
    struct fixture f = set_up(specs[0]);
    slr_fusion_part part[2];
    slr_kernel_fusion_desc desc = two(part, &f, "twice", "both");
    slr_kernel *kernel;
    slr_fusion_info info;
    desc.joins = joins;
    desc.join_count = 2;
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), UNSUPPORTED, "different guards: twice has 'n', both has 'm'");
    desc.join_count = 3;
    must(slr_fuse_kernels(&desc, &kernel, &info));
    assert_int_equal(info.inputs, 1);
    assert_int_equal(info.outputs, 1);
    slr_kernel_destroy(kernel);
    desc.keep = keep;
    desc.keep_count = 1;
    desc.name = "kept";
    must(slr_fuse_kernels(&desc, &kernel, &info));
    assert_int_equal(info.outputs, 2);
    assert_non_null(strstr(info.source, "void kept(const float *__restrict__ x, float *__restrict__ y, int n, "
                                        "float *__restrict__ c)"));
    slr_kernel_destroy(kernel);
    tear_down(&f);
}

static void only_buffer_written_is_the_only_one_read(void **state)
{
    (void)state;
    static const char *const others[] = {
        "__global__ void half(const float *in, float *result, int n) { " INDEX "result[i] = in[i] / 2; }\n",
        "__global__ void half(float *in, float *result, int n) { " INDEX "result[i] = in[i] / 2; }\n"};
    struct fixture f = set_up(specs[0]);
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        slr_fusion_part part[2];
        slr_kernel_fusion_desc desc = two(part, &f, "twice", "half");
        slr_program *program;
        slr_kernel *kernel;
        slr_fusion_info info;
        must(slr_program_from_text(f.device, "other.cu", others[i], NULL, &program));
        part[1].program = program;
        must(slr_fuse_kernels(&desc, &kernel, &info));
        slr_program_destroy(program); // the result has no need of it
        assert_non_null(
            strstr(info.source, "twice_half(const float *__restrict__ x, int n, float *__restrict__ result)"));
        slr_kernel_destroy(kernel);
    }
    tear_down(&f);
}

static void buffer_that_is_only_read_needs_no_const_to_be_intermediate(void **state)
{
    (void)state;
    struct fixture f = set_up(specs[0]);
    slr_fusion_part part[2];
    slr_kernel_fusion_desc desc = two(part, &f, "twice", "lax");
    slr_kernel *kernel;
    slr_fusion_info info;
    must(slr_fuse_kernels(&desc, &kernel, &info));
    assert_non_null(strstr(info.source, "twice_lax(const float *__restrict__ x, int n, float *__restrict__ z)"));
    assert_int_equal(info.bytes_an_element, 8);
    slr_kernel_destroy(kernel);
    tear_down(&f);
}

static void reason_says_which_shared_buffer_saves_nothing(void **state)
{
    (void)state;
    struct fixture f = set_up(specs[0]);
    slr_fusion_part part[2];
    slr_kernel *kernel;
    slr_kernel_fusion_desc desc = two(part, &f, "sometimes", "less");
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), UNSUPPORTED,
            "less and what comes before it share 'y', but it would stay in memory: a part accesses it under a "
            "condition");
    desc = two(part, &f, "twice", "backs");
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), UNSUPPORTED,
            "backs and what comes before it share 'x', but fused they would load and store no fewer bytes");
    tear_down(&f);
}

static void a_minus_before_a_minus_is_no_decrement(void **state)
{
    (void)state;
    static const float x[] = {1, 2, 3, 4};
    EACH_HERE(i, specs)
    {
        struct fixture f = set_up(specs[i]);
        slr_fusion_part part[2];
        slr_kernel_fusion_desc desc = two(part, &f, "more", "turned");
        slr_kernel *kernel;
        slr_stream *stream;
        float changed[4], z[4];
        must(slr_fuse_kernels(&desc, &kernel, NULL));
        must(slr_stream_create(f.device, NULL, &stream));
        slr_buffer *in = floats(f.device, x), *out = floats(f.device, NULL);
        must(SLR_LAUNCH(stream, kernel, SLR_1D(4), in, 4, out));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(in, 0, changed, 16));
        must(slr_buffer_read(out, 0, z, 16));
        for (int k = 0; k < 4; ++k) {
            assert_true(changed[k] == x[k] + 1);
            assert_true(z[k] == x[k] - 1);
        }
        slr_buffer_destroy(in);
        slr_buffer_destroy(out);
        slr_stream_destroy(stream);
        slr_kernel_destroy(kernel);
        tear_down(&f);
    }
}

// z[i] = 2 * x[i], by way of y, for each index of the type below the constant.
static void write_guarded(char text[600], const char *type, const char *bound)
{
    static const char index[] = "blockIdx.x * blockDim.x + threadIdx.x";
    snprintf(text, 600,
             "__global__ void in(const float *x, float *y) { %s i = (%s)%s; if (i < %s) y[i] = x[i]; }\n"
             "__global__ void out(const float *y, float *z) { %s i = (%s)%s; if (i < %s) z[i] = 2 * y[i]; }\n",
             type, type, index, bound, type, type, index, bound);
}

static void guards_may_have_a_constant(void **state)
{
    (void)state;
    static const struct {
        const char *type, *bound;
        int written;
    } guards[] = {{"int", "-1", 0},   {"long long", "-1", 0},  {"unsigned", "-1", 4},          {"int", "3", 3},
                  {"size_t", "3", 3}, {"int", "(int)2.5f", 2}, {"int", "(int)4294967297ll", 1}};
    static const float x[] = {1, 2, 3, 4}, none[4];
    for (size_t i = 0; i < sizeof guards / sizeof *guards; ++i) {
        char text[600];
        write_guarded(text, guards[i].type, guards[i].bound);
        struct fixture f = {.device = open_device(specs[0])};
        must(slr_program_from_text(f.device, "guarded.cu", text, NULL, &f.program));
        slr_fusion_part part[2];
        slr_kernel_fusion_desc desc = two(part, &f, "in", "out");
        slr_kernel *kernel;
        slr_stream *stream;
        float z[4];
        must(slr_fuse_kernels(&desc, &kernel, NULL));
        must(slr_stream_create(f.device, NULL, &stream));
        slr_buffer *in = floats(f.device, x), *out = floats(f.device, none);
        must(SLR_LAUNCH(stream, kernel, SLR_1D_BLOCKS(4, 4), in, out));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(out, 0, z, 16));
        for (int k = 0; k < 4; ++k)
            assert_true(z[k] == (k < guards[i].written ? 2 * x[k] : 0));
        slr_buffer_destroy(in);
        slr_buffer_destroy(out);
        slr_stream_destroy(stream);
        slr_kernel_destroy(kernel);
        tear_down(&f);
    }
}

static void kernels_that_are_not_element_wise_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"block", "block: it has a barrier"},
        {"atoms", "atoms: it has atomics or fences"},
        {"plain", "plain: it has no guard"},
        {"halt", "halt: it returns in the middle"},
        {"traps", "traps: in a function that it calls: it has an assertion or a trap"},
        {"turns", "turns: its loop is not a grid-stride loop"},
        {"sums", "sums: one element depends on another"},
        {"local", "local: it has a local array"},
        {"points", "points: a function that it calls uses memory"},
        {"ints", "ints shares no buffer with what comes before it"}};
    struct fixture f = set_up(specs[0]);
    slr_kernel *kernel;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        slr_fusion_part part[2];
        slr_kernel_fusion_desc desc = two(part, &f, "twice", cases[i][0]);
        refuses(slr_fuse_kernels(&desc, &kernel, NULL), UNSUPPORTED, cases[i][1]);
    }
    slr_fusion_part part[2];
    slr_kernel_fusion_desc desc = two(part, &f, "twice", "roots");
    must(slr_fuse_kernels(&desc, &kernel, NULL));
    slr_kernel_destroy(kernel);
    desc = two(part, &f, "twice", "ints");
    desc.always = 1; // what a model says is left out
    must(slr_fuse_kernels(&desc, &kernel, NULL));
    slr_kernel_destroy(kernel);
    tear_down(&f);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    static const slr_fusion_join wrong[] = {{0, 1, "q", "y"}, {0, 2, "y", "y"}, {0, 1, "n", "y"}};
    static const char *const keep[] = {"q"};
    struct fixture f = set_up(specs[0]), g = set_up(specs[0]);
    slr_fusion_part part[2];
    slr_kernel *kernel;
    slr_kernel_fusion_desc desc = two(part, &f, "twice", "less");
    desc.join_count = 1;
    desc.joins = &wrong[0];
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), NOT_FOUND, "kernel twice (part 0) has no parameter 'q'");
    desc.joins = &wrong[1];
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), INVALID, "part 2 of 2");
    desc.joins = &wrong[2];
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), INVALID, "differ in type");
    desc.join_count = 0;
    desc.keep = keep;
    desc.keep_count = 1;
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), NOT_FOUND, "no part has a buffer 'q' to keep");
    desc.keep_count = 0;
    part[1].kernel = "none";
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), NOT_FOUND, "no kernel 'none'");
    part[1] = (slr_fusion_part){g.program, "less"};
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), INVALID, "another device");
    desc.name = "1st";
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), INVALID, "'1st', which is no name of a function");
    desc.name = NULL;
    desc.part_count = 1;
    refuses(slr_fuse_kernels(&desc, &kernel, NULL), INVALID, "part_count is 1");
    gives(slr_fuse_kernels(NULL, &kernel, NULL), INVALID);
    tear_down(&f);
    tear_down(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_of_one_name_are_one_and_what_is_between_is_gone),
        cmocka_unit_test(joins_and_kept_buffers_are_as_told),
        cmocka_unit_test(only_buffer_written_is_the_only_one_read),
        cmocka_unit_test(buffer_that_is_only_read_needs_no_const_to_be_intermediate),
        cmocka_unit_test(reason_says_which_shared_buffer_saves_nothing),
        cmocka_unit_test(a_minus_before_a_minus_is_no_decrement),
        cmocka_unit_test(guards_may_have_a_constant),
        cmocka_unit_test(kernels_that_are_not_element_wise_are_refused_with_the_reason),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

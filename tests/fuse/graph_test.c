// SPDX-License-Identifier: Apache-2.0
// Recorded lists fused: the same bytes with fewer launches, and a reason wherever that would be wrong.
#include "device/device_test.h"

enum { N = 1000, BYTES = N * 4 };

static const char *const specs[] = {"cpu?engine=interpreted", "cpu?engine=compiled", "opencl:0", "cuda:0"};

#define INDEX "int i = blockIdx.x * blockDim.x + threadIdx.x;"
static const char source[] =
    "__global__ void scale(const float *x, float *y, float a, int n) { " INDEX " if (i < n) y[i] = a * x[i] + 1; }\n"
    "__global__ void relu(const float *v, float *w, int n) { " INDEX
    " if (i >= n) return; w[i] = v[i] < 0 ? 0 : v[i]; }\n"
    "__global__ void halve(float *u, int m) { " INDEX " if (!(i >= m)) u[i] = u[i] / 2; }\n"
    "__global__ void next(const float *p, float *q, int n) { " INDEX " if (i < n) q[i] = p[i] + p[(i + 1) % n]; }\n"
    "__global__ void shared(const float *p, float *q, int n) { __shared__ float s[1024]; " INDEX
    " if (i < n) { s[threadIdx.x] = p[i]; __syncthreads(); q[i] = s[threadIdx.x]; } }\n"
    "__global__ void some(const float *p, float *q, int n) { " INDEX " if (i < n) { if (p[i] > 0) q[i] = p[i]; } }\n"
    "__global__ void strided(const float *x, float *y, int n) {\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * 3; }\n"
    "__global__ void wide(const float *x, float *y, size_t n) {\n"
    "    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] * 3; }\n"
    "__global__ void bits(const unsigned *x, unsigned *y, int n) { " INDEX " if (i < n) y[i] = x[i] ^ 1; }\n"
    "__global__ void few(const float *x, float *y, int n) { " INDEX " if (i < 900) y[i] = x[i] * n; }\n";

struct fixture {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_graph *graph;
    slr_buffer *buffer[6];
    slr_fusion_info info;
};

static struct fixture set_up_on(const char *spec)
{
    struct fixture f;
    float first[N];
    f.device = open_device(spec);
    must(slr_stream_create(f.device, NULL, &f.stream));
    must(slr_program_from_text(f.device, "graph.cu", source, NULL, &f.program));
    must(slr_graph_create(f.device, &f.graph));
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < N; ++i)
            first[i] = (float)((i * 37 + k * 11) % 101 - 50) / 7;
        must(slr_buffer_create(f.device, BYTES, &f.buffer[k]));
        must(slr_buffer_write(f.buffer[k], 0, first, BYTES));
    }
    must(slr_graph_begin(f.graph, f.stream));
    return f;
}

static struct fixture set_up(void)
{
    return set_up_on(specs[0]);
}

static void tear_down(struct fixture *f)
{
    slr_graph_destroy(f->graph);
    for (int k = 0; k < 6; ++k)
        slr_buffer_destroy(f->buffer[k]);
    slr_program_destroy(f->program);
    slr_stream_destroy(f->stream);
    slr_device_close(f->device);
}

static slr_kernel *kernel_of(struct fixture *f, const char *name)
{
    slr_kernel *kernel;
    must(slr_program_get_kernel(f->program, name, &kernel));
    return kernel;
}

static void scale_shaped(struct fixture *f, slr_buffer *x, slr_buffer *y, int n, slr_shape shape)
{
    slr_kernel *kernel = kernel_of(f, "scale");
    must(SLR_LAUNCH(f->stream, kernel, shape, x, y, 2.5, n));
    slr_kernel_destroy(kernel);
}

static void scale(struct fixture *f, slr_buffer *x, slr_buffer *y)
{
    scale_shaped(f, x, y, N, SLR_1D(N));
}

static void unary_shaped(struct fixture *f, const char *name, slr_buffer *x, slr_buffer *y, int n, slr_shape shape)
{
    slr_kernel *kernel = kernel_of(f, name);
    must(SLR_LAUNCH(f->stream, kernel, shape, x, y, n));
    slr_kernel_destroy(kernel);
}

static void unary(struct fixture *f, const char *name, slr_buffer *x, slr_buffer *y)
{
    unary_shaped(f, name, x, y, N, SLR_1D(N));
}

static void halve(struct fixture *f, slr_buffer *u)
{
    slr_kernel *kernel = kernel_of(f, "halve");
    must(SLR_LAUNCH(f->stream, kernel, SLR_1D(N), u, N));
    slr_kernel_destroy(kernel);
}

static void drop(struct fixture *f, int buffer)
{
    slr_buffer_destroy(f->buffer[buffer]);
    f->buffer[buffer] = NULL;
}

static void fuse(struct fixture *f)
{
    must(slr_graph_end(f->graph));
    must(slr_graph_fuse(f->graph, &f->info));
}

static void play(struct fixture *f)
{
    must(slr_graph_launch(f->graph, f->stream, NULL, 0, NULL));
    must(slr_stream_finish(f->stream, LONG));
}

static float at(slr_buffer *buffer, int i)
{
    float value;
    must(slr_buffer_read(buffer, (uint64_t)i * 4, &value, 4));
    return value;
}

static void not_joined(struct fixture *f, uint32_t launches, const char *why)
{
    assert_int_equal(f->info.launches, launches);
    if (!strstr(f->info.why_not, why))
        fail_msg("\"%s\" does not say \"%s\"", f->info.why_not, why);
}

static void joined(struct fixture *f, uint32_t launches)
{
    if (f->info.launches != launches)
        fail_msg("%u launches, not %u: %s\n%s", f->info.launches, launches, f->info.why_not, f->info.source);
}

// ---- what is joined ------------------------------------------------------------------------------------------------

static void chain_is_one_launch_and_nothing_between_is_written(void **state)
{
    (void)state;
    EACH_HERE(s, specs)
    {
        struct fixture f = set_up_on(specs[s]);
        float x = at(f.buffer[0], 5);
        scale(&f, f.buffer[0], f.buffer[1]);
        unary(&f, "relu", f.buffer[1], f.buffer[2]);
        halve(&f, f.buffer[2]);
        drop(&f, 1);
        fuse(&f);
        joined(&f, 1);
        assert_int_equal(f.info.launches_apart, 3);
        assert_int_equal(f.info.inputs, 1);
        assert_int_equal(f.info.outputs, 1);
        assert_int_equal(f.info.bytes_an_element, 8);
        assert_int_equal(f.info.bytes_apart, 24);
        assert_true(f.info.bound == 3.0);
        assert_string_equal(f.info.why_not, "");
        assert_non_null(strstr(f.info.source, "__global__ void scale_relu_halve(const float *__restrict__ x"));
        must(slr_profile_start());
        slr_profile_clear();
        play(&f);
        static slr_profile_row row[64];
        uint32_t rows, kernels = 0;
        must(slr_profile_read(row, 64, &rows));
        slr_profile_stop();
        for (uint32_t i = 0; i < rows; ++i)
            kernels += row[i].kind == SLR_PROFILE_KERNEL ? (uint32_t)row[i].n : 0;
        assert_int_equal(kernels, 1);
        float v = 2.5f * x + 1;
        assert_true(at(f.buffer[2], 5) == (v < 0 ? 0 : v) / 2);
        tear_down(&f);
    }
}

static void intermediate_that_the_program_holds_is_written(void **state)
{
    (void)state;
    struct fixture f = set_up();
    float x = at(f.buffer[0], 9);
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    fuse(&f);
    joined(&f, 1);
    assert_int_equal(f.info.outputs, 2);
    play(&f);
    assert_true(at(f.buffer[1], 9) == 2.5f * x + 1);
    tear_down(&f);
}

static void intermediate_that_another_command_reads_is_written(void **state)
{
    (void)state;
    struct fixture f = set_up();
    float x = at(f.buffer[0], 9);
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    must(slr_stream_copy(f.stream, f.buffer[3], 0, f.buffer[1], 0, BYTES, NULL));
    drop(&f, 1);
    fuse(&f);
    not_joined(&f, 1, "relu, a copy: only launches are joined");
    assert_int_equal(f.info.outputs, 2);
    play(&f);
    assert_true(at(f.buffer[3], 9) == 2.5f * x + 1);
    tear_down(&f);
}

static void element_that_is_stored_by_some_threads_keeps_its_value_elsewhere(void **state)
{
    (void)state;
    struct fixture f = set_up();
    int hits[2] = {0, 0};
    float old[N];
    must(slr_buffer_read(f.buffer[2], 0, old, BYTES));
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "some", f.buffer[1], f.buffer[2]);
    drop(&f, 1);
    fuse(&f);
    joined(&f, 1);
    play(&f);
    for (int i = 0; i < N; ++i) {
        float v = 2.5f * at(f.buffer[0], i) + 1;
        assert_true(at(f.buffer[2], i) == (v > 0 ? v : old[i]));
        ++hits[v > 0];
    }
    assert_true(hits[0] && hits[1]);
    tear_down(&f);
}

static void stencil_over_what_nobody_writes_is_joined(void **state)
{
    (void)state;
    struct fixture f = set_up();
    float a = at(f.buffer[0], 7), b = at(f.buffer[0], 8);
    unary(&f, "next", f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    drop(&f, 1);
    fuse(&f);
    joined(&f, 1);
    play(&f);
    assert_true(at(f.buffer[2], 7) == (a + b < 0 ? 0 : a + b));
    tear_down(&f);
}

static void two_groups_become_two_kernels_of_one_source(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    must(slr_stream_fill(f.stream, f.buffer[5], 0, BYTES, "\0\0\0\0", 4, NULL));
    scale(&f, f.buffer[2], f.buffer[3]);
    unary(&f, "relu", f.buffer[3], f.buffer[4]);
    fuse(&f);
    joined(&f, 2);
    assert_non_null(strstr(f.info.source, "void scale_relu("));
    assert_non_null(strstr(f.info.source, "void scale_relu_2("));
    slr_graph_info info;
    must(slr_graph_get_info(f.graph, &info));
    assert_int_equal(info.commands, 3);
    play(&f);
    play(&f);
    tear_down(&f);
}

static void fused_graph_can_be_fused_again_and_launched_with_another_buffer(void **state)
{
    (void)state;
    struct fixture f = set_up();
    float x = at(f.buffer[4], 3);
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    drop(&f, 1);
    fuse(&f);
    must(slr_graph_fuse(f.graph, &f.info));
    joined(&f, 1);
    const slr_rebinding instead[] = {{f.buffer[0], f.buffer[4]}, {f.buffer[2], f.buffer[3]}};
    must(slr_graph_launch(f.graph, f.stream, instead, 2, NULL));
    must(slr_stream_finish(f.stream, LONG));
    assert_true(at(f.buffer[3], 3) == (2.5f * x + 1 < 0 ? 0 : 2.5f * x + 1));
    tear_down(&f);
}

// ---- what is not ---------------------------------------------------------------------------------------------------

static void rebinding_that_makes_two_buffers_one_is_refused(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    fuse(&f);
    const slr_rebinding instead[] = {{f.buffer[0], f.buffer[3]}, {f.buffer[2], f.buffer[3]}};
    refuses(slr_graph_launch(f.graph, f.stream, instead, 2, NULL), INVALID, "__restrict__");
    slr_buffer *large, *low, *high;
    must(slr_buffer_create(f.device, 2 * BYTES, &large));
    must(slr_buffer_slice(large, 0, BYTES, &low));
    must(slr_buffer_slice(large, 64, BYTES, &high));
    const slr_rebinding slices[] = {{f.buffer[0], low}, {f.buffer[2], high}};
    refuses(slr_graph_launch(f.graph, f.stream, slices, 2, NULL), INVALID, "overlap");
    const slr_rebinding apart[] = {{f.buffer[0], low}, {f.buffer[2], f.buffer[3]}};
    must(slr_graph_launch(f.graph, f.stream, apart, 2, NULL));
    must(slr_stream_finish(f.stream, LONG));
    slr_buffer_destroy(low);
    slr_buffer_destroy(high);
    slr_buffer_destroy(large);
    tear_down(&f);
}

static void reader_of_other_elements_must_wait(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "next", f.buffer[1], f.buffer[2]);
    fuse(&f);
    not_joined(&f, 2, "scale, next: next accesses elements of 'y' that are not its thread's own");
    play(&f);
    assert_true(at(f.buffer[2], 4) == at(f.buffer[1], 4) + at(f.buffer[1], 5));
    tear_down(&f);
}

static void writer_must_wait_for_readers_of_other_elements(void **state)
{
    (void)state;
    struct fixture f = set_up();
    unary(&f, "next", f.buffer[0], f.buffer[1]);
    halve(&f, f.buffer[0]);
    fuse(&f);
    not_joined(&f, 2, "elements of 'p'");
    tear_down(&f);
}

static void slices_that_overlap_are_not_joined_and_others_are(void **state)
{
    (void)state;
    static const uint64_t second[] = {64, 1920}; // where the second slice begins; the first has 1,920 bytes
    for (int k = 0; k < 2; ++k) {
        struct fixture f = set_up();
        slr_buffer *low, *high;
        must(slr_buffer_slice(f.buffer[0], 0, 1920, &low));
        must(slr_buffer_slice(f.buffer[0], second[k], 1920, &high));
        scale_shaped(&f, low, f.buffer[1], 480, SLR_1D(480));
        unary_shaped(&f, "relu", f.buffer[1], high, 480, SLR_1D(480));
        fuse(&f);
        if (k == 0)
            not_joined(&f, 2, "aliasing: 'x' and 'w' are slices of one buffer that overlap");
        else
            joined(&f, 1);
        slr_buffer_destroy(low);
        slr_buffer_destroy(high);
        tear_down(&f);
    }
}

static void barrier_is_not_crossed(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "shared", f.buffer[1], f.buffer[2]);
    fuse(&f);
    not_joined(&f, 2, "it uses shared memory, so its threads work together");
    tear_down(&f);
}

static void command_between_is_not_crossed(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    must(slr_stream_fill(f.stream, f.buffer[1], 0, BYTES, "\0\0\0\0", 4, NULL));
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    fuse(&f);
    not_joined(&f, 2, "scale, a fill: only launches are joined\na fill, relu: only launches are joined\n");
    play(&f);
    assert_true(at(f.buffer[2], 0) == 0 && at(f.buffer[1], 0) == 0);
    tear_down(&f);
}

static void other_grid_guard_loop_or_index_is_not_joined(void **state)
{
    (void)state;
    static const char *const why[] = {"different grids: 4 x 256 threads and 8 x 128",
                                      "different guards: scale has 'n' = 1000, relu has 'n' = 999\n",
                                      "strided has a grid-stride loop and scale has not",
                                      "the indices of scale and wide differ in type",
                                      "bits has the buffer 'x' as elements of another type",
                                      "different guards: scale has 'n' = 1000, few has '900'\n",
                                      "different guards: scale has 'n' = 1000, halve has 'm' = -1\n"};
    for (int k = 0; k < 7; ++k) {
        struct fixture f = set_up();
        slr_kernel *wide = kernel_of(&f, "wide"), *halve_kernel = kernel_of(&f, "halve");
        scale_shaped(&f, f.buffer[0], f.buffer[1], N, SLR_GRID(4, 256, 0));
        if (k == 0)
            unary_shaped(&f, "relu", f.buffer[1], f.buffer[2], N, SLR_GRID(8, 128, 0));
        if (k == 1)
            unary_shaped(&f, "relu", f.buffer[1], f.buffer[2], N - 1, SLR_GRID(4, 256, 0));
        if (k == 2)
            unary_shaped(&f, "strided", f.buffer[1], f.buffer[2], N, SLR_GRID(4, 256, 0));
        if (k == 3)
            must(SLR_LAUNCH(f.stream, wide, SLR_GRID(4, 256, 0), f.buffer[1], f.buffer[2], N));
        if (k == 4)
            unary_shaped(&f, "bits", f.buffer[1], f.buffer[2], N, SLR_GRID(4, 256, 0));
        if (k == 5)
            unary_shaped(&f, "few", f.buffer[1], f.buffer[2], N, SLR_GRID(4, 256, 0));
        if (k == 6)
            must(SLR_LAUNCH(f.stream, halve_kernel, SLR_GRID(4, 256, 0), f.buffer[1], -1));
        fuse(&f);
        not_joined(&f, 2, why[k]);
        slr_kernel_destroy(wide);
        slr_kernel_destroy(halve_kernel);
        tear_down(&f);
    }
}

static void grid_along_y_gives_threads_one_element_and_is_not_joined(void **state)
{
    (void)state;
    for (uint32_t y = 1; y <= 2; ++y) {
        struct fixture f = set_up();
        scale_shaped(&f, f.buffer[0], f.buffer[1], N, SLR_GRID_2D(4, y, 256, 1));
        unary_shaped(&f, "relu", f.buffer[1], f.buffer[2], N, SLR_GRID_2D(4, y, 256, 1));
        fuse(&f);
        if (y == 1)
            joined(&f, 1);
        else
            not_joined(&f, 2, "the grid is not along x alone");
        tear_down(&f);
    }
}

static void launches_without_a_buffer_in_common_are_left(void **state)
{
    (void)state;
    struct fixture f = set_up();
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[2], f.buffer[3]);
    fuse(&f);
    not_joined(&f, 2, "relu shares no buffer with what comes before it: nothing would be saved");
    tear_down(&f);
    f = set_up(); // nor does one join others that are joined
    scale(&f, f.buffer[0], f.buffer[1]);
    unary(&f, "relu", f.buffer[1], f.buffer[2]);
    unary(&f, "relu", f.buffer[3], f.buffer[4]);
    fuse(&f);
    not_joined(&f, 2, "relu, relu: relu shares no buffer with what comes before it: nothing would be saved");
    tear_down(&f);
}

// A kernel of many operands: joined as long as the bytes saved gain more than the registers cost.
static void many_operands_are_left_where_the_model_says_slower(void **state)
{
    (void)state;
    static const int operands[] = {4, 40};
    for (int k = 0; k < 2; ++k) {
        struct fixture f = set_up();
        char text[4096];
        slr_arg args[64];
        uint32_t count = 0;
        int length = snprintf(text, sizeof text, "__global__ void many(");
        for (int i = 0; i < operands[k]; ++i)
            length += snprintf(text + length, sizeof text - (size_t)length, "const float *x%d, ", i);
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "float *r, int n) { " INDEX " if (i < n) r[i] = 0");
        for (int i = 0; i < operands[k]; ++i)
            length += snprintf(text + length, sizeof text - (size_t)length, " + x%d[i]", i);
        snprintf(text + length, sizeof text - (size_t)length, "; }\n");
        slr_program *program;
        slr_kernel *many;
        slr_buffer *input[64];
        must(slr_program_from_text(f.device, "many.cu", text, NULL, &program));
        must(slr_program_get_kernel(program, "many", &many));
        for (int i = 0; i < operands[k]; ++i) {
            must(slr_buffer_create(f.device, BYTES, &input[i]));
            args[count++] = slr_arg_buffer(input[i]);
        }
        args[count++] = slr_arg_buffer(f.buffer[0]);
        args[count++] = slr_arg_signed(N);
        must(slr_launch(f.stream, many, SLR_1D(N), args, count, NULL));
        unary(&f, "relu", f.buffer[0], f.buffer[1]);
        fuse(&f);
        if (k == 0)
            joined(&f, 1);
        else
            not_joined(&f, 2, "slower by the model: ");
        for (int i = 0; i < operands[k]; ++i)
            slr_buffer_destroy(input[i]);
        slr_kernel_destroy(many);
        slr_program_destroy(program);
        tear_down(&f);
    }
}

static void graph_that_records_is_refused(void **state)
{
    (void)state;
    struct fixture f = set_up();
    refuses(slr_graph_fuse(f.graph, NULL), WRONG_STATE, "recording");
    must(slr_graph_end(f.graph));
    must(slr_graph_fuse(f.graph, NULL));
    gives(slr_graph_fuse(NULL, NULL), INVALID);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_is_one_launch_and_nothing_between_is_written),
        cmocka_unit_test(intermediate_that_the_program_holds_is_written),
        cmocka_unit_test(intermediate_that_another_command_reads_is_written),
        cmocka_unit_test(element_that_is_stored_by_some_threads_keeps_its_value_elsewhere),
        cmocka_unit_test(stencil_over_what_nobody_writes_is_joined),
        cmocka_unit_test(two_groups_become_two_kernels_of_one_source),
        cmocka_unit_test(fused_graph_can_be_fused_again_and_launched_with_another_buffer),
        cmocka_unit_test(rebinding_that_makes_two_buffers_one_is_refused),
        cmocka_unit_test(reader_of_other_elements_must_wait),
        cmocka_unit_test(writer_must_wait_for_readers_of_other_elements),
        cmocka_unit_test(slices_that_overlap_are_not_joined_and_others_are),
        cmocka_unit_test(barrier_is_not_crossed),
        cmocka_unit_test(command_between_is_not_crossed),
        cmocka_unit_test(other_grid_guard_loop_or_index_is_not_joined),
        cmocka_unit_test(grid_along_y_gives_threads_one_element_and_is_not_joined),
        cmocka_unit_test(launches_without_a_buffer_in_common_are_left),
        cmocka_unit_test(many_operands_are_left_where_the_model_says_slower),
        cmocka_unit_test(graph_that_records_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

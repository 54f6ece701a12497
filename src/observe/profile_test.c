// SPDX-License-Identifier: Apache-2.0
// The profiler's rows: what is counted, under which name, and what is made of it.
#include "observe/observe_test.h"

#include "observe/names.h"
#include "observe/observe.h"

#include <slipring/ops.h>

#include <sys/stat.h>

#define DEVICE "cpu?engine=interpreted&threads=2&unified=0" // as slipring writes it
#define KERNEL "__global__ void add(float *x, float by) { x[threadIdx.x] += by; }\n"

static void add_sample(struct slri_row *row, uint64_t ns, uint64_t bytes)
{
    const struct slri_sample sample = {.ns = ns, .bytes = bytes};
    slri_row_add(row, slri_own(), &sample);
}

static int begin(void **state)
{
    (void)state;
    slr_profile_clear();
    return slr_profile_start() == SLR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    slr_profile_stop();
    return 0;
}

static void launch_times(slr_device *device, const char *source, int times)
{
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    must(slr_program_from_text(device, "add.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, 4 * 32, &buffer));
    for (int i = 0; i < times; ++i)
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer, 1.0f));
    must(slr_stream_finish(stream, LONG));
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
}

static void nothing_is_counted_until_it_is_asked_for(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    launch_times(device, KERNEL, 3);
    uint32_t count;
    must(slr_profile_read(NULL, 0, &count));
    assert_int_equal(count, 0);
    slr_device_close(device);
}

static void each_kernel_and_each_way_of_copying_has_a_row(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_stream *stream;
    slr_buffer *buffer;
    char bytes[1000] = {0};
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, sizeof bytes, &buffer));
    for (int i = 0; i < 5; ++i)
        must(slr_stream_write(stream, buffer, 0, bytes, sizeof bytes, NULL));
    must(slr_stream_read(stream, buffer, 0, bytes, 600, NULL));
    must(slr_stream_copy(stream, buffer, 0, buffer, 500, 500, NULL));
    must(slr_stream_fill(stream, buffer, 0, 100, "", 1, NULL));
    must(slr_stream_finish(stream, LONG));
    launch_times(device, KERNEL, 7);

    slr_profile_row upload = row_of(SLR_PROFILE_UPLOAD, "upload");
    assert_int_equal(upload.n, 5);
    assert_int_equal(upload.bytes, 5000);
    assert_string_equal(upload.device, DEVICE);
    assert_true(upload.min_ns <= upload.p50_ns && upload.p50_ns <= upload.p95_ns && upload.p95_ns <= upload.max_ns);
    assert_true(upload.total_ns >= 5 * upload.min_ns && upload.total_ns <= 5 * upload.max_ns);
    assert_int_equal(row_of(SLR_PROFILE_DOWNLOAD, "download").bytes, 600);
    assert_int_equal(row_of(SLR_PROFILE_COPY, "copy").bytes, 500);
    assert_true(row_of(SLR_PROFILE_FILL, "fill").bytes >= 100); // new memory is filled too
    assert_int_equal(row_of(SLR_PROFILE_KERNEL, "add").n, 7);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void a_kernels_work_is_counted_and_judged(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    launch_times(device, KERNEL, 7); // 32 threads, each reads and writes 4 B and adds once
    slr_profile_row row = row_of(SLR_PROFILE_KERNEL, "add");
    assert_int_equal(row.counted, SLR_COUNTED_EXACT);
    assert_int_equal(row.threads, 7 * 32);
    assert_int_equal(row.blocks, 7);
    assert_int_equal(row.flops, 7 * 32);
    assert_int_equal(row.bytes, 7 * 2 * 4 * 32);
    assert_true(row.intensity > 0.124 && row.intensity < 0.126);
    assert_string_equal(row.file, "add.cu");
    assert_int_equal(row.lines[0].line, 1);
    row.total_ns = 1000;
    const slr_ceilings slow_memory = {.bytes_per_second = 1e9, .flops_per_second = 1e12, .flops64_per_second = 1e12},
                       slow_arithmetic = {.bytes_per_second = 1e12, .flops_per_second = 1e9, .flops64_per_second = 1e9};
    slr_roofline memory = slr_profile_roofline(&row, &slow_memory);
    assert_int_equal(memory.bound, SLR_BOUND_MEMORY);
    assert_true(memory.reached > 1.79 && memory.reached < 1.80); // 1792 B at 1 B/ns
    slr_roofline compute = slr_profile_roofline(&row, &slow_arithmetic);
    assert_int_equal(compute.bound, SLR_BOUND_COMPUTE);
    assert_true(compute.reached > 0.223 && compute.reached < 0.225); // 224 flops
    row.counted = SLR_COUNTED_NOT;
    assert_int_equal(slr_profile_roofline(&row, &slow_memory).bound, SLR_BOUND_UNKNOWN);
    slr_device_close(device);
}

static slr_profile_row caller_of(const char *what, uint64_t n)
{
    slr_profile_row rows[64], found = {0};
    uint32_t count;
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count; ++i)
        if (rows[i].kind == SLR_PROFILE_CALLER && strcmp(rows[i].name, what) == 0 && rows[i].n == n)
            found = rows[i];
    return found;
}

// Calls from two lines are two rows; the launches of a recorded list are its launch's.
static void each_place_in_the_program_has_a_row_for_each_kind_of_call(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_program *program;
    slr_kernel *kernel;
    slr_stream *stream;
    slr_buffer *buffer;
    slr_graph *graph;
    float host[32] = {0};
    must(slr_program_from_text(device, "add.cu", KERNEL, NULL, &program));
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, sizeof host, &buffer));
    const uint32_t line = __LINE__ - 1;
    for (int i = 0; i < 7; ++i)
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer, 1.0f));
    for (int i = 0; i < 5; ++i)
        must(slr_stream_write(stream, buffer, 0, host, sizeof host, NULL));
    must(slr_stream_write(stream, buffer, 0, host, sizeof host, NULL));
    must(slr_graph_create(device, &graph));
    must(slr_graph_begin(graph, stream));
    for (int i = 0; i < 3; ++i)
        must(SLR_LAUNCH(stream, kernel, SLR_GRID(1, 32, 0), buffer, 1.0f));
    must(slr_graph_end(graph));
    must(slr_graph_launch(graph, stream, NULL, 0, NULL));
    must(slr_stream_finish(stream, LONG));
    slr_profile_row launches = caller_of("launch", 7), writes = caller_of("upload", 5), last = caller_of("upload", 1);
    assert_int_equal(launches.n, 7);
    assert_true(launches.offset != 0 && (*launches.file == '/' || launches.file[1] == ':')); // Z:\\, on Windows
    assert_int_equal(writes.bytes, 5 * sizeof host);
    assert_int_equal(last.bytes, sizeof host);
    assert_true(writes.offset != last.offset && writes.file == last.file);
    assert_int_equal(caller_of("recorded launch", 3).n, 3);
    slr_profile_row allocation = caller_of("allocation", 1);
    assert_int_equal(allocation.lines[0].line, line);
    assert_true(allocation.offset == 0 && strstr(allocation.file, "profile_test.c"));
    slr_graph_destroy(graph);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

// Four lines are four rows, each with its number of launches: had they the library's own line, they would be one.
static void a_kernel_that_is_timed_is_launched_by_the_line_that_times_it(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *buffer;
    slr_stream *stream;
    slr_timing timing;
    must(slr_program_from_text(device, "add.cu", KERNEL, NULL, &program));
    must(slr_program_get_kernel(program, NULL, &kernel));
    must(slr_buffer_create(device, 32 * sizeof(float), &buffer));
    must(slr_stream_default(device, &stream));
    const slr_arg args[] = {slr_arg_buffer(buffer), slr_arg_float(1)};
    const slr_shape shape = SLR_GRID(1, 32, 0);
    slr_timing_desc desc = SLR_TIMING_DESC_INIT;
    desc.no_warm_up = 1;
    desc.repeats = 11;
    must(slr_profile_kernel(kernel, shape, args, 2, &desc, &timing));
    desc.repeats = 12;
    must(slr_profile_kernel(kernel, shape, args, 2, &desc, &timing));
    desc.repeats = 13;
    must((slr_profile_kernel)(kernel, shape, args, 2, &desc, &timing));
    desc.repeats = 14;
    must((slr_profile_kernel)(kernel, shape, args, 2, &desc, &timing));
    for (int i = 0; i < 15; ++i) // of their own line again
        must(slr_launch(stream, kernel, shape, args, 2, NULL));
    must(slr_stream_finish(stream, LONG));
    for (uint32_t n = 11; n <= 15; ++n)
        assert_int_equal(caller_of("launch", n).n, n);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    slr_device_close(device);
}

// ---- functions that call functions of the program -----------------------------------------------------------------

// What the program's functions do, and how often they were called.
struct given {
    slr_stream *stream;
    slr_kernel *kernel;
    const slr_arg *args;
    uint64_t measured, watched, called, resized;
};

static slr_status launch_and_measure(void *user, slr_stream *stream, slr_kernel *kernel,
                                     const slr_tune_candidate *candidate, double *cost)
{
    struct given *g = user;
    (void)stream;
    (void)kernel;
    for (int i = 0; i < 3; ++i)
        must(slr_launch(g->stream, g->kernel, SLR_1D(64), g->args, 3, NULL));
    ++g->measured;
    *cost = candidate->is_default ? 2 : 1;
    return SLR_OK;
}

// A function that is timed has its own line, here too.
static void time_and_watch(void *user, const slr_tune_candidate *candidate)
{
    struct given *g = user;
    slr_timing timing;
    slr_timing_desc desc = SLR_TIMING_DESC_INIT;
    (void)candidate;
    desc.no_warm_up = 1;
    desc.repeats = 2;
    must(slr_profile_kernel(g->kernel, SLR_1D(64), g->args, 3, &desc, &timing));
    ++g->watched;
}

static slr_status launch_often(void *user)
{
    struct given *g = user;
    for (int i = 0; i < 50; ++i)
        must(slr_launch(g->stream, g->kernel, SLR_1D(64), g->args, 3, NULL));
    must(slr_stream_finish(g->stream, LONG));
    ++g->called;
    return SLR_OK;
}

static slr_status launch_and_resize(void *user, uint64_t threads, slr_work *work)
{
    struct given *g = user;
    if (threads > 4096)
        return SLR_NOT_FOUND;
    must(slr_launch(g->stream, g->kernel, SLR_1D(64), g->args, 3, NULL));
    work->shape = SLR_1D((uint32_t)threads);
    ++g->resized;
    return SLR_OK;
}

struct scene {
    slr_device *device;
    slr_program *program;
    slr_kernel *kernel;
    slr_buffer *x, *y;
    slr_arg args[3];
    struct given given;
};

static void set_scene(struct scene *s)
{
    setenv("SLIPRING_CACHE_DIR", folder, 1);
    *s = (struct scene){.device = open_device(DEVICE)};
    must(slr_program_from_text(s->device, "twice.cu",
                               "__global__ void twice(const float *x, float *y, int n) { int i = blockIdx.x * "
                               "blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }\n",
                               NULL, &s->program));
    must(slr_program_get_kernel(s->program, NULL, &s->kernel));
    must(slr_buffer_create(s->device, 4096 * 4, &s->x));
    must(slr_buffer_create(s->device, 4096 * 4, &s->y));
    s->args[0] = slr_arg_buffer(s->x);
    s->args[1] = slr_arg_buffer(s->y);
    s->args[2] = slr_arg_signed(64);
    must(slr_stream_default(s->device, &s->given.stream));
    s->given.kernel = s->kernel;
    s->given.args = s->args;
    slr_profile_clear();
}

static void end_scene(struct scene *s)
{
    slr_buffer_destroy(s->x);
    slr_buffer_destroy(s->y);
    slr_kernel_destroy(s->kernel);
    slr_program_destroy(s->program);
    slr_device_close(s->device);
}

// Its own, and that of a function that it calls: a line of the library would be one more.
static void the_tuners_launches_are_of_the_line_that_tunes(void **state)
{
    (void)state;
    struct scene s;
    slr_tuned tuned;
    set_scene(&s);
    slr_tune_desc desc = SLR_TUNE_DESC_INIT;
    desc.strategy = SLR_TUNE_EXHAUSTIVE;
    desc.watch = time_and_watch;
    desc.measure = launch_and_measure;
    desc.user = &s.given;
    const slr_tune_problem problem = {SLR_1D(64), s.args, 3};
    must(slr_tune(s.kernel, &problem, 1, &desc, &tuned));
    must(slr_stream_finish(s.given.stream, LONG));
    assert_true(s.given.measured >= 5 && s.given.watched >= 2);
    assert_int_equal(callers_of("launch"), 3);
    assert_int_equal(caller_of("launch", 3 * s.given.measured).n, 3 * s.given.measured);
    assert_int_equal(caller_of("launch", 2 * s.given.watched).n, 2 * s.given.watched);
    desc.watch = NULL;
    desc.measure = NULL;
    desc.budget_ns = 1;
    must((slr_tune)(s.kernel, &problem, 1, &desc, &tuned));
    must((slr_tune)(s.kernel, &problem, 1, &desc, &tuned));
    assert_int_equal(callers_of("launch"), 5);
    end_scene(&s);
}

static void a_decisions_launches_are_of_the_line_that_decides(void **state)
{
    (void)state;
    struct scene s;
    slr_decision decision;
    slr_device_model model;
    set_scene(&s);
    use_new_cache();
    must(slr_device_get_model(s.device, &model));
    slr_profile_clear();
    slr_work work = SLR_WORK_INIT;
    work.kernel = s.kernel;
    work.shape = SLR_1D(64);
    work.args = s.args;
    work.arg_count = 3;
    work.budget_ns = 1;
    work.measure = SLR_MEASURE_ALWAYS;
    work.resize = launch_and_resize;
    work.user = &s.given;
    const slr_candidate one_calls[] = {{.device = s.device}, {.call = launch_often, .user = &s.given}},
                        one_is_a_model[] = {{.device = s.device}, {.model = &model, .model_bytes = sizeof model}};
    must(slr_decide(&work, one_calls, 2, NULL, &decision));
    must(slr_decide(&work, one_is_a_model, 2, NULL, &decision));
    must(slr_stream_finish(s.given.stream, LONG));
    assert_true(s.given.called >= 5 && s.given.resized >= 2);
    assert_int_equal(callers_of("launch"), 4);
    assert_int_equal(caller_of("launch", 50 * s.given.called).n, 50 * s.given.called);
    assert_int_equal(caller_of("launch", s.given.resized).n, s.given.resized);
    must((slr_decide)(&work, one_calls, 1, NULL, &decision));
    must((slr_decide)(&work, one_calls, 1, NULL, &decision));
    assert_int_equal(callers_of("launch"), 6);
    end_scene(&s);
}

static void an_operation_is_launched_by_the_line_that_calls_it(void **state)
{
    (void)state;
    enum { N = 4 };
    slr_device *device = open_device(DEVICE);
    slr_ops *ops;
    slr_stream *stream;
    slr_buffer *buffer;
    must(slr_ops_create(device, NULL, &ops));
    must(slr_stream_default(device, &stream));
    must(slr_buffer_create(device, N * N * sizeof(float), &buffer));
    const slr_tensor x = slr_tensor_2d(SLR_F32, buffer, N, N);
    for (int i = 0; i < 21; ++i)
        must(slr_ops_activation(ops, stream, SLR_RELU, &x, &x, NULL));
    for (int i = 0; i < 22; ++i)
        must(slr_ops_activation(ops, stream, SLR_RELU, &x, &x, NULL));
    for (int i = 0; i < 23; ++i)
        must(slr_ops_softmax(ops, stream, &x, &x, NULL));
    must(slr_stream_finish(stream, LONG));
    for (uint32_t n = 21; n <= 23; ++n)
        assert_int_equal(caller_of("launch", n).n, n);
    slr_buffer_destroy(buffer);
    slr_ops_destroy(ops);
    slr_device_close(device);
}

// Work of slipring's own in a stream is none of the program's commands.
static void compiling_ahead_is_no_command(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_program *program;
    slr_point point;
    slr_profile_row rows[64];
    uint32_t count;
    must(slr_program_from_text(device, "add.cu", KERNEL, NULL, &program));
    must(slr_program_prefetch(program, NULL, &point));
    must(slr_point_wait(point, LONG));
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count; ++i)
        assert_true(rows[i].kind == SLR_PROFILE_WAIT || rows[i].kind == SLR_PROFILE_COMPILE ||
                    rows[i].kind == SLR_PROFILE_LOAD ||
                    (rows[i].kind == SLR_PROFILE_CALLER && strcmp(rows[i].name, "wait") == 0));
    slr_program_destroy(program);
    slr_device_close(device);
}

static void memory_that_is_taken_is_counted(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_buffer *buffer;
    for (int i = 0; i < 4; ++i) {
        must(slr_buffer_create(device, 640, &buffer));
        slr_buffer_destroy(buffer);
    }
    assert_int_equal(row_of(SLR_PROFILE_MEMORY, "buffers").n, 4);
    assert_int_equal(row_of(SLR_PROFILE_MEMORY, "buffers").bytes, 4 * 640);
    slr_device_close(device);
}

static void copies_outside_of_streams_are_counted(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    slr_buffer *buffer;
    char bytes[64] = {0};
    must(slr_buffer_create(device, sizeof bytes, &buffer));
    for (int i = 0; i < 3; ++i)
        must(slr_buffer_write(buffer, 0, bytes, sizeof bytes));
    assert_int_equal(row_of(SLR_PROFILE_UPLOAD, "upload").n, 3);
    assert_int_equal(row_of(SLR_PROFILE_UPLOAD, "upload").bytes, 192);
    slr_buffer_destroy(buffer);
    slr_device_close(device);
}

static void kernels_of_one_name_are_told_apart_by_their_source(void **state)
{
    (void)state;
    slr_device *device = open_device(DEVICE);
    launch_times(device, KERNEL, 2);
    launch_times(device, KERNEL "// another\n", 3);
    launch_times(device, KERNEL, 2);
    slr_profile_row rows[64];
    uint32_t count, kernels = 0;
    must(slr_profile_read(rows, 64, &count));
    for (uint32_t i = 0; i < count; ++i)
        if (rows[i].kind == SLR_PROFILE_KERNEL) {
            assert_true(rows[i].n == 4 || rows[i].n == 3);
            ++kernels;
        }
    assert_int_equal(kernels, 2);
    slr_device_close(device);
}

static void quantiles_of_1_to_100_are_themselves(void **state)
{
    (void)state;
    struct slri_row *row = slri_row(SLR_PROFILE_UPLOAD, slri_name("hundred"), 0, 0);
    for (uint64_t i = 1; i <= 100; ++i)
        add_sample(row, i, 10);
    slr_profile_row read = row_of(SLR_PROFILE_UPLOAD, "hundred");
    assert_int_equal(read.n, 100);
    assert_int_equal(read.total_ns, 5050);
    assert_int_equal(read.min_ns, 1);
    assert_int_equal(read.mean_ns, 50);
    assert_int_equal(read.p50_ns, 50);
    assert_int_equal(read.p95_ns, 95);
    assert_int_equal(read.p99_ns, 99);
    assert_int_equal(read.max_ns, 100);
    assert_true(read.bytes_per_second > 1.98e8 && read.bytes_per_second < 1.99e8); // 1000 B in 5050 ns
}

static void the_longest_come_first_and_what_does_not_fit_is_said(void **state)
{
    (void)state;
    const char *const names[] = {"short", "longest", "long"};
    const uint64_t ns[] = {10, 1000, 100};
    for (int i = 0; i < 3; ++i)
        add_sample(slri_row(SLR_PROFILE_REGION, slri_name(names[i]), 0, 0), ns[i], 0);
    slr_profile_row rows[2];
    uint32_t count;
    must(slr_profile_read(rows, 2, &count));
    assert_int_equal(count, 3);
    assert_string_equal(rows[0].name, "longest");
    assert_string_equal(rows[1].name, "long");
    refuses(slr_profile_read(NULL, 2, &count), INVALID, "out");
}

static void what_was_cleared_is_gone(void **state)
{
    (void)state;
    add_sample(slri_row(SLR_PROFILE_REGION, slri_name("gone"), 0, 0), 10, 10);
    assert_int_equal(row_of(SLR_PROFILE_REGION, "gone").n, 1);
    slr_profile_clear();
    assert_int_equal(row_of(SLR_PROFILE_REGION, "gone").n, 0);
}

static void regions_are_counted_by_name_and_nest(void **state)
{
    (void)state;
    slr_region_end(); // of nothing
    slr_region_begin("outer");
    for (int i = 0; i < 100; ++i)
        slr_region_begin("inner"); // deeper than is kept
    for (int i = 0; i < 100; ++i)
        slr_region_end();
    slr_region_end();
    assert_int_equal(row_of(SLR_PROFILE_REGION, "outer").n, 1);
    assert_int_equal(row_of(SLR_PROFILE_REGION, "inner").n, 63);
    assert_true(row_of(SLR_PROFILE_REGION, "outer").total_ns >= row_of(SLR_PROFILE_REGION, "inner").max_ns);
}

static void the_file_says_what_the_rows_say(void **state)
{
    (void)state;
    add_sample(slri_row(SLR_PROFILE_REGION, slri_name("a \"quoted\"\n\\ name\xff\xc3\xa9"), 0, 0), 12345, 7);
    must(slr_profile_write(file_in_folder("%p.json")));
    char name[32], text[4096] = "";
    snprintf(name, sizeof name, "%d.json", (int)getpid());
    FILE *file = fopen(file_in_folder(name), "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_non_null(strstr(
        text, "\"kind\": \"region\", \"name\": \"a \\\"quoted\\\"\\u000a\\\\ name\\ufffd\xc3\xa9\", \"device\": \"\", "
              "\"n\": 1, \"total_ns\": 12345,"));
    refuses(slr_profile_write(file_in_folder("none/x.json")), NOT_FOUND, "/none/");
    refuses(slr_profile_write(NULL), INVALID, "path");
}

static void a_link_stays_and_its_file_gets_the_rows(void **state)
{
    (void)state;
    char link[128];
    struct stat about;
    snprintf(link, sizeof link, "%s", file_in_folder("link.json"));
    assert_int_equal(symlink("linked.json", link), 0);
    must(slr_profile_write(link));
    assert_int_equal(lstat(link, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(file_in_folder("linked.json"), &about), 0);
    assert_true(about.st_size > 0);
}

static void there_is_room_for_only_so_many_rows(void **state)
{
    (void)state;
    char name[32];
    for (uint32_t i = 0; i < SLRI_ROWS + 100; ++i) {
        snprintf(name, sizeof name, "row %u", i);
        add_sample(slri_row(SLR_PROFILE_CALL, slri_name(name), 0, 0), 1, 0);
    }
    for (uint32_t kind = SLR_PROFILE_KERNEL; kind <= SLR_PROFILE_MEMORY; ++kind)
        add_sample(slri_row(kind, slri_name("late"), 0, 0), 1, 0); // all others'
    uint32_t rows = 0;
    for (struct slri_row *row = slri_rows(); row; row = row->next)
        ++rows;
    assert_true(rows <= SLRI_ROWS);
    assert_int_equal(row_of(SLR_PROFILE_MEMORY, "(others)").n, 1);
    assert_true(row_of(SLR_PROFILE_CALL, "row 1").n + row_of(SLR_PROFILE_CALL, "(others)").n > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_counted_until_it_is_asked_for),
        cmocka_unit_test_setup_teardown(each_kernel_and_each_way_of_copying_has_a_row, begin, end),
        cmocka_unit_test_setup_teardown(a_kernels_work_is_counted_and_judged, begin, end),
        cmocka_unit_test_setup_teardown(each_place_in_the_program_has_a_row_for_each_kind_of_call, begin, end),
        cmocka_unit_test_setup_teardown(a_kernel_that_is_timed_is_launched_by_the_line_that_times_it, begin, end),
        cmocka_unit_test_setup_teardown(the_tuners_launches_are_of_the_line_that_tunes, begin, end),
        cmocka_unit_test_setup_teardown(a_decisions_launches_are_of_the_line_that_decides, begin, end),
        cmocka_unit_test_setup_teardown(an_operation_is_launched_by_the_line_that_calls_it, begin, end),
        cmocka_unit_test_setup_teardown(compiling_ahead_is_no_command, begin, end),
        cmocka_unit_test_setup_teardown(memory_that_is_taken_is_counted, begin, end),
        cmocka_unit_test_setup_teardown(copies_outside_of_streams_are_counted, begin, end),
        cmocka_unit_test_setup_teardown(kernels_of_one_name_are_told_apart_by_their_source, begin, end),
        cmocka_unit_test_setup_teardown(quantiles_of_1_to_100_are_themselves, begin, end),
        cmocka_unit_test_setup_teardown(the_longest_come_first_and_what_does_not_fit_is_said, begin, end),
        cmocka_unit_test_setup_teardown(what_was_cleared_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(regions_are_counted_by_name_and_nest, begin, end),
        cmocka_unit_test_setup_teardown(the_file_says_what_the_rows_say, begin, end),
        cmocka_unit_test_setup_teardown(a_link_stays_and_its_file_gets_the_rows, begin, end),
        cmocka_unit_test_setup_teardown(there_is_room_for_only_so_many_rows, begin, end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

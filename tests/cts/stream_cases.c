// SPDX-License-Identifier: Apache-2.0
// Host cases of streams and launches: docs/contract/streams.md and launch.md.
#include "host.h"
#include "kept.h"

#include <string.h>

enum { N = 1000 };

static void iota(int *data)
{
    for (int i = 0; i < N; i++)
        data[i] = i;
}

// ---- streams --------------------------------------------------------------------------------------------------------

static void work_is_done_in_order(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    slr_kernel *add = cts_kernel(c, "add_one");
    int *data = cts_memory(c, N * sizeof(int)), *back = cts_memory(c, N * sizeof(int));
    iota(data);
    CTS_OK(c, slr_stream_write(stream, buffer, 0, data, N * sizeof(int), NULL));
    for (int i = 0; i < 10; i++)
        CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(N), buffer, N));
    CTS_OK(c, slr_stream_read(stream, buffer, 0, back, N * sizeof(int), NULL));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    for (int i = 0; i < N; i++)
        CTS_SAME(c, back[i], i + 10);
}

static void a_point_passes_when_its_work_is_done(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    slr_point point;
    int pattern = 7, back = 0;
    CTS_OK(c, slr_stream_fill(stream, buffer, 0, N * sizeof(int), &pattern, sizeof pattern, &point));
    CTS_OK(c, slr_point_wait(point, CTS_LONG(c)));
    CTS_TRUE(c, slr_point_passed(point));
    CTS_OK(c, slr_buffer_read(buffer, (N - 1) * sizeof(int), &back, sizeof back));
    CTS_SAME(c, back, 7);
}

static void fills_of_every_width(cts *c)
{
    static const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, 256);
    unsigned char back[256];
    for (uint32_t width = 1; width <= 16; width *= 2) {
        CTS_OK(c, slr_stream_fill(stream, buffer, 32, 96, pattern, width, NULL));
        CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
        CTS_OK(c, slr_buffer_read(buffer, 0, back, sizeof back));
        for (uint32_t i = 0; i < 96; i++)
            CTS_SAME(c, back[32 + i], pattern[i % width]);
        CTS_SAME(c, back[31], 0);
        CTS_SAME(c, back[128], 0);
    }
}

static void copies_that_overlap(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    int *data = cts_memory(c, N * sizeof(int));
    iota(data);
    CTS_OK(c, slr_stream_write(stream, buffer, 0, data, N * sizeof(int), NULL));
    CTS_OK(c, slr_stream_copy(stream, buffer, 40, buffer, 0, 800, NULL));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, buffer, data, N);
    CTS_SAME(c, data[9], 9);
    for (int i = 10; i < 210; i++)
        CTS_SAME(c, data[i], i - 10);
    CTS_SAME(c, data[210], 210);
}

static void a_stream_waits_for_another(cts *c)
{
    slr_stream *one = cts_stream(c), *two = cts_stream(c);
    slr_buffer *from = cts_buffer(c, N * sizeof(int)), *to = cts_buffer(c, N * sizeof(int));
    slr_kernel *add = cts_kernel(c, "add_one"), *scale = cts_kernel(c, "scale");
    slr_point point;
    int *back = cts_memory(c, N * sizeof(int));
    for (int i = 0; i < 20; i++)
        CTS_OK(c, SLR_LAUNCH(one, add, SLR_1D(N), from, N));
    CTS_OK(c, slr_stream_signal(one, &point));
    CTS_OK(c, slr_stream_wait(two, point));
    CTS_OK(c, SLR_LAUNCH(two, scale, SLR_1D(N), from, to, N, 5));
    CTS_OK(c, slr_stream_finish(two, CTS_LONG(c)));
    cts_read_ints(c, to, back, N);
    for (int i = 0; i < N; i++)
        CTS_SAME(c, back[i], 100);
}

static void writers_of_one_buffer_are_ordered(cts *c)
{
    slr_stream *one = cts_stream(c), *two = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    slr_kernel *add = cts_kernel(c, "add_one");
    int *back = cts_memory(c, N * sizeof(int));
    for (int i = 0; i < 20; i++)
        CTS_OK(c, SLR_LAUNCH(i % 2 ? one : two, add, SLR_1D(N), buffer, N));
    CTS_OK(c, slr_device_finish(c->device, CTS_LONG(c)));
    cts_read_ints(c, buffer, back, N);
    for (int i = 0; i < N; i++)
        CTS_SAME(c, back[i], 20);
}

typedef struct called {
    int times;
    slr_status status;
} called;

static void note_call(void *user, slr_status status)
{
    called *seen = user;
    seen->times++;
    seen->status = status;
}

static void host_functions_are_called_in_their_place(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, 64);
    slr_kernel *add = cts_kernel(c, "add_one"), *divide = cts_kernel(c, "divide_by");
    called first = {0}, second = {0};
    CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(16), buffer, 16));
    CTS_OK(c, slr_stream_call(stream, note_call, &first, NULL));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_SAME(c, first.times, 1);
    CTS_SAME(c, first.status, SLR_OK);
    CTS_OK(c, SLR_LAUNCH(stream, divide, SLR_GRID(1, 1, 0), buffer, 0));
    CTS_OK(c, slr_stream_call(stream, note_call, &second, NULL));
    CTS_GIVES(c, SLR_HANDLER_FAULT, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_SAME(c, second.times, 1);
    CTS_SAME(c, second.status, SLR_HANDLER_FAULT);
}

static void a_failure_holds_back_what_follows(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, 64);
    slr_kernel *add = cts_kernel(c, "add_one"), *divide = cts_kernel(c, "divide_by");
    slr_buffer *other = cts_buffer(c, 64);
    int back[16];
    CTS_OK(c, SLR_LAUNCH(stream, divide, SLR_GRID(1, 1, 0), buffer, 0));
    CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(16), other, 16));
    CTS_GIVES(c, SLR_HANDLER_FAULT, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_OK(c, slr_stream_recover(stream));
    cts_read_ints(c, other, back, 16);
    CTS_SAME(c, back[0], 0);
}

static void a_range_that_leaves_the_buffer_is_refused(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_buffer *buffer = cts_buffer(c, 64);
    int pattern = 1;
    CTS_GIVES(c, SLR_INVALID, slr_stream_fill(stream, buffer, 32, 36, &pattern, 4, NULL));
    CTS_GIVES(c, SLR_INVALID, slr_stream_fill(stream, buffer, 0, 30, &pattern, 4, NULL));
    CTS_GIVES(c, SLR_INVALID, slr_stream_copy(stream, buffer, 60, buffer, 0, 8, NULL));
}

static void an_event_has_the_time(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_event *first = NULL, *second = NULL;
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    int pattern = 3;
    int64_t between = -1;
    CTS_OK(c, slr_event_create(c->device, &first));
    CTS_OK(c, slr_event_create(c->device, &second));
    CTS_OK(c, slr_event_record(first, stream, NULL));
    CTS_OK(c, slr_stream_fill(stream, buffer, 0, N * sizeof(int), &pattern, 4, NULL));
    CTS_OK(c, slr_event_record(second, stream, NULL));
    CTS_OK(c, slr_event_wait(second, CTS_LONG(c)));
    CTS_OK(c, slr_event_elapsed_ns(first, second, &between));
    slr_event_destroy(first);
    slr_event_destroy(second);
    CTS_TRUE(c, between >= 0 && between < (int64_t)(60 * CTS_SECOND));
}

static void a_recorded_list_is_launched_again(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_graph *graph = NULL;
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    slr_kernel *add = cts_kernel(c, "add_one");
    int back[4];
    CTS_OK(c, slr_graph_create(c->device, &graph));
    slr_status status = slr_graph_begin(graph, stream);
    if (status == SLR_OK)
        status = SLR_LAUNCH(stream, add, SLR_1D(N), buffer, N);
    if (status == SLR_OK)
        status = slr_graph_end(graph);
    for (int i = 0; i < 5 && status == SLR_OK; i++)
        status = slr_graph_launch(graph, stream, NULL, 0, NULL);
    slr_graph_destroy(graph);
    CTS_OK(c, status);
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, buffer, back, 4);
    CTS_SAME(c, back[3], 5);
}

// ---- launch ---------------------------------------------------------------------------------------------------------

static void shapes_of_one_dimension_reach_every_element(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    static const int sizes[] = {1, 63, 64, 65, 600, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
        int *back = cts_memory(c, N * sizeof(int));
        CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D((uint64_t)sizes[s]), buffer, sizes[s]));
        CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
        cts_read_ints(c, buffer, back, N);
        for (int i = 0; i < N; i++)
            CTS_SAME(c, back[i], i < sizes[s]);
    }
}

static void a_launch_of_nothing_succeeds(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    slr_buffer *buffer = cts_buffer(c, 64);
    int back[16];
    CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(0), buffer, 16));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, buffer, back, 16);
    CTS_SAME(c, back[0], 0);
}

static void numbers_are_converted_where_nothing_is_lost(cts *c)
{
    struct {
        int a;
        float b;
    } pair = {3, 0.5f};
    slr_stream *stream = cts_stream(c);
    slr_kernel *mixed = cts_kernel(c, "mixed");
    slr_buffer *from = cts_buffer(c, 32), *to = cts_buffer(c, 64);
    double back[8];
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    CTS_OK(c, slr_buffer_write(from, 0, x, sizeof x));
    CTS_OK(c, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 2.0, from, to, (size_t)8, SLR_VALUE(pair)));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_OK(c, slr_buffer_read(to, 0, back, sizeof back));
    for (int i = 0; i < 8; i++)
        CTS_TRUE(c, back[i] == 2 * i + 3.5);
}

static void arguments_that_do_not_fit_are_refused_by_name(cts *c)
{
    struct {
        int a;
    } small = {3};
    slr_stream *stream = cts_stream(c);
    slr_kernel *mixed = cts_kernel(c, "mixed");
    slr_buffer *b = cts_buffer(c, 64);
    struct {
        int a;
        float b;
    } pair = {3, 0.5f};
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 0.1, b, b, 8, SLR_VALUE(pair)));
    CTS_TRUE(c, strstr(slr_error_message(), "'x'") != NULL);
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 1, b, b, 8.5, SLR_VALUE(pair)));
    CTS_TRUE(c, strstr(slr_error_message(), "'n'") != NULL);
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 1, b, 5, 8, SLR_VALUE(pair)));
    CTS_TRUE(c, strstr(slr_error_message(), "'to'") != NULL);
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 1, b, b, 8, SLR_VALUE(small)));
    CTS_TRUE(c, strstr(slr_error_message(), "'p'") != NULL);
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, mixed, SLR_GRID(1, 8, 0), 1, b, b, 8));
}

static void shapes_that_cannot_be_are_refused(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *bounded = cts_kernel(c, "bounded");
    slr_buffer *b = cts_buffer(c, 4096);
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, bounded, SLR_GRID(1, 65, 0), b));
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, bounded, SLR_GRID(1, 2000, 0), b));
    CTS_GIVES(c, SLR_INVALID, SLR_LAUNCH(stream, bounded, SLR_GRID(1, 32, 1u << 30), b));
}

static void a_kernel_says_what_it_takes(cts *c)
{
    slr_kernel_info info;
    CTS_OK(c, slr_kernel_get_info(cts_kernel(c, "mixed"), &info));
    CTS_SAME(c, strcmp(info.name, "mixed"), 0);
    CTS_SAME(c, info.parameter_count, 5);
    CTS_SAME(c, info.parameters[1].is_buffer, 1);
    CTS_SAME(c, info.parameters[1].is_const, 1);
    CTS_SAME(c, info.parameters[3].scalar, SLR_I32);
    CTS_OK(c, slr_kernel_get_info(cts_kernel(c, "bounded"), &info));
    CTS_SAME(c, info.max_threads, 64);
}

static void what_a_kernel_prints_is_told(cts *c)
{
    slr_stream *stream = cts_stream(c);
    CTS_OK(c, SLR_LAUNCH(stream, cts_kernel(c, "shout"), SLR_GRID(1, 40, 0), 2));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_SAME(c, strlen(c->printed), 2 * strlen("thread 0 of 40 says 0.00\n")); // in any order
    CTS_TRUE(c, strstr(c->printed, "thread 0 of 40 says 0.00\n") != NULL);
    CTS_TRUE(c, strstr(c->printed, "thread 1 of 40 says 0.25\n") != NULL);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

static void a_buffer_begins_as_zeros(cts *c)
{
    unsigned char back[1000];
    slr_buffer *buffer = cts_buffer(c, sizeof back);
    memset(back, 9, sizeof back);
    CTS_OK(c, slr_buffer_read(buffer, 0, back, sizeof back));
    for (size_t i = 0; i < sizeof back; i++)
        CTS_SAME(c, back[i], 0);
}

static void what_is_written_is_read_back(cts *c)
{
    unsigned char data[777], back[777];
    slr_buffer *buffer = cts_buffer(c, 1000);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(i * 7);
    CTS_OK(c, slr_buffer_write(buffer, 13, data, sizeof data));
    CTS_OK(c, slr_buffer_read(buffer, 13, back, sizeof back));
    CTS_SAME(c, memcmp(data, back, sizeof data), 0);
    CTS_GIVES(c, SLR_INVALID, slr_buffer_read(buffer, 900, back, 101));
}

// In the stream's order, and from launch to launch.
static void variables_keep_what_kernels_and_the_host_write(cts *c)
{
    static const int weight[4] = {1, 20, 300, 4000}, less = -20;
    int *total = cts_memory(c, 9 * sizeof *total), *launches = total + 3, *read = total + 5; // the last to go
    slr_stream *stream = cts_stream(c);
    slr_program *program = cts_program(c, "variables");
    slr_kernel *weigh = NULL;
    CTS_OK(c, slr_program_get_kernel(program, "weigh", &weigh));
    cts_keep(c, CTS_KERNEL, weigh);
    CTS_OK(c, slr_stream_read_symbol(stream, program, "total", 0, &total[0], sizeof *total, NULL));
    CTS_OK(c, slr_stream_write_symbol(stream, program, "weight", 0, weight, sizeof weight, NULL));
    CTS_OK(c, SLR_LAUNCH(stream, weigh, SLR_GRID(1, 32, 0), 3));
    CTS_OK(c, slr_stream_read_symbol(stream, program, "total", 0, &total[1], sizeof *total, NULL));
    CTS_OK(c, slr_stream_write_symbol(stream, program, "weight", sizeof less, &less, sizeof less, NULL));
    CTS_OK(c, SLR_LAUNCH(stream, weigh, SLR_GRID(1, 32, 0), 4));
    CTS_OK(c, slr_stream_read_symbol(stream, program, "total", 0, &total[2], sizeof *total, NULL));
    CTS_OK(c, slr_stream_read_symbol(stream, program, "launches", 0, launches, 2 * sizeof *launches, NULL));
    CTS_OK(c, slr_stream_read_symbol(stream, program, "weight", 0, read, 4 * sizeof *read, NULL));
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    CTS_SAME(c, total[0], 1000);
    CTS_SAME(c, total[1], 1000 + 1 + 2 * 20 + 3 * 300);
    CTS_SAME(c, total[2], total[1] + 1 - 2 * 20 + 3 * 300 + 4 * 4000);
    CTS_SAME(c, launches[0], 2);
    CTS_SAME(c, launches[1], -7);
    CTS_SAME(c, read[1], -20);
    CTS_SAME(c, read[3], 4000);
    CTS_SAME(c, strcmp(c->printed, "3 weights4 weights"), 0);
}

static void a_map_shows_what_kernels_wrote(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    slr_buffer *buffer = cts_buffer(c, N * sizeof(int));
    void *view = NULL;
    for (int round = 1; round <= 3; round++) {
        CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(N), buffer, N));
        CTS_OK(c, slr_buffer_map(buffer, 0, N * sizeof(int), SLR_MAP_READ | SLR_MAP_WRITE, CTS_LONG(c), &view));
        int seen = ((int *)view)[N - 1];
        ((int *)view)[N - 1] += 100;
        CTS_OK(c, slr_buffer_unmap(buffer, view));
        CTS_SAME(c, seen, round * 101 - 100);
    }
}

static void a_mapped_range_is_kept_from_kernels(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    slr_buffer *buffer = cts_buffer(c, 64);
    void *view = NULL;
    CTS_OK(c, slr_buffer_map(buffer, 0, 64, SLR_MAP_WRITE, CTS_LONG(c), &view));
    slr_status status = SLR_LAUNCH(stream, add, SLR_1D(16), buffer, 16);
    CTS_OK(c, slr_buffer_unmap(buffer, view));
    CTS_SAME(c, status, SLR_WRONG_STATE);
    CTS_OK(c, SLR_LAUNCH(stream, add, SLR_1D(16), buffer, 16));
}

static void a_slice_is_a_part_of_the_whole(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    slr_buffer *whole = cts_buffer(c, 64 * sizeof(int)), *part = NULL;
    int back[64];
    CTS_OK(c, slr_buffer_slice(whole, 64, 64, &part));
    slr_status status = SLR_LAUNCH(stream, add, SLR_1D(16), part, 16);
    slr_buffer_destroy(part);
    CTS_OK(c, status);
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, whole, back, 64);
    for (int i = 0; i < 64; i++)
        CTS_SAME(c, back[i], i >= 16 && i < 32);
}

static void a_buffer_outlives_its_handle(cts *c)
{
    slr_stream *stream = cts_stream(c);
    slr_kernel *scale = cts_kernel(c, "scale");
    slr_buffer *from = NULL, *to = cts_buffer(c, N * sizeof(int));
    int *data = cts_memory(c, N * sizeof(int));
    iota(data);
    CTS_OK(c, slr_buffer_create(c->device, N * sizeof(int), &from));
    slr_status status = slr_buffer_write(from, 0, data, N * sizeof(int));
    if (status == SLR_OK)
        status = SLR_LAUNCH(stream, scale, SLR_1D(N), from, to, N, 2);
    slr_buffer_destroy(from);
    CTS_OK(c, status);
    CTS_OK(c, slr_stream_finish(stream, CTS_LONG(c)));
    cts_read_ints(c, to, data, N);
    CTS_SAME(c, data[N - 1], 2 * (N - 1));
}

static void explicit_buffers_move_when_told(cts *c)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_stream *stream = cts_stream(c);
    slr_kernel *add = cts_kernel(c, "add_one");
    slr_buffer *buffer = NULL;
    void *view = NULL;
    desc.mode = SLR_BUFFER_EXPLICIT;
    desc.bytes = 64;
    CTS_OK(c, slr_buffer_create_with(c->device, &desc, &buffer));
    int seen = 0;
    slr_status status = slr_buffer_map(buffer, 0, 64, SLR_MAP_WRITE, CTS_LONG(c), &view);
    if (status == SLR_OK) {
        for (int i = 0; i < 16; i++)
            ((int *)view)[i] = 5;
        status = slr_buffer_unmap(buffer, view);
    }
    if (status == SLR_OK)
        status = slr_buffer_sync(buffer, 0, 64, SLR_AT_DEVICE, CTS_LONG(c));
    if (status == SLR_OK)
        status = SLR_LAUNCH(stream, add, SLR_1D(16), buffer, 16);
    if (status == SLR_OK)
        status = slr_stream_finish(stream, CTS_LONG(c));
    if (status == SLR_OK)
        status = slr_buffer_sync(buffer, 0, 64, SLR_AT_HOST, CTS_LONG(c));
    if (status == SLR_OK)
        status = slr_buffer_read(buffer, 60, &seen, sizeof seen);
    slr_buffer_destroy(buffer);
    CTS_OK(c, status);
    CTS_SAME(c, seen, 6);
}

// clang-format off
const cts_case cts_stream_cases[] = {
    CTS_HOST("streams", work_is_done_in_order),
    CTS_HOST("streams", a_point_passes_when_its_work_is_done),
    CTS_HOST("streams", fills_of_every_width),
    CTS_HOST("streams", copies_that_overlap),
    CTS_HOST("streams", a_stream_waits_for_another),
    CTS_HOST("streams", writers_of_one_buffer_are_ordered),
    CTS_HOST("streams", host_functions_are_called_in_their_place),
    CTS_HOST("streams", a_failure_holds_back_what_follows),
    CTS_HOST("streams", a_range_that_leaves_the_buffer_is_refused),
    CTS_HOST("streams", an_event_has_the_time),
    CTS_HOST("streams", a_recorded_list_is_launched_again),
    CTS_HOST("launch", shapes_of_one_dimension_reach_every_element),
    CTS_HOST("launch", a_launch_of_nothing_succeeds),
    CTS_HOST("launch", numbers_are_converted_where_nothing_is_lost),
    CTS_HOST("launch", arguments_that_do_not_fit_are_refused_by_name),
    CTS_HOST("launch", shapes_that_cannot_be_are_refused),
    CTS_HOST("launch", a_kernel_says_what_it_takes),
    CTS_HOST("launch", what_a_kernel_prints_is_told),
    CTS_HOST("memory", a_buffer_begins_as_zeros),
    CTS_HOST("memory", what_is_written_is_read_back),
    CTS_HOST("memory", a_map_shows_what_kernels_wrote),
    CTS_HOST("memory", variables_keep_what_kernels_and_the_host_write),
    CTS_HOST("memory", a_mapped_range_is_kept_from_kernels),
    CTS_HOST("memory", a_slice_is_a_part_of_the_whole),
    CTS_HOST("memory", a_buffer_outlives_its_handle),
    CTS_HOST("memory", explicit_buffers_move_when_told),
};
// clang-format on
const size_t cts_stream_case_count = sizeof cts_stream_cases / sizeof *cts_stream_cases;

// SPDX-License-Identifier: Apache-2.0
// Graphs: recorded once, launched again, with other buffers.
#include "device/device_test.h"

struct fixture {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *a, *b;
    slr_graph *graph;
};

static struct fixture set_up(const char *spec)
{
    struct fixture f;
    f.device = open_device(spec);
    must(slr_stream_create(f.device, NULL, &f.stream));
    must(slr_buffer_create(f.device, 64, &f.a));
    must(slr_buffer_create(f.device, 64, &f.b));
    must(slr_graph_create(f.device, &f.graph));
    return f;
}

static void tear_down(struct fixture *f)
{
    slr_graph_destroy(f->graph);
    slr_buffer_destroy(f->a);
    slr_buffer_destroy(f->b);
    slr_stream_destroy(f->stream);
    slr_device_close(f->device);
}

static void count(void *user, slr_status status)
{
    *(int *)user += status == SLR_OK;
}

static char byte_of(slr_buffer *buffer, uint64_t at)
{
    char byte;
    must(slr_buffer_read(buffer, at, &byte, 1));
    return byte;
}

static void recorded_work_is_done_at_each_launch_and_not_before(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu", "cpu?unified=0"};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i]);
        int counted = 0;
        slr_point point, before;
        must(slr_stream_signal(f.stream, &before));
        must(slr_graph_begin(f.graph, f.stream));
        must(slr_stream_copy(f.stream, f.b, 0, f.a, 0, 32, &point));
        assert_int_equal(point.value, before.value);
        must(slr_stream_fill(f.stream, f.a, 0, 64, "y", 1, NULL));
        must(slr_stream_call(f.stream, count, &counted, NULL));
        must(slr_graph_end(f.graph));
        must(slr_stream_finish(f.stream, LONG));
        assert_int_equal(counted, 0);
        assert_int_equal(byte_of(f.a, 0), 0);
        must(slr_buffer_write(f.a, 0, "x", 1));
        must(slr_graph_launch(f.graph, f.stream, NULL, 0, &point));
        assert_int_equal(point.value, before.value + 1);
        must(slr_point_wait(point, LONG));
        assert_int_equal(byte_of(f.b, 0), 'x');
        assert_int_equal(byte_of(f.a, 63), 'y');
        for (int k = 0; k < 9; ++k)
            must(slr_graph_launch(f.graph, f.stream, NULL, 0, NULL));
        slr_graph_destroy(f.graph); // in flight
        f.graph = NULL;
        must(slr_stream_finish(f.stream, LONG));
        assert_int_equal(byte_of(f.b, 0), 'y');
        assert_int_equal(counted, 10);
        tear_down(&f);
    }
}

static void launch_uses_other_buffers_where_it_is_told(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu", "cpu?unified=0"};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i]);
        slr_buffer *other, *small;
        must(slr_buffer_create(f.device, 128, &other));
        must(slr_buffer_create(f.device, 32, &small));
        must(slr_graph_begin(f.graph, f.stream));
        must(slr_stream_fill(f.stream, f.a, 10, 10, "z", 1, NULL));
        must(slr_stream_copy(f.stream, f.b, 0, f.a, 10, 10, NULL));
        must(slr_graph_end(f.graph));
        must(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){f.a, other}, 1, NULL));
        must(slr_stream_finish(f.stream, LONG));
        assert_int_equal(byte_of(f.a, 10), 0);
        assert_int_equal(byte_of(other, 9), 0);
        assert_int_equal(byte_of(other, 19), 'z');
        assert_int_equal(byte_of(f.b, 9), 'z');
        refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){f.a, small}, 1, NULL), INVALID,
                "has 32 bytes, the recorded one has 64");
        refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){other, f.a}, 1, NULL), INVALID, "has 64 bytes");
        refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){small, f.a}, 1, NULL), INVALID,
                "was not recorded");
        slr_buffer_destroy(other);
        slr_buffer_destroy(small);
        tear_down(&f);
    }
}

static const char source[] = "__global__ void add(const int *from, int *to, int n) { to[0] = from[0] + n; }\n"
                             "__global__ void only(const int *__restrict__ from, int *to) { to[0] = from[0]; }\n";

static void put(slr_buffer *buffer, int value)
{
    must(slr_buffer_write(buffer, 0, &value, sizeof value));
}

static int get(slr_buffer *buffer)
{
    int value;
    must(slr_buffer_read(buffer, 0, &value, sizeof value));
    return value;
}

static slr_kernel *kernel_of(slr_device *device, const char *name)
{
    slr_program *program;
    slr_kernel *kernel;
    must(slr_program_from_text(device, "add.cu", source, NULL, &program));
    must(slr_program_get_kernel(program, name, &kernel));
    slr_program_destroy(program);
    return kernel;
}

static void launched(struct fixture *f, const slr_rebinding *rebindings, uint32_t count)
{
    must(slr_graph_launch(f->graph, f->stream, rebindings, count, NULL));
    must(slr_stream_finish(f->stream, LONG));
}

static void recorded_kernels_use_other_buffers_where_they_are_told(void **state)
{
    (void)state;
    static const char *const specs[] = {"cpu?engine=interpreted", "cpu?engine=interpreted&unified=0"};
    for (int i = 0; i < 2; ++i) {
        struct fixture f = set_up(specs[i]);
        slr_buffer *other;
        must(slr_buffer_create(f.device, 128, &other));
        slr_kernel *add = kernel_of(f.device, "add");
        must(slr_graph_begin(f.graph, f.stream));
        must(SLR_LAUNCH(f.stream, add, SLR_GRID(1, 1, 0), f.a, f.b, 100));
        must(SLR_LAUNCH(f.stream, add, SLR_GRID(1, 1, 0), f.b, f.a, 1000));
        must(slr_graph_end(f.graph));
        slr_kernel_destroy(add); // the graph keeps it
        put(f.a, 1);
        put(f.b, 2);
        put(other, 3);
        launched(&f, &(slr_rebinding){f.a, other}, 1);
        assert_int_equal(get(f.a), 1);
        assert_int_equal(get(f.b), 103);
        assert_int_equal(get(other), 1103);
        launched(&f, (slr_rebinding[]){{f.a, f.b}, {f.b, f.a}}, 2); // they change places
        assert_int_equal(get(f.a), 203);
        assert_int_equal(get(f.b), 1203);
        launched(&f, NULL, 0); // as recorded
        assert_int_equal(get(f.b), 303);
        assert_int_equal(get(f.a), 1303);
        slr_buffer_destroy(other);
        tear_down(&f);
    }
}

static void rebinding_of_kernels_is_checked_as_a_launch_is(void **state)
{
    (void)state;
    struct fixture f = set_up("cpu?engine=interpreted");
    slr_buffer *small;
    slr_kernel *only = kernel_of(f.device, "only");
    must(slr_buffer_create(f.device, 32, &small));
    must(slr_graph_begin(f.graph, f.stream));
    must(SLR_LAUNCH(f.stream, only, SLR_GRID(1, 1, 0), f.a, f.b));
    must(slr_graph_end(f.graph));
    refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){f.a, f.b}, 1, NULL), INVALID,
            "kernel only: parameters 'from' and 'to' become the same buffer");
    refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){f.b, small}, 1, NULL), INVALID, "has 32 bytes");
    refuses(slr_graph_launch(f.graph, f.stream, (slr_rebinding[]){{f.b, f.a}, {f.b, f.b}}, 2, NULL), INVALID,
            "rebindings 0 and 1 name the same recorded buffer");
    slr_kernel_destroy(only);
    slr_buffer_destroy(small);
    tear_down(&f);
}

static void what_was_recorded_with_a_slice_stays_when_the_whole_is_rebound(void **state)
{
    (void)state;
    struct fixture f = set_up("cpu");
    slr_buffer *whole, *slice, *other;
    must(slr_buffer_create(f.device, 128, &whole));
    must(slr_buffer_create(f.device, 128, &other));
    must(slr_buffer_slice(whole, 64, 64, &slice));
    must(slr_graph_begin(f.graph, f.stream));
    must(slr_stream_fill(f.stream, whole, 0, 64, "w", 1, NULL));
    must(slr_stream_fill(f.stream, slice, 0, 64, "s", 1, NULL));
    must(slr_stream_copy(f.stream, f.a, 0, slice, 0, 64, NULL));
    must(slr_graph_end(f.graph));
    launched(&f, &(slr_rebinding){whole, other}, 1);
    assert_int_equal(byte_of(whole, 0), 0);
    assert_int_equal(byte_of(whole, 64), 's');
    assert_int_equal(byte_of(other, 0), 'w');
    assert_int_equal(byte_of(other, 64), 0);
    assert_int_equal(byte_of(f.a, 0), 's');
    launched(&f, &(slr_rebinding){slice, f.b}, 1);
    assert_int_equal(byte_of(f.b, 0), 's');
    slr_buffer_destroy(slice);
    slr_buffer_destroy(whole);
    slr_buffer_destroy(other);
    tear_down(&f);
}

static void what_can_not_be_recorded_is_refused(void **state)
{
    (void)state;
    struct fixture f = set_up("null");
    slr_graph *second;
    slr_event *event;
    slr_point point;
    must(slr_graph_create(f.device, &second));
    must(slr_event_create(f.device, &event));
    must(slr_stream_signal(f.stream, &point));
    refuses(slr_graph_end(f.graph), WRONG_STATE, "is not recording");
    must(slr_graph_begin(f.graph, f.stream));
    refuses(slr_graph_begin(second, f.stream), WRONG_STATE, "is recording already");
    refuses(slr_stream_wait(f.stream, point), WRONG_STATE, "is being recorded");
    gives(slr_event_record(event, f.stream, NULL), WRONG_STATE);
    gives(slr_stream_prefetch(f.stream, f.a, 0, 1, SLR_AT_HOST, NULL), WRONG_STATE);
    refuses(slr_graph_launch(f.graph, f.stream, NULL, 0, NULL), WRONG_STATE, "is being recorded");
    must(slr_graph_end(f.graph));
    must(slr_graph_launch(f.graph, f.stream, NULL, 0, NULL)); // nothing was recorded
    must(slr_stream_finish(f.stream, LONG));
    slr_event_destroy(event);
    slr_graph_destroy(second);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_work_is_done_at_each_launch_and_not_before),
        cmocka_unit_test(launch_uses_other_buffers_where_it_is_told),
        cmocka_unit_test(recorded_kernels_use_other_buffers_where_they_are_told),
        cmocka_unit_test(rebinding_of_kernels_is_checked_as_a_launch_is),
        cmocka_unit_test(what_was_recorded_with_a_slice_stays_when_the_whole_is_rebound),
        cmocka_unit_test(what_can_not_be_recorded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

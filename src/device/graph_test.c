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
                "has 32 bytes, the recorded one 64");
        refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){other, f.a}, 1, NULL), INVALID, "has 64 bytes");
        refuses(slr_graph_launch(f.graph, f.stream, &(slr_rebinding){small, f.a}, 1, NULL), INVALID,
                "was not recorded");
        slr_buffer_destroy(other);
        slr_buffer_destroy(small);
        tear_down(&f);
    }
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
        cmocka_unit_test(what_can_not_be_recorded_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

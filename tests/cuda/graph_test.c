// SPDX-License-Identifier: Apache-2.0
// Recorded lists as CUDA graphs, on a driver that is simulated: launched by one call, and what cannot be in one said.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char source[] =
    "__global__ void add(int *p, const int *q, int n) { p[threadIdx.x] += q[threadIdx.x] + n; }\n";

struct recorded {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *p, *q;
    slr_program *program;
    slr_kernel *kernel;
    slr_graph *graph;
    int from[16], to[16];
};

// p = from; q filled by a pattern longer than any word; p += q + 5; to = p.
static slr_status record(struct recorded *r)
{
    slr_status status = slr_graph_begin(r->graph, r->stream);
    TRY_EACH(slr_stream_write(r->stream, r->p, 0, r->from, sizeof r->from, NULL));
    TRY_EACH(slr_stream_fill(r->stream, r->q, 0, 64, "\1\0\0\0\2\0\0\0", 8, NULL));
    TRY_EACH(SLR_LAUNCH(r->stream, r->kernel, SLR_GRID(1, 16, 0), r->p, r->q, 5));
    TRY_EACH(slr_stream_read(r->stream, r->p, 0, r->to, sizeof r->to, NULL));
    slr_status ended = slr_graph_end(r->graph);
    return status == SLR_OK ? ended : status;
}

static slr_status open_all(struct recorded *r)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    slr_status status = slr_device_open("cuda:0", &desc, &r->device);
    TRY_EACH(slr_stream_create(r->device, NULL, &r->stream));
    TRY_EACH(slr_buffer_create(r->device, 64, &r->p));
    TRY_EACH(slr_buffer_create(r->device, 64, &r->q));
    TRY_EACH(slr_program_from_text(r->device, "add.cu", source, NULL, &r->program));
    TRY_EACH(slr_program_get_kernel(r->program, "add", &r->kernel));
    TRY_EACH(slr_graph_create(r->device, &r->graph));
    return status;
}

static void close_all(struct recorded *r)
{
    if (r->stream)
        slr_stream_finish(r->stream, LONG);
    slr_graph_destroy(r->graph);
    slr_buffer_destroy(r->p);
    slr_buffer_destroy(r->q);
    slr_kernel_destroy(r->kernel);
    slr_program_destroy(r->program);
    slr_stream_destroy(r->stream);
    slr_device_close(r->device);
}

static bool is_right(const struct recorded *r)
{
    for (int i = 0; i < 16; ++i)
        if (r->to[i] != r->from[i] + (i % 2 ? 2 : 1) + 5)
            return false;
    return true;
}

static void recorded_list_is_launched_by_one_call(void **state)
{
    (void)state;
    struct recorded r = {0};
    slr_graph_info info;
    reset();
    must(open_all(&r));
    must(record(&r));
    must(slr_graph_get_info(r.graph, &info));
    assert_string_equal(info.reason, "");
    assert_int_equal(info.as_one, 1);
    assert_int_equal(info.commands, 4);
    must(slr_stream_finish(r.stream, LONG));
    assert_int_equal(r.to[0], 0); // nothing was done
    for (int launch = 1; launch < 5; ++launch) {
        for (int i = 0; i < 16; ++i)
            r.from[i] = launch * 100 + i; // read at each launch
        must(slr_graph_launch(r.graph, r.stream, NULL, 0, NULL));
        must(slr_stream_finish(r.stream, LONG));
        assert_true(is_right(&r));
        assert_int_equal(fake->graph_launches, launch);
    }
    slr_buffer *other;
    must(slr_buffer_create(r.device, 64, &other));
    slr_rebinding instead = {r.p, other};
    must(slr_graph_launch(r.graph, r.stream, &instead, 1, NULL)); // command by command
    must(slr_stream_finish(r.stream, LONG));
    assert_true(is_right(&r));
    assert_int_equal(fake->graph_launches, 4);
    slr_buffer_destroy(other);
    close_all(&r);
    nothing_is_left("graph");
}

static void graph_that_is_recorded_further_is_launched_whole(void **state)
{
    (void)state;
    struct recorded r = {0};
    slr_graph_info info;
    char back[8];
    reset();
    must(open_all(&r));
    must(record(&r));
    must(slr_graph_launch(r.graph, r.stream, NULL, 0, NULL)); // may still be in flight
    must(slr_graph_begin(r.graph, r.stream));
    for (int i = 0; i < 20; ++i)
        must(slr_stream_fill(r.stream, r.q, 8, 8, "abcdefgh", 8, NULL));
    must(slr_graph_end(r.graph));
    must(slr_graph_get_info(r.graph, &info));
    assert_int_equal(info.commands, 24);
    assert_int_equal(info.as_one, 1);
    must(slr_graph_launch(r.graph, r.stream, NULL, 0, NULL));
    must(slr_stream_finish(r.stream, LONG));
    must(slr_buffer_read(r.q, 8, back, 8));
    assert_memory_equal(back, "abcdefgh", 8);
    assert_true(is_right(&r));
    assert_int_equal(fake->graph_launches, 2);
    close_all(&r);
    nothing_is_left("further");
}

static void called(void *user, slr_status status)
{
    *(int *)user += status == SLR_OK;
}

static void what_cannot_be_in_a_graph_is_said_and_done_all_the_same(void **state)
{
    (void)state;
    static const char *const reasons[] = {"host function cannot be in a CUDA graph",
                                          "copy between overlapping ranges cannot be", "nothing was recorded"};
    for (int i = 0; i < 3; ++i) {
        struct recorded r = {0};
        slr_graph_info info;
        int calls = 0;
        char back[4];
        reset();
        must(open_all(&r));
        must(slr_buffer_write(r.p, 0, "abcdefgh", 8));
        must(slr_graph_begin(r.graph, r.stream));
        if (i == 0)
            must(slr_stream_call(r.stream, called, &calls, NULL));
        if (i == 1)
            must(slr_stream_copy(r.stream, r.p, 2, r.p, 0, 6, NULL));
        must(slr_graph_end(r.graph));
        must(slr_graph_get_info(r.graph, &info));
        assert_int_equal(info.as_one, 0);
        assert_non_null(strstr(info.reason, reasons[i]));
        must(slr_graph_launch(r.graph, r.stream, NULL, 0, NULL));
        must(slr_stream_finish(r.stream, LONG));
        assert_int_equal(fake->graph_launches, 0);
        assert_int_equal(calls, i == 0);
        must(slr_buffer_read(r.p, 2, back, 4));
        assert_memory_equal(back, i == 1 ? "abcd" : "cdef", 4);
        close_all(&r);
        nothing_is_left(reasons[i]);
    }
}

// Where the graph cannot be made its commands are done one by one; where a launch fails that is told.
static void call_that_fails_is_told_or_made_up_for(void **state)
{
    (void)state;
    uint32_t as_one = 0, one_by_one = 0, failed = 0;
    for (bool reached = true; reached;) {
        struct recorded r = {.from = {7, 8, 9}};
        slr_graph_info info = {0};
        reset();
        fake->fail_at = as_one + one_by_one + failed + 1;
        slr_status status = open_all(&r);
        TRY_EACH(record(&r));
        TRY_EACH(slr_graph_get_info(r.graph, &info));
        TRY_EACH(slr_graph_launch(r.graph, r.stream, NULL, 0, NULL));
        TRY_EACH(slr_stream_finish(r.stream, LONG));
        ++*(status != SLR_OK ? &failed : info.as_one ? &as_one : &one_by_one);
        assert_true(status != SLR_OK || is_right(&r));
        reached = fake->failed != NULL;
        close_all(&r);
        nothing_is_left("failing");
    }
    assert_true(as_one > 0 && failed > 20);
    assert_in_range(one_by_one, 4, 20); // to capture, to end that, to instantiate, and each command captured
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_list_is_launched_by_one_call),
        cmocka_unit_test(graph_that_is_recorded_further_is_launched_whole),
        cmocka_unit_test(what_cannot_be_in_a_graph_is_said_and_done_all_the_same),
        cmocka_unit_test(call_that_fails_is_told_or_made_up_for),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}

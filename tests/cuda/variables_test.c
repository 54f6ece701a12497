// SPDX-License-Identifier: Apache-2.0
// What a kernel is given that its source does not name, on a driver that is simulated: the program's variables, and
// memory for what it prints.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char source[] = "__constant__ int step[2];\n"
                             "__device__ int total = 70;\n"
                             "__global__ void count(int n)\n"
                             "{\n"
                             "    int now = atomicAdd(&total, step[threadIdx.x] + n);\n"
                             "    if (threadIdx.x == 1) printf(\"from %d by %d\", now, n);\n"
                             "}\n";

struct counted {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    slr_graph *graph;
    int total;
    char heard[64];
    uint32_t calls;
    uint64_t lost;
};

static void hear(void *user, const slr_print *print)
{
    struct counted *c = user;
    ++c->calls;
    c->lost += print->lost;
    snprintf(c->heard, sizeof c->heard, "%s", print->text);
}

static slr_status open_counted(struct counted *c, const char *text, const char *kernel, bool listens)
{
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.on_print = listens ? hear : NULL;
    desc.print_user = c;
    slr_status status = slr_device_open("cuda:0", &desc, &c->device);
    TRY_EACH(slr_stream_create(c->device, NULL, &c->stream));
    TRY_EACH(slr_program_from_text(c->device, "count.cu", text, NULL, &c->program));
    TRY_EACH(slr_program_get_kernel(c->program, kernel, &c->kernel));
    return status;
}

static void close_counted(struct counted *c)
{
    if (c->stream)
        slr_stream_finish(c->stream, LONG);
    slr_graph_destroy(c->graph);
    slr_kernel_destroy(c->kernel);
    slr_program_destroy(c->program);
    slr_stream_destroy(c->stream);
    slr_device_close(c->device);
}

static slr_status count(struct counted *c)
{
    static const int step[2] = {100, 1000};
    slr_status status = slr_stream_write_symbol(c->stream, c->program, "step", 0, step, sizeof step, NULL);
    TRY_EACH(SLR_LAUNCH(c->stream, c->kernel, SLR_GRID(1, 2, 0), 3));
    TRY_EACH(slr_stream_read_symbol(c->stream, c->program, "total", 0, &c->total, sizeof c->total, NULL));
    if (c->stream) {
        slr_status finished = slr_stream_finish(c->stream, LONG);
        TRY_EACH(finished);
    }
    return status;
}

#define COUNTED (70 + 100 + 1000 + 2 * 3)

static void variables_begin_anew_in_a_device_that_was_opened_again(void **state)
{
    (void)state;
    struct counted c = {0};
    slr_buffer *buffer;
    reset();
    must(open_counted(&c, source, "count", true));
    for (int round = 0; round < 2; ++round) {
        must(count(&c));
        assert_int_equal(c.total, COUNTED);
        must(count(&c));
        assert_int_equal(c.total, 2 * COUNTED - 70);
        if (strcmp(c.heard, "from 1176 by 3") != 0) // threads have no order
            assert_string_equal(c.heard, "from 1279 by 3");
        if (round == 1)
            break;
        must(slr_buffer_create(c.device, 64, &buffer));
        fake->fault_at = fake->commands + 1;
        slr_stream_fill(c.stream, buffer, 0, 64, "a", 1, NULL);
        gives(slr_stream_finish(c.stream, LONG), DEVICE_LOST);
        slr_buffer_destroy(buffer);
        slr_stream_destroy(c.stream);
        c.stream = NULL;
        must(slr_device_reopen(c.device, LONG));
        must(slr_stream_create(c.device, NULL, &c.stream));
    }
    assert_int_equal(c.calls, 4);
    close_counted(&c);
    nothing_is_left("again");
}

static void programs_have_variables_of_their_own(void **state)
{
    (void)state;
    struct counted c = {0};
    slr_program *other;
    int total = 0;
    reset();
    must(open_counted(&c, source, "count", true));
    must(slr_program_from_text(c.device, "other.cu", source, NULL, &other));
    must(count(&c));
    must(slr_stream_read_symbol(c.stream, other, "total", 0, &total, sizeof total, NULL)); // never launched
    must(slr_stream_finish(c.stream, LONG));
    assert_int_equal(total, 70);
    assert_int_equal(c.total, COUNTED);
    slr_program_destroy(other);
    close_counted(&c);
    nothing_is_left("other");
}

static void what_finds_no_room_is_counted(void **state)
{
    (void)state;
    // A record of 32 words: 4,096 of them fit.
    static const char text[] =
        "__global__ void fill(int n)\n{\n    for (int i = 0; i < n; i++)\n"
        "        printf(\"%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d%d\", 1, 2, "
        "3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, n);\n"
        "}\n";
    struct counted c = {0};
    reset();
    must(open_counted(&c, text, "fill", true));
    must(SLR_LAUNCH(c.stream, c.kernel, SLR_GRID(2, 32, 0), 65));
    must(slr_stream_finish(c.stream, LONG));
    assert_int_equal(c.calls, 4096 + 1);
    assert_int_equal(c.lost, 64 * 65 - 4096);
    close_counted(&c);
    nothing_is_left("no room");
}

// What it prints is not in the graph's reach: then the commands are done one by one.
static void what_a_recorded_kernel_prints_is_told_where_somebody_hears_it(void **state)
{
    (void)state;
    for (int listens = 0; listens < 2; ++listens) {
        struct counted c = {0};
        slr_graph_info info;
        reset();
        must(open_counted(&c, source, "count", listens));
        must(slr_graph_create(c.device, &c.graph));
        must(slr_graph_begin(c.graph, c.stream));
        must(SLR_LAUNCH(c.stream, c.kernel, SLR_GRID(1, 2, 0), 4));
        must(slr_graph_end(c.graph));
        must(slr_graph_get_info(c.graph, &info));
        assert_int_equal(info.as_one, !listens);
        if (listens)
            assert_non_null(strstr(info.reason, "printf of kernel count"));
        must(slr_graph_launch(c.graph, c.stream, NULL, 0, NULL));
        must(slr_graph_launch(c.graph, c.stream, NULL, 0, NULL));
        must(slr_stream_read_symbol(c.stream, c.program, "total", 0, &c.total, sizeof c.total, NULL));
        must(slr_stream_finish(c.stream, LONG));
        assert_int_equal(c.total, 70 + 2 * 2 * 4);
        assert_int_equal(c.calls, listens ? 2 : 0);
        close_counted(&c);
        nothing_is_left("recorded");
    }
}

static void call_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    uint32_t told = 0;
    for (uint32_t k = 1;; ++k) {
        struct counted c = {0};
        reset();
        fake->fail_at = k;
        slr_status status = open_counted(&c, source, "count", true);
        TRY_EACH(count(&c));
        if (status == SLR_OK) {
            assert_int_equal(c.total, COUNTED);
            assert_int_equal(c.calls, 1);
        }
        bool failed = fake->failed != NULL;
        told += failed && status != SLR_OK;
        close_counted(&c);
        nothing_is_left("variables");
        if (!failed && k > 1)
            break;
    }
    assert_true(told > 40);
}

static void the_architecture_is_the_devices(void **state)
{
    (void)state;
    slr_device *device;
    slr_device_info info = {0};
    char text[256];
    int major = 0, minor = 0;
    reset();
    must(slr_device_open("cuda:0", NULL, &device));
    must(slr_device_get_info(device, &info));
    const char *capability = strstr(info.description, "compute capability ");
    assert_non_null(capability);
    assert_int_equal(sscanf(capability, "compute capability %d.%d", &major, &minor), 2);
    snprintf(text, sizeof text,
             "#if __CUDA_ARCH__ != %d\n#error another\n#endif\n__global__ void k(int *p) { *p = 1; }\n",
             major * 100 + minor * 10);
    slr_program *program;
    must(slr_program_from_text(device, "arch.cu", text, NULL, &program));
    slr_program_destroy(program);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_begin_anew_in_a_device_that_was_opened_again),
        cmocka_unit_test(programs_have_variables_of_their_own),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(what_a_recorded_kernel_prints_is_told_where_somebody_hears_it),
        cmocka_unit_test(call_that_fails_is_told_and_leaves_nothing),
        cmocka_unit_test(the_architecture_is_the_devices),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}

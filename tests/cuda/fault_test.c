// SPDX-License-Identifier: Apache-2.0
// Faults of kernels, on a driver that is simulated: the stream fails with the line, and the device lives on.
#define _POSIX_C_SOURCE 200809L
#include "tests/cuda/fake_driver.h"

static const char source[] =
    "#include <assert.h>\n"
    "__global__ void quotient(int *p, int by) { p[threadIdx.x] = 8 / (by * p[threadIdx.x]); }\n"
    "__global__ void remains(int *p, int by)\n"
    "{ p[threadIdx.x] = 8 % (by * p[threadIdx.x]); }\n"
    "__device__ int must_be(int a)\n"
    "{ assert(a != 0); return a; }\n"
    "__global__ void asserted(int *p, int by) { p[threadIdx.x] = must_be(by); }\n"
    "__global__ void trapped(int *p, int by)\n"
    "{ if (by == 0) __trap(); p[threadIdx.x] = by; }\n"
    "__global__ void spoken(int *p, int by)\n"
    "{ printf(\"by %d\", by); p[0] = 1 / by; }\n"
    "__global__ void fine(int *p, int by) { p[threadIdx.x] = by / 3; }\n"
    "__global__ void alone(int by) { if (by == 0) __trap(); }\n";

struct faulty {
    slr_device *device;
    slr_stream *stream;
    slr_buffer *p;
    slr_program *program;
    slr_kernel *kernel;
    slr_graph *graph;
    uint32_t heard;
};

static void hear(void *user, const slr_print *print)
{
    struct faulty *f = user;
    f->heard += strcmp(print->text, "by 0") == 0;
}

static slr_status open_faulty(struct faulty *f, const char *kernel)
{
    static const int ones[4] = {1, 0, 1, 1};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.max_memory_bytes = 4096;
    desc.on_print = hear;
    desc.print_user = f;
    slr_status status = slr_device_open("cuda:0", &desc, &f->device);
    TRY_EACH(slr_stream_create(f->device, NULL, &f->stream));
    TRY_EACH(slr_buffer_create(f->device, sizeof ones, &f->p));
    TRY_EACH(slr_buffer_write(f->p, 0, ones, sizeof ones));
    TRY_EACH(slr_program_from_text(f->device, "f.cu", source, NULL, &f->program));
    TRY_EACH(slr_program_get_kernel(f->program, kernel, &f->kernel));
    return status;
}

static void close_faulty(struct faulty *f)
{
    slr_graph_destroy(f->graph);
    slr_buffer_destroy(f->p);
    slr_kernel_destroy(f->kernel);
    slr_program_destroy(f->program);
    slr_stream_destroy(f->stream);
    slr_device_close(f->device);
}

static slr_status launch(struct faulty *f, int by)
{
    return SLR_LAUNCH(f->stream, f->kernel, SLR_GRID(1, 4, 0), f->p, by);
}

static void fault_fails_the_stream_with_its_line_and_the_device_lives_on(void **state)
{
    (void)state;
    static const struct {
        const char *kernel, *says;
        int by;
    } cases[] = {{"quotient", "kernel quotient: integer division by zero, at f.cu:2", 1},
                 {"remains", "kernel remains: integer division by zero, at f.cu:4", 1},
                 {"asserted", "kernel asserted: an assertion failed, at f.cu:6", 0},
                 {"trapped", "kernel trapped: __trap(), at f.cu:9", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        struct faulty f = {0};
        int words[4];
        reset();
        must(open_faulty(&f, cases[i].kernel));
        must(launch(&f, cases[i].by));
        refuses(slr_stream_finish(f.stream, LONG), HANDLER_FAULT, cases[i].says);
        must(slr_stream_recover(f.stream));
        must(slr_buffer_read(f.p, 0, words, sizeof words));
        if (i == 0) // of thread 1 it is 0, and the others go on
            assert_memory_equal(words, ((int[]){8, 0, 8, 8}), sizeof words);
        must(slr_stream_fill(f.stream, f.p, 0, sizeof words, "\2\0\0\0", 4, NULL));
        must(launch(&f, 1)); // its word is zero again
        must(slr_stream_finish(f.stream, LONG));
        close_faulty(&f);
        nothing_is_left(cases[i].kernel);
    }
}

static void what_is_printed_before_a_fault_is_told(void **state)
{
    (void)state;
    struct faulty f = {0};
    reset();
    must(open_faulty(&f, "spoken"));
    must(launch(&f, 0));
    refuses(slr_stream_finish(f.stream, LONG), HANDLER_FAULT, "kernel spoken: integer division by zero, at f.cu:11");
    assert_int_equal(f.heard, 4);
    close_faulty(&f);
    nothing_is_left("spoken");
}

// More than there are words for at once; of all of them only the last but two faults.
#define MANY 200

static slr_status record(struct faulty *f)
{
    slr_kernel *asserted;
    must(slr_program_get_kernel(f->program, "asserted", &asserted));
    must(slr_graph_create(f->device, &f->graph));
    must(slr_graph_begin(f->graph, f->stream));
    for (int i = 0; i < MANY; ++i) {
        bool last = i == MANY - 2;
        must(SLR_LAUNCH(f->stream, last ? asserted : f->kernel, SLR_GRID(1, 4, 0), f->p, last ? 0 : 1));
    }
    slr_kernel_destroy(asserted);
    return slr_graph_end(f->graph);
}

static void the_kernel_of_many_that_has_faulted_is_named(void **state)
{
    (void)state;
    for (int rebound = 0; rebound < 2; ++rebound) {
        struct faulty f = {0};
        slr_graph_info info;
        slr_buffer *other;
        reset();
        must(open_faulty(&f, "trapped"));
        must(record(&f));
        must(slr_graph_get_info(f.graph, &info));
        assert_int_equal(info.as_one, 1);
        must(slr_buffer_create(f.device, 16, &other));
        const slr_rebinding instead = {f.p, other}; // then command by command
        for (int launch = 0; launch < 3; ++launch) {
            must(slr_graph_launch(f.graph, f.stream, &instead, (uint32_t)rebound, NULL));
            refuses(slr_stream_finish(f.stream, LONG), HANDLER_FAULT,
                    "kernel asserted: an assertion failed, at f.cu:6");
            must(slr_stream_recover(f.stream));
        }
        assert_int_equal(fake->graph_launches, rebound ? 0 : 3);
        slr_buffer_destroy(other);
        close_faulty(&f);
        nothing_is_left("many");
    }
}

// What a graph's launch has told is its own: the next begins with nothing.
static void a_graph_that_has_faulted_can_be_launched_again(void **state)
{
    (void)state;
    struct faulty f = {0};
    reset();
    must(open_faulty(&f, "quotient"));
    must(slr_graph_create(f.device, &f.graph));
    must(slr_graph_begin(f.graph, f.stream));
    must(launch(&f, 1));
    must(slr_graph_end(f.graph));
    for (int i = 0; i < 4; ++i) {
        must(slr_stream_fill(f.stream, f.p, 0, 16, i % 2 ? "\2\0\0\0" : "\0\0\0\0", 4, NULL));
        must(slr_graph_launch(f.graph, f.stream, NULL, 0, NULL));
        if (i % 2) {
            must(slr_stream_finish(f.stream, LONG));
            continue;
        }
        refuses(slr_stream_finish(f.stream, LONG), HANDLER_FAULT, "kernel quotient: integer division by zero");
        must(slr_stream_recover(f.stream));
    }
    assert_int_equal(fake->graph_launches, 4);
    close_faulty(&f);
    nothing_is_left("again");
}

// They tell by the same word: none takes what another has told.
static void each_launch_of_a_graph_in_several_streams_hears_of_its_own_fault(void **state)
{
    (void)state;
    struct faulty f = {0};
    slr_stream *stream[3];
    reset();
    must(open_faulty(&f, "alone"));
    must(slr_graph_create(f.device, &f.graph));
    must(slr_graph_begin(f.graph, f.stream));
    must(SLR_LAUNCH(f.stream, f.kernel, SLR_GRID(1, 4, 0), 0));
    must(slr_graph_end(f.graph));
    for (int i = 0; i < 3; ++i)
        must(slr_stream_create(f.device, NULL, &stream[i]));
    for (int round = 0; round < 300; ++round) {
        for (int i = 0; i < 3; ++i)
            must(slr_graph_launch(f.graph, stream[i], NULL, 0, NULL));
        for (int i = 0; i < 3; ++i) {
            refuses(slr_stream_finish(stream[i], LONG), HANDLER_FAULT, "kernel alone: __trap(), at f.cu:13");
            must(slr_stream_recover(stream[i]));
        }
    }
    assert_int_equal(fake->graph_launches, 3 * 300);
    for (int i = 0; i < 3; ++i)
        slr_stream_destroy(stream[i]);
    close_faulty(&f);
    nothing_is_left("streams");
}

// Nothing is taken for a kernel that divides by what is known.
static void a_kernel_that_cannot_fault_is_given_no_memory(void **state)
{
    (void)state;
    uint32_t calls[2];
    for (int i = 0; i < 2; ++i) {
        struct faulty f = {0};
        reset();
        must(open_faulty(&f, i ? "trapped" : "fine"));
        must(launch(&f, 9)); // made ready
        must(slr_stream_finish(f.stream, LONG));
        slr_stream_destroy(f.stream);
        must(slr_stream_create(f.device, NULL, &f.stream));
        uint32_t before = fake->calls;
        must(launch(&f, 9));
        must(slr_stream_finish(f.stream, LONG));
        calls[i] = fake->calls - before;
        before = fake->calls;
        must(launch(&f, 9));
        must(slr_stream_finish(f.stream, LONG));
        if (i == 1)
            assert_int_equal(fake->calls - before, calls[0]); // once a stream
        close_faulty(&f);
        nothing_is_left("fine");
    }
    assert_true(calls[1] > calls[0]);
}

// Text that is not ours has no word to tell by.
static void a_trap_of_a_raw_program_loses_the_device(void **state)
{
    (void)state;
    struct faulty f = {0};
    slr_program_desc desc = SLR_PROGRAM_DESC_INIT;
    slr_program *program;
    slr_kernel *kernel;
    reset();
    must(open_faulty(&f, "trapped"));
    desc.raw = 1;
    must(slr_program_from_text(f.device, "raw.cu",
                               "extern \"C\" __global__ void raw(int *p, int by) { if (by == 0) __trap(); p[0] = by; }",
                               &desc, &program));
    must(slr_program_get_kernel(program, "raw", &kernel));
    must(SLR_LAUNCH(f.stream, kernel, SLR_GRID(1, 4, 0), f.p, 1));
    must(SLR_LAUNCH(f.stream, kernel, SLR_GRID(1, 4, 0), f.p, 0));
    refuses(slr_stream_finish(f.stream, LONG), DEVICE_LOST, "after kernel raw");
    slr_kernel_destroy(kernel);
    slr_program_destroy(program);
    close_faulty(&f);
    nothing_is_left("raw");
}

static void call_that_fails_is_told_and_leaves_nothing(void **state)
{
    (void)state;
    uint32_t told = 0;
    for (uint32_t k = 1;; ++k) {
        struct faulty f = {0};
        reset();
        fake->fail_at = k;
        slr_status status = open_faulty(&f, "quotient");
        TRY_EACH(launch(&f, 1));
        if (f.stream) {
            slr_status finished = slr_stream_finish(f.stream, LONG);
            TRY_EACH(finished);
        }
        assert_int_not_equal(status, SLR_OK);
        bool failed = fake->failed != NULL;
        assert_true(failed || status == SLR_HANDLER_FAULT);
        told += failed && status != SLR_HANDLER_FAULT;
        close_faulty(&f);
        nothing_is_left("faulty");
        if (!failed && k > 1)
            break;
    }
    assert_true(told > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_fails_the_stream_with_its_line_and_the_device_lives_on),
        cmocka_unit_test(what_is_printed_before_a_fault_is_told),
        cmocka_unit_test(the_kernel_of_many_that_has_faulted_is_named),
        cmocka_unit_test(a_graph_that_has_faulted_can_be_launched_again),
        cmocka_unit_test(each_launch_of_a_graph_in_several_streams_hears_of_its_own_fault),
        cmocka_unit_test(a_kernel_that_cannot_fault_is_given_no_memory),
        cmocka_unit_test(a_trap_of_a_raw_program_loses_the_device),
        cmocka_unit_test(call_that_fails_is_told_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, load_fake, NULL);
}

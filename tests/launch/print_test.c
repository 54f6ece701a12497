// SPDX-License-Identifier: Apache-2.0
// What kernels print, assert and do without a buffer, compiled and interpreted.
#include "engines.h"

#include <stdbool.h>
#include <stdio.h>

static const char *const engines[] = {"cpu?engine=compiled", "cpu?engine=interpreted"};

struct heard {
    char text[16][64];
    uint32_t calls, count[16]; // how often each text
    uint64_t lost;
    char kernel[16];
};

static void hear(void *user, const slr_print *print)
{
    struct heard *heard = user;
    heard->calls++;
    heard->lost += print->lost;
    snprintf(heard->kernel, sizeof heard->kernel, "%s", print->kernel);
    assert_int_equal(strlen(print->text), print->bytes);
    for (int i = 0; i < 16 && !print->lost; i++)
        if (!heard->count[i] || strcmp(heard->text[i], print->text) == 0) {
            snprintf(heard->text[i], sizeof heard->text[i], "%s", print->text);
            heard->count[i]++;
            return;
        }
}

static uint32_t times(const struct heard *heard, const char *text)
{
    for (int i = 0; i < 16; i++)
        if (strcmp(heard->text[i], text) == 0)
            return heard->count[i];
    return 0;
}

struct setup {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *kernel;
    struct heard heard;
};

static void open_setup(struct setup *s, const char *engine, const char *text, bool listen)
{
    *s = (struct setup){0};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = listen ? hear : NULL;
    desc.print_user = &s->heard;
    CHECK(slr_device_open(engine, &desc, &s->device));
    CHECK(slr_stream_default(s->device, &s->stream));
    slr_program_desc quick = SLR_PROGRAM_DESC_INIT;
    quick.optimize = 1;
    CHECK(slr_program_from_text(s->device, "print.cu", text, &quick, &s->program));
    CHECK(slr_program_get_kernel(s->program, NULL, &s->kernel));
}

static void close_setup(struct setup *s)
{
    slr_kernel_destroy(s->kernel);
    slr_program_destroy(s->program);
    slr_device_close(s->device);
}

static void every_type_is_printed_by_whoever_reaches_it(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct setup s;
        open_setup(&s, engines[e],
                   "__device__ void tell(long long v) { printf(\"%lld;\", v - 5000000000LL); }\n"
                   "__global__ void k(float f, unsigned u) {\n int t = threadIdx.x;\n"
                   " printf(\"%d%% %5.2f %x %c|\", t % 2, f, u, 'a' + t % 2);\n __syncthreads();\n"
                   " if (t == 3) printf(\"three\");\n tell(t % 3);\n}\n",
                   true);
        CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(40, 20), 1.5f, 0xbeefu));
        CHECK(slr_stream_finish(s.stream, 60 * SECOND));
        assert_int_equal(times(&s.heard, "0%  1.50 beef a|"), 20);
        assert_int_equal(times(&s.heard, "1%  1.50 beef b|"), 20);
        assert_int_equal(times(&s.heard, "three"), 2);
        assert_int_equal(times(&s.heard, "-4999999999;"), 14);
        assert_int_equal(s.heard.calls, 82);
        assert_string_equal(s.heard.kernel, "k");
        close_setup(&s);
    }
}

static void what_finds_no_room_is_counted(void **unused)
{
    (void)unused;
    struct setup s;
    open_setup(&s, engines[0], "__global__ void k(int n) { for (int i = 0; i < n; i++) printf(\"x\"); }\n", true);
    CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(256, 64), 1000)); // 256,000, of 8 bytes each
    CHECK(slr_stream_finish(s.stream, 60 * SECOND));
    assert_int_equal(times(&s.heard, "x"), 131072);
    assert_int_equal(s.heard.lost, 256000 - 131072);
    assert_int_equal(s.heard.calls, 131072 + 1);
    close_setup(&s);
}

static void nobody_needs_to_listen(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct setup s;
        open_setup(&s, engines[e], "__global__ void k() { printf(\"%d\", threadIdx.x); }\n", false);
        CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(8, 8)));
        CHECK(slr_stream_finish(s.stream, 60 * SECOND));
        close_setup(&s);
    }
}

static void what_a_faulted_kernel_printed_is_heard(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct setup s;
        open_setup(&s, engines[e],
                   "__global__ void k(int n) {\n printf(\"at %d\", threadIdx.x);\n"
                   " __syncthreads();\n assert(threadIdx.x < n);\n}\n",
                   true);
        CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(8, 8), 7));
        assert_int_equal(slr_stream_finish(s.stream, 60 * SECOND), SLR_HANDLER_FAULT);
        assert_non_null(strstr(slr_error_message(), "print.cu:4"));
        assert_int_equal(s.heard.calls, 8);
        close_setup(&s);
    }
}

static void a_buffer_may_be_none(void **unused)
{
    (void)unused;
    for (int e = 0; e < 2; e++) {
        struct setup s;
        open_setup(
            &s, engines[e],
            "__global__ void k(const int *__restrict__ in, int *__restrict__ out, const int *__restrict__ more) {\n"
            " int t = threadIdx.x;\n out[t] = in ? in[t] : -t;\n if (more != nullptr) out[t] += more[t];\n}\n",
            true);
        slr_buffer *out, *none = NULL;
        int result[8];
        CHECK(slr_buffer_create(s.device, sizeof result, &out));
        CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(8, 8), none, out, none));
        CHECK(slr_buffer_read(out, 0, result, sizeof result));
        for (int t = 0; t < 8; t++)
            assert_int_equal(result[t], -t);
        slr_graph *graph;
        CHECK(slr_graph_create(s.device, &graph));
        CHECK(slr_graph_begin(graph, s.stream));
        CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(8, 8), none, out, none));
        CHECK(slr_graph_end(graph));
        slr_buffer *other;
        CHECK(slr_buffer_create(s.device, sizeof result, &other));
        slr_rebinding instead = {out, other};
        CHECK(slr_graph_launch(graph, s.stream, &instead, 1, NULL));
        CHECK(slr_buffer_read(other, 0, result, sizeof result));
        assert_int_equal(result[7], -7);
        slr_graph_destroy(graph);
        slr_buffer_destroy(other);
        slr_buffer_destroy(out);
        close_setup(&s);
    }
}

static void an_access_through_none_is_a_fault_of_the_interpreter(void **unused)
{
    (void)unused;
    struct setup s;
    open_setup(&s, engines[1], "__global__ void k(int *out) {\n out[threadIdx.x] = 1;\n}\n", false);
    CHECK(SLR_LAUNCH(s.stream, s.kernel, SLR_1D_BLOCKS(8, 8), (slr_buffer *)NULL));
    assert_int_equal(slr_stream_finish(s.stream, 60 * SECOND), SLR_HANDLER_FAULT);
    assert_non_null(strstr(slr_error_message(), "print.cu:2"));
    close_setup(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_printed_by_whoever_reaches_it),
        cmocka_unit_test(what_finds_no_room_is_counted),
        cmocka_unit_test(nobody_needs_to_listen),
        cmocka_unit_test(what_a_faulted_kernel_printed_is_heard),
        cmocka_unit_test(a_buffer_may_be_none),
        cmocka_unit_test(an_access_through_none_is_a_fault_of_the_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

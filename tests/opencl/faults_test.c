// SPDX-License-Identifier: Apache-2.0
// Faults of `__global__` kernels where nothing but divisions, assertions and traps is checked: told by kernel and line,
// behind the launch.
#include "device/device_test.h"

static const char source[] = "__device__ int part(int a, int n)\n"
                             "{\n"
                             "    return a % n;\n"
                             "}\n"
                             "__global__ void divide(int *p, int n)\n"
                             "{\n"
                             "    printf(\"%d\", (int)threadIdx.x);\n"
                             "    p[threadIdx.x] = part(p[threadIdx.x] + 5, n);\n"
                             "}\n"
                             "__global__ void trap(int *p, int n)\n"
                             "{\n"
                             "    if (n == 3)\n"
                             "        __trap();\n"
                             "    __syncthreads();\n"
                             "    assert(n < 7);\n"
                             "    p[threadIdx.x] = __shfl_sync(0xffffffffu, n, 0) / (n + 1);\n"
                             "}\n";

struct setup {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *divide, *trap;
    slr_buffer *buffer;
    uint32_t heard;
};

static void hear(void *user, const slr_print *print)
{
    struct setup *s = user;
    s->heard += (uint32_t)print->bytes;
}

static void open_setup(struct setup *s, const char *spec)
{
    *s = (struct setup){0};
    slr_device_desc desc = SLR_DEVICE_DESC_INIT;
    desc.on_print = hear;
    desc.print_user = s;
    must(slr_device_open(spec, &desc, &s->device));
    must(slr_stream_create(s->device, NULL, &s->stream));
    must(slr_program_from_text(s->device, "faults.cu", source, NULL, &s->program));
    must(slr_program_get_kernel(s->program, "divide", &s->divide));
    must(slr_program_get_kernel(s->program, "trap", &s->trap));
    must(slr_buffer_create(s->device, 32 * sizeof(int), &s->buffer));
}

static void close_setup(struct setup *s)
{
    slr_buffer_destroy(s->buffer);
    slr_kernel_destroy(s->divide);
    slr_kernel_destroy(s->trap);
    slr_program_destroy(s->program);
    slr_stream_destroy(s->stream);
    slr_device_close(s->device);
}

static const char *const specs[] = {"cpu", "opencl:0", "opencl:0?memory=coarse", "opencl:0?memory=plain"};

static void fault_is_told_by_its_kernel_and_line(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct setup s;
        if (i > 0 && SANITIZED)
            break;
        open_setup(&s, specs[i]);
        const struct {
            slr_kernel *kernel;
            int n;
            const char *says;
        } wrong[] = {{s.divide, 0, "kernel divide: integer division by zero, at faults.cu:3"},
                     {s.trap, 3, "kernel trap: __trap(), at faults.cu:13"},
                     {s.trap, 8, "kernel trap: an assertion failed, at faults.cu:15"},
                     {s.trap, -1, "kernel trap: integer division by zero, at faults.cu:16"}};
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
            int back[32];
            must(SLR_LAUNCH(s.stream, wrong[k].kernel, SLR_GRID(1, 32, 0), s.buffer, wrong[k].n));
            slr_stream_write(s.stream, s.buffer, 0, "held", 4, NULL); // it may have failed by now
            refuses(slr_stream_finish(s.stream, LONG), HANDLER_FAULT, wrong[k].says);
            must(slr_stream_recover(s.stream));
            must(SLR_LAUNCH(s.stream, wrong[k].kernel, SLR_GRID(1, 32, 0), s.buffer, 4));
            must(slr_stream_finish(s.stream, LONG));
            must(slr_buffer_read(s.buffer, 0, back, sizeof back));
            assert_int_equal(back[0], back[31]);
        }
        assert_int_equal(s.heard, 2 * (10 + 2 * 22)); // also of the launch that faulted
        close_setup(&s);
    }
}

static void first_fault_of_a_list_is_told(void **state)
{
    (void)state;
    EACH_HERE(i, specs)
    {
        struct setup s;
        slr_graph *graph;
        if (i > 0 && SANITIZED)
            break;
        open_setup(&s, specs[i]);
        must(slr_graph_create(s.device, &graph));
        must(slr_graph_begin(graph, s.stream));
        for (int n = 0; n < 40; ++n) // more than are begun at once
            must(SLR_LAUNCH(s.stream, s.trap, SLR_GRID(1, 32, 0), s.buffer, n == 36 ? 8 : n == 38 ? 3 : 5));
        must(slr_graph_end(graph));
        must(slr_graph_launch(graph, s.stream, NULL, 0, NULL));
        refuses(slr_stream_finish(s.stream, LONG), HANDLER_FAULT, "at faults.cu:15");
        must(slr_stream_recover(s.stream));
        must(SLR_LAUNCH(s.stream, s.trap, SLR_GRID(1, 32, 0), s.buffer, 5));
        must(slr_stream_finish(s.stream, LONG));
        slr_graph_destroy(graph);
        close_setup(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fault_is_told_by_its_kernel_and_line),
        cmocka_unit_test(first_fault_of_a_list_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

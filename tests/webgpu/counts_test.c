// SPDX-License-Identifier: Apache-2.0
// What the backend gives WebGPU, counted: bind groups and layouts made once, set once a pass; time stamps resolved and
// mapped once for many launches; nothing that is not asked for.
#define _POSIX_C_SOURCE 200809L
#include "tests/webgpu/webgpu_test.h"

enum { WORDS = 64, MANY = 1000, FEW = 64 };

// Without loops, which some drivers end, and of which kernels then tell by a word that is read back.
static const char source[] = "__global__ void set(unsigned *to, const unsigned *from, unsigned n)\n"
                             "{\n"
                             "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    to[i] = from[i] + n;\n"
                             "}\n"
                             "__global__ void twice(unsigned *to, const unsigned *from, unsigned n)\n"
                             "{\n"
                             "    to[threadIdx.x] = from[threadIdx.x] * 2u + n;\n"
                             "}\n";

struct bench {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *set, *twice;
    slr_buffer *from, *to, *other;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){0};
    must(slr_device_open("webgpu:0", NULL, &b->device));
    must(slr_stream_create(b->device, NULL, &b->stream));
    must(slr_program_from_text(b->device, "set.cu", source, NULL, &b->program));
    must(slr_program_get_kernel(b->program, "set", &b->set));
    must(slr_program_get_kernel(b->program, "twice", &b->twice));
    must(slr_buffer_create(b->device, WORDS * 4, &b->from));
    must(slr_buffer_create(b->device, WORDS * 4, &b->to));
    must(slr_buffer_create(b->device, WORDS * 4, &b->other));
    must(SLR_LAUNCH(b->stream, b->set, SLR_GRID(1, WORDS, 0), b->other, b->from, 0u)); // it is ready, and tried out
    must(slr_stream_finish(b->stream, LONG));
}

static void tear_down(struct bench *b)
{
    must(slr_stream_finish(b->stream, LONG));
    slr_buffer_destroy(b->other);
    slr_buffer_destroy(b->to);
    slr_buffer_destroy(b->from);
    slr_kernel_destroy(b->twice);
    slr_kernel_destroy(b->set);
    slr_program_destroy(b->program);
    slr_stream_destroy(b->stream);
    slr_device_close(b->device);
}

struct counts {
    uint64_t groups, layouts, sets, passes, resolves, maps;
};

static struct counts count(const struct bench *b)
{
    return (struct counts){.groups = metric(b->device, "bind_groups"),
                           .layouts = metric(b->device, "bind_group_layouts"),
                           .sets = metric(b->device, "bind_group_sets"),
                           .passes = metric(b->device, "passes"),
                           .resolves = metric(b->device, "timestamp_resolves"),
                           .maps = metric(b->device, "maps")};
}

static void launches_with_equal_arguments_make_one_bind_group_which_is_set_once_a_pass(void **state)
{
    struct bench b;
    uint32_t last;
    (void)state;
    set_up(&b);
    const struct counts before = count(&b);
    for (uint32_t i = 0; i < MANY; ++i)
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, 7u));
    must(slr_stream_finish(b.stream, LONG));
    const struct counts after = count(&b);
    assert_int_equal(after.groups - before.groups, 1);
    assert_int_equal(after.layouts, 2); // the canary's kernel, which counts a driver's loops, has another
    assert_int_equal(after.sets - before.sets, after.passes - before.passes);
    assert_int_equal(after.resolves, 0);
    assert_int_equal(after.maps, before.maps); // nothing was copied out
    must(slr_buffer_read(b.to, (WORDS - 1) * 4, &last, sizeof last));
    assert_int_equal(last, 7);
    assert_int_equal(count(&b).maps - after.maps, 1);
    tear_down(&b);
}

static void other_values_share_the_bind_group_and_other_buffers_do_not(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    const struct counts before = count(&b);
    for (uint32_t i = 0; i < 10; ++i)
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, i));
    must(slr_stream_finish(b.stream, LONG));
    const struct counts values = count(&b);
    assert_int_equal(values.groups - before.groups, 1);
    assert_int_equal(values.sets - before.sets, 10);
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.from, b.to, 0u));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(count(&b).groups - values.groups, 1);
    tear_down(&b);
}

static void kernels_of_one_signature_share_a_layout(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    const struct counts before = count(&b);
    must(SLR_LAUNCH(b.stream, b.twice, SLR_GRID(1, WORDS, 0), b.to, b.from, 1u));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(count(&b).layouts - before.layouts, 0);
    tear_down(&b);
}

static void profiled_launches_are_resolved_and_mapped_once(void **state)
{
    struct bench b;
    slr_graph *graph;
    slr_event *from, *to;
    int64_t ns = 0;
    (void)state;
    set_up(&b);
    must(slr_event_create(b.device, &from));
    must(slr_event_create(b.device, &to));
    must(slr_graph_create(b.device, &graph));
    must(slr_graph_begin(graph, b.stream));
    for (uint32_t i = 0; i < FEW; ++i)
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, 7u));
    must(slr_graph_end(graph));
    const struct counts before = count(&b);
    must(slr_event_record(from, b.stream, NULL));
    must(slr_graph_launch(graph, b.stream, NULL, 0, NULL));
    must(slr_event_record(to, b.stream, NULL));
    must(slr_stream_finish(b.stream, LONG));
    must(slr_event_elapsed_ns(from, to, &ns));
    assert_true(ns > 0);
    const struct counts after = count(&b);
    assert_int_equal(after.resolves - before.resolves, 1);
    assert_int_equal(after.maps - before.maps, 1);
    slr_event_destroy(from);
    slr_event_destroy(to);
    slr_graph_destroy(graph);
    tear_down(&b);
}

static void message_is_written_handled_and_mapped_in_one_submission(void **state)
{
    struct bench b;
    uint32_t in[WORDS], out[WORDS];
    (void)state;
    set_up(&b);
    for (uint32_t i = 0; i < WORDS; ++i)
        in[i] = i;
    slr_graph *graph;
    must(slr_graph_create(b.device, &graph));
    must(slr_graph_begin(graph, b.stream));
    must(slr_stream_write(b.stream, b.from, 0, in, sizeof in, NULL));
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, 7u));
    must(slr_stream_read(b.stream, b.to, 0, out, sizeof out, NULL));
    must(slr_graph_end(graph));
    const uint64_t submits = metric(b.device, "submits"), maps = metric(b.device, "maps");
    must(slr_graph_launch(graph, b.stream, NULL, 0, NULL));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(metric(b.device, "submits") - submits, 1);
    assert_int_equal(metric(b.device, "maps") - maps, 1);
    for (uint32_t i = 0; i < WORDS; ++i)
        assert_int_equal(out[i], i + 7);
    slr_graph_destroy(graph);
    tear_down(&b);
}

// More submissions than are under way at once: the first ones are waited for in the midst of it.
static void time_of_a_long_list_is_that_of_all_its_passes(void **state)
{
    enum { LAUNCHES = 640, IN_A_PASS = 64, TICKS = 10000 };
    struct bench b;
    slr_graph *graph;
    slr_event *from, *to;
    int64_t ns = 0;
    (void)state;
    set_up(&b);
    must(slr_event_create(b.device, &from));
    must(slr_event_create(b.device, &to));
    must(slr_graph_create(b.device, &graph));
    must(slr_graph_begin(graph, b.stream));
    for (uint32_t i = 0; i < LAUNCHES; ++i)
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, 7u));
    must(slr_graph_end(graph));
    webgpu->pass_ticks = TICKS;
    must(slr_event_record(from, b.stream, NULL));
    must(slr_graph_launch(graph, b.stream, NULL, 0, NULL));
    must(slr_event_record(to, b.stream, NULL));
    must(slr_stream_finish(b.stream, LONG));
    webgpu->pass_ticks = 0;
    must(slr_event_elapsed_ns(from, to, &ns));
    assert_true(ns >= (int64_t)(LAUNCHES / IN_A_PASS - 1) * TICKS); // drivers on the host's cores count nanoseconds
    slr_event_destroy(from);
    slr_event_destroy(to);
    slr_graph_destroy(graph);
    tear_down(&b);
}

// A bind group that is kept for memory which has been outgrown keeps that, too.
static void outgrown_memory_for_moves_is_given_back(void **state)
{
    struct bench b;
    slr_buffer *buffer;
    int32_t live = 0;
    (void)state;
    set_up(&b);
    must(slr_buffer_create(b.device, 8192, &buffer));
    for (uint64_t i = 0; i < 16; ++i) {
        must(slr_stream_copy(b.stream, buffer, 4001, buffer, 2, 101 + 100 * i, NULL));
        must(slr_stream_finish(b.stream, LONG));
        live = i == 0 ? webgpu->live : live;
    }
    assert_true(webgpu->live <= live); // less where one took the place of another
    slr_buffer_destroy(buffer);
    tear_down(&b);
}

// Else the library would hold as much memory as is copied.
static void long_copies_in_are_submitted_part_by_part(void **state)
{
    static const uint64_t part = UINT64_C(32) << 20, bytes = 9 * part + 8;
    struct bench b;
    slr_buffer *buffer;
    uint32_t last[2];
    (void)state;
    set_up(&b);
    must(slr_buffer_create(b.device, bytes, &buffer));
    uint32_t *words = calloc(1, bytes);
    assert_non_null(words);
    words[bytes / 4 - 1] = 77;
    uint64_t before = metric(b.device, "submits");
    must(slr_stream_write(b.stream, buffer, 0, words, 4096, NULL));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(metric(b.device, "submits") - before, 1);
    before = metric(b.device, "submits");
    must(slr_stream_write(b.stream, buffer, 0, words, bytes, NULL));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(metric(b.device, "submits") - before, 10);
    must(slr_buffer_read(buffer, bytes - 8, last, sizeof last));
    assert_int_equal(last[0], 0);
    assert_int_equal(last[1], 77);
    free(words);
    slr_buffer_destroy(buffer);
    tear_down(&b);
}

// Drivers that compute on the host's cores take time for each thread of a block.
static void few_instances_have_a_small_block_that_handles_the_messages_of_all(void **state)
{
    enum { ROUNDS = 8 };
    static const char plus[] = "struct word { unsigned word; };\n"
                               "__ring__ void plus(const struct word *in)\n"
                               "{\n"
                               "    struct word reply = {in->word + 1u};\n"
                               "    ring_reply(&reply);\n"
                               "}\n";
    static const struct {
        uint32_t instances;
        const char *size;
    } cases[] = {{1, "@workgroup_size(4, 1, 1)"},
                 {4, "@workgroup_size(4, 1, 1)"},
                 {5, "@workgroup_size(8, 1, 1)"},
                 {33, "@workgroup_size(32, 1, 1)"}};
    slr_device *device;
    (void)state;
    must(slr_device_open("webgpu:0", NULL, &device));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const uint32_t messages = ROUNDS * cases[k].instances;
        slr_ring_desc desc = SLR_RING_DESC_INIT;
        slr_program *program; // anew: its kernel is what was compiled last
        slr_ring *ring;
        slr_port *port;
        uint64_t sum = 0;
        must(slr_port_open(device, &port));
        must(slr_program_from_text(device, "plus.cu", plus, NULL, &program));
        desc.program = program;
        desc.handler = "plus";
        desc.instances = cases[k].instances;
        must(slr_ring_create(device, &desc, &ring));
        must(slr_ring_launch(ring));
        must(slr_ring_activate(ring, LONG));
        assert_non_null(strstr(webgpu->source, cases[k].size));
        for (uint32_t sent = 0; sent < messages;) {
            for (uint32_t i = 0; i < cases[k].instances; ++i, ++sent) {
                slr_address to;
                must(slr_ring_get_address(ring, i, &to));
                must(slr_send(port, to, &sent, sizeof sent, LONG));
            }
            for (uint32_t i = 0; i < cases[k].instances; ++i) {
                slr_reply reply;
                uint32_t word = 0;
                must(slr_receive(port, &reply, &word, sizeof word, LONG));
                sum += word;
            }
        }
        assert_int_equal(sum, (uint64_t)messages * (messages + 1) / 2);
        slr_port_close(port);
        slr_ring_destroy(ring);
        slr_program_destroy(program);
    }
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_with_equal_arguments_make_one_bind_group_which_is_set_once_a_pass),
        cmocka_unit_test(other_values_share_the_bind_group_and_other_buffers_do_not),
        cmocka_unit_test(kernels_of_one_signature_share_a_layout),
        cmocka_unit_test(profiled_launches_are_resolved_and_mapped_once),
        cmocka_unit_test(message_is_written_handled_and_mapped_in_one_submission),
        cmocka_unit_test(time_of_a_long_list_is_that_of_all_its_passes),
        cmocka_unit_test(outgrown_memory_for_moves_is_given_back),
        cmocka_unit_test(long_copies_in_are_submitted_part_by_part),
        cmocka_unit_test(few_instances_have_a_small_block_that_handles_the_messages_of_all),
    };
    return load_webgpu() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_WEBGPU;
}

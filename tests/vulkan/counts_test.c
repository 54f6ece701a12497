// SPDX-License-Identifier: Apache-2.0
// What the backend gives Vulkan, counted: barriers only where data flows, arguments written once, pipelines kept.
#define _POSIX_C_SOURCE 200809L
#include "tests/vulkan/vulkan_test.h"

#include <vulkan/vulkan_core.h>

enum { LAUNCHES = 100, WORDS = 64 };

static const char source[] = "__global__ void set(unsigned *to, const unsigned *from, unsigned n)\n"
                             "{\n"
                             "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "    to[i] = from[i] + n;\n"
                             "}\n";

struct bench {
    slr_device *device;
    slr_stream *stream;
    slr_program *program;
    slr_kernel *set;
    slr_buffer *buffer[LAUNCHES + 1];
    slr_graph *graph;
};

static void set_up(struct bench *b)
{
    *b = (struct bench){0};
    must(slr_device_open("vulkan:0", NULL, &b->device));
    must(slr_stream_create(b->device, NULL, &b->stream));
    must(slr_program_from_text(b->device, "set.cu", source, NULL, &b->program));
    must(slr_program_get_kernel(b->program, "set", &b->set));
    for (int i = 0; i <= LAUNCHES; ++i)
        must(slr_buffer_create(b->device, WORDS * 4, &b->buffer[i]));
    must(slr_graph_create(b->device, &b->graph));
}

static void tear_down(struct bench *b)
{
    must(slr_stream_finish(b->stream, LONG));
    slr_graph_destroy(b->graph);
    for (int i = 0; i <= LAUNCHES; ++i)
        slr_buffer_destroy(b->buffer[i]);
    slr_kernel_destroy(b->set);
    slr_program_destroy(b->program);
    slr_stream_destroy(b->stream);
    slr_device_close(b->device);
}

// `to` and `from` of launch i, by steps: a chain has each launch read what the one before has written.
static void record(struct bench *b, bool is_chain)
{
    must(slr_graph_begin(b->graph, b->stream));
    for (int i = 0; i < LAUNCHES; ++i)
        must(SLR_LAUNCH(b->stream, b->set, SLR_GRID(1, WORDS, 0), b->buffer[i + 1], b->buffer[is_chain ? i : 0], 1u));
    must(slr_graph_end(b->graph));
}

static uint32_t last_word(struct bench *b, int buffer)
{
    uint32_t word;
    must(slr_buffer_read(b->buffer[buffer], (WORDS - 1) * 4, &word, sizeof word));
    return word;
}

static void independent_launches_of_a_list_have_no_barrier_between_them(void **state)
{
    struct bench b;
    slr_graph_info info;
    (void)state;
    set_up(&b);
    record(&b, false);
    must(slr_graph_get_info(b.graph, &info));
    assert_int_equal(info.as_one, 1);
    const uint64_t before = metric(b.device, "barriers");
    must(slr_graph_launch(b.graph, b.stream, NULL, 0, NULL));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(metric(b.device, "barriers") - before, 0);
    for (int i = 1; i <= LAUNCHES; ++i)
        assert_int_equal(last_word(&b, i), 1);
    tear_down(&b);
}

static void chain_of_launches_has_one_barrier_less_than_launches_and_each_names_the_range(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.buffer[1], b.buffer[0], 0u)); // the device is tried out
    must(slr_stream_finish(b.stream, LONG));
    vulkan->barriers = vulkan->ranges = vulkan->wide = vulkan->stages = 0;
    vulkan->first = vulkan->last = 0;
    record(&b, true);
    assert_int_equal(vulkan->barriers, LAUNCHES - 1);
    assert_int_equal(vulkan->ranges, LAUNCHES - 1);
    assert_int_equal(vulkan->wide, 0);
    assert_int_equal(vulkan->stages, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    assert_int_equal(vulkan->first, WORDS * 4);
    assert_int_equal(vulkan->last, WORDS * 4);
    const uint64_t before = metric(b.device, "barriers");
    must(slr_graph_launch(b.graph, b.stream, NULL, 0, NULL));
    must(slr_stream_finish(b.stream, LONG));
    assert_int_equal(metric(b.device, "barriers") - before, LAUNCHES - 1);
    assert_int_equal(last_word(&b, LAUNCHES), LAUNCHES);
    tear_down(&b);
}

static void launch_between_two_copies_has_a_barrier_on_each_side(void **state)
{
    struct bench b;
    uint32_t in[WORDS], out[WORDS];
    (void)state;
    set_up(&b);
    for (uint32_t i = 0; i < WORDS; ++i)
        in[i] = i;
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.buffer[1], b.buffer[0], 1u)); // made ready
    must(slr_stream_finish(b.stream, LONG));
    const uint64_t before = metric(b.device, "barriers");
    must(slr_stream_write(b.stream, b.buffer[0], 0, in, sizeof in, NULL));
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.buffer[1], b.buffer[0], 7u));
    must(slr_stream_read(b.stream, b.buffer[1], 0, out, sizeof out, NULL));
    must(slr_stream_finish(b.stream, LONG));
    for (uint32_t i = 0; i < WORDS; ++i)
        assert_int_equal(out[i], i + 7);
    // Where the three were submitted one by one, the queue's semaphore comes between them.
    assert_in_range(metric(b.device, "barriers") - before, 0, 2);
    tear_down(&b);
}

static uint64_t write_arguments(struct bench *b, uint32_t sets)
{
    const uint64_t before = metric(b->device, "argument_writes");
    for (uint32_t i = 0; i < 1000; ++i)
        must(SLR_LAUNCH(b->stream, b->set, SLR_GRID(1, WORDS, 0), b->buffer[1], b->buffer[0], i % sets));
    must(slr_stream_finish(b->stream, LONG));
    return metric(b->device, "argument_writes") - before;
}

static void launches_with_the_same_arguments_write_them_once(void **state)
{
    struct bench b;
    (void)state;
    set_up(&b);
    assert_int_equal(write_arguments(&b, 1), 1);
    assert_in_range(write_arguments(&b, 10), 9, 10); // the first set is there
    assert_int_equal(write_arguments(&b, 10), 0);
    assert_in_range(write_arguments(&b, 1000), 100, 1000); // more than are remembered
    tear_down(&b);
}

static void second_opening_finds_the_pipeline_in_the_cache(void **state)
{
    uint64_t made[2];
    (void)state;
    for (int i = 0; i < 2; ++i) {
        struct bench b;
        set_up(&b);
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(2, 16 + 0, 0), b.buffer[1], b.buffer[0], 1u));
        must(slr_stream_finish(b.stream, LONG));
        made[i] = metric(b.device, "pipelines");
        tear_down(&b);
    }
    assert_in_range(made[0], 0, 1); // 0: an earlier run of this test
    assert_int_equal(made[1], 0);
}

// Drivers take it: lavapipe and SwiftShader run a block with more shared memory than they say they have.
static void too_much_dynamic_shared_memory_is_refused_before_a_pipeline_is_made(void **state)
{
    static const char text[] = "__global__ void turn(unsigned *x)\n"
                               "{\n"
                               "    extern __shared__ unsigned s[];\n"
                               "    s[threadIdx.x] = x[threadIdx.x];\n"
                               "    __syncthreads();\n"
                               "    x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];\n"
                               "}\n";
    slr_device *device;
    slr_program *program;
    slr_stream *stream;
    slr_kernel *turn;
    slr_buffer *buffer;
    slr_device_limits limits;
    (void)state;
    must(slr_device_open("vulkan:0", NULL, &device));
    must(slr_device_get_limits(device, &limits));
    assert_in_range(limits.block_shared_bytes, 16384, 232447);
    must(slr_stream_create(device, NULL, &stream));
    must(slr_program_from_text(device, "turn.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, "turn", &turn));
    must(slr_buffer_create(device, WORDS * 4, &buffer));
    const uint32_t most = (uint32_t)limits.block_shared_bytes;
    must(SLR_LAUNCH(stream, turn, SLR_GRID(1, WORDS, most), buffer));
    must(slr_stream_finish(stream, LONG));
    const uint64_t before = metric(device, "pipelines");
    refuses(SLR_LAUNCH(stream, turn, SLR_GRID(1, WORDS, most + 1), buffer), UNSUPPORTED, "shared memory");
    refuses(slr_kernel_prepare(turn, SLR_GRID(1, WORDS, most + 1)), UNSUPPORTED, "device 'vulkan:0' has");
    assert_int_equal(metric(device, "pipelines"), before);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(turn);
    slr_program_destroy(program);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// As large as on every device; a driver that takes fewer blocks along x gets the grid in parts.
static void a_grid_ends_along_y_and_z_where_CUDAs_does(void **state)
{
    static const char text[] = "__global__ void count(unsigned *x) { atomicAdd(x, blockIdx.x + blockIdx.y + 1u); }\n";
    static const struct {
        uint32_t grid[3];
        uint32_t sum; // of block numbers, from 1
    } fine[] = {{{1, 65535, 1}, 2147450880u}, {{65537, 1, 1}, 2147581953u}};
    static const struct {
        uint32_t grid[3];
        const char *says;
    } over[] = {{{1, 65536, 1}, "a grid of 65536 blocks along y; expected 1 to 65535"},
                {{1, 1, 65536}, "a grid of 65536 blocks along z; expected 1 to 65535"}};
    slr_device *device;
    slr_program *program;
    slr_stream *stream;
    slr_kernel *count;
    slr_buffer *buffer;
    (void)state;
    must(slr_device_open("vulkan:0", NULL, &device));
    must(slr_stream_create(device, NULL, &stream));
    must(slr_program_from_text(device, "count.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, "count", &count));
    must(slr_buffer_create(device, 4, &buffer));
    for (size_t i = 0; i < 2; ++i) {
        slr_shape shape = SLR_GRID(1, 1, 0);
        uint32_t sum = 0;
        memcpy(shape.grid, fine[i].grid, sizeof shape.grid);
        must(slr_buffer_write(buffer, 0, &sum, 4));
        must(SLR_LAUNCH(stream, count, shape, buffer));
        must(slr_stream_finish(stream, LONG));
        must(slr_buffer_read(buffer, 0, &sum, 4));
        assert_int_equal(sum, fine[i].sum);
        memcpy(shape.grid, over[i].grid, sizeof shape.grid);
        refuses(SLR_LAUNCH(stream, count, shape, buffer), INVALID, over[i].says);
    }
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(count);
    slr_program_destroy(program);
    slr_stream_destroy(stream);
    slr_device_close(device);
}

// The kernel adds the first block of a part, which is pushed with the part. Behind a grid in parts the next launch
// begins at block 0 again, in each run of a graph.
static void a_launch_behind_a_grid_in_parts_begins_at_its_first_block(void **state)
{
    enum { RUNS = 2, WIDE = 65537 }; // few blocks: with a sanitizer, lavapipe takes kilobytes for each
    static const char text[] = "__global__ void mark(unsigned *x, unsigned by)\n"
                               "{ x[blockIdx.y * gridDim.x + blockIdx.x] += by; }\n";
    static unsigned found[2 * WIDE];
    struct bench b;
    slr_program *program;
    slr_kernel *mark;
    slr_buffer *buffer;
    (void)state;
    set_up(&b);
    must(slr_program_from_text(b.device, "mark.cu", text, NULL, &program));
    must(slr_program_get_kernel(program, "mark", &mark));
    must(slr_buffer_create(b.device, sizeof found, &buffer));
    must(slr_buffer_write(buffer, 0, found, sizeof found));
    must(slr_graph_begin(b.graph, b.stream));
    must(SLR_LAUNCH(b.stream, mark, SLR_GRID(2, 1, 0), buffer, 1));
    must(SLR_LAUNCH(b.stream, mark, ((slr_shape){.grid = {WIDE, 2, 1}, .block = {1, 1, 1}}), buffer, 10));
    must(SLR_LAUNCH(b.stream, mark, SLR_GRID(2, 1, 0), buffer, 100));
    must(slr_graph_end(b.graph));
    for (int i = 0; i < RUNS; ++i)
        must(slr_graph_launch(b.graph, b.stream, NULL, 0, NULL));
    must(slr_stream_finish(b.stream, LONG));
    must(slr_buffer_read(buffer, 0, found, sizeof found));
    for (size_t i = 0; i < sizeof found / sizeof *found; ++i)
        if (found[i] != RUNS * (i < 2 ? 111u : 10u))
            fail_msg("block %zu: %u", i, found[i]);
    slr_buffer_destroy(buffer);
    slr_kernel_destroy(mark);
    slr_program_destroy(program);
    tear_down(&b);
}

// ---- batches -------------------------------------------------------------------------------------------------------

static const char handlers[] = "struct number { unsigned n; };\n"
                               "__ring__ void twice(const struct number *in)\n"
                               "{\n"
                               "    struct number out;\n"
                               "    out.n = 2 * in->n;\n"
                               "    ring_reply(&out);\n"
                               "}\n";

static void batches_of_a_ring_kernel_are_dispatches_alone(void **state)
{
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    (void)state;
    must(slr_device_open("vulkan:0?ring=relaunch", NULL, &device));
    must(slr_program_from_text(device, "twice.cu", handlers, NULL, &program));
    desc.program = program;
    desc.handler = "twice";
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_port_open(device, &port));
    must(slr_ring_get_address(ring, 0, &to));
    const uint64_t barriers = metric(device, "barriers"), submits = metric(device, "submits");
    const uint64_t told = metric(device, "host_barriers");
    for (uint32_t i = 0; i < LAUNCHES; ++i) { // each is a batch
        uint32_t got = 0;
        must(slr_call(port, to, &i, sizeof i, &got, sizeof got, LONG));
        assert_int_equal(got, 2 * i);
    }
    assert_int_equal(metric(device, "barriers") - barriers, 0); // with copies there would be two a batch
    assert_int_equal(metric(device, "submits") - submits, LAUNCHES);
    assert_int_equal(metric(device, "host_barriers") - told, LAUNCHES); // before the host reads the results
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
}

// In how many dispatches so many messages of each instance are handled, which wait before the ring kernel runs.
static uint64_t count_dispatches(uint32_t instances, uint32_t each, uint32_t max_batch)
{
    slr_device *device;
    slr_program *program;
    slr_ring *ring;
    slr_port *port;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    uint64_t sum = 0;
    must(slr_device_open("vulkan:0?ring=relaunch", NULL, &device));
    must(slr_program_from_text(device, "twice.cu", handlers, NULL, &program));
    desc.program = program;
    desc.handler = "twice";
    desc.instances = instances;
    desc.max_batch = max_batch;
    desc.queue_size = instances * each;
    must(slr_ring_create(device, &desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_port_open(device, &port));
    const uint64_t submits = metric(device, "submits");
    for (uint32_t i = 0; i < instances * each; ++i) {
        slr_address one;
        must(slr_ring_get_address(ring, i % instances, &one));
        must(slr_send(port, one, &i, sizeof i, LONG));
    }
    must(slr_ring_activate(ring, LONG));
    for (uint32_t i = 0; i < instances * each; ++i) {
        slr_reply reply;
        uint32_t got = 0;
        must(slr_receive(port, &reply, &got, sizeof got, LONG));
        sum += got;
    }
    assert_int_equal(sum, (uint64_t)instances * each * (instances * each - 1)); // the sum of 0, 2, 4, ...
    const uint64_t dispatches = metric(device, "submits") - submits;
    slr_port_close(port);
    slr_ring_destroy(ring);
    slr_program_destroy(program);
    slr_device_close(device);
    return dispatches;
}

// One more than that: the command to run may come while the owner is at some shard, and the earlier ones hear it later.
static void expect_dispatches(uint32_t instances, uint32_t each, uint32_t max_batch, uint64_t expected)
{
    const uint64_t found = count_dispatches(instances, each, max_batch);
    assert_in_range(found, expected, expected + 1);
}

// Of 32 shards 128 messages each, unless fewer are asked for, but never more than 32 of an instance.
static void dispatch_takes_many_messages_of_a_shard_and_few_of_an_instance(void **state)
{
    (void)state;
    expect_dispatches(128, 64, 0, 2);
    expect_dispatches(128, 64, 64, 4);
    expect_dispatches(64, 128, 0, 4);
    expect_dispatches(1, 128, 128, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_launches_of_a_list_have_no_barrier_between_them),
        cmocka_unit_test(chain_of_launches_has_one_barrier_less_than_launches_and_each_names_the_range),
        cmocka_unit_test(launch_between_two_copies_has_a_barrier_on_each_side),
        cmocka_unit_test(launches_with_the_same_arguments_write_them_once),
        cmocka_unit_test(a_grid_ends_along_y_and_z_where_CUDAs_does),
        cmocka_unit_test(a_launch_behind_a_grid_in_parts_begins_at_its_first_block),
        cmocka_unit_test(batches_of_a_ring_kernel_are_dispatches_alone),
        cmocka_unit_test(dispatch_takes_many_messages_of_a_shard_and_few_of_an_instance),
        cmocka_unit_test(second_opening_finds_the_pipeline_in_the_cache),
        cmocka_unit_test(too_much_dynamic_shared_memory_is_refused_before_a_pipeline_is_made),
    };
    return load_vulkan() ? cmocka_run_group_tests(tests, NULL, NULL) : NO_VULKAN;
}

// SPDX-License-Identifier: Apache-2.0
// What the backend gives Metal, counted: command buffers and encoders, copies, pipelines and archives; memory that is
// shared or private.
#define _POSIX_C_SOURCE 200809L
#include "tests/metal/metal_test.h"

#include <slipring/native/metal.h>

enum { WORDS = 64, MANY = 100 };

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
    slr_buffer *from, *to;
};

static slr_buffer *buffer_of(slr_device *device, slr_storage storage)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *buffer;
    desc.bytes = WORDS * 4;
    desc.storage = storage;
    must(slr_buffer_create_with(device, &desc, &buffer));
    return buffer;
}

static void set_up(struct bench *b, slr_storage storage)
{
    *b = (struct bench){0};
    must(slr_device_open("metal:0", NULL, &b->device));
    must(slr_stream_create(b->device, NULL, &b->stream));
    must(slr_program_from_text(b->device, "set.cu", source, NULL, &b->program));
    must(slr_program_get_kernel(b->program, "set", &b->set));
    b->from = buffer_of(b->device, storage);
    b->to = buffer_of(b->device, storage);
    must(SLR_LAUNCH(b->stream, b->set, SLR_GRID(1, WORDS, 0), b->to, b->from, 0u));
    must(slr_stream_finish(b->stream, LONG));
}

static void tear_down(struct bench *b)
{
    must(slr_stream_finish(b->stream, LONG));
    slr_buffer_destroy(b->to);
    slr_buffer_destroy(b->from);
    slr_kernel_destroy(b->set);
    slr_program_destroy(b->program);
    slr_stream_destroy(b->stream);
    slr_device_close(b->device);
}

struct counts {
    uint64_t command_buffers, encoders, pipelines, archives, staged;
};

static struct counts count(const struct bench *b)
{
    return (struct counts){.command_buffers = metric(b->device, "command_buffers"),
                           .encoders = metric(b->device, "encoders"),
                           .pipelines = metric(b->device, "pipelines"),
                           .archives = metric(b->device, "archives"),
                           .staged = metric(b->device, "staged_copies")};
}

// ---- command buffers and encoders ----------------------------------------------------------------------------------

static void recorded_list_is_one_command_buffer_and_one_encoder(void **state)
{
    struct bench b;
    slr_graph *graph;
    uint32_t last;
    (void)state;
    set_up(&b, SLR_STORAGE_DEFAULT);
    must(slr_graph_create(b.device, &graph));
    must(slr_graph_begin(graph, b.stream));
    for (uint32_t i = 0; i < MANY; ++i)
        must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.to, 1u));
    must(slr_graph_end(graph));
    for (uint32_t turn = 1; turn <= 2; ++turn) {
        const struct counts before = count(&b);
        must(slr_graph_launch(graph, b.stream, NULL, 0, NULL));
        must(slr_stream_finish(b.stream, LONG));
        const struct counts after = count(&b);
        assert_int_equal(after.command_buffers - before.command_buffers, 1);
        assert_int_equal(after.encoders - before.encoders, 1);
        must(slr_buffer_read(b.to, (WORDS - 1) * 4, &last, sizeof last));
        assert_int_equal(last, turn * MANY);
    }
    slr_graph_destroy(graph);
    tear_down(&b);
}

static void copies_and_fills_of_a_list_take_no_encoder_of_their_own(void **state)
{
    struct bench b;
    slr_graph *graph;
    uint32_t in[WORDS], out[WORDS];
    (void)state;
    set_up(&b, SLR_STORAGE_PRIVATE);
    for (uint32_t i = 0; i < WORDS; ++i)
        in[i] = i;
    must(slr_graph_create(b.device, &graph));
    must(slr_graph_begin(graph, b.stream));
    must(slr_stream_fill(b.stream, b.to, 0, WORDS * 4, "\1", 1, NULL));
    must(slr_stream_write(b.stream, b.from, 0, in, sizeof in, NULL));
    must(SLR_LAUNCH(b.stream, b.set, SLR_GRID(1, WORDS, 0), b.to, b.from, 7u));
    must(slr_stream_read(b.stream, b.to, 0, out, sizeof out, NULL));
    must(slr_graph_end(graph));
    const struct counts before = count(&b);
    must(slr_graph_launch(graph, b.stream, NULL, 0, NULL));
    must(slr_stream_finish(b.stream, LONG));
    const struct counts after = count(&b);
    assert_int_equal(after.command_buffers - before.command_buffers, 1);
    assert_int_equal(after.encoders - before.encoders, 1);
    assert_int_equal(after.staged - before.staged, 2);
    for (uint32_t i = 0; i < WORDS; ++i)
        assert_int_equal(out[i], i + 7);
    slr_graph_destroy(graph);
    tear_down(&b);
}

static void copies_and_fills_from_any_byte_to_any_byte(void **state)
{
    struct bench b;
    unsigned char in[WORDS * 4], out[WORDS * 4], expected[WORDS * 4];
    (void)state;
    set_up(&b, SLR_STORAGE_PRIVATE);
    for (uint32_t i = 0; i < sizeof in; ++i)
        in[i] = (unsigned char)(i * 7 + 1);
    for (uint32_t from = 0; from < 20; from += 3)
        for (uint32_t bytes = 1; bytes < 70; bytes += 17) {
            memset(expected, 0x55, sizeof expected);
            memcpy(expected + from + 1, in + from, bytes);
            for (uint32_t i = 0; i < 6; ++i) // a pattern of two, from a multiple of two
                expected[200 + i] = i % 2 ? 9 : 8;
            must(slr_stream_fill(b.stream, b.to, 0, sizeof expected, "\x55", 1, NULL));
            must(slr_stream_write(b.stream, b.from, 0, in, sizeof in, NULL));
            must(slr_stream_copy(b.stream, b.to, from + 1, b.from, from, bytes, NULL));
            must(slr_stream_fill(b.stream, b.to, 200, 6, "\10\11", 2, NULL));
            must(slr_stream_read(b.stream, b.to, 0, out, sizeof out, NULL));
            must(slr_stream_finish(b.stream, LONG));
            assert_memory_equal(out, expected, sizeof out);
        }
    tear_down(&b);
}

struct encoding {
    struct bench b;
    slr_stream *stream;
    slr_buffer *to;
    slri_thread thread;
};

static void launch(void *user)
{
    struct encoding *e = user;
    must(SLR_LAUNCH(e->stream, e->b.set, SLR_GRID(1, WORDS, 0), e->to, e->b.from, 5u));
    must(slr_stream_finish(e->stream, LONG));
}

// Each dispatch waits until as many encoders are open as there are streams: one that another's lock kept from encoding
// would never come.
static void streams_encode_side_by_side(void **state)
{
    enum { STREAMS = 4 };
    struct encoding e[STREAMS];
    struct bench b;
    uint32_t last;
    (void)state;
    set_up(&b, SLR_STORAGE_DEFAULT);
    for (uint32_t i = 0; i < STREAMS; ++i) {
        e[i].b = b;
        e[i].to = buffer_of(b.device, SLR_STORAGE_DEFAULT);
        must(slr_stream_create(b.device, NULL, &e[i].stream));
    }
    const struct counts before = count(&b);
    metal->most_open = 0;
    metal->meeting = STREAMS;
    for (uint32_t i = 0; i < STREAMS; ++i)
        must(slri_thread_start(&e[i].thread, "launch", launch, &e[i]));
    for (uint32_t i = 0; i < STREAMS; ++i)
        slri_thread_join(&e[i].thread);
    metal->meeting = 0;
    const struct counts after = count(&b);
    assert_int_equal(after.command_buffers - before.command_buffers, STREAMS);
    assert_int_equal(after.encoders - before.encoders, STREAMS);
    assert_int_equal(metal->most_open, STREAMS);
    for (uint32_t i = 0; i < STREAMS; ++i) {
        must(slr_buffer_read(e[i].to, (WORDS - 1) * 4, &last, sizeof last));
        assert_int_equal(last, 5);
        slr_stream_destroy(e[i].stream);
        slr_buffer_destroy(e[i].to);
    }
    tear_down(&b);
}

// ---- memory --------------------------------------------------------------------------------------------------------

static slr_buffer_info info_of(const slr_buffer *buffer)
{
    slr_buffer_info info;
    must(slr_buffer_get_info(buffer, &info));
    return info;
}

static void use(struct bench *b)
{
    uint32_t in[WORDS], out[WORDS];
    for (uint32_t i = 0; i < WORDS; ++i)
        in[i] = 3 * i;
    must(slr_buffer_write(b->from, 0, in, sizeof in));
    must(SLR_LAUNCH(b->stream, b->set, SLR_GRID(1, WORDS, 0), b->to, b->from, 1u));
    must(slr_stream_finish(b->stream, LONG));
    must(slr_buffer_read(b->to, 0, out, sizeof out));
    for (uint32_t i = 0; i < WORDS; ++i)
        assert_int_equal(out[i], 3 * i + 1);
}

static void shared_memory_moves_nothing(void **state)
{
    struct bench b;
    void *mapped;
    (void)state;
    set_up(&b, SLR_STORAGE_SHARED);
    const struct counts before = count(&b);
    use(&b);
    must(slr_buffer_map(b.to, 0, 8, SLR_MAP_READ, LONG, &mapped));
    assert_int_equal(((uint32_t *)mapped)[1], 4);
    must(slr_buffer_unmap(b.to, mapped));
    const struct counts after = count(&b);
    assert_int_equal(after.staged, before.staged);
    assert_int_equal(after.command_buffers - before.command_buffers, 1); // of the launch
    const slr_buffer *both[] = {b.from, b.to};
    for (int i = 0; i < 2; ++i) {
        const slr_buffer_info info = info_of(both[i]);
        assert_int_equal(info.uploads + info.downloads, 0);
        assert_int_equal(info.unified, 1);
        assert_int_equal(info.storage, SLR_STORAGE_SHARED);
    }
    tear_down(&b);
}

static void private_memory_is_copied_and_not_mapped(void **state)
{
    struct bench b;
    void *mapped;
    slr_buffer *shared;
    uint32_t back;
    (void)state;
    set_up(&b, SLR_STORAGE_PRIVATE);
    use(&b);
    assert_int_equal(info_of(b.from).uploads, 1);
    assert_int_equal(info_of(b.to).downloads, 1);
    assert_int_equal(info_of(b.to).unified, 0);
    assert_int_equal(info_of(b.to).storage, SLR_STORAGE_PRIVATE);
    assert_int_equal(slr_buffer_map(b.to, 0, 8, SLR_MAP_READ, LONG, &mapped), SLR_WRONG_STATE);
    check_message("slr_buffer_map: the buffer is private", "map", __FILE__, __LINE__);
    assert_int_equal(slr_stream_prefetch(b.stream, b.to, 0, 8, SLR_AT_HOST, NULL), SLR_WRONG_STATE);
    shared = buffer_of(b.device, SLR_STORAGE_DEFAULT);
    must(slr_stream_copy(b.stream, shared, 0, b.to, 0, WORDS * 4, NULL));
    must(slr_stream_finish(b.stream, LONG));
    must(slr_buffer_read(shared, 4, &back, sizeof back));
    assert_int_equal(back, 4);
    slr_buffer_destroy(shared);
    tear_down(&b);
}

static void private_memory_of_another_device_is_copied_by_way_of_the_host(void **state)
{
    struct bench b;
    slr_device *cpu;
    slr_buffer *there;
    uint32_t back[WORDS];
    (void)state;
    set_up(&b, SLR_STORAGE_PRIVATE);
    use(&b);
    must(slr_device_open("cpu", NULL, &cpu));
    must(slr_buffer_create(cpu, WORDS * 4, &there));
    must(slr_peer_copy(b.stream, there, 0, b.to, 0, WORDS * 4, SLR_PEER_ANY, NULL));
    must(slr_stream_finish(b.stream, LONG));
    must(slr_buffer_read(there, 0, back, sizeof back));
    for (uint32_t i = 0; i < WORDS; ++i)
        assert_int_equal(back[i], 3 * i + 1);
    slr_buffer_destroy(there);
    slr_device_close(cpu);
    tear_down(&b);
}

static void device_with_memory_of_its_own_has_no_shared_buffers(void **state)
{
    struct bench b;
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    slr_buffer *buffer;
    (void)state;
    metal->is_apart = 1;
    set_up(&b, SLR_STORAGE_DEFAULT);
    use(&b);
    assert_int_equal(info_of(b.from).unified, 0);
    assert_int_equal(info_of(b.from).uploads, 1);
    desc.bytes = 64;
    desc.storage = SLR_STORAGE_SHARED;
    assert_int_equal(slr_buffer_create_with(b.device, &desc, &buffer), SLR_UNSUPPORTED);
    check_message("device 'metal' shares no memory with the host", "create", __FILE__, __LINE__);
    tear_down(&b);
    metal->is_apart = 0;
}

static void driver_names_the_memory_of_a_buffer(void **state)
{
    struct bench b;
    slr_device *cpu;
    slr_buffer *slice, *others;
    void *whole, *part;
    uint64_t at, at_part;
    (void)state;
    set_up(&b, SLR_STORAGE_DEFAULT);
    use(&b);
    must(slr_metal_get_buffer(b.to, &whole, &at));
    const uint32_t *words = (uint32_t *)((char *)SLRI_MT(mt, (slri_mt_id)whole, contents) + at);
    assert_int_equal(words[2], 7);
    must(slr_buffer_slice(b.to, 64, 64, &slice));
    must(slr_metal_get_buffer(slice, &part, &at_part));
    assert_ptr_equal(part, whole);
    assert_int_equal(at_part, at + 64);
    slr_buffer_destroy(slice);
    assert_int_equal(slr_metal_get_buffer(b.to, NULL, &at), SLR_INVALID);
    must(slr_device_open("cpu", NULL, &cpu));
    must(slr_buffer_create(cpu, 64, &others));
    assert_int_equal(slr_metal_get_buffer(others, &whole, &at), SLR_UNSUPPORTED);
    check_message("the buffer is of a device of 'cpu', not of metal", "get", __FILE__, __LINE__);
    slr_buffer_destroy(others);
    slr_device_close(cpu);
    tear_down(&b);
}

// ---- code ----------------------------------------------------------------------------------------------------------

static void pipeline_is_compiled_once_and_then_comes_from_its_archive(void **state)
{
    struct bench b;
    char command[96];
    (void)state;
    forget_stored();
    metal->compiled = 0;
    set_up(&b, SLR_STORAGE_DEFAULT);
    assert_int_equal(metal->compiled, 1);
    assert_int_equal(count(&b).archives, 1);
    tear_down(&b);
    set_up(&b, SLR_STORAGE_DEFAULT);
    assert_int_equal(metal->compiled, 1);
    assert_int_equal(count(&b).archives, 0);
    tear_down(&b);
    snprintf(command, sizeof command, "for f in %s/*.metal; do echo harm >> $f; done", cache_folder);
    assert_int_equal(system(command), 0);
    set_up(&b, SLR_STORAGE_DEFAULT);
    assert_int_equal(metal->compiled, 2);
    assert_int_equal(count(&b).archives, 1);
    tear_down(&b);
}

static void archive_that_lacks_the_pipeline_is_made_anew(void **state)
{
    struct bench b;
    (void)state;
    forget_stored();
    set_up(&b, SLR_STORAGE_DEFAULT);
    tear_down(&b);
    metal->compiled = 0;
    metal->forgets = 1;
    set_up(&b, SLR_STORAGE_DEFAULT);
    metal->forgets = 0;
    assert_int_equal(metal->compiled, 1);
    assert_int_equal(count(&b).archives, 1);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(recorded_list_is_one_command_buffer_and_one_encoder, nothing_is_left),
        cmocka_unit_test_teardown(copies_and_fills_of_a_list_take_no_encoder_of_their_own, nothing_is_left),
        cmocka_unit_test_teardown(copies_and_fills_from_any_byte_to_any_byte, nothing_is_left),
        cmocka_unit_test_teardown(streams_encode_side_by_side, nothing_is_left),
        cmocka_unit_test_teardown(shared_memory_moves_nothing, nothing_is_left),
        cmocka_unit_test_teardown(private_memory_is_copied_and_not_mapped, nothing_is_left),
        cmocka_unit_test_teardown(private_memory_of_another_device_is_copied_by_way_of_the_host, nothing_is_left),
        cmocka_unit_test_teardown(device_with_memory_of_its_own_has_no_shared_buffers, nothing_is_left),
        cmocka_unit_test_teardown(driver_names_the_memory_of_a_buffer, nothing_is_left),
        cmocka_unit_test_teardown(pipeline_is_compiled_once_and_then_comes_from_its_archive, nothing_is_left),
        cmocka_unit_test_teardown(archive_that_lacks_the_pipeline_is_made_anew, nothing_is_left),
    };
    return cmocka_run_group_tests(tests, make_cache, remove_cache);
}

// SPDX-License-Identifier: Apache-2.0
// Ring kernels in the profiler's rows: time in handlers, messages, the work of a handler, who ran it, who waited.
#include "observe/observe_test.h"

#include "base/tick.h"
#include "engine/observe.h"
#include "ring/ring.h"

enum { MESSAGES = 200 };

// Two additions and a multiplication; reads and writes 8 bytes of state, and reads 4 of the message.
#define HANDLER                                                                                                        \
    "struct m { float by; };\n"                                                                                        \
    "struct s { float sum; float times; };\n"                                                                          \
    "__ring__ void add(struct s *self, const struct m *in)\n"                                                          \
    "{\n"                                                                                                              \
    "    self->sum += 2.0f * in->by;\n"                                                                                \
    "    self->times += 1.0f;\n"                                                                                       \
    "    ring_reply(self);\n"                                                                                          \
    "}\n"

static int begin(void **state)
{
    (void)state;
    slr_profile_clear();
    return slr_profile_start() == SLR_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    slr_profile_stop();
    return 0;
}

static slr_ring *start(slr_device *device, slr_ring_desc *desc, slr_address *to)
{
    slr_ring *ring;
    must(slr_ring_create(device, desc, &ring));
    must(slr_ring_launch(ring));
    must(slr_ring_activate(ring, LONG));
    must(slr_ring_get_address(ring, 0, to));
    return ring;
}

static void finish(slr_ring *ring)
{
    must(slr_ring_close_input(ring));
    must(slr_ring_wait(ring, SLR_RING_TERMINATED, LONG));
    slr_ring_destroy(ring);
}

// A stopwatch in the handler: one writer, the owner, and read when that has ended.
static uint64_t by_hand_ns;

static slr_status spin(void *user, const slr_delivery *delivery)
{
    (void)user, (void)delivery;
    uint64_t begin_ns = slri_tick_ns();
    while (slri_tick_ns() - begin_ns < 5000)
        continue;
    by_hand_ns += slri_tick_ns() - begin_ns;
    return SLR_OK;
}

static void the_time_in_host_handlers_holds_what_a_stopwatch_says(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu?threads=1");
    slr_address to;
    uint32_t word = 0;
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "spins";
    desc.on_message = spin;
    desc.message_bytes = sizeof word;
    by_hand_ns = 0;
    uint64_t before_ns = slri_tick_ns();
    slr_ring *ring = start(device, &desc, &to);
    for (int i = 0; i < MESSAGES; ++i)
        must(slr_send(NULL, to, &word, sizeof word, LONG));
    finish(ring);
    uint64_t span_ns = slri_tick_ns() - before_ns;
    slr_profile_row batches = row_of(SLR_PROFILE_BATCH, "spins"), worker = row_of(SLR_PROFILE_OWNER, "worker 0");
    assert_int_equal(batches.messages, MESSAGES);
    assert_in_range(batches.n, 1, MESSAGES);
    assert_in_range(batches.total_ns, by_hand_ns, span_ns);
    assert_int_equal(batches.counted, SLR_COUNTED_NOT); // nobody knows what a C function does
    assert_int_equal(worker.messages, MESSAGES);
    assert_int_equal(worker.total_ns, batches.total_ns);
    slr_device_close(device);
}

static void count_calls(const char *spec)
{
    slr_device *device = open_device(spec);
    slr_program *program;
    slr_address to;
    float by = 1, reply[2];
    must(slr_program_from_text(device, "add.cu", HANDLER, NULL, &program));
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.program = program;
    slr_ring *ring = start(device, &desc, &to);
    slr_profile_clear();
    for (int i = 0; i < MESSAGES; ++i)
        must(slr_call(NULL, to, &by, sizeof by, reply, sizeof reply, LONG));
    finish(ring);
    slr_profile_row batches = row_of(SLR_PROFILE_BATCH, "add"), calls = row_of(SLR_PROFILE_REPLY, "add");
    assert_int_equal(batches.messages, MESSAGES);
    assert_int_equal(batches.counted, SLR_COUNTED_EXACT);
    assert_int_equal(batches.flops, 3 * MESSAGES);
    assert_int_equal(batches.bytes, (8 + 8 + 4) * MESSAGES);
    assert_string_equal(batches.file, "add.cu");
    assert_in_range(batches.lines[0].line, 5, 7);
    assert_int_equal(calls.n, MESSAGES);
    assert_true(calls.total_ns >= batches.total_ns); // each caller waits for the handler
    slr_program_destroy(program);
    slr_device_close(device);
}

static void the_work_of_a_handler_is_counted_for_each_message(void **state)
{
    (void)state;
    count_calls("cpu?engine=compiled&threads=2");
    slr_profile_clear();
    count_calls("cpu?engine=interpreted&threads=2");
}

// As of a persistent ring kernel whose records found no room.
static void batches_that_nobody_recorded_are_counted_as_missing(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    slr_address to;
    desc.name = "full";
    desc.on_message = spin;
    desc.message_bytes = 4;
    slr_ring *ring = start(device, &desc, &to);
    const struct slri_batch_seen missing = {.missing = 7};
    slri_observe_batch(&ring->shard[0], &missing);
    slri_observe_batch(&ring->shard[0], &missing);
    finish(ring);
    assert_int_equal(row_of(SLR_PROFILE_MISSING, "full").n, 14);
    assert_int_equal(row_of(SLR_PROFILE_MISSING, "full").total_ns, 0);
    assert_int_equal(row_of(SLR_PROFILE_BATCH, "full").n, 0);
    slr_device_close(device);
}

static void a_request_refused_with_as_much_free_in_pieces_is_counted(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    slr_heap *heap;
    slr_span span[8], large;
    desc.name = "small";
    desc.max_bytes = desc.chunk_bytes = 8 * 1024;
    must(slr_heap_create(device, &desc, &heap));
    for (int i = 0; i < 8; ++i)
        must(slr_heap_take(heap, 1024, 64, &span[i]));
    gives(slr_heap_take(heap, 1024, 64, &large), NO_MEMORY); // it is full: not in pieces
    assert_int_equal(row_of(SLR_PROFILE_FRAGMENTED, "small").n, 0);
    for (int i = 0; i < 8; i += 2)
        slr_heap_give(heap, &span[i]);
    gives(slr_heap_take(heap, 2048, 64, &large), NO_MEMORY);
    assert_int_equal(row_of(SLR_PROFILE_FRAGMENTED, "small").n, 1);
    assert_int_equal(row_of(SLR_PROFILE_FRAGMENTED, "small").bytes, 2048);
    for (int i = 1; i < 8; i += 2)
        slr_heap_give(heap, &span[i]);
    slr_heap_destroy(heap);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_time_in_host_handlers_holds_what_a_stopwatch_says, begin, end),
        cmocka_unit_test_setup_teardown(the_work_of_a_handler_is_counted_for_each_message, begin, end),
        cmocka_unit_test_setup_teardown(batches_that_nobody_recorded_are_counted_as_missing, begin, end),
        cmocka_unit_test_setup_teardown(a_request_refused_with_as_much_free_in_pieces_is_counted, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

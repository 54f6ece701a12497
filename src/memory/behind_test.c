// SPDX-License-Identifier: Apache-2.0
// Spans given back behind a point: who gets them before it has passed, and who after.
#include "base/thread.h"
#include "memory/heap_test.h"

struct gate {
    slr_device *device;
    slr_heap *heap;
    slr_stream *a, *b;
    int open;
};

static void wait_at_gate(void *user, slr_status status)
{
    (void)status;
    while (!__atomic_load_n((int *)user, __ATOMIC_ACQUIRE))
        slri_yield();
}

// A heap of 1 MiB, and stream `a` held up in front of a point that it gives.
static slr_point close_gate(struct gate *gate)
{
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = desc.chunk_bytes = MIB;
    gate->device = open_device("cpu");
    gate->open = 0;
    must(slr_heap_create(gate->device, &desc, &gate->heap));
    must(slr_stream_create(gate->device, NULL, &gate->a));
    must(slr_stream_create(gate->device, NULL, &gate->b));
    slr_point point;
    must(slr_stream_call(gate->a, wait_at_gate, &gate->open, &point));
    return point;
}

static void open_gate(struct gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
    must(slr_stream_finish(gate->a, LONG));
}

static void close_all(struct gate *gate)
{
    slr_heap_destroy(gate->heap);
    slr_stream_destroy(gate->a);
    slr_stream_destroy(gate->b);
    slr_device_close(gate->device);
}

static void span_behind_a_point_is_nobody_elses_before_it_has_passed(void **state)
{
    (void)state;
    struct gate gate;
    slr_point point = close_gate(&gate);
    slr_span span = take(gate.heap, MIB), again;
    must(slr_heap_give_behind(gate.heap, &span, point));
    slr_heap_stats stats = stats_of(gate.heap);
    assert_int_equal(stats.behind_bytes, MIB);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.free_bytes, 0);
    check_pieces(gate.heap);
    refuses(slr_heap_take(gate.heap, 64, 0, &again), NO_MEMORY, "0 B are free");
    gives(slr_heap_take_on(gate.heap, 64, 0, gate.b, &again), NO_MEMORY);
    gives(slr_heap_give(gate.heap, &span), INVALID); // it was given
    open_gate(&gate);
    again = take(gate.heap, MIB);
    assert_int_equal(again.offset, 0);
    assert_int_equal(stats_of(gate.heap).behind_bytes, 0);
    close_all(&gate);
}

static void its_own_stream_gets_it_at_once_and_the_rest_stays_behind(void **state)
{
    (void)state;
    struct gate gate;
    slr_point point = close_gate(&gate);
    slr_span spans[3], again, none;
    for (int i = 0; i < 3; ++i)
        spans[i] = take(gate.heap, 256 * KIB);
    take(gate.heap, 256 * KIB);
    for (int i = 0; i < 3; ++i)
        must(slr_heap_give_behind(gate.heap, &spans[i], point));
    for (int i = 0; i < 3; ++i) { // the front of each
        must(slr_heap_take_on(gate.heap, 192 * KIB, 4096, gate.a, &again));
        assert_ptr_equal(again.memory, spans[i].memory);
        assert_int_equal(again.bytes, 192 * KIB);
        assert_int_equal(again.stale, again.bytes);
        check_pieces(gate.heap);
    }
    assert_int_equal(stats_of(gate.heap).behind_bytes, 3 * 64 * KIB);
    gives(slr_heap_take_on(gate.heap, 128 * KIB, 0, gate.a, &none), NO_MEMORY);
    must(slr_heap_take_on(gate.heap, 64 * KIB, 0, gate.a, &spans[0])); // a rest, whole
    must(slr_heap_give(gate.heap, &again));                            // at once, beside a rest
    open_gate(&gate);
    assert_int_equal(take(gate.heap, 320 * KIB).offset, again.offset - 64 * KIB); // with the rest of the one before it
    check_pieces(gate.heap);
    close_all(&gate);
}

static void point_that_has_passed_or_is_none_gives_at_once(void **state)
{
    (void)state;
    struct gate gate;
    slr_point point = close_gate(&gate);
    open_gate(&gate);
    slr_span a = take(gate.heap, 64), b = take(gate.heap, 64);
    must(slr_heap_give_behind(gate.heap, &a, point));
    must(slr_heap_give_behind(gate.heap, &b, (slr_point){NULL, 7}));
    assert_int_equal(stats_of(gate.heap).behind_bytes, 0);
    assert_int_equal(stats_of(gate.heap).largest_free_bytes, MIB);
    a = take(gate.heap, 64);
    point.value += 1;
    refuses(slr_heap_give_behind(gate.heap, &a, point), INVALID, "has not been submitted");
    slr_device *other = open_device("cpu");
    slr_stream *foreign;
    must(slr_stream_create(other, NULL, &foreign));
    refuses(slr_heap_give_behind(gate.heap, &a, (slr_point){foreign, 1}), INVALID, "of another device's stream");
    refuses(slr_heap_give_behind(NULL, &a, point), INVALID, "heap is NULL");
    slr_stream_destroy(foreign);
    slr_device_close(other);
    close_all(&gate);
}

static void stream_may_be_destroyed_before_its_point_has_passed(void **state)
{
    (void)state;
    struct gate gate;
    slr_point point = close_gate(&gate);
    slr_span span = take(gate.heap, MIB), again;
    must(slr_heap_give_behind(gate.heap, &span, point));
    slr_stream_destroy(gate.a);
    gate.a = NULL;
    gives(slr_heap_take(gate.heap, MIB, 0, &again), NO_MEMORY);
    __atomic_store_n(&gate.open, 1, __ATOMIC_RELEASE);
    must(slr_device_finish(gate.device, LONG));
    take(gate.heap, MIB);
    close_all(&gate);
}

static void heap_that_is_destroyed_keeps_the_memory_until_the_point_has_passed(void **state)
{
    (void)state;
    struct gate gate;
    slr_point point = close_gate(&gate);
    slr_span span = take(gate.heap, MIB);
    must(slr_heap_give_behind(gate.heap, &span, point));
    slr_heap_destroy(gate.heap);
    gate.heap = NULL;
    memset(span.memory, 1, MIB); // as work of the stream might
    open_gate(&gate);
    close_all(&gate); // a leak here is the address sanitizer's to find
}

// ---- random programs ----------------------------------------------------------------------------------------------

// Streams give spans back behind points and take others; each span that is taken is marked with its stream's number by
// work of that stream, and the mark is looked at when that work's turn has come.
struct job {
    uint64_t *word, mark;
    int *wrong;
};

static void write_mark(void *user, slr_status status)
{
    struct job *job = user;
    (void)status;
    *job->word = job->mark;
}

static void look_at_mark(void *user, slr_status status)
{
    struct job *job = user;
    (void)status;
    if (*job->word != job->mark)
        __atomic_fetch_add(job->wrong, 1, __ATOMIC_RELAXED);
}

static void streams_never_find_anothers_mark_in_their_spans(void **state)
{
    (void)state;
    enum { STREAMS = 3, STEPS = 3000 };
    slr_device *device = open_device("cpu");
    slr_stream *stream[STREAMS];
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.chunk_bytes = 64 * KIB;
    slr_heap *heap;
    int wrong = 0;
    uint64_t random = 4711;
    struct job *job = calloc(STEPS, sizeof *job);
    must(slr_heap_create(device, &desc, &heap));
    for (int i = 0; i < STREAMS; ++i)
        must(slr_stream_create(device, NULL, &stream[i]));
    for (int i = 0; i < STEPS; ++i) {
        slr_stream *mine = stream[next_random(&random) % STREAMS];
        slr_span span;
        slr_point point;
        must(slr_heap_take_on(heap, next_random(&random) % 4096 + 8, 0, mine, &span));
        job[i] = (struct job){span.memory, (uint64_t)i + 1, &wrong};
        must(slr_stream_call(mine, write_mark, &job[i], NULL));
        must(slr_stream_call(mine, look_at_mark, &job[i], &point));
        must(slr_heap_give_behind(heap, &span, point));
        if (i % 64 == 0)
            check_pieces(heap);
    }
    must(slr_device_finish(device, LONG));
    assert_int_equal(wrong, 0);
    assert_int_equal(stats_of(heap).behind_bytes, 0);
    assert_int_equal(stats_of(heap).live_bytes, 0);
    slr_heap_trim(heap);
    assert_int_equal(stats_of(heap).chunks, 0);
    for (int i = 0; i < STREAMS; ++i)
        slr_stream_destroy(stream[i]);
    slr_heap_destroy(heap);
    slr_device_close(device);
    free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(span_behind_a_point_is_nobody_elses_before_it_has_passed),
        cmocka_unit_test(its_own_stream_gets_it_at_once_and_the_rest_stays_behind),
        cmocka_unit_test(point_that_has_passed_or_is_none_gives_at_once),
        cmocka_unit_test(stream_may_be_destroyed_before_its_point_has_passed),
        cmocka_unit_test(heap_that_is_destroyed_keeps_the_memory_until_the_point_has_passed),
        cmocka_unit_test(streams_never_find_anothers_mark_in_their_spans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

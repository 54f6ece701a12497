// SPDX-License-Identifier: Apache-2.0
// Eight threads, 100,000 random calls each: on one heap; and on buffers, a pool, a heap and streams of one device. Each
// thread writes its mark into what it takes, and finds it there when it gives that back: no two ever had the same
// bytes.
#include "base/thread.h"
#include "memory/heap_test.h"

#include <slipring/pool.h>

enum { THREADS = 8, CALLS = 100000, SLOTS = 64 };

struct worker {
    slri_thread thread;
    slr_heap *heap;
    uint64_t number;
    slr_span span[SLOTS];
};

static void mark(const slr_span *span, uint64_t what)
{
    uint64_t *word = span->memory;
    word[0] = word[span->bytes / 8 - 1] = what;
}

static bool is_marked(const slr_span *span, uint64_t what)
{
    const uint64_t *word = span->memory;
    return word[0] == what && word[span->bytes / 8 - 1] == what;
}

static void use_heap(void *arg)
{
    struct worker *worker = arg;
    uint64_t random = worker->number * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < CALLS; ++i) {
        uint64_t at = next_random(&random) % SLOTS, what = worker->number << 32 | at;
        slr_span *span = &worker->span[at];
        if (!span->piece) {
            holds(slr_heap_take(worker->heap, next_random(&random) % (64 * KIB) + 1, 0, span) == SLR_OK);
            mark(span, what);
            continue;
        }
        holds(is_marked(span, what));
        holds(slr_heap_give(worker->heap, span) == SLR_OK);
        span->piece = NULL;
    }
    for (int i = 0; i < SLOTS; ++i)
        if (worker->span[i].piece)
            holds(slr_heap_give(worker->heap, &worker->span[i]) == SLR_OK);
}

static void eight_threads_never_share_a_byte_and_leave_nothing(void **state)
{
    (void)state;
    static struct worker worker[THREADS];
    slr_device *device = open_device("cpu");
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.chunk_bytes = 8 * MIB; // a few: they come and go meanwhile
    slr_heap *heap;
    must(slr_heap_create(device, &desc, &heap));
    for (uint64_t i = 0; i < THREADS; ++i) {
        worker[i].heap = heap;
        worker[i].number = i + 1;
        must(slri_thread_start(&worker[i].thread, "heap", use_heap, &worker[i]));
    }
    for (int i = 0; i < 100; ++i) {
        slr_heap_stats stats = stats_of(heap);
        assert_true(stats.live_bytes + stats.free_bytes == stats.held_bytes);
        slr_heap_trim(heap);
        slri_yield();
    }
    for (int i = 0; i < THREADS; ++i)
        slri_thread_join(&worker[i].thread);
    assert_int_equal(stats_of(heap).live_bytes, 0);
    assert_true(stats_of(heap).taken > THREADS * CALLS / 3);
    check_pieces(heap);
    slr_heap_trim(heap);
    assert_int_equal(stats_of(heap).chunks, 0);
    slr_heap_destroy(heap);
    slr_device_close(device);
}

// ---- everything ---------------------------------------------------------------------------------------------------

enum { BUFFERS = 8, STREAMS = 2 };

struct mixer {
    slri_thread thread;
    slr_device *device;
    slr_pool *pool;
    slr_heap *heap;
    slr_stream *stream; // each is shared by several threads
    uint64_t number, random;
    slr_buffer *buffer[BUFFERS];
    slr_span span[BUFFERS];
};

static uint64_t roll(struct mixer *mixer, uint64_t below)
{
    return next_random(&mixer->random) % below;
}

static void mark_buffer(const struct mixer *mixer, slr_buffer *buffer)
{
    holds(slr_buffer_write(buffer, slr_buffer_size(buffer) - 8, &mixer->number, 8) == SLR_OK);
}

static void check_buffer(const struct mixer *mixer, slr_buffer *buffer)
{
    uint64_t back;
    holds(slr_buffer_read(buffer, slr_buffer_size(buffer) - 8, &back, 8) == SLR_OK);
    holds(back == mixer->number);
}

static void mix_buffer(struct mixer *mixer)
{
    slr_buffer **at = &mixer->buffer[roll(mixer, BUFFERS)];
    if (*at) {
        check_buffer(mixer, *at);
        slr_buffer_destroy(*at);
        *at = NULL;
    } else if (roll(mixer, 4) == 0) {
        holds(slr_buffer_create(mixer->device, roll(mixer, 4096) + 8, at) == SLR_OK);
        mark_buffer(mixer, *at);
    } else {
        holds(slr_pool_acquire(mixer->pool, roll(mixer, 512) + 1, SLR_U64, at) == SLR_OK);
        mark_buffer(mixer, *at);
    }
}

// Work that outlives the handle: the buffer is back in its pool when it is done.
static void mix_stream(struct mixer *mixer)
{
    static const char zero;
    slr_buffer *buffer;
    holds(slr_pool_acquire(mixer->pool, roll(mixer, 512) + 1, SLR_U64, &buffer) == SLR_OK);
    holds(slr_stream_fill(mixer->stream, buffer, 0, slr_buffer_size(buffer), &zero, 1, NULL) == SLR_OK);
    slr_buffer_destroy(buffer);
}

static void mix_heap(struct mixer *mixer)
{
    slr_span *span = &mixer->span[roll(mixer, BUFFERS)];
    if (!span->piece) {
        if (roll(mixer, 2))
            holds(slr_heap_take(mixer->heap, roll(mixer, 4096) + 1, 0, span) == SLR_OK);
        else
            holds(slr_heap_take_on(mixer->heap, roll(mixer, 4096) + 1, 0, mixer->stream, span) == SLR_OK);
        return;
    }
    slr_point point = {NULL, 0};
    if (roll(mixer, 2))
        holds(slr_stream_signal(mixer->stream, &point) == SLR_OK);
    holds(slr_heap_give_behind(mixer->heap, span, point) == SLR_OK);
    span->piece = NULL;
}

static void mix(void *arg)
{
    struct mixer *mixer = arg;
    for (int i = 0; i < CALLS; ++i) {
        uint64_t what = roll(mixer, 64);
        what < 36 ? mix_buffer(mixer) : what < 60 ? mix_heap(mixer) : mix_stream(mixer);
        if (i % 1024 == 0)
            slr_pool_trim(mixer->pool, roll(mixer, 64 * KIB));
        if (i % 128 == 0)
            holds(slr_stream_finish(mixer->stream, LONG) == SLR_OK);
    }
    for (int i = 0; i < BUFFERS; ++i) {
        slr_buffer_destroy(mixer->buffer[i]);
        if (mixer->span[i].piece)
            holds(slr_heap_give(mixer->heap, &mixer->span[i]) == SLR_OK);
    }
}

static void eight_threads_of_buffers_pools_and_streams_leave_nothing(void **state)
{
    (void)state;
    static struct mixer mixer[THREADS];
    slr_device *device = open_device("cpu?threads=2");
    slr_stream *stream[STREAMS];
    slr_pool *pool;
    slr_heap *heap;
    must(slr_device_get_pool(device, &pool));
    must(slr_device_get_heap(device, &heap));
    for (int i = 0; i < STREAMS; ++i)
        must(slr_stream_create(device, NULL, &stream[i]));
    for (uint64_t i = 0; i < THREADS; ++i) {
        mixer[i] = (struct mixer){.device = device, .pool = pool, .heap = heap, .stream = stream[i % STREAMS]};
        mixer[i].number = i + 1;
        mixer[i].random = mixer[i].number * 0x9E3779B97F4A7C15u;
        must(slri_thread_start(&mixer[i].thread, "mixer", mix, &mixer[i]));
    }
    for (int i = 0; i < THREADS; ++i)
        slri_thread_join(&mixer[i].thread);
    must(slr_device_finish(device, LONG));
    slr_pool_trim(pool, 0);
    assert_int_equal(stats_of(heap).live_bytes, 0);
    assert_int_equal(stats_of(heap).behind_bytes, 0);
    check_pieces(heap);
    for (int i = 0; i < STREAMS; ++i)
        slr_stream_destroy(stream[i]);
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_never_share_a_byte_and_leave_nothing),
        cmocka_unit_test(eight_threads_of_buffers_pools_and_streams_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

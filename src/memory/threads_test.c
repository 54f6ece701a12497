// SPDX-License-Identifier: Apache-2.0
// Eight threads on one heap, 100,000 random calls each. Each thread writes its mark into what it takes, and finds it
// there when it gives that back: no two ever had the same bytes.
#include "base/thread.h"
#include "memory/heap_test.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eight_threads_never_share_a_byte_and_leave_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

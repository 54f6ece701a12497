// SPDX-License-Identifier: Apache-2.0
// Heaps: joining, limits, chunks, alignment, what is refused and what is said then.
#include "memory/heap_test.h"

#include "base/aligned_test.h"

// ---- joining ------------------------------------------------------------------------------------------------------

static void two_neighbours_given_back_serve_one_twice_as_large(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = arena_on(&source, 192 * KIB);
    slr_span a = take(heap, 64 * KIB), b = take(heap, 64 * KIB), c = take(heap, 64 * KIB);
    must(slr_heap_give(heap, &a));
    must(slr_heap_give(heap, &b));
    slr_span both = take(heap, 128 * KIB);
    assert_int_equal(both.offset, 0);
    assert_int_equal(both.bytes, 128 * KIB);
    assert_int_equal(c.offset, 128 * KIB);
    check_pieces(heap);
    slri_heap_destroy(heap);
}

static void kept_apart_they_do_not(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = desc.chunk_bytes = 192 * KIB;
    desc.keep_apart = 1;
    slr_heap *heap = heap_on(&source, &desc);
    slr_span a = take(heap, 64 * KIB), b = take(heap, 64 * KIB), span;
    take(heap, 64 * KIB);
    must(slr_heap_give(heap, &b)); // whichever of the two is first
    must(slr_heap_give(heap, &a));
    gives(slr_heap_take(heap, 128 * KIB, 0, &span), NO_MEMORY);
    assert_int_equal(stats_of(heap).free_bytes, 128 * KIB);
    check_pieces(heap);
    slri_heap_destroy(heap);
}

static void every_other_of_sixteen_given_back_is_seven_eighths_fragmented(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = arena_on(&source, MIB);
    slr_span span[16], none;
    for (int i = 0; i < 16; ++i)
        span[i] = take(heap, 64 * KIB);
    assert_true(stats_of(heap).fragmentation == 0);
    for (int i = 0; i < 16; i += 2)
        must(slr_heap_give(heap, &span[i]));
    slr_heap_stats stats = stats_of(heap);
    assert_true(stats.fragmentation == 0.875);
    assert_int_equal(stats.free_bytes, 512 * KIB);
    assert_int_equal(stats.largest_free_bytes, 64 * KIB);
    refuses(
        slr_heap_take(heap, 128 * KIB, 0, &none), NO_MEMORY,
        "heap 'arena': 131072 B at a multiple of 64 were asked for; 524288 B are free, the longest piece has 65536 B; "
        "it holds 1048576 B of its device, with a limit of 1048576 B");
    for (int i = 1; i < 16; i += 2)
        must(slr_heap_give(heap, &span[i]));
    assert_int_equal(stats_of(heap).largest_free_bytes, MIB);
    check_pieces(heap);
    slri_heap_destroy(heap);
}

// ---- limits and chunks --------------------------------------------------------------------------------------------

static void limit_holds_for_each_span_and_counts_what_it_refused(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = 10 * KIB;
    desc.chunk_bytes = 4 * KIB;
    slr_heap *heap = heap_on(&source, &desc);
    slr_span span[3], none;
    for (int i = 0; i < 2; ++i)
        span[i] = take(heap, 4 * KIB);
    gives(slr_heap_take(heap, 2 * KIB + 1, 0, &none), NO_MEMORY);
    span[2] = take(heap, 2 * KIB); // to the last byte
    refuses(slr_heap_take(heap, 1, 0, &none), NO_MEMORY, "64 B at a multiple of 64 were asked for; 0 B are free");
    slr_heap_stats stats = stats_of(heap);
    assert_int_equal(stats.refused, 2);
    assert_int_equal(stats.live_bytes, 10 * KIB);
    assert_int_equal(stats.held_bytes, 10 * KIB);
    assert_int_equal(source.bytes, 10 * KIB);
    assert_int_equal(stats.chunks, 3);
    for (int i = 0; i < 3; ++i)
        must(slr_heap_give(heap, &span[i]));
    stats = stats_of(heap);
    assert_int_equal(stats.live_bytes, 0);
    assert_int_equal(stats.peak_bytes, 10 * KIB);
    assert_int_equal(stats.live_spans, 0);
    assert_int_equal(stats.taken, 3);
    assert_int_equal(stats.given, 3);
    slri_heap_destroy(heap);
    assert_int_equal(source.chunks, 0);
}

static void empty_chunks_make_room_under_the_limit_for_a_larger_one(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = desc.keep_bytes = 8 * KIB;
    desc.chunk_bytes = 4 * KIB;
    slr_heap *heap = heap_on(&source, &desc);
    slr_span a = take(heap, 4 * KIB), b = take(heap, 4 * KIB);
    must(slr_heap_give(heap, &a));
    must(slr_heap_give(heap, &b));
    assert_int_equal(source.chunks, 2); // kept
    slr_span both = take(heap, 8 * KIB);
    assert_int_equal(both.offset, 0);
    assert_int_equal(source.chunks, 1);
    slri_heap_destroy(heap);
}

static void empty_chunks_are_kept_up_to_a_limit_and_trimmed(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.chunk_bytes = MIB; // and so much is kept
    slr_heap *heap = heap_on(&source, &desc);
    slr_span span[3];
    for (int i = 0; i < 3; ++i)
        span[i] = take(heap, MIB);
    slr_span large = take(heap, 3 * MIB);
    assert_int_equal(source.chunks, 4);
    must(slr_heap_give(heap, &large)); // a chunk of its own is not kept
    assert_int_equal(source.bytes, 3 * MIB);
    for (int i = 0; i < 3; ++i)
        must(slr_heap_give(heap, &span[i]));
    assert_int_equal(source.bytes, MIB);
    span[0] = take(heap, 64);
    assert_int_equal(source.calls, 4); // from the chunk that was kept
    assert_int_equal(slr_heap_trim(heap), 0);
    must(slr_heap_give(heap, &span[0]));
    assert_int_equal(slr_heap_trim(heap), MIB);
    assert_int_equal(source.chunks, 0);
    assert_int_equal(slr_heap_trim(NULL), 0);
    slri_heap_destroy(heap);
}

static void device_short_of_memory_is_asked_for_a_smaller_chunk(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    source.most = 100 * KIB;
    slr_heap *heap = heap_on(&source, NULL);
    slr_span span = take(heap, 100 * KIB), none;
    assert_int_equal(source.bytes, 100 * KIB);
    refuses(slr_heap_take(heap, 100 * KIB + 1, 0, &none), NO_MEMORY, "102464 B at a multiple of 64");
    check_message("with no limit: no more is here", "slr_heap_take", __FILE__, __LINE__);
    must(slr_heap_give(heap, &span));
    slri_heap_destroy(heap);
}

// ---- spans --------------------------------------------------------------------------------------------------------

static void span_is_aligned_as_asked_and_what_is_left_out_before_it_can_be_taken(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = heap_on(&source, NULL);
    slr_span first = take(heap, 1), aligned;
    assert_int_equal(first.bytes, 64);
    for (uint64_t alignment = 1; alignment <= 1 << 20; alignment *= 2) {
        must(slr_heap_take(heap, 100, alignment, &aligned));
        assert_int_equal((uintptr_t)aligned.memory % alignment, 0);
        assert_int_equal((uintptr_t)aligned.memory % 64, 0);
        assert_int_equal(aligned.bytes, 128);
        check_pieces(heap);
    }
    uint64_t held = stats_of(heap).held_bytes;
    for (int i = 0; i < 1000; ++i)
        assert_true(take(heap, 1).offset < aligned.offset);
    assert_int_equal(stats_of(heap).held_bytes, held);
    slri_heap_destroy(heap);
}

static void alignment_is_found_where_there_is_no_room_to_spare(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT; // whose first chunk begins at 2^20
    slr_heap *heap = arena_on(&source, 64 * KIB);
    slr_span span[16], again;
    for (int i = 0; i < 16; ++i)
        must(slr_heap_take(heap, 4096, 4096, &span[i]));
    assert_int_equal(stats_of(heap).free_bytes, 0);
    must(slr_heap_give(heap, &span[7]));
    must(slr_heap_take(heap, 4096, 4096, &again));
    assert_ptr_equal(again.memory, span[7].memory);
    slri_heap_destroy(heap);
}

static void stale_says_what_was_in_a_span_before(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = heap_on(&source, NULL);
    slr_span a = take(heap, 640);
    assert_int_equal(a.stale, 0);
    must(slr_heap_give(heap, &a));
    a = take(heap, 128);
    assert_int_equal(a.stale, 128);
    slr_span b = take(heap, 1024);
    assert_int_equal(b.offset, 128);
    assert_int_equal(b.stale, 512);
    assert_int_equal(take(heap, 64).stale, 0);
    slri_heap_destroy(heap);
}

static void span_that_is_not_taken_is_not_taken_back(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = heap_on(&source, NULL), *other = heap_on(&source, NULL);
    slr_span a = take(heap, 64), b = take(heap, 128), foreign = take(other, 64), none = {0};
    must(slr_heap_give(heap, &a));
    refuses(slr_heap_give(heap, &a), INVALID, "the span of 64 B at offset 0 is not taken");
    refuses(slr_heap_give(heap, &foreign), INVALID, "is not taken");
    must(slr_heap_give(heap, &b));
    refuses(slr_heap_give(heap, &b), INVALID, "the span of 128 B at offset 64 is not taken"); // its piece was joined
    take(heap, 192);
    gives(slr_heap_give(heap, &a), INVALID); // there is a span at its place again, of another size
    refuses(slr_heap_give(heap, &none), INVALID, "the span's piece is NULL");
    refuses(slr_heap_give(NULL, &a), INVALID, "heap is NULL");
    refuses(slr_heap_give(heap, NULL), INVALID, "span is NULL");
    assert_int_equal(stats_of(heap).live_bytes, 192);
    check_pieces(heap);
    slri_heap_destroy(heap);
    slri_heap_destroy(other);
}

static void senseless_sizes_are_refused(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = heap_on(&source, NULL);
    slr_span span;
    refuses(slr_heap_take(heap, 0, 0, &span), INVALID, "0 B were asked for; expected 1 to 2^40");
    refuses(slr_heap_take(heap, ((uint64_t)1 << 40) + 1, 0, &span), INVALID, "1099511627777 B were asked for");
    refuses(slr_heap_take(heap, 1, 96, &span), INVALID, "an alignment of 96");
    refuses(slr_heap_take(heap, 1, (uint64_t)1 << 31, &span), INVALID, "a power of two up to 2^30");
    refuses(slr_heap_take(NULL, 1, 0, &span), INVALID, "heap is NULL");
    refuses(slr_heap_take(heap, 1, 0, NULL), INVALID, "out is NULL");
    must(slr_heap_take(heap, (uint64_t)1 << 40, (uint64_t)1 << 30, &span)); // the largest
    check_pieces(heap);
    slri_heap_destroy(heap);
    static const struct {
        slr_heap_desc desc;
        const char *says;
    } wrong[] = {
        {{.struct_size = 8}, "slr_heap_desc.struct_size is 8"},
        {{.struct_size = sizeof(slr_heap_desc), .keep_apart = 2}, "keep_apart is 2"},
        {{.struct_size = sizeof(slr_heap_desc), .max_bytes = 100}, "max_bytes is 100; expected a multiple of 64"},
        {{.struct_size = sizeof(slr_heap_desc), .chunk_bytes = 63}, "chunk_bytes is 63"}};
    const struct slri_heap_source from = {source_create, source_destroy, &source};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        refuses(slri_heap_create(&from, NULL, &wrong[i].desc, &heap), INVALID, wrong[i].says);
}

struct seen {
    slr_live_span span[8];
    int spans;
};

static void note_span(void *user, const slr_live_span *span)
{
    struct seen *seen = user;
    seen->span[seen->spans++ % 8] = *span;
}

static void what_is_taken_is_told_with_the_place_that_took_it(void **state)
{
    (void)state;
    struct source source = SOURCE_INIT;
    slr_heap *heap = heap_on(&source, NULL);
    slr_span a, b;
    must(slr_heap_take(heap, 64, 0, &a));
    const uint32_t line = __LINE__ + 1;
    must(slr_heap_take(heap, 200, 0, &b));
    must((slr_heap_take)(heap, 64, 0, &a)); // the function, not the macro: nobody said where
    struct seen seen = {0};
    must(slr_heap_visit(heap, note_span, &seen));
    assert_int_equal(seen.spans, 3);
    assert_ptr_equal(seen.span[1].memory, b.memory);
    assert_int_equal(seen.span[1].bytes, 256);
    assert_int_equal(seen.span[1].line, line);
    assert_string_equal(seen.span[1].file, __FILE__);
    assert_null(seen.span[2].file);
    refuses(slr_heap_visit(heap, NULL, NULL), INVALID, "visit is NULL");
    slri_heap_destroy(heap);
}

// ---- the host's part ----------------------------------------------------------------------------------------------

// A hook that has memory for so many more objects.
static void *allocate_some(void *user, size_t bytes, size_t alignment)
{
    int *left = user;
    return *left > 0 ? --*left, aligned_take(alignment, bytes) : NULL;
}

static void release_some(void *user, void *memory, size_t bytes)
{
    (void)user, (void)bytes;
    aligned_give(memory);
}

static void host_short_of_memory_refuses_and_harms_nothing(void **state)
{
    (void)state;
    for (int objects = 0; objects < 6; ++objects) {
        int left = objects;
        const slr_allocator hook = {allocate_some, release_some, &left};
        struct source source = SOURCE_INIT;
        const struct slri_heap_source from = {source_create, source_destroy, &source};
        slr_heap *heap = NULL;
        slr_status status = slri_heap_create(&from, &hook, NULL, &heap);
        assert_int_equal(status, objects > 0 ? SLR_OK : SLR_NO_MEMORY);
        if (status != SLR_OK)
            continue;
        slr_span span;
        for (int i = 0; i < 2000 && status == SLR_OK; ++i) {
            status = slr_heap_take(heap, 64, i % 3 == 2 ? 256 : 64, &span);
            check_pieces(heap);
        }
        assert_int_equal(status, objects < 6 ? SLR_NO_MEMORY : SLR_OK);
        assert_int_equal(stats_of(heap).live_bytes, 64 * stats_of(heap).live_spans);
        slri_heap_destroy(heap);
        assert_int_equal(source.chunks, 0);
    }
}

// ---- devices ------------------------------------------------------------------------------------------------------

static void heap_of_a_device_holds_it_and_gives_memory_that_works(void **state)
{
    (void)state;
    slr_device *device = open_device("cpu");
    slr_heap *heap;
    slr_span span;
    must(slr_heap_create(device, NULL, &heap));
    slr_device_close(device);
    must(slr_heap_take(heap, 1000, 4096, &span));
    static const char zero[1000];
    assert_memory_equal(span.memory, zero, 1000);
    memset(span.memory, 1, span.bytes);
    must(slr_heap_give(heap, &span));
    slr_heap_destroy(heap);
    slr_heap_destroy(NULL);
    refuses(slr_heap_create(NULL, NULL, &heap), INVALID, "device is NULL");
}

static void null_device_has_spans_without_memory(void **state)
{
    (void)state;
    slr_device *device = open_device("null");
    slr_heap *heap;
    slr_span span;
    must(slr_heap_create(device, NULL, &heap));
    must(slr_heap_take(heap, 1000, 0, &span));
    must(slr_heap_take(heap, 1000, 0, &span));
    assert_null(span.memory);
    assert_int_equal(span.offset, 1024);
    slr_heap_destroy(heap);
    refuses(slr_heap_create(device, NULL, NULL), INVALID, "out is NULL");
    slr_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_neighbours_given_back_serve_one_twice_as_large),
        cmocka_unit_test(kept_apart_they_do_not),
        cmocka_unit_test(every_other_of_sixteen_given_back_is_seven_eighths_fragmented),
        cmocka_unit_test(limit_holds_for_each_span_and_counts_what_it_refused),
        cmocka_unit_test(empty_chunks_make_room_under_the_limit_for_a_larger_one),
        cmocka_unit_test(empty_chunks_are_kept_up_to_a_limit_and_trimmed),
        cmocka_unit_test(device_short_of_memory_is_asked_for_a_smaller_chunk),
        cmocka_unit_test(span_is_aligned_as_asked_and_what_is_left_out_before_it_can_be_taken),
        cmocka_unit_test(alignment_is_found_where_there_is_no_room_to_spare),
        cmocka_unit_test(stale_says_what_was_in_a_span_before),
        cmocka_unit_test(span_that_is_not_taken_is_not_taken_back),
        cmocka_unit_test(senseless_sizes_are_refused),
        cmocka_unit_test(what_is_taken_is_told_with_the_place_that_took_it),
        cmocka_unit_test(host_short_of_memory_refuses_and_harms_nothing),
        cmocka_unit_test(heap_of_a_device_holds_it_and_gives_memory_that_works),
        cmocka_unit_test(null_device_has_spans_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// Random programs on a heap and on the simplest thing that says what a heap may do: a table with the owner of every 64
// bytes. The seeds are kept; SLIPRING_SEED=N runs one more.
#include "memory/heap_test.h"

enum { UNITS = 4096, SPANS = 512, STEPS = 6000 };

struct model {
    slr_heap *heap;
    struct source source;
    uint64_t random;
    uint16_t owner[UNITS]; // of each unit: a span's number + 1, or 0
    slr_span span[SPANS];
    uint64_t alignment[SPANS];
    bool taken[SPANS];
    bool keep_apart;
    uint32_t live_units, refused;
};

// The longest run of free units.
static uint32_t longest(const struct model *model)
{
    uint32_t run = 0, most = 0;
    for (uint32_t i = 0; i < UNITS; ++i) {
        run = model->owner[i] == 0 ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most;
}

static uint64_t random_size(struct model *model)
{
    uint64_t random = next_random(&model->random), most = (uint64_t)64 << random % 12; // to 128 KiB, half the arena
    return (random >> 32) % most + 1;
}

static void model_take(struct model *model, uint32_t at)
{
    uint64_t bytes = random_size(model), random = next_random(&model->random);
    uint64_t alignment = random % 4 ? 64 : (uint64_t)64 << (random >> 8) % 7;
    uint32_t units = (uint32_t)((bytes + 63) / 64);
    slr_span *span = &model->span[at];
    slr_status status = slr_heap_take(model->heap, bytes, alignment, span);
    if (status != SLR_OK) {
        assert_int_equal(status, SLR_NO_MEMORY);
        ++model->refused;
        // It may overlook a piece of the size's own class, 1/32 longer at most, and one that is aligned by luck.
        uint32_t enough = units + (uint32_t)(alignment / 64) - 1;
        if (!model->keep_apart)
            assert_true(longest(model) <= enough + enough / 32);
        return;
    }
    uint32_t first = (uint32_t)(span->offset / 64);
    assert_int_equal(span->bytes, units * 64);
    assert_int_equal((uintptr_t)span->memory % alignment, 0);
    assert_true(first + units <= UNITS);
    for (uint32_t i = first; i < first + units; ++i) {
        assert_int_equal(model->owner[i], 0);
        model->owner[i] = (uint16_t)(at + 1);
    }
    model->taken[at] = true;
    model->live_units += units;
}

static void model_give(struct model *model, uint32_t at)
{
    const slr_span *span = &model->span[at];
    must(slr_heap_give(model->heap, span));
    for (uint64_t i = span->offset / 64; i < (span->offset + span->bytes) / 64; ++i) {
        assert_int_equal(model->owner[i], at + 1);
        model->owner[i] = 0;
    }
    model->taken[at] = false;
    model->live_units -= (uint32_t)(span->bytes / 64);
}

static void compare(struct model *model)
{
    slr_heap_stats stats = stats_of(model->heap);
    assert_int_equal(stats.live_bytes, model->live_units * 64);
    assert_int_equal(stats.refused, model->refused);
    if (stats.chunks != 0) // else there is no free piece yet
        assert_int_equal(stats.free_bytes, (UNITS - model->live_units) * 64);
    if (stats.chunks != 0 && !model->keep_apart)
        assert_int_equal(stats.largest_free_bytes, longest(model) * 64);
    check_pieces(model->heap);
}

static void run_program(uint64_t seed, bool keep_apart)
{
    struct model *model = calloc(1, sizeof *model);
    holds(model != NULL);
    model->source = (struct source)SOURCE_INIT;
    model->random = seed * 0x9E3779B97F4A7C15u + 1;
    model->keep_apart = keep_apart;
    slr_heap_desc desc = SLR_HEAP_DESC_INIT;
    desc.max_bytes = desc.chunk_bytes = UNITS * 64;
    desc.keep_apart = keep_apart;
    model->heap = heap_on(&model->source, &desc);
    for (uint32_t i = 0; i < STEPS; ++i) {
        uint32_t at = (uint32_t)(next_random(&model->random) % SPANS);
        model->taken[at] ? model_give(model, at) : model_take(model, at);
        if (i % 64 == 0)
            compare(model);
    }
    for (uint32_t i = 0; i < SPANS; ++i)
        if (model->taken[i])
            model_give(model, i);
    compare(model);
    assert_true(keep_apart || stats_of(model->heap).largest_free_bytes == UNITS * 64);
    slri_heap_destroy(model->heap);
    free(model);
}

static const uint64_t seeds[] = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597};

static void heap_does_what_the_table_allows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; ++i)
        run_program(seeds[i], false);
    const char *more = getenv("SLIPRING_SEED");
    if (more)
        run_program(strtoull(more, NULL, 0), false);
}

static void so_does_one_that_keeps_its_pieces_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; ++i)
        run_program(seeds[i], true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_does_what_the_table_allows),
        cmocka_unit_test(so_does_one_that_keeps_its_pieces_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

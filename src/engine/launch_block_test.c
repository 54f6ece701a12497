// SPDX-License-Identifier: Apache-2.0
#include "engine/launch_block.h"

#include "emit/device/arguments.h"
#include "engine/code.h"
#include "engine/hazards.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t keep(struct slri_blocks *blocks, uint64_t first, uint64_t second)
{
    const uint64_t words[2] = {first, second};
    memcpy(blocks->shadow + blocks->used, words, sizeof words);
    return slri_blocks_keep(blocks, sizeof words, 32);
}

static void equal_blocks_lie_in_the_memory_once(void **state)
{
    unsigned char shadow[4096];
    struct slri_blocks blocks = {.shadow = shadow, .used = 32};
    (void)state;
    assert_int_equal(keep(&blocks, 1, 2), 32);
    assert_int_equal(keep(&blocks, 1, 3), 64);
    assert_int_equal(keep(&blocks, 1, 2), 32);
    assert_int_equal(keep(&blocks, 1, 3), 64);
    assert_int_equal(blocks.used, 96);
    assert_int_equal(slri_blocks_keep(&blocks, 8, 32), 96); // what is there begins alike, and is longer
}

static void cleared_memory_has_no_block(void **state)
{
    unsigned char shadow[4096];
    struct slri_blocks blocks = {.shadow = shadow};
    (void)state;
    assert_int_equal(keep(&blocks, 1, 2), 0);
    slri_blocks_clear(&blocks, 64);
    assert_int_equal(keep(&blocks, 1, 2), 64);
}

static void parts_cover_each_block_of_a_grid_once(void **state)
{
    const uint32_t grid[3] = {7, 5, 3}, most[3] = {3, 5, 2};
    uint32_t covered[7 * 5 * 3] = {0}, from[3], part[3];
    uint64_t parts = 0;
    (void)state;
    for (; slri_grid_part(grid, most, parts, from, part); ++parts) {
        for (int i = 0; i < 3; ++i)
            assert_true(part[i] >= 1 && part[i] <= most[i] && from[i] + part[i] <= grid[i]);
        for (uint32_t z = 0; z < part[2]; ++z)
            for (uint32_t y = 0; y < part[1]; ++y)
                for (uint32_t x = 0; x < part[0]; ++x)
                    ++covered[((from[2] + z) * 5 + from[1] + y) * 7 + from[0] + x];
    }
    assert_int_equal(parts, 3 * 1 * 2);
    for (uint32_t i = 0; i < 7 * 5 * 3; ++i)
        assert_int_equal(covered[i], 1);
}

static void largest_grid_is_one_part_of_a_device_that_takes_it(void **state)
{
    const uint32_t grid[3] = {UINT32_MAX, 1, UINT32_MAX}, most[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t from[3], part[3];
    (void)state;
    assert_true(slri_grid_part(grid, most, 0, from, part));
    assert_memory_equal(part, grid, sizeof grid);
    assert_false(slri_grid_part(grid, most, 1, from, part));
}

static void fill_of_one_or_two_bytes_repeats_them(void **state)
{
    struct slri_command fill = {.op = SLRI_FILL, .fill = {.pattern_bytes = 1, .pattern = {0xab}}};
    (void)state;
    assert_int_equal(slri_fill_word(&fill), 0xabababab);
    fill.fill.pattern_bytes = 2;
    fill.fill.pattern[1] = 0xab;
    fill.fill.pattern[0] = 0xcd;
    const uint32_t word = slri_fill_word(&fill);
    assert_memory_equal(&word, "\xcd\xab\xcd\xab", 4);
}

struct told {
    uint32_t count;
    struct slri_hazard_use use[8]; // `memory`: the address
};

static uint64_t note_use(void *user, const void *memory, uint64_t bytes, uint32_t how)
{
    struct told *told = user;
    told->use[told->count++] = (struct slri_hazard_use){.memory = (uintptr_t)memory, .bytes = bytes, .how = how};
    return (uintptr_t)memory + 1;
}

static void block_has_addresses_of_memory_and_what_is_done_there_is_told(void **state)
{
    struct slri_binding_info binding[] = {
        {.is_buffer = true, .is_const = true}, {.is_buffer = true}, {.is_buffer = true}};
    const struct slri_entry entry = {.binding = binding, .bindings = 3};
    const struct slri_module module = {.global_bytes = 40};
    char memory[5];
    const struct slri_bound bound[] = {{&memory[0], 100}, {NULL, 0}, {&memory[1], 200}};
    const struct slri_ready_kernel ready = {.module = &module, .entry = &entry, .globals = &memory[2]};
    const struct slri_command command = {.op = SLRI_DISPATCH, .dispatch = {.ready = &ready, .bound = bound}};
    const struct slri_extras extras = {.printed = &memory[3], .faulted = &memory[4]};
    const struct slri_arguments layout = {48, 24, SLRI_ARGUMENT_NONE, 32, false}; // it prints nothing
    const struct {
        uint64_t bytes;
        uint32_t memory, how;
    } of[] = {{100, 0, SLRI_READS},
              {200, 1, SLRI_READS | SLRI_WRITES},
              {40, 2, SLRI_READS | SLRI_WRITES},
              {sizeof(struct slri_fault_fields), 4, SLRI_TELLS}};
    struct told told = {0};
    uint64_t block[6];
    (void)state;
    slri_put_arguments(&command, &extras, &layout, note_use, &told, (unsigned char *)block);
    assert_int_equal(told.count, 4);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(told.use[i].memory, (uintptr_t)&memory[of[i].memory]);
        assert_int_equal(told.use[i].bytes, of[i].bytes);
        assert_int_equal(told.use[i].how, of[i].how);
    }
    const uint64_t expected[6] = {told.use[0].memory + 1, 0, told.use[1].memory + 1, told.use[2].memory + 1,
                                  told.use[3].memory + 1, 0};
    assert_memory_equal(block, expected, sizeof block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_blocks_lie_in_the_memory_once),
        cmocka_unit_test(cleared_memory_has_no_block),
        cmocka_unit_test(parts_cover_each_block_of_a_grid_once),
        cmocka_unit_test(largest_grid_is_one_part_of_a_device_that_takes_it),
        cmocka_unit_test(block_has_addresses_of_memory_and_what_is_done_there_is_told),
        cmocka_unit_test(fill_of_one_or_two_bytes_repeats_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

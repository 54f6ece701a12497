// SPDX-License-Identifier: Apache-2.0
// Tiles for limits that are given: known results, and random problems, of which no limit is passed and each output has
// one block.
#include <slipring/occupancy.h>
#include <slipring/tiling.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t problems = 10000;

static slr_device_limits limits_of(uint32_t capability, uint32_t units)
{
    slr_device_limits limits;
    assert_int_equal(slr_capability_get_limits(capability, &limits), SLR_OK);
    limits.units = units;
    return limits;
}

static slr_tiling_desc desc_of(const slr_device_limits *limits, uint64_t m, uint64_t n, uint64_t k)
{
    slr_tiling_desc desc = SLR_TILING_DESC_INIT;
    desc.limits = limits;
    desc.limits_bytes = sizeof *limits;
    desc.m = m;
    desc.n = n;
    desc.k = k;
    return desc;
}

static slr_tiling tiling_of(const slr_tiling_desc *desc)
{
    slr_tiling made;
    if (slr_tiling_compute(desc, &made) != SLR_OK)
        fail_msg("%llu x %llu x %llu: %s", (unsigned long long)desc->m, (unsigned long long)desc->n,
                 (unsigned long long)desc->k, slr_error_message());
    return made;
}

static slr_tiling product(const slr_device_limits *limits, uint64_t m, uint64_t n, uint64_t k)
{
    slr_tiling_desc desc = desc_of(limits, m, n, k);
    return tiling_of(&desc);
}

// ---- known results -------------------------------------------------------------------------------------------------

static void no_tile_is_larger_than_its_problem(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    slr_tiling t = product(&h100, 1, 4096, 4096);
    assert_int_equal(t.tile_m, 1);
    assert_true(t.tile_n <= 4096);
    t = product(&h100, 4, 4, 4);
    assert_int_equal(t.tile_m, 4);
    assert_int_equal(t.tile_n, 4);
    assert_int_equal(t.tile_k, 4);
    assert_int_equal(t.threads[0] * t.outputs_a_thread, 16);
    t = product(&h100, 1, 1, 1);
    assert_int_equal(t.tile_m * t.tile_n * t.tile_k, 1);
}

static void large_squares_get_large_tiles_and_as_many_blocks_as_they_need(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    slr_tiling t = product(&h100, 4096, 4096, 4096);
    assert_int_equal(t.groups[0], 4096 / t.tile_n);
    assert_int_equal(t.groups[1], 4096 / t.tile_m);
    assert_true(t.whole == 1.0);
    assert_true(t.tile_m * t.tile_n >= 128 * 128);
    assert_true(t.wave_efficiency >= 0.9);
    assert_int_equal(t.threads[0] * t.outputs_a_thread, t.tile_m * t.tile_n);
    t = product(&h100, 1000, 1000, 1000);
    assert_int_equal(t.groups[0], (1000 + t.tile_n - 1) / t.tile_n);
    assert_int_equal(t.groups[1], (1000 + t.tile_m - 1) / t.tile_m);
}

// 133 tiles of 128 x 128 are a second round for one of them.
static void a_round_for_one_tile_is_avoided(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    slr_tiling t = product(&h100, 133 * 128, 128, 1024);
    assert_true(t.wave_efficiency > 0.8);
    assert_false(t.tile_m == 128 && t.tile_n == 128);
}

static void a_whole_tile_goes_before_a_partial_one(void **state)
{
    (void)state;
    slr_device_limits small = limits_of(75, 1);
    slr_tiling t = product(&small, 320, 320, 512); // 5 of 64, 4 of 80, 2 of 160; 128 leaves a rest
    assert_true(t.whole == 1.0);
    slr_tiling_desc desc = desc_of(&small, 1, 4000, 0); // elements: 250 of 16, 125 of 32, 25 of 160
    t = tiling_of(&desc);
    assert_true(t.whole == 1.0);
}

// Of these sides over 96 are powers of two or divisors up to 1,024, and the largest of them is best.
static void a_side_with_many_divisors_keeps_the_largest(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    static const struct {
        uint64_t m;
        uint32_t best;
    } sides[] = {{1504800, 950}, {2079000, 990}};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i) {
        slr_tiling_desc desc = desc_of(&h100, sides[i].m, 1, 0);
        desc.radius = 16;
        desc.most_threads = 1024;
        const slr_tiling t = tiling_of(&desc);
        assert_int_equal(t.tile_m, sides[i].best);
        assert_true(t.whole == 1.0);
    }
}

static void a_transpose_has_the_transposed_tile(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    slr_tiling tall = product(&h100, 4096, 64, 512), wide = product(&h100, 64, 4096, 512);
    assert_int_equal(tall.tile_m, wide.tile_n);
    assert_int_equal(tall.tile_n, wide.tile_m);
    assert_true(tall.tile_m != tall.tile_n);
}

static void bytes_of_an_element_count(void **state)
{
    (void)state;
    slr_device_limits limits = limits_of(86, 1);
    slr_tiling_desc desc = desc_of(&limits, 256, 256, 256);
    desc.element_bytes = 1;
    slr_tiling t = tiling_of(&desc);
    assert_int_equal(t.shared_bytes, (t.tile_m + t.tile_n) * t.tile_k);
    double of_one = t.intensity;
    desc.element_bytes = 8;
    desc.stages = 3;
    t = tiling_of(&desc);
    assert_int_equal(t.shared_bytes, (t.tile_m + t.tile_n) * t.tile_k * 24);
    assert_true(t.intensity < of_one);
}

// A halo is loaded once a block: a cube has less of it than a line.
static void a_stencil_gets_a_tile_with_little_halo(void **state)
{
    (void)state;
    slr_device_limits h100 = limits_of(90, 132);
    slr_tiling_desc desc = desc_of(&h100, 512, 512, 0);
    desc.planes = 512;
    desc.radius = 4;
    slr_tiling t = tiling_of(&desc);
    assert_int_equal(t.shared_bytes, (t.tile_n + 8) * (t.tile_m + 8) * (t.tile_planes + 8) * 4);
    assert_true(t.tile_m > 1 && t.tile_planes > 1 && t.tile_n >= 8);
    desc.radius = 0;
    t = tiling_of(&desc);
    assert_int_equal(t.shared_bytes, 0);
    assert_true(t.tile_n >= 32); // whole warps along a row
}

// The system's caches instead of shared memory, and cores: both have as much to do.
static void a_cpu_has_tiles_for_its_cache_and_all_its_cores(void **state)
{
    (void)state;
    const slr_device_limits cpu = {.units = 2,
                                   .lanes = 8,
                                   .block_threads = 1024,
                                   .unit_blocks = 1,
                                   .block_shared_bytes = 200000,
                                   .l1_bytes = 32768,
                                   .l2_bytes = 1 << 20};
    slr_tiling t = product(&cpu, 1024, 1024, 1024);
    assert_true(t.shared_bytes + t.tile_m * t.tile_n * 4 <= 32768);
    assert_true(t.wave_efficiency == 1.0);
    assert_int_equal(t.threads[0] % 8, 0);
}

// OpenCL and Vulkan name no warp. The sides have no divisors, so every whole tile is one element wide.
static void a_driver_that_names_no_warp_has_no_blocks_of_a_thread(void **state)
{
    (void)state;
    const slr_device_limits opencl = {.units = 8, .block_threads = 1024, .block_shared_bytes = 1 << 20},
                            vulkan = {.block_threads = 256, .block_shared_bytes = 32768};
    const slr_device_limits *const all[] = {&opencl, &vulkan};
    for (int i = 0; i < 2; ++i)
        for (uint64_t planes = 1; planes <= 7; planes += 6) {
            slr_tiling_desc desc = desc_of(all[i], 1013, 1009, 0);
            desc.planes = planes;
            slr_tiling t = tiling_of(&desc);
            assert_true(t.threads[0] >= 32);
            assert_true(t.whole > 0.9);
        }
}

// 1,500 is 47 times 32, less 4: blocks of one warp leave the smallest rest. To start each of them takes longer than the
// rest would.
static void no_block_is_one_warp_where_many_fit(void **state)
{
    (void)state;
    const slr_device_limits opencl = {.units = 8, .block_threads = 4096, .block_shared_bytes = 1 << 20},
                            cpu = {.units = 2,
                                   .lanes = 16,
                                   .block_threads = 1024,
                                   .unit_blocks = 1,
                                   .block_shared_bytes = 200000,
                                   .l1_bytes = 49152},
                            h100 = limits_of(90, 132);
    const slr_device_limits *const all[] = {&opencl, &cpu, &h100};
    static const uint64_t problems_of[][3] = {{1500, 1500, 1}, {513, 257, 129}, {1009, 1013, 1}, {65537, 65537, 1}};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 4; ++k) {
            slr_tiling_desc desc = desc_of(all[i], problems_of[k][1], problems_of[k][0], 0);
            desc.planes = problems_of[k][2];
            slr_tiling t = tiling_of(&desc);
            assert_true(t.threads[0] * t.threads[1] * t.threads[2] >= 4 * (all[i]->lanes ? all[i]->lanes : 32));
            assert_true(t.whole > 0.9);
        }
}

// 33 rows are 11 times 3: no power of two but 1, and no multiple of 8, divides them.
static void rows_are_divided_by_any_number(void **state)
{
    (void)state;
    const slr_device_limits cpu = {.units = 1,
                                   .lanes = 16,
                                   .block_threads = 1024,
                                   .unit_blocks = 1,
                                   .block_shared_bytes = 200000,
                                   .l1_bytes = 49152};
    slr_tiling_desc desc = desc_of(&cpu, 33, 16, 0);
    desc.planes = 35;
    slr_tiling t = tiling_of(&desc);
    assert_true(t.whole == 1.0);
    assert_true(t.threads[0] * t.threads[1] * t.threads[2] > 16);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    slr_device_limits limits = limits_of(90, 132);
    slr_tiling t = {.tile_m = 7};
    slr_tiling_desc desc = desc_of(&limits, 0, 1, 1);
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_INVALID);
    desc = desc_of(&limits, 16, 16, 16);
    desc.radius = 1;
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_INVALID);
    desc.radius = 0;
    desc.limits_bytes = 8;
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_INVALID);
    desc = desc_of(NULL, 16, 16, 16);
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "give one of them"));
    limits.block_threads = 0;
    desc = desc_of(&limits, 16, 16, 16);
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_UNSUPPORTED);
    limits = limits_of(90, 132);
    desc = desc_of(&limits, UINT64_C(1) << 40, 1, 1);
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_INVALID);
    assert_non_null(strstr(slr_error_message(), "more blocks than a grid has"));
    limits.block_shared_bytes = 1;
    desc = desc_of(&limits, 16, 16, 16);
    assert_int_equal(slr_tiling_compute(&desc, &t), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "no tile fits"));
    assert_int_equal(t.tile_m, 7);
    assert_int_equal(slr_capability_get_limits(72, &limits), SLR_UNSUPPORTED);
}

// ---- random problems -----------------------------------------------------------------------------------------------

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

// Small and large alike.
static uint64_t dimension(void)
{
    return 1 + below(1u << below(14));
}

static uint64_t covered(uint32_t groups, uint32_t tile, uint64_t all)
{
    uint64_t reached = (uint64_t)groups * tile;
    assert_true(groups > 0 && tile > 0 && tile <= all);
    assert_true(reached >= all);       // every output has a block
    assert_true(reached - all < tile); // and no block is without one
    return reached;
}

static void fits(const slr_tiling_desc *desc, const slr_device_limits *limits, const slr_tiling *t)
{
    uint64_t threads = (uint64_t)t->threads[0] * t->threads[1] * t->threads[2];
    uint64_t outputs = (uint64_t)t->tile_m * t->tile_n * t->tile_planes;
    double all = (double)covered(t->groups[1], t->tile_m, desc->m) * (double)covered(t->groups[0], t->tile_n, desc->n) *
                 (double)covered(t->groups[2], t->tile_planes, desc->planes ? desc->planes : 1);
    double wanted = (double)desc->m * (double)desc->n * (double)(desc->planes ? desc->planes : 1);
    assert_true(threads >= 1 && threads <= limits->block_threads);
    assert_true(!desc->most_threads || threads <= desc->most_threads);
    assert_true(threads * t->outputs_a_thread == outputs);
    assert_true(t->outputs_a_thread <= 64 && t->threads[2] <= 64);
    assert_true(t->shared_bytes <= limits->block_shared_bytes);
    assert_true(desc->k ? t->tile_k >= 1 && t->tile_k <= desc->k : t->tile_k == 0);
    if (desc->k)
        assert_true(t->shared_bytes ==
                    (uint64_t)(t->tile_m + t->tile_n) * t->tile_k * desc->element_bytes * desc->stages);
    assert_true(t->blocks_a_unit >= 1 && t->waves > 0 && t->wave_efficiency > 0 && t->wave_efficiency <= 1);
    assert_true(t->whole * all > wanted * 0.999999 && t->whole * all < wanted * 1.000001);
    assert_true(t->groups[1] <= 65535 && t->groups[2] <= 65535);
    if (limits->unit_threads)
        assert_true(t->blocks_a_unit * threads <= limits->unit_threads);
    if (limits->unit_shared_bytes)
        assert_true(t->blocks_a_unit * t->shared_bytes <= limits->unit_shared_bytes);
    if (desc->registers && limits->unit_registers)
        assert_true(t->blocks_a_unit * threads * desc->registers <= limits->unit_registers);
    assert_true(*t->why != '\0');
}

static void random_problems_pass_no_limit_and_have_each_output_once(void **state)
{
    (void)state;
    static const uint32_t capabilities[] = {75, 80, 86, 90, 120}, bytes[] = {1, 2, 4, 8};
    for (uint32_t n = 0; n < problems; ++n) {
        slr_device_limits limits = limits_of(capabilities[below(5)], 1 + below(150));
        if (below(4) == 0) // a driver that says less
            limits.capability = limits.unit_threads = limits.unit_registers = 0, limits.unit_shared_bytes = 0;
        if (below(4) == 0)
            limits.l1_bytes = 16384 + below(65536);
        slr_tiling_desc desc = desc_of(&limits, dimension(), dimension(), below(2) ? dimension() : 0);
        desc.element_bytes = bytes[below(4)];
        desc.stages = 1 + below(3);
        desc.planes = desc.k || below(2) ? 0 : dimension();
        desc.radius = desc.k || below(2) ? 0 : below(4);
        desc.registers = below(2) ? 0 : 16 + below(64);
        desc.most_threads = below(3) ? 0 : 1 + below(1024);
        slr_tiling t = tiling_of(&desc);
        fits(&desc, &limits, &t);
    }
}

// With a number: so many random problems.
int main(int argc, char **argv)
{
    if (argc == 2)
        problems = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_tile_is_larger_than_its_problem),
        cmocka_unit_test(large_squares_get_large_tiles_and_as_many_blocks_as_they_need),
        cmocka_unit_test(a_round_for_one_tile_is_avoided),
        cmocka_unit_test(a_whole_tile_goes_before_a_partial_one),
        cmocka_unit_test(a_side_with_many_divisors_keeps_the_largest),
        cmocka_unit_test(a_transpose_has_the_transposed_tile),
        cmocka_unit_test(bytes_of_an_element_count),
        cmocka_unit_test(a_stencil_gets_a_tile_with_little_halo),
        cmocka_unit_test(a_cpu_has_tiles_for_its_cache_and_all_its_cores),
        cmocka_unit_test(a_driver_that_names_no_warp_has_no_blocks_of_a_thread),
        cmocka_unit_test(no_block_is_one_warp_where_many_fit),
        cmocka_unit_test(rows_are_divided_by_any_number),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(random_problems_pass_no_limit_and_have_each_output_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

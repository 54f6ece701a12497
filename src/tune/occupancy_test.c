// SPDX-License-Identifier: Apache-2.0
#include <slipring/occupancy.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_CUDA_OCCUPANCY
#include <limits.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

enum { CAPABILITIES = 12 };
static const uint32_t capabilities[CAPABILITIES] = {70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};
static uint32_t configurations = 100000; // a capability

static slr_occupancy_desc desc_of(uint32_t capability, uint32_t threads, uint32_t registers, uint64_t fixed,
                                  uint64_t dynamic)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    desc.capability = capability;
    desc.block_threads = threads;
    desc.registers = registers;
    desc.static_shared_bytes = fixed;
    desc.dynamic_shared_bytes = dynamic;
    return desc;
}

static slr_occupancy computed(const slr_occupancy_desc *desc)
{
    slr_occupancy made;
    assert_int_equal(slr_occupancy_compute(desc, &made), SLR_OK);
    return made;
}

static void cells_known_to_be_right(void **state)
{
    (void)state;
    static const struct {
        uint32_t threads, registers;
        uint64_t fixed, dynamic;
        uint32_t blocks[CAPABILITIES];
    } rows[] = {
        {256, 32, 0, 0, {8, 4, 8, 6, 6, 6, 8, 8, 8, 6, 6, 6}},
        {1024, 65, 0, 0, {0}},
        {64, 16, 0, 0, {32, 16, 32, 16, 16, 24, 32, 32, 32, 24, 24, 24}},
        {256, 32, 16 << 10, 0, {6, 4, 8, 5, 6, 5, 8, 8, 8, 6, 5, 5}},
        {256, 32, 0, 64 << 10, {1, 1, 2, 1, 2, 1, 3, 3, 3, 3, 1, 1}},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        for (int i = 0; i < CAPABILITIES; i++) {
            slr_occupancy_desc desc =
                desc_of(capabilities[i], rows[row].threads, rows[row].registers, rows[row].fixed, rows[row].dynamic);
            assert_int_equal(computed(&desc).blocks, rows[row].blocks[i]);
        }
    }
}

// Only dynamic shared memory can be opted in to more than 48 KiB.
static void static_shared_memory_has_a_limit_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < CAPABILITIES; i++) {
        slr_occupancy_desc desc = desc_of(capabilities[i], 128, 32, 48 << 10, 0);
        assert_true(computed(&desc).blocks != 0);
        desc.static_shared_bytes++;
        assert_int_equal(computed(&desc).blocks, 0);
        assert_int_equal(computed(&desc).limits, SLR_LIMITED_BY_SHARED);
        desc.dynamic_shared_bytes = desc.static_shared_bytes;
        desc.static_shared_bytes = 0;
        assert_true(computed(&desc).blocks != 0);
    }
}

static void limits_are_a_set(void **state)
{
    (void)state;
    slr_occupancy_desc desc = desc_of(90, 64, 32, 0, 0);
    assert_int_equal(computed(&desc).limits, SLR_LIMITED_BY_WARPS | SLR_LIMITED_BY_REGISTERS | SLR_LIMITED_BY_BLOCKS);
    desc = desc_of(90, 64, 16, 0, 0);
    desc.barriers = 4;
    assert_int_equal(computed(&desc).limits, SLR_LIMITED_BY_BARRIERS);
    assert_int_equal(computed(&desc).blocks, 16);
    desc = desc_of(80, 256, 32, 40 << 10, 0);
    assert_int_equal(computed(&desc).limits, SLR_LIMITED_BY_SHARED);
}

// The header of CUDA forgets what the driver keeps a block: for these two blocks it says 83,968.
static void what_is_left_of_shared_memory_lets_as_many_blocks_in(void **state)
{
    (void)state;
    slr_occupancy_desc desc = desc_of(80, 1024, 32, 0, 0);
    assert_int_equal(computed(&desc).blocks, 2);
    assert_int_equal(computed(&desc).dynamic_shared_left, 82944);
    for (int i = 0; i < CAPABILITIES; i++) {
        desc = desc_of(capabilities[i], 192, 40, 1000, 3000);
        slr_occupancy before = computed(&desc);
        desc.dynamic_shared_bytes = before.dynamic_shared_left;
        assert_int_equal(computed(&desc).blocks, before.blocks);
        desc.dynamic_shared_bytes++;
        assert_true(computed(&desc).blocks < before.blocks);
    }
}

// ---- the best block ------------------------------------------------------------------------------------------------

static slr_best_block best_of(const slr_occupancy_desc *desc)
{
    slr_best_block best;
    assert_int_equal(slr_occupancy_best(desc, 0, &best), SLR_OK);
    return best;
}

static void theoretical_is_the_part_of_the_warps_that_are_used(void **state)
{
    (void)state;
    slr_occupancy_desc desc = desc_of(80, 256, 33, 0, 0);
    assert_true(computed(&desc).theoretical == 0.75);
    desc.registers = 32;
    assert_true(computed(&desc).theoretical == 1.0);
    desc.registers = 256;
    assert_true(computed(&desc).theoretical == 0.0);
}

static void best_blocks_known_to_be_right(void **state)
{
    (void)state;
    static const struct {
        uint32_t capability, registers, blocks, threads;
    } rows[] = {
        {75, 32, 1, 1024}, {80, 32, 2, 1024},  {86, 32, 2, 768},  {89, 32, 2, 768},
        {90, 32, 2, 1024}, {100, 32, 2, 1024}, {120, 32, 2, 768}, {90, 40, 2, 768},
        {90, 48, 2, 640},  {90, 64, 1, 1024},  {90, 255, 1, 256},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        slr_occupancy_desc desc = desc_of(rows[i].capability, 0, rows[i].registers, 0, 0);
        slr_best_block best = best_of(&desc);
        assert_int_equal(best.block_threads, rows[i].threads);
        assert_int_equal(best.blocks, rows[i].blocks);
        assert_int_equal(best.candidate_count, 32);
        assert_int_equal(best.grid_min, 0);
    }
    slr_occupancy_desc desc = desc_of(90, 0, 40, 0, 0);
    desc.multiprocessors = 132;
    assert_int_equal(best_of(&desc).grid_min, 264);
    assert_int_equal((100000 + 767) / best_of(&desc).block_threads, 131);
}

static void best_block_keeps_to_the_limits_of_the_kernel(void **state)
{
    (void)state;
    slr_occupancy_desc desc = desc_of(90, 0, 32, 0, 0);
    slr_occupancy one;
    desc.most_threads = 100;
    slr_best_block best = best_of(&desc);
    assert_int_equal(best.candidate_count, 4); // 100, 96, 64, 32
    assert_int_equal(best.candidates[0].block_threads, 100);
    assert_int_equal(best.candidates[3].block_threads, 32);
    assert_true(best.block_threads <= 100);
    desc.block_threads = 101;
    assert_int_equal(slr_occupancy_compute(&desc, &one), SLR_OK);
    assert_int_equal(one.blocks, 0);
    desc.most_threads = 0;
    desc.static_shared_bytes = (48 << 10) + 1;
    best = best_of(&desc);
    assert_int_equal(best.block_threads, 0);
    assert_int_equal(best.blocks, 0);
    assert_int_equal(slr_occupancy_best(&desc, 48, &best), SLR_INVALID);
    desc.capability = 72;
    assert_int_equal(slr_occupancy_best(&desc, 0, &best), SLR_UNSUPPORTED);
    assert_int_equal(slr_occupancy_best(NULL, 0, &best), SLR_INVALID);
}

// A reduction's: 4 KiB a block of 1,024 and less for a smaller one.
static void shared_memory_may_grow_with_the_block(void **state)
{
    (void)state;
    slr_occupancy_desc desc = desc_of(86, 0, 32, 0, 0);
    desc.dynamic_shared_thread_bytes = 100;
    slr_best_block best = best_of(&desc);
    desc.block_threads = best.block_threads;
    assert_int_equal(computed(&desc).shared_allocated, (best.block_threads * 100 + 1024 + 127) / 128 * 128);
    desc.dynamic_shared_thread_bytes = UINT64_MAX;
    assert_int_equal(computed(&desc).blocks, 0);
}

static void what_is_not_known_is_refused(void **state)
{
    (void)state;
    slr_occupancy out = {.blocks = 7};
    slr_occupancy_desc desc = desc_of(72, 64, 32, 0, 0);
    assert_int_equal(slr_occupancy_compute(&desc, &out), SLR_UNSUPPORTED);
    assert_non_null(strstr(slr_error_message(), "7.2 is not known"));
    desc = desc_of(90, 0, 32, 0, 0);
    assert_int_equal(slr_occupancy_compute(&desc, &out), SLR_INVALID);
    desc.struct_size = 1;
    assert_int_equal(slr_occupancy_compute(&desc, &out), SLR_INVALID);
    assert_int_equal(slr_occupancy_compute(NULL, &out), SLR_INVALID);
    assert_int_equal(out.blocks, 7);
}

#ifdef HAVE_CUDA_OCCUPANCY
static uint64_t random_state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

static cudaOccDeviceProp properties_of(uint32_t capability)
{
    static const struct {
        int threads;
        size_t shared, block;
        size_t reserved;
    } rows[CAPABILITIES] = {{2048, 96, 96, 0},   {1024, 64, 64, 0},   {2048, 164, 163, 1}, {1536, 100, 99, 1},
                            {1536, 164, 163, 1}, {1536, 100, 99, 1},  {2048, 228, 227, 1}, {2048, 228, 227, 1},
                            {2048, 228, 227, 1}, {1536, 228, 227, 1}, {1536, 100, 99, 1},  {1536, 100, 99, 1}};
    int row = 0;
    while (capabilities[row] != capability)
        row++;
    cudaOccDeviceProp made = {0};
    made.computeMajor = (int)capability / 10;
    made.computeMinor = (int)capability % 10;
    made.maxThreadsPerBlock = 1024;
    made.maxThreadsPerMultiprocessor = rows[row].threads;
    made.regsPerBlock = made.regsPerMultiprocessor = 65536;
    made.warpSize = 32;
    made.sharedMemPerBlock = 48 << 10;
    made.sharedMemPerMultiprocessor = rows[row].shared << 10;
    made.numSms = 100;
    made.sharedMemPerBlockOptin = rows[row].block << 10;
    made.reservedSharedMemPerBlock = rows[row].reserved << 10;
    return made;
}

// Where barriers limit, the header keeps what would have limited without them in the set.
static bool same_limits(const slr_occupancy *made, unsigned wanted)
{
    bool by_barriers_alone = made->limits == SLR_LIMITED_BY_BARRIERS;
    return by_barriers_alone ? (wanted & SLR_LIMITED_BY_BARRIERS) != 0
                             : ((made->limits ^ wanted) & ~(unsigned)SLR_LIMITED_BY_BARRIERS) == 0;
}

static cudaOccFuncAttributes attributes_of(const slr_occupancy_desc *desc)
{
    cudaOccFuncAttributes function = {0};
    function.maxThreadsPerBlock = desc->most_threads ? (int)desc->most_threads : INT_MAX;
    function.numRegs = (int)desc->registers;
    function.sharedSizeBytes = desc->static_shared_bytes;
    function.maxDynamicSharedSizeBytes = 1 << 20;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.numBlockBarriers = desc->barriers ? (int)desc->barriers : 1;
    return function;
}

static void agrees(const slr_occupancy_desc *desc)
{
    cudaOccDeviceProp properties = properties_of(desc->capability);
    cudaOccFuncAttributes function = attributes_of(desc);
    cudaOccDeviceState device = {0};
    cudaOccResult wanted = {0};
    device.carveoutConfig = desc->carveout_percent ? (int)desc->carveout_percent : SHAREDMEM_CARVEOUT_DEFAULT;
    function.maxDynamicSharedSizeBytes = desc->dynamic_shared_bytes;
    assert_int_equal(cudaOccMaxActiveBlocksPerMultiprocessor(&wanted, &properties, &function, &device,
                                                             (int)desc->block_threads, desc->dynamic_shared_bytes),
                     CUDA_OCC_SUCCESS);
    slr_occupancy made = computed(desc);
    if (desc->static_shared_bytes > 48 << 10) { // the header forgets this, too
        assert_int_equal(made.blocks, 0);
        return;
    }
    bool same = made.blocks == (uint32_t)wanted.activeBlocksPerMultiprocessor;
    if (made.blocks)
        same = same && same_limits(&made, wanted.limitingFactors) &&
               made.registers_allocated == (uint32_t)wanted.allocatedRegistersPerBlock &&
               made.shared_allocated == wanted.allocatedSharedMemPerBlock;
    if (!same)
        fail_msg("sm_%u, %u threads, %u registers, %llu + %llu B shared, %u barriers, carve-out %u: %u blocks, "
                 "cuda_occupancy.h has %d; limits %u and %u",
                 desc->capability, desc->block_threads, desc->registers, (unsigned long long)desc->static_shared_bytes,
                 (unsigned long long)desc->dynamic_shared_bytes, desc->barriers, desc->carveout_percent, made.blocks,
                 wanted.activeBlocksPerMultiprocessor, made.limits, wanted.limitingFactors);
}

static void random_configurations_are_as_cudas_header_has_them(void **state)
{
    (void)state;
    for (int i = 0; i < CAPABILITIES; i++) {
        for (uint32_t n = 0; n < configurations; n++) {
            slr_occupancy_desc desc = desc_of(capabilities[i], 1 + below(1060), 1 + below(260),
                                              below(2) * below(60 << 10), below(2) * below(240 << 10));
            if (desc.registers == 256) // the header lets a thread have as many; no compiler and no GPU does
                desc.registers = 255;
            desc.barriers = below(4) ? 0 : below(17);
            desc.carveout_percent = below(3) ? 0 : below(101);
            agrees(&desc);
        }
    }
}

static uint64_t shared_a_thread;

static size_t shared_of_threads(int threads)
{
    return shared_a_thread * (size_t)threads;
}

static void agrees_on_the_best(const slr_occupancy_desc *desc)
{
    cudaOccDeviceProp properties = properties_of(desc->capability);
    cudaOccFuncAttributes function = attributes_of(desc);
    cudaOccDeviceState device = {0};
    int grid = -1, block = -1;
    device.carveoutConfig = desc->carveout_percent ? (int)desc->carveout_percent : SHAREDMEM_CARVEOUT_DEFAULT;
    shared_a_thread = desc->dynamic_shared_thread_bytes;
    assert_int_equal(cudaOccMaxPotentialOccupancyBlockSize(&grid, &block, &properties, &function, &device,
                                                           shared_a_thread ? shared_of_threads : NULL,
                                                           desc->dynamic_shared_bytes),
                     CUDA_OCC_SUCCESS);
    slr_best_block best = best_of(desc);
    if (best.block_threads != (uint32_t)block || best.grid_min != (uint32_t)grid)
        fail_msg("sm_%u, at most %u threads, %u registers, %llu + %llu + %llu n B shared, %u barriers, carve-out %u: "
                 "%u blocks of %u, cuda_occupancy.h has %d of %d",
                 desc->capability, desc->most_threads, desc->registers, (unsigned long long)desc->static_shared_bytes,
                 (unsigned long long)desc->dynamic_shared_bytes, (unsigned long long)desc->dynamic_shared_thread_bytes,
                 desc->barriers, desc->carveout_percent, best.grid_min, best.block_threads, grid, block);
}

static void best_block_is_as_cudas_header_has_it(void **state)
{
    (void)state;
    for (int i = 0; i < CAPABILITIES; i++) {
        for (uint32_t n = 0; n < configurations; n++) {
            slr_occupancy_desc desc = desc_of(capabilities[i], 0, 1 + below(255), below(2) * below(48 << 10), 0);
            if (below(2))
                desc.dynamic_shared_thread_bytes = below(2) * below(300);
            else
                desc.dynamic_shared_bytes = below(2) * below(240 << 10);
            desc.most_threads = below(2) * (1 + below(1024));
            desc.multiprocessors = 100;
            desc.barriers = below(4) ? 0 : below(17);
            desc.carveout_percent = below(3) ? 0 : below(101);
            agrees_on_the_best(&desc);
        }
    }
}
#endif

// With a number: so many random configurations a capability.
int main(int argc, char **argv)
{
    if (argc == 2)
        configurations = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_known_to_be_right),
        cmocka_unit_test(static_shared_memory_has_a_limit_of_its_own),
        cmocka_unit_test(limits_are_a_set),
        cmocka_unit_test(what_is_left_of_shared_memory_lets_as_many_blocks_in),
        cmocka_unit_test(what_is_not_known_is_refused),
        cmocka_unit_test(theoretical_is_the_part_of_the_warps_that_are_used),
        cmocka_unit_test(best_blocks_known_to_be_right),
        cmocka_unit_test(best_block_keeps_to_the_limits_of_the_kernel),
        cmocka_unit_test(shared_memory_may_grow_with_the_block),
#ifdef HAVE_CUDA_OCCUPANCY
        cmocka_unit_test(random_configurations_are_as_cudas_header_has_them),
        cmocka_unit_test(best_block_is_as_cudas_header_has_it),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

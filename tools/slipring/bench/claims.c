// SPDX-License-Identifier: Apache-2.0
// `slipring bench claims`: what guides to GPU computing say, and what is so on the device at hand. Rows of other
// benchmarks answer some of it.
#include "bench/claims.h"

#include <stddef.h>
#include <string.h>

#define OCCUPANCY                                                                                                      \
    "blocks of 256 threads (8 warps) hide more of the waits for memory than blocks of 64 threads (2 warps)"

// Rows of another benchmark, those that `filter` lets through.
static const struct borrowed {
    const char *claim;
    bool (*part)(bench *bench);
    const char *filter;
} borrowed[] = {
    {"a launch costs 15 to 30 us", bench_launch, "launch_empty"},
    {"pinned transfers are faster", bench_pinned, "pinned_"},
    {"pinned transfers are faster", bench_copy_cuda, "bare_pinned_"},
    {"two streams overlap copy and compute", bench_transfer, "overlap"},
    {"a load takes 1 cycle from registers, 20 from shared memory, 30 from L1, 200 from L2, 400 from global memory, and "
     "10,000 from the host",
     bench_memory, "latency_"},
    {"a load takes 1 cycle from registers, 20 from shared memory, 30 from L1, 200 from L2, 400 from global memory, and "
     "10,000 from the host",
     bench_memory_cuda, "latency_"},
    {"from the fastest to the slowest level of memory, the bandwidth is 20, 10, 2, 1 and 0.9 TB/s, and to the host 25 "
     "GB/s",
     bench_memory_cuda, "bandwidth_"},
    {"a buffer that an access window keeps in L2 is read faster, while the kernel also reads other memory",
     bench_memory_cuda, "l2_window"},
    {OCCUPANCY, bench_memory_cuda, "occupancy"},
    {"from the fastest to the slowest level of memory, the bandwidth is 20, 10, 2, 1 and 0.9 TB/s, and to the host 25 "
     "GB/s",
     bench_memory, "bandwidth_"},
    {"operations that are fused into one kernel are faster than separate kernels", bench_fused, "fused_chain"},
    {"training that keeps fewer activations takes less memory and more time", bench_layers, "checkpoint_"},
    {"a measurement finds the fastest algorithm", bench_ops, "benchmark_choice"},
    {"a pool that has a fitting free buffer is faster than an allocation", bench_pool, "pool_hit"},
    {"a pool that has no fitting free buffer is faster than the device's own allocation", bench_pool, "pool_miss"},
};

// --filter chooses among the claims' rows by the borrowed filter.
static bool borrow(bench *bench, const struct borrowed *from)
{
    const char *filter = bench->filter;
    if (filter != NULL && strstr(from->filter, filter) == NULL)
        return true;
    bench->filter = from->filter;
    bench->claim = from->claim;
    bool fine = from->part(bench);
    bench->filter = filter;
    return fine;
}

static void add_absent(bench *bench)
{
    static const char name[] = "occupancy";
    if (!bench_wants(bench, name) || strcmp(bench->info.backend, "cuda") == 0) // bench_memory_cuda.c has it
        return;
    bench->claim = OCCUPANCY;
    bench_add(bench, &(bench_row){.name = name, .stat = "-", .unit = "-"},
              "Not measured: this device has no warps that hide one another's waits. The row needs a GPU.");
}

bool bench_claims(bench *bench)
{
    bool fine = claims_resident(bench); // what fails keeps nothing else from being measured
    fine = claims_kernels(bench) && fine;
    fine = claims_parts(bench) && fine;
    for (size_t i = 0; i < sizeof borrowed / sizeof *borrowed; i++)
        fine = borrow(bench, &borrowed[i]) && fine;
    add_absent(bench);
    return fine;
}

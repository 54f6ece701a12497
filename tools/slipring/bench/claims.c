// SPDX-License-Identifier: Apache-2.0
// `slipring bench claims`: what guides to GPU computing say, and what is so on the device at hand. Rows of other
// benchmarks answer some of it.
#include "bench/claims.h"

#include <stddef.h>
#include <string.h>

#define OCCUPANCY "256 threads, which are 8 warps, hide more than 64, which are 2"

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
    {"registers 1 cycle, shared 20, L1 30, L2 200, global 400, host 10,000 cycles", bench_memory, "latency_"},
    {"registers 1 cycle, shared 20, L1 30, L2 200, global 400, host 10,000 cycles", bench_memory_cuda, "latency_"},
    {"20, 10, 2, 1 and 0.9 TB/s down the hierarchy, 25 GB/s to the host", bench_memory_cuda, "bandwidth_"},
    {"a buffer kept in L2 is read faster beside other traffic", bench_memory_cuda, "l2_window"},
    {OCCUPANCY, bench_memory_cuda, "occupancy"},
    {"20, 10, 2, 1 and 0.9 TB/s down the hierarchy, 25 GB/s to the host", bench_memory, "bandwidth_"},
    {"fusing operations into one kernel pays", bench_fused, "fused_chain"},
    {"checkpointing trades time for memory", bench_layers, "checkpoint_"},
    {"measured, the fastest algorithm is found", bench_ops, "benchmark_choice"},
    {"a pool beats allocation: a hit", bench_pool, "pool_hit"},
    {"a pool beats allocation: a miss, against the device's own allocation", bench_pool, "pool_miss"},
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
              "Not on this device: it has no warps that hide one another's waits. It needs a GPU.");
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

// SPDX-License-Identifier: Apache-2.0
// Rules about memory of the device.
#include "diagnose/rules.h"

void slri_rule_allocation(struct slri_diagnosing *d)
{
    const struct slri_total *memory = &d->total[SLR_PROFILE_MEMORY], *kernels = &d->total[SLR_PROFILE_KERNEL];
    const slr_profile_row *place = slri_caller_of(d, "allocation");
    if (memory->n < SLRI_MANY || 2 * memory->n < kernels->n || !place || 2 * place->n < memory->n)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_ALLOCATION,
                                         .figure = (double)place->n,
                                         .limit = SLRI_MANY / 2,
                                         .measure = "allocations at one place",
                                         .change = "slr_pool_acquire(pool, count, SLR_F32, &buffer); // before the "
                                                   "loop",
                                         .caller = place};
    slri_diagnosis_give(
        d, &verdict,
        "Device memory was allocated %llu times (%.1f MB), %llu of them at %s:%u, with %llu launches. Create the "
        "buffer once before the loop, or use a pool (slr_pool_acquire), which reuses buffers without zeroing them.",
        (unsigned long long)memory->n, (double)memory->bytes / 1e6, (unsigned long long)place->n, place->file,
        place->lines[0].line, (unsigned long long)kernels->n);
}

void slri_rule_fragmented(struct slri_diagnosing *d)
{
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        if (row->kind != SLR_PROFILE_FRAGMENTED)
            continue;
        const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_FRAGMENTED,
                                             .figure = (double)row->n,
                                             .limit = 1,
                                             .measure = "requests refused for lack of one piece",
                                             .change =
                                                 "slr_pool_acquire(pool, count, SLR_F32, &buffer); // equal sizes"};
        slri_diagnosis_give(
            d, &verdict,
            "Heap '%s' refused %llu requests (%.1f MB) although enough bytes were free, in smaller pieces. Allocate "
            "large buffers first, use a separate heap for long-lived buffers, or use a pool for equal sizes "
            "(slr_pool_acquire).",
            row->name, (unsigned long long)row->n, (double)row->bytes / 1e6);
        return;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Advice about the busiest kernels that their source gives: accesses and branches as the checker sees them, occupancy
// as the device has it.
#include "profile/advice.h"

#define HALF 0.5

static void give_finding(advising *a, enum profile_finding_kind kind, const char *rule, const char *remedy)
{
    const profile *p = a->profile;
    for (unsigned i = 0; i < p->inspected; i++) {
        const profile_inspection *found = &p->inspection[i];
        if (!found->finding[kind].is_there)
            continue;
        advice_give(a, rule, "'%s' has %.0f %% of the kernels' time, and on line %u %s. %s", found->row->name,
                    advice_percent((double)found->row->total_ns, (double)p->total[SLR_PROFILE_KERNEL].total_ns),
                    found->finding[kind].line, found->finding[kind].text, remedy);
        return;
    }
}

void advice_strides(advising *a)
{
    give_finding(a, PROFILE_STRIDED, "strided access",
                 "Let neighbouring threads access neighbouring elements; load neighbours of one thread as float4; use "
                 "a tile in shared memory for a transpose.");
}

void advice_banks(advising *a)
{
    give_finding(a, PROFILE_BANKS, "bank conflicts", "Pad the rows of the shared array by one element.");
}

void advice_divergence(advising *a)
{
    give_finding(a, PROFILE_DIVERGENT, "divergence",
                 "Write short sides as a select (x = c ? a : b; -D SLIPRING_SELECT=1 does it for all), sort the work "
                 "so that neighbours agree, or branch "
                 "on threadIdx.x / 32.");
}

void advice_occupancy(advising *a)
{
    const profile *p = a->profile;
    for (unsigned i = 0; i < p->inspected; i++) {
        const profile_inspection *found = &p->inspection[i];
        const slr_kernel_occupancy *o = &found->occupancy;
        if (o->source == 0 || o->source == SLR_OCCUPANCY_UNKNOWN || o->theoretical >= HALF)
            continue;
        advice_give(
            a, "low occupancy",
            "'%s' has %.0f %% of the kernels' time, and with blocks of %u threads its occupancy is %.0f %%: %s. "
            "%s",
            found->row->name,
            advice_percent((double)found->row->total_ns, (double)p->total[SLR_PROFILE_KERNEL].total_ns),
            o->block_threads, 100 * o->theoretical, o->why,
            "Launch with SLR_1D(n), which chooses the block, or as 'slipring kernel suggest' says.");
        return;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Which ring kernels can be persistent.
#include "base/status.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/resident_text.h"

#include <stdio.h>

// NULL, or why no kernel can stay on the device.
static const char *never_reason(const struct slri_cuda *cuda)
{
    const struct slri_cu_facts *device = &cuda->facts;
    return cuda->cu->vendor->never_stays                                ? cuda->cu->vendor->never_stays
           : !device->unified_addressing || !device->registered_address ? "host and device do not share addresses"
           : device->time_limit ? "the device drives a display and ends long-running kernels"
                                : NULL;
}

void slri_cuda_why_relaunch(const struct slri_cuda *cuda, char *out, size_t room)
{
    const char *never = never_reason(cuda);
    if (never)
        snprintf(out, room, "%s", never);
    else
        slri_cu_unwise(&cuda->sharing, out, room);
}

// NULL, or why this ring kernel cannot be persistent here, as a clause.
static const char *persistent_reason(const struct slri_cuda *cuda, const struct slri_ring_facts *facts)
{
    return facts->entry->shared_bytes > SLRI_CU_STAY_SHARED_BYTES
               ? "its shared memory leaves too little for a persistent kernel"
               : never_reason(cuda);
}

// Further ring kernels of a handler share what it has where nothing is left.
slr_status slri_cuda_persistent_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    struct slri_cuda *cuda = device;
    const char *reason = persistent_reason(cuda, facts);
    bool asked = facts->asked == SLR_RING_PERSISTENT || cuda->ring_mode == SLR_RING_PERSISTENT;
    char unwise[SLR_MODE_REASON_BYTES];
    if (!reason && !asked && slri_cu_unwise(&cuda->sharing, unwise, sizeof unwise))
        reason = unwise;
    plan->has_clock = true;
    if (!reason) {
        slr_status status =
            slri_cuda_staying_take(cuda, facts->program, facts->entry,
                                   slri_ring_groups_wanted(cuda->most_blocks, facts->instances), &plan->shards);
        if (status != SLR_OK && (asked || status != SLR_UNSUPPORTED))
            return status;
        if (status != SLR_OK) { // such as a driver that has no linker with it
            snprintf(unwise, sizeof unwise, "%s", slr_error_message());
            reason = unwise;
        }
    }
    if (plan->shards == 0)
        snprintf(plan->reason, sizeof plan->reason, "%s",
                 reason ? reason : "all resident blocks are in use by other handlers");
    return SLR_OK;
}

// ---- groups --------------------------------------------------------------------------------------------------------

void slri_cuda_rings_open(struct slri_cuda *cuda)
{
    slri_cuda_residents_open(cuda);
    uint32_t most = (uint32_t)cuda->facts.multiprocessors * cuda->sm_budget / 100;
    cuda->most_blocks = most != 0 ? most : 1;
}

void slri_cuda_rings_stop(struct slri_cuda *cuda)
{
    slri_cuda_residents_stop(cuda);
}

void slri_cuda_rings_close(struct slri_cuda *cuda)
{
    slri_cuda_residents_close(cuda);
}

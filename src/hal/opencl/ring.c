// SPDX-License-Identifier: Apache-2.0
// Which ring kernels can be persistent.
#include "base/status.h"
#include "hal/opencl/opencl.h"

#include <stdio.h>

// NULL, or why this ring kernel cannot be persistent here, as a clause. Tries what the device can do last.
static const char *persistent_reason(struct slri_opencl *opencl, const struct slri_ring_facts *facts)
{
    return facts->entry->max_threads > opencl->facts.most_group
               ? "its block has more threads than a work-group of the device allows"
           : opencl->memory != SLRI_CL_FINE        ? "the device's buffers are not in fine-grained shared memory"
           : slri_cl_groups_that_stay(opencl) == 0 ? "a persistent kernel would block other kernels of the device"
                                                   : NULL;
}

// Further ring kernels of a handler share what it has where nothing is left.
slr_status slri_cl_persistent_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    struct slri_opencl *opencl = device;
    const char *reason = persistent_reason(opencl, facts);
    if (!reason)
        plan->shards =
            slri_cl_staying_take(opencl, facts->program, facts->entry,
                                 slri_ring_groups_wanted(slri_cl_groups_that_stay(opencl), facts->instances));
    plan->has_clock = plan->shards != 0 && slri_cl_has_clock(opencl);
    if (plan->shards == 0)
        snprintf(plan->reason, sizeof plan->reason, "%s",
                 reason ? reason : "all resident work-groups are in use by other handlers");
    return SLR_OK;
}

// ---- groups --------------------------------------------------------------------------------------------------------

void slri_cl_rings_open(struct slri_opencl *opencl)
{
    slri_residents_init(&opencl->residents);
    slri_mutex_init(&opencl->staying_lock);
}

void slri_cl_rings_close(struct slri_opencl *opencl)
{
    slri_residents_close(&opencl->residents);
    slri_mutex_destroy(&opencl->staying_lock);
}

// SPDX-License-Identifier: Apache-2.0
// Ring kernels: in which mode each runs, and who owns its shards. Handlers that are functions of the host run on
// threads of the host, as on the cpu.
#include "base/cpu.h"
#include "base/status.h"
#include "backend/opencl/opencl.h"
#include "device/relaunch.h"

#include <stdio.h>

#define MOST_HOSTS 64

// ---- the mode ------------------------------------------------------------------------------------------------------

// NULL, or why this ring kernel cannot be persistent here, as a clause. Tries what the device can do last.
static const char *persistent_reason(struct slri_opencl *opencl, const struct slri_ring_facts *facts)
{
    return facts->needs_host                          ? facts->needs_host
           : opencl->ring_mode == SLR_RING_RELAUNCHED ? "ring=relaunch was asked for"
           : facts->entry->max_threads > opencl->facts.most_group
               ? "its block has more threads than a group of the device"
           : opencl->memory != SLRI_CL_FINE        ? "the device's buffers are not in fine-grained shared memory"
           : slri_cl_groups_that_stay(opencl) == 0 ? "no kernel can stay on the device beside others"
                                                   : NULL;
}

// So that several ring kernels find room, one takes an eighth of what there is; further ones of its handler share that
// where nothing is left.
static uint32_t groups_for(struct slri_opencl *opencl, const struct slri_ring_facts *facts)
{
    uint32_t most = slri_cl_groups_that_stay(opencl) / 8;
    uint32_t want = most == 0 ? 1 : most < facts->instances ? most : facts->instances;
    return slri_cl_staying_take(opencl, facts->program, facts->entry, want);
}

static slr_status plan_relaunch(const struct slri_opencl *opencl, const struct slri_ring_facts *facts,
                                struct slri_ring_plan *plan)
{
    if (opencl->ring_mode == SLR_RING_PERSISTENT)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot keep this ring kernel resident: %s", opencl->name,
                         plan->reason);
    plan->mode = SLR_RING_RELAUNCHED;
    plan->shards = slri_relaunch_shards(facts->instances);
    return SLR_OK;
}

slr_status slri_cl_ring_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    struct slri_opencl *opencl = device;
    const char *reason = persistent_reason(opencl, facts);
    *plan = (struct slri_ring_plan){.mode = SLR_RING_PERSISTENT};
    if (!reason)
        plan->shards = groups_for(opencl, facts);
    if (plan->shards != 0)
        return SLR_OK;
    if (!reason)
        reason = "all groups that can stay are taken by other handlers";
    snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    if (facts->program)
        return plan_relaunch(opencl, facts, plan);
    plan->mode = SLR_RING_ON_HOST;
    plan->shards = slri_owners_count(&opencl->hosts, facts->instances);
    return SLR_OK;
}

// ---- owners --------------------------------------------------------------------------------------------------------

void slri_cl_rings_open(struct slri_opencl *opencl)
{
    uint32_t cores = slri_core_count();
    slri_owners_init(&opencl->hosts, cores < MOST_HOSTS ? cores : MOST_HOSTS, opencl->allocator);
    slri_residents_init(&opencl->residents);
    slri_mutex_init(&opencl->staying_lock);
    slri_owners_init(&opencl->owners, 1, opencl->allocator);
}

void slri_cl_rings_close(struct slri_opencl *opencl)
{
    slri_owners_stop(&opencl->owners);
    slri_owners_stop(&opencl->hosts);
    slri_residents_close(&opencl->residents);
    slri_mutex_destroy(&opencl->staying_lock);
}

slr_status slri_cl_shard_start(void *device, struct slri_shard *shard)
{
    struct slri_opencl *opencl = device;
    return shard->mode == SLR_RING_PERSISTENT
               ? slri_cl_staying_start(opencl, shard)
               : slri_owners_start(shard->relaunch ? &opencl->owners : &opencl->hosts, shard);
}

// SPDX-License-Identifier: Apache-2.0
// Ring kernels: in which mode each runs, and who owns its shards. Handlers that are functions of the host run on
// threads of the host, as on the cpu.
#include "base/cpu.h"
#include "base/status.h"
#include "backend/opencl/opencl.h"
#include "device/spec.h"

#include <stdio.h>
#include <string.h>

#define MOST_HOSTS 64

// ---- the mode ------------------------------------------------------------------------------------------------------

const char *slri_cl_ring_mode_name(slr_ring_mode mode)
{
    return mode == SLR_RING_RELAUNCHED ? "relaunch" : "persistent";
}

slr_status slri_cl_choose_ring_mode(struct slri_opencl *opencl, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "ring");
    if (!asked)
        return SLR_OK;
    for (slr_ring_mode mode = SLR_RING_RELAUNCHED; mode <= SLR_RING_PERSISTENT; ++mode)
        if (strcmp(asked, slri_cl_ring_mode_name(mode)) == 0)
            opencl->ring_mode = mode;
    return opencl->ring_mode ? SLR_OK
                             : SLRI_FAIL(INVALID, "device '%s': ring '%s'; 'relaunch' or 'persistent' is possible",
                                         opencl->name, asked);
}

// NULL, or why this ring kernel cannot be persistent here, as a clause.
static const char *persistent_reason(const struct slri_opencl *opencl, const struct slri_ring_facts *facts)
{
    (void)opencl;
    return facts->needs_host ? facts->needs_host : "this version keeps no kernel on OpenCL devices";
}

slr_status slri_cl_ring_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    const struct slri_opencl *opencl = device;
    const char *reason = persistent_reason(opencl, facts);
    *plan = (struct slri_ring_plan){.mode = SLR_RING_ON_HOST};
    if (facts->program)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' runs ring kernels of C functions alone, no kernel handlers",
                         opencl->name);
    plan->shards = slri_owners_count(&opencl->hosts, facts->instances);
    snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    return SLR_OK;
}

// ---- owners --------------------------------------------------------------------------------------------------------

void slri_cl_rings_open(struct slri_opencl *opencl)
{
    uint32_t cores = slri_core_count();
    slri_owners_init(&opencl->hosts, cores < MOST_HOSTS ? cores : MOST_HOSTS, opencl->allocator);
}

void slri_cl_rings_close(struct slri_opencl *opencl)
{
    slri_owners_stop(&opencl->hosts);
}

slr_status slri_cl_shard_start(void *device, struct slri_shard *shard)
{
    struct slri_opencl *opencl = device;
    return slri_owners_start(&opencl->hosts, shard);
}

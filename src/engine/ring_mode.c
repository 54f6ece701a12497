// SPDX-License-Identifier: Apache-2.0
#include "engine/ring_mode.h"

#include "base/cpu.h"
#include "base/status.h"
#include "engine/relaunch.h"
#include "engine/spec.h"

#include <string.h>

#define MOST_HOSTS 64

const char *slri_ring_mode_name(slr_ring_mode mode)
{
    return mode == SLR_RING_RELAUNCHED ? "relaunch" : "persistent";
}

slr_status slri_ring_mode_choose(const struct slri_spec *spec, const char *device, slr_ring_mode *out)
{
    const char *asked = slri_spec_option(spec, "ring");
    if (!asked)
        return SLR_OK;
    for (slr_ring_mode mode = SLR_RING_RELAUNCHED; mode <= SLR_RING_PERSISTENT; ++mode)
        if (strcmp(asked, slri_ring_mode_name(mode)) == 0) {
            *out = mode;
            return SLR_OK;
        }
    return SLRI_FAIL(INVALID, "device '%s': ring '%s'; expected 'relaunch' or 'persistent'", device, asked);
}

uint32_t slri_ring_groups_wanted(uint32_t most, uint32_t instances)
{
    uint32_t eighth = most / 8 != 0 ? most / 8 : 1;
    return eighth < instances ? eighth : instances;
}

void slri_ring_owners_init(struct slri_ring_owners *owners, const slr_allocator *allocator)
{
    uint32_t cores = slri_core_count();
    slri_owners_init(&owners->hosts, cores < MOST_HOSTS ? cores : MOST_HOSTS, allocator);
    slri_owners_init(&owners->dispatcher, 1, allocator);
}

void slri_ring_owners_stop(struct slri_ring_owners *owners)
{
    slri_owners_stop(&owners->dispatcher);
    slri_owners_stop(&owners->hosts);
}

slr_status slri_ring_owners_start(struct slri_ring_owners *owners, struct slri_shard *shard)
{
    return slri_owners_start(shard->relaunch ? &owners->dispatcher : &owners->hosts, shard);
}

slr_status slri_ring_plan_other(const struct slri_ring_owners *owners, const struct slri_ring_facts *facts,
                                const char *device, slr_ring_mode mode, struct slri_ring_plan *plan)
{
    plan->mode = facts->program ? SLR_RING_RELAUNCHED : SLR_RING_ON_HOST;
    plan->shards =
        facts->program ? slri_relaunch_shards(facts->instances) : slri_owners_count(&owners->hosts, facts->instances);
    if (facts->program && mode == SLR_RING_PERSISTENT)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot run this ring kernel persistently: %s", device, plan->reason);
    return SLR_OK;
}

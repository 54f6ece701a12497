// SPDX-License-Identifier: Apache-2.0
#include "engine/ring_mode.h"

#include "base/cpu.h"
#include "base/status.h"
#include "engine/loss.h"
#include "engine/relaunch.h"
#include "engine/resident_groups.h"
#include "engine/spec.h"

#include <stdio.h>
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

void slri_ring_mode_put_name(const char *device, slr_ring_mode mode, char *out, size_t room)
{
    snprintf(out, room, "%s%s%s", device, mode ? "?ring=" : "", mode ? slri_ring_mode_name(mode) : "");
}

uint32_t slri_ring_groups_wanted(uint32_t most, uint32_t instances)
{
    uint32_t eighth = most / 8 != 0 ? most / 8 : 1;
    return eighth < instances ? eighth : instances;
}

void slri_ring_owners_init(struct slri_ring_owners *owners, const struct slri_facts *facts,
                           const slr_allocator *allocator)
{
    uint32_t cores = slri_core_count();
    uint32_t hosts = facts->owners != 0 ? facts->owners : cores < MOST_HOSTS ? cores : MOST_HOSTS;
    slri_owners_init(&owners->hosts, hosts, allocator);
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

// NULL, or why this ring kernel is not persistent, as a clause, by what the engine knows. First what decides alone: a
// request, then what no other ring kernel of the device could change either.
static const char *find_reason(const struct slri_ring_host *host, const struct slri_ring_facts *ring)
{
    const struct slri_facts *facts = host->facts;
    if (!facts->residents && !facts->never_persistent)
        return "the device has no persistent kernels";
    return !ring->program                            ? ring->needs_host
           : ring->asked == SLR_RING_RELAUNCHED      ? "the program requested batched mode by slr_ring_desc.mode"
           : facts->ring_mode == SLR_RING_RELAUNCHED ? "the device option ring=relaunch requests batched mode"
           : facts->never_persistent                 ? facts->never_persistent
                                                     : ring->needs_host;
}

static slr_status plan_other(const struct slri_ring_host *host, const struct slri_ring_facts *ring,
                             struct slri_ring_plan *plan)
{
    const bool is_batched = ring->program && !host->backend->is_host;
    const char *name = host->facts->loss ? host->facts->loss->name : host->backend->name;
    plan->mode = is_batched ? SLR_RING_RELAUNCHED : SLR_RING_ON_HOST;
    plan->shards =
        is_batched ? slri_relaunch_shards(ring->instances) : slri_owners_count(&host->owners->hosts, ring->instances);
    if (ring->program && host->facts->ring_mode == SLR_RING_PERSISTENT)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot run this ring kernel persistently: %s", name, plan->reason);
    return SLR_OK;
}

slr_status slri_ring_plan(const struct slri_ring_host *host, const struct slri_ring_facts *ring,
                          struct slri_ring_plan *plan)
{
    const char *reason = find_reason(host, ring);
    *plan = (struct slri_ring_plan){.mode = SLR_RING_PERSISTENT};
    if (!reason)
        SLRI_TRY(slri_loss_seen(host->facts->loss, slri_groups_plan(host, ring, plan)));
    else if (!host->backend->is_host) // there no ring kernel could be
        snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    return plan->shards != 0 ? SLR_OK : plan_other(host, ring, plan);
}

// SPDX-License-Identifier: Apache-2.0
// Which handlers of a device have groups of persistent kernels, and which group serves a shard: the same for all
// backends, which make, launch and watch one group (struct slri_resident_ops).
#ifndef SLRI_ENGINE_RESIDENT_GROUPS_H
#define SLRI_ENGINE_RESIDENT_GROUPS_H

#include "engine/resident.h"
#include "engine/ring_mode.h"

// A handler that has groups. They are its own until its program goes.
struct slri_resident_handler {
    const struct slri_code *program;
    const struct slri_entry *entry;
    const struct slri_module *module;
    const struct slri_backend *backend;
    uint32_t groups;             // atomic: that it may have; a launch of `is_one_launch` reads it
    uint32_t most;               // that can be there at once, by its code
    uint32_t claims;             // atomic: shards that were prepared and are not over
    bool has_clock;              // as the plan says
    struct slri_resident *first; // its launches
    struct slri_resident_handler *next;
};

// Gives a handler groups of the device, where the backend says that it can have some: `plan->shards`. Without any
// `plan->reason` says why. Further ring kernels of a handler share what it has where nothing is left. Errors: those of
// the backend where persistence was asked for, NO_MEMORY.
slr_status slri_groups_plan(const struct slri_ring_host *host, const struct slri_ring_facts *ring,
                            struct slri_ring_plan *plan);

// Of each shard of a persistent ring kernel before its first one is started: what may wait for a compiler, or for
// groups to end. Errors: FULL (another ring kernel has taken the only group), those of the backend.
slr_status slri_groups_prepare(struct slri_residents *residents, struct slri_shard *shard);
// Gives back what a shard has that was prepared, or not: it was never started, or is over.
void slri_groups_forsake(struct slri_residents *residents, struct slri_shard *shard);
// Waits for no compiler and for no group: it is called under the lock of the ring kernel, for which the poller waits.
slr_status slri_groups_start(struct slri_residents *residents, struct slri_shard *shard);
// After a reopening, while no group runs: the shard's flags may be elsewhere.
void slri_groups_shard_reopened(struct slri_residents *residents, struct slri_shard *shard);

// For the backend: lets those go that have ended since they were given up, and, where a group is for one shard, those
// without one. False: one has not ended.
bool slri_groups_settle(struct slri_residents *residents);
// Calls `visit` for each launch that is kept, up to the first error.
slr_status slri_groups_each(struct slri_residents *residents, slr_status (*visit)(struct slri_resident *resident));
// When what they ran in is gone: frees those that had not ended.
void slri_groups_forget_stuck(struct slri_residents *residents);

#endif

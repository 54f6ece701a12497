// SPDX-License-Identifier: Apache-2.0
// What devices that keep kernels resident have in common: the option ring=, and the ring kernels that they do not keep.
#ifndef SLRI_ENGINE_RING_MODE_H
#define SLRI_ENGINE_RING_MODE_H

#include "hal/hal.h"
#include "engine/owner.h"

const char *slri_ring_mode_name(slr_ring_mode mode); // of the two that can be asked for
// `out` stays as it is where the option is not given. Errors: INVALID.
slr_status slri_ring_mode_choose(const struct slri_spec *spec, const char *device, slr_ring_mode *out);

// How many groups a persistent ring kernel wants of the `most` that stay: an eighth, so that several find room.
uint32_t slri_ring_groups_wanted(uint32_t most, uint32_t instances);

// Owners of ring kernels that are not persistent: of handlers that are functions of the host a thread a core; of
// those that are relaunched one thread, so that their dispatches are few and large.
struct slri_ring_owners {
    struct slri_owners hosts, dispatcher;
};

void slri_ring_owners_init(struct slri_ring_owners *owners, const slr_allocator *allocator);
void slri_ring_owners_stop(struct slri_ring_owners *owners);
slr_status slri_ring_owners_start(struct slri_ring_owners *owners, struct slri_shard *shard);

// How a ring kernel runs on `device` that is not persistent, for the reason that stands in the plan. `mode`: what the
// device was opened for, or 0. Errors: UNSUPPORTED (it was opened for persistent ones).
slr_status slri_ring_plan_other(const struct slri_ring_owners *owners, const struct slri_ring_facts *facts,
                                const char *device, slr_ring_mode mode, struct slri_ring_plan *plan);

#endif

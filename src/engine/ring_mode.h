// SPDX-License-Identifier: Apache-2.0
// In which mode each ring kernel of a device runs, and the owners of those that are not persistent; the option ring=.
#ifndef SLRI_ENGINE_RING_MODE_H
#define SLRI_ENGINE_RING_MODE_H

#include "hal/hal.h"
#include "engine/owner.h"

const char *slri_ring_mode_name(slr_ring_mode mode); // of the two that can be asked for
// `out` stays as it is where the option is not given. Errors: INVALID.
slr_status slri_ring_mode_choose(const struct slri_spec *spec, const char *device, slr_ring_mode *out);
// "vulkan:0", or "vulkan:0?ring=relaunch" where a mode was asked for (else 0).
void slri_ring_mode_put_name(const char *device, slr_ring_mode mode, char *out, size_t room);

// How many groups a persistent ring kernel wants of the `most` that stay: an eighth, so that several find room.
uint32_t slri_ring_groups_wanted(uint32_t most, uint32_t instances);

// Owners of ring kernels that are not persistent: of handlers that are functions of the host as many threads as the
// device's facts say; of those in batched launches one thread, so that launches are few and large.
struct slri_ring_owners {
    struct slri_owners hosts, dispatcher;
};

void slri_ring_owners_init(struct slri_ring_owners *owners, const struct slri_facts *facts,
                           const slr_allocator *allocator);
void slri_ring_owners_stop(struct slri_ring_owners *owners);
slr_status slri_ring_owners_start(struct slri_ring_owners *owners, struct slri_shard *shard);

// A device that runs ring kernels.
struct slri_ring_host {
    const struct slri_backend *backend;
    void *device; // the backend's
    const struct slri_facts *facts;
    struct slri_ring_owners *owners;
};

// How a ring kernel runs. Errors: UNSUPPORTED (the device was opened for persistent ones, and this one cannot be),
// those of slri_groups_plan (engine/resident_groups.h).
slr_status slri_ring_plan(const struct slri_ring_host *host, const struct slri_ring_facts *ring,
                          struct slri_ring_plan *plan);

#endif

// SPDX-License-Identifier: Apache-2.0
// The keys of a ring kernel: from a key to the number of its instance.
#ifndef SLRI_RING_KEYS_H
#define SLRI_RING_KEYS_H

#include "ring/ring.h"

#define SLRI_KEYS_AT_ONCE 32u // whose cache lines are fetched together; also a mailbox's batch

slr_status slri_keys_describe(slr_ring *ring, const slr_ring_desc *desc); // checks and copies; INVALID
slr_status slri_keys_create(slr_ring *ring); // at launch, behind the shards; nothing without keys
void slri_keys_destroy(slr_ring *ring);
void slri_keys_count(slr_ring *ring, slr_ring_stats *out);

slr_status slri_keys_check(const slr_ring *ring, const slr_key *key,
                           const char *call); // INVALID: the wrong sort, too long

// A pin keeps an instance its key's: each message is one from before it is sent until it is done with
// (slri_shard_done), so that an instance without a pin is idle. What is pinned is sent, or unpinned.
//
// Pins keys[0] and as many of the following (at most SLRI_KEYS_AT_ONCE in all) as need no waiting; gives how many. 0:
// the status says why not even the first. New keys get instances, each behind the claim of its message's credit, so
// that a full mailbox makes and evicts no key: `paid` gets such credits, no more than it gives. All have been checked.
uint32_t slri_keys_pin(slr_ring *ring, const slr_key *keys, uint32_t count, struct slri_until *until,
                       uint32_t *instances, struct slri_granted *paid, slr_status *status);
slr_status slri_keys_pin_instance(slr_ring *ring, uint32_t instance);             // NOT_FOUND: it has no key
bool slri_keys_pin_known(slr_ring *ring, const slr_key *key, uint32_t *instance); // false: it has no instance
void slri_keys_unpin(slr_ring *ring, uint32_t instance);

slr_status slri_keys_add(slr_ring *ring, const slr_key *key, const void *state, struct slri_until *until,
                         uint32_t *instance);
slr_status slri_keys_forget(slr_ring *ring, const slr_key *key, void *state, uint64_t deadline_ns);
// Of a pinned instance.
void slri_keys_key_of(const slr_ring *ring, uint32_t instance, slr_key *out);

#endif

// SPDX-License-Identifier: Apache-2.0
/// A name that machines share: what its first worker wrote down for all.
#ifndef SLRI_CLUSTER_NAME_H
#define SLRI_CLUSTER_NAME_H

#include "cluster/nats.h"
#include "cluster/server.h"

enum { SLRI_NAME_PARTITIONS = 1024, SLRI_WORKER_ID = 24 };
#define SLRI_MANIFEST_KEY "manifest"
#define SLRI_LEAST_LEASE_NS 100000000u

typedef struct slri_manifest {
    unsigned char magic[8];
    uint32_t version, order;
    uint64_t layout;
    uint32_t message_bytes, state_bytes, reply_bytes, keys;
    uint32_t partitions, replicas;
    uint64_t capacity, lease_ns;
    uint32_t key_limit, reserved; // most bytes of a text; without keys, number of instances; else 0
    char handler[96];
} slri_manifest;

/// Who has a partition: an empty text for nobody.
typedef struct slri_owner {
    char worker[SLRI_WORKER_ID];
} slri_owner;

/// Reads and checks it. Errors: NOT_FOUND (nobody has served this name), INVALID.
slr_status slri_manifest_read(slri_nats *nats, slri_manifest *out);

/// What the first worker writes down.
void slri_manifest_begin(slri_manifest *manifest, const slri_head *head, const slr_worker_desc *desc,
                         const slr_ring_desc *ring, uint32_t replicas);

/// The partition of a key: a fixed hash, whichever version of slipring computes it.
uint32_t slri_partition_of(const slri_manifest *manifest, const slr_key *key);

/// The head of a partition's last snapshot. Errors: NOT_FOUND (it has none yet), INVALID.
slr_status slri_partition_head(slri_nats *nats, uint32_t partition, slri_head *out, uint64_t *revision);

static inline slri_frame_shape slri_manifest_shape(const slri_manifest *manifest)
{
    return (slri_frame_shape){manifest->layout, manifest->message_bytes, manifest->state_bytes, manifest->reply_bytes,
                              UINT32_MAX};
}

#endif

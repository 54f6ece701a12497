// SPDX-License-Identifier: Apache-2.0
/// A name that machines share: what its first worker wrote down for all.
#ifndef SLRI_CLUSTER_NAME_H
#define SLRI_CLUSTER_NAME_H

#include "cluster/nats.h"
#include "cluster/server.h"

#include <slipring/operate.h>

#include <stdio.h>

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

/// What a worker writes down of itself again and again. Its revision is its sign of life.
typedef struct slri_worker_card {
    uint64_t now_ns; // by its own clock
    uint64_t process;
    char host[64];
} slri_worker_card;

/// The prefixes of values that name a worker: that it lives; that it is asked to end.
#define SLRI_WORKER_KEY "worker."
#define SLRI_DRAIN_KEY "drain."
enum { SLRI_WORKER_KEY_BYTES = 48 };

/// A worker that was silent for so many leases is no longer listed.
enum { SLRI_FORGET_LEASES = 10 };

static inline void slri_worker_key(char out[SLRI_WORKER_KEY_BYTES], const char *prefix, const char *id)
{
    snprintf(out, SLRI_WORKER_KEY_BYTES, "%s%.*s", prefix, SLRI_WORKER_ID, id);
}

/// Who has a partition: an empty text for nobody.
typedef struct slri_owner {
    char worker[SLRI_WORKER_ID];
} slri_owner;

enum { SLRI_WORKERS_MOST = 1024 };
typedef struct slri_workers {
    uint32_t count;
    slr_remote_worker list[SLRI_WORKERS_MOST];
} slri_workers;

/// The workers of a name with that lease, and what each has. A lost one has no partitions.
slr_status slri_workers_list(slri_nats *nats, uint64_t lease_ns, slri_workers *out);
/// NULL: it is not listed.
slr_remote_worker *slri_workers_find(slri_workers *workers, const char *id);

/// Reads and checks it. Errors: NOT_FOUND (nobody has served this name), INVALID.
slr_status slri_manifest_read(slri_nats *nats, slri_manifest *out);

/// Checks one that was read elsewhere. Errors: INVALID.
slr_status slri_manifest_check(const slri_manifest *manifest, size_t bytes, const char *place);

/// What the first worker writes down.
void slri_manifest_begin(slri_manifest *manifest, const slri_head *head, const slr_worker_desc *desc,
                         const slr_ring_desc *ring, uint32_t replicas);

/// The partition of a key: a fixed hash, whichever version of slipring computes it.
uint32_t slri_partition_of(const slri_manifest *manifest, const slr_key *key);

/// The head of a partition's last snapshot: at least of the last one whose messages were purged. Errors: NOT_FOUND (it
/// has none yet), INVALID, TIMEOUT.
slr_status slri_partition_head(slri_nats *nats, uint32_t partition, slri_head *out, uint64_t *revision);

static inline slri_frame_shape slri_manifest_shape(const slri_manifest *manifest)
{
    return (slri_frame_shape){manifest->layout, manifest->message_bytes, manifest->state_bytes, manifest->reply_bytes,
                              UINT32_MAX};
}

#endif

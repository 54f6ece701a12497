// SPDX-License-Identifier: Apache-2.0
/// Ring kernels spread over the devices of a cluster: one name, one set of instances or keys, one sum of counts.
/// Contract: docs/contract/cluster.md.
#ifndef SLIPRING_CLUSTER_RING_H
#define SLIPRING_CLUSTER_RING_H

#include <slipring/cluster.h>
#include <slipring/keys.h>
#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_cluster_ring slr_cluster_ring;
typedef struct slr_cluster_port slr_cluster_port;

/// Makes and launches a ring kernel on each device. Its `instances` are shared out: equal parts, the first instances on
/// the first device, and each device has one at least. With keys, a key is on the device that a hash of it names, and
/// each device has room for its part of `instances`. `programs` has a program of each device, for a kernel handler;
/// NULL for a host handler, which may then run on several devices at once. desc->program is ignored.
///
/// Threads: any.  Blocks: as slr_ring_create and slr_ring_launch.
/// Owns: the caller gets the ring kernel: slr_cluster_ring_destroy, before the cluster.
/// Errors: as slr_ring_create and slr_ring_launch; INVALID (fewer instances than devices).
SLR_API slr_status slr_cluster_ring_create(slr_cluster *cluster, const slr_ring_desc *desc,
                                           slr_program *const *programs, slr_cluster_ring **out);

/// slr_ring_activate on each device.
/// Threads: any.  Blocks: until `timeout_ns`.  Errors: as slr_ring_activate, of the first that fails.
SLR_API slr_status slr_cluster_ring_activate(slr_cluster_ring *ring, uint64_t timeout_ns);

/// slr_ring_close_input on each device, then waits until all have terminated: each accepted message is handled.
/// Threads: any.  Blocks: until `timeout_ns`.  Errors: as slr_ring_close_input and slr_ring_wait.
SLR_API slr_status slr_cluster_ring_drain(slr_cluster_ring *ring, uint64_t timeout_ns);

/// Terminates what has not terminated, and releases the handle. Close its ports first. NULL does nothing.
/// Threads: any, once.  Blocks: as slr_ring_destroy.
SLR_API void slr_cluster_ring_destroy(slr_cluster_ring *ring);

/// Gives the sums of the devices' counts. `state` is the latest state that all devices have reached, or
/// SLR_RING_IN_FAILURE if one device has failed. Each text is that of the first device with such a text. `mode` is the
/// first device's. `running_ns` is the longest of all devices.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_cluster_ring_get_stats(slr_cluster_ring *ring, slr_ring_stats *out);

/// The macro slr_cluster_ring_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cluster_ring_get_stats_sized(slr_cluster_ring *ring, slr_ring_stats *out, size_t bytes);
#define slr_cluster_ring_get_stats(ring, out) slr_cluster_ring_get_stats_sized((ring), (out), sizeof(slr_ring_stats))

/// The ring kernel on one device, for every call of <slipring/ring.h> but slr_ring_destroy, and for routes.
/// Threads: any.  Blocks: no.  Owns: the cluster ring keeps it.  Errors: INVALID (NULL), NOT_FOUND (index).
SLR_API slr_status slr_cluster_ring_get(const slr_cluster_ring *ring, uint32_t index, slr_ring **out);

/// The owner of an instance: the index of its device, and its number in that device's ring kernel. Both may be NULL.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL, out of range; a ring kernel with keys).
SLR_API slr_status slr_cluster_ring_find(const slr_cluster_ring *ring, uint32_t instance, uint32_t *device,
                                         uint32_t *local);

/// The owner of a key: the index of its device. A key has the same owner in all processes with the same number of
/// devices. Threads: any.  Blocks: no.  Errors: INVALID (NULL; a ring kernel without keys).
SLR_API slr_status slr_cluster_ring_find_key(const slr_cluster_ring *ring, slr_key key, uint32_t *device);

// ---- messages ------------------------------------------------------------------------------------------------------

/// Opens a port that reaches every device. It belongs to one thread at a time, as every port.
/// Threads: any.  Blocks: no.  Owns: the caller gets the port: slr_cluster_port_close.  Errors: as slr_port_open.
SLR_API slr_status slr_cluster_port_open(slr_cluster_ring *ring, slr_cluster_port **out);

/// Closes a port. NULL does nothing.  Threads: the owner, once.  Blocks: no.
SLR_API void slr_cluster_port_close(slr_cluster_port *port);

/// slr_send_with to an instance, wherever it is.
/// Threads: the port's owner.  Blocks: until `timeout_ns` for credit.  Errors: as slr_send; INVALID (instance).
SLR_API slr_status slr_cluster_send(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    const slr_send_options *options, uint64_t timeout_ns);

/// slr_send_key to the device that owns the key. Messages with one key keep their order.
/// Threads: the port's owner.  Blocks: as slr_send_key.  Errors: as slr_send_key.
SLR_API slr_status slr_cluster_send_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        const slr_send_options *options, uint64_t timeout_ns);

/// slr_call to an instance, wherever it is.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_call; INVALID (instance).
SLR_API slr_status slr_cluster_call(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// slr_call_key to the device that owns the key.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_call_key.
SLR_API slr_status slr_cluster_call_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// slr_receive of whichever device has a reply. `device` and `instance` (may be NULL) get the index of the device that
/// replied, and the instance: its number in the cluster ring, or with keys in the device's. Devices take turns, so that
/// none keeps the others' replies back. END when all that were used have ended.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_receive.
SLR_API slr_status slr_cluster_receive(slr_cluster_port *port, slr_reply *reply, uint32_t *device, uint32_t *instance,
                                       void *payload, size_t capacity, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif

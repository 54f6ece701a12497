// SPDX-License-Identifier: Apache-2.0
/// Cluster rings: a cluster ring is one ring kernel on each device of a cluster. These ring kernels share a name, a set
/// of instances or keys, and counts.
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

/// Makes and launches a ring kernel on each device. The devices share desc->instances in equal parts: the first device
/// gets the first instances, and each device gets at least one. With keys, a hash of the key selects the device, and
/// each device has room for its part of `instances`. For a kernel handler, `programs` holds a program of each device.
/// For a host handler, `programs` is NULL, and the handler may run on several devices at once. desc->program is
/// ignored.
///
/// Threads: any.  Blocks: as slr_ring_create and slr_ring_launch.
/// Owns: the caller gets the cluster ring: slr_cluster_ring_destroy, before slr_cluster_destroy.
/// Errors: as slr_ring_create and slr_ring_launch; INVALID (fewer instances than devices).
SLR_API slr_status slr_cluster_ring_create(slr_cluster *cluster, const slr_ring_desc *desc,
                                           slr_program *const *programs, slr_cluster_ring **out);

/// Calls slr_ring_activate on each device.
/// Threads: any.  Blocks: until `timeout_ns`.  Errors: as slr_ring_activate, of the first device that fails.
SLR_API slr_status slr_cluster_ring_activate(slr_cluster_ring *ring, uint64_t timeout_ns);

/// Calls slr_ring_close_input on each device, and waits until all of these ring kernels have terminated. Every accepted
/// message is then handled.
/// Threads: any.  Blocks: until `timeout_ns`.  Errors: as slr_ring_close_input and slr_ring_wait.
SLR_API slr_status slr_cluster_ring_drain(slr_cluster_ring *ring, uint64_t timeout_ns);

/// Terminates the ring kernels that have not terminated, and releases the cluster ring. Close the cluster ring's ports
/// first. NULL does nothing.
/// Threads: any, once.  Blocks: as slr_ring_destroy.
SLR_API void slr_cluster_ring_destroy(slr_cluster_ring *ring);

/// Gives the sums of the devices' counts. `state` is the latest state that all devices have reached, or
/// SLR_RING_IN_FAILURE if one device has failed. Each text comes from the first device that has such a text. `mode` is
/// the first device's. `running_ns` is the longest of all devices.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_cluster_ring_get_stats(slr_cluster_ring *ring, slr_ring_stats *out);

/// The macro slr_cluster_ring_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cluster_ring_get_stats_sized(slr_cluster_ring *ring, slr_ring_stats *out, size_t bytes);
#define slr_cluster_ring_get_stats(ring, out) slr_cluster_ring_get_stats_sized((ring), (out), sizeof(slr_ring_stats))

/// Gives the ring kernel on one device. All functions of <slipring/ring.h> except slr_ring_destroy accept this ring
/// kernel. Routes accept it, too.
/// Threads: any.  Blocks: no.  Owns: the cluster ring keeps it.  Errors: INVALID (NULL), NOT_FOUND (index).
SLR_API slr_status slr_cluster_ring_get(const slr_cluster_ring *ring, uint32_t index, slr_ring **out);

/// Finds an instance. `device` gets the index of the instance's device. `local` gets the instance's number in that
/// device's ring kernel. Both may be NULL.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL, out of range; a ring kernel with keys).
SLR_API slr_status slr_cluster_ring_find(const slr_cluster_ring *ring, uint32_t instance, uint32_t *device,
                                         uint32_t *local);

/// Gives the index of the device that serves a key. This is the same device in all processes with the same number of
/// devices.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL; a ring kernel without keys).
SLR_API slr_status slr_cluster_ring_find_key(const slr_cluster_ring *ring, slr_key key, uint32_t *device);

// ---- messages ------------------------------------------------------------------------------------------------------

/// Opens a port to all devices. Like every port, it belongs to one thread at a time: its owner.
/// Threads: any.  Blocks: no.  Owns: the caller gets the port: slr_cluster_port_close.  Errors: as slr_port_open.
SLR_API slr_status slr_cluster_port_open(slr_cluster_ring *ring, slr_cluster_port **out);

/// Closes a port. NULL does nothing.  Threads: the owner, once.  Blocks: no.
SLR_API void slr_cluster_port_close(slr_cluster_port *port);

/// Sends a message to an instance on any device, as slr_send_with.
/// Threads: the port's owner.  Blocks: until `timeout_ns` for credit.  Errors: as slr_send; INVALID (instance).
SLR_API slr_status slr_cluster_send(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    const slr_send_options *options, uint64_t timeout_ns);

/// Sends a message to the instance of a key, as slr_send_key, on the device that serves the key. Messages with one key
/// keep their order.
/// Threads: the port's owner.  Blocks: as slr_send_key.  Errors: as slr_send_key.
SLR_API slr_status slr_cluster_send_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        const slr_send_options *options, uint64_t timeout_ns);

/// Calls an instance on any device, as slr_call.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_call; INVALID (instance).
SLR_API slr_status slr_cluster_call(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Calls the instance of a key, as slr_call_key, on the device that serves the key.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_call_key.
SLR_API slr_status slr_cluster_call_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Receives the next reply of any device, as slr_receive. `device` (may be NULL) gets the index of the device that
/// replied. `instance` (may be NULL) gets the instance's number in the cluster ring, or, with keys, in the device's
/// ring kernel. The call asks the devices in rotation, so no device delays the others' replies. The result is END when
/// all ring kernels that the port has used have ended.
/// Threads: the port's owner.  Blocks: until `timeout_ns`.  Errors: as slr_receive.
SLR_API slr_status slr_cluster_receive(slr_cluster_port *port, slr_reply *reply, uint32_t *device, uint32_t *instance,
                                       void *payload, size_t capacity, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif

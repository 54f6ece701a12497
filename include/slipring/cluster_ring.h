// SPDX-License-Identifier: Apache-2.0
/// A cluster ring is one ring kernel (a message handler with a mailbox and states) on each device of a cluster. The
/// ring kernels of a cluster ring have the same name and share one set of instances (states, addressed by number) or
/// keys. slipring adds up their counts of messages. Contract: docs/contract/cluster.md.
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

/// Makes a ring kernel on each device of the cluster, and launches all these ring kernels. The cluster divides the
/// desc->instances instances into equal parts, one for each device. The first device gets the first instances, and each
/// device gets at least one instance. If instances are addressed by keys (desc->keys), a hash of the key selects the
/// device. Each device has room for as many keys as its part has instances. For a handler in kernel source, `programs`
/// holds one program for each device. For a host handler, `programs` is NULL, and slipring may call the handler for
/// several devices at once. slr_cluster_ring_create ignores desc->program.
///
/// Threads: any.  Blocks: as slr_ring_create and slr_ring_launch.
/// Owns: the caller gets the cluster ring, and frees it by slr_cluster_ring_destroy before slr_cluster_destroy.
/// Errors: those of slr_ring_create and slr_ring_launch; INVALID (fewer instances than devices).
SLR_API slr_status slr_cluster_ring_create(slr_cluster *cluster, const slr_ring_desc *desc,
                                           slr_program *const *programs, slr_cluster_ring **out);

/// Calls slr_ring_activate for the ring kernel on each device.
/// Threads: any.  Blocks: for at most `timeout_ns`.  Errors: those of slr_ring_activate, from the first device that
/// fails.
SLR_API slr_status slr_cluster_ring_activate(slr_cluster_ring *ring, uint64_t timeout_ns);

/// Calls slr_ring_close_input for the ring kernel on each device, and waits until all these ring kernels have
/// terminated. When slr_cluster_ring_drain returns SLR_OK, every accepted message has been handled.
/// Threads: any.  Blocks: for at most `timeout_ns`.  Errors: those of slr_ring_close_input and slr_ring_wait.
SLR_API slr_status slr_cluster_ring_drain(slr_cluster_ring *ring, uint64_t timeout_ns);

/// Terminates those ring kernels of the cluster ring that have not yet terminated, and releases the cluster ring.
/// The program must close the cluster ring's ports before it calls slr_cluster_ring_destroy. If `ring` is NULL,
/// slr_cluster_ring_destroy does nothing.
/// Threads: any, once for each cluster ring.  Blocks: as slr_ring_destroy.
SLR_API void slr_cluster_ring_destroy(slr_cluster_ring *ring);

/// Gives the counts of a cluster ring: each count is the sum over all devices. `state` is the lowest value of
/// slr_ring_state among the ring kernels, or SLR_RING_IN_FAILURE if one ring kernel has failed. Each text in `out`
/// comes from the first device whose text is not empty. The field `mode` is the mode of the first device's ring kernel.
/// `running_ns` is the longest running time of a ring kernel.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_cluster_ring_get_stats(slr_cluster_ring *ring, slr_ring_stats *out);

/// The macro slr_cluster_ring_get_stats calls slr_cluster_ring_get_stats_sized with sizeof(slr_ring_stats) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_cluster_ring_get_stats_sized(slr_cluster_ring *ring, slr_ring_stats *out, size_t bytes);
#define slr_cluster_ring_get_stats(ring, out) slr_cluster_ring_get_stats_sized((ring), (out), sizeof(slr_ring_stats))

/// Gives the cluster ring's ring kernel on one device. All functions of <slipring/ring.h> except slr_ring_destroy
/// accept the ring kernel of a cluster ring. A route (a connection between two ring kernels) may use the ring kernel of
/// a cluster ring, too.
/// Threads: any.  Blocks: no.  Owns: the cluster ring still owns the ring kernel.  Errors: INVALID (a NULL argument),
///   NOT_FOUND (no device has this index).
SLR_API slr_status slr_cluster_ring_get(const slr_cluster_ring *ring, uint32_t index, slr_ring **out);

/// Finds the device on which an instance runs. `device` gets the index of the instance's device. `local` gets the
/// instance's number within the ring kernel on that device. The pointers `device` and `local` may be NULL.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument, an instance out of range; a ring kernel with keys).
SLR_API slr_status slr_cluster_ring_find(const slr_cluster_ring *ring, uint32_t instance, uint32_t *device,
                                         uint32_t *local);

/// Gives the index of the device that serves a key. In all processes whose clusters have the same number of devices, a
/// key gives the same index.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument; a ring kernel without keys).
SLR_API slr_status slr_cluster_ring_find_key(const slr_cluster_ring *ring, slr_key key, uint32_t *device);

// ---- messages ------------------------------------------------------------------------------------------------------

/// Opens a port, through which a program can send to the ring kernels on all devices of the cluster and receive the
/// replies of these ring kernels. Like every port, the new port belongs to one thread at a time: its owner.
/// Threads: any.  Blocks: no.  Owns: the caller gets the port, and frees it by slr_cluster_port_close.  Errors: those
/// of slr_port_open.
SLR_API slr_status slr_cluster_port_open(slr_cluster_ring *ring, slr_cluster_port **out);

/// Closes a port. If `port` is NULL, slr_cluster_port_close does nothing.
/// Threads: the port's owner, once.  Blocks: no.
SLR_API void slr_cluster_port_close(slr_cluster_port *port);

/// Sends a message to the instance with the number `instance` in the cluster ring, on whichever device it runs.
/// Otherwise slr_cluster_send works like slr_send_with.
/// Threads: the port's owner.  Blocks: for at most `timeout_ns`, while the mailbox is full.  Errors: those of slr_send;
/// INVALID (no such instance).
SLR_API slr_status slr_cluster_send(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    const slr_send_options *options, uint64_t timeout_ns);

/// Sends a message to the instance of a key, on the device that serves the key. Otherwise slr_cluster_send_key works
/// like slr_send_key. Messages with the same key keep their order.
/// Threads: the port's owner.  Blocks: as slr_send_key.  Errors: those of slr_send_key.
SLR_API slr_status slr_cluster_send_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        const slr_send_options *options, uint64_t timeout_ns);

/// Sends a message to the instance with the number `instance` in the cluster ring, and waits for the reply. Otherwise
/// slr_cluster_call works like slr_call.
/// Threads: the port's owner.  Blocks: for at most `timeout_ns`.  Errors: those of slr_call; INVALID (no such
/// instance).
SLR_API slr_status slr_cluster_call(slr_cluster_port *port, uint32_t instance, const void *message, size_t bytes,
                                    void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Sends a message to the instance of a key, on the device that serves the key, and waits for the reply. Otherwise
/// slr_cluster_call_key works like slr_call_key.
/// Threads: the port's owner.  Blocks: for at most `timeout_ns`.  Errors: those of slr_call_key.
SLR_API slr_status slr_cluster_call_key(slr_cluster_port *port, slr_key key, const void *message, size_t bytes,
                                        void *reply, size_t reply_bytes, uint64_t timeout_ns);

/// Receives the next reply, from any device of the cluster. Otherwise slr_cluster_receive works like slr_receive.
/// `device` gets the index of the device that replied; `device` may be NULL. If the instances have no keys, `instance`
/// gets the number of the replying instance in the cluster ring. If they have keys, `instance` gets the instance's
/// number in the ring kernel of the device that replied. `instance` may be NULL. slr_cluster_receive asks the devices
/// in rotation, so no device delays the replies of other devices. The result is END when all ring kernels to which the
/// port has sent messages have terminated.
/// Threads: the port's owner.  Blocks: for at most `timeout_ns`.  Errors: those of slr_receive.
SLR_API slr_status slr_cluster_receive(slr_cluster_port *port, slr_reply *reply, uint32_t *device, uint32_t *instance,
                                       void *payload, size_t capacity, uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif
#endif

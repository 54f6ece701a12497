// SPDX-License-Identifier: Apache-2.0
/// With the functions of this header, a program lists, drains and copies names, for the people who operate them. A name
/// is a ring kernel (a message handler with a state for each key) that several machines serve together
/// (<slipring/remote.h>). Contract: docs/contract/remote.md.
///
///     slr_remote_desc where = SLR_REMOTE_DESC_INIT;
///     where.servers = "nats://127.0.0.1:4222";
///     slr_remote_visit_names(&where, print_name, NULL);
///     where.name = "counts";
///     slr_remote_visit_workers(&where, print_worker, NULL);
///     slr_remote_drain(&where, "00c0ffee00c0ffee", timeout_ns); // that worker ends, others take over its work
///     slr_remote_snapshot(&where, "/backup/counts", &copied);   // a copy of the name, while it is served
#ifndef SLIPRING_OPERATE_H
#define SLIPRING_OPERATE_H

#include <slipring/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_remote_visit_names calls slr_on_remote_name for each name. The text `name` is valid until slr_on_remote_name
/// returns.
typedef void slr_on_remote_name(void *user, const char *name);

/// Calls `visit`, in alphabetical order, for each name that a worker has ever served on the NATS servers.
/// slr_remote_visit_names ignores `where->name`.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: INVALID, UNSUPPORTED, SYSTEM, TIMEOUT, NO_MEMORY.
SLR_API slr_status slr_remote_visit_names(const slr_remote_desc *where, slr_on_remote_name *visit, void *user);

/// slr_remote_worker describes a worker process that the NATS servers list. A worker that is silent for its lease (the
/// time after which others take over its work) is lost. A lost worker stays in the list until it has been silent for
/// ten times the lease. The clock of the NATS servers measures the silence.
typedef struct slr_remote_worker {
    char id[24];         ///< the worker's identifier: 16 hexadecimal digits
    char host[64];       ///< the name of the worker's machine
    uint64_t process;    ///< the worker's process ID on its machine
    uint32_t partitions; ///< partitions (parts of the keys) that the worker serves; 0 if the worker is lost
    uint32_t draining;   ///< 1: slr_remote_drain has asked the worker to end
    uint64_t silent_ns;  ///< time since the worker last renewed its lease, in nanoseconds
    uint32_t is_lost;    ///< 1: `silent_ns` has reached the lease; the worker was killed, or cannot reach the servers
    uint32_t reserved;
} slr_remote_worker;

/// slr_remote_visit_workers calls slr_on_remote_worker for each worker. A later version of the library may append
/// members to the struct `worker`. The struct is valid until slr_on_remote_worker returns.
typedef void slr_on_remote_worker(void *user, const slr_remote_worker *worker);

/// Calls `visit` for each worker that serves, or was serving when it was lost, the name `where->name`.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: those of slr_sender_open.
SLR_API slr_status slr_remote_visit_workers(const slr_remote_desc *where, slr_on_remote_worker *visit, void *user);

/// Asks a worker process to hand its partitions over to other workers and to take no more partitions. If `worker` is
/// NULL, slr_remote_drain asks all workers. Then slr_remote_drain waits until each worker that it asked has handed its
/// partitions over and has ended, or is lost (slr_remote_worker.is_lost). The program of the worker can read in
/// slr_worker_stats.draining that slr_remote_drain has asked the worker to end. If no worker serves the name after
/// slr_remote_drain, accepted messages wait on the servers. Threads: any.  Blocks: for at most `timeout_ns`, and while
/// the call waits for an answer of a NATS server. Errors: NOT_FOUND (no such worker; nobody has served this name),
/// TIMEOUT (a worker that was asked has not ended; the
///   request remains valid), and those of slr_sender_open.
SLR_API slr_status slr_remote_drain(const slr_remote_desc *where, const char *worker, uint64_t timeout_ns);

// ---- dead letters --------------------------------------------------------------------------------------------------

/// A dead letter is a message whose handler faulted.
typedef struct slr_remote_letter {
    uint64_t sequence; ///< number of the dead letter among those of its partition, from 1
    uint64_t message;  ///< number of the message in the partition, from 1
    uint32_t instance;
    uint32_t bytes;   ///< size of the message
    char reason[192]; ///< description of the handler's fault, and its place in the source
} slr_remote_letter;

/// Opens a receiver for the dead letters of a name, from the first letter that is still stored. slr_receiver_release
/// removes the letters that the program received. The program receives the dead letters by
/// slr_receiver_receive_letter, because slr_receiver_receive refuses this receiver.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Owns: the caller gets the receiver, and frees it by slr_receiver_close.
/// Errors: those of slr_sender_open.
SLR_API slr_status slr_receiver_open_letters(const slr_remote_desc *where, slr_receiver **out);

/// Receives the next dead letter of any partition. `*partition` gets the number of the letter's partition; `partition`
/// may be NULL.
/// Threads: the receiver's owner.  Blocks: for at most `timeout_ns`.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than a message; a receiver that slr_receiver_open made; a record
///   that is no letter), SYSTEM.
SLR_API slr_status slr_receiver_receive_letter(slr_receiver *receiver, slr_remote_letter *out, uint32_t *partition,
                                               void *message, size_t capacity, uint64_t timeout_ns);

/// The macro slr_receiver_receive_letter calls slr_receiver_receive_letter_sized with the size of a letter as
/// `letter_bytes` (docs/contract/abi.md).
SLR_API slr_status slr_receiver_receive_letter_sized(slr_receiver *receiver, slr_remote_letter *out,
                                                     size_t letter_bytes, uint32_t *partition, void *message,
                                                     size_t capacity, uint64_t timeout_ns);
#define slr_receiver_receive_letter(receiver, out, partition, message, capacity, timeout_ns)                           \
    slr_receiver_receive_letter_sized((receiver), (out), sizeof(slr_remote_letter), (partition), (message),            \
                                      (capacity), (timeout_ns))

// ---- copies --------------------------------------------------------------------------------------------------------

/// The struct slr_remote_copy says how much a copy of a name (a ring kernel that several machines serve) contains.
typedef struct slr_remote_copy {
    uint32_t partitions, reserved;
    uint64_t states;   ///< number of states in the last snapshots (stored copies of states)
    uint64_t messages; ///< messages whose effect is in the states of the last snapshots
    uint64_t waiting;  ///< frames (groups of messages) that the last snapshots do not contain
    /// Records (groups) of outputs (replies of the handler) that slr_receiver_release has not removed.
    uint64_t outputs;
    uint64_t letters; ///< number of dead letters
    uint64_t bytes;   ///< size of all copied records, in bytes
} slr_remote_copy;

/// Copies all that the servers store for a name into a new folder. Workers may serve the name during the copy. The copy
/// shows each partition at one moment; different partitions may be copied at different moments.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: INVALID (the folder holds a copy already), TIMEOUT (a partition changed faster than slipring could copy it),
///   and those of slr_sender_open.
SLR_API slr_status slr_remote_snapshot(const slr_remote_desc *where, const char *folder, slr_remote_copy *out);

/// The macro slr_remote_snapshot calls slr_remote_snapshot_sized with `sizeof(slr_remote_copy)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_remote_snapshot_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                             size_t bytes);
#define slr_remote_snapshot(where, folder, out)                                                                        \
    slr_remote_snapshot_sized((where), (folder), (out), sizeof(slr_remote_copy))

/// Creates a name on the servers from a folder that slr_remote_snapshot wrote. Workers of the new name continue from
/// the copy. The new name may differ from the name that was copied, but the servers must not already have it.
/// slr_remote_desc.replicas says how many copies the servers keep of the new name's data.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: WRONG_STATE (the servers already have the name), NOT_FOUND (the folder has no copy), INVALID (a damaged
///   copy: the error message names the file), and those of slr_sender_open.
SLR_API slr_status slr_remote_restore(const slr_remote_desc *where, const char *folder, slr_remote_copy *out);

/// The macro slr_remote_restore calls slr_remote_restore_sized with `sizeof(slr_remote_copy)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_remote_restore_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                            size_t bytes);
#define slr_remote_restore(where, folder, out)                                                                         \
    slr_remote_restore_sized((where), (folder), (out), sizeof(slr_remote_copy))

// ---- servers -------------------------------------------------------------------------------------------------------

enum { SLR_REMOTE_SYNC_UNKNOWN = 0, SLR_REMOTE_SYNC_ALWAYS = 1, SLR_REMOTE_SYNC_INTERVAL = 2 };

/// slr_remote_safety says which failures of the NATS servers an accepted message survives.
typedef struct slr_remote_safety {
    char version[32];  ///< version of the server that answered
    uint32_t replicas; ///< replicas of the name's streams; if nobody has served the name, slr_remote_desc.replicas
    uint32_t current;  ///< replicas that are up to date now
    /// When the servers sync accepted messages to their disks. SLR_REMOTE_SYNC_ALWAYS: before they accept a message;
    /// SLR_REMOTE_SYNC_INTERVAL: once in each time of sync_interval; or SLR_REMOTE_SYNC_UNKNOWN.
    uint32_t sync;
    uint32_t servers;     ///< number of servers that reported their setting sync_interval
    uint64_t interval_ns; ///< with SLR_REMOTE_SYNC_INTERVAL: the longest sync_interval (time between two syncs of a
                          ///< server's disk)
    uint64_t answer_ns;   ///< median time until a message of 64 B was accepted
    char words[320];      ///< which failures an accepted message survives, in words
} slr_remote_safety;

/// Stores a few records in a temporary stream of the NATS servers, reads what the servers report about that stream, and
/// removes the stream. The server setting sync_interval says how often a server syncs its disk. A server reports
/// sync_interval only to a client that is logged in with the servers' system account. The fields credentials, nkey and
/// tls_... of `system` hold the credentials of the system account. If `system` is NULL, the value of sync_interval
/// stays unknown. `where->name` may be NULL.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: INVALID, UNSUPPORTED, SYSTEM, TIMEOUT.
SLR_API slr_status slr_remote_get_safety(const slr_remote_desc *where, const slr_remote_desc *system,
                                         slr_remote_safety *out);

/// The macro slr_remote_get_safety calls slr_remote_get_safety_sized with `sizeof(slr_remote_safety)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_remote_get_safety_sized(const slr_remote_desc *where, const slr_remote_desc *system,
                                               slr_remote_safety *out, size_t bytes);
#define slr_remote_get_safety(where, system, out)                                                                      \
    slr_remote_get_safety_sized((where), (system), (out), sizeof(slr_remote_safety))

#ifdef __cplusplus
}
#endif
#endif

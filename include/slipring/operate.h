// SPDX-License-Identifier: Apache-2.0
/// What an operator does with the names that machines share (<slipring/remote.h>). Contract: docs/contract/remote.md.
///
///     slr_remote_desc where = SLR_REMOTE_DESC_INIT;
///     where.servers = "nats://127.0.0.1:4222";
///     slr_remote_visit_names(&where, print_name, NULL);
///     where.name = "counts";
///     slr_remote_visit_workers(&where, print_worker, NULL);
///     slr_remote_drain(&where, "00c0ffee00c0ffee", timeout_ns); // that worker hands its partitions over and ends
///     slr_remote_snapshot(&where, "/backup/counts", &copied);   // a copy of the name, while it is served
#ifndef SLIPRING_OPERATE_H
#define SLIPRING_OPERATE_H

#include <slipring/remote.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Called for each name. `name` stays valid during the call.
typedef void slr_on_remote_name(void *user, const char *name);

/// Calls `visit` for each name that was ever served on the servers, in the order of their texts. `where->name` is not
/// used.
/// Threads: any.  Blocks: for the servers.  Errors: INVALID, UNSUPPORTED, SYSTEM, TIMEOUT, NO_MEMORY.
SLR_API slr_status slr_remote_visit_names(const slr_remote_desc *where, slr_on_remote_name *visit, void *user);

/// A worker that the servers know. A worker that was killed is listed until the others forget it: ten leases.
typedef struct slr_remote_worker {
    char id[24];         ///< 16 hexadecimal digits
    char host[64];       ///< its machine
    uint64_t process;    ///< its process id there
    uint32_t partitions; ///< that it has
    uint32_t draining;   ///< 1: slr_remote_drain has asked it to end
} slr_remote_worker;

/// Called for each worker, with the struct's size in this library. `worker` stays valid during the call.
typedef void slr_on_remote_worker(void *user, const slr_remote_worker *worker);

/// Calls `visit` for each worker of the name.
/// Threads: any.  Blocks: for the servers.  Errors: as slr_sender_open.
SLR_API slr_status slr_remote_visit_workers(const slr_remote_desc *where, slr_on_remote_worker *visit, void *user);

/// Asks a worker (NULL: all workers) to hand over its partitions and to take no more. Then waits until it has done so.
/// Its program sees slr_worker_stats.draining. Accepted messages wait where no worker is left.
/// Threads: any.  Blocks: until `timeout_ns`, and for the servers.
/// Errors: NOT_FOUND (no such worker; nobody has served this name), TIMEOUT (the worker has not ended; the request
///   remains), and as slr_sender_open.
SLR_API slr_status slr_remote_drain(const slr_remote_desc *where, const char *worker, uint64_t timeout_ns);

// ---- dead letters --------------------------------------------------------------------------------------------------

/// A message that faulted.
typedef struct slr_remote_letter {
    uint64_t sequence; ///< counts the letters of its partition from 1
    uint64_t message;  ///< counts the messages of the partition from 1
    uint32_t instance;
    uint32_t bytes;   ///< of the message
    char reason[192]; ///< what the handler did, and where
} slr_remote_letter;

/// Reads the messages of a name that faulted, from the first one that is still stored. slr_receiver_release removes
/// the letters that were received; slr_receiver_receive refuses this receiver.
/// Threads: any.  Blocks: for the servers.  Owns: the caller gets the receiver: slr_receiver_close.
/// Errors: as slr_sender_open.
SLR_API slr_status slr_receiver_open_letters(const slr_remote_desc *where, slr_receiver **out);

/// Receives the next letter of any partition. `*partition` (may be NULL) gets that partition.
/// Threads: the receiver's owner.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than a message; a receiver of outputs; a record that is no letter),
///   SYSTEM.
SLR_API slr_status slr_receiver_receive_letter(slr_receiver *receiver, slr_remote_letter *out, uint32_t *partition,
                                               void *message, size_t capacity, uint64_t timeout_ns);

/// The macro slr_receiver_receive_letter calls this function, with the size of a letter as `letter_bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_receiver_receive_letter_sized(slr_receiver *receiver, slr_remote_letter *out,
                                                     size_t letter_bytes, uint32_t *partition, void *message,
                                                     size_t capacity, uint64_t timeout_ns);
#define slr_receiver_receive_letter(receiver, out, partition, message, capacity, timeout_ns)                           \
    slr_receiver_receive_letter_sized((receiver), (out), sizeof(slr_remote_letter), (partition), (message),            \
                                      (capacity), (timeout_ns))

// ---- copies --------------------------------------------------------------------------------------------------------

/// What a copy of a name holds.
typedef struct slr_remote_copy {
    uint32_t partitions, reserved;
    uint64_t states;   ///< of the last snapshots
    uint64_t messages; ///< that those snapshots have
    uint64_t waiting;  ///< frames of messages after them
    uint64_t outputs;  ///< records of outputs that were not released
    uint64_t letters;  ///< dead letters
    uint64_t bytes;    ///< of all records
} slr_remote_copy;

/// Copies what the servers store of a name into a new folder. Workers may serve the name during the copy: each
/// partition is copied as it was at one moment.
/// Threads: any.  Blocks: for the servers.
/// Errors: INVALID (the folder holds a copy already), TIMEOUT (a partition changed faster than it could be copied), and
///   as slr_sender_open.
SLR_API slr_status slr_remote_snapshot(const slr_remote_desc *where, const char *folder, slr_remote_copy *out);

/// The macro slr_remote_snapshot calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_remote_snapshot_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                             size_t bytes);
#define slr_remote_snapshot(where, folder, out)                                                                        \
    slr_remote_snapshot_sized((where), (folder), (out), sizeof(slr_remote_copy))

/// Makes a name from such a folder: workers go on where the copy was made. The name must be free on these servers; it
/// may be another one than the name that was copied. slr_remote_desc.replicas counts for the new streams.
/// Threads: any.  Blocks: for the servers.
/// Errors: WRONG_STATE (the name is in use there), NOT_FOUND (the folder has no copy), INVALID (a damaged copy: names
///   the file), and as slr_sender_open.
SLR_API slr_status slr_remote_restore(const slr_remote_desc *where, const char *folder, slr_remote_copy *out);

/// The macro slr_remote_restore calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_remote_restore_sized(const slr_remote_desc *where, const char *folder, slr_remote_copy *out,
                                            size_t bytes);
#define slr_remote_restore(where, folder, out)                                                                         \
    slr_remote_restore_sized((where), (folder), (out), sizeof(slr_remote_copy))

// ---- servers -------------------------------------------------------------------------------------------------------

enum { SLR_REMOTE_SYNC_UNKNOWN = 0, SLR_REMOTE_SYNC_ALWAYS = 1, SLR_REMOTE_SYNC_INTERVAL = 2 };

/// What an accepted message survives on some servers.
typedef struct slr_remote_safety {
    char version[32];     ///< of the server that answered
    uint32_t replicas;    ///< of the name's streams; if nobody has served it, slr_remote_desc.replicas
    uint32_t current;     ///< of those replicas: up to date now
    uint32_t sync;        ///< whether a power cut is survived: SLR_REMOTE_SYNC_UNKNOWN, ..._ALWAYS, ..._INTERVAL
    uint32_t servers;     ///< that reported their sync_interval
    uint64_t interval_ns; ///< of SLR_REMOTE_SYNC_INTERVAL: the longest
    uint64_t answer_ns;   ///< median time until a message of 64 B was accepted
    char words[320];      ///< the answer in a sentence
} slr_remote_safety;

/// Stores a few records in a stream of its own, which it removes, and reads what the servers say of it. Only the system
/// account of the servers may ask for their sync_interval: `system` says who we are there; NULL: it stays unknown. Of
/// `system`, only credentials, nkey and the fields of TLS count. `where->name` may be NULL.
/// Threads: any.  Blocks: for the servers.  Errors: INVALID, UNSUPPORTED, SYSTEM, TIMEOUT.
SLR_API slr_status slr_remote_get_safety(const slr_remote_desc *where, const slr_remote_desc *system,
                                         slr_remote_safety *out);

/// The macro slr_remote_get_safety calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_remote_get_safety_sized(const slr_remote_desc *where, const slr_remote_desc *system,
                                               slr_remote_safety *out, size_t bytes);
#define slr_remote_get_safety(where, system, out)                                                                      \
    slr_remote_get_safety_sized((where), (system), (out), sizeof(slr_remote_safety))

#ifdef __cplusplus
}
#endif
#endif

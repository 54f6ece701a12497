// SPDX-License-Identifier: Apache-2.0
/// Several machines can serve one ring kernel (a message handler with a state for each key) together, over the message
/// system NATS JetStream. Contract: docs/contract/remote.md.
///
///     slr_remote_desc where = SLR_REMOTE_DESC_INIT;
///     where.servers = "tls://a:4222,tls://b:4222";
///     where.name = "counts";
///     where.credentials = "/etc/slipring/worker.creds";
///
///     slr_worker_open(device, &ring_desc, &where, NULL, &worker); // a machine that handles messages
///     while (!stop)
///         slr_worker_turn(worker, timeout_ns);
///     slr_worker_close(worker, timeout_ns);
///
///     slr_sender_open(&where, NULL, &sender); // a program that sends messages
///     slr_sender_send(sender, key, &message, sizeof message, timeout_ns);
///     slr_sender_flush(sender, timeout_ns); // OK: what was sent is accepted
///
/// slipring divides the keys of a name (the ring kernel that the machines serve) into parts, called partitions. Each
/// worker process serves some of the partitions. When a worker ends, the other workers take over its partitions. No
/// accepted message is lost when a worker or a machine fails. The stored states and outputs (replies of the handler)
/// never contain the effect of a message twice. Messages from one sender with one key keep their order.
#ifndef SLIPRING_REMOTE_H
#define SLIPRING_REMOTE_H

#include <slipring/serve.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLR_REMOTE_NAME_BYTES 33

/// slr_remote_desc gives a name, the NATS servers that store the name's data, and the means to connect to these
/// servers. slipring reads the texts of slr_remote_desc only during the call that gets the struct. slipring reads
/// secrets from files, never from texts in the struct.
typedef struct slr_remote_desc {
    uint32_t struct_size;
    /// Number of copies of the name's data on the servers: 1 (default), 3 or 5; used only by the call that creates the
    /// data.
    uint32_t replicas;
    const char *servers;     ///< addresses of the servers: "nats://HOST:PORT" or "tls://HOST:PORT", separated by commas
    const char *name;        ///< the name: 1 to 32 letters, digits, '_' and '-'
    const char *credentials; ///< a file of NATS credentials (.creds); NULL: none
    const char *nkey;        ///< a file with a public NKey and its seed, one per line; NULL: none
    const char *tls_ca;      ///< a file of certificates to check servers with; NULL: the system's certificates
    const char *tls_certificate, *tls_key; ///< files with this program's certificate and its key; NULL: none
    uint64_t timeout_ns;                   ///< limit on the time to a server's answer; default 5 s
    uint32_t allow_anonymous; ///< 1: servers on other machines may be used without credentials, NKey or certificate
    uint32_t reserved;
} slr_remote_desc;
#ifdef __cplusplus
static inline slr_remote_desc slr_remote_desc_init(void)
{
    slr_remote_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_REMOTE_DESC_INIT slr_remote_desc_init()
#else
#define SLR_REMOTE_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_remote_desc)                                                               \
    }
#endif

// ---- workers -------------------------------------------------------------------------------------------------------

/// A worker object serves a name in this process. A worker belongs to one thread at a time: its owner.
typedef struct slr_worker slr_worker;

/// A zero in any field of slr_worker_desc means the default. The first worker of a name sets partitions, capacity and
/// lease for all workers.
typedef struct slr_worker_desc {
    uint32_t struct_size;
    uint32_t partitions; ///< number of partitions, 1 to 1,024; default 64
    /// Most frames (groups of messages) that a partition stores until a snapshot (a stored copy of the states) contains
    /// their effect; default 65,536.
    uint64_t capacity;
    uint64_t lease_ns; ///< how long a worker may be silent before other workers take over its partitions; default 3 s
    uint64_t snapshot_ns; ///< time between snapshots of a partition; default 1 s
    /// One in `full_every` snapshots holds all states; the others hold only the states that changed since the previous
    /// snapshot. Default 16.
    uint32_t full_every;
    uint32_t reserved;
} slr_worker_desc;
#ifdef __cplusplus
static inline slr_worker_desc slr_worker_desc_init(void)
{
    slr_worker_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_WORKER_DESC_INIT slr_worker_desc_init()
#else
#define SLR_WORKER_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_worker_desc)                                                               \
    }
#endif

/// slr_worker_stats counts what a worker has done since slr_worker_open.
typedef struct slr_worker_stats {
    uint32_t partitions; ///< number of all partitions of the name
    uint32_t owned;      ///< partitions that this worker has now
    uint32_t workers;    ///< workers that are alive, including this one
    uint32_t reserved;
    /// The number of messages that the worker handled. If a worker loses a partition, the partition's next worker may
    /// handle a message again. Then only the next worker counts the message.
    uint64_t handled;
    uint64_t faulted;  ///< messages whose handler faulted; they are in the stream of dead letters, each with the reason
    uint64_t outputs;  ///< outputs that this worker stored
    uint64_t repeated; ///< messages that a sender sent again after they had been handled; the worker skipped them
    /// Messages that the worker skipped, because an earlier message of their sender was missing; the sender sends them
    /// again.
    uint64_t gaps;
    /// Records in the stream that the worker refused, because they are not frames (groups of messages) for this ring
    /// kernel.
    uint64_t refused;
    uint64_t records; ///< frames that the worker has read
    uint64_t taken;   ///< number of times that this worker took over a partition
    /// Partitions that this worker lost, because another worker took them or because the NATS servers that store their
    /// data failed.
    uint64_t lost;
    uint64_t drained;     ///< partitions that this worker handed to another one
    uint64_t snapshots;   ///< snapshots that this worker wrote
    uint64_t replaced;    ///< number of times that slr_worker_replace replaced the handler
    uint64_t rolled_back; ///< handler replacements that were undone after a fault of the new handler
    char problem[256];    ///< the last problem of a partition; "" if there was none
    /// If `draining` is 1, slr_remote_drain has asked the worker to end. When slr_worker_stats.owned is 0, the program
    /// may close the worker. If the worker handed a partition over without a snapshot, slr_worker_close returns an
    /// error.
    uint64_t draining;
    uint64_t cut_off; ///< 1: no NATS server answered the worker's last question; 0: one has answered since
    /// Why the first message that faulted in this worker did: the line in the source if the fault has one, and the
    /// cause. "": no message has faulted. slr_receiver_receive_letter gives all such messages, with their reasons.
    char first_fault[192];
} slr_worker_stats;

/// Begins to serve a name. The worker makes the ring kernel once for each of its partitions. Therefore
/// slr_ring_desc.instances is the maximum number of keys of one partition.
///
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Owns: the caller gets the worker, and frees it by slr_worker_close.
/// Errors: INVALID, LAYOUT (the name is served with another handler or layout: the error message names both),
///   UNSUPPORTED (libnats is missing; a NATS server is too old; the ring kernel is in loop form), SYSTEM (no connection
///   to the NATS servers), TIMEOUT.
SLR_API slr_status slr_worker_open(slr_device *device, const slr_ring_desc *ring, const slr_remote_desc *where,
                                   const slr_worker_desc *desc, slr_worker **out);

/// Does the work of a worker once for each partition: takes over free partitions, handles messages and writes
/// snapshots. If slr_worker_turn finds nothing to do, it waits for work for at most `timeout_ns`. If a partition fails,
/// the worker abandons the partition, and later tries to take it over again; slr_worker_stats.problem gives the reason.
/// Threads: the worker's owner.  Blocks: for at most `timeout_ns`, and while the call waits for answers of the NATS
/// servers. The call also blocks while it writes snapshots; before a snapshot it waits up to 1 s until the partition's
/// messages are handled.
/// Errors: INVALID.
SLR_API slr_status slr_worker_turn(slr_worker *worker, uint64_t timeout_ns);

/// Replaces the handler of a worker in each partition between two messages, as slr_server_replace does. If the new
/// handler faults in a partition before that partition's next snapshot, all partitions go back to the previous handler.
/// The program must keep the program object of the previous handler until the next call of slr_worker_replace or
/// slr_worker_close. A further replacement ends a trial also in a partition that has had no message since.
/// Threads: the worker's owner.  Blocks: for at most `timeout_ns`, and while the call waits for answers of the NATS
/// servers.
/// Errors: those of slr_server_replace. If slr_worker_replace fails, the previous handler continues in all partitions.
SLR_API slr_status slr_worker_replace(slr_worker *worker, const slr_ring_desc *ring, uint64_t timeout_ns);

/// Gives the counts of a worker.
/// Threads: the worker's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_worker_get_stats(slr_worker *worker, slr_worker_stats *out);

/// The macro slr_worker_get_stats calls slr_worker_get_stats_sized with `sizeof(slr_worker_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_worker_get_stats_sized(slr_worker *worker, slr_worker_stats *out, size_t bytes);
#define slr_worker_get_stats(worker, out) slr_worker_get_stats_sized((worker), (out), sizeof(slr_worker_stats))

/// Handles the messages that the worker has read, writes snapshots, hands the partitions over at once, and frees the
/// worker. If `worker` is NULL, slr_worker_close does nothing.
/// Threads: the worker's owner, once.  Blocks: for at most `timeout_ns`, and then as long as slr_ring_destroy blocks.
/// Errors: TIMEOUT, SYSTEM (other workers handle the messages since the last snapshot again). slr_worker_close frees
///   the worker also after an error.
SLR_API slr_status slr_worker_close(slr_worker *worker, uint64_t timeout_ns);

// ---- senders -------------------------------------------------------------------------------------------------------

/// A sender object belongs to one thread at a time: its owner.
typedef struct slr_sender slr_sender;

/// A zero in any field of slr_sender_desc means the default.
typedef struct slr_sender_desc {
    uint32_t struct_size;
    /// The most bytes of messages to one partition that slipring sends together as one frame, up to 524,288; default
    /// 65,536.
    uint32_t frame_bytes;
    /// A number below 2^63 that identifies the sender. A program that restarts opens its sender with the same number,
    /// and sends all its messages again from the first one. slipring then skips the messages that the servers have
    /// already accepted. If `producer` is 0, slipring chooses a new number for the sender.
    uint64_t producer;
    /// A program with the name's handler: slipring compares the handler's message layout with the layout that the name
    /// has stored. NULL: slipring compares only the size of each message.
    slr_program *program;
    const char *handler; ///< the handler in the program; NULL: the first handler
    uint64_t in_flight;  ///< limit on the bytes of messages that are sent and not yet accepted; default 16 MiB
} slr_sender_desc;
#ifdef __cplusplus
static inline slr_sender_desc slr_sender_desc_init(void)
{
    slr_sender_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_SENDER_DESC_INIT slr_sender_desc_init()
#else
#define SLR_SENDER_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_sender_desc)                                                               \
    }
#endif

typedef struct slr_sender_stats {
    uint64_t sent;     ///< messages passed to slr_sender_send
    uint64_t accepted; ///< messages that the servers have stored
    /// Messages that slipring did not send, because the servers had accepted them before this sender was opened.
    uint64_t skipped;
    uint64_t frames; ///< frames (groups of messages) that were published
    uint64_t again;  ///< frames that were published again, because a server did not answer or a partition had no room
    uint64_t full;   ///< number of answers of servers which said that a partition had no room
    uint32_t keys;   ///< the kind of the ring kernel's keys: an slr_keys, or 0 for a ring kernel without keys
    uint32_t partitions; ///< number of all partitions of the name
} slr_sender_stats;

/// Opens a sender for a name that a worker has begun to serve.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers. If `producer` is set, the call also
/// reads which messages of the producer the servers have accepted.
/// Owns: the caller gets the sender, and frees it by slr_sender_close.
/// Errors: NOT_FOUND (nobody has served this name), LAYOUT, INVALID, FULL (512 other senders with a `producer` number
///   have sent to a partition), UNSUPPORTED, SYSTEM, TIMEOUT.
SLR_API slr_status slr_sender_open(const slr_remote_desc *where, const slr_sender_desc *desc, slr_sender **out);

/// Sends a message to the instance of a key, or to instance `key.number` if the ring kernel has no keys. slipring
/// copies the message, and collects the messages to one partition in a frame (a group of messages). slipring sends a
/// frame when the frame is full, or when the program calls slr_sender_flush.
/// Threads: the sender's owner.  Blocks: for at most `timeout_ns` while too many messages are in flight.
/// Errors: FULL (the partition has no room, because its worker is too slow), TIMEOUT, INVALID (a wrong size of the
///   message; a text key that is too long).
SLR_API slr_status slr_sender_send(slr_sender *sender, slr_key key, const void *message, size_t bytes,
                                   uint64_t timeout_ns);

/// Sends a message as slr_sender_send does, and waits for the first reply of the handler. slr_sender_call also sends
/// all earlier messages to the same partition. slr_sender_call returns the reply only after the servers have stored it,
/// so the reply is as durable as the message. A reply may be lost on its way to the caller. Therefore, after TIMEOUT
/// only the stored outputs show whether the message was handled.
/// Threads: the sender's owner.  Blocks: for at most `timeout_ns`.
/// Errors: FULL, TIMEOUT, HANDLER_FAULT (the message is among the dead letters), END (the handler gave no reply),
///   INVALID (a wrong size of the message or of the reply), WRONG_STATE (the sender has a `producer` number, and this
///   message was accepted before).
SLR_API slr_status slr_sender_call(slr_sender *sender, slr_key key, const void *message, size_t bytes, void *reply,
                                   size_t reply_bytes, uint64_t timeout_ns);

/// Sends the frames that are not yet full, and waits until the servers have accepted all messages that the program has
/// passed to slr_sender_send.
/// Threads: the sender's owner.  Blocks: for at most `timeout_ns`.  Errors: FULL, TIMEOUT: after these errors the
/// program can call slr_sender_flush again.
SLR_API slr_status slr_sender_flush(slr_sender *sender, uint64_t timeout_ns);

/// Gives the counts of a sender.
/// Threads: the sender's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_sender_get_stats(slr_sender *sender, slr_sender_stats *out);

/// The macro slr_sender_get_stats calls slr_sender_get_stats_sized with `sizeof(slr_sender_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_sender_get_stats_sized(slr_sender *sender, slr_sender_stats *out, size_t bytes);
#define slr_sender_get_stats(sender, out) slr_sender_get_stats_sized((sender), (out), sizeof(slr_sender_stats))

/// Calls slr_sender_flush with the deadline `timeout_ns`, and frees the sender. If `sender` is NULL, slr_sender_close
/// does nothing.
/// Threads: the sender's owner, once.  Blocks: for at most `timeout_ns`.
/// Errors: those of slr_sender_flush: the messages that the servers have not accepted are lost. slr_sender_close frees
///   the sender in any case.
SLR_API slr_status slr_sender_close(slr_sender *sender, uint64_t timeout_ns);

// ---- outputs -------------------------------------------------------------------------------------------------------

/// A receiver object belongs to one thread at a time: its owner.
typedef struct slr_receiver slr_receiver;

/// Opens a receiver for the outputs of a name, from the first output that is still stored.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Owns: the caller gets the receiver, and frees it by slr_receiver_close.
/// Errors: those of slr_sender_open.
SLR_API slr_status slr_receiver_open(const slr_remote_desc *where, slr_receiver **out);

/// Receives the next output of any partition. `*partition` gets the number of the output's partition; `partition` may
/// be NULL. slr_output.sequence is the number of the output in its partition, and slr_output.instance the number of its
/// instance in this partition. slr_output.key is the key of the message; its text stays valid until the next call with
/// this receiver. Without keys, slr_output.key is empty. The outputs of one partition arrive in order.
/// Threads: the receiver's owner.  Blocks: for at most `timeout_ns`.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than a reply; a record that is no output), SYSTEM.
SLR_API slr_status slr_receiver_receive(slr_receiver *receiver, slr_output *out, uint32_t *partition, void *payload,
                                        size_t capacity, uint64_t timeout_ns);

/// Removes from the servers the outputs that the program received. slr_receiver_release removes only whole records
/// (groups of stored outputs), and keeps a record that a snapshot still needs.
/// Threads: the receiver's owner.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: SYSTEM, TIMEOUT.
SLR_API slr_status slr_receiver_release(slr_receiver *receiver);

/// Frees the receiver object. If `receiver` is NULL, slr_receiver_close does nothing.
/// Threads: the receiver's owner, once.  Blocks: no.
SLR_API void slr_receiver_close(slr_receiver *receiver);

// ---- information --------------------------------------------------------------------------------------------------

typedef struct slr_remote_info {
    char handler[96]; ///< name of the handler
    uint64_t layout;  ///< hash of the layouts of messages, states and replies, and of the kind of keys
    /// Sizes of one message, one state and one reply in bytes. `keys`: the kind of the ring kernel's keys (an
    /// slr_keys).
    uint32_t message_bytes, state_bytes, reply_bytes, keys;
    /// `partitions`: number of all partitions. `owned`: number of partitions that a live worker has taken.
    /// `workers`: number of live workers: those that have renewed their lease within the last `lease_ns`.
    uint32_t partitions, owned, workers, reserved;
    uint64_t capacity, lease_ns; ///< slr_worker_desc.capacity and lease_ns, as the first worker stored them
    uint64_t messages;           ///< messages whose effect is in the states of a snapshot
    uint64_t waiting;            ///< frames (groups of messages) that are accepted and not yet part of a snapshot
    /// Numbers of states, of stored outputs, and of messages that were handled or faulted, all up to the last snapshot
    /// of each partition.
    uint64_t states, outputs, handled, faulted;
    uint64_t bytes; ///< size of all of the name's streams on the servers, in bytes
} slr_remote_info;

/// Gives counts of what the servers store for a name.
/// Threads: any.  Blocks: while the call waits for answers of the NATS servers.
/// Errors: those of slr_sender_open.
SLR_API slr_status slr_remote_get_info(const slr_remote_desc *where, slr_remote_info *out);

/// The macro slr_remote_get_info calls slr_remote_get_info_sized with `sizeof(slr_remote_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_remote_get_info_sized(const slr_remote_desc *where, slr_remote_info *out, size_t bytes);
#define slr_remote_get_info(where, out) slr_remote_get_info_sized((where), (out), sizeof(slr_remote_info))

#ifdef __cplusplus
}
#endif
#endif

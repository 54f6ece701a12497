// SPDX-License-Identifier: Apache-2.0
/// A durable ring kernel is a message handler whose accepted messages, states and outputs (replies) are stored in a
/// folder. The folder keeps them even if the process is killed.
/// Contract: docs/contract/state.md.
///
///     slr_serve_desc serve = SLR_SERVE_DESC_INIT;
///     serve.place = "local:/var/lib/counts";
///     slr_serve(device, &ring_desc, &serve, &server); // continues with the contents of the folder
///     slr_server_send(server, 1, 0, key, &message, sizeof message, timeout_ns);
///     slr_server_flush(server, timeout_ns); // OK: what was sent is accepted
///
/// A server object belongs to one thread at a time: its owner. A producer is a sender that numbers its messages, so
/// slipring does not handle a message twice if the producer sends it again after a restart. A handler must be
/// deterministic, because after a restart it handles the messages since the last snapshot (stored copy of the states)
/// again. slipring stores each output only once.
#ifndef SLIPRING_SERVE_H
#define SLIPRING_SERVE_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_server slr_server;

/// The enum slr_sync says when an accepted message is safe from a power cut. With every value of slr_sync, an accepted
/// message survives a kill of the process.
typedef enum slr_sync {
    SLR_SYNC_INTERVAL = 1, ///< at most sync_interval_ns after slipring has accepted the message (the default)
    SLR_SYNC_ALWAYS = 2,   ///< when slr_server_flush, which the program calls after the send, returns SLR_OK
    /// When the operating system, in its own time, has written the message to the disk; slipring does not wait for the
    /// disk.
    SLR_SYNC_NEVER = 3
} slr_sync;

typedef struct slr_serve_desc {
    uint32_t struct_size;
    uint32_t sync;             ///< an slr_sync; default SLR_SYNC_INTERVAL
    const char *place;         ///< "local:DIR": DIR is a folder that belongs to this user, and is created if missing
    uint64_t sync_interval_ns; ///< for SLR_SYNC_INTERVAL: longest time between two syncs of the disk (writes of the
                               ///< files to it); default 100 ms
    /// Time between snapshots; each call of a function of the server checks whether a snapshot is due. Default 1 s.
    uint64_t snapshot_ns;
    /// The most accepted messages between two snapshots, up to 16,777,216; default 1,048,576.
    uint64_t snapshot_messages;
    /// One in `full_every` snapshots holds all states; the others hold only the states that changed since the previous
    /// snapshot. Default 16.
    uint32_t full_every;
    /// The most messages that slipring writes together as one frame, up to 65,536; default: as many as fit in 64 KiB.
    uint32_t frame_messages;
} slr_serve_desc;
#ifdef __cplusplus
static inline slr_serve_desc slr_serve_desc_init(void)
{
    slr_serve_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_SERVE_DESC_INIT slr_serve_desc_init()
#else
#define SLR_SERVE_DESC_INIT                                                                                            \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_serve_desc)                                                                \
    }
#endif

/// The struct slr_server_stats holds the counts of a durable ring kernel. Unless a field says "this process", its count
/// covers all processes that have served the folder. At any time, accepted = handled + faulted + pending (not yet
/// handled).
typedef struct slr_server_stats {
    uint64_t accepted; ///< messages that are stored in the folder
    uint64_t handled;  ///< messages that the handler has handled without a fault
    uint64_t faulted;  ///< messages whose handler faulted; slr_place_visit_letters reads them
    uint64_t pending;  ///< messages accepted, and neither handled nor faulted
    /// Messages that this process has sent and that are not yet accepted, because their frame (group of messages) is
    /// not full and the program has not called slr_server_flush.
    uint64_t buffered;
    uint64_t repeated; ///< messages that a producer sent again to this process; slipring skipped them
    uint64_t replayed; ///< messages handled again by this process, because no snapshot covered them
    uint64_t outputs;  ///< number of outputs that were stored
    uint64_t unread;   ///< stored outputs that this process has not yet received
    uint64_t released; ///< number of the last output that slr_server_release released
    /// Messages replayed by this process whose outputs differ from the stored outputs; the stored outputs remain valid.
    /// The count is complete after the first slr_server_settle or slr_server_snapshot of this process.
    uint64_t differing;
    uint64_t keys;        ///< number of keys, or of instances of a ring kernel without keys, that have had a message
    uint64_t snapshots;   ///< number of snapshots that this process has written
    uint64_t snapshot_ns; ///< time that this process's snapshots took, all together
    uint64_t bytes;       ///< size of the folder in bytes
    /// The damage that slr_serve found in the folder and repaired, such as an incomplete write; "": no damage.
    char damage[256];
    uint64_t replaced;    ///< number of times that slr_server_replace replaced the handler in this process
    uint64_t rolled_back; ///< handler replacements in this process that were undone after a fault of the new handler
} slr_server_stats;

/// Opens the place, which is the folder of a durable ring kernel, and restores the states from the last snapshot. After
/// the states are restored, slr_serve sends the messages that the snapshot does not cover to the ring kernel again. Up
/// to 16 MiB of them may still wait to be handled when slr_serve returns; slr_server_settle waits for them. The folder
/// of a durable ring kernel belongs to the process that called slr_serve, until slr_server_close or until this process
/// ends.
///
/// The server itself assigns the keys of the ring kernel (slr_ring_desc.keys) to instances. Each key gets an instance
/// of its own, and `instances` is the maximum number of keys that the folder ever holds. slr_ring_desc.overflow must be
/// SLR_OVERFLOW_BLOCK.
///
/// Threads: any.  Blocks: while slr_serve reads the folder, and while it sends messages again.
/// Owns: the caller gets the server, and frees it by slr_server_close.
/// Errors: those of slr_ring_create; INVALID (a field out of range; damage that cannot be repaired, or a missing file:
///   the error message names file and byte; more keys in the folder than `instances`), WRONG_STATE (another process
///   serves the folder: the error message names that process), LAYOUT (the folder holds states of another layout or
///   another handler: the error message names both), UNSUPPORTED (a ring kernel in loop form; a slr_ring_desc.key_limit
///   that evicts keys), SYSTEM.
SLR_API slr_status slr_serve(slr_device *device, const slr_ring_desc *ring, const slr_serve_desc *desc,
                             slr_server **out);

/// Sends a message to the instance of a key, or to instance `key.number` of a ring kernel without keys. `producer` is
/// any number that identifies the sender and that the sender keeps over restarts. `number` counts the sender's messages
/// from 1; 0 means the next number. slipring skips a message whose number was accepted before. slipring refuses a
/// message whose number leaves a gap after the last accepted number. A producer may send its accepted messages again
/// from number 1 on. When a producer has sent its last accepted message again, slipring checks that all messages sent
/// again equal the accepted messages, and go to the same keys or instances.
///
/// slipring stores messages in groups (frames); slipring writes a frame when the frame is full, or when the program
/// calls slr_server_flush. Up to 16 MiB of accepted messages wait for space in the ring kernel's mailbox (its queue of
/// messages).
///
/// Threads: the server's owner.
/// Blocks: for at most `timeout_ns` if 16 MiB of accepted messages wait for space in the mailbox. If a snapshot is due,
/// the call waits up to 1 s until the accepted messages are handled, and then writes the snapshot. The more states have
/// changed, the longer the write takes.
/// Errors: FULL (65,536 outputs wait to be received; or the key is new, and there are already `instances` keys),
///   TIMEOUT, INVALID (a wrong size; a number that leaves a gap; an instance out of range; messages sent again that
///   differ from the accepted messages, or go to other keys), RING_FAILED, SYSTEM (such as a full disk: no message of
///   the frame is accepted).
SLR_API slr_status slr_server_send(slr_server *server, uint64_t producer, uint64_t number, slr_key key,
                                   const void *message, size_t bytes, uint64_t timeout_ns);

/// Writes to the folder all messages that the program has sent by slr_server_send, and with SLR_SYNC_ALWAYS also syncs
/// the disk. After the write, all sent messages count as accepted. Then slr_server_flush waits until all accepted
/// messages are in the mailbox. If slr_server_flush returns TIMEOUT, some accepted messages still wait, and later calls
/// put them into the mailbox.
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`.  Errors: TIMEOUT, RING_FAILED, SYSTEM.
SLR_API slr_status slr_server_flush(slr_server *server, uint64_t timeout_ns);

/// Gives the number of the producer's last accepted message, or 0 if slipring has accepted no message of the producer.
/// Threads: the server's owner.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_server_get_producer(const slr_server *server, uint64_t producer, uint64_t *number);

/// The struct slr_output describes an output of a handler, or the notice (a report without payload) of a message that
/// faulted.
typedef struct slr_output {
    uint64_t sequence; ///< number of the output, from 1 over all restarts; 0 for a notice
    uint64_t message;  ///< number of the message that caused the output, from 1 over all restarts
    slr_key key;       ///< the instance's key; its text belongs to the server, and stays until slr_server_close
    uint32_t instance; ///< number of the instance in the ring kernel
    uint32_t index;    ///< number of the output among the outputs of its message, from 0
    slr_status status; ///< SLR_OK for an output; SLR_HANDLER_FAULT for a notice, which has no payload
    uint32_t bytes;    ///< size of the payload
} slr_output;

/// Receives the next output, which is already stored, or the next notice. A new process first receives the output after
/// the last output that slr_server_release has released. The outputs of one key come in the order of the key's
/// messages.
///
/// Notices wait only in memory. After a restart, slr_server_receive gives no notice of a message whose dead letter is
/// already stored, also if no earlier process has received the notice. The dead letter itself stays in the folder:
/// slr_place_visit_letters and the command `slipring state dead` read all dead letters.
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than a reply), RING_FAILED, SYSTEM.
SLR_API slr_status slr_server_receive(slr_server *server, slr_output *out, void *payload, size_t capacity,
                                      uint64_t timeout_ns);

/// Gives the reason of the notice that the last slr_server_receive gave: the line in the source if the fault has one,
/// the instance and the cause. Gives "" if the last slr_server_receive gave an output, or if nothing was received.
/// Threads: the server's owner.  Blocks: no.  Owns: the server; the text stays until the next slr_server_receive.
SLR_API const char *slr_server_get_fault(const slr_server *server);

/// Gives a file descriptor on which the system call poll(2) can wait for outputs. After slr_server_receive has returned
/// TIMEOUT, the descriptor becomes readable as soon as there is an output to receive.
/// Threads: the server's owner.  Blocks: no.  Errors: SYSTEM, INVALID.
SLR_API slr_status slr_server_get_fd(slr_server *server, int *out);

/// Releases the outputs up to the number `sequence`, so no later process receives them again. slr_server_release also
/// stores `note` (up to 64 bytes) for slr_server_get_note. For example, a note may be the length of a file to which the
/// program has written the released outputs.
/// Threads: the server's owner.  Blocks: while slipring writes to the disk.
/// Errors: INVALID (an output that was not yet received, or that comes before the last release), SYSTEM.
SLR_API slr_status slr_server_release(slr_server *server, uint64_t sequence, const void *note, size_t bytes);

/// Gives the note of the last slr_server_release. Before the first slr_server_release, all bytes of the note are zero.
/// Threads: the server's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_server_get_note(const slr_server *server, void *note, size_t bytes);

/// Waits until all messages that the program has sent to the server are handled and their outputs are stored.
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`.  Errors: those of slr_server_flush.
SLR_API slr_status slr_server_settle(slr_server *server, uint64_t timeout_ns);

/// Waits as slr_server_settle does, until all messages that the program has sent are handled, and then writes a
/// snapshot.
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`, and while slipring writes the snapshot to the disk.
/// Errors: those of slr_server_flush.
SLR_API slr_status slr_server_snapshot(slr_server *server, uint64_t timeout_ns);

/// Gives the key of an instance.
/// Threads: the server's owner.  Blocks: no.  Errors: NOT_FOUND (the instance has no key yet), INVALID.
SLR_API slr_status slr_server_get_key(const slr_server *server, uint32_t instance, slr_key *out);

/// Copies the state of a key (or of instance `key.number`) to `state`, at a moment between two messages.
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`.  Errors: NOT_FOUND, and those of slr_ring_snapshot.
SLR_API slr_status slr_server_get_state(slr_server *server, slr_key key, void *state, size_t bytes,
                                        uint64_t timeout_ns);

/// Replaces the handler between two messages. slr_server_replace waits as slr_server_settle does, writes a snapshot,
/// and continues with the ring kernel that `ring` describes, which has the new handler's program. The handler's name
/// and the layouts of messages, states and replies must stay the same. Until the next snapshot after
/// slr_server_replace, the new handler is on trial. If the new handler faults on trial, the previous handler continues
/// from the snapshot of slr_server_replace, and handles all later messages again. Outputs that the new handler stored
/// while it was on trial remain in the folder. The program must keep the previous handler's program until
/// slr_server_close.
///
/// If slr_server_replace is called while a handler is on trial, its snapshot ends the trial, and the handler that was
/// on trial is now the previous one. But if the handler on trial has had no message, there is nothing to snapshot: the
/// new handler takes its place on trial, and the previous handler remains the one that slipring goes back to.
///
/// Threads: the server's owner.  Blocks: for at most `timeout_ns`, and while slipring writes the snapshot to the disk.
/// Errors: LAYOUT (another layout or handler: the error message names both), WRONG_STATE (a handler is on trial, and
///   the states that it made cannot be stored yet), those of slr_ring_create and slr_server_snapshot. If
///   slr_server_replace fails, the previous handler continues.
SLR_API slr_status slr_server_replace(slr_server *server, const slr_ring_desc *ring, uint64_t timeout_ns);

/// Gives the server's ring kernel, which the caller may pass only to functions that read it and do not change it. The
/// caller may use the ring kernel until slr_server_replace or slr_server_close. A message that the program sends
/// directly to the ring kernel is not durable.
SLR_API slr_ring *slr_server_get_ring(slr_server *server);

/// Gives the counts of the server's durable ring kernel.
/// Threads: the server's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_server_get_stats(slr_server *server, slr_server_stats *out);

/// The macro slr_server_get_stats calls slr_server_get_stats_sized with `sizeof(slr_server_stats)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_server_get_stats_sized(slr_server *server, slr_server_stats *out, size_t bytes);
#define slr_server_get_stats(server, out) slr_server_get_stats_sized((server), (out), sizeof(slr_server_stats))

/// Waits as slr_server_settle does, writes a snapshot if the wait succeeded, and releases the folder and the server.
/// Whatever slr_server_close returns, the next slr_serve continues where the closed server stopped. If `server` is
/// NULL, slr_server_close does nothing.
/// Threads: the server's owner, once.  Blocks: for at most `timeout_ns`, then while slipring writes the snapshot, and
/// then as long as slr_ring_destroy blocks.
/// Errors: those of slr_server_flush. slr_server_close frees the server also after an error.
SLR_API slr_status slr_server_close(slr_server *server, uint64_t timeout_ns);

/// The struct slr_place_info says what the folder of a durable ring kernel holds. slr_place_get_info does not lock the
/// folder. If another process serves the folder, slr_place_get_info may read the folder in the middle of a change.
typedef struct slr_place_info {
    char handler[96]; ///< name of the handler
    uint64_t layout;  ///< hash of the layouts of messages, states and replies, and of the kind of keys
    /// Sizes of one message, one state and one reply in bytes. `instances` is UINT32_MAX, because the folder does not
    /// store the limit of instances.
    uint32_t message_bytes, state_bytes, reply_bytes, instances;
    uint64_t accepted; ///< number of accepted messages
    uint64_t position; ///< number of messages whose effect is in the states of the last snapshot
    uint64_t states;   ///< number of keys or instances in the snapshot
    /// `outputs`: number of the last stored output. `released`: number of the last output that slr_server_release has
    /// released. `dead`: number of stored messages whose handler faulted.
    uint64_t outputs, released, dead;
    /// Sizes in bytes of the files with messages (`in_bytes`), with outputs and with states.
    uint64_t in_bytes, out_bytes, state_log_bytes;
    uint32_t damages;   ///< number of damaged spots in the files
    uint32_t is_usable; ///< 1: slr_serve would accept the folder; it would first remove an incomplete last write
    char damage[256];   ///< the last damage that was found
} slr_place_info;

/// Reads all files in the folder of a durable ring kernel and checks them. slr_place_get_info succeeds also for a
/// damaged folder; `out` describes the damage.
/// Threads: any.  Blocks: while the call reads the files.
/// Errors: NOT_FOUND (the folder never held a durable ring kernel), INVALID, SYSTEM.
SLR_API slr_status slr_place_get_info(const char *place, slr_place_info *out);

/// The macro slr_place_get_info calls slr_place_get_info_sized with `sizeof(slr_place_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_place_get_info_sized(const char *place, slr_place_info *out, size_t bytes);
#define slr_place_get_info(place, out) slr_place_get_info_sized((place), (out), sizeof(slr_place_info))

/// The struct slr_place_letter describes a dead letter of a durable ring kernel: a message whose handler faulted.
typedef struct slr_place_letter {
    uint64_t sequence;   ///< number of the dead letter in the folder, from 1
    uint64_t message;    ///< number of the message, from 1 over all restarts; slr_output.message of its notice
    uint32_t instance;   ///< slr_server_get_key gives the key of this instance
    uint32_t bytes;      ///< size of the message in bytes
    const char *reason;  ///< the text that slr_server_get_fault gives after the message's notice
    const void *payload; ///< the message
} slr_place_letter;

/// slr_place_visit_letters calls slr_on_place_letter for each dead letter. A later version of the library may append
/// members to the struct `letter`. The struct, the reason and the message are valid until slr_on_place_letter returns.
typedef void slr_on_place_letter(void *user, const slr_place_letter *letter);

/// Calls `visit`, in the order of their numbers, for each dead letter in the folder of a durable ring kernel whose
/// number is greater than `after`. `after` is 0 for all dead letters, or the number of the last one that the program
/// has read. Like slr_place_get_info, slr_place_visit_letters does not lock the folder, so it also works while a
/// process serves the folder, and in the process that serves it. slipring never removes a dead letter from a folder.
/// An incomplete last write, which slr_serve would remove, is left out.
/// Threads: any.  Blocks: while the call reads the files.
/// Errors: NOT_FOUND (the folder never held a durable ring kernel), INVALID (damage: the error message names the file
///   or the record), NO_MEMORY, SYSTEM. After an error, `visit` may have been called for some of the dead letters.
SLR_API slr_status slr_place_visit_letters(const char *place, uint64_t after, slr_on_place_letter *visit, void *user);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// Durable ring kernels: accepted messages, states and outputs survive the end of the process, whatever ended it.
/// Contract: docs/contract/state.md.
///
///     slr_serve_desc serve = SLR_SERVE_DESC_INIT;
///     serve.place = "local:/var/lib/counts";
///     slr_serve(device, &ring_desc, &serve, &server); // goes on where the folder says
///     slr_server_send(server, 1, 0, key, &message, sizeof message, timeout_ns);
///     slr_server_flush(server, timeout_ns); // OK: what was sent is accepted
///
/// A server belongs to one thread at a time: its owner. Messages are numbered by their producer, so that one that is
/// sent again after a restart is not handled twice. A handler must be deterministic: after a restart it handles the
/// messages since the last snapshot again, and outputs that are stored already are not given out again.
#ifndef SLIPRING_SERVE_H
#define SLIPRING_SERVE_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_server slr_server;

/// When an accepted message is safe from a power cut. Each policy survives a kill of the process.
typedef enum slr_sync {
    SLR_SYNC_INTERVAL = 1, ///< after sync_interval_ns at the latest (the default)
    SLR_SYNC_ALWAYS = 2,   ///< when slr_server_flush returns OK
    SLR_SYNC_NEVER = 3     ///< when the operating system likes
} slr_sync;

typedef struct slr_serve_desc {
    uint32_t struct_size;
    uint32_t sync;              ///< an slr_sync; default SLR_SYNC_INTERVAL
    const char *place;          ///< "local:DIR": a folder of this user's, made where it is missing
    uint64_t sync_interval_ns;  ///< for SLR_SYNC_INTERVAL; default 100 ms
    uint64_t snapshot_ns;       ///< time between snapshots, looked at in each call; default 1 s
    uint64_t snapshot_messages; ///< messages between snapshots at most, up to 16,777,216; default 1,048,576
    uint32_t full_every;        ///< a snapshot in so many holds all states, the others those that changed; default 16
    uint32_t frame_messages;    ///< messages written together, up to 65,536; default: what 64 KiB hold
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

/// Counts over all processes that have served the place. At any time
/// accepted = handled + faulted + pending.
typedef struct slr_server_stats {
    uint64_t accepted; ///< messages that are written
    uint64_t handled;
    uint64_t faulted;     ///< messages in the log of dead letters, with the reason
    uint64_t pending;     ///< accepted, and neither handled nor faulted
    uint64_t buffered;    ///< sent, and not yet accepted: slr_server_flush
    uint64_t repeated;    ///< sent again by their producer, and skipped. Of this process
    uint64_t replayed;    ///< handled again by this process, because no snapshot had them
    uint64_t outputs;     ///< stored
    uint64_t unread;      ///< stored, and not yet received from this process
    uint64_t released;    ///< the last output that slr_server_release named
    uint64_t differing;   ///< replayed messages whose outputs were not those that are stored; the stored ones count
    uint64_t keys;        ///< or instances that have had a message
    uint64_t snapshots;   ///< of this process
    uint64_t snapshot_ns; ///< time that these snapshots took, all together
    uint64_t bytes;       ///< of the place
    char damage[256];     ///< what opening found and repaired: a write that was cut off; "" for nothing
    uint64_t replaced;    ///< handlers, by slr_server_replace
    uint64_t rolled_back; ///< of those handlers: taken back after a fault
} slr_server_stats;

/// Opens the place, restores states, handles again what no snapshot has, and serves. The place is this process's until
/// slr_server_close, or until the process ends.
///
/// Keys (slr_ring_desc.keys) are the server's: the ring kernel gets one instance for each, and `instances` is the
/// maximum number of keys ever. slr_ring_desc.overflow must be SLR_OVERFLOW_BLOCK.
///
/// Threads: any.  Blocks: for the messages that are handled again.
/// Owns: the caller gets the server: slr_server_close.
/// Errors: those of slr_ring_create; INVALID (a field out of range; damage that cannot be repaired: names file and
///   byte), WRONG_STATE (another process has the place: names it), LAYOUT (the place holds states of another layout or
///   another handler: names both), UNSUPPORTED (a loop; keys that are evicted), SYSTEM.
SLR_API slr_status slr_serve(slr_device *device, const slr_ring_desc *ring, const slr_serve_desc *desc,
                             slr_server **out);

/// Sends a message to the instance of a key, or to instance `key.number` of a ring kernel without keys. `producer` is
/// any number that the sender keeps over restarts. `number` counts the sender's messages from 1; 0 means the next
/// number. A message whose number was accepted before is skipped. A number above the next one is refused. Numbers from
/// 1 on are compared with what was accepted, once they reach its end.
///
/// Messages are written in frames, when a frame is full or flushed. Up to 16 MiB of them wait for places in the
/// mailbox.
///
/// Threads: the server's owner.
/// Blocks: until `timeout_ns` when as many wait, and up to 1 s for a snapshot that is due.
/// Errors: FULL (65,536 outputs are not received; a key more than instances), TIMEOUT, INVALID (size, a number with a
///   gap, an instance out of range, other messages than those that were accepted), RING_FAILED, SYSTEM (a full disk:
///   nothing of the frame is accepted).
SLR_API slr_status slr_server_send(slr_server *server, uint64_t producer, uint64_t number, slr_key key,
                                   const void *message, size_t bytes, uint64_t timeout_ns);

/// Makes all that was sent accepted: written, and synced to the disk with SLR_SYNC_ALWAYS. Then waits until all of it
/// has a place in the mailbox; with TIMEOUT some of it still waits for one, accepted, and gets it in a later call.
/// Threads: the server's owner.  Blocks: until `timeout_ns`.  Errors: TIMEOUT, RING_FAILED, SYSTEM.
SLR_API slr_status slr_server_flush(slr_server *server, uint64_t timeout_ns);

/// The number of the producer's last accepted message; 0 for none.
/// Threads: the server's owner.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_server_get_producer(const slr_server *server, uint64_t producer, uint64_t *number);

/// An output, or the notice of a message that faulted.
typedef struct slr_output {
    uint64_t sequence; ///< counts outputs from 1 over all restarts; 0 for a notice
    uint64_t message;  ///< counts accepted messages from 1 over all restarts: the one that caused it
    slr_key key;       ///< of the instance; its text is the server's, and stays until slr_server_close
    uint32_t instance;
    uint32_t index;    ///< among the outputs of its message
    slr_status status; ///< SLR_OK, or SLR_HANDLER_FAULT, which has no payload
    uint32_t bytes;    ///< of the payload
} slr_output;

/// Receives the next output. It is stored already. The first one of a process is the one after the last that
/// slr_server_release named. Outputs of one key come in the order of its messages.
/// Threads: the server's owner.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, INVALID (`capacity` is smaller than a reply), RING_FAILED, SYSTEM.
SLR_API slr_status slr_server_receive(slr_server *server, slr_output *out, void *payload, size_t capacity,
                                      uint64_t timeout_ns);

/// A file descriptor for poll(2): readable if something has come since the last slr_server_receive that returned
/// TIMEOUT. Threads: the server's owner.  Blocks: no.  Errors: SYSTEM, INVALID.
SLR_API slr_status slr_server_get_fd(slr_server *server, int *out);

/// Outputs up to `sequence` are no longer needed: no later process receives them. `note` (up to 64 bytes) is kept with
/// that, for slr_server_get_note: for example how long a file was then.
/// Threads: the server's owner.  Blocks: for the disk.  Errors: INVALID (not yet received, or before the last one),
/// SYSTEM.
SLR_API slr_status slr_server_release(slr_server *server, uint64_t sequence, const void *note, size_t bytes);

/// The note of the last slr_server_release; all zero before the first.
/// Threads: the server's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_server_get_note(const slr_server *server, void *note, size_t bytes);

/// Waits until all that was sent has been handled and its outputs are stored.
/// Threads: the server's owner.  Blocks: until `timeout_ns`.  Errors: as slr_server_flush.
SLR_API slr_status slr_server_settle(slr_server *server, uint64_t timeout_ns);

/// Settles, and writes a snapshot now.
/// Threads: the server's owner.  Blocks: until `timeout_ns`, and for the disk.  Errors: as slr_server_flush.
SLR_API slr_status slr_server_snapshot(slr_server *server, uint64_t timeout_ns);

/// The key of an instance.
/// Threads: the server's owner.  Blocks: no.  Errors: NOT_FOUND (the instance has no key yet), INVALID.
SLR_API slr_status slr_server_get_key(const slr_server *server, uint32_t instance, slr_key *out);

/// Copies the state of a key (or of instance `key.number`) between two messages.
/// Threads: the server's owner.  Blocks: until `timeout_ns`.  Errors: NOT_FOUND, and those of slr_ring_snapshot.
SLR_API slr_status slr_server_get_state(slr_server *server, slr_key key, void *state, size_t bytes,
                                        uint64_t timeout_ns);

/// Replaces the handler between two messages: settles, writes a snapshot, and goes on with a ring kernel of `ring`,
/// which has the program of the new one. Messages, states and replies must have the same layouts, and the handler the
/// same name. Until the next snapshot the new handler is on trial. If it faults, the previous handler continues from
/// the replacement, with the messages since then. Stored outputs remain. Do not destroy the previous handler's program
/// before slr_server_close.
///
/// Threads: the server's owner.  Blocks: until `timeout_ns`, and for the disk.
/// Errors: LAYOUT (another layout or handler: names both), WRONG_STATE (a handler is on trial), those of
///   slr_ring_create and slr_server_snapshot. After an error the previous handler continues.
SLR_API slr_status slr_server_replace(slr_server *server, const slr_ring_desc *ring, uint64_t timeout_ns);

/// The server's ring kernel, for calls that only read. Borrowed until slr_server_replace. A message that is sent to the
/// ring kernel directly is not durable.
SLR_API slr_ring *slr_server_get_ring(slr_server *server);

/// Threads: the server's owner.  Blocks: no.  Errors: INVALID.
SLR_API slr_status slr_server_get_stats(slr_server *server, slr_server_stats *out);

/// The macro slr_server_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_server_get_stats_sized(slr_server *server, slr_server_stats *out, size_t bytes);
#define slr_server_get_stats(server, out) slr_server_get_stats_sized((server), (out), sizeof(slr_server_stats))

/// Settles until `timeout_ns`, writes a snapshot where that succeeded, releases the place and the handle. Whatever the
/// result, the next slr_serve goes on where this one stood. NULL does nothing.
/// Threads: the server's owner, once.  Blocks: until `timeout_ns`, and as slr_ring_destroy.
/// Errors: as slr_server_flush; the server is gone all the same.
SLR_API slr_status slr_server_close(slr_server *server, uint64_t timeout_ns);

/// What a place holds, read without taking it. A place that is in use may be read in the middle of a change.
typedef struct slr_place_info {
    char handler[96];
    uint64_t layout;
    uint32_t message_bytes, state_bytes, reply_bytes, instances;
    uint64_t accepted; ///< messages
    uint64_t position; ///< messages that are part of the last snapshot
    uint64_t states;   ///< keys or instances in the snapshot
    uint64_t outputs, released, dead;
    uint64_t in_bytes, out_bytes, state_log_bytes;
    uint32_t damages;   ///< places that are damaged
    uint32_t is_usable; ///< 1: slr_serve would take it, and remove a torn end where there is one
    char damage[256];   ///< the last one that was found
} slr_place_info;

/// Reads all of a place and checks it. Damage is no error: `out` says it.
/// Threads: any.  Blocks: for the disk.  Errors: NOT_FOUND (nothing was ever served there), INVALID, SYSTEM.
SLR_API slr_status slr_place_get_info(const char *place, slr_place_info *out);

/// The macro slr_place_get_info calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_place_get_info_sized(const char *place, slr_place_info *out, size_t bytes);
#define slr_place_get_info(place, out) slr_place_get_info_sized((place), (out), sizeof(slr_place_info))

#ifdef __cplusplus
}
#endif
#endif

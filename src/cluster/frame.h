// SPDX-License-Identifier: Apache-2.0
/// What the records of the streams hold. Frames that are read are untrusted: every length and number is checked before
/// it is used.
#ifndef SLRI_CLUSTER_FRAME_H
#define SLRI_CLUSTER_FRAME_H

#include "cluster/sum.h"

#include <slipring/key.h>
#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slri_frame_kind {
    SLRI_FRAME_IN = 1, // instances of the messages, new keys, messages
    SLRI_FRAME_OUT,    // outputs
    SLRI_FRAME_SNAP,   // a part of a snapshot: states
    SLRI_FRAME_DEAD,   // messages that faulted
    SLRI_FRAME_SENT    // messages from another machine: keys, messages
};

/// In `extra` of a sent frame: its sender waits for the replies.
#define SLRI_FRAME_CALLS 0x100u

enum { SLRI_FRAME_VERSION = 1, SLRI_FRAME_KEY_MAX = 4096, SLRI_FRAME_MAX = 1 << 20 /* messages */ };

/// The head of each frame. `first` counts messages (in, dead), outputs (out) or snapshots (snap) from 1. Of a sent one
/// it is the number of its sender's first message that may not be stored in front of this frame.
typedef struct slri_frame_head {
    uint32_t magic;
    uint16_t version, kind;
    uint64_t layout;           // hash of what messages, states and replies look like
    uint64_t producer, number; // of the first message: the sender's count; else 0
    uint64_t first;
    uint32_t count, extra; // entries; new keys of an in frame, the slr_keys of a sent one or of outputs, else 0
} slri_frame_head;

/// What frames of a ring kernel look like.
typedef struct slri_frame_shape {
    uint64_t layout;
    uint32_t message_bytes, state_bytes, reply_bytes, instances;
} slri_frame_shape;

/// Fills magic, version and layout.
slri_frame_head slri_frame_head_of(const slri_frame_shape *shape, enum slri_frame_kind kind);

/// A new key, in front of its bytes, which are padded to 8: it gets the next instance.
typedef struct slri_frame_key {
    uint32_t instance, bytes;
} slri_frame_key;

/// An output, in front of its key and its bytes, each padded to 8. Who reads a name knows no instance's key: so outputs
/// of a name with keys have theirs, and head.extra is its slr_keys. In a folder they have none.
typedef struct slri_frame_output {
    uint64_t message; // which caused it
    uint32_t instance;
    uint16_t index, key_bytes; // of the message's outputs, from 0; of its key
} slri_frame_output;

/// A faulted message, in front of its bytes, which are padded to 8, as is the reason.
typedef struct slri_frame_letter {
    uint64_t message;
    uint32_t instance, reason_bytes;
} slri_frame_letter;

/// A state, in front of its key and its bytes, each padded to 8.
typedef struct slri_frame_state {
    uint32_t instance, key_bytes;
} slri_frame_state;

/// A frame that has been checked. Pointers lead into the record.
typedef struct slri_frame {
    slri_frame_head head;
    const uint32_t *instances;    // in: of each message
    const unsigned char *keys;    // in: the new keys; sent: each message's number, or the length of its text
    const char *texts;            // sent: without gaps
    const unsigned char *entries; // in, sent: the messages, without gaps, padded to 8 in all; else the entries
    size_t bytes;                 // of the entries
    bool calls;                   // sent: its sender waits for the replies; head.extra is without that
} slri_frame;

/// Checks a record. Errors: LAYOUT (the layout's hash is another one), INVALID (anything else: says what).
slr_status slri_frame_read(const slri_frame_shape *shape, enum slri_frame_kind kind, const void *data, size_t bytes,
                           slri_frame *out);

/// The next new key of a checked frame, from *at on, which starts with 0.
bool slri_frame_next_key(const slri_frame *frame, size_t *at, slri_frame_key *key, const char **text);

/// The key of message `index` of a checked sent frame. `*text` starts with 0, for message 0: each text follows the one
/// before.
slr_key slri_frame_sent_key(const slri_frame *frame, uint32_t index, size_t *text);

/// The next entry of a checked frame of states, outputs or letters. `*at` starts with 0.
bool slri_frame_next_state(const slri_frame_shape *shape, const slri_frame *frame, size_t *at, slri_frame_state *state,
                           const char **key, const void **bytes);
bool slri_frame_next_output(const slri_frame_shape *shape, const slri_frame *frame, size_t *at,
                            slri_frame_output *output, const void **bytes);
/// The key of the output that slri_frame_next_output began to read at `at`; {0} where the frame has no keys.
slr_key slri_frame_output_key(const slri_frame *frame, size_t at);
/// `*reason` has letter->reason_bytes bytes, and no zero behind them.
bool slri_frame_next_letter(const slri_frame_shape *shape, const slri_frame *frame, size_t *at,
                            slri_frame_letter *letter, const char **reason, const void **message);

#endif

// SPDX-License-Identifier: Apache-2.0
/// Writes a recording. Messages and replies are held until recorder_settle, which says that all replies to them have
/// come: so the file's bytes depend on what was sent and answered, not on when.
#ifndef RECORDER_H
#define RECORDER_H

#include "run/recording.h"
#include "run/window.h"

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct recorder {
    int descriptor;
    recording_header header;
    const slr_layout *reply;
    unsigned char *messages; // held: instance and bytes
    uint32_t held, held_capacity;
    uint64_t first; // the number of the first one held
    window replies; // held: status and bytes
    unsigned char *reply_slot;
    unsigned char *entries; // of the block that is being filled
    size_t used, capacity;
    uint32_t block_messages, block_replies;
    int error; // errno of the write that failed; from then on nothing is written
} recorder;

/// Begins the file. `reply` must stay.
void recorder_open(recorder *recorder, int descriptor, const recording_header *header, const slr_layout *reply);
void recorder_close(recorder *recorder);

/// So many messages may be held: 64 MiB of them.
uint32_t recorder_most(const recorder *recorder);

/// The next message, numbered from 0.
void recorder_message(recorder *recorder, uint32_t instance, const unsigned char *message);

/// A reply, or a notice (any other status, no payload), to message `number`.
void recorder_reply(recorder *recorder, uint64_t number, slr_status status, const unsigned char *payload);

/// All replies to the messages held have come.
void recorder_settle(recorder *recorder);

/// Ends the file. Messages that are still held are left out; how many.
uint32_t recorder_end(recorder *recorder);

#endif

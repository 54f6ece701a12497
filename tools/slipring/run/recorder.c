// SPDX-License-Identifier: Apache-2.0
// Holds messages and replies, sorts the replies to their messages, writes blocks.
#include "run/recorder.h"

#include "run/layout.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_HELD = 256, HELD_BYTES = 1 << 26 };

static void put(recorder *recorder, const void *from, size_t bytes)
{
    const char *at = from;
    while (bytes > 0 && recorder->error == 0) {
        ssize_t got = write(recorder->descriptor, at, bytes);
        if (got < 0 && errno != EINTR)
            recorder->error = errno;
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        }
    }
}

static size_t held_bytes(const recorder *recorder)
{
    return sizeof(uint32_t) + recorder->header.message_bytes;
}

void recorder_open(recorder *recorder, int descriptor, const recording_header *header, const slr_layout *reply)
{
    *recorder = (struct recorder){.descriptor = descriptor, .header = *header, .reply = reply};
    recorder->held_capacity = FIRST_HELD;
    recorder->messages = memory_take(FIRST_HELD, held_bytes(recorder));
    recorder->reply_slot = memory_take(1, sizeof(slr_status) + header->reply_bytes);
    recorder->capacity = RECORDING_BLOCK_BYTES;
    recorder->entries = memory_take(recorder->capacity, 1);
    window_open(&recorder->replies, sizeof(slr_status) + header->reply_bytes);
    recorder->header.checksum = recording_header_checksum(&recorder->header);
    put(recorder, &recorder->header, sizeof recorder->header);
}

void recorder_close(recorder *recorder)
{
    if (recorder->entries == NULL)
        return;
    window_close(&recorder->replies);
    free(recorder->messages);
    free(recorder->reply_slot);
    free(recorder->entries);
}

uint32_t recorder_most(const recorder *recorder)
{
    return (uint32_t)(HELD_BYTES / held_bytes(recorder)) + 1;
}

void recorder_message(recorder *recorder, uint32_t instance, const unsigned char *message)
{
    if (recorder->held == recorder->held_capacity) {
        recorder->held_capacity *= 2;
        recorder->messages = memory_grow(recorder->messages, recorder->held_capacity, held_bytes(recorder));
    }
    unsigned char *to = recorder->messages + recorder->held++ * held_bytes(recorder);
    memcpy(to, &instance, sizeof instance);
    memcpy(to + sizeof instance, message, recorder->header.message_bytes);
}

void recorder_reply(recorder *recorder, uint64_t number, slr_status status, const unsigned char *payload)
{
    memcpy(recorder->reply_slot, &status, sizeof status);
    if (status == SLR_OK)
        layout_copy(recorder->reply, recorder->reply_slot + sizeof status, payload);
    window_add(&recorder->replies, number, 0, recorder->reply_slot);
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static void append(recorder *recorder, const void *from, size_t bytes)
{
    if (recorder->used + bytes > recorder->capacity) {
        recorder->capacity = 2 * (recorder->used + bytes);
        recorder->entries = memory_grow(recorder->entries, recorder->capacity, 1);
    }
    memcpy(recorder->entries + recorder->used, from, bytes);
    recorder->used += bytes;
}

// `next`: the number of the message behind the block.
static void write_block(recorder *recorder, uint32_t kind, uint64_t next)
{
    recording_block block = {.kind = kind,
                             .bytes = (uint32_t)recorder->used,
                             .first = next - recorder->block_messages,
                             .messages = recorder->block_messages,
                             .replies = recorder->block_replies};
    block.checksum = recording_block_checksum(&block, recorder->entries);
    put(recorder, &block, sizeof block);
    put(recorder, recorder->entries, recorder->used);
    recorder->used = recorder->block_messages = recorder->block_replies = 0;
}

static void begin_entry(recorder *recorder, uint32_t index, uint32_t replies)
{
    const unsigned char *held = recorder->messages + index * held_bytes(recorder);
    recording_entry entry = {.replies = replies};
    memcpy(&entry.instance, held, sizeof entry.instance);
    append(recorder, &entry, sizeof entry);
    append(recorder, held + sizeof entry.instance, recorder->header.message_bytes);
    recorder->block_messages++;
    recorder->block_replies += replies;
}

static void append_reply(recorder *recorder, const unsigned char *reply)
{
    slr_status status;
    memcpy(&status, reply, sizeof status);
    append(recorder, reply, sizeof status + (status == SLR_OK ? recorder->header.reply_bytes : 0));
}

void recorder_settle(recorder *recorder)
{
    window *replies = &recorder->replies;
    uint32_t at = 0;
    window_sort(replies);
    for (uint32_t index = 0; index < recorder->held; index++) {
        uint32_t begin = at;
        while (at < replies->count && window_number(replies, at) == recorder->first + index)
            at++;
        begin_entry(recorder, index, at - begin);
        for (; begin < at; begin++)
            append_reply(recorder, window_payload(replies, begin));
        if (recorder->used >= RECORDING_BLOCK_BYTES || recorder->block_messages == RECORDING_BLOCK_MESSAGES)
            write_block(recorder, RECORDING_ENTRIES, recorder->first + index + 1);
    }
    recorder->first += recorder->held;
    recorder->held = 0;
    window_clear(replies);
}

uint32_t recorder_end(recorder *recorder)
{
    if (recorder->block_messages > 0)
        write_block(recorder, RECORDING_ENTRIES, recorder->first);
    write_block(recorder, RECORDING_END, recorder->first);
    return recorder->held;
}

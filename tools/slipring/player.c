// SPDX-License-Identifier: Apache-2.0
// Checks and takes apart what recorder.c writes.
#include "player.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void player_open(player *player)
{
    *player = (struct player){0};
    intake_open(&player->bytes);
}

void player_close(player *player)
{
    if (player->bytes.buffer != NULL)
        intake_close(&player->bytes);
}

static play_result bad(player *player, const char *format, ...) __attribute__((format(printf, 2, 3)));
static play_result bad(player *player, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(player->problem, sizeof player->problem, format, arguments);
    va_end(arguments);
    return PLAY_BAD;
}

static size_t have(const player *player)
{
    return player->bytes.end - player->bytes.begin;
}

static const unsigned char *take(player *player, size_t bytes)
{
    const unsigned char *from = (unsigned char *)player->bytes.buffer + player->bytes.begin;
    player->bytes.begin += bytes;
    player->offset += bytes;
    return from;
}

// Is a piece of `bytes` bytes there? `*out` where it is not: more are wanted, or the file is cut off.
static bool wants(player *player, size_t bytes, const char *piece, play_result *out)
{
    if (have(player) >= bytes)
        return true;
    *out = PLAY_MORE;
    if (player->bytes.finished)
        *out = bad(player,
                   "it is cut off: it ends at byte %" PRIu64 ", within the %s that begins at byte %" PRIu64
                   " and has %zu bytes; %" PRIu64 " messages before it are whole",
                   player->offset + have(player), piece, player->offset, bytes, player->messages);
    return false;
}

play_result player_header(player *player)
{
    recording_header *header = &player->header;
    play_result result;
    const char *begin = player->bytes.buffer + player->bytes.begin;
    size_t looked = have(player) < sizeof header->magic ? have(player) : sizeof header->magic;
    if (memcmp(begin, RECORDING_MAGIC, looked) != 0 || (looked == 0 && player->bytes.finished))
        return bad(player, "it is no recording: it begins with other bytes");
    if (!wants(player, sizeof *header, "header", &result))
        return result;
    memcpy(header, take(player, sizeof *header), sizeof *header);
    if (header->order != RECORDING_ORDER)
        return bad(player, "it was recorded on a machine of another byte order");
    if (header->version != RECORDING_VERSION)
        return bad(player, "it has version %u of the format, and this program reads version %d", header->version,
                   RECORDING_VERSION);
    if (header->checksum != recording_header_checksum(header))
        return bad(player, "its header does not have its checksum: it was damaged");
    if (header->message_bytes == 0 || header->instances == 0 || header->max_replies > RECORDING_REPLIES_MAX ||
        recording_entry_most(header) > RECORDING_ENTRY_MAX || memchr(header->handler, 0, RECORDING_NAME_BYTES) == NULL)
        return bad(player, "its header says what no program writes");
    return PLAY_READY;
}

// The bytes of a message's replies, or SIZE_MAX where they are not all there.
static size_t measure_replies(const player *player, const unsigned char *from, size_t left, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        slr_status status;
        if (left - bytes < sizeof status)
            return SIZE_MAX;
        memcpy(&status, from + bytes, sizeof status);
        bytes += sizeof status;
        size_t payload = status == SLR_OK ? player->header.reply_bytes : 0;
        if (left - bytes < payload)
            return SIZE_MAX;
        bytes += payload;
    }
    return bytes;
}

// The entry at `at` of the block; the bytes it takes, or 0 where it is not all there or not what is written.
static size_t measure_entry(const player *player, size_t at, recording_entry *entry)
{
    size_t left = player->block.bytes - at, fixed = sizeof *entry + player->header.message_bytes;
    if (left < fixed)
        return 0;
    memcpy(entry, player->entries + at, sizeof *entry);
    if (entry->instance >= player->header.instances || entry->replies > player->header.max_replies)
        return 0;
    size_t replies = measure_replies(player, player->entries + at + fixed, left - fixed, entry->replies);
    return replies == SIZE_MAX ? 0 : fixed + replies;
}

static bool entries_are_whole(const player *player)
{
    size_t at = 0;
    uint32_t messages = 0, replies = 0;
    while (at < player->block.bytes) {
        recording_entry entry;
        size_t bytes = measure_entry(player, at, &entry);
        if (bytes == 0)
            return false;
        at += bytes;
        messages++;
        replies += entry.replies;
    }
    return messages == player->block.messages && replies == player->block.replies;
}

static play_result check_block(player *player, uint64_t begin)
{
    const recording_block *block = &player->block;
    if (block->checksum != recording_block_checksum(block, player->entries))
        return bad(player, "the block at byte %" PRIu64 " does not have its checksum: it was damaged", begin);
    bool end = block->kind == RECORDING_END && block->messages + block->replies + block->bytes == 0;
    bool whole = block->kind == RECORDING_ENTRIES && block->messages > 0 && entries_are_whole(player);
    if (block->first != player->messages || (!end && !whole))
        return bad(player, "the block at byte %" PRIu64 " says what no program writes", begin);
    if (end && have(player) > 0)
        return bad(player, "bytes follow its end, which is at byte %" PRIu64, player->offset);
    return end ? PLAY_END : PLAY_READY;
}

play_result player_next(player *player)
{
    play_result result;
    uint64_t begin = player->offset;
    recording_block *block = &player->block;
    if (!wants(player, sizeof *block, "block", &result))
        return result;
    memcpy(block, player->bytes.buffer + player->bytes.begin, sizeof *block);
    if (block->bytes > RECORDING_BLOCK_BYTES + recording_entry_most(&player->header))
        return bad(player, "the block at byte %" PRIu64 " says what no program writes", begin);
    if (!wants(player, sizeof *block + block->bytes, "block", &result))
        return result;
    player->entries = take(player, sizeof *block + block->bytes) + sizeof *block;
    result = check_block(player, begin);
    player->messages += block->messages;
    player_rewind(player);
    return result;
}

void player_rewind(player *player)
{
    player->at = 0;
    player->next_number = player->block.first;
}

bool player_message(player *player, play_message *out)
{
    recording_entry entry = {0};
    if (player->at == player->block.bytes)
        return false;
    const unsigned char *from = player->entries + player->at;
    player->at += measure_entry(player, player->at, &entry);
    *out = (play_message){.number = player->next_number++,
                          .instance = entry.instance,
                          .replies = entry.replies,
                          .bytes = from + sizeof entry,
                          .reply = from + sizeof entry + player->header.message_bytes};
    return true;
}

bool player_reply(const player *player, play_message *message, slr_status *status, const unsigned char **payload)
{
    if (message->replies == 0)
        return false;
    message->replies--;
    memcpy(status, message->reply, sizeof *status);
    *payload = *status == SLR_OK ? message->reply + sizeof *status : NULL;
    message->reply += sizeof *status + (*status == SLR_OK ? player->header.reply_bytes : 0);
    return true;
}

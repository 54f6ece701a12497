// SPDX-License-Identifier: Apache-2.0
// Checks and takes apart what recorder.c writes.
#include "run/player.h"

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
    if (player->bytes.finished) {
        *out = bad(player,
                   "it is truncated: it ends at byte %" PRIu64 ", inside the %s at byte %" PRIu64
                   " of %zu bytes; %" PRIu64 " messages before it are complete",
                   player->offset + have(player), piece, player->offset, bytes, player->messages);
        player->is_cut = true;
    }
    return false;
}

play_result player_header(player *player)
{
    recording_header *header = &player->header;
    play_result result;
    const char *begin = player->bytes.buffer + player->bytes.begin;
    size_t looked = have(player) < sizeof header->magic ? have(player) : sizeof header->magic;
    if (memcmp(begin, RECORDING_MAGIC, looked) != 0 || (looked == 0 && player->bytes.finished))
        return bad(player, "it is not a recording");
    if (!wants(player, sizeof *header, "header", &result))
        return result;
    memcpy(header, take(player, sizeof *header), sizeof *header);
    if (header->order != RECORDING_ORDER)
        return bad(player, "it was recorded on a machine with another byte order");
    if (header->version != RECORDING_VERSION)
        return bad(player, "its format version is %u; this program reads version %d", header->version,
                   RECORDING_VERSION);
    if (header->checksum != recording_header_checksum(header))
        return bad(player, "its header has a wrong checksum: the file is damaged");
    if (header->message_bytes == 0 || header->instances == 0 || header->max_replies > RECORDING_REPLIES_MAX ||
        recording_entry_most(header) > RECORDING_ENTRY_MAX || memchr(header->handler, 0, RECORDING_NAME_BYTES) == NULL)
        return bad(player, "its header is invalid");
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
        return bad(player, "the block at byte %" PRIu64 " has a wrong checksum: the file is damaged", begin);
    bool end = block->kind == RECORDING_END && block->messages + block->replies + block->bytes == 0;
    bool whole = block->kind == RECORDING_ENTRIES && block->messages > 0 && entries_are_whole(player);
    if (block->first != player->messages || (!end && !whole))
        return bad(player, "the block at byte %" PRIu64 " is invalid", begin);
    if (end && have(player) > 0)
        return bad(player, "bytes follow after its end at byte %" PRIu64, player->offset);
    return end ? PLAY_END : PLAY_READY;
}

// Whether the block whose head is `block`, and whose entries are not all there, is what a writer leaves that was
// killed. The other way to a block that reaches past the file's end is a damaged length: then its head says what no
// program writes, or the file's end is there all the same.
static bool could_be_cut(const player *player, const recording_block *block)
{
    const unsigned char *begin = (unsigned char *)player->bytes.buffer + player->bytes.begin;
    const uint64_t least = (uint64_t)block->messages * (sizeof(recording_entry) + player->header.message_bytes);
    recording_block last;
    if (block->kind != RECORDING_ENTRIES || block->first != player->messages || block->messages == 0 ||
        block->messages > RECORDING_BLOCK_MESSAGES || block->bytes < least ||
        block->replies > (uint64_t)block->messages * player->header.max_replies)
        return false;
    if (have(player) < 2 * sizeof last)
        return true;
    memcpy(&last, begin + have(player) - sizeof last, sizeof last);
    return last.kind != RECORDING_END || last.bytes != 0 || last.checksum != recording_block_checksum(&last, "");
}

// The block is there, or *out says that more is wanted, or what is wrong.
static bool wants_block(player *player, play_result *out)
{
    const recording_block *block = &player->block;
    if (wants(player, sizeof *block + block->bytes, "block", out))
        return true;
    if (player->is_cut && !could_be_cut(player, block)) {
        player->is_cut = false;
        *out = bad(player,
                   "the block at byte %" PRIu64 " ends past the end of the file, at byte %" PRIu64
                   ", but the file is not truncated there: it is damaged",
                   player->offset, player->offset + have(player));
    }
    return false;
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
        return bad(player, "the block at byte %" PRIu64 " is invalid", begin);
    if (!wants_block(player, &result))
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

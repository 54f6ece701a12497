// SPDX-License-Identifier: Apache-2.0
// A recording of anybody's making. The first byte says whether checksums are made right first, without which hardly any
// input would come past them; the second how large the pieces are.
#include "fuzz.h"
#include "run/player.h"

#include <string.h>

static void put_right(uint8_t *bytes, size_t size)
{
    recording_header header;
    recording_block block;
    size_t at = sizeof header;
    if (size < at)
        return;
    memcpy(&header, bytes, sizeof header);
    header.checksum = recording_header_checksum(&header);
    memcpy(bytes, &header, sizeof header);
    while (size - at >= sizeof block) {
        memcpy(&block, bytes + at, sizeof block);
        if (block.bytes > size - at - sizeof block)
            return;
        block.checksum = recording_block_checksum(&block, bytes + at + sizeof block);
        memcpy(bytes + at, &block, sizeof block);
        at += sizeof block + block.bytes;
    }
}

typedef struct input {
    const uint8_t *data;
    size_t size, at, piece;
} input;

static play_result ask(player *player, input *input, play_result (*what)(struct player *player))
{
    play_result result;
    while ((result = what(player)) == PLAY_MORE) {
        size_t space, now = input->size - input->at < input->piece ? input->size - input->at : input->piece;
        char *to = intake_space(&player->bytes, &space);
        if (to == NULL)
            return PLAY_BAD;
        now = now < space ? now : space;
        if (now > 0)
            memcpy(to, input->data + input->at, now);
        intake_put(&player->bytes, now);
        input->at += now;
    }
    FUZZ_CHECK(result != PLAY_BAD || *player->problem != '\0');
    return result;
}

// Everything that a block gives out lies within it and is read.
static unsigned read_block(player *player)
{
    play_message message;
    slr_status status;
    const unsigned char *payload;
    unsigned sum = 0;
    uint32_t messages = 0, replies = 0;
    for (; player_message(player, &message); messages++) {
        FUZZ_CHECK(message.number == player->block.first + messages && message.instance < player->header.instances);
        for (uint32_t i = 0; i < player->header.message_bytes; i++)
            sum += message.bytes[i];
        for (; player_reply(player, &message, &status, &payload); replies++) {
            for (uint32_t i = 0; payload != NULL && i < player->header.reply_bytes; i++)
                sum += payload[i];
        }
    }
    FUZZ_CHECK(messages == player->block.messages && replies == player->block.replies);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    player player;
    if (size < 2)
        return 0;
    uint8_t *bytes = malloc(size - 2 + 1);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data + 2, size - 2);
    if (data[0] & 1)
        put_right(bytes, size - 2);
    input input = {bytes, size - 2, 0, data[1] + 1u};
    player_open(&player);
    play_result result = ask(&player, &input, player_header);
    while (result == PLAY_READY && (result = ask(&player, &input, player_next)) == PLAY_READY) {
        unsigned once = read_block(&player);
        player_rewind(&player);
        FUZZ_CHECK(read_block(&player) == once);
    }
    player_close(&player);
    free(bytes);
    return 0;
}

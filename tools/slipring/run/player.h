// SPDX-License-Identifier: Apache-2.0
/// Reads a recording block by block, without reading a file itself: the caller puts bytes into `bytes` when it is asked
/// for more. Nothing in the bytes is trusted: a block is given out only when all of it is as it should be.
#ifndef PLAYER_H
#define PLAYER_H

#include "run/intake.h"
#include "run/recording.h"

#include <slipring/status.h>

#include <stdbool.h>

typedef enum play_result {
    PLAY_READY, // the header, or a block
    PLAY_BAD,   // `problem` says what is wrong, and where; there is no way on
    PLAY_MORE,
    PLAY_END
} play_result;

typedef struct player {
    intake bytes;
    uint64_t offset; // in the file, of the first byte in there
    recording_header header;
    recording_block block;
    const unsigned char *entries; // of the block, valid until the next call
    size_t at;                    // in them, of the next message
    uint64_t next_number;
    uint64_t messages; // in the blocks so far
    bool is_cut; // with PLAY_BAD: the file ends within a block, as one whose writer was killed; what came before holds
    char problem[512];
} player;

typedef struct play_message {
    uint64_t number;
    uint32_t instance, replies; // replies: that have not been taken
    const unsigned char *bytes;
    const unsigned char *reply; // the next one
} play_message;

void player_open(player *player);
void player_close(player *player);

/// The header, first of all.
play_result player_header(player *player);

/// The next block.
play_result player_next(player *player);

/// Goes back to the block's first message.
void player_rewind(player *player);

/// The block's next message, unaligned. False: there is none.
bool player_message(player *player, play_message *out);

/// Its next reply; `payload` is unaligned, NULL where `status` is not SLR_OK. False: there is none.
bool player_reply(const player *player, play_message *message, slr_status *status, const unsigned char **payload);

#endif

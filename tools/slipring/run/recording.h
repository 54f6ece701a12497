// SPDX-License-Identifier: Apache-2.0
/// The file of a recorded run: messages in the order sent, each with its replies. docs/contract/recording.md.
#ifndef RECORDING_H
#define RECORDING_H

#include <slipring/program.h>

#include <stdint.h>

#define RECORDING_MAGIC "\x89SLRREC\n" // 8 bytes; 0x89: a file that lost its eighth bits is no recording

enum {
    RECORDING_VERSION = 1,
    RECORDING_ORDER = 0x01020304,    // as the machine's bytes have it
    RECORDING_NAME_BYTES = 96,       // of a handler's name, its NUL included
    RECORDING_BLOCK_BYTES = 1 << 20, // of entries, after which a block is full
    RECORDING_BLOCK_MESSAGES = 4096, // likewise
    RECORDING_ENTRY_MAX = 1 << 25,   // bytes of a message with all replies that it may have
    RECORDING_REPLIES_MAX = 64,      // that a message may cause
    RECORDING_ENTRIES = 1,           // kinds of blocks
    RECORDING_END = 2
};

typedef struct recording_header {
    unsigned char magic[8];
    uint32_t version, order;
    uint64_t layouts;  // recording_layouts of the handler
    uint64_t bindings; // bindings_checksum
    uint32_t message_bytes, reply_bytes, instances, max_replies;
    char handler[RECORDING_NAME_BYTES];
    uint64_t checksum; // of what stands before it
} recording_header;

typedef struct recording_block {
    uint32_t kind, bytes;       // bytes of entries that follow
    uint64_t first;             // the number of its first message; of the end: how many there are
    uint32_t messages, replies; // in it; of the end: 0
    uint64_t checksum;          // of what stands before it, and of the entries
} recording_block;

/// An entry: this, the message's bytes, then `replies` times an slr_status and, where that is SLR_OK, the reply's
/// bytes.
typedef struct recording_entry {
    uint32_t instance, replies;
} recording_entry;

/// The header for a handler, all but `bindings` and `checksum`.
recording_header recording_header_of(const slr_handler_info *handler, uint32_t instances, uint32_t max_replies);

/// Bytes of an entry with as many replies as there may be.
uint64_t recording_entry_most(const recording_header *header);

uint64_t recording_header_checksum(const recording_header *header);
uint64_t recording_block_checksum(const recording_block *block, const void *entries);

#endif

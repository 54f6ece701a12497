// SPDX-License-Identifier: Apache-2.0
// What writer and reader of recordings share.
#include "run/recording.h"

#include "checksum.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(recording_header) == 152 && sizeof(recording_block) == 32, "no padding: they are files' bytes");

static uint64_t add_layout(uint64_t sum, const slr_layout *layout)
{
    sum = checksum(sum, &layout->bytes, sizeof layout->bytes);
    for (uint32_t i = 0; i < layout->field_count; i++) {
        const slr_field *field = &layout->fields[i];
        uint64_t numbers[] = {(uint64_t)field->scalar, field->count, field->offset, field->is_array};
        sum = checksum(sum, field->name, strlen(field->name) + 1);
        sum = checksum(sum, numbers, sizeof numbers);
    }
    return sum;
}

recording_header recording_header_of(const slr_handler_info *handler, uint32_t instances, uint32_t max_replies)
{
    recording_header header = {.version = RECORDING_VERSION,
                               .order = RECORDING_ORDER,
                               .layouts = add_layout(add_layout(CHECKSUM_START, &handler->message), &handler->reply),
                               .message_bytes = (uint32_t)handler->message.bytes,
                               .reply_bytes = (uint32_t)handler->reply.bytes,
                               .instances = instances,
                               .max_replies = max_replies};
    memcpy(header.magic, RECORDING_MAGIC, sizeof header.magic);
    snprintf(header.handler, sizeof header.handler, "%s", handler->name);
    return header;
}

uint64_t recording_entry_most(const recording_header *header)
{
    return sizeof(recording_entry) + header->message_bytes +
           header->max_replies * (sizeof(slr_status) + (uint64_t)header->reply_bytes);
}

uint64_t recording_header_checksum(const recording_header *header)
{
    return checksum(CHECKSUM_START, header, offsetof(recording_header, checksum));
}

uint64_t recording_block_checksum(const recording_block *block, const void *entries)
{
    uint64_t sum = checksum(CHECKSUM_START, block, offsetof(recording_block, checksum));
    return checksum(sum, entries, block->bytes);
}

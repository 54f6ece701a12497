// SPDX-License-Identifier: Apache-2.0
#include "engine/launch_block.h"

#include "emit/device/arguments.h"
#include "engine/code.h"
#include "engine/hazards.h"

// FNV-1a, over words.
static uint64_t hash_of(const unsigned char *block, uint64_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325), word;
    for (uint64_t i = 0; i < bytes; i += sizeof word) {
        memcpy(&word, block + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

uint64_t slri_blocks_keep(struct slri_blocks *blocks, uint64_t bytes, uint64_t step)
{
    const unsigned char *fresh = blocks->shadow + blocks->used;
    const uint64_t place = hash_of(fresh, bytes) % (sizeof blocks->kept / sizeof *blocks->kept);
    if (blocks->kept[place].bytes == bytes && memcmp(blocks->shadow + blocks->kept[place].at, fresh, bytes) == 0)
        return blocks->kept[place].at;
    blocks->kept[place].at = blocks->used;
    blocks->kept[place].bytes = bytes;
    blocks->used += (bytes + step - 1) / step * step;
    return blocks->kept[place].at;
}

void slri_blocks_clear(struct slri_blocks *blocks, uint64_t used)
{
    blocks->used = used;
    memset(blocks->kept, 0, sizeof blocks->kept);
}

void slri_put_arguments(const struct slri_command *dispatch, const struct slri_extras *extras,
                        const struct slri_arguments *layout, slri_address_of *address_of, void *user,
                        unsigned char *block)
{
    const struct slri_ready_kernel *ready = dispatch->dispatch.ready;
    const struct {
        uint32_t at, how;
        const void *memory;
        uint64_t bytes;
    } own[] = {
        {layout->globals, SLRI_READS | SLRI_WRITES, ready->globals, ready->globals ? ready->module->global_bytes : 0},
        {layout->printed, SLRI_TELLS, extras->printed, SLRI_PRINTED_ROOM},
        {layout->faulted, SLRI_TELLS, extras->faulted, sizeof(struct slri_fault_fields)}};
    uint64_t address;
    memset(block, 0, (layout->bytes + 7u) / 8 * 8);
    for (uint32_t i = 0; i < ready->entry->bindings; ++i) {
        const struct slri_bound *bound = &dispatch->dispatch.bound[i];
        unsigned char *at = block + slri_argument(ready->entry, i);
        const bool is_buffer = ready->entry->binding[i].is_buffer;
        if (is_buffer && bound->data) {
            address = address_of(user, bound->data, bound->bytes,
                                 ready->entry->binding[i].is_const ? SLRI_READS : SLRI_READS | SLRI_WRITES);
            memcpy(at, &address, sizeof address);
        } else if (!is_buffer) {
            memcpy(at, bound->data, bound->bytes);
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
        if (own[i].at != SLRI_ARGUMENT_NONE && own[i].memory) {
            address = address_of(user, own[i].memory, own[i].bytes, own[i].how);
            memcpy(block + own[i].at, &address, sizeof address);
        }
}

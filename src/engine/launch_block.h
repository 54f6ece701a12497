// SPDX-License-Identifier: Apache-2.0
// What a launch is given, for drivers that read it from memory: blocks of arguments, each of which lies in that memory
// once, and the parts of a grid.
#ifndef SLRI_ENGINE_LAUNCH_BLOCK_H
#define SLRI_ENGINE_LAUNCH_BLOCK_H

#include "hal/hal.h"

// The memory fills up until it is cleared. `shadow` has what is in it, for the memory itself is slow to read, and room
// for one more block at `used`, where the backend writes it.
struct slri_blocks {
    unsigned char *shadow;
    uint64_t used;
    struct {
        uint64_t at, bytes; // 0 bytes: none
    } kept[64];             // by hash
};

// Where the block at `used` lies: there, and `used` grows by its bytes, rounded up to `step`; or where an equal one has
// been since the last clearing. `bytes`: a multiple of 8.
uint64_t slri_blocks_keep(struct slri_blocks *blocks, uint64_t bytes, uint64_t step);
void slri_blocks_clear(struct slri_blocks *blocks, uint64_t used); // nothing that names a block is under way

// Part `number` of a grid, of at most `most` blocks along each axis: where it begins, and its size. False: there are no
// more. All of `grid` is 1 or more.
static inline bool slri_grid_part(const uint32_t grid[3], const uint32_t most[3], uint64_t number, uint32_t from[3],
                                  uint32_t part[3])
{
    for (int i = 0; i < 3; ++i) {
        const uint32_t parts = (grid[i] - 1) / most[i] + 1;
        from[i] = (uint32_t)(number % parts) * most[i];
        part[i] = grid[i] - from[i] < most[i] ? grid[i] - from[i] : most[i];
        number /= parts;
    }
    return number == 0;
}

// Four bytes of a fill's pattern, which has 1, 2 or 4.
static inline uint32_t slri_fill_word(const struct slri_command *command)
{
    unsigned char bytes[4];
    uint32_t word;
    for (uint32_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = command->fill.pattern[i % command->fill.pattern_bytes];
    memcpy(&word, bytes, sizeof word);
    return word;
}

// The argument block of emit/device/arguments.h, of `layout`, filled up with zeros to a multiple of 8 bytes.
// `address_of` gives what stands for memory in it, and is told what the kernel does there: `how` is of
// engine/hazards.h.
struct slri_arguments;
typedef uint64_t slri_address_of(void *user, const void *memory, uint64_t bytes, uint32_t how);
void slri_put_arguments(const struct slri_command *dispatch, const struct slri_extras *extras,
                        const struct slri_arguments *layout, slri_address_of *address_of, void *user,
                        unsigned char *block);

#endif

// SPDX-License-Identifier: Apache-2.0
// Where the bytes of a buffer are valid: by place and range. Every byte is valid in one place at least.
#ifndef SLRI_DEVICE_VALIDITY_H
#define SLRI_DEVICE_VALIDITY_H

#include <slipring/allocator.h>
#include <slipring/status.h>

#include <stdbool.h>
#include <stdint.h>

#define SLRI_AT_HOST 1u
#define SLRI_AT_DEVICE 2u
#define SLRI_AT_BOTH 3u

struct slri_stretch {
    uint64_t begin;
    uint32_t valid;
};

struct slri_range {
    uint64_t begin, end;
};

struct slri_validity {
    uint64_t bytes; // of the buffer; of one of a pool those of its size class, of which its user may have fewer
    struct slri_stretch *span; // from one's begin to the next's, neighbours differ; none: all is valid everywhere
    uint32_t spans, room;
};

// Room for so many changes of a range to come; they then can not fail. Errors: NO_MEMORY.
slr_status slri_validity_reserve(struct slri_validity *validity, const slr_allocator *allocator, uint32_t changes);
void slri_validity_free(struct slri_validity *validity, const slr_allocator *allocator);

// Bytes that are written in one place are valid there only; bytes that are moved are valid there too.
void slri_validity_written(struct slri_validity *validity, struct slri_range range, uint32_t place);
void slri_validity_moved(struct slri_validity *validity, struct slri_range range, uint32_t place);
void slri_validity_all(struct slri_validity *validity, uint32_t valid); // every byte, there only; needs no room

// The next run within `range` that has to be moved to be valid in `place`. Short stretches between such bytes that are
// valid everywhere are moved along to the device: a transfer costs as much as some ten thousand bytes do. False: there
// is none.
bool slri_validity_missing(const struct slri_validity *validity, struct slri_range range, uint32_t place,
                           struct slri_range *run);

#endif

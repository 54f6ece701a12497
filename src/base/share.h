// SPDX-License-Identifier: Apache-2.0
/// Zeroed memory for many equal things, carved from mappings that they share: the system bounds how many mappings a
/// process has (vm.max_map_count, 65,530), and a thing that uses 200 bytes of a page should not have the page to
/// itself.
///
/// A thing has parts. In a mapping the same part of all its things lies together: so what each uses a little of shares
/// pages, and what none has touched yet costs none. Parts stand on lines of their own (128 bytes): things do not share
/// cache lines. Some parts come as copies, one behind the other at a constant stride; of large ones the copies are
/// address space alone, which the system counts as no memory, until they are opened.
///
/// What is given back is zeroed, and goes to the next thing of the same shape; a mapping goes when its last thing does.
/// So who looks at a thing that was given back may see another's: a holder holds it (src/ring/README.md says who). The
/// address sanitizer reports such a look. Threads: any, at once.
#ifndef SLRI_BASE_SHARE_H
#define SLRI_BASE_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLRI_SHARE_PARTS 7u
#define SLRI_SHARE_COPIED 3u

struct slri_shape {
    uint64_t part[SLRI_SHARE_PARTS];  // bytes, in this order; 0: none
    uint64_t each[SLRI_SHARE_COPIED]; // bytes of the parts that come in copies
    uint32_t copies;
};

struct slri_slab;
struct slri_share { // all zero: none
    struct slri_slab *slab;
    uint32_t index;
};

/// False: no memory. All parts are zero and may be used, but for copies.
bool slri_share_take(const struct slri_shape *shape, struct slri_share *out);

/// `copies`: how many of its copies were opened. None is fine.
void slri_share_give(struct slri_share *share, uint32_t copies);

void *slri_share_part(const struct slri_share *share, uint32_t part);
void *slri_share_copy(const struct slri_share *share, uint32_t each, uint32_t copy);

/// Bytes from a part of one copy to the same of the next.
uint64_t slri_share_stride(const struct slri_share *share);

/// Lets a copy be used, from the first to the last in order, each once. False: no memory.
bool slri_share_open(const struct slri_share *share, uint32_t copy);

/// `bytes` for one thing without parts; given back with the same size. NULL: no memory.
void *slri_share_bytes(uint64_t bytes, struct slri_share *out);

/// What the process has so far: mappings, and bytes in them that things have, copies only where opened.
struct slri_share_count {
    uint64_t mappings, things, bytes;
};
struct slri_share_count slri_share_counted(void);

/// For tests: from now on each thing has a mapping of its own, in which its parts follow each other, all of them open.
void slri_share_apart(void);

#endif

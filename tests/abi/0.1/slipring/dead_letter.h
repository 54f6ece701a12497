// SPDX-License-Identifier: Apache-2.0
/// Dead letters: messages that were accepted and not handled, kept for the host. Contract: docs/contract/overflow.md.
#ifndef SLIPRING_DEAD_LETTER_H
#define SLIPRING_DEAD_LETTER_H

#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why a message was not handled.
typedef enum slr_dead_letter_reason {
    SLR_DEAD_LETTER_FAULTED = 1,        ///< its handler faulted
    SLR_DEAD_LETTER_DROPPED_OLDEST = 2, ///< the mailbox was full, and it was the earliest accepted
    SLR_DEAD_LETTER_DROPPED_LOWEST = 3, ///< likewise, the earliest of the lowest priority
    SLR_DEAD_LETTER_UNDELIVERED = 4     ///< terminate found it
} slr_dead_letter_reason;

typedef struct slr_dead_letter {
    slr_dead_letter_reason reason;
    uint32_t bytes, instance, correlation, priority;
    uint32_t reserved;
    uint64_t sent_ns; ///< when it was sent, where the ring kernel stamps; else 0
} slr_dead_letter;

/// Takes up to `most` dead letters, those of a shard in the order in which they died; the message of letter k goes to
/// messages + k * stride (`messages` NULL: the letters alone). `taken` is set on OK; 0 where there is none. A ring
/// kernel that has terminated still has its letters, until it is destroyed.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (NULL; `stride` smaller than a message; the ring kernel was made without
/// slr_ring_desc.dead_letters).
SLR_API slr_status slr_ring_take_dead_letters(slr_ring *ring, slr_dead_letter *letters, void *messages, size_t stride,
                                              uint32_t most, uint32_t *taken);

/// The name of a reason: "dropped: oldest".  Threads: any.  Blocks: no.  Owns: nothing (static text).
SLR_API const char *slr_dead_letter_reason_name(slr_dead_letter_reason reason);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// A dead letter is a message that a ring kernel (a message handler with a queue) accepted and did not handle, and that
/// slipring keeps for the host program. Contract: docs/contract/overflow.md.
#ifndef SLIPRING_DEAD_LETTER_H
#define SLIPRING_DEAD_LETTER_H

#include <slipring/ring.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// slr_dead_letter_reason says why a message was not handled.
typedef enum slr_dead_letter_reason {
    SLR_DEAD_LETTER_FAULTED = 1, ///< the handler faulted (stopped early with an error) for this message
    /// The mailbox was full; of the waiting messages, this message was accepted first.
    SLR_DEAD_LETTER_DROPPED_OLDEST = 2,
    /// The mailbox was full; of the waiting messages with the lowest priority, this message was accepted first.
    SLR_DEAD_LETTER_DROPPED_LOWEST = 3,
    SLR_DEAD_LETTER_UNDELIVERED = 4 ///< the ring kernel terminated before it handled this message
} slr_dead_letter_reason;

/// slr_dead_letter describes one dead letter, without the bytes of its message.
typedef struct slr_dead_letter {
    slr_dead_letter_reason reason;
    /// The message's size in bytes, instance, correlation number and priority.
    uint32_t bytes, instance, correlation, priority;
    uint32_t reserved;
    uint64_t sent_ns; ///< when the message was sent (monotonic clock), if slr_ring_desc.time_stamps is 1; else 0
    /// Of a message that faulted, its own fault: the line in the source if the fault has one, the instance and the
    /// cause, as in slr_ring_stats.last_fault; else "".
    char fault[192];
} slr_dead_letter;

/// Removes up to `most` dead letters from a ring kernel and copies them to `letters`. A ring kernel is divided into
/// shards; the dead letters of one shard come in the order in which they became dead letters.
/// slr_ring_take_dead_letters copies the message of letter k to messages + k * stride, or copies no messages if
/// `messages` is NULL. If slr_ring_take_dead_letters returns SLR_OK, `taken` gets the number of letters, which may be
/// 0. A terminated ring kernel keeps its dead letters until it is destroyed.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a NULL argument; a `stride` smaller than a message; the ring kernel was made without
///   slr_ring_desc.dead_letters).
SLR_API slr_status slr_ring_take_dead_letters(slr_ring *ring, slr_dead_letter *letters, void *messages, size_t stride,
                                              uint32_t most, uint32_t *taken);

/// The macro slr_ring_take_dead_letters calls slr_ring_take_dead_letters_sized with the size of a letter as
/// `letter_bytes` (docs/contract/abi.md).
SLR_API slr_status slr_ring_take_dead_letters_sized(slr_ring *ring, slr_dead_letter *letters, size_t letter_bytes,
                                                    void *messages, size_t stride, uint32_t most, uint32_t *taken);
#define slr_ring_take_dead_letters(ring, letters, messages, stride, most, taken)                                       \
    slr_ring_take_dead_letters_sized((ring), (letters), sizeof(slr_dead_letter), (messages), (stride), (most), (taken))

/// Returns the name of a reason, such as "dropped: oldest".  Threads: any.  Blocks: no.  Owns: nothing (static text).
SLR_API const char *slr_dead_letter_reason_name(slr_dead_letter_reason reason);

#ifdef __cplusplus
}
#endif
#endif

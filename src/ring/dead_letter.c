// SPDX-License-Identifier: Apache-2.0
// The reader of dead letters. The owners write them (abi/mailbox.h), one bounded ring a shard.
#include <slipring/dead_letter.h>

#include "base/sized.h"
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

const char *slr_dead_letter_reason_name(slr_dead_letter_reason reason)
{
    switch (reason) {
    case SLR_DEAD_LETTER_FAULTED:
        return "faulted";
    case SLR_DEAD_LETTER_DROPPED_OLDEST:
        return "dropped: oldest";
    case SLR_DEAD_LETTER_DROPPED_LOWEST:
        return "dropped: lowest";
    case SLR_DEAD_LETTER_UNDELIVERED:
        return "undelivered";
    }
    return "?";
}

_Static_assert(SLR_DEAD_LETTER_FAULTED == MB_LETTER_FAULTED && SLR_DEAD_LETTER_DROPPED_OLDEST == MB_LETTER_OLDEST &&
                   SLR_DEAD_LETTER_DROPPED_LOWEST == MB_LETTER_LOWEST &&
                   SLR_DEAD_LETTER_UNDELIVERED == MB_LETTER_UNDELIVERED,
               "the public numbers are the mailbox's");

static slr_dead_letter describe_dead_letter(const slr_ring *ring, uint32_t at)
{
    const uint32_t *S = ring->S, *slot = &S[at];
    slr_dead_letter letter = {.reason = (slr_dead_letter_reason)MB_LETTER_REASON(slot[MB_HEAD]),
                              .bytes = ring->message_bytes,
                              .instance = slot[MB_INSTANCE],
                              .correlation = slot[MB_CORRELATION],
                              .priority = slot[MB_HEAD] & 255u};
    if (ring->stamped)
        memcpy(&letter.sent_ns, &slot[S[MB_SLOT_WORDS] - 2], sizeof letter.sent_ns);
    if (letter.reason == SLR_DEAD_LETTER_FAULTED)
        slri_letter_describe(ring, at, letter.fault, sizeof letter.fault);
    return letter;
}

struct taking {
    unsigned char *letters;
    size_t letter_bytes; // as the program's headers have it
    unsigned char *messages;
    size_t stride;
    uint32_t most, taken;
};

// Takes what a shard has; under the ring kernel's lock, so that there is one reader.
static void take_from(const slr_ring *ring, uint32_t shard, struct taking *t)
{
    uint32_t *S = ring->S;
    uint32_t position = S[MB_LETTERS_READ(shard)];
    for (; t->taken < t->most; ++position, ++t->taken) {
        uint32_t at = mb_letter_slot(S, mb_owner(S, shard), position);
        if (!mb_has_reply(S, at, position))
            break;
        const slr_dead_letter letter = describe_dead_letter(ring, at);
        memcpy(t->letters + t->taken * t->letter_bytes, &letter, t->letter_bytes);
        if (t->messages)
            memcpy(t->messages + t->taken * t->stride, &S[at + MB_PAYLOAD], ring->message_bytes);
    }
    MB_RELEASE(MB_LETTERS_READ(shard), position); // the letters have been read; the owner may overwrite them
}

slr_status slr_ring_take_dead_letters_sized(slr_ring *ring, slr_dead_letter *letters, size_t letter_bytes,
                                            void *messages, size_t stride, uint32_t most, uint32_t *taken)
{
    if (!ring || !letters || !taken)
        return SLRI_FAIL(INVALID, "slr_ring_take_dead_letters: %s is NULL",
                         !ring      ? "ring"
                         : !letters ? "letters"
                                    : "taken");
    if (ring->dead_letters == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s' keeps no dead letters: set slr_ring_desc.dead_letters", ring->name);
    if (messages && stride < ring->message_bytes)
        return SLRI_FAIL(INVALID, "ring kernel '%s': its messages have %u B, the stride is %zu B", ring->name,
                         ring->message_bytes, stride);
    SLRI_TRY(SLRI_CHECK_REPORT(slr_dead_letter, letter_bytes));
    SLRI_TRY(slri_ring_check_process(ring));
    struct taking t = {.letters = (unsigned char *)letters,
                       .letter_bytes = letter_bytes,
                       .messages = messages,
                       .stride = stride,
                       .most = most};
    slri_mutex_lock(&ring->lock);
    for (uint32_t k = 0; ring->S && k < ring->shards; ++k) // not always the same one first
        take_from(ring, ring->letters_turn++ % ring->shards, &t);
    ++ring->letters_turn;
    slri_mutex_unlock(&ring->lock);
    *taken = t.taken;
    return SLR_OK;
}

slr_status(slr_ring_take_dead_letters)(slr_ring *ring, slr_dead_letter *letters, void *messages, size_t stride,
                                       uint32_t most, uint32_t *taken)
{
    return slr_ring_take_dead_letters_sized(ring, letters, SLRI_FIRST_slr_dead_letter, messages, stride, most, taken);
}

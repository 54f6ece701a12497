// SPDX-License-Identifier: Apache-2.0
// Copies and fills that a device has not, made of those that it has.
#include "engine/stream.h"

#include "base/status.h"

// ---- fills ---------------------------------------------------------------------------------------------------------

static slr_status write(slri_piece_begin *begin, void *user, unsigned char *to, const unsigned char *from,
                        uint64_t bytes)
{
    const struct slri_command in = {.op = SLRI_COPY_IN, .copy = {to, (void *)(uintptr_t)from, bytes}};
    return begin(user, &in);
}

static slr_status copy(slri_piece_begin *begin, void *user, unsigned char *to, const unsigned char *from,
                       uint64_t bytes)
{
    const struct slri_command move = {.op = SLRI_COPY, .move = {.to = to, .from = from, .bytes = bytes}};
    return begin(user, &move);
}

// A pattern that is too long: once, then what is there copied behind itself, twice as much each time.
static slr_status fill_by_copies(const struct slri_command *fill, slri_piece_begin *begin, void *user)
{
    unsigned char *to = fill->fill.device;
    uint64_t bytes = fill->fill.bytes, there = fill->fill.pattern_bytes;
    SLRI_TRY(write(begin, user, to, fill->fill.pattern, there));
    for (; there < bytes; there *= 2)
        SLRI_TRY(copy(begin, user, to + there, to, bytes - there < there ? bytes - there : there));
    return SLR_OK;
}

// From an odd place: the pattern's beginning up to a multiple of its length, then the pattern turned by as much, then
// its end.
static slr_status fill_turned(const struct slri_command *fill, uint32_t head, slri_piece_begin *begin, void *user)
{
    unsigned char *to = fill->fill.device;
    const unsigned char *pattern = fill->fill.pattern;
    uint32_t size = fill->fill.pattern_bytes;
    struct slri_command middle = *fill;
    middle.fill.device = to + head;
    middle.fill.bytes = fill->fill.bytes - size;
    for (uint32_t i = 0; i < size; ++i)
        middle.fill.pattern[i] = pattern[(head + i) % size];
    SLRI_TRY(write(begin, user, to, pattern, head));
    if (middle.fill.bytes != 0)
        SLRI_TRY(begin(user, &middle));
    return write(begin, user, to + head + middle.fill.bytes, pattern + head, size - head);
}

slr_status slri_fill_in_pieces(const struct slri_command *fill, uint32_t most_pattern, slri_piece_begin *begin,
                               void *user)
{
    uint32_t size = fill->fill.pattern_bytes;
    uint32_t head = (uint32_t)((size - (uintptr_t)fill->fill.device % size) % size);
    if (size > most_pattern)
        return fill_by_copies(fill, begin, user);
    return head == 0 ? begin(user, fill) : fill_turned(fill, head, begin, user);
}

// ---- copies over themselves ----------------------------------------------------------------------------------------

static slr_status copy_by_bounce(unsigned char *bounce, slri_piece_begin *begin, void *user, unsigned char *to,
                                 const unsigned char *from, uint64_t bytes)
{
    SLRI_TRY(copy(begin, user, bounce, from, bytes));
    return copy(begin, user, to, bounce, bytes);
}

// Piece by piece, from that end at which no piece covers what a later one reads; pieces no longer than the way do not
// overlap themselves.
slr_status slri_move_in_pieces(const struct slri_command *move, void *bounce, slri_piece_begin *begin, void *user)
{
    unsigned char *to = move->move.to;
    const unsigned char *from = move->move.from;
    bool up = (uintptr_t)to > (uintptr_t)from;
    uint64_t apart = up ? (uintptr_t)to - (uintptr_t)from : (uintptr_t)from - (uintptr_t)to, bytes = move->move.bytes;
    bool direct = apart >= SLRI_BOUNCE_BYTES;
    uint64_t most = direct ? apart : SLRI_BOUNCE_BYTES;
    for (uint64_t done = 0; done < bytes;) {
        uint64_t piece = bytes - done < most ? bytes - done : most;
        uint64_t at = up ? bytes - done - piece : done;
        SLRI_TRY(direct ? copy(begin, user, to + at, from + at, piece)
                        : copy_by_bounce(bounce, begin, user, to + at, from + at, piece));
        done += piece;
    }
    return SLR_OK;
}

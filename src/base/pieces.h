// SPDX-License-Identifier: Apache-2.0
// Pieces of chunks and the index of free ones: two-level segregated fit (M. Masmano, I. Ripoll, A. Crespo, J. Real,
// "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004). Unlike there, a piece's header does not
// lie in the piece but in host memory: the memory itself is never touched. Not thread-safe; knows no device.
#ifndef SLRI_BASE_PIECES_H
#define SLRI_BASE_PIECES_H

#include <slipring/allocator.h>

#include <stdbool.h>
#include <stdint.h>

#define SLRI_UNIT 64u      // bytes: every offset and size is a multiple
#define SLRI_SECOND_BITS 5 // 32 classes between two powers of two: the index takes 8 KiB, in level 1
#define SLRI_SECOND (1u << SLRI_SECOND_BITS)
#define SLRI_FIRST (41 - 6 - SLRI_SECOND_BITS + 2) // powers of two up to 2^41 bytes; the first has no classes

// Behind: given back behind a point (behind.h); to this file as good as taken.
enum slri_piece_state { SLRI_PIECE_NONE, SLRI_PIECE_FREE, SLRI_PIECE_TAKEN, SLRI_PIECE_BEHIND };

struct slri_chunk;

struct slri_piece {
    uint64_t offset, bytes;
    struct slri_piece *before, *behind; // its neighbours in the chunk
    union {
        struct {
            struct slri_piece *next, **link; // in its class; what points to it there
        } free;
        struct {
            const char *file; // where it was taken
            uint32_t line;
        } taken;
        struct {
            struct slri_piece *next; // of the same stream
            uint64_t value;
        } behind;
    } as;
    struct slri_chunk *chunk;
    uint32_t state;
    uint32_t reserved; // to 64 bytes: a cache line each
};

// Memory of the device, all of it in pieces that follow one another.
struct slri_chunk {
    void *memory;     // on a multiple of the unit; NULL where nothing is stored
    uint64_t bytes;   // at most 2^41: a piece of 2^40 and its alignment
    uint64_t touched; // the first so many bytes have been in a taken piece: what lies behind is as the device made it
    struct slri_piece *first;
    struct slri_chunk *next, *previous;
    struct slri_pieces *owner;
    bool empty; // the heap's: counted among its empty chunks
};

struct slri_slab; // of headers

struct slri_pieces {
    uint64_t first;              // which of `second` are not 0
    uint32_t second[SLRI_FIRST]; // which of `head` are not `nil`
    struct slri_piece *head[SLRI_FIRST * SLRI_SECOND];
    struct slri_piece nil; // behind the last of each list: written to like any other, so that nobody has to ask
    struct slri_chunk *chunks;
    bool keep_apart;
    struct slri_piece *spare; // headers that are not in use, by as.free.next
    struct slri_slab *slabs;
    const slr_allocator *allocator; // of headers
};

// Of zeros: no chunk, nothing free.
void slri_pieces_begin(struct slri_pieces *pieces, const slr_allocator *allocator, bool keep_apart);

// Frees the headers. The chunks' memory is the caller's.
void slri_pieces_end(struct slri_pieces *pieces);

// Takes up a chunk, as one free piece; false: no memory for a header. And gives one up.
bool slri_pieces_add(struct slri_pieces *pieces, struct slri_chunk *chunk);
void slri_pieces_remove(struct slri_pieces *pieces, struct slri_chunk *chunk);

// Takes `bytes`, a multiple of the unit, so that chunk->memory + offset is a multiple of `alignment` (a power of two,
// at least the unit). NULL: no free piece fits, or no memory for a header. `stale`: how many of its first bytes have
// been in a taken piece.
struct slri_piece *slri_pieces_take(struct slri_pieces *pieces, uint64_t bytes, uint64_t alignment, uint64_t *stale);

// Room for the headers that one call may need. False: no memory.
bool slri_pieces_reserve(struct slri_pieces *pieces);

// Cuts a piece that is not free at `bytes`, with room reserved; returns what lies behind, not free either, or NULL.
struct slri_piece *slri_pieces_cut(struct slri_pieces *pieces, struct slri_piece *piece, uint64_t bytes);

// Gives a piece that is not free back; returns the free piece that it is in now.
struct slri_piece *slri_pieces_give(struct slri_pieces *pieces, struct slri_piece *piece);

// Whether the free piece is all of its chunk.
static inline bool slri_piece_is_chunk(const struct slri_piece *piece)
{
    return !piece->before && !piece->behind;
}

// Whether it begins at a multiple of `alignment`.
static inline bool slri_piece_is_aligned(const struct slri_piece *piece, uint64_t alignment)
{
    return (((uint64_t)(uintptr_t)piece->chunk->memory + piece->offset) & (alignment - 1)) == 0;
}

// Bytes of the largest free piece; 0: none. Walks the list of one class.
uint64_t slri_pieces_largest(const struct slri_pieces *pieces);

// Checks everything that must hold between headers and index, and adds up what is free; for tests. NULL, or what does
// not hold.
const char *slri_pieces_check(const struct slri_pieces *pieces, uint64_t *free_bytes);

#endif

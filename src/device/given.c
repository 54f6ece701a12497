// SPDX-License-Identifier: Apache-2.0
// The table of given buffers. An entry is a buffer's from its first journey until it is freed; a pool's buffer keeps
// it. Entries never move, so they are read without the lock, which is for making and freeing them.
#include "device/given.h"

#include "base/alloc.h"
#include "base/status.h"

#define FIRST 64u // entries in the first part; each part has twice as many as the one before
#define PARTS 20u

// `word`: the turn in its upper half, the holder in its lower. A turn ends when the user has the buffer again.
struct entry {
    uint64_t word; // atomic
    slr_buffer *buffer;
    uint32_t next_free;
};

struct slri_given {
    slri_mutex lock;
    uint32_t entries;          // atomic; behind it `part`
    struct entry *part[PARTS]; // part k has FIRST << k
    uint32_t free;             // by number, from 1; 0: none
    uint32_t rings;            // bits below
    uint64_t *ring;            // which numbers of ring kernels are in use
};

static uint64_t word_of(uint32_t turn, uint32_t holder)
{
    return (uint64_t)turn << 32 | holder;
}

static uint32_t part_of(uint32_t index, uint32_t *at)
{
    uint32_t part = 31 - (uint32_t)__builtin_clz(index / FIRST + 1);
    *at = index - FIRST * ((1u << part) - 1);
    return part;
}

// Of a number that was given out.
static struct entry *entry_at(const struct slri_given *given, uint32_t number)
{
    uint32_t at, part = part_of(number - 1, &at);
    return &given->part[part][at];
}

// `number` comes from a message, and may be anything. Acquire: the entry, as it was made.
static struct entry *entry_of(const slr_device *device, uint32_t number)
{
    const struct slri_given *given = __atomic_load_n(&device->given, __ATOMIC_ACQUIRE);
    if (!given || number == 0 || number > __atomic_load_n(&given->entries, __ATOMIC_ACQUIRE))
        return NULL;
    return entry_at(given, number);
}

// ---- making --------------------------------------------------------------------------------------------------------

static slr_status table_of(slr_device *device, struct slri_given **out)
{
    slri_mutex_lock(&device->ring_lock);
    struct slri_given *given = device->given;
    if (!given && (given = slri_alloc(device->allocator, sizeof *given)) != NULL) {
        slri_mutex_init(&given->lock);
        __atomic_store_n(&device->given, given, __ATOMIC_RELEASE);
    }
    slri_mutex_unlock(&device->ring_lock);
    *out = given;
    return given ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a table of buffers that go with messages");
}

void slri_given_free(slr_device *device)
{
    struct slri_given *given = device->given;
    if (!given)
        return;
    for (uint32_t k = 0; k < PARTS; ++k)
        slri_free(device->allocator, given->part[k], ((size_t)FIRST << k) * sizeof(struct entry));
    slri_free(device->allocator, given->ring, given->rings / 8);
    slri_mutex_destroy(&given->lock);
    slri_free(device->allocator, given, sizeof *given);
    device->given = NULL;
}

// Under the lock.
static slr_status enter_ring(slr_device *device, struct slri_given *given, uint32_t *out)
{
    for (uint32_t k = 0; k < given->rings; ++k)
        if (!(given->ring[k / 64] >> k % 64 & 1)) {
            given->ring[k / 64] |= (uint64_t)1 << k % 64;
            *out = k;
            return SLR_OK;
        }
    uint32_t rings = given->rings ? given->rings * 2 : 64;
    uint64_t *ring = rings <= SLRI_GIVEN_MOST_RINGS ? slri_alloc(device->allocator, rings / 8) : NULL;
    if (!ring)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u ring kernels whose messages own buffers", rings);
    for (uint32_t k = 0; k < given->rings / 64; ++k)
        ring[k] = given->ring[k];
    slri_free(device->allocator, given->ring, given->rings / 8);
    *out = given->rings;
    ring[*out / 64] |= (uint64_t)1 << *out % 64;
    given->ring = ring;
    given->rings = rings;
    return SLR_OK;
}

slr_status slri_given_enter_ring(slr_device *device, uint32_t *out)
{
    struct slri_given *given;
    SLRI_TRY(table_of(device, &given));
    slri_mutex_lock(&given->lock);
    slr_status status = enter_ring(device, given, out);
    slri_mutex_unlock(&given->lock);
    return status;
}

void slri_given_leave_ring(slr_device *device, uint32_t ring)
{
    struct slri_given *given = device->given;
    slri_mutex_lock(&given->lock);
    given->ring[ring / 64] &= ~((uint64_t)1 << ring % 64);
    slri_mutex_unlock(&given->lock);
}

// Under the lock: a number for the buffer.
static slr_status enter(struct slri_given *given, slr_buffer *buffer)
{
    uint32_t number = given->free, at, part;
    if (number == 0) {
        number = given->entries + 1;
        part = part_of(number - 1, &at);
        if (part < PARTS && !given->part[part])
            given->part[part] = slri_alloc(buffer->device->allocator, ((size_t)FIRST << part) * sizeof(struct entry));
        if (part == PARTS || !given->part[part])
            return SLRI_FAIL(NO_MEMORY, "no memory for a table of %u buffers that go with messages", number);
        given->part[part][at].buffer = buffer;
        __atomic_store_n(&given->entries, number, __ATOMIC_RELEASE); // the part, and the entry's zeros
    } else {
        part = part_of(number - 1, &at);
        given->free = given->part[part][at].next_free;
        __atomic_store_n(&given->part[part][at].buffer, buffer, __ATOMIC_RELAXED);
    }
    buffer->given = number;
    return SLR_OK;
}

slr_status slri_given_note(slr_buffer *buffer, slr_slice *out)
{
    struct slri_given *given;
    if (buffer->given == 0) { // once a buffer
        SLRI_TRY(table_of(buffer->device, &given));
        slri_mutex_lock(&given->lock);
        slr_status status = enter(given, buffer);
        slri_mutex_unlock(&given->lock);
        SLRI_TRY(status);
    }
    uint64_t word = __atomic_load_n(&entry_of(buffer->device, buffer->given)->word, __ATOMIC_ACQUIRE);
    if ((uint32_t)word != 0)
        return SLRI_FAIL(WRONG_STATE, "the buffer has been sent with a message");
    out->owner = buffer->given;
    out->turn = (uint32_t)(word >> 32);
    return SLR_OK;
}

void slri_given_forget(slr_buffer *buffer)
{
    struct slri_given *given = buffer->device->given;
    struct entry *entry = entry_at(given, buffer->given);
    slri_mutex_lock(&given->lock);
    // Slices that still name it are of a turn that is over. One exchange: an owner that has passed it on may look
    // still.
    __atomic_fetch_add(&entry->word, word_of(1, 0), __ATOMIC_RELEASE);
    __atomic_store_n(&entry->buffer, NULL, __ATOMIC_RELAXED);
    entry->next_free = given->free;
    given->free = buffer->given;
    slri_mutex_unlock(&given->lock);
}

// ---- changing hands ------------------------------------------------------------------------------------------------

slr_buffer *slri_given_find(const slr_device *device, const slr_slice *slice, uint32_t holder)
{
    struct entry *entry = entry_of(device, slice->owner);
    if (!entry || __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE) != word_of(slice->turn, holder))
        return NULL;
    return __atomic_load_n(&entry->buffer, __ATOMIC_RELAXED);
}

// Acquire and release: what was done with the buffer comes before what its next holder does.
static bool exchange(struct entry *entry, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&entry->word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool slri_given_move(const slr_device *device, const slr_slice *slice, uint32_t from, uint32_t to)
{
    struct entry *entry = entry_of(device, slice->owner);
    return entry && exchange(entry, word_of(slice->turn, from), word_of(slice->turn, to));
}

static bool take(struct entry *entry, uint32_t turn, uint32_t holder, slr_buffer **out)
{
    // Read before: from then on its next owner may free it. Who holds it keeps it there, where the exchange succeeds.
    slr_buffer *buffer = __atomic_load_n(&entry->buffer, __ATOMIC_RELAXED);
    if (!exchange(entry, word_of(turn, holder), word_of(turn + 1, 0)))
        return false;
    *out = buffer;
    return true;
}

void slri_given_drop(const slr_device *device, const slr_slice *slice, uint32_t holder)
{
    struct entry *entry = entry_of(device, slice->owner);
    slr_buffer *buffer;
    if (entry && take(entry, slice->turn, holder, &buffer))
        slri_buffer_release(buffer);
}

void slri_given_sweep(const slr_device *device, uint32_t holder, uint32_t mask)
{
    const struct slri_given *given = device->given;
    uint32_t entries = __atomic_load_n(&given->entries, __ATOMIC_ACQUIRE);
    for (uint32_t number = 1; number <= entries; ++number) {
        struct entry *entry = entry_of(device, number);
        uint64_t word = __atomic_load_n(&entry->word, __ATOMIC_ACQUIRE);
        slr_buffer *buffer;
        if (((uint32_t)word & mask) == holder && take(entry, (uint32_t)(word >> 32), (uint32_t)word, &buffer))
            slri_buffer_release(buffer);
    }
}

// ---- the user's calls ----------------------------------------------------------------------------------------------

slr_status slr_slice_own(slr_buffer *within, slr_buffer *buffer, slr_slice *out)
{
    if (!buffer || !out)
        return SLRI_FAIL(INVALID, "slr_slice_own: %s is NULL", buffer ? "out" : "buffer");
    SLRI_TRY(slri_device_check_process(buffer->device));
    slr_slice slice = {.bytes = buffer->bytes};
    if (within) {
        const slr_buffer *root = within->parent ? within->parent : within;
        bool inside = (buffer->parent ? buffer->parent : buffer) == root && buffer->offset >= within->offset &&
                      buffer->offset - within->offset + buffer->bytes <= within->bytes;
        if (!inside)
            return SLRI_FAIL(INVALID, "slr_slice_own: the buffer is not in the bound one: make it a slice of that "
                                      "buffer, or acquire it from a pool within it");
        slice.offset = buffer->offset - within->offset;
    }
    SLRI_TRY(slri_given_note(buffer, &slice));
    *out = slice;
    return SLR_OK;
}

// Where the slice's buffer is with a message or a reply: its entry, and the word that says so.
static slr_status find_given(const slr_device *device, const slr_slice *slice, const char *call, struct entry **entry,
                             uint64_t *word)
{
    if (!device || !slice)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, device ? "slice" : "device");
    SLRI_TRY(slri_device_check_process(device));
    if (slice->owner == 0)
        return SLRI_FAIL(INVALID, "%s: no buffer moves with this slice: it only refers to bytes", call);
    *entry = entry_of(device, slice->owner);
    *word = *entry ? __atomic_load_n(&(*entry)->word, __ATOMIC_ACQUIRE) : 0;
    if ((uint32_t)*word != 0 && (uint32_t)(*word >> 32) == slice->turn)
        return SLR_OK;
    return SLRI_FAIL(NOT_FOUND, "%s: the buffer no longer moves with this slice: it was taken or released", call);
}

slr_status slr_slice_get(slr_device *device, const slr_slice *slice, slr_buffer **out)
{
    struct entry *entry;
    uint64_t word;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_slice_get: out is NULL");
    SLRI_TRY(find_given(device, slice, "slr_slice_get", &entry, &word));
    *out = __atomic_load_n(&entry->buffer, __ATOMIC_RELAXED);
    return SLR_OK;
}

slr_status slr_slice_take(slr_device *device, const slr_slice *slice, slr_buffer **out)
{
    struct entry *entry;
    uint64_t word;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_slice_take: out is NULL");
    for (;;) { // again where it went on to another message meanwhile
        SLRI_TRY(find_given(device, slice, "slr_slice_take", &entry, &word));
        if (take(entry, slice->turn, (uint32_t)word, out))
            return SLR_OK;
    }
}

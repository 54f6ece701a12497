// SPDX-License-Identifier: Apache-2.0
// The first slab is taken before the first kernel stays; a further one lets those that do end first.
#include "engine/slabs.h"
#include "base/round.h"
#include "base/alloc.h"
#include "base/status.h"

struct slri_slab_chunk {
    struct slri_chunk base; // first
    struct slri_slab_chunk *next;
};

static slr_status no_memory_for_slab(const struct slri_slabs *slabs)
{
    return SLRI_FAIL(NO_MEMORY, "no memory for a slab of %s memory", slabs->source->what);
}

static slr_status grow(struct slri_slabs *slabs, uint64_t bytes)
{
    const struct slri_slab_source *source = slabs->source;
    struct slri_slab_chunk *slab = slri_alloc(slabs->allocator, sizeof *slab);
    if (!slab)
        return no_memory_for_slab(slabs);
    slab->base.bytes = bytes > source->bytes ? bytes : source->bytes;
    // Without the lock: while kernels end for it, the poller gives memory back.
    slr_status status = source->create(slabs, slab->base.bytes, &slab->base.memory);
    if (status != SLR_OK) {
        slri_free(slabs->allocator, slab, sizeof *slab);
        return status;
    }
    slri_mutex_lock(&slabs->lock);
    bool added = slri_pieces_add(&slabs->pieces, &slab->base);
    slab->next = slabs->first;
    slabs->first = slab; // freed with the others, whatever it is good for
    slri_mutex_unlock(&slabs->lock);
    return added ? SLR_OK : no_memory_for_slab(slabs);
}

struct slri_piece *slri_slabs_try(struct slri_slabs *slabs, uint64_t bytes, uint64_t *stale)
{
    slri_mutex_lock(&slabs->lock);
    struct slri_piece *piece =
        slri_pieces_take(&slabs->pieces, slri_round_up(bytes, SLRI_SLAB_ALIGNMENT), SLRI_SLAB_ALIGNMENT, stale);
    slri_mutex_unlock(&slabs->lock);
    return piece;
}

slr_status slri_slabs_take(struct slri_slabs *slabs, uint64_t bytes, struct slri_piece **out, uint64_t *stale)
{
    for (int tries = 0; tries < 4; ++tries) { // others may take what was got for it
        *out = slri_slabs_try(slabs, bytes, stale);
        if (*out)
            return SLR_OK;
        SLRI_TRY(grow(slabs, slri_round_up(bytes, SLRI_SLAB_ALIGNMENT)));
    }
    return SLRI_FAIL(NO_MEMORY, "device '%s' has no %s memory for %llu bytes", slabs->name, slabs->source->what,
                     (unsigned long long)bytes);
}

void slri_slabs_give(struct slri_slabs *slabs, struct slri_piece *piece)
{
    slri_mutex_lock(&slabs->lock);
    slri_pieces_give(&slabs->pieces, piece);
    slri_mutex_unlock(&slabs->lock);
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_slabs_open(struct slri_slabs *slabs, const struct slri_slab_source *source,
                     const struct slri_backend *backend, void *device, const char *name, const slr_allocator *allocator)
{
    slabs->source = source;
    slabs->backend = backend;
    slabs->device = device;
    slabs->name = name;
    slabs->allocator = allocator;
    slabs->first = NULL;
    slri_mutex_init(&slabs->lock);
    slri_pieces_begin(&slabs->pieces, allocator, false);
}

void slri_slabs_close(struct slri_slabs *slabs)
{
    while (slabs->first) {
        struct slri_slab_chunk *slab = slabs->first;
        slabs->first = slab->next;
        slabs->source->destroy(slabs, slab->base.memory, slab->base.bytes);
        slri_free(slabs->allocator, slab, sizeof *slab);
    }
    slri_pieces_end(&slabs->pieces);
    slri_mutex_destroy(&slabs->lock);
}

slr_status slri_slabs_renew(struct slri_slabs *slabs)
{
    for (struct slri_slab_chunk *slab = slabs->first; slab; slab = slab->next)
        SLRI_TRY(slabs->source->renew(slabs, slab->base.bytes, &slab->base.memory));
    return SLR_OK;
}

uint64_t slri_slabs_bytes(const struct slri_slabs *slabs)
{
    uint64_t bytes = 0;
    for (const struct slri_slab_chunk *slab = slabs->first; slab; slab = slab->next)
        bytes += slab->base.bytes;
    return bytes;
}

// ---- near ----------------------------------------------------------------------------------------------------------

static slr_status create_near(struct slri_slabs *slabs, uint64_t bytes, void **memory)
{
    return slabs->backend->memory_create(slabs->device, SLRI_MEMORY_NEAR, bytes, memory);
}

static void destroy_near(struct slri_slabs *slabs, void *memory, uint64_t bytes)
{
    slabs->backend->memory_destroy(slabs->device, SLRI_MEMORY_NEAR, memory, bytes);
}

const struct slri_slab_source slri_near_source = {
    .bytes = (uint64_t)4 << 20, .what = "device", .create = create_near, .renew = create_near, .destroy = destroy_near};

bool slri_slabs_have(struct slri_slabs *slabs, const void *memory)
{
    slri_mutex_lock(&slabs->lock);
    const struct slri_slab_chunk *slab = slabs->first;
    while (slab && (uintptr_t)memory - (uintptr_t)slab->base.memory >= slab->base.bytes)
        slab = slab->next;
    slri_mutex_unlock(&slabs->lock);
    return slab != NULL;
}

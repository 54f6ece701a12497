// SPDX-License-Identifier: Apache-2.0
// What kernels that stay work on, cut from slabs on the host, so that a piece mostly costs no call of the driver:
// memory of the host that is page-locked and mapped (mailboxes, tables, homes), and memory of the device (what lies
// near). The first slab is taken before the first kernel stays; a further one lets those that do end first.
#include "base/alloc.h"
#include "base/status.h"
#include "backend/cuda/cuda.h"

#include <string.h>

#define ALIGNMENT 128u // two lines (MB_LINE)

struct slri_cu_slab {
    struct slri_chunk base; // first
    struct slri_cu_slab *next;
};

static slr_status renew_near(struct slri_cuda *cuda, uint64_t bytes, void **memory);

static const struct kind {
    uint64_t bytes; // of a slab, at least
    const char *what;
    slr_status (*create)(struct slri_cuda *cuda, uint64_t bytes, void **memory);
    slr_status (*renew)(struct slri_cuda *cuda, uint64_t bytes, void **memory); // in another context
    void (*destroy)(void *device, void *memory, uint64_t bytes);
} kinds[SLRI_CU_POOLS] = {
    [SLRI_CU_SHARED] = {(uint64_t)32 << 20, "mapped", slri_cuda_mapped_create, slri_cuda_mapped_renew,
                        slri_cuda_mapped_destroy},
    [SLRI_CU_NEAR] = {(uint64_t)4 << 20, "device", slri_cuda_near_create, renew_near, slri_cuda_near_destroy},
};

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static slr_status grow(struct slri_cuda *cuda, enum slri_cu_pool_kind of, uint64_t bytes)
{
    const struct kind *kind = &kinds[of];
    struct slri_cu_pool *pool = &cuda->pools[of];
    struct slri_cu_slab *slab = slri_alloc(cuda->allocator, sizeof *slab);
    if (!slab)
        return SLRI_FAIL(NO_MEMORY, "no memory for a slab of %s memory", kind->what);
    slab->base.bytes = bytes > kind->bytes ? bytes : kind->bytes;
    // Without the lock: while kernels end for it, the poller gives memory back.
    slr_status status = kind->create(cuda, slab->base.bytes, &slab->base.memory);
    if (status != SLR_OK) {
        slri_free(cuda->allocator, slab, sizeof *slab);
        return status;
    }
    slri_mutex_lock(&pool->lock);
    bool added = slri_pieces_add(&pool->pieces, &slab->base);
    slab->next = pool->slabs;
    pool->slabs = slab; // freed with the others, whatever it is good for
    slri_mutex_unlock(&pool->lock);
    return added ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a slab of %s memory", kind->what);
}

static struct slri_piece *take(struct slri_cu_pool *pool, uint64_t bytes, uint64_t *stale)
{
    slri_mutex_lock(&pool->lock);
    struct slri_piece *piece = slri_pieces_take(&pool->pieces, round_up(bytes), ALIGNMENT, stale);
    slri_mutex_unlock(&pool->lock);
    return piece;
}

static slr_status take_or_grow(struct slri_cuda *cuda, enum slri_cu_pool_kind of, uint64_t bytes,
                               struct slri_piece **out, uint64_t *stale)
{
    for (int tries = 0; tries < 4; ++tries) { // others may take what was got for it
        *out = take(&cuda->pools[of], bytes, stale);
        if (*out)
            return SLR_OK;
        SLRI_TRY(grow(cuda, of, round_up(bytes)));
    }
    return SLRI_FAIL(NO_MEMORY, "device '%s' has no %s memory for %llu bytes", cuda->name, kinds[of].what,
                     (unsigned long long)bytes);
}

static void give(struct slri_cu_pool *pool, struct slri_piece *piece)
{
    slri_mutex_lock(&pool->lock);
    slri_pieces_give(&pool->pieces, piece);
    slri_mutex_unlock(&pool->lock);
}

static unsigned char *address_of(const struct slri_piece *piece)
{
    return (unsigned char *)piece->chunk->memory + piece->offset;
}

// ---- shared: the host's
// ------------------------------------------------------------------------------------------------

// Where a piece begins, its header is found again by what stands in front of it.
struct head {
    struct slri_piece *piece, *flags;
    unsigned char padding[ALIGNMENT - 2 * sizeof(struct slri_piece *)];
};

static void *begin(struct slri_piece *piece, uint64_t bytes, uint64_t stale)
{
    struct head *head = (struct head *)(void *)address_of(piece);
    *head = (struct head){.piece = piece};
    if (stale > sizeof *head) // what was never taken is zero
        memset(head + 1, 0, (stale < bytes ? stale : bytes) - sizeof *head);
    return head + 1;
}

slr_status slri_cuda_ring_memory_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_piece *piece;
    uint64_t stale = 0, all = round_up(bytes) + sizeof(struct head);
    SLRI_TRY(take_or_grow(device, SLRI_CU_SHARED, all, &piece, &stale));
    *memory = begin(piece, all, stale);
    return SLR_OK;
}

bool slri_cuda_shared_try(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    uint64_t stale = 0, all = round_up(bytes) + sizeof(struct head);
    struct slri_piece *piece = take(&cuda->pools[SLRI_CU_SHARED], all, &stale);
    if (piece)
        *memory = begin(piece, all, stale);
    return piece != NULL;
}

void slri_cuda_ring_memory_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    (void)bytes; // the piece knows
    slri_cuda_flags_take_back(cuda, *slri_cuda_ring_memory_flags(memory));
    give(&cuda->pools[SLRI_CU_SHARED], ((struct head *)memory - 1)->piece);
}

struct slri_piece **slri_cuda_ring_memory_flags(void *memory)
{
    return &((struct head *)memory - 1)->flags;
}

slr_status slri_cuda_shared_reserve(struct slri_cuda *cuda, uint64_t bytes)
{
    void *room;
    SLRI_TRY(slri_cuda_ring_memory_create(cuda, bytes, &room));
    slri_cuda_ring_memory_destroy(cuda, room, bytes);
    return SLR_OK;
}

// ---- near: the device's
// ------------------------------------------------------------------------------------------------

static uint64_t own_bytes(const struct slri_shard *shard)
{
    return round_up(MBP_HISTOGRAM_AT(shard->own_words) * (uint64_t)4 +
                    (shard->latency ? sizeof *shard->latency : 0)); // at its place behind them, as at home
}

static void point_near(struct slri_shard *shard)
{
    if (!shard->near_memory)
        return;
    shard->near_own = address_of(shard->near_memory);
    shard->near_states = shard->states ? address_of(shard->near_memory) + own_bytes(shard) : NULL;
}

void slri_cuda_near_renew(void *device, struct slri_shard *shard)
{
    slri_cuda_flags_begin_again(device, shard, *slri_cuda_ring_memory_flags(shard->own));
    point_near(shard);
}

// Not zeroed: the group fetches what is at home.
slr_status slri_cuda_near_take(struct slri_cuda *cuda, struct slri_shard *shard)
{
    uint64_t stale;
    struct slri_piece *piece;
    SLRI_TRY(take_or_grow(cuda, SLRI_CU_NEAR, own_bytes(shard) + shard->states_bytes, &piece, &stale));
    shard->near_memory = piece;
    point_near(shard);
    return SLR_OK;
}

void slri_cuda_near_give(struct slri_cuda *cuda, struct slri_shard *shard)
{
    if (shard->near_memory)
        give(&cuda->pools[SLRI_CU_NEAR], shard->near_memory);
    shard->near_memory = shard->near_own = shard->near_states = NULL;
}

uint64_t slri_cuda_group_memory_address(const void *memory)
{
    return (uintptr_t)address_of(memory);
}

// A kernel that stays may keep a fill waiting: none runs meanwhile.
static slr_status zero(struct slri_cuda *cuda, const void *memory, uint64_t bytes)
{
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = slri_cuda_zero_at_once(cuda, (uintptr_t)memory, bytes);
    slri_cuda_leave_quiet(cuda);
    return status;
}

slr_status slri_cuda_group_memory_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_cuda *cuda = device;
    uint64_t stale;
    struct slri_piece *piece;
    SLRI_TRY(take_or_grow(cuda, SLRI_CU_NEAR, bytes, &piece, &stale));
    slr_status status = zero(cuda, address_of(piece), bytes);
    if (status == SLR_OK)
        *memory = piece;
    else
        give(&cuda->pools[SLRI_CU_NEAR], piece);
    return status;
}

// The slab, so that what lies in it need not be gone through.
static slr_status renew_near(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    SLRI_TRY(slri_cuda_near_create(cuda, bytes, memory));
    return zero(cuda, *memory, bytes);
}

slr_status slri_cuda_group_memory_fetch(void *device, const void *memory, uint64_t at, void *host, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = slri_cuda_fetch_at_once(cuda, host, slri_cuda_group_memory_address(memory) + at, bytes);
    slri_cuda_leave_quiet(cuda);
    return status;
}

void slri_cuda_group_memory_destroy(void *device, void *memory)
{
    give(&((struct slri_cuda *)device)->pools[SLRI_CU_NEAR], memory);
}

// ---- all ------------------------------------------------------------------------------------------------------------

void slri_cuda_pools_open(struct slri_cuda *cuda)
{
    for (int i = 0; i < SLRI_CU_POOLS; ++i) {
        slri_mutex_init(&cuda->pools[i].lock);
        slri_pieces_begin(&cuda->pools[i].pieces, cuda->allocator, false);
    }
}

slr_status slri_cuda_pools_renew(struct slri_cuda *cuda)
{
    for (int i = 0; i < SLRI_CU_POOLS; ++i)
        for (struct slri_cu_slab *slab = cuda->pools[i].slabs; slab; slab = slab->next)
            SLRI_TRY(kinds[i].renew(cuda, slab->base.bytes, &slab->base.memory));
    return SLR_OK;
}

uint64_t slri_cuda_pools_mapped(const struct slri_cuda *cuda)
{
    uint64_t bytes = 0;
    for (const struct slri_cu_slab *slab = cuda->pools[SLRI_CU_SHARED].slabs; slab; slab = slab->next)
        bytes += slab->base.bytes;
    return bytes;
}

void slri_cuda_pools_close(struct slri_cuda *cuda)
{
    for (int i = 0; i < SLRI_CU_POOLS; ++i) {
        struct slri_cu_pool *pool = &cuda->pools[i];
        while (pool->slabs) {
            struct slri_cu_slab *slab = pool->slabs;
            pool->slabs = slab->next;
            kinds[i].destroy(cuda, slab->base.memory, slab->base.bytes);
            slri_free(cuda->allocator, slab, sizeof *slab);
        }
        slri_pieces_end(&pool->pieces);
        slri_mutex_destroy(&pool->lock);
    }
}

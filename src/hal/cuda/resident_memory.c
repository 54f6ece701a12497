// SPDX-License-Identifier: Apache-2.0
// What kernels that stay work on, cut from slabs (engine/slabs.h): memory of the host that is page-locked and mapped
// (mailboxes, tables, homes), and memory of the device (what lies near).
#include "base/round.h"
#include "base/status.h"
#include "hal/cuda/cuda.h"

#include <string.h>

static slr_status create_mapped_slab(struct slri_slabs *slabs, uint64_t bytes, void **memory)
{
    return slri_cuda_mapped_create(slabs->device, bytes, memory);
}

static slr_status renew_mapped(struct slri_slabs *slabs, uint64_t bytes, void **memory)
{
    return slri_cuda_mapped_renew(slabs->device, bytes, memory);
}

static void destroy_mapped(struct slri_slabs *slabs, void *memory, uint64_t bytes)
{
    slri_cuda_mapped_destroy(slabs->device, memory, bytes);
}

static const struct slri_slab_source mapped = {(uint64_t)32 << 20, "mapped", create_mapped_slab, renew_mapped,
                                               destroy_mapped};

// ---- shared: the host's --------------------------------------------------------------------------------------------

// Where a piece begins, its header is found again by what stands in front of it.
struct head {
    struct slri_piece *piece, *flags;
    unsigned char padding[SLRI_SLAB_ALIGNMENT - 2 * sizeof(struct slri_piece *)];
};

static void *begin(struct slri_piece *piece, uint64_t bytes, uint64_t stale)
{
    struct head *head = (struct head *)(void *)slri_piece_address(piece);
    *head = (struct head){.piece = piece};
    if (stale > sizeof *head) // what was never taken is zero
        memset(head + 1, 0, (stale < bytes ? stale : bytes) - sizeof *head);
    return head + 1;
}

slr_status slri_cuda_ring_memory_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_piece *piece;
    uint64_t stale = 0, all = slri_round_up(bytes, SLRI_SLAB_ALIGNMENT) + sizeof(struct head);
    SLRI_TRY(slri_slabs_take(&((struct slri_cuda *)device)->shared, all, &piece, &stale));
    *memory = begin(piece, all, stale);
    return SLR_OK;
}

bool slri_cuda_shared_try(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    uint64_t stale = 0, all = slri_round_up(bytes, SLRI_SLAB_ALIGNMENT) + sizeof(struct head);
    struct slri_piece *piece = slri_slabs_try(&cuda->shared, all, &stale);
    if (piece)
        *memory = begin(piece, all, stale);
    return piece != NULL;
}

slr_status slri_cuda_shared_at_once(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    return slri_cuda_shared_try(cuda, bytes, memory)
               ? SLR_OK
               : SLRI_FAIL(NO_MEMORY, "device '%s' has no mapped memory left for %llu bytes", cuda->name,
                           (unsigned long long)bytes);
}

void slri_cuda_ring_memory_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    (void)bytes; // the piece knows
    slri_cuda_flags_take_back(cuda, *slri_cuda_ring_memory_flags(memory));
    slri_slabs_give(&cuda->shared, ((struct head *)memory - 1)->piece);
}

struct slri_piece **slri_cuda_ring_memory_flags(void *memory)
{
    return &((struct head *)memory - 1)->flags;
}

// Where kernels stay there is a slab at hand, which takes no call of the driver: they need not end for it.
slr_status slri_cuda_words_create(void *device, uint64_t bytes, void **memory)
{
    return slri_cuda_shared_try(device, bytes, memory) ? SLR_OK : slri_cuda_seen_create(device, bytes, memory);
}

void slri_cuda_words_destroy(void *device, void *memory, uint64_t bytes)
{
    (slri_slabs_have(&((struct slri_cuda *)device)->shared, memory) ? slri_cuda_ring_memory_destroy
                                                                    : slri_cuda_host_destroy)(device, memory, bytes);
}

// ---- all ------------------------------------------------------------------------------------------------------------

void slri_cuda_pools_open(struct slri_cuda *cuda)
{
    slri_slabs_open(&cuda->shared, &mapped, cuda->cu->vendor->backend, cuda, cuda->name, cuda->allocator);
    slri_slabs_open(&cuda->near, &slri_near_source, cuda->cu->vendor->backend, cuda, cuda->name, cuda->allocator);
}

slr_status slri_cuda_pools_renew(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_slabs_renew(&cuda->shared));
    return slri_slabs_renew(&cuda->near);
}

uint64_t slri_cuda_pools_mapped(const struct slri_cuda *cuda)
{
    return slri_slabs_bytes(&cuda->shared);
}

void slri_cuda_pools_close(struct slri_cuda *cuda)
{
    slri_slabs_close(&cuda->shared);
    slri_slabs_close(&cuda->near);
}

// SPDX-License-Identifier: Apache-2.0
// Taking a page of the device's memory, having it mapped, and cutting it into shards' flags.
#include "hal/cuda/flags.h"

#include "hal/cuda/cuda.h"
#include "base/alloc.h"
#include "base/memory_map.h"
#include "base/status.h"

#include <stdio.h>
#include <string.h>

#define LINE 128u // what the lanes of a warp read at once: 32 ports' flags

static const char *const names[] = {[SLRI_CU_FLAGS_ON_HOST] = "host", [SLRI_CU_FLAGS_BEHIND_BAR] = "bar"};

const char *slri_cuda_flags_name(enum slri_cu_flags_at at)
{
    return names[at];
}

slr_status slri_cuda_flags_choose(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "flags");
    for (int at = SLRI_CU_FLAGS_ON_HOST; asked && at <= SLRI_CU_FLAGS_BEHIND_BAR; ++at)
        if (strcmp(asked, names[at]) == 0) {
            cuda->flags.asked = (enum slri_cu_flags_at)at;
            return SLR_OK;
        }
    return asked ? SLRI_FAIL(INVALID, "device '%s': flags '%s'; expected 'host' or 'bar'", cuda->name, asked) : SLR_OK;
}

// ---- the window ----------------------------------------------------------------------------------------------------

static slr_status gdr_failed(const char *call, int32_t error)
{
    return SLRI_FAIL(UNSUPPORTED, "GDRCopy's %s fails: %s", call, strerror(error));
}

// In the context. A page more than is needed, because memory of the device begins anywhere.
static slr_status take_page(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    const uint32_t yes = 1;
    SLRI_TRY(slri_cuda_check(cuda, "MemAlloc", NULL, cuda->cu->MemAlloc_v2(&flags->memory, 2 * SLRI_GDR_PAGE)));
    flags->device = (flags->memory + SLRI_GDR_PAGE - 1) / SLRI_GDR_PAGE * SLRI_GDR_PAGE;
    // What is pinned is written behind the driver's back: its own operations on it shall be over when they return.
    return slri_cuda_check(cuda, "PointerSetAttribute", NULL,
                           cuda->cu->PointerSetAttribute(&yes, SLRI_CU_POINTER_SYNC_MEMOPS, flags->memory));
}

static slr_status map_page(struct slri_cu_flags *flags)
{
    const struct slri_gdr_functions *functions = &flags->functions;
    void *mapped = NULL;
    int32_t error =
        functions->pin_buffer(flags->gdr, (unsigned long)flags->device, SLRI_GDR_PAGE, 0, 0, &flags->pinned);
    if (error != 0)
        return gdr_failed("gdr_pin_buffer", error);
    error = functions->map(flags->gdr, flags->pinned, &mapped, SLRI_GDR_PAGE);
    if (error != 0) {
        functions->unpin_buffer(flags->gdr, flags->pinned);
        return gdr_failed("gdr_map", error);
    }
    flags->chunk.memory = mapped;
    flags->chunk.bytes = SLRI_GDR_PAGE;
    return SLR_OK;
}

static void free_page(struct slri_cuda *cuda)
{
    if (cuda->flags.memory != 0 && slri_cuda_enter(cuda) == SLR_OK) { // else it goes with the context
        cuda->cu->MemFree_v2(cuda->flags.memory);
        slri_cuda_leave(cuda);
    }
    cuda->flags.memory = 0;
}

static slr_status open_page(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = take_page(cuda);
    slri_cuda_leave(cuda);
    if (status == SLR_OK)
        status = map_page(flags);
    if (status != SLR_OK)
        free_page(cuda);
    return status;
}

static void close_window(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    flags->functions.unmap(flags->gdr, flags->pinned, flags->chunk.memory, SLRI_GDR_PAGE);
    flags->functions.unpin_buffer(flags->gdr, flags->pinned);
    flags->functions.close(flags->gdr);
    flags->gdr = NULL;
    free_page(cuda);
}

static slr_status open_window(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    if (!flags->spare) // taken where it may fail: losing a window must not
        flags->spare = slri_alloc(cuda->allocator, sizeof *flags->spare);
    if (!flags->spare)
        return SLRI_FAIL(NO_MEMORY, "no memory for flags");
    flags->gdr = flags->functions.open();
    if (!flags->gdr)
        return SLRI_FAIL(UNSUPPORTED, "GDRCopy's module gdrdrv is not loaded, or not for this user (/dev/gdrdrv)");
    slr_status status = open_page(cuda);
    if (status != SLR_OK) {
        flags->functions.close(flags->gdr);
        flags->gdr = NULL;
    }
    return status;
}

static slr_status open_library(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    SLRI_TRY(slri_gdr_load(&flags->library, &flags->functions));
    slr_status status = open_window(cuda);
    if (status == SLR_OK && !slri_pieces_add(&flags->pieces, &flags->chunk)) {
        close_window(cuda);
        status = SLRI_FAIL(NO_MEMORY, "no memory for flags");
    }
    if (status == SLR_OK)
        return SLR_OK;
    slri_dl_close(flags->library);
    flags->library = NULL;
    return status;
}

static slr_status try_window(struct slri_cuda *cuda)
{
#if defined(__x86_64__)
    if (cuda->flags.asked == SLRI_CU_FLAGS_ON_HOST)
        return SLRI_FAIL(UNSUPPORTED, "flags=host was requested");
    if (!cuda->cu->PointerSetAttribute)
        return SLRI_FAIL(UNSUPPORTED, "GDRCopy is for NVIDIA's driver");
    return open_library(cuda);
#else
    (void)cuda, (void)open_library;
    return SLRI_FAIL(UNSUPPORTED, "the order of writes through the bus is known only for x86-64");
#endif
}

// Whether the device can do without what was tried.
static slr_status judge(struct slri_cuda *cuda, slr_status status)
{
    struct slri_cu_flags *flags = &cuda->flags;
    snprintf(flags->why, sizeof flags->why, "%s", status == SLR_OK ? "" : slr_error_message());
    if (status == SLR_OK || status == SLR_DEVICE_LOST || flags->asked != SLRI_CU_FLAGS_BEHIND_BAR)
        return status == SLR_DEVICE_LOST ? status : SLR_OK;
    return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot keep its flags in device memory: %s", cuda->name, flags->why);
}

slr_status slri_cuda_flags_open(struct slri_cuda *cuda)
{
    slri_mutex_init(&cuda->flags.lock);
    slri_pieces_begin(&cuda->flags.pieces, cuda->allocator, false);
    return judge(cuda, try_window(cuda));
}

slr_status slri_cuda_flags_renew(struct slri_cuda *cuda)
{
    return cuda->flags.library ? judge(cuda, open_window(cuda)) : SLR_OK;
}

void slri_cuda_flags_close(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    if (flags->gdr)
        close_window(cuda);
    while (flags->sunk) {
        struct slri_cu_sunk *sunk = flags->sunk;
        flags->sunk = sunk->next;
        slri_map_release(sunk->memory, SLRI_GDR_PAGE);
        slri_free(cuda->allocator, sunk, sizeof *sunk);
    }
    slri_free(cuda->allocator, flags->spare, sizeof *flags->spare);
    slri_dl_close(flags->library);
    slri_pieces_end(&flags->pieces);
    slri_mutex_destroy(&flags->lock);
}

// The window closes with the context, and who writes into it then is killed by a signal. A sender that has claimed its
// credit before the ring kernel failed is on its way there, and nobody can wait for it. So memory of the host takes the
// window's place, in one step, at the same address, until the device is closed.
void slri_cuda_flags_lose(struct slri_cuda *cuda)
{
    struct slri_cu_flags *flags = &cuda->flags;
    if (!flags->gdr)
        return;
    if (slri_map_over(flags->chunk.memory, SLRI_GDR_PAGE)) { // else the window stays as long as the driver lets it
        *flags->spare = (struct slri_cu_sunk){flags->chunk.memory, flags->sunk};
        flags->sunk = flags->spare;
        flags->spare = NULL;
        flags->functions.unpin_buffer(flags->gdr, flags->pinned);
        flags->functions.close(flags->gdr);
    }
    flags->gdr = NULL;
    flags->memory = 0; // with the context
    snprintf(flags->why, sizeof flags->why, "the device was lost");
}

// ---- shards --------------------------------------------------------------------------------------------------------

// The first words say what the owner has taken: what was sent before is found by its slots (cu_look.h).
static void begin_flags(const struct slri_shard *shard, uint32_t *flag)
{
    for (uint32_t port = 0; port < 32 * shard->shared[MB_PORT_WORDS]; ++port) {
        bool has_words = MBP_WORDS(port + 1) <= shard->own_words;
        __atomic_store_n(&flag[port], has_words ? shard->own[MBP_PORT(port) + MBQ_NEXT_IN] : 0, __ATOMIC_RELAXED);
    }
    slri_order_bus_stores();
}

static void show_flags(const struct slri_cuda *cuda, struct slri_shard *shard, const struct slri_piece *kept,
                       bool is_new)
{
    const struct slri_cu_flags *flags = &cuda->flags;
    uint32_t *flag = (uint32_t *)(void *)((unsigned char *)flags->chunk.memory + kept->offset);
    if (is_new)
        begin_flags(shard, flag);
    shard->group.near_flags = (void *)(uintptr_t)(flags->device + kept->offset);
    __atomic_store_n(&shard->flags, flag, __ATOMIC_RELEASE); // what they say
}

void slri_cuda_flags_give(struct slri_cuda *cuda, struct slri_shard *shard, struct slri_piece **kept)
{
    struct slri_cu_flags *flags = &cuda->flags;
    uint64_t stale;
    shard->group.near_flags = NULL;
    if (!flags->gdr)
        return;
    bool is_new = *kept == NULL;
    if (is_new) {
        slri_mutex_lock(&flags->lock);
        *kept = slri_pieces_take(&flags->pieces, shard->shared[MB_PORT_WORDS] * LINE, LINE, &stale);
        slri_mutex_unlock(&flags->lock);
    }
    if (!*kept) // this shard's lanes have none
        return;
    show_flags(cuda, shard, *kept, is_new);
}

void slri_cuda_flags_begin_again(struct slri_cuda *cuda, struct slri_shard *shard, struct slri_piece *kept)
{
    shard->group.near_flags = NULL;
    if (cuda->flags.gdr && kept)
        show_flags(cuda, shard, kept, true);
}

void slri_cuda_flags_take_back(struct slri_cuda *cuda, struct slri_piece *kept)
{
    if (!kept)
        return;
    slri_mutex_lock(&cuda->flags.lock);
    slri_pieces_give(&cuda->flags.pieces, kept);
    slri_mutex_unlock(&cuda->flags.lock);
}

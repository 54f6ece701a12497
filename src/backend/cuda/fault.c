// SPDX-License-Identifier: Apache-2.0
// Faults of `__global__` kernels: a word each, in memory of the host that the device writes, so that looking costs no
// call of the driver (kernel/emit_cuda.h says what is in one).
#include "base/alloc.h"
#include "base/status.h"
#include "backend/cuda/cuda.h"

static size_t bytes_for(uint32_t room)
{
    return sizeof(struct slri_cu_faults) + room * sizeof(const void *);
}

// Where kernels stay there is mapped memory at hand, which takes no call of the driver: they need not end for it.
static slr_status take_words(struct slri_cuda *cuda, struct slri_cu_faults *faults)
{
    void *word;
    const uint64_t bytes = faults->room * sizeof *faults->word;
    faults->is_shared = slri_cuda_shared_try(cuda, bytes, &word);
    if (!faults->is_shared)
        SLRI_TRY(slri_cuda_seen_create(cuda, bytes, &word));
    faults->word = word;
    return SLR_OK;
}

slr_status slri_cu_faults_create(struct slri_cuda *cuda, uint32_t room, struct slri_cu_faults **out)
{
    struct slri_cu_faults *made = slri_alloc(cuda->allocator, bytes_for(room));
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for the faults of %u kernels", cuda->name, room);
    made->room = room;
    slr_status status = take_words(cuda, made);
    if (status == SLR_OK)
        *out = made;
    else
        slri_free(cuda->allocator, made, bytes_for(room));
    return status;
}

void slri_cu_faults_destroy(struct slri_cuda *cuda, struct slri_cu_faults *faults)
{
    if (!faults)
        return;
    if (faults->is_shared)
        slri_cuda_ring_memory_destroy(cuda, faults->word, faults->room * sizeof *faults->word);
    else
        slri_cuda_host_destroy(cuda, faults->word, faults->room * sizeof *faults->word);
    slri_free(cuda->allocator, faults, bytes_for(faults->room));
}

uint64_t *slri_cu_faults_add(struct slri_cu_faults *faults, const struct slri_command *dispatch)
{
    faults->ready[faults->count] = dispatch->dispatch.ready;
    return &faults->word[faults->count++];
}

slr_status slri_cu_faults_look(struct slri_cu_faults *faults, slr_status before)
{
    slr_status status = before;
    for (uint32_t i = 0; i < faults->count; ++i) {
        uint64_t told = faults->word[i]; // plain: the kernel was waited for
        if (told == 0)
            continue;
        faults->word[i] = 0;
        if (status == SLR_OK)
            status = slri_cuda_kernel_faulted(faults->ready[i], told);
    }
    return status;
}

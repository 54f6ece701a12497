// SPDX-License-Identifier: Apache-2.0
// What buffers are cut from. The heap above (memory/heap.h) asks for large pieces and cuts them on the host, so that a
// buffer costs no call of the driver, and one that is freed none either.
#include "base/status.h"
#include "backend/cuda/cuda.h"

slr_status slri_cuda_buffer_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_cuda *cuda = device;
    slri_cu_pointer made = 0;
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = slri_cuda_check(cuda, "MemAlloc", NULL, cuda->cu->MemAlloc_v2(&made, bytes));
    if (status == SLR_OK) {
        status = slri_cuda_zero_at_once(cuda, made, bytes);
        if (status != SLR_OK)
            cuda->cu->MemFree_v2(made);
    }
    slri_cuda_leave(cuda);
    if (status == SLR_OK)
        *memory = (void *)(uintptr_t)made;
    return status;
}

void slri_cuda_buffer_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    (void)bytes; // the driver knows
    if (slri_cuda_enter(cuda) != SLR_OK)
        return; // its memory goes with the context
    cuda->cu->MemFree_v2((slri_cu_pointer)(uintptr_t)memory);
    slri_cuda_leave(cuda);
}

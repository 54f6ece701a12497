// SPDX-License-Identifier: Apache-2.0
// What buffers are cut from. The heap above (memory/heap.h) asks for large pieces and cuts them on the host, so that a
// buffer costs no call of the driver, and one that is freed none either. Likewise the pinned memory of the host.
#include "base/memory_map.h"
#include "base/status.h"
#include "hal/cuda/cuda.h"

#include <string.h>

const char *const slri_cuda_memory_names[SLRI_CU_MEMORIES] = {
    [SLRI_CU_DEVICE] = "device", [SLRI_CU_MAPPED] = "mapped", [SLRI_CU_MANAGED] = "managed"};

slr_status slri_cuda_check_memory(const struct slri_cuda *cuda)
{
    if (cuda->memory == SLRI_CU_MAPPED && !cuda->facts.unified_addressing)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': memory 'mapped' needs addresses that host and device share",
                         cuda->name);
    if (cuda->memory == SLRI_CU_MANAGED && !cuda->facts.concurrent_managed)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': the host cannot access memory 'managed' while the device uses it",
                         cuda->name);
    return SLR_OK;
}

// ---- of the host: in the context -----------------------------------------------------------------------------------

// The layers above know one address of each byte, so the device's must be the host's.
static slr_status check_address(struct slri_cuda *cuda, void *memory)
{
    slri_cu_pointer seen = 0;
    SLRI_TRY(
        slri_cuda_check(cuda, "MemHostGetDevicePointer", NULL, cuda->cu->MemHostGetDevicePointer_v2(&seen, memory, 0)));
    if (seen != (slri_cu_pointer)(uintptr_t)memory)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' maps host memory at other addresses than the host", cuda->name);
    return SLR_OK;
}

static slr_status create_host(struct slri_cuda *cuda, uint64_t bytes, void **out)
{
    void *made = NULL;
    SLRI_TRY(slri_cuda_check(cuda, "MemHostAlloc", NULL,
                             cuda->cu->MemHostAlloc(&made, bytes, SLRI_CU_HOST_PORTABLE | SLRI_CU_HOST_MAPPED)));
    memset(made, 0, bytes);
    *out = made;
    return SLR_OK;
}

static slr_status create_mapped(struct slri_cuda *cuda, uint64_t bytes, void **out)
{
    void *made;
    SLRI_TRY(create_host(cuda, bytes, &made));
    slr_status status = check_address(cuda, made);
    if (status == SLR_OK)
        *out = made;
    else
        cuda->cu->MemFreeHost(made);
    return status;
}

// ---- of the device: in the context ---------------------------------------------------------------------------------

static slr_status create_device(struct slri_cuda *cuda, uint64_t bytes, void **out)
{
    slri_cu_pointer made = 0;
    if (cuda->memory == SLRI_CU_MANAGED)
        SLRI_TRY(slri_cuda_check(cuda, "MemAllocManaged", NULL,
                                 cuda->cu->MemAllocManaged(&made, bytes, SLRI_CU_ATTACH_GLOBAL)));
    else
        SLRI_TRY(slri_cuda_check(cuda, "MemAlloc", NULL, cuda->cu->MemAlloc_v2(&made, bytes)));
    slr_status status = slri_cuda_zero_at_once(cuda, made, bytes);
    if (status == SLR_OK)
        *out = (void *)(uintptr_t)made;
    else
        cuda->cu->MemFree_v2(made);
    return status;
}

// ---- the slots: while no kernel stays, which they would wait for
// -----------------------------------------------------------------------------------------------------

typedef slr_status create_function(struct slri_cuda *cuda, uint64_t bytes, void **out);

static slr_status create_quietly(struct slri_cuda *cuda, create_function *create, uint64_t bytes, void **memory)
{
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = create(cuda, bytes, memory);
    slri_cuda_leave_quiet(cuda);
    return status;
}

slr_status slri_cuda_buffer_create(void *device, uint64_t bytes, void **memory)
{
    struct slri_cuda *cuda = device;
    return create_quietly(cuda, cuda->memory == SLRI_CU_MAPPED ? create_mapped : create_device, bytes, memory);
}

slr_status slri_cuda_seen_create(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    return create_quietly(cuda, create_mapped, bytes, memory);
}

static void destroy_device(struct slri_cuda *cuda, void *memory)
{
    if (slri_cuda_enter_quiet(cuda) != SLR_OK)
        return; // its memory goes with the context
    cuda->cu->MemFree_v2((slri_cu_pointer)(uintptr_t)memory);
    slri_cuda_leave_quiet(cuda);
}

void slri_cuda_buffer_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    if (cuda->memory == SLRI_CU_MAPPED)
        slri_cuda_host_destroy(device, memory, bytes);
    else
        destroy_device(cuda, memory);
}

// Of memory that is registered.
static slr_status see_mapped(struct slri_cuda *cuda, void *memory)
{
    slr_status status = slri_cuda_enter(cuda);
    if (status == SLR_OK) {
        status = check_address(cuda, memory);
        slri_cuda_leave(cuda);
    }
    if (status != SLR_OK)
        slri_cuda_host_unpin(cuda, memory);
    return status;
}

// It may be registered still (INVALID): that was for all contexts, and nobody says that it ends with one.
slr_status slri_cuda_mapped_renew(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    slr_status status = slri_cuda_host_pin(cuda, *memory, bytes);
    return status == SLR_OK || status == SLR_INVALID ? see_mapped(cuda, *memory) : status;
}

slr_status slri_cuda_mapped_create(struct slri_cuda *cuda, uint64_t bytes, void **memory)
{
    void *made = slri_map_reserve(bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory of the host for %llu bytes", cuda->name,
                         (unsigned long long)bytes);
    slr_status status = slri_cuda_host_pin(cuda, made, bytes);
    if (status == SLR_OK)
        status = see_mapped(cuda, made);
    if (status == SLR_OK)
        *memory = made;
    else
        slri_map_release(made, bytes);
    return status;
}

void slri_cuda_mapped_destroy(void *device, void *memory, uint64_t bytes)
{
    slri_cuda_host_unpin(device, memory);
    slri_map_release(memory, bytes);
}

slr_status slri_cuda_host_create(void *device, uint64_t bytes, void **memory)
{
    return create_quietly(device, create_host, bytes, memory);
}

void slri_cuda_host_destroy(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    (void)bytes; // the driver knows
    if (slri_cuda_enter_quiet(cuda) != SLR_OK)
        return;
    cuda->cu->MemFreeHost(memory);
    slri_cuda_leave_quiet(cuda);
}

slr_status slri_cuda_host_pin(void *device, void *memory, uint64_t bytes)
{
    struct slri_cuda *cuda = device;
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    int32_t error = cuda->cu->MemHostRegister_v2(memory, bytes, SLRI_CU_HOST_PORTABLE | SLRI_CU_HOST_MAPPED);
    slr_status status = slri_cuda_check(cuda, "MemHostRegister", NULL, error);
    slri_cuda_leave_quiet(cuda);
    return status;
}

void slri_cuda_host_unpin(void *device, void *memory)
{
    struct slri_cuda *cuda = device;
    if (slri_cuda_enter_quiet(cuda) != SLR_OK)
        return;
    cuda->cu->MemHostUnregister(memory);
    slri_cuda_leave_quiet(cuda);
}

static slr_status create_near(struct slri_cuda *cuda, uint64_t bytes, void **out)
{
    slri_cu_pointer made = 0;
    SLRI_TRY(slri_cuda_check(cuda, "MemAlloc", NULL, cuda->cu->MemAlloc_v2(&made, bytes)));
    slr_status status = slri_cuda_zero_at_once(cuda, made, bytes);
    if (status == SLR_OK)
        *out = (void *)(uintptr_t)made;
    else
        cuda->cu->MemFree_v2(made);
    return status;
}

slr_status slri_cuda_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    switch (kind) {
    case SLRI_MEMORY_PINNED:
        return slri_cuda_host_create(device, bytes, memory);
    case SLRI_MEMORY_GIVEN:
        return slri_cuda_host_pin(device, *memory, bytes);
    case SLRI_MEMORY_SHARED:
        return slri_cuda_ring_memory_create(device, bytes, memory);
    case SLRI_MEMORY_SHARED_AT_ONCE:
        return slri_cuda_shared_at_once(device, bytes, memory);
    case SLRI_MEMORY_WORDS:
        return slri_cuda_words_create(device, bytes, memory);
    case SLRI_MEMORY_NEAR:
        return create_quietly(device, create_near, bytes, memory);
    default:
        return slri_cuda_buffer_create(device, bytes, memory);
    }
}

void slri_cuda_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    switch (kind) {
    case SLRI_MEMORY_PINNED:
        slri_cuda_host_destroy(device, memory, bytes);
        break;
    case SLRI_MEMORY_GIVEN:
        slri_cuda_host_unpin(device, memory);
        break;
    case SLRI_MEMORY_SHARED:
        slri_cuda_ring_memory_destroy(device, memory, bytes);
        break;
    case SLRI_MEMORY_WORDS:
        slri_cuda_words_destroy(device, memory, bytes);
        break;
    case SLRI_MEMORY_NEAR:
        destroy_device(device, memory);
        break;
    default:
        slri_cuda_buffer_destroy(device, memory, bytes);
    }
}

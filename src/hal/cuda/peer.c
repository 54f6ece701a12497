// SPDX-License-Identifier: Apache-2.0
// Copies from another GPU's memory, where the driver lets this one reach it.
#include "base/status.h"
#include "hal/cuda/cuda.h"

#include <slipring/peer.h>

#define ALREADY_ENABLED 704
#define NATIVE_ATOMICS 3 // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED

static bool has_calls(const struct slri_cu *cu)
{
    return cu->DeviceCanAccessPeer && cu->CtxEnablePeerAccess && cu->MemcpyPeerAsync;
}

// In the context of `cuda`. Once it is enabled it stays so: that is no error.
static slr_status enable(struct slri_cuda *cuda, struct slri_cuda *from)
{
    int32_t error = cuda->cu->CtxEnablePeerAccess(from->context, 0);
    return error == ALREADY_ENABLED ? SLR_OK : slri_cuda_check(cuda, "CtxEnablePeerAccess", NULL, error);
}

// With both contexts in use, so that neither ends meanwhile; that of `cuda` is the current one.
static slr_status enter_both(struct slri_cuda *cuda, struct slri_cuda *from)
{
    SLRI_TRY(slri_cuda_enter(from));
    slr_status status = slri_cuda_enter(cuda);
    if (status != SLR_OK)
        slri_cuda_leave(from);
    return status;
}

static void leave_both(struct slri_cuda *cuda, struct slri_cuda *from)
{
    slri_cuda_leave(cuda);
    slri_cuda_leave(from);
}

slr_status slri_cuda_peer(void *device, void *from_device, struct slri_peer_facts *out)
{
    struct slri_cuda *cuda = device, *from = from_device;
    const struct slri_cu *cu = cuda->cu;
    int32_t can = 0, atomics = 0;
    if (!has_calls(cu))
        return SLRI_FAIL(UNSUPPORTED, "the driver has no calls for copies between devices");
    SLRI_TRY(enter_both(cuda, from));
    slr_status status =
        slri_cuda_check(cuda, "DeviceCanAccessPeer", NULL, cu->DeviceCanAccessPeer(&can, cuda->device, from->device));
    if (status == SLR_OK && can == 0)
        status =
            SLRI_FAIL(UNSUPPORTED, "the driver says that %s cannot reach the memory of %s", cuda->name, from->name);
    if (status == SLR_OK)
        status = enable(cuda, from);
    leave_both(cuda, from);
    SLRI_TRY(status);
    if (cu->DeviceGetP2PAttribute)
        (void)cu->DeviceGetP2PAttribute(&atomics, NATIVE_ATOMICS, cuda->device, from->device); // else none are promised
    out->atomics = atomics != 0;
    out->link = atomics != 0 ? SLR_LINK_NVLINK : SLR_LINK_PCIE; // over the bus there are none
    return SLR_OK;
}

// In the context of `cuda`, which goes on where the other is lost: that is no failure of its own.
slr_status slri_cuda_copy_peer(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command)
{
    struct slri_cuda *from = command->move.from_device;
    if (enter_both(cuda, from) != SLR_OK)
        return SLRI_FAIL(SYSTEM, "%s: nothing was copied: %s is lost", cuda->name, from->name);
    slr_status status =
        slri_cuda_check(cuda, "MemcpyPeerAsync", NULL,
                        cuda->cu->MemcpyPeerAsync((slri_cu_pointer)(uintptr_t)command->move.to, cuda->context,
                                                  (slri_cu_pointer)(uintptr_t)command->move.from, from->context,
                                                  command->move.bytes, stream));
    leave_both(cuda, from);
    return status;
}

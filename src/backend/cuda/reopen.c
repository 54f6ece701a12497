// SPDX-License-Identifier: Apache-2.0
// Another context for a device that was lost. Nothing of the old one is given to the new: who let go of something
// while the device was lost told the driver nothing, and what is kept is forgotten here, and made anew.
#include "backend/cuda/cuda.h"
#include "base/status.h"

#include <stdio.h>

bool slri_cuda_is_lost(const void *device)
{
    return __atomic_load_n(&((const struct slri_cuda *)device)->lost, __ATOMIC_RELAXED) != 0;
}

static slr_status renew(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_pools_renew(cuda));
    SLRI_TRY(slri_cuda_flags_renew(cuda));
    return slri_cuda_staying_renew(cuda);
}

// With all that is in it.
static void give_up(struct slri_cuda *cuda)
{
    slri_cuda_flags_lose(cuda);
    slri_cuda_end_context(cuda);
    slri_cuda_staying_forget(cuda);
}

slr_status slri_cuda_reopen(void *device)
{
    struct slri_cuda *cuda = device;
    if (!slri_cuda_residents_settle(cuda))
        return SLRI_FAIL(TIMEOUT, "device '%s' has a kernel that has not ended", cuda->name);
    give_up(cuda);
    ++cuda->opened;
    __atomic_store_n(&cuda->lost, 0, __ATOMIC_RELEASE); // for us: nobody else calls, and no kernel stays
    slr_status status = slri_cuda_begin_context(cuda);
    if (status == SLR_OK)
        status = renew(cuda);
    if (status == SLR_OK)
        return SLR_OK;
    char why[320]; // giving up says something else
    snprintf(why, sizeof why, "%s", slr_error_message());
    __atomic_store_n(&cuda->lost, 1, __ATOMIC_RELAXED); // with the first reason
    give_up(cuda);
    slri_fail(status, "%s", why);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Another context for a device that was lost. Nothing of the old one is given to the new: who let go of something
// while the device was lost told the driver nothing, and what is kept is forgotten here, and made anew.
#include "hal/cuda/cuda.h"
#include "base/status.h"
#include "engine/resident_groups.h"

// With all that is in it.
static void give_up(void *device)
{
    struct slri_cuda *cuda = device;
    slri_cuda_flags_lose(cuda);
    slri_cuda_end_context(cuda);
    slri_cuda_staying_forget(cuda);
}

static slr_status begin_again(void *device, uint64_t deadline_ns)
{
    struct slri_cuda *cuda = device;
    (void)deadline_ns; // what may last was waited for in slri_cuda_end_lost
    SLRI_TRY(slri_cuda_begin_context(cuda));
    SLRI_TRY(slri_cuda_pools_renew(cuda));
    SLRI_TRY(slri_cuda_flags_renew(cuda));
    return slri_cuda_staying_renew(cuda);
}

slr_status slri_cuda_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    static const struct slri_reopening how = {begin_again, give_up};
    struct slri_cuda *cuda = device;
    SLRI_TRY(slri_cuda_end_lost(cuda, deadline_ns));
    SLRI_TRY(quiesce(user));
    if (!slri_groups_settle(&cuda->residents))
        return SLRI_FAIL(TIMEOUT, "device '%s' has a kernel that has not ended", cuda->name);
    give_up(cuda);
    ++cuda->opened;
    return slri_loss_reopen(&cuda->loss, &how, cuda, deadline_ns);
}

// SPDX-License-Identifier: Apache-2.0
// A lost device, opened again. OpenCL has no call that ends what runs, and shared memory belongs to a context: so the
// context stays, with the mailboxes of ring kernels in it, and what was given to the device is asked about. What has
// ended is released; what has not keeps its memory, which nothing else gets. Then a kernel is run, to see whether the
// device does that.
#include "base/clock.h"
#include "base/status.h"
#include "hal/opencl/opencl.h"

#include <stdio.h>

#define LOOK_NS 1000000u // between questions whether all has ended

static const char trial_text[] = "__kernel void slr_trial(__global uint *word) { word[0] = 1u; }\n";

// Waits a while for what is about to end. What has not ended then stays: this is no acknowledgement.
static void settle(struct slri_opencl *opencl, uint64_t deadline_ns)
{
    uint64_t soon_ns = slri_deadline_after(SLRI_RESIDENT_END_NS);
    soon_ns = soon_ns < deadline_ns ? soon_ns : deadline_ns;
    while (!slri_cl_settle(opencl)) {
        if (slri_passed(soon_ns)) {
            slri_cl_count_kept(opencl, slri_cl_given_up_bytes(opencl));
            return;
        }
        slri_sleep_ns(LOOK_NS);
    }
}

static uint64_t left_ns(uint64_t deadline_ns)
{
    uint64_t now_ns = slri_now_ns(), left = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    return left < SLRI_CL_COMPILES_NS ? left : SLRI_CL_COMPILES_NS;
}

static slr_status run_trial(struct slri_opencl *opencl, uint64_t deadline_ns)
{
    const struct slri_cl_text source = {"slr_trial", "slipring: reopen.c", slri_cl_kernel_options(opencl), trial_text};
    const size_t one[3] = {1, 1, 1};
    slri_cl_program program = NULL;
    uint32_t word = 0;
    int32_t error;
    SLRI_TRY(slri_cl_build(opencl, &source, &program));
    slri_cl_kernel kernel = opencl->cl->CreateKernel(program, "slr_trial", &error);
    slr_status status = kernel ? SLR_OK : slri_cl_failed(opencl->name, "CreateKernel", error);
    if (kernel && !slri_cl_run_once(opencl, kernel, one, &word, sizeof word, left_ns(deadline_ns)))
        status = slri_passed(deadline_ns)
                     ? SLRI_FAIL(TIMEOUT, "device '%s' was lost, and ran no kernel by the deadline", opencl->name)
                     : SLRI_FAIL(DEVICE_LOST, "its trial failed");
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, kernel, 0);
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, program, 0);
    return status;
}

static slr_status begin_again(void *device, uint64_t deadline_ns)
{
    const struct slri_opencl *opencl = device;
    slr_status status = run_trial(device, deadline_ns);
    if (status == SLR_OK || status == SLR_TIMEOUT || status == SLR_NO_MEMORY)
        return status;
    char why[160];
    snprintf(why, sizeof why, "%s", slr_error_message());
    return SLRI_FAIL(
        DEVICE_LOST,
        "device '%s' was lost, and its driver runs no kernel for this process: %s. If it stays so, end the "
        "process, and open the device in a new one",
        opencl->name, why);
}

// After `quiesce` nobody else uses the device: it has no streams, its ring kernels have failed, and no group runs.
slr_status slri_cl_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    static const struct slri_reopening how = {begin_again, NULL};
    struct slri_opencl *opencl = device;
    SLRI_TRY(quiesce(user)); // there is no call that ends what runs
    if (!slri_groups_settle(&opencl->residents))
        return SLRI_FAIL(TIMEOUT, "device '%s' has a kernel that has not ended", opencl->name);
    settle(opencl, deadline_ns);
    ++opencl->opened;
    return slri_loss_reopen(&opencl->loss, &how, opencl, deadline_ns);
}

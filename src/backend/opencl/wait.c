// SPDX-License-Identifier: Apache-2.0
// Waiting for commands, with a deadline, which OpenCL has not. A command that is not done by then will not be stopped
// either: the device is lost, and what the command may still touch stays until the process ends.
#include "backend/opencl/opencl.h"

#include "base/clock.h"
#include "base/status.h"

#define LOOK_NS                                                                                                        \
    50000u // for so long a waiter gives its core away between looks; then it sleeps, an eighth of what it has waited
#define LONGEST_NAP_NS 1000000u

// Devices that were lost: so that what they kept is not taken for forgotten.
static struct slri_opencl *lost_devices; // atomic: a stack

bool slri_cl_is_lost(const struct slri_opencl *opencl)
{
    return __atomic_load_n(&opencl->lost, __ATOMIC_RELAXED); // nothing is read on its strength
}

slr_status slri_cl_check_lost(const struct slri_opencl *opencl)
{
    return slri_cl_is_lost(opencl)
               ? SLRI_FAIL(DEVICE_LOST, "device '%s' was lost: what it was given did not end in time", opencl->name)
               : SLR_OK;
}

slr_status slri_cl_lose(struct slri_opencl *opencl)
{
    if (!__atomic_exchange_n(&opencl->lost, true, __ATOMIC_RELAXED)) {
        opencl->next_lost = __atomic_load_n(&lost_devices, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&lost_devices, &opencl->next_lost, opencl, true, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED))
            ;
    }
    return slri_cl_check_lost(opencl);
}

// Looks often at first, as what takes 30 us is wanted soon, then ever more seldom.
static void rest(uint64_t began_ns)
{
    uint64_t waited_ns = slri_now_ns() - began_ns;
    if (waited_ns < LOOK_NS)
        slri_yield();
    else
        slri_sleep_ns(waited_ns / 8 < LONGEST_NAP_NS ? waited_ns / 8 : LONGEST_NAP_NS);
}

static slr_status await_one(struct slri_opencl *opencl, slri_cl_event event, uint64_t began_ns, uint64_t deadline_ns)
{
    for (;;) {
        int32_t status = 1;
        int32_t error =
            opencl->cl->GetEventInfo(event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (error != SLRI_CL_SUCCESS)
            return slri_cl_failed(opencl->name, "GetEventInfo", error);
        if (status <= 0)
            return SLR_OK;
        if (slri_cl_is_lost(opencl) || slri_passed(deadline_ns))
            return slri_cl_lose(opencl);
        rest(began_ns);
    }
}

slr_status slri_cl_await(struct slri_opencl *opencl, slri_cl_queue queue, uint32_t count, const slri_cl_event *event)
{
    const struct slri_cl *cl = opencl->cl;
    uint64_t began_ns = slri_now_ns(), deadline_ns = slri_deadline_after(opencl->patience_ns);
    int32_t error = cl->Flush(queue);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, "Flush", error);
    for (uint32_t i = count; i-- > 0;) // in order: behind the last the others are done
        SLRI_TRY(await_one(opencl, event[i], began_ns, deadline_ns));
    error = cl->WaitForEvents(count, event); // they are done; but only this makes what they wrote visible
    for (uint32_t i = 0; error != SLRI_CL_SUCCESS && i < count; ++i) {
        int32_t status = 0; // the first that says why
        int32_t asked =
            cl->GetEventInfo(event[i], SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (asked == SLRI_CL_SUCCESS && status < 0)
            return slri_cl_failed(opencl->name, "WaitForEvents", status);
    }
    return error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "WaitForEvents", error);
}

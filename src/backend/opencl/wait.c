// SPDX-License-Identifier: Apache-2.0
// Waiting for commands, with a deadline, which OpenCL has not. A command that is not done by then will not be stopped
// either: the device is lost, and what the command may still touch stays until the process ends.
#include "backend/opencl/opencl.h"

#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"

// For so long a waiter gives its core away between looks, as what takes 30 us is wanted soon. Then it sleeps until the
// command's end rings, or, without a bell, an eighth of what it has waited.
#define LOOK_NS 50000u
#define LONGEST_NAP_NS 1000000u
#define LONGEST_SLEEP_NS 100000000u // then it looks whether somebody has lost the device meanwhile

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

static slr_status look(struct slri_opencl *opencl, slri_cl_event event, int32_t *status)
{
    *status = 1;
    int32_t error =
        opencl->cl->GetEventInfo(event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
    return error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "GetEventInfo", error);
}

static void ring(slri_cl_event event, int32_t status, void *user)
{
    struct slri_cl_bell *bell = user;
    (void)event, (void)status;
    __atomic_fetch_add(&bell->rung, 1, __ATOMIC_RELEASE); // our last touch: the waiter may free it
    slri_futex_wake(&bell->rung, 1);
}

// Sleeps until the command is done. It does not return before the call that it has asked for has come, or never will.
static slr_status sleep_until_rung(struct slri_opencl *opencl, struct slri_cl_bell *bell, uint64_t deadline_ns)
{
    uint32_t rung;
    while ((rung = __atomic_load_n(&bell->rung, __ATOMIC_ACQUIRE)) != bell->asked) {
        if (slri_cl_is_lost(opencl) || slri_passed(deadline_ns))
            return slri_cl_lose(opencl);
        uint64_t soon_ns = slri_deadline_after(LONGEST_SLEEP_NS);
        slri_futex_wait(&bell->rung, rung, soon_ns < deadline_ns ? soon_ns : deadline_ns);
    }
    return SLR_OK;
}

static bool ask_for_ring(struct slri_opencl *opencl, slri_cl_event event, struct slri_cl_bell *bell)
{
    if (!bell || !opencl->cl->SetEventCallback ||
        opencl->cl->SetEventCallback(event, 0, ring, bell) != SLRI_CL_SUCCESS) // 0: CL_COMPLETE, or a failure
        return false;
    ++bell->asked;
    return true;
}

static slr_status await_one(struct slri_opencl *opencl, slri_cl_event event, struct slri_cl_bell *bell,
                            uint64_t began_ns, uint64_t deadline_ns)
{
    for (;;) {
        int32_t status;
        SLRI_TRY(look(opencl, event, &status));
        if (status <= 0)
            return SLR_OK;
        if (slri_cl_is_lost(opencl) || slri_passed(deadline_ns))
            return slri_cl_lose(opencl);
        uint64_t waited_ns = slri_now_ns() - began_ns;
        if (waited_ns < LOOK_NS)
            slri_yield();
        else if (ask_for_ring(opencl, event, bell))
            return sleep_until_rung(opencl, bell, deadline_ns);
        else
            slri_sleep_ns(waited_ns / 8 < LONGEST_NAP_NS ? waited_ns / 8 : LONGEST_NAP_NS);
    }
}

slr_status slri_cl_await(struct slri_opencl *opencl, slri_cl_queue queue, struct slri_cl_bell *bell,
                         uint64_t patience_ns, uint32_t count, const slri_cl_event *event)
{
    const struct slri_cl *cl = opencl->cl;
    uint64_t began_ns = slri_now_ns(), deadline_ns = slri_deadline_after(patience_ns);
    int32_t error = cl->Flush(queue);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, "Flush", error);
    for (uint32_t i = count; i-- > 0;) // in order: behind the last the others are done
        SLRI_TRY(await_one(opencl, event[i], bell, began_ns, deadline_ns));
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

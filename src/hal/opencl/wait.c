// SPDX-License-Identifier: Apache-2.0
// Waiting for commands, with a deadline, which OpenCL has not. A command that is not done by then will not be stopped
// either: the device is lost, and what the command may still touch stays until the process ends.
#include "hal/opencl/opencl.h"

#include "base/clock.h"
#include "base/forks.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdio.h>

// For so long a waiter gives its core away between looks, as what takes 30 us is wanted soon. Then it sleeps until the
// command's end rings, or, without a bell, an eighth of what it has waited.
#define LOOK_NS 50000u
#define LONGEST_NAP_NS 1000000u
#define LONGEST_SLEEP_NS 100000000u // then it looks whether somebody has lost the device meanwhile
#define MOST_UNANSWERED 8u          // questions one after the other; then nobody will say what has ended

// Devices that were lost: so that what they kept is not taken for forgotten.
static slri_mutex lost_lock = SLRI_MUTEX_INIT;
static struct slri_opencl *lost_devices;
SLRI_RENEW_IN_CHILD(renew_lost_lock, &lost_lock, NULL)

static const char did_not_end[] = "its work did not end in time";
static const char does_not_answer[] = "it no longer reports completed work";

slr_status slri_cl_lose(struct slri_opencl *opencl, const char *why)
{
    slri_mutex_lock(&lost_lock);
    if (!opencl->was_lost) { // else it was opened again
        opencl->next_lost = lost_devices;
        lost_devices = opencl;
        opencl->was_lost = true;
    }
    slri_mutex_unlock(&lost_lock);
    return slri_lose(&opencl->loss, why);
}

void slri_cl_forget_lost(struct slri_opencl *opencl)
{
    slri_mutex_lock(&lost_lock);
    struct slri_opencl **at = &lost_devices;
    while (*at && *at != opencl)
        at = &(*at)->next_lost;
    if (*at)
        *at = opencl->next_lost;
    slri_mutex_unlock(&lost_lock);
}

// A wait, and the first failure of a call that it made. Such a failure says nothing of the commands, which may still
// run: so the wait goes on, and gives the failure when they have ended.
struct wait {
    struct slri_opencl *opencl;
    uint64_t began_ns, deadline_ns;
    uint32_t unanswered;
    slr_status failed;
    char why[256];
};

static void note_failure(struct wait *wait, const char *call, int32_t error)
{
    if (wait->failed != SLR_OK)
        return;
    wait->failed = slri_cl_failed(wait->opencl->name, call, error);
    snprintf(wait->why, sizeof wait->why, "%s", slr_error_message());
}

static slr_status end_wait(const struct wait *wait)
{
    if (wait->failed != SLR_OK)
        slri_fail(wait->failed, "%s", wait->why);
    return wait->failed;
}

// Gives the command's status; where the question fails it may be anything but done.
static slr_status look(struct wait *wait, slri_cl_event event, int32_t *status)
{
    *status = 1;
    int32_t error =
        wait->opencl->cl->GetEventInfo(event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof *status, status, NULL);
    wait->unanswered = error == SLRI_CL_SUCCESS ? 0 : wait->unanswered + 1;
    if (error == SLRI_CL_SUCCESS)
        return SLR_OK;
    *status = 1;
    note_failure(wait, "GetEventInfo", error);
    return wait->unanswered < MOST_UNANSWERED ? SLR_OK : slri_cl_lose(wait->opencl, does_not_answer);
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
            return slri_cl_lose(opencl, did_not_end);
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

static slr_status await_one(struct wait *wait, slri_cl_event event, struct slri_cl_bell *bell)
{
    struct slri_opencl *opencl = wait->opencl;
    for (;;) {
        int32_t status;
        SLRI_TRY(look(wait, event, &status));
        if (status <= 0)
            return SLR_OK;
        if (slri_cl_is_lost(opencl) || slri_passed(wait->deadline_ns))
            return slri_cl_lose(opencl, did_not_end);
        uint64_t waited_ns = slri_now_ns() - wait->began_ns;
        if (waited_ns < LOOK_NS)
            slri_yield();
        else if (ask_for_ring(opencl, event, bell))
            return sleep_until_rung(opencl, bell, wait->deadline_ns);
        else
            slri_sleep_ns(waited_ns / 8 < LONGEST_NAP_NS ? waited_ns / 8 : LONGEST_NAP_NS);
    }
}

slr_status slri_cl_await(struct slri_opencl *opencl, slri_cl_queue queue, struct slri_cl_bell *bell,
                         uint64_t deadline_ns, uint32_t count, const slri_cl_event *event)
{
    const struct slri_cl *cl = opencl->cl;
    struct wait wait = {.opencl = opencl, .began_ns = slri_now_ns(), .deadline_ns = deadline_ns};
    int32_t error = cl->Flush(queue);
    if (error != SLRI_CL_SUCCESS) {
        note_failure(&wait, "Flush", error);
        if (cl->Flush(queue) != SLRI_CL_SUCCESS) // what was given to it may have begun, or never will
            return slri_cl_lose(opencl, does_not_answer);
    }
    for (uint32_t i = count; i-- > 0;) // in order: behind the last the others are done
        SLRI_TRY(await_one(&wait, event[i], bell));
    if (wait.failed != SLR_OK)
        return end_wait(&wait);
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

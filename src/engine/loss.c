// SPDX-License-Identifier: Apache-2.0
// Devices that are lost: the first reason, and beginning anew.
#include "engine/loss.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

void slri_loss_init(struct slri_loss *loss, const char *name)
{
    *loss = (struct slri_loss){.name = name};
    slri_mutex_init(&loss->lock);
}

void slri_loss_destroy(struct slri_loss *loss)
{
    slri_mutex_destroy(&loss->lock);
}

slr_status slri_loss_say(const struct slri_loss *loss)
{
    slri_mutex *lock = (slri_mutex *)&loss->lock; // which reading changes
    slri_mutex_lock(lock);
    slr_status status = SLRI_FAIL(DEVICE_LOST, "device '%s' was lost: %s", loss->name, loss->why);
    slri_mutex_unlock(lock);
    return status;
}

static slr_status mark(struct slri_loss *loss, const char *why, const char *doing)
{
    slri_mutex_lock(&loss->lock);
    if (!loss->lost) {
        char first[161];
        slri_text_fit(first, sizeof first, why);
        snprintf(loss->why, sizeof loss->why, "%s%s%.64s", first, doing ? ", after kernel " : "", doing ? doing : "");
    }
    __atomic_store_n(&loss->lost, 1, __ATOMIC_RELAXED); // the reason is read under the lock
    slri_mutex_unlock(&loss->lock);
    return slri_loss_say(loss);
}

slr_status slri_loss_note(struct slri_loss *loss, const char *doing)
{
    return mark(loss, slr_error_message(), doing);
}

slr_status slri_lose(struct slri_loss *loss, const char *why)
{
    return mark(loss, why, NULL);
}

slr_status slri_lose_hung(struct slri_loss *loss, const char *why)
{
    __atomic_store_n(&loss->hangs, true, __ATOMIC_RELAXED); // it never changes back
    return mark(loss, why ? why : "a command did not end in time", NULL);
}

slr_status slri_loss_replace(struct slri_loss *loss, const struct slri_reopening *how, void *device,
                             uint64_t deadline_ns)
{
    if (slri_hangs(loss))
        return SLRI_FAIL(TIMEOUT,
                         "device '%s' has a command that has not ended, and no call ends it; restart the process",
                         loss->name);
    how->undo(device);
    return slri_loss_reopen(loss, how, device, deadline_ns);
}

slr_status slri_loss_reopen(struct slri_loss *loss, const struct slri_reopening *how, void *device,
                            uint64_t deadline_ns)
{
    char first[sizeof loss->why];
    memcpy(first, loss->why, sizeof first);
    __atomic_store_n(&loss->lost, 0, __ATOMIC_RELEASE); // for the caller: nobody else calls, and no group runs
    slr_status status = how->begin(device, deadline_ns);
    if (status == SLR_OK)
        return SLR_OK;
    char message[320]; // undoing says something else
    snprintf(message, sizeof message, "%s", slr_error_message());
    slri_mutex_lock(&loss->lock);
    memcpy(loss->why, first, sizeof first);
    __atomic_store_n(&loss->lost, 1, __ATOMIC_RELAXED);
    slri_mutex_unlock(&loss->lock);
    if (how->undo)
        how->undo(device);
    slri_fail(status, "%s", message);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Whether a device was lost, and why: one record a device, the same for every backend. The backend keeps it, because
// what it leaves behind may outlive the public object; the engine writes it, says it and refuses work by it.
#ifndef SLRI_ENGINE_LOSS_H
#define SLRI_ENGINE_LOSS_H

#include "base/thread.h"

#include <slipring/status.h>

#include <stdbool.h>

struct slri_loss {
    const char *name; // the device's
    uint32_t lost;    // atomic
    bool hangs;       // atomic: something did not end in time. What it may touch is never freed
    slri_mutex lock;  // of the next
    char why[256];
};

void slri_loss_init(struct slri_loss *loss, const char *name); // which stays
void slri_loss_destroy(struct slri_loss *loss);

// Acquire: what a reopening has made anew.
static inline bool slri_is_lost(const struct slri_loss *loss)
{
    return __builtin_expect(__atomic_load_n(&loss->lost, __ATOMIC_ACQUIRE) != 0, 0);
}

static inline bool slri_hangs(const struct slri_loss *loss)
{
    return __builtin_expect(__atomic_load_n(&loss->hangs, __ATOMIC_RELAXED), 0);
}

// DEVICE_LOST, with the reason. Whoever comes before a loss hears of it from the driver.
slr_status slri_loss_say(const struct slri_loss *loss);
static inline slr_status slri_loss_check(const struct slri_loss *loss)
{
    return slri_is_lost(loss) ? slri_loss_say(loss) : SLR_OK;
}

// Marks the device as lost, for the calling thread's error message (`doing` NULL), after it did that; or for `why`. The
// first reason stays: what is said after it follows from it. Gives DEVICE_LOST.
slr_status slri_loss_note(struct slri_loss *loss, const char *doing);
slr_status slri_lose(struct slri_loss *loss, const char *why);
slr_status slri_lose_hung(struct slri_loss *loss, const char *why); // `why` NULL: a command did not end in time

// A backend's slot has given `status`. DEVICE_LOST marks the device, for the calling thread's error message, whether or
// not the backend did. `loss` NULL: it is never lost.
static inline slr_status slri_loss_seen(struct slri_loss *loss, slr_status status)
{
    return status == SLR_DEVICE_LOST && loss && !slri_is_lost(loss) ? slri_loss_note(loss, NULL) : status;
}

// `begin` makes a lost device anew; nobody else calls the backend meanwhile. Where it fails the device is lost again,
// for the first reason, and `undo` (or NULL) gives up what was begun. The message is that of `begin`.
struct slri_reopening {
    slr_status (*begin)(void *device, uint64_t deadline_ns);
    void (*undo)(void *device);
};
// Of a driver that has no call to end what runs: `undo` first gives up the lost device. Also TIMEOUT, where it hangs.
slr_status slri_loss_replace(struct slri_loss *loss, const struct slri_reopening *how, void *device,
                             uint64_t deadline_ns);
slr_status slri_loss_reopen(struct slri_loss *loss, const struct slri_reopening *how, void *device,
                            uint64_t deadline_ns);

#endif

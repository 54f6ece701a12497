// SPDX-License-Identifier: Apache-2.0
#include "engine/canary.h"

#include "base/status.h"

static uint32_t expected(void)
{
    uint32_t x = 1;
    for (uint32_t i = 0; i < SLRI_CANARY_TURNS; ++i)
        x = SLRI_CANARY_NEXT(x);
    return x;
}

slr_status slri_canary_ask(struct slri_canary *canary, slri_canary_run *run, void *device, uint64_t *turns)
{
    uint32_t word[3] = {0};
    slr_status status = SLR_OK;
    slri_mutex_lock(&canary->lock);
    if (!canary->has_run)
        status = run(device, word);
    if (!canary->has_run && status == SLR_OK) {
        __atomic_store_n(&canary->turns, word[1] == expected() ? 0 : word[0], __ATOMIC_RELAXED);
        canary->stays_ended = word[2] != SLRI_CANARY_FEW;
        canary->has_run = true;
    }
    *turns = slri_canary_turns(canary);
    slri_mutex_unlock(&canary->lock);
    return status;
}

slr_status slri_canary_check(struct slri_canary *canary, slri_canary_run *run, void *device, const char *name,
                             uint64_t *turns)
{
    SLRI_TRY(slri_canary_ask(canary, run, device, turns));
    return *turns == 0 || canary->stays_ended
               ? SLR_OK
               : SLRI_FAIL(UNSUPPORTED, "device '%s' ends loops after %llu turns, and a kernel cannot notice it", name,
                           (unsigned long long)*turns);
}

slr_status slri_canary_ended(const struct slri_canary *canary, const char *name, const char *kernel)
{
    return SLRI_FAIL(
        UNSUPPORTED,
        "%s: a thread's loops took the %llu turns that '%s' allows; lower max_batch (--window), do less in "
        "a thread, or take another device",
        kernel, (unsigned long long)slri_canary_turns(canary), name);
}

// SPDX-License-Identifier: Apache-2.0
// Runs the kernel that finds out how many turns a loop may take (engine/canary.h).
#include "base/clock.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

extern const char slri_embedded_vk_canary_h[];

static slr_status run_trial(struct slri_vulkan *vulkan, struct slri_vk_trial *trial)
{
    const uint64_t given[] = {SLRI_CANARY_TURNS, SLRI_CANARY_FEW};
    SLRI_TRY(slri_vk_trial_make(vulkan, slri_embedded_vk_canary_h, given, 2, trial));
    SLRI_TRY(slri_vk_launch_begin(vulkan, &trial->launch));
    return slri_vk_await(vulkan, trial->launch.semaphore, trial->launch.begun,
                         slri_deadline_after(SLRI_HANG_TIMEOUT_NS));
}

slr_status slri_vk_run_canary(void *device, uint32_t word[3])
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_trial trial = {0};
    slr_status status = run_trial(vulkan, &trial);
    if (status == SLR_OK)
        memcpy(word, trial.words.host, 3 * sizeof *word);
    slri_vk_trial_free(vulkan, &trial);
    return status;
}

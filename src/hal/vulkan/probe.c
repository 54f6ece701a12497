// SPDX-License-Identifier: Apache-2.0
// Whether a kernel can stay, found by trying, never by a name: one that looks at a word of memory which the host maps
// is launched, and must be seen to begin and to go on while it runs, and must hear the host's word. That is more than
// Vulkan's memory model promises, whose scopes end at the device.
#include "base/clock.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

#define STOP 0 // words, as in vk_probe.h
#define LOOKS 32
#define HEARD 64
#define MOST 96
// After how many looks it ends by itself. Where memory of the host lies behind a bus, a look takes some 2 us, on a CPU
// a 40th of that; so first few, and more where the kernel was over before the host could see anything.
#define FEWEST_LOOKS (1u << 13)
#define MOST_LOOKS (1u << 25)
#define LONG_NS UINT64_C(500000000)    // a kernel that ran so long could be seen
#define CHANGE_NS UINT64_C(2000000000) // it is seen to begin, and to look again, by then, or never will
#define END_NS UINT64_C(60000000000)
#define TRIES 3 // a busy machine may keep the host from looking until the kernel is over

#define TRIAL_BYTES 512u

extern const char slri_embedded_vk_probe_h[];

static uint32_t look_at(const uint32_t *words, uint32_t word)
{
    return __atomic_load_n(words + word, __ATOMIC_ACQUIRE); // behind it, what its writer did before
}

// Whether the host sees that the kernel has looked again, while it runs.
static bool changes(struct slri_vulkan *vulkan, const struct slri_own_run *trial, const uint32_t *words, uint32_t from)
{
    const uint64_t deadline_ns = slri_deadline_after(CHANGE_NS);
    VkResult result = VK_TIMEOUT;
    while (look_at(words, LOOKS) == from && result == VK_TIMEOUT && !slri_passed(deadline_ns)) {
        slri_yield();
        result = slri_vk_queue_look(trial->queue, 0);
    }
    if (result != VK_TIMEOUT)
        (void)slri_vk_check(vulkan, "WaitSemaphores", result); // a device that is lost is no reason of its kind
    return look_at(words, LOOKS) != from && look_at(words, HEARD) == 0;
}

static const char *watch(struct slri_vulkan *vulkan, struct slri_own_run *trial, uint32_t most)
{
    uint32_t *words = trial->memory;
    memset(words, 0, TRIAL_BYTES);
    words[MOST] = most;
    const struct slri_bound bound = {.data = (void *)(uintptr_t)slri_vk_seen_address(vulkan, words)};
    if (slri_vk_queue_launch_own(trial->queue, &trial->kernel, &bound) != SLR_OK)
        return "a trial of it failed";
    const bool begins = changes(vulkan, trial, words, 0);
    const bool goes_on = begins && changes(vulkan, trial, words, look_at(words, LOOKS));
    __atomic_store_n(words + STOP, 1, __ATOMIC_RELEASE); // nothing comes with it
    const slr_status ended = slri_vk_queue_await(trial->queue, slri_deadline_after(END_NS));
    if (slri_is_lost(&vulkan->base.loss))
        return "a trial of it lost the device";
    if (ended != SLR_OK)
        return "a trial of it failed";
    return !begins                      ? "the host does not see what a kernel writes while it runs"
           : !goes_on                   ? "a kernel does not go on while the host looks on"
           : look_at(words, HEARD) == 0 ? "a kernel does not see what the host writes while it runs"
                                        : NULL;
}

static const char *try_staying(struct slri_vulkan *vulkan)
{
    struct slri_own_run trial = {0};
    const char *lacks = "a trial of it failed";
    slr_status status =
        slri_own_run_make(&vulkan->base, slri_embedded_vk_probe_h, NULL, SLRI_MEMORY_SHARED, TRIAL_BYTES, &trial);
    uint32_t most = FEWEST_LOOKS;
    for (int tries = 0; status == SLR_OK && lacks && tries < TRIES && !slri_is_lost(&vulkan->base.loss);) {
        const uint64_t began_ns = slri_now_ns();
        lacks = watch(vulkan, &trial, most);
        if (most < MOST_LOOKS && slri_now_ns() - began_ns < LONG_NS)
            most *= 4u;
        else
            ++tries;
    }
    slri_own_run_free(&vulkan->base, &trial);
    return lacks;
}

const char *slri_vk_cannot_stay(struct slri_vulkan *vulkan)
{
    uint64_t turns;
    if (vulkan->base.ring_mode == SLR_RING_RELAUNCHED) // the trial could lose a device of which nobody asks that
        return "ring=relaunch";
    if (slri_vk_refuses(vulkan))
        return "it runs no kernels";
    if (!(vulkan->facts.has & SLRI_SPIRV_DEVICE_SCOPE))
        return "it lacks order across the device (vulkanMemoryModelDeviceScope)";
    if (slri_canary_ask(&vulkan->base.canary, slri_own_kernel_canary, vulkan, &turns) != SLR_OK)
        return "a trial of a loop failed";
    if (turns != 0)
        return "its driver ends loops, and with them a kernel that stays";
    slri_mutex_lock(&vulkan->stay.lock);
    if (!vulkan->stay.is_tried) {
        vulkan->stay.lacks = try_staying(vulkan);
        vulkan->stay.is_tried =
            !slri_is_lost(&vulkan->base.loss); // else it is tried again when the device is opened again
    }
    const char *lacks = vulkan->stay.lacks;
    slri_mutex_unlock(&vulkan->stay.lock);
    return lacks;
}

// SPDX-License-Identifier: Apache-2.0
// Persistent ring kernels. A device has one group that stays, with one shard of one ring kernel at a time: what such a
// kernel works with is fixed when it is recorded. It runs in the device's first queue. Others submit there, too, and
// begin when it has ended; so they have it end first, and it goes on behind them (queue.c).
#include "base/clock.h"
#include "base/status.h"
#include "engine/resident_groups.h"
#include "engine/stay.h"
#include "hal/vulkan/vulkan.h"
#include "ir/pass/handler_kernel.h"

#include <stdio.h>

#define END_NS UINT64_C(60000000000)
#define MOST_BOUND (127u + SLRI_STAY_BUFFERS)

struct slri_vk_group {
    struct slri_resident base; // first
    struct slri_vulkan *vulkan;
    struct slri_own_run run; // its memory: the record, and behind that the constants
    unsigned char *constants;
    uint32_t nothing; // SLRI_STAY_NOTHING
    struct slri_bound bound[MOST_BOUND];
};

// ---- planning ------------------------------------------------------------------------------------------------------

static const char *reason_of(struct slri_vulkan *vulkan, const struct slri_entry *entry, bool is_asked)
{
    const VkPhysicalDeviceLimits *limits = &vulkan->facts.all.properties.limits;
    const uint32_t threads = slri_batch_threads(entry), most = limits->maxComputeWorkGroupInvocations;
    const bool fits = threads <= most && threads <= limits->maxComputeWorkGroupSize[0];
    if (!is_asked)
        return "persistent mode was not requested; it would take turns with other work of the device";
    return entry->kind == SLRI_ENTRY_BLOCK && !fits
               ? "its block has more threads than a work-group of the device allows"
               : slri_vk_cannot_stay(vulkan);
}

static slr_status plan_group(void *device, const struct slri_ring_facts *ring, bool is_asked,
                             struct slri_ring_plan *plan)
{
    const char *reason = reason_of(device, ring->entry, is_asked);
    plan->shards = reason ? 0 : 1;
    if (reason)
        snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    return SLR_OK;
}

// ---- a group -------------------------------------------------------------------------------------------------------

static slr_status launch_group(struct slri_resident *resident)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    SLRI_TRY(slri_loss_check(&group->vulkan->base.loss));
    return slri_vk_queue_launch_own(group->run.queue, &group->run.kernel, group->bound);
}

static enum slri_resident_look look_at_group(struct slri_resident *resident)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    const VkResult result = slri_vk_queue_look(group->run.queue, 0);
    if (result == VK_SUCCESS || result == VK_TIMEOUT)
        return result == VK_SUCCESS ? SLRI_RESIDENT_ENDED : SLRI_RESIDENT_RUNS;
    (void)slri_vk_check(group->vulkan, "WaitSemaphores", result);
    return SLRI_RESIDENT_FAILED;
}

static slr_status make_run(struct slri_vk_group *group, const struct slri_shard *shard)
{
    struct slri_relaunch layout;
    SLRI_TRY(slri_stay_lay_out(shard, &layout));
    const uint64_t record_bytes = (slri_stay_record_bytes(&layout) + 63) / 64 * 64;
    SLRI_TRY(slri_own_run_make(&group->vulkan->base, NULL, shard, SLRI_MEMORY_SHARED,
                               record_bytes + layout.constants_bytes, &group->run));
    group->constants = (unsigned char *)group->run.memory + record_bytes;
    slri_stay_constants(shard, &layout, group->constants);
    return SLR_OK;
}

// By the device's addresses. Of no length: all of it may change at any time, and no barrier is about it.
static void bind(struct slri_vk_group *group, const struct slri_shard *shard)
{
    const struct {
        enum slri_stay_binding binding;
        const void *memory; // of the host
    } shared[] = {{SLRI_STAY_MAILBOX, shard->shared}, {SLRI_STAY_RECORD, group->run.memory},
                  {SLRI_STAY_STATES, shard->states},  {SLRI_STAY_CONSTANTS, group->constants},
                  {SLRI_STAY_OWN, shard->own},        {SLRI_STAY_TABLE, group->base.table}};
    uint32_t count = SLRI_STAY_BUFFERS;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; ++i)
        if (shared[i].memory)
            group->bound[shared[i].binding].data =
                (void *)(uintptr_t)slri_vk_seen_address(group->vulkan, shared[i].memory);
    group->bound[SLRI_STAY_NOTHING] = (struct slri_bound){&group->nothing, sizeof group->nothing};
    for (uint32_t i = 0; i < shard->entry->bindings; ++i)
        if (shard->entry->binding[i].is_buffer)
            group->bound[count++].data = shard->bound[i].data;
}

// Who has a line's lock finds out behind this that the group may come; who had it before has submitted.
static void set_shares(struct slri_vulkan *vulkan, bool shares)
{
    for (uint32_t i = 0; i < vulkan->lines; ++i) {
        slri_mutex_lock(&vulkan->line[i].lock);
        vulkan->line[i].shares = shares;
        slri_mutex_unlock(&vulkan->line[i].lock);
    }
}

static slr_status make_group(struct slri_resident *resident, const struct slri_shard *shard)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    struct slri_vulkan *vulkan = resident->residents->device;
    group->vulkan = vulkan;
    set_shares(vulkan, true);
    SLRI_TRY(make_run(group, shard));
    bind(group, shard);
    slri_count(&vulkan->counts.pipelines, 1);
    return SLR_OK;
}

// One that does not end keeps what it can touch.
static void unmake_group(struct slri_resident *resident, bool has_ended)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    struct slri_vulkan *vulkan = group->vulkan;
    if (!has_ended) {
        (void)slri_lose_hung(&vulkan->base.loss, "a persistent kernel has not ended");
        return;
    }
    if (group->run.queue) // it has said that it goes; if not, the device is lost or hangs, and what follows heeds that
        (void)slri_vk_queue_await(group->run.queue, slri_deadline_after(END_NS));
    slri_own_run_free(&vulkan->base, &group->run);
    set_shares(vulkan, false);
}

static const struct slri_resident_ops ops = {.plan = plan_group,
                                             .make = make_group,
                                             .unmake = unmake_group,
                                             .launch = launch_group,
                                             .look = look_at_group,
                                             .group_bytes = sizeof(struct slri_vk_group),
                                             .is_for_one_shard = true};

// What is left of a ring kernel that is over goes, too.
slr_status slri_vk_stay_check(void *device)
{
    struct slri_vulkan *vulkan = device;
    return slri_groups_settle(&vulkan->residents) && __atomic_load_n(&vulkan->stay.pieces, __ATOMIC_RELAXED) == 0
               ? SLR_OK
               : SLRI_FAIL(WRONG_STATE,
                           "device '%s': a persistent ring kernel has memory that goes with the lost device: destroy "
                           "it first",
                           vulkan->base.name);
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_vk_stay_open(struct slri_vulkan *vulkan)
{
    vulkan->residents = (struct slri_residents){
        .ops = &ops, .device = vulkan, .allocator = vulkan->base.allocator, .loss = &vulkan->base.loss};
    slri_residents_init(&vulkan->residents);
    slri_mutex_init(&vulkan->stay.lock);
}

void slri_vk_stay_close(void *device)
{
    struct slri_vulkan *vulkan = device;
    slri_residents_close(&vulkan->residents);
    slri_mutex_destroy(&vulkan->stay.lock);
}

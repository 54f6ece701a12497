// SPDX-License-Identifier: Apache-2.0
// Persistent ring kernels. A device has one group that stays, with one shard of one ring kernel at a time: what such a
// kernel works with is fixed when it is recorded. It runs in the device's first queue. Others submit there, too, and
// begin when it has ended; so they have it end first, and it goes on behind them (queue.c).
#include "base/alloc.h"
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
    struct slri_vk_launch launch;
    struct slri_vk_staying *built;
    void *record, *constants; // as the handler's kernel has them
    uint64_t record_bytes, constants_bytes;
};

// ---- planning ------------------------------------------------------------------------------------------------------

static const char *reason_of(struct slri_vulkan *vulkan, const struct slri_entry *entry, bool is_asked)
{
    const VkPhysicalDeviceLimits *limits = &vulkan->facts.limits;
    const uint32_t threads = slri_batch_threads(entry), most = limits->maxComputeWorkGroupInvocations;
    const bool fits = threads <= most && threads <= limits->maxComputeWorkGroupSize[0];
    if (!is_asked)
        return "it was not asked for, and other work of the device would take turns with it";
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
    SLRI_TRY(slri_loss_check(&group->vulkan->loss));
    return slri_vk_launch_begin(group->vulkan, &group->launch);
}

static enum slri_resident_look look_at_group(struct slri_resident *resident)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    const VkResult result = slri_vk_launch_look(group->vulkan, &group->launch, 0);
    if (result == VK_SUCCESS || result == VK_TIMEOUT)
        return result == VK_SUCCESS ? SLRI_RESIDENT_ENDED : SLRI_RESIDENT_RUNS;
    (void)slri_vk_check(group->vulkan, "WaitSemaphores", result);
    return SLRI_RESIDENT_FAILED;
}

static slr_status make_constants(struct slri_vk_group *group, const struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = group->vulkan;
    struct slri_relaunch layout;
    SLRI_TRY(slri_stay_lay_out(shard, &layout));
    group->record_bytes = slri_stay_record_bytes(&layout);
    group->constants_bytes = layout.constants_bytes;
    SLRI_TRY(slri_vk_ring_memory_create(vulkan, group->record_bytes, &group->record));
    SLRI_TRY(slri_vk_ring_memory_create(vulkan, group->constants_bytes, &group->constants));
    slri_stay_constants(shard, &layout, group->constants);
    return SLR_OK;
}

static uint64_t address_of(struct slri_vulkan *vulkan, const void *host)
{
    return host ? slri_vk_seen_address(vulkan, host) : 0;
}

static slr_status record(struct slri_vk_group *group, const struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = group->vulkan;
    uint64_t address[MOST_BOUND] = {[SLRI_STAY_MAILBOX] = address_of(vulkan, shard->shared),
                                    [SLRI_STAY_RECORD] = address_of(vulkan, group->record),
                                    [SLRI_STAY_STATES] = address_of(vulkan, shard->states),
                                    [SLRI_STAY_CONSTANTS] = address_of(vulkan, group->constants),
                                    [SLRI_STAY_OWN] = address_of(vulkan, shard->own),
                                    [SLRI_STAY_TABLE] = address_of(vulkan, group->base.table)};
    uint32_t count = SLRI_STAY_BUFFERS;
    for (uint32_t i = 0; i < shard->entry->bindings; ++i)
        if (shard->entry->binding[i].is_buffer)
            address[count++] = (uintptr_t)shard->bound[i].data;
    return slri_vk_launch_make(vulkan, group->built, address, &group->launch);
}

static void destroy_if_there(struct slri_vulkan *vulkan, void *memory, uint64_t bytes)
{
    if (memory)
        slri_vk_memory_destroy(vulkan, SLRI_MEMORY_SHARED, memory, bytes);
}

// Who has the queue's lock finds out behind this that the group may come.
static void set_shares(struct slri_vulkan *vulkan, bool shares)
{
    slri_mutex_lock(&vulkan->line[0].lock);
    vulkan->stay.shares = shares;
    slri_mutex_unlock(&vulkan->line[0].lock);
}

static slr_status make_group(struct slri_resident *resident, const struct slri_shard *shard)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    struct slri_vulkan *vulkan = resident->residents->device;
    group->vulkan = vulkan;
    set_shares(vulkan, true);
    SLRI_TRY(make_constants(group, shard));
    SLRI_TRY(slri_vk_staying_build(vulkan, shard, NULL, &group->built)); // the longest of it
    slri_vk_count(&vulkan->counts.pipelines);
    return record(group, shard);
}

// One that does not end keeps what it can touch.
static void unmake_group(struct slri_resident *resident, bool has_ended)
{
    struct slri_vk_group *group = (struct slri_vk_group *)resident;
    struct slri_vulkan *vulkan = group->vulkan;
    if (!has_ended) {
        (void)slri_lose_hung(&vulkan->loss, "a persistent kernel has not ended");
        return;
    }
    if (group->launch.begun != 0) // it has said that it goes
        (void)slri_vk_launch_look(vulkan, &group->launch, END_NS);
    slri_vk_launch_free(vulkan, &group->launch);
    destroy_if_there(vulkan, group->record, group->record_bytes);
    destroy_if_there(vulkan, group->constants, group->constants_bytes);
    slri_vk_staying_free(vulkan, group->built);
    set_shares(vulkan, false);
}

static const struct slri_resident_ops ops = {.plan = plan_group,
                                             .make = make_group,
                                             .unmake = unmake_group,
                                             .launch = launch_group,
                                             .look = look_at_group,
                                             .group_bytes = sizeof(struct slri_vk_group),
                                             .is_for_one_shard = true};

// What is left of a ring kernel that is over goes, too. True: nothing is left of any.
bool slri_vk_stay_settle(struct slri_vulkan *vulkan)
{
    return slri_groups_settle(&vulkan->residents) && __atomic_load_n(&vulkan->stay.pieces, __ATOMIC_RELAXED) == 0;
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_vk_stay_open(struct slri_vulkan *vulkan)
{
    vulkan->residents =
        (struct slri_residents){.ops = &ops, .device = vulkan, .allocator = vulkan->allocator, .loss = &vulkan->loss};
    slri_residents_init(&vulkan->residents);
    slri_mutex_init(&vulkan->stay.lock);
}

void slri_vk_stay_close(struct slri_vulkan *vulkan)
{
    slri_residents_close(&vulkan->residents);
    slri_mutex_destroy(&vulkan->stay.lock);
}

void slri_vk_stay_forget(struct slri_vulkan *vulkan)
{
    __atomic_fetch_sub(&vulkan->stay.pieces, 1, __ATOMIC_RELAXED);
}

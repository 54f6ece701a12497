// SPDX-License-Identifier: Apache-2.0
// Persistent ring kernels. A device has one group that stays, with one shard of one ring kernel at a time: what such a
// kernel works with is fixed when it is recorded. It runs in the device's first queue. Others submit there, too, and
// begin when it has ended; so they have it end first, and it goes on behind them (queue.c).
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/relaunch.h"
#include "engine/ring_mode.h"
#include "hal/vulkan/vulkan.h"
#include "ir/pass/handler_kernel.h"

#include <stdio.h>

#define END_NS UINT64_C(60000000000)
#define MOST_BOUND (127u + SLRI_STAY_BUFFERS)

struct slri_vk_group {
    struct slri_resident base; // first
    struct slri_vulkan *vulkan;
    struct slri_vk_launch launch;
    void *record, *constants; // as the handler's kernel has them
    uint64_t record_bytes, constants_bytes;
    bool is_open; // the poller knows it
};

// ---- planning ------------------------------------------------------------------------------------------------------

static bool is_free(const struct slri_vulkan *vulkan)
{
    return !__atomic_load_n(&vulkan->stay.kit, __ATOMIC_ACQUIRE); // what its last owner did with it
}

static const char *reason_of(struct slri_vulkan *vulkan, const struct slri_ring_facts *facts)
{
    const struct slri_entry *entry = facts->entry;
    const VkPhysicalDeviceLimits *limits = &vulkan->facts.limits;
    const uint32_t threads = slri_batch_threads(entry), most = limits->maxComputeWorkGroupInvocations;
    const bool fits = threads <= most && threads <= limits->maxComputeWorkGroupSize[0];
    if (facts->asked != SLR_RING_PERSISTENT && vulkan->ring_mode != SLR_RING_PERSISTENT)
        return "it was not asked for, and other work of the device would take turns with it";
    return entry->kind == SLRI_ENTRY_BLOCK && !fits
               ? "its block has more threads than a work-group of the device allows"
               : slri_vk_cannot_stay(vulkan);
}

static void drop(void *device, const struct slri_code *program);

static const char taken[] = "the device's only group that stays has another ring kernel";

// Many may plan; who launches first takes the group.
slr_status slri_vk_persistent_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    const char *reason = reason_of(device, facts);
    if (!reason && !is_free(device))
        reason = taken;
    plan->shards = reason ? 0 : 1;
    if (!reason)
        slri_code_on_end(facts->program, drop);
    else
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

static bool is_over(struct slri_resident *resident)
{
    const struct slri_vk_group *group = (const struct slri_vk_group *)resident;
    return slri_vk_launch_look(group->vulkan, &group->launch, 0) == VK_SUCCESS;
}

static slr_status create_memory(struct slri_resident *resident, uint64_t bytes, void **out)
{
    return slri_vk_ring_memory_create(((struct slri_vk_group *)resident)->vulkan, bytes, out);
}

static void destroy_memory(struct slri_resident *resident, void *memory, uint64_t bytes)
{
    slri_vk_memory_destroy(((struct slri_vk_group *)resident)->vulkan, SLRI_MEMORY_SHARED, memory, bytes);
}

static const struct slri_resident_ops ops = {launch_group,   look_at_group, is_over, create_memory,
                                             destroy_memory, NULL,          false};

// What a handler is given in batches, of one message at a time: a message lies in S, where its slot's number is.
static slr_status make_constants(struct slri_vk_group *group, const struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = group->vulkan;
    struct slri_relaunch layout = {.desc = {.name = shard->entry->name,
                                            .entry = shard->entry,
                                            .bound = shard->bound,
                                            .initial_state = shard->initial_state,
                                            .state_bytes = shard->state_bytes,
                                            .state_stride = shard->state_stride,
                                            .states_bytes = shard->states_bytes,
                                            .fuel = shard->fuel,
                                            .reply_bytes = shard->reply_bytes,
                                            .max_replies = shard->shared[MB_MAX_REPLIES],
                                            .shards = 1,
                                            .max_batch = 1}};
    SLRI_TRY(slri_relaunch_lay_out(&layout));
    layout.messages_at = 0;
    layout.message_stride = 4;
    group->record_bytes = SLRI_STAY_RECORD_AT + layout.result_stride;
    group->constants_bytes = layout.constants_bytes;
    SLRI_TRY(slri_vk_ring_memory_create(vulkan, group->record_bytes, &group->record));
    SLRI_TRY(slri_vk_ring_memory_create(vulkan, group->constants_bytes, &group->constants));
    slri_relaunch_constants(&layout, group->constants);
    return SLR_OK;
}

static uint64_t address_of(struct slri_vulkan *vulkan, const void *host)
{
    return host ? slri_vk_seen_address(vulkan, host) : 0;
}

static slr_status record_launch(struct slri_vk_group *group, const struct slri_shard *shard)
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
    return slri_vk_launch_make(vulkan, vulkan->stay.built, address, &group->launch);
}

static void destroy_if_there(struct slri_vulkan *vulkan, void *memory, uint64_t bytes)
{
    if (memory)
        slri_vk_memory_destroy(vulkan, SLRI_MEMORY_SHARED, memory, bytes);
}

// It has said that it goes, or was never launched.
static void free_group(struct slri_vk_group *group)
{
    struct slri_vulkan *vulkan = group->vulkan;
    if (group->launch.begun != 0)
        (void)slri_vk_launch_look(vulkan, &group->launch, END_NS);
    slri_vk_launch_free(vulkan, &group->launch);
    destroy_if_there(vulkan, group->record, group->record_bytes);
    destroy_if_there(vulkan, group->constants, group->constants_bytes);
    slri_free(vulkan->allocator, group, sizeof *group);
}

// ---- the device's group: under the lock ----------------------------------------------------------------------------

// Who has the queue's lock finds out behind this that the group may come.
static void set_shares(struct slri_vulkan *vulkan, bool shares)
{
    slri_mutex_lock(&vulkan->line[0].lock);
    vulkan->stay.shares = shares;
    slri_mutex_unlock(&vulkan->line[0].lock);
}

// False: it does not end, and what it can touch stays.
static bool drop_group(struct slri_vulkan *vulkan)
{
    struct slri_vk_group *group = vulkan->stay.group;
    if (!group)
        return true;
    if (group->is_open && !slri_resident_close(&group->base)) {
        __atomic_store_n(&vulkan->hangs, true, __ATOMIC_RELAXED);
        (void)slri_lose(&vulkan->loss, "a persistent kernel has not ended");
        return false;
    }
    vulkan->stay.group = NULL;
    free_group(group);
    set_shares(vulkan, false);
    return true;
}

static void drop_code(struct slri_vulkan *vulkan)
{
    slri_vk_staying_free(vulkan, vulkan->stay.built);
    vulkan->stay.built = NULL;
}

static slr_status build_group(struct slri_vulkan *vulkan, const struct slri_shard *shard)
{
    drop_code(vulkan);
    return slri_vk_staying_build(vulkan, shard, &vulkan->stay.built);
}

static slr_status open_group(struct slri_vk_group *group, struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = group->vulkan;
    SLRI_TRY(slri_vk_ring_memory_create(vulkan, slri_resident_kit_bytes(shard), &shard->kit));
    __atomic_store_n(&vulkan->stay.kit, shard->kit, __ATOMIC_RELEASE);
    SLRI_TRY(make_constants(group, shard));
    SLRI_TRY(slri_resident_open(&vulkan->residents, &group->base));
    group->is_open = true;
    SLRI_TRY(build_group(vulkan, shard)); // the longest of it
    return record_launch(group, shard);
}

static slr_status add_group(struct slri_vulkan *vulkan, struct slri_shard *shard)
{
    struct slri_vk_group *group = slri_alloc(vulkan->allocator, sizeof *group);
    if (!group)
        return SLRI_FAIL(NO_MEMORY, "no memory for a group of ring kernel %s", shard->entry->name);
    group->base.ops = &ops;
    group->base.handler = shard->entry;
    group->vulkan = vulkan;
    vulkan->stay.group = group;
    set_shares(vulkan, true);
    slr_status status = open_group(group, shard);
    if (status != SLR_OK && drop_group(vulkan))
        drop_code(vulkan);
    return status;
}

static slr_status prepare(struct slri_vulkan *vulkan, struct slri_shard *shard)
{
    SLRI_TRY(slri_loss_check(&vulkan->loss));
    if (!is_free(vulkan))
        return SLRI_FAIL(UNSUPPORTED,
                         "device '%s' cannot run ring kernel %s persistently now: %s; destroy that first, or take "
                         "ring=relaunch",
                         vulkan->name, shard->entry->name, taken);
    if (!drop_group(vulkan))
        return slri_loss_check(&vulkan->loss);
    vulkan->stay.program = shard->program;
    return add_group(vulkan, shard);
}

slr_status slri_vk_shard_prepare(void *device, struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = device;
    slri_mutex_lock(&vulkan->stay.lock);
    slr_status status = prepare(vulkan, shard);
    slri_mutex_unlock(&vulkan->stay.lock);
    return status;
}

slr_status slri_vk_shard_start(void *device, struct slri_shard *shard)
{
    struct slri_vulkan *vulkan = device;
    slri_mutex_lock(&vulkan->stay.lock);
    slr_status status = slri_resident_start(&vulkan->stay.group->base, shard);
    slri_mutex_unlock(&vulkan->stay.lock);
    return status;
}

// Before the program goes.
static void drop(void *device, const struct slri_code *program)
{
    struct slri_vulkan *vulkan = device;
    slri_mutex_lock(&vulkan->stay.lock);
    if (vulkan->stay.program == program) {
        vulkan->stay.program = NULL;
        if (drop_group(vulkan))
            drop_code(vulkan);
    }
    slri_mutex_unlock(&vulkan->stay.lock);
}

// What is left of a ring kernel that is over goes, too. True: nothing is left of any.
bool slri_vk_stay_settle(struct slri_vulkan *vulkan)
{
    slri_mutex_lock(&vulkan->stay.lock);
    if (is_free(vulkan) && drop_group(vulkan))
        drop_code(vulkan);
    slri_mutex_unlock(&vulkan->stay.lock);
    return __atomic_load_n(&vulkan->stay.pieces, __ATOMIC_RELAXED) == 0;
}

// ---- life ----------------------------------------------------------------------------------------------------------

void slri_vk_stay_open(struct slri_vulkan *vulkan)
{
    slri_residents_init(&vulkan->residents);
    slri_mutex_init(&vulkan->stay.lock);
}

void slri_vk_stay_close(struct slri_vulkan *vulkan)
{
    slri_residents_close(&vulkan->residents);
    slri_mutex_destroy(&vulkan->stay.lock);
}

// With its kit the shard is over, or never starts: the group is free for another.
void slri_vk_stay_forget(struct slri_vulkan *vulkan, const void *memory)
{
    __atomic_fetch_sub(&vulkan->stay.pieces, 1, __ATOMIC_RELAXED);
    if (__atomic_load_n(&vulkan->stay.kit, __ATOMIC_RELAXED) == memory)
        __atomic_store_n(&vulkan->stay.kit, NULL, __ATOMIC_RELEASE);
}

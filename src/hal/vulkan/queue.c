// SPDX-License-Identifier: Apache-2.0
// Queues: command buffers and their submissions (engine/buffered_queue.h). A submission comes behind the one before it,
// on the queue's own timeline semaphore, by which the host waits, too.
#include "base/clock.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#define MOST_LISTS 32u // runs of recorded lists before a wait
#define ARGUMENT_BYTES 262144u
#define TURN_NS UINT64_C(60000000000) // for the message that a persistent ring kernel has in hand

struct slri_vk_queue {
    struct slri_buffered_queue base;
    struct slri_vk_recorder recorder;
    struct slri_vk_line *line;
    VkCommandBuffer commands[SLRI_MOST_SUBMITS];
    VkSemaphore semaphore;
    uint64_t begun; // the value of the newest submission
    bool is_spent;  // the command buffers of the pool were waited for
    struct slri_vk_chunk stage;

    struct slri_vk_recorder *list[MOST_LISTS]; // that were run
    uint32_t lists;

    VkQueryPool stamps; // two a submission
    bool is_recorded;   // a kernel of slipring's own was launched once
    bool has_turn;      // the group that stays is kept from running until the next wait is over
};

static struct slri_vk_queue *of(struct slri_buffered_queue *queue)
{
    return (struct slri_vk_queue *)queue;
}

// ---- life ----------------------------------------------------------------------------------------------------------

// The first of the family's queues are for high priorities, the last for low ones, where there are three.
static struct slri_vk_line *choose_line(struct slri_vulkan *vulkan, uint32_t priority)
{
    const uint32_t turn = __atomic_fetch_add(&vulkan->next_line, 1, __ATOMIC_RELAXED);
    if (vulkan->lines < 3)
        return &vulkan->line[turn % vulkan->lines];
    if (priority != SLR_DEFAULT_PRIORITY)
        return &vulkan->line[priority > SLR_DEFAULT_PRIORITY ? 0 : vulkan->lines - 1];
    return &vulkan->line[1 + turn % (vulkan->lines - 2)];
}

slr_status slri_vk_queue_await(struct slri_buffered_queue *base, uint64_t deadline_ns)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    const uint64_t now_ns = slri_now_ns();
    const uint64_t left_ns = deadline_ns == SLRI_FOREVER ? UINT64_MAX : deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    VkResult result = slri_vk_queue_look(queue, left_ns);
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
        return slri_vk_check(vulkan, "WaitSemaphores", result);
    if (result != VK_TIMEOUT && vulkan->call.DeviceWaitIdle(vulkan->device) == VK_SUCCESS)
        return slri_vk_check(vulkan, "WaitSemaphores", result); // it has no memory to wait, and has ended all
    return slri_lose_hung(&vulkan->base.loss, NULL);
}

// Under the line's lock, which it gives up. Begins behind the queue's newest submission.
static slr_status submit(struct slri_vk_queue *queue)
{
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    const uint64_t next = queue->begun + 1;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                  .waitSemaphoreValueCount = 1,
                                                  .pWaitSemaphoreValues = &queue->begun,
                                                  .signalSemaphoreValueCount = 1,
                                                  .pSignalSemaphoreValues = &next};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &queue->semaphore,
                                 .pWaitDstStageMask = &all,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &queue->recorder.commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &queue->semaphore};
    VkResult result = vulkan->call.QueueSubmit(queue->line->queue, 1, &submit, VK_NULL_HANDLE);
    slri_mutex_unlock(&queue->line->lock);
    SLRI_TRY(slri_vk_check(vulkan, "QueueSubmit", result));
    queue->begun = next;
    slri_count(&vulkan->counts.submits, 1);
    return SLR_OK;
}

static slr_status make_queue(void *device, uint32_t priority, void *made)
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_queue *queue = made;
    const VkQueryPoolCreateInfo stamps = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                          .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                          .queryCount = 2 * SLRI_MOST_SUBMITS};
    const VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                                .initialValue = 1};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
    const uint32_t bits = vulkan->facts.stamp_bits;
    queue->line = choose_line(vulkan, priority);
    queue->base.ticks.ns_a_tick = (double)vulkan->facts.all.properties.limits.timestampPeriod;
    queue->base.ticks.mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    SLRI_TRY(slri_vk_recorder_open(&queue->recorder, vulkan, ARGUMENT_BYTES, VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                   SLRI_MOST_SUBMITS, queue->commands));
    queue->begun = timeline.initialValue;
    SLRI_VK_TRY(vulkan, CreateSemaphore, vulkan->device, &semaphore, NULL, &queue->semaphore);
    if (bits != 0)
        SLRI_VK_TRY(vulkan, CreateQueryPool, vulkan->device, &stamps, NULL, &queue->stamps);
    return SLR_OK;
}

// ---- turns with the group that stays -------------------------------------------------------------------------------

// What is submitted behind that group begins when it has ended. So it is told to, and what is in hand waits for its
// turn; it goes on when that was waited for. Gives the line's lock, unless it fails.
static slr_status take_turn(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    slri_mutex_lock(&queue->line->lock);
    if (!queue->line->shares || queue->has_turn || queue->recorder.is_own)
        return SLR_OK;
    slri_mutex_unlock(&queue->line->lock);
    SLRI_TRY(slri_residents_park(&vulkan->residents, TURN_NS));
    queue->has_turn = true;
    slri_mutex_lock(&queue->line->lock);
    return SLR_OK;
}

static void end_turn(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    if (queue->has_turn)
        slri_residents_resume(&vulkan->residents);
    queue->has_turn = false;
}

static void free_queue(struct slri_buffered_queue *base)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    end_turn(vulkan, queue);
    if (!slri_hangs(&vulkan->base.loss)) {
        vulkan->call.DestroySemaphore(vulkan->device, queue->semaphore, NULL);
        vulkan->call.DestroyQueryPool(vulkan->device, queue->stamps, NULL);
    }
    slri_vk_recorder_close(&queue->recorder);
    slri_vk_chunk_free(vulkan, &queue->stage);
    slri_buffered_free(base);
}

// ---- submissions ---------------------------------------------------------------------------------------------------

static slr_status open_commands(struct slri_buffered_queue *base)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = queue->recorder.is_own
                                                         ? VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
                                                         : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    if (queue->is_spent)
        SLRI_VK_TRY(vulkan, ResetCommandPool, vulkan->device, queue->recorder.pool, 0);
    queue->is_spent = false;
    SLRI_VK_TRY(vulkan, BeginCommandBuffer, queue->commands[base->submits], &begin);
    queue->recorder.commands = queue->commands[base->submits];
    queue->recorder.bound = 0;
    slri_hazards_clear(&queue->recorder.hazards);
    queue->recorder.hazards.is_behind_list = queue->recorder.is_own; // behind all that the device's queue has
    return SLR_OK;
}

static slr_status submit_open(struct slri_buffered_queue *base)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    if (base->is_timed[base->submits])
        vulkan->call.CmdWriteTimestamp(queue->recorder.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queue->stamps,
                                       2 * base->submits + 1);
    slri_vk_record_to_host(&queue->recorder);
    slri_count(&queue->recorder.counts->barriers, queue->recorder.hazards.barriers);
    queue->recorder.hazards.barriers = 0;
    SLRI_VK_TRY(vulkan, EndCommandBuffer, queue->recorder.commands);
    SLRI_TRY(take_turn(vulkan, queue));
    return submit(queue);
}

// ---- times ---------------------------------------------------------------------------------------------------------

static slr_status begin_timed(struct slri_buffered_queue *base)
{
    struct slri_vk_queue *queue = of(base);
    const struct slri_vk_calls *call = &queue->recorder.vulkan->call;
    call->CmdResetQueryPool(queue->recorder.commands, queue->stamps, 2 * base->submits, 2);
    call->CmdWriteTimestamp(queue->recorder.commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queue->stamps,
                            2 * base->submits);
    return SLR_OK;
}

static slr_status read_stamps(struct slri_buffered_queue *base, uint32_t submit, uint64_t *from, uint64_t *to)
{
    const struct slri_vk_queue *queue = of(base);
    struct slri_vulkan *vulkan = queue->recorder.vulkan;
    uint64_t tick[2];
    SLRI_VK_TRY(vulkan, GetQueryPoolResults, vulkan->device, queue->stamps, 2 * submit, 2, sizeof tick, tick,
                sizeof *tick, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    *from = tick[0];
    *to = tick[1];
    return SLR_OK;
}

static slr_status read_clocks(struct slri_buffered_queue *base, uint64_t *tick, uint64_t *now_ns)
{
    const VkCalibratedTimestampInfoEXT clocks[] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    struct slri_vulkan *vulkan = of(base)->recorder.vulkan;
    uint64_t now[2], off;
    if (!vulkan->facts.calibrated)
        return SLR_OK;
    SLRI_VK_TRY(vulkan, GetCalibratedTimestampsEXT, vulkan->device, 2, clocks, now, &off);
    *tick = now[0];
    *now_ns = now[1];
    return SLR_OK;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// Whether the driver has ended a loop is asked of all, so that none tells of it later.
static slr_status settle(struct slri_buffered_queue *base, slr_status status)
{
    struct slri_vk_queue *queue = of(base);
    slr_status looked = slri_vk_recorder_look(&queue->recorder);
    queue->is_spent = true;
    end_turn(queue->recorder.vulkan, queue);
    for (uint32_t i = 0; i < queue->lists; ++i) {
        slr_status of_list = slri_vk_recorder_look(queue->list[i]);
        looked = looked == SLR_OK ? of_list : looked;
    }
    queue->lists = 0;
    return status == SLR_OK ? looked : status;
}

// ---- copies through the stage --------------------------------------------------------------------------------------

static slr_status grow_stage(struct slri_buffered_queue *base, uint64_t bytes)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vk_chunk larger;
    SLRI_TRY(slri_vk_chunk_make_seen(queue->recorder.vulkan, bytes, true, &larger));
    slri_vk_chunk_free(queue->recorder.vulkan, &queue->stage);
    queue->stage = larger;
    base->stage.host = larger.host;
    base->stage.bytes = bytes;
    return SLR_OK;
}

static slr_status copy_staged(struct slri_buffered_queue *base, bool in, const void *device, uint64_t at,
                              uint64_t bytes)
{
    struct slri_vk_queue *queue = of(base);
    const struct slri_hazard_use stage = {
        .memory = (uint64_t)queue->stage.buffer, .at = at, .bytes = bytes, .is_viewed = true};
    struct slri_hazard_use use = {.bytes = bytes};
    slri_vk_find(&queue->recorder.vulkan->base.chunks, device, &use);
    slri_vk_record_copy(&queue->recorder, in ? stage : use, in ? use : stage);
    return SLR_OK;
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status make_ready(struct slri_buffered_queue *base, const struct slri_command *command)
{
    struct slri_vk_queue *queue = of(base);
    struct slri_vk_recorder *recorder = &queue->recorder;
    if (command->op == SLRI_LIST)
        return queue->lists == MOST_LISTS ? slri_buffered_drain(base) : SLR_OK;
    const uint64_t bytes = slri_vk_record_needs(command);
    if (recorder->blocks.used + bytes > recorder->memory.bytes) {
        SLRI_TRY(slri_buffered_drain(base));
        slri_vk_recorder_clear(recorder);
    }
    return recorder->blocks.used + bytes <= recorder->memory.bytes
               ? SLR_OK
               : SLRI_FAIL(UNSUPPORTED, "device '%s': a launch has %llu B of arguments; at most %u fit",
                           queue->recorder.vulkan->base.name, (unsigned long long)bytes, ARGUMENT_BYTES);
}

static slr_status record_command(struct slri_buffered_queue *base, const struct slri_command *command,
                                 const struct slri_extras *extras)
{
    struct slri_vk_queue *queue = of(base);
    if (command->op != SLRI_LIST)
        return slri_vk_record(&queue->recorder, command, extras);
    struct slri_vk_recorder *list = ((const struct slri_kept_list *)command->list)->native;
    slri_vk_record_list(&queue->recorder, list);
    queue->list[queue->lists++] = list;
    return SLR_OK;
}

static bool reaches(struct slri_buffered_queue *base, const struct slri_command *command)
{
    return slri_vk_record_can(of(base)->recorder.vulkan, command);
}

const struct slri_buffered_calls slri_vk_queue_calls = {.bytes = sizeof(struct slri_vk_queue),
                                                        .make = make_queue,
                                                        .open = open_commands,
                                                        .time = begin_timed,
                                                        .read_ticks = read_stamps,
                                                        .ready = make_ready,
                                                        .record = record_command,
                                                        .submit = submit_open,
                                                        .await = slri_vk_queue_await,
                                                        .settle = settle,
                                                        .read_clocks = read_clocks,
                                                        .free = free_queue,
                                                        .grow = grow_stage,
                                                        .copy = copy_staged,
                                                        .reaches = reaches};
// ---- slipring's own kernels ----------------------------------------------------------------------------------------

slr_status slri_vk_queue_create_own(void *device, void **queue)
{
    struct slri_vulkan *vulkan = device;
    SLRI_TRY(slri_buffered_queue_create(vulkan, SLR_DEFAULT_PRIORITY, queue));
    struct slri_vk_queue *made = *queue;
    made->line = &vulkan->line[0];
    made->recorder.is_own = true;
    made->recorder.counts = &vulkan->uncounted;
    return SLR_OK;
}

slr_status slri_vk_queue_launch_own(void *queue, const struct slri_own_kernel *own, const struct slri_bound *bound)
{
    struct slri_vk_queue *of_own = queue;
    if (of_own->is_recorded) {
        slri_mutex_lock(&of_own->line->lock);
        return submit(of_own);
    }
    const struct slri_command launch = slri_own_kernel_launch(own, bound);
    const struct slri_extras extras = {.is_last = true};
    slr_status status = slri_buffered_encode(NULL, queue, &launch, &extras, 1);
    of_own->is_recorded = status == SLR_OK;
    return status;
}

VkResult slri_vk_queue_look(const void *queue, uint64_t wait_ns)
{
    const struct slri_vk_queue *own = queue;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &own->semaphore,
                                      .pValues = &own->begun};
    return own->recorder.vulkan->call.WaitSemaphores(own->recorder.vulkan->device, &wait, wait_ns);
}

// ---- at once -------------------------------------------------------------------------------------------------------

static slr_status zero_in_own(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk)
{
    SLRI_TRY(slri_loss_check(&vulkan->base.loss));
    if (!vulkan->own)
        SLRI_TRY(slri_buffered_queue_create(vulkan, SLR_DEFAULT_PRIORITY, &vulkan->own));
    struct slri_vk_queue *queue = vulkan->own;
    SLRI_TRY(slri_buffered_begin(&queue->base));
    vulkan->call.CmdFillBuffer(queue->recorder.commands, chunk->buffer, 0, VK_WHOLE_SIZE, 0);
    return slri_buffered_wait(vulkan, queue, slri_deadline_after(SLRI_HANG_TIMEOUT_NS), NULL);
}

slr_status slri_vk_zero_at_once(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk)
{
    slri_mutex_lock(&vulkan->own_lock);
    slr_status status = zero_in_own(vulkan, chunk);
    slri_mutex_unlock(&vulkan->own_lock);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Queues. What is encoded is recorded, and submitted at the last command before a wait, when there is much of it, or
// when it is waited for. A submission comes behind the one before it, on the queue's own timeline semaphore, by which
// the host waits, too.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

#define MOST_SUBMITS 8u   // before the first is waited for
#define MOST_RECORDED 64u // commands of one submission
#define MOST_LISTS 32u    // runs of recorded lists before a wait
#define MOST_BACKS 256u   // copies out that the host completes
#define ARGUMENT_BYTES 262144u
#define STAGE_BYTES 1048576u // at first; it grows up to the most
#define MOST_STAGE_BYTES 33554432u
#define END_NS UINT64_C(2000000000)   // for what a lost device still does
#define TURN_NS UINT64_C(60000000000) // for the message that a persistent ring kernel has in hand

struct slri_vk_queue {
    struct slri_vk_line *line;
    VkCommandPool pool;
    VkCommandBuffer commands[MOST_SUBMITS];
    VkSemaphore semaphore;
    uint64_t begun;             // the value of the newest submission
    uint32_t submits, recorded; // since the last wait; in the open command buffer
    bool is_open, is_spent;     // a command buffer; those of the pool were waited for
    struct slri_vk_recorder recorder;

    struct slri_vk_chunk stage; // between the host's memory and the device's
    uint64_t staged;
    struct back {
        unsigned char *to;
        const unsigned char *from;
        uint64_t bytes;
    } back[MOST_BACKS];
    uint32_t backs, sent_backs; // the latter are of what was submitted

    struct slri_vk_recorder *list[MOST_LISTS]; // that were run
    uint32_t lists;

    VkQueryPool stamps;                      // two a submission
    bool is_timed;                           // the open one
    uint32_t first_timed, last_timed, timed; // submissions; the last counts them
    bool has_turn;                           // the group that stays is kept from running until the next wait is over
};

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

slr_status slri_vk_await(struct slri_vulkan *vulkan, VkSemaphore semaphore, uint64_t value, uint64_t deadline_ns)
{
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &semaphore,
                                      .pValues = &value};
    const uint64_t now_ns = slri_now_ns();
    const uint64_t left_ns = deadline_ns == SLRI_FOREVER ? UINT64_MAX : deadline_ns > now_ns ? deadline_ns - now_ns : 0;
    VkResult result = vulkan->call.WaitSemaphores(vulkan->device, &wait, left_ns);
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
        return slri_vk_check(vulkan, "WaitSemaphores", result);
    if (result != VK_TIMEOUT && vulkan->call.DeviceWaitIdle(vulkan->device) == VK_SUCCESS)
        return slri_vk_check(vulkan, "WaitSemaphores", result); // it has no memory to wait, and has ended all
    __atomic_store_n(&vulkan->hangs, true, __ATOMIC_RELAXED);
    return slri_lose(&vulkan->loss, "a command did not end in time");
}

static slr_status await_begun(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, uint64_t deadline_ns)
{
    return slri_vk_await(vulkan, queue->semaphore, queue->begun, deadline_ns);
}

static slr_status make_queue(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
                                          .queueFamilyIndex = vulkan->facts.family};
    const VkSemaphoreTypeCreateInfo timeline = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                                .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
                                                .initialValue = 1};
    const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &timeline};
    const VkQueryPoolCreateInfo stamps = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                          .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                          .queryCount = 2 * MOST_SUBMITS};
    SLRI_VK_TRY(vulkan, CreateCommandPool, vulkan->device, &pool, NULL, &queue->pool);
    const VkCommandBufferAllocateInfo commands = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = queue->pool,
                                                  .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                  .commandBufferCount = MOST_SUBMITS};
    SLRI_VK_TRY(vulkan, AllocateCommandBuffers, vulkan->device, &commands, queue->commands);
    SLRI_VK_TRY(vulkan, CreateSemaphore, vulkan->device, &semaphore, NULL, &queue->semaphore);
    queue->begun = 1;
    if (vulkan->facts.stamp_bits != 0)
        SLRI_VK_TRY(vulkan, CreateQueryPool, vulkan->device, &stamps, NULL, &queue->stamps);
    return slri_vk_recorder_open(&queue->recorder, vulkan, ARGUMENT_BYTES);
}

static void free_queue(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    if (!slri_vk_hangs(vulkan)) {
        vulkan->call.DestroyCommandPool(vulkan->device, queue->pool, NULL);
        vulkan->call.DestroySemaphore(vulkan->device, queue->semaphore, NULL);
        vulkan->call.DestroyQueryPool(vulkan->device, queue->stamps, NULL);
    }
    slri_vk_recorder_close(&queue->recorder);
    slri_vk_chunk_free(vulkan, &queue->stage);
    slri_free(vulkan->allocator, queue, sizeof *queue);
}

slr_status slri_vk_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_vulkan *vulkan = device;
    SLRI_TRY(slri_loss_check(&vulkan->loss));
    struct slri_vk_queue *made = slri_alloc(vulkan->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a queue", vulkan->name);
    made->line = choose_line(vulkan, priority);
    slr_status status = make_queue(vulkan, made);
    if (status == SLR_OK)
        *queue = made;
    else
        free_queue(vulkan, made);
    return status;
}

// ---- turns with the group that stays -------------------------------------------------------------------------------

// What is submitted behind that group begins when it has ended. So it is told to, and what is in hand waits for its
// turn; it goes on when that was waited for. Gives the line's lock, unless it fails.
static slr_status take_turn(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    slri_mutex_lock(&queue->line->lock);
    if (!vulkan->stay.shares || queue->has_turn)
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

// Of a lost device it may have what nobody has waited for.
void slri_vk_queue_destroy(void *device, void *queue)
{
    struct slri_vk_queue *dying = queue;
    if (dying->submits != 0 && !slri_vk_hangs(device))
        (void)await_begun(device, dying, slri_deadline_after(END_NS));
    end_turn(device, dying);
    free_queue(device, dying);
}

// ---- submissions ---------------------------------------------------------------------------------------------------

static slr_status open_commands(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    if (queue->is_open)
        return SLR_OK;
    if (queue->is_spent)
        SLRI_VK_TRY(vulkan, ResetCommandPool, vulkan->device, queue->pool, 0);
    queue->is_spent = false;
    SLRI_VK_TRY(vulkan, BeginCommandBuffer, queue->commands[queue->submits], &begin);
    queue->recorder.commands = queue->commands[queue->submits];
    queue->recorder.bound = VK_NULL_HANDLE;
    queue->recorder.flow->uses = 0;
    queue->recorder.flow->is_behind_list = false;
    queue->is_open = true;
    return SLR_OK;
}

static slr_status send(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, VkCommandBuffer commands)
{
    const uint64_t value = queue->begun + 1;
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
                                                  .waitSemaphoreValueCount = 1,
                                                  .pWaitSemaphoreValues = &queue->begun,
                                                  .signalSemaphoreValueCount = 1,
                                                  .pSignalSemaphoreValues = &value};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .pNext = &values,
                                 .waitSemaphoreCount = 1,
                                 .pWaitSemaphores = &queue->semaphore,
                                 .pWaitDstStageMask = &all,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &queue->semaphore};
    SLRI_TRY(take_turn(vulkan, queue));
    VkResult result = vulkan->call.QueueSubmit(queue->line->queue, 1, &submit, VK_NULL_HANDLE);
    slri_mutex_unlock(&queue->line->lock);
    SLRI_TRY(slri_vk_check(vulkan, "QueueSubmit", result));
    queue->begun = value;
    slri_vk_count(&vulkan->counts.submits);
    return SLR_OK;
}

static void end_timed(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    if (!queue->is_timed)
        return;
    vulkan->call.CmdWriteTimestamp(queue->recorder.commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queue->stamps,
                                   2 * queue->submits + 1);
    queue->is_timed = false;
}

static slr_status submit_open(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    struct slri_vk_flow *flow = queue->recorder.flow;
    if (!queue->is_open)
        return SLR_OK;
    end_timed(vulkan, queue);
    slri_vk_flow_to_host(vulkan, flow, queue->recorder.commands);
    __atomic_fetch_add(&vulkan->counts.barriers, flow->barriers, __ATOMIC_RELAXED);
    __atomic_fetch_add(&vulkan->counts.host_barriers, flow->host_barriers, __ATOMIC_RELAXED);
    flow->barriers = flow->host_barriers = 0;
    VkCommandBuffer commands = queue->recorder.commands;
    queue->is_open = false;
    queue->recorded = 0;
    ++queue->submits;
    slr_status status = slri_vk_check(vulkan, "EndCommandBuffer", vulkan->call.EndCommandBuffer(commands));
    if (status == SLR_OK)
        status = send(vulkan, queue, commands);
    if (status == SLR_OK)
        queue->sent_backs = queue->backs;
    else
        queue->backs = queue->sent_backs; // the others are not done
    return status;
}

// ---- waiting -------------------------------------------------------------------------------------------------------

// When the device was at what was timed, on the host's clock. Without a common clock: so long before now.
static slr_status tell_times(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, struct slri_times *times)
{
    const VkCalibratedTimestampInfoEXT clocks[] = {
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_DEVICE_EXT},
        {.sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT, .timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT}};
    const uint32_t bits = vulkan->facts.stamp_bits;
    const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint32_t of[2] = {2 * queue->first_timed, 2 * queue->last_timed + 1};
    const double ns_a_tick = (double)vulkan->facts.limits.timestampPeriod;
    uint64_t tick[2], now[2], off;
    for (int i = 0; i < 2; ++i)
        SLRI_VK_TRY(vulkan, GetQueryPoolResults, vulkan->device, queue->stamps, of[i], 1, sizeof tick[i], &tick[i],
                    sizeof tick[i], VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT);
    if (vulkan->facts.calibrated) {
        SLRI_VK_TRY(vulkan, GetCalibratedTimestampsEXT, vulkan->device, 2, clocks, now, &off);
    } else {
        now[0] = tick[1];
        now[1] = slri_now_ns();
    }
    times->from_ns = now[1] - (uint64_t)((double)((now[0] - tick[0]) & mask) * ns_a_tick);
    times->to_ns = now[1] - (uint64_t)((double)((now[0] - tick[1]) & mask) * ns_a_tick);
    return SLR_OK;
}

static slr_status look(struct slri_vk_queue *queue)
{
    slr_status status = slri_vk_recorder_look(&queue->recorder);
    for (uint32_t i = 0; i < queue->lists; ++i) {
        slr_status of_list = slri_vk_recorder_look(queue->list[i]);
        status = status == SLR_OK ? of_list : status;
    }
    queue->lists = 0;
    return status;
}

// All that was begun has been done: what it used is free.
static slr_status settle(struct slri_vk_queue *queue)
{
    for (uint32_t i = 0; i < queue->backs; ++i)
        memcpy(queue->back[i].to, queue->back[i].from, queue->back[i].bytes);
    queue->backs = queue->sent_backs = 0;
    queue->staged = 0;
    if (queue->submits == 0)
        return SLR_OK;
    queue->submits = 0;
    queue->is_spent = true;
    return look(queue);
}

// Also where what is open cannot be submitted: what was, is waited for.
static slr_status finish(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, uint64_t deadline_ns,
                         struct slri_times *times)
{
    slr_status status = submit_open(vulkan, queue);
    if (queue->submits != 0) {
        slr_status waited = await_begun(vulkan, queue, deadline_ns);
        queue->backs = waited == SLR_OK ? queue->backs : 0;
        status = status == SLR_OK ? waited : status;
    }
    if (status == SLR_OK && times && queue->timed != 0)
        status = tell_times(vulkan, queue, times);
    queue->timed = 0;
    end_turn(vulkan, queue);
    slr_status settled = settle(queue);
    return status == SLR_OK ? settled : status;
}

slr_status slri_vk_wait(void *device, void *queue, uint64_t deadline_ns, struct slri_times *times)
{
    struct slri_vulkan *vulkan = device;
    struct slri_vk_queue *of = queue;
    SLRI_TRY(slri_loss_check(&vulkan->loss));
    return finish(vulkan, of, deadline_ns, times);
}

// In the midst of encoding, for room.
static slr_status drain(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    return finish(vulkan, queue, slri_deadline_after(SLRI_VK_PATIENCE_NS), NULL);
}

// ---- copies through the stage --------------------------------------------------------------------------------------

// Nothing is in it.
static slr_status grow_stage(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, uint64_t bytes)
{
    uint64_t room = STAGE_BYTES;
    while (room < bytes && room < MOST_STAGE_BYTES)
        room *= 2;
    if (queue->stage.bytes >= room)
        return SLR_OK;
    struct slri_vk_chunk larger;
    SLRI_TRY(slri_vk_chunk_make_seen(vulkan, room, true, &larger));
    slri_vk_chunk_free(vulkan, &queue->stage);
    queue->stage = larger;
    return SLR_OK;
}

static bool waits_for_back(const struct slri_vk_queue *queue, const unsigned char *host, uint64_t bytes)
{
    for (uint32_t i = 0; i < queue->backs; ++i)
        if (queue->back[i].to < host + bytes && host < queue->back[i].to + queue->back[i].bytes)
            return true;
    return false;
}

static slr_status make_staging_room(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, uint64_t bytes)
{
    if (queue->staged + bytes <= queue->stage.bytes && queue->backs < MOST_BACKS)
        return SLR_OK;
    SLRI_TRY(drain(vulkan, queue));
    SLRI_TRY(grow_stage(vulkan, queue, bytes));
    return open_commands(vulkan, queue);
}

static void copy_part(struct slri_vk_queue *queue, bool in, unsigned char *device, unsigned char *host, uint64_t bytes)
{
    unsigned char *between = queue->stage.host + queue->staged;
    struct slri_vk_use use = {
        .bytes = bytes, .how = in ? SLRI_VK_WRITES : SLRI_VK_READS, .stage = VK_PIPELINE_STAGE_TRANSFER_BIT};
    const struct slri_vk_use stage = {.buffer = queue->stage.buffer,
                                      .at = queue->staged,
                                      .bytes = bytes,
                                      .how = in ? SLRI_VK_READS : SLRI_VK_WRITES,
                                      .stage = VK_PIPELINE_STAGE_TRANSFER_BIT};
    slri_vk_find(queue->recorder.vulkan, device, &use.buffer, &use.at);
    slri_vk_record_copy(&queue->recorder, in ? &stage : &use, in ? &use : &stage);
    if (in)
        memcpy(between, host, bytes);
    else
        queue->back[queue->backs++] = (struct back){host, between, bytes};
    queue->recorder.flow->told_by |= in ? 0 : VK_PIPELINE_STAGE_TRANSFER_BIT;
    queue->staged += (bytes + 63) / 64 * 64;
}

static slr_status copy_staged(struct slri_vulkan *vulkan, struct slri_vk_queue *queue,
                              const struct slri_command *command)
{
    const bool in = command->op == SLRI_COPY_IN;
    unsigned char *device = command->copy.device, *host = command->copy.host;
    uint64_t left = command->copy.bytes;
    if (in && waits_for_back(queue, host, left)) {
        SLRI_TRY(drain(vulkan, queue));
        SLRI_TRY(open_commands(vulkan, queue));
    }
    while (left != 0) {
        const uint64_t part = left < MOST_STAGE_BYTES ? left : MOST_STAGE_BYTES;
        SLRI_TRY(make_staging_room(vulkan, queue, part));
        copy_part(queue, in, device, host, part);
        device += part;
        host += part;
        left -= part;
    }
    return SLR_OK;
}

// ---- encoding ------------------------------------------------------------------------------------------------------

static slr_status begin_timed(struct slri_vulkan *vulkan, struct slri_vk_queue *queue)
{
    if (queue->is_timed || vulkan->facts.stamp_bits == 0)
        return SLR_OK;
    if (queue->timed != 0 && queue->last_timed == queue->submits) { // it has had its two
        SLRI_TRY(submit_open(vulkan, queue));
        if (queue->submits == MOST_SUBMITS)
            SLRI_TRY(drain(vulkan, queue));
        SLRI_TRY(open_commands(vulkan, queue));
    }
    queue->first_timed = queue->timed == 0 ? queue->submits : queue->first_timed;
    queue->last_timed = queue->submits;
    ++queue->timed;
    queue->is_timed = true;
    vulkan->call.CmdResetQueryPool(queue->recorder.commands, queue->stamps, 2 * queue->submits, 2);
    vulkan->call.CmdWriteTimestamp(queue->recorder.commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, queue->stamps,
                                   2 * queue->submits);
    return SLR_OK;
}

static slr_status make_ready(struct slri_vulkan *vulkan, struct slri_vk_queue *queue,
                             const struct slri_command *command)
{
    struct slri_vk_recorder *recorder = &queue->recorder;
    const uint64_t bytes = slri_vk_record_needs(command);
    if (recorder->used + bytes > recorder->memory.bytes) {
        SLRI_TRY(drain(vulkan, queue));
        slri_vk_recorder_clear(recorder);
    }
    if (bytes > recorder->memory.bytes)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a launch has %llu B of arguments; at most %u fit", vulkan->name,
                         (unsigned long long)bytes, ARGUMENT_BYTES);
    if (queue->submits == MOST_SUBMITS)
        SLRI_TRY(drain(vulkan, queue));
    return open_commands(vulkan, queue);
}

static slr_status run_list(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, struct slri_vk_list *list);

static slr_status run(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, const struct slri_command *command,
                      const struct slri_extras *extras)
{
    if (command->op == SLRI_LIST)
        return run_list(vulkan, queue, command->list);
    SLRI_TRY(make_ready(vulkan, queue, command));
    return slri_vk_record_can(vulkan, command) ? slri_vk_record(&queue->recorder, command, extras)
                                               : copy_staged(vulkan, queue, command);
}

static slr_status run_list(struct slri_vulkan *vulkan, struct slri_vk_queue *queue, struct slri_vk_list *list)
{
    struct slri_vk_flow *flow = queue->recorder.flow;
    const struct slri_kept_part *part = list->kept->part;
    for (uint32_t i = 0; !list->secondary && i < list->kept->count; ++i)
        SLRI_TRY(run(vulkan, queue, &part[i].command, &part[i].extras));
    if (!list->secondary)
        return SLR_OK;
    if (queue->submits == MOST_SUBMITS || queue->lists == MOST_LISTS)
        SLRI_TRY(drain(vulkan, queue));
    SLRI_TRY(open_commands(vulkan, queue));
    slri_vk_flow_list(vulkan, flow, queue->recorder.commands);
    vulkan->call.CmdExecuteCommands(queue->recorder.commands, 1, &list->secondary);
    queue->recorder.bound = VK_NULL_HANDLE; // a secondary one leaves nothing bound
    flow->barriers += list->barriers;
    flow->told_by |= list->told_by;
    queue->list[queue->lists++] = &list->recorder;
    return SLR_OK;
}

static slr_status encode_one(struct slri_vulkan *vulkan, struct slri_vk_queue *queue,
                             const struct slri_command *command, const struct slri_extras *extras)
{
    if (queue->submits == MOST_SUBMITS)
        SLRI_TRY(drain(vulkan, queue));
    SLRI_TRY(open_commands(vulkan, queue));
    if (extras->wants_times)
        SLRI_TRY(begin_timed(vulkan, queue));
    else
        end_timed(vulkan, queue);
    SLRI_TRY(run(vulkan, queue, command, extras));
    return ++queue->recorded >= MOST_RECORDED || extras->is_last ? submit_open(vulkan, queue) : SLR_OK;
}

slr_status slri_vk_encode(void *device, void *queue, const struct slri_command *command,
                          const struct slri_extras *extras, uint32_t commands)
{
    struct slri_vulkan *vulkan = device;
    SLRI_TRY(slri_loss_check(&vulkan->loss));
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(encode_one(vulkan, queue, &command[i], &extras[i]));
    return SLR_OK;
}

// ---- at once -------------------------------------------------------------------------------------------------------

static slr_status zero_in_own(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk)
{
    SLRI_TRY(slri_loss_check(&vulkan->loss));
    if (!vulkan->own)
        SLRI_TRY(slri_vk_queue_create(vulkan, SLR_DEFAULT_PRIORITY, &vulkan->own));
    struct slri_vk_queue *queue = vulkan->own;
    SLRI_TRY(open_commands(vulkan, queue));
    vulkan->call.CmdFillBuffer(queue->recorder.commands, chunk->buffer, 0, VK_WHOLE_SIZE, 0);
    return drain(vulkan, queue);
}

slr_status slri_vk_zero_at_once(struct slri_vulkan *vulkan, const struct slri_vk_chunk *chunk)
{
    slri_mutex_lock(&vulkan->own_lock);
    slr_status status = zero_in_own(vulkan, chunk);
    slri_mutex_unlock(&vulkan->own_lock);
    return status;
}

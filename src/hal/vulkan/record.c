// SPDX-License-Identifier: Apache-2.0
// Commands into a command buffer. A kernel finds its arguments at an address of the device: the block of a launch with
// the same arguments as one before is that one, so there are neither descriptor sets nor writes of them. Barriers are
// where engine/hazards.h says that they must be.
#include "base/alloc.h"
#include "base/status.h"
#include "hal/vulkan/vulkan.h"

#include <string.h>

#define ROUND 16u // to which what is in the memory begins
#define MOST_BOUND (127u + 3u)

static slr_status make_commands(struct slri_vk_recorder *recorder, VkCommandBufferLevel level, uint32_t count,
                                VkCommandBuffer *out)
{
    struct slri_vulkan *vulkan = recorder->vulkan;
    const bool is_once = level == VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    const VkCommandPoolCreateInfo create = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                            .flags = is_once ? VK_COMMAND_POOL_CREATE_TRANSIENT_BIT : 0,
                                            .queueFamilyIndex = vulkan->facts.family};
    SLRI_VK_TRY(vulkan, CreateCommandPool, vulkan->device, &create, NULL, &recorder->pool);
    const VkCommandBufferAllocateInfo allocate = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                  .commandPool = recorder->pool,
                                                  .level = level,
                                                  .commandBufferCount = count};
    SLRI_VK_TRY(vulkan, AllocateCommandBuffers, vulkan->device, &allocate, out);
    return SLR_OK;
}

slr_status slri_vk_recorder_open(struct slri_vk_recorder *recorder, struct slri_vulkan *vulkan, uint64_t bytes,
                                 VkCommandBufferLevel level, uint32_t count, VkCommandBuffer *commands)
{
    recorder->vulkan = vulkan;
    recorder->counts = &vulkan->counts;
    recorder->memory.bytes = bytes;
    recorder->blocks.shadow = slri_alloc(vulkan->base.allocator, bytes);
    if (!recorder->blocks.shadow)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for what its kernels are given", vulkan->base.name);
    recorder->hazards.stages = VK_PIPELINE_STAGE_TRANSFER_BIT | VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    SLRI_TRY(slri_vk_chunk_make_seen(vulkan, bytes, false, &recorder->memory));
    memset(recorder->memory.host, 0, ROUND);
    slri_vk_recorder_clear(recorder);
    return make_commands(recorder, level, count, commands);
}

void slri_vk_recorder_clear(struct slri_vk_recorder *recorder)
{
    slri_blocks_clear(&recorder->blocks, ROUND);
}

slr_status slri_vk_recorder_look(struct slri_vk_recorder *recorder)
{
    struct slri_vulkan *vulkan = recorder->vulkan;
    uint32_t number, none = 0;
    char kernel[72] = "kernel ";
    if (slri_canary_turns(&vulkan->base.canary) == 0)
        return SLR_OK;
    memcpy(&number, recorder->memory.host, sizeof number);
    if (number == 0)
        return SLR_OK;
    memcpy(recorder->memory.host, &none, sizeof none);
    slri_loaded_name(&vulkan->base.kernels, number, kernel + strlen(kernel), sizeof kernel - strlen(kernel));
    return slri_canary_ended(&vulkan->base.canary, vulkan->base.name, kernel);
}

void slri_vk_recorder_close(struct slri_vk_recorder *recorder)
{
    struct slri_vulkan *vulkan = recorder->vulkan;
    if (!vulkan)
        return;
    if (!slri_hangs(&vulkan->base.loss))
        vulkan->call.DestroyCommandPool(vulkan->device, recorder->pool, NULL);
    slri_free(vulkan->base.allocator, recorder->blocks.shadow, recorder->memory.bytes);
    slri_vk_chunk_free(vulkan, &recorder->memory);
}

// ---- barriers: each names its ranges, and both stages --------------------------------------------------------------

static VkAccessFlags access_of(VkPipelineStageFlags stage, uint32_t how)
{
    const bool copies = stage == VK_PIPELINE_STAGE_TRANSFER_BIT;
    VkAccessFlags access = 0;
    if (how != SLRI_WRITES)
        access |= copies ? VK_ACCESS_TRANSFER_READ_BIT : VK_ACCESS_SHADER_READ_BIT;
    if (how != SLRI_READS)
        access |= copies ? VK_ACCESS_TRANSFER_WRITE_BIT : VK_ACCESS_SHADER_WRITE_BIT;
    return access;
}

static void put_barrier(struct slri_vk_recorder *recorder, const struct slri_hazard_barrier *barrier)
{
    VkBufferMemoryBarrier range[SLRI_MOST_NAMED];
    const uint32_t ranges = barrier->ranges <= SLRI_MOST_NAMED ? barrier->ranges : 0;
    for (uint32_t i = 0; i < ranges; ++i) {
        const struct slri_hazard_use *before = &barrier->range[i].before;
        // Reads and writes: what comes later in the stage needs no barrier of its own.
        const VkAccessFlags next = access_of(barrier->range[i].next_stage, SLRI_READS | SLRI_WRITES);
        range[i] = (VkBufferMemoryBarrier){.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                           .srcAccessMask = access_of(before->stage, before->how),
                                           .dstAccessMask = next,
                                           .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                           .buffer = (VkBuffer)before->memory,
                                           .offset = before->at,
                                           .size = before->bytes};
    }
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT};
    recorder->vulkan->call.CmdPipelineBarrier(recorder->commands, barrier->from, barrier->to, 0, ranges == 0, &all,
                                              ranges, range, 0, NULL);
}

static void flow(struct slri_vk_recorder *recorder, const struct slri_hazard_use *use, uint32_t uses)
{
    struct slri_hazard_barrier barrier;
    if (slri_hazards_next(&recorder->hazards, use, uses, &barrier))
        put_barrier(recorder, &barrier);
}

void slri_vk_record_to_host(struct slri_vk_recorder *recorder)
{
    const VkMemoryBarrier all = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    const uint32_t told_by = recorder->hazards.told_by;
    recorder->hazards.told_by = 0;
    if (told_by == 0)
        return;
    recorder->vulkan->call.CmdPipelineBarrier(recorder->commands, told_by, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0,
                                              NULL, 0, NULL);
    slri_count(&recorder->counts->host_barriers, 1);
}

// ---- copies and fills ----------------------------------------------------------------------------------------------

static struct slri_hazard_use use_of(struct slri_places *chunks, const void *address, uint64_t bytes)
{
    struct slri_hazard_use use = {.bytes = bytes};
    slri_vk_find(chunks, address, &use);
    return use;
}

void slri_vk_record_copy(struct slri_vk_recorder *recorder, struct slri_hazard_use from, struct slri_hazard_use to)
{
    const VkBufferCopy region = {from.at, to.at, from.bytes};
    from.how = SLRI_READS;
    to.how = SLRI_WRITES;
    from.stage = to.stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const struct slri_hazard_use both[] = {from, to};
    flow(recorder, both, 2);
    recorder->vulkan->call.CmdCopyBuffer(recorder->commands, (VkBuffer)from.memory, (VkBuffer)to.memory, 1, &region);
}

static void copy(struct slri_vk_recorder *recorder, const struct slri_command *command)
{
    struct slri_places *buffers = &recorder->vulkan->base.chunks, *seen = &recorder->vulkan->base.seen;
    const uint64_t bytes = slri_command_bytes(command);
    if (command->op == SLRI_COPY) {
        slri_vk_record_copy(recorder, use_of(buffers, command->move.from, bytes),
                            use_of(buffers, command->move.to, bytes));
        return;
    }
    const struct slri_hazard_use host = use_of(seen, command->copy.host, bytes);
    const struct slri_hazard_use device = use_of(buffers, command->copy.device, bytes);
    const bool in = command->op == SLRI_COPY_IN;
    slri_vk_record_copy(recorder, in ? host : device, in ? device : host);
}

// Vulkan fills whole words. What lies around those is copied from a few bytes of the pattern.
static void fill(struct slri_vk_recorder *recorder, const struct slri_command *command)
{
    struct slri_vulkan *vulkan = recorder->vulkan;
    struct slri_hazard_use to = use_of(&vulkan->base.chunks, command->fill.device, command->fill.bytes);
    const uint32_t word = slri_fill_word(command);
    uint64_t head = (4 - to.at % 4) % 4;
    head = head < to.bytes ? head : to.bytes;
    const uint64_t words = (to.bytes - head) / 4 * 4, tail = to.bytes - head - words;
    to.how = SLRI_WRITES;
    to.stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    flow(recorder, &to, 1);
    if (words != 0)
        vulkan->call.CmdFillBuffer(recorder->commands, (VkBuffer)to.memory, to.at + head, words, word);
    if (head + tail == 0)
        return;
    const uint64_t from = recorder->blocks.used;
    memcpy(recorder->memory.host + from, &word, sizeof word);
    recorder->blocks.used += ROUND;
    const VkBufferCopy edge[] = {{from, to.at, head}, {from, to.at + head + words, tail}};
    vulkan->call.CmdCopyBuffer(recorder->commands, recorder->memory.buffer, (VkBuffer)to.memory,
                               (head != 0) + (tail != 0), head != 0 ? edge : edge + 1);
}

// ---- kernels -------------------------------------------------------------------------------------------------------

// What a dispatch uses.
struct uses {
    struct slri_vulkan *vulkan;
    uint32_t count;
    struct slri_hazard_use use[MOST_BOUND];
};

static uint64_t used_address(void *user, const void *memory, uint64_t bytes, uint32_t how)
{
    struct uses *uses = user;
    struct slri_hazard_use use = use_of(&uses->vulkan->base.chunks, memory, bytes);
    use.how = how;
    use.stage = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    if (bytes != 0)
        uses->use[uses->count++] = use;
    return (uintptr_t)memory;
}

// Puts the block at the end of the memory, where it stays unless one like it is there.
static uint64_t keep_arguments(struct slri_vk_recorder *recorder, const struct slri_command *command,
                               const struct slri_extras *extras, const struct slri_arguments *layout, struct uses *uses)
{
    struct slri_blocks *blocks = &recorder->blocks;
    const uint64_t fresh = blocks->used, bytes = (layout->bytes + 7u) & ~UINT64_C(7);
    slri_put_arguments(command, extras, layout, used_address, uses, blocks->shadow + fresh);
    const uint64_t at = slri_blocks_keep(blocks, bytes, ROUND);
    if (at != fresh)
        return at;
    memcpy(recorder->memory.host + at, blocks->shadow + at, bytes);
    slri_count(&recorder->counts->argument_writes, 1);
    return at;
}

static void push(struct slri_vk_recorder *recorder, uint32_t at, uint32_t bytes, const void *data)
{
    recorder->vulkan->call.CmdPushConstants(recorder->commands, recorder->vulkan->layout, VK_SHADER_STAGE_COMPUTE_BIT,
                                            at, bytes, data);
}

// A grid in parts as large as the device takes: along x, for along y and z every device takes as many blocks as a grid
// may have. The kernel reads the whole one's size from what it is pushed. vkCmdDispatchBase would not do: it reaches no
// block beyond the device's limit.
static void put_grid(struct slri_vk_recorder *recorder, const uint32_t grid[3])
{
    const uint32_t *most = recorder->vulkan->facts.all.properties.limits.maxComputeWorkGroupCount;
    uint32_t from[3], part[3];
    for (uint64_t i = 0; slri_grid_part(grid, most, i, from, part); ++i) {
        if (i > 0)
            push(recorder, offsetof(struct slri_spirv_push, first), sizeof from[0], from);
        recorder->vulkan->call.CmdDispatch(recorder->commands, part[0], part[1], part[2]);
    }
}

static uint32_t put_pushed(struct slri_spirv_push *push, const unsigned char *arguments, uint32_t bytes)
{
    const uint32_t most = SLRI_SPIRV_PUSH_BYTES - SLRI_SPIRV_PUSHED_AT, pushed = bytes < most ? bytes / 4 * 4 : most;
    memcpy(push->argument, arguments, pushed);
    return SLRI_SPIRV_PUSHED_AT + pushed;
}

static slr_status dispatch(struct slri_vk_recorder *recorder, const struct slri_command *command,
                           const struct slri_extras *extras)
{
    struct slri_vulkan *vulkan = recorder->vulkan;
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const uint32_t *grid = command->dispatch.grid;
    struct slri_vk_kernel *kernel = ready->kernel.native;
    struct uses uses;
    uint64_t pipeline;
    SLRI_TRY(slri_loaded_pipeline(&vulkan->base.kernels, &kernel->base, command->dispatch.dynamic_bytes, &pipeline));
    uses.vulkan = vulkan;
    uses.count = 0;
    const uint64_t at = keep_arguments(recorder, command, extras, &kernel->layout, &uses);
    struct slri_spirv_push pushes = {.arguments = recorder->memory.address + at,
                                     .grid = {grid[0], grid[1], grid[2]},
                                     .turns = SLRI_SPIRV_TURNS,
                                     .ended = recorder->memory.address,
                                     .number = kernel->base.number};
    const uint32_t pushed = put_pushed(&pushes, recorder->blocks.shadow + at, kernel->layout.bytes);
    flow(recorder, uses.use, uses.count);
    if (recorder->bound != pipeline)
        vulkan->call.CmdBindPipeline(recorder->commands, VK_PIPELINE_BIND_POINT_COMPUTE, (VkPipeline)pipeline);
    recorder->bound = pipeline;
    push(recorder, 0, pushed, &pushes);
    put_grid(recorder, grid);
    if (slri_canary_turns(&vulkan->base.canary) != 0 || recorder->is_own)
        recorder->hazards.told_by |= VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
    return SLR_OK;
}

// ---- lists ---------------------------------------------------------------------------------------------------------

void slri_vk_record_list(struct slri_vk_recorder *recorder, const struct slri_vk_recorder *list)
{
    struct slri_hazard_barrier barrier;
    if (slri_hazards_next_list(&recorder->hazards, &barrier))
        put_barrier(recorder, &barrier);
    recorder->vulkan->call.CmdExecuteCommands(recorder->commands, 1, &list->commands);
    recorder->bound = 0; // a secondary one leaves nothing bound
    recorder->hazards.barriers += list->hazards.barriers;
    recorder->hazards.told_by |= list->hazards.told_by;
}

// ---- all -----------------------------------------------------------------------------------------------------------

bool slri_vk_record_can(struct slri_vulkan *vulkan, const struct slri_command *command)
{
    struct slri_hazard_use use = {.bytes = command->copy.bytes};
    if (command->op == SLRI_COPY_IN || command->op == SLRI_COPY_OUT)
        return slri_vk_find(&vulkan->base.seen, command->copy.host, &use);
    return command->op == SLRI_COPY || command->op == SLRI_FILL || command->op == SLRI_DISPATCH;
}

uint64_t slri_vk_record_needs(const struct slri_command *command)
{
    if (command->op != SLRI_DISPATCH)
        return ROUND; // for the edges of a fill
    const struct slri_entry *entry = command->dispatch.ready->entry;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < entry->bindings; ++i) // each at a multiple of its alignment, at most 16
        bytes += (entry->binding[i].is_buffer ? sizeof(uint64_t) : command->dispatch.bound[i].bytes) + ROUND;
    return bytes + 4 * ROUND;
}

slr_status slri_vk_record(struct slri_vk_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras)
{
    if (command->op == SLRI_DISPATCH)
        return dispatch(recorder, command, extras);
    (command->op == SLRI_FILL ? fill : copy)(recorder, command);
    return SLR_OK;
}

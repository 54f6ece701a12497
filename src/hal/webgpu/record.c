// SPDX-License-Identifier: Apache-2.0
// Commands into a command encoder. Launches that come behind one another share a pass, which orders them. Values that
// are given at launch lie in one uniform buffer of the queue, at an offset that is dynamic: so launches that differ in
// values alone share a bind group, and the same values are there once.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/webgpu/webgpu.h"

#define ARGUMENT_BYTES 262144u
#define SHADOW_BYTES (ARGUMENT_BYTES + 512u) // also for what a kernel does not ask for
#define MOST_PART 33554432u                  // of a copy or fill by slipring's own kernels
#define TOOL_THREADS 256u

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status make_stamps(struct slri_wg_recorder *recorder)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    const WGPUQuerySetDescriptor how = {.type = WGPUQueryType_Timestamp, .count = 2 * SLRI_WG_MOST_PASSES};
    if (!webgpu->facts.has_stamps)
        return SLR_OK;
    recorder->stamps = webgpu->lib->DeviceCreateQuerySet(webgpu->device, &how);
    return slri_wg_check(webgpu, "DeviceCreateQuerySet");
}

slr_status slri_wg_recorder_open(struct slri_wg_recorder *recorder, struct slri_webgpu *webgpu)
{
    recorder->webgpu = webgpu;
    recorder->blocks.shadow = slri_alloc(webgpu->base.allocator, SHADOW_BYTES);
    recorder->groups = slri_alloc(webgpu->base.allocator, SLRI_WG_GROUPS * sizeof *recorder->groups);
    if (!recorder->blocks.shadow || !recorder->groups)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for what its kernels are given", webgpu->base.name);
    SLRI_TRY(slri_wg_buffer_make(webgpu, ARGUMENT_BYTES, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst,
                                 &recorder->args));
    SLRI_TRY(slri_wg_buffer_make(
        webgpu, 16, WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, &recorder->ended));
    recorder->ended_serial = slri_wg_serial(webgpu);
    return make_stamps(recorder);
}

void slri_wg_recorder_close(struct slri_wg_recorder *recorder)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    const bool frees = !slri_hangs(&webgpu->base.loss);
    slri_wg_recorder_end_pass(recorder);
    if (recorder->encoder && frees)
        webgpu->lib->CommandEncoderRelease(recorder->encoder);
    for (uint32_t i = 0; recorder->groups && frees && i < SLRI_WG_GROUPS; ++i)
        if (recorder->groups[i].group)
            webgpu->lib->BindGroupRelease(recorder->groups[i].group);
    if (recorder->stamps && frees)
        webgpu->lib->QuerySetRelease(recorder->stamps);
    slri_wg_buffer_free(webgpu, recorder->args);
    slri_wg_buffer_free(webgpu, recorder->scratch);
    slri_wg_buffer_free(webgpu, recorder->ended);
    slri_free(webgpu->base.allocator, recorder->groups, SLRI_WG_GROUPS * sizeof *recorder->groups);
    slri_free(webgpu->base.allocator, recorder->blocks.shadow, SHADOW_BYTES);
}

slr_status slri_wg_recorder_begin(struct slri_wg_recorder *recorder)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    if (recorder->encoder)
        return SLR_OK;
    recorder->encoder = webgpu->lib->DeviceCreateCommandEncoder(webgpu->device, NULL);
    recorder->stamped = 0;
    return slri_wg_check(webgpu, "DeviceCreateCommandEncoder");
}

// ---- passes --------------------------------------------------------------------------------------------------------

void slri_wg_recorder_end_pass(struct slri_wg_recorder *recorder)
{
    if (!recorder->pass)
        return;
    recorder->webgpu->lib->ComputePassEncoderEnd(recorder->pass);
    recorder->webgpu->lib->ComputePassEncoderRelease(recorder->pass);
    recorder->pass = NULL;
}

static slr_status begin_pass(struct slri_wg_recorder *recorder, bool is_timed)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    is_timed = is_timed && recorder->stamps;
    if (recorder->pass && (recorder->pass_is_timed == is_timed))
        return SLR_OK;
    slri_wg_recorder_end_pass(recorder);
    SLRI_TRY(slri_wg_recorder_begin(recorder));
    const WGPUPassTimestampWrites stamps = {.querySet = recorder->stamps,
                                            .beginningOfPassWriteIndex = 2 * recorder->stamped,
                                            .endOfPassWriteIndex = 2 * recorder->stamped + 1};
    const WGPUComputePassDescriptor how = {.timestampWrites = is_timed ? &stamps : NULL};
    recorder->pass = webgpu->lib->CommandEncoderBeginComputePass(recorder->encoder, &how);
    SLRI_TRY(slri_wg_check(webgpu, "CommandEncoderBeginComputePass"));
    recorder->pass_is_timed = is_timed;
    recorder->stamped += is_timed;
    recorder->pipeline = NULL;
    recorder->group = NULL;
    slri_count(&webgpu->counts.passes, 1);
    return SLR_OK;
}

// ---- values --------------------------------------------------------------------------------------------------------

static uint64_t round_up(const struct slri_wg_recorder *recorder, uint64_t bytes)
{
    const uint64_t step = recorder->webgpu->facts.limits.minUniformBufferOffsetAlignment;
    return (bytes + step - 1) / step * step;
}

static uint64_t needs(const struct slri_wg_recorder *recorder, const struct slri_command *command)
{
    if (command->op != SLRI_DISPATCH) // at most two jobs of a kernel of slipring's own for each part
        return round_up(recorder, 16) * 2 * (slri_command_bytes(command) / MOST_PART + 1);
    const struct slri_wg_kernel *kernel = command->dispatch.ready->kernel.native;
    const uint64_t most = recorder->webgpu->facts.limits.maxComputeWorkgroupsPerDimension;
    uint64_t parts = 1;
    for (int i = 0; i < 3; ++i)
        parts *= (command->dispatch.grid[i] + most - 1) / most;
    return round_up(recorder, kernel->uniform_bytes) * parts;
}

bool slri_wg_recorder_has_room(const struct slri_wg_recorder *recorder, const struct slri_command *command)
{
    return recorder->blocks.used + needs(recorder, command) <= ARGUMENT_BYTES;
}

slr_status slri_wg_recorder_refuse(const struct slri_wg_recorder *recorder, const struct slri_command *command)
{
    const struct slri_webgpu *webgpu = recorder->webgpu;
    if (command->op != SLRI_DISPATCH)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' cannot move or fill %llu B at once; do it in several pieces",
                         webgpu->base.name, (unsigned long long)slri_command_bytes(command));
    const struct slri_wg_kernel *kernel = command->dispatch.ready->kernel.native;
    const uint32_t *grid = command->dispatch.grid;
    return SLRI_FAIL(UNSUPPORTED,
                     "kernel %s: a grid of %u x %u x %u blocks; device '%s' has %u along an axis, and a launch at most "
                     "%u parts of that size; launch several smaller grids",
                     kernel->base.name, grid[0], grid[1], grid[2], webgpu->base.name,
                     webgpu->facts.limits.maxComputeWorkgroupsPerDimension,
                     (uint32_t)(ARGUMENT_BYTES / round_up(recorder, kernel->uniform_bytes)));
}

void slri_wg_recorder_clear(struct slri_wg_recorder *recorder)
{
    slri_blocks_clear(&recorder->blocks, 0);
    recorder->sent = 0;
}

void slri_wg_recorder_send(struct slri_wg_recorder *recorder)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    const struct slri_blocks *blocks = &recorder->blocks;
    if (recorder->sent == blocks->used)
        return;
    webgpu->lib->QueueWriteBuffer(webgpu->queue, recorder->args, recorder->sent, blocks->shadow + recorder->sent,
                                  blocks->used - recorder->sent);
    recorder->sent = blocks->used;
}

// ---- bind groups ---------------------------------------------------------------------------------------------------

static bool is_same_group(const struct slri_wg_group *a, const struct slri_wg_group *b)
{
    bool same = a->group && a->layout == b->layout && a->ranges == b->ranges && a->uniform_bytes == b->uniform_bytes;
    for (uint32_t i = 0; same && i < a->ranges; ++i)
        same = a->range[i].serial == b->range[i].serial && a->range[i].at == b->range[i].at &&
               a->range[i].bytes == b->range[i].bytes;
    return same;
}

static slr_status make_group(struct slri_wg_recorder *recorder, struct slri_wg_group *group)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    WGPUBindGroupEntry entry[SLRI_WG_MOST_ENTRIES];
    uint32_t range = 0;
    for (uint32_t i = 0; i < group->layout->count; ++i) {
        const struct slri_wg_entry *of = &group->layout->entry[i];
        const struct slri_wg_range uniform = {.buffer = recorder->args, .bytes = group->uniform_bytes};
        const struct slri_wg_range *from = of->is_uniform ? &uniform : &group->range[range++];
        entry[i] = (WGPUBindGroupEntry){
            .binding = of->binding, .buffer = from->buffer, .offset = from->at, .size = from->bytes};
    }
    const WGPUBindGroupDescriptor how = {
        .layout = group->layout->group, .entryCount = group->layout->count, .entries = entry};
    group->group = webgpu->lib->DeviceCreateBindGroup(webgpu->device, &how);
    slri_count(&webgpu->counts.bind_groups, 1);
    return slri_wg_check(webgpu, "DeviceCreateBindGroup");
}

// The next one that is made may have its address: what the pass has is none of those any more.
static void release_group(struct slri_wg_recorder *recorder, struct slri_wg_group *group)
{
    if (!group->group)
        return;
    recorder->webgpu->lib->BindGroupRelease(group->group);
    recorder->group = recorder->group == group->group ? NULL : recorder->group;
    group->group = NULL;
}

// Those of a buffer that has gone without being destroyed: they would keep its memory.
static void forget_groups(struct slri_wg_recorder *recorder, uint64_t serial)
{
    for (uint32_t i = 0; i < SLRI_WG_GROUPS; ++i) {
        struct slri_wg_group *group = &recorder->groups[i];
        bool has_it = false;
        for (uint32_t k = 0; group->group && k < group->ranges; ++k)
            has_it |= group->range[k].serial == serial;
        if (has_it)
            release_group(recorder, group);
    }
}

// The one that the queue keeps of these ranges. What it displaces stays with the encoders that have it.
static slr_status find_group(struct slri_wg_recorder *recorder, const struct slri_wg_group *wanted, WGPUBindGroup *out)
{
    const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = (uintptr_t)wanted->layout * prime;
    for (uint32_t i = 0; i < wanted->ranges; ++i)
        hash = (hash ^ wanted->range[i].serial ^ wanted->range[i].at << 20 ^ wanted->range[i].bytes << 40) * prime;
    struct slri_wg_group *place = &recorder->groups[(hash >> 32) % SLRI_WG_GROUPS];
    if (!is_same_group(place, wanted)) {
        release_group(recorder, place);
        *place = *wanted;
        slr_status status = make_group(recorder, place);
        if (status != SLR_OK) {
            release_group(recorder, place);
            return status;
        }
    }
    *out = place->group;
    return SLR_OK;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static slr_status put_launch(struct slri_wg_recorder *recorder, const struct slri_wg_kernel *kernel,
                             WGPUComputePipeline pipeline, struct slri_wg_group *wanted, const uint32_t grid[3])
{
    const struct slri_wg_library *lib = recorder->webgpu->lib;
    const uint64_t step = round_up(recorder, 1);
    const uint32_t at = // 0 bytes: there are none
        kernel->uniform_bytes ? (uint32_t)slri_blocks_keep(&recorder->blocks, kernel->uniform_bytes, step) : 0;
    WGPUBindGroup group;
    wanted->layout = kernel->layout;
    wanted->uniform_bytes = kernel->uniform_bytes;
    SLRI_TRY(find_group(recorder, wanted, &group));
    if (recorder->pipeline != pipeline)
        lib->ComputePassEncoderSetPipeline(recorder->pass, pipeline);
    if (recorder->group != group || recorder->group_at != at) {
        lib->ComputePassEncoderSetBindGroup(recorder->pass, 0, group, kernel->uniform_bytes != 0, &at);
        slri_count(&recorder->webgpu->counts.bind_group_sets, 1);
    }
    recorder->pipeline = pipeline;
    recorder->group = group;
    recorder->group_at = at;
    lib->ComputePassEncoderDispatchWorkgroups(recorder->pass, grid[0], grid[1], grid[2]);
    return SLR_OK;
}

// Behind the values: how many words of each buffer's binding lie before it.
static void put_bases(const struct slri_wg_recorder *recorder, const struct slri_command *command, unsigned char *out)
{
    const struct slri_entry *entry = command->dispatch.ready->entry;
    const uint32_t step = recorder->webgpu->facts.limits.minStorageBufferOffsetAlignment;
    if (step <= SLRI_WG_SLICE_ALIGNMENT)
        return;
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const uint32_t words = (uint32_t)((uintptr_t)command->dispatch.bound[i].data % step / 4);
        if (!entry->binding[i].is_buffer)
            continue;
        memcpy(out, &words, sizeof words);
        out += sizeof words;
    }
}

// Words (emit_wgsl.h): which buffers are there, each value, the place of a part of the grid, where buffers begin.
static void put_values(const struct slri_wg_recorder *recorder, const struct slri_command *command,
                       uint32_t uniform_bytes, const uint32_t from[3])
{
    const struct slri_entry *entry = command->dispatch.ready->entry;
    unsigned char *block = recorder->blocks.shadow + recorder->blocks.used;
    uint32_t there = 0, number = 0;
    uint64_t at = sizeof there;
    memset(block, 0, uniform_bytes);
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const struct slri_bound *bound = &command->dispatch.bound[i];
        if (entry->binding[i].is_buffer) {
            there |= bound->data ? 1u << number % 32 : 0;
            ++number;
        } else {
            memcpy(block + at, bound->data, bound->bytes);
            at += (bound->bytes + 3) / 4 * 4;
        }
    }
    memcpy(block, &there, sizeof there);
    memcpy(block + at, from, 3 * sizeof *from);
    memcpy(block + at + 3 * sizeof *from, command->dispatch.grid, 3 * sizeof *from);
    put_bases(recorder, command, block + at + 6 * sizeof *from);
}

// What stands for the binding of that number; for a buffer that is not there, memory that nobody reads.
static slr_status find_range(struct slri_wg_recorder *recorder, const struct slri_command *command,
                             const struct slri_extras *extras, uint32_t binding, struct slri_wg_range *out)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const WGPULimits *limits = &webgpu->facts.limits;
    struct slri_bound bound = {0};
    uint32_t number = 0;
    for (uint32_t i = 0; i < ready->entry->bindings; ++i)
        if (ready->entry->binding[i].is_buffer && number++ == binding)
            bound = command->dispatch.bound[i];
    if (binding == number + 1)
        bound = (struct slri_bound){ready->globals, ready->module->global_bytes};
    if (binding == number + 2)
        bound = (struct slri_bound){extras->faulted, sizeof(struct slri_fault_fields)};
    *out = (struct slri_wg_range){.buffer = webgpu->none, .at = webgpu->none_step * binding, .bytes = 16};
    if (binding == number + 3)
        *out = (struct slri_wg_range){recorder->ended, recorder->ended_serial, 0, 16};
    if (!bound.data || bound.bytes == 0)
        return SLR_OK;
    const struct slri_wg_chunk chunk = slri_wg_find(webgpu, bound.data, &out->at);
    out->buffer = chunk.buffer;
    out->serial = chunk.serial;
    const uint64_t lead = out->at % limits->minStorageBufferOffsetAlignment; // a slice, or 0
    out->at -= lead;
    out->bytes = (lead + bound.bytes + 3) / 4 * 4;
    if (out->bytes > limits->maxStorageBufferBindingSize)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: a buffer of %llu B; kernels of device '%s' take at most %llu B",
                         ready->entry->name, (unsigned long long)out->bytes, webgpu->base.name,
                         (unsigned long long)limits->maxStorageBufferBindingSize);
    return SLR_OK;
}

// Dawn and browsers refuse a launch that could write the same memory by two bindings.
static slr_status check_apart(const struct slri_webgpu *webgpu, const struct slri_wg_kernel *kernel,
                              const struct slri_wg_group *of)
{
    for (uint32_t i = 0; webgpu->lib->refuses_overlap && i < of->ranges; ++i) {
        const struct slri_wg_range *a = &of->range[i];
        for (uint32_t k = 0; k < i; ++k) {
            const struct slri_wg_range *b = &of->range[k];
            if (a->buffer == b->buffer && a->at < b->at + b->bytes && b->at < a->at + a->bytes)
                return SLRI_FAIL(UNSUPPORTED,
                                 "kernel %s: two of its buffers share memory, which %s refuses; pass one of them, or "
                                 "slices that begin at multiples of %u B",
                                 kernel->base.name, webgpu->lib->name,
                                 webgpu->facts.limits.minStorageBufferOffsetAlignment);
        }
    }
    return SLR_OK;
}

// A grid in parts as large as the device takes.
static slr_status put_grid(struct slri_wg_recorder *recorder, const struct slri_command *command,
                           WGPUComputePipeline pipeline, struct slri_wg_group *wanted)
{
    const uint32_t limit = recorder->webgpu->facts.limits.maxComputeWorkgroupsPerDimension;
    const uint32_t most[3] = {limit, limit, limit};
    const struct slri_wg_kernel *kernel = command->dispatch.ready->kernel.native;
    uint32_t from[3], part[3];
    for (uint64_t i = 0; slri_grid_part(command->dispatch.grid, most, i, from, part); ++i) {
        if (kernel->uniform_bytes != 0)
            put_values(recorder, command, kernel->uniform_bytes, from);
        SLRI_TRY(put_launch(recorder, kernel, pipeline, wanted, part));
    }
    return SLR_OK;
}

static slr_status dispatch(struct slri_wg_recorder *recorder, const struct slri_command *command,
                           const struct slri_extras *extras)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    struct slri_wg_kernel *kernel = command->dispatch.ready->kernel.native;
    struct slri_wg_group wanted;
    WGPUComputePipeline pipeline;
    wanted.group = NULL;
    wanted.ranges = 0;
    SLRI_TRY(slri_wg_code_pipeline(webgpu, kernel, command->dispatch.dynamic_bytes, &pipeline));
    for (uint32_t i = 0; i < kernel->layout->count; ++i)
        if (!kernel->layout->entry[i].is_uniform)
            SLRI_TRY(find_range(recorder, command, extras, kernel->layout->entry[i].binding,
                                &wanted.range[wanted.ranges++]));
    SLRI_TRY(check_apart(webgpu, kernel, &wanted));
    SLRI_TRY(begin_pass(recorder, extras->wants_times));
    recorder->told_by = kernel->tells ? kernel->base.name : recorder->told_by;
    return put_grid(recorder, command, pipeline, &wanted);
}

// ---- copies and fills ----------------------------------------------------------------------------------------------

// Kernels of slipring's own reach at most so far at once: from `at` on, of which the binding begins before.
static struct slri_wg_range bind_around(const struct slri_wg_recorder *recorder, const struct slri_wg_range *range,
                                        uint64_t at, uint64_t bytes)
{
    const uint64_t step = recorder->webgpu->facts.limits.minStorageBufferOffsetAlignment;
    struct slri_wg_range around = *range;
    around.at = at / step * step;
    around.bytes = (at + bytes - around.at + 3) / 4 * 4;
    return around;
}

slr_status slri_wg_record_tool(struct slri_wg_recorder *recorder, enum slri_wg_tool tool,
                               const struct slri_wg_range *to, const struct slri_wg_range *from, const uint32_t job[4],
                               uint32_t blocks)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    const uint32_t grid[3] = {blocks, 1, 1};
    struct slri_wg_group wanted = {.ranges = 2};
    struct slri_wg_kernel *kernel;
    WGPUComputePipeline pipeline;
    SLRI_TRY(slri_wg_code_tool(webgpu, tool, &kernel));
    SLRI_TRY(slri_wg_code_pipeline(webgpu, kernel, 0, &pipeline));
    SLRI_TRY(begin_pass(recorder, false));
    wanted.range[0] = *to;
    wanted.range[1] = from ? *from : (struct slri_wg_range){.buffer = webgpu->none, .bytes = 16};
    memcpy(recorder->blocks.shadow + recorder->blocks.used, job, 4 * sizeof *job);
    return put_launch(recorder, kernel, pipeline, &wanted, grid);
}

// `from` NULL: a fill by `pattern`.
static slr_status run_tool(struct slri_wg_recorder *recorder, const struct slri_wg_range *from,
                           const struct slri_wg_range *to, uint32_t pattern)
{
    for (uint64_t done = 0; done < to->bytes; done += MOST_PART) {
        const uint64_t left = to->bytes - done, bytes = left < MOST_PART ? left : MOST_PART;
        const struct slri_wg_range around = bind_around(recorder, to, to->at + done, bytes);
        struct slri_wg_range source = {0};
        if (from)
            source = bind_around(recorder, from, from->at + done, bytes);
        const uint32_t job[4] = {(uint32_t)(to->at + done - around.at), (uint32_t)bytes,
                                 from ? (uint32_t)(from->at + done - source.at) : 0, pattern};
        SLRI_TRY(slri_wg_record_tool(recorder, from ? SLRI_WG_TOOL_COPY : SLRI_WG_TOOL_FILL, &around,
                                     from ? &source : NULL, job, (uint32_t)(bytes / 4 / TOOL_THREADS + 2)));
    }
    return SLR_OK;
}

static bool is_whole(const struct slri_wg_range *range)
{
    return range->at % 4 == 0 && range->bytes % 4 == 0;
}

slr_status slri_wg_record_copy(struct slri_wg_recorder *recorder, const struct slri_wg_range *from,
                               const struct slri_wg_range *to)
{
    if (!is_whole(from) || !is_whole(to))
        return run_tool(recorder, from, to, 0);
    slri_wg_recorder_end_pass(recorder);
    SLRI_TRY(slri_wg_recorder_begin(recorder));
    recorder->webgpu->lib->CommandEncoderCopyBufferToBuffer(recorder->encoder, from->buffer, from->at, to->buffer,
                                                            to->at, to->bytes);
    return SLR_OK;
}

static slr_status grow_scratch(struct slri_wg_recorder *recorder, uint64_t bytes)
{
    WGPUBuffer larger;
    if (bytes <= recorder->scratch_bytes)
        return SLR_OK;
    SLRI_TRY(slri_wg_buffer_make(recorder->webgpu, bytes,
                                 WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst, &larger));
    if (recorder->scratch) { // an encoder may still name it, but nothing that is kept
        forget_groups(recorder, recorder->scratch_serial);
        recorder->webgpu->lib->BufferRelease(recorder->scratch);
    }
    recorder->scratch = larger;
    recorder->scratch_bytes = bytes;
    recorder->scratch_serial = slri_wg_serial(recorder->webgpu);
    return SLR_OK;
}

// WebGPU copies within no buffer: all of it goes by way of another first, so that the ranges may overlap.
static slr_status move(struct slri_wg_recorder *recorder, const struct slri_command *command)
{
    struct slri_webgpu *webgpu = recorder->webgpu;
    struct slri_wg_range from = {.bytes = command->move.bytes}, to = from;
    const struct slri_wg_chunk from_chunk = slri_wg_find(webgpu, command->move.from, &from.at);
    const struct slri_wg_chunk to_chunk = slri_wg_find(webgpu, command->move.to, &to.at);
    from.buffer = from_chunk.buffer;
    from.serial = from_chunk.serial;
    to.buffer = to_chunk.buffer;
    to.serial = to_chunk.serial;
    if (from.buffer != to.buffer)
        return slri_wg_record_copy(recorder, &from, &to);
    const uint64_t lead = from.at % 4, words = (lead + from.bytes + 3) / 4 * 4;
    SLRI_TRY(grow_scratch(recorder, words));
    const struct slri_wg_range around = {from.buffer, from.serial, from.at - lead, words};
    const struct slri_wg_range whole = {recorder->scratch, recorder->scratch_serial, 0, words};
    const struct slri_wg_range between = {recorder->scratch, recorder->scratch_serial, lead, from.bytes};
    SLRI_TRY(slri_wg_record_copy(recorder, &around, &whole));
    return slri_wg_record_copy(recorder, &between, &to);
}

static slr_status fill(struct slri_wg_recorder *recorder, const struct slri_command *command)
{
    struct slri_wg_range to = {.bytes = command->fill.bytes};
    const struct slri_wg_chunk chunk = slri_wg_find(recorder->webgpu, command->fill.device, &to.at);
    const uint32_t pattern = slri_fill_word(command);
    to.buffer = chunk.buffer;
    to.serial = chunk.serial;
    if (pattern != 0 || !is_whole(&to))
        return run_tool(recorder, NULL, &to, pattern);
    slri_wg_recorder_end_pass(recorder);
    SLRI_TRY(slri_wg_recorder_begin(recorder));
    recorder->webgpu->lib->CommandEncoderClearBuffer(recorder->encoder, to.buffer, to.at, to.bytes);
    return SLR_OK;
}

slr_status slri_wg_record(struct slri_wg_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras)
{
    switch (command->op) {
    case SLRI_COPY:
        return move(recorder, command);
    case SLRI_FILL:
        return fill(recorder, command);
    default:
        return dispatch(recorder, command, extras);
    }
}

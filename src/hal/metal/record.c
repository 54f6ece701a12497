// SPDX-License-Identifier: Apache-2.0
// Commands into an encoder. There is one kind of encoder, for copies and fills are kernels, too: what one command
// buffer has is one encoder, whose commands come one after the other. A kernel finds its arguments in a block.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/hazards.h"
#include "engine/launch_block.h"
#include "hal/metal/metal.h"

#define MOST_SET 4096u                // bytes that Metal takes without a buffer
#define MOST_PART (UINT64_C(1) << 30) // bytes of a copy at once: its threads are counted in 32 bits

void slri_mt_recorder_begin(struct slri_mt_recorder *recorder, slri_mt_id encoder)
{
    recorder->encoder = encoder;
    recorder->pipeline = NULL;
    recorder->uses = 0;
}

void slri_mt_recorder_end(struct slri_mt_recorder *recorder)
{
    SLRI_MT(recorder->metal->mt, recorder->encoder, end);
    slri_mt_release(recorder->metal, recorder->encoder);
    recorder->encoder = NULL;
}

// Metal does not see which buffers a block has the addresses of.
static void use(struct slri_mt_recorder *recorder, slri_mt_id buffer, uint64_t usage)
{
    struct slri_mt_used *used = recorder->used, *end = used + recorder->uses;
    while (used < end && used->buffer != buffer)
        ++used;
    if (used < end && (used->usage & usage) == usage)
        return;
    usage |= used < end ? used->usage : 0;
    SLRI_MT_WITH(recorder->metal->mt, recorder->encoder, use, buffer, usage);
    if (used == end && recorder->uses == SLRI_MT_MOST_USED)
        return;
    recorder->uses += used == end;
    *used = (struct slri_mt_used){buffer, usage};
}

static uint64_t use_at(struct slri_mt_recorder *recorder, const void *memory, uint64_t usage)
{
    uint64_t offset;
    struct slri_mt_chunk chunk;
    slri_places_find(&recorder->metal->base.chunks, memory, &chunk, &offset);
    use(recorder, chunk.buffer, usage);
    return chunk.address + offset;
}

static void set_pipeline(struct slri_mt_recorder *recorder, slri_mt_id pipeline)
{
    if (recorder->pipeline != pipeline)
        SLRI_MT_WITH(recorder->metal->mt, recorder->encoder, set_pipeline, pipeline);
    recorder->pipeline = pipeline;
}

// ---- copies and fills ----------------------------------------------------------------------------------------------

struct job {                  // bytes.metal
    uint64_t to, from, bytes; // `from` 0: the pattern
    uint32_t unit, pattern;
};

static slr_status put_job(struct slri_mt_recorder *recorder, struct job job)
{
    const struct slri_mt_size threads = {SLRI_MT_TOOL_THREADS, 1, 1};
    slri_mt_id pipeline;
    SLRI_TRY(slri_mt_code_tool(recorder->metal, &pipeline));
    set_pipeline(recorder, pipeline);
    for (uint64_t left = job.bytes; left != 0; left -= job.bytes) {
        const uint64_t all = job.to | job.from | left;
        job.bytes = left < MOST_PART ? left : MOST_PART;
        job.unit = all % 16 == 0 ? 16 : all % 4 == 0 ? 4 : 1;
        const struct slri_mt_size grid = {(job.bytes / job.unit + SLRI_MT_TOOL_THREADS - 1) / SLRI_MT_TOOL_THREADS, 1,
                                          1};
        SLRI_MT_WITH(recorder->metal->mt, recorder->encoder, set_bytes, &job, sizeof job, 0);
        SLRI_MT_WITH(recorder->metal->mt, recorder->encoder, dispatch, grid, threads);
        job.to += job.bytes;
        job.from += job.from != 0 ? job.bytes : 0;
    }
    return SLR_OK;
}

slr_status slri_mt_record_staged(struct slri_mt_recorder *recorder, bool in, const void *device, uint64_t at,
                                 uint64_t bytes)
{
    const uint64_t there = use_at(recorder, device, in ? SLRI_MT_WRITE : SLRI_MT_READ);
    const uint64_t here = recorder->stage.address + at;
    use(recorder, recorder->stage.buffer, in ? SLRI_MT_READ : SLRI_MT_WRITE);
    slri_count(&recorder->metal->counts.staged_copies, 1);
    return put_job(recorder, (struct job){in ? there : here, in ? here : there, bytes, 0, 0});
}

static slr_status move(struct slri_mt_recorder *recorder, const struct slri_command *command)
{
    const uint64_t from = use_at(recorder, command->move.from, SLRI_MT_READ);
    const uint64_t to = use_at(recorder, command->move.to, SLRI_MT_WRITE);
    return put_job(recorder, (struct job){to, from, command->move.bytes, 0, 0});
}

static slr_status fill(struct slri_mt_recorder *recorder, const struct slri_command *command)
{
    const uint64_t to = use_at(recorder, command->fill.device, SLRI_MT_WRITE);
    return put_job(recorder, (struct job){to, 0, command->fill.bytes, 0, slri_fill_word(command)});
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static uint64_t used_address(void *recorder, const void *memory, uint64_t bytes, uint32_t how)
{
    (void)bytes;
    return use_at(recorder, memory, how == SLRI_READS ? SLRI_MT_READ : SLRI_MT_READ | SLRI_MT_WRITE);
}

static void dispatch(struct slri_mt_recorder *recorder, const struct slri_command *command,
                     const struct slri_extras *extras)
{
    const struct slri_mt_runtime *mt = recorder->metal->mt;
    const struct slri_mt_kernel *kernel = command->dispatch.ready->kernel.native;
    const struct slri_arguments *arguments = &kernel->facts.arguments;
    const uint32_t *grid = command->dispatch.grid, *block = command->dispatch.block;
    const uint64_t dynamic = (command->dispatch.dynamic_bytes + UINT64_C(15)) / 16 * 16;
    set_pipeline(recorder, kernel->pipeline);
    if (arguments->bytes <= MOST_SET) {
        unsigned char room[MOST_SET];
        slri_put_arguments(command, extras, arguments, used_address, recorder, room);
        SLRI_MT_WITH(mt, recorder->encoder, set_bytes, room, arguments->bytes, 0);
    } else {
        slri_put_arguments(command, extras, arguments, used_address, recorder,
                           recorder->stage.host + recorder->block_at);
        SLRI_MT_WITH(mt, recorder->encoder, set_buffer, recorder->stage.buffer, recorder->block_at, 0);
    }
    if (arguments->has_dynamic)
        SLRI_MT_WITH(mt, recorder->encoder, set_shared, dynamic ? dynamic : 16, 0);
    SLRI_MT_WITH(mt, recorder->encoder, dispatch, (struct slri_mt_size){grid[0], grid[1], grid[2]},
                 (struct slri_mt_size){block[0], block[1], block[2]});
}

// ---- all -----------------------------------------------------------------------------------------------------------

uint64_t slri_mt_record_needs(const struct slri_command *command)
{
    if (command->op != SLRI_DISPATCH)
        return 0;
    const struct slri_mt_kernel *kernel = command->dispatch.ready->kernel.native;
    return kernel->facts.arguments.bytes > MOST_SET ? kernel->facts.arguments.bytes : 0;
}

slr_status slri_mt_record(struct slri_mt_recorder *recorder, const struct slri_command *command,
                          const struct slri_extras *extras)
{
    switch (command->op) {
    case SLRI_COPY:
        return move(recorder, command);
    case SLRI_FILL:
        return fill(recorder, command);
    default:
        dispatch(recorder, command, extras);
        return SLR_OK;
    }
}

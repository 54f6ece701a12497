// SPDX-License-Identifier: Apache-2.0
// The commands of streams, one function each.
#include "backend/cpu/cpu.h"

#include "base/clock.h"

typedef slr_status run_function(struct slri_cpu *cpu, const struct slri_command *command, slr_status before);

static slr_status copy_in(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)cpu, (void)before;
    if (command->copy.bytes != 0)
        memcpy(command->copy.device, command->copy.host, command->copy.bytes);
    return SLR_OK;
}

static slr_status copy_out(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)cpu, (void)before;
    if (command->copy.bytes != 0)
        memcpy(command->copy.host, command->copy.device, command->copy.bytes);
    return SLR_OK;
}

static slr_status move(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)cpu, (void)before;
    memmove(command->move.to, command->move.from, command->move.bytes);
    return SLR_OK;
}

// The pattern once, then what is there already, doubling; up to a piece that stays in the first cache.
#define FILL_PIECE 16384

static slr_status fill(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)cpu, (void)before;
    unsigned char *to = command->fill.device;
    uint64_t bytes = command->fill.bytes, done = command->fill.pattern_bytes;
    if (bytes == 0)
        return SLR_OK;
    memcpy(to, command->fill.pattern, done);
    while (done < bytes) {
        uint64_t piece = done < FILL_PIECE ? done : FILL_PIECE; // a multiple of the pattern, as `done` is
        if (piece > bytes - done)
            piece = bytes - done;
        memcpy(to + done, to, piece);
        done += piece;
    }
    return SLR_OK;
}

static slr_status call(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    slri_queue_pool_call(&cpu->pool, command, before);
    return SLR_OK;
}

static slr_status task(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)before;
    return slri_queue_pool_task(&cpu->pool, command);
}

static slr_status stamp(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)cpu, (void)before;
    *command->stamp = slri_now_ns();
    return SLR_OK;
}

static run_function *const run_of[SLRI_OPS] = {
    [SLRI_COPY_IN] = copy_in, [SLRI_COPY_OUT] = copy_out,          [SLRI_COPY] = move,   [SLRI_FILL] = fill,
    [SLRI_CALL] = call,       [SLRI_DISPATCH] = slri_cpu_dispatch, [SLRI_STAMP] = stamp, [SLRI_TASK] = task,
};

static slr_status run(void *device, const struct slri_command *command, slr_status before)
{
    return run_of[command->op](device, command, before);
}

static void ready(struct slri_queue *queue)
{
    struct slri_cpu *cpu = queue->device;
    slri_queue_pool_add(&cpu->pool, queue);
}

static const struct slri_queue_runner runner = {.ready = ready, .run = run};

slr_status slri_cpu_queue_open(void *device, struct slri_queue *queue)
{
    struct slri_cpu *cpu = device;
    queue->device = device;
    queue->runner = &runner;
    return slri_queue_pool_start(&cpu->pool);
}

slr_status slri_cpu_submit(void *device, struct slri_submission *submission)
{
    return slri_queue_submit(device, submission, &runner, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// The commands of streams, one function each.
#include "hal/cpu/cpu.h"

typedef slr_status run_function(struct slri_cpu *cpu, const struct slri_command *command);

static slr_status copy_in(struct slri_cpu *cpu, const struct slri_command *command)
{
    (void)cpu;
    memcpy(command->copy.device, command->copy.host, command->copy.bytes);
    return SLR_OK;
}

static slr_status copy_out(struct slri_cpu *cpu, const struct slri_command *command)
{
    (void)cpu;
    memcpy(command->copy.host, command->copy.device, command->copy.bytes);
    return SLR_OK;
}

static slr_status move(struct slri_cpu *cpu, const struct slri_command *command)
{
    (void)cpu;
    memmove(command->move.to, command->move.from, command->move.bytes);
    return SLR_OK;
}

// The pattern once, then what is there already, doubling; up to a piece that stays in the first cache.
#define FILL_PIECE 16384

static slr_status fill(struct slri_cpu *cpu, const struct slri_command *command)
{
    (void)cpu;
    unsigned char *to = command->fill.device;
    uint64_t bytes = command->fill.bytes, done = command->fill.pattern_bytes;
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

static run_function *const run_of[SLRI_OPS] = {
    [SLRI_COPY_IN] = copy_in, [SLRI_COPY_OUT] = copy_out,          [SLRI_COPY] = move,
    [SLRI_FILL] = fill,       [SLRI_DISPATCH] = slri_cpu_dispatch,
};

// They are done when this returns.
slr_status slri_cpu_encode(void *device, void *queue, const struct slri_command *command,
                           const struct slri_extras *extras, uint32_t commands)
{
    slr_status status = SLR_OK;
    (void)queue, (void)extras;
    for (uint32_t i = 0; i < commands && status == SLR_OK; ++i)
        status = run_of[command[i].op](device, &command[i]);
    return status;
}

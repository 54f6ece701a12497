// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels, dispatched over a grid.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/cpu/cpu.h"
#include "ir/blame.h"
#include "run/grid.h"
#include "run/interpreter.h"

#include <stdio.h>
#include <string.h>

static slr_status run_blocks(struct slri_cpu *cpu, const struct slri_ready_kernel *ready,
                             const struct slri_command *command, struct slri_launch *launch)
{
    const uint32_t *grid = launch->grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    const struct slri_printer *printer = command->dispatch.printer;
    if (!printer || !(ready->entry->function->uses & SLRI_USES_PRINT)) {
        slri_cpu_crew_run(&cpu->crew, ready->kernel.blocks, launch, blocks);
        return SLR_OK;
    }
    const struct slri_print_to to = slri_print_to_of(command);
    struct slri_printed printed = {.data = slri_alloc(cpu->allocator, SLRI_PRINTED_BYTES), .bytes = SLRI_PRINTED_BYTES};
    if (!printed.data)
        return SLRI_FAIL(NO_MEMORY, "no memory for the printf output of kernel %s", ready->entry->name);
    launch->printed = &printed;
    slri_cpu_crew_run(&cpu->crew, ready->kernel.blocks, launch, blocks);
    slri_print_records(&to, printed.data, printed.used, printed.lost);
    slri_free(cpu->allocator, printed.data, SLRI_PRINTED_BYTES);
    return SLR_OK;
}

static slr_status run_compiled(struct slri_cpu *cpu, const struct slri_ready_kernel *ready,
                               const struct slri_command *command)
{
    const uint32_t *grid = command->dispatch.grid;
    struct slri_launch launch = {.bound = command->dispatch.bound,
                                 .grid = {grid[0], grid[1], grid[2]},
                                 .dynamic_bytes = command->dispatch.dynamic_bytes,
                                 .global = ready->globals};
    SLRI_TRY(run_blocks(cpu, ready, command, &launch));
    if (launch.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    const struct slri_blame blame = {.fault = launch.fault,
                                     .where = {launch.fault_file, launch.fault_line, launch.fault_column}};
    return slri_ready_faulted(ready, &blame, NULL);
}

static void print_one(void *user, uint32_t format, const union slri_scalar *value, uint32_t count)
{
    (void)count;
    slri_print_one(user, format, value);
}

static slr_status run_interpreted(const struct slri_ready_kernel *ready, const struct slri_command *command)
{
    struct slri_grid grid = {.entry = (uint32_t)(ready->entry - ready->module->entry),
                             .dynamic_shared = command->dispatch.dynamic_bytes,
                             .arg = command->dispatch.bound,
                             .args = ready->entry->bindings,
                             .global = ready->globals,
                             .fuel = UINT64_MAX};
    struct slri_print_to to = slri_print_to_of(command);
    if (to.printer) {
        grid.print = print_one;
        grid.user = &to;
    }
    struct slri_grid_end end;
    memcpy(grid.grid, command->dispatch.grid, sizeof grid.grid);
    memcpy(grid.block, command->dispatch.block, sizeof grid.block);
    SLRI_TRY(slri_interpret_grid(ready->kernel.native, &grid, &end));
    if (end.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    const struct slri_blame blame = {end.fault, end.at.where, end.index, end.size};
    char who[96];
    snprintf(who, sizeof who, "block (%u, %u, %u), thread (%u, %u, %u)", end.at.block[0], end.at.block[1],
             end.at.block[2], end.at.thread[0], end.at.thread[1], end.at.thread[2]);
    return slri_ready_faulted(ready, &blame, who);
}

slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command)
{
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    return !ready->kernel.blocks ? run_interpreted(ready, command) : run_compiled(cpu, ready, command);
}

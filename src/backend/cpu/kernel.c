// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels: made ready for a shape of block, then dispatched over a grid.
#include "backend/cpu/compile.h"
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "base/status.h"
#include "kernel/grid.h"

// A kernel that is ready. Its program keeps it: a launch may be in any stream.
struct ready {
    const struct slri_module *module;
    const struct slri_entry *entry;
    struct slri_kernel_shape shape;
    struct slri_cpu_library *library; // one of the two
    slri_kernel_blocks *run;
    const struct slri_interp *interp;
    struct ready *next;
};

struct slri_cpu_kernels {
    const slr_allocator *allocator;
    const struct slri_module *module;
    slri_mutex lock;
    struct ready *first; // atomic: only ever grows, so that it is searched without the lock
};

slr_status slri_cpu_kernels_create(const slr_allocator *allocator, const struct slri_module *module,
                                   struct slri_cpu_kernels **out)
{
    struct slri_cpu_kernels *made = slri_alloc(allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program's kernels");
    made->allocator = allocator;
    made->module = module;
    slri_mutex_init(&made->lock);
    *out = made;
    return SLR_OK;
}

void slri_cpu_kernels_destroy(struct slri_cpu_kernels *kernels)
{
    if (!kernels)
        return;
    for (struct ready *each = kernels->first; each;) {
        struct ready *next = each->next;
        slri_cpu_library_close(each->library);
        slri_free(kernels->allocator, each, sizeof *each);
        each = next;
    }
    slri_mutex_destroy(&kernels->lock);
    slri_free(kernels->allocator, kernels, sizeof *kernels);
}

// ---- making ready --------------------------------------------------------------------------------------------------

static struct ready *find(struct slri_cpu_kernels *kernels, const struct slri_entry *entry,
                          const struct slri_kernel_shape *shape)
{
    // Acquire: what it points to was filled in before.
    struct ready *each = __atomic_load_n(&kernels->first, __ATOMIC_ACQUIRE);
    while (each && (each->entry != entry || memcmp(&each->shape, shape, sizeof *shape) != 0))
        each = each->next;
    return each;
}

static slr_status compile(struct ready *ready)
{
    struct slri_cpu_variant variant = {.width = ready->shape.width, .level = ready->shape.level};
    memcpy(variant.block, ready->shape.block, sizeof variant.block);
    SLRI_TRY(slri_cpu_compile_kernel(ready->module, ready->entry, &variant, &ready->library));
    return slri_cpu_library_kernel(ready->library, &ready->run);
}

static slr_status make(struct slri_cpu_kernels *kernels, const struct slri_interp *interp,
                       const struct slri_entry *entry, const struct slri_kernel_shape *shape, struct ready **out)
{
    struct ready *made = slri_alloc(kernels->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
    *made = (struct ready){.module = kernels->module, .entry = entry, .shape = *shape, .interp = interp};
    slr_status status = interp ? SLR_OK : compile(made);
    if (status != SLR_OK) {
        slri_cpu_library_close(made->library);
        slri_free(kernels->allocator, made, sizeof *made);
        return status;
    }
    made->next = kernels->first;
    __atomic_store_n(&kernels->first, made, __ATOMIC_RELEASE);
    *out = made;
    return SLR_OK;
}

// Under the lock while it compiles: a second thread that wants the same finds it made.
slr_status slri_cpu_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                   const struct slri_kernel_shape *shape, void **ready)
{
    (void)device;
    struct slri_interp *interp;
    struct slri_cpu_kernels *kernels = slri_cpu_program_kernels(program, &interp);
    struct ready *found = find(kernels, entry, shape);
    slr_status status = SLR_OK;
    if (!found) {
        slri_mutex_lock(&kernels->lock);
        found = find(kernels, entry, shape);
        if (!found)
            status = make(kernels, interp, entry, shape, &found);
        slri_mutex_unlock(&kernels->lock);
    }
    *ready = found;
    return status;
}

// ---- dispatching ---------------------------------------------------------------------------------------------------

static const char *what_fault(uint32_t fault)
{
    static const char *const texts[] = {
#define FAULT_TEXT(name, integer, text) [integer] = text,
        SLRI_FAULT_LIST(FAULT_TEXT)
#undef FAULT_TEXT
    };
    return fault < sizeof texts / sizeof *texts ? texts[fault] : "a fault";
}

static slr_status run_compiled(struct slri_cpu *cpu, const struct ready *ready, const struct slri_command *command)
{
    const uint32_t *grid = command->dispatch.grid;
    struct slri_launch launch = {.bound = command->dispatch.bound,
                                 .grid = {grid[0], grid[1], grid[2]},
                                 .dynamic_bytes = command->dispatch.dynamic_bytes};
    slri_cpu_crew_run(&cpu->crew, ready->run, &launch, (uint64_t)grid[0] * grid[1] * grid[2]);
    if (launch.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    return SLRI_FAIL(HANDLER_FAULT, "kernel %s: %s, at %s:%u", ready->entry->name, what_fault(launch.fault),
                     ready->module->file[launch.fault_file], launch.fault_line);
}

static slr_status run_interpreted(const struct ready *ready, const struct slri_command *command)
{
    struct slri_grid grid = {.entry = (uint32_t)(ready->entry - ready->module->entry),
                             .dynamic_shared = command->dispatch.dynamic_bytes,
                             .arg = command->dispatch.bound,
                             .args = ready->entry->bindings,
                             .fuel = UINT64_MAX};
    struct slri_grid_end end;
    memcpy(grid.grid, command->dispatch.grid, sizeof grid.grid);
    memcpy(grid.block, ready->shape.block, sizeof grid.block);
    SLRI_TRY(slri_interpret_grid(ready->interp, &grid, &end));
    if (end.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    return SLRI_FAIL(HANDLER_FAULT, "kernel %s: %s, at %s:%u, block (%u, %u, %u), thread (%u, %u, %u)",
                     ready->entry->name, what_fault(end.fault), ready->module->file[end.at.where.file],
                     end.at.where.line, end.at.block[0], end.at.block[1], end.at.block[2], end.at.thread[0],
                     end.at.thread[1], end.at.thread[2]);
}

slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)before;
    const struct ready *ready = command->dispatch.ready;
    return ready->interp ? run_interpreted(ready, command) : run_compiled(cpu, ready, command);
}

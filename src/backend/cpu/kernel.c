// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels: made ready for a shape of block, then dispatched over a grid.
#include "backend/cpu/compile.h"
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "device/printed.h"
#include "kernel/grid.h"
#include "kernel/ir_names.h"

// A kernel that is ready. Its program keeps it: a launch may be in any stream.
struct ready {
    const struct slri_module *module;
    const struct slri_entry *entry;
    struct slri_kernel_shape shape;
    struct slri_cpu_library *library; // one of the two
    slri_kernel_blocks *run;
    const struct slri_interp *interp;
    unsigned char *globals; // the program's variables
    struct ready *next;
};

struct slri_cpu_kernels {
    const slr_allocator *allocator;
    const struct slri_module *module;
    slri_mutex lock;
    struct ready *first;   // atomic: only ever grows, so that it is searched without the lock
    struct making *making; // under the lock
    uint32_t changes;      // a futex, atomic: how often one of those has ended
};

// One that some thread compiles, without the lock: launches of other kernels go on. In that thread's stack.
struct making {
    const struct slri_entry *entry;
    const struct slri_kernel_shape *shape;
    struct making *next;
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

static slr_status compile(struct ready *ready, const uint32_t *cancel)
{
    struct slri_cpu_variant variant = {.width = ready->shape.width, .level = ready->shape.level, .cancel = cancel};
    memcpy(variant.block, ready->shape.block, sizeof variant.block);
    SLRI_TRY(slri_cpu_compile_kernel(ready->module, ready->entry, &variant, &ready->library));
    return slri_cpu_library_kernel(ready->library, &ready->run);
}

static slr_status make(const struct slri_cpu_kernels *kernels, const struct slri_interp *interp, unsigned char *globals,
                       const struct making *wanted, const uint32_t *cancel, struct ready **out)
{
    struct ready *made = slri_alloc(kernels->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", wanted->entry->name);
    *made = (struct ready){.module = kernels->module,
                           .entry = wanted->entry,
                           .shape = *wanted->shape,
                           .interp = interp,
                           .globals = globals};
    slr_status status = interp ? SLR_OK : compile(made, cancel);
    if (status != SLR_OK) {
        slri_cpu_library_close(made->library);
        slri_free(kernels->allocator, made, sizeof *made);
        return status;
    }
    *out = made;
    return SLR_OK;
}

static bool is_being_made(const struct slri_cpu_kernels *kernels, const struct making *wanted)
{
    for (const struct making *m = kernels->making; m; m = m->next)
        if (m->entry == wanted->entry && memcmp(m->shape, wanted->shape, sizeof *m->shape) == 0)
            return true;
    return false;
}

// The kernel, where somebody has made it by now; else it is the caller's to make. Not while another thread is at it.
static struct ready *begin_making(struct slri_cpu_kernels *kernels, struct making *wanted)
{
    struct ready *found;
    slri_mutex_lock(&kernels->lock);
    while (!(found = find(kernels, wanted->entry, wanted->shape)) && is_being_made(kernels, wanted)) {
        uint32_t changes = __atomic_load_n(&kernels->changes, __ATOMIC_RELAXED); // the lock orders it
        slri_mutex_unlock(&kernels->lock);
        slri_futex_wait(&kernels->changes, changes, SLRI_FOREVER); // as long as a compiler may take
        slri_mutex_lock(&kernels->lock);
    }
    if (!found) {
        wanted->next = kernels->making;
        kernels->making = wanted;
    }
    slri_mutex_unlock(&kernels->lock);
    return found;
}

// `made` may be NULL: it could not be, and who waits for it tries for himself.
static void end_making(struct slri_cpu_kernels *kernels, struct making *wanted, struct ready *made)
{
    slri_mutex_lock(&kernels->lock);
    struct making **at = &kernels->making;
    while (*at != wanted)
        at = &(*at)->next;
    *at = wanted->next;
    if (made) {
        made->next = kernels->first;
        __atomic_store_n(&kernels->first, made, __ATOMIC_RELEASE); // what it points to
    }
    __atomic_fetch_add(&kernels->changes, 1, __ATOMIC_RELAXED); // read under the lock
    slri_mutex_unlock(&kernels->lock);
    slri_futex_wake(&kernels->changes, UINT32_MAX);
}

slr_status slri_cpu_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                   const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready)
{
    (void)device;
    struct slri_interp *interp;
    unsigned char *globals;
    struct slri_cpu_kernels *kernels = slri_cpu_program_kernels(program, &interp, &globals);
    struct making wanted = {entry, shape, NULL};
    struct ready *found = find(kernels, entry, shape);
    slr_status status = SLR_OK;
    if (!found)
        found = begin_making(kernels, &wanted);
    if (!found) {
        status = make(kernels, interp, globals, &wanted, cancel, &found);
        end_making(kernels, &wanted, found);
    }
    *ready = found;
    return status;
}

// ---- dispatching ---------------------------------------------------------------------------------------------------

static slr_status run_blocks(struct slri_cpu *cpu, const struct ready *ready, const struct slri_command *command,
                             struct slri_launch *launch)
{
    const uint32_t *grid = launch->grid;
    uint64_t blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    const struct slri_printer *printer = command->dispatch.printer;
    if (!printer || !(ready->entry->function->uses & SLRI_USES_PRINT)) {
        slri_cpu_crew_run(&cpu->crew, ready->run, launch, blocks);
        return SLR_OK;
    }
    struct slri_print_to to = {printer, ready->module, ready->entry};
    struct slri_printed printed = {.data = slri_alloc(cpu->allocator, SLRI_PRINTED_BYTES), .bytes = SLRI_PRINTED_BYTES};
    if (!printed.data)
        return SLRI_FAIL(NO_MEMORY, "no memory for what kernel %s prints", ready->entry->name);
    launch->printed = &printed;
    slri_cpu_crew_run(&cpu->crew, ready->run, launch, blocks);
    slri_print_records(&to, printed.data, printed.used, printed.lost);
    slri_free(cpu->allocator, printed.data, SLRI_PRINTED_BYTES);
    return SLR_OK;
}

static slr_status run_compiled(struct slri_cpu *cpu, const struct ready *ready, const struct slri_command *command)
{
    const uint32_t *grid = command->dispatch.grid;
    struct slri_launch launch = {.bound = command->dispatch.bound,
                                 .grid = {grid[0], grid[1], grid[2]},
                                 .dynamic_bytes = command->dispatch.dynamic_bytes,
                                 .global = ready->globals};
    SLRI_TRY(run_blocks(cpu, ready, command, &launch));
    if (launch.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    return slri_kernel_faulted(ready->module, ready->entry, launch.fault, launch.fault_file, launch.fault_line);
}

static void print_one(void *user, uint32_t format, const union slri_scalar *value, uint32_t count)
{
    (void)count;
    slri_print_one(user, format, value);
}

static slr_status run_interpreted(const struct ready *ready, const struct slri_command *command)
{
    struct slri_grid grid = {.entry = (uint32_t)(ready->entry - ready->module->entry),
                             .dynamic_shared = command->dispatch.dynamic_bytes,
                             .arg = command->dispatch.bound,
                             .args = ready->entry->bindings,
                             .global = ready->globals,
                             .fuel = UINT64_MAX};
    struct slri_print_to to = {command->dispatch.printer, ready->module, ready->entry};
    if (to.printer) {
        grid.print = print_one;
        grid.user = &to;
    }
    struct slri_grid_end end;
    memcpy(grid.grid, command->dispatch.grid, sizeof grid.grid);
    memcpy(grid.block, ready->shape.block, sizeof grid.block);
    SLRI_TRY(slri_interpret_grid(ready->interp, &grid, &end));
    if (end.fault == SLRI_FAULT_NONE)
        return SLR_OK;
    return SLRI_FAIL(HANDLER_FAULT, "kernel %s: %s, at %s:%u, block (%u, %u, %u), thread (%u, %u, %u)",
                     ready->entry->name, slri_fault_text(end.fault), ready->module->file[end.at.where.file],
                     end.at.where.line, end.at.block[0], end.at.block[1], end.at.block[2], end.at.thread[0],
                     end.at.thread[1], end.at.thread[2]);
}

slr_status slri_cpu_dispatch(struct slri_cpu *cpu, const struct slri_command *command, slr_status before)
{
    (void)before;
    const struct ready *ready = command->dispatch.ready;
    return ready->interp ? run_interpreted(ready, command) : run_compiled(cpu, ready, command);
}

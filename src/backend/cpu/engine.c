// SPDX-License-Identifier: Apache-2.0
// Programs on the CPU: compiled or interpreted, as the device was opened.
#include "backend/cpu/compile.h"
#include "backend/cpu/cpu.h"
#include "base/alloc.h"
#include "base/status.h"
#include "kernel/interpreter.h"

struct program {
    const struct slri_module *module;
    struct slri_cpu_library *library; // one of the two
    struct slri_interp *interp;
    struct slri_cpu_kernels *kernels;
    unsigned char *globals; // the module's variables
};

static bool has_handlers(const struct slri_module *module)
{
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind != SLRI_ENTRY_KERNEL)
            return true;
    return false;
}

// Handlers are compiled here, kernels when they are made ready for a shape of block.
static slr_status make(const struct slri_cpu *cpu, struct program *made)
{
    if (made->module->global_bytes) {
        made->globals = slri_alloc(cpu->allocator, made->module->global_bytes);
        if (!made->globals)
            return SLRI_FAIL(NO_MEMORY, "no memory for %llu bytes of variables of '%s'",
                             (unsigned long long)made->module->global_bytes, made->module->name);
        slri_module_begin_globals(made->module, made->globals);
    }
    SLRI_TRY(slri_cpu_kernels_create(cpu->allocator, made->module, &made->kernels));
    if (cpu->interpreted)
        return slri_interp_create(made->module, &made->interp);
    return has_handlers(made->module) ? slri_cpu_compile(made->module, &made->library) : SLR_OK;
}

slr_status slri_cpu_program_create(void *device, const struct slri_module *module, void **program)
{
    const struct slri_cpu *cpu = device;
    struct program *made = slri_alloc(cpu->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    made->module = module;
    slr_status status = make(cpu, made);
    if (status != SLR_OK) {
        slri_cpu_program_destroy(device, made);
        return status;
    }
    *program = made;
    return SLR_OK;
}

void slri_cpu_program_destroy(void *device, void *program)
{
    const struct slri_cpu *cpu = device;
    struct program *made = program;
    slri_cpu_library_close(made->library);
    slri_interp_destroy(made->interp);
    slri_cpu_kernels_destroy(made->kernels);
    slri_free(cpu->allocator, made->globals, made->module->global_bytes);
    slri_free(cpu->allocator, made, sizeof *made);
}

slr_status slri_cpu_handler_create(void *device, void *program, const struct slri_entry *entry, slri_handler **handler,
                                   void **self)
{
    (void)device;
    const struct program *made = program;
    *self = NULL;
    if (made->library)
        return slri_cpu_library_symbol(made->library, entry->name, handler);
    struct slri_interp_thread *thread;
    SLRI_TRY(slri_interp_thread_create(made->interp, (uint32_t)(entry - made->module->entry), &thread));
    *handler = slri_interp_handler;
    *self = thread;
    return SLR_OK;
}

void slri_cpu_handler_destroy(void *device, void *program, void *self)
{
    (void)device, (void)program;
    slri_interp_thread_destroy(self);
}

slr_status slri_cpu_program_globals(void *device, void *program, void **out)
{
    (void)device;
    *out = ((const struct program *)program)->globals;
    return SLR_OK;
}

struct slri_cpu_kernels *slri_cpu_program_kernels(void *program, struct slri_interp **interp, unsigned char **globals)
{
    const struct program *made = program;
    *interp = made->interp;
    *globals = made->globals;
    return made->kernels;
}

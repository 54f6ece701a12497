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
};

slr_status slri_cpu_program_create(void *device, const struct slri_module *module, void **program)
{
    const struct slri_cpu *cpu = device;
    struct program *made = slri_alloc(cpu->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    made->module = module;
    slr_status status =
        cpu->interpreted ? slri_interp_create(module, &made->interp) : slri_cpu_compile(module, &made->library);
    if (status != SLR_OK) {
        slri_free(cpu->allocator, made, sizeof *made);
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

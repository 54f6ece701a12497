// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels: OpenCL C is emitted and built when the first launch asks for one, and dispatched over a grid.
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "backend/opencl/opencl.h"
#include "device/globals.h"
#include "kernel/emit_opencl.h"
#include "kernel/ir_names.h"
#include "kernel/kernel.h"

#include <string.h>

// A kernel that is built, for any shape of block, or, with sub-groups, for those of which it has warps.
struct built {
    const struct slri_entry *entry;
    enum slri_opencl_warps warps;
    slri_cl_program program;
    slri_cl_kernel kernel;
    slri_mutex lock;   // arguments are set one by one, then the kernel is enqueued with them
    slri_cl_mem *part; // under it: of each of its arguments in memory, what set_part made for the launch in progress
    const struct program *of;
    bool may_fault; // then it tells
    struct built *next;
};

// With a block: what a dispatch is given. Its program keeps it: a launch may be in any stream.
struct ready {
    struct built *built;
    uint32_t block[3];
    struct ready *next;
};

// What a handler that is relaunched runs in: all its ring kernels share it.
struct relaunched {
    const struct slri_entry *entry;
    slri_cl_program program;
    struct relaunched *next;
};

struct program {
    const struct slri_module *module;
    slri_mutex lock;
    struct built *built;
    struct ready *ready;
    void *globals; // the module's variables; NULL: nobody has wanted them yet
    struct relaunched *relaunched;
};

slr_status slri_cl_program_create(void *device, const struct slri_module *module, void **program)
{
    struct slri_opencl *opencl = device;
    struct program *made = slri_alloc(opencl->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a program", opencl->name);
    made->module = module;
    slri_mutex_init(&made->lock);
    *program = made;
    return SLR_OK;
}

// Behind its bindings: the program's variables, what it prints, its fault.
static uint32_t parts_of(const struct slri_entry *entry)
{
    return entry->bindings + 3;
}

static size_t parts_bytes(const struct slri_entry *entry)
{
    return parts_of(entry) * sizeof(slri_cl_mem);
}

static void destroy_built(struct slri_opencl *opencl, struct built *built)
{
    bool ends = !slri_cl_is_lost(opencl);
    if (built->kernel && ends)
        opencl->cl->ReleaseKernel(built->kernel);
    if (built->program && ends)
        opencl->cl->ReleaseProgram(built->program);
    slri_mutex_destroy(&built->lock);
    slri_free(opencl->allocator, built->part, parts_bytes(built->entry));
    slri_free(opencl->allocator, built, sizeof *built);
}

const struct slri_module *slri_cl_program_module(const void *program)
{
    return ((const struct program *)program)->module;
}

void slri_cl_program_destroy(void *device, void *program)
{
    struct slri_opencl *opencl = device;
    struct program *made = program;
    slri_cl_staying_drop(opencl, program);
    while (made->ready) {
        struct ready *next = made->ready->next;
        slri_free(opencl->allocator, made->ready, sizeof *made->ready);
        made->ready = next;
    }
    while (made->relaunched) {
        struct relaunched *next = made->relaunched->next;
        if (!slri_cl_is_lost(opencl))
            opencl->cl->ReleaseProgram(made->relaunched->program);
        slri_free(opencl->allocator, made->relaunched, sizeof *made->relaunched);
        made->relaunched = next;
    }
    while (made->built) {
        struct built *next = made->built->next;
        destroy_built(opencl, made->built);
        made->built = next;
    }
    if (made->globals)
        slri_cl_buffer_destroy(opencl, made->globals, made->module->global_bytes);
    slri_mutex_destroy(&made->lock);
    slri_free(opencl->allocator, made, sizeof *made);
}

// ---- the program's variables ---------------------------------------------------------------------------------------

static slr_status write_globals(void *device, void *memory, void *host, uint64_t bytes)
{
    struct slri_opencl *opencl = device;
    return slri_cl_stream_copy_now(opencl, opencl->own, memory, host, bytes, true);
}

// Under the program's lock.
static slr_status make_globals(struct slri_opencl *opencl, struct program *program)
{
    void *memory;
    if (program->globals)
        return SLR_OK;
    SLRI_TRY(slri_cl_buffer_create(opencl, program->module->global_bytes, &memory));
    slr_status status = slri_globals_begin(program->module, opencl->allocator, memory, write_globals, opencl);
    if (status == SLR_OK)
        program->globals = memory;
    else
        slri_cl_buffer_destroy(opencl, memory, program->module->global_bytes);
    return status;
}

slr_status slri_cl_program_globals(void *device, void *program, void **out)
{
    struct program *of = program;
    slri_mutex_lock(&of->lock);
    slr_status status = make_globals(device, of);
    *out = of->globals;
    slri_mutex_unlock(&of->lock);
    return status;
}

// ---- making ready: under the program's lock, so that a second thread that wants the same finds it made --------------

const char *slri_cl_kernel_options(const struct slri_opencl *opencl)
{
    static const char *const options[2][2] = {
        {"-cl-std=CL1.2", "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"},
        {"-cl-std=CL3.0", "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt"}};
    return options[opencl->facts.opencl >= 300][opencl->facts.exact_divide];
}

static slr_status compile(struct slri_opencl *opencl, const struct slri_module *module, struct built *built)
{
    struct slri_text text = SLRI_TEXT_INIT, name = SLRI_TEXT_INIT;
    const struct slri_opencl_options words = {.warps = built->warps, .c11_atomics = opencl->facts.opencl >= 300};
    slri_text_printf(&name, SLRI_OPENCL_KERNEL_PREFIX "%s", built->entry->name);
    slr_status status = slri_kernel_may_fault(module, built->entry, &built->may_fault);
    if (status == SLR_OK)
        status = slri_emit_opencl(module, built->entry, &words, &text);
    struct slri_cl_text source = {built->entry->name, module->name, slri_cl_kernel_options(opencl),
                                  slri_text_view(&text)};
    if (status == SLR_OK)
        status = slri_cl_build(opencl, &source, &built->program);
    int32_t error = SLRI_CL_SUCCESS;
    if (status == SLR_OK)
        built->kernel = opencl->cl->CreateKernel(built->program, slri_text_view(&name), &error);
    if (status == SLR_OK && !built->kernel)
        status = slri_cl_failed(opencl->name, "CreateKernel", error);
    slri_text_free(&text);
    slri_text_free(&name);
    return status;
}

static slr_status find_built(struct slri_opencl *opencl, struct program *program, const struct slri_entry *entry,
                             enum slri_opencl_warps warps, struct built **out)
{
    struct built *built = program->built;
    while (built && (built->entry != entry || built->warps != warps))
        built = built->next;
    if (!built) {
        built = slri_alloc(opencl->allocator, sizeof *built);
        if (!built)
            return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
        built->entry = entry;
        built->of = program;
        built->warps = warps;
        slri_mutex_init(&built->lock);
        built->part = slri_alloc(opencl->allocator, parts_bytes(entry));
        slr_status status = built->part ? compile(opencl, program->module, built)
                                        : SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
        if (status == SLR_OK && (entry->function->uses & SLRI_USES_GLOBAL) != 0)
            status = make_globals(opencl, program);
        if (status != SLR_OK) {
            destroy_built(opencl, built);
            return status;
        }
        built->next = program->built;
        program->built = built;
    }
    *out = built;
    return SLR_OK;
}

static slr_status choose_built(struct slri_opencl *opencl, struct program *program, const struct slri_entry *entry,
                               const uint32_t block[3], struct built **out)
{
    bool has_warps = entry->function->uses & SLRI_USES_WARP;
    enum slri_opencl_warps warps = has_warps ? slri_cl_warps(opencl) : SLRI_OPENCL_LOCAL_MEMORY;
    SLRI_TRY(find_built(opencl, program, entry, warps, out));
    if (warps != SLRI_OPENCL_LOCAL_MEMORY && !slri_cl_has_warps(opencl, (*out)->kernel, block))
        return find_built(opencl, program, entry, SLRI_OPENCL_LOCAL_MEMORY, out);
    return SLR_OK;
}

static slr_status find_ready(struct slri_opencl *opencl, struct program *program, const struct slri_entry *entry,
                             const uint32_t block[3], struct ready **out)
{
    struct ready *ready = program->ready;
    while (ready && (ready->built->entry != entry || memcmp(ready->block, block, sizeof ready->block) != 0))
        ready = ready->next;
    if (!ready) {
        ready = slri_alloc(opencl->allocator, sizeof *ready);
        if (!ready)
            return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
        slr_status status = choose_built(opencl, program, entry, block, &ready->built);
        if (status != SLR_OK) {
            slri_free(opencl->allocator, ready, sizeof *ready);
            return status;
        }
        memcpy(ready->block, block, sizeof ready->block);
        ready->next = program->ready;
        program->ready = ready;
    }
    *out = ready;
    return SLR_OK;
}

static slr_status add_relaunched(struct slri_opencl *opencl, struct program *program, const struct slri_entry *entry,
                                 slri_cl_builder *build, slri_cl_program *out)
{
    struct relaunched *made = slri_alloc(opencl->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for handler %s", entry->name);
    slr_status status = build(opencl, program->module, entry, &made->program);
    if (status != SLR_OK) {
        slri_free(opencl->allocator, made, sizeof *made);
        return status;
    }
    made->entry = entry;
    made->next = program->relaunched;
    program->relaunched = made;
    *out = made->program;
    return SLR_OK;
}

slr_status slri_cl_relaunched(struct slri_opencl *opencl, void *program, const struct slri_entry *entry,
                              slri_cl_builder *build, slri_cl_program *out)
{
    struct program *made = program;
    slri_mutex_lock(&made->lock);
    const struct relaunched *found = made->relaunched;
    while (found && found->entry != entry)
        found = found->next;
    slr_status status = SLR_OK;
    if (found)
        *out = found->program;
    else
        status = add_relaunched(opencl, made, entry, build, out);
    slri_mutex_unlock(&made->lock);
    return status;
}

slr_status slri_cl_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                  const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready)
{
    struct slri_opencl *opencl = device;
    struct program *made = program;
    struct ready *found = NULL;
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > opencl->facts.most_group)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: blocks of %llu threads; device '%s' has at most %zu", entry->name,
                         (unsigned long long)threads, opencl->name, opencl->facts.most_group);
    slri_mutex_lock(&made->lock);
    // Relaxed: nothing is read on its strength. The driver's compiler cannot be stopped once it runs.
    slr_status status = cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)
                            ? SLRI_FAIL(WRONG_STATE, "kernel %s: nobody wants it any more", entry->name)
                            : find_ready(opencl, made, entry, shape->block, &found);
    slri_mutex_unlock(&made->lock);
    if (status == SLR_OK)
        *ready = found;
    return status;
}

// ---- dispatching ---------------------------------------------------------------------------------------------------

struct arguments { // set in order, up to the first that is refused
    const struct slri_opencl *opencl;
    slri_cl_kernel kernel;
    uint32_t next;
    int32_t error;
};

static void set(struct arguments *args, size_t bytes, const void *value)
{
    if (args->error == SLRI_CL_SUCCESS)
        args->error = args->opencl->cl->SetKernelArg(args->kernel, args->next, bytes, value);
    ++args->next;
}

// A part of a memory object is one of its own, from a multiple of the device's alignment on: there buffers begin, and
// slices where they are cut so. A kernel does not keep its arguments, but one that is enqueued does.
static slr_status set_part(struct arguments *args, struct slri_opencl *opencl, const struct slri_bound *bound,
                           slri_cl_mem *out)
{
    struct {
        size_t origin, bytes;
    } region = {.bytes = (size_t)bound->bytes};
    uint64_t at;
    int32_t error;
    slri_cl_mem mem = slri_cl_find_memory(opencl, bound->data, &at);
    region.origin = (size_t)at;
    if (at % opencl->facts.base_alignment != 0)
        return SLRI_FAIL(UNSUPPORTED,
                         "device '%s': a slice from byte %llu of its memory; with memory=%s kernels take those from "
                         "multiples of %u",
                         opencl->name, (unsigned long long)at, slri_cl_memory_name(opencl->memory),
                         opencl->facts.base_alignment);
    slri_cl_mem part =
        opencl->cl->CreateSubBuffer(mem, SLRI_CL_MEM_READ_WRITE, SLRI_CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    if (!part)
        return slri_cl_failed(opencl->name, "CreateSubBuffer", error);
    set(args, sizeof part, &part);
    *out = part;
    return SLR_OK;
}

static slr_status set_buffer(struct arguments *args, struct slri_opencl *opencl, const struct slri_bound *bound,
                             slri_cl_mem *part)
{
    const slri_cl_mem none = NULL;
    *part = NULL;
    if (opencl->memory > SLRI_CL_COARSE && bound->data)
        return set_part(args, opencl, bound, part);
    if (!bound->data) {
        set(args, sizeof none, &none);
        return SLR_OK;
    }
    if (args->error == SLRI_CL_SUCCESS)
        args->error = opencl->cl->SetKernelArgSVMPointer(args->kernel, args->next, bound->data);
    ++args->next;
    return SLR_OK;
}

slr_status slri_cl_set_memory(struct slri_opencl *opencl, slri_cl_kernel kernel, uint32_t index,
                              const struct slri_bound *bound, slri_cl_mem *part)
{
    struct arguments args = {.opencl = opencl, .kernel = kernel, .next = index};
    SLRI_TRY(set_buffer(&args, opencl, bound, part));
    return args.error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "SetKernelArg", args.error);
}

void slri_cl_release_parts(struct slri_opencl *opencl, slri_cl_mem *part, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        if (part[i])
            opencl->cl->ReleaseMemObject(part[i]);
        part[i] = NULL;
    }
}

static slr_status set_arguments(struct slri_opencl *opencl, const struct built *built,
                                const struct slri_command *command, const struct slri_cl_told *told)
{
    struct arguments args = {.opencl = opencl, .kernel = built->kernel};
    const struct slri_entry *entry = built->entry;
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const struct slri_bound *bound = &command->dispatch.bound[i];
        if (entry->binding[i].is_buffer)
            SLRI_TRY(set_buffer(&args, opencl, bound, &built->part[i]));
        else
            set(&args, bound->bytes, bound->data);
    }
    const struct slri_bound hidden[] = {{built->of->globals, built->of->module->global_bytes},
                                        {told->printed, SLRI_PRINTED_ROOM},
                                        {told->faulted, SLRI_CL_FAULT_BYTES}};
    if (entry->function->uses & SLRI_USES_GLOBAL)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[0], &built->part[entry->bindings]));
    if (entry->function->uses & SLRI_USES_PRINT)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[1], &built->part[entry->bindings + 1]));
    if (built->may_fault)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[2], &built->part[entry->bindings + 2]));
    if (entry->function->uses & SLRI_USES_DYNAMIC)
        set(&args, command->dispatch.dynamic_bytes ? command->dispatch.dynamic_bytes : 1, NULL); // 0 is refused
    return args.error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "SetKernelArg", args.error);
}

slr_status slri_cl_dispatch(struct slri_opencl *opencl, slri_cl_queue queue, const struct slri_command *command,
                            const struct slri_cl_told *told, slri_cl_event *event)
{
    const struct ready *ready = command->dispatch.ready;
    size_t global[3], local[3];
    for (int i = 0; i < 3; ++i) {
        local[i] = ready->block[i];
        global[i] = local[i] * command->dispatch.grid[i];
    }
    slri_mutex_lock(&ready->built->lock);
    slr_status status = set_arguments(opencl, ready->built, command, told);
    if (status == SLR_OK) {
        int32_t error =
            opencl->cl->EnqueueNDRangeKernel(queue, ready->built->kernel, 3, NULL, global, local, 0, NULL, event);
        if (error != SLRI_CL_SUCCESS)
            status = slri_cl_failed(opencl->name, "EnqueueNDRangeKernel", error);
    }
    slri_cl_release_parts(opencl, ready->built->part, parts_of(ready->built->entry));
    slri_mutex_unlock(&ready->built->lock);
    return status;
}

struct slri_print_to slri_cl_printer_of(const struct slri_command *dispatch)
{
    const struct built *built = ((const struct ready *)dispatch->dispatch.ready)->built;
    return (struct slri_print_to){dispatch->dispatch.printer, built->of->module, built->entry};
}

bool slri_cl_may_fault(const struct slri_command *dispatch)
{
    return ((const struct ready *)dispatch->dispatch.ready)->built->may_fault;
}

slr_status slri_cl_say_fault(const void *ready, const struct slri_cl_fault *fault)
{
    const struct built *built = ((const struct ready *)ready)->built;
    return slri_kernel_faulted(built->of->module, built->entry, fault->fault, fault->file, fault->line);
}

// SPDX-License-Identifier: Apache-2.0
// Code: OpenCL C, emitted for a kernel or written for slipring's own, or the program's SPIR-V, built by the driver's
// compiler, whose words on it are the error message; and `__global__` kernels, dispatched over a grid.
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "emit/device/faults.h"
#include "emit/opencl/emit_opencl.h"
#include "engine/code.h"
#include "hal/opencl/opencl.h"

#include <stdlib.h>
#include <string.h>

// A kernel for a shape of block, or of batched launches.
struct native {
    slri_cl_kernel kernel;
    slri_mutex lock;   // arguments are set one by one, then the kernel is enqueued with them
    slri_cl_mem *part; // under it: of each of its arguments in memory, what set_part made for the launch in progress
    uint32_t parts;
    bool is_batched; // its arguments in memory stay the same
    bool has_memory; // and have been set
};

// ---- writing -------------------------------------------------------------------------------------------------------

const char *slri_cl_kernel_options(const struct slri_opencl *opencl)
{
    static const char *const options[2][2] = {
        {"-cl-std=CL1.2", "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"},
        {"-cl-std=CL3.0", "-cl-std=CL3.0 -cl-fp32-correctly-rounded-divide-sqrt"}};
    return options[opencl->facts.opencl >= 300][opencl->facts.exact_divide];
}

// Device and driver by what they say of themselves: a driver that changes and says the same refuses the binary, or is a
// defect of its own.
void slri_cl_identify(const struct slri_opencl *opencl, const char *options, struct slri_code_text *text)
{
    const struct slri_cl_facts *facts = &opencl->facts;
    const char *const fields[] = {facts->platform, facts->name, facts->version, facts->driver};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; ++i)
        slri_code_identify(text, fields[i]);
    slri_text_printf(&text->label, "%s\n%s\n%s, %s %s", text->name, text->file, facts->name, facts->platform,
                     facts->driver);
    text->option_room[0] = options;
    text->option = text->option_room;
}

// Of warps the best first; where that does not hold for a block, local memory.
static enum slri_opencl_warps warps_of(struct slri_opencl *opencl, const struct slri_entry *entry, uint32_t variant)
{
    bool has_warps = entry->function->uses & SLRI_USES_WARP;
    return has_warps && variant == 0 ? slri_cl_warps(opencl) : SLRI_OPENCL_LOCAL_MEMORY;
}

// A batch's block is known, and it has no variants.
static enum slri_opencl_warps warps_of_text(struct slri_opencl *opencl, const struct slri_code_text *text)
{
    return text->is_batched ? slri_cl_handler_warps(opencl, text->entry, text->shape.block[0])
                            : warps_of(opencl, text->entry, text->variant);
}

static bool is_spirv(const struct slri_code_text *text)
{
    return text->module && text->module->raw;
}

static slr_status write_spirv(struct slri_opencl *opencl, struct slri_code_text *text)
{
    if (!opencl->facts.spirv)
        return SLRI_FAIL(UNSUPPORTED, "%s is SPIR-V, which device '%s' does not take: its features do not have 'spirv'",
                         text->file, opencl->name);
    slri_cl_identify(opencl, "", text);
    slri_text_append(&text->text, text->module->raw, text->module->raw_bytes);
    return SLR_OK;
}

slr_status slri_cl_code_write(void *device, struct slri_code_text *text)
{
    struct slri_opencl *opencl = device;
    if (is_spirv(text))
        return write_spirv(opencl, text);
    slri_cl_identify(opencl, slri_cl_kernel_options(opencl), text);
    const struct slri_opencl_options words = {.warps = warps_of_text(opencl, text),
                                              .c11_atomics = opencl->facts.opencl >= 300,
                                              .has_clock = text->is_batched && slri_cl_has_clock(opencl),
                                              .loops_over_threads = opencl->facts.device_class == SLR_DEVICE_SOFTWARE,
                                              .block = text->is_batched ? text->shape.block : NULL};
    return slri_emit_opencl(text->module, text->entry, &words, &text->text);
}

// ---- building ------------------------------------------------------------------------------------------------------

static slr_status refuse(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program program,
                         int32_t error)
{
    size_t bytes = 0;
    if (error != -11) // CL_BUILD_PROGRAM_FAILURE
        return slri_cl_failed(opencl->name, "BuildProgram", error);
    int32_t asked = opencl->cl->GetProgramBuildInfo(program, opencl->id, SLRI_CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    char *log = asked == SLRI_CL_SUCCESS ? calloc(bytes + 1, 1) : NULL;
    if (log && opencl->cl->GetProgramBuildInfo(program, opencl->id, SLRI_CL_PROGRAM_BUILD_LOG, bytes, log, NULL) != 0)
        *log = '\0';
    slr_status status = SLRI_FAIL(COMPILE, "%s: the compiler of device '%s' rejected it:\n%s", text->name, opencl->name,
                                  log && *log ? log : "(no output)");
    free(log);
    return status;
}

static slr_status build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program program,
                        slri_cl_program *out)
{
    int32_t error = opencl->cl->BuildProgram(program, 1, &opencl->id, text->options, NULL, NULL);
    if (error == SLRI_CL_SUCCESS) {
        *out = program;
        return SLR_OK;
    }
    slr_status status = refuse(opencl, text, program, error);
    opencl->cl->ReleaseProgram(program);
    return status;
}

slr_status slri_cl_build_source(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out)
{
    int32_t error;
    const char *source = text->text;
    slri_cl_program program = opencl->cl->CreateProgramWithSource(opencl->context, 1, &source, NULL, &error);
    if (!program)
        return slri_cl_failed(opencl->name, "CreateProgramWithSource", error);
    return build(opencl, text, program, out);
}

// The binary, to be stored; without one the code is compiled in each process.
static void take_binary(struct slri_opencl *opencl, slri_cl_program program, struct slri_blob *blob)
{
    size_t bytes = 0;
    if (opencl->cl->GetProgramInfo(program, SLRI_CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != 0 ||
        bytes == 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (!binary)
        return;
    if (opencl->cl->GetProgramInfo(program, SLRI_CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == 0)
        *blob = (struct slri_blob){.bytes = (char *)binary, .count = bytes};
    else
        free(binary);
}

static struct slri_cl_text words_of(const struct slri_code_text *text)
{
    return (struct slri_cl_text){text->name, text->file, text->option[0], slri_text_view(&text->text)};
}

static slr_status build_spirv(struct slri_opencl *opencl, const struct slri_code_text *text, slri_cl_program *out)
{
    const struct slri_cl_text words = words_of(text);
    int32_t error;
    slri_cl_program program =
        opencl->cl->CreateProgramWithIL(opencl->context, text->text.data, text->text.length, &error);
    if (!program && error == -30) // CL_INVALID_VALUE
        return SLRI_FAIL(COMPILE, "%s: device '%s' does not accept it as SPIR-V; spirv-val says what is wrong",
                         text->file, opencl->name);
    if (!program)
        return slri_cl_failed(opencl->name, "CreateProgramWithIL", error);
    return build(opencl, &words, program, out);
}

slr_status slri_cl_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    const struct slri_cl_text words = words_of(text);
    slri_cl_program program;
    SLRI_TRY(is_spirv(text) ? build_spirv(device, text, &program) : slri_cl_build_source(device, &words, &program));
    take_binary(device, program, blob);
    *loaded = program;
    return SLR_OK;
}

slr_status slri_cl_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                             void **loaded)
{
    struct slri_opencl *opencl = device;
    const struct slri_cl_text words = words_of(text);
    const unsigned char *binary = (const unsigned char *)blob->bytes;
    int32_t each = 0, error = 0;
    slri_cl_program built = NULL, program = opencl->cl->CreateProgramWithBinary(opencl->context, 1, &opencl->id,
                                                                                &blob->count, &binary, &each, &error);
    if (!program || build(opencl, &words, program, &built) != SLR_OK)
        return SLRI_FAIL(UNSUPPORTED, "%s: the driver did not accept the cached binary", text->name);
    *loaded = built;
    return SLR_OK;
}

void slri_cl_code_unload(void *device, void *loaded)
{
    slri_cl_let_go(device, SLRI_CL_PROGRAM, loaded, 0);
}

slr_status slri_cl_build(struct slri_opencl *opencl, const struct slri_cl_text *text, slri_cl_program *out)
{
    struct slri_code_text whole = {.name = text->name, .file = text->file};
    void *loaded;
    bool was_cached;
    slri_cl_identify(opencl, text->options, &whole);
    slri_text_puts(&whole.text, text->text);
    SLRI_TRY(slri_code_load(&slri_backend_opencl, opencl, &whole, &loaded, &was_cached));
    *out = loaded;
    return SLR_OK;
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static void destroy_native(struct slri_opencl *opencl, struct native *native)
{
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, native->kernel, 0);
    for (uint32_t i = 0; native->part && i < native->parts; ++i)
        slri_cl_let_go(opencl, SLRI_CL_MEM, native->part[i], 0);
    slri_mutex_destroy(&native->lock);
    slri_free(opencl->allocator, native->part, native->parts * sizeof *native->part);
    slri_free(opencl->allocator, native, sizeof *native);
}

static void release_native(void *device, void *native)
{
    destroy_native(device, native);
}

static slr_status check_parameters(struct slri_opencl *opencl, slri_cl_kernel kernel, const struct slri_code_text *of)
{
    uint32_t count = 0;
    const int32_t error = opencl->cl->GetKernelInfo(kernel, SLRI_CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, "GetKernelInfo", error);
    return count == of->entry->bindings
               ? SLR_OK
               : SLRI_FAIL(COMPILE, "kernel '%s' has %u parameter%s in %s, and %u in its table", of->entry->name, count,
                           count == 1 ? "" : "s", of->file, of->entry->bindings);
}

static slr_status fill_native(struct slri_opencl *opencl, slri_cl_program program, const struct slri_code_text *of,
                              struct native *native)
{
    const struct slri_entry *entry = of->entry;
    slri_text name = SLRI_TEXT_INIT;
    int32_t error;
    // After its bindings: the program's variables, what it prints, its fault.
    native->parts = entry->bindings + 3;
    native->part = slri_alloc(opencl->allocator, native->parts * sizeof *native->part);
    slri_text_printf(&name, "%s%s", is_spirv(of) ? "" : SLRI_OPENCL_KERNEL_PREFIX, entry->name);
    slr_status status =
        native->part && !name.out_of_memory ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
    if (status == SLR_OK)
        native->kernel = opencl->cl->CreateKernel(program, slri_text_view(&name), &error);
    if (status == SLR_OK && !native->kernel)
        status = is_spirv(of) && error == -46 // CL_INVALID_KERNEL_NAME
                     ? SLRI_FAIL(COMPILE, "%s has no kernel '%s', which is in its table", of->file, entry->name)
                     : slri_cl_failed(opencl->name, "CreateKernel", error);
    if (status == SLR_OK && is_spirv(of))
        status = check_parameters(opencl, native->kernel, of);
    slri_text_free(&name);
    return status;
}

static slr_status make_native(struct slri_opencl *opencl, slri_cl_program program, const struct slri_code_text *of,
                              struct native **out)
{
    struct native *native = slri_alloc(opencl->allocator, sizeof *native);
    if (!native)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", of->entry->name);
    native->is_batched = of->is_batched;
    slri_mutex_init(&native->lock);
    slr_status status = fill_native(opencl, program, of, native);
    if (status == SLR_OK)
        *out = native;
    else
        destroy_native(opencl, native);
    return status;
}

slr_status slri_cl_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    struct slri_opencl *opencl = device;
    const uint32_t *block = of->shape.block;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    struct native *native;
    if (threads > opencl->facts.most_group)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s: blocks of %llu threads; device '%s' has at most %zu", of->entry->name,
                         (unsigned long long)threads, opencl->name, opencl->facts.most_group);
    if (of->is_batched) // a handler's faults are in its results
        out->batch.has_ticks = slri_cl_has_clock(opencl);
    else if (!is_spirv(of))
        SLRI_TRY(slri_kernel_may_fault(of->module, of->entry, &out->may_fault));
    SLRI_TRY(make_native(opencl, loaded, of, &native));
    out->native = native;
    out->release = release_native;
    out->is_unfit = !of->is_batched && warps_of(opencl, of->entry, of->variant) != SLRI_OPENCL_LOCAL_MEMORY &&
                    !slri_cl_has_warps(opencl, native->kernel, block);
    return SLR_OK;
}

// OpenCL has no count of the groups that a compute unit holds.
slr_status slri_cl_kernel_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out)
{
    struct slri_opencl *opencl = device;
    const struct native *native = of->ready->kernel.native;
    size_t most = 0, multiple = 0;
    uint64_t local = 0, private = 0;
    const struct {
        uint32_t what;
        size_t bytes;
        void *out;
    } ask[] = {{SLRI_CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most},
               {SLRI_CL_KERNEL_PREFERRED_MULTIPLE, sizeof multiple, &multiple},
               {SLRI_CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local},
               {SLRI_CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private, &private}};
    for (size_t i = 0; i < sizeof ask / sizeof *ask; ++i) {
        int32_t error =
            opencl->cl->GetKernelWorkGroupInfo(native->kernel, opencl->id, ask[i].what, ask[i].bytes, ask[i].out, NULL);
        if (error != SLRI_CL_SUCCESS)
            return slri_cl_failed(opencl->name, "GetKernelWorkGroupInfo", error);
    }
    *out = (struct slri_kernel_use){.most_threads = (uint32_t)most,
                                    .multiple = (uint32_t)multiple,
                                    .shared_bytes = local,
                                    .private_bytes = private};
    return SLR_OK;
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
                         "device '%s': a slice starts at byte %llu of its memory; with memory=%s a kernel's slice must "
                         "start at a multiple of %u",
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

static void release_parts(struct slri_opencl *opencl, const struct native *native)
{
    for (uint32_t i = 0; i < native->parts; ++i) {
        if (native->part[i])
            opencl->cl->ReleaseMemObject(native->part[i]);
        native->part[i] = NULL;
    }
}

// A scalar is set at each launch. Memory of a batch stays.
static slr_status set_batch(struct slri_opencl *opencl, struct native *native, const struct slri_command *command)
{
    struct arguments args = {.opencl = opencl, .kernel = native->kernel};
    const struct slri_entry *entry = command->dispatch.ready->entry;
    const struct slri_bound *bound = command->dispatch.bound;
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (!entry->binding[i].is_buffer)
            set(&args, bound[i].bytes, bound[i].data);
        else if (native->has_memory)
            ++args.next;
        else
            SLRI_TRY(set_buffer(&args, opencl, &bound[i], &native->part[i]));
    if (args.error != SLRI_CL_SUCCESS)
        return slri_cl_failed(opencl->name, "SetKernelArg", args.error);
    native->has_memory = true;
    return SLR_OK;
}

static slr_status set_arguments(struct slri_opencl *opencl, const struct native *native,
                                const struct slri_command *command, const struct slri_extras *extras)
{
    struct arguments args = {.opencl = opencl, .kernel = native->kernel};
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const struct slri_entry *entry = ready->entry;
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const struct slri_bound *bound = &command->dispatch.bound[i];
        if (entry->binding[i].is_buffer)
            SLRI_TRY(set_buffer(&args, opencl, bound, &native->part[i]));
        else
            set(&args, bound->bytes, bound->data);
    }
    const struct slri_bound hidden[] = {{ready->globals, ready->module->global_bytes},
                                        {extras->printed, SLRI_PRINTED_ROOM},
                                        {extras->faulted, sizeof(struct slri_fault_fields)}};
    if (entry->function->uses & SLRI_USES_GLOBAL)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[0], &native->part[entry->bindings]));
    if (entry->function->uses & SLRI_USES_PRINT)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[1], &native->part[entry->bindings + 1]));
    if (ready->kernel.may_fault)
        SLRI_TRY(set_buffer(&args, opencl, &hidden[2], &native->part[entry->bindings + 2]));
    if (entry->function->uses & SLRI_USES_DYNAMIC && !ready->module->raw)
        set(&args, command->dispatch.dynamic_bytes ? command->dispatch.dynamic_bytes : 1, NULL); // 0 is refused
    return args.error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed(opencl->name, "SetKernelArg", args.error);
}

slr_status slri_cl_dispatch(struct slri_opencl *opencl, slri_cl_queue queue, const struct slri_command *command,
                            const struct slri_extras *extras, slri_cl_event *event)
{
    struct native *native = command->dispatch.ready->kernel.native;
    size_t global[3], local[3];
    for (int i = 0; i < 3; ++i) {
        local[i] = command->dispatch.block[i];
        global[i] = local[i] * command->dispatch.grid[i];
    }
    slri_mutex_lock(&native->lock);
    slr_status status =
        native->is_batched ? set_batch(opencl, native, command) : set_arguments(opencl, native, command, extras);
    if (status == SLR_OK) {
        int32_t error = opencl->cl->EnqueueNDRangeKernel(queue, native->kernel, 3, NULL, global, local, 0, NULL, event);
        if (error != SLRI_CL_SUCCESS)
            status = slri_cl_failed(opencl->name, "EnqueueNDRangeKernel", error);
    }
    if (!native->has_memory)
        release_parts(opencl, native);
    slri_mutex_unlock(&native->lock);
    return status;
}

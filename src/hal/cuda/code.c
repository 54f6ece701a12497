// SPDX-License-Identifier: Apache-2.0
// Kernels: emitted as CUDA C, compiled by NVRTC for the device, loaded, launched.
#include "base/alloc.h"
#include "base/status.h"
#include "emit/cuda/emit_cuda.h"
#include "emit/device/faults.h"
#include "engine/code.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/waves.h"
#include "ir/matrix.h"

#include <stdio.h>
#include <string.h>

#define MOST_PARAMETERS 128

// Code in a context: a module, and its kernel.
struct slri_cu_loaded {
    slri_cu_module module;
    slri_cu_function function;
    int32_t most_threads;         // a block, with the registers that it takes
    uint32_t opened;              // of the device: in which of its contexts it is
    struct slri_wave_takes takes; // of an AMD device, where its code says it
};

// ---- writing -------------------------------------------------------------------------------------------------------

// And what it calls the device.
static slr_status find_compiler(const struct slri_cuda *cuda, const struct slri_nvrtc **nvrtc,
                                char architecture[SLRI_CU_ARCHITECTURE_BYTES])
{
    int32_t capability;
    SLRI_TRY(cuda->cu->vendor->load_compiler(nvrtc));
    snprintf(architecture, SLRI_CU_ARCHITECTURE_BYTES, "%s", cuda->facts.architecture);
    if (*architecture)
        return SLR_OK;
    SLRI_TRY(slri_nvrtc_choose(*nvrtc, cuda->facts.major * 10 + cuda->facts.minor, &capability));
    snprintf(architecture, SLRI_CU_ARCHITECTURE_BYTES, "sm_%d", (int)capability);
    return SLR_OK;
}

// The driver is of it, too: it must take the machine code.
slr_status slri_cuda_identify(struct slri_cuda *cuda, struct slri_code_text *text)
{
    const struct slri_nvrtc *nvrtc;
    char architecture[SLRI_CU_ARCHITECTURE_BYTES];
    SLRI_TRY(find_compiler(cuda, &nvrtc, architecture));
    slri_text_printf(&text->identity, "%s %d.%d, driver %d, %s", nvrtc->name, nvrtc->major, nvrtc->minor,
                     cuda->cu->version, architecture);
    slri_text_printf(&text->label, "%s\n%s\n%s, %s %d.%d", text->name, text->file, architecture, nvrtc->name,
                     nvrtc->major, nvrtc->minor);
    // What a raw program includes is not in the key.
    text->is_unkept = text->module && text->module->raw && strstr(text->module->raw, "include");
    return SLR_OK;
}

slr_status slri_cuda_code_write(void *device, struct slri_code_text *text)
{
    struct slri_cuda *cuda = device;
    const uint32_t count = text->entry->bindings;
    if (count > MOST_PARAMETERS)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s has %u parameters; %d are allowed on '%s'", text->name, count,
                         MOST_PARAMETERS, cuda->name);
    const struct slri_nvrtc *nvrtc;
    if (cuda->cu->vendor == &slri_vendor_cuda && slri_cuda_capability(&cuda->facts) < 80)
        SLRI_TRY(
            slri_matrix_refuse(text->module, text->entry, "only those of compute capability 8.0 or later have it"));
    SLRI_TRY(slri_cuda_identify(cuda, text));
    SLRI_TRY(cuda->cu->vendor->load_compiler(&nvrtc));
    return slri_nvrtc_source(nvrtc, text->module, text->entry, &text->text, &text->option);
}

slr_status slri_cuda_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    const struct slri_nvrtc *nvrtc;
    char architecture[SLRI_CU_ARCHITECTURE_BYTES];
    (void)loaded;
    SLRI_TRY(find_compiler(device, &nvrtc, architecture));
    return slri_nvrtc_compile(nvrtc, text->file, slri_text_view(&text->text), text->option, architecture, &blob->bytes,
                              &blob->count);
}

// ---- loading: in the context ---------------------------------------------------------------------------------------

// More than 48 KiB of shared memory must be asked for; as much as there can be, once, so that launches need not.
static slr_status allow_dynamic(struct slri_cuda *cuda, const char *name, slri_cu_function function)
{
    int32_t taken = 0;
    SLRI_TRY(slri_cuda_check(cuda, "FuncGetAttribute", name,
                             cuda->cu->FuncGetAttribute(&taken, SLRI_CU_FUNCTION_SHARED, function)));
    return slri_cuda_check(
        cuda, "FuncSetAttribute", name,
        cuda->cu->FuncSetAttribute(function, SLRI_CU_FUNCTION_MOST_DYNAMIC, cuda->facts.shared_most - taken));
}

slr_status slri_cuda_find_function(struct slri_cuda *cuda, slri_cu_module module, const char *name,
                                   slri_cu_function *function)
{
    SLRI_TRY(slri_cuda_check(cuda, "ModuleGetFunction", name, cuda->cu->ModuleGetFunction(function, module, name)));
    return cuda->cu->FuncLoad ? slri_cuda_check(cuda, "FuncLoad", name, cuda->cu->FuncLoad(*function)) : SLR_OK;
}

static slr_status find_kernel(struct slri_cuda *cuda, const struct slri_entry *entry, struct slri_cu_loaded *loaded)
{
    const char *name = entry->name;
    SLRI_TRY(slri_cuda_find_function(cuda, loaded->module, name, &loaded->function));
    SLRI_TRY(slri_cuda_check(
        cuda, "FuncGetAttribute", name,
        cuda->cu->FuncGetAttribute(&loaded->most_threads, SLRI_CU_FUNCTION_MOST_THREADS, loaded->function)));
    bool asks = (entry->function->uses & SLRI_USES_DYNAMIC) != 0 && cuda->facts.shared_most > cuda->facts.shared_bytes;
    return asks ? allow_dynamic(cuda, name, loaded->function) : SLR_OK;
}

static slr_status launch_empty(struct slri_cuda *cuda, const struct slri_code_text *text, slri_cu_function function,
                               slri_cu_stream stream)
{
    static uint64_t zero;
    void *parameter[MOST_PARAMETERS];
    for (uint32_t i = 0; i < MOST_PARAMETERS; ++i)
        parameter[i] = &zero;
    SLRI_TRY(slri_cuda_check(
        cuda, "LaunchKernel", text->name,
        cuda->cu->LaunchKernel(function, 1, 1, 1, text->shape.block[0], 1, 1, 0, stream, parameter, NULL)));
    return slri_cuda_check(cuda, "StreamSynchronize", text->name, cuda->cu->StreamSynchronize(stream));
}

// Launches it once without a message, while no persistent kernel runs: a first launch may take memory for its stack.
static slr_status find_batch(struct slri_cuda *cuda, const struct slri_code_text *text, struct slri_cu_loaded *loaded)
{
    slri_cu_stream stream;
    SLRI_TRY(slri_cuda_find_function(cuda, loaded->module, text->entry->name, &loaded->function));
    SLRI_TRY(slri_cuda_own_stream(cuda, &stream));
    slr_status status = launch_empty(cuda, text, loaded->function, stream);
    cuda->cu->StreamDestroy_v2(stream);
    return status;
}

static slr_status load_module(struct slri_cuda *cuda, const struct slri_code_text *text, const struct slri_blob *blob,
                              struct slri_cu_loaded *loaded)
{
    SLRI_TRY(
        slri_cuda_check(cuda, "ModuleLoadData", text->name, cuda->cu->ModuleLoadData(&loaded->module, blob->bytes)));
    slr_status status = text->is_batched ? find_batch(cuda, text, loaded) : find_kernel(cuda, text->entry, loaded);
    if (status != SLR_OK)
        cuda->cu->ModuleUnload(loaded->module);
    else if (*cuda->facts.architecture && !text->is_batched && // else, or where it is unreadable, nobody counts
             slri_waves_read(cuda->facts.architecture, blob->bytes, blob->count, text->entry->name, &loaded->takes) !=
                 SLR_OK)
        loaded->takes.lanes = 0;
    return status;
}

slr_status slri_cuda_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                               void **loaded)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_loaded *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for the code of %s", text->name);
    made->opened = cuda->opened;
    slr_status status = slri_cuda_enter_quiet(cuda);
    if (status == SLR_OK) {
        status = load_module(cuda, text, blob, made);
        slri_cuda_leave_quiet(cuda);
    }
    if (status == SLR_OK)
        *loaded = made;
    else
        slri_free(cuda->allocator, made, sizeof *made);
    return status;
}

void slri_cuda_code_unload(void *device, void *loaded)
{
    struct slri_cuda *cuda = device;
    struct slri_cu_loaded *dying = loaded;
    if (dying->opened == cuda->opened && slri_cuda_enter_quiet(cuda) == SLR_OK) { // else it goes with the context
        cuda->cu->ModuleUnload(dying->module);
        slri_cuda_leave_quiet(cuda);
    }
    slri_free(cuda->allocator, dying, sizeof *dying);
}

slr_status slri_cuda_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    struct slri_cu_loaded *code = loaded;
    (void)device;
    out->native = code->function;
    out->takes = code->takes.lanes ? &code->takes : NULL;
    out->most_threads = (uint32_t)code->most_threads;
    if (of->is_batched) // a handler's faults are in its results
        return SLR_OK;
    // What is raw is not of our emitter.
    return of->module->raw ? SLR_OK : slri_kernel_may_fault(of->module, of->entry, &out->may_fault);
}

// ---- what a kernel takes: in the context ---------------------------------------------------------------------------

static slr_status ask_use(struct slri_cuda *cuda, const struct slri_kernel_query *of, struct slri_kernel_use *out)
{
    const struct {
        int32_t attribute, *value;
    } ask[] = {{SLRI_CU_FUNCTION_MOST_THREADS, &(int32_t){0}},
               {SLRI_CU_FUNCTION_REGISTERS, &(int32_t){0}},
               {SLRI_CU_FUNCTION_SHARED, &(int32_t){0}},
               {SLRI_CU_FUNCTION_LOCAL, &(int32_t){0}}};
    const struct slri_ready_kernel *ready = of->ready;
    const uint32_t threads = of->threads;
    slri_cu_function function = ready->kernel.native;
    const char *name = ready->entry->name;
    int32_t groups = 0;
    for (size_t i = 0; i < sizeof ask / sizeof *ask; ++i)
        SLRI_TRY(slri_cuda_check(cuda, "FuncGetAttribute", name,
                                 cuda->cu->FuncGetAttribute(ask[i].value, ask[i].attribute, function)));
    if (threads)
        SLRI_TRY(slri_cuda_check(cuda, "OccupancyMaxActiveBlocksPerMultiprocessor", name,
                                 cuda->cu->OccupancyMaxActiveBlocksPerMultiprocessor(
                                     &groups, function, (int32_t)threads, of->dynamic_bytes)));
    *out = (struct slri_kernel_use){.most_threads = (uint32_t)*ask[0].value,
                                    .multiple = (uint32_t)cuda->facts.warp,
                                    .registers = (uint32_t)*ask[1].value,
                                    .capability = slri_cuda_capability(&cuda->facts),
                                    .shared_bytes = (uint64_t)*ask[2].value,
                                    .private_bytes = (uint64_t)*ask[3].value,
                                    .counts = threads != 0,
                                    .groups = (uint32_t)groups};
    struct slri_wave_fits fits;
    if (threads && ready->kernel.takes &&
        slri_waves_count(cuda->facts.architecture, ready->kernel.takes, threads, of->dynamic_bytes, &fits) == SLR_OK) {
        out->computed = fits.blocks;
        out->limits = fits.limits;
    }
    return SLR_OK;
}

slr_status slri_cuda_kernel_use(void *device, const struct slri_kernel_query *of, struct slri_kernel_use *out)
{
    if (!device)
        return slri_cuda_kernel_resources(of->module, of->entry, of->capability, &out->resources);
    SLRI_TRY(slri_cuda_enter(device));
    slr_status status = ask_use(device, of, out);
    slri_cuda_leave(device);
    return status;
}

// ---- launching: in the context -------------------------------------------------------------------------------------

int32_t slri_cuda_launch(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_extras *extras)
{
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const uint32_t *grid = command->dispatch.grid, *block = command->dispatch.block;
    const struct slri_bound *bound = command->dispatch.bound;
    void *parameter[MOST_PARAMETERS + 3], *globals = ready->globals;
    uint32_t count = ready->entry->bindings;
    for (uint32_t i = 0; i < count; ++i) // where the value lies: for a buffer, its address
        parameter[i] = ready->entry->binding[i].is_buffer ? (void *)&bound[i].data : bound[i].data;
    parameter[count] = &globals; // as emit_cuda.h says; a kernel that needs none of them has no such parameters
    parameter[count + 1] = (void *)&extras->printed;
    parameter[count + 2] = (void *)&extras->faulted;
    return cuda->cu->LaunchKernel(ready->kernel.native, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                  command->dispatch.dynamic_bytes, stream, parameter, NULL);
}

void slri_cuda_describe_compiler(const struct slri_cuda *cuda, char *out, size_t room)
{
    const struct slri_nvrtc *nvrtc;
    if (cuda->cu->vendor->load_compiler(&nvrtc) == SLR_OK)
        snprintf(out, room, "; %s %d.%d", nvrtc->name, nvrtc->major, nvrtc->minor);
    else
        snprintf(out, room, "; no kernels: %s", slr_error_message());
}

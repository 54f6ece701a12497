// SPDX-License-Identifier: Apache-2.0
// `__global__` kernels: emitted as CUDA C, compiled by NVRTC for the device or found in the cache, loaded, launched.
#include "backend/cuda/cuda.h"
#include "backend/cuda/nvrtc.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/globals.h"
#include "kernel/cache.h"
#include "kernel/emit_cuda.h"
#include "kernel/ir_names.h"
#include "kernel/kernel.h"

#include <slipring/api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".cubin"
#define MOST_PARAMETERS 128

// A kernel that is ready, for blocks of any shape. Its program keeps it: a launch may be in any stream.
struct ready {
    const struct program *of;
    const struct slri_entry *entry;
    slri_cu_module module;
    slri_cu_function function;
    int32_t most_threads; // a block, with the registers that it takes
    bool may_fault;       // then it tells
    uint32_t opened;      // of the device: in which of its contexts it is
    struct ready *next;
};

struct program {
    const struct slri_module *module;
    slri_mutex lock;     // one kernel is made ready at a time
    struct ready *first; // atomic: only ever grows, so that it is searched without the lock
    void *globals;       // the module's variables; NULL: nobody has wanted them yet
    uint32_t opened;     // of the device: in which of its contexts they are
};

slr_status slri_cuda_program_create(void *device, const struct slri_module *module, void **program)
{
    const struct slri_cuda *cuda = device;
    struct program *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a program");
    made->module = module;
    slri_mutex_init(&made->lock);
    *program = made;
    return SLR_OK;
}

const struct slri_module *slri_cuda_program_module(const void *program)
{
    return ((const struct program *)program)->module;
}

static void unload(struct slri_cuda *cuda, slri_cu_module module)
{
    if (slri_cuda_enter_quiet(cuda) != SLR_OK)
        return; // it goes with the context
    cuda->cu->ModuleUnload(module);
    slri_cuda_leave_quiet(cuda);
}

void slri_cuda_program_destroy(void *device, void *program)
{
    struct slri_cuda *cuda = device;
    struct program *dying = program;
    if (!dying)
        return;
    slri_cuda_staying_drop(cuda, program);
    for (struct ready *each = dying->first; each;) {
        struct ready *next = each->next;
        if (each->opened == cuda->opened)
            unload(cuda, each->module);
        slri_free(cuda->allocator, each, sizeof *each);
        each = next;
    }
    if (dying->globals && dying->opened == cuda->opened)
        slri_cuda_near_destroy(cuda, dying->globals, dying->module->global_bytes);
    slri_mutex_destroy(&dying->lock);
    slri_free(cuda->allocator, dying, sizeof *dying);
}

// ---- the program's variables ---------------------------------------------------------------------------------------

// Under the program's lock. What lay in a context that was lost went with it.
static slr_status make_globals(struct slri_cuda *cuda, struct program *program)
{
    void *memory;
    if (program->globals && program->opened == cuda->opened)
        return SLR_OK;
    SLRI_TRY(slri_cuda_near_create(cuda, program->module->global_bytes, &memory));
    slr_status status = slri_globals_begin(program->module, cuda->allocator, memory, slri_cuda_write_at_once, cuda);
    if (status != SLR_OK) {
        slri_cuda_near_destroy(cuda, memory, program->module->global_bytes);
        return status;
    }
    program->globals = memory;
    program->opened = cuda->opened;
    return SLR_OK;
}

slr_status slri_cuda_program_globals(void *device, void *program, void **out)
{
    struct program *of = program;
    slri_mutex_lock(&of->lock);
    slr_status status = make_globals(device, of);
    *out = of->globals;
    slri_mutex_unlock(&of->lock);
    return status;
}

// ---- compiling -----------------------------------------------------------------------------------------------------

// What one compilation works on.
struct job {
    struct slri_cuda *cuda;
    const struct slri_module *module; // NULL, and the next: text that is of no user's file
    const struct slri_entry *entry;
    const struct slri_nvrtc *nvrtc;
    int32_t capability;
    slri_text text;
    const char *const *options; // of the compiler
    slri_cache cache;
    char key[SLRI_HASH_HEX_BYTES];
    char *cubin;
    size_t bytes;
};

static void put_field(slri_hash *hash, const char *text)
{
    slri_hash_field(hash, text, strlen(text));
}

// Everything that the machine code depends on, and the driver, which must take it.
static void make_key(struct job *job)
{
    const int32_t numbers[] = {job->nvrtc->major, job->nvrtc->minor, job->cuda->cu->version, job->capability};
    slri_hash hash;
    slri_hash_init(&hash);
    put_field(&hash, "slipring cuda " SLR_VERSION);
    slri_hash_field(&hash, numbers, sizeof numbers);
    for (const char *const *option = job->options; *option; ++option)
        put_field(&hash, *option);
    slri_hash_field(&hash, job->text.data, job->text.length);
    slri_hash_hex(&hash, job->key);
}

// What a raw program includes is not in the key.
static bool is_kept(const struct job *job)
{
    return !job->module || !job->module->raw || !strstr(job->module->raw, "include");
}

static bool find(struct job *job)
{
    return is_kept(job) && slri_cache_read(&job->cache, job->key, SUFFIX, &job->cubin, &job->bytes) == SLR_OK;
}

static const char *file_of(const struct job *job)
{
    return job->module ? job->module->name : "slipring";
}

// Failing to keep it costs the next process a compilation.
static void keep(struct job *job)
{
    slri_text label = SLRI_TEXT_INIT;
    slri_text_printf(&label, "%s\n%s\nsm_%d, NVRTC %d.%d", job->entry ? job->entry->name : "", file_of(job),
                     job->capability, job->nvrtc->major, job->nvrtc->minor);
    slri_cache_publish(&job->cache, job->key, SUFFIX, job->cubin, job->bytes, slri_text_view(&label));
    slri_text_free(&label);
}

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

static slr_status load(struct job *job, struct ready *out)
{
    struct slri_cuda *cuda = job->cuda;
    SLRI_TRY(
        slri_cuda_check(cuda, "ModuleLoadData", job->entry->name, cuda->cu->ModuleLoadData(&out->module, job->cubin)));
    slr_status status = slri_cuda_check(cuda, "ModuleGetFunction", job->entry->name,
                                        cuda->cu->ModuleGetFunction(&out->function, out->module, job->entry->name));
    if (status == SLR_OK)
        status = slri_cuda_check(
            cuda, "FuncGetAttribute", job->entry->name,
            cuda->cu->FuncGetAttribute(&out->most_threads, SLRI_CU_FUNCTION_MOST_THREADS, out->function));
    if (status == SLR_OK && (job->entry->function->uses & SLRI_USES_DYNAMIC) != 0 &&
        cuda->facts.shared_most > cuda->facts.shared_bytes)
        status = allow_dynamic(cuda, job->entry->name, out->function);
    if (status != SLR_OK)
        cuda->cu->ModuleUnload(out->module);
    return status;
}

static slr_status load_in_context(struct job *job, struct ready *out)
{
    SLRI_TRY(slri_cuda_enter_quiet(job->cuda));
    slr_status status = load(job, out);
    slri_cuda_leave_quiet(job->cuda);
    return status;
}

// What the cache has may be what this driver will not have; its replacement may fare better.
static slr_status find_or_compile(struct job *job, struct ready *out)
{
    make_key(job);
    if (find(job)) {
        slr_status status = load_in_context(job, out);
        free(job->cubin);
        if (status != SLR_UNSUPPORTED)
            return status;
    }
    SLRI_TRY(slri_nvrtc_compile(job->nvrtc, job->module->name, slri_text_view(&job->text), job->options,
                                job->capability, &job->cubin, &job->bytes));
    slr_status status = load_in_context(job, out);
    if (status == SLR_OK && is_kept(job))
        keep(job);
    free(job->cubin);
    return status;
}

static slr_status make(struct job *job, struct ready *out)
{
    const struct slri_cu_facts *facts = &job->cuda->facts;
    if (job->entry->bindings > MOST_PARAMETERS)
        return SLRI_FAIL(UNSUPPORTED, "kernel %s has %u parameters; %d are possible on '%s'", job->entry->name,
                         job->entry->bindings, MOST_PARAMETERS, job->cuda->name);
    SLRI_TRY(slri_nvrtc_load(&job->nvrtc));
    SLRI_TRY(slri_nvrtc_choose(job->nvrtc, facts->major * 10 + facts->minor, &job->capability));
    slr_status status = slri_nvrtc_source(job->module, job->entry, &job->text, &job->options);
    if (status == SLR_OK)
        status = slri_cache_open(&job->cache);
    if (status == SLR_OK) {
        status = find_or_compile(job, out);
        slri_cache_close(&job->cache);
    }
    slri_text_free(&job->text);
    return status;
}

slr_status slri_cuda_compile_cached(struct slri_cuda *cuda, const struct slri_module *module,
                                    const struct slri_entry *entry, const char *const *options, const slri_text *text,
                                    char **cubin, size_t *bytes)
{
    struct job job = {.cuda = cuda, .module = module, .entry = entry, .text = *text, .options = options};
    SLRI_TRY(slri_nvrtc_load(&job.nvrtc));
    SLRI_TRY(slri_nvrtc_choose(job.nvrtc, cuda->facts.major * 10 + cuda->facts.minor, &job.capability));
    SLRI_TRY(slri_cache_open(&job.cache));
    slr_status status = SLR_OK;
    make_key(&job);
    if (!find(&job)) {
        status = slri_nvrtc_compile(job.nvrtc, file_of(&job), slri_text_view(text), job.options, job.capability,
                                    &job.cubin, &job.bytes);
        if (status == SLR_OK)
            keep(&job);
    }
    slri_cache_close(&job.cache);
    *cubin = job.cubin;
    *bytes = job.bytes;
    return status;
}

// ---- making ready --------------------------------------------------------------------------------------------------

static struct ready *search(const struct slri_cuda *cuda, struct program *program, const struct slri_entry *entry)
{
    // Acquire: what it points to was filled in before.
    struct ready *each = __atomic_load_n(&program->first, __ATOMIC_ACQUIRE);
    while (each && (each->entry != entry || each->opened != cuda->opened))
        each = each->next;
    return each;
}

static slr_status add(struct slri_cuda *cuda, struct program *program, const struct slri_entry *entry,
                      struct ready **out)
{
    struct job job = {.cuda = cuda, .module = program->module, .entry = entry};
    struct ready *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for kernel %s", entry->name);
    made->of = program;
    made->entry = entry;
    made->opened = cuda->opened;
    slr_status status = SLR_OK;
    if ((entry->function->uses & SLRI_USES_GLOBAL) != 0)
        status = make_globals(cuda, program);
    if (status == SLR_OK && !program->module->raw) // which is not of our emitter
        status = slri_kernel_may_fault(program->module, entry, &made->may_fault);
    if (status == SLR_OK)
        status = make(&job, made);
    if (status != SLR_OK) {
        slri_free(cuda->allocator, made, sizeof *made);
        return status;
    }
    made->next = program->first;
    __atomic_store_n(&program->first, made, __ATOMIC_RELEASE); // what it points to
    *out = made;
    return SLR_OK;
}

slr_status slri_cuda_kernel_prepare(void *device, void *program, const struct slri_entry *entry,
                                    const struct slri_kernel_shape *shape, const uint32_t *cancel, void **ready)
{
    struct program *of = program;
    struct ready *found = search(device, of, entry);
    if (!found) {
        slri_mutex_lock(&of->lock);
        slr_status status = SLR_OK;
        found = search(device, of, entry);
        if (!found && cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) // nobody waits for it
            status = SLRI_FAIL(WRONG_STATE, "kernel %s is not wanted any more", entry->name);
        else if (!found)
            status = add(device, of, entry, &found);
        slri_mutex_unlock(&of->lock);
        SLRI_TRY(status);
    }
    uint64_t threads = (uint64_t)shape->block[0] * shape->block[1] * shape->block[2];
    if (threads > (uint64_t)found->most_threads)
        return SLRI_FAIL(UNSUPPORTED,
                         "kernel %s: a block of %llu threads; with the registers it takes, %d are possible",
                         entry->name, (unsigned long long)threads, found->most_threads);
    *ready = found;
    return SLR_OK;
}

// ---- launching: in the context -------------------------------------------------------------------------------------

int32_t slri_cuda_launch(struct slri_cuda *cuda, slri_cu_stream stream, const struct slri_command *command,
                         const struct slri_cu_told *told)
{
    const struct ready *ready = command->dispatch.ready;
    const uint32_t *grid = command->dispatch.grid, *block = command->dispatch.block;
    const struct slri_bound *bound = command->dispatch.bound;
    void *parameter[MOST_PARAMETERS + 3], *globals = ready->of->globals;
    uint32_t count = ready->entry->bindings;
    for (uint32_t i = 0; i < count; ++i) // where the value lies: for a buffer, its address
        parameter[i] = ready->entry->binding[i].is_buffer ? (void *)&bound[i].data : bound[i].data;
    parameter[count] = &globals; // as emit_cuda.h says; a kernel that needs none of them has no such parameters
    parameter[count + 1] = (void *)&told->printed;
    parameter[count + 2] = (void *)&told->faulted;
    return cuda->cu->LaunchKernel(ready->function, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                  command->dispatch.dynamic_bytes, stream, parameter, NULL);
}

struct slri_print_to slri_cuda_printer_of(const struct slri_command *dispatch)
{
    const struct ready *ready = dispatch->dispatch.ready;
    return (struct slri_print_to){dispatch->dispatch.printer, ready->of->module, ready->entry};
}

bool slri_cuda_may_fault(const struct slri_command *dispatch)
{
    return ((const struct ready *)dispatch->dispatch.ready)->may_fault;
}

slr_status slri_cuda_kernel_faulted(const void *ready, uint64_t told)
{
    const struct ready *of = ready;
    return slri_kernel_faulted(of->of->module, of->entry, SLRI_CUDA_FAULT_OF(told), SLRI_CUDA_FAULT_FILE(told),
                               SLRI_CUDA_FAULT_LINE(told));
}

void slri_cuda_describe_compiler(char *out, size_t room)
{
    const struct slri_nvrtc *nvrtc;
    if (slri_nvrtc_load(&nvrtc) == SLR_OK)
        snprintf(out, room, "; NVRTC %d.%d", nvrtc->major, nvrtc->minor);
    else
        snprintf(out, room, "; no kernels: %s", slr_error_message());
}

// SPDX-License-Identifier: Apache-2.0
// Launches: of a grid, of a kernel that stays.
#define _POSIX_C_SOURCE 200809L
#include "fake_cuda_inside.h"
#include "fake_cuda_stay.h"

#include "engine/printed.h"
#include "engine/resident_layout.h"
#include "emit/cuda/emit_cuda.h"
#include "ir/blame.h"
#include "run/grid.h"
#include "run/interpreter.h"
#include "run/interpreter_thread.h"
#include "emit/device/faults.h"
#include "lang/kernel.h"
#include "tests/ptx/ptx.h"
#include "tests/shim/image.h"
#include "tests/shim/lanes.h"

#include <slipring/occupancy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t handler_of(const struct object *module)
{
    uint32_t entry = 0;
    while (module->module->entry[entry].kind == SLRI_ENTRY_KERNEL)
        ++entry;
    return entry;
}

// The text itself, compiled.
static int32_t run_shim(const struct object *module, const char *name, const uint32_t size[6], void **parameter)
{
    const struct shim_launch launch = {.image = module->image,
                                       .kernel = shim_image_kernel(module->image, name),
                                       .parameter = parameter,
                                       .grid = {size[0], size[1], size[2]},
                                       .block = {size[3], size[4], size[5]}};
    if (!launch.kernel)
        fprintf(stderr, "shim: there is no kernel %s in its image\n", name);
    enum shim_end end = launch.kernel ? shim_run(&launch) : SHIM_WRONG;
    if (end == SHIM_DONE)
        return 0;
    pthread_mutex_lock(&lock);
    lose_context(current(), end == SHIM_ACCESS ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
    pthread_mutex_unlock(&lock);
    return 0;
}

// What NVRTC made of it.
static int32_t run_ptx(const struct object *module, const char *name, const uint32_t size[7], void **parameter)
{
    const struct ptx_launch launch = {.image = module->ptx,
                                      .kernel = ptx_image_kernel(module->ptx, name),
                                      .parameter = parameter,
                                      .grid = {size[0], size[1], size[2]},
                                      .block = {size[3], size[4], size[5]},
                                      .dynamic_shared = size[6]};
    if (!launch.kernel)
        fprintf(stderr, "ptx: there is no kernel %s in its image\n", name);
    enum ptx_end end = launch.kernel ? ptx_run(&launch) : PTX_WRONG;
    if (end == PTX_DONE)
        return 0;
    pthread_mutex_lock(&lock);
    lose_context(current(), end == PTX_ACCESS ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
    pthread_mutex_unlock(&lock);
    return 0;
}

// ---- kernels that stay ---------------------------------------------------------------------------------------------

static void begin_stay(struct object *stream, struct object *module, uint32_t grid, uint32_t threads,
                       struct slri_resident_table *table)
{
    ++fake_cuda.stayed;
    // The launch is not begun. A pass takes as long here as the machine lets all its threads wait; of a text that is
    // compiled as many switches between its lanes, too.
    table->most_idle = fake_cuda.most_idle ? fake_cuda.most_idle : module->image || module->ptx ? 256 : 4096;
    uint32_t *running[] = {&fake_cuda.staying, &stream->context->staying};
    uint32_t handler = handler_of(module);
    const struct fake_cuda_code code = {
        .interp = module->interp,
        .handler = handler,
        .is_block = module->module->entry[handler].kind == SLRI_ENTRY_BLOCK,
        .text = module->text,
        .image = module->image,
        .ptx = module->ptx,
    };
    stream->stay = fake_cuda_stay_begin(&code, grid, threads, table, running);
}

// A warp, or the block of a handler that has a larger one.
static bool is_block_of_stay(const struct object *module, uint32_t threads)
{
    const struct slri_entry *handler = &module->module->entry[handler_of(module)];
    return threads == (handler->kind == SLRI_ENTRY_BLOCK && handler->max_threads > 32 ? handler->max_threads : 32);
}

#define STAY "LaunchKernel"

// One that has said that it goes has yet to end; one that has not would hold the next one up for ever.
static bool lets_go(const struct object *stream)
{
    for (int ms = 0; ms < 20000 && stays(stream); ++ms)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return !stays(stream);
}

static int32_t launch_stay(slri_cu_function function, uint32_t grid, uint32_t threads, slri_cu_stream stream,
                           void **parameter)
{
    struct object *object = (void *)stream, *module = (void *)function;
    int32_t error = next_command(STAY, stream);
    if (error != 0)
        return error;
    if (current()->gone != 0)
        return 0;
    struct object *o = current()->first;
    while (o && o != module)
        o = o->next;
    if (!o || o->kind != MODULE || !o->stays || grid == 0 || grid > 64 || !is_block_of_stay(o, threads) ||
        !lets_go(object))
        return refuse(STAY, INVALID_VALUE);
    if (object->stay)
        end_stay(object, false);
    if (*(void **)parameter[0]) // without a table it has nothing to do
        begin_stay(object, o, grid, threads, *(void **)parameter[0]);
    return 0;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static struct object *module_of(const struct slri_entry *entry)
{
    for (struct object *o = current()->first; o; o = o->next)
        if (o->kind == MODULE && entry >= o->module->entry && entry < o->module->entry + o->module->entries)
            return o;
    return NULL;
}

// As far as the piece that a buffer begins in goes: a GPU knows no more.
static bool bind(const struct slri_binding_info *binding, void *parameter, struct slri_bound *out)
{
    *out = (struct slri_bound){parameter, binding->type->bytes};
    if (!binding->is_buffer)
        return true;
    slri_cu_pointer pointer = *(slri_cu_pointer *)parameter;
    struct object *piece = piece_of(pointer, 0);
    *out = (struct slri_bound){host_of(pointer), piece ? piece->size - (pointer - (uintptr_t)piece->bytes) : 0};
    return piece || pointer == 0;
}

// What emitted text is given behind its parameters (emit/cuda/emit_cuda.h).
#define HIDDEN 3

// A raw text has none of what emitted text stands behind.
static bool may_fault(const struct object *module, const struct slri_entry *entry)
{
    bool may = false;
    if (strstr(module->text, "SLRI_FLOAT") && slri_kernel_may_fault(module->module, entry, &may) != SLR_OK)
        abort();
    return may;
}

static bool has_hidden(const struct object *module, const struct slri_entry *entry)
{
    return (entry->function->uses & (SLRI_USES_GLOBAL | SLRI_USES_PRINT)) != 0 || may_fault(module, entry);
}

static bool reaches(slri_cu_pointer pointer, uint64_t bytes)
{
    struct object *piece = pointer ? piece_of(pointer, 0) : NULL;
    return piece && piece->size - (pointer - (uintptr_t)piece->bytes) >= bytes;
}

static bool check_hidden(const struct object *module, const struct slri_entry *entry, void **parameter)
{
    void **hidden = parameter + entry->bindings;
    if (!has_hidden(module, entry))
        return true;
    slri_cu_pointer globals = *(slri_cu_pointer *)hidden[0], printed = *(slri_cu_pointer *)hidden[1];
    slri_cu_pointer faulted = *(slri_cu_pointer *)hidden[2];
    bool wants = (entry->function->uses & SLRI_USES_GLOBAL) != 0;
    return (!wants || reaches(globals, module->module->global_bytes)) &&
           (printed == 0 || reaches(printed, SLRI_PRINTED_ROOM)) &&
           (!may_fault(module, entry) || (reaches(faulted, 8) && faulted % 8 == 0));
}

// As prelude/slr_cuda.h does; the interpreter is one thread.
static void print(void *user, uint32_t format, const union slri_scalar *value, uint32_t count)
{
    struct slri_printed_head *head = user;
    if (1 + count > head->room - head->used) {
        head->lost++;
        return;
    }
    unsigned char *record = (unsigned char *)(head + 1) + 8 * (size_t)head->used;
    const uint64_t begin = format | (uint64_t)count << 32;
    memcpy(record, &begin, sizeof begin);
    memcpy(record + sizeof begin, value, 8 * (size_t)count);
    head->used += 1 + count;
}

// Where a launch tells of its first fault; NULL: it loses the context.
struct told {
    uint64_t *word;
    const char *text;
};

// As prelude/slr_cuda.h does. The user's source is one file here.
static void tell(const struct told *told, uint32_t fault, uint32_t line)
{
    if (*told->word == 0)
        *told->word = SLRI_FAULT_WORD(fault, 0, fake_users_line(told->text, line));
}

static bool goes_on(void *user, const struct slri_interp_thread *thread, const struct slri_code *code, uint32_t fault)
{
    const struct told *told = user;
    if (fault != SLRI_FAULT_DIVIDE || !told->word)
        return false;
    tell(told, fault, thread->flat->where[code - thread->flat->code].line);
    return true;
}

static void look_away(void *user, const struct slri_interp_thread *thread, const struct slri_code *code)
{
    (void)user, (void)thread, (void)code;
}

// Here a failed assertion and a trap end all threads, not their own alone.
static void end_with(const struct told *told, const struct slri_grid_end *end)
{
    if (told->word && (end->fault == SLRI_FAULT_ASSERT || end->fault == SLRI_FAULT_TRAP)) {
        tell(told, end->fault, end->at.where.line);
        return;
    }
    pthread_mutex_lock(&lock);
    lose_context(current(), end->fault == SLRI_FAULT_ACCESS ? ILLEGAL_ADDRESS : LAUNCH_FAILED);
    pthread_mutex_unlock(&lock);
}

static int32_t prepare_launch(slri_cu_stream stream, const struct slri_entry *entry, void **parameter,
                              struct slri_bound *bound, struct object **module)
{
    int32_t error = next_command("LaunchKernel", stream);
    if (error != 0)
        return error;
    *module = current()->gone == 0 ? module_of(entry) : NULL;
    if (current()->gone == 0 && !*module)
        return refuse("LaunchKernel", 400);
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (!bind(&entry->binding[i], parameter[i], &bound[i]) ||
            (entry->binding[i].is_buffer &&
             !is_in_order(piece_of(*(slri_cu_pointer *)parameter[i], 0), (void *)stream)))
            return refuse("LaunchKernel", INVALID_VALUE);
    if (*module && !check_hidden(*module, entry, parameter))
        return refuse("LaunchKernel", INVALID_VALUE);
    return 0;
}

// A module that is its only kernel, or NULL. Its first launch may take memory for the stack, and then waits.
static struct object *kernel_module(slri_cu_function function)
{
    pthread_mutex_lock(&lock);
    struct object *o = current() ? current()->first : NULL;
    while (o && o != (void *)function)
        o = o->next;
    bool is_first = o && !o->launched;
    if (o)
        o->launched = true;
    pthread_mutex_unlock(&lock);
    if (is_first)
        wait_for_stays("LaunchKernel, its first", LONG_MS);
    return o;
}

// A function goes to the device by FuncLoad, at its first launch, or with its module (EAGER). Then all must be quiet.
static void load_function(slri_cu_function function)
{
    const char *loading = getenv("CUDA_MODULE_LOADING");
    pthread_mutex_lock(&lock);
    struct object *module = current() ? module_of((const void *)function) : NULL;
    bool is_first = module && !module->is_loaded && !(loading && strcmp(loading, "EAGER") == 0);
    if (module)
        module->is_loaded = true;
    pthread_mutex_unlock(&lock);
    if (is_first)
        wait_for_stays("a function that is not loaded", LONG_MS);
}

int32_t cuFuncLoad(slri_cu_function function)
{
    LOCKED(next_in_context("FuncLoad"));
    if (error == 0)
        load_function(function);
    return error;
}

int32_t cuLaunchKernel(slri_cu_function function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
                       uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, slri_cu_stream stream,
                       void **parameter, void **extra)
{
    const struct slri_entry *entry = (const void *)function;
    struct slri_bound bound[128];
    struct object *module = NULL;
    (void)extra;
    const struct object *whole = kernel_module(function);
    if (whole) {
        bool one = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 && shared_bytes == 0;
        LOCKED(one ? launch_stay(function, grid_x, block_x, stream, parameter) : refuse(STAY, INVALID_VALUE));
        return error;
    }
    load_function(function);
    LOCKED(prepare_launch(stream, entry, parameter, bound, &module));
    if (error != 0 || !module)
        return error;
    __atomic_fetch_add(&fake_cuda.threads, (uint64_t)grid_x * grid_y * grid_z * block_x * block_y * block_z,
                       __ATOMIC_RELAXED);
    if (((struct object *)(void *)stream)->captured) {
        struct node node = {.op = KERNEL,
                            .function = function,
                            .size = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes},
                            .parameters = entry->bindings + (has_hidden(module, entry) ? HIDDEN : 0)};
        for (uint32_t i = 0; i < node.parameters; ++i) {
            bool is_pointer = i >= entry->bindings || entry->binding[i].is_buffer;
            size_t bytes = is_pointer ? sizeof(slri_cu_pointer) : entry->binding[i].type->bytes;
            node.parameter[i] = memcpy(malloc(bytes), parameter[i], bytes);
        }
        capture(stream, &node);
        return 0;
    }
    if (module->image)
        return run_shim(module, entry->name, (const uint32_t[]){grid_x, grid_y, grid_z, block_x, block_y, block_z},
                        parameter);
    if (module->ptx)
        return run_ptx(module, entry->name,
                       (const uint32_t[]){grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes}, parameter);
    struct slri_grid grid = {.entry = (uint32_t)(entry - module->module->entry),
                             .grid = {grid_x, grid_y, grid_z},
                             .block = {block_x, block_y, block_z},
                             .dynamic_shared = shared_bytes,
                             .arg = bound,
                             .args = entry->bindings,
                             .fuel = UINT64_MAX};
    struct slri_grid_end end;
    struct told told = {.text = module->text};
    const struct slri_watch watch = {.user = &told, .step = look_away, .fault = goes_on};
    if (has_hidden(module, entry)) {
        slri_cu_pointer *const *hidden = (slri_cu_pointer *const *)parameter + entry->bindings;
        grid.global = *hidden[0] ? host_of(*hidden[0]) : NULL;
        grid.print = *hidden[1] ? print : NULL;
        grid.user = *hidden[1] ? host_of(*hidden[1]) : NULL;
        told.word = may_fault(module, entry) ? host_of(*hidden[2]) : NULL;
        grid.watch = told.word ? &watch : NULL;
    }
    if (slri_interpret_grid(module->interp, &grid, &end) != SLR_OK)
        return INVALID_VALUE;
    if (end.fault != SLRI_FAULT_NONE)
        end_with(&told, &end);
    return 0;
}

// A kernel that stays is a module (cuModuleGetFunction), which begins with its kind; an entry begins with a pointer.
static bool is_object(slri_cu_function function)
{
    enum kind kind;
    memcpy(&kind, (const void *)function, sizeof kind);
    return kind == MODULE;
}

static int32_t blocks_of(const struct slri_entry *entry, uint32_t threads, size_t dynamic_bytes)
{
    slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
    slr_occupancy fits = {0};
    desc.capability = 90;
    desc.block_threads = threads;
    desc.registers = fake_registers();
    desc.static_shared_bytes = entry->shared_bytes;
    desc.dynamic_shared_bytes = dynamic_bytes;
    if (slr_occupancy_compute(&desc, &fits) != SLR_OK)
        abort();
    return (int32_t)(fake_cuda.blocks ? fake_cuda.blocks : fits.blocks);
}

int32_t cuOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *blocks, slri_cu_function function, int32_t block_threads,
                                                    size_t shared_bytes)
{
    LOCKED(next_in_context("OccupancyMaxActiveBlocksPerMultiprocessor"));
    *blocks = 32;
    if (error == 0 && !is_object(function))
        *blocks = blocks_of((const void *)function, (uint32_t)block_threads, shared_bytes);
    return error;
}

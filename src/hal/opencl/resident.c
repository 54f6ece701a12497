// SPDX-License-Identifier: Apache-2.0
// Kernels that stay: a handler's emitted text, the mailbox and a loop around them, built once a handler and launched
// once a group, each in a queue of its own, as the probe tried it. The program keeps what it was given.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/code.h"
#include "hal/opencl/opencl.h"
#include "engine/mailbox_text.h"
#include "emit/c/emit_c.h"
#include "emit/opencl/emit_opencl.h"

#include <string.h>

extern const char slri_embedded_buckets_h[], slri_embedded_cl_clock_h[], slri_embedded_cl_words_h[],
    slri_embedded_cl_resident_h[], slri_embedded_resident_layout_h[];

struct slri_cl_group {
    struct slri_resident base; // first
    struct slri_opencl *opencl;
    slri_cl_kernel kernel;
    slri_cl_queue queue;
    slri_cl_event event; // of its launch; NULL: none yet
    bool unflushed;      // the launch may not have come to the device
    void *dump;
    uint64_t dump_bytes;
    struct slri_cl_group *next;
};

// A handler for which groups are kept.
struct slri_cl_staying {
    const struct slri_code *program;
    const struct slri_entry *entry;
    const struct slri_module *module;
    slri_cl_program built;       // NULL until the first ring kernel is launched
    uint32_t groups;             // that it may have
    struct slri_cl_group *first; // that it has
    struct slri_cl_staying *next;
};

// ---- building ------------------------------------------------------------------------------------------------------

// Of a block's handler as many as it has threads. No more groups stay than the probe saw of one work-item, at most one
// a compute unit (probe.c): there a larger one finds room, too.
static size_t work_items(const struct slri_entry *entry)
{
    return entry->kind == SLRI_ENTRY_BLOCK ? entry->max_threads : 1;
}

static void put_text(struct slri_opencl *opencl, const struct slri_cl_staying *staying, slri_text *out)
{
    if (slri_cl_has_clock(opencl))
        slri_text_puts(out, "#define SLR_CLOCK\n");
    if (slri_entry_sends(staying->entry))
        slri_text_puts(out, "#define SLR_OUTLETS\n");
    slri_text_printf(out,
                     "#line 1 \"slipring: persistent kernel\"\n#define SLR_HANDLER " SLRI_ENTRY_SYMBOL_PREFIX "%s\n"
                     "#define SLR_BINDINGS %u\n"
                     "#define SLR_SHARED_BYTES %llu\n"
                     "#define SLR_GROUP %zu\n%s"
                     "#define SLRI_WORD uint\n"
                     "#define SLRI_ADDRESS ulong\n"
                     "#define MB_ARENA __global uint\n"
                     "#define MB_PORT_OF(P, port) MBP_PORT(port)\n"
                     "#define __device__ static inline\n"
                     "#define __clz(x) clz(x)\n",
                     staying->entry->name, staying->entry->bindings,
                     (unsigned long long)slri_opencl_shared_bytes(staying->entry), work_items(staying->entry),
                     staying->entry->kind == SLRI_ENTRY_BLOCK ? "#define SLR_BLOCK\n" : "");
    slri_text_puts(out, slri_embedded_cl_words_h);
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_mailbox_text(out);
    if (slri_cl_has_clock(opencl)) {
        slri_text_puts(out, slri_embedded_buckets_h);
        slri_text_puts(out, slri_embedded_cl_clock_h);
    }
    slri_text_puts(out, slri_embedded_cl_resident_h);
}

static slr_status build_persistent(struct slri_opencl *opencl, struct slri_cl_staying *staying)
{
    struct slri_text text = SLRI_TEXT_INIT, options = SLRI_TEXT_INIT;
    const struct slri_opencl_options words = {
        .warps = slri_cl_handler_warps(opencl, staying->entry, (uint32_t)work_items(staying->entry)),
        .c11_atomics = strcmp(opencl->stay.options, "-cl-std=CL3.0") == 0};
    slri_text_printf(&options, "%s%s", opencl->stay.options,
                     opencl->facts.exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    slr_status status = slri_emit_opencl(staying->module, staying->entry, &words, &text);
    if (status == SLR_OK)
        put_text(opencl, staying, &text);
    struct slri_cl_text source = {staying->entry->name, staying->module->name, slri_text_view(&options),
                                  slri_text_view(&text)};
    if (status == SLR_OK && (text.out_of_memory || options.out_of_memory))
        status = SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", staying->entry->name);
    if (status == SLR_OK)
        status = slri_cl_build(opencl, &source, &staying->built);
    slri_text_free(&text);
    slri_text_free(&options);
    return status;
}

// ---- a group -------------------------------------------------------------------------------------------------------

// Memory that it comes to by addresses in other memory must be named: all of ours, of which it may come to any.
static int32_t name_memory(struct slri_cl_group *group)
{
    struct slri_opencl *opencl = group->opencl;
    int32_t error = SLRI_CL_SUCCESS;
    if (!opencl->cl->SetKernelExecInfo)
        return error;
    slri_mutex_lock(&opencl->memory_lock);
    const uint32_t count = opencl->chunks;
    const void **address = slri_alloc(opencl->allocator, count * sizeof *address);
    for (uint32_t i = 0; address && i < count; ++i)
        address[i] = opencl->chunk[i].address;
    slri_mutex_unlock(&opencl->memory_lock);
    if (!address)
        return -6; // CL_OUT_OF_HOST_MEMORY
    error = opencl->cl->SetKernelExecInfo(group->kernel, SLRI_CL_KERNEL_EXEC_INFO_SVM_PTRS, count * sizeof *address,
                                          address);
    slri_free(opencl->allocator, address, count * sizeof *address);
    return error;
}

static slr_status launch_with(struct slri_cl_group *group, const struct slri_resident_table *table)
{
    const struct slri_cl *cl = group->opencl->cl;
    const char *name = group->opencl->name;
    const size_t size = work_items(group->base.handler);
    SLRI_TRY(slri_cl_check_lost(group->opencl));
    if (group->event)
        cl->ReleaseEvent(group->event);
    group->event = NULL;
    int32_t error = name_memory(group);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(name, "SetKernelExecInfo", error);
    error = cl->SetKernelArgSVMPointer(group->kernel, 0, table);
    if (error == SLRI_CL_SUCCESS)
        error = cl->SetKernelArgSVMPointer(group->kernel, 1, group->dump);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(name, "SetKernelArgSVMPointer", error);
    error = cl->EnqueueNDRangeKernel(group->queue, group->kernel, 1, NULL, &size, &size, 0, NULL, &group->event);
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed(name, "EnqueueNDRangeKernel", error);
    group->unflushed = cl->Flush(group->queue) != SLRI_CL_SUCCESS; // it may run all the same: a look tries again
    return SLR_OK;
}

static slr_status launch_group(struct slri_resident *resident)
{
    return launch_with((struct slri_cl_group *)resident, resident->table);
}

// Drivers that compile a kernel when it is first run, PoCL in seconds, do that here, in slr_ring_launch, and not in the
// poller, for which slr_ring_activate waits with a deadline: a launch without shards that is told to end before it
// begins.
static slr_status warm_up(struct slri_cl_group *group)
{
    struct slri_opencl *opencl = group->opencl;
    void *memory;
    SLRI_TRY(slri_cl_ring_memory_create(opencl, sizeof(struct slri_resident_table), &memory));
    struct slri_resident_table *table = memory;
    table->launch = table->stop = 1;
    slr_status status = launch_with(group, table);
    if (status == SLR_OK)
        status = slri_cl_await(opencl, group->queue, NULL, slri_deadline_after(SLRI_CL_COMPILES_NS), 1, &group->event);
    slri_cl_buffer_destroy(opencl, memory, sizeof *table);
    return status;
}

static enum slri_resident_look look_at_group(struct slri_resident *resident)
{
    struct slri_cl_group *group = (struct slri_cl_group *)resident;
    int32_t status = 1;
    if (group->unflushed)
        group->unflushed = group->opencl->cl->Flush(group->queue) != SLRI_CL_SUCCESS;
    int32_t error = group->opencl->cl->GetEventInfo(group->event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                                    &status, NULL);
    if (error == SLRI_CL_SUCCESS && status >= 0)
        return status == 0 ? SLRI_RESIDENT_ENDED : SLRI_RESIDENT_RUNS;
    slri_cl_failed(group->opencl->name, error ? "GetEventInfo" : "a persistent kernel", error ? error : status);
    return SLRI_RESIDENT_FAILED;
}

static bool is_over(struct slri_resident *resident)
{
    const struct slri_cl_group *group = (const struct slri_cl_group *)resident;
    int32_t status = 1;
    int32_t error = group->opencl->cl->GetEventInfo(group->event, SLRI_CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                                    &status, NULL);
    return error == SLRI_CL_SUCCESS && status <= 0; // done, or ended by a failure of its own
}

static slr_status create_memory(struct slri_resident *resident, uint64_t bytes, void **out)
{
    return slri_cl_ring_memory_create(((struct slri_cl_group *)resident)->opencl, bytes, out);
}

static void destroy_memory(struct slri_resident *resident, void *memory, uint64_t bytes)
{
    slri_cl_buffer_destroy(((struct slri_cl_group *)resident)->opencl, memory, bytes);
}

static const struct slri_resident_ops ops = {launch_group,   look_at_group, is_over, create_memory,
                                             destroy_memory, NULL,          false};
static const struct slri_resident_ops ops_with_clock = {launch_group,   look_at_group, is_over, create_memory,
                                                        destroy_memory, NULL,          true};

static void free_group(struct slri_cl_group *group)
{
    struct slri_opencl *opencl = group->opencl;
    if (group->event)
        slri_cl_await(opencl, group->queue, NULL, slri_deadline_after(opencl->patience_ns), 1,
                      &group->event); // it has said that it goes
    slri_cl_let_go(opencl, SLRI_CL_EVENT, group->event, 0);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, group->kernel, 0);
    slri_cl_let_go(opencl, SLRI_CL_QUEUE, group->queue, 0);
    if (group->dump)
        slri_cl_buffer_destroy(opencl, group->dump, group->dump_bytes);
    slri_free(opencl->allocator, group, sizeof *group);
}

static slr_status open_group(struct slri_opencl *opencl, const struct slri_cl_staying *staying,
                             struct slri_cl_group *group)
{
    int32_t error;
    group->base.ops = slri_cl_has_clock(opencl) ? &ops_with_clock : &ops;
    group->base.handler = staying->entry;
    group->opencl = opencl;
    group->dump_bytes = slri_opencl_dump_bytes(staying->module);
    SLRI_TRY(slri_cl_ring_memory_create(opencl, group->dump_bytes, &group->dump));
    group->kernel = opencl->cl->CreateKernel(staying->built, "slr_stay", &error);
    if (!group->kernel)
        return slri_cl_failed(opencl->name, "CreateKernel", error);
    group->queue = opencl->cl->CreateCommandQueue(opencl->context, opencl->id, 0, &error);
    if (!group->queue)
        return slri_cl_failed(opencl->name, "CreateCommandQueue", error);
    if (!staying->first)
        SLRI_TRY(warm_up(group));
    return slri_resident_open(&opencl->residents, &group->base);
}

// ---- a handler's groups: under the lock
// ------------------------------------------------------------------------------

static struct slri_cl_staying *find(const struct slri_opencl *opencl, const struct slri_code *program,
                                    const struct slri_entry *entry)
{
    struct slri_cl_staying *staying = opencl->staying;
    while (staying && (staying->program != program || staying->entry != entry))
        staying = staying->next;
    return staying;
}

// How many of its groups have no shard.
static uint32_t count_empty(const struct slri_cl_staying *staying)
{
    uint32_t empty = staying->groups;
    for (const struct slri_cl_group *group = staying->first; group; group = group->next)
        empty -= __atomic_load_n(&group->base.shards, __ATOMIC_RELAXED) != 0;
    return empty;
}

static uint32_t take(struct slri_opencl *opencl, struct slri_cl_staying *staying, uint32_t want)
{
    uint32_t free = opencl->stay.groups - opencl->groups_taken, empty = count_empty(staying);
    uint32_t more = want > empty ? want - empty : 0;
    more = more < free ? more : free;
    staying->groups += more;
    opencl->groups_taken += more;
    return staying->groups < want ? staying->groups : want;
}

static void drop(void *device, const struct slri_code *program);

uint32_t slri_cl_staying_take(struct slri_opencl *opencl, struct slri_code *program, const struct slri_entry *entry,
                              uint32_t want)
{
    uint32_t taken = 0;
    slri_mutex_lock(&opencl->staying_lock);
    struct slri_cl_staying *staying = find(opencl, program, entry);
    if (!staying && opencl->groups_taken < opencl->stay.groups) {
        staying = slri_alloc(opencl->allocator, sizeof *staying);
        if (staying) {
            *staying = (struct slri_cl_staying){
                .program = program, .entry = entry, .module = slri_code_module(program), .next = opencl->staying};
            opencl->staying = staying;
            slri_code_on_end(program, drop);
        }
    }
    if (staying)
        taken = take(opencl, staying, want);
    slri_mutex_unlock(&opencl->staying_lock);
    return taken;
}

static slr_status add_group(struct slri_opencl *opencl, struct slri_cl_staying *staying, struct slri_cl_group **out)
{
    struct slri_cl_group *group = slri_alloc(opencl->allocator, sizeof *group);
    if (!group)
        return SLRI_FAIL(NO_MEMORY, "no memory for a group of ring kernel %s", staying->entry->name);
    slr_status status = open_group(opencl, staying, group);
    if (status != SLR_OK) {
        free_group(group);
        return status;
    }
    group->next = staying->first;
    staying->first = group;
    *out = group;
    return SLR_OK;
}

// The group with the fewest shards, or another where each has some and one is left.
static slr_status choose(struct slri_opencl *opencl, struct slri_cl_staying *staying, struct slri_cl_group **out)
{
    struct slri_cl_group *best = NULL;
    uint32_t fewest = UINT32_MAX, groups = 0;
    for (struct slri_cl_group *group = staying->first; group; group = group->next, ++groups) {
        uint32_t shards = __atomic_load_n(&group->base.shards, __ATOMIC_RELAXED);
        if (shards < fewest) {
            fewest = shards;
            best = group;
        }
    }
    if (fewest != 0 && groups < staying->groups)
        return add_group(opencl, staying, out);
    *out = best;
    return SLR_OK;
}

slr_status slri_cl_shard_prepare(void *device, struct slri_shard *shard)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_group *group;
    slri_mutex_lock(&opencl->staying_lock);
    struct slri_cl_staying *staying = find(opencl, shard->program, shard->entry); // as slri_cl_staying_take has left it
    slr_status status = staying->built ? SLR_OK : build_persistent(opencl, staying);
    if (status == SLR_OK && !staying->first)
        status = add_group(opencl, staying, &group);
    slri_mutex_unlock(&opencl->staying_lock);
    return status;
}

slr_status slri_cl_shard_start(void *device, struct slri_shard *shard)
{
    struct slri_opencl *opencl = device;
    struct slri_cl_group *group = NULL;
    slri_mutex_lock(&opencl->staying_lock);
    struct slri_cl_staying *staying = find(opencl, shard->program, shard->entry);
    slr_status status = choose(opencl, staying, &group);
    if (status == SLR_OK)
        status = slri_resident_start(&group->base, shard);
    slri_mutex_unlock(&opencl->staying_lock);
    return status;
}

// A group that does not end keeps its memory, and with it the device's context.
static void drop_groups(struct slri_opencl *opencl, struct slri_cl_staying *staying)
{
    while (staying->first) {
        struct slri_cl_group *group = staying->first;
        staying->first = group->next;
        if (slri_resident_close(&group->base)) {
            free_group(group);
            continue;
        }
        slri_cl_lose(opencl, "a persistent kernel has not ended");
        group->next = opencl->stuck;
        opencl->stuck = group;
    }
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, staying->built, 0);
    opencl->groups_taken -= staying->groups;
}

bool slri_cl_staying_settle(struct slri_opencl *opencl)
{
    slri_mutex_lock(&opencl->staying_lock);
    while (opencl->stuck && slri_resident_close(&opencl->stuck->base)) {
        struct slri_cl_group *group = opencl->stuck;
        opencl->stuck = group->next;
        free_group(group);
    }
    bool settled = opencl->stuck == NULL;
    slri_mutex_unlock(&opencl->staying_lock);
    return settled;
}

// Before the program goes.
static void drop(void *device, const struct slri_code *program)
{
    struct slri_opencl *opencl = device;
    slri_mutex_lock(&opencl->staying_lock);
    struct slri_cl_staying **at = &opencl->staying;
    while (*at) {
        struct slri_cl_staying *staying = *at;
        if (staying->program != program) {
            at = &staying->next;
            continue;
        }
        *at = staying->next;
        drop_groups(opencl, staying);
        slri_free(opencl->allocator, staying, sizeof *staying);
    }
    slri_mutex_unlock(&opencl->staying_lock);
}

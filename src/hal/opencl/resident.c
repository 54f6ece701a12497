// SPDX-License-Identifier: Apache-2.0
// Kernels that stay: a handler's emitted text, the mailbox and a loop around them, built once a handler and launched
// once a group, each in a queue of its own, as the probe tried it. The program keeps what it was given.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/resident_groups.h"
#include "hal/opencl/opencl.h"
#include "engine/mailbox_text.h"
#include "emit/c/emit_c.h"
#include "emit/opencl/emit_opencl.h"

#include <stdio.h>
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
    slri_cl_program built; // of a handler's first group; the others take it
};

// ---- building ------------------------------------------------------------------------------------------------------

// Of a block's handler as many as it has threads. No more groups stay than the probe saw of one work-item, at most one
// a compute unit (probe.c): there a larger one finds room, too.
static size_t work_items(const struct slri_entry *entry)
{
    return entry->kind == SLRI_ENTRY_BLOCK ? entry->max_threads : 1;
}

static void put_text(struct slri_opencl *opencl, const struct slri_entry *entry, slri_text *out)
{
    if (slri_cl_has_clock(opencl))
        slri_text_puts(out, "#define SLR_CLOCK\n");
    if (slri_entry_sends(entry))
        slri_text_puts(out, "#define SLR_OUTLETS\n");
    if (entry->kind == SLRI_ENTRY_BATCH)
        slri_text_puts(out, "#define SLR_CALLS\n");
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
                     entry->name, entry->bindings, (unsigned long long)slri_opencl_shared_bytes(entry),
                     work_items(entry), entry->kind == SLRI_ENTRY_BLOCK ? "#define SLR_BLOCK\n" : "");
    slri_text_puts(out, slri_embedded_cl_words_h);
    slri_text_puts(out, slri_embedded_resident_layout_h);
    slri_mailbox_text(out);
    if (slri_cl_has_clock(opencl)) {
        slri_text_puts(out, slri_embedded_buckets_h);
        slri_text_puts(out, slri_embedded_cl_clock_h);
    }
    slri_text_puts(out, slri_embedded_cl_resident_h);
}

static slr_status build_persistent(struct slri_opencl *opencl, const struct slri_resident_handler *handler,
                                   slri_cl_program *out)
{
    const struct slri_entry *entry = handler->entry;
    struct slri_text text = SLRI_TEXT_INIT, options = SLRI_TEXT_INIT;
    const struct slri_opencl_options words = {.warps =
                                                  slri_cl_handler_warps(opencl, entry, (uint32_t)work_items(entry)),
                                              .c11_atomics = strcmp(opencl->stay.options, "-cl-std=CL3.0") == 0};
    slri_text_printf(&options, "%s%s", opencl->stay.options,
                     opencl->facts.exact_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    slr_status status = slri_emit_opencl(handler->module, entry, &words, &text);
    if (status == SLR_OK)
        put_text(opencl, entry, &text);
    struct slri_cl_text source = {entry->name, handler->module->name, slri_text_view(&options), slri_text_view(&text)};
    if (status == SLR_OK && (text.out_of_memory || options.out_of_memory))
        status = SLRI_FAIL(NO_MEMORY, "no memory for the text of ring kernel %s", entry->name);
    if (status == SLR_OK)
        status = slri_cl_build(opencl, &source, out);
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
    slri_mutex_lock(&opencl->chunks.lock);
    const struct slri_cl_chunk *chunk = opencl->chunks.entry;
    const uint32_t count = opencl->chunks.count;
    const void **address = slri_alloc(opencl->allocator, count * sizeof *address);
    for (uint32_t i = 0; address && i < count; ++i)
        address[i] = chunk[i].address;
    slri_mutex_unlock(&opencl->chunks.lock);
    if (!address)
        return -6; // CL_OUT_OF_HOST_MEMORY
    error = opencl->cl->SetKernelExecInfo(group->kernel, SLRI_CL_KERNEL_EXEC_INFO_SVM_PTRS, count * sizeof *address,
                                          address);
    slri_free(opencl->allocator, address, count * sizeof *address);
    return error;
}

// The first of a handler's groups has it.
static slri_cl_program program_of(const struct slri_cl_group *group)
{
    while (group->base.next_of_handler)
        group = (const struct slri_cl_group *)group->base.next_of_handler;
    return group->built;
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
    return error == SLRI_CL_SUCCESS ? SLRI_RESIDENT_FAILED_AND_OVER : SLRI_RESIDENT_FAILED; // by a failure of its own
}

// A group that does not end keeps its memory, and with it the device's context.
static void unmake_group(struct slri_resident *resident, bool has_ended)
{
    struct slri_cl_group *group = (struct slri_cl_group *)resident;
    struct slri_opencl *opencl = group->opencl;
    if (!has_ended) {
        slri_cl_lose(opencl, "a persistent kernel has not ended");
        return;
    }
    if (group->event)
        slri_cl_await(opencl, group->queue, NULL, slri_deadline_after(opencl->patience_ns), 1,
                      &group->event); // it has said that it goes
    slri_cl_let_go(opencl, SLRI_CL_EVENT, group->event, 0);
    slri_cl_let_go(opencl, SLRI_CL_KERNEL, group->kernel, 0);
    slri_cl_let_go(opencl, SLRI_CL_QUEUE, group->queue, 0);
    slri_cl_let_go(opencl, SLRI_CL_PROGRAM, group->built, 0);
    if (group->dump)
        slri_cl_buffer_destroy(opencl, group->dump, group->dump_bytes);
}

// Builds the handler's kernel for its first group, in which the driver's compiler then does what it does.
static slr_status make_group(struct slri_resident *resident, const struct slri_shard *shard)
{
    struct slri_cl_group *group = (struct slri_cl_group *)resident;
    struct slri_opencl *opencl = resident->residents->device;
    const struct slri_resident_handler *handler = resident->of;
    const struct slri_cl_group *other = (const struct slri_cl_group *)handler->first;
    int32_t error;
    (void)shard;
    group->opencl = opencl;
    if (!other)
        SLRI_TRY(build_persistent(opencl, handler, &group->built));
    group->dump_bytes = slri_opencl_dump_bytes(handler->module);
    SLRI_TRY(slri_cl_ring_memory_create(opencl, group->dump_bytes, &group->dump));
    group->kernel = opencl->cl->CreateKernel(other ? program_of(other) : group->built, "slr_stay", &error);
    if (!group->kernel)
        return slri_cl_failed(opencl->name, "CreateKernel", error);
    group->queue = opencl->cl->CreateCommandQueue(opencl->context, opencl->id, 0, &error);
    if (!group->queue)
        return slri_cl_failed(opencl->name, "CreateCommandQueue", error);
    return other ? SLR_OK : warm_up(group);
}

// ---- planning ------------------------------------------------------------------------------------------------------

// NULL, or why this ring kernel cannot be persistent here, as a clause. Tries what the device can do last.
static const char *persistent_reason(struct slri_opencl *opencl, const struct slri_ring_facts *ring)
{
    return ring->entry->max_threads > opencl->facts.most_group
               ? "its block has more threads than a work-group of the device allows"
           : opencl->memory != SLRI_CL_FINE        ? "the device's buffers are not in fine-grained shared memory"
           : slri_cl_groups_that_stay(opencl) == 0 ? "a persistent kernel would block other kernels of the device"
                                                   : NULL;
}

static slr_status plan_groups(void *device, const struct slri_ring_facts *ring, bool is_asked,
                              struct slri_ring_plan *plan)
{
    struct slri_opencl *opencl = device;
    const char *reason = persistent_reason(opencl, ring);
    (void)is_asked;
    if (reason) {
        snprintf(plan->reason, sizeof plan->reason, "%s", reason);
        return SLR_OK;
    }
    plan->shards = slri_cl_groups_that_stay(opencl);
    plan->has_clock = slri_cl_has_clock(opencl);
    return SLR_OK;
}

static const struct slri_resident_ops ops = {.plan = plan_groups,
                                             .make = make_group,
                                             .unmake = unmake_group,
                                             .launch = launch_group,
                                             .look = look_at_group,
                                             .wants_calls = true,
                                             .group_bytes = sizeof(struct slri_cl_group)};

void slri_cl_rings_open(struct slri_opencl *opencl)
{
    opencl->residents =
        (struct slri_residents){.ops = &ops, .device = opencl, .allocator = opencl->allocator, .loss = &opencl->loss};
    slri_residents_init(&opencl->residents);
}

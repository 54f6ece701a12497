// SPDX-License-Identifier: Apache-2.0
// Kernels that stay: a handler's emitted text, the mailbox and a loop around them, compiled once a handler, and one
// launch of it in a stream of its own, in as many blocks as the handler was given. The program keeps it.
//
// What a kernel that stays would keep waiting (facts of CUDA: any call of the driver may wait for the device, and
// taking memory and loading code do) is done while none runs: slri_cuda_enter_quiet.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/resident_groups.h"
#include "hal/cuda/cubin.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/resident_text.h"

#include <slipring/occupancy.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A handler for which a kernel is kept.
struct slri_cu_staying {
    struct slri_resident base; // first
    struct slri_cuda *cuda;
    const struct slri_entry *entry;
    slri_cu_module loaded;
    slri_cu_function function;
    slri_cu_stream stream;
};

// ---- calls that would wait for a kernel that stays -----------------------------------------------------------------

slr_status slri_cuda_enter_quiet(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_check_lost(cuda)); // else it would wait for kernels of which nobody says that they end
    SLRI_TRY(slri_residents_park(&cuda->residents, SLRI_RESIDENT_END_NS));
    slr_status status = slri_cuda_enter(cuda);
    if (status != SLR_OK)
        slri_residents_resume(&cuda->residents);
    return status;
}

void slri_cuda_leave_quiet(struct slri_cuda *cuda)
{
    slri_cuda_leave(cuda);
    slri_residents_resume(&cuda->residents);
}

// ---- making --------------------------------------------------------------------------------------------------------

// One of the two is wrong where they are not the same, and too many would wait for ever: so the fewer, and the device
// says so. Relaxed: numbers alone; the last to differ stays.
int32_t slri_cuda_fewer_blocks(struct slri_cuda *cuda, uint32_t drivers, uint32_t ours)
{
    if (drivers != ours)
        __atomic_store_n(&cuda->blocks_differ, drivers << 16 | ours, __ATOMIC_RELAXED);
    return (int32_t)(drivers < ours ? drivers : ours);
}

// How many blocks can be on the device at once: what the driver says, and what our calculator says where
// it knows the device. A kernel of which not all blocks run at once would wait for the rest for ever.
static slr_status count_blocks(struct slri_cu_staying *staying, const struct slri_blob *code)
{
    struct slri_cuda *cuda = staying->cuda;
    const struct slri_cu_facts *facts = &cuda->facts;
    const uint32_t threads = slri_cuda_stay_threads(staying->entry);
    int32_t blocks = 0;
    slr_resources takes;
    slr_occupancy fits;
    SLRI_TRY(slri_cuda_check(
        cuda, "OccupancyMaxActiveBlocksPerMultiprocessor", staying->entry->name,
        cuda->cu->OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, staying->function, (int32_t)threads, 0)));
    if (slri_cubin_read(code->bytes, code->count, SLRI_CU_STAY, &takes) == SLR_OK) {
        slr_occupancy_desc desc = SLR_OCCUPANCY_DESC_INIT;
        desc.capability = slri_cuda_capability(facts);
        desc.block_threads = threads;
        desc.registers = takes.registers;
        desc.static_shared_bytes = takes.shared_bytes;
        if (slr_occupancy_compute(&desc, &fits) == SLR_OK)
            blocks = slri_cuda_fewer_blocks(cuda, (uint32_t)blocks, fits.blocks);
    }
    staying->base.of->most = (uint32_t)(blocks * facts->multiprocessors);
    return staying->base.of->most != 0 ? SLR_OK
                                       : SLRI_FAIL(UNSUPPORTED, "ring kernel %s: not even one block fits on '%s'",
                                                   staying->entry->name, cuda->name);
}

// Not a cooperative launch, which would have all blocks or fail: nobody says that two such kernels run beside each
// other. All blocks come to run as they are: those of all kernels that stay are no more than there are multiprocessors,
// so while one waits another multiprocessor has none, or only blocks of kernels that end.
static slr_status launch_in_context(struct slri_cu_staying *staying, struct slri_resident_table *table, uint32_t grid)
{
    struct slri_cuda *cuda = staying->cuda;
    void *parameter[] = {&table};
    const uint32_t threads = slri_cuda_stay_threads(staying->entry);
    return slri_cuda_check(
        cuda, "LaunchKernel", staying->entry->name,
        cuda->cu->LaunchKernel(staying->function, grid, 1, 1, threads, 1, 1, 0, staying->stream, parameter, NULL));
}

// In the context, quiet. The first launch loads nothing, but may take memory for the kernel's stack: so it is launched
// once without a table, with nothing to do.
static slr_status load_persistent(struct slri_cu_staying *staying, const struct slri_blob *code)
{
    struct slri_cuda *cuda = staying->cuda;
    const char *name = staying->entry->name;
    SLRI_TRY(slri_cuda_check(cuda, "ModuleLoadData", name, cuda->cu->ModuleLoadData(&staying->loaded, code->bytes)));
    SLRI_TRY(slri_cuda_find_function(cuda, staying->loaded, SLRI_CU_STAY, &staying->function));
    SLRI_TRY(count_blocks(staying, code));
    SLRI_TRY(slri_cuda_check(
        cuda, "StreamCreateWithPriority", name,
        cuda->cu->StreamCreateWithPriority(&staying->stream, SLRI_CU_STREAM_NON_BLOCKING, cuda->greatest)));
    return launch_in_context(staying, NULL, 1); // not waited for: the first real one stands behind it in the stream
}

static slr_status put_together(struct slri_cu_staying *staying, slri_cu_link link, const struct slri_blob *handler,
                               struct slri_blob *out)
{
    struct slri_cuda *cuda = staying->cuda;
    const struct slri_blob *const part[] = {&cuda->stay, handler};
    const char *name = staying->entry->name;
    void *cubin;
    for (int i = 0; i < 2; ++i)
        SLRI_TRY(slri_cuda_check(
            cuda, "LinkAddData", name,
            cuda->cu->LinkAddData_v2(link, SLRI_CU_LINK_CUBIN, part[i]->bytes, part[i]->count, name, 0, NULL, NULL)));
    SLRI_TRY(slri_cuda_check(cuda, "LinkComplete", name, cuda->cu->LinkComplete(link, &cubin, &out->count)));
    out->bytes = cubin;
    return SLR_OK;
}

// In the context, quiet: what is linked lies with the link.
static slr_status link_and_load(struct slri_cu_staying *staying, const struct slri_blob *handler)
{
    struct slri_cuda *cuda = staying->cuda;
    slri_cu_link link;
    struct slri_blob linked;
    SLRI_TRY(slri_cuda_check(cuda, "LinkCreate", staying->entry->name, cuda->cu->LinkCreate_v2(0, NULL, NULL, &link)));
    slr_status status = put_together(staying, link, handler, &linked);
    if (status == SLR_OK)
        status = load_persistent(staying, &linked);
    cuda->cu->LinkDestroy(link);
    return status;
}

// `status`: of writing it.
static slr_status compile_stored(struct slri_cuda *cuda, slr_status status, struct slri_code_text *text,
                                 struct slri_blob *out)
{
    if (status == SLR_OK)
        status = slri_cuda_identify(cuda, text);
    if (status == SLR_OK)
        return slri_code_blob(cuda->cu->vendor->backend, cuda, text, out);
    slri_code_text_free(text);
    return status;
}

// Once for all handlers of the device: it takes ten times as long as a handler.
static slr_status compile_kernel(struct slri_cuda *cuda)
{
    struct slri_code_text text = {.name = "slipring", .file = "slipring", .option = slri_cuda_stay_options};
    if (cuda->stay.bytes)
        return SLR_OK;
    return compile_stored(cuda, slri_cuda_put_stay(&text.text), &text, &cuda->stay);
}

static bool is_block(const struct slri_cu_staying *staying)
{
    return staying->entry->kind == SLRI_ENTRY_BLOCK;
}

// Of a block, with its kernel.
static slr_status compile_handler(struct slri_cu_staying *staying, struct slri_blob *out)
{
    const struct slri_entry *entry = staying->entry;
    const struct slri_module *module = staying->base.of->module;
    struct slri_code_text text = {.module = module,
                                  .entry = entry,
                                  .name = entry->name,
                                  .file = module->name,
                                  .option = is_block(staying) ? slri_nvrtc_options : slri_cuda_stay_options};
    slr_status status = is_block(staying) ? slri_cuda_put_stay_block(module, entry, &text.text)
                                          : slri_cuda_put_stay_handler(module, entry, &text.text);
    return compile_stored(staying->cuda, status, &text, out);
}

// One that does not end goes with the context, before its memory.
static void unmake(struct slri_resident *resident, bool has_ended)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    struct slri_cuda *cuda = staying->cuda;
    if (!has_ended) {
        slri_lose(&cuda->loss, "a persistent kernel has not ended");
        return;
    }
    if ((staying->stream || staying->loaded) &&
        slri_cuda_enter_quiet(cuda) == SLR_OK) { // else they go with the context
        if (staying->stream)
            cuda->cu->StreamDestroy_v2(staying->stream);
        if (staying->loaded)
            cuda->cu->ModuleUnload(staying->loaded);
        slri_cuda_leave_quiet(cuda);
    }
}

static slr_status make_kernel(struct slri_cu_staying *staying)
{
    struct slri_cuda *cuda = staying->cuda;
    struct slri_blob handler = {0};
    if (!is_block(staying))
        SLRI_TRY(compile_kernel(cuda));
    SLRI_TRY(compile_handler(staying, &handler));
    slr_status status = slri_cuda_enter_quiet(cuda);
    if (status == SLR_OK) {
        status = is_block(staying) ? load_persistent(staying, &handler) : link_and_load(staying, &handler);
        slri_cuda_leave_quiet(cuda);
    }
    free(handler.bytes);
    return status;
}

static slr_status make(struct slri_resident *resident, const struct slri_shard *shard)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    (void)shard; // the kernel is for any
    staying->cuda = resident->residents->device;
    staying->entry = resident->handler;
    SLRI_TRY(slri_cu_watch_start(&staying->cuda->watch));
    return make_kernel(staying);
}

// ---- a launch: the poller's ----------------------------------------------------------------------------------------

static slr_status launch(struct slri_resident *resident)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    SLRI_TRY(slri_cuda_enter(staying->cuda));
    slri_cu_watch_ring(&staying->cuda->watch);
    uint32_t entries = resident->table->entries, blocks = __atomic_load_n(&resident->of->groups, __ATOMIC_RELAXED);
    slr_status status = launch_in_context(staying, resident->table, entries < blocks ? entries : blocks);
    slri_cuda_leave(staying->cuda);
    return status;
}

static enum slri_resident_look look(struct slri_resident *resident)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    struct slri_cuda *cuda = staying->cuda;
    if (slri_cuda_enter(cuda) != SLR_OK)
        return slri_cuda_is_over(cuda, staying->stream) ? SLRI_RESIDENT_FAILED_AND_OVER : SLRI_RESIDENT_FAILED;
    int32_t error = cuda->cu->StreamQuery(staying->stream);
    slr_status status =
        error == SLRI_CU_NOT_READY ? SLR_OK : slri_cuda_check(cuda, "StreamQuery", staying->entry->name, error);
    slri_cuda_leave(cuda);
    return error == SLRI_CU_NOT_READY ? SLRI_RESIDENT_RUNS
           : status == SLR_OK         ? SLRI_RESIDENT_ENDED
           : slri_cu_is_fault(error)  ? SLRI_RESIDENT_FAILED_AND_OVER
                                      : SLRI_RESIDENT_FAILED;
}

static void show_shard_flags(void *device, struct slri_shard *shard, bool is_reopened)
{
    struct slri_piece **kept = slri_cuda_ring_memory_flags(shard->own);
    if (is_reopened)
        slri_cuda_flags_begin_again(device, shard, *kept);
    else
        slri_cuda_flags_give(device, shard, kept);
}

// ---- planning ------------------------------------------------------------------------------------------------------

// NULL, or why no kernel can stay on the device.
static const char *never_reason(const struct slri_cuda *cuda)
{
    const struct slri_cu_facts *device = &cuda->facts;
    return cuda->cu->vendor->never_stays                                ? cuda->cu->vendor->never_stays
           : !device->unified_addressing || !device->registered_address ? "host and device do not share addresses"
           : device->time_limit ? "the device drives a display and ends long-running kernels"
                                : NULL;
}

void slri_cuda_why_relaunch(const struct slri_cuda *cuda, char *out, size_t room)
{
    const char *never = never_reason(cuda);
    if (never)
        snprintf(out, room, "%s", never);
    else
        slri_cu_unwise(&cuda->sharing, out, room);
}

static slr_status plan_blocks(void *device, const struct slri_ring_facts *ring, bool is_asked,
                              struct slri_ring_plan *plan)
{
    const struct slri_cuda *cuda = device;
    const char *reason = ring->entry->shared_bytes > SLRI_CU_STAY_SHARED_BYTES
                             ? "its shared memory leaves too little for a persistent kernel"
                             : never_reason(cuda);
    if (reason)
        snprintf(plan->reason, sizeof plan->reason, "%s", reason);
    else if (is_asked || !slri_cu_unwise(&cuda->sharing, plan->reason, sizeof plan->reason))
        plan->shards = cuda->most_blocks;
    plan->has_clock = true;
    return SLR_OK;
}

// ---- life ----------------------------------------------------------------------------------------------------------

static const struct slri_resident_ops ops = {.plan = plan_blocks,
                                             .make = make,
                                             .unmake = unmake,
                                             .launch = launch,
                                             .look = look,
                                             .show_flags = show_shard_flags,
                                             .group_bytes = sizeof(struct slri_cu_staying),
                                             .is_one_launch = true,
                                             .waits_for_memory = true};

void slri_cuda_rings_open(struct slri_cuda *cuda)
{
    uint32_t most = (uint32_t)cuda->facts.multiprocessors * cuda->sm_budget / 100;
    cuda->most_blocks = most != 0 ? most : 1;
    cuda->residents = (struct slri_residents){
        .ops = &ops, .device = cuda, .allocator = cuda->allocator, .loss = &cuda->loss, .near = &cuda->near};
    slri_residents_init(&cuda->residents);
    cuda->watch.residents = &cuda->residents;
    slri_cuda_pools_open(cuda);
}

void slri_cuda_rings_stop(struct slri_cuda *cuda)
{
    slri_cu_watch_stop(&cuda->watch); // nothing stays any more
    slri_residents_close(&cuda->residents);
}

void slri_cuda_rings_close(struct slri_cuda *cuda)
{
    slri_groups_forget_stuck(&cuda->residents);
    slri_cuda_pools_close(cuda);
    free(cuda->stay.bytes);
}

// ---- another context -----------------------------------------------------------------------------------------------

static slr_status forget(struct slri_resident *resident)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    staying->loaded = NULL;
    staying->function = NULL;
    staying->stream = NULL;
    return SLR_OK;
}

void slri_cuda_staying_forget(struct slri_cuda *cuda)
{
    (void)slri_groups_each(&cuda->residents, forget); // which cannot fail
}

static slr_status renew(struct slri_resident *resident)
{
    return make_kernel((struct slri_cu_staying *)resident);
}

slr_status slri_cuda_staying_renew(struct slri_cuda *cuda)
{
    return slri_groups_each(&cuda->residents, renew);
}

// SPDX-License-Identifier: Apache-2.0
// Kernels that stay: a handler's emitted text, the mailbox and a loop around them, compiled once a handler, and one
// launch of it in a stream of its own, in as many blocks as the handler was given. The program keeps it.
//
// What a kernel that stays would keep waiting (facts of CUDA: any call of the driver may wait for the device, and
// taking memory and loading code do) is done while none runs: slri_cuda_enter_quiet.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/cuda/cubin.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/resident_text.h"

#include <slipring/occupancy.h>

#include <stdlib.h>
#include <string.h>

// A handler for which a kernel is kept.
struct slri_cu_staying {
    struct slri_resident base; // first
    struct slri_cuda *cuda;
    const struct slri_code *program;
    const struct slri_entry *entry;
    const struct slri_module *module;
    slri_cu_module loaded;
    slri_cu_function function;
    slri_cu_stream stream;
    uint32_t blocks; // atomic: that it may have; they are taken for it until the program goes
    uint32_t most_blocks;
    struct slri_cu_staying *next;
};

void slri_cuda_residents_open(struct slri_cuda *cuda)
{
    slri_residents_init(&cuda->residents);
    cuda->watch.residents = &cuda->residents;
    slri_mutex_init(&cuda->staying_lock);
    slri_cuda_pools_open(cuda);
    cuda->residents.near = &cuda->near;
}

void slri_cuda_residents_stop(struct slri_cuda *cuda)
{
    slri_cu_watch_stop(&cuda->watch); // nothing stays any more
    slri_residents_close(&cuda->residents);
}

void slri_cuda_residents_close(struct slri_cuda *cuda)
{
    while (cuda->stuck) {
        struct slri_cu_staying *staying = cuda->stuck;
        cuda->stuck = staying->next;
        slri_free(cuda->allocator, staying, sizeof *staying);
    }
    slri_cuda_pools_close(cuda);
    free(cuda->stay.bytes);
    slri_mutex_destroy(&cuda->staying_lock);
}

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
    staying->most_blocks = (uint32_t)(blocks * facts->multiprocessors);
    return staying->most_blocks != 0 ? SLR_OK
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

// In the context, quiet. A function that has been asked for is loaded, whatever CUDA_MODULE_LOADING says: its first
// launch loads nothing. But it may take memory for the kernel's stack: so it is launched once without a table, with
// nothing to do.
static slr_status load_persistent(struct slri_cu_staying *staying, const struct slri_blob *code)
{
    struct slri_cuda *cuda = staying->cuda;
    const char *name = staying->entry->name;
    SLRI_TRY(slri_cuda_check(cuda, "ModuleLoadData", name, cuda->cu->ModuleLoadData(&staying->loaded, code->bytes)));
    SLRI_TRY(slri_cuda_check(cuda, "ModuleGetFunction", name,
                             cuda->cu->ModuleGetFunction(&staying->function, staying->loaded, SLRI_CU_STAY)));
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
    struct slri_code_text text = {.module = staying->module,
                                  .entry = entry,
                                  .name = entry->name,
                                  .file = staying->module->name,
                                  .option = is_block(staying) ? slri_nvrtc_options : slri_cuda_stay_options};
    slr_status status = is_block(staying) ? slri_cuda_put_stay_block(staying->module, entry, &text.text)
                                          : slri_cuda_put_stay_handler(staying->module, entry, &text.text);
    return compile_stored(staying->cuda, status, &text, out);
}

static void unmake(struct slri_cu_staying *staying)
{
    struct slri_cuda *cuda = staying->cuda;
    if ((staying->stream || staying->loaded) &&
        slri_cuda_enter_quiet(cuda) == SLR_OK) { // else they go with the context
        if (staying->stream)
            cuda->cu->StreamDestroy_v2(staying->stream);
        if (staying->loaded)
            cuda->cu->ModuleUnload(staying->loaded);
        slri_cuda_leave_quiet(cuda);
    }
    slri_free(cuda->allocator, staying, sizeof *staying);
}

static const struct slri_resident_ops ops;

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

static slr_status make(struct slri_cu_staying *staying)
{
    struct slri_cuda *cuda = staying->cuda;
    slr_status status = make_kernel(staying);
    staying->base.ops = &ops;
    staying->base.handler = staying->entry;
    if (status == SLR_OK)
        status = slri_cuda_shared_reserve(cuda, sizeof *staying->base.table);
    return status == SLR_OK ? slri_resident_open(&cuda->residents, &staying->base) : status;
}

// ---- a launch: the poller's ----------------------------------------------------------------------------------------

static slr_status launch(struct slri_resident *resident)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    SLRI_TRY(slri_cuda_enter(staying->cuda));
    slri_cu_watch_ring(&staying->cuda->watch);
    uint32_t entries = resident->table->entries, blocks = __atomic_load_n(&staying->blocks, __ATOMIC_RELAXED);
    slr_status status = launch_in_context(staying, resident->table, entries < blocks ? entries : blocks);
    slri_cuda_leave(staying->cuda);
    return status;
}

static enum slri_resident_look look(struct slri_resident *resident)
{
    struct slri_cu_staying *staying = (struct slri_cu_staying *)resident;
    struct slri_cuda *cuda = staying->cuda;
    if (slri_cuda_enter(cuda) != SLR_OK)
        return SLRI_RESIDENT_FAILED;
    int32_t error = cuda->cu->StreamQuery(staying->stream);
    slr_status status =
        error == SLRI_CU_NOT_READY ? SLR_OK : slri_cuda_check(cuda, "StreamQuery", staying->entry->name, error);
    slri_cuda_leave(cuda);
    return status != SLR_OK             ? SLRI_RESIDENT_FAILED
           : error == SLRI_CU_NOT_READY ? SLRI_RESIDENT_RUNS
                                        : SLRI_RESIDENT_ENDED;
}

static bool is_over(struct slri_resident *resident)
{
    const struct slri_cu_staying *staying = (const struct slri_cu_staying *)resident;
    return slri_cuda_is_over(staying->cuda, staying->stream);
}

// Not more of it: the poller must not wait for itself.
static slr_status take_memory(struct slri_resident *resident, uint64_t bytes, void **out)
{
    struct slri_cuda *cuda = ((struct slri_cu_staying *)resident)->cuda;
    return slri_cuda_shared_try(cuda, bytes, out)
               ? SLR_OK
               : SLRI_FAIL(NO_MEMORY, "device '%s' has no mapped memory left for %llu bytes", cuda->name,
                           (unsigned long long)bytes);
}

static void give_memory(struct slri_resident *resident, void *memory, uint64_t bytes)
{
    slri_cuda_ring_memory_destroy(((struct slri_cu_staying *)resident)->cuda, memory, bytes);
}

static void forget(struct slri_resident *resident, struct slri_shard *shard)
{
    slri_cuda_near_give(((struct slri_cu_staying *)resident)->cuda, shard);
}

static const struct slri_resident_ops ops = {launch, look, is_over, take_memory, give_memory, forget, true};

// ---- a handler's: under the lock -----------------------------------------------------------------------------------

static struct slri_cu_staying *find(const struct slri_cuda *cuda, const struct slri_code *program,
                                    const struct slri_entry *entry)
{
    struct slri_cu_staying *staying = cuda->staying;
    while (staying && (staying->program != program || staying->entry != entry))
        staying = staying->next;
    return staying;
}

static void drop(void *device, const struct slri_code *program);

static slr_status add(struct slri_cuda *cuda, struct slri_code *program, const struct slri_entry *entry,
                      struct slri_cu_staying **out)
{
    SLRI_TRY(slri_cu_watch_start(&cuda->watch));
    struct slri_cu_staying *staying = slri_alloc(cuda->allocator, sizeof *staying);
    if (!staying)
        return SLRI_FAIL(NO_MEMORY, "no memory for ring kernel %s", entry->name);
    *staying =
        (struct slri_cu_staying){.cuda = cuda, .program = program, .entry = entry, .module = slri_code_module(program)};
    slr_status status = make(staying);
    if (status != SLR_OK) {
        unmake(staying);
        return status;
    }
    slri_code_on_end(program, drop);
    staying->next = cuda->staying;
    cuda->staying = staying;
    *out = staying;
    return SLR_OK;
}

// Blocks without a shard first, then new ones while there are some.
static uint32_t take_blocks(struct slri_cuda *cuda, struct slri_cu_staying *staying, uint32_t want)
{
    uint32_t left = cuda->most_blocks - cuda->blocks_taken, has = staying->blocks;
    uint32_t serves = __atomic_load_n(&staying->base.shards, __ATOMIC_RELAXED);
    uint32_t empty = has > serves ? has - serves : 0, more = want > empty ? want - empty : 0;
    more = more < left ? more : left;
    more = has + more <= staying->most_blocks ? more : staying->most_blocks - has;
    __atomic_store_n(&staying->blocks, has + more, __ATOMIC_RELAXED); // the next launch has them
    cuda->blocks_taken += more;
    return has + more < want ? has + more : want;
}

slr_status slri_cuda_staying_take(struct slri_cuda *cuda, struct slri_code *program, const struct slri_entry *entry,
                                  uint32_t want, uint32_t *out)
{
    slr_status status = SLR_OK;
    *out = 0;
    slri_mutex_lock(&cuda->staying_lock);
    struct slri_cu_staying *staying = find(cuda, program, entry);
    if (!staying && cuda->blocks_taken < cuda->most_blocks)
        status = add(cuda, program, entry, &staying);
    if (staying)
        *out = take_blocks(cuda, staying, want);
    slri_mutex_unlock(&cuda->staying_lock);
    return status;
}

slr_status slri_cuda_shard_prepare(void *device, struct slri_shard *shard)
{
    struct slri_cuda *cuda = device;
    SLRI_TRY(slri_cuda_ring_memory_create(cuda, slri_resident_kit_bytes(shard), &shard->kit));
    SLRI_TRY(slri_cuda_shared_reserve(cuda, SLRI_RESIDENT_RECORDS * sizeof(struct slri_resident_record_of_batch)));
    return slri_cuda_near_take(cuda, shard);
}

slr_status slri_cuda_shard_start(void *device, struct slri_shard *shard)
{
    struct slri_cuda *cuda = device;
    slri_cuda_flags_give(cuda, shard, slri_cuda_ring_memory_flags(shard->own));
    slri_mutex_lock(&cuda->staying_lock);
    struct slri_cu_staying *staying = find(cuda, shard->program, shard->entry);
    slr_status status = slri_resident_start(&staying->base, shard);
    slri_mutex_unlock(&cuda->staying_lock);
    return status;
}

bool slri_cuda_residents_settle(struct slri_cuda *cuda)
{
    slri_mutex_lock(&cuda->staying_lock);
    while (cuda->stuck && slri_resident_close(&cuda->stuck->base)) {
        struct slri_cu_staying *staying = cuda->stuck;
        cuda->stuck = staying->next;
        unmake(staying);
    }
    bool settled = cuda->stuck == NULL;
    slri_mutex_unlock(&cuda->staying_lock);
    return settled;
}

void slri_cuda_staying_forget(struct slri_cuda *cuda)
{
    slri_mutex_lock(&cuda->staying_lock);
    for (struct slri_cu_staying *staying = cuda->staying; staying; staying = staying->next) {
        staying->loaded = NULL;
        staying->function = NULL;
        staying->stream = NULL;
    }
    slri_mutex_unlock(&cuda->staying_lock);
}

slr_status slri_cuda_staying_renew(struct slri_cuda *cuda)
{
    slr_status status = SLR_OK;
    slri_mutex_lock(&cuda->staying_lock);
    for (struct slri_cu_staying *staying = cuda->staying; staying && status == SLR_OK; staying = staying->next)
        status = make_kernel(staying);
    slri_mutex_unlock(&cuda->staying_lock);
    return status;
}

// Before the program goes.
static void drop(void *device, const struct slri_code *program)
{
    struct slri_cuda *cuda = device;
    slri_mutex_lock(&cuda->staying_lock);
    struct slri_cu_staying **at = &cuda->staying;
    while (*at) {
        struct slri_cu_staying *staying = *at;
        if (staying->program != program) {
            at = &staying->next;
            continue;
        }
        *at = staying->next;
        cuda->blocks_taken -= staying->blocks;
        if (slri_resident_close(&staying->base))
            unmake(staying);
        else { // it ends with the context, which goes before its memory
            slri_lose(&cuda->loss, "a persistent kernel has not ended");
            staying->next = cuda->stuck;
            cuda->stuck = staying;
        }
    }
    slri_mutex_unlock(&cuda->staying_lock);
}

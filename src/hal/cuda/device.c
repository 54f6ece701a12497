// SPDX-License-Identifier: Apache-2.0
// The CUDA devices: options, opening, contexts, loss, description.
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/nvml.h"
#include "hal/cuda/rocm_smi.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/futex.h"
#include "base/kept.h"
#include "base/status.h"
#include "base/thread_end.h"
#include "engine/spec.h"
#include "engine/cache.h"

#include <stdlib.h>
#include <string.h>

static slr_status probe_vendor(const struct slri_cu_vendor *vendor, uint32_t *devices)
{
    const struct slri_cu *cu;
    SLRI_TRY(vendor->load(&cu));
    return slri_cu_count_devices(cu, devices);
}

static slr_status cuda_probe(bool automatic, uint32_t *devices)
{
    (void)automatic; // the driver starts at once
    return probe_vendor(&slri_vendor_cuda, devices);
}

static slr_status hip_probe(bool automatic, uint32_t *devices)
{
    (void)automatic;
    return probe_vendor(&slri_vendor_hip, devices);
}

#define INSIDE_LOOK_NS 50000u // between looks at calls that use a lost context

// ---- contexts and loss ---------------------------------------------------------------------------------------------

slr_status slri_cuda_check(struct slri_cuda *cuda, const char *call, const char *doing, int32_t error)
{
    if (error == SLRI_CU_SUCCESS)
        return SLR_OK;
    slr_status status = slri_cu_failed(cuda->cu, cuda->name, call, error);
    return status == SLR_DEVICE_LOST ? slri_loss_note(&cuda->loss, doing) : status;
}

static void go_out(struct slri_cuda *cuda)
{
    __atomic_fetch_sub(&cuda->inside, 1, __ATOMIC_RELEASE); // the calls come before the context's end
}

// A context must not be destroyed while calls use it. A caller counts itself, then looks at `ending`; who ends it sets
// `ending`, then looks at the count. Sequentially consistent: one of the two sees the other.
static bool go_in(struct slri_cuda *cuda)
{
    __atomic_fetch_add(&cuda->inside, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&cuda->ending, __ATOMIC_SEQ_CST) == SLRI_CU_USABLE)
        return true;
    go_out(cuda);
    return false;
}

slr_status slri_cuda_enter(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_check_lost(cuda));
    if (!go_in(cuda))
        return slri_loss_say(&cuda->loss);
    slri_cu_watch_enter(&cuda->watch);
    slr_status status = slri_cuda_check(cuda, "CtxPushCurrent", NULL, cuda->cu->CtxPushCurrent_v2(cuda->context));
    if (status != SLR_OK) {
        slri_cu_watch_leave();
        go_out(cuda);
    }
    return status;
}

void slri_cuda_leave(struct slri_cuda *cuda)
{
    slri_cu_context ours;
    cuda->cu->CtxPopCurrent_v2(&ours);
    slri_cu_watch_leave();
    go_out(cuda);
}

static int32_t query(struct slri_cuda *cuda, slri_cu_stream stream)
{
    slri_cu_context ours;
    int32_t error = cuda->cu->CtxPushCurrent_v2(cuda->context);
    if (error != SLRI_CU_SUCCESS)
        return error;
    error = cuda->cu->StreamQuery(stream);
    cuda->cu->CtxPopCurrent_v2(&ours);
    return error;
}

bool slri_cuda_is_over(struct slri_cuda *cuda, slri_cu_stream stream)
{
    if (!go_in(cuda)) // acquire: what ran in the context comes before its end
        return __atomic_load_n(&cuda->ending, __ATOMIC_ACQUIRE) == SLRI_CU_ENDED;
    int32_t error = query(cuda, stream);
    go_out(cuda);
    return error == SLRI_CU_SUCCESS || slri_cu_is_fault(error);
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status choose_context(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *context = slri_spec_option(spec, "context");
    if (context && strcmp(context, "own") != 0 && strcmp(context, "primary") != 0)
        return SLRI_FAIL(INVALID, "device '%s': context '%s'; expected 'own' or 'primary'", cuda->name, context);
    cuda->primary = context && strcmp(context, "primary") == 0;
    return SLR_OK;
}

static slr_status choose_memory(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "memory");
    for (uint32_t i = 0; i < SLRI_CU_MEMORIES; ++i)
        if (!asked || strcmp(asked, slri_cuda_memory_names[i]) == 0) {
            cuda->memory = (enum slri_cu_memory)i;
            return SLR_OK;
        }
    return SLRI_FAIL(INVALID, "device '%s': memory '%s'; expected 'device', 'mapped' or 'managed'", cuda->name, asked);
}

#define MOST_STALL_MS 60000u

static slr_status choose_stall_limit(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "stall_ms");
    char *end = NULL;
    unsigned long limit_ms = asked && *asked >= '0' && *asked <= '9' ? strtoul(asked, &end, 10) : SLRI_CU_STALL_MS;
    if (asked && (!end || *end != '\0' || limit_ms > MOST_STALL_MS))
        return SLRI_FAIL(INVALID, "device '%s': stall_ms '%s'; expected 0 (no watchdog) to %u", cuda->name, asked,
                         MOST_STALL_MS);
    cuda->watch.limit_ns = (uint64_t)limit_ms * 1000000u;
    return SLR_OK;
}

static slr_status choose_budget(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "sm_budget");
    char *end = NULL;
    unsigned long percent = asked && *asked >= '0' && *asked <= '9' ? strtoul(asked, &end, 10) : SLRI_CU_SM_BUDGET;
    if (asked && (!end || *end != '\0' || percent == 0 || percent > 100))
        return SLRI_FAIL(INVALID, "device '%s': sm_budget '%s'; expected 1 to 100, in percent", cuda->name, asked);
    cuda->sm_budget = (uint32_t)percent;
    return SLR_OK;
}

// Before there is a context: among the users of the GPU is no process of ours but those that have it already. What
// nobody says speaks against nothing.
static void look_at_sharing(struct slri_cuda *cuda)
{
    struct slri_cu_sharing *sharing = &cuda->sharing;
    sharing->is_wsl = slri_cu_is_wsl("/proc/sys/kernel/osrelease");
    sharing->is_mps = cuda->facts.mps != 0;
    if (cuda->cu->vendor != &slri_vendor_cuda || slri_nvml_users(cuda->facts.id + strlen("GPU-"), slri_process_id(),
                                                                 &sharing->others, &sharing->is_virtual) != SLR_OK)
        sharing->others = 0;
}

static slr_status find_ordinal(struct slri_cuda *cuda, const struct slri_cu_vendor *vendor,
                               const struct slri_spec *spec)
{
    static const char *const known[] = {"context", "flags", "memory", "ring", "sm_budget", "stall_ms", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(choose_context(cuda, spec));
    SLRI_TRY(choose_memory(cuda, spec));
    SLRI_TRY(choose_stall_limit(cuda, spec));
    SLRI_TRY(choose_budget(cuda, spec));
    SLRI_TRY(slri_cuda_flags_choose(cuda, spec));
    SLRI_TRY(slri_ring_mode_choose(spec, cuda->name, &cuda->ring_mode));
    SLRI_TRY(vendor->load(&cuda->cu));
    SLRI_TRY(slri_cu_find_device(cuda->cu, spec, &cuda->device));
    SLRI_TRY(slri_cu_ask(cuda->cu, cuda->name, cuda->device, &cuda->facts));
    look_at_sharing(cuda);
    return slri_cuda_check_memory(cuda);
}

static slr_status open_context(struct slri_cuda *cuda)
{
    const struct slri_cu *cu = cuda->cu;
    if (cuda->primary)
        return slri_cuda_check(cuda, "DevicePrimaryCtxRetain", NULL,
                               cu->DevicePrimaryCtxRetain(&cuda->context, cuda->device));
    SLRI_TRY(slri_cuda_check(cuda, "CtxCreate", NULL,
                             cu->CtxCreate_v2(&cuda->context, SLRI_CU_SCHEDULE_YIELD, cuda->device)));
    slri_cu_context made; // it was made the thread's own
    cu->CtxPopCurrent_v2(&made);
    return SLR_OK;
}

// Whether a primary context that was released is gone: others of the process may hold it. What nobody says is no yes.
static bool is_primary_gone(const struct slri_cuda *cuda)
{
    uint32_t flags;
    int32_t active = 1;
    return cuda->cu->DevicePrimaryCtxGetState &&
           cuda->cu->DevicePrimaryCtxGetState(cuda->device, &flags, &active) == SLRI_CU_SUCCESS && active == 0;
}

static void set_ending(struct slri_cuda *cuda, enum slri_cu_ending ending)
{
    __atomic_store_n(&cuda->ending, (uint32_t)ending, __ATOMIC_SEQ_CST); // go_in says why
    slri_futex_wake(&cuda->ending, UINT32_MAX);
}

static void close_context(struct slri_cuda *cuda)
{
    bool gone = true; // a context that cannot be destroyed is lost: what ran there was ended with it
    if (cuda->primary) {
        cuda->cu->DevicePrimaryCtxRelease_v2(cuda->device);
        gone = is_primary_gone(cuda);
    } else {
        cuda->cu->CtxDestroy_v2(cuda->context);
    }
    cuda->context = NULL;
    set_ending(cuda, gone && cuda->cu->vendor->ends_work ? SLRI_CU_ENDED : SLRI_CU_LEFT);
}

static void end_in_thread(void *arg)
{
    close_context(arg);
}

static bool all_are_outside(const struct slri_cuda *cuda, uint64_t deadline_ns)
{
    while (__atomic_load_n(&cuda->inside, __ATOMIC_SEQ_CST) != 0) {
        if (slri_passed(deadline_ns))
            return false;
        slri_sleep_ns(INSIDE_LOOK_NS);
    }
    return true;
}

static slr_status await_end(struct slri_cuda *cuda, uint64_t deadline_ns)
{
    if (!cuda->ender_started) {
        if (!all_are_outside(cuda, deadline_ns))
            return SLRI_FAIL(TIMEOUT, "device '%s' was lost, and a call of its driver has not returned", cuda->name);
        SLRI_TRY(slri_thread_start(&cuda->ender, "slr-ender", end_in_thread, cuda));
        cuda->ender_started = true;
    }
    uint32_t ending;
    while ((ending = __atomic_load_n(&cuda->ending, __ATOMIC_ACQUIRE)) == SLRI_CU_ENDING && !slri_passed(deadline_ns))
        slri_futex_wait(&cuda->ending, ending, deadline_ns);
    if (ending == SLRI_CU_ENDING)
        return SLRI_FAIL(TIMEOUT, "device '%s' was lost, and its driver has not ended the running work", cuda->name);
    slri_thread_join(&cuda->ender);
    cuda->ender_started = false;
    return SLR_OK;
}

slr_status slri_cuda_end_lost(struct slri_cuda *cuda, uint64_t deadline_ns)
{
    if (__atomic_load_n(&cuda->ending, __ATOMIC_ACQUIRE) == SLRI_CU_USABLE) {
        slri_cuda_flags_lose(cuda);
        set_ending(cuda, SLRI_CU_ENDING);
    }
    return __atomic_load_n(&cuda->ending, __ATOMIC_ACQUIRE) == SLRI_CU_ENDING ? await_end(cuda, deadline_ns) : SLR_OK;
}

static slr_status start_in_context(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_enter(cuda));
    slr_status status = slri_cuda_check(cuda, "CtxGetStreamPriorityRange", NULL,
                                        cuda->cu->CtxGetStreamPriorityRange(&cuda->least, &cuda->greatest));
    slri_cuda_leave(cuda);
    return status;
}

// Also of a context that is lost: that frees what is left of it.
void slri_cuda_end_context(struct slri_cuda *cuda)
{
    if (cuda->context)
        close_context(cuda);
}

slr_status slri_cuda_begin_context(struct slri_cuda *cuda)
{
    SLRI_TRY(open_context(cuda));
    set_ending(cuda, SLRI_CU_USABLE);
    slr_status status = start_in_context(cuda);
    if (status != SLR_OK)
        close_context(cuda);
    return status;
}

static void free_device(struct slri_cuda *cuda)
{
    slr_allocator copy = cuda->allocator_copy;
    slri_loss_destroy(&cuda->loss);
    slri_free(cuda->allocator ? &copy : NULL, cuda, sizeof *cuda);
}

static slr_status begin_device(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_begin_context(cuda));
    slr_status status = slri_cuda_flags_open(cuda);
    if (status != SLR_OK) {
        slri_cuda_flags_close(cuda);
        slri_cuda_end_context(cuda);
    }
    return status;
}

static slr_status open_vendor(const struct slri_cu_vendor *vendor, const struct slri_spec *spec,
                              const slr_allocator *allocator, void **device)
{
    struct slri_cuda *cuda = slri_alloc(allocator, sizeof *cuda);
    if (!cuda)
        return SLRI_FAIL(NO_MEMORY, "no memory for a %s device", vendor->platform);
    if (allocator) {
        cuda->allocator_copy = *allocator;
        cuda->allocator = &cuda->allocator_copy;
    }
    slri_spec_put_name(spec, vendor->backend->name, cuda->name, sizeof cuda->name);
    slri_loss_init(&cuda->loss, cuda->name);
    slr_status status = find_ordinal(cuda, vendor, spec);
    if (status == SLR_OK)
        status = begin_device(cuda);
    if (status != SLR_OK) {
        free_device(cuda);
        return status;
    }
    slri_cuda_rings_open(cuda);
    *device = cuda;
    return SLR_OK;
}

// Something may still run on its memory: that stays, and this with it, until the process ends.
static void keep(struct slri_cuda *cuda)
{
    static struct slri_cuda *kept; // so that what is kept is not taken for forgotten; atomic: a stack
    slri_kept_add(slri_cuda_pools_mapped(cuda));
    cuda->next_kept = __atomic_load_n(&kept, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&kept, &cuda->next_kept, cuda, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

// Of a lost device, whose groups nobody looks at any more.
static bool nothing_runs(struct slri_cuda *cuda)
{
    return slri_cuda_end_lost(cuda, slri_deadline_after(SLRI_RESIDENT_END_NS)) == SLR_OK &&
           (__atomic_load_n(&cuda->ending, __ATOMIC_ACQUIRE) == SLRI_CU_ENDED ||
            __atomic_load_n(&cuda->residents.running, __ATOMIC_ACQUIRE) == 0);
}

// A group of a lost device may run until its context is gone, so memory is unmapped after that. Memory of a device that
// is well is given back to the driver before: all its groups have said that they are over.
static void cuda_close(void *device)
{
    struct slri_cuda *cuda = device;
    slri_cuda_rings_stop(cuda);
    if (slri_is_lost(&cuda->loss) && !nothing_runs(cuda)) {
        keep(cuda);
        return;
    }
    slri_cuda_rings_close(cuda);
    slri_cuda_flags_close(cuda);
    slri_cuda_end_context(cuda);
    free_device(cuda);
}

static slr_status cuda_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    return open_vendor(&slri_vendor_cuda, spec, allocator, device);
}

static slr_status hip_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    return open_vendor(&slri_vendor_hip, spec, allocator, device);
}

static slr_status cuda_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    return slri_cuda_facts(&slri_vendor_cuda, device, index, out, info);
}

static slr_status hip_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    return slri_cuda_facts(&slri_vendor_hip, device, index, out, info);
}

static slr_status cuda_metrics(const void *device, slr_metrics *out)
{
    const struct slri_cuda *cuda = device;
    return slri_nvml_read(cuda->facts.id + strlen("GPU-"), out);
}

static slr_status hip_metrics(const void *device, slr_metrics *out)
{
    const struct slri_cuda *cuda = device;
    return slri_rocm_smi_read(cuda->facts.bus_id, out);
}

// What the two have in common.
#define SLRI_CU_BACKEND                                                                                                \
    .kernel_per = SLRI_KERNEL_PER_ENTRY, .close = cuda_close, .reopen = slri_cuda_reopen,                              \
    .memory_create = slri_cuda_memory_create, .memory_destroy = slri_cuda_memory_destroy, .encode = slri_cuda_encode,  \
    .wait = slri_cuda_wait, .queue_create = slri_cuda_queue_create, .queue_destroy = slri_cuda_queue_destroy,          \
    .list_create = slri_cuda_list_create, .list_destroy = slri_cuda_list_destroy, .code_write = slri_cuda_code_write,  \
    .code_build = slri_cuda_code_build, .code_load = slri_cuda_code_load, .code_unload = slri_cuda_code_unload,        \
    .code_kernel = slri_cuda_code_kernel, .kernel_use = slri_cuda_kernel_use

const struct slri_backend slri_backend_cuda = {
    SLRI_CU_BACKEND,         .name = "cuda",         .has_ids = true,        .takes_raw = SLR_RAW_CUDA,
    .blob_suffix = ".cubin", .probe = cuda_probe,    .open = cuda_open,      .facts = cuda_facts,
    .metrics = cuda_metrics, .peer = slri_cuda_peer, .uses_no_device = true,
};

const struct slri_backend slri_backend_hip = {
    SLRI_CU_BACKEND,  .name = "hip",      .blob_suffix = ".hsaco", .probe = hip_probe,
    .open = hip_open, .facts = hip_facts, .metrics = hip_metrics,
};

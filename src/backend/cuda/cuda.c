// SPDX-License-Identifier: Apache-2.0
// The CUDA devices: options, opening, contexts, loss, description.
#include "backend/cuda/cuda.h"
#include "backend/cuda/nvml.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/futex.h"
#include "base/kept.h"
#include "base/status.h"
#include "base/thread_end.h"
#include "device/spec.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status cuda_probe(char *reason, size_t reason_bytes, uint32_t *devices)
{
    const struct slri_cu *cu;
    slr_status status = slri_cu_load(&cu);
    if (status == SLR_OK)
        status = slri_cu_count_devices(cu, devices);
    if (status != SLR_OK)
        snprintf(reason, reason_bytes, "%s", slr_error_message());
    return status;
}

#define INSIDE_LOOK_NS 50000u // between looks at calls that use a lost context

// ---- contexts and loss ---------------------------------------------------------------------------------------------

static slr_status say_lost(struct slri_cuda *cuda)
{
    slri_mutex_lock(&cuda->lost_lock);
    slr_status status = SLRI_FAIL(DEVICE_LOST, "device '%s' was lost: %s", cuda->name, cuda->why_lost);
    slri_mutex_unlock(&cuda->lost_lock);
    return status;
}

// The first reason stays: what is said after it follows from it.
static void note_loss(struct slri_cuda *cuda, const char *doing)
{
    slri_mutex_lock(&cuda->lost_lock);
    if (!cuda->lost)
        snprintf(cuda->why_lost, sizeof cuda->why_lost, "%.160s%s%.64s", slr_error_message(),
                 doing ? ", after kernel " : "", doing ? doing : "");
    __atomic_store_n(&cuda->lost, 1, __ATOMIC_RELAXED); // the reason is read under the lock
    slri_mutex_unlock(&cuda->lost_lock);
}

slr_status slri_cuda_check(struct slri_cuda *cuda, const char *call, const char *doing, int32_t error)
{
    if (error == SLRI_CU_SUCCESS)
        return SLR_OK;
    slr_status status = slri_cu_failed(cuda->cu, cuda->name, call, error);
    if (status != SLR_DEVICE_LOST)
        return status;
    note_loss(cuda, doing);
    return say_lost(cuda);
}

void slri_cuda_lose(struct slri_cuda *cuda, const char *why)
{
    slri_fail(SLR_DEVICE_LOST, "device '%s': %s", cuda->name, why);
    note_loss(cuda, NULL);
}

slr_status slri_cuda_check_lost(struct slri_cuda *cuda)
{
    // Acquire: the context of a device that was opened again. Who comes before a loss hears of it from the driver.
    return __atomic_load_n(&cuda->lost, __ATOMIC_ACQUIRE) ? say_lost(cuda) : SLR_OK;
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
        return say_lost(cuda);
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
        return SLRI_FAIL(INVALID, "device '%s': context '%s'; 'own' or 'primary' is possible", cuda->name, context);
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
    return SLRI_FAIL(INVALID, "device '%s': memory '%s'; 'device', 'mapped' or 'managed' is possible", cuda->name,
                     asked);
}

#define SM_BUDGET 50u // percent: a kernel that needs a whole multiprocessor finds one
#define STALL_MS 100u // many times what a call of the driver takes that waits for nothing
#define MOST_STALL_MS 60000u

static slr_status choose_stall_limit(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "stall_ms");
    char *end = NULL;
    unsigned long limit_ms = asked && *asked >= '0' && *asked <= '9' ? strtoul(asked, &end, 10) : STALL_MS;
    if (asked && (!end || *end != '\0' || limit_ms > MOST_STALL_MS))
        return SLRI_FAIL(INVALID, "device '%s': stall_ms '%s'; 0 (no watchdog) to %u is possible", cuda->name, asked,
                         MOST_STALL_MS);
    cuda->watch.limit_ns = (uint64_t)limit_ms * 1000000u;
    return SLR_OK;
}

static slr_status choose_budget(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "sm_budget");
    char *end = NULL;
    unsigned long percent = asked && *asked >= '0' && *asked <= '9' ? strtoul(asked, &end, 10) : SM_BUDGET;
    if (asked && (!end || *end != '\0' || percent == 0 || percent > 100))
        return SLRI_FAIL(INVALID, "device '%s': sm_budget '%s'; 1 to 100 is possible, in percent", cuda->name, asked);
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
    if (slri_nvml_users(cuda->facts.id + strlen("GPU-"), slri_process_id(), &sharing->others, &sharing->is_virtual) !=
        SLR_OK)
        sharing->others = 0;
}

static slr_status find(struct slri_cuda *cuda, const struct slri_spec *spec)
{
    static const char *const known[] = {"context", "flags", "memory", "ring", "sm_budget", "stall_ms", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(choose_context(cuda, spec));
    SLRI_TRY(choose_memory(cuda, spec));
    SLRI_TRY(choose_stall_limit(cuda, spec));
    SLRI_TRY(choose_budget(cuda, spec));
    SLRI_TRY(slri_cuda_flags_choose(cuda, spec));
    SLRI_TRY(slri_ring_mode_choose(spec, cuda->name, &cuda->ring_mode));
    SLRI_TRY(slri_cu_load(&cuda->cu));
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
    set_ending(cuda, gone ? SLRI_CU_ENDED : SLRI_CU_LEFT);
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
        return SLRI_FAIL(TIMEOUT, "device '%s' was lost, and its driver has not ended what runs there", cuda->name);
    slri_thread_join(&cuda->ender);
    cuda->ender_started = false;
    return SLR_OK;
}

slr_status slri_cuda_end_lost(void *device, uint64_t deadline_ns)
{
    struct slri_cuda *cuda = device;
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
    if (status == SLR_OK) // now: once kernels stay on the device, taking memory may wait for them
        status = slri_cuda_check(cuda, "MemAlloc", NULL, cuda->cu->MemAlloc_v2(&cuda->bounce, SLRI_CU_BOUNCE_BYTES));
    if (status == SLR_OK) {
        status = slri_cuda_own_open(cuda);
        if (status != SLR_OK)
            cuda->cu->MemFree_v2(cuda->bounce);
    }
    slri_cuda_leave(cuda);
    return status;
}

// A primary context stays, where others have it too.
static void free_bounce(struct slri_cuda *cuda)
{
    if (slri_cuda_enter(cuda) != SLR_OK)
        return;
    cuda->cu->MemFree_v2(cuda->bounce);
    slri_cuda_leave(cuda);
}

// Also of a context that is lost: that frees what is left of it.
void slri_cuda_end_context(struct slri_cuda *cuda)
{
    if (cuda->own)
        slri_cuda_own_close(cuda);
    if (!cuda->context)
        return;
    free_bounce(cuda);
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
    slri_mutex_destroy(&cuda->own_lock);
    slri_mutex_destroy(&cuda->bounce_lock);
    slri_mutex_destroy(&cuda->lost_lock);
    slri_free(cuda->allocator ? &copy : NULL, cuda, sizeof *cuda);
}

static slr_status begin(struct slri_cuda *cuda)
{
    SLRI_TRY(slri_cuda_begin_context(cuda));
    slr_status status = slri_cuda_flags_open(cuda);
    if (status != SLR_OK) {
        slri_cuda_flags_close(cuda);
        slri_cuda_end_context(cuda);
    }
    return status;
}

// Threads of streams wait for the device most of their time, so there may be more of them than cores.
#define MOST_STREAM_THREADS 16

static slr_status cuda_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    struct slri_cuda *cuda = slri_alloc(allocator, sizeof *cuda);
    if (!cuda)
        return SLRI_FAIL(NO_MEMORY, "no memory for a CUDA device");
    if (allocator) {
        cuda->allocator_copy = *allocator;
        cuda->allocator = &cuda->allocator_copy;
    }
    if (*spec->id)
        snprintf(cuda->name, sizeof cuda->name, "cuda:%s", spec->id);
    else
        snprintf(cuda->name, sizeof cuda->name, "cuda:%u", spec->index);
    slri_mutex_init(&cuda->own_lock);
    slri_mutex_init(&cuda->bounce_lock);
    slri_mutex_init(&cuda->lost_lock);
    slr_status status = find(cuda, spec);
    if (status == SLR_OK)
        status = begin(cuda);
    if (status != SLR_OK) {
        free_device(cuda);
        return status;
    }
    slri_queue_pool_init(&cuda->pool, MOST_STREAM_THREADS, cuda->allocator);
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
    slri_queue_pool_stop(&cuda->pool);
    if (slri_cuda_is_lost(cuda) && !nothing_runs(cuda)) {
        keep(cuda);
        return;
    }
    slri_cuda_rings_close(cuda);
    slri_cuda_flags_close(cuda);
    slri_cuda_end_context(cuda);
    free_device(cuda);
}

// ---- description ---------------------------------------------------------------------------------------------------

static void describe_features(const struct slri_cuda *cuda, char *out, size_t room)
{
    const struct slri_cu_facts *facts = &cuda->facts;
    snprintf(out, room, "sm=%d.%d sms=%d warp=%d registers=%d shared_bytes=%d l2_bytes=%d", facts->major, facts->minor,
             facts->multiprocessors, facts->warp, facts->registers, facts->shared_most, facts->l2_bytes);
    const struct {
        int32_t value;
        const char *name;
    } number[] = {{facts->clock_khz / 1000, "clock_mhz"}, // 0 where a driver no longer says it: then it is absent
                  {facts->memory_khz / 1000, "memory_mhz"},
                  {facts->bus_bits, "bus_bits"},
                  {facts->copy_engines, "copy_engines"}};
    for (size_t i = 0; i < sizeof number / sizeof *number; ++i)
        if (number[i].value > 0)
            snprintf(out + strlen(out), room - strlen(out), " %s=%d", number[i].name, number[i].value);
    snprintf(out + strlen(out), room - strlen(out), "%s blocks_that_stay=%u flags=%s id=%s",
             facts->time_limit ? " time_limit" : "", cuda->most_blocks,
             slri_cuda_flags_name(*cuda->flags.why ? SLRI_CU_FLAGS_ON_HOST : SLRI_CU_FLAGS_BEHIND_BAR), facts->id);
    uint32_t differ = __atomic_load_n(&cuda->blocks_differ, __ATOMIC_RELAXED);
    if (differ != 0)
        snprintf(out + strlen(out), room - strlen(out), " blocks_differ=%u/%u", differ >> 16, differ & 0xffff);
}

static void describe_name(const struct slri_cuda *cuda, char *out, size_t room)
{
    static const char *const memory[SLRI_CU_MEMORIES] = {"", "memory=mapped", "memory=managed"};
    char limit[24] = "", budget[24] = "", flags[24] = "";
    if (cuda->watch.limit_ns != STALL_MS * 1000000u)
        snprintf(limit, sizeof limit, "stall_ms=%u", (unsigned)(cuda->watch.limit_ns / 1000000u));
    if (cuda->sm_budget != SM_BUDGET)
        snprintf(budget, sizeof budget, "sm_budget=%u", cuda->sm_budget);
    if (cuda->flags.asked != SLRI_CU_FLAGS_ANYWHERE)
        snprintf(flags, sizeof flags, "flags=%s", slri_cuda_flags_name(cuda->flags.asked));
    const char *const option[] = {cuda->primary ? "context=primary" : "",
                                  flags,
                                  memory[cuda->memory],
                                  limit,
                                  budget,
                                  cuda->ring_mode == SLR_RING_RELAUNCHED   ? "ring=relaunch"
                                  : cuda->ring_mode == SLR_RING_PERSISTENT ? "ring=persistent"
                                                                           : ""};
    const char *before = "?";
    snprintf(out, room, "%s", cuda->name);
    for (size_t i = 0; i < sizeof option / sizeof *option; ++i)
        if (*option[i]) {
            snprintf(out + strlen(out), room - strlen(out), "%s%s", before, option[i]);
            before = "&";
        }
}

static void describe_notes(char *out, size_t room)
{
    const char *visible = slri_environment_of_vendor("CUDA_VISIBLE_DEVICES"),
               *loading = slri_environment_of_vendor("CUDA_MODULE_LOADING");
    const char *queues = slri_environment_of_vendor("CUDA_DEVICE_MAX_CONNECTIONS");
    snprintf(out, room, "CUDA_MODULE_LOADING=%.20s, CUDA_DEVICE_MAX_CONNECTIONS=%.8s", loading ? loading : "",
             queues ? queues : "");
    if (visible)
        snprintf(out + strlen(out), room - strlen(out), ", CUDA_VISIBLE_DEVICES=%.60s", visible);
}

static void describe_cache(char *out, size_t room)
{
    slri_cache cache;
    if (slri_cache_open(&cache) != SLR_OK) {
        snprintf(out, room, "%s", slr_error_message());
        return;
    }
    snprintf(out, room, "%s", cache.why_private ? cache.why_private : cache.folder);
    slri_cache_close(&cache);
}

static void cuda_describe(const void *device, slr_device_info *out)
{
    const struct slri_cuda *cuda = device;
    const struct slri_cu_facts *facts = &cuda->facts;
    describe_name(cuda, out->name, sizeof out->name);
    snprintf(out->description, sizeof out->description, "%s, compute capability %d.%d, driver for CUDA %d.%d",
             facts->name, facts->major, facts->minor, cuda->cu->version / 1000, cuda->cu->version / 10 % 100);
    snprintf(out->engine, sizeof out->engine, "compiled by NVRTC");
    describe_cache(out->cache, sizeof out->cache);
    describe_features(cuda, out->features, sizeof out->features);
    describe_notes(out->notes, sizeof out->notes);
    slri_cuda_describe_compiler(out->notes + strlen(out->notes), sizeof out->notes - strlen(out->notes));
    if (*cuda->flags.why && cuda->flags.asked != SLRI_CU_FLAGS_ON_HOST)
        snprintf(out->notes + strlen(out->notes), sizeof out->notes - strlen(out->notes), "; flags on the host: %s",
                 cuda->flags.why);
    slri_cuda_why_relaunch(cuda, out->relaunch_reason, sizeof out->relaunch_reason);
    out->stalls = slri_cu_watch_describe(&cuda->watch, out->stalled, sizeof out->stalled);
    out->workers = cuda->owners.hosts.workers;
    out->compute_units = (uint32_t)facts->multiprocessors;
    out->memory_bytes = facts->memory_bytes;
}

static slr_status cuda_metrics(const void *device, slr_metrics *out)
{
    const struct slri_cuda *cuda = device;
    return slri_nvml_read(cuda->facts.id + strlen("GPU-"), out);
}

static struct slri_capabilities cuda_capabilities(const void *device)
{
    static const enum slri_pinning pinning[SLRI_CU_MEMORIES] = {
        [SLRI_CU_MAPPED] = SLRI_PINNED_ALREADY, [SLRI_CU_MANAGED] = SLRI_PINNED_NEVER};
    const struct slri_cuda *cuda = device;
    return (struct slri_capabilities){.unified = cuda->memory != SLRI_CU_DEVICE,
                                      .passes_on = true,
                                      .pinning = pinning[cuda->memory],
                                      .cuda_arch = (uint32_t)(cuda->facts.major * 100 + cuda->facts.minor * 10)};
}

static struct slri_residents *cuda_residents(void *device)
{
    return &((struct slri_cuda *)device)->residents;
}

const struct slri_backend slri_backend_cuda = {
    .name = "cuda",
    .has_ids = true,
    .takes_raw = true,
    .probe = cuda_probe,
    .open = cuda_open,
    .close = cuda_close,
    .describe = cuda_describe,
    .capabilities = cuda_capabilities,
    .is_lost = slri_cuda_is_lost,
    .end_lost = slri_cuda_end_lost,
    .reopen = slri_cuda_reopen,
    .shard_reopened = slri_cuda_near_renew,
    .near_create = slri_cuda_group_memory_create,
    .near_address = slri_cuda_group_memory_address,
    .near_fetch = slri_cuda_group_memory_fetch,
    .near_destroy = slri_cuda_group_memory_destroy,
    .metrics = cuda_metrics,
    .buffer_create = slri_cuda_buffer_create,
    .buffer_destroy = slri_cuda_buffer_destroy,
    .host_create = slri_cuda_host_create,
    .host_destroy = slri_cuda_host_destroy,
    .host_pin = slri_cuda_host_pin,
    .host_unpin = slri_cuda_host_unpin,
    .queue_open = slri_cuda_queue_open,
    .queue_close = slri_cuda_queue_close,
    .submit = slri_cuda_submit,
    .list_create = slri_cuda_list_create,
    .list_destroy = slri_cuda_list_destroy,
    .program_create = slri_cuda_program_create,
    .program_destroy = slri_cuda_program_destroy,
    .program_globals = slri_cuda_program_globals,
    .kernel_prepare = slri_cuda_kernel_prepare,
    .kernel_resources = slri_cuda_kernel_resources,
    .residents = cuda_residents,
    .ring_plan = slri_cuda_ring_plan,
    .relaunch_create = slri_cuda_relaunch_create,
    .relaunch_destroy = slri_cuda_relaunch_destroy,
    .relaunch_begin = slri_cuda_relaunch_begin,
    .relaunch_end = slri_cuda_relaunch_end,
    .relaunch_copy = slri_cuda_relaunch_copy,
    .ring_memory_create = slri_cuda_ring_memory_create,
    .ring_memory_destroy = slri_cuda_ring_memory_destroy,
    .shard_start = slri_cuda_shard_start,
    .shard_wake = slri_resident_wake,
};

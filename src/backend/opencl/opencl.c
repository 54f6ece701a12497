// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices: options, opening, description.
#include "backend/opencl/opencl.h"

#include "base/alloc.h"
#include "base/kept.h"
#include "base/status.h"
#include "device/spec.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status opencl_probe(char *reason, size_t reason_bytes, uint32_t *devices)
{
    const struct slri_cl *cl;
    slr_status status = slri_cl_load(&cl);
    if (status == SLR_OK)
        status = slri_cl_count_devices(cl, devices);
    if (status != SLR_OK)
        snprintf(reason, reason_bytes, "%s", slr_error_message());
    return status;
}

// ---- options -------------------------------------------------------------------------------------------------------

// Whether the device can have its buffers in such memory.
static bool can_have(const struct slri_opencl *opencl, enum slri_cl_memory memory)
{
    const struct slri_cl *cl = opencl->cl;
    const struct slri_cl_facts *facts = &opencl->facts;
    bool svm =
        cl->SVMAlloc && cl->SVMFree && cl->EnqueueSVMMemcpy && cl->EnqueueSVMMemFill && cl->SetKernelArgSVMPointer;
    switch (memory) {
    case SLRI_CL_FINE:
        return svm && (facts->svm & SLRI_CL_SVM_FINE_GRAIN_BUFFER);
    case SLRI_CL_COARSE:
        return svm && (facts->svm & SLRI_CL_SVM_COARSE_GRAIN_BUFFER);
    case SLRI_CL_HOST:
        return facts->host_unified;
    default:
        return true;
    }
}

static slr_status choose_named_memory(struct slri_opencl *opencl, const char *asked)
{
    for (enum slri_cl_memory memory = SLRI_CL_FINE; memory < SLRI_CL_MEMORIES; ++memory) {
        if (strcmp(asked, slri_cl_memory_name(memory)) != 0)
            continue;
        if (!can_have(opencl, memory))
            return SLRI_FAIL(NO_DEVICE, "device '%s' (%s) has no %s memory for buffers", opencl->name,
                             opencl->facts.name, asked);
        opencl->memory = memory;
        opencl->memory_was_asked = true;
        return SLR_OK;
    }
    return SLRI_FAIL(INVALID, "device '%s': memory '%s'; 'fine', 'coarse', 'host' or 'plain' is possible", opencl->name,
                     asked);
}

static slr_status choose_memory(struct slri_opencl *opencl, const struct slri_spec *spec)
{
    const char *memory = slri_spec_option(spec, "memory"), *svm = slri_spec_option(spec, "svm");
    if (memory && svm)
        return SLRI_FAIL(INVALID, "device '%s': 'memory' says more than 'svm'; give one of them", opencl->name);
    if (memory)
        return choose_named_memory(opencl, memory);
    if (svm && strcmp(svm, "0") != 0 && strcmp(svm, "1") != 0)
        return SLRI_FAIL(INVALID, "device '%s': svm '%s'; 0 or 1 is possible", opencl->name, svm);
    opencl->memory = svm && *svm == '0' ? SLRI_CL_HOST : SLRI_CL_FINE;
    opencl->svm_was_asked = svm != NULL;
    while (!can_have(opencl, opencl->memory))
        ++opencl->memory;
    if (svm && *svm == '1' && opencl->memory > SLRI_CL_COARSE)
        return SLRI_FAIL(NO_DEVICE, "device '%s' (%s) has no shared virtual memory", opencl->name, opencl->facts.name);
    return SLR_OK;
}

static slr_status choose_patience(struct slri_opencl *opencl, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "patience");
    char *end = NULL;
    unsigned long seconds = asked ? strtoul(asked, &end, 10) : SLRI_CL_PATIENCE_S;
    if (asked && (*asked < '0' || *asked > '9' || *end || seconds == 0 || seconds > UINT32_MAX))
        return SLRI_FAIL(INVALID, "device '%s': patience '%s'; a whole number of seconds is possible", opencl->name,
                         asked);
    opencl->patience_ns = seconds * 1000000000u;
    opencl->patience_was_asked = asked != NULL;
    return SLR_OK;
}

// ---- life ----------------------------------------------------------------------------------------------------------

// What we and our kernels take for granted.
static slr_status check_facts(const struct slri_opencl *opencl)
{
    const struct slri_cl_facts *facts = &opencl->facts;
    const char *lacks = facts->opencl < 120          ? "OpenCL 1.2"
                        : !facts->available          ? "a device that is available"
                        : !facts->compiler           ? "a compiler"
                        : !facts->little_endian      ? "little-endian memory"
                        : facts->base_alignment < 16 ? "buffers at multiples of 16 B"
                                                     : NULL;
    return lacks
               ? SLRI_FAIL(NO_DEVICE, "device '%s' (%s, %s) lacks %s", opencl->name, facts->name, facts->version, lacks)
               : SLR_OK;
}

static slr_status find(struct slri_opencl *opencl, const struct slri_spec *spec)
{
    static const char *const known[] = {"memory", "svm", "ring", "patience", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(slri_cl_load(&opencl->cl));
    SLRI_TRY(slri_cl_find_device(opencl->cl, spec->index, &opencl->platform, &opencl->id));
    SLRI_TRY(slri_cl_ask(opencl->cl, opencl->platform, opencl->id, spec->index, &opencl->facts));
    SLRI_TRY(check_facts(opencl));
    SLRI_TRY(slri_ring_mode_choose(spec, opencl->name, &opencl->ring_mode));
    SLRI_TRY(choose_patience(opencl, spec));
    return choose_memory(opencl, spec);
}

static slr_status start(struct slri_opencl *opencl)
{
    const intptr_t properties[] = {SLRI_CL_CONTEXT_PLATFORM, (intptr_t)opencl->platform, 0};
    int32_t error;
    opencl->context = opencl->cl->CreateContext(properties, 1, &opencl->id, NULL, NULL, &error);
    if (!opencl->context)
        return slri_cl_failed(opencl->name, "CreateContext", error);
    slr_status status = slri_cl_stream_create(opencl, SLR_DEFAULT_PRIORITY, &opencl->own);
    if (status != SLR_OK)
        opencl->cl->ReleaseContext(opencl->context);
    return status;
}

static void free_device(struct slri_opencl *opencl)
{
    slr_allocator copy = opencl->allocator_copy;
    slri_free(opencl->allocator ? &copy : NULL, opencl, sizeof *opencl);
}

// Threads of streams wait for the device most of their time, so there may be more of them than cores.
#define MOST_STREAM_THREADS 16

static slr_status opencl_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    struct slri_opencl *opencl = slri_alloc(allocator, sizeof *opencl);
    if (!opencl)
        return SLRI_FAIL(NO_MEMORY, "no memory for an OpenCL device");
    if (allocator) {
        opencl->allocator_copy = *allocator;
        opencl->allocator = &opencl->allocator_copy;
    }
    opencl->index = spec->index;
    snprintf(opencl->name, sizeof opencl->name, "opencl:%u", spec->index);
    slr_status status = find(opencl, spec);
    if (status == SLR_OK)
        status = start(opencl);
    if (status != SLR_OK) {
        free_device(opencl);
        return status;
    }
    slri_mutex_init(&opencl->memory_lock);
    slri_mutex_init(&opencl->own_lock);
    slri_mutex_init(&opencl->stay_lock);
    slri_mutex_init(&opencl->warps_lock);
    slri_queue_pool_init(&opencl->pool, MOST_STREAM_THREADS, opencl->allocator);
    slri_cl_rings_open(opencl);
    *device = opencl;
    return SLR_OK;
}

static void opencl_close(void *device)
{
    struct slri_opencl *opencl = device;
    slri_cl_rings_close(opencl);
    slri_queue_pool_stop(&opencl->pool);
    slri_cl_stream_destroy(opencl, opencl->own);
    if (slri_cl_is_lost(opencl)) { // with all that its kernel may touch
        slri_kept_add(slri_cl_memory_bytes(opencl) + sizeof *opencl);
        return;
    }
    slri_cl_warps_close(opencl);
    opencl->cl->ReleaseContext(opencl->context);
    slri_mutex_destroy(&opencl->stay_lock);
    slri_mutex_destroy(&opencl->own_lock);
    slri_mutex_destroy(&opencl->memory_lock);
    slri_free(opencl->allocator, opencl->chunk, opencl->chunk_room * sizeof *opencl->chunk);
    free_device(opencl);
}

// ---- description ---------------------------------------------------------------------------------------------------

static void describe_name(const struct slri_opencl *opencl, char *out, size_t room)
{
    char memory[20] = "", ring[20] = "";
    if (opencl->memory_was_asked)
        snprintf(memory, sizeof memory, "memory=%s&", slri_cl_memory_name(opencl->memory));
    else if (opencl->svm_was_asked)
        snprintf(memory, sizeof memory, "svm=%d&", opencl->memory <= SLRI_CL_COARSE);
    if (opencl->ring_mode)
        snprintf(ring, sizeof ring, "ring=%s&", slri_ring_mode_name(opencl->ring_mode));
    snprintf(out, room, "%s?%s%s", opencl->name, memory, ring);
    if (opencl->patience_was_asked)
        snprintf(out + strlen(out), room - strlen(out), "patience=%u&", (unsigned)(opencl->patience_ns / 1000000000u));
    out[strlen(out) - 1] = '\0'; // the last '&', or the '?'
}

static void describe_features(struct slri_opencl *opencl, char *out, size_t room)
{
    const struct slri_cl_facts *facts = &opencl->facts;
    const struct {
        bool has;
        const char *name;
    } feature[] = {{facts->fp64, "fp64"},
                   {facts->exact_divide, "exact_divide"},
                   {facts->int64_atomics, "int64_atomics"},
                   {facts->priorities, "priorities"},
                   {opencl->stay.has_clock, "device_clock"},
                   {(facts->svm & SLRI_CL_SVM_ATOMICS) != 0, "svm_atomics"},
                   {(facts->svm & SLRI_CL_SVM_FINE_GRAIN_SYSTEM) != 0, "svm_system"}};
    snprintf(out, room, "opencl=%u.%u memory=%s local_bytes=%llu max_group=%zu", facts->opencl / 100,
             facts->opencl / 10 % 10, slri_cl_memory_name(opencl->memory), (unsigned long long)facts->local_bytes,
             facts->most_group);
    snprintf(out + strlen(out), room - strlen(out), " warps=%s",
             slri_cl_warps(opencl) == SLRI_OPENCL_LOCAL_MEMORY ? "local_memory" : "sub_groups");
    snprintf(out + strlen(out), room - strlen(out), " groups_that_stay=%u", slri_cl_groups_that_stay(opencl));
    for (size_t i = 0; i < sizeof feature / sizeof *feature; ++i)
        if (feature[i].has)
            snprintf(out + strlen(out), room - strlen(out), " %s", feature[i].name);
}

static void describe_cache(char *out, size_t room)
{
    slri_cache cache;
    if (slri_cache_open(&cache) != SLR_OK) {
        snprintf(out, room, "none: %s", slr_error_message());
        return;
    }
    snprintf(out, room, "%s", cache.why_private ? cache.why_private : cache.folder);
    slri_cache_close(&cache);
}

// How its own ring kernels run, and what was done for that.
static void describe_rings(struct slri_opencl *opencl, char *out, size_t room)
{
    uint32_t groups = slri_cl_groups_that_stay(opencl);
    const char *note = slri_cl_load_note();
    if (opencl->ring_mode != SLR_RING_RELAUNCHED && opencl->memory == SLRI_CL_FINE && groups != 0)
        snprintf(out, room, "ring kernels stay, in up to %u groups", groups);
    else
        snprintf(out, room, "ring kernels do not stay: %s",
                 opencl->ring_mode == SLR_RING_RELAUNCHED ? "ring=relaunch"
                 : opencl->memory != SLRI_CL_FINE         ? "buffers are not in fine-grained shared memory"
                                                          : "no kernel can stay beside others");
    snprintf(out + strlen(out), room - strlen(out), "%s%s", *note ? "; " : "", note);
}

static void opencl_describe(const void *device, slr_device_info *out)
{
    const struct slri_opencl *opencl = device;
    describe_name(opencl, out->name, sizeof out->name);
    snprintf(out->description, sizeof out->description, "%s (%s %s), %u compute units", opencl->facts.name,
             opencl->facts.platform, opencl->facts.driver, opencl->facts.compute_units);
    snprintf(out->engine, sizeof out->engine, "compiled by the driver");
    describe_cache(out->cache, sizeof out->cache);
    describe_features((struct slri_opencl *)device, out->features, sizeof out->features);
    describe_rings((struct slri_opencl *)device, out->notes, sizeof out->notes);
    out->workers = opencl->owners.hosts.workers;
    out->compute_units = opencl->facts.compute_units;
    out->memory_bytes = opencl->facts.memory_bytes;
}

static struct slri_capabilities opencl_capabilities(const void *device)
{
    const struct slri_opencl *opencl = device;
    bool unified = opencl->memory == SLRI_CL_FINE;
    return (struct slri_capabilities){.unified = unified,
                                      .passes_on = true,
                                      .alignment = unified ? 0 : opencl->facts.base_alignment,
                                      .patience_ns = opencl->patience_ns,
                                      .imports = unified && (opencl->facts.svm & SLRI_CL_SVM_FINE_GRAIN_SYSTEM)};
}

static struct slri_residents *opencl_residents(void *device)
{
    return &((struct slri_opencl *)device)->residents;
}

const struct slri_backend slri_backend_opencl = {
    .name = "opencl",
    .probe = opencl_probe,
    .open = opencl_open,
    .close = opencl_close,
    .describe = opencl_describe,
    .capabilities = opencl_capabilities,
    .buffer_create = slri_cl_buffer_create,
    .buffer_destroy = slri_cl_buffer_destroy,
    .queue_open = slri_cl_queue_open,
    .queue_close = slri_cl_queue_close,
    .submit = slri_cl_submit,
    .program_create = slri_cl_program_create,
    .program_destroy = slri_cl_program_destroy,
    .program_globals = slri_cl_program_globals,
    .kernel_prepare = slri_cl_kernel_prepare,
    .residents = opencl_residents,
    .ring_plan = slri_cl_ring_plan,
    .ring_prepare = slri_cl_ring_prepare,
    .relaunch_create = slri_cl_relaunch_create,
    .relaunch_destroy = slri_cl_relaunch_destroy,
    .relaunch_begin = slri_cl_relaunch_begin,
    .relaunch_end = slri_cl_relaunch_end,
    .relaunch_copy = slri_cl_relaunch_copy,
    .shard_start = slri_cl_shard_start,
    .shard_wake = slri_resident_wake,
    .ring_memory_create = slri_cl_ring_memory_create,
    .ring_memory_destroy = slri_cl_buffer_destroy,
};

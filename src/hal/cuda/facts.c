// SPDX-License-Identifier: Apache-2.0
// Which CUDA devices the driver shows, and what each is. Nothing is concluded from a name.
#include "hal/cuda/cuda.h"
#include "base/environment.h"
#include "base/status.h"
#include "engine/cache.h"
#include "hal/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

slr_status slri_cu_count_devices(const struct slri_cu *cu, uint32_t *out)
{
    int32_t count = 0;
    int32_t error = cu->DeviceGetCount(&count);
    if (error != SLRI_CU_SUCCESS && error != SLRI_CU_NO_DEVICE)
        return slri_cu_failed(cu, "cuda", "DeviceGetCount", error);
    const char *visible = slri_environment_of_vendor("CUDA_VISIBLE_DEVICES");
    if (count <= 0)
        return visible ? SLRI_FAIL(NO_DEVICE, "NVIDIA's driver lists no GPU with CUDA_VISIBLE_DEVICES='%s'", visible)
                       : SLRI_FAIL(NO_DEVICE, "NVIDIA's driver is installed, but there is no GPU");
    *out = (uint32_t)count;
    return SLR_OK;
}

// ---- by name -------------------------------------------------------------------------------------------------------

// The 16 bytes as nvidia-smi prints them, without what they are the name of.
static int32_t ask_uuid(const struct slri_cu *cu, slri_cu_device device, char out[37])
{
    unsigned char bytes[16] = {0};
    int32_t error = (cu->DeviceGetUuid_v2 ? cu->DeviceGetUuid_v2 : cu->DeviceGetUuid)(bytes, device);
    char *at = out;
    for (int i = 0; i < 16; ++i)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return error;
}

// A MIG instance is a device of its own to the driver; which of the two a device is it does not say, so that both
// beginnings are good.
static bool is_named(const char *id, const char *uuid)
{
    bool known = strncmp(id, "GPU-", 4) == 0 || strncmp(id, "MIG-", 4) == 0;
    return known && id[4] != '\0' && strncmp(id + 4, uuid, strlen(id + 4)) == 0;
}

static slr_status find_named(const struct slri_cu *cu, const char *id, uint32_t count, slri_cu_device *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        slri_cu_device device;
        char uuid[37];
        int32_t error = cu->DeviceGet(&device, (int32_t)i);
        if (error == SLRI_CU_SUCCESS)
            error = ask_uuid(cu, device, uuid);
        if (error != SLRI_CU_SUCCESS)
            return slri_cu_failed(cu, "cuda", "DeviceGetUuid", error);
        if (!is_named(id, uuid))
            continue;
        *out = device;
        ++found;
    }
    if (found == 1)
        return SLR_OK;
    return SLRI_FAIL(NO_DEVICE, "%s cuda:%s among the driver's %u device%s (nvidia-smi -L lists them)",
                     found ? "there is more than one" : "there is no", id, count, count > 1 ? "s" : "");
}

slr_status slri_cu_find_device(const struct slri_cu *cu, const struct slri_spec *spec, slri_cu_device *out)
{
    uint32_t count = 0;
    SLRI_TRY(slri_cu_count_devices(cu, &count));
    if (*spec->id)
        return find_named(cu, spec->id, count, out);
    if (spec->index >= count)
        return SLRI_FAIL(NO_DEVICE, "there is no cuda:%u; the driver lists %u device%s, from cuda:0", spec->index,
                         count, count > 1 ? "s" : "");
    int32_t error = cu->DeviceGet(out, (int32_t)spec->index);
    return error == SLRI_CU_SUCCESS ? SLR_OK : slri_cu_failed(cu, "cuda", "DeviceGet", error);
}

// ---- one device ----------------------------------------------------------------------------------------------------

static int32_t ask_attributes(const struct slri_cu *cu, slri_cu_device device, struct slri_cu_facts *out)
{
    int32_t error = SLRI_CU_SUCCESS;
#define ASK(name, number)                                                                                              \
    if (error == SLRI_CU_SUCCESS)                                                                                      \
        error = cu->DeviceGetAttribute(&out->name, number, device);
    SLRI_CU_ATTRIBUTES(ASK)
#undef ASK
#define ASK_OPTIONAL(name, number)                                                                                     \
    if (cu->DeviceGetAttribute(&out->name, number, device) != SLRI_CU_SUCCESS)                                         \
        out->name = 0;
    SLRI_CU_OPTIONAL_ATTRIBUTES(ASK_OPTIONAL)
#undef ASK_OPTIONAL
    return error;
}

slr_status slri_cu_ask(const struct slri_cu *cu, const char *name, slri_cu_device device, struct slri_cu_facts *out)
{
    struct slri_cu_facts facts = {0};
    size_t bytes = 0;
    char uuid[37];
    int32_t error = ask_attributes(cu, device, &facts);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetAttribute", error);
    error = cu->DeviceGetName(facts.name, sizeof facts.name, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetName", error);
    error = cu->DeviceTotalMem_v2(&bytes, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceTotalMem", error);
    error = ask_uuid(cu, device, uuid);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetUuid", error);
    facts.memory_bytes = bytes;
    snprintf(facts.id, sizeof facts.id, "GPU-%s", uuid);
    *out = facts;
    return SLR_OK;
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
    snprintf(out + strlen(out), room - strlen(out), "%s persistent_blocks=%u flags=%s id=%s",
             facts->time_limit ? " time_limit" : "", cuda->most_blocks,
             slri_cuda_flags_name(*cuda->flags.why ? SLRI_CU_FLAGS_ON_HOST : SLRI_CU_FLAGS_BEHIND_BAR), facts->id);
    if (cuda->least != cuda->greatest)
        snprintf(out + strlen(out), room - strlen(out), " priorities");
    uint32_t differ = __atomic_load_n(&cuda->blocks_differ, __ATOMIC_RELAXED);
    if (differ != 0)
        snprintf(out + strlen(out), room - strlen(out), " blocks_differ=%u/%u", differ >> 16, differ & 0xffff);
}

static void describe_name(const struct slri_cuda *cuda, char *out, size_t room)
{
    static const char *const memory[SLRI_CU_MEMORIES] = {"", "memory=mapped", "memory=managed"};
    char limit[24] = "", budget[24] = "", flags[24] = "";
    if (cuda->watch.limit_ns != SLRI_CU_STALL_MS * 1000000u)
        snprintf(limit, sizeof limit, "stall_ms=%u", (unsigned)(cuda->watch.limit_ns / 1000000u));
    if (cuda->sm_budget != SLRI_CU_SM_BUDGET)
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

static void describe(const struct slri_cuda *cuda, slr_device_info *out)
{
    const struct slri_cu_facts *facts = &cuda->facts;
    describe_name(cuda, out->name, sizeof out->name);
    snprintf(out->description, sizeof out->description, "%s, compute capability %d.%d, driver for CUDA %d.%d",
             facts->name, facts->major, facts->minor, cuda->cu->version / 1000, cuda->cu->version / 10 % 100);
    snprintf(out->engine, sizeof out->engine, "compiled by NVRTC");
    slri_cache_describe(out->cache, sizeof out->cache);
    describe_features(cuda, out->features, sizeof out->features);
    describe_notes(out->notes, sizeof out->notes);
    slri_cuda_describe_compiler(out->notes + strlen(out->notes), sizeof out->notes - strlen(out->notes));
    if (*cuda->flags.why && cuda->flags.asked != SLRI_CU_FLAGS_ON_HOST)
        snprintf(out->notes + strlen(out->notes), sizeof out->notes - strlen(out->notes), "; flags on the host: %s",
                 cuda->flags.why);
    slri_cuda_why_relaunch(cuda, out->relaunch_reason, sizeof out->relaunch_reason);
    out->stalls = slri_cu_watch_describe(&cuda->watch, out->stalled, sizeof out->stalled);
    out->compute_units = (uint32_t)facts->multiprocessors;
    out->memory_bytes = facts->memory_bytes;
}

static void identify(const struct slri_cuda *cuda, struct slri_identity *out)
{
    const struct slri_cu_facts *facts = &cuda->facts;
    const struct slri_nvrtc *nvrtc;
    describe_name(cuda, out->device, sizeof out->device);
    snprintf(out->model, sizeof out->model, "%s, compute capability %d.%d", facts->name, facts->major, facts->minor);
    if (slri_nvrtc_load(&nvrtc) == SLR_OK)
        snprintf(out->compiler, sizeof out->compiler, "NVRTC %d.%d", nvrtc->major, nvrtc->minor);
    snprintf(out->driver, sizeof out->driver, "CUDA %d.%d", cuda->cu->version / 1000, cuda->cu->version / 10 % 100);
}

static slr_device_class class_of(const struct slri_cu *cu, bool integrated)
{
    return cu->simulated ? SLR_DEVICE_SOFTWARE : integrated ? SLR_DEVICE_INTEGRATED_GPU : SLR_DEVICE_GPU;
}

static slr_status classify(uint32_t index, slr_device_class *device_class)
{
    const struct slri_spec spec = {.index = index};
    const struct slri_nvrtc *nvrtc;
    const struct slri_cu *cu;
    slri_cu_device device;
    int32_t integrated = 0;
    SLRI_TRY(slri_cu_load(&cu));
    SLRI_TRY(slri_nvrtc_load(&nvrtc)); // without its compiler it runs next to nothing
    SLRI_TRY(slri_cu_find_device(cu, &spec, &device));
    int32_t error = cu->DeviceGetAttribute(&integrated, SLRI_CU_INTEGRATED, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, "cuda", "DeviceGetAttribute", error);
    *device_class = class_of(cu, integrated != 0);
    return SLR_OK;
}

static slr_device_limits limits_of(const struct slri_cu_facts *facts)
{
    return (slr_device_limits){.units = (uint32_t)facts->multiprocessors,
                               .lanes = (uint32_t)facts->warp,
                               .capability = (uint32_t)(facts->major * 10 + facts->minor),
                               .block_threads = (uint32_t)facts->block_threads,
                               .unit_threads = (uint32_t)facts->unit_threads,
                               .unit_blocks = (uint32_t)facts->unit_blocks,
                               .unit_registers = (uint32_t)facts->registers,
                               .block_shared_bytes = (uint64_t)facts->shared_most,
                               .unit_shared_bytes = (uint64_t)facts->unit_shared,
                               .l2_bytes = (uint64_t)facts->l2_bytes};
}

slr_status slri_cuda_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    static const enum slri_pinning pinning[SLRI_CU_MEMORIES] = {
        [SLRI_CU_MAPPED] = SLRI_PINNED_ALREADY, [SLRI_CU_MANAGED] = SLRI_PINNED_NEVER};
    struct slri_cuda *cuda = device;
    *out = (struct slri_facts){0};
    if (!cuda)
        return classify(index, &out->device_class);
    *out = (struct slri_facts){
        .unified = cuda->memory != SLRI_CU_DEVICE,
        .passes_on = true,
        .has_pinned = true,
        .has_words = true,
        .ring_mode = cuda->ring_mode,
        .pinning = pinning[cuda->memory],
        .loss = &cuda->loss,
        .queue = {.threads = SLRI_CU_MOST_STREAM_THREADS, .most_pattern = 4, .faults = SLRI_FAULTS_PACKED},
        .residents = &cuda->residents,
        .device_class = class_of(cuda->cu, cuda->facts.integrated != 0),
        .limits = limits_of(&cuda->facts),
        .cuda_arch = (uint32_t)(cuda->facts.major * 100 + cuda->facts.minor * 10)};
    identify(cuda, &out->identity);
    if (info)
        describe(cuda, info);
    return SLR_OK;
}

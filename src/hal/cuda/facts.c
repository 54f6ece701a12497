// SPDX-License-Identifier: Apache-2.0
// Which CUDA devices the driver shows, and what each is. Nothing is concluded from a name.
#include "hal/cuda/cuda.h"
#include "base/environment.h"
#include "base/status.h"
#include "engine/spec.h"
#include "hal/cuda/nvrtc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

slr_status slri_cu_count_devices(const struct slri_cu *cu, uint32_t *out)
{
    int32_t count = 0;
    int32_t error = cu->DeviceGetCount(&count);
    if (error != SLRI_CU_SUCCESS && error != SLRI_CU_NO_DEVICE)
        return slri_cu_failed(cu, cu->vendor->backend->name, "DeviceGetCount", error);
    const char *visible = slri_environment_of_vendor(cu->vendor->visible);
    if (count <= 0)
        return visible ? SLRI_FAIL(NO_DEVICE, "%s lists no GPU with %s='%s'", cu->vendor->driver, cu->vendor->visible,
                                   visible)
                       : SLRI_FAIL(NO_DEVICE, "%s is installed, but there is no GPU", cu->vendor->driver);
    *out = (uint32_t)count;
    return SLR_OK;
}

// ---- by name -------------------------------------------------------------------------------------------------------

// The 16 bytes as nvidia-smi prints them, without what they are the name of.
static int32_t ask_uuid(const struct slri_cu *cu, slri_cu_device device, char out[37])
{
    unsigned char bytes[16] = {0};
    int32_t error = (cu->DeviceGetUuid_v2 ? cu->DeviceGetUuid_v2 : cu->DeviceGetUuid)(bytes, device);
    slri_spec_put_uuid(bytes, out);
    return error;
}

// A MIG instance is a device of its own to the driver; which of the two a device is it does not say, so that both
// beginnings are good.
static bool is_named(const char *id, const char *uuid)
{
    bool known = strncmp(id, "GPU-", 4) == 0 || strncmp(id, "MIG-", 4) == 0;
    return known && id[4] != '\0' && strncmp(id + 4, uuid, strlen(id + 4)) == 0;
}

static slr_status has_id(void *user, uint32_t i, const char *id, bool *out)
{
    const struct slri_cu *cu = user;
    slri_cu_device device;
    char uuid[37];
    int32_t error = cu->DeviceGet(&device, (int32_t)i);
    if (error == SLRI_CU_SUCCESS)
        error = ask_uuid(cu, device, uuid);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, cu->vendor->backend->name, "DeviceGetUuid", error);
    *out = is_named(id, uuid);
    return SLR_OK;
}

slr_status slri_cu_find_device(const struct slri_cu *cu, const struct slri_spec *spec, slri_cu_device *out)
{
    const char *backend = cu->vendor->backend->name;
    uint32_t count = 0, number;
    SLRI_TRY(slri_cu_count_devices(cu, &count));
    SLRI_TRY(slri_spec_choose(spec, backend, count, has_id, (void *)(uintptr_t)cu, cu->vendor->advice, &number));
    int32_t error = cu->DeviceGet(out, (int32_t)number);
    return error == SLRI_CU_SUCCESS ? SLR_OK : slri_cu_failed(cu, backend, "DeviceGet", error);
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
    error = cu->architecture ? cu->architecture(device, facts.architecture) : SLRI_CU_SUCCESS;
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "GetDeviceProperties", error);
    if (cu->architecture && !*facts.architecture)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': %s does not say its architecture", name, cu->vendor->driver);
    error = cu->bus_id ? cu->bus_id(device, facts.bus_id) : SLRI_CU_SUCCESS;
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, name, "DeviceGetPCIBusId", error);
    facts.memory_bytes = bytes;
    snprintf(facts.id, sizeof facts.id, "GPU-%s", uuid);
    *out = facts;
    return SLR_OK;
}

// ---- description ---------------------------------------------------------------------------------------------------

static void describe_features(const struct slri_cuda *cuda, char *out, size_t room)
{
    const struct slri_cu_facts *facts = &cuda->facts;
    if (*facts->architecture)
        snprintf(out, room, "arch=%s", facts->architecture);
    else
        snprintf(out, room, "sm=%d.%d", facts->major, facts->minor);
    snprintf(out + strlen(out), room - strlen(out), " sms=%d warp=%d registers=%d shared_bytes=%d l2_bytes=%d",
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
    if (facts->time_limit)
        snprintf(out + strlen(out), room - strlen(out), " time_limit");
    if (!cuda->cu->vendor->never_stays)
        snprintf(out + strlen(out), room - strlen(out), " persistent_blocks=%u flags=%s", cuda->most_blocks,
                 slri_cuda_flags_name(*cuda->flags.why ? SLRI_CU_FLAGS_ON_HOST : SLRI_CU_FLAGS_BEHIND_BAR));
    snprintf(out + strlen(out), room - strlen(out), " id=%s", facts->id);
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

static void describe_notes(const struct slri_cu_vendor *vendor, char *out, size_t room)
{
    const char *visible = slri_environment_of_vendor(vendor->visible),
               *loading = slri_environment_of_vendor("CUDA_MODULE_LOADING");
    const char *queues = slri_environment_of_vendor("CUDA_DEVICE_MAX_CONNECTIONS");
    if (vendor == &slri_vendor_cuda)
        snprintf(out, room, "%s%.20s%sCUDA_DEVICE_MAX_CONNECTIONS=%.8s", loading ? "CUDA_MODULE_LOADING=" : "",
                 loading ? loading : "", loading ? ", " : "", queues ? queues : "");
    else
        snprintf(out, room, "compiled and simulated, not run on a device");
    if (visible)
        snprintf(out + strlen(out), room - strlen(out), ", %s=%.60s", vendor->visible, visible);
}

static void describe_model(const struct slri_cu_facts *facts, char *out, size_t room)
{
    if (*facts->architecture)
        snprintf(out, room, "%s, %s", facts->name, facts->architecture);
    else
        snprintf(out, room, "%s, compute capability %d.%d", facts->name, facts->major, facts->minor);
}

static void describe(const struct slri_cuda *cuda, slr_device_info *out)
{
    const struct slri_cu_facts *facts = &cuda->facts;
    describe_model(facts, out->description, sizeof out->description);
    snprintf(out->description + strlen(out->description), sizeof out->description - strlen(out->description),
             ", driver for %s %d.%d", cuda->cu->vendor->platform, cuda->cu->version / 1000,
             cuda->cu->version / 10 % 100);
    snprintf(out->engine, sizeof out->engine, "compiled by %s", cuda->cu->vendor->compiler);
    describe_features(cuda, out->features, sizeof out->features);
    describe_notes(cuda->cu->vendor, out->notes, sizeof out->notes);
    slri_cuda_describe_compiler(cuda, out->notes + strlen(out->notes), sizeof out->notes - strlen(out->notes));
    if (!cuda->cu->vendor->never_stays && *cuda->flags.why && cuda->flags.asked != SLRI_CU_FLAGS_ON_HOST)
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
    const struct slri_cu_vendor *vendor = cuda->cu->vendor;
    const struct slri_nvrtc *nvrtc;
    describe_name(cuda, out->device, sizeof out->device);
    describe_model(facts, out->model, sizeof out->model);
    if (vendor->load_compiler(&nvrtc) == SLR_OK)
        snprintf(out->compiler, sizeof out->compiler, "%s %d.%d", nvrtc->name, nvrtc->major, nvrtc->minor);
    snprintf(out->driver, sizeof out->driver, "%s %d.%d", vendor->platform, cuda->cu->version / 1000,
             cuda->cu->version / 10 % 100);
}

static slr_device_class class_of(const struct slri_cu *cu, bool integrated)
{
    return cu->simulated ? SLR_DEVICE_SOFTWARE : integrated ? SLR_DEVICE_INTEGRATED_GPU : SLR_DEVICE_GPU;
}

static slr_status classify(const struct slri_cu_vendor *vendor, uint32_t index, slr_device_class *device_class)
{
    const struct slri_spec spec = {.index = index};
    const struct slri_nvrtc *nvrtc;
    const struct slri_cu *cu;
    slri_cu_device device;
    int32_t integrated = 0;
    SLRI_TRY(vendor->load(&cu));
    SLRI_TRY(vendor->load_compiler(&nvrtc)); // without its compiler it runs next to nothing
    SLRI_TRY(slri_cu_find_device(cu, &spec, &device));
    int32_t error = cu->DeviceGetAttribute(&integrated, SLRI_CU_INTEGRATED, device);
    if (error != SLRI_CU_SUCCESS)
        return slri_cu_failed(cu, cu->vendor->backend->name, "DeviceGetAttribute", error);
    *device_class = class_of(cu, integrated != 0);
    return SLR_OK;
}

static slr_device_limits limits_of(const struct slri_cu_facts *facts)
{
    return (slr_device_limits){.units = (uint32_t)facts->multiprocessors,
                               .lanes = (uint32_t)facts->warp,
                               .capability = slri_cuda_capability(facts),
                               .block_threads = (uint32_t)facts->block_threads,
                               .unit_threads = (uint32_t)facts->unit_threads,
                               .unit_blocks = (uint32_t)facts->unit_blocks,
                               .unit_registers = (uint32_t)facts->registers,
                               .block_shared_bytes = (uint64_t)facts->shared_most,
                               .unit_shared_bytes = (uint64_t)facts->unit_shared,
                               .l2_bytes = (uint64_t)facts->l2_bytes};
}

slr_status slri_cuda_facts(const struct slri_cu_vendor *vendor, void *device, uint32_t index, struct slri_facts *out,
                           slr_device_info *info)
{
    static const enum slri_pinning pinning[SLRI_CU_MEMORIES] = {
        [SLRI_CU_MAPPED] = SLRI_PINNED_ALREADY, [SLRI_CU_MANAGED] = SLRI_PINNED_NEVER};
    struct slri_cuda *cuda = device;
    *out = (struct slri_facts){0};
    if (!cuda)
        return classify(vendor, index, &out->device_class);
    *out = (struct slri_facts){.unified = cuda->memory != SLRI_CU_DEVICE,
                               .passes_on = true,
                               .calls_batches = true,
                               .has_pinned = true,
                               .has_words = true,
                               .ring_mode = cuda->ring_mode,
                               .pinning = pinning[cuda->memory],
                               .loss = &cuda->loss,
                               .queue = {.threads = SLRI_CU_MOST_STREAM_THREADS,
                                         .most_pattern = 4,
                                         .marks = SLRI_CU_MARKS,
                                         .faults = SLRI_FAULTS_PACKED},
                               .residents = &cuda->residents,
                               .device_class = class_of(cuda->cu, cuda->facts.integrated != 0),
                               .limits = limits_of(&cuda->facts),
                               .cuda_arch = slri_cuda_capability(&cuda->facts) * 10};
    identify(cuda, &out->identity);
    if (info)
        describe(cuda, info);
    return SLR_OK;
}

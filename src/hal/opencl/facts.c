// SPDX-License-Identifier: Apache-2.0
// Which OpenCL devices are here, and what each can do. Nothing is concluded from a name.
#include "hal/opencl/opencl.h"
#include "base/cpu.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PLATFORMS 16
#define MOST_DEVICES 64

struct found {
    slri_cl_platform platform;
    slri_cl_device_id id;
};

// A platform without devices is none, not a failure: another may have some.
static uint32_t add_devices(const struct slri_cl *cl, slri_cl_platform platform, struct found *out, uint32_t room)
{
    slri_cl_device_id id[MOST_DEVICES];
    uint32_t count = 0;
    if (cl->GetDeviceIDs(platform, SLRI_CL_DEVICE_TYPE_ALL, MOST_DEVICES, id, &count) != SLRI_CL_SUCCESS)
        return 0;
    count = count < MOST_DEVICES ? count : MOST_DEVICES;
    count = count < room ? count : room;
    for (uint32_t i = 0; i < count; ++i)
        out[i] = (struct found){platform, id[i]};
    return count;
}

static slr_status find_all(const struct slri_cl *cl, struct found found[MOST_DEVICES], uint32_t *out)
{
    slri_cl_platform platform[MOST_PLATFORMS];
    uint32_t platforms = 0, count = 0;
    int32_t error = cl->GetPlatformIDs(MOST_PLATFORMS, platform, &platforms);
    if (error == -1001 || (error == SLRI_CL_SUCCESS && platforms == 0))
        return SLRI_FAIL(NO_DEVICE,
                         "an OpenCL library is installed, but no driver (Debian: pocl-opencl-icd runs on any CPU)");
    if (error != SLRI_CL_SUCCESS)
        return slri_cl_failed("opencl", "GetPlatformIDs", error);
    platforms = platforms < MOST_PLATFORMS ? platforms : MOST_PLATFORMS;
    for (uint32_t i = 0; i < platforms; ++i)
        count += add_devices(cl, platform[i], found + count, MOST_DEVICES - count);
    if (count == 0)
        return SLRI_FAIL(NO_DEVICE, "the opencl library has %u platform%s, but no device", platforms,
                         platforms > 1 ? "s" : "");
    *out = count;
    return SLR_OK;
}

slr_status slri_cl_count_devices(const struct slri_cl *cl, uint32_t *out)
{
    struct found found[MOST_DEVICES];
    return find_all(cl, found, out);
}

slr_status slri_cl_find_device(const struct slri_cl *cl, uint32_t index, slri_cl_platform *platform,
                               slri_cl_device_id *out)
{
    struct found found[MOST_DEVICES];
    uint32_t count;
    SLRI_TRY(find_all(cl, found, &count));
    if (index >= count)
        return SLRI_FAIL(NO_DEVICE, "there is no opencl:%u; OpenCL has %u device%s, from opencl:0", index, count,
                         count > 1 ? "s" : "");
    *platform = found[index].platform;
    *out = found[index].id;
    return SLR_OK;
}

// ---- one device ----------------------------------------------------------------------------------------------------

struct question {
    const struct slri_cl *cl;
    slri_cl_device_id id;
    int32_t error; // the first
};

static void ask_number(struct question *q, uint32_t what, size_t bytes, void *out)
{
    int32_t error = q->cl->GetDeviceInfo(q->id, what, bytes, out, NULL);
    if (q->error == SLRI_CL_SUCCESS)
        q->error = error;
}

static bool ask_flag(struct question *q, uint32_t what)
{
    uint32_t flag = 0;
    ask_number(q, what, sizeof flag, &flag);
    return flag != 0;
}

// A text of any length, cut to `room`.
static void ask_text(struct question *q, uint32_t what, char *out, size_t room)
{
    size_t bytes = 0;
    *out = '\0';
    int32_t error = q->cl->GetDeviceInfo(q->id, what, 0, NULL, &bytes);
    char *text = error == SLRI_CL_SUCCESS ? calloc(bytes + 1, 1) : NULL;
    if (text)
        error = q->cl->GetDeviceInfo(q->id, what, bytes, text, NULL);
    if (text && error == SLRI_CL_SUCCESS)
        snprintf(out, room, "%.*s", (int)room - 1, text);
    free(text);
    if (q->error == SLRI_CL_SUCCESS)
        q->error = error;
}

static bool has_word(const char *list, const char *word)
{
    size_t bytes = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[bytes] == ' ' || at[bytes] == '\0'))
            return true;
    return false;
}

// Whether there are any, and whether a kernel may ask for their size. How they lie is tried (sub_groups.c).
static void ask_sub_groups(struct question *q, bool sizes, struct slri_cl_facts *out)
{
    size_t size[16], bytes = 0;
    uint32_t most = 0;
    if (out->opencl < 300 || !q->cl->GetKernelSubGroupInfo)
        return;
    ask_number(q, SLRI_CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most);
    if (most == 0)
        return;
    out->warps = SLRI_OPENCL_SUB_GROUPS;
    if (!sizes || q->cl->GetDeviceInfo(q->id, SLRI_CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof size, size, &bytes) != 0)
        return;
    for (size_t i = 0; i < bytes / sizeof *size; ++i)
        if (size[i] == SLRI_WARP_THREADS)
            out->warps = SLRI_OPENCL_SUB_GROUPS_OF_32;
}

static void ask_place(struct question *q, struct slri_cl_facts *out)
{
    uint32_t place[4] = {0}; // domain, bus, device, function
    ask_number(q, SLRI_CL_DEVICE_PCI_BUS_INFO_KHR, sizeof place, place);
    snprintf(out->pci, sizeof out->pci, "%04x:%02x:%02x.%x", place[0] & 0xffff, place[1] & 0xff, place[2] & 0xff,
             place[3] & 0xf);
}

static void ask_extensions(struct question *q, struct slri_cl_facts *out)
{
    enum { ROOM = 16384 };
    char *list = calloc(ROOM, 1);
    if (!list) {
        q->error = -6;
        return;
    }
    ask_text(q, SLRI_CL_DEVICE_EXTENSIONS, list, ROOM);
    out->fp64 = has_word(list, "cl_khr_fp64");
    out->int64_atomics = has_word(list, "cl_khr_int64_base_atomics") && has_word(list, "cl_khr_int64_extended_atomics");
    bool words = has_word(list, "cl_khr_subgroup_ballot") && has_word(list, "cl_khr_subgroup_shuffle");
    bool sizes = has_word(list, "cl_intel_required_subgroup_size");
    out->priorities = has_word(list, "cl_khr_priority_hints");
    if (has_word(list, "cl_khr_pci_bus_info"))
        ask_place(q, out);
    free(list);
    if (words && q->error == SLRI_CL_SUCCESS)
        ask_sub_groups(q, sizes, out);
}

// Errors mean no: 2.0 and earlier do not know the question.
static bool takes_spirv(const struct question *q)
{
    char versions[256] = "";
    return q->cl->CreateProgramWithIL && q->cl->GetKernelInfo &&
           q->cl->GetDeviceInfo(q->id, SLRI_CL_DEVICE_IL_VERSION, sizeof versions - 1, versions, NULL) ==
               SLRI_CL_SUCCESS &&
           strstr(versions, "SPIR-V");
}

static int32_t ask_platform(const struct slri_cl *cl, slri_cl_platform platform, struct slri_cl_facts *out)
{
    char name[256] = "";
    int32_t error = cl->GetPlatformInfo(platform, SLRI_CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
    snprintf(out->platform, sizeof out->platform, "%.*s", (int)sizeof out->platform - 1, name);
    return error;
}

static slr_device_class ask_class(struct question *q, bool host_unified)
{
    uint64_t type = 0;
    ask_number(q, SLRI_CL_DEVICE_TYPE, sizeof type, &type);
    if (type & SLRI_CL_DEVICE_TYPE_GPU)
        return host_unified ? SLR_DEVICE_INTEGRATED_GPU : SLR_DEVICE_GPU;
    return type & SLRI_CL_DEVICE_TYPE_CPU ? SLR_DEVICE_SOFTWARE : SLR_DEVICE_OTHER;
}

static slr_status classify(uint32_t index, slr_device_class *device_class)
{
    const struct slri_cl *cl;
    slri_cl_platform platform;
    SLRI_TRY(slri_cl_load(&cl));
    struct question q = {.cl = cl};
    SLRI_TRY(slri_cl_find_device(cl, index, &platform, &q.id));
    *device_class = ask_class(&q, ask_flag(&q, SLRI_CL_DEVICE_HOST_UNIFIED_MEMORY));
    return q.error == SLRI_CL_SUCCESS ? SLR_OK : slri_cl_failed("opencl", "GetDeviceInfo", q.error);
}

// "OpenCL 3.0 ..." is 300.
static uint32_t number_of(const char *version)
{
    unsigned major = 0, minor = 0;
    return sscanf(version, "OpenCL %u.%u", &major, &minor) == 2 ? major * 100 + minor * 10 : 0;
}

slr_status slri_cl_ask(const struct slri_cl *cl, slri_cl_platform platform, slri_cl_device_id id, uint32_t index,
                       struct slri_cl_facts *out)
{
    struct question q = {.cl = cl, .id = id};
    struct slri_cl_facts facts = {0};
    uint32_t alignment_bits = 0;
    uint64_t floats = 0;
    ask_text(&q, SLRI_CL_DEVICE_NAME, facts.name, sizeof facts.name);
    ask_text(&q, SLRI_CL_DEVICE_VERSION, facts.version, sizeof facts.version);
    ask_text(&q, SLRI_CL_DRIVER_VERSION, facts.driver, sizeof facts.driver);
    ask_number(&q, SLRI_CL_DEVICE_GLOBAL_MEM_SIZE, sizeof facts.memory_bytes, &facts.memory_bytes);
    ask_number(&q, SLRI_CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof facts.most_buffer_bytes, &facts.most_buffer_bytes);
    ask_number(&q, SLRI_CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof facts.cache_bytes, &facts.cache_bytes);
    ask_number(&q, SLRI_CL_DEVICE_LOCAL_MEM_SIZE, sizeof facts.local_bytes, &facts.local_bytes);
    ask_number(&q, SLRI_CL_DEVICE_MAX_COMPUTE_UNITS, sizeof facts.compute_units, &facts.compute_units);
    ask_number(&q, SLRI_CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof facts.most_group, &facts.most_group);
    ask_number(&q, SLRI_CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof alignment_bits, &alignment_bits);
    ask_number(&q, SLRI_CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats);
    facts.exact_divide = (floats & SLRI_CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    facts.base_alignment = alignment_bits / 8;
    facts.available = ask_flag(&q, SLRI_CL_DEVICE_AVAILABLE);
    facts.compiler = ask_flag(&q, SLRI_CL_DEVICE_COMPILER_AVAILABLE);
    facts.little_endian = ask_flag(&q, SLRI_CL_DEVICE_ENDIAN_LITTLE);
    facts.host_unified = ask_flag(&q, SLRI_CL_DEVICE_HOST_UNIFIED_MEMORY);
    facts.device_class = ask_class(&q, facts.host_unified);
    facts.opencl = number_of(facts.version);
    facts.spirv = takes_spirv(&q);
    ask_extensions(&q, &facts);
    if (facts.opencl >= 200)
        ask_number(&q, SLRI_CL_DEVICE_SVM_CAPABILITIES, sizeof facts.svm, &facts.svm);
    if (q.error == SLRI_CL_SUCCESS)
        q.error = ask_platform(cl, platform, &facts);
    if (q.error != SLRI_CL_SUCCESS) {
        char device[24];
        snprintf(device, sizeof device, "opencl:%u", index);
        return slri_cl_failed(device, "GetDeviceInfo", q.error);
    }
    *out = facts;
    return SLR_OK;
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

// Tried only where kernels may stay: elsewhere the trial would take time for nothing, up to its limits of seconds.
static uint32_t groups_of(struct slri_opencl *opencl)
{
    const bool may_stay = opencl->memory == SLRI_CL_FINE && opencl->ring_mode != SLR_RING_RELAUNCHED;
    return may_stay ? slri_cl_groups_that_stay(opencl) : 0;
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
                   {facts->spirv, "spirv"},
                   {slri_cl_has_clock(opencl), "device_clock"},
                   {(facts->svm & SLRI_CL_SVM_ATOMICS) != 0, "svm_atomics"},
                   {(facts->svm & SLRI_CL_SVM_FINE_GRAIN_SYSTEM) != 0, "svm_system"}};
    snprintf(out, room, "opencl=%u.%u memory=%s local_bytes=%llu max_group=%zu", facts->opencl / 100,
             facts->opencl / 10 % 10, slri_cl_memory_name(opencl->memory), (unsigned long long)facts->local_bytes,
             facts->most_group);
    snprintf(out + strlen(out), room - strlen(out), " warps=%s",
             slri_cl_warps(opencl) == SLRI_OPENCL_LOCAL_MEMORY ? "local_memory" : "sub_groups");
    snprintf(out + strlen(out), room - strlen(out), " persistent_groups=%u", groups_of(opencl));
    for (size_t i = 0; i < sizeof feature / sizeof *feature; ++i)
        if (feature[i].has)
            snprintf(out + strlen(out), room - strlen(out), " %s", feature[i].name);
}

// How its own ring kernels run, and what was done for that.
static void describe_rings(struct slri_opencl *opencl, char *out, size_t room)
{
    uint32_t groups = groups_of(opencl);
    const bool on_host = opencl->facts.device_class == SLR_DEVICE_SOFTWARE; // of its threads the note tells
    const char *note = on_host ? slri_cl_load_note() : "";
    if (groups != 0)
        snprintf(out, room, "persistent ring kernels in up to %u work-groups", groups);
    else
        snprintf(out, room, "no persistent ring kernels: %s",
                 opencl->ring_mode == SLR_RING_RELAUNCHED ? "ring=relaunch"
                 : opencl->memory != SLRI_CL_FINE         ? "buffers are not in fine-grained shared memory"
                                                          : "a persistent kernel would block other kernels");
    snprintf(out + strlen(out), room - strlen(out), "%s%s", *note ? "; " : "", note);
}

static void describe(struct slri_opencl *opencl, slr_device_info *out)
{
    snprintf(out->description, sizeof out->description, "%s (%s %s), %u compute units", opencl->facts.name,
             opencl->facts.platform, opencl->facts.driver, opencl->facts.compute_units);
    snprintf(out->engine, sizeof out->engine, "compiled by the driver");
    describe_features(opencl, out->features, sizeof out->features);
    describe_rings(opencl, out->notes, sizeof out->notes);
    out->compute_units = opencl->facts.compute_units;
    out->memory_bytes = opencl->facts.memory_bytes;
}

static void identify(const struct slri_opencl *opencl, struct slri_identity *out)
{
    const struct slri_cl_facts *facts = &opencl->facts;
    describe_name(opencl, out->device, sizeof out->device);
    snprintf(out->model, sizeof out->model, "%s, %u compute units", facts->name, facts->compute_units);
    snprintf(out->compiler, sizeof out->compiler, "%s", facts->platform);
    snprintf(out->driver, sizeof out->driver, "%s, opencl=%u.%u memory=%s", facts->driver, facts->opencl / 100,
             facts->opencl / 10 % 10, slri_cl_memory_name(opencl->memory));
}

// A driver that computes on the host's cores has their caches.
static slr_device_limits limits_of(const struct slri_cl_facts *facts)
{
    const bool is_host = facts->device_class == SLR_DEVICE_SOFTWARE;
    return (slr_device_limits){.units = facts->compute_units,
                               .block_threads = (uint32_t)facts->most_group,
                               .block_shared_bytes = facts->local_bytes,
                               .l1_bytes = is_host ? slri_cpu_cache_bytes(1) : 0,
                               .l2_bytes = is_host ? slri_cpu_cache_bytes(2) : facts->cache_bytes};
}

// Threads of streams wait for the device most of their time, so there may be more of them than cores.
#define MOST_STREAM_THREADS 16

slr_status slri_cl_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    struct slri_opencl *opencl = device;
    *out = (struct slri_facts){0};
    if (!opencl)
        return classify(index, &out->device_class);
    bool unified = opencl->memory == SLRI_CL_FINE;
    *out = (struct slri_facts){.unified = unified,
                               .passes_on = true,
                               .calls_batches = true,
                               .keeps_host = true,
                               .ring_mode = opencl->ring_mode,
                               .device_class = opencl->facts.device_class,
                               .alignment = unified ? 0 : opencl->facts.base_alignment,
                               .loss = &opencl->loss,
                               .residents = &opencl->residents,
                               .hang_timeout_ns = opencl->patience_ns,
                               .queue = {.threads = MOST_STREAM_THREADS,
                                         .most_begun = SLRI_CL_MOST_BEGUN,
                                         .most_pattern = 16,
                                         .faults = SLRI_FAULTS_IN_FIELDS,
                                         .fault_alignment = opencl->facts.base_alignment}, // a part of an object
                               .limits = limits_of(&opencl->facts),
                               .imports = unified && (opencl->facts.svm & SLRI_CL_SVM_FINE_GRAIN_SYSTEM)};
    identify(opencl, &out->identity);
    if (info)
        describe(opencl, info);
    return SLR_OK;
}

// SPDX-License-Identifier: Apache-2.0
// The OpenCL devices: options, opening, description.
#include "hal/opencl/opencl.h"

#include "base/machine.h"
#include "base/alloc.h"
#include "base/gpu_node.h"
#include "base/kept.h"
#include "base/status.h"
#include "engine/spec.h"
#include "engine/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status opencl_probe(bool automatic, uint32_t *devices)
{
    const struct slri_cl *cl;
    SLRI_TRY(slri_check_gpu_node(automatic, "SLIPRING_OPENCL_LIB"));
    SLRI_TRY(slri_cl_load(&cl));
    return slri_cl_count_devices(cl, devices);
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
    return SLRI_FAIL(INVALID, "device '%s': memory '%s'; expected 'fine', 'coarse', 'host' or 'plain'", opencl->name,
                     asked);
}

static slr_status choose_memory(struct slri_opencl *opencl, const struct slri_spec *spec)
{
    const char *memory = slri_spec_option(spec, "memory"), *svm = slri_spec_option(spec, "svm");
    if (memory && svm)
        return SLRI_FAIL(INVALID, "device '%s': options 'memory' and 'svm' exclude each other; give one", opencl->name);
    if (memory)
        return choose_named_memory(opencl, memory);
    if (svm && strcmp(svm, "0") != 0 && strcmp(svm, "1") != 0)
        return SLRI_FAIL(INVALID, "device '%s': svm '%s'; expected 0 or 1", opencl->name, svm);
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
        return SLRI_FAIL(INVALID, "device '%s': patience '%s'; expected a whole number of seconds", opencl->name,
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

static slr_status find_device(struct slri_opencl *opencl, const struct slri_spec *spec)
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
        return slri_cl_failed_to_open(opencl->name, "CreateContext", error);
    return SLR_OK;
}

static void free_device(struct slri_opencl *opencl)
{
    slr_allocator copy = opencl->allocator_copy;
    slri_loss_destroy(&opencl->loss);
    slri_free(opencl->allocator ? &copy : NULL, opencl, sizeof *opencl);
}

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
    slri_spec_put_name(spec, "opencl", opencl->name, sizeof opencl->name);
    slri_loss_init(&opencl->loss, opencl->name);
    slr_status status = find_device(opencl, spec);
    if (status == SLR_OK)
        status = start(opencl);
    if (status != SLR_OK) {
        free_device(opencl);
        return status;
    }
    slri_places_init(&opencl->chunks, opencl->allocator, opencl->name, sizeof(struct slri_cl_chunk));
    slri_mutex_init(&opencl->left_lock);
    slri_mutex_init(&opencl->stay_lock);
    slri_mutex_init(&opencl->clock_lock);
    slri_mutex_init(&opencl->warps_lock);
    slri_cl_rings_open(opencl);
    slri_machine_watch();
    *device = opencl;
    return SLR_OK;
}

static void opencl_close(void *device)
{
    struct slri_opencl *opencl = device;
    bool ended = slri_groups_settle(&opencl->residents);
    slri_residents_close(&opencl->residents);
    slri_cl_warps_close(opencl);
    if (!ended || !slri_cl_settle(opencl)) { // with all that may still be touched
        slri_cl_count_kept(opencl, slri_cl_memory_bytes(opencl) + sizeof *opencl);
        return;
    }
    slri_cl_forget_lost(opencl);
    slri_mutex_destroy(&opencl->left_lock);
    opencl->cl->ReleaseContext(opencl->context);
    slri_mutex_destroy(&opencl->stay_lock);
    slri_mutex_destroy(&opencl->clock_lock);
    slri_places_destroy(&opencl->chunks);
    free_device(opencl);
}

// What computes on the host's cores does what they do.
static slr_status opencl_metrics(const void *device, slr_metrics *out)
{
    const struct slri_opencl *opencl = device;
    char folder[64];
    if (opencl->facts.device_class == SLR_DEVICE_SOFTWARE) {
        slri_machine_read("/proc", "/sys", out);
        return SLR_OK;
    }
    if (!*opencl->facts.pci)
        return SLRI_FAIL(UNSUPPORTED, "device '%s' does not say where it is on the bus (cl_khr_pci_bus_info)",
                         opencl->name);
    snprintf(folder, sizeof folder, "/sys/bus/pci/devices/%s", opencl->facts.pci);
    return slri_machine_read_gpu(folder, out);
}

const struct slri_backend slri_backend_opencl = {
    .name = "opencl",
    .takes_raw = SLR_RAW_SPIRV,
    .blob_suffix = ".cl.bin",
    .kernel_per = SLRI_KERNEL_PER_BLOCK,
    .keeps_context = true,
    .probe = opencl_probe,
    .open = opencl_open,
    .close = opencl_close,
    .facts = slri_cl_facts,
    .reopen = slri_cl_reopen,
    .metrics = opencl_metrics,
    .memory_create = slri_cl_memory_create,
    .memory_destroy = slri_cl_memory_destroy,
    .encode = slri_cl_encode,
    .wait = slri_cl_wait,
    .queue_create = slri_cl_queue_create,
    .queue_destroy = slri_cl_queue_destroy,
    .code_write = slri_cl_code_write,
    .code_build = slri_cl_code_build,
    .code_load = slri_cl_code_load,
    .code_unload = slri_cl_code_unload,
    .code_kernel = slri_cl_code_kernel,
    .kernel_use = slri_cl_kernel_use,
};

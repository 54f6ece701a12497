// SPDX-License-Identifier: Apache-2.0
// The devices: which there are, what they say of themselves; figures of an open one.
#include "base/status.h"
#include "hal/metal/metal.h"

#include <stdio.h>

// ---- devices -------------------------------------------------------------------------------------------------------

static slr_status list_devices(const struct slri_mt_runtime *mt, slri_mt_id *devices, uint32_t *count)
{
    *devices = mt->all_devices();
    *count = *devices ? (uint32_t)SLRI_MT(mt, *devices, count) : 0;
    if (*count != 0)
        return SLR_OK;
    if (*devices)
        SLRI_MT(mt, *devices, release);
    return SLRI_FAIL(NO_DEVICE, "%s: MTLCopyAllDevices finds no device", mt->path);
}

slr_status slri_mt_count_devices(const struct slri_mt_runtime *mt, uint32_t *out)
{
    slri_mt_id devices;
    SLRI_TRY(list_devices(mt, &devices, out));
    SLRI_MT(mt, devices, release);
    return SLR_OK;
}

// The newest version of the language is the system's.
static void ask_system(const struct slri_mt_runtime *mt, struct slri_mt_facts *out)
{
    const struct slri_mt_size macos_15 = {15, 0, 0};
    slri_mt_id process = SLRI_MT(mt, mt->class.NSProcessInfo, process);
    slri_mt_words(mt, SLRI_MT(mt, process, system), out->system, sizeof out->system);
    out->language = SLRI_MT_WITH(mt, process, is_at_least, macos_15) ? SLRI_MSL_3_2 : SLRI_MSL_3_0;
}

static void ask(const struct slri_mt_runtime *mt, slri_mt_id device, struct slri_mt_facts *out)
{
    *out = (struct slri_mt_facts){.is_unified = SLRI_MT(mt, device, has_unified_memory),
                                  .id = SLRI_MT(mt, device, registry_id),
                                  .memory_bytes = SLRI_MT(mt, device, working_set),
                                  .most_buffer_bytes = SLRI_MT(mt, device, most_buffer),
                                  .most_shared_bytes = SLRI_MT(mt, device, most_shared),
                                  .most_threads = SLRI_MT(mt, device, most_threads)};
    slri_mt_words(mt, SLRI_MT(mt, device, name), out->name, sizeof out->name);
    out->device_class = mt->is_simulated  ? SLR_DEVICE_SOFTWARE
                        : out->is_unified ? SLR_DEVICE_INTEGRATED_GPU
                                          : SLR_DEVICE_GPU;
    ask_system(mt, out);
}

// Kernels find buffers by their addresses, which devices of the third family have.
static slr_status take_device(struct slri_metal *metal, slri_mt_id devices, uint32_t count)
{
    const struct slri_mt_runtime *mt = metal->mt;
    if (metal->base.index >= count)
        return SLRI_FAIL(NO_DEVICE, "device '%s': there are only %u", metal->base.name, count);
    slri_mt_id device = SLRI_MT_WITH(mt, devices, object_at, metal->base.index);
    ask(mt, device, &metal->facts);
    if (!SLRI_MT_WITH(mt, device, supports_family, SLRI_MT_FAMILY_METAL3))
        return SLRI_FAIL(NO_DEVICE, "device '%s' (%s) lacks Metal 3", metal->base.name, metal->facts.name);
    metal->device = SLRI_MT(mt, device, retain);
    return SLR_OK;
}

slr_status slri_mt_find_device(struct slri_metal *metal)
{
    slri_mt_id devices;
    uint32_t count;
    SLRI_TRY(list_devices(metal->mt, &devices, &count));
    slr_status status = take_device(metal, devices, count);
    SLRI_MT(metal->mt, devices, release);
    return status;
}

// ---- description ---------------------------------------------------------------------------------------------------

static uint32_t minor_of(const struct slri_metal *metal)
{
    return metal->facts.language & 0xff;
}

static void describe(const struct slri_metal *metal, slr_device_info *out)
{
    const struct slri_mt_facts *facts = &metal->facts;
    snprintf(out->description, sizeof out->description, "%s (macOS, %s)", facts->name, facts->system);
    snprintf(out->engine, sizeof out->engine, "MSL 3.%u, compiled by Metal", minor_of(metal));
    snprintf(out->features, sizeof out->features, "msl=3.%u unified=%d buffer_bytes=%llu id=%llx", minor_of(metal),
             facts->is_unified, (unsigned long long)facts->most_buffer_bytes, (unsigned long long)facts->id);
    out->memory_bytes = facts->memory_bytes;
    if (metal->mt->is_simulated)
        snprintf(out->notes, sizeof out->notes, "compiled and simulated, not run on a device");
}

static void identify(const struct slri_metal *metal, struct slri_identity *out)
{
    snprintf(out->model, sizeof out->model, "%s", metal->facts.name);
    snprintf(out->compiler, sizeof out->compiler, "MSL 3.%u", minor_of(metal));
    snprintf(out->driver, sizeof out->driver, "macOS %s", metal->facts.system);
}

static slr_status classify(uint32_t index, slr_device_class *out)
{
    struct slri_metal metal = {.base = {.index = index}};
    snprintf(metal.base.name, sizeof metal.base.name, "metal:%u", index);
    SLRI_TRY(slri_mt_load(&metal.mt));
    void *pool = metal.mt->push_pool();
    slr_status status = slri_mt_find_device(&metal);
    slri_mt_release(&metal, metal.device);
    metal.mt->pop_pool(pool);
    *out = metal.facts.device_class;
    return status;
}

slr_status slri_mt_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    struct slri_metal *metal = device;
    *out = (struct slri_facts){0};
    if (!metal)
        return classify(index, &out->device_class);
    const struct slri_mt_facts *facts = &metal->facts;
    slri_buffered_facts(&metal->base, facts->device_class, (uint32_t)facts->most_threads.width,
                        facts->most_shared_bytes, out);
    out->unified = out->has_private = facts->is_unified;
    out->pinning = SLRI_PINNED_ALREADY;
    out->never_persistent = // which would wait for the host's messages
        "Metal ends kernels that run for long, and promises no progress of one beside others";
    identify(metal, &out->identity);
    if (info)
        describe(metal, info);
    return SLR_OK;
}

// ---- figures -------------------------------------------------------------------------------------------------------

slr_status slri_mt_metrics(const void *device, slr_metrics *out)
{
    const struct slri_metal *metal = device;
    const struct slri_mt_counts *counts = &metal->counts;
    const struct slri_counted counted[] = {{"command_buffers", &counts->command_buffers},
                                           {"encoders", &counts->encoders},
                                           {"pipelines", &counts->pipelines},
                                           {"archives", &counts->archives},
                                           {"staged_copies", &counts->staged_copies}};
    *out = (slr_metrics){.count = 2,
                         .metric = {{"memory_used_bytes", SLRI_MT(metal->mt, metal->device, allocated)},
                                    {"memory_bytes", metal->facts.memory_bytes}}};
    slri_metrics_add_counted(out, counted, sizeof counted / sizeof *counted);
    return SLR_OK;
}

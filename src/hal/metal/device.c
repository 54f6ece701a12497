// SPDX-License-Identifier: Apache-2.0
// The Metal devices: opening, closing, the table of functions.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/kept_list.h"
#include "engine/ring_mode.h"
#include "engine/spec.h"
#include "hal/metal/metal.h"

static slr_status metal_probe(bool automatic, uint32_t *devices)
{
    const struct slri_mt_runtime *mt;
    (void)automatic; // it starts in no time
    SLRI_TRY(slri_mt_load(&mt));
    void *pool = mt->push_pool();
    slr_status status = slri_mt_count_devices(mt, devices);
    mt->pop_pool(pool);
    return status;
}

// ---- opening -------------------------------------------------------------------------------------------------------

static slr_status start(void *device, uint64_t deadline_ns)
{
    struct slri_metal *metal = device;
    (void)deadline_ns; // nothing here waits for long
    void *pool = metal->mt->push_pool();
    slr_status status = slri_mt_find_device(metal);
    metal->mt->pop_pool(pool);
    return status;
}

static slr_status find(struct slri_metal *metal, const struct slri_spec *spec)
{
    static const char *const known[] = {"ring", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(slri_ring_mode_choose(spec, metal->name, &metal->ring_mode));
    SLRI_TRY(slri_mt_load(&metal->mt));
    return start(metal, 0);
}

// Of a device that hangs nothing is freed that it may still touch.
static void give_up(void *device)
{
    struct slri_metal *metal = device;
    slri_mt_memory_forget(metal);
    slri_mt_code_forget(metal);
    if (metal->device && !slri_hangs(&metal->loss))
        slri_mt_release(metal, metal->device);
    metal->device = NULL;
}

static void metal_close(void *device)
{
    struct slri_metal *metal = device;
    void *pool = metal->mt ? metal->mt->push_pool() : NULL;
    give_up(metal);
    if (metal->mt)
        metal->mt->pop_pool(pool);
    slri_loaded_destroy(&metal->kernels);
    slri_places_destroy(&metal->chunks);
    slri_loss_destroy(&metal->loss);
    slri_free(metal->allocator, metal, sizeof *metal);
}

static slr_status metal_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    struct slri_metal *metal = slri_alloc(allocator, sizeof *metal);
    if (!metal)
        return SLRI_FAIL(NO_MEMORY, "no memory for a Metal device");
    metal->allocator = allocator;
    metal->index = spec->index;
    slri_spec_put_name(spec, "metal", metal->name, sizeof metal->name);
    slri_loss_init(&metal->loss, metal->name);
    slri_places_init(&metal->chunks, allocator, metal->name, sizeof(struct slri_mt_chunk));
    metal->kernels = (struct slri_loaded_list){
        .call = &slri_mt_loaded_calls, .device = metal, .allocator = allocator, .loss = &metal->loss};
    slri_loaded_init(&metal->kernels);
    slr_status status = find(metal, spec);
    if (status == SLR_OK)
        *device = metal;
    else
        metal_close(metal);
    return status;
}

// ---- opening again -------------------------------------------------------------------------------------------------

// What lay on the device may be wrong, and all is made anew.
static slr_status metal_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    static const struct slri_reopening how = {start, give_up};
    struct slri_metal *metal = device;
    SLRI_TRY(quiesce(user));
    void *pool = metal->mt->push_pool();
    slr_status status = slri_loss_replace(&metal->loss, &how, metal, deadline_ns);
    metal->mt->pop_pool(pool);
    return status;
}

// Metal has command buffers that run once alone.
static slr_status metal_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                    uint32_t commands, void **list)
{
    struct slri_metal *metal = device;
    SLRI_TRY(slri_loss_check(&metal->loss));
    return slri_kept_list_create(metal->name, metal->allocator, false, command, extras, commands, list);
}

const struct slri_backend slri_backend_metal = {
    .name = "metal",
    .blob_suffix = ".metal",
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .probe = metal_probe,
    .open = metal_open,
    .close = metal_close,
    .facts = slri_mt_facts,
    .reopen = metal_reopen,
    .memory_create = slri_mt_memory_create,
    .memory_destroy = slri_mt_memory_destroy,
    .encode = slri_mt_encode,
    .wait = slri_mt_wait,
    .queue_create = slri_mt_queue_create,
    .queue_destroy = slri_mt_queue_destroy,
    .metrics = slri_mt_metrics,
    .locate = slri_mt_locate,
    .list_create = metal_list_create,
    .list_destroy = slri_kept_list_destroy,
    .code_write = slri_mt_code_write,
    .code_build = slri_mt_code_build,
    .code_load = slri_mt_code_load,
    .code_unload = slri_mt_code_unload,
    .code_kernel = slri_mt_code_kernel,
    .kernel_use = slri_mt_code_use,
};

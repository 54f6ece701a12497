// SPDX-License-Identifier: Apache-2.0
// The Metal devices: opening, closing, the table of functions.
#include "base/status.h"
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

static slr_status find(void *device, const struct slri_spec *spec)
{
    struct slri_metal *metal = device;
    (void)spec; // its index is kept
    return slri_mt_load(&metal->mt);
}

// Of a device that hangs nothing is freed that it may still touch.
static void give_up(void *device)
{
    struct slri_metal *metal = device;
    if (!metal->mt)
        return;
    void *pool = metal->mt->push_pool();
    slri_buffered_forget(&metal->base);
    if (!slri_hangs(&metal->base.loss)) {
        slri_mt_release(metal, metal->tool);
        slri_mt_release(metal, metal->device);
    }
    metal->tool = metal->device = NULL;
    metal->mt->pop_pool(pool);
}

static slr_status metal_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    static const struct slri_buffered_driver driver = {.backend = &slri_backend_metal,
                                                       .bytes = sizeof(struct slri_metal),
                                                       .chunk_bytes = sizeof(struct slri_mt_chunk),
                                                       .loaded = &slri_mt_loaded_calls,
                                                       .calls = &slri_mt_queue_calls,
                                                       .find = find,
                                                       .start = start,
                                                       .give_up = give_up,
                                                       .free_chunk = slri_mt_chunk_free,
                                                       .fill = slri_mt_code_fill};
    return slri_buffered_open(&driver, spec, allocator, device);
}

const struct slri_backend slri_backend_metal = {
    SLRI_BUFFERED_SLOTS,
    .name = "metal",
    .blob_suffix = ".metal",
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .probe = metal_probe,
    .open = metal_open,
    .facts = slri_mt_facts,
    .memory_create = slri_mt_memory_create,
    .memory_destroy = slri_buffered_memory_destroy,
    .encode = slri_mt_encode,
    .wait = slri_mt_wait,
    .queue_create = slri_mt_queue_create,
    .queue_destroy = slri_mt_queue_destroy,
    .metrics = slri_mt_metrics,
    .locate = slri_mt_locate,
    .code_write = slri_mt_code_write,
    .code_kernel = slri_mt_code_kernel,
    .kernel_use = slri_mt_code_use,
};

// SPDX-License-Identifier: Apache-2.0
#include "engine/buffered_device.h"

#include "base/alloc.h"
#include "base/cpu.h"
#include "base/status.h"
#include "emit/device/faults.h"
#include "engine/ring_mode.h"
#include "engine/spec.h"

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status find_and_start(struct slri_buffered_device *device, const struct slri_spec *spec)
{
    static const char *const known[] = {"ring", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    SLRI_TRY(slri_ring_mode_choose(spec, device->name, &device->ring_mode));
    SLRI_TRY(device->driver->find(device, spec));
    return device->driver->start(device, 0);
}

static void init_device(struct slri_buffered_device *device)
{
    const struct slri_buffered_driver *driver = device->driver;
    slri_loss_init(&device->loss, device->name);
    slri_places_init(&device->chunks, device->allocator, device->name, driver->chunk_bytes);
    slri_places_init(&device->seen, device->allocator, device->name, driver->chunk_bytes);
    device->kernels = (struct slri_loaded_list){
        .call = driver->loaded, .device = device, .allocator = device->allocator, .loss = &device->loss};
    slri_loaded_init(&device->kernels);
    slri_mutex_init(&device->canary.lock);
    if (driver->init)
        driver->init(device);
}

slr_status slri_buffered_open(const struct slri_buffered_driver *driver, const struct slri_spec *spec,
                              const slr_allocator *allocator, void **device)
{
    struct slri_buffered_device *made = slri_alloc(allocator, driver->bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a device of %s", driver->backend->name);
    made->driver = driver;
    made->allocator = allocator;
    made->index = spec->index;
    slri_spec_put_name(spec, driver->backend->name, made->name, sizeof made->name);
    init_device(made);
    slr_status status = find_and_start(made, spec);
    if (status == SLR_OK)
        *device = made;
    else
        slri_buffered_close(made);
    return status;
}

void slri_buffered_close(void *device)
{
    struct slri_buffered_device *dying = device;
    const struct slri_buffered_driver *driver = dying->driver;
    if (driver->stop)
        driver->stop(dying);
    driver->give_up(dying);
    if (driver->calls_back && slri_hangs(&dying->loss))
        return;
    if (driver->end)
        driver->end(dying);
    slri_mutex_destroy(&dying->canary.lock);
    slri_loaded_destroy(&dying->kernels);
    slri_places_destroy(&dying->seen);
    slri_places_destroy(&dying->chunks);
    slri_loss_destroy(&dying->loss);
    slri_free(dying->allocator, dying, driver->bytes);
}

// Another device takes the lost one's place; nothing of that is given to it.
slr_status slri_buffered_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    struct slri_buffered_device *lost = device;
    const struct slri_reopening how = {lost->driver->start, lost->driver->give_up};
    SLRI_TRY(quiesce(user));
    if (lost->driver->may_reopen)
        SLRI_TRY(lost->driver->may_reopen(device));
    return slri_loss_replace(&lost->loss, &how, lost, deadline_ns);
}

// ---- queues, lists, kernels ----------------------------------------------------------------------------------------

slr_status slri_buffered_queue_create(void *device, uint32_t priority, void **queue)
{
    struct slri_buffered_device *of = device;
    const struct slri_buffered_driver *driver = of->driver;
    void *made;
    SLRI_TRY(slri_buffered_create(driver->calls, &of->loss, of->allocator, driver->calls->bytes, &made));
    slr_status status = driver->calls->make(device, priority, made);
    if (status == SLR_OK)
        *queue = made;
    else
        driver->calls->free(made);
    return status;
}

slr_status slri_buffered_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                     uint32_t commands, void **list)
{
    struct slri_buffered_device *of = device;
    const struct slri_buffered_driver *driver = of->driver;
    void *made;
    SLRI_TRY(slri_loss_check(&of->loss));
    SLRI_TRY(slri_kept_list_create(of->name, of->allocator, driver->moves_over, command, extras, commands, &made));
    slr_status status = driver->make_list ? driver->make_list(device, made) : SLR_OK;
    if (status == SLR_OK)
        *list = made;
    else
        slri_buffered_list_destroy(device, made);
    return status;
}

void slri_buffered_list_destroy(void *device, void *list)
{
    const struct slri_buffered_device *of = device;
    const struct slri_kept_list *dying = list;
    if (dying->native)
        of->driver->free_list(device, dying->native);
    slri_kept_list_destroy(device, list);
}

static slr_status make_kernel(struct slri_buffered_device *device, const struct slri_code_text *text,
                              const struct slri_blob *stored, struct slri_blob *made, void **loaded)
{
    void *kernel;
    SLRI_TRY(slri_loaded_add(&device->kernels, text->entry->name, &kernel));
    slr_status status = device->driver->fill(device, text, stored, made, kernel);
    if (status == SLR_OK)
        *loaded = kernel;
    else
        slri_loaded_remove(&device->kernels, kernel);
    return status;
}

slr_status slri_buffered_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob,
                                    void **loaded)
{
    return make_kernel(device, text, NULL, blob, loaded);
}

slr_status slri_buffered_code_load(void *device, const struct slri_code_text *text, const struct slri_blob *blob,
                                   void **loaded)
{
    return make_kernel(device, text, blob, NULL, loaded);
}

void slri_buffered_code_unload(void *device, void *loaded)
{
    struct slri_buffered_device *of = device;
    slri_loaded_remove(&of->kernels, loaded);
}

slr_status slri_buffered_code_kernel(void *device, void *loaded, const struct slri_code_text *of,
                                     struct slri_kernel *out)
{
    (void)device;
    out->native = loaded;
    return of->is_batched ? SLR_OK : slri_kernel_may_fault(of->module, of->entry, &out->may_fault);
}

// ---- memory --------------------------------------------------------------------------------------------------------

slr_status slri_buffered_check_bytes(const struct slri_buffered_device *device, uint64_t bytes, uint64_t most)
{
    SLRI_TRY(slri_loss_check(&device->loss));
    return bytes <= most ? SLR_OK
                         : SLRI_FAIL(NO_MEMORY, "device '%s' has no buffers of %llu B; its longest have %llu B",
                                     device->name, (unsigned long long)bytes, (unsigned long long)most);
}

struct slri_places *slri_buffered_places(struct slri_buffered_device *device, enum slri_memory_kind kind)
{
    const bool is_buffer = kind == SLRI_MEMORY_DEVICE || kind == SLRI_MEMORY_SEEN || kind == SLRI_MEMORY_PRIVATE;
    return is_buffer ? &device->chunks : &device->seen;
}

slr_status slri_buffered_keep(struct slri_buffered_device *device, struct slri_places *places, void *chunk,
                              uint64_t from, void **memory)
{
    slr_status status = from != 0 ? slri_places_add_anywhere(places, chunk, from) : slri_places_add(places, chunk);
    if (status == SLR_OK)
        *memory = (void *)(uintptr_t) * (const uint64_t *)chunk;
    else
        device->driver->free_chunk(device, chunk);
    return status;
}

void slri_buffered_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    struct slri_buffered_device *of = device;
    uint64_t chunk[SLRI_CHUNK_BYTES / 8];
    const bool is_shown = kind == SLRI_MEMORY_GIVEN || kind == SLRI_MEMORY_PINNED; // and may be given again
    if (slri_is_lost(&of->loss))                                                   // it goes with the device
        return;
    if (slri_places_take(slri_buffered_places(of, kind), memory, is_shown ? bytes : 0, chunk))
        of->driver->free_chunk(device, chunk);
}

static void forget_places(struct slri_buffered_device *device, struct slri_places *places)
{
    const unsigned char *chunk = places->entry;
    for (uint32_t i = 0; i < places->count; ++i)
        device->driver->free_chunk(device, chunk + i * places->bytes);
    slri_places_clear(places);
}

void slri_buffered_forget(struct slri_buffered_device *device)
{
    forget_places(device, &device->chunks);
    forget_places(device, &device->seen);
    slri_loaded_forget(&device->kernels);
}

// ---- facts ---------------------------------------------------------------------------------------------------------

void slri_buffered_facts(struct slri_buffered_device *device, slr_device_class device_class, uint32_t block_threads,
                         uint64_t block_shared_bytes, struct slri_facts *out)
{
    const bool is_host = device_class == SLR_DEVICE_SOFTWARE;
    *out = (struct slri_facts){.device_class = device_class,
                               .ring_mode = device->ring_mode,
                               .loss = &device->loss,
                               .hang_timeout_ns = SLRI_HANG_TIMEOUT_NS,
                               .queue = {SLRI_BUFFERED_FACTS, .moves_over = device->driver->moves_over},
                               .limits = {.block_threads = block_threads,
                                          .block_shared_bytes = block_shared_bytes,
                                          .l1_bytes = is_host ? slri_cpu_cache_bytes(1) : 0,
                                          .l2_bytes = is_host ? slri_cpu_cache_bytes(2) : 0}};
    slri_ring_mode_put_name(device->name, device->ring_mode, out->identity.device, sizeof out->identity.device);
}

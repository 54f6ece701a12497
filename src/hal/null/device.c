// SPDX-License-Identifier: Apache-2.0
// The device that does nothing: for measuring the layers above, and for testing them.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "hal/hal.h"
#include "engine/spec.h"

#include <stdio.h>
#include <string.h>

struct null_device {
    const slr_allocator *allocator;
    uint64_t commands, bytes; // atomic
};

static slr_status null_probe(bool automatic, uint32_t *devices)
{
    (void)automatic;
    *devices = 1;
    return SLR_OK;
}

static slr_status null_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    static const char *const known[] = {NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    if (spec->index != 0)
        return SLRI_FAIL(NO_DEVICE, "the only null device is null:0");
    struct null_device *null = slri_alloc(allocator, sizeof *null);
    if (!null)
        return SLRI_FAIL(NO_MEMORY, "no memory for a null device");
    null->allocator = allocator;
    *device = null;
    return SLR_OK;
}

static void null_close(void *device)
{
    struct null_device *null = device;
    slri_free(null->allocator, null, sizeof *null);
}

static void describe(const struct null_device *null, slr_device_info *out)
{
    snprintf(out->name, sizeof out->name, "null");
    snprintf(out->description, sizeof out->description, "executes nothing; %llu commands of %llu B so far",
             (unsigned long long)__atomic_load_n(&null->commands, __ATOMIC_RELAXED),
             (unsigned long long)__atomic_load_n(&null->bytes, __ATOMIC_RELAXED));
    snprintf(out->engine, sizeof out->engine, "none");
    snprintf(out->cache, sizeof out->cache, "none");
}

static slr_status null_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    (void)index;
    *out = (struct slri_facts){.device_class = SLR_DEVICE_NOTHING, .queue = {.moves_over = true}};
    if (info)
        describe(device, info);
    return SLR_OK;
}

static slr_status null_memory_create(void *device, enum slri_memory_kind kind, uint64_t bytes, void **memory)
{
    (void)device, (void)kind, (void)bytes;
    *memory = NULL;
    return SLR_OK;
}

static void null_memory_destroy(void *device, enum slri_memory_kind kind, void *memory, uint64_t bytes)
{
    (void)device, (void)kind, (void)memory, (void)bytes;
}

static slr_status null_encode(void *device, void *queue, const struct slri_command *command,
                              const struct slri_extras *extras, uint32_t commands)
{
    struct null_device *null = device;
    (void)queue, (void)extras;
    for (uint32_t i = 0; i < commands; ++i) {
        if (command[i].op == SLRI_COPY_OUT)
            memset(command[i].copy.host, 0, command[i].copy.bytes);
        __atomic_fetch_add(&null->bytes, slri_command_bytes(&command[i]), __ATOMIC_RELAXED);
        __atomic_fetch_add(&null->commands, 1, __ATOMIC_RELAXED);
    }
    return SLR_OK;
}

const struct slri_backend slri_backend_null = {
    .name = "null",
    .simulates = true,
    .probe = null_probe,
    .open = null_open,
    .close = null_close,
    .facts = null_facts,
    .memory_create = null_memory_create,
    .memory_destroy = null_memory_destroy,
    .encode = null_encode,
};

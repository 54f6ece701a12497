// SPDX-License-Identifier: Apache-2.0
// The device that does nothing: for measuring the front half, and for testing it.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/status.h"
#include "device/queue.h"
#include "device/spec.h"

#include <stdio.h>
#include <string.h>

struct null_device {
    slr_allocator allocator;
    bool hooked;
    uint64_t commands, bytes; // atomic
};

static slr_status null_probe(char *reason, size_t reason_bytes, uint32_t *devices)
{
    (void)reason, (void)reason_bytes;
    *devices = 1;
    return SLR_OK;
}

static slr_status null_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    static const char *const known[] = {NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    if (spec->index != 0)
        return SLRI_FAIL(NO_DEVICE, "there is one null device, null:0");
    struct null_device *null = slri_alloc(allocator, sizeof *null);
    if (!null)
        return SLRI_FAIL(NO_MEMORY, "no memory for a null device");
    if (allocator) {
        null->allocator = *allocator;
        null->hooked = true;
    }
    *device = null;
    return SLR_OK;
}

static void null_close(void *device)
{
    struct null_device *null = device;
    slr_allocator allocator = null->allocator;
    slri_free(null->hooked ? &allocator : NULL, null, sizeof *null);
}

static void null_describe(const void *device, slr_device_info *out)
{
    const struct null_device *null = device;
    snprintf(out->name, sizeof out->name, "null");
    snprintf(out->description, sizeof out->description, "does nothing; %llu commands of %llu B so far",
             (unsigned long long)__atomic_load_n(&null->commands, __ATOMIC_RELAXED),
             (unsigned long long)__atomic_load_n(&null->bytes, __ATOMIC_RELAXED));
    snprintf(out->engine, sizeof out->engine, "none");
    snprintf(out->cache, sizeof out->cache, "none");
}

static struct slri_capabilities null_capabilities(const void *device)
{
    (void)device;
    return (struct slri_capabilities){0};
}

static slr_status null_buffer_create(void *device, uint64_t bytes, void **memory)
{
    (void)device, (void)bytes;
    *memory = NULL;
    return SLR_OK;
}

static void null_buffer_destroy(void *device, void *memory, uint64_t bytes)
{
    (void)device, (void)memory, (void)bytes;
}

static slr_status null_run(void *device, const struct slri_command *command, slr_status before)
{
    struct null_device *null = device;
    if (command->op == SLRI_CALL)
        command->call.function(command->call.user, before);
    else if (command->op == SLRI_TASK)
        return command->task.function(command->task.user);
    else if (command->op == SLRI_STAMP)
        *command->stamp = slri_now_ns();
    else if (command->op == SLRI_COPY_OUT)
        memset(command->copy.host, 0, command->copy.bytes);
    __atomic_fetch_add(&null->bytes, slri_command_bytes(command), __ATOMIC_RELAXED);
    __atomic_fetch_add(&null->commands, 1, __ATOMIC_RELAXED);
    return SLR_OK;
}

static void null_ready(struct slri_queue *queue)
{
    while (slri_queue_step(queue)) {
    }
}

static const struct slri_queue_runner runner = {.ready = null_ready, .run = null_run};

static slr_status null_queue_open(void *device, struct slri_queue *queue)
{
    queue->device = device;
    queue->runner = &runner;
    return SLR_OK;
}

static slr_status null_submit(void *device, struct slri_submission *submission)
{
    return slri_queue_submit(device, submission, &runner, NULL);
}

const struct slri_backend slri_backend_null = {
    .name = "null",
    .simulates = true,
    .probe = null_probe,
    .open = null_open,
    .close = null_close,
    .describe = null_describe,
    .capabilities = null_capabilities,
    .buffer_create = null_buffer_create,
    .buffer_destroy = null_buffer_destroy,
    .queue_open = null_queue_open,
    .submit = null_submit,
};

// SPDX-License-Identifier: Apache-2.0
// The device: its table of functions, and its life.
#include "tests/fakes/toy/toy.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/cache.h"
#include "engine/code.h"
#include "engine/spec.h"

#include <stdio.h>

static slr_status toy_probe(bool automatic, uint32_t *devices)
{
    (void)automatic;
    *devices = 1;
    return SLR_OK;
}

static slr_status check_spec(const struct slri_spec *spec)
{
    static const char *const known[] = {"words", NULL};
    const char *path, *version;
    SLRI_TRY(slri_spec_check_options(spec, known));
    if (spec->index != 0)
        return SLRI_FAIL(NO_DEVICE, "the only toy is toy:0");
    return slri_cpu_compiler(&path, &version);
}

static slr_status toy_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    SLRI_TRY(check_spec(spec));
    struct toy *toy = slri_alloc(allocator, sizeof *toy);
    if (!toy)
        return SLRI_FAIL(NO_MEMORY, "no memory for a toy");
    toy->allocator = allocator;
    toy->compiler.engine_was_asked = true; // it never interprets
    toy->words = spec->options != 0;
    slri_cpu_fallback_init(&toy->compiler.fallback);
    slri_loss_init(&toy->loss, "toy:0");
    *device = toy;
    return SLR_OK;
}

static void toy_close(void *device)
{
    struct toy *toy = device;
    slri_loss_destroy(&toy->loss);
    slri_cpu_fallback_destroy(&toy->compiler.fallback);
    slri_free(toy->allocator, toy, sizeof *toy);
}

static void describe(slr_device_info *out)
{
    const char *path = "", *version = "";
    slri_cpu_compiler(&path, &version);
    snprintf(out->name, sizeof out->name, "toy:0");
    snprintf(out->description, sizeof out->description, "simulated, with memory of its own");
    snprintf(out->engine, sizeof out->engine, "compiled by %s (%s)", path, version);
    slri_cache_describe(out->cache, sizeof out->cache);
}

static slr_status toy_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    struct toy *toy = device;
    (void)index;
    *out = (struct slri_facts){.device_class = SLR_DEVICE_SOFTWARE,
                               .loss = toy ? &toy->loss : NULL,
                               .queue = {.threads = 2, .most_pattern = 4, .faults = SLRI_FAULTS_PACKED}};
    if (info)
        describe(info);
    return SLR_OK;
}

// Its memory stays, and what it was given has ended when it was waited for.
static slr_status begin_again(void *device, uint64_t deadline_ns)
{
    (void)device, (void)deadline_ns;
    return SLR_OK;
}

static slr_status toy_reopen(void *device, uint64_t deadline_ns, slr_status (*quiesce)(void *user), void *user)
{
    static const struct slri_reopening how = {begin_again, NULL};
    struct toy *toy = device;
    SLRI_TRY(quiesce(user));
    return slri_loss_reopen(&toy->loss, &how, toy, deadline_ns);
}

const struct slri_backend slri_backend_toy = {
    .name = "toy",
    .blob_suffix = ".so",
    .blobs_are_files = true,
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .keeps_context = true,
    .probe = toy_probe,
    .open = toy_open,
    .close = toy_close,
    .facts = toy_facts,
    .reopen = toy_reopen,
    .memory_create = toy_memory_create,
    .memory_destroy = toy_memory_destroy,
    .queue_create = toy_queue_create,
    .queue_destroy = toy_queue_destroy,
    .encode = toy_encode,
    .wait = toy_wait,
    .list_create = toy_list_create,
    .list_destroy = toy_list_destroy,
    .code_write = toy_code_write,
    .code_build = toy_code_build,
    .code_load = slri_cpu_code_load,
    .code_unload = slri_cpu_code_unload,
    .code_kernel = toy_code_kernel,
};

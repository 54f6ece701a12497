// SPDX-License-Identifier: Apache-2.0
// The cpu device: options, description, buffers.
#include "backend/cpu/cpu.h"

#include "backend/cpu/compile.h"
#include "base/alloc.h"
#include "base/cpu.h"
#include "base/memory_map.h"
#include "base/sim.h"
#include "base/status.h"
#include "device/spec.h"
#include "kernel/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status cpu_probe(char *reason, size_t reason_bytes, uint32_t *devices)
{
    (void)reason, (void)reason_bytes;
    *devices = 1;
    return SLR_OK;
}

// ---- options -------------------------------------------------------------------------------------------------------

static slr_status choose_engine(struct slri_cpu *cpu, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "engine"), *path, *version;
    cpu->engine_was_asked = asked != NULL;
    if (!asked) {
        cpu->interpreted = slri_cpu_compiler(&path, &version) != SLR_OK;
        return SLR_OK;
    }
    cpu->interpreted = strcmp(asked, "interpreted") == 0;
    if (cpu->interpreted)
        return SLR_OK;
    if (strcmp(asked, "compiled") != 0)
        return SLRI_FAIL(INVALID, "device 'cpu': engine '%s'; 'compiled' or 'interpreted' is possible", asked);
    if (slri_cpu_compiler(&path, &version) == SLR_OK)
        return SLR_OK;
    char why[512];
    snprintf(why, sizeof why, "%s", slr_error_message());
    return SLRI_FAIL(NO_DEVICE, "device 'cpu?engine=compiled' cannot run here: %s", why);
}

static slr_status choose_threads(struct slri_cpu *cpu, const struct slri_spec *spec, uint32_t *workers)
{
    const char *asked = slri_spec_option(spec, "threads");
    cpu->threads_were_asked = asked != NULL;
    *workers = slri_core_count();
    if (*workers > SLRI_CPU_DEFAULT_MOST_WORKERS)
        *workers = SLRI_CPU_DEFAULT_MOST_WORKERS;
    if (!asked)
        return SLR_OK;
    char *end;
    unsigned long threads = strtoul(asked, &end, 10);
    if (*end != '\0' || asked[0] < '0' || asked[0] > '9' || threads < 1 || threads > SLRI_CPU_MOST_WORKERS)
        return SLRI_FAIL(INVALID, "device 'cpu': threads '%s'; 1 to %d are possible", asked, SLRI_CPU_MOST_WORKERS);
    *workers = (uint32_t)threads;
    return SLR_OK;
}

static slr_status choose_memory(struct slri_cpu *cpu, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "unified");
    if (asked && strcmp(asked, "0") != 0 && strcmp(asked, "1") != 0)
        return SLRI_FAIL(INVALID, "device 'cpu': unified '%s'; 0 or 1 is possible", asked);
    cpu->separate = asked && *asked == '0';
    return SLR_OK;
}

static slr_status choose(struct slri_cpu *cpu, const struct slri_spec *spec, uint32_t *workers)
{
    static const char *const known[] = {"engine", "threads", "unified", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    if (spec->index != 0)
        return SLRI_FAIL(NO_DEVICE, "there is one cpu, cpu:0");
    SLRI_TRY(choose_threads(cpu, spec, workers));
    SLRI_TRY(choose_memory(cpu, spec));
    return choose_engine(cpu, spec);
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status cpu_open(const struct slri_spec *spec, const slr_allocator *allocator, void **device)
{
    struct slri_cpu *cpu = slri_alloc(allocator, sizeof *cpu);
    if (!cpu)
        return SLRI_FAIL(NO_MEMORY, "no memory for a cpu device");
    uint32_t workers;
    slr_status status = choose(cpu, spec, &workers);
    if (status != SLR_OK) {
        slri_free(allocator, cpu, sizeof *cpu);
        return status;
    }
    if (allocator) {
        cpu->allocator_copy = *allocator;
        cpu->allocator = &cpu->allocator_copy;
    }
    slri_owners_init(&cpu->owners, workers, cpu->allocator);
    slri_queue_pool_init(&cpu->pool, workers, cpu->allocator);
    slri_cpu_crew_init(&cpu->crew, workers - 1, cpu->allocator);
    *device = cpu;
    return SLR_OK;
}

static void cpu_close(void *device)
{
    struct slri_cpu *cpu = device;
    slri_owners_stop(&cpu->owners);
    slri_queue_pool_stop(&cpu->pool);
    slri_cpu_crew_stop(&cpu->crew);
    slr_allocator copy = cpu->allocator_copy;
    slri_free(cpu->allocator ? &copy : NULL, cpu, sizeof *cpu);
}

static void describe_engine(const struct slri_cpu *cpu, char *out, size_t room)
{
    const char *path, *version;
    bool compiler = slri_cpu_compiler(&path, &version) == SLR_OK;
    if (!cpu->interpreted && compiler)
        snprintf(out, room, "compiled by %s (%s)", path, version);
    else
        snprintf(out, room, "interpreted%s", cpu->engine_was_asked ? "" : ": no C compiler was found");
}

static void describe_cache(const struct slri_cpu *cpu, char *out, size_t room)
{
    slri_cache cache;
    if (cpu->interpreted)
        snprintf(out, room, "none: handlers are interpreted");
    else if (slri_cache_open(&cache) != SLR_OK)
        snprintf(out, room, "none: %s", slr_error_message());
    else {
        snprintf(out, room, "%s", cache.why_private ? cache.why_private : cache.folder);
        slri_cache_close(&cache);
    }
}

static struct slri_capabilities cpu_capabilities(const void *device)
{
    const struct slri_cpu *cpu = device;
    return (struct slri_capabilities){.unified = !cpu->separate, .imports = true};
}

static void describe_name(const struct slri_cpu *cpu, char *out, size_t room)
{
    char threads[24] = "";
    const char *engine = cpu->interpreted ? "engine=interpreted&" : "engine=compiled&";
    if (cpu->threads_were_asked)
        snprintf(threads, sizeof threads, "threads=%u&", cpu->owners.workers);
    snprintf(out, room, "cpu?%s%s%s", cpu->engine_was_asked ? engine : "", threads, cpu->separate ? "unified=0&" : "");
    out[strlen(out) - 1] = '\0'; // the last '&', or the '?'
}

static void cpu_describe(const void *device, slr_device_info *out)
{
    const struct slri_cpu *cpu = device;
    char identity[SLRI_CPU_IDENTITY_BYTES];
    slri_cpu_identity(identity);
    describe_name(cpu, out->name, sizeof out->name);
    if (slri_sim_on())
        snprintf(out->description, sizeof out->description, "simulated, SLIPRING_SIM=%llu",
                 (unsigned long long)slri_sim_seed());
    else
        snprintf(out->description, sizeof out->description, "%s, %u cores", identity, slri_core_count());
    describe_engine(cpu, out->engine, sizeof out->engine);
    describe_cache(cpu, out->cache, sizeof out->cache);
    out->workers = cpu->owners.workers;
    out->compute_units = slri_core_count();
    out->memory_bytes = slri_cpu_memory_bytes();
}

// ---- buffers -------------------------------------------------------------------------------------------------------

static slr_status cpu_buffer_create(void *device, uint64_t bytes, void **memory)
{
    (void)device;
    *memory = slri_map_reserve_large(bytes);
    if (*memory)
        return SLR_OK;
    return SLRI_FAIL(NO_MEMORY, "device 'cpu' has no memory for a buffer of %llu B", (unsigned long long)bytes);
}

static void cpu_buffer_destroy(void *device, void *memory, uint64_t bytes)
{
    (void)device;
    slri_map_release(memory, bytes);
}

// ---- ring kernels --------------------------------------------------------------------------------------------------

static slr_status cpu_ring_plan(void *device, const struct slri_ring_facts *facts, struct slri_ring_plan *plan)
{
    const struct slri_cpu *cpu = device;
    *plan = (struct slri_ring_plan){SLR_RING_ON_HOST, slri_owners_count(&cpu->owners, facts->instances), "", false};
    return SLR_OK;
}

static slr_status cpu_shard_start(void *device, struct slri_shard *shard)
{
    return slri_owners_start(&((struct slri_cpu *)device)->owners, shard);
}

const struct slri_backend slri_backend_cpu = {
    .name = "cpu",
    .simulates = true,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .describe = cpu_describe,
    .capabilities = cpu_capabilities,
    .buffer_create = cpu_buffer_create,
    .buffer_destroy = cpu_buffer_destroy,
    .queue_open = slri_cpu_queue_open,
    .submit = slri_cpu_submit,
    .program_create = slri_cpu_program_create,
    .program_destroy = slri_cpu_program_destroy,
    .program_globals = slri_cpu_program_globals,
    .handler_create = slri_cpu_handler_create,
    .handler_destroy = slri_cpu_handler_destroy,
    .kernel_prepare = slri_cpu_kernel_prepare,
    .ring_plan = cpu_ring_plan,
    .shard_start = cpu_shard_start,
    .shard_wake = slri_owners_wake,
};

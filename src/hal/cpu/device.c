// SPDX-License-Identifier: Apache-2.0
// The cpu device: options, opening.
#include "hal/cpu/cpu.h"

#include "base/machine.h"
#include "base/alloc.h"
#include "base/cpu.h"
#include "base/environment.h"
#include "base/sim.h"
#include "base/status.h"
#include "engine/spec.h"
#include "engine/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status cpu_probe(bool automatic, uint32_t *devices)
{
    (void)automatic;
    *devices = 1;
    return SLR_OK;
}

// ---- options -------------------------------------------------------------------------------------------------------

// The compiler works in the cache folder, or in a private one.
static slr_status look_for_folder(void)
{
    slri_cache cache;
    SLRI_TRY(slri_cache_open(&cache));
    slr_status status = cache.folder ? SLR_OK : SLRI_FAIL(SYSTEM, "no folder to compile in: %s", cache.why_private);
    slri_cache_close(&cache);
    return status;
}

// A wish that cannot be met is said; a machine without a compiler is a machine where kernels are interpreted.
static slr_status choose_by_compiler(struct slri_cpu *cpu, const char *compiler)
{
    const char *path, *version, *wish = slri_environment("SLIPRING_CC");
    if (compiler && strcmp(compiler, "tried") != 0)
        return SLRI_FAIL(INVALID, "device 'cpu': compiler '%s'; expected 'tried'", compiler);
    if (slri_cpu_compiler(&path, &version) != SLR_OK) {
        cpu->interpreted = true;
        slri_cpu_fallback_note(&cpu->fallback, wish && *wish);
    } else if (look_for_folder() != SLR_OK) {
        cpu->interpreted = cpu->has_no_folder = true;
        slri_cpu_fallback_note(&cpu->fallback, false);
    } else if (compiler && slri_cpu_try_compiler() != SLR_OK) {
        cpu->interpreted = true;
        slri_cpu_fallback_note(&cpu->fallback, true);
    }
    return SLR_OK;
}

static slr_status choose_engine(struct slri_cpu *cpu, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "engine"), *path, *version;
    cpu->engine_was_asked = asked != NULL;
    if (!asked)
        return choose_by_compiler(cpu, slri_spec_option(spec, "compiler"));
    cpu->interpreted = strcmp(asked, "interpreted") == 0;
    if (cpu->interpreted)
        return SLR_OK;
    if (strcmp(asked, "compiled") != 0)
        return SLRI_FAIL(INVALID, "device 'cpu': engine '%s'; expected 'compiled' or 'interpreted'", asked);
    if (slri_cpu_compiler(&path, &version) == SLR_OK && look_for_folder() == SLR_OK)
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
        return SLRI_FAIL(INVALID, "device 'cpu': threads '%s'; expected 1 to %d", asked, SLRI_CPU_MOST_WORKERS);
    *workers = (uint32_t)threads;
    return SLR_OK;
}

static slr_status choose_memory(struct slri_cpu *cpu, const struct slri_spec *spec)
{
    const char *asked = slri_spec_option(spec, "unified");
    if (asked && strcmp(asked, "0") != 0 && strcmp(asked, "1") != 0)
        return SLRI_FAIL(INVALID, "device 'cpu': unified '%s'; expected 0 or 1", asked);
    cpu->separate = asked && *asked == '0';
    return SLR_OK;
}

static slr_status choose(struct slri_cpu *cpu, const struct slri_spec *spec, uint32_t *workers)
{
    static const char *const known[] = {"engine", "threads", "unified", "compiler", NULL};
    SLRI_TRY(slri_spec_check_options(spec, known));
    if (spec->index != 0)
        return SLRI_FAIL(NO_DEVICE, "the only cpu is cpu:0");
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
    slri_cpu_fallback_init(&cpu->fallback);
    slr_status status = choose(cpu, spec, &workers);
    if (status != SLR_OK) {
        slri_cpu_fallback_destroy(&cpu->fallback);
        slri_free(allocator, cpu, sizeof *cpu);
        return status;
    }
    cpu->allocator = allocator;
    cpu->workers = workers;
    slri_cpu_crew_init(&cpu->crew, workers - 1, cpu->allocator);
    slri_machine_watch();
    *device = cpu;
    return SLR_OK;
}

static void cpu_close(void *device)
{
    struct slri_cpu *cpu = device;
    slri_cpu_crew_stop(&cpu->crew);
    slri_cpu_fallback_destroy(&cpu->fallback);
    slri_free(cpu->allocator, cpu, sizeof *cpu);
}

static slr_status cpu_metrics(const void *device, slr_metrics *out)
{
    (void)device; // they are the machine's
    slri_machine_read("/proc", "/sys", out);
    return SLR_OK;
}

const struct slri_backend slri_backend_cpu = {
    .name = "cpu",
    .simulates = true,
    .blob_suffix = ".so",
    .blobs_are_files = true,
    .kernel_per = SLRI_KERNEL_PER_SHAPE,
    .is_host = true,
    .probe = cpu_probe,
    .open = cpu_open,
    .close = cpu_close,
    .facts = slri_cpu_facts,
    .metrics = cpu_metrics,
    .memory_create = slri_cpu_memory_create,
    .memory_destroy = slri_cpu_memory_destroy,
    .encode = slri_cpu_encode,
    .code_write = slri_cpu_code_write,
    .code_build = slri_cpu_code_build,
    .code_load = slri_cpu_code_load,
    .code_unload = slri_cpu_code_unload,
    .code_kernel = slri_cpu_code_kernel,
};

// SPDX-License-Identifier: Apache-2.0
// What the cpu device is, and says of itself.
#include "hal/cpu/cpu.h"

#include "base/cpu.h"
#include "base/sim.h"
#include "engine/cache.h"
#include "run/grid.h"

#include <stdio.h>
#include <string.h>

static void describe_engine(const struct slri_cpu *cpu, char *out, size_t room)
{
    const char *path, *version;
    char why[256];
    slri_cpu_why_interpreted(cpu, why, sizeof why);
    if (!cpu->interpreted && !*why && slri_cpu_compiler(&path, &version) == SLR_OK)
        snprintf(out, room, "compiled by %s (%s)", path, version);
    else if (cpu->has_no_folder)
        snprintf(out, room, "interpreted: no folder to compile in");
    else
        snprintf(out, room, "interpreted%s%.140s", *why ? ": " : "", why);
}

static void describe_cache(const struct slri_cpu *cpu, char *out, size_t room)
{
    if (cpu->interpreted && !cpu->has_no_folder)
        snprintf(out, room, "none: handlers are interpreted");
    else
        slri_cache_describe(out, room);
}

static void describe_name(const struct slri_cpu *cpu, char *out, size_t room)
{
    char threads[24] = "";
    const char *engine = cpu->interpreted ? "engine=interpreted&" : "engine=compiled&";
    if (cpu->threads_were_asked)
        snprintf(threads, sizeof threads, "threads=%u&", cpu->workers);
    snprintf(out, room, "cpu?%s%s%s", cpu->engine_was_asked ? engine : "", threads, cpu->separate ? "unified=0&" : "");
    out[strlen(out) - 1] = '\0'; // the last '&', or the '?'
}

static void describe(const struct slri_cpu *cpu, slr_device_info *out)
{
    char identity[SLRI_CPU_IDENTITY_BYTES];
    slri_cpu_identity(identity);
    if (slri_sim_on() && !slri_sim_in_turns())
        snprintf(out->description, sizeof out->description, "simulated, SLIPRING_SIM=%llu",
                 (unsigned long long)slri_sim_seed());
    else
        snprintf(out->description, sizeof out->description, "%s, %u %s", identity, slri_core_count(),
                 slri_core_count() == 1 ? "core" : "cores");
    describe_engine(cpu, out->engine, sizeof out->engine);
    slri_cpu_why_interpreted(cpu, out->engine_reason, sizeof out->engine_reason);
    describe_cache(cpu, out->cache, sizeof out->cache);
    snprintf(out->features, sizeof out->features, "%spriorities",
             !cpu->interpreted && slri_cpu_takes_width() ? "vector_width " : "");
    out->compute_units = slri_core_count();
    out->memory_bytes = slri_cpu_memory_bytes();
}

static void identify_facts(const struct slri_cpu *cpu, struct slri_identity *out)
{
    char identity[SLRI_CPU_IDENTITY_BYTES];
    slri_cpu_identity(identity);
    describe_name(cpu, out->device, sizeof out->device);
    snprintf(out->model, sizeof out->model, "%.100s, %u cores", identity, slri_core_count());
    describe_engine(cpu, out->compiler, sizeof out->compiler);
}

slr_status slri_cpu_facts(void *device, uint32_t index, struct slri_facts *out, slr_device_info *info)
{
    const struct slri_cpu *cpu = device;
    (void)index;
    *out = (struct slri_facts){
        .device_class = SLR_DEVICE_CPU, .unified = !cpu || !cpu->separate, .imports = true, .prints = true};
    if (cpu) {
        out->queue = (struct slri_queue_facts){.threads = cpu->workers, .moves_over = true};
        out->owners = cpu->workers;
        identify_facts(cpu, &out->identity);
        out->limits = (slr_device_limits){.units = cpu->workers,
                                          .lanes = cpu->interpreted ? 1 : slri_cpu_lanes(),
                                          .block_threads = SLRI_BLOCK_MAX_THREADS,
                                          .unit_blocks = 1,
                                          .block_shared_bytes = SLRI_GRID_MAX_SHARED_BYTES,
                                          .l1_bytes = slri_cpu_cache_bytes(1),
                                          .l2_bytes = slri_cpu_cache_bytes(2)};
    }
    if (info)
        describe(cpu, info);
    return SLR_OK;
}

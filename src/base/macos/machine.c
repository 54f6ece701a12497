// SPDX-License-Identifier: Apache-2.0
// What the Mach kernel tells every program: how busy all cores are, and memory. Temperatures and clocks it tells nobody
// without more rights, so they are left out.
#include "base/machine.h"

#include "base/cpu.h"
#include "base/forks.h"
#include "base/status.h"
#include "base/thread.h"

#include <mach/mach.h>
#include <stdbool.h>

enum { LEAST_MS = 20 };

struct load {
    uint64_t busy, all; // ticks of 10 ms, of all cores
};

static slri_mutex lock = SLRI_MUTEX_INIT;
static struct load last; // of the last reading; 0: none yet

// A store of half a reading would give a wrong percentage.
static void forget_load(void)
{
    last = (struct load){0, 0};
}
SLRI_RENEW_IN_CHILD(renew_lock, &lock, forget_load)

static void put(slr_metrics *out, const char *name, uint64_t value)
{
    if (out->count < SLR_MOST_METRICS)
        out->metric[out->count++] = (slr_metric){name, value};
}

static bool read_load(struct load *out)
{
    host_cpu_load_info_data_t ticks;
    mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
    if (host_statistics(mach_host_self(), HOST_CPU_LOAD_INFO, (host_info_t)&ticks, &count) != KERN_SUCCESS)
        return false;
    out->busy =
        (uint64_t)ticks.cpu_ticks[CPU_STATE_USER] + ticks.cpu_ticks[CPU_STATE_SYSTEM] + ticks.cpu_ticks[CPU_STATE_NICE];
    out->all = out->busy + ticks.cpu_ticks[CPU_STATE_IDLE];
    return out->all > 0;
}

void slri_machine_watch(void)
{
    struct load now;
    slri_mutex_lock(&lock);
    if (last.all == 0 && read_load(&now))
        last = now;
    slri_mutex_unlock(&lock);
}

static void read_busy(slr_metrics *out)
{
    struct load now;
    if (!read_load(&now))
        return;
    slri_mutex_lock(&lock);
    struct load before = last;
    uint64_t passed = now.all - before.all;
    bool is_enough = before.all && now.all > before.all && passed * 10 >= LEAST_MS;
    if (is_enough || before.all == 0)
        last = now;
    slri_mutex_unlock(&lock);
    if (is_enough && now.busy >= before.busy)
        put(out, "busy_percent", (100 * (now.busy - before.busy) + passed / 2) / passed);
}

void slri_machine_read(const char *proc, const char *sys, slr_metrics *out)
{
    (void)proc, (void)sys; // Linux's
    uint64_t all = slri_cpu_memory_bytes(), available = slri_cpu_memory_available();
    read_busy(out);
    if (all > 0 && available <= all)
        put(out, "memory_used_bytes", all - available);
    if (all > 0)
        put(out, "memory_bytes", all);
}

slr_status slri_machine_read_gpu(const char *folder, slr_metrics *out)
{
    (void)out;
    return SLRI_FAIL(NOT_FOUND, "%s says nothing of what the GPU does: macOS has no such folder", folder);
}

// SPDX-License-Identifier: Apache-2.0
// What Windows tells every program: how busy all cores are, and memory. Temperatures and clocks need a driver of their
// own, so they are left out.
#define WIN32_LEAN_AND_MEAN
#include "base/machine.h"

#include "base/cpu.h"
#include "base/status.h"
#include "base/thread.h"

#include <stdbool.h>
#include <windows.h>

enum { LEAST_MS = 20 };

struct load {
    uint64_t busy, all; // units of 100 ns, of all cores
};

static slri_mutex lock = SLRI_MUTEX_INIT;
static struct load last; // of the last reading; 0: none yet

static void put(slr_metrics *out, const char *name, uint64_t value)
{
    if (out->count < SLR_MOST_METRICS)
        out->metric[out->count++] = (slr_metric){name, value};
}

static uint64_t units(FILETIME time)
{
    return (uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime;
}

static bool read_load(struct load *out)
{
    FILETIME idle, kernel, user; // the second counts the first
    if (!GetSystemTimes(&idle, &kernel, &user))
        return false;
    out->all = units(kernel) + units(user);
    out->busy = out->all - units(idle);
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
    bool is_enough = before.all && now.all > before.all && passed >= (uint64_t)LEAST_MS * 10000;
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
    return SLRI_FAIL(NOT_FOUND, "%s says nothing of what the GPU does: Windows has no such folder", folder);
}

// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "base/machine.h"

#include "base/cpu.h"
#include "base/forks.h"
#include "base/status.h"
#include "base/thread.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ZONES = 32, PACKAGES = 16, CARDS = 16, PATH = 512, LEAST_MS = 20 };

struct load {
    uint64_t busy, all; // ticks, of all cores that this process may use
};

static slri_mutex lock = SLRI_MUTEX_INIT;
static struct load last; // of the last reading; 0: none yet

// Of a package: what its counter said last, and what it has counted, also after the counter began anew.
static struct package {
    bool is_known;
    uint64_t last_uj, total_uj;
} packages[PACKAGES];

// A store of half a reading would give a wrong percentage, or a wrong sum.
static void forget_readings(void)
{
    last = (struct load){0, 0};
    memset(packages, 0, sizeof packages);
}
SLRI_RENEW_IN_CHILD(renew_lock, &lock, forget_readings)

static void put(slr_metrics *out, const char *name, uint64_t value)
{
    if (out->count < SLR_MOST_METRICS)
        out->metric[out->count++] = (slr_metric){name, value};
}

static bool read_number(const char *folder, const char *name, uint64_t *out)
{
    char path[PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH) // another file's name, cut off
        return false;
    FILE *file = fopen(path, "re");
    bool fine = file && fscanf(file, "%" SCNu64, out) == 1;
    if (file)
        fclose(file);
    return fine;
}

// ---- the cores -----------------------------------------------------------------------------------------------------

static bool may_use(unsigned core)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) != 0 || (core < CPU_SETSIZE && CPU_ISSET(core, &allowed));
}

// Lines "cpuN user nice system idle iowait irq softirq steal": idle and iowait are idle.
static bool read_load(const char *proc, struct load *out)
{
    char path[PATH], line[512];
    *out = (struct load){0, 0};
    snprintf(path, sizeof path, "%s/stat", proc);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        unsigned core;
        uint64_t t[8] = {0};
        int count = sscanf(
            line, "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
            &core, &t[0], &t[1], &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]);
        if (count < 6 || !may_use(core))
            continue;
        for (int i = 0; i < 8; ++i) {
            out->all += t[i];
            out->busy += i == 3 || i == 4 ? 0 : t[i];
        }
    }
    if (file)
        fclose(file);
    return out->all > 0;
}

void slri_machine_watch(void)
{
    struct load now;
    slri_mutex_lock(&lock);
    if (last.all == 0 && read_load("/proc", &now))
        last = now;
    slri_mutex_unlock(&lock);
}

static void read_busy(const char *proc, slr_metrics *out)
{
    struct load now;
    const long ticks = sysconf(_SC_CLK_TCK);
    if (!read_load(proc, &now))
        return;
    slri_mutex_lock(&lock);
    struct load before = last;
    uint64_t passed = now.all - before.all;
    bool is_enough =
        before.all && now.all > before.all && passed * 1000 >= (uint64_t)(ticks > 0 ? ticks : 100) * LEAST_MS;
    if (is_enough || before.all == 0)
        last = now;
    slri_mutex_unlock(&lock);
    if (is_enough && now.busy >= before.busy)
        put(out, "busy_percent", (100 * (now.busy - before.busy) + passed / 2) / passed);
}

static bool is_of_processor(const char *folder)
{
    char path[PATH], type[64] = "";
    snprintf(path, sizeof path, "%s/type", folder);
    FILE *file = fopen(path, "re");
    bool fine = file && fgets(type, sizeof type, file);
    if (file)
        fclose(file);
    return fine && (strstr(type, "x86_pkg_temp") || strstr(type, "cpu"));
}

static void read_temperature(const char *sys, slr_metrics *out)
{
    for (int i = 0; i < ZONES; ++i) {
        char folder[PATH / 2];
        uint64_t thousandths;
        snprintf(folder, sizeof folder, "%s/class/thermal/thermal_zone%d", sys, i);
        if (!is_of_processor(folder) || !read_number(folder, "temp", &thousandths))
            continue;
        put(out, "temperature_c", thousandths / 1000);
        return;
    }
}

// Of the core with the highest clock: idle ones are slowed down.
static void read_clock(const char *proc, const char *sys, slr_metrics *out)
{
    char path[PATH], line[512];
    uint64_t khz, highest = 0;
    double mhz;
    for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%u/cpufreq", sys, core);
        if (may_use(core) && read_number(path, "scaling_cur_freq", &khz))
            highest = khz / 1000 > highest ? khz / 1000 : highest;
        else if (may_use(core))
            break;
    }
    snprintf(path, sizeof path, "%s/cpuinfo", proc);
    FILE *file = highest == 0 ? fopen(path, "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "cpu MHz : %lf", &mhz) == 1)
            highest = (uint64_t)mhz > highest ? (uint64_t)mhz : highest;
    if (file)
        fclose(file);
    if (highest > 0)
        put(out, "clock_mhz", highest);
}

// A powercap zone counts a package of cores if it says so: another one counts the whole board ("psys"), and so the
// packages once more.
static bool is_package(const char *folder)
{
    char path[PATH], name[64] = "";
    snprintf(path, sizeof path, "%s/name", folder);
    FILE *file = fopen(path, "re");
    bool fine = file && fgets(name, sizeof name, file) && strncmp(name, "package-", strlen("package-")) == 0;
    if (file)
        fclose(file);
    return fine;
}

// A counter begins at 0 again behind its range. Readings must come within that: about an hour at 70 W.
static bool count_package(const char *folder, struct package *package)
{
    uint64_t now, range;
    if (!read_number(folder, "energy_uj", &now) || !read_number(folder, "max_energy_range_uj", &range))
        return false;
    if (!package->is_known)
        *package = (struct package){true, now, now};
    package->total_uj += now >= package->last_uj     ? now - package->last_uj
                         : range >= package->last_uj ? range - package->last_uj + now
                                                     : now;
    package->last_uj = now;
    return true;
}

// The sum of the packages; none where one of them cannot be read.
static void read_energy(const char *sys, slr_metrics *out)
{
    uint64_t sum_uj = 0;
    uint32_t count = 0;
    bool fine = true;
    slri_mutex_lock(&lock);
    for (int i = 0; fine && i < PACKAGES; ++i) {
        char folder[PATH / 2];
        snprintf(folder, sizeof folder, "%s/class/powercap/intel-rapl:%d", sys, i);
        if (!is_package(folder))
            continue;
        fine = count_package(folder, &packages[i]);
        sum_uj += packages[i].total_uj;
        ++count;
    }
    slri_mutex_unlock(&lock);
    if (fine && count > 0)
        put(out, "energy_mj", sum_uj / 1000);
}

void slri_machine_read(const char *proc, const char *sys, slr_metrics *out)
{
    uint64_t all = slri_cpu_memory_bytes(), available = slri_cpu_memory_available();
    read_busy(proc, out);
    if (all > 0 && available <= all)
        put(out, "memory_used_bytes", all - available);
    if (all > 0)
        put(out, "memory_bytes", all);
    read_temperature(sys, out);
    read_energy(sys, out);
    read_clock(proc, sys, out);
}

// ---- a GPU ---------------------------------------------------------------------------------------------------------

// The first folder below `folder` whose name begins so.
static bool find_below(const char *folder, const char *begin, char out[PATH])
{
    DIR *all = opendir(folder);
    bool found = false;
    for (struct dirent *each; all && !found && (each = readdir(all));) {
        found = strncmp(each->d_name, begin, strlen(begin)) == 0;
        if (found && snprintf(out, PATH, "%s/%s", folder, each->d_name) >= PATH)
            found = false;
    }
    if (all)
        closedir(all);
    return found;
}

static void read_sensors(const char *folder, slr_metrics *out)
{
    char hwmons[PATH], hwmon[PATH];
    uint64_t value;
    snprintf(hwmons, sizeof hwmons, "%s/hwmon", folder);
    if (!find_below(hwmons, "hwmon", hwmon))
        return;
    if (read_number(hwmon, "temp1_input", &value))
        put(out, "temperature_c", value / 1000);
    if (read_number(hwmon, "power1_average", &value) || read_number(hwmon, "power1_input", &value))
        put(out, "power_mw", value / 1000); // from microwatts
    if (read_number(hwmon, "energy1_input", &value))
        put(out, "energy_mj", value / 1000); // i915 and xe, in microjoules since the driver was loaded
    if (read_number(hwmon, "freq1_input", &value))
        put(out, "clock_mhz", value / 1000000);
}

static void read_intel_clock(const char *folder, slr_metrics *out)
{
    char cards[PATH], card[PATH];
    uint64_t mhz;
    snprintf(cards, sizeof cards, "%s/drm", folder);
    if (find_below(cards, "card", card) && read_number(card, "gt_act_freq_mhz", &mhz))
        put(out, "clock_mhz", mhz);
    else if (read_number(folder, "tile0/gt0/freq0/act_freq", &mhz)) // xe
        put(out, "clock_mhz", mhz);
}

slr_status slri_machine_read_gpu(const char *folder, slr_metrics *out)
{
    uint64_t value;
    uint32_t before = out->count;
    if (read_number(folder, "gpu_busy_percent", &value))
        put(out, "busy_percent", value);
    if (read_number(folder, "mem_busy_percent", &value))
        put(out, "memory_busy_percent", value);
    if (read_number(folder, "mem_info_vram_used", &value))
        put(out, "memory_used_bytes", value);
    if (read_number(folder, "mem_info_vram_total", &value))
        put(out, "memory_bytes", value);
    read_sensors(folder, out);
    read_intel_clock(folder, out);
    return out->count > before ? SLR_OK : SLRI_FAIL(NOT_FOUND, "%s says nothing of what the GPU does", folder);
}

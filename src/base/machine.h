// SPDX-License-Identifier: Apache-2.0
/// What this machine and a GPU of it are doing just now, from the files of the system's kernel. What a file does not
/// say is left out: nothing is made up.
#ifndef SLRI_BASE_MACHINE_H
#define SLRI_BASE_MACHINE_H

#include <slipring/metrics.h>

/// Notes how much the cores have done so far. Later readings count from the last reading, the first from here.
void slri_machine_watch(void);

/// Of the cores that this process may use: busy_percent, since the last reading by anybody in this process (left out
/// where less than 20 ms have passed), memory_used_bytes, memory_bytes, temperature_c, energy_mj (the counters of all
/// packages; it goes on where they begin anew), clock_mhz. `proc` and `sys` are the folders of the system ("/proc",
/// "/sys"), or those of a test.
void slri_machine_read(const char *proc, const char *sys, slr_metrics *out);

/// Of a GPU whose folder in sysfs that is ("/sys/bus/pci/devices/0000:03:00.0"), as amdgpu, i915 and xe have it:
/// busy_percent, memory_used_bytes, memory_bytes, temperature_c, power_mw, energy_mj, clock_mhz. Errors: NOT_FOUND (no
/// such folder, or nothing of this in it).
slr_status slri_machine_read_gpu(const char *folder, slr_metrics *out);

#endif

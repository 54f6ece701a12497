// SPDX-License-Identifier: Apache-2.0
// A page is told nothing of what the machine does; of its own memory it knows.
#include "base/machine.h"

#include "base/cpu.h"
#include "base/status.h"

void slri_machine_watch(void)
{
}

void slri_machine_read(const char *proc, const char *sys, slr_metrics *out)
{
    (void)proc, (void)sys; // Linux's
    if (out->count < SLR_MOST_METRICS)
        out->metric[out->count++] = (slr_metric){"memory_bytes", slri_cpu_memory_bytes()};
}

slr_status slri_machine_read_gpu(const char *folder, slr_metrics *out)
{
    (void)out;
    return SLRI_FAIL(NOT_FOUND, "%s says nothing of what the GPU does: a page has no folders of the system", folder);
}

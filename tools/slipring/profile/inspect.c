// SPDX-License-Identifier: Apache-2.0
// The busiest kernels once more, where their files are still there: checked in the interpreter, with arguments that the
// checker invents, and asked about on the device. What cannot be read or checked gives no advice.
#include "profile/profile.h"

#include <string.h>

enum { BUSY_TENTHS = 1, STEPS = 20000000, MEMORY = 1 << 28 };

static void keep_finding(const slr_check_finding *finding, profile_inspection *out)
{
    static const uint32_t codes[] = {[PROFILE_STRIDED] = 60, [PROFILE_BANKS] = 61, [PROFILE_DIVERGENT] = 62};
    for (unsigned kind = 0; kind < PROFILE_FINDINGS; kind++) {
        if (finding->code != codes[kind] || out->finding[kind].is_there)
            continue;
        out->finding[kind].is_there = true;
        out->finding[kind].line = finding->at.line;
        snprintf(out->finding[kind].text, sizeof out->finding[kind].text, "%s", finding->message);
    }
}

static void check_source(const slr_profile_row *row, profile_inspection *out)
{
    slr_device *device;
    slr_kernel *kernel = NULL;
    slr_check *check = NULL;
    slr_check_finding finding;
    slr_check_desc desc = SLR_CHECK_DESC_INIT;
    desc.steps = STEPS;
    desc.memory_bytes = MEMORY;
    if (slr_device_open("cpu?engine=interpreted", NULL, &device) != SLR_OK)
        return;
    if (slr_kernel_load(device, row->file, row->name, &kernel) == SLR_OK &&
        slr_kernel_check(kernel, &desc, &check) == SLR_OK)
        for (uint32_t i = 0; slr_check_get_finding(check, i, &finding) == SLR_OK; i++)
            keep_finding(&finding, out);
    slr_check_destroy(check);
    slr_kernel_destroy(kernel);
    slr_device_close(device);
}

// Blocks of all launches are taken as alike, and as a row of threads: only their number counts.
static void ask_occupancy(slr_device *device, const slr_profile_row *row, profile_inspection *out)
{
    slr_kernel *kernel;
    if (row->blocks == 0 || slr_kernel_load(device, row->file, row->name, &kernel) != SLR_OK)
        return;
    uint32_t block = (uint32_t)(row->threads / row->blocks);
    if (slr_kernel_get_occupancy(kernel, SLR_1D_BLOCKS(row->threads / row->n, block), &out->occupancy) != SLR_OK)
        out->occupancy = (slr_kernel_occupancy){0};
    slr_kernel_destroy(kernel);
}

void profile_inspect(slr_device *device, profile *out)
{
    for (size_t i = 0; i < out->row_count && out->inspected < PROFILE_INSPECTED; i++) {
        const slr_profile_row *row = &out->rows[i];
        if (row->kind != SLR_PROFILE_KERNEL || *row->file == '\0' || row->n == 0 ||
            10 * row->total_ns < BUSY_TENTHS * out->total[SLR_PROFILE_KERNEL].total_ns)
            continue;
        profile_inspection *inspection = &out->inspection[out->inspected++];
        inspection->row = row;
        check_source(row, inspection);
        ask_occupancy(device, row, inspection);
    }
}

// SPDX-License-Identifier: Apache-2.0
// A row's source is the return address of the call. An allocation's is its file's name and line, which the macros of
// the public headers pass on.
#include "observe/caller.h"

#include "base/dl.h"
#include "observe/names.h"

#include <string.h>

static const char allocation[] = "allocation";

static bool is_profiled(void)
{
    return (__atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE) & SLRI_OBSERVE_PROFILE) != 0; // as slri_is_observed
}

static void count_call(const char *what, uint32_t device_name, uint64_t source, const struct slri_sample *sample)
{
    // Its work is counted by the row of its kernel.
    const struct slri_sample plain = {.ns = sample->ns, .bytes = sample->bytes, .is_pinned = sample->is_pinned};
    struct slri_own *own = slri_own();
    struct slri_row *row = own ? slri_row(SLR_PROFILE_CALLER, slri_name(what), device_name, source) : NULL;
    if (row)
        slri_row_add(row, own, &plain);
}

void slri_caller_add(struct slri_site site, const char *what, slr_device *device, const struct slri_sample *sample)
{
    if (!site.at || !is_profiled())
        return;
    if (!what)
        what = site.is_list ? "recorded launch" : "launch";
    count_call(what, slri_device_name(device), (uint64_t)(uintptr_t)site.at, sample);
}

void slri_caller_allocated(const char *file, uint32_t line, uint32_t device_name, uint64_t bytes)
{
    const struct slri_sample sample = {.bytes = bytes};
    if (file && is_profiled())
        count_call(allocation, device_name, (uint64_t)slri_name(file) << 32 | line, &sample);
}

void slri_caller_read(const struct slri_row *row, slr_profile_row *out)
{
    char path[4096];
    out->file = "";
    if (row->source == 0) // more places than there are rows
        return;
    if (strcmp(out->name, allocation) == 0) {
        out->file = slri_name_text((uint32_t)(row->source >> 32));
        out->lines[0] = (slr_profile_line){(uint32_t)row->source, 1};
        return;
    }
    // The call ends before the address to which it returns.
    const void *at = (const void *)(uintptr_t)(row->source - 1);
    if (slri_dl_find_place(at, path, sizeof path, &out->offset))
        out->file = slri_name_text(slri_name(path));
}

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

static const char launch[] = "launch", recorded_launch[] = "recorded launch";

// `what` is one of few texts, so that its address tells it.
static struct slri_row *find_row(struct slri_own *own, const void *at, const char *what, uint32_t device_name)
{
    if (own->caller.row && own->caller.at == at && own->caller.what == what && own->caller.device == device_name)
        return own->caller.row;
    own->caller.row = slri_row(SLR_PROFILE_CALLER, slri_name(what), device_name, (uint64_t)(uintptr_t)at);
    own->caller.at = at;
    own->caller.what = what;
    own->caller.device = device_name;
    return own->caller.row;
}

void slri_caller_add(struct slri_site site, const char *what, slr_device *device, const struct slri_sample *sample)
{
    struct slri_own *own = site.at && is_profiled() ? slri_own() : NULL;
    if (!own)
        return;
    if (!what)
        what = site.is_list ? recorded_launch : launch;
    struct slri_row *row = find_row(own, site.at, what, slri_device_name(device));
    // Its work is counted by the row of its kernel.
    const struct slri_sample plain = {.ns = sample->ns, .bytes = sample->bytes, .is_pinned = sample->is_pinned};
    if (row)
        slri_row_add(row, own, &plain);
}

void slri_caller_allocated(const char *file, uint32_t line, uint32_t device_name, uint64_t bytes)
{
    const struct slri_sample sample = {.bytes = bytes};
    struct slri_own *own = file && is_profiled() ? slri_own() : NULL;
    const uint64_t source = own ? (uint64_t)slri_name(file) << 32 | line : 0;
    struct slri_row *row = own ? slri_row(SLR_PROFILE_CALLER, slri_name(allocation), device_name, source) : NULL;
    if (row)
        slri_row_add(row, own, &sample);
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

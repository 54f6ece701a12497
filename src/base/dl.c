// SPDX-License-Identifier: Apache-2.0
// Which shared library is opened, and what is said where none can be.
#include "base/dl.h"

#include "base/environment.h"
#include "base/forks.h"
#include "base/status.h"

#include <stdio.h>

static slr_status open_asked(slr_status status, const char *variable, const char *asked, slri_dl **out,
                             const char **path)
{
    char why[300];
    if (slri_dl_open(asked, out) == SLR_OK) {
        *path = asked;
        return SLR_OK;
    }
    snprintf(why, sizeof why, "%s", slr_error_message());
    slri_fail(status, "%s (%s names it)", why, variable);
    return status;
}

slr_status slri_dl_open_first(slr_status status, const char *variable, const char *const *places, const char *hint,
                              slri_dl **out, const char **path)
{
    const char *asked = slri_environment(variable);
    char why[300] = "";
    if (!slri_environment_allows_vendors()) {
        slri_fail(status,
                  "%s is not loaded: this program has more rights than its caller, and the library trusts the "
                  "environment (call clearenv() first, or see SECURITY.md)",
                  *places);
        return status;
    }
    if (asked && *asked)
        return open_asked(status, variable, asked, out, path);
    for (; *places; ++places) {
        if (slri_dl_open(*places, out) == SLR_OK) {
            *path = *places;
            return SLR_OK;
        }
        if (!*why)
            snprintf(why, sizeof why, "%s", slr_error_message());
    }
    slri_fail(status, "%s (%s)", why, hint);
    return status;
}

slri_function slri_dl_find(slri_dl *library, const char *name, slri_text *missing)
{
    slri_function found = NULL;
    if (slri_dl_function(library, name, &found) != SLR_OK && missing)
        slri_text_printf(missing, "%s%s", missing->length ? ", " : "", name);
    return found;
}

#define MOST_MISSING 160 // characters: what is no such library at all lacks everything

slr_status slri_dl_all_found(slr_status status, const char *path, const char *kind, slri_text *missing)
{
    bool all = missing->length == 0 && !missing->out_of_memory;
    if (!all)
        slri_fail(status, "%s is not usable as %s: it lacks %.*s%s", path, kind, MOST_MISSING, slri_text_view(missing),
                  missing->length > MOST_MISSING ? "..." : "");
    slri_text_free(missing);
    return all ? SLR_OK : status;
}

// Under its lock.
static slr_status load(struct slri_dl_vendor *vendor)
{
    slri_dl *library;
    const char *path;
    SLRI_TRY(slri_dl_open_first(vendor->absent, vendor->variable, vendor->places, vendor->hint, &library, &path));
    slr_status status = vendor->start(library, path);
    if (status != SLR_OK && !vendor->stays)
        slri_dl_close(library);
    return status;
}

static slri_mutex taking_over = SLRI_MUTEX_INIT; // of all vendors' `forks`
SLRI_RENEW_IN_CHILD(renew_taking_over, &taking_over, NULL)

// In a child the thread that had the vendor's lock may not exist: whoever comes first makes the lock anew.
static void take_over(struct slri_dl_vendor *vendor)
{
    const uint32_t forks = slri_forks_count();
    slri_mutex_lock(&taking_over);
    if (vendor->forks != forks) {
        slri_mutex_init(&vendor->lock);
        vendor->is_half |= vendor->is_loading;
        vendor->is_loading = false;
        vendor->forks = forks;
    }
    slri_mutex_unlock(&taking_over);
}

static slr_status load_whole(struct slri_dl_vendor *vendor)
{
    if (vendor->is_half) {
        slri_fail(vendor->absent,
                  "%s is not loaded: another thread of the parent process was loading it during fork() (load it before "
                  "or after, or start a program by exec())",
                  *vendor->places);
        return vendor->absent;
    }
    vendor->is_loading = true;
    slr_status status = load(vendor);
    vendor->is_loaded = status == SLR_OK; // before the next: a child finds one of both set, or all is over
    vendor->is_loading = false;
    return status;
}

slr_status slri_dl_load(struct slri_dl_vendor *vendor)
{
    take_over(vendor);
    slri_mutex_lock(&vendor->lock);
    slr_status status = vendor->is_loaded ? SLR_OK : load_whole(vendor);
    slri_mutex_unlock(&vendor->lock);
    return status;
}

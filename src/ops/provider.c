// SPDX-License-Identifier: Apache-2.0
#include "ops/provider.h"

#include "base/forks.h"
#include "base/lock.h"
#include "base/status.h"

#include <stdio.h>

static slri_mutex lock = SLRI_MUTEX_INIT;
SLRI_RENEW_IN_CHILD(renew_lock, &lock, NULL)

static void ask_once(struct slri_ops_library *library)
{
    if (slri_dl_load(&library->vendor) != SLR_OK)
        snprintf(library->why_not, sizeof library->why_not, "%s", slr_error_message());
    library->told.why_not = library->why_not;
    library->forks = slri_forks_count();
    library->was_asked = true; // last: a child of a process that is asking asks itself
}

const slr_provider *slri_ops_library_describe(struct slri_ops_library *library)
{
    slri_mutex_lock(&lock);
    if (!library->was_asked)
        ask_once(library);
    // Libraries keep threads, which a child has not, and their callers locks, which other threads may have had.
    if (slri_has_forked(library->forks) && !*library->why_not)
        snprintf(library->why_not, sizeof library->why_not,
                 "the parent process loaded it before fork(), and its threads are not in the child");
    slri_mutex_unlock(&lock);
    return &library->told;
}

// SPDX-License-Identifier: Apache-2.0
// SLIPRING_TRACE and SLIPRING_PROFILE: looked at once, when the first device is opened. What was seen is written when a
// device closes, and at the end of the process.
#include "base/environment.h"
#include "base/forks.h"
#include "base/lock.h"
#include "base/status.h"
#include "base/thread_end.h"
#include "observe/observe.h"
#include "observe/trace.h"

#include <stdio.h>
#include <stdlib.h>

static slri_lock lock;      // no mutex: in a simulation that would be a point where another task goes on
static uint32_t looked;     // atomic
static char *profile;       // atomic: where the rows are to be written, or NULL
static uint32_t profile_of; // the process

static void forget(void)
{
    lock = (slri_lock){0};
}

SLRI_RENEW_IN_CHILD(renew_lock, NULL, forget)

static const char *wish(const char *variable)
{
    const char *value = slri_environment(variable);
    return value && *value != '\0' ? value : NULL;
}

static slr_status write_profile(void)
{
    const char *path = __atomic_load_n(&profile, __ATOMIC_ACQUIRE); // and whose it is
    return path && profile_of == slri_process_id() ? slr_profile_write(path) : SLR_OK;
}

static void write_profile_at_exit(void)
{
    if (write_profile() != SLR_OK) // no call of the program's is there to fail
        fprintf(stderr, "slipring: SLIPRING_PROFILE: %s\n", slr_error_message());
}

static slr_status begin_profile(const char *path)
{
    char *name;
    SLRI_TRY(slri_path_of(path, &name));
    slr_status status = slr_profile_write(name); // can it be written
    if (status != SLR_OK) {
        free(name);
        return SLRI_FAIL(INVALID, "SLIPRING_PROFILE: %s", slr_error_message());
    }
    profile_of = slri_process_id();
    __atomic_store_n(&profile, name, __ATOMIC_RELEASE);
    atexit(write_profile_at_exit);
    return slr_profile_start();
}

static slr_status begin_trace(const char *path)
{
    slr_status status = slr_trace_start(path, NULL);
    if (status == SLR_OK || status == SLR_WRONG_STATE) // the program has begun one itself
        return SLR_OK;
    return SLRI_FAIL(INVALID, "SLIPRING_TRACE: %s", slr_error_message());
}

static slr_status read_environment(void)
{
    const char *trace = wish("SLIPRING_TRACE"), *rows = wish("SLIPRING_PROFILE");
    if (trace)
        SLRI_TRY(begin_trace(trace));
    return rows && !profile ? begin_profile(rows) : SLR_OK;
}

slr_status slri_watch_from_environment(void)
{
    if (__atomic_load_n(&looked, __ATOMIC_ACQUIRE))
        return SLR_OK; // begun before
    slri_lock_take(&lock);
    slr_status status = looked ? SLR_OK : read_environment();
    if (status == SLR_OK)
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    slri_lock_give(&lock);
    return status;
}

void slri_watch_flush(void)
{
    if (slri_is_traced())
        slri_trace_flush();
    write_profile();
}

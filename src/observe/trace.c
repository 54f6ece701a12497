// SPDX-License-Identifier: Apache-2.0
// The trace's life, and its writer: a thread that looks every 20 ms for what has come.
#include "observe/trace.h"

#include "base/clock.h"
#include "base/forks.h"
#include "base/futex.h"
#include "base/sim.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread_end.h"
#include "engine/observe.h"
#include "observe/events.h"
#include "observe/observe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS 20000000
#define DEFAULT_ROOM 65536u

static slri_mutex life = SLRI_MUTEX_INIT; // starting and stopping
static bool is_on, has_thread;            // under it
static uint32_t process;                  // that began it
static slri_thread writer;
static uint32_t stop; // atomic

static slri_mutex drain = SLRI_MUTEX_INIT; // whoever takes events and writes
static bool is_open;                       // under it
static uint64_t dropped;
SLRI_RENEW_IN_CHILD(renew_life, &life, NULL)
SLRI_RENEW_IN_CHILD(renew_drain, &drain, NULL)

slr_status slri_path_of(const char *path, char **out)
{
    slri_text text = SLRI_TEXT_INIT;
    for (; *path; ++path) {
        if (path[0] == '%' && path[1] == 'p') {
            slri_text_printf(&text, "%u", slri_process_id());
            ++path;
        } else {
            slri_text_append(&text, path, 1);
        }
    }
    *out = slri_text_take(&text);
    return *out ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a path");
}

// ---- writing -------------------------------------------------------------------------------------------------------

void slri_trace_flush(void)
{
    slri_mutex_lock(&drain);
    if (is_open) {
        dropped = slri_events_take(slri_trace_put);
        slri_trace_put_dropped(dropped);
        slri_trace_push();
    }
    slri_mutex_unlock(&drain);
}

static void write_what_comes(void *arg)
{
    (void)arg;
    while (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0) { // it is joined, and reads nothing by it
        uint32_t pressing = __atomic_load_n(&slri_events_pressing, __ATOMIC_RELAXED); // a hint
        slri_trace_flush();
        if (__atomic_load_n(&stop, __ATOMIC_RELAXED) == 0)
            slri_futex_wait(&slri_events_pressing, pressing, slri_deadline_after(LOOK_NS));
    }
}

// ---- life ----------------------------------------------------------------------------------------------------------

// In a simulation there is no thread for it: what has come is written when a device closes and at the end.
static slr_status start_writer(void)
{
    if (slri_sim_on())
        return SLR_OK;
    __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
    SLRI_TRY(slri_thread_start(&writer, "slr-trace", write_what_comes, NULL));
    has_thread = true;
    return SLR_OK;
}

static void stop_writer(void)
{
    if (!has_thread)
        return;
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&slri_events_pressing, 1, __ATOMIC_RELAXED);
    slri_futex_wake(&slri_events_pressing, 1);
    slri_thread_join(&writer);
    has_thread = false;
}

static bool close_file(slr_trace_stats *out)
{
    slri_mutex_lock(&drain);
    dropped = slri_events_take(slri_trace_put);
    is_open = false;
    bool whole = slri_trace_close(dropped, &out->events);
    out->dropped = dropped;
    slri_mutex_unlock(&drain);
    return whole;
}

static slr_status end_trace(slr_trace_stats *out)
{
    if (!is_on)
        return SLRI_FAIL(WRONG_STATE, "slr_trace_stop: no trace is running");
    slri_observe_watch(SLRI_OBSERVE_TRACE, false);
    stop_writer();
    is_on = false;
    return close_file(out) ? SLR_OK : SLRI_FAIL(SYSTEM, "the trace could not be written completely: is the disk full?");
}

// A child of a fork has neither the writer nor a right to the file. No call of the program's is there to fail.
static void end_at_exit(void)
{
    slri_mutex_lock(&life);
    slr_trace_stats stats;
    if (is_on && process == slri_process_id() && end_trace(&stats) != SLR_OK)
        fprintf(stderr, "slipring: %s\n", slr_error_message());
    slri_mutex_unlock(&life);
}

static slr_status open_file(const char *path, uint32_t room)
{
    char *name;
    SLRI_TRY(slri_path_of(path, &name));
    slri_mutex_lock(&drain); // somebody may still want to write the trace before this one
    slri_events_begin(room);
    slr_status status = slri_trace_open(name);
    is_open = status == SLR_OK;
    slri_mutex_unlock(&drain);
    free(name);
    return status;
}

static slr_status start(const char *path, uint32_t room)
{
    if (is_on)
        return SLRI_FAIL(WRONG_STATE, "slr_trace_start: a trace is already running: slr_trace_stop ends it");
    SLRI_TRY(open_file(path, room));
    slr_status status = start_writer();
    if (status != SLR_OK) {
        slr_trace_stats none;
        close_file(&none);
        return status;
    }
    static bool ends_at_exit;
    if (!ends_at_exit)
        atexit(end_at_exit);
    ends_at_exit = true;
    process = slri_process_id();
    is_on = true;
    slri_observe_watch(SLRI_OBSERVE_TRACE, true);
    return SLR_OK;
}

slr_status slr_trace_start(const char *path, const slr_trace_desc *desc)
{
    if (!path || *path == '\0')
        return SLRI_FAIL(INVALID, "slr_trace_start: path is %s", path ? "empty" : "NULL");
    slr_trace_desc whole;
    SLRI_TRY(SLRI_TAKE_DESC(slr_trace_desc, &whole, desc));
    uint32_t room = whole.events_per_thread ? whole.events_per_thread : DEFAULT_ROOM;
    if (room < 1024 || room > 1u << 24 || (room & (room - 1)) != 0)
        return SLRI_FAIL(INVALID, "slr_trace_desc.events_per_thread is %u; expected a power of two from 1024 to 2^24",
                         room);
    slri_mutex_lock(&life);
    slr_status status = start(path, room);
    slri_mutex_unlock(&life);
    return status;
}

slr_status slr_trace_stop_sized(slr_trace_stats *out, size_t bytes)
{
    slr_trace_stats stats = {0};
    SLRI_TRY(SLRI_CHECK_REPORT(slr_trace_stats, bytes));
    slri_mutex_lock(&life);
    slr_status status = end_trace(&stats);
    slri_mutex_unlock(&life);
    if (status != SLR_OK || !out)
        return status;
    return SLRI_GIVE_REPORT(slr_trace_stats, out, bytes, &stats);
}

slr_status(slr_trace_stop)(slr_trace_stats *out)
{
    return slr_trace_stop_sized(out, SLRI_FIRST_slr_trace_stats);
}

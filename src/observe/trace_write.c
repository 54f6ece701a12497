// SPDX-License-Identifier: Apache-2.0
// Events as text: Chrome's trace format, as an array, one event a line. The array's end may be missing, so that the
// file of a process that was killed can be loaded; only whole lines are written.
#include "base/alloc.h"
#include "base/clock.h"
#include "base/output.h"
#include "base/status.h"
#include "base/thread_end.h"
#include "observe/events.h"
#include "observe/names.h"
#include "observe/trace.h"

#include <slipring/memory_event.h>
#include <slipring/profile.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PIECE 65536u
#define LONGEST (6 * SLRI_NAME_BYTES * 2 + 512) // of a line

// Numbers of tracks that are no thread's: the system's own end at 2^22.
#define FIRST_STREAM 10000000u

static FILE *file;
static char text[PIECE];
static size_t used;
static bool is_whole;
static uint32_t pid, tracks_written;
static uint64_t events, dropped_written, spans_left_out;

static void push(void)
{
    if (used != 0 && fwrite(text, 1, used, file) != used)
        is_whole = false;
    used = 0;
}

void slri_trace_push(void)
{
    push();
}

static void put(const char *what, size_t bytes)
{
    memcpy(text + used, what, bytes);
    used += bytes;
}

#define PUT(literal) put(literal, sizeof(literal) - 1)

static void put_text(const char *what)
{
    put(what, strlen(what));
}

static void put_number(uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    put(digits + at, sizeof digits - at);
}

// In the format's microseconds.
static void put_ns(uint64_t ns)
{
    uint64_t rest = ns % 1000;
    put_number(ns / 1000);
    const char digits[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    put(digits, sizeof digits);
}

static void begin_line(const char *phase)
{
    if (sizeof text - used < LONGEST)
        push();
    PUT("{\"ph\":\"");
    put_text(phase);
    PUT("\",\"pid\":");
    put_number(pid);
}

// ---- tracks --------------------------------------------------------------------------------------------------------

static uint32_t tid_of(uint32_t track)
{
    const struct slri_track *at = slri_track_at(track);
    return at->kind == SLRI_TRACK_THREAD ? at->number : FIRST_STREAM + track;
}

static void put_track(uint32_t track)
{
    const struct slri_track *at = slri_track_at(track);
    if (at->kind == SLRI_TRACK_RING) // its spans have lanes of their own, and its name
        return;
    begin_line("M");
    PUT(",\"tid\":");
    put_number(tid_of(track));
    PUT(",\"name\":\"thread_name\",\"args\":{\"name\":\"");
    put_text(slri_name_json(at->name));
    if (at->kind != SLRI_TRACK_THREAD) {
        PUT(" ");
        put_number(at->number);
        PUT(" (");
        put_text(slri_name_json(at->device));
        PUT(")");
    }
    PUT("\"}},\n");
}

// Before the first event of each.
static void put_new_tracks(void)
{
    for (uint32_t tracks = slri_tracks(); tracks_written < tracks;)
        put_track(++tracks_written);
}

// ---- events --------------------------------------------------------------------------------------------------------

static void put_ts(uint64_t ns)
{
    PUT(",\"ts\":");
    put_ns(ns);
}

static void put_name(const char *before, uint32_t name)
{
    PUT(",\"name\":\"");
    put_text(before);
    put_text(slri_name_json(name));
    PUT("\"");
}

static void put_slice(const struct slri_trace_event *event)
{
    begin_line("X");
    PUT(",\"tid\":");
    put_number(tid_of(event->track));
    put_ts(event->begin_ns);
    PUT(",\"dur\":");
    put_ns(event->duration_ns);
    PUT(",\"cat\":\"");
    put_text(slr_profile_kind_name(event->category));
    PUT("\"");
    put_name("", event->name);
    if (event->a != 0) {
        PUT(",\"args\":{\"");
        put_text(event->kind == SLRI_EVENT_BATCH ? "messages" : "bytes");
        PUT("\":");
        put_number(event->a);
        PUT("}");
    }
    PUT("},\n");
}

// A counter of one value. Those of a trace are told apart by their names.
static void put_counter(uint64_t at_ns, const char *before, uint32_t name, uint64_t value)
{
    begin_line("C");
    put_ts(at_ns);
    put_name(before, name);
    PUT(",\"args\":{\"value\":");
    put_number(value);
    PUT("}},\n");
}

static void put_memory(const struct slri_trace_event *event)
{
    static const char *const what[] = {[SLR_MEMORY_TAKEN] = "taken",
                                       [SLR_MEMORY_GIVEN] = "given back",
                                       [SLR_MEMORY_REUSED] = "reused",
                                       [SLR_MEMORY_REFUSED] = "refused"};
    uint32_t file = (uint32_t)(event->duration_ns >> 32);
    begin_line("i");
    PUT(",\"s\":\"t\",\"tid\":");
    put_number(tid_of(event->track));
    put_ts(event->begin_ns);
    PUT(",\"cat\":\"memory\",\"name\":\"");
    put_text(what[event->category]);
    PUT("\",\"args\":{\"bytes\":");
    put_number(event->a);
    if (file != 0) {
        PUT(",\"at\":\"");
        put_text(slri_name_json(file));
        PUT(":");
        put_number(event->duration_ns & UINT32_MAX);
        PUT("\"");
    }
    PUT("}},\n");
    put_counter(event->begin_ns, "", event->name, event->b);
}

// ---- messages: spans that overlap -----------------------------------------------------------------------------------

#define LANES 64u

// Of each ring kernel's track: until when each lane is taken.
static uint64_t (*lanes_of[SLRI_TRACKS + 1])[LANES];

// A lane that is free when the span begins; LANES: none.
static uint32_t find_lane(const struct slri_trace_event *event)
{
    uint64_t(*until)[LANES] = lanes_of[event->track];
    uint32_t lane = 0;
    if (!until)
        until = lanes_of[event->track] = slri_alloc(NULL, sizeof *until);
    if (!until)
        return LANES;
    while (lane < LANES && (*until)[lane] > event->begin_ns)
        ++lane;
    if (lane < LANES)
        (*until)[lane] = event->begin_ns + event->duration_ns;
    return lane;
}

static void put_end(const char *phase, const struct slri_trace_event *event, uint64_t at_ns, uint32_t lane)
{
    begin_line(phase);
    PUT(",\"id\":");
    put_number((uint64_t)event->track << 8 | lane);
    put_ts(at_ns);
    PUT(",\"cat\":\"message\"");
    put_name("", event->name);
    PUT("},\n");
}

static void put_message(const struct slri_trace_event *event)
{
    uint32_t lane = find_lane(event);
    uint64_t end_ns = event->begin_ns + event->duration_ns;
    if (lane < LANES) {
        put_end("b", event, event->begin_ns, lane);
        put_end("e", event, end_ns, lane);
    } else {
        ++spans_left_out;
    }
    put_counter(end_ns, "depth: ", event->name, event->a);
}

void slri_trace_put(const struct slri_trace_event *event)
{
    static void (*const put_of[SLRI_EVENT_KINDS])(const struct slri_trace_event *) = {[SLRI_EVENT_SLICE] = put_slice,
                                                                                      [SLRI_EVENT_MEMORY] = put_memory,
                                                                                      [SLRI_EVENT_MESSAGE] =
                                                                                          put_message,
                                                                                      [SLRI_EVENT_BATCH] = put_slice};
    if (event->track > tracks_written)
        put_new_tracks();
    put_of[event->kind](event);
    ++events;
}

void slri_trace_put_dropped(uint64_t dropped)
{
    if (dropped == dropped_written)
        return;
    dropped_written = dropped;
    put_counter(slri_now_ns(), "dropped events", 0, dropped);
}

// ---- the file ------------------------------------------------------------------------------------------------------

static void put_head(void)
{
    PUT("[\n");
    begin_line("M");
    PUT(",\"name\":\"process_name\",\"args\":{\"name\":\"slipring\"}},\n");
    begin_line("M");
    PUT(",\"name\":\"slipring_trace\",\"args\":{\"version\":1,\"unix_s\":");
    put_number((uint64_t)time(NULL));
    PUT("}},\n");
}

slr_status slri_trace_open(const char *path)
{
    if (slri_output_stream(path, &file) != SLR_OK)
        return SLRI_FAIL(SYSTEM, "the trace cannot be written to '%s': %s", path, slr_error_message());
    setvbuf(file, NULL, _IONBF, 0); // pieces are large, and a fork must not copy half of one
    pid = slri_process_id();
    used = 0;
    is_whole = true;
    tracks_written = 0;
    events = dropped_written = spans_left_out = 0;
    for (uint32_t i = 0; i <= SLRI_TRACKS; ++i)
        if (lanes_of[i])
            memset(lanes_of[i], 0, sizeof *lanes_of[i]);
    put_head();
    push();
    return SLR_OK;
}

// An end that is no event has no comma in front: the last line is one about the trace.
bool slri_trace_close(uint64_t dropped, uint64_t *written)
{
    begin_line("M");
    PUT(",\"name\":\"slipring_trace_end\",\"args\":{\"events\":");
    put_number(events);
    PUT(",\"dropped\":");
    put_number(dropped);
    PUT(",\"spans_left_out\":");
    put_number(spans_left_out);
    PUT("}}\n]\n");
    push();
    *written = events;
    if (fclose(file) != 0)
        is_whole = false;
    return is_whole;
}

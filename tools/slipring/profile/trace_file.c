// SPDX-License-Identifier: Apache-2.0
// Reading a trace line by line. A last line that is not whole is left out: its writer was killed.
#define _GNU_SOURCE
#include "profile/trace_file.h"

#include "line.h"
#include "say.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A place behind the last of an array that doubles.
static void *add(void *array, size_t *count, size_t *room, size_t size)
{
    if (*count == *room) {
        *room = *room ? 2 * *room : 64;
        array = realloc(array, *room * size);
        if (array == NULL) {
            say("out of memory: a trace of %zu entries", *room);
            exit(1);
        }
    }
    memset((char *)array + *count * size, 0, size);
    ++*count;
    return array;
}

// A new one of the owner's `whats`.
#define ADD(owner, what)                                                                                               \
    ((owner)->what##s =                                                                                                \
         add((owner)->what##s, &(owner)->what##_count, &(owner)->what##_room, sizeof *(owner)->what##s),               \
     &(owner)->what##s[(owner)->what##_count - 1])

static const char *text_of(const json_t *event, const char *name)
{
    const char *text = json_string_value(json_object_get(event, name));
    return text != NULL ? text : "";
}

static uint64_t ns_of(const json_t *event, const char *name)
{
    return (uint64_t)llround(json_number_value(json_object_get(event, name)) * 1000);
}

// ---- what an event refers to ---------------------------------------------------------------------------------------

// Most events are of the track, and have the name, of the one before: looked at first.
static trace_track *track_of(trace_file *file, const json_t *event)
{
    static size_t last;
    uint64_t pid = (uint64_t)json_integer_value(json_object_get(event, "pid"));
    uint64_t tid = (uint64_t)json_integer_value(json_object_get(event, "tid"));
    if (last < file->track_count && file->tracks[last].tid == tid && file->tracks[last].pid == pid)
        return &file->tracks[last];
    for (last = 0; last < file->track_count; ++last)
        if (file->tracks[last].tid == tid && file->tracks[last].pid == pid)
            return &file->tracks[last];
    trace_track *track = ADD(file, track);
    track->pid = pid;
    track->tid = tid;
    return track;
}

// The device in the name of a track, "stream 1 (cpu)", with its length; the name comes before the track's slices.
// Threads of the host have none.
static const char *device_of(const trace_track *track, size_t *length)
{
    const char *name = track->name != NULL ? track->name : "", *at = strstr(name, " (");
    size_t bytes = strlen(name);
    *length = 0;
    if (at == NULL || at == name || at[-1] < '0' || at[-1] > '9' || name[bytes - 1] != ')')
        return "";
    *length = (size_t)(name + bytes - 1 - (at + 2));
    return at + 2;
}

static trace_sum *device_sum_of(trace_file *file, const char *category, const char *name, const char *device,
                                size_t length)
{
    for (size_t i = 0; i < file->sum_count; ++i)
        if (strcmp(file->sums[i].name, name) == 0 && strcmp(file->sums[i].category, category) == 0 &&
            strncmp(file->sums[i].device, device, length) == 0 && file->sums[i].device[length] == '\0')
            return &file->sums[i];
    trace_sum *sum = ADD(file, sum);
    sum->device = strdup(device);
    sum->device[length] = '\0'; // Windows has no strndup()
    sum->category = strdup(category);
    sum->name = strdup(name);
    sum->min_ns = UINT64_MAX;
    return sum;
}

static trace_sum *sum_of(trace_file *file, const char *category, const char *name)
{
    return device_sum_of(file, category, name, "", 0);
}

static void note_time(trace_file *file, uint64_t from_ns, uint64_t to_ns)
{
    file->first_ns = from_ns < file->first_ns ? from_ns : file->first_ns;
    file->last_ns = to_ns > file->last_ns ? to_ns : file->last_ns;
}

static void add_duration(trace_sum *sum, uint64_t ns)
{
    ++sum->n;
    sum->total_ns += ns;
    sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
    sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
}

// ---- events --------------------------------------------------------------------------------------------------------

static void take_slice(trace_file *file, const json_t *event)
{
    trace_track *track = track_of(file, event);
    size_t length;
    const char *device = device_of(track, &length);
    trace_sum *sum = device_sum_of(file, text_of(event, "cat"), text_of(event, "name"), device, length);
    trace_slice *slice = ADD(file, slice);
    slice->begin_ns = ns_of(event, "ts");
    slice->duration_ns = ns_of(event, "dur");
    slice->track = (uint32_t)(track - file->tracks);
    slice->sum = (uint32_t)(sum - file->sums);
    uint64_t end_ns = slice->begin_ns + slice->duration_ns;
    ++track->slices;
    note_time(file, slice->begin_ns, end_ns);
    add_duration(sum, slice->duration_ns);
    sum->bytes += (uint64_t)json_integer_value(json_object_get(json_object_get(event, "args"), "bytes"));
}

static void add_mark(trace_sum *sum, const json_t *args)
{
    ++sum->n;
    sum->min_ns = 0;
    sum->bytes += (uint64_t)json_integer_value(json_object_get(args, "bytes"));
}

// Memory that is taken also counts under its call site.
static void take_mark(trace_file *file, const json_t *event)
{
    const json_t *args = json_object_get(event, "args");
    const char *name = text_of(event, "name"), *at = text_of(args, "at");
    add_mark(sum_of(file, text_of(event, "cat"), name), args);
    if (*at != '\0' && strcmp(name, "taken") == 0)
        add_mark(sum_of(file, "taken at", at), args);
    uint64_t at_ns = ns_of(event, "ts");
    note_time(file, at_ns, at_ns);
}

static void take_counter(trace_file *file, const json_t *event)
{
    const char *name = text_of(event, "name");
    size_t i = 0;
    while (i < file->counter_count && strcmp(file->counters[i].name, name) != 0)
        ++i;
    if (i == file->counter_count)
        ADD(file, counter)->name = strdup(name);
    trace_sample *sample = ADD(&file->counters[i], sample);
    sample->at_ns = ns_of(event, "ts");
    sample->value = json_number_value(json_object_iter_value(json_object_iter(json_object_get(event, "args"))));
}

// Spans of messages, each on a lane of its own: the writer puts the end right behind the begin. One that was cut off
// behind that counts for nothing.
static void take_span(trace_file *file, const json_t *event, bool is_begin)
{
    uint64_t at_ns = ns_of(event, "ts");
    note_time(file, at_ns, at_ns);
    if (is_begin)
        file->span_begin_ns = at_ns;
    else
        add_duration(sum_of(file, text_of(event, "cat"), text_of(event, "name")), at_ns - file->span_begin_ns);
}

static void take_metadata(trace_file *file, const json_t *event)
{
    const char *name = text_of(event, "name");
    const json_t *args = json_object_get(event, "args");
    if (strcmp(name, "thread_name") == 0) {
        trace_track *track = track_of(file, event);
        free(track->name);
        track->name = strdup(text_of(args, "name"));
    } else if (strcmp(name, "slipring_trace") == 0) {
        file->is_ours = true;
    } else if (strcmp(name, "slipring_trace_end") == 0) {
        file->is_whole = true;
        file->dropped += (uint64_t)json_integer_value(json_object_get(args, "dropped"));
        file->spans_left_out += (uint64_t)json_integer_value(json_object_get(args, "spans_left_out"));
    }
}

static void take(trace_file *file, const json_t *event)
{
    switch (*text_of(event, "ph")) {
    case 'X':
        take_slice(file, event);
        break;
    case 'i':
        take_mark(file, event);
        break;
    case 'C':
        take_counter(file, event);
        break;
    case 'b':
    case 'e':
        take_span(file, event, *text_of(event, "ph") == 'b');
        break;
    case 'M':
        take_metadata(file, event);
        break;
    default:
        break;
    }
}

// ---- the file ------------------------------------------------------------------------------------------------------

static int by_begin(const void *a, const void *b)
{
    const trace_slice *x = a, *y = b;
    return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int by_time(const void *a, const void *b)
{
    const trace_sample *x = a, *y = b;
    return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

// Each thread writes its samples in order, several threads do not.
static void sort_samples(trace_counter *counter)
{
    if (counter->sample_count > 1)
        qsort(counter->samples, counter->sample_count, sizeof *counter->samples, by_time);
}

// With the slices in order of their begins.
static void measure_busy(trace_file *file)
{
    uint64_t *until = calloc(file->track_count + 1, sizeof *until);
    for (size_t i = 0; until != NULL && i < file->slice_count; ++i) {
        const trace_slice *slice = &file->slices[i];
        uint64_t from = slice->begin_ns, to = from + slice->duration_ns, *seen = &until[slice->track];
        from = from > *seen ? from : *seen;
        if (to > from) {
            file->tracks[slice->track].busy_ns += to - from;
            *seen = to;
        }
    }
    free(until);
}

static bool finish(const char *path, trace_file *file)
{
    if (!file->is_ours) {
        say("'%s' is not a trace of slipring", path);
        return false;
    }
    for (size_t i = 0; i < file->counter_count; ++i)
        sort_samples(&file->counters[i]);
    for (size_t i = 0; i < file->counter_count; ++i)
        if (!file->is_whole && strcmp(file->counters[i].name, "dropped events") == 0)
            file->dropped = (uint64_t)file->counters[i].samples[file->counters[i].sample_count - 1].value;
    if (file->first_ns > file->last_ns)
        file->first_ns = file->last_ns = 0;
    if (file->slice_count > 1)
        qsort(file->slices, file->slice_count, sizeof *file->slices, by_begin);
    measure_busy(file);
    return true;
}

bool trace_file_read(const char *path, trace_file *out)
{
    *out = (trace_file){.first_ns = UINT64_MAX};
    FILE *stream = fopen(path, "r");
    if (stream == NULL) {
        say("cannot read '%s': %s", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t room = 0;
    while (line_read(&line, &room, stream) > 0) {
        json_t *event = *line == '{' ? json_loads(line, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
        if (event != NULL)
            take(out, event);
        json_decref(event);
    }
    free(line);
    fclose(stream);
    bool fine = finish(path, out);
    if (!fine)
        trace_file_free(out);
    return fine;
}

void trace_file_free(trace_file *file)
{
    for (size_t i = 0; i < file->track_count; ++i)
        free(file->tracks[i].name);
    for (size_t i = 0; i < file->sum_count; ++i) {
        free(file->sums[i].category);
        free(file->sums[i].name);
        free(file->sums[i].device);
    }
    for (size_t i = 0; i < file->counter_count; ++i) {
        free(file->counters[i].name);
        free(file->counters[i].samples);
    }
    free(file->tracks);
    free(file->slices);
    free(file->sums);
    free(file->counters);
    *file = (trace_file){0};
}

bool trace_track_is_stream(const trace_track *track)
{
    return track->name != NULL && strncmp(track->name, "stream ", 7) == 0;
}

// SPDX-License-Identifier: Apache-2.0
/// A trace's file, read: what slr_trace_start has written, one event a line, whole or cut short.
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trace_track {
    uint64_t pid, tid;
    char *name;
    uint64_t slices;
    uint64_t busy_ns; // of the union of its slices: nested ones count once
} trace_track;

typedef struct trace_slice {
    uint64_t begin_ns, duration_ns;
    uint32_t track, sum; // indices
} trace_slice;

// All slices of one category and name, on the tracks of one device.
typedef struct trace_sum {
    char *category, *name, *device; // device "": on tracks of the host

    uint64_t n, total_ns, min_ns, max_ns, bytes;
} trace_sum;

typedef struct trace_sample {
    uint64_t at_ns;
    double value;
} trace_sample;

typedef struct trace_counter {
    char *name;
    trace_sample *samples;
    size_t sample_count, sample_room;
} trace_counter;

typedef struct trace_file {
    trace_track *tracks;
    size_t track_count, track_room;
    trace_slice *slices; // in order of their begins
    size_t slice_count, slice_room;
    trace_sum *sums;
    size_t sum_count, sum_room;
    trace_counter *counters;
    size_t counter_count, counter_room;
    uint64_t dropped, first_ns, last_ns;
    uint64_t spans_left_out; // of messages, which the writer had no row for; 0 where its end is not there
    uint64_t span_begin_ns;  // while it is read
    bool is_ours, is_whole;  // its end is there
} trace_file;

/// False, and it was said why: no such file, or none of slipring's.
bool trace_file_read(const char *path, trace_file *out);
void trace_file_free(trace_file *file);

/// Whether a track is a stream's.
bool trace_track_is_stream(const trace_track *track);

#endif

// SPDX-License-Identifier: Apache-2.0
/// `slipring profile`: what a program left behind, made into figures, advice and a page.
#ifndef PROFILE_H
#define PROFILE_H

#include "profile/host_lines.h"
#include "profile/timed_lines.h"
#include "profile/trace_file.h"

#include <slipring/slipring.h>

#include <jansson.h>
#include <stdio.h>

enum { PROFILE_BINS = 160, PROFILE_KINDS = SLR_PROFILE_UNTIMED + 1, PROFILE_DEPTHS = 64, PROFILE_PAIRS = 64 };

typedef struct profile_total {
    uint64_t n, total_ns, bytes;
} profile_total;

typedef struct profile_bin {                              // of the time from the first event to the last
    double kernels, transfers, waits, compiles, handlers; // of the bin's length; streams add up
} profile_bin;

typedef struct profile {
    json_t *rows_text; // which the rows' texts are of
    slr_profile_row *rows;
    size_t row_count;
    trace_file trace;
    profile_total total[PROFILE_KINDS];
    uint64_t span_ns;         // from the first event to the last
    uint64_t busy_ns;         // of the union of all streams' commands and ring kernels' batches
    uint32_t streams, owners; // that did something; owners: workers, resident groups, dispatches
    profile_bin bins[PROFILE_BINS];
    char device[SLR_DEVICE_NAME_BYTES]; // that most of the time was spent on; ""
    size_t devices;                     // that rows are of
    int device_width;                   // the longest of their names
    uint32_t workers;
    bool has_ceilings;
    slr_ceilings ceilings;                  // of that device
    uint64_t contended_ns;                  // more streams and ring kernels had work than there are workers
    slr_timeline_pair pairs[PROFILE_PAIRS]; // by falling frequency
    uint32_t pair_count;
    slr_diagnosis advice[SLR_BOTTLENECKS];
    uint32_t advised;
    timed_lines timed;
    host_lines hosts;
} profile;

/// `measure`: the device's ceilings again. False, and it was said why.
bool profile_read(const char *rows, const char *trace, bool measure, profile *out);
void profile_free(profile *profile);

/// Whether no row before this one is of its device. False of a row without a device.
bool profile_is_first_of_device(const profile *profile, size_t row);

/// order.c: what runs at once, and what follows what.
void profile_measure_contention(profile *out);
void profile_find_pairs(profile *out);

/// diagnose.c: what the rules find in the figures, with `device` (or NULL) asked about its kernels. False: it was said
/// why.
bool profile_diagnose(slr_device *device, profile *out);

/// How many operations and bytes are worth, by the ceilings of the profile's device.
slr_roofline profile_roofline(const profile *profile, const slr_profile_row *row);

/// All of it as one object, which the page draws and --json prints.
json_t *profile_json(const profile *profile, const char *command, int exit_code, double wall_s);

/// `parts`: 0, or those alone that are named, with the program's lines and the advice.
enum { PROFILE_DEVICE = 1, PROFILE_MEMORY = 2 };
void profile_print(const profile *profile, const char *command, int exit_code, double wall_s, unsigned parts);

/// False, and it was said why.
bool profile_write_page(const char *path, json_t *object);

#endif

// SPDX-License-Identifier: Apache-2.0
// The trace's file and its writer, for the rest of this folder.
#ifndef SLRI_OBSERVE_TRACE_H
#define SLRI_OBSERVE_TRACE_H

#include "base/thread.h"

#include <slipring/trace.h>

#include <stdbool.h>

// Writes what has come so far; nothing where there is no trace.
void slri_trace_flush(void);

// "run-%p.json" with the process's number for %p; the caller's to free(). Errors: NO_MEMORY.
slr_status slri_path_of(const char *path, char **out);

// ---- trace_write.c: the text ----------------------------------------------------------------------------------------

struct slri_trace_event;

// `path` is borrowed. Errors: SYSTEM, and nothing is open.
slr_status slri_trace_open(const char *path);
void slri_trace_put(const struct slri_trace_event *event);
void slri_trace_put_dropped(uint64_t dropped); // where that is more than last time
void slri_trace_push(void);                    // what was put, to the file
// Ends the file. False: something did not fit on the disk.
bool slri_trace_close(uint64_t dropped, uint64_t *events);

#endif

// SPDX-License-Identifier: Apache-2.0
// What this folder shares.
#ifndef SLRI_OBSERVE_OBSERVE_H
#define SLRI_OBSERVE_OBSERVE_H

#include "device/device.h"
#include "device/kernel.h"
#include "engine/observe.h"
#include "observe/row.h"

// Sets or clears a bit of slri_observed; the clock is ready before.
void slri_observe_watch(uint32_t bit, bool on);

// The name of a device, as a number: names.h.
uint32_t slri_device_name(slr_device *device);

// The row of a kernel's launches; NULL: no memory.
struct slri_row *slri_row_of_kernel(slr_kernel *kernel);

// What was measured of a device of that name before, by whatever process. False: nothing.
bool slri_ceilings_find(const char *device, slr_ceilings *out);

// For how long the profiler has been on since its rows were last cleared.
uint64_t slri_profile_span_ns(void);

// Something took from one look at the clock to another: to its row, and to the trace, on a track (0: the calling
// thread's). What has no row (no memory) is lost.
void slri_observe_slice(struct slri_row *row, uint32_t track, uint64_t begin, uint64_t end, uint64_t bytes);

// What the layers below report, by the table of engine/hooks.h: engine/observe.h says what each is.
uint64_t slri_note_command(slr_device *device, struct slri_queue *queue, const struct slri_command *command,
                           uint64_t begin);
const struct slri_launch_count *slri_note_launch(slr_kernel *kernel, const uint32_t *grid, const uint32_t *block,
                                                 const struct slri_bound *bound);
void slri_note_memory(slr_heap *heap, const slr_memory_event *event);
void slri_note_message(const struct slri_shard *shard, uint64_t duration_ns);
void slri_note_messages(const struct slri_shard *shard, const struct slri_histogram *now, struct slri_histogram *told);
void slri_note_batch(struct slri_shard *shard, const struct slri_batch_seen *batch);
void slri_note_handled(struct slri_shard *shard, uint64_t begin, uint32_t messages);
void slri_note_reply(slr_address to, uint64_t begin);
void slri_note_full(slr_ring *ring, uint64_t begin);
void slri_note_wait(struct slri_queue *queue, uint64_t begin);
void slri_note_compile(const char *name, bool was_cached, uint64_t begin);
void slri_note_algorithm(slr_device *device, const char *operation, const char *algorithm, bool is_kept_out,
                         uint64_t ns);

// Before a device is opened: what SLIPRING_TRACE and SLIPRING_PROFILE ask for, once. Errors: INVALID (a file that
// cannot be written).
slr_status slri_watch_from_environment(void);

// When a device was closed: writes what was seen.
void slri_watch_flush(void);

#endif

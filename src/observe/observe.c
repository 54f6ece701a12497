// SPDX-License-Identifier: Apache-2.0
// What the layers below tell: commands, waits, compilations. Each is counted in its row and put into the trace.
#include "observe/observe.h"

#include "device/kernel.h"
#include "device/stream.h"
#include "observe/caller.h"
#include "observe/events.h"
#include "observe/names.h"

#include <string.h>

void slri_observe_watch(uint32_t bit, bool on)
{
    slri_tick_begin();
    // Release: the clock's line, for those who see the bit.
    if (on)
        __atomic_fetch_or(&slri_observed, bit, __ATOMIC_RELEASE);
    else
        __atomic_fetch_and(&slri_observed, ~bit, __ATOMIC_RELEASE);
}

// ---- names and rows ------------------------------------------------------------------------------------------------

uint32_t slri_device_name(slr_device *device)
{
    uint32_t *known = &device->observed_name;
    uint32_t name = __atomic_load_n(known, __ATOMIC_RELAXED); // a number; what it stands for is there
    if (name != 0)
        return name;
    slr_device_info info;
    name = slri_name(slr_device_get_info(device, &info) == SLR_OK ? info.name : device->backend->name);
    __atomic_store_n(known, name, __ATOMIC_RELAXED);
    return name;
}

static const struct {
    uint32_t kind;
    const char *name;
} of_op[SLRI_OPS] = {
    [SLRI_COPY_IN] = {SLR_PROFILE_UPLOAD, "upload"},   [SLRI_COPY_OUT] = {SLR_PROFILE_DOWNLOAD, "download"},
    [SLRI_COPY] = {SLR_PROFILE_COPY, "copy"},          [SLRI_FILL] = {SLR_PROFILE_FILL, "fill"},
    [SLRI_CALL] = {SLR_PROFILE_CALL, "host function"}, [SLRI_NATIVE] = {SLR_PROFILE_KERNEL, "of a library"},
};

static struct slri_row *row_of_op(slr_device *device, enum slri_command_op op)
{
    struct slri_row **known = &device->row[op];
    struct slri_row *row = __atomic_load_n(known, __ATOMIC_ACQUIRE); // what is in it
    if (!row) {
        row = slri_row(of_op[op].kind, slri_name(of_op[op].name), slri_device_name(device), 0);
        __atomic_store_n(known, row, __ATOMIC_RELEASE);
    }
    return row;
}

// Kernels of one name are told apart by their source.
struct slri_row *slri_row_of_kernel(slr_kernel *kernel)
{
    struct slri_row *row = __atomic_load_n(&kernel->row, __ATOMIC_ACQUIRE); // as above
    if (row)
        return row;
    uint64_t source;
    memcpy(&source, kernel->program->module->source_hash, sizeof source);
    row = slri_row(SLR_PROFILE_KERNEL, slri_name(kernel->label ? kernel->label : kernel->info.name),
                   slri_device_name(kernel->program->device), source);
    if (row)
        __atomic_store_n(&row->file, slri_name_text(slri_name(kernel->program->module->file[0])), __ATOMIC_RELAXED);
    __atomic_store_n(&kernel->row, row, __ATOMIC_RELEASE);
    return row;
}

// ---- what is told --------------------------------------------------------------------------------------------------

// Inline: a command has room for some tens of nanoseconds.
static inline void add(struct slri_row *row, uint32_t track, uint64_t begin, uint64_t end, struct slri_sample *sample)
{
    uint32_t watchers = __atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE); // as slri_is_observed
    struct slri_own *own = slri_own();
    if (!row || !own)
        return;
    sample->ns = end > begin ? slri_ticks_ns(end - begin) : 0;
    if (watchers & SLRI_OBSERVE_PROFILE)
        slri_row_add(row, own, sample);
    if (!(watchers & SLRI_OBSERVE_TRACE))
        return;
    const struct slri_trace_event event = {.begin_ns = slri_tick_time_ns(begin),
                                           .duration_ns = sample->ns,
                                           .a = sample->bytes,
                                           .track = track,
                                           .name = row->name,
                                           .kind = SLRI_EVENT_SLICE,
                                           .category = (uint16_t)row->kind};
    slri_events_add(own, &event);
}

void slri_observe_slice(struct slri_row *row, uint32_t track, uint64_t begin, uint64_t end, uint64_t bytes)
{
    struct slri_sample sample = {.bytes = bytes};
    add(row, track, begin, end, &sample);
}

// Streams are numbered as they are first seen.
static uint32_t stream_track(struct slr_stream *stream)
{
    static uint32_t streams;
    uint32_t track = __atomic_load_n(&stream->track, __ATOMIC_RELAXED); // a number; the writer acquires what it is
    if (track != 0)
        return track;
    uint32_t number = __atomic_add_fetch(&streams, 1, __ATOMIC_RELAXED); // counts
    const struct slri_track made = {SLRI_TRACK_STREAM, slri_name("stream"), slri_device_name(stream->device), number};
    track = slri_track(&made);
    __atomic_store_n(&stream->track, track, __ATOMIC_RELAXED);
    return track;
}

// The look at the clock so long before `end`; not before `begin`.
static uint64_t before(uint64_t begin, uint64_t end, uint64_t ns)
{
    uint64_t whole_ns = end > begin ? slri_ticks_ns(end - begin) : 0;
    return ns >= whole_ns ? begin : end - (uint64_t)((double)(end - begin) * (double)ns / (double)whole_ns);
}

uint64_t slri_note_command(slr_device *device, struct slri_queue *queue, const struct slri_command *command,
                           uint64_t begin)
{
    const uint64_t end = slri_tick();
    struct slr_stream *stream = (struct slr_stream *)queue; // its first member
    bool is_launch = command->op == SLRI_DISPATCH;
    if (!is_launch && !of_op[command->op].name) // a stamp takes no time, and a compilation ahead tells of itself
        return end;
    if (stream)
        device = stream->device;
    struct slri_sample sample = {.bytes = slri_command_bytes(command),
                                 .launch = is_launch ? command->dispatch.count : NULL,
                                 .is_launch = is_launch,
                                 .is_pinned = command->is_pinned};
    struct slri_row *row = is_launch ? slri_row_of_kernel(command->dispatch.kernel) : row_of_op(device, command->op);
    if (is_launch && queue && queue->device_ns != 0) // its driver's compiler, and other streams' kernels, are not it
        begin = before(begin, end, queue->device_ns);
    add(row, stream && slri_is_traced() ? stream_track(stream) : 0, begin, end, &sample);
    slri_caller_add(queue ? queue->site : slri_site, is_launch ? NULL : of_op[command->op].name, device, &sample);
    return end;
}

void slri_note_wait(struct slri_queue *queue, uint64_t begin)
{
    slr_device *device = ((struct slr_stream *)queue)->device;
    const uint64_t end = slri_tick();
    struct slri_sample sample = {.ns = end > begin ? slri_ticks_ns(end - begin) : 0};
    slri_observe_slice(slri_row(SLR_PROFILE_WAIT, slri_name("wait for a stream"), slri_device_name(device), 0), 0,
                       begin, end, 0);
    slri_caller_add(slri_site, "wait", device, &sample);
}

void slri_note_compile(const char *name, bool was_cached, uint64_t begin)
{
    uint32_t kind = was_cached ? SLR_PROFILE_LOAD : SLR_PROFILE_COMPILE;
    slri_observe_slice(slri_row(kind, slri_name(name), 0, 0), 0, begin, slri_tick(), 0);
}

void slri_note_algorithm(slr_device *device, const char *operation, const char *algorithm, bool is_kept_out,
                         uint64_t ns)
{
    const struct slri_sample sample = {.ns = ns};
    struct slri_own *own = slri_own();
    struct slri_row *row = slri_row(is_kept_out ? SLR_PROFILE_KEPT_OUT : SLR_PROFILE_ALGORITHM, slri_name(operation),
                                    slri_device_name(device), 0);
    if (!row || !own || !(__atomic_load_n(&slri_observed, __ATOMIC_ACQUIRE) & SLRI_OBSERVE_PROFILE)) // slri_is_observed
        return;
    __atomic_store_n(&row->file, slri_name_text(slri_name(algorithm)), __ATOMIC_RELAXED);
    slri_row_add(row, own, &sample);
}

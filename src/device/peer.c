// SPDX-License-Identifier: Apache-2.0
// Copies between devices. A copy is one command of one of the two queues where a device reaches the other's memory;
// else it goes through two pieces of host memory in turn: while one is written to its destination the other is read.
#include "device/peer.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "device/peer_record.h"
#include "engine/observe.h"

#include <stdio.h>
#include <string.h>

#define CHUNK_BYTES (UINT64_C(1) << 20)

// ---- the way -------------------------------------------------------------------------------------------------------

static bool is_host(const slr_device *device)
{
    return device->backend->is_host && device->facts.unified;
}

static const char *name_of(const slr_device *device)
{
    return device->facts.identity.device;
}

static enum slri_peer_path ask_backend(slr_device *from, slr_device *to, slr_peer_info *out)
{
    struct slri_peer_facts facts = {0};
    if (from->backend != to->backend || !to->backend->peer) {
        snprintf(out->reason, sizeof out->reason, "neither of %.48s and %.48s reaches the other's memory",
                 name_of(from), name_of(to));
        return SLRI_PATH_STAGED;
    }
    slr_status status = to->backend->peer(to->self, from->self, &facts);
    if (status != SLR_OK) {
        snprintf(out->reason, sizeof out->reason, "%.150s", slr_error_message());
        return SLRI_PATH_STAGED;
    }
    out->link = facts.link;
    out->atomics = facts.atomics;
    snprintf(out->reason, sizeof out->reason, "the driver says that %.48s reaches the memory of %.48s", name_of(to),
             name_of(from));
    return SLRI_PATH_BACKEND;
}

// Fills in what the pair can do.
static enum slri_peer_path path_of(slr_device *from, slr_device *to, slr_peer_info *out)
{
    out->link = SLR_LINK_HOST;
    if (from == to) {
        out->link = SLR_LINK_SAME;
        out->atomics = 1;
        snprintf(out->reason, sizeof out->reason, "it is one device");
        return SLRI_PATH_SAME;
    }
    if (is_host(from) && is_host(to)) {
        out->link = SLR_LINK_SAME;
        out->atomics = 1;
        snprintf(out->reason, sizeof out->reason, "both devices are the host");
        return SLRI_PATH_IN;
    }
    if (from->facts.unified) {
        snprintf(out->reason, sizeof out->reason, "the memory of %.100s is the host's", name_of(from));
        return SLRI_PATH_IN;
    }
    if (to->facts.unified) {
        snprintf(out->reason, sizeof out->reason, "the memory of %.100s is the host's", name_of(to));
        return SLRI_PATH_OUT;
    }
    return ask_backend(from, to, out);
}

slr_status slr_peer_get_info_sized(slr_device *from, slr_device *to, slr_peer_info *out, size_t bytes)
{
    if (!from || !to || !out)
        return SLRI_FAIL(INVALID, "slr_peer_get_info: %s is NULL", !from ? "from" : !to ? "to" : "out");
    slr_peer_info whole = {0};
    slri_peer_counts(from, to, &whole);
    enum slri_peer_path path = path_of(from, to, &whole);
    whole.direct_access = path != SLRI_PATH_STAGED;
    whole.staged = path == SLRI_PATH_STAGED;
    return SLRI_GIVE_REPORT(slr_peer_info, out, bytes, &whole);
}

slr_status(slr_peer_get_info)(slr_device *from, slr_device *to, slr_peer_info *out)
{
    return slr_peer_get_info_sized(from, to, out, SLRI_FIRST_slr_peer_info);
}

// ---- one command ---------------------------------------------------------------------------------------------------

// Work of another queue than the user's stream, between its earlier and its later work.
static slr_status join_before(slr_stream *stream, const slr_stream *work, slr_point *out)
{
    *out = (slr_point){0};
    return stream == work ? SLR_OK : slr_stream_signal(stream, out);
}

static slr_status join_behind(slr_stream *stream, slr_point done, slr_point *out)
{
    if (done.stream != stream)
        SLRI_TRY(slr_stream_wait(stream, done));
    return out ? slr_stream_signal(stream, out) : SLR_OK;
}

static slr_status submit_copy(slr_stream *stream, const struct slri_command *command, struct slri_buffer_use *use,
                              uint32_t uses, slr_point after, slr_point *out)
{
    struct slri_work work = {
        .command = command, .commands = 1, .wait = &after, .waits = after.stream != NULL, .use = use, .uses = uses};
    return slri_stream_submit(stream, &work, out);
}

// The device's own for copies that are asked for on another device's stream: what fails there is no failure of the
// user's streams.
static slr_status own_stream(slr_device *device, slr_stream **out)
{
    slr_stream *made = NULL;
    slri_queues_lock();
    *out = device->peer_stream;
    slri_queues_unlock();
    if (*out)
        return SLR_OK;
    SLRI_TRY(slr_stream_create(device, NULL, &made));
    slri_queues_lock();
    if (!device->peer_stream) { // nobody else was first
        device->peer_stream = made;
        made = NULL;
    }
    *out = device->peer_stream;
    slri_queues_unlock();
    slr_stream_destroy(made);
    return SLR_OK;
}

// The source's own queue brings to its memory what only the host has.
static slr_status make_ready(const struct slri_peer_copy *copy)
{
    slr_stream *own;
    struct slri_buffer_use use = {copy->from, copy->from_offset, copy->bytes, SLRI_READS, false};
    struct slri_work work = {.use = &use, .uses = 1};
    if (slri_buffer_is_one(slri_buffer_root(copy->from)))
        return SLR_OK;
    SLRI_TRY(own_stream(copy->from->device, &own));
    return slri_stream_submit(own, &work, NULL);
}

static slr_status copy_direct(slr_stream *stream, slr_stream *work, const struct slri_peer_copy *copy,
                              enum slri_peer_path path, slr_point *out)
{
    slr_point before, done;
    void *to = slri_buffer_at(copy->to, copy->to_offset), *from = slri_buffer_at(copy->from, copy->from_offset);
    struct slri_command command;
    switch (path) {
    case SLRI_PATH_IN:
        command = (struct slri_command){.op = SLRI_COPY_IN, .copy = {to, from, copy->bytes}};
        break;
    case SLRI_PATH_OUT:
        command = (struct slri_command){.op = SLRI_COPY_OUT, .copy = {from, to, copy->bytes}};
        break;
    default:
        command = (struct slri_command){.op = SLRI_COPY, .move = {to, from, copy->bytes, copy->from->device->self}};
    }
    struct slri_buffer_use use[] = {{copy->from, copy->from_offset, copy->bytes, SLRI_READS, false},
                                    {copy->to, copy->to_offset, copy->bytes, SLRI_OVERWRITES, false}};
    if (path != SLRI_PATH_OUT)
        SLRI_TRY(make_ready(copy));
    SLRI_TRY(join_before(stream, work, &before));
    SLRI_TRY(submit_copy(work, &command, use, 2, before, &done));
    return join_behind(stream, done, out);
}

// ---- staged --------------------------------------------------------------------------------------------------------

struct staging {
    slr_device *device; // whose page-locked memory it is, or NULL
    slr_span span;
    void *memory;
    uint64_t bytes;
};

static void give_staging(struct staging *staging)
{
    if (staging->device) {
        slri_store_give_host(staging->device, &staging->span);
        slri_device_release(staging->device);
    } else {
        slri_free(NULL, staging->memory, staging->bytes);
    }
    slri_free(NULL, staging, sizeof *staging);
}

static void staging_done(void *user, slr_status status)
{
    (void)status;
    give_staging(user);
}

static slr_status take_staging(slr_device *from, slr_device *to, uint64_t bytes, struct staging **out)
{
    struct staging *made = slri_alloc(NULL, sizeof *made);
    slr_device *pins = to->facts.has_pinned ? to : from->facts.has_pinned ? from : NULL;
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "no memory for a staged copy");
    made->bytes = bytes;
    if (pins && slri_store_take_host(pins, bytes, &made->span) == SLR_OK) {
        made->device = pins;
        made->memory = made->span.memory;
        slri_device_hold(pins);
    } else {
        made->memory = slri_alloc(NULL, bytes);
    }
    *out = made;
    if (made->memory)
        return SLR_OK;
    slri_free(NULL, made, sizeof *made);
    return SLRI_FAIL(NO_MEMORY, "no memory for a staging buffer of %llu bytes", (unsigned long long)bytes);
}

struct stages {
    slr_stream *read, *write; // of the two devices
    unsigned char *memory;
    uint64_t chunk_bytes, chunks;
};

// Piece k goes through the half of the staging memory that piece k - 2 has left.
static slr_status stage(const struct stages *s, const struct slri_peer_copy *copy, slr_point before, slr_point *done)
{
    slr_point written[2] = {before, before};
    *done = before;
    for (uint64_t k = 0; k < s->chunks; ++k) {
        uint64_t at = k * s->chunk_bytes, left = copy->bytes - at;
        uint64_t bytes = left < s->chunk_bytes ? left : s->chunk_bytes;
        void *half = s->memory + (k & 1) * s->chunk_bytes;
        slr_point read;
        struct slri_command out = {.op = SLRI_COPY_OUT,
                                   .copy = {slri_buffer_at(copy->from, copy->from_offset + at), half, bytes}};
        struct slri_command in = {.op = SLRI_COPY_IN,
                                  .copy = {slri_buffer_at(copy->to, copy->to_offset + at), half, bytes}};
        struct slri_buffer_use reads = {copy->from, copy->from_offset + at, bytes, SLRI_READS, false};
        struct slri_buffer_use writes = {copy->to, copy->to_offset + at, bytes, SLRI_OVERWRITES, false};
        SLRI_TRY(submit_copy(s->read, &out, &reads, 1, written[k & 1], &read));
        SLRI_TRY(submit_copy(s->write, &in, &writes, 1, read, done));
        written[k & 1] = *done;
    }
    return SLR_OK;
}

static slr_status copy_staged(slr_stream *stream, slr_stream *other, struct slri_peer_copy *copy, slr_point *out)
{
    bool is_to = stream->device == copy->to->device;
    struct stages s = {.read = is_to ? other : stream,
                       .write = is_to ? stream : other,
                       .memory = copy->staging,
                       .chunk_bytes = copy->chunk_bytes ? copy->chunk_bytes : CHUNK_BYTES};
    s.chunks = copy->bytes / s.chunk_bytes + (copy->bytes % s.chunk_bytes != 0);
    struct staging *own = NULL;
    slr_point before, done;
    if (!s.memory && s.chunks != 0) {
        SLRI_TRY(take_staging(copy->from->device, copy->to->device, (s.chunks > 1 ? 2 : 1) * s.chunk_bytes, &own));
        s.memory = own->memory;
    }
    slr_status status = slr_stream_signal(stream, &before);
    if (status == SLR_OK)
        status = stage(&s, copy, before, &done);
    // Behind the last write comes every use of the staging memory; also where only some pieces were submitted.
    if (own && slr_stream_call(s.write, staging_done, own, NULL) != SLR_OK) {
        (void)slr_stream_finish(s.write, SLRI_FOREVER);
        give_staging(own);
    }
    SLRI_TRY(status);
    copy->pieces = s.chunks;
    slri_peer_count(copy, s.chunks);
    return join_behind(stream, done, out);
}

// ---- the calls -----------------------------------------------------------------------------------------------------

static bool is_recorded(slr_stream *stream)
{
    slri_queues_lock();
    bool recorded = stream->recording != NULL;
    slri_queues_unlock();
    return recorded;
}

void slri_peer_recover(slr_device *device)
{
    slri_queues_lock();
    slr_stream *stream = device->peer_stream;
    slri_queues_unlock();
    if (stream)
        (void)slr_stream_recover(stream);
}

void slri_peer_close(slr_device *device)
{
    slri_queues_lock();
    slr_stream *stream = device->peer_stream;
    device->peer_stream = NULL;
    slri_queues_unlock();
    slr_stream_destroy(stream);
}

slr_status slri_peer_copy(slr_stream *stream, struct slri_peer_copy *copy, slr_point *out)
{
    slr_device *from = copy->from->device, *to = copy->to->device, *others = stream->device == to ? from : to;
    slr_peer_info info = {0};
    slr_stream *other = stream;
    enum slri_peer_path path = path_of(from, to, &info);
    if ((path == SLRI_PATH_IN && !slri_buffer_is_reached(copy->from)) ||
        (path == SLRI_PATH_OUT && !slri_buffer_is_reached(copy->to))) {
        snprintf(info.reason, sizeof info.reason, "the buffer is private");
        path = SLRI_PATH_STAGED;
    }
    if (path == SLRI_PATH_STAGED && copy->way == SLR_PEER_DIRECT)
        return SLRI_FAIL(UNSUPPORTED, "no direct copy from %s to %s: %s; SLR_PEER_STAGED goes through the host",
                         name_of(from), name_of(to), info.reason);
    if (others != stream->device)
        SLRI_TRY(own_stream(others, &other));
    if (is_recorded(stream) || is_recorded(other))
        return SLRI_FAIL(UNSUPPORTED,
                         "a copy between devices cannot be recorded: end the recording of the stream first");
    if (path == SLRI_PATH_STAGED || copy->way == SLR_PEER_STAGED)
        return copy_staged(stream, other, copy, out);
    slr_device *works = path == SLRI_PATH_OUT ? from : to;
    if (path == SLRI_PATH_SAME)
        SLRI_TRY(slr_stream_copy(stream, copy->to, copy->to_offset, copy->from, copy->from_offset, copy->bytes, out));
    else
        SLRI_TRY(copy_direct(stream, stream->device == works ? stream : other, copy, path, out));
    copy->pieces = 1;
    slri_peer_count(copy, 0);
    return SLR_OK;
}

static slr_status copy_with(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                            uint64_t from_offset, uint64_t bytes, const slr_peer_desc *desc, slr_point *out)
{
    slr_peer_desc whole;
    if (!stream || !to || !from)
        return SLRI_FAIL(INVALID, "slr_peer_copy: %s is NULL", !stream ? "stream" : !to ? "to" : "from");
    SLRI_TRY(SLRI_TAKE_DESC(slr_peer_desc, &whole, desc));
    SLRI_TRY(slri_buffer_check_range(to, to_offset, bytes, "slr_peer_copy, to"));
    SLRI_TRY(slri_buffer_check_range(from, from_offset, bytes, "slr_peer_copy, from"));
    if (stream->device != to->device && stream->device != from->device)
        return SLRI_FAIL(INVALID, "slr_peer_copy: the stream belongs to neither buffer's device");
    if (whole.way > SLR_PEER_STAGED)
        return SLRI_FAIL(INVALID, "slr_peer_copy: way %u; expected 1 to %d", whole.way, SLR_PEER_STAGED);
    if (whole.staging && whole.chunk_bytes == 0)
        return SLRI_FAIL(INVALID, "slr_peer_copy: staging memory without slr_peer_desc.chunk_bytes, half its size");
    struct slri_peer_copy copy = {.to = to,
                                  .from = from,
                                  .to_offset = to_offset,
                                  .from_offset = from_offset,
                                  .bytes = bytes,
                                  .way = whole.way ? (slr_peer_way)whole.way : SLR_PEER_ANY,
                                  .chunk_bytes = whole.chunk_bytes,
                                  .staging = whole.staging};
    return slri_peer_copy(stream, &copy, out);
}

slr_status slr_peer_copy_with(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                              uint64_t from_offset, uint64_t bytes, const slr_peer_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    return copy_with(stream, to, to_offset, from, from_offset, bytes, desc, out);
}

slr_status slr_peer_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from, uint64_t from_offset,
                         uint64_t bytes, slr_peer_way way, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    slr_peer_desc desc = SLR_PEER_DESC_INIT;
    desc.way = way;
    if ((int)way == 0)
        return SLRI_FAIL(INVALID, "slr_peer_copy: way 0; expected 1 to %d", SLR_PEER_STAGED);
    return copy_with(stream, to, to_offset, from, from_offset, bytes, &desc, out);
}

// SPDX-License-Identifier: Apache-2.0
// What can be submitted to a stream without a kernel: copies, fills, calls of the host.
#include "base/status.h"
#include "device/stream.h"
#include "engine/observe.h"

#include <string.h>

static slr_status check_place(const slr_stream *stream, const slr_buffer *buffer, const char *call)
{
    if (!stream)
        return SLRI_FAIL(INVALID, "%s: stream is NULL", call);
    if (buffer && buffer->device != stream->device)
        return SLRI_FAIL(INVALID, "%s: the buffer belongs to another device than the stream", call);
    return SLR_OK;
}

static slr_status copy_command(slr_buffer *buffer, uint64_t offset, void *host, uint64_t bytes, enum slri_command_op op,
                               const char *call, struct slri_command *out)
{
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, call));
    if (!host && bytes != 0)
        return SLRI_FAIL(INVALID, "%s: the host's memory is NULL", call);
    *out = (struct slri_command){.op = op, .copy = {slri_buffer_at(buffer, offset), host, bytes}};
    return SLR_OK;
}

static slr_status submit_one(slr_stream *stream, const struct slri_command *command, const struct slri_buffer_use *use,
                             uint32_t uses, slr_point *out)
{
    struct slri_work work = {.command = command, .commands = command != NULL, .use = use, .uses = uses};
    return slri_stream_submit(stream, &work, out);
}

slr_status slr_stream_write(slr_stream *stream, slr_buffer *buffer, uint64_t offset, const void *from, uint64_t bytes,
                            slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    struct slri_command command;
    SLRI_TRY(check_place(stream, buffer, "slr_stream_write"));
    SLRI_TRY(copy_command(buffer, offset, (void *)from, bytes, SLRI_COPY_IN, "slr_stream_write", &command));
    struct slri_buffer_use use = {buffer, offset, bytes, SLRI_OVERWRITES, false};
    return submit_one(stream, &command, &use, 1, out);
}

slr_status slr_stream_read(slr_stream *stream, slr_buffer *buffer, uint64_t offset, void *to, uint64_t bytes,
                           slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    struct slri_command command;
    SLRI_TRY(check_place(stream, buffer, "slr_stream_read"));
    SLRI_TRY(copy_command(buffer, offset, to, bytes, SLRI_COPY_OUT, "slr_stream_read", &command));
    struct slri_buffer_use use = {buffer, offset, bytes, SLRI_READS, false};
    return submit_one(stream, &command, &use, 1, out);
}

slr_status slr_stream_copy(slr_stream *stream, slr_buffer *to, uint64_t to_offset, slr_buffer *from,
                           uint64_t from_offset, uint64_t bytes, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(check_place(stream, to, "slr_stream_copy"));
    SLRI_TRY(check_place(stream, from, "slr_stream_copy"));
    SLRI_TRY(slri_buffer_check_range(to, to_offset, bytes, "slr_stream_copy, to"));
    SLRI_TRY(slri_buffer_check_range(from, from_offset, bytes, "slr_stream_copy, from"));
    struct slri_command command = {
        .op = SLRI_COPY,
        .move = {.to = slri_buffer_at(to, to_offset), .from = slri_buffer_at(from, from_offset), .bytes = bytes}};
    struct slri_buffer_use use[] = {{from, from_offset, bytes, SLRI_READS, false},
                                    {to, to_offset, bytes, SLRI_OVERWRITES, false}};
    return submit_one(stream, &command, use, 2, out);
}

slr_status slr_stream_fill(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes, const void *pattern,
                           uint32_t pattern_bytes, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(check_place(stream, buffer, "slr_stream_fill"));
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, "slr_stream_fill"));
    bool power_of_two = pattern_bytes != 0 && (pattern_bytes & (pattern_bytes - 1)) == 0;
    if (!pattern || !power_of_two || pattern_bytes > 16)
        return SLRI_FAIL(INVALID, "slr_stream_fill: a pattern of %u bytes; expected 1, 2, 4, 8 or 16",
                         pattern ? pattern_bytes : 0);
    if (bytes % pattern_bytes != 0)
        return SLRI_FAIL(INVALID, "slr_stream_fill: %llu bytes are not a multiple of the pattern's %u",
                         (unsigned long long)bytes, pattern_bytes);
    struct slri_command command = {
        .op = SLRI_FILL,
        .fill = {.device = slri_buffer_at(buffer, offset), .bytes = bytes, .pattern_bytes = pattern_bytes}};
    memcpy(command.fill.pattern, pattern, pattern_bytes);
    struct slri_buffer_use use = {buffer, offset, bytes, SLRI_OVERWRITES, false};
    return submit_one(stream, &command, &use, 1, out);
}

slr_status slr_stream_prefetch(slr_stream *stream, slr_buffer *buffer, uint64_t offset, uint64_t bytes, slr_place to,
                               slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(check_place(stream, buffer, "slr_stream_prefetch"));
    SLRI_TRY(slri_buffer_check_range(buffer, offset, bytes, "slr_stream_prefetch"));
    if (to != SLR_AT_HOST && to != SLR_AT_DEVICE)
        return SLRI_FAIL(INVALID, "slr_stream_prefetch: place %d; expected SLR_AT_HOST or SLR_AT_DEVICE", (int)to);
    slr_buffer *root = slri_buffer_root(buffer);
    if (root->mode == SLR_BUFFER_EXPLICIT)
        return SLRI_FAIL(WRONG_STATE, "slr_stream_prefetch: the buffer is explicit: use slr_buffer_sync");
    if (to == SLR_AT_HOST)
        SLRI_TRY(slri_buffer_check_side(root, "slr_stream_prefetch"));
    if (slri_buffer_is_lazy(root) && to == SLR_AT_HOST)
        SLRI_TRY(slri_host_view(root));
    struct slri_buffer_use use = {buffer, offset, bytes, to == SLR_AT_HOST ? SLRI_TO_HOST : SLRI_READS, false};
    return submit_one(stream, NULL, &use, 1, out);
}

slr_status slr_stream_call(slr_stream *stream, slr_stream_function *function, void *user, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    SLRI_TRY(check_place(stream, NULL, "slr_stream_call"));
    if (!function)
        return SLRI_FAIL(INVALID, "slr_stream_call: function is NULL");
    struct slri_command command = {.op = SLRI_CALL, .call = {function, user}};
    return submit_one(stream, &command, NULL, 0, out);
}

// SPDX-License-Identifier: Apache-2.0
// Reads the dead letters of a place without taking it.
#include "base/status.h"
#include "cluster/server.h"

#include <string.h>

typedef struct visiting {
    slri_frame_shape shape;
    uint64_t last; // the letter that was visited last
    slr_on_place_letter *visit;
    void *user;
} visiting;

// A stored reason has no zero behind it: whoever is told of it gets a text.
static void tell_letter(const visiting *visiting, const slri_frame_letter *letter, const char *reason,
                        const void *message)
{
    char text[SLRI_FRAME_KEY_MAX + 1]; // no checked frame has a longer reason
    memcpy(text, reason, letter->reason_bytes);
    text[letter->reason_bytes] = '\0';
    visiting->visit(visiting->user, &(slr_place_letter){.sequence = visiting->last,
                                                        .message = letter->message,
                                                        .instance = letter->instance,
                                                        .bytes = visiting->shape.message_bytes,
                                                        .reason = text,
                                                        .payload = message});
}

// A letter whose number is not greater than `last` was told before, by an earlier try.
static slr_status visit_record(void *user, const slri_log_record *record)
{
    visiting *visiting = user;
    slri_frame frame;
    slri_frame_letter letter;
    const char *reason;
    const void *message;
    SLRI_TRY(slri_frame_read(&visiting->shape, SLRI_FRAME_DEAD, record->data, record->bytes, &frame));
    uint64_t number = frame.head.first;
    for (size_t at = 0; slri_frame_next_letter(&visiting->shape, &frame, &at, &letter, &reason, &message); ++number) {
        if (number <= visiting->last)
            continue;
        visiting->last = number;
        tell_letter(visiting, &letter, reason, message);
    }
    return SLR_OK;
}

static slr_status visit_log(slri_log *log, const char *folder, visiting *visiting)
{
    slri_head head;
    size_t bytes;
    uint64_t revision;
    slr_status status = log->engine->get(log, SLRI_HEAD_KEY, &head, sizeof head, &bytes, &revision);
    if (status == SLR_NOT_FOUND)
        return SLRI_FAIL(NOT_FOUND, "%s holds no durable ring kernel: it has no file '" SLRI_HEAD_KEY "'", folder);
    SLRI_TRY(status);
    SLRI_TRY(slri_head_check(&head, bytes, folder));
    visiting->shape =
        (slri_frame_shape){head.layout, head.message_bytes, head.state_bytes, head.reply_bytes, UINT32_MAX};
    return log->engine->read_from(log, SLRI_LOG_DEAD, 1, visit_record, visiting);
}

// The files of a place in use may change, or go, while they are read: what looks like damage is then read again, from
// the first letter on that was not told yet.
slr_status slr_place_visit_letters(const char *place, uint64_t after, slr_on_place_letter *visit, void *user)
{
    const slri_log_engine *engine;
    slri_log_desc desc = {.reads_only = 1};
    visiting visiting = {.last = after, .visit = visit, .user = user};
    if (!place || !visit)
        return SLRI_FAIL(INVALID, "slr_place_visit_letters: %s is NULL", place ? "visit" : "place");
    SLRI_TRY(slri_place_parse(place, &engine, &desc.place));
    slr_status status = SLR_INVALID;
    for (uint32_t tries = 0; tries < SLRI_PLACE_TRIES && status != SLR_OK && status != SLR_NOT_FOUND; ++tries) {
        slri_log *log;
        slri_place_pause(tries);
        status = engine->open(&desc, &log);
        if (status != SLR_OK)
            continue;
        status = visit_log(log, desc.place, &visiting);
        engine->close(log);
    }
    return status;
}

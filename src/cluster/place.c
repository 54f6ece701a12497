// SPDX-License-Identifier: Apache-2.0
// Reads a place without taking it, checks all of it, and says what it found.
#include "base/sized.h"
#include "base/status.h"
#include "cluster/server.h"

#include <stdio.h>
#include <string.h>

struct looking {
    slri_frame_shape shape;
    enum slri_frame_kind kind;
    slri_head head;
    slr_place_info *info;
    uint64_t last_message, frames;
};

static void find(void *user, const char *what)
{
    slr_place_info *info = user;
    info->damages++;
    snprintf(info->damage, sizeof info->damage, "%s", what);
}

static slr_status look_at(void *user, const slri_log_record *record)
{
    static const char *const names[] = {
        [SLRI_FRAME_IN] = "in", [SLRI_FRAME_OUT] = "out", [SLRI_FRAME_SNAP] = "snap", [SLRI_FRAME_DEAD] = "dead"};
    struct looking *looking = user;
    slri_frame frame;
    slr_status status = slri_frame_read(&looking->shape, looking->kind, record->data, record->bytes, &frame);
    if (status != SLR_OK) {
        char what[256];
        snprintf(what, sizeof what, "%s: record %llu: %.180s", names[looking->kind],
                 (unsigned long long)record->sequence, slr_error_message());
        find(looking->info, what);
        looking->info->is_usable = 0;
        return SLR_OK;
    }
    if (looking->kind == SLRI_FRAME_IN && frame.head.first + frame.head.count > looking->info->accepted + 1)
        looking->info->accepted = frame.head.first + frame.head.count - 1;
    else if (looking->kind == SLRI_FRAME_OUT)
        looking->info->outputs = frame.head.first + frame.head.count - 1;
    else if (looking->kind == SLRI_FRAME_DEAD)
        looking->info->dead += frame.head.count;
    return SLR_OK;
}

static slr_status fill_info(slri_log *log, const slri_head *head, slr_place_info *info)
{
    struct looking looking = {
        .shape = {head->layout, head->message_bytes, head->state_bytes, head->reply_bytes, info->instances},
        .info = info};
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        looking.kind = (enum slri_frame_kind)(at + 1); // in one order
        SLRI_TRY(log->engine->read_from(log, at, 1, look_at, &looking));
    }
    info->in_bytes = log->engine->size(log, SLRI_LOG_IN);
    info->out_bytes = log->engine->size(log, SLRI_LOG_OUT);
    info->state_log_bytes = log->engine->size(log, SLRI_LOG_SNAP);
    return SLR_OK;
}

static void fill(const slri_head *head, slr_place_info *info)
{
    memcpy(info->handler, head->handler, sizeof info->handler);
    info->layout = head->layout;
    info->message_bytes = head->message_bytes;
    info->state_bytes = head->state_bytes;
    info->reply_bytes = head->reply_bytes;
    info->instances = UINT32_MAX; // the limit is the description's: any number may be here
    info->accepted = info->position = head->messages;
    info->states = head->states;
    info->outputs = head->outputs;
    info->is_usable = 1;
}

static slr_status open_and_look(const char *place, slr_place_info *info)
{
    const slri_log_engine *engine;
    slri_log_desc desc = {.reads_only = 1, .on_damage = find, .user = info};
    slri_log *log;
    slri_head head;
    slri_released released;
    size_t bytes;
    uint64_t revision;
    SLRI_TRY(slri_place_parse(place, &engine, &desc.place));
    slr_status status = engine->open(&desc, &log);
    if (status == SLR_INVALID) // damage, which on_damage has
        return SLR_OK;
    SLRI_TRY(status);
    status = engine->get(log, SLRI_HEAD_KEY, &head, sizeof head, &bytes, &revision);
    if (status == SLR_OK)
        status = slri_head_check(&head, bytes, place);
    if (status == SLR_OK) {
        fill(&head, info);
        status = fill_info(log, &head, info);
    }
    if (status == SLR_OK &&
        engine->get(log, SLRI_RELEASED_KEY, &released, sizeof released, &bytes, &revision) == SLR_OK)
        info->released = released.outputs;
    engine->close(log);
    if (status != SLR_INVALID)
        return status;
    if (info->damages == 0)
        find(info, slr_error_message());
    info->is_usable = 0;
    return SLR_OK;
}

slr_status slr_place_get_info_sized(const char *place, slr_place_info *out, size_t bytes)
{
    slr_place_info info = {0};
    if (!place || !out)
        return SLRI_FAIL(INVALID, "slr_place_get_info: %s is NULL", place ? "out" : "place");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_place_info, bytes));
    SLRI_TRY(open_and_look(place, &info));
    return SLRI_GIVE_REPORT(slr_place_info, out, bytes, &info);
}

slr_status(slr_place_get_info)(const char *place, slr_place_info *out)
{
    return slr_place_get_info_sized(place, out, SLRI_FIRST_slr_place_info);
}

// SPDX-License-Identifier: Apache-2.0
// Reads a place without taking it, checks all of it, and says what it found.
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "base/thread.h"
#include "cluster/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_NS = 1000000 };

struct looking {
    slri_frame_shape shape;
    enum slri_frame_kind kind;
    slri_head head;
    slr_place_info *info;
    uint32_t instances; // at least so many has the ring kernel
};

static void find(void *user, const char *what)
{
    slr_place_info *info = user;
    info->damages++;
    slri_text_fit(info->damage, sizeof info->damage, what);
}

// The limit of instances is the description's: here it is the highest one that is stored.
static void note_instances(struct looking *looking, const slri_frame *frame)
{
    slri_frame_state state;
    slri_frame_output output;
    slri_frame_letter letter;
    const char *key;
    const void *bytes;
    size_t at = 0;
    uint32_t most = looking->instances;
    for (uint32_t i = 0; looking->kind == SLRI_FRAME_IN && i < frame->head.count; ++i)
        most = frame->instances[i] >= most ? frame->instances[i] + 1 : most;
    while (looking->kind == SLRI_FRAME_SNAP && slri_frame_next_state(&looking->shape, frame, &at, &state, &key, &bytes))
        most = state.instance >= most ? state.instance + 1 : most;
    while (looking->kind == SLRI_FRAME_OUT && slri_frame_next_output(&looking->shape, frame, &at, &output, &bytes))
        most = output.instance >= most ? output.instance + 1 : most;
    while (looking->kind == SLRI_FRAME_DEAD &&
           slri_frame_next_letter(&looking->shape, frame, &at, &letter, &key, &bytes))
        most = letter.instance >= most ? letter.instance + 1 : most;
    looking->instances = most;
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
    note_instances(looking, &frame);
    if (looking->kind == SLRI_FRAME_IN && frame.head.first + frame.head.count > looking->info->accepted + 1)
        looking->info->accepted = frame.head.first + frame.head.count - 1;
    else if (looking->kind == SLRI_FRAME_OUT)
        looking->info->outputs = frame.head.first + frame.head.count - 1;
    else if (looking->kind == SLRI_FRAME_DEAD)
        looking->info->dead += frame.head.count;
    return SLR_OK;
}

// What slr_serve does with the place, by the same functions, but without a ring kernel.
static slr_status try_to_load(slri_log *log, const char *place, const struct looking *looking)
{
    slr_server *server = calloc(1, sizeof *server);
    if (!server)
        return SLRI_FAIL(NO_MEMORY, "no memory to check %s", place);
    server->log = log;
    server->desc.place = place;
    server->head = looking->head;
    server->shape = looking->shape;
    server->shape.instances = looking->instances;
    server->reply_step = looking->shape.reply_bytes ? slri_pad(looking->shape.reply_bytes) : 8;
    server->touched = calloc(looking->instances / 64 + 1, sizeof *server->touched);
    slr_status status = server->touched ? slri_keytable_open(&server->keys, looking->head.keys)
                                        : SLRI_FAIL(NO_MEMORY, "no memory to check %s", place);
    if (status == SLR_OK)
        status = slri_server_check(server);
    server->log = NULL; // the caller's
    slri_server_abandon(server);
    return status;
}

static slr_status fill_info(slri_log *log, const char *place, const slri_head *head, slr_place_info *info)
{
    struct looking looking = {
        .shape = {head->layout, head->message_bytes, head->state_bytes, head->reply_bytes, info->instances},
        .head = *head,
        .info = info};
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        looking.kind = (enum slri_frame_kind)(at + 1); // in one order
        SLRI_TRY(log->engine->read_from(log, at, 1, look_at, &looking));
    }
    info->in_bytes = log->engine->size(log, SLRI_LOG_IN);
    info->out_bytes = log->engine->size(log, SLRI_LOG_OUT);
    info->state_log_bytes = log->engine->size(log, SLRI_LOG_SNAP);
    if (!info->is_usable)
        return SLR_OK;
    const uint32_t before = info->damages;
    slr_status status = try_to_load(log, place, &looking);
    if (status != SLR_INVALID)
        return status;
    if (info->damages == before)
        find(info, slr_error_message());
    info->is_usable = 0;
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

static slr_status refuse_foreign(slri_log *log, const char *folder, slr_place_info *info)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        if (log->engine->size(log, at) > 0) {
            find(info, "head: the file is missing, and there are records");
            return SLR_OK;
        }
    }
    return SLRI_FAIL(NOT_FOUND, "%s holds no durable ring kernel: it has no file '" SLRI_HEAD_KEY "'", folder);
}

// `*revision`: of the head that it has read; 0: none.
static slr_status open_and_look(const char *place, slr_place_info *info, uint64_t *head_revision)
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
    status = engine->get(log, SLRI_HEAD_KEY, &head, sizeof head, &bytes, head_revision);
    if (status == SLR_NOT_FOUND) {
        status = refuse_foreign(log, desc.place, info);
        engine->close(log);
        return status;
    }
    if (status == SLR_OK)
        status = slri_head_check(&head, bytes, place);
    if (status == SLR_OK) {
        fill(&head, info);
        status = fill_info(log, place, &head, info);
    }
    if (status == SLR_OK && info->is_usable &&
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

void slri_place_pause(uint32_t tries)
{
    if (tries > 0)
        slri_sleep_ns((uint64_t)PAUSE_NS << 2 * tries);
}

// Whoever uses the place may put a new snapshot in it, or take a file away, between two files that are read. Then it is
// read again, until the head is the same twice; a read that did not come to the head says nothing of that. A folder
// that is missing, or holds nothing of ours, is no place in use: whoever begins one writes the head first.
static slr_status look_at_rest(const char *place, slr_place_info *info)
{
    uint64_t before = 0, revision = 0;
    slr_status status = SLR_OK;
    for (uint32_t tries = 0; tries < SLRI_PLACE_TRIES && (revision == 0 || revision != before); ++tries) {
        slri_place_pause(tries);
        before = revision;
        revision = 0;
        *info = (slr_place_info){0};
        status = open_and_look(place, info, &revision);
        if (status == SLR_NOT_FOUND || (status == SLR_OK && info->is_usable))
            break;
    }
    return status;
}

slr_status slr_place_get_info_sized(const char *place, slr_place_info *out, size_t bytes)
{
    slr_place_info info = {0};
    if (!place || !out)
        return SLRI_FAIL(INVALID, "slr_place_get_info: %s is NULL", place ? "out" : "place");
    const slri_log_engine *engine;
    const char *folder;
    SLRI_TRY(SLRI_CHECK_REPORT(slr_place_info, bytes));
    SLRI_TRY(slri_place_parse(place, &engine, &folder)); // which no second try changes
    SLRI_TRY(look_at_rest(place, &info));
    return SLRI_GIVE_REPORT(slr_place_info, out, bytes, &info);
}

slr_status(slr_place_get_info)(const char *place, slr_place_info *out)
{
    return slr_place_get_info_sized(place, out, SLRI_FIRST_slr_place_info);
}

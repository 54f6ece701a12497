// SPDX-License-Identifier: Apache-2.0
// From a place to a ring kernel that stands where the last process left it.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static slr_status fail_damage(const slr_server *server, const char *what)
{
    return SLRI_FAIL(INVALID, "%s is damaged: %s. Restore the folder from a copy, or begin with an empty one",
                     slri_place_name(server->desc.place), what);
}

// ---- states --------------------------------------------------------------------------------------------------------

struct loading {
    slr_server *server;
    uint64_t records;
};

static slr_status load_state(slr_server *server, const slri_frame_state *state, const char *text, const void *bytes)
{
    uint32_t instance = state->instance;
    if (server->head.keys) {
        slr_key key = slri_keytable_key(&server->keys, text, state->key_bytes);
        if (!slri_keytable_find(&server->keys, &key, &instance)) {
            instance = server->keys.count;
            SLRI_TRY(slri_keytable_add(&server->keys, &key));
        }
        if (instance != state->instance)
            return fail_damage(server, "a snapshot gives a key another instance than the one it has");
    }
    const uint64_t bit = (uint64_t)1 << instance % 64;
    server->touched_count += !(server->touched[instance / 64] & bit);
    server->touched[instance / 64] |= bit;
    return server->shape.state_bytes && server->ring
               ? slr_ring_restore(server->ring, instance, bytes, server->shape.state_bytes, SLRI_FOREVER)
               : SLR_OK;
}

static slr_status load_part(void *user, const slri_log_record *record)
{
    struct loading *loading = user;
    slr_server *server = loading->server;
    slri_frame frame;
    slri_frame_state state;
    const char *key;
    const void *bytes;
    size_t at = 0;
    if (record->sequence > server->head.snap_last)
        return SLR_OK; // of a snapshot that was not finished
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_SNAP, record->data, record->bytes, &frame));
    loading->records++;
    while (slri_frame_next_state(&server->shape, &frame, &at, &state, &key, &bytes))
        SLRI_TRY(load_state(server, &state, key, bytes));
    return SLR_OK;
}

slr_status slri_server_load_snapshot(slr_server *server)
{
    struct loading loading = {server, 0};
    const slri_log_engine *engine = server->log->engine;
    SLRI_TRY(engine->read_from(server->log, SLRI_LOG_SNAP, server->head.snap_first, load_part, &loading));
    if (loading.records != server->head.snap_last + 1 - server->head.snap_first)
        return fail_damage(server, "records of the last snapshot are missing");
    if (server->touched_count != server->head.states)
        return fail_damage(server, "the last snapshot has fewer states than its head says");
    SLRI_TRY(engine->cut(server->log, SLRI_LOG_SNAP, server->head.snap_last));
    uint64_t first, last;
    engine->last(server->log, SLRI_LOG_SNAP, &first, &last);
    server->next_is_full = last != server->head.snap_last; // an engine that cannot cut
    return SLR_OK;
}

// ---- messages ------------------------------------------------------------------------------------------------------

// The first pass: nothing is sent yet, and the last message is found.
static slr_status count_messages(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    uint32_t at;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_IN, record->data, record->bytes, &frame));
    if (record->sequence <= server->head.in_last)
        return SLR_OK;
    SLRI_TRY(slri_server_producer(server, frame.head.producer, &at));
    slri_head_producer *producer = &server->head.producer[at];
    if (frame.head.first != server->messages + 1 || frame.head.number != producer->number + 1)
        return fail_damage(server, "a frame of messages does not follow the one before");
    server->messages += frame.head.count;
    server->in_last = record->sequence;
    producer->number += frame.head.count;
    producer->sum = slri_rows_add(producer->sum, frame.entries, frame.head.count, server->shape.message_bytes);
    producer->instances = slri_instances_add(producer->instances, frame.instances, frame.head.count);
    return SLR_OK;
}

static slr_status find_messages(slr_server *server)
{
    uint64_t first, last;
    const slri_log_engine *engine = server->log->engine;
    engine->last(server->log, SLRI_LOG_IN, &first, &last);
    server->in_last = server->head.in_last;
    server->messages = server->head.messages;
    if (last < server->head.in_last) // a power cut took messages that the states have
        return engine->cut(server->log, SLRI_LOG_IN, server->head.in_last);
    if (first > server->head.in_last + 1)
        return fail_damage(server, "messages since the last snapshot are missing");
    return engine->read_from(server->log, SLRI_LOG_IN, server->head.in_last + 1, count_messages, server);
}

static slr_status add_keys(slr_server *server, const slri_frame *frame)
{
    slri_frame_key head;
    const char *text;
    uint32_t instance;
    for (size_t at = 0; slri_frame_next_key(frame, &at, &head, &text);) {
        slr_key key = slri_keytable_key(&server->keys, text, head.bytes);
        bool is_there = server->head.keys && slri_keytable_find(&server->keys, &key, &instance);
        if (!server->head.keys || head.instance != (is_there ? instance : server->keys.count))
            return fail_damage(server, "a frame gives a key an instance that is not its own");
        if (!is_there)
            SLRI_TRY(slri_keytable_add(&server->keys, &key));
    }
    for (uint32_t i = 0; server->head.keys && i < frame->head.count; ++i) {
        if (frame->instances[i] >= server->keys.count)
            return fail_damage(server, "a message is for a key that nobody named");
    }
    return SLR_OK;
}

static slr_status check_again(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_IN, record->data, record->bytes, &frame));
    return add_keys(server, &frame);
}

slr_status slri_server_check(slr_server *server)
{
    SLRI_TRY(slri_server_load(server));
    return server->log->engine->read_from(server->log, SLRI_LOG_IN, server->head.in_last + 1, check_again, server);
}

static slr_status send_again(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_IN, record->data, record->bytes, &frame));
    SLRI_TRY(add_keys(server, &frame));
    for (uint32_t done = 0; done < frame.head.count;) {
        uint32_t left = frame.head.count - done;
        uint32_t count = left < server->batch_most ? left : server->batch_most;
        memcpy(server->instances, frame.instances + done, count * sizeof *server->instances);
        memcpy(server->payloads, frame.entries + done * server->step, count * server->step);
        server->batched = count;
        SLRI_TRY(slri_server_end_batch(server));
        SLRI_TRY(slri_server_hand_over(server, server->batch_slots - 2, SLRI_FOREVER));
        server->stats.replayed += count;
        done += count;
    }
    return SLR_OK;
}

slr_status slri_server_replay(slr_server *server)
{
    server->sent = server->head.messages;
    server->first_correlation = server->head.messages + 1;
    server->compare_is_due = !server->follows;
    return slri_server_send_again(server);
}

slr_status slri_server_send_again(slr_server *server)
{
    if (server->follows) // its messages come from there in any case
        return SLR_OK;
    return server->log->engine->read_from(server->log, SLRI_LOG_IN, server->head.in_last + 1, send_again, server);
}

// ---- outputs -------------------------------------------------------------------------------------------------------

// Outputs of messages that a power cut took are no outputs: from that record on all are made again.
static bool is_known(const slr_server *server, const slri_frame *frame)
{
    slri_frame_output output;
    const void *payload;
    for (size_t at = 0; slri_frame_next_output(&server->shape, frame, &at, &output, &payload);) {
        if (output.message > server->messages)
            return false;
    }
    return true;
}

// Outputs that nobody has released, and those since the snapshot, which say what is stored.
static uint64_t first_needed_output(const slr_server *server)
{
    const uint64_t released = server->released.outputs, snapshot = server->head.outputs;
    return (released < snapshot ? released : snapshot) + 1;
}

static slr_status find_outputs(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    slri_frame_output output;
    const void *payload;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_OUT, record->data, record->bytes, &frame));
    if (server->out_record_count == 0 && frame.head.first > first_needed_output(server))
        return fail_damage(server, "outputs are missing before those that are there");
    if (server->out_last + 1 < record->sequence && server->out_record_count > 0)
        return SLR_OK; // behind one that is not known
    if (server->out_record_count > 0 && frame.head.first != server->outputs + 1)
        return fail_damage(server, "a frame of outputs does not follow the one before");
    if (!is_known(server, &frame)) {
        server->out_last = server->out_record_count ? server->out_last : record->sequence - 1;
        return SLR_OK;
    }
    SLRI_TRY(slri_server_reserve(server, frame.head.count));
    slri_server_note_record(server, record->sequence, frame.head.first);
    server->outputs = frame.head.first - 1;
    for (size_t at = 0; slri_frame_next_output(&server->shape, &frame, &at, &output, &payload);) {
        slri_server_note_output(server, &output, ++server->outputs, payload);
        slri_mark *mark = slri_server_mark(server, output.message);
        if (!mark)
            continue; // of a snapshot
        if (output.index != mark->stored)
            return fail_damage(server, "an output is missing, or there twice");
        mark->sum += slri_output_sum(mark->stored++, payload, server->shape.reply_bytes);
    }
    server->out_last = record->sequence;
    server->out_id = slri_output_id(frame.head.producer, record->sequence);
    return SLR_OK;
}

static slr_status load_outputs(slr_server *server)
{
    const slri_log_engine *engine = server->log->engine;
    server->out_last = server->head.out_last;
    server->outputs = server->head.outputs;
    server->out_id = server->head.out_id;
    SLRI_TRY(engine->read_from(server->log, SLRI_LOG_OUT, 1, find_outputs, server));
    if (server->out_record_count == 0 && server->released.outputs < server->head.outputs)
        return fail_damage(server, "outputs that nobody has received are missing");
    if (server->out_last < server->head.out_last || server->outputs < server->head.outputs) {
        if (server->released.outputs < server->head.outputs)
            return fail_damage(server, "outputs that nobody has received are missing");
        server->out_last = server->head.out_last;
        server->outputs = server->head.outputs;
    }
    if (server->outputs < server->released.outputs)
        return fail_damage(server, "outputs that were released are missing");
    return engine->cut(server->log, SLRI_LOG_OUT, server->out_last);
}

static slr_status find_letters(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    slri_frame_letter letter;
    const char *reason;
    const void *message;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_DEAD, record->data, record->bytes, &frame));
    for (size_t at = 0; slri_frame_next_letter(&server->shape, &frame, &at, &letter, &reason, &message);) {
        slri_mark *mark = letter.message <= server->messages ? slri_server_mark(server, letter.message) : NULL;
        if (mark)
            mark->is_dead = 1;
    }
    server->dead_last = record->sequence;
    return SLR_OK;
}

// ---- all of it -----------------------------------------------------------------------------------------------------

static slr_status load_head(slr_server *server)
{
    const slri_log_engine *engine = server->log->engine;
    slri_head now = server->head;
    size_t bytes;
    slr_status status =
        engine->get(server->log, SLRI_HEAD_KEY, &server->head, sizeof server->head, &bytes, &server->head_revision);
    if (status == SLR_NOT_FOUND) { // a new place
        for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
            if (engine->size(server->log, at) > 0 && !(server->follows && at == SLRI_LOG_IN))
                return fail_damage(server, "there are records, but no head");
        }
        server->head_revision = 0;
        SLRI_TRY(engine->cas(server->log, SLRI_HEAD_KEY, &server->head_revision, &now, slri_head_bytes(&now)));
        server->head = now;
        return SLR_OK;
    }
    SLRI_TRY(status);
    SLRI_TRY(slri_head_check(&server->head, bytes, server->desc.place));
    return slri_head_compare(&server->head, &now, server->desc.place);
}

static slr_status load_released(slr_server *server)
{
    size_t bytes;
    slr_status status = server->log->engine->get(server->log, SLRI_RELEASED_KEY, &server->released,
                                                 sizeof server->released, &bytes, &server->released_revision);
    server->received_last = server->released.outputs;
    if (status == SLR_OK && bytes != sizeof server->released)
        return fail_damage(server, "the value 'released' has another length");
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

// From here on no process that had the place before can make a snapshot of it.
static slr_status fence(slr_server *server)
{
    return server->log->engine->cas(server->log, SLRI_HEAD_KEY, &server->head_revision, &server->head,
                                    slri_head_bytes(&server->head));
}

// A log of which the head knows records has a file, and the log of dead letters never loses one.
static slr_status check_logs(const slr_server *server)
{
    const slri_log_engine *engine = server->log->engine;
    const uint64_t known[SLRI_LOG_STREAMS] = {
        [SLRI_LOG_IN] = server->head.in_last,
        [SLRI_LOG_OUT] = server->head.out_last,
        [SLRI_LOG_SNAP] = server->head.snap_last,
        [SLRI_LOG_DEAD] = server->head.dead_last,
    };
    uint64_t first, last;
    engine->last(server->log, SLRI_LOG_DEAD, &first, &last);
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        char what[96];
        snprintf(what, sizeof what, "files of the log '%s' are missing", slri_log_stream_name(at));
        if ((known[at] > 0 && engine->size(server->log, at) == 0) || (at == SLRI_LOG_DEAD && first > 1))
            return fail_damage(server, what);
    }
    return SLR_OK;
}

slr_status slri_server_recover(slr_server *server)
{
    SLRI_TRY(load_head(server));
    return slri_server_load(server);
}

// The head counts the states; messages since the snapshot may have named more keys, which their frames say.
static slr_status check_instances(const slr_server *server)
{
    return server->head.states <= server->shape.instances
               ? SLR_OK
               : SLRI_FAIL(INVALID,
                           "%s holds %" PRIu64 " %s, and slr_ring_desc.instances (--instances) allows %u: allow as "
                           "many, or more",
                           slri_place_name(server->desc.place), server->head.states,
                           server->head.keys ? "keys" : "instances with a state", server->shape.instances);
}

slr_status slri_server_load(slr_server *server)
{
    SLRI_TRY(check_instances(server));
    server->handled = server->head.handled;
    server->faulted = server->head.faulted;
    if (server->follows)
        SLRI_TRY(fence(server));
    else
        SLRI_TRY(check_logs(server));
    SLRI_TRY(load_released(server));
    SLRI_TRY(slri_server_load_snapshot(server));
    if (server->follows)
        return slri_server_load_stored(server);
    SLRI_TRY(find_messages(server));
    SLRI_TRY(load_outputs(server));
    return server->log->engine->read_from(server->log, SLRI_LOG_DEAD, 1, find_letters, server);
}

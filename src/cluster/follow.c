// SPDX-License-Identifier: Apache-2.0
// A server whose messages others append: a part of a name that machines share. What it takes in is a function of the
// log alone: who handles a record again does with it what the first one did.
#include "base/clock.h"
#include "base/copy.h"
#include "base/status.h"
#include "cluster/server.h"

#include <inttypes.h>
#include <string.h>

enum {
    RECORDS = 64,           // taken together
    RECORD_BYTES = 1 << 20, // longer ones are no frames of a sender
    AHEAD_MOST = 1 << 25,   // messages that a stored output may be ahead of the snapshot
    BATCHES_OF_RECORD = 20, // that one record can fill: they wait for places in the mailbox
    REPLY_NS = 500 * 1000,  // for the first reply to a call
    RECORD_NS = 1000 * 1000 // for a record that must come
};

// ---- what is stored behind the snapshot ----------------------------------------------------------------------------

static slri_mark *mark_of(slr_server *server, uint64_t message)
{
    if (message <= server->head.messages || message - server->head.messages > AHEAD_MOST)
        return NULL;
    server->stored_until = message > server->stored_until ? message : server->stored_until;
    return slri_server_mark(server, message);
}

static slr_status refuse_stored(const slri_log_record *record)
{
    return SLRI_FAIL(INVALID,
                     "output record %" PRIu64 " does not follow the one before, or names a message that cannot "
                     "be",
                     record->sequence);
}

// The records of two writers may stand among one another: where a record is refused because another writer was faster,
// the next one of the same writer may find the sequence that it expects. It follows a record that is not there.
static slr_status note_void(slr_server *server, uint64_t sequence)
{
    slri_head *head = &server->head;
    if (head->voids == SLRI_HEAD_VOIDS)
        return SLRI_FAIL(INVALID, "more than %d records of outputs do not count: release outputs", SLRI_HEAD_VOIDS);
    head->void_records[head->voids++] = sequence;
    server->out_last = sequence;
    return SLR_OK;
}

static slr_status take_outputs(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    slri_frame_output output;
    const void *payload;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_OUT, record->data, record->bytes, &frame));
    if (frame.head.number != server->out_id)
        return note_void(server, record->sequence);
    if (frame.head.first != server->outputs + 1)
        return refuse_stored(record);
    for (size_t at = 0; slri_frame_next_output(&server->shape, &frame, &at, &output, &payload);) {
        slri_mark *mark = mark_of(server, output.message);
        if (!mark || output.index != mark->stored)
            return refuse_stored(record);
        mark->sum += slri_output_sum(mark->stored++, payload, server->shape.reply_bytes);
    }
    server->outputs += frame.head.count;
    server->out_last = record->sequence;
    server->out_id = slri_output_id(frame.head.producer, record->sequence);
    return SLR_OK;
}

static slr_status take_stored_letters(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    slri_frame_letter letter;
    const char *reason;
    const void *message;
    SLRI_TRY(slri_frame_read(&server->shape, SLRI_FRAME_DEAD, record->data, record->bytes, &frame));
    for (size_t at = 0; slri_frame_next_letter(&server->shape, &frame, &at, &letter, &reason, &message);) {
        slri_mark *mark = mark_of(server, letter.message);
        if (!mark)
            return refuse_stored(record);
        mark->is_dead = 1;
    }
    server->dead_last = record->sequence;
    return SLR_OK;
}

// Those that are purged need no mention. Behind the head's last record all are found again.
static void forget_voids(slr_server *server)
{
    slri_head *head = &server->head;
    uint64_t first, last, kept = 0;
    server->log->engine->last(server->log, SLRI_LOG_OUT, &first, &last);
    for (uint64_t i = 0; i < head->voids; ++i) {
        if (head->void_records[i] >= first && head->void_records[i] <= head->out_last)
            head->void_records[kept++] = head->void_records[i];
    }
    head->voids = kept;
}

slr_status slri_server_load_stored(slr_server *server)
{
    forget_voids(server);
    server->out_id = server->head.out_id;
    const slri_log_engine *engine = server->log->engine;
    server->in_last = server->head.in_last;
    server->messages = server->head.messages;
    server->out_last = server->head.out_last;
    server->outputs = server->head.outputs;
    server->dead_last = server->head.dead_last;
    SLRI_TRY(engine->cut(server->log, SLRI_LOG_IN, server->in_last));
    SLRI_TRY(engine->cut(server->log, SLRI_LOG_OUT, server->out_last));
    SLRI_TRY(engine->read_from(server->log, SLRI_LOG_OUT, server->out_last + 1, take_outputs, server));
    return engine->read_from(server->log, SLRI_LOG_DEAD, server->dead_last + 1, take_stored_letters, server);
}

// ---- messages ------------------------------------------------------------------------------------------------------

// The oldest one that does not begin again; else the oldest.
static uint64_t find_oldest(const slri_head *head)
{
    for (uint64_t at = 0; at < head->producers; ++at) {
        if (head->producer[at].name & SLRI_PRODUCER_ONCE)
            return at;
    }
    return 0;
}

// The table knows the last ones. The newest is at its end; where it is full, the oldest makes room. What comes before
// `first` is stored in front of the frame, and so it was taken: a sender that was forgotten goes on there.
static slri_head_producer *find_sender(slr_server *server, uint64_t name, uint64_t first)
{
    slri_head *head = &server->head;
    slri_head_producer found = {.name = name};
    uint64_t at = 0;
    while (at < head->producers && head->producer[at].name != name)
        ++at;
    if (at < head->producers)
        found = head->producer[at];
    else if (head->producers < SLRI_HEAD_PRODUCERS)
        ++head->producers;
    else
        at = find_oldest(head);
    found.number = found.number < first - 1 ? first - 1 : found.number;
    memmove(&head->producer[at], &head->producer[at + 1], (head->producers - 1 - at) * sizeof found);
    head->producer[head->producers - 1] = found;
    return &head->producer[head->producers - 1];
}

static slr_status take_framed(slr_server *server, const slri_frame *frame, uint32_t index, const slr_key *key)
{
    if (frame->calls)
        SLRI_TRY(slri_server_note_call(server, server->messages + server->batched + 1, frame->head.producer,
                                       frame->head.number + index));
    SLRI_TRY(slri_server_find_instance(server, key, &server->instances[server->batched]));
    slri_copy_message(server->payloads + server->batched * server->step, frame->entries + index * server->step,
                      server->step);
    if (++server->batched == server->batch_most) {
        server->messages += server->batched;
        SLRI_TRY(slri_server_end_batch(server));
    }
    return SLR_OK;
}

static slr_status take_frame(slr_server *server, const slri_frame *frame)
{
    slri_head_producer *sender = find_sender(server, frame->head.producer, frame->head.first);
    size_t text = 0;
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        slr_key key = slri_frame_sent_key(frame, i, &text);
        uint64_t number = frame->head.number + i;
        if (number != sender->number + 1) {
            server->stats.repeated += number <= sender->number;
            server->gaps += number > sender->number;
            continue;
        }
        SLRI_TRY(take_framed(server, frame, i, &key));
        sender->number = number;
    }
    return SLR_OK;
}

static bool are_keys_right(const slr_server *server, const slri_frame *frame)
{
    size_t text = 0;
    if (frame->head.extra != server->head.keys)
        return false;
    for (uint32_t i = 0; i < frame->head.count; ++i) {
        slr_key key = slri_frame_sent_key(frame, i, &text);
        if (server->head.keys ? key.bytes > server->key_bytes : key.number >= server->shape.instances)
            return false;
    }
    return true;
}

static slr_status take_record(void *user, const slri_log_record *record)
{
    slr_server *server = user;
    slri_frame frame;
    if (record->sequence != server->in_last + 1)
        return SLRI_FAIL(INVALID, "message record %" PRIu64 " came behind %" PRIu64, record->sequence, server->in_last);
    slr_status status = record->bytes > RECORD_BYTES
                            ? SLR_INVALID
                            : slri_frame_read(&server->shape, SLRI_FRAME_SENT, record->data, record->bytes, &frame);
    if (status == SLR_OK && are_keys_right(server, &frame))
        SLRI_TRY(take_frame(server, &frame));
    else
        server->refused++;
    server->in_last = record->sequence;
    return SLR_OK;
}

// What is batched has no frame of its own to be written: it is in the log.
static slr_status end_batch(slr_server *server)
{
    if (server->batched == 0)
        return SLR_OK;
    server->messages += server->batched;
    return slri_server_end_batch(server);
}

slr_status slri_server_follow(slr_server *server, uint64_t timeout_ns, uint32_t *records)
{
    const uint64_t before = server->in_last;
    uint32_t most = 0;
    if (server->waiting + BATCHES_OF_RECORD < server->batch_slots)
        most = (server->batch_slots - 1 - server->waiting) / BATCHES_OF_RECORD;
    most = most < RECORDS ? most : RECORDS;
    if (most)
        SLRI_TRY(server->log->engine->follow(server->log, server->in_last + 1, most, take_record, server,
                                             server->waiting ? 0 : timeout_ns));
    *records = (uint32_t)(server->in_last - before);
    SLRI_TRY(end_batch(server));
    slr_status status = slri_server_hand_over(server, 0, 0);
    if (status != SLR_OK && status != SLR_TIMEOUT)
        return status;
    if (server->calls.count > 0 && server->calls.answer_count == 0)
        SLRI_TRY(slri_server_pump(server, REPLY_NS)); // somebody waits for that
    SLRI_TRY(slri_server_send_answers(server));
    return slri_server_snapshot_if_due(server);
}

slr_status slri_server_catch_up(slr_server *server, uint64_t deadline_ns)
{
    uint32_t records = 0;
    while (server->messages < server->stored_until) {
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "messages %" PRIu64 " to %" PRIu64 " have outputs, and are not read yet",
                             server->messages + 1, server->stored_until);
        SLRI_TRY(slri_server_follow(server, RECORD_NS, &records));
    }
    return SLR_OK;
}

bool slri_server_is_behind(const slr_server *server)
{
    slr_ring_stats stats;
    return slr_ring_get_stats(server->ring, &stats) == SLR_OK && stats.pending > 0;
}

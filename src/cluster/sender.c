// SPDX-License-Identifier: Apache-2.0
// A sender: frames of messages to the partitions of a name. Frames that are not acknowledged stay here, in order. Where
// one fails, it and all of its partition behind it are sent again: a worker takes each number once, and none before the
// one that precedes it.
#include "cluster/name.h"
#include "cluster/proof.h"

#include "base/clock.h"
#include "base/copy.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/thread.h"
#include "ring/ring.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAME_BYTES = 1 << 16,
    FRAME_BYTES_MOST = 1 << 19,
    TEXT_BYTES_MOST = FRAME_BYTES_MOST - 256,
    FRAMES_MOST = 64,
    INBOX_BYTES = 128,
    REPLY_MS = 2
};
#define IN_FLIGHT_BYTES ((uint64_t)16 << 20)
#define MS 1000000u
#define PAUSE_NS 5000000u // before a partition that had no room is tried again
#define ANSWER_NS 3000000000u

typedef struct sent_frame {
    struct sent_frame *next;
    uint64_t id;      // of the last time that it was published; 0: it is to be published
    uint64_t sent_ns; // then
    uint64_t number;  // of its first message
    uint32_t count;
    bool is_stored;
    size_t bytes, room; // of data
    unsigned char data[];
} sent_frame;

typedef struct out_part {
    uint64_t number;        // of the last message that was given to it
    uint64_t known;         // accepted before this sender was opened
    sent_frame *head, *end; // not accepted, in order
    uint32_t frames;
    uint64_t resume_ns; // not before this
    bool is_full;
    // The frame that is being filled: there is room for a full one, but for the texts of its keys.
    uint32_t batched;
    sent_frame *filling; // NULL: none yet
    char *texts;
    size_t text_bytes, text_capacity;
} out_part;

struct slr_sender {
    slri_nats *nats;
    slri_manifest manifest;
    slri_frame_shape shape;
    uint64_t producer, in_flight_most, in_flight, next_id;
    uint32_t batch_most, frames; // frames of all partitions
    size_t key_step, frame_room; // frame_room: of a full frame with keys that are numbers
    out_part *parts;
    sent_frame *spare;                // frames of full size that were accepted: their memory waits for the next ones
    natsSubscription *acks, *replies; // replies: of calls
    slri_proofs proofs;               // of the call that waits
    char *inbox;
    slr_sender_stats stats;
};

// ---- frames --------------------------------------------------------------------------------------------------------

static void pull_back(out_part *part, sent_frame *from)
{
    for (sent_frame *frame = from; frame; frame = frame->next) {
        frame->id = 0;
        frame->is_stored = false;
    }
    part->resume_ns = slri_now_ns() + PAUSE_NS;
}

// No server is connected, or libnats has no room for more requests until one is.
static bool is_passing(int status)
{
    return status == SLRI_NATS_IO_ERROR || status == SLRI_NATS_STALE || status == SLRI_NATS_DISCONNECTED ||
           status == SLRI_NATS_NO_BUFFER;
}

static slr_status publish_frame(slr_sender *sender, uint32_t partition, sent_frame *frame)
{
    char subject[SLRI_NATS_SUBJECT], reply[INBOX_BYTES];
    slri_nats_stream_subject(sender->nats, SLRI_LOG_IN, partition, subject);
    sender->stats.again += frame->sent_ns != 0;
    sender->stats.frames++;
    frame->id = ++sender->next_id;
    frame->sent_ns = slri_now_ns();
    frame->is_stored = false;
    memcpy(frame->data + offsetof(slri_frame_head, first), &sender->parts[partition].head->number, sizeof(uint64_t));
    snprintf(reply, sizeof reply, "%s.%u.%" PRIu64, sender->inbox, partition, frame->id);
    int status = sender->nats->api->natsConnection_PublishRequest(sender->nats->connection, subject, reply, frame->data,
                                                                  (int)frame->bytes);
    if (is_passing(status))
        pull_back(&sender->parts[partition], frame);
    else if (status)
        return slri_nats_fail(sender->nats, status, subject);
    return SLR_OK;
}

// What could not be published goes out again, in order, when the partition resumes.
static slr_status publish_part(slr_sender *sender, uint32_t partition)
{
    out_part *part = &sender->parts[partition];
    if (part->resume_ns && slri_now_ns() < part->resume_ns)
        return SLR_OK;
    part->resume_ns = 0;
    for (sent_frame *frame = part->head; frame && !part->resume_ns; frame = frame->next) {
        if (frame->id == 0)
            SLRI_TRY(publish_frame(sender, partition, frame));
    }
    return SLR_OK;
}

// Memory of the full size is kept and used again: fresh memory costs more than the copy into it.
static sent_frame *new_frame(slr_sender *sender, size_t bytes)
{
    const bool is_large = bytes > sender->frame_room / 2;
    sent_frame *frame = is_large ? sender->spare : NULL;
    if (frame)
        sender->spare = frame->next;
    if (frame && frame->room < bytes) { // its keys are longer than those before
        free(frame);
        frame = NULL;
    }
    if (!frame) {
        const size_t room = is_large && bytes < sender->frame_room ? sender->frame_room : bytes;
        frame = malloc(sizeof *frame + room);
        if (!frame)
            return NULL;
        frame->room = room;
    }
    *frame = (sent_frame){.room = frame->room, .bytes = bytes};
    return frame;
}

static void give_frame_back(slr_sender *sender, sent_frame *frame)
{
    if (frame->room < sender->frame_room) {
        free(frame);
        return;
    }
    frame->next = sender->spare; // no more of them than were in flight at once
    sender->spare = frame;
}

static unsigned char *keys_of(sent_frame *frame)
{
    return frame->data + sizeof(slri_frame_head);
}

// Where the messages are while the frame is being filled.
static unsigned char *messages_of(const slr_sender *sender, sent_frame *frame)
{
    return keys_of(frame) + slri_pad(sender->batch_most * sender->key_step);
}

static void free_frames(sent_frame *frame)
{
    while (frame) {
        sent_frame *next = frame->next;
        free(frame);
        frame = next;
    }
}

// Copies bytes, and zeros up to a multiple of 8.
static unsigned char *put_padded(unsigned char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    memset(to + bytes, 0, slri_pad(bytes) - bytes);
    return to + slri_pad(bytes);
}

// What was filled becomes a frame as it lies there, where little is to be moved, and little of its memory stays unused.
static sent_frame *take_filled(slr_sender *sender, out_part *part, size_t bytes)
{
    const size_t keys = part->batched * sender->key_step, texts = part->text_bytes,
                 messages = (size_t)part->batched * sender->shape.message_bytes;
    sent_frame *filled = part->filling, *frame = filled;
    if (texts > 0 || bytes <= sender->frame_room / 2) {
        frame = new_frame(sender, bytes);
        if (!frame)
            return NULL;
        unsigned char *to = put_padded(keys_of(frame), keys_of(filled), keys);
        to = put_padded(to, part->texts, texts);
        put_padded(to, messages_of(sender, filled), messages);
        return frame;
    }
    unsigned char *to = keys_of(frame) + slri_pad(keys);
    memset(keys_of(frame) + keys, 0, slri_pad(keys) - keys);
    memmove(to, messages_of(sender, frame), messages);
    memset(to + messages, 0, slri_pad(messages) - messages);
    frame->next = NULL;
    frame->id = frame->sent_ns = 0;
    frame->bytes = bytes;
    part->filling = NULL;
    return frame;
}

// `flags`: SLRI_FRAME_CALLS, or 0.
static slr_status end_frame(slr_sender *sender, uint32_t partition, uint32_t flags)
{
    out_part *part = &sender->parts[partition];
    if (part->batched == 0)
        return SLR_OK;
    const size_t keys = part->batched * sender->key_step, texts = part->text_bytes,
                 messages = (size_t)part->batched * sender->shape.message_bytes;
    slri_frame_head head = slri_frame_head_of(&sender->shape, SLRI_FRAME_SENT);
    const size_t bytes = sizeof head + slri_pad(keys) + slri_pad(texts) + slri_pad(messages);
    sent_frame *frame = take_filled(sender, part, bytes);
    if (!frame)
        return SLRI_FAIL(NO_MEMORY, "no memory for a frame of %zu B", bytes);
    head.producer = sender->producer;
    head.number = frame->number = part->number - part->batched + 1;
    head.first = 1; // until it is published
    head.count = frame->count = part->batched;
    head.extra = sender->manifest.keys | flags;
    memcpy(frame->data, &head, sizeof head);
    if (part->end)
        part->end->next = frame;
    else
        part->head = frame;
    part->end = frame;
    part->frames++;
    sender->frames++;
    sender->in_flight += bytes;
    part->batched = 0;
    part->text_bytes = 0;
    return publish_part(sender, partition);
}

// ---- answers -------------------------------------------------------------------------------------------------------

static void pop_stored(slr_sender *sender, out_part *part)
{
    while (part->head && part->head->is_stored) {
        sent_frame *frame = part->head;
        part->head = frame->next;
        if (!part->head)
            part->end = NULL;
        part->frames--;
        sender->frames--;
        sender->in_flight -= frame->bytes;
        sender->stats.accepted += frame->count;
        give_frame_back(sender, frame);
    }
}

static void take_answer(slr_sender *sender, out_part *part, uint64_t id, const char *text)
{
    sent_frame *frame = part->head;
    while (frame && frame->id != id)
        frame = frame->next;
    if (!frame)
        return; // of an earlier time
    uint64_t sequence;
    slr_status status = text[0] ? slri_nats_answer(text, "a frame", &sequence) : SLR_NOT_FOUND;
    if (status == SLR_OK) {
        frame->is_stored = true;
        part->is_full = false;
        pop_stored(sender, part);
        return;
    }
    part->is_full = status == SLR_FULL;
    sender->stats.full += part->is_full;
    pull_back(part, frame);
}

static slr_status take_answers(slr_sender *sender, uint64_t timeout_ns)
{
    const slri_nats_api *api = sender->nats->api;
    for (;;) {
        natsMsg *message;
        char text[512];
        int status = api->natsSubscription_NextMsg(&message, sender->acks, (int64_t)(timeout_ns / MS));
        if (status == SLRI_NATS_TIMEOUT || status == SLRI_NATS_NO_RESPONDERS) // nobody says for which frame: it comes
            return SLR_OK;                                                    // again, as those without an answer
        if (status)
            return slri_nats_fail(sender->nats, status, "answers");
        const char *at = api->natsMsg_GetSubject(message) + strlen(sender->inbox) + 1;
        char *end;
        unsigned long partition = strtoul(at, &end, 10);
        size_t bytes = (size_t)api->natsMsg_GetDataLength(message);
        bytes = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
        if (bytes)
            memcpy(text, api->natsMsg_GetData(message), bytes);
        text[bytes] = '\0';
        if (*end == '.' && partition < sender->manifest.partitions)
            take_answer(sender, &sender->parts[partition], strtoull(end + 1, NULL, 10), text);
        api->natsMsg_Destroy(message);
        timeout_ns = 0;
    }
}

// Answers that do not come, and partitions that may go on.
static slr_status look_after(slr_sender *sender)
{
    const uint64_t now_ns = slri_now_ns();
    for (uint32_t i = 0; i < sender->manifest.partitions; ++i) {
        out_part *part = &sender->parts[i];
        if (part->head && part->head->id && now_ns - part->head->sent_ns > ANSWER_NS)
            pull_back(part, part->head);
        if (part->resume_ns)
            SLRI_TRY(publish_part(sender, i));
    }
    return SLR_OK;
}

static slr_status fail_waiting(const slr_sender *sender, const out_part *part)
{
    bool is_full = part && part->is_full;
    for (uint32_t i = 0; !part && i < sender->manifest.partitions; ++i)
        is_full = is_full || (sender->parts[i].head && sender->parts[i].is_full);
    if (is_full)
        return SLRI_FAIL(FULL,
                         "'%s': a partition has %" PRIu64 " frames that no snapshot has yet, and takes no more: its "
                         "worker is behind or missing",
                         sender->nats->name, sender->manifest.capacity);
    return SLRI_FAIL(TIMEOUT, "'%s': %u frames are not accepted yet", sender->nats->name, sender->frames);
}

static slr_status wait_once(slr_sender *sender)
{
    SLRI_TRY(take_answers(sender, 2 * MS));
    return look_after(sender);
}

// ---- opening -------------------------------------------------------------------------------------------------------

struct finding_number {
    const slr_sender *sender;
    uint64_t number;
};

static slr_status find_number(void *user, const slri_log_record *record)
{
    struct finding_number *finding = user;
    slri_frame frame;
    if (slri_frame_read(&finding->sender->shape, SLRI_FRAME_SENT, record->data, record->bytes, &frame) != SLR_OK ||
        frame.head.producer != finding->sender->producer || frame.head.number > finding->number + 1)
        return SLR_OK;
    uint64_t last = frame.head.number + frame.head.count - 1;
    finding->number = last > finding->number ? last : finding->number;
    return SLR_OK;
}

// What a partition has of this producer: its snapshot, and the records behind that.
static slr_status find_known(slr_sender *sender, uint32_t partition, uint64_t *known)
{
    slri_head head;
    uint64_t revision, first, last, bytes;
    char stream[SLRI_NATS_SUBJECT];
    slr_status status = slri_partition_head(sender->nats, partition, &head, &revision);
    if (status == SLR_NOT_FOUND)
        memset(&head, 0, sizeof head);
    else
        SLRI_TRY(status);
    struct finding_number finding = {sender, 0};
    bool is_known = false;
    uint32_t named = 0;
    for (uint64_t i = 0; i < head.producers; ++i) {
        named += !(head.producer[i].name & SLRI_PRODUCER_ONCE);
        if (head.producer[i].name != sender->producer)
            continue;
        finding.number = head.producer[i].number;
        is_known = true;
    }
    if (!is_known && named >= SLRI_HEAD_NAMED) // this one may be forgotten, and all it sends would be handled again
        return SLRI_FAIL(FULL, "'%s' has %u producers with a number of their own, which is the limit: send without one",
                         sender->nats->name, named);
    slri_nats_stream_name(sender->nats, SLRI_LOG_IN, partition, stream);
    SLRI_TRY(slri_nats_stream_state(sender->nats, stream, &first, &last, &bytes));
    first = head.in_last + 1 > first ? head.in_last + 1 : first;
    if (first <= last)
        SLRI_TRY(slri_nats_read(sender->nats, stream, first, last, find_number, &finding));
    *known = finding.number;
    return SLR_OK;
}

static slr_status compare_layout(const slr_sender *sender, const slr_sender_desc *desc)
{
    uint64_t layout;
    if (!desc->program)
        return SLR_OK;
    SLRI_TRY(slri_head_layout_of(desc->program, desc->handler, sender->manifest.keys, &layout));
    return layout == sender->manifest.layout
               ? SLR_OK
               : SLRI_FAIL(LAYOUT, "'%s' is served by handler '%s' with other messages, states or replies",
                           sender->nats->name, sender->manifest.handler);
}

static slr_status open_parts(slr_sender *sender, const slr_sender_desc *desc)
{
    const size_t message = sender->shape.message_bytes;
    uint32_t bytes = desc->frame_bytes ? desc->frame_bytes : FRAME_BYTES;
    if (bytes > FRAME_BYTES_MOST)
        return SLRI_FAIL(INVALID, "slr_sender_desc.frame_bytes: %u is more than %d", bytes, FRAME_BYTES_MOST);
    sender->key_step = sender->manifest.keys == SLR_KEYS_TEXT ? sizeof(uint32_t) : sizeof(uint64_t);
    sender->batch_most = (uint32_t)(bytes / (message + sender->key_step));
    sender->batch_most = sender->batch_most ? sender->batch_most : 1;
    sender->frame_room = sizeof(slri_frame_head) + slri_pad(sender->batch_most * sender->key_step) +
                         slri_pad(sender->batch_most * message);
    sender->in_flight_most = desc->in_flight ? desc->in_flight : IN_FLIGHT_BYTES;
    sender->producer = desc->producer;
    if (sender->producer & SLRI_PRODUCER_ONCE)
        return SLRI_FAIL(INVALID, "slr_sender_desc.producer: %" PRIu64 " is not below 2^63", sender->producer);
    if (sender->producer == 0) {
        struct slri_key_secret random;
        slri_key_secret_make(&random);
        sender->producer = random.word[0] | SLRI_PRODUCER_ONCE;
    }
    sender->parts = calloc(sender->manifest.partitions, sizeof *sender->parts);
    if (!sender->parts)
        return SLRI_FAIL(NO_MEMORY, "slr_sender_open: no memory");
    for (uint32_t i = 0; i < sender->manifest.partitions && desc->producer; ++i)
        SLRI_TRY(find_known(sender, i, &sender->parts[i].known));
    return SLR_OK;
}

static slr_status subscribe_answers(slr_sender *sender)
{
    const slri_nats_api *api = sender->nats->api;
    char all[INBOX_BYTES];
    int status = api->natsInbox_Create(&sender->inbox);
    if (status)
        return slri_nats_fail(sender->nats, status, "an inbox");
    snprintf(all, sizeof all, "%s.>", sender->inbox);
    status = api->natsConnection_SubscribeSync(&sender->acks, sender->nats->connection, all);
    status = status ? status : api->natsSubscription_SetPendingLimits(sender->acks, INT_MAX, INT_MAX);
    return status ? slri_nats_fail(sender->nats, status, "a subscription") : SLR_OK;
}

static void release_sender(slr_sender *sender)
{
    for (uint32_t i = 0; sender->parts && i < sender->manifest.partitions; ++i) {
        out_part *part = &sender->parts[i];
        free_frames(part->head);
        free(part->filling);
        free(part->texts);
    }
    free(sender->parts);
    free_frames(sender->spare);
    if (sender->acks)
        sender->nats->api->natsSubscription_Destroy(sender->acks);
    free(sender->proofs.payloads);
    if (sender->replies)
        sender->nats->api->natsSubscription_Destroy(sender->replies);
    if (sender->inbox)
        sender->nats->api->natsInbox_Destroy(sender->inbox);
    slri_nats_close(sender->nats);
    free(sender);
}

slr_status slr_sender_open(const slr_remote_desc *where, const slr_sender_desc *desc, slr_sender **out)
{
    static const slr_sender_desc plain = SLR_SENDER_DESC_INIT;
    slr_sender_desc own;
    if (!where || !out)
        return SLRI_FAIL(INVALID, "slr_sender_open: %s is NULL", where ? "out" : "where");
    SLRI_TRY(SLRI_TAKE_DESC(slr_sender_desc, &own, desc ? desc : &plain));
    slr_sender *sender = calloc(1, sizeof *sender);
    if (!sender)
        return SLRI_FAIL(NO_MEMORY, "slr_sender_open: no memory");
    slr_status status = slri_nats_open(where, &sender->nats);
    if (status == SLR_OK)
        status = slri_manifest_read(sender->nats, &sender->manifest);
    sender->shape = slri_manifest_shape(&sender->manifest);
    if (status == SLR_OK)
        status = compare_layout(sender, &own);
    if (status == SLR_OK)
        status = open_parts(sender, &own);
    if (status == SLR_OK)
        status = subscribe_answers(sender);
    if (status != SLR_OK) {
        release_sender(sender);
        return status;
    }
    *out = sender;
    return SLR_OK;
}

// ---- the calls -----------------------------------------------------------------------------------------------------

static slr_status check_message(const slr_sender *sender, const slr_key *key, const void *message, size_t bytes)
{
    if (!sender || !message)
        return SLRI_FAIL(INVALID, "slr_sender_send: %s is NULL", sender ? "message" : "sender");
    if (bytes != sender->shape.message_bytes)
        return SLRI_FAIL(INVALID, "'%s' has messages of %u B, not of %zu B", sender->nats->name,
                         sender->shape.message_bytes, bytes);
    const slri_manifest *manifest = &sender->manifest;
    if (manifest->keys == SLR_KEYS_TEXT && (!key->text || key->bytes > manifest->key_limit))
        return SLRI_FAIL(INVALID, "'%s' has keys that are texts of at most %u B", sender->nats->name,
                         manifest->key_limit);
    if (manifest->keys != SLR_KEYS_TEXT && key->text)
        return SLRI_FAIL(INVALID, "'%s' has keys that are numbers", sender->nats->name);
    if (!manifest->keys && key->number >= manifest->key_limit)
        return SLRI_FAIL(INVALID, "'%s' has instances 0 to %u; a message names %" PRIu64, sender->nats->name,
                         manifest->key_limit - 1, key->number);
    return SLR_OK;
}

static slr_status reserve_message(slr_sender *sender, out_part *part, const slr_key *key)
{
    if (!part->filling)
        part->filling = new_frame(sender, sender->frame_room);
    if (key->text && part->text_bytes + key->bytes > part->text_capacity) {
        size_t capacity = 2 * (part->text_bytes + key->bytes) + 64;
        char *grown = realloc(part->texts, capacity);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for keys");
        part->texts = grown;
        part->text_capacity = capacity;
    }
    return part->filling ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory for a frame");
}

static void put_message(const slr_sender *sender, out_part *part, const slr_key *key, const void *message)
{
    const size_t bytes = sender->shape.message_bytes;
    uint32_t length = (uint32_t)key->bytes;
    if (sender->manifest.keys == SLR_KEYS_TEXT) {
        memcpy(keys_of(part->filling) + part->batched * sizeof length, &length, sizeof length);
        if (length)
            memcpy(part->texts + part->text_bytes, key->text, length);
        part->text_bytes += length;
    } else
        memcpy(keys_of(part->filling) + part->batched * sizeof key->number, &key->number, sizeof key->number);
    slri_copy_message(messages_of(sender, part->filling) + part->batched * bytes, message, bytes);
    part->batched++;
    part->number++;
}

static slr_status await_room(slr_sender *sender, const out_part *part, uint64_t deadline_ns)
{
    SLRI_TRY(take_answers(sender, 0));
    SLRI_TRY(look_after(sender));
    while (part->frames >= FRAMES_MOST || sender->in_flight >= sender->in_flight_most) {
        if (slri_passed(deadline_ns))
            return fail_waiting(sender, part);
        SLRI_TRY(wait_once(sender));
    }
    return SLR_OK;
}

slr_status slr_sender_send(slr_sender *sender, slr_key key, const void *message, size_t bytes, uint64_t timeout_ns)
{
    SLRI_TRY(check_message(sender, &key, message, bytes));
    uint32_t partition = slri_partition_of(&sender->manifest, &key);
    out_part *part = &sender->parts[partition];
    if (part->number < part->known) { // it was accepted when it was sent first
        part->number++;
        sender->stats.sent++;
        sender->stats.skipped++;
        return SLR_OK;
    }
    if (part->batched == sender->batch_most || part->text_bytes + key.bytes > TEXT_BYTES_MOST) {
        SLRI_TRY(await_room(sender, part, slri_deadline_after(timeout_ns)));
        SLRI_TRY(end_frame(sender, partition, 0));
    }
    SLRI_TRY(reserve_message(sender, part, &key));
    put_message(sender, part, &key, message);
    sender->stats.sent++;
    return SLR_OK;
}

slr_status slr_sender_flush(slr_sender *sender, uint64_t timeout_ns)
{
    if (!sender)
        return SLRI_FAIL(INVALID, "slr_sender_flush: sender is NULL");
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    for (uint32_t i = 0; i < sender->manifest.partitions; ++i)
        SLRI_TRY(end_frame(sender, i, 0));
    SLRI_TRY(take_answers(sender, 0));
    while (sender->frames > 0) {
        if (slri_passed(deadline_ns))
            return fail_waiting(sender, NULL);
        SLRI_TRY(wait_once(sender));
    }
    return SLR_OK;
}

// ---- calls ---------------------------------------------------------------------------------------------------------

static slr_status open_replies(slr_sender *sender)
{
    char subject[SLRI_NATS_SUBJECT];
    const slri_nats_api *api = sender->nats->api;
    if (sender->replies)
        return SLR_OK;
    sender->proofs.bytes = sender->shape.reply_bytes;
    if (!sender->proofs.payloads)
        sender->proofs.payloads = malloc(SLRI_PROOFS * sender->proofs.bytes + 1);
    if (!sender->proofs.payloads)
        return SLRI_FAIL(NO_MEMORY, "no memory for replies of %zu B", sender->proofs.bytes);
    slri_nats_reply_subject(sender->nats, sender->producer, ">", subject);
    int status = api->natsConnection_SubscribeSync(&sender->replies, sender->nats->connection, subject);
    return status ? slri_nats_fail(sender->nats, status, subject) : SLR_OK;
}

// The server's word that an append is stored. One that is refused, another worker answers.
static bool is_stored(const char *data, size_t bytes, uint64_t *record)
{
    char text[512];
    bytes = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
    if (bytes)
        memcpy(text, data, bytes);
    text[bytes] = '\0';
    return slri_nats_answer(text, "an output", record) == SLR_OK;
}

// Whether that is the answer to the call that waits; others are late.
static bool is_answer(const slr_sender *sender, uint32_t partition, const void *data, size_t bytes,
                      slri_remote_answer *out)
{
    if (bytes < sizeof *out + sender->shape.reply_bytes)
        return false;
    memcpy(out, data, sizeof *out);
    return out->partition == partition && out->number == sender->parts[partition].number;
}

// "told.LOG.ANSWER", or "answer".
static const slri_proof *read_proof(slr_sender *sender, const char *subject, const char *data, size_t bytes,
                                    uint32_t partition, unsigned char told[SLRI_TOLD_ANSWER], slri_proof *whole)
{
    slri_remote_answer answer;
    uint64_t record = 0;
    const char *part = strstr(subject, ".told."), *last = strrchr(subject, '.') + 1; // of "reply.PRODUCER.>"
    if (part && !is_stored(data, bytes, &record))
        return NULL;
    if (part && strcmp(last, "-") == 0)
        return slri_proofs_stored(&sender->proofs, strtoull(part + strlen(".told."), NULL, 16), record);
    if (part) {
        bytes = slri_nats_get_answer(last, told);
        data = (const char *)told;
    }
    if (!is_answer(sender, partition, data, bytes, &answer))
        return NULL;
    if (answer.log)
        return slri_proofs_answered(&sender->proofs, answer.log, answer.record, answer.status, data + sizeof answer);
    *whole = (slri_proof){.status = answer.status, .payload = data + sizeof answer};
    return whole;
}

// Whether a message completes the reply to that call. An answer that names an append counts only with the server's word
// that it is stored: the one may come before the other, or with it.
static bool read_answer(slr_sender *sender, natsMsg *message, uint32_t partition, void *reply, slr_status *status)
{
    slri_proof whole;
    unsigned char told[SLRI_TOLD_ANSWER];
    const slri_nats_api *api = sender->nats->api;
    const slri_proof *proof = read_proof(sender, api->natsMsg_GetSubject(message), api->natsMsg_GetData(message),
                                         (size_t)api->natsMsg_GetDataLength(message), partition, told, &whole);
    if (!proof)
        return false;
    *status = proof->status == SLR_OK || proof->status == SLR_HANDLER_FAULT ? (slr_status)proof->status : SLR_END;
    if (*status == SLR_OK && sender->shape.reply_bytes)
        memcpy(reply, proof->payload, sender->shape.reply_bytes);
    return true;
}

static slr_status fail_call(const slr_sender *sender, slr_status status)
{
    if (status == SLR_HANDLER_FAULT)
        return SLRI_FAIL(HANDLER_FAULT, "'%s': the handler faulted: the dead letters have the message and the reason",
                         sender->nats->name);
    return status == SLR_END
               ? SLRI_FAIL(END, "'%s': the message was handled, and its handler gave no reply", sender->nats->name)
               : status;
}

static slr_status await_reply(slr_sender *sender, uint32_t partition, void *reply, uint64_t deadline_ns)
{
    const slri_nats_api *api = sender->nats->api;
    for (;;) {
        natsMsg *message;
        slr_status answered;
        int status = api->natsSubscription_NextMsg(&message, sender->replies, REPLY_MS);
        if (status == 0) {
            bool is_ours = read_answer(sender, message, partition, reply, &answered);
            api->natsMsg_Destroy(message);
            if (is_ours)
                return fail_call(sender, answered);
        } else if (status != SLRI_NATS_TIMEOUT)
            return slri_nats_fail(sender->nats, status, "a reply");
        SLRI_TRY(take_answers(sender, 0));
        SLRI_TRY(look_after(sender));
        if (slri_passed(deadline_ns))
            return sender->parts[partition].head
                       ? fail_waiting(sender, &sender->parts[partition])
                       : SLRI_FAIL(TIMEOUT,
                                   "'%s': the message is accepted, and its reply has not come: it will be "
                                   "among the outputs",
                                   sender->nats->name);
    }
}

static slr_status send_call(slr_sender *sender, uint32_t partition, const slr_key *key, const void *message,
                            uint64_t deadline_ns)
{
    char number[16], subject[SLRI_NATS_SUBJECT];
    out_part *part = &sender->parts[partition];
    SLRI_TRY(await_room(sender, part, deadline_ns));
    SLRI_TRY(end_frame(sender, partition, 0)); // what was sent before
    SLRI_TRY(reserve_message(sender, part, key));
    put_message(sender, part, key, message);
    sender->stats.sent++;
    SLRI_TRY(end_frame(sender, partition, SLRI_FRAME_CALLS));
    snprintf(number, sizeof number, "%u", partition);
    slri_nats_call_subject(sender->nats, number, subject);
    (void)sender->nats->api->natsConnection_Publish(sender->nats->connection, subject, "", 0); // a hint
    return SLR_OK;
}

slr_status slr_sender_call(slr_sender *sender, slr_key key, const void *message, size_t bytes, void *reply,
                           size_t reply_bytes, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    SLRI_TRY(check_message(sender, &key, message, bytes));
    if (reply_bytes != sender->shape.reply_bytes || (reply_bytes && !reply))
        return SLRI_FAIL(INVALID, "'%s' has replies of %u B, not of %zu B", sender->nats->name,
                         sender->shape.reply_bytes, reply ? reply_bytes : 0);
    uint32_t partition = slri_partition_of(&sender->manifest, &key);
    if (sender->parts[partition].number < sender->parts[partition].known)
        return SLRI_FAIL(WRONG_STATE,
                         "'%s': this producer's message %" PRIu64 " to partition %u was accepted before: its reply is "
                         "among the outputs",
                         sender->nats->name, sender->parts[partition].number + 1, partition);
    SLRI_TRY(open_replies(sender));
    slri_proofs_forget(&sender->proofs);
    SLRI_TRY(send_call(sender, partition, &key, message, deadline_ns));
    slr_status status = await_reply(sender, partition, reply, deadline_ns);
    if (status == SLR_OK)
        SLRI_TRY(take_answers(sender, 0));
    return status;
}

slr_status slr_sender_get_stats_sized(slr_sender *sender, slr_sender_stats *out, size_t bytes)
{
    if (!sender || !out)
        return SLRI_FAIL(INVALID, "slr_sender_get_stats: %s is NULL", sender ? "out" : "sender");
    sender->stats.keys = sender->manifest.keys;
    sender->stats.partitions = sender->manifest.partitions;
    return SLRI_GIVE_REPORT(slr_sender_stats, out, bytes, &sender->stats);
}

slr_status(slr_sender_get_stats)(slr_sender *sender, slr_sender_stats *out)
{
    return slr_sender_get_stats_sized(sender, out, SLRI_FIRST_slr_sender_stats);
}

slr_status slr_sender_close(slr_sender *sender, uint64_t timeout_ns)
{
    if (!sender)
        return SLR_OK;
    slr_status status = slr_sender_flush(sender, timeout_ns);
    char why[256];
    snprintf(why, sizeof why, "%s", status == SLR_OK ? "" : slr_error_message());
    release_sender(sender);
    return status == SLR_OK ? SLR_OK : slri_fail(status, "%s", why);
}

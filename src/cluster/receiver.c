// SPDX-License-Identifier: Apache-2.0
// A receiver: the stored outputs of all partitions of a name, or its dead letters.
#include "cluster/name.h"

#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/thread.h"

#include <slipring/operate.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAP_NS = 500 * 1000, ABSENT_NS = 100 * 1000 * 1000 };

typedef struct in_part {
    slri_nats_follower follower;
    char stream[SLRI_NATS_SUBJECT];
    uint64_t next, retry_ns;
    unsigned char *record; // the one that is being read
    size_t capacity, at;
    slri_frame frame;
    uint32_t taken; // entries of it
    // Of outputs: which of them do not count, up to the last record of a head; and the last one that counts.
    uint64_t out_last, voids, *void_records, out_id;
} in_part;

struct slr_receiver {
    slri_nats *nats;
    slri_manifest manifest;
    slri_frame_shape shape;
    enum slri_log_stream from; // out, or dead
    in_part *parts;
    uint32_t turn;
};

struct keeping {
    const slr_receiver *receiver;
    in_part *part;
};

// A record that follows one that is not there does not count: another worker has written in between.
static bool counts(in_part *part, const slri_log_record *record)
{
    const slri_frame_head *frame = &part->frame.head;
    if (record->sequence <= part->out_last)
        return !slri_is_void(part->void_records, part->voids, record->sequence);
    if (frame->number != part->out_id)
        return false;
    part->out_id = slri_output_id(frame->producer, record->sequence);
    return true;
}

static slr_status keep_record(void *user, const slri_log_record *record)
{
    const struct keeping *keeping = user;
    in_part *part = keeping->part;
    if (record->bytes > part->capacity) {
        free(part->record);
        part->capacity = 2 * record->bytes;
        part->record = malloc(part->capacity);
        if (!part->record) {
            part->capacity = 0;
            return SLRI_FAIL(NO_MEMORY, "no memory for a record of %zu B", record->bytes);
        }
    }
    memcpy(part->record, record->data, record->bytes);
    const enum slri_frame_kind kind = keeping->receiver->from == SLRI_LOG_OUT ? SLRI_FRAME_OUT : SLRI_FRAME_DEAD;
    slri_frame frame;
    part->frame = (slri_frame){0}; // a record that is refused has no entries
    SLRI_TRY(slri_frame_read(&keeping->receiver->shape, kind, part->record, record->bytes, &frame));
    if (keeping->receiver->from == SLRI_LOG_OUT && frame.head.extra != keeping->receiver->manifest.keys)
        return SLRI_FAIL(INVALID,
                         "'%s': a record of outputs has other keys than the ring kernel: a version of slipring "
                         "before 0.2.0 may have written it",
                         keeping->receiver->nats->name);
    part->frame = frame;
    part->next = record->sequence + 1;
    part->at = keeping->receiver->from == SLRI_LOG_OUT && !counts(part, record) ? part->frame.bytes : 0;
    part->taken = 0;
    return SLR_OK;
}

static slr_status keep_head(in_part *part, const slri_head *head)
{
    free(part->void_records);
    part->void_records = head->voids ? malloc(head->voids * sizeof *part->void_records) : NULL;
    if (head->voids && !part->void_records)
        return SLRI_FAIL(NO_MEMORY, "no memory for the numbers of records");
    if (head->voids)
        memcpy(part->void_records, head->void_records, head->voids * sizeof *part->void_records);
    part->voids = head->voids;
    part->out_last = head->out_last;
    part->out_id = head->out_id;
    return SLR_OK;
}

// Where reading begins. No record behind a head is released: where the first one is, the head was an earlier one.
static slr_status begin_part(slr_receiver *receiver, in_part *part)
{
    slri_head head;
    uint64_t last, bytes, revision;
    slr_status status = receiver->from == SLRI_LOG_OUT
                            ? slri_partition_head(receiver->nats, (uint32_t)(part - receiver->parts), &head, &revision)
                            : SLR_NOT_FOUND;
    if (status == SLR_NOT_FOUND)
        head = (slri_head){.snap_first = 1};
    else
        SLRI_TRY(status);
    SLRI_TRY(keep_head(part, &head));
    SLRI_TRY(slri_nats_stream_state(receiver->nats, part->stream, &part->next, &last, &bytes));
    if (receiver->from == SLRI_LOG_OUT && part->next > part->out_last + 1) {
        part->next = 0;
        part->retry_ns = slri_now_ns() + ABSENT_NS;
    }
    return SLR_OK;
}

static bool has_entry(const in_part *part)
{
    return part->frame.entries && part->at < part->frame.bytes;
}

static slr_status follow_part(slr_receiver *receiver, in_part *part)
{
    struct keeping keeping = {receiver, part};
    if (part->retry_ns && slri_now_ns() < part->retry_ns)
        return SLR_OK;
    part->retry_ns = 0;
    if (part->next == 0)
        SLRI_TRY(begin_part(receiver, part));
    if (part->next == 0)
        return SLR_OK;
    slr_status status = slri_nats_follow(&part->follower, part->stream, part->next, 1, keep_record, &keeping, 0);
    if (status != SLR_NOT_FOUND)
        return status;
    part->next = 0; // there is no such stream yet
    part->retry_ns = slri_now_ns() + ABSENT_NS;
    return SLR_OK;
}

static in_part *find_entry(slr_receiver *receiver, slr_status *status)
{
    for (uint32_t i = 0; i < receiver->manifest.partitions; ++i) {
        in_part *part = &receiver->parts[(receiver->turn + i) % receiver->manifest.partitions];
        if (!has_entry(part))
            *status = follow_part(receiver, part);
        if (*status != SLR_OK)
            return NULL;
        if (has_entry(part)) {
            receiver->turn = (receiver->turn + i) % receiver->manifest.partitions;
            return part;
        }
    }
    return NULL;
}

static const char *const kinds[] = {[SLRI_LOG_OUT] = "output", [SLRI_LOG_DEAD] = "dead letter"};

static slr_status check_call(const slr_receiver *receiver, enum slri_log_stream from, uint32_t needs, size_t room,
                             const char *call)
{
    if (receiver->from != from)
        return SLRI_FAIL(INVALID, "%s: this receiver was opened for %ss", call, kinds[receiver->from]);
    if (room < needs)
        return SLRI_FAIL(INVALID, "'%s' has %ss of %u B; %s was given room for %zu B", receiver->nats->name,
                         kinds[from], needs, call, room);
    return SLR_OK;
}

// The part whose next entry is to be taken.
static slr_status await_entry(slr_receiver *receiver, uint64_t timeout_ns, in_part **part)
{
    slr_status status = SLR_OK;
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    while (!(*part = find_entry(receiver, &status))) {
        SLRI_TRY(status);
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "'%s' has no %s that was not received", receiver->nats->name,
                             kinds[receiver->from]);
        slri_sleep_ns(NAP_NS);
    }
    return SLR_OK;
}

slr_status slr_receiver_receive(slr_receiver *receiver, slr_output *out, uint32_t *partition, void *payload,
                                size_t capacity, uint64_t timeout_ns)
{
    slri_frame_output output;
    const void *bytes;
    in_part *part;
    if (!receiver || !out)
        return SLRI_FAIL(INVALID, "slr_receiver_receive: %s is NULL", receiver ? "out" : "receiver");
    SLRI_TRY(check_call(receiver, SLRI_LOG_OUT, receiver->shape.reply_bytes, payload ? capacity : 0,
                        "slr_receiver_receive"));
    SLRI_TRY(await_entry(receiver, timeout_ns, &part));
    const slr_key key = slri_frame_output_key(&part->frame, part->at);
    (void)slri_frame_next_output(&receiver->shape, &part->frame, &part->at, &output, &bytes);
    *out = (slr_output){.sequence = part->frame.head.first + part->taken++,
                        .message = output.message,
                        .key = key,
                        .instance = output.instance,
                        .index = output.index,
                        .status = SLR_OK,
                        .bytes = receiver->shape.reply_bytes};
    if (out->bytes)
        memcpy(payload, bytes, out->bytes);
    if (partition)
        *partition = (uint32_t)(part - receiver->parts);
    return SLR_OK;
}

slr_status slr_receiver_receive_letter_sized(slr_receiver *receiver, slr_remote_letter *out, size_t letter_bytes,
                                             uint32_t *partition, void *message, size_t capacity, uint64_t timeout_ns)
{
    slri_frame_letter letter;
    const char *reason;
    const void *bytes;
    in_part *part;
    if (!receiver || !out)
        return SLRI_FAIL(INVALID, "slr_receiver_receive_letter: %s is NULL", receiver ? "out" : "receiver");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_remote_letter, letter_bytes));
    SLRI_TRY(check_call(receiver, SLRI_LOG_DEAD, receiver->shape.message_bytes, message ? capacity : 0,
                        "slr_receiver_receive_letter"));
    SLRI_TRY(await_entry(receiver, timeout_ns, &part));
    (void)slri_frame_next_letter(&receiver->shape, &part->frame, &part->at, &letter, &reason, &bytes);
    slr_remote_letter whole = {.sequence = part->frame.head.first + part->taken++,
                               .message = letter.message,
                               .instance = letter.instance,
                               .bytes = receiver->shape.message_bytes};
    snprintf(whole.reason, sizeof whole.reason, "%.*s", (int)letter.reason_bytes, reason);
    memcpy(message, bytes, whole.bytes);
    if (partition)
        *partition = (uint32_t)(part - receiver->parts);
    return SLRI_GIVE_REPORT(slr_remote_letter, out, letter_bytes, &whole);
}

slr_status(slr_receiver_receive_letter)(slr_receiver *receiver, slr_remote_letter *out, uint32_t *partition,
                                        void *message, size_t capacity, uint64_t timeout_ns)
{
    return slr_receiver_receive_letter_sized(receiver, out, SLRI_FIRST_slr_remote_letter, partition, message, capacity,
                                             timeout_ns);
}

static slr_status release_part(slr_receiver *receiver, uint32_t partition)
{
    const in_part *part = &receiver->parts[partition];
    slri_head head;
    uint64_t revision;
    char where[SLRI_NATS_SUBJECT + 16], request[64];
    if (part->next == 0)
        return SLR_OK;
    uint64_t received = has_entry(part) ? part->next - 2 : part->next - 1;
    slr_status status = slri_partition_head(receiver->nats, partition, &head, &revision);
    if (status == SLR_NOT_FOUND)
        return SLR_OK;
    SLRI_TRY(status);
    const uint64_t known = receiver->from == SLRI_LOG_OUT ? head.out_last : head.dead_last;
    received = received < known ? received : known; // a worker that takes over needs the others
    if (received == 0)
        return SLR_OK;
    snprintf(where, sizeof where, "STREAM.PURGE.%s", part->stream);
    snprintf(request, sizeof request, "{\"seq\":%llu}", (unsigned long long)received + 1);
    status = slri_nats_ask(receiver->nats, where, request, NULL, 0);
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

slr_status slr_receiver_release(slr_receiver *receiver)
{
    if (!receiver)
        return SLRI_FAIL(INVALID, "slr_receiver_release: receiver is NULL");
    for (uint32_t i = 0; i < receiver->manifest.partitions; ++i)
        SLRI_TRY(release_part(receiver, i));
    return SLR_OK;
}

void slr_receiver_close(slr_receiver *receiver)
{
    if (!receiver)
        return;
    for (uint32_t i = 0; receiver->parts && i < receiver->manifest.partitions; ++i) {
        slri_nats_follower_end(&receiver->parts[i].follower);
        free(receiver->parts[i].record);
        free(receiver->parts[i].void_records);
    }
    free(receiver->parts);
    slri_nats_close(receiver->nats);
    free(receiver);
}

static slr_status open_receiver(const slr_remote_desc *where, enum slri_log_stream from, slr_receiver **out,
                                const char *call)
{
    if (!where || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, where ? "out" : "where");
    slr_receiver *receiver = calloc(1, sizeof *receiver);
    if (!receiver)
        return SLRI_FAIL(NO_MEMORY, "%s: no memory", call);
    receiver->from = from;
    slr_status status = slri_nats_open(where, &receiver->nats);
    if (status == SLR_OK)
        status = slri_manifest_read(receiver->nats, &receiver->manifest);
    receiver->shape = slri_manifest_shape(&receiver->manifest);
    if (status == SLR_OK) {
        receiver->parts = calloc(receiver->manifest.partitions, sizeof *receiver->parts);
        status = receiver->parts ? SLR_OK : SLRI_FAIL(NO_MEMORY, "%s: no memory", call);
    }
    if (status != SLR_OK) {
        slr_receiver_close(receiver);
        return status;
    }
    for (uint32_t i = 0; i < receiver->manifest.partitions; ++i) {
        receiver->parts[i].follower.nats = receiver->nats;
        slri_nats_stream_name(receiver->nats, from, i, receiver->parts[i].stream);
    }
    *out = receiver;
    return SLR_OK;
}

slr_status slr_receiver_open(const slr_remote_desc *where, slr_receiver **out)
{
    return open_receiver(where, SLRI_LOG_OUT, out, "slr_receiver_open");
}

slr_status slr_receiver_open_letters(const slr_remote_desc *where, slr_receiver **out)
{
    return open_receiver(where, SLRI_LOG_DEAD, out, "slr_receiver_open_letters");
}

// SPDX-License-Identifier: Apache-2.0
// The engine of several machines: a partition's streams in JetStream. Appends are sent without waiting; `sync` waits
// until all are stored. Each names the sequence that it expects to follow, so that where one is refused or lost those
// behind it are refused as well, and the log has failed: its partition is opened again.
#include "base/clock.h"
#include "base/key_hash.h"
#include "base/status.h"
#include "cluster/nats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 512, IN_FLIGHT_BYTES = 16 << 20, KEY_BYTES = 96 };

struct stream {
    char name[SLRI_NATS_SUBJECT], subject[SLRI_NATS_SUBJECT];
    uint64_t first, last, bytes; // of now, with what is in flight
    uint64_t stored;             // the last one that is acknowledged
    natsSubscription *acks;
    char *inbox;
};

struct remote_log {
    slri_log log;
    slri_nats *nats;
    uint32_t partition;
    struct stream streams[SLRI_LOG_STREAMS];
    slri_nats_follower follower; // of `in`
    uint64_t id;                 // of this log, like no other's
    uint64_t told_until_ns;      // an append is in flight that nobody waits for; 0: none
    slr_status failed;
    void *buffer; // a record, with its parts joined
    size_t capacity;
};

static slr_status reserve(struct remote_log *log, size_t bytes)
{
    if (bytes <= log->capacity)
        return SLR_OK;
    free(log->buffer);
    log->capacity = 2 * bytes;
    log->buffer = malloc(log->capacity);
    if (log->buffer)
        return SLR_OK;
    log->capacity = 0;
    return SLRI_FAIL(NO_MEMORY, "no memory for a record of %zu B", bytes);
}

// ---- appending -----------------------------------------------------------------------------------------------------

static slr_status take_ack(struct remote_log *log, struct stream *stream, natsMsg *message)
{
    char text[512];
    uint64_t sequence;
    size_t bytes = (size_t)log->nats->api->natsMsg_GetDataLength(message);
    bytes = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
    if (bytes == 0)
        return SLRI_FAIL(SYSTEM, "NATS: stream %s is gone", stream->name);
    memcpy(text, log->nats->api->natsMsg_GetData(message), bytes);
    text[bytes] = '\0';
    SLRI_TRY(slri_nats_answer(text, stream->name, &sequence));
    if (sequence != stream->stored + 1)
        return SLRI_FAIL(WRONG_STATE, "NATS: stream %s: record %" PRIu64 " was stored, not %" PRIu64, stream->name,
                         sequence, stream->stored + 1);
    stream->stored = sequence;
    return SLR_OK;
}

// Until no more than `most` appends are in flight.
static slr_status await_acks(struct remote_log *log, struct stream *stream, uint64_t most)
{
    const uint64_t deadline_ns = slri_deadline_after(log->nats->timeout_ns);
    while (log->failed == SLR_OK && stream->stored < stream->last) {
        natsMsg *message;
        bool waits = stream->last - stream->stored > most;
        int status = log->nats->api->natsSubscription_NextMsg(&message, stream->acks, waits ? 100 : 0);
        if (status == SLRI_NATS_TIMEOUT && !waits)
            return SLR_OK;
        if (status == SLRI_NATS_TIMEOUT && !slri_passed(deadline_ns))
            continue;
        if (status != SLRI_NATS_OK) {
            log->failed = slri_nats_fail(log->nats, status, "no answer to an append");
            return log->failed;
        }
        log->failed = take_ack(log, stream, message);
        log->nats->api->natsMsg_Destroy(message);
        if (log->failed != SLR_OK)
            return log->failed;
    }
    return log->failed == SLR_OK ? SLR_OK : SLRI_FAIL(WRONG_STATE, "an earlier append to '%s' failed", stream->name);
}

// Its acknowledgements come on one subscription, whoever else is told of them: their order counts.
static bool is_out(const struct remote_log *log, const struct stream *stream)
{
    return stream == &log->streams[SLRI_LOG_OUT];
}

static slr_status open_stream(struct remote_log *log, struct stream *stream)
{
    const slri_nats_api *api = log->nats->api;
    if (stream->acks)
        return SLR_OK;
    if (stream->last == 0)
        SLRI_TRY(slri_nats_make_stream(log->nats, stream->name, stream->subject, 0, 1));
    char all[SLRI_NATS_SUBJECT + SLRI_NATS_ANSWER];
    int status = 0;
    if (is_out(log, stream))
        slri_nats_told_subject(log->nats, "*", log->id, "*", all);
    else
        status = api->natsInbox_Create(&stream->inbox);
    status = status ? status
                    : api->natsConnection_SubscribeSync(&stream->acks, log->nats->connection,
                                                        stream->inbox ? stream->inbox : all);
    return status ? slri_nats_fail(log->nats, status, "a subscription") : SLR_OK;
}

static slr_status publish(struct remote_log *log, const struct stream *stream, size_t bytes, const slri_told *to)
{
    const slri_nats_api *api = log->nats->api;
    natsMsg *message;
    char expected[24], name[24], answer[SLRI_NATS_ANSWER], told[SLRI_NATS_SUBJECT + SLRI_NATS_ANSWER];
    snprintf(name, sizeof name, "%016" PRIx64, to->producer);
    slri_nats_put_answer(to->answer, to->bytes, answer);
    slri_nats_told_subject(log->nats, name, log->id, answer, told);
    snprintf(expected, sizeof expected, "%" PRIu64, stream->last);
    int status = api->natsMsg_Create(&message, stream->subject, is_out(log, stream) ? told : stream->inbox, log->buffer,
                                     (int)bytes);
    if (status)
        return slri_nats_fail(log->nats, status, "a record");
    status = api->natsMsgHeader_Set(message, "Nats-Expected-Last-Sequence", expected);
    status = status ? status : api->natsConnection_PublishMsg(log->nats->connection, message);
    api->natsMsg_Destroy(message);
    return status ? slri_nats_fail(log->nats, status, stream->subject) : SLR_OK;
}

// `told`: who is told as well, of `out`; producer 0: nobody.
static slr_status publish_record(struct remote_log *log, enum slri_log_stream at, uint64_t expected,
                                 const slri_append_part *parts, uint32_t count, const slri_told *told)
{
    struct stream *stream = &log->streams[at];
    size_t bytes = 0, most = (size_t)log->nats->api->natsConnection_GetMaxPayload(log->nats->connection);
    if (expected != stream->last)
        return SLRI_FAIL(WRONG_STATE, "stream %s has record %" PRIu64 " as its last one, not %" PRIu64, stream->name,
                         stream->last, expected);
    for (uint32_t i = 0; i < count; ++i)
        bytes += parts[i].bytes;
    if (bytes > most)
        return SLRI_FAIL(SYSTEM, "stream %s: a record of %zu B is longer than the server's max_payload of %zu B",
                         stream->name, bytes, most);
    SLRI_TRY(reserve(log, bytes));
    unsigned char *to = log->buffer;
    for (uint32_t i = 0; i < count; to += parts[i++].bytes) {
        if (parts[i].bytes)
            memcpy(to, parts[i].data, parts[i].bytes);
    }
    SLRI_TRY(open_stream(log, stream));
    uint64_t room = IN_FLIGHT_BYTES / (bytes + 1);
    SLRI_TRY(await_acks(log, stream, room < IN_FLIGHT ? room : IN_FLIGHT));
    SLRI_TRY(publish(log, stream, bytes, told));
    stream->last++;
    stream->bytes += bytes;
    return SLR_OK;
}

static slr_status remote_append(slri_log *base, enum slri_log_stream at, uint64_t expected,
                                const slri_append_part *parts, uint32_t count)
{
    return publish_record((struct remote_log *)base, at, expected, parts, count, &(slri_told){0});
}

static slr_status remote_append_told(slri_log *base, uint64_t expected, const slri_append_part *parts, uint32_t count,
                                     slri_told *told)
{
    struct remote_log *log = (struct remote_log *)base;
    struct stream *out = &log->streams[SLRI_LOG_OUT];
    SLRI_TRY(await_acks(log, out, UINT64_MAX)); // those that have come
    const bool is_told = out->stored == out->last;
    SLRI_TRY(publish_record(log, SLRI_LOG_OUT, expected, parts, count, is_told ? told : &(slri_told){0}));
    told->log = is_told ? log->id : 0;
    if (is_told)
        log->told_until_ns = slri_deadline_after(log->nats->timeout_ns);
    return SLR_OK;
}

// Nobody waits for the acknowledgement of an append that its producer is told of: where it is refused or does not come,
// the partition must be opened again, for the producer waits.
static slr_status hear_of_told(struct remote_log *log)
{
    struct stream *out = &log->streams[SLRI_LOG_OUT];
    if (log->told_until_ns == 0)
        return SLR_OK;
    SLRI_TRY(await_acks(log, out, UINT64_MAX));
    if (out->stored == out->last)
        log->told_until_ns = 0;
    else if (slri_passed(log->told_until_ns))
        return log->failed = SLRI_FAIL(TIMEOUT, "NATS: stream %s: no answer to an append", out->name);
    return SLR_OK;
}

static slr_status remote_sync(slri_log *base, enum slri_log_stream at)
{
    struct remote_log *log = (struct remote_log *)base;
    return await_acks(log, &log->streams[at], 0);
}

// ---- reading -------------------------------------------------------------------------------------------------------

static slr_status remote_read(slri_log *base, enum slri_log_stream at, uint64_t first, slri_log_visit *visit,
                              void *user)
{
    struct remote_log *log = (struct remote_log *)base;
    const struct stream *stream = &log->streams[at];
    first = first > stream->first ? first : stream->first;
    return first > stream->stored ? SLR_OK
                                  : slri_nats_read(log->nats, stream->name, first, stream->stored, visit, user);
}

static void remote_last(slri_log *base, enum slri_log_stream at, uint64_t *first, uint64_t *last)
{
    const struct stream *stream = &((struct remote_log *)base)->streams[at];
    *first = stream->first;
    *last = stream->last;
}

static uint64_t remote_size(slri_log *base, enum slri_log_stream at)
{
    return ((struct remote_log *)base)->streams[at].bytes;
}

static slr_status remote_purge(slri_log *base, enum slri_log_stream at, uint64_t up_to)
{
    struct remote_log *log = (struct remote_log *)base;
    struct stream *stream = &log->streams[at];
    char where[SLRI_NATS_SUBJECT + 16], request[64];
    if (up_to < stream->first)
        return SLR_OK;
    snprintf(where, sizeof where, "STREAM.PURGE.%s", stream->name);
    snprintf(request, sizeof request, "{\"seq\":%" PRIu64 "}", up_to + 1);
    SLRI_TRY(slri_nats_ask(log->nats, where, request, NULL, 0));
    stream->first = up_to + 1;
    return SLR_OK;
}

// A stream of JetStream does not give back sequences: what is behind stays, and the reader knows that it is void.
static slr_status remote_cut(slri_log *base, enum slri_log_stream at, uint64_t last)
{
    struct remote_log *log = (struct remote_log *)base;
    const struct stream *stream = &log->streams[at];
    return stream->last >= last
               ? SLR_OK
               : SLRI_FAIL(INVALID,
                           "stream %s ends with record %" PRIu64 ", and '%s' has had %" PRIu64 ": it was deleted, or "
                           "a server without its data came back. Restore it, or serve under a new name",
                           stream->name, stream->last, log->nats->name, last);
}

// ---- following -----------------------------------------------------------------------------------------------------

static slr_status remote_follow(slri_log *base, uint64_t first, uint32_t most, slri_log_visit *visit, void *user,
                                uint64_t timeout_ns)
{
    struct remote_log *log = (struct remote_log *)base;
    SLRI_TRY(hear_of_told(log));
    return slri_nats_follow(&log->follower, log->streams[SLRI_LOG_IN].name, first, most, visit, user, timeout_ns);
}

// ---- answers to calls ----------------------------------------------------------------------------------------------

static slr_status remote_answer(slri_log *base, uint64_t producer, const void *data, size_t bytes)
{
    struct remote_log *log = (struct remote_log *)base;
    char subject[SLRI_NATS_SUBJECT];
    slri_nats_reply_subject(log->nats, producer, "answer", subject);
    int status = log->nats->api->natsConnection_Publish(log->nats->connection, subject, data, (int)bytes);
    return status ? slri_nats_fail(log->nats, status, subject) : SLR_OK;
}

// ---- values, and its life ------------------------------------------------------------------------------------------

static slr_status remote_get(slri_log *base, const char *key, void *value, size_t capacity, size_t *bytes,
                             uint64_t *revision)
{
    struct remote_log *log = (struct remote_log *)base;
    char name[KEY_BYTES];
    snprintf(name, sizeof name, "%u.%s", log->partition, key);
    return slri_nats_get(log->nats, name, value, capacity, bytes, revision);
}

static slr_status remote_cas(slri_log *base, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    struct remote_log *log = (struct remote_log *)base;
    char name[KEY_BYTES];
    snprintf(name, sizeof name, "%u.%s", log->partition, key);
    return slri_nats_cas(log->nats, name, revision, value, bytes);
}

static void remote_close(slri_log *base)
{
    struct remote_log *log = (struct remote_log *)base;
    const slri_nats_api *api = log->nats->api;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS; ++at) {
        if (log->streams[at].acks)
            api->natsSubscription_Destroy(log->streams[at].acks);
        if (log->streams[at].inbox)
            api->natsInbox_Destroy(log->streams[at].inbox);
    }
    slri_nats_follower_end(&log->follower);
    free(log->buffer);
    free(log);
}

static slr_status find_stream(struct remote_log *log, enum slri_log_stream at)
{
    struct stream *stream = &log->streams[at];
    slri_nats_stream_name(log->nats, at, log->partition, stream->name);
    slri_nats_stream_subject(log->nats, at, log->partition, stream->subject);
    SLRI_TRY(slri_nats_stream_state(log->nats, stream->name, &stream->first, &stream->last, &stream->bytes));
    stream->stored = stream->last;
    return SLR_OK;
}

// Servers make a stream with replicas only while enough of them are there. So all streams are made while the partition
// is opened, and not when the first record needs one: the first snapshot must not wait for a server that is lost. What
// cannot be made now is made then (open_stream).
static void make_missing_streams(struct remote_log *log)
{
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && log->nats->replicas > 1; ++at) {
        const struct stream *stream = &log->streams[at];
        if (at != SLRI_LOG_IN && stream->last == 0)
            (void)slri_nats_make_stream(log->nats, stream->name, stream->subject, 0, 1);
    }
}

static slr_status remote_open(const slri_log_desc *desc, slri_log **out)
{
    struct remote_log *log = calloc(1, sizeof *log);
    if (!log)
        return SLRI_FAIL(NO_MEMORY, "no memory for a log");
    log->log.engine = &slri_log_nats;
    log->nats = desc->nats;
    log->partition = desc->partition;
    log->follower.nats = desc->nats;
    struct slri_key_secret random;
    slri_key_secret_make(&random);
    log->id = random.word[0] | 1; // 0 is none
    slr_status status = SLR_OK;
    for (enum slri_log_stream at = 0; at < SLRI_LOG_STREAMS && status == SLR_OK; ++at)
        status = find_stream(log, at);
    if (status != SLR_OK) {
        remote_close(&log->log);
        return status;
    }
    make_missing_streams(log);
    *out = &log->log;
    return SLR_OK;
}

static const char *remote_describe(const slri_log *base)
{
    return ((const struct remote_log *)base)->nats->replicas > 1
               ? "a kill of this process, and the loss of one server of three"
               : "a kill of this process and of the server; a power cut of the server only where its sync_interval "
                 "says so";
}

const slri_log_engine slri_log_nats = {
    .name = "nats",
    .open = remote_open,
    .close = remote_close,
    .describe = remote_describe,
    .append = remote_append,
    .read_from = remote_read,
    .last = remote_last,
    .purge = remote_purge,
    .cut = remote_cut,
    .sync = remote_sync,
    .get = remote_get,
    .cas = remote_cas,
    .size = remote_size,
    .follow = remote_follow,
    .answer = remote_answer,
    .append_told = remote_append_told,
};

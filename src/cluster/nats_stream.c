// SPDX-License-Identifier: Apache-2.0
// Streams and values of JetStream, by its requests.
#include "cluster/nats.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER = 8192, READ_BATCH = 256, READ_BYTES = 8 << 20, NO_MESSAGES = 404, END_OF_BATCH = 204 };
#define MS 1000000u
#define RETRY_NS 20000000u

void slri_nats_stream_name(const slri_nats *nats, enum slri_log_stream stream, uint32_t partition,
                           char out[SLRI_NATS_SUBJECT])
{
    snprintf(out, SLRI_NATS_SUBJECT, "slr-%s-%s-%u", nats->name, slri_log_stream_name(stream), partition);
}

void slri_nats_stream_subject(const slri_nats *nats, enum slri_log_stream stream, uint32_t partition,
                              char out[SLRI_NATS_SUBJECT])
{
    snprintf(out, SLRI_NATS_SUBJECT, "slr.%s.%s.%u", nats->name, slri_log_stream_name(stream), partition);
}

void slri_nats_reply_subject(const slri_nats *nats, uint64_t producer, const char *rest, char out[SLRI_NATS_SUBJECT])
{
    snprintf(out, SLRI_NATS_SUBJECT, "slr.%s.reply.%016" PRIx64 ".%s", nats->name, producer, rest);
}

void slri_nats_told_subject(const slri_nats *nats, const char *producer, uint64_t log, const char *answer, char *out)
{
    snprintf(out, SLRI_NATS_SUBJECT + SLRI_NATS_ANSWER, "slr.%s.reply.%s.told.%016" PRIx64 ".%s", nats->name, producer,
             log, answer);
}

void slri_nats_put_answer(const void *answer, size_t bytes, char out[SLRI_NATS_ANSWER])
{
    const unsigned char *from = answer;
    snprintf(out, SLRI_NATS_ANSWER, "-"); // an empty part is none
    for (size_t i = 0; i < bytes; ++i) {
        *out++ = "0123456789abcdef"[from[i] >> 4];
        *out++ = "0123456789abcdef"[from[i] & 15];
        *out = '\0';
    }
}

static int digit_of(char hex)
{
    return hex >= '0' && hex <= '9' ? hex - '0' : hex >= 'a' && hex <= 'f' ? hex - 'a' + 10 : -1;
}

size_t slri_nats_get_answer(const char *text, unsigned char out[SLRI_TOLD_ANSWER])
{
    size_t bytes = 0;
    for (; text[0] && bytes < SLRI_TOLD_ANSWER; text += 2) {
        if (digit_of(text[0]) < 0 || digit_of(text[1]) < 0)
            return 0;
        out[bytes++] = (unsigned char)(digit_of(text[0]) << 4 | digit_of(text[1]));
    }
    return text[0] ? 0 : bytes;
}

void slri_nats_call_subject(const slri_nats *nats, const char *partition, char out[SLRI_NATS_SUBJECT])
{
    snprintf(out, SLRI_NATS_SUBJECT, "slr.%s.call.%s", nats->name, partition);
}

slr_status slri_nats_has_stream(slri_nats *nats, const char *stream, bool *is)
{
    char where[SLRI_NATS_SUBJECT + 16];
    snprintf(where, sizeof where, "STREAM.INFO.%s", stream);
    slr_status status = slri_nats_ask(nats, where, "", NULL, 0);
    *is = status == SLR_OK;
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

slr_status slri_nats_make_stream(slri_nats *nats, const char *stream, const char *subject, uint64_t most,
                                 uint64_t first)
{
    char request[512], where[SLRI_NATS_SUBJECT + 16], limit[48] = "";
    bool is_there;
    SLRI_TRY(slri_nats_has_stream(nats, stream, &is_there));
    if (is_there)
        return SLR_OK;
    if (most)
        snprintf(limit, sizeof limit, ",\"max_msgs\":%" PRIu64, most);
    snprintf(request, sizeof request,
             "{\"name\":\"%s\",\"subjects\":[\"%s\"],\"retention\":\"limits\",\"storage\":\"file\",\"discard\":\"new\","
             "\"num_replicas\":%u,\"allow_direct\":true,\"first_seq\":%" PRIu64 "%s}",
             stream, subject, nats->replicas, first, limit);
    snprintf(where, sizeof where, "STREAM.CREATE.%s", stream);
    return slri_nats_ask(nats, where, request, NULL, 0);
}

slr_status slri_nats_make_values(slri_nats *nats)
{
    char request[512], where[SLRI_NATS_SUBJECT];
    bool is_there;
    snprintf(where, sizeof where, "KV_slr-%s", nats->name);
    SLRI_TRY(slri_nats_has_stream(nats, where, &is_there));
    if (is_there)
        return SLR_OK;
    snprintf(request, sizeof request,
             "{\"name\":\"KV_slr-%s\",\"subjects\":[\"$KV.slr-%s.>\"],\"retention\":\"limits\",\"storage\":\"file\","
             "\"discard\":\"new\",\"num_replicas\":%u,\"allow_direct\":true,\"allow_rollup_hdrs\":true,"
             "\"deny_delete\":true,\"max_msgs_per_subject\":1}",
             nats->name, nats->name, nats->replicas);
    snprintf(where, sizeof where, "STREAM.CREATE.KV_slr-%s", nats->name);
    return slri_nats_ask(nats, where, request, NULL, 0);
}

slr_status slri_nats_stream_state(slri_nats *nats, const char *stream, uint64_t *first, uint64_t *last, uint64_t *bytes)
{
    char answer[ANSWER], where[SLRI_NATS_SUBJECT + 16];
    *first = 1;
    *last = *bytes = 0;
    snprintf(where, sizeof where, "STREAM.INFO.%s", stream);
    slr_status status = slri_nats_ask(nats, where, "", answer, sizeof answer);
    if (status == SLR_NOT_FOUND)
        return SLR_OK;
    SLRI_TRY(status);
    const char *state = strstr(answer, "\"state\":");
    if (!state)
        return SLRI_FAIL(SYSTEM, "NATS: stream %s: an answer without a state", stream);
    *last = slri_nats_number(state, "last_seq");
    *first = slri_nats_number(state, "messages") ? slri_nats_number(state, "first_seq") : *last + 1;
    *bytes = slri_nats_number(state, "bytes");
    return SLR_OK;
}

// ---- values --------------------------------------------------------------------------------------------------------

// While servers elect who leads the values, nobody answers: that is not a name that was never served. An election takes
// up to 9 s, and longer on a loaded machine.
static slr_status ask_for_value(slri_nats *nats, const char *subject, natsMsg **reply)
{
    const uint64_t deadline_ns = slri_deadline_after(SLRI_NATS_TRIES * nats->timeout_ns);
    char stream[SLRI_NATS_SUBJECT];
    bool is_there;
    snprintf(stream, sizeof stream, "KV_slr-%s", nats->name);
    for (;;) {
        slr_status status = slri_nats_request(nats, subject, NULL, NULL, "", 0, reply);
        if (status != SLR_NOT_FOUND)
            return status;
        status = slri_nats_has_stream(nats, stream, &is_there);
        if (status != SLR_OK && status != SLR_TIMEOUT)
            return status;
        if (status == SLR_OK && !is_there)
            return SLRI_FAIL(NOT_FOUND, "nothing was ever served under the name '%s' there", nats->name);
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT, "no server answers for the values of '%s'", nats->name);
        slri_sleep_ns(RETRY_NS);
    }
}

slr_status slri_nats_get(slri_nats *nats, const char *key, void *value, size_t capacity, size_t *bytes,
                         uint64_t *revision)
{
    char subject[2 * SLRI_NATS_SUBJECT];
    natsMsg *reply;
    uint64_t code;
    snprintf(subject, sizeof subject, "$JS.API.DIRECT.GET.KV_slr-%s.$KV.slr-%s.%s", nats->name, nats->name, key);
    SLRI_TRY(ask_for_value(nats, subject, &reply));
    slr_status status = SLR_OK;
    *bytes = (size_t)nats->api->natsMsg_GetDataLength(reply);
    if (slri_nats_header(nats, reply, "Status", &code))
        status = SLRI_FAIL(NOT_FOUND, "'%s' has no value '%s'", nats->name, key);
    else if (!slri_nats_header(nats, reply, "Nats-Sequence", revision) || *bytes > capacity)
        status =
            SLRI_FAIL(INVALID, "the value '%s' of '%s' is no value of slipring: it has %zu B", key, nats->name, *bytes);
    else if (*bytes)
        memcpy(value, nats->api->natsMsg_GetData(reply), *bytes);
    nats->api->natsMsg_Destroy(reply);
    return status;
}

slr_status slri_nats_cas(slri_nats *nats, const char *key, uint64_t *revision, const void *value, size_t bytes)
{
    char subject[SLRI_NATS_SUBJECT], expected[24], text[512];
    natsMsg *reply;
    snprintf(subject, sizeof subject, "$KV.slr-%s.%s", nats->name, key);
    snprintf(expected, sizeof expected, "%" PRIu64, *revision);
    SLRI_TRY(slri_nats_request(nats, subject, "Nats-Expected-Last-Subject-Sequence", expected, value, bytes, &reply));
    size_t length = (size_t)nats->api->natsMsg_GetDataLength(reply);
    length = length < sizeof text - 1 ? length : sizeof text - 1;
    memcpy(text, nats->api->natsMsg_GetData(reply), length);
    text[length] = '\0';
    nats->api->natsMsg_Destroy(reply);
    uint64_t next;
    SLRI_TRY(slri_nats_answer(text, subject, &next));
    *revision = next;
    return SLR_OK;
}

slr_status slri_nats_drop(slri_nats *nats, const char *key)
{
    char where[SLRI_NATS_SUBJECT], request[2 * SLRI_NATS_SUBJECT];
    snprintf(where, sizeof where, "STREAM.PURGE.KV_slr-%s", nats->name);
    snprintf(request, sizeof request, "{\"filter\":\"$KV.slr-%s.%s\"}", nats->name, key);
    return slri_nats_ask(nats, where, request, NULL, 0);
}

// ---- time ----------------------------------------------------------------------------------------------------------

// Days from 1970-01-01, in the Gregorian calendar. A year begins in March here, so that its last day is the leap day.
static uint64_t days_of(unsigned year, unsigned month, unsigned day)
{
    const unsigned from_march = (month + 9) % 12, years = year - (month < 3);
    return (uint64_t)years * 365 + years / 4 - years / 100 + years / 400 + (from_march * 153 + 2) / 5 + day - 1 -
           719468; // from the year 0 to 1970
}

bool slri_nats_parse_time(const char *text, uint64_t *out_ns)
{
    unsigned year, month, day, hour, minute, second;
    int read = 0;
    if (sscanf(text, "%4u-%2u-%2uT%2u:%2u:%2u%n", &year, &month, &day, &hour, &minute, &second, &read) != 6 ||
        year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60)
        return false;
    uint64_t fraction_ns = 0, unit_ns = 100000000;
    text += read;
    text += *text == '.';
    for (; *text >= '0' && *text <= '9'; ++text, unit_ns /= 10)
        fraction_ns += (uint64_t)(*text - '0') * unit_ns;
    *out_ns = (((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000000000 + fraction_ns;
    return *text == 'Z';
}

slr_status slri_nats_now(slri_nats *nats, uint64_t *out_ns)
{
    char answer[ANSWER], where[SLRI_NATS_SUBJECT + 16];
    snprintf(where, sizeof where, "STREAM.INFO.KV_slr-%s", nats->name);
    SLRI_TRY(slri_nats_ask(nats, where, "", answer, sizeof answer));
    const char *at = strstr(answer, "\"ts\":\"");
    if (!at || !slri_nats_parse_time(at + strlen("\"ts\":\""), out_ns))
        return SLRI_FAIL(SYSTEM, "NATS: the server does not tell its time");
    return SLR_OK;
}

// ---- many answers --------------------------------------------------------------------------------------------------

typedef struct answers {
    natsSubscription *subscription;
    char *inbox;
} answers;

static slr_status ask_many(slri_nats *nats, const char *stream, const char *request, answers *out)
{
    char subject[SLRI_NATS_SUBJECT + 32];
    const slri_nats_api *api = nats->api;
    *out = (answers){0};
    snprintf(subject, sizeof subject, "$JS.API.DIRECT.GET.%s", stream);
    int status = api->natsInbox_Create(&out->inbox);
    status = status ? status : api->natsConnection_SubscribeSync(&out->subscription, nats->connection, out->inbox);
    status = status ? status : api->natsSubscription_SetPendingLimits(out->subscription, INT_MAX, INT_MAX);
    status = status ? status
                    : api->natsConnection_PublishRequest(nats->connection, subject, out->inbox, request,
                                                         (int)strlen(request));
    return status ? slri_nats_fail(nats, status, subject) : SLR_OK;
}

static void end_answers(const slri_nats *nats, answers *all)
{
    if (all->subscription)
        nats->api->natsSubscription_Destroy(all->subscription);
    if (all->inbox)
        nats->api->natsInbox_Destroy(all->inbox);
}

// The next one of a batch, which is the caller's. NULL with OK: it was the last one. NOT_FOUND: there are none.
static slr_status next_answer(slri_nats *nats, const answers *all, natsMsg **out)
{
    uint64_t code;
    int status = nats->api->natsSubscription_NextMsg(out, all->subscription, (int64_t)(nats->timeout_ns / MS));
    if (status)
        return slri_nats_fail(nats, status, "a batch of records");
    if (slri_nats_header(nats, *out, "Nats-Sequence", &code) || !slri_nats_header(nats, *out, "Status", &code))
        return SLR_OK; // a record, which may have other headers of its sender
    nats->api->natsMsg_Destroy(*out);
    *out = NULL;
    return code == END_OF_BATCH  ? SLR_OK
           : code == NO_MESSAGES ? SLRI_FAIL(NOT_FOUND, "NATS: no such records")
                                 : SLRI_FAIL(SYSTEM, "NATS: a batch of records is refused (status %" PRIu64 ")", code);
}

slr_status slri_nats_values(slri_nats *nats, const char *pattern, slri_nats_on_value *visit, void *user)
{
    char stream[SLRI_NATS_SUBJECT], request[3 * SLRI_NATS_SUBJECT], prefix[SLRI_NATS_SUBJECT];
    answers all;
    natsMsg *message = NULL;
    snprintf(stream, sizeof stream, "KV_slr-%s", nats->name);
    snprintf(prefix, sizeof prefix, "$KV.slr-%s.", nats->name);
    snprintf(request, sizeof request, "{\"multi_last\":[\"%s%s\"],\"batch\":1024}", prefix, pattern);
    slr_status status = ask_many(nats, stream, request, &all);
    while (status == SLR_OK) {
        const char *subject, *time;
        slri_nats_value value = {0};
        status = next_answer(nats, &all, &message);
        if (status != SLR_OK || !message)
            break;
        if (nats->api->natsMsgHeader_Get(message, "Nats-Subject", &subject) == SLRI_NATS_OK &&
            strncmp(subject, prefix, strlen(prefix)) == 0 &&
            slri_nats_header(nats, message, "Nats-Sequence", &value.revision)) {
            if (nats->api->natsMsgHeader_Get(message, "Nats-Time-Stamp", &time) != SLRI_NATS_OK ||
                !slri_nats_parse_time(time, &value.time_ns))
                value.time_ns = 0;
            value.key = subject + strlen(prefix);
            value.data = nats->api->natsMsg_GetData(message);
            value.bytes = (size_t)nats->api->natsMsg_GetDataLength(message);
            visit(user, &value);
        }
        nats->api->natsMsg_Destroy(message);
    }
    end_answers(nats, &all);
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

// ---- reading -------------------------------------------------------------------------------------------------------

struct reading {
    slri_nats *nats;
    const char *stream;
    uint64_t next, last;
    slri_log_visit *visit;
    void *user;
    void *aligned; // what libnats gives is not
    size_t capacity;
};

static slr_status visit_message(struct reading *reading, natsMsg *message)
{
    slri_log_record record;
    const slri_nats_api *api = reading->nats->api;
    if (!slri_nats_header(reading->nats, message, "Nats-Sequence", &record.sequence) ||
        record.sequence < reading->next || record.sequence > reading->last)
        return SLR_OK;
    if (record.sequence != reading->next)
        return SLRI_FAIL(INVALID, "stream %s lacks record %" PRIu64 ": the next one is %" PRIu64, reading->stream,
                         reading->next, record.sequence);
    record.bytes = (size_t)api->natsMsg_GetDataLength(message);
    if (record.bytes > reading->capacity || !reading->aligned) {
        free(reading->aligned);
        reading->capacity = 2 * record.bytes + 4096;
        reading->aligned = malloc(reading->capacity);
        if (!reading->aligned)
            return SLRI_FAIL(NO_MEMORY, "no memory for a record of %zu B", record.bytes);
    }
    if (record.bytes)
        memcpy(reading->aligned, api->natsMsg_GetData(message), record.bytes);
    record.data = reading->aligned;
    SLRI_TRY(reading->visit(reading->user, &record));
    reading->next++;
    return SLR_OK;
}

bool slri_nats_is_hidden(slri_nats *nats, const char *stream, uint64_t sequence)
{
    char where[SLRI_NATS_SUBJECT + 16], request[64], answer[ANSWER];
    snprintf(where, sizeof where, "STREAM.MSG.GET.%s", stream);
    snprintf(request, sizeof request, "{\"seq\":%" PRIu64 "}", sequence);
    return slri_nats_ask(nats, where, request, answer, sizeof answer) == SLR_OK && strstr(answer, "\"hdrs\":") &&
           !strstr(answer, "\"data\":");
}

static slr_status read_batch(struct reading *reading)
{
    char request[128];
    answers all;
    natsMsg *message = NULL;
    snprintf(request, sizeof request, "{\"seq\":%" PRIu64 ",\"batch\":%d,\"max_bytes\":%d}", reading->next, READ_BATCH,
             READ_BYTES);
    slr_status status = ask_many(reading->nats, reading->stream, request, &all);
    while (status == SLR_OK) {
        status = next_answer(reading->nats, &all, &message);
        if (status != SLR_OK || !message)
            break;
        status = visit_message(reading, message);
        reading->nats->api->natsMsg_Destroy(message);
    }
    end_answers(reading->nats, &all);
    if (status != SLR_NOT_FOUND || !slri_nats_is_hidden(reading->nats, reading->stream, reading->next))
        return status;
    slri_log_record hidden = {reading->next++, "", 0};
    return reading->visit(reading->user, &hidden);
}

slr_status slri_nats_read(slri_nats *nats, const char *stream, uint64_t first, uint64_t last, slri_log_visit *visit,
                          void *user)
{
    struct reading reading = {nats, stream, first, last, visit, user, NULL, 0};
    uint64_t deadline_ns = slri_deadline_after(nats->timeout_ns);
    slr_status status = SLR_OK;
    while (reading.next <= last && status == SLR_OK) {
        uint64_t before = reading.next;
        status = read_batch(&reading);
        if (reading.next > before)
            deadline_ns = slri_deadline_after(nats->timeout_ns);
        // Another replica may answer, which does not have all yet.
        if ((status == SLR_NOT_FOUND || reading.next == before) && !slri_passed(deadline_ns)) {
            slri_sleep_ns(RETRY_NS);
            status = SLR_OK;
        } else if (reading.next == before && status == SLR_OK)
            status = SLRI_FAIL(TIMEOUT, "stream %s does not give record %" PRIu64, stream, before);
    }
    free(reading.aligned);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Follows a stream. The sequences of the records alone say what is next: a consumer that is lost with its server is
// made again where the last record stood.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/nats.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 64, REQUEST_TIMEOUT = 408, NO_RECORDS = 404 };
#define MS 1000000u
#define EXPIRES_NS 2000000000u

static slr_status subscribe(slri_nats_follower *follower)
{
    const slri_nats_api *api = follower->nats->api;
    if (follower->subscription)
        return SLR_OK;
    int status = api->natsInbox_Create(&follower->inbox);
    status = status ? status
                    : api->natsConnection_SubscribeSync(&follower->subscription, follower->nats->connection,
                                                        follower->inbox);
    status = status ? status : api->natsSubscription_SetPendingLimits(follower->subscription, INT_MAX, INT_MAX);
    return status ? slri_nats_fail(follower->nats, status, "a subscription") : SLR_OK;
}

static slr_status open_consumer(slri_nats_follower *follower, const char *stream, uint64_t first)
{
    char where[2 * SLRI_NATS_SUBJECT], request[512];
    SLRI_TRY(subscribe(follower));
    const char *unique = strrchr(follower->inbox, '.');
    snprintf(follower->consumer, sizeof follower->consumer, "w%.22s-%u", unique ? unique + 1 : "",
             follower->made++ % 1000);
    snprintf(where, sizeof where, "CONSUMER.CREATE.%s.%s", stream, follower->consumer);
    snprintf(request, sizeof request,
             "{\"stream_name\":\"%s\",\"config\":{\"name\":\"%s\",\"deliver_policy\":\"by_start_sequence\","
             "\"opt_start_seq\":%" PRIu64 ",\"ack_policy\":\"none\",\"inactive_threshold\":60000000000,"
             "\"num_replicas\":1,\"mem_storage\":true}}",
             stream, follower->consumer, first);
    SLRI_TRY(slri_nats_ask(follower->nats, where, request, NULL, 0));
    follower->next = first;
    follower->is_new = true;
    follower->expected = 0;
    return SLR_OK;
}

static slr_status ask_for_more(slri_nats_follower *follower, const char *stream)
{
    char where[2 * SLRI_NATS_SUBJECT], request[96];
    const slri_nats *nats = follower->nats;
    snprintf(where, sizeof where, "$JS.API.CONSUMER.MSG.NEXT.%s.%s", stream, follower->consumer);
    int length = snprintf(request, sizeof request, "{\"batch\":%d,\"expires\":%u}", BATCH, EXPIRES_NS);
    int status = nats->api->natsConnection_PublishRequest(nats->connection, where, follower->inbox, request, length);
    if (status)
        return slri_nats_fail(nats, status, where);
    follower->expected = BATCH;
    follower->until_ns = slri_deadline_after(EXPIRES_NS + EXPIRES_NS / 2);
    return SLR_OK;
}

// "$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE...": the sixth word. A newer form has two more in front.
static uint64_t sequence_of(const char *reply)
{
    uint32_t words = 1;
    for (const char *at = reply; at && *at; ++at)
        words += *at == '.';
    for (uint32_t skip = words > 9 ? 7 : 5; reply && skip > 0; --skip) {
        reply = strchr(reply, '.');
        reply = reply ? reply + 1 : NULL;
    }
    return reply ? strtoull(reply, NULL, 10) : 0;
}

static slr_status align(slri_nats_follower *follower, slri_log_record *record, const void *data)
{
    if (record->bytes >= follower->capacity) {
        free(follower->buffer);
        follower->capacity = 2 * record->bytes + 4096;
        follower->buffer = malloc(follower->capacity);
    }
    if (!follower->buffer) {
        follower->capacity = 0;
        return SLRI_FAIL(NO_MEMORY, "no memory for a record of %zu B", record->bytes);
    }
    if (record->bytes)
        memcpy(follower->buffer, data, record->bytes);
    record->data = follower->buffer;
    return SLR_OK;
}

static slr_status take_arrival(slri_nats_follower *follower, natsMsg *message, slri_log_visit *visit, void *user)
{
    const slri_nats_api *api = follower->nats->api;
    const char *reply = api->natsMsg_GetReply(message);
    const bool is_record = reply && strncmp(reply, "$JS.ACK.", 8) == 0; // whatever its headers say: others wrote them
    uint64_t code;
    if (!is_record &&
        slri_nats_header(follower->nats, message, "Status", &code)) { // the request has ended, in peace or not
        follower->expected = 0;
        follower->next = code == REQUEST_TIMEOUT || code == NO_RECORDS ? follower->next : 0;
        return SLR_OK;
    }
    if (!is_record || !strstr(reply, follower->consumer))
        return SLR_OK; // of a consumer before this one
    slri_log_record record = {sequence_of(reply), NULL, (size_t)api->natsMsg_GetDataLength(message)};
    if (follower->expected)
        follower->expected--;
    if (follower->next == 0 || record.sequence < follower->next)
        return SLR_OK;
    if (record.sequence > follower->next && follower->is_new)
        return SLRI_FAIL(WRONG_STATE, "NATS: record %" PRIu64 " was removed; the next one is %" PRIu64, follower->next,
                         record.sequence);
    if (record.sequence > follower->next) {
        follower->next = 0;
        return SLR_OK;
    }
    follower->is_new = false;
    SLRI_TRY(align(follower, &record, api->natsMsg_GetData(message)));
    SLRI_TRY(visit(user, &record));
    follower->next++;
    return SLR_OK;
}

slr_status slri_nats_follow(slri_nats_follower *follower, const char *stream, uint64_t first, uint32_t most,
                            slri_log_visit *visit, void *user, uint64_t timeout_ns)
{
    if (follower->next != first)
        SLRI_TRY(open_consumer(follower, stream, first));
    for (uint32_t i = 0; i < most && follower->next; ++i) {
        natsMsg *message;
        if (follower->expected == 0)
            SLRI_TRY(ask_for_more(follower, stream));
        int status = follower->nats->api->natsSubscription_NextMsg(&message, follower->subscription,
                                                                   i == 0 ? (int64_t)(timeout_ns / MS) : 0);
        if (status == SLRI_NATS_TIMEOUT) {
            if (slri_passed(follower->until_ns)) // its server is gone, and the consumer with it
                follower->next = 0;
            return SLR_OK;
        }
        if (status == SLRI_NATS_NO_RESPONDERS) { // the consumer is gone
            slri_log_record hidden = {follower->next, "", 0};
            const bool is_hidden = follower->is_new && slri_nats_is_hidden(follower->nats, stream, hidden.sequence);
            follower->next = 0;
            return is_hidden ? visit(user, &hidden) : SLR_OK;
        }
        if (status)
            return slri_nats_fail(follower->nats, status, "following a stream");
        slr_status taken = take_arrival(follower, message, visit, user);
        follower->nats->api->natsMsg_Destroy(message);
        SLRI_TRY(taken);
    }
    return SLR_OK;
}

void slri_nats_follower_end(slri_nats_follower *follower)
{
    if (follower->subscription)
        follower->nats->api->natsSubscription_Destroy(follower->subscription);
    if (follower->inbox)
        follower->nats->api->natsInbox_Destroy(follower->inbox);
    free(follower->buffer);
    *follower = (slri_nats_follower){.nats = follower->nats};
}

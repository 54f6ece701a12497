// SPDX-License-Identifier: Apache-2.0
// What an accepted message survives on some servers: a stream is made, written to and removed, and the servers are
// asked how they write to their disks.
#include "cluster/name.h"

#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"

#include <slipring/operate.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER = 1 << 15, RECORDS = 15, RECORD_BYTES = 64, QUIET_MS = 300 };
#define MS 1000000u

// The text behind `"name":"` in an answer, "" where it is missing.
static void take_text(const char *answer, const char *name, char *out, size_t bytes)
{
    char quoted[48];
    snprintf(quoted, sizeof quoted, "\"%s\":\"", name);
    const char *at = strstr(answer, quoted);
    at = at ? at + strlen(quoted) : "";
    snprintf(out, bytes, "%.*s", (int)strcspn(at, "\""), at);
}

// ---- a stream of our own -------------------------------------------------------------------------------------------

static int by_time(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static slr_status time_answers(slri_nats *nats, const char *subject, uint64_t *median_ns)
{
    unsigned char record[RECORD_BYTES] = {0};
    char text[512];
    uint64_t times[RECORDS], sequence;
    for (uint32_t i = 0; i < RECORDS; ++i) {
        natsMsg *reply;
        const uint64_t begin_ns = slri_now_ns();
        SLRI_TRY(slri_nats_request(nats, subject, NULL, NULL, record, sizeof record, &reply));
        times[i] = slri_now_ns() - begin_ns;
        size_t bytes = (size_t)nats->api->natsMsg_GetDataLength(reply);
        bytes = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
        memcpy(text, nats->api->natsMsg_GetData(reply), bytes);
        text[bytes] = '\0';
        nats->api->natsMsg_Destroy(reply);
        SLRI_TRY(slri_nats_answer(text, subject, &sequence));
    }
    qsort(times, RECORDS, sizeof *times, by_time);
    *median_ns = times[RECORDS / 2];
    return SLR_OK;
}

// The leader counts, and its followers that are up to date.
static uint32_t count_current(const char *answer)
{
    uint32_t count = 1;
    for (const char *at = answer; (at = strstr(at, "\"current\":true")); ++at)
        ++count;
    return count;
}

static slr_status try_stream(slri_nats *nats, const char *stream, const char *subject, slr_remote_safety *safety)
{
    char where[SLRI_NATS_SUBJECT + 16], *answer = malloc(ANSWER);
    if (!answer)
        return SLRI_FAIL(NO_MEMORY, "slr_remote_get_safety: no memory");
    slr_status status = time_answers(nats, subject, &safety->answer_ns);
    snprintf(where, sizeof where, "STREAM.INFO.%s", stream);
    if (status == SLR_OK)
        status = slri_nats_ask(nats, where, "", answer, ANSWER);
    if (status == SLR_OK) {
        take_text(answer, "_nats.ver", safety->version, sizeof safety->version);
        safety->current = count_current(answer);
    }
    free(answer);
    return status;
}

static slr_status try_servers(slri_nats *nats, slr_remote_safety *safety)
{
    char stream[SLRI_NATS_SUBJECT], subject[SLRI_NATS_SUBJECT], where[SLRI_NATS_SUBJECT + 16];
    struct slri_key_secret random;
    slri_key_secret_make(&random);
    snprintf(stream, sizeof stream, "slr-%s-safety-%08" PRIx32, nats->name, (uint32_t)random.word[0]);
    snprintf(subject, sizeof subject, "slr.%s.safety.%08" PRIx32, nats->name, (uint32_t)random.word[0]);
    SLRI_TRY(slri_nats_make_stream(nats, stream, subject, RECORDS, 1));
    slr_status status = try_stream(nats, stream, subject, safety);
    char why[256];
    snprintf(why, sizeof why, "%s", status == SLR_OK ? "" : slr_error_message());
    snprintf(where, sizeof where, "STREAM.DELETE.%s", stream);
    slr_status removed = slri_nats_ask(nats, where, "", NULL, 0);
    return status == SLR_OK ? removed : slri_fail(status, "%s", why);
}

// ---- how servers write ---------------------------------------------------------------------------------------------

static void take_server(const slri_nats *nats, natsMsg *message, slr_remote_safety *safety)
{
    char text[ANSWER];
    size_t bytes = (size_t)nats->api->natsMsg_GetDataLength(message);
    bytes = bytes < sizeof text - 1 ? bytes : sizeof text - 1;
    if (bytes)
        memcpy(text, nats->api->natsMsg_GetData(message), bytes);
    text[bytes] = '\0';
    const char *config = strstr(text, "\"config\":");
    if (!config)
        return; // a server without JetStream
    bool is_always = strstr(config, "\"sync_always\":true") != NULL;
    uint64_t interval_ns = slri_nats_number(config, "sync_interval");
    if (!is_always) {
        safety->sync = SLR_REMOTE_SYNC_INTERVAL;
        safety->interval_ns = interval_ns > safety->interval_ns ? interval_ns : safety->interval_ns;
    } else if (safety->servers == 0)
        safety->sync = SLR_REMOTE_SYNC_ALWAYS;
    safety->servers++;
}

static slr_status ask_servers(slri_nats *nats, slr_remote_safety *safety)
{
    static const char subject[] = "$SYS.REQ.SERVER.PING.JSZ";
    const slri_nats_api *api = nats->api;
    natsSubscription *answers = NULL;
    natsMsg *message;
    char *inbox = NULL;
    int status = api->natsInbox_Create(&inbox);
    status = status ? status : api->natsConnection_SubscribeSync(&answers, nats->connection, inbox);
    status = status ? status : api->natsConnection_PublishRequest(nats->connection, subject, inbox, "{}", 2);
    int64_t patience_ms = (int64_t)(nats->timeout_ns / MS);
    while (status == 0 && (status = api->natsSubscription_NextMsg(&message, answers, patience_ms)) == 0) {
        take_server(nats, message, safety);
        api->natsMsg_Destroy(message);
        patience_ms = QUIET_MS; // the others answer at about the same time
    }
    if (answers)
        api->natsSubscription_Destroy(answers);
    if (inbox)
        api->natsInbox_Destroy(inbox);
    if (safety->servers > 0)
        return SLR_OK;
    return SLRI_FAIL(SYSTEM, "no server tells its sync_interval (%s): who asks must belong to the system account",
                     api->natsStatus_GetText(status));
}

static slr_status ask_as_system(const slr_remote_desc *where, const slr_remote_desc *system, slr_remote_safety *safety)
{
    slr_remote_desc own;
    slri_nats *nats;
    SLRI_TRY(SLRI_TAKE_DESC(slr_remote_desc, &own, system));
    own.servers = where->servers;
    own.name = "system";
    own.timeout_ns = where->timeout_ns;
    SLRI_TRY(slri_nats_connect(&own, &nats));
    slr_status status = ask_servers(nats, safety);
    slri_nats_close(nats);
    return status;
}

// ---- in words ------------------------------------------------------------------------------------------------------

static void say_safety(slr_remote_safety *safety)
{
    char power[160], first[96] = "a kill of the server";
    const uint32_t lost = (safety->replicas - 1) / 2;
    if (lost > 0)
        snprintf(first, sizeof first, "the loss of %u of %u servers with their disks", lost, safety->replicas);
    const char *of = lost > 0 ? "all servers at once" : "the server";
    if (safety->sync == SLR_REMOTE_SYNC_ALWAYS)
        snprintf(power, sizeof power, "and a power cut of %s (sync_interval: always)", of);
    else if (safety->sync == SLR_REMOTE_SYNC_INTERVAL)
        snprintf(power, sizeof power, "but a power cut of %s loses up to the last %.4g s (sync_interval)", of,
                 (double)safety->interval_ns / 1e9);
    else
        snprintf(power, sizeof power,
                 "but a power cut of %s loses up to its sync_interval, which is not known here (by default 2 minutes)",
                 of);
    if (safety->current < safety->replicas)
        snprintf(safety->words, sizeof safety->words, "%s, %s; only %u of %u replicas are up to date now", first, power,
                 safety->current, safety->replicas);
    else
        snprintf(safety->words, sizeof safety->words, "%s, %s", first, power);
}

// A name that is served has its own number of replicas.
static slr_status look_at_safety(slri_nats *nats, const slr_remote_desc *where, const slr_remote_desc *system,
                                 slr_remote_safety *safety)
{
    slri_manifest manifest;
    slr_status status = where->name ? slri_manifest_read(nats, &manifest) : SLR_NOT_FOUND;
    if (status != SLR_OK && status != SLR_NOT_FOUND)
        return status;
    nats->replicas = status == SLR_OK ? manifest.replicas : nats->replicas;
    safety->replicas = nats->replicas;
    SLRI_TRY(try_servers(nats, safety));
    if (system)
        SLRI_TRY(ask_as_system(where, system, safety));
    say_safety(safety);
    return SLR_OK;
}

slr_status slr_remote_get_safety_sized(const slr_remote_desc *where, const slr_remote_desc *system,
                                       slr_remote_safety *out, size_t bytes)
{
    slr_remote_safety safety = {0};
    slr_remote_desc own;
    slri_nats *nats;
    if (!where || !out)
        return SLRI_FAIL(INVALID, "slr_remote_get_safety: %s is NULL", where ? "out" : "where");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_remote_safety, bytes));
    SLRI_TRY(SLRI_TAKE_DESC(slr_remote_desc, &own, where));
    SLRI_TRY(slri_nats_open_any(&own, "any", &nats));
    slr_status status = look_at_safety(nats, &own, system, &safety);
    slri_nats_close(nats);
    SLRI_TRY(status);
    return SLRI_GIVE_REPORT(slr_remote_safety, out, bytes, &safety);
}

slr_status(slr_remote_get_safety)(const slr_remote_desc *where, const slr_remote_desc *system, slr_remote_safety *out)
{
    return slr_remote_get_safety_sized(where, system, out, SLRI_FIRST_slr_remote_safety);
}

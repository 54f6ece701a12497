// SPDX-License-Identifier: Apache-2.0
// What an operator asks of servers and workers: which names there are, who serves one, and that a worker ends.
#include "cluster/name.h"

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"

#include <slipring/operate.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_BYTES = 1 << 19 /* 1,024 names of streams */, NAP_NS = 20 * 1000 * 1000 };
#define VALUES_OF "KV_slr-"

// ---- names ---------------------------------------------------------------------------------------------------------

typedef struct names {
    char (*list)[SLR_REMOTE_NAME_BYTES];
    uint32_t count, capacity;
} names;

static slr_status add_name(names *names, const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= sizeof *names->list)
        return SLR_OK; // another program's
    if (names->count == names->capacity) {
        uint32_t capacity = names->capacity ? 2 * names->capacity : 64;
        void *grown = realloc(names->list, capacity * sizeof *names->list);
        if (!grown)
            return SLRI_FAIL(NO_MEMORY, "no memory for %u names", capacity);
        names->list = grown;
        names->capacity = capacity;
    }
    snprintf(names->list[names->count++], sizeof *names->list, "%.*s", (int)bytes, text);
    return SLR_OK;
}

// The streams of an answer that hold the values of names. `*count`: of all its streams.
static slr_status read_streams(const char *answer, names *names, uint64_t *count)
{
    const char *at = strstr(answer, "\"streams\":[");
    *count = 0;
    for (at = at ? strchr(at, '[') + 1 : NULL; at && *at == '"'; at += *at == ',') {
        const char *begin = at + 1, *end = strchr(begin, '"');
        if (!end)
            break;
        at = end + 1;
        ++*count;
        if (strncmp(begin, VALUES_OF, strlen(VALUES_OF)) == 0)
            SLRI_TRY(add_name(names, begin + strlen(VALUES_OF), (size_t)(end - begin) - strlen(VALUES_OF)));
    }
    return SLR_OK;
}

static slr_status list_names(slri_nats *nats, char *answer, names *names)
{
    uint64_t offset = 0, count;
    do {
        char request[96];
        snprintf(request, sizeof request, "{\"subject\":\"$KV.>\",\"offset\":%" PRIu64 "}", offset);
        SLRI_TRY(slri_nats_ask(nats, "STREAM.NAMES", request, answer, LIST_BYTES));
        SLRI_TRY(read_streams(answer, names, &count));
        offset += count;
    } while (count > 0 && offset < slri_nats_number(answer, "total"));
    return SLR_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

slr_status slr_remote_visit_names(const slr_remote_desc *where, slr_on_remote_name *visit, void *user)
{
    slri_nats *nats;
    names names = {0};
    if (!where || !visit)
        return SLRI_FAIL(INVALID, "slr_remote_visit_names: %s is NULL", where ? "visit" : "where");
    SLRI_TRY(slri_nats_open_any(where, "any", &nats));
    char *answer = malloc(LIST_BYTES);
    slr_status status =
        answer ? list_names(nats, answer, &names) : SLRI_FAIL(NO_MEMORY, "slr_remote_visit_names: no memory");
    free(answer);
    slri_nats_close(nats);
    if (names.count > 0)
        qsort(names.list, names.count, sizeof *names.list, by_text);
    for (uint32_t i = 0; i < names.count && status == SLR_OK; ++i)
        visit(user, names.list[i]);
    free(names.list);
    return status;
}

// ---- workers -------------------------------------------------------------------------------------------------------

// A connection with a name that is served, and room for its workers.
static slr_status open_name(const slr_remote_desc *where, slri_nats **nats, uint64_t *lease_ns, slri_workers **workers)
{
    slri_manifest manifest;
    SLRI_TRY(slri_nats_open(where, nats));
    *workers = malloc(sizeof **workers);
    slr_status status = slri_manifest_read(*nats, &manifest);
    if (status == SLR_OK && !*workers)
        status = SLRI_FAIL(NO_MEMORY, "no memory for a list of workers");
    if (status == SLR_OK)
        status = slri_workers_list(*nats, manifest.lease_ns, *workers);
    *lease_ns = manifest.lease_ns;
    if (status != SLR_OK) {
        free(*workers);
        slri_nats_close(*nats);
    }
    return status;
}

slr_status slr_remote_visit_workers(const slr_remote_desc *where, slr_on_remote_worker *visit, void *user)
{
    slri_nats *nats;
    slri_workers *workers;
    uint64_t lease_ns;
    if (!where || !visit)
        return SLRI_FAIL(INVALID, "slr_remote_visit_workers: %s is NULL", where ? "visit" : "where");
    SLRI_TRY(open_name(where, &nats, &lease_ns, &workers));
    slri_nats_close(nats);
    for (uint32_t i = 0; i < workers->count; ++i)
        visit(user, &workers->list[i]);
    free(workers);
    return SLR_OK;
}

// ---- draining ------------------------------------------------------------------------------------------------------

static slr_status ask_to_end(slri_nats *nats, const char *id)
{
    char key[SLRI_WORKER_KEY_BYTES];
    uint64_t revision = 0;
    slri_worker_key(key, SLRI_DRAIN_KEY, id);
    slr_status status = slri_nats_cas(nats, key, &revision, "1", 1);
    return status == SLR_WRONG_STATE ? SLR_OK : status; // it was asked before
}

static bool has_ended(slri_workers *now, const char *id)
{
    const slr_remote_worker *worker = slri_workers_find(now, id);
    return !worker || worker->is_lost; // one that was killed removes nothing
}

static slr_status await_end(slri_nats *nats, uint64_t lease_ns, const slri_workers *asked, slri_workers *now,
                            uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < asked->count;) {
        SLRI_TRY(slri_workers_list(nats, lease_ns, now));
        while (i < asked->count && has_ended(now, asked->list[i].id))
            ++i;
        if (i == asked->count)
            break;
        if (slri_passed(deadline_ns))
            return SLRI_FAIL(TIMEOUT,
                             "worker %s (process %" PRIu64 " on %s) has not ended. If it was killed, it counts as lost "
                             "after a lease",
                             asked->list[i].id, asked->list[i].process, asked->list[i].host);
        slri_sleep_ns(NAP_NS);
    }
    return SLR_OK;
}

static slr_status drain_workers(slri_nats *nats, uint64_t lease_ns, slri_workers *asked, const char *worker,
                                uint64_t deadline_ns)
{
    slr_status status = SLR_OK;
    const slr_remote_worker *only = worker ? slri_workers_find(asked, worker) : NULL;
    if (worker && !only)
        return SLRI_FAIL(NOT_FOUND, "'%s' has no worker '%s': 'slipring cluster show' lists its %u workers", nats->name,
                         worker, asked->count);
    if (only) {
        asked->list[0] = *only;
        asked->count = 1;
    }
    for (uint32_t i = 0; i < asked->count && status == SLR_OK; ++i)
        status = ask_to_end(nats, asked->list[i].id);
    slri_workers *now = status == SLR_OK ? malloc(sizeof *now) : NULL;
    if (now)
        status = await_end(nats, lease_ns, asked, now, deadline_ns);
    else if (status == SLR_OK)
        status = SLRI_FAIL(NO_MEMORY, "slr_remote_drain: no memory");
    free(now);
    return status;
}

slr_status slr_remote_drain(const slr_remote_desc *where, const char *worker, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    slri_nats *nats;
    slri_workers *asked;
    uint64_t lease_ns;
    if (!where)
        return SLRI_FAIL(INVALID, "slr_remote_drain: where is NULL");
    SLRI_TRY(open_name(where, &nats, &lease_ns, &asked));
    slr_status status = drain_workers(nats, lease_ns, asked, worker, deadline_ns);
    free(asked);
    slri_nats_close(nats);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// Hints: a sender that calls tells so on a subject of its own, which costs one small message. A worker that sleeps
// wakes up and waits for that partition's next frame, which comes another way; then it looks often for a moment.
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/thread.h"
#include "cluster/worker.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 200 };

static void keep_listening(void *user)
{
    slr_worker *worker = user;
    const slri_nats_api *api = worker->nats->api;
    while (__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE) == 0) {
        natsMsg *message;
        int status = api->natsSubscription_NextMsg(&message, worker->hints, WAIT_MS);
        if (status == SLRI_NATS_TIMEOUT)
            continue;
        if (status) { // the connection is closed; a call is then found at the next look
            slri_sleep_ns((uint64_t)WAIT_MS * 1000000);
            continue;
        }
        const char *partition = strrchr(api->natsMsg_GetSubject(message), '.');
        __atomic_store_n(&worker->called, (uint32_t)strtoul(partition ? partition + 1 : "", NULL, 10),
                         __ATOMIC_RELAXED); // released below
        api->natsMsg_Destroy(message);
        __atomic_add_fetch(&worker->calls, 1, __ATOMIC_RELEASE);
        slri_futex_wake(&worker->calls, UINT32_MAX);
    }
}

slr_status slri_worker_listen(slr_worker *worker)
{
    char subject[SLRI_NATS_SUBJECT];
    slri_nats_call_subject(worker->nats, "*", subject);
    int status = worker->nats->api->natsConnection_SubscribeSync(&worker->hints, worker->nats->connection, subject);
    if (status)
        return slri_nats_fail(worker->nats, status, subject);
    slr_status started = slri_thread_start(&worker->listening, "slr-calls", keep_listening, worker);
    worker->has_listening = started == SLR_OK;
    return started;
}

void slri_worker_end_listening(slr_worker *worker)
{
    if (worker->has_listening) {
        __atomic_store_n(&worker->stop, 1, __ATOMIC_RELEASE);
        slri_thread_join(&worker->listening);
    }
    worker->has_listening = false;
    if (worker->hints)
        worker->nats->api->natsSubscription_Destroy(worker->hints);
    worker->hints = NULL;
}

// calls: acquire pairs with the release above. Nothing else is read through it.
void slri_worker_sleep(slr_worker *worker, uint64_t until_ns)
{
    slri_futex_wait(&worker->calls, worker->calls_seen, until_ns);
}

// SPDX-License-Identifier: Apache-2.0
// Who serves a name, for one who serves none. A worker's value is as old as the servers' clock says: one look cannot
// watch whether it moves, as other workers do (lease.c), and a name without other workers has nobody who forgets it.
#include "cluster/name.h"

#include "base/status.h"

#include <string.h>

typedef struct look {
    slri_workers *workers;
    uint64_t lease_ns, now_ns; // now: by the servers' clock
} look;

slr_remote_worker *slri_workers_find(slri_workers *workers, const char *id)
{
    for (uint32_t i = 0; i < workers->count; ++i) {
        if (strcmp(workers->list[i].id, id) == 0)
            return &workers->list[i];
    }
    return NULL;
}

static void see_card(void *user, const slri_nats_value *value)
{
    const look *look = user;
    slri_workers *workers = look->workers;
    const char *id = value->key + strlen(SLRI_WORKER_KEY);
    const uint64_t silent_ns = value->time_ns && value->time_ns < look->now_ns ? look->now_ns - value->time_ns : 0;
    slri_worker_card card = {0};
    if (workers->count == SLRI_WORKERS_MOST || strlen(id) >= sizeof workers->list[0].id ||
        silent_ns >= SLRI_FORGET_LEASES * look->lease_ns)
        return;
    memcpy(&card, value->data, value->bytes < sizeof card ? value->bytes : sizeof card);
    card.host[sizeof card.host - 1] = '\0';
    slr_remote_worker *worker = &workers->list[workers->count++];
    *worker =
        (slr_remote_worker){.process = card.process, .silent_ns = silent_ns, .is_lost = silent_ns >= look->lease_ns};
    memcpy(worker->id, id, strlen(id) + 1);
    memcpy(worker->host, card.host, sizeof worker->host);
}

static void see_partition(void *user, const slri_nats_value *value)
{
    const look *look = user;
    slri_owner owner;
    if (value->bytes != sizeof owner)
        return;
    memcpy(&owner, value->data, sizeof owner);
    owner.worker[SLRI_WORKER_ID - 1] = '\0';
    slr_remote_worker *worker = slri_workers_find(look->workers, owner.worker);
    if (worker && !worker->is_lost) // else it is free
        worker->partitions++;
}

static void see_drain(void *user, const slri_nats_value *value)
{
    const look *look = user;
    slr_remote_worker *worker = slri_workers_find(look->workers, value->key + strlen(SLRI_DRAIN_KEY));
    if (worker)
        worker->draining = 1;
}

slr_status slri_workers_list(slri_nats *nats, uint64_t lease_ns, slri_workers *out)
{
    look look = {.workers = out, .lease_ns = lease_ns};
    out->count = 0;
    SLRI_TRY(slri_nats_now(nats, &look.now_ns)); // before the values: none seems older than it is
    SLRI_TRY(slri_nats_values(nats, SLRI_WORKER_KEY "*", see_card, &look));
    SLRI_TRY(slri_nats_values(nats, "owner.*", see_partition, &look));
    return slri_nats_values(nats, SLRI_DRAIN_KEY "*", see_drain, &look);
}

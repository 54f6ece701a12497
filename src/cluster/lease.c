// SPDX-License-Identifier: Apache-2.0
// Who has which partition. A worker writes a value of its own again and again; a partition's value names its worker.
// Where a worker's value has not moved for a lease, on the clock of the one who looks, its partitions are free. Two
// workers may think for a while that they have the same one: the snapshot's head and the sequences of the outputs
// decide (recover.c, log_nats.c), not this file.
#include "base/clock.h"
#include "base/futex.h"
#include "base/status.h"
#include "base/system.h"
#include "base/thread_end.h"
#include "cluster/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BEATS = 3 };

static void owner_key(char out[64], uint32_t partition)
{
    snprintf(out, 64, "owner.%u", partition);
}

// ---- being alive ---------------------------------------------------------------------------------------------------

static slr_status beat(slr_worker *worker, uint64_t *revision)
{
    char key[SLRI_WORKER_KEY_BYTES];
    slri_worker_card card = {.now_ns = slri_now_ns(), .process = (uint64_t)slri_process_id()}, old;
    size_t bytes;
    slri_system_name_machine(card.host, sizeof card.host);
    slri_worker_key(key, SLRI_WORKER_KEY, worker->id);
    slr_status status = slri_nats_cas(worker->nats, key, revision, &card, sizeof card);
    if (status != SLR_WRONG_STATE) // an answer that was lost, or a value that somebody removed
        return status;
    *revision = 0;
    if (slri_nats_get(worker->nats, key, &old, sizeof old, &bytes, revision) != SLR_OK)
        *revision = 0;
    return slri_nats_cas(worker->nats, key, revision, &card, sizeof card);
}

static void keep_beating(void *user)
{
    slr_worker *worker = user;
    uint64_t revision = 0;
    while (__atomic_load_n(&worker->stop, __ATOMIC_ACQUIRE) == 0) {
        (void)beat(worker, &revision); // without a server nobody is alive, and the next beat tries again
        slri_futex_wait(&worker->stop, 0, slri_deadline_after(worker->manifest.lease_ns / BEATS));
    }
}

slr_status slri_worker_enter(slr_worker *worker)
{
    uint64_t revision = 0;
    struct slri_key_secret random;
    slri_key_secret_make(&random);
    snprintf(worker->id, sizeof worker->id, "%016" PRIx64, random.word[0]);
    worker->first = (uint32_t)(random.word[1] % worker->manifest.partitions);
    SLRI_TRY(beat(worker, &revision));
    slr_status status = slri_thread_start(&worker->beating, "slr-lease", keep_beating, worker);
    worker->has_beating = status == SLR_OK;
    return status;
}

// What is written down of a worker.
static void drop_worker(slr_worker *worker, const char *id)
{
    char key[SLRI_WORKER_KEY_BYTES];
    slri_worker_key(key, SLRI_DRAIN_KEY, id);
    (void)slri_nats_drop(worker->nats, key);
    slri_worker_key(key, SLRI_WORKER_KEY, id);
    (void)slri_nats_drop(worker->nats, key); // else the others forget it in time
}

void slri_worker_leave(slr_worker *worker)
{
    if (!worker->has_beating)
        return;
    __atomic_store_n(&worker->stop, 1, __ATOMIC_RELEASE);
    slri_futex_wake(&worker->stop, UINT32_MAX);
    slri_thread_join(&worker->beating);
    worker->has_beating = false;
    drop_worker(worker, worker->id);
}

// ---- looking -------------------------------------------------------------------------------------------------------

static slri_peer *find_peer(slr_worker *worker, const char *id)
{
    for (uint32_t i = 0; i < worker->peers; ++i) {
        if (strcmp(worker->peer[i].id, id) == 0)
            return &worker->peer[i];
    }
    return NULL;
}

static void see_worker(slr_worker *worker, const char *id, uint64_t revision)
{
    if (strlen(id) >= SLRI_WORKER_ID || strcmp(id, worker->id) == 0)
        return;
    slri_peer *peer = find_peer(worker, id);
    if (!peer && worker->peers == SLRI_PEERS)
        return;
    if (!peer) {
        peer = &worker->peer[worker->peers++];
        *peer = (slri_peer){.moved_ns = slri_now_ns()};
        memcpy(peer->id, id, strlen(id) + 1);
    } else if (peer->revision != revision)
        peer->moved_ns = slri_now_ns();
    peer->revision = revision;
    peer->is_listed = 1;
}

static void see_owner(slr_worker *worker, const char *number, const void *value, size_t bytes, uint64_t revision)
{
    char *end;
    unsigned long partition = strtoul(number, &end, 10);
    if (*end || partition >= worker->manifest.partitions || bytes != sizeof(slri_owner))
        return;
    slri_part *part = &worker->parts[partition];
    if (revision < part->revision)
        return; // an older one, from a replica that is behind
    part->revision = revision;
    memcpy(&part->owner, value, sizeof part->owner);
    part->owner.worker[SLRI_WORKER_ID - 1] = '\0';
}

static void see_value(void *user, const slri_nats_value *value)
{
    if (strncmp(value->key, SLRI_WORKER_KEY, strlen(SLRI_WORKER_KEY)) == 0)
        see_worker(user, value->key + strlen(SLRI_WORKER_KEY), value->revision);
    else if (strncmp(value->key, "owner.", 6) == 0)
        see_owner(user, value->key + 6, value->data, value->bytes, value->revision);
}

static bool is_alive(const slr_worker *worker, const slri_peer *peer)
{
    return peer->is_listed && slri_now_ns() - peer->moved_ns < worker->manifest.lease_ns;
}

static void forget(slr_worker *worker)
{
    for (uint32_t i = worker->peers; i-- > 0;) {
        slri_peer *peer = &worker->peer[i];
        if (peer->is_listed && slri_now_ns() - peer->moved_ns < SLRI_FORGET_LEASES * worker->manifest.lease_ns)
            continue;
        if (peer->is_listed)
            drop_worker(worker, peer->id);
        *peer = worker->peer[--worker->peers];
    }
}

// An operator has asked this worker to end.
static slr_status look_for_drain(slr_worker *worker)
{
    char key[SLRI_WORKER_KEY_BYTES], value;
    size_t bytes;
    uint64_t revision;
    slri_worker_key(key, SLRI_DRAIN_KEY, worker->id);
    slr_status status = slri_nats_get(worker->nats, key, &value, sizeof value, &bytes, &revision);
    if (status == SLR_OK && !worker->is_ending)
        slri_worker_begin_to_end(worker);
    worker->stats.draining = worker->stats.draining || status == SLR_OK;
    return status == SLR_NOT_FOUND ? SLR_OK : status;
}

slr_status slri_worker_look(slr_worker *worker)
{
    for (uint32_t i = 0; i < worker->peers; ++i)
        worker->peer[i].is_listed = 0;
    SLRI_TRY(slri_nats_values(worker->nats, SLRI_WORKER_KEY "*", see_value, worker));
    SLRI_TRY(slri_nats_values(worker->nats, "owner.*", see_value, worker));
    SLRI_TRY(look_for_drain(worker));
    forget(worker);
    worker->stats.workers = 1;
    for (uint32_t i = 0; i < worker->peers; ++i)
        worker->stats.workers += is_alive(worker, &worker->peer[i]);
    worker->looked_ns = slri_now_ns();
    return SLR_OK;
}

// ---- having --------------------------------------------------------------------------------------------------------

uint32_t slri_worker_share(const slr_worker *worker)
{
    uint32_t live = worker->stats.workers ? worker->stats.workers : 1;
    return worker->is_ending ? 0 : (worker->manifest.partitions + live - 1) / live;
}

bool slri_worker_has(const slr_worker *worker, uint32_t partition)
{
    return strcmp(worker->parts[partition].owner.worker, worker->id) == 0;
}

uint32_t slri_worker_count(const slr_worker *worker)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i)
        count += slri_worker_has(worker, i);
    return count;
}

bool slri_worker_is_free(const slr_worker *worker, uint32_t partition)
{
    const slri_part *part = &worker->parts[partition];
    if (part->server || slri_now_ns() < part->retry_ns)
        return false;
    if (!part->owner.worker[0] || slri_worker_has(worker, partition))
        return true;
    const slri_peer *peer = find_peer((slr_worker *)worker, part->owner.worker);
    return !peer || !is_alive(worker, peer);
}

static slr_status set_owner(slr_worker *worker, uint32_t partition, const char *id)
{
    char key[64];
    slri_part *part = &worker->parts[partition];
    slri_owner owner = {""};
    memcpy(owner.worker, id, strlen(id) + 1);
    owner_key(key, partition);
    SLRI_TRY(slri_nats_cas(worker->nats, key, &part->revision, &owner, sizeof owner));
    part->owner = owner;
    return SLR_OK;
}

slr_status slri_worker_claim(slr_worker *worker, uint32_t partition)
{
    return set_owner(worker, partition, worker->id);
}

slr_status slri_worker_unclaim(slr_worker *worker, uint32_t partition)
{
    slr_status status = set_owner(worker, partition, "");
    return status == SLR_WRONG_STATE ? SLR_OK : status; // not ours any more: then it needs no release
}

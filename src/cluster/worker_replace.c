// SPDX-License-Identifier: Apache-2.0
// A new handler in all partitions of a worker, or in none.
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "cluster/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS 10000000000u

static slr_status replace_part(slr_worker *worker, uint32_t partition, const slr_ring_desc *ring, uint64_t deadline_ns)
{
    char name[SLRI_PART_NAME];
    slr_server *server = worker->parts[partition].server;
    slri_worker_part_name(worker, partition, name);
    SLRI_TRY(slri_server_catch_up(server, deadline_ns));
    SLRI_TRY(slri_server_decide_trial(server, deadline_ns));
    slri_server_end_trial(server); // the program of the handler before the last one may be gone: the caller's contract
    return slri_server_replace(server, ring, name, deadline_ns);
}

// Also where it has come through its trial: then it is replaced by the one before.
static void take_back(slr_worker *worker, uint32_t partition)
{
    slr_server *server = worker->parts[partition].server;
    if (server->trial.is_on)
        (void)slri_server_go_back(server); // what fails is seen when it follows
    else if (server->stats.rolled_back == 0 && server->stats.replaced > 0)
        (void)replace_part(worker, partition, &worker->ring, slri_deadline_after(PATIENCE_NS));
    server->stats.rolled_back = server->stats.replaced = 0;
}

void slri_worker_go_back(slr_worker *worker)
{
    if (worker->has_before)
        worker->ring = worker->ring_before;
    worker->has_before = false;
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
        if (worker->parts[i].server)
            take_back(worker, i);
    }
    worker->stats.rolled_back++;
    snprintf(worker->stats.problem, sizeof worker->stats.problem,
             "the new handler faulted, and the one before goes on in its place");
}

static slr_status replace_all(slr_worker *worker, uint64_t deadline_ns)
{
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
        slr_server *server = worker->parts[i].server;
        if (!server)
            continue;
        server->stats.replaced = server->stats.rolled_back = 0;
        SLRI_TRY(replace_part(worker, i, &worker->ring, deadline_ns));
    }
    return SLR_OK;
}

// What the description borrows is the worker's.
static slr_status take_ring(slr_worker *worker, const slr_ring_desc *ring, slr_ring_desc *own)
{
    slri_head now;
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, own, ring));
    own->name = worker->ring.name;
    own->keys = worker->ring.keys;
    own->instances = worker->ring.instances;
    if (own->handler && worker->handler && strcmp(own->handler, worker->handler) == 0)
        own->handler = worker->handler;
    else if (own->handler)
        return SLRI_FAIL(LAYOUT, "slr_worker_replace: '%s' is served, not handler '%s'", worker->manifest.handler,
                         own->handler);
    SLRI_TRY(slri_worker_describe(worker->device, own, &now));
    return slri_worker_compare(worker, &now);
}

slr_status slr_worker_replace(slr_worker *worker, const slr_ring_desc *ring, uint64_t timeout_ns)
{
    slr_ring_desc own;
    if (!worker || !ring)
        return SLRI_FAIL(INVALID, "slr_worker_replace: %s is NULL", worker ? "ring" : "worker");
    SLRI_TRY(take_ring(worker, ring, &own));
    worker->ring_before = worker->ring;
    worker->ring = own;
    worker->has_before = true;
    slr_status status = replace_all(worker, slri_deadline_after(timeout_ns));
    if (status == SLR_OK) {
        worker->stats.replaced++;
        return SLR_OK;
    }
    char why[512];
    snprintf(why, sizeof why, "%s", slr_error_message());
    slri_worker_go_back(worker);
    worker->stats.rolled_back--; // it never began
    return slri_fail(status, "%s", why);
}

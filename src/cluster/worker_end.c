// SPDX-License-Identifier: Apache-2.0
// How a worker gives its partitions away: each with a snapshot of all that it has handled, so that nobody handles that
// again.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/worker.h"

#include <stdio.h>
#include <string.h>

#define TRY_NS 1000000000u // for one snapshot, while other partitions wait
enum { LEASES = 10 };      // after a request to end, for snapshots that fail while nothing is handled

// ---- one partition -------------------------------------------------------------------------------------------------

static slr_status save_part(slr_worker *worker, uint32_t partition, uint64_t deadline_ns)
{
    slr_server *server = worker->parts[partition].server;
    slr_status status = worker->is_cut_off ? SLRI_FAIL(TIMEOUT, "no server answers: the others take over after a lease")
                                           : slri_server_catch_up(server, deadline_ns);
    if (status == SLR_OK)
        status = slri_server_snapshot(server, deadline_ns);
    if (status != SLR_OK)
        slri_worker_note_problem(worker, partition);
    return status;
}

// As save_part, for a while. `*goes_on`: it was too short, and what is to be handled before has become less.
static slr_status try_to_save(slr_worker *worker, uint32_t partition, bool *goes_on)
{
    slr_server_stats before = {0}, after = {0};
    slr_server *server = worker->parts[partition].server;
    (void)slr_server_get_stats(server, &before); // where it fails, nothing goes on
    slr_status status = save_part(worker, partition, slri_deadline_after(TRY_NS));
    *goes_on = status == SLR_TIMEOUT && slr_server_get_stats(server, &after) == SLR_OK &&
               after.accepted + after.handled + after.faulted > before.accepted + before.handled + before.faulted;
    return status;
}

// It is free for the others now.
static slr_status let_go(slr_worker *worker, uint32_t partition)
{
    if (worker->parts[partition].server)
        slri_worker_abandon(worker, partition);
    if (worker->is_cut_off)
        return SLRI_FAIL(TIMEOUT, "no server answers: the others take over after a lease");
    slr_status status = slri_worker_unclaim(worker, partition);
    worker->is_cut_off = status != SLR_OK;
    worker->stats.drained += status == SLR_OK;
    if (status != SLR_OK)
        slri_worker_note_problem(worker, partition);
    return status;
}

void slri_worker_begin_to_end(slr_worker *worker)
{
    worker->is_ending = true;
    worker->end_ns = slri_deadline_after(LEASES * worker->manifest.lease_ns);
}

// ---- while it turns ------------------------------------------------------------------------------------------------

// A partition that was lost with its log, and that nobody has taken since, is taken again for its last snapshot.
static void end_part(slr_worker *worker, uint32_t partition)
{
    slri_part *part = &worker->parts[partition];
    slr_status status = SLR_OK;
    bool goes_on = false;
    if (!part->server && slri_now_ns() < part->retry_ns)
        return;
    if (!part->server)
        status = slri_worker_take(worker, partition);
    if (part->server)
        status = try_to_save(worker, partition, &goes_on);
    if (goes_on) // it takes no more, so that this has an end
        worker->end_ns = slri_deadline_after(LEASES * worker->manifest.lease_ns);
    const bool is_over = status != SLR_OK && slri_passed(worker->end_ns);
    if (is_over && worker->ended == SLR_OK)
        worker->ended = status;
    if (status == SLR_OK || is_over)
        (void)let_go(worker, partition);
    else if (part->server && status != SLR_TIMEOUT) {
        slri_worker_give_up(worker, partition);
        slri_worker_put_off(worker, part);
    }
}

// The others have waited for their share. Where handlers take long, the partition stays until they are done; one whose
// snapshot fails is handled again there. What there is no time for comes at the next look.
static void give_excess(slr_worker *worker)
{
    const uint32_t partitions = worker->manifest.partitions;
    const uint64_t deadline_ns = slri_deadline_after(TRY_NS);
    for (uint32_t i = 0; i < partitions; ++i)
        worker->parts[i].is_leaving = false;
    for (uint32_t i = partitions; i-- > 0 && worker->owned > slri_worker_share(worker) && !slri_passed(deadline_ns);) {
        uint32_t partition = (worker->first + i) % partitions;
        slri_part *part = &worker->parts[partition];
        if (!part->server)
            continue;
        (void)try_to_save(worker, partition, &part->is_leaving);
        if (part->is_leaving)
            return;
        (void)let_go(worker, partition);
    }
}

void slri_worker_give_back(slr_worker *worker)
{
    const uint32_t partitions = worker->manifest.partitions;
    for (uint32_t i = 0; i < partitions; ++i) {
        if (worker->parts[i].server && !slri_worker_has(worker, i))
            slri_worker_give_up(worker, i);
    }
    for (uint32_t i = partitions; i-- > 0 && worker->is_ending;) {
        if (slri_worker_has(worker, i))
            end_part(worker, i);
    }
    if (!worker->is_ending)
        give_excess(worker);
}

// ---- at once -------------------------------------------------------------------------------------------------------

static slr_status close_part(slr_worker *worker, uint32_t partition, uint64_t deadline_ns)
{
    const slri_part *part = &worker->parts[partition];
    slr_status status = SLR_OK;
    if (!part->server && !slri_worker_has(worker, partition))
        return SLR_OK;
    if (!part->server && !worker->is_cut_off && !slri_passed(deadline_ns)) {
        status = slri_worker_take(worker, partition);
        if (status != SLR_OK && status != SLR_WRONG_STATE)
            slri_worker_note_problem(worker, partition);
        status = status == SLR_WRONG_STATE ? SLR_OK : status; // another one's meanwhile
    }
    if (part->server)
        status = save_part(worker, partition, deadline_ns);
    slr_status given = let_go(worker, partition);
    return status == SLR_OK ? given : status;
}

slr_status slr_worker_close(slr_worker *worker, uint64_t timeout_ns)
{
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    if (!worker)
        return SLR_OK;
    slr_status status = worker->ended;
    worker->is_ending = true;
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
        slr_status closed = close_part(worker, i, deadline_ns);
        status = status == SLR_OK ? closed : status;
    }
    char why[256];
    snprintf(why, sizeof why, "%s", worker->stats.problem);
    slri_worker_free(worker);
    return status == SLR_OK ? SLR_OK : slri_fail(status, "%s", why);
}

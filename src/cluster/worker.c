// SPDX-License-Identifier: Apache-2.0
// A worker's life: a server for each partition that it has, all of them in turn.
#include "cluster/worker.h"

#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "base/text.h"
#include "ring/ring.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_PARTITIONS = 64,
    IDLE_NAP_NS = 300 * 1000,
    LONGEST_NAP_NS = 5000 * 1000,
    DOUBLINGS_MOST = 4,
    BUSY_NAP_NS = 20 * 1000,
    ENTER_TRIES = 4,
    HOT_NS = 2 * 1000 * 1000,
    CALL_NS = 1000 * 1000 // that a frame comes behind its hint
};
#define DEFAULT_CAPACITY 65536u
#define SECOND_NS 1000000000u
#define LOOK_NS 300000000u // what was given back in peace is taken after that at the latest

// ---- the name ------------------------------------------------------------------------------------------------------

static slr_status take_worker_desc(slr_worker *worker, const slr_worker_desc *desc)
{
    static const slr_worker_desc plain = SLR_WORKER_DESC_INIT;
    slr_worker_desc *own = &worker->desc;
    SLRI_TRY(SLRI_TAKE_DESC(slr_worker_desc, own, desc ? desc : &plain));
    own->partitions = own->partitions ? own->partitions : DEFAULT_PARTITIONS;
    own->capacity = own->capacity ? own->capacity : DEFAULT_CAPACITY;
    own->lease_ns = own->lease_ns ? own->lease_ns : 3ull * SECOND_NS;
    if (own->partitions > SLRI_NAME_PARTITIONS)
        return SLRI_FAIL(INVALID, "%u partitions: a name has 1 to %d", own->partitions, SLRI_NAME_PARTITIONS);
    if (own->lease_ns < SLRI_LEAST_LEASE_NS)
        return SLRI_FAIL(INVALID, "a lease of %" PRIu64 " ns is less than 100 ms", own->lease_ns);
    return SLR_OK;
}

// What this ring kernel looks like: one is made for a moment.
slr_status slri_worker_describe(slr_device *device, const slr_ring_desc *desc, slri_head *head)
{
    slr_ring *ring;
    slr_ring_desc plain = *desc;
    plain.keys = plain.key_bytes = 0;
    plain.instances = 1;
    SLRI_TRY(slr_ring_create(device, &plain, &ring));
    plain.keys = desc->keys;
    slri_head_begin(head, ring, &plain);
    slr_ring_destroy(ring);
    return SLR_OK;
}

slr_status slri_worker_compare(const slr_worker *worker, const slri_head *now)
{
    const slri_manifest *manifest = &worker->manifest;
    slri_head head = {.layout = manifest->layout,
                      .message_bytes = manifest->message_bytes,
                      .state_bytes = manifest->state_bytes,
                      .reply_bytes = manifest->reply_bytes,
                      .keys = manifest->keys};
    memcpy(head.handler, manifest->handler, sizeof head.handler);
    return slri_head_compare(&head, now, worker->nats->name);
}

static slr_status make_streams(slr_worker *worker)
{
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
        char stream[SLRI_NATS_SUBJECT], subject[SLRI_NATS_SUBJECT];
        slri_nats_stream_name(worker->nats, SLRI_LOG_IN, i, stream);
        slri_nats_stream_subject(worker->nats, SLRI_LOG_IN, i, subject);
        SLRI_TRY(slri_nats_make_stream(worker->nats, stream, subject, worker->manifest.capacity, 1));
    }
    return SLR_OK;
}

// The first worker writes it down. The streams come before that: who finds the manifest finds them.
static slr_status try_to_enter_name(slr_worker *worker)
{
    slri_head now;
    uint64_t revision = 0;
    SLRI_TRY(slri_worker_describe(worker->device, &worker->ring, &now));
    SLRI_TRY(slri_nats_make_values(worker->nats));
    slr_status status = slri_manifest_read(worker->nats, &worker->manifest);
    if (status == SLR_NOT_FOUND) {
        slri_manifest_begin(&worker->manifest, &now, &worker->desc, &worker->ring, worker->nats->replicas);
        SLRI_TRY(make_streams(worker));
        status = slri_nats_cas(worker->nats, SLRI_MANIFEST_KEY, &revision, &worker->manifest, sizeof worker->manifest);
        if (status == SLR_WRONG_STATE) // another one was first
            status = slri_manifest_read(worker->nats, &worker->manifest);
    }
    SLRI_TRY(status);
    SLRI_TRY(slri_worker_compare(worker, &now));
    // A message that one worker can handle, all can.
    if (worker->manifest.keys == SLR_KEYS_TEXT)
        worker->ring.key_bytes = worker->manifest.key_limit;
    else if (!worker->manifest.keys)
        worker->ring.instances = worker->manifest.key_limit;
    return SLR_OK;
}

// Two workers may make the streams at once: while servers elect who leads one, nobody answers for it.
static slr_status enter_name(slr_worker *worker)
{
    slr_status status = SLR_TIMEOUT;
    for (uint32_t i = 0; i < ENTER_TRIES && status == SLR_TIMEOUT; ++i)
        status = try_to_enter_name(worker);
    return status;
}

static uint64_t look_ns(const slr_worker *worker)
{
    uint64_t third = worker->manifest.lease_ns / 3;
    return third < LOOK_NS ? third : LOOK_NS;
}

// ---- partitions ----------------------------------------------------------------------------------------------------

void slri_worker_note_problem(slr_worker *worker, uint32_t partition)
{
    snprintf(worker->stats.problem, sizeof worker->stats.problem, "partition %u: %.220s", partition,
             slr_error_message());
}

// Of one that ends: what its last snapshot has. Messages since then are handled again, and counted by whoever does it.
static void add_counts(slr_worker *worker, slr_server *server, bool ends)
{
    slr_server_stats stats;
    if (slr_server_get_stats(server, &stats) != SLR_OK)
        return;
    worker->stats.handled += (ends ? server->head.handled : stats.handled) - server->begun.handled;
    worker->stats.faulted += (ends ? server->head.faulted : stats.faulted) - server->begun.faulted;
    worker->stats.outputs += stats.outputs - server->begun.outputs;
    worker->stats.repeated += stats.repeated;
    worker->stats.snapshots += stats.snapshots;
    worker->stats.gaps += server->gaps;
    worker->stats.refused += server->refused;
    if (!worker->stats.first_fault[0])
        memcpy(worker->stats.first_fault, server->first_fault, sizeof server->first_fault);
}

void slri_worker_part_name(const slr_worker *worker, uint32_t partition, char out[SLRI_PART_NAME])
{
    snprintf(out, SLRI_PART_NAME, "%.100s.%u", worker->ring_name ? worker->ring_name : worker->manifest.handler,
             partition);
}

static slr_status open_server(slr_worker *worker, uint32_t partition, slr_server **out)
{
    slr_serve_desc serve = SLR_SERVE_DESC_INIT;
    slri_log_desc log = {.nats = worker->nats, .partition = partition};
    slr_server_stats stats;
    slr_ring_desc ring = worker->ring;
    char name[SLRI_PART_NAME];
    slri_worker_part_name(worker, partition, name);
    ring.name = name; // unique on the device, and of C handlers what their states belong to
    serve.place = worker->nats->name;
    serve.sync = SLR_SYNC_NEVER; // an acknowledgement says what is stored
    serve.snapshot_ns = worker->desc.snapshot_ns;
    serve.full_every = worker->desc.full_every;
    SLRI_TRY(slri_serve(worker->device, &ring, &serve, &slri_log_nats, &log, out));
    if (slr_server_get_stats(*out, &stats) == SLR_OK)
        (*out)->begun = (slri_server_begun){stats.handled, stats.faulted, stats.outputs};
    return SLR_OK;
}

// Each failure doubles the time until the next try.
void slri_worker_put_off(slr_worker *worker, slri_part *part)
{
    uint32_t doublings = part->failures < DOUBLINGS_MOST ? part->failures : DOUBLINGS_MOST;
    part->retry_ns = slri_now_ns() + (look_ns(worker) << doublings);
    part->failures++;
}

// Ends its server here: what was handled since the last snapshot is handled again, here or elsewhere.
void slri_worker_abandon(slr_worker *worker, uint32_t partition)
{
    slri_part *part = &worker->parts[partition];
    add_counts(worker, part->server, true);
    slri_server_abandon(part->server);
    part->server = NULL;
    part->is_leaving = false;
    worker->owned--;
}

void slri_worker_give_up(slr_worker *worker, uint32_t partition)
{
    slri_worker_abandon(worker, partition);
    worker->parts[partition].retry_ns = slri_now_ns() + look_ns(worker);
    worker->stats.lost++;
}

// The next look that a server answers says that it is back.
static void note_silence(slr_worker *worker, slr_status status)
{
    if (status == SLR_TIMEOUT)
        worker->stats.cut_off = 1;
}

slr_status slri_worker_take(slr_worker *worker, uint32_t partition)
{
    slri_part *part = &worker->parts[partition];
    slr_status status = slri_worker_claim(worker, partition);
    note_silence(worker, status);
    if (status != SLR_OK) {
        part->retry_ns = slri_now_ns() + look_ns(worker);
        return status;
    }
    status = open_server(worker, partition, &part->server);
    if (status == SLR_OK) {
        worker->owned++;
        worker->stats.taken++;
        return SLR_OK;
    }
    note_silence(worker, status);
    slri_worker_note_problem(worker, partition);
    part->server = NULL;
    slri_worker_put_off(worker, part);
    return status;
}

// One at a time, so that those that it has go on meanwhile.
static bool take_one(slr_worker *worker)
{
    for (uint32_t i = 0; i < worker->manifest.partitions && worker->owned < slri_worker_share(worker); ++i) {
        uint32_t partition = (worker->first + i) % worker->manifest.partitions;
        if (!slri_worker_is_free(worker, partition))
            continue;
        if (slri_worker_take(worker, partition) != SLR_OK && slri_worker_has(worker, partition))
            (void)slri_worker_unclaim(worker, partition);
        return true;
    }
    return false;
}

static void look(slr_worker *worker)
{
    if (worker->looked_ns && slri_now_ns() - worker->looked_ns < look_ns(worker))
        return;
    if (slri_worker_look(worker) != SLR_OK) { // no server: later
        slri_text_fit(worker->stats.problem, sizeof worker->stats.problem, slr_error_message());
        worker->stats.cut_off = 1;
        worker->looked_ns = slri_now_ns();
        return;
    }
    worker->stats.cut_off = 0;
    worker->is_cut_off = false;
    slri_worker_give_back(worker);
    if (worker->is_ending && slri_worker_count(worker) == 0)
        slri_worker_leave(worker); // the others count without it
}

// ---- the calls -----------------------------------------------------------------------------------------------------

// Whether a call is on its way, or was a moment ago. `*called`: to which partition one has just been sent.
static bool note_calls(slr_worker *worker, uint32_t *called)
{
    const uint32_t calls = __atomic_load_n(&worker->calls, __ATOMIC_ACQUIRE);
    *called = UINT32_MAX;
    if (calls != worker->calls_seen) {
        worker->hot_until_ns = slri_now_ns() + HOT_NS;
        *called = __atomic_load_n(&worker->called, __ATOMIC_RELAXED);
    }
    worker->calls_seen = calls;
    return worker->hot_until_ns && slri_now_ns() < worker->hot_until_ns;
}

slr_status slr_worker_turn(slr_worker *worker, uint64_t timeout_ns)
{
    if (!worker)
        return SLRI_FAIL(INVALID, "slr_worker_turn: worker is NULL");
    const uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    for (;;) {
        uint32_t called;
        bool is_called = note_calls(worker, &called);
        look(worker);
        bool is_busy = take_one(worker), is_waiting = false;
        for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
            slr_server *server = worker->parts[i].server;
            uint32_t records = 0;
            // Takes no more: its last snapshot waits for what it has.
            if (!server || worker->is_ending || worker->parts[i].is_leaving)
                continue;
            slr_status status = slri_server_follow(server, i == called ? CALL_NS : 0, &records);
            worker->stats.records += records;
            is_busy = is_busy || records > 0;
            if (server->stats.rolled_back > 0)
                slri_worker_go_back(worker);
            if (status != SLR_OK) {
                note_silence(worker, status);
                slri_worker_note_problem(worker, i);
                slri_worker_give_up(worker, i);
                slri_worker_put_off(worker, &worker->parts[i]);
                continue;
            }
            if (server->stats.snapshots > 0)
                worker->parts[i].failures = 0;
            is_waiting = is_waiting || server->waiting || slri_server_is_behind(server);
        }
        worker->nap_ns = is_busy || is_waiting || worker->nap_ns == 0 ? IDLE_NAP_NS
                         : worker->nap_ns < LONGEST_NAP_NS            ? worker->nap_ns + worker->nap_ns / 8
                                                                      : LONGEST_NAP_NS;
        if (is_busy || slri_passed(deadline_ns))
            return SLR_OK;
        // However short: a nap that a hint does not end lasts 100 us on a virtual machine, whose timers are late.
        slri_worker_sleep(worker, slri_now_ns() + (is_waiting || is_called ? BUSY_NAP_NS : worker->nap_ns));
    }
}

void slri_worker_free(slr_worker *worker)
{
    if (worker->nats) {
        slri_worker_end_listening(worker);
        slri_worker_leave(worker);
    }
    slri_nats_close(worker->nats);
    free(worker->parts);
    free(worker->ring_name);
    free(worker->handler);
    free(worker);
}

char *slri_worker_copy(const char *text)
{
    size_t bytes = text ? strlen(text) + 1 : 0;
    char *copy = text ? malloc(bytes) : NULL;
    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

// The ring kernels are made later: what the description borrows is kept.
static slr_status keep_ring(slr_worker *worker, const slr_ring_desc *ring)
{
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, &worker->ring, ring));
    worker->ring_name = slri_worker_copy(worker->ring.name);
    worker->handler = slri_worker_copy(worker->ring.handler);
    if ((worker->ring.name && !worker->ring_name) || (worker->ring.handler && !worker->handler))
        return SLRI_FAIL(NO_MEMORY, "slr_worker_open: no memory");
    worker->ring.name = worker->ring_name;
    worker->ring.handler = worker->handler;
    return SLR_OK;
}

static slr_status open_worker(slr_worker *worker, const slr_ring_desc *ring, const slr_remote_desc *where,
                              const slr_worker_desc *desc)
{
    SLRI_TRY(take_worker_desc(worker, desc));
    SLRI_TRY(keep_ring(worker, ring));
    SLRI_TRY(slri_nats_open(where, &worker->nats));
    SLRI_TRY(enter_name(worker));
    worker->parts = calloc(worker->manifest.partitions, sizeof *worker->parts);
    if (!worker->parts)
        return SLRI_FAIL(NO_MEMORY, "slr_worker_open: no memory");
    worker->nats->replicas = worker->manifest.replicas; // of streams that are made later
    SLRI_TRY(slri_worker_enter(worker));
    return slri_worker_listen(worker);
}

slr_status slr_worker_open(slr_device *device, const slr_ring_desc *ring, const slr_remote_desc *where,
                           const slr_worker_desc *desc, slr_worker **out)
{
    if (!device || !ring || !where || !out)
        return SLRI_FAIL(INVALID, "slr_worker_open: %s is NULL",
                         !device  ? "device"
                         : !ring  ? "ring"
                         : !where ? "where"
                                  : "out");
    slr_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return SLRI_FAIL(NO_MEMORY, "slr_worker_open: no memory");
    worker->device = device;
    slr_status status = open_worker(worker, ring, where, desc);
    if (status != SLR_OK) {
        slri_worker_free(worker);
        return status;
    }
    *out = worker;
    return SLR_OK;
}

slr_status slr_worker_get_stats_sized(slr_worker *worker, slr_worker_stats *out, size_t bytes)
{
    if (!worker || !out)
        return SLRI_FAIL(INVALID, "slr_worker_get_stats: %s is NULL", worker ? "out" : "worker");
    const slr_worker_stats before = worker->stats;
    for (uint32_t i = 0; i < worker->manifest.partitions; ++i) {
        if (worker->parts[i].server)
            add_counts(worker, worker->parts[i].server, false);
    }
    slr_worker_stats stats = worker->stats;
    worker->stats = before;
    stats.partitions = worker->manifest.partitions;
    stats.owned = worker->is_ending ? slri_worker_count(worker) : worker->owned;
    return SLRI_GIVE_REPORT(slr_worker_stats, out, bytes, &stats);
}

slr_status(slr_worker_get_stats)(slr_worker *worker, slr_worker_stats *out)
{
    return slr_worker_get_stats_sized(worker, out, SLRI_FIRST_slr_worker_stats);
}

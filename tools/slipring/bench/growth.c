// SPDX-License-Identifier: Apache-2.0
// `slipring bench growth`: what durable messages cost as keys, partitions and names grow. The fewest of a kind are the
// floor of the others.
#define _GNU_SOURCE
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/message.h"
#include "bench/nats_here.h"
#include "clock.h"
#include "memory.h"
#include "say.h"

#include <slipring/remote.h>
#include <slipring/serve.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CHECKED = 100000 /* states */,
    KEYS_MOST = 10000000,
    MESSAGES = 1 << 20,
    REMOTE_MESSAGES = 1 << 17,
    REMOTE_KEYS = 1024,
    NAMES_MOST = 100,
    TURNS = 3
};
#define MOST_GIB 2 // that the most keys need: 1.1 GiB
#define PATIENCE_NS (4 * BENCH_TIMEOUT_NS)

static slr_status add(void *user, const slr_delivery *delivery)
{
    uint32_t *sum = delivery->state;
    (void)user;
    *sum += bench_sum(delivery->message);
    return SLR_OK;
}

static slr_ring_desc describe(uint32_t instances)
{
    slr_ring_desc ring = SLR_RING_DESC_INIT;
    ring.name = "add";
    ring.on_message = add;
    ring.message_bytes = sizeof(bench_message);
    ring.state_bytes = sizeof(bench_message);
    ring.keys = SLR_KEYS_U64;
    ring.instances = instances;
    return ring;
}

static double middle(double *figures, uint32_t count)
{
    measure_sort(figures, count);
    return measure_quantile(figures, count, 0.5);
}

static void add_row(bench *bench, const char *kind, uint32_t many, double value, double *floor, const char *method)
{
    char name[BENCH_NAME_BYTES];
    snprintf(name, sizeof name, "growth_%s_%u", kind, many);
    *floor = *floor > 0 ? *floor : value;
    bench_row row = {
        .name = bench_keep_name(bench, name), .stat = "median", .unit = "msg/s", .value = value, .floor = *floor};
    bench_add(bench, &row, method);
}

// ---- keys ----------------------------------------------------------------------------------------------------------

typedef struct keyed {
    slr_device *device;
    slr_server *server;
    char folder[64];
    uint32_t keys, slice; // slice: messages at once
    uint64_t sent;
} keyed;

static slr_status open_keyed(keyed *keyed)
{
    char place[96];
    slr_serve_desc desc = SLR_SERVE_DESC_INIT;
    slr_ring_desc ring = describe(keyed->keys);
    snprintf(place, sizeof place, "local:%s/keys-%u", keyed->folder, keyed->keys);
    desc.place = place;
    desc.sync = SLR_SYNC_NEVER;
    desc.snapshot_ns = UINT64_MAX;
    slr_status status = slr_device_open("cpu?threads=1", NULL, &keyed->device);
    return status == SLR_OK ? slr_serve(keyed->device, &ring, &desc, &keyed->server) : status;
}

// Each key once, and then in an order that no cache can guess.
static uint32_t key_of(const keyed *keyed, uint64_t number)
{
    if (number < keyed->keys)
        return (uint32_t)number;
    return (uint32_t)((number * 0x9e3779b97f4a7c15u >> 32) % keyed->keys);
}

static slr_status send_keyed(keyed *keyed)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < keyed->slice && status == SLR_OK; i++, keyed->sent++) {
        bench_message message;
        bench_fill(&message, i);
        status = slr_server_send(keyed->server, 1, 0, slr_key_u64(key_of(keyed, keyed->sent)), &message, sizeof message,
                                 BENCH_TIMEOUT_NS);
    }
    return status == SLR_OK ? slr_server_settle(keyed->server, BENCH_TIMEOUT_NS) : status;
}

// Each state is what its messages sum up to; of very many, one in some.
static bool is_right(keyed *keyed)
{
    uint32_t wrong = 0;
    bench_message state;
    uint32_t *sums = memory_take(keyed->keys, sizeof *sums);
    for (uint64_t number = 0; number < keyed->sent; number++)
        sums[key_of(keyed, number)] += bench_sum_of((uint32_t)(number % keyed->slice));
    for (uint32_t key = 0; key<keyed->keys; key += keyed->keys> CHECKED ? keyed->keys / CHECKED : 1) {
        slr_status status =
            slr_server_get_state(keyed->server, slr_key_u64(key), &state, sizeof state, BENCH_TIMEOUT_NS);
        wrong += status == SLR_OK ? state.word[0] != sums[key] : status != SLR_NOT_FOUND || sums[key] != 0;
    }
    free(sums);
    if (wrong > 0)
        say("growth: the states of %u keys of %u are wrong", wrong, keyed->keys);
    return wrong == 0;
}

static bool measure_keys(bench *bench, const char *folder, uint32_t keys, double *floor)
{
    keyed keyed = {.keys = keys};
    double rates[TURNS], snapshots[TURNS];
    char method[BENCH_METHOD_BYTES];
    keyed.slice = bench_size(bench, MESSAGES);
    snprintf(keyed.folder, sizeof keyed.folder, "%s", folder);
    partner_free_caller(bench->partner); // the handler's thread must not inherit the caller's core
    slr_status status = open_keyed(&keyed);
    for (uint32_t i = 0; i < keys && status == SLR_OK; i += keyed.slice) // keys are known before the clock runs
        status = send_keyed(&keyed);
    for (uint32_t i = 0; i < TURNS && status == SLR_OK; i++) {
        uint64_t begin = clock_ns();
        status = send_keyed(&keyed);
        rates[i] = bench_per_second(keyed.slice, begin);
        begin = clock_ns();
        status = status == SLR_OK ? slr_server_snapshot(keyed.server, BENCH_TIMEOUT_NS) : status;
        snapshots[i] = (double)(clock_ns() - begin) / 1e6;
    }
    bool fine = status == SLR_OK ? is_right(&keyed) : bench_failed(status, "growth_keys");
    slr_server_close(keyed.server, BENCH_TIMEOUT_NS);
    slr_device_close(keyed.device);
    partner_move_caller(bench->partner, false);
    if (!fine)
        return false;
    snprintf(method, sizeof method,
             "Messages of 64 B a second to %u keys in random order, with states of 64 B, in a folder (local:DIR) "
             "without fsync, until all are handled. A snapshot after them takes %.1f ms. Median of %d runs. Floor: the "
             "row with the fewest keys.",
             keys, middle(snapshots, TURNS), TURNS);
    add_row(bench, "keys", keys, middle(rates, TURNS), floor, method);
    return true;
}

static bool wants_keys(const bench *bench, uint32_t keys)
{
    char name[BENCH_NAME_BYTES];
    snprintf(name, sizeof name, "growth_keys_%u", keys);
    return bench_wants(bench, name);
}

// With the pages that hold copies of files, which Linux gives away.
static double free_gib(void)
{
    char line[128];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    while (file != NULL && kib == 0 && fgets(line, sizeof line, file) != NULL)
        sscanf(line, "MemAvailable: %lu kB", &kib);
    if (file != NULL)
        fclose(file);
    return (double)kib / (1u << 20);
}

static bool measure_all_keys(bench *bench)
{
    const char *parent = getenv("TMPDIR");
    char folder[64], command[96];
    double floor = 0;
    bool fine = true;
    uint32_t wanted = 0;
    for (uint32_t keys = 1000; keys <= KEYS_MOST; keys *= 10)
        wanted += wants_keys(bench, keys);
    if (wanted == 0)
        return true;
    snprintf(folder, sizeof folder, "%.32s/slipring-growth-XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        say("growth: cannot make the folder %s", folder);
        return false;
    }
    for (uint32_t keys = 1000; keys <= (bench->small ? 1000u : KEYS_MOST) && fine; keys *= 10) {
        if (!wants_keys(bench, keys))
            continue;
        if (keys == KEYS_MOST && free_gib() < MOST_GIB)
            say("growth: growth_keys_%u is left out: it needs %d GiB of free memory", keys, MOST_GIB);
        else
            fine = measure_keys(bench, folder, keys, &floor);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 && fine;
}

// ---- names and partitions ------------------------------------------------------------------------------------------

typedef struct served {
    const nats_here *server;
    uint32_t names, partitions;
    slr_device *device;
    slr_worker *workers[NAMES_MOST];
    slr_sender *senders[NAMES_MOST];
    pthread_t thread;
    bool turns;
    uint32_t stop;          // atomic
    uint64_t handled, sent; // handled: atomic
} served;

// One thread has all workers: more would only share the two cores.
static void *keep_turning(void *argument)
{
    served *served = argument;
    while (__atomic_load_n(&served->stop, __ATOMIC_ACQUIRE) == 0) {
        uint64_t handled = 0;
        for (uint32_t i = 0; i < served->names; i++) {
            slr_worker_stats stats;
            slr_worker_turn(served->workers[i], 1000000 / served->names);
            if (slr_worker_get_stats(served->workers[i], &stats) == SLR_OK)
                handled += stats.handled;
        }
        __atomic_store_n(&served->handled, handled, __ATOMIC_RELEASE);
    }
    return NULL;
}

static slr_status open_name(served *served, uint32_t index)
{
    char name[32], ring_name[32];
    slr_remote_desc where = SLR_REMOTE_DESC_INIT;
    slr_worker_desc worker = SLR_WORKER_DESC_INIT;
    slr_sender_desc sender = SLR_SENDER_DESC_INIT;
    slr_ring_desc ring = describe(REMOTE_KEYS);
    snprintf(name, sizeof name, "g-%u-%u-%u", served->names, served->partitions, index);
    snprintf(ring_name, sizeof ring_name, "add-%u", index); // all names are on one device
    ring.name = ring_name;
    where.servers = served->server->url;
    where.name = name;
    worker.partitions = served->partitions;
    worker.lease_ns = PATIENCE_NS; // nobody else takes anything over
    slr_status status = slr_worker_open(served->device, &ring, &where, &worker, &served->workers[index]);
    return status == SLR_OK ? slr_sender_open(&where, &sender, &served->senders[index]) : status;
}

static slr_status await_owned(served *served)
{
    const uint64_t begin = clock_ns();
    for (uint32_t i = 0; i < served->names; i++) {
        slr_worker_stats stats = {0};
        while (stats.owned < served->partitions) {
            slr_status status = slr_worker_turn(served->workers[i], 0);
            status =
                status == SLR_OK || status == SLR_TIMEOUT ? slr_worker_get_stats(served->workers[i], &stats) : status;
            if (status != SLR_OK)
                return status;
            if (clock_ns() - begin > PATIENCE_NS)
                return SLR_TIMEOUT;
        }
    }
    return SLR_OK;
}

static slr_status open_served(served *served)
{
    slr_status status = slr_device_open("cpu?threads=1", NULL, &served->device);
    for (uint32_t i = 0; i < served->names && status == SLR_OK; i++)
        status = open_name(served, i);
    if (status == SLR_OK)
        status = await_owned(served);
    if (status == SLR_OK)
        served->turns = pthread_create(&served->thread, NULL, keep_turning, served) == 0;
    return status;
}

static slr_status send_served(served *served, uint32_t messages)
{
    slr_status status = SLR_OK;
    for (uint32_t i = 0; i < messages && status == SLR_OK; i++) {
        bench_message message;
        uint64_t number = served->sent++;
        bench_fill(&message, (uint32_t)number);
        status =
            slr_sender_send(served->senders[number % served->names], slr_key_u64(number / served->names % REMOTE_KEYS),
                            &message, sizeof message, BENCH_TIMEOUT_NS);
    }
    for (uint32_t i = 0; i < served->names && status == SLR_OK; i++)
        status = slr_sender_flush(served->senders[i], BENCH_TIMEOUT_NS);
    const uint64_t begin = clock_ns();
    while (status == SLR_OK && __atomic_load_n(&served->handled, __ATOMIC_ACQUIRE) < served->sent) {
        if (clock_ns() - begin > PATIENCE_NS)
            return SLR_TIMEOUT;
        usleep(100);
    }
    return status;
}

static void end_served(served *served)
{
    __atomic_store_n(&served->stop, 1, __ATOMIC_RELEASE);
    if (served->turns)
        pthread_join(served->thread, NULL);
    for (uint32_t i = 0; i < served->names; i++) {
        slr_sender_close(served->senders[i], 0);
        slr_worker_close(served->workers[i], BENCH_TIMEOUT_NS);
    }
    slr_device_close(served->device);
}

static bool measure_served(bench *bench, const nats_here *server, const char *kind, uint32_t names, uint32_t partitions,
                           double *floor)
{
    served served = {.server = server, .names = names, .partitions = partitions};
    double rates[TURNS];
    char method[BENCH_METHOD_BYTES];
    const uint32_t messages = bench_size(bench, REMOTE_MESSAGES);
    uint64_t begin = clock_ns();
    partner_free_caller(bench->partner);
    slr_status status = open_served(&served);
    double opened = (double)(clock_ns() - begin) / 1e9;
    for (uint32_t i = 0; i < TURNS && status == SLR_OK; i++) {
        begin = clock_ns();
        status = send_served(&served, messages);
        rates[i] = bench_per_second(messages, begin);
    }
    end_served(&served);
    partner_move_caller(bench->partner, false);
    if (status != SLR_OK)
        return bench_failed(status, kind);
    snprintf(method, sizeof method,
             "Messages of 64 B a second to %u keys of each of %u names with %u partitions, through a nats-server on "
             "this machine, until one thread that runs all workers has handled them. It took %.1f s to open all "
             "workers. Median of %d runs. Floor: the row with the fewest names or partitions.",
             REMOTE_KEYS, names, partitions, opened, TURNS);
    add_row(bench, kind, names > 1 || kind[0] == 'n' ? names : partitions, middle(rates, TURNS), floor, method);
    return true;
}

static bool measure_remote_growth(bench *bench)
{
    static const uint32_t partitions[] = {1, 64, 1024}, names[] = {1, 10, 100};
    const char *program = nats_here_program();
    nats_here server = {0};
    const bool has_names = bench_wants(bench, "growth_names"), has_partitions = bench_wants(bench, "growth_partitions");
    const uint32_t most = bench->small ? 1 : 3;
    double floors[2] = {0};
    bool fine = true;
    if (!has_names && !has_partitions)
        return true;
    if (program == NULL) {
        say("growth: rows over machines are left out: SLIPRING_NATS_SERVER names no nats-server");
        return true;
    }
    if (!nats_here_start(&server, program)) {
        say("growth: %s does not start", program);
        return false;
    }
    for (uint32_t i = 0; i < most && has_names && fine; i++)
        fine = measure_served(bench, &server, "names", names[i], 1, &floors[0]);
    for (uint32_t i = 0; i < most && has_partitions && fine; i++)
        fine = measure_served(bench, &server, "partitions", 1, partitions[i], &floors[1]);
    nats_here_end(&server);
    return fine;
}

bool bench_growth(bench *bench)
{
    bool fine = measure_all_keys(bench);
    return measure_remote_growth(bench) && fine;
}

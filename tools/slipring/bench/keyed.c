// SPDX-License-Identifier: Apache-2.0
// `slipring bench throughput`, keyed: a million keys that arrive as Zipf says, beside the same messages to instances
// whose numbers are known beforehand.
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/ring.h"
#include "clock.h"
#include "memory.h"
#include "say.h"
#include "spin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEYS = 1000000,
    SMALL_KEYS = 1600,  // of a test
    ARRIVALS = 1 << 20, // drawn once, then again and again
    WARM_UP = 2048,
    MESSAGES = 131072 // of a slice
};

typedef struct side { // one of the two ring kernels
    bench_ring ring;
    uint32_t at;     // the next arrival
    uint32_t number; // of the next message
    uint32_t expected;
} side;

typedef struct keyed {
    bench *bench;
    uint32_t keys;
    slr_device *device; // with one worker: the sender has the other core
    slr_buffer *total;
    side keyed, numbered;
    slr_key *key;       // of each arrival
    uint32_t *instance; // likewise, as both ring kernels number it
} keyed;

// ---- arrivals -----------------------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

// The rank of the key that arrives, rank r with a probability in proportion to 1 / (r + 1): `sums` are those up to r.
static uint32_t draw_rank(const double *sums, uint32_t keys, uint64_t *seed)
{
    double want = (double)(next_random(seed) >> 11) / (double)(1ull << 53) * sums[keys - 1];
    uint32_t low = 0, high = keys - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (sums[middle] <= want)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Keys that are often used lie far apart, as they do where keys come in any order.
static uint32_t index_of(uint32_t rank, uint32_t keys)
{
    return (uint32_t)((uint64_t)rank * 611953 % keys);
}

static slr_key key_of(uint32_t index)
{
    return slr_key_u64((index + 1) * 0x9e3779b97f4a7c15u);
}

static void draw_arrivals(keyed *keyed)
{
    double *sums = memory_take(keyed->keys, sizeof *sums), sum = 0;
    for (uint32_t rank = 0; rank < keyed->keys; rank++)
        sums[rank] = sum += 1.0 / (rank + 1);
    uint64_t seed = 88172645463325252u;
    for (uint32_t i = 0; i < ARRIVALS; i++) {
        keyed->instance[i] = index_of(draw_rank(sums, keyed->keys, &seed), keyed->keys);
        keyed->key[i] = key_of(keyed->instance[i]);
    }
    free(sums);
}

// ---- slices -------------------------------------------------------------------------------------------------

static bool await_handled(const side *side)
{
    uint64_t start = clock_ns();
    slr_ring_stats stats = {0};
    while (clock_ns() - start < BENCH_TIMEOUT_NS) {
        slr_status status = slr_ring_get_stats(side->ring.ring, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "slr_ring_get_stats");
        if ((uint32_t)stats.handled == side->number)
            return true;
        spin_pause();
    }
    say("keyed: after 60 s %u messages are not handled", side->number - (uint32_t)stats.handled);
    return false;
}

// A batch to `keys`, or where that is NULL to `instances`.
static bool send_batch(side *side, const slr_key *keys, const uint32_t *instances)
{
    bench_message batch[BENCH_BATCH];
    for (uint32_t i = 0; i < BENCH_BATCH; i++) {
        bench_fill(&batch[i], side->number + i);
        side->expected += bench_sum_of(side->number + i);
    }
    const bench_ring *ring = &side->ring;
    slr_status status =
        keys != NULL
            ? slr_send_many_keys(ring->port, ring->to, keys, batch, sizeof *batch, BENCH_BATCH, BENCH_TIMEOUT_NS, NULL)
            : slr_send_many(ring->port, ring->to, instances, batch, sizeof *batch, BENCH_BATCH, BENCH_TIMEOUT_NS, NULL);
    side->number += BENCH_BATCH;
    return status == SLR_OK || bench_failed(status, "keyed");
}

static bool send_arrivals(const keyed *keyed, side *side, uint32_t messages)
{
    for (uint32_t i = 0; i < messages; i += BENCH_BATCH) {
        if (!send_batch(side, side == &keyed->keyed ? &keyed->key[side->at] : NULL, &keyed->instance[side->at]))
            return false;
        side->at = (side->at + BENCH_BATCH) % ARRIVALS;
    }
    return await_handled(side);
}

static bool slice(const keyed *keyed, side *side, double *figures)
{
    uint32_t messages = bench_size(keyed->bench, MESSAGES);
    bool fine = send_arrivals(keyed, side, WARM_UP);
    uint64_t start = clock_ns();
    fine = fine && send_arrivals(keyed, side, messages);
    figures[0] = bench_per_second(messages, start);
    return fine;
}

static bool keyed_slice(void *context, double *figures)
{
    keyed *keyed = context;
    return slice(keyed, &keyed->keyed, figures);
}

static bool numbered_slice(void *context, double *figures)
{
    keyed *keyed = context;
    return slice(keyed, &keyed->numbered, figures);
}

// ---- before and after ---------------------------------------------------------------------------------------

// Every key once, in order: so both ring kernels number them alike, and no page is new in what is measured.
static bool send_to_all(side *side, uint32_t all, bool by_key)
{
    slr_key keys[BENCH_BATCH];
    uint32_t instances[BENCH_BATCH];
    for (uint32_t index = 0; index < all; index += BENCH_BATCH) {
        for (uint32_t i = 0; i < BENCH_BATCH; i++) {
            instances[i] = index + i;
            keys[i] = key_of(index + i);
        }
        if (!send_batch(side, by_key ? keys : NULL, instances))
            return false;
    }
    return await_handled(side);
}

// What the handlers summed in all instances, once nothing runs any more.
static bool check_sums(const side *side, uint32_t all)
{
    uint32_t sum = 0;
    slr_status status = slr_ring_terminate(side->ring.ring, BENCH_TIMEOUT_NS, NULL, NULL, NULL);
    for (uint32_t i = 0; i < all && status == SLR_OK; i++) {
        uint32_t of_one = 0;
        status = slr_ring_snapshot(side->ring.ring, i, &of_one, sizeof of_one, 0);
        sum += of_one;
    }
    return (status == SLR_OK && sum == side->expected) || bench_failed(status, "keyed");
}

// The bench's own device with one worker, where its workers can be counted.
static slr_status open_device(keyed *keyed)
{
    const char *name = keyed->bench->info.name;
    char spec[SLR_DEVICE_NAME_BYTES + 16];
    snprintf(spec, sizeof spec, "%s%cthreads=1", name, strchr(name, '?') != NULL ? '&' : '?');
    bool counted = strcmp(keyed->bench->info.backend, "cpu") == 0 && strstr(name, "threads=") == NULL;
    slr_status status = slr_device_open(counted ? spec : name, NULL, &keyed->device);
    return status == SLR_OK ? slr_buffer_create(keyed->device, sizeof(uint32_t), &keyed->total) : status;
}

static bool open_both(keyed *keyed)
{
    slr_status status = open_device(keyed);
    if (status != SLR_OK)
        return bench_failed(status, "keyed");
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.handler = "add";
    desc.instances = keyed->keys;
    desc.name = "numbered";
    if (!bench_ring_open_as(keyed->bench, keyed->device, desc, keyed->total, &keyed->numbered.ring))
        return false;
    desc.name = "keyed";
    desc.keys = SLR_KEYS_U64;
    return bench_ring_open_as(keyed->bench, keyed->device, desc, keyed->total, &keyed->keyed.ring);
}

static bool measure(keyed *keyed)
{
    draw_arrivals(keyed);
    if (!open_both(keyed) || !send_to_all(&keyed->keyed, keyed->keys, true) ||
        !send_to_all(&keyed->numbered, keyed->keys, false))
        return false;
    bool fine = bench_measure(
        keyed->bench,
        &(bench_case){
            .name = "keyed",
            .unit = "msg/s",
            .stats = {"median"},
            .method = "Messages a second by slr_send_many_keys: 32 messages of 64 B in a call, to 1,000,000 keys of 64 "
                      "bits whose frequencies follow Zipf's law (s = 1), until all are handled. Floor: slr_send_many "
                      "of the same messages to the same instances by their numbers.",
            .pair = {.value = keyed_slice,
                     .floor = numbered_slice,
                     .value_context = keyed,
                     .floor_context = keyed,
                     .figures = 1},
        });
    return fine && check_sums(&keyed->keyed, keyed->keys) && check_sums(&keyed->numbered, keyed->keys);
}

bool bench_keyed(bench *bench)
{
    if (!bench_wants(bench, "keyed"))
        return true;
    keyed *keyed = memory_take(1, sizeof *keyed);
    keyed->bench = bench;
    keyed->keys = bench->small ? SMALL_KEYS : KEYS;
    keyed->key = memory_take(ARRIVALS, sizeof *keyed->key);
    keyed->instance = memory_take(ARRIVALS, sizeof *keyed->instance);
    bool fine = measure(keyed);
    bench_ring_close(&keyed->keyed.ring);
    bench_ring_close(&keyed->numbered.ring);
    slr_buffer_destroy(keyed->total);
    slr_device_close(keyed->device);
    free(keyed->key);
    free(keyed->instance);
    free(keyed);
    return fine;
}

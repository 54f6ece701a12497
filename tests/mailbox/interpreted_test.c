// SPDX-License-Identifier: Apache-2.0
// The mailbox as kernel source (steps.cu), by way of the front end: ports and owners are threads of the interpreter
// that a seed interleaves, some instructions at a time. Finer than protocol_test.c, which steps by whole calls.
#include "run/interpreter.h"
#include "lang/kernel.h"
#include "tests/mailbox/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SEEDS = 150, COUNT = 12, THREADS = PORTS + SHARDS, SEEN_WORDS = 600 };

struct order { // as in steps.cu
    uint32_t lane, count, turn, low, high;
};

struct port {
    uint32_t sent[3], received[3], mark[3], replies, wrong;
};

static uint32_t seed_now;

#define check(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("seed %u, line %d: %s", seed_now, __LINE__, #condition);                                          \
    } while (0)

static struct world world;
static struct run {
    struct slri_interp_thread *thread[THREADS];
    struct slri_call call[THREADS];
    struct slri_bound bound[THREADS][3];
    struct order order[THREADS];
    struct port port[PORTS];
    uint32_t seen[SHARDS][SEEN_WORDS];
    bool done[THREADS];
} run;

static void start(uint32_t i)
{
    run.call[i].bound = run.bound[i];
    run.call[i].message = &run.order[i];
    run.call[i].fuel = UINT64_MAX;
    slri_interp_thread_start(run.thread[i], &run.call[i]);
}

static void start_port(uint32_t i)
{
    struct world *w = &world;
    struct sender *sender = &w->sender[i];
    uint32_t low = pick(w, LEVELS), high = pick(w, LEVELS);
    run.order[i] = (struct order){sender->lane, COUNT, pick(w, COUNT + 1), levels[low], levels[high]};
    for (uint32_t s = 0; s < w->shards; ++s) {
        run.port[i].sent[s] = sender->cursor[s].sent;
        run.port[i].received[s] = sender->cursor[s].received;
    }
    run.bound[i][0] = (struct slri_bound){w->S, w->words * 4};
    run.call[i].state = &run.port[i];
    start(i);
}

static void start_owner(uint32_t shard)
{
    struct world *w = &world;
    struct slri_bound *bound = run.bound[PORTS + shard];
    bound[0] = (struct slri_bound){w->S, w->words * 4};
    bound[1] = (struct slri_bound){w->owner[shard].P, sizeof w->owner[shard].P};
    bound[2] = (struct slri_bound){run.seen[shard], sizeof run.seen[shard]};
    start(PORTS + shard);
}

// Each message once, in the order of its port and priority; in a batch no priority of a port rises.
static void check_seen(void)
{
    uint32_t total = 0, bits[LANES] = {0};
    for (uint32_t s = 0; s < world.shards; ++s) {
        uint32_t last[LANES][256] = {{0}}, batch_of[LANES] = {0}, lowest[LANES] = {0};
        for (uint32_t k = 0; k < run.seen[s][SEEN_WORDS - 1]; ++k, ++total) {
            uint32_t value = run.seen[s][2 * k], batch = run.seen[s][2 * k + 1] >> 8,
                     level = run.seen[s][2 * k + 1] & 255;
            uint32_t lane = value / 1000, number = value % 1000;
            check(lane < LANES && number < COUNT && !(bits[lane] & 1u << number));
            bits[lane] |= 1u << number;
            check(last[lane][level] <= number);
            last[lane][level] = number;
            check(batch_of[lane] != batch + 1 || level <= lowest[lane]);
            batch_of[lane] = batch + 1;
            lowest[lane] = level;
        }
    }
    check(total == PORTS * COUNT);
}

static void close_input(void)
{
    uint32_t *S = world.S;
    mb_close(S);
    MB_RELEASE(MB_CONTROL, 1u << 2 | MB_CLOSE);
}

static bool are_done(uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; ++i)
        if (!run.done[i])
            return false;
    return true;
}

static uint64_t interleave(uint32_t seed)
{
    struct world *w = &world;
    uint64_t instructions = 0;
    seed_now = seed;
    make_world(w, seed);
    memset(run.port, 0, sizeof run.port);
    memset(run.done, 0, sizeof run.done);
    for (uint32_t i = 0; i < PORTS; ++i)
        start_port(i);
    for (uint32_t s = 0; s < w->shards; ++s)
        start_owner(s);
    uint32_t threads = PORTS + w->shards, stride = 1 + pick(w, 200);
    bool closed = false;
    while (!are_done(0, threads)) {
        uint32_t i = pick(w, threads);
        uint64_t done;
        enum slri_progress progress = slri_interp_step(run.thread[i], 1 + pick(w, stride), &done);
        check(progress != SLRI_FAULTED);
        run.done[i] = progress == SLRI_DONE;
        instructions += done;
        check(instructions < 30000000);
        if (!closed && are_done(0, PORTS)) {
            closed = true;
            close_input();
        }
    }
    check_seen();
    for (uint32_t i = 0; i < PORTS; ++i)
        check(run.port[i].wrong == 0 && run.port[i].replies == COUNT * w->max_replies);
    check(((mb_retired(w->S) - w->first_count) & MB_COUNT) == PORTS * COUNT);
    return instructions;
}

static void mailbox_compiled_by_the_front_end_keeps_order_under_any_interleaving(void **state)
{
    (void)state;
    static const char *const include[] = {SLIPRING_SOURCE_DIR "/src"};
    struct slri_source source = {
        .path = SLIPRING_SOURCE_DIR "/tests/mailbox/steps.cu", .include = include, .includes = 1};
    struct slri_module *module;
    struct slri_interp *interp;
    if (slri_kernel_compile(&source, &module) != SLR_OK)
        fail_msg("%s", slr_error_message());
    assert_int_equal(slri_interp_create(module, &interp), SLR_OK);
    for (uint32_t i = 0; i < THREADS; ++i) {
        const struct slri_entry *entry = slri_module_entry(module, i < PORTS ? "port" : "owner");
        assert_int_equal(slri_interp_thread_create(interp, (uint32_t)(entry - module->entry), &run.thread[i]), SLR_OK);
    }
    const char *wish = getenv("SLIPRING_TEST_SEED");
    uint32_t first = wish ? (uint32_t)strtoul(wish, NULL, 10) : 1, seeds = wish ? 1 : SEEDS;
    uint64_t instructions = 0;
    for (uint32_t seed = first; seed < first + seeds; ++seed)
        instructions += interleave(seed);
    print_message("%u seeds, %llu instructions\n", seeds, (unsigned long long)instructions);
    for (uint32_t i = 0; i < THREADS; ++i)
        slri_interp_thread_destroy(run.thread[i]);
    slri_interp_destroy(interp);
    slri_module_destroy(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mailbox_compiled_by_the_front_end_keeps_order_under_any_interleaving)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: Apache-2.0
// `slipring bench latency`, row `wake`: how long it takes until a ring kernel that sleeps has begun with a message.
#define _GNU_SOURCE // syscall
#include "bench/bench.h"

#include "bench/batch.h"
#include "bench/message.h"
#include "clock.h"
#include "spin.h"

#include <slipring/slipring.h>

#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    ROUNDS = 60,
    REST_NS = 400 * 1000 // between two rounds; a worker sleeps 0.1 ms behind its last message
};

typedef struct wake {
    bench *bench;
    slr_ring *ring;
    slr_port *port;
    slr_address to;
    uint32_t number; // of the next message
    double times[ROUNDS];
    _Alignas(128) uint32_t word; // the floor's futex
    _Alignas(128) uint64_t begun_ns;
} wake;

// Gives the other side's time, which it has taken when it was awake.
static uint64_t await_begun(wake *wake)
{
    uint64_t start = clock_ns(), begun = 0;
    while (begun == 0 && clock_ns() - start < BENCH_TIMEOUT_NS) {
        spin_pause();
        begun = __atomic_load_n(&wake->begun_ns, __ATOMIC_ACQUIRE);
    }
    return begun;
}

// The caller stays awake meanwhile: only the other side is to be woken.
static void rest(void)
{
    uint64_t start = clock_ns();
    while (clock_ns() - start < REST_NS)
        spin_pause();
}

static bool time_rounds(wake *wake, bool (*begin)(struct wake *wake), double *figures)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        rest();
        __atomic_store_n(&wake->begun_ns, 0, __ATOMIC_RELAXED);
        uint64_t start = clock_ns();
        bool fine = begin(wake);
        uint64_t begun = fine ? await_begun(wake) : 0;
        if (begun == 0)
            return bench_failed(SLR_TIMEOUT, "wake");
        wake->times[i] = (double)(begun - start);
    }
    measure_sort(wake->times, ROUNDS);
    figures[0] = measure_quantile(wake->times, ROUNDS, 0.5);
    figures[1] = measure_quantile(wake->times, ROUNDS, 0.9);
    return true;
}

// ---- the ring kernel -----------------------------------------------------------------------------------------------

static slr_status on_message(void *user, const slr_delivery *delivery)
{
    wake *wake = user;
    uint64_t now = clock_ns();
    bool right = bench_sum(delivery->message) == bench_sum_of(wake->number);
    __atomic_store_n(&wake->begun_ns, right ? now : 0, __ATOMIC_RELEASE);
    return SLR_OK;
}

static bool send_one(wake *wake)
{
    bench_message message;
    bench_fill(&message, ++wake->number);
    slr_status status = slr_send(wake->port, wake->to, &message, sizeof message, BENCH_TIMEOUT_NS);
    return status == SLR_OK || bench_failed(status, "slr_send");
}

static bool ring_slice(void *context, double *figures)
{
    return time_rounds(context, send_one, figures);
}

static bool open_ring(wake *wake)
{
    slr_ring_desc desc = SLR_RING_DESC_INIT;
    desc.name = "wake";
    desc.on_message = on_message;
    desc.user = wake;
    desc.message_bytes = sizeof(bench_message);
    partner_move_caller(wake->bench->partner, true); // workers that are started now inherit this core
    slr_status status = slr_ring_create(wake->bench->device, &desc, &wake->ring);
    if (status == SLR_OK)
        status = slr_ring_launch(wake->ring);
    if (status == SLR_OK)
        status = slr_ring_activate(wake->ring, BENCH_TIMEOUT_NS);
    partner_move_caller(wake->bench->partner, false);
    if (status == SLR_OK)
        status = slr_port_open(wake->bench->device, &wake->port);
    if (status == SLR_OK)
        status = slr_ring_get_address(wake->ring, 0, &wake->to);
    return status == SLR_OK || bench_failed(status, "wake");
}

// ---- the floor: a thread that sleeps on a futex --------------------------------------------------------------------

static void sleep_and_answer(void *context)
{
    wake *wake = context;
    for (unsigned i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&wake->word, __ATOMIC_ACQUIRE) == 0)
            syscall(SYS_futex, &wake->word, FUTEX_WAIT_PRIVATE, 0, NULL);
        uint64_t now = clock_ns();
        __atomic_store_n(&wake->word, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&wake->begun_ns, now, __ATOMIC_RELEASE);
    }
}

static bool wake_thread(wake *wake)
{
    __atomic_store_n(&wake->word, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &wake->word, FUTEX_WAKE_PRIVATE, 1);
    return true;
}

static bool futex_slice(void *context, double *figures)
{
    wake *wake = context;
    partner_run(wake->bench->partner, sleep_and_answer, wake);
    bool fine = time_rounds(wake, wake_thread, figures);
    partner_join(wake->bench->partner);
    return fine;
}

// ---- the row -------------------------------------------------------------------------------------------------------

bool bench_wake(bench *bench)
{
    bench_case what = {.name = "wake",
                       .unit = "ns",
                       .stats = {"p50", "p90"},
                       .method = "The time from slr_send to a ring kernel whose worker sleeps, until its handler (a C "
                                 "function) begins; 0.4 ms pass between two sends. Floor: the time from FUTEX_WAKE of "
                                 "a thread in FUTEX_WAIT until the thread runs.",
                       .pair = {.value = ring_slice, .floor = futex_slice, .figures = 2}};
    if (!bench_wants(bench, what.name))
        return true;
    wake *wake = bench_lines(sizeof *wake);
    wake->bench = bench;
    what.pair.value_context = what.pair.floor_context = wake;
    bool fine = open_ring(wake) && bench_measure(bench, &what);
    slr_port_close(wake->port);
    slr_ring_destroy(wake->ring);
    free(wake);
    return fine;
}

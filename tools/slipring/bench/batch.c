// SPDX-License-Identifier: Apache-2.0
#include "bench/batch.h"

#include "clock.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

bool bench_failed(slr_status status, const char *what)
{
    if (status != SLR_OK)
        say_failure(status, what);
    else
        say("%s: the reply is wrong", what);
    return false;
}

double bench_per_second(uint32_t messages, uint64_t start_ns)
{
    return (double)messages * (double)SECOND_NS / (double)(clock_ns() - start_ns);
}

bool bench_send_batch(const bench_ring *ring, uint32_t number)
{
    bench_message batch[BENCH_BATCH];
    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        bench_fill(&batch[i], number + i);
    slr_status status =
        slr_send_many(ring->port, ring->to, NULL, batch, sizeof *batch, BENCH_BATCH, BENCH_TIMEOUT_NS, NULL);
    return status == SLR_OK || bench_failed(status, "slr_send_many");
}

bool bench_await_handled(const bench_ring *ring, uint64_t messages)
{
    uint64_t start = clock_ns();
    const struct timespec pause = {.tv_nsec = 20000}; // who asks without one takes a core that the device may be
    slr_ring_stats stats = {0};
    while (clock_ns() - start < BENCH_TIMEOUT_NS) {
        slr_status status = slr_ring_get_stats(ring->ring, &stats);
        if (status != SLR_OK)
            return bench_failed(status, "slr_ring_get_stats");
        if (stats.handled == messages)
            return true;
        nanosleep(&pause, NULL);
    }
    say("after 60 s %llu messages of %llu are handled", (unsigned long long)stats.handled,
        (unsigned long long)messages);
    return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "bench/batch.h"

#include "clock.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

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

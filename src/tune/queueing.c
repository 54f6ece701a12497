// SPDX-License-Identifier: Apache-2.0
// Calls that arrive at random whether or not the ones before have ended (an open loop), at a device that does one after
// the other. A call's time counts from its arrival, so that a slow one delays those behind it, as it would (no
// coordinated omission: G. Tene, "How not to measure latency", 2013). Waits by D. Lindley's recursion of 1952.
#include "base/alloc.h"
#include "base/status.h"
#include "tune/contest.h"
#include "tune/decide.h"
#include "tune/random.h"

#include <math.h>

enum { ARRIVALS = 20000, STEPS = 30 };

static double uniform(uint64_t *random)
{
    return ((double)(slri_tune_random(random) >> 11) + 0.5) * 0x1p-53;
}

double slri_queueing_mean(const double *value, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; ++i)
        sum += value[i];
    return sum / count;
}

// The same arrivals at every rate, so that more of them never wait less.
static void play(const double *service_ns, uint32_t count, double other_ns, double calls_per_second, double *took,
                 struct slri_queueing *out)
{
    uint64_t random = 1;
    double wait = 0, waits = 0;
    for (uint32_t i = 0; i < ARRIVALS; ++i) {
        double service = service_ns[slri_tune_pick(&random, count)];
        took[i] = wait + service + other_ns;
        waits += wait;
        wait = fmax(0, wait + service + log(uniform(&random)) * 1e9 / calls_per_second);
    }
    *out = (struct slri_queueing){waits / ARRIVALS, slri_quantile_of(took, ARRIVALS, 0.99)};
}

static slr_status take_room(double **out)
{
    *out = slri_alloc(NULL, ARRIVALS * sizeof **out);
    return *out ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to play arrivals");
}

slr_status slri_queueing_at(const double *service_ns, uint32_t count, double other_ns, double calls_per_second,
                            struct slri_queueing *out)
{
    double *took;
    *out = (struct slri_queueing){INFINITY, INFINITY};
    if (slri_queueing_mean(service_ns, count) * calls_per_second >= 1e9)
        return SLR_OK;
    SLRI_TRY(take_room(&took));
    play(service_ns, count, other_ns, calls_per_second, took, out);
    slri_free(NULL, took, ARRIVALS * sizeof *took);
    return SLR_OK;
}

slr_status slri_queueing_capacity(const double *service_ns, uint32_t count, double other_ns, double latency_ns,
                                  double *out)
{
    double *took, low = 0, high = 1e9 / slri_queueing_mean(service_ns, count);
    struct slri_queueing queueing;
    SLRI_TRY(take_room(&took));
    for (int i = 0; i < STEPS; ++i) {
        double middle = (low + high) / 2;
        play(service_ns, count, other_ns, middle, took, &queueing);
        *(queueing.p99_ns <= latency_ns ? &low : &high) = middle;
    }
    slri_free(NULL, took, ARRIVALS * sizeof *took);
    *out = low;
    return SLR_OK;
}

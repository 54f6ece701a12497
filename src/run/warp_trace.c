// SPDX-License-Identifier: Apache-2.0
#include "run/warp_trace.h"

#include "run/request.h"

#include <string.h>

struct cursor {
    const struct slri_warp_trace *trace;
    uint32_t at[SLRI_WARP_THREADS];
};

bool slri_warp_trace_note(struct slri_warp_trace *trace, uint32_t lane, const struct slri_warp_access *access)
{
    if (trace->count[lane] == SLRI_WARP_TRACE_ACCESSES)
        return false;
    trace->access[lane][trace->count[lane]++] = *access;
    return true;
}

static bool is_update(const struct slri_instr *instr)
{
    return instr->op == SLRI_OP_ATOMIC_RMW || instr->op == SLRI_OP_ATOMIC_CAS;
}

// The lane with the most accesses left: it is in code that the others skip. SLRI_WARP_THREADS: nothing is left.
static uint32_t find_leader(const struct cursor *cursor)
{
    uint32_t leader = SLRI_WARP_THREADS, most = 0;
    for (uint32_t lane = 0; lane < SLRI_WARP_THREADS; lane++) {
        const uint32_t left = cursor->trace->count[lane] - cursor->at[lane];
        if (left > most) {
            most = left;
            leader = lane;
        }
    }
    return leader;
}

// How many lanes change the word that most of them change: these take turns.
static uint64_t count_turns(const struct slri_lane_access *access, uint32_t count)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t same = 0;
        for (uint32_t k = 0; k < count; k++)
            same += access[k].offset == access[i].offset;
        most = same > most ? same : most;
    }
    return most;
}

// 32 random lanes have 3.5 in the busiest of 32 banks on average (balls in bins, by simulation).
static uint64_t scattered_passes(uint32_t lanes)
{
    return 1 + lanes / 12;
}

static void add_request(const struct slri_warp_access *first, struct slri_lane_access *access, uint32_t count,
                        uint32_t scattered, struct slri_warp_requests *sum)
{
    const bool updates = is_update(first->instr);
    uint64_t least, passes = 0, turns = updates && count ? count_turns(access, count) : 0;
    if (!first->is_shared) {
        ++sum->requests;
        sum->sectors += scattered + (count ? slri_request_sectors(access, count, &least) : 0);
        sum->updates += updates ? count + scattered : 0;
        return;
    }
    passes = count ? slri_request_passes(access, count, &least) : 0;
    ++sum->shared_requests;
    sum->passes += (passes > turns ? passes : turns) + (scattered ? scattered_passes(scattered) : 0);
}

// All lanes that are about to run the leader's instruction.
static void join_lanes(struct cursor *cursor, uint32_t leader, struct slri_warp_requests *sum)
{
    const struct slri_warp_trace *trace = cursor->trace;
    const struct slri_warp_access *first = &trace->access[leader][cursor->at[leader]];
    struct slri_lane_access access[SLRI_WARP_THREADS];
    uint32_t count = 0, scattered = 0;
    for (uint32_t lane = 0; lane < SLRI_WARP_THREADS; lane++) {
        const struct slri_warp_access *next = &trace->access[lane][cursor->at[lane]];
        if (cursor->at[lane] == trace->count[lane] || next->instr != first->instr ||
            next->is_shared != first->is_shared)
            continue;
        ++cursor->at[lane];
        if (next->is_known)
            access[count++] = (struct slri_lane_access){next->at, next->bytes};
        else
            ++scattered;
    }
    add_request(first, access, count, scattered, sum);
}

void slri_warp_trace_sum(struct slri_warp_trace *trace, struct slri_warp_requests *sum)
{
    struct cursor cursor = {.trace = trace};
    for (uint32_t leader = find_leader(&cursor); leader < SLRI_WARP_THREADS; leader = find_leader(&cursor))
        join_lanes(&cursor, leader, sum);
    memset(trace->count, 0, sizeof trace->count);
}

// SPDX-License-Identifier: Apache-2.0
// Sharing out by weights, exactly. Granules are shared out, and the last one may be short.
#include "base/status.h"
#include "cluster/cluster.h"

__extension__ typedef unsigned __int128 wide; // a product of a weight and a number of items

struct split {
    const uint64_t *most;
    uint32_t count;
    uint64_t granularity, short_by; // what the last granule lacks
    uint64_t weight[SLR_CLUSTER_MOST_DEVICES];
    uint64_t granules[SLR_CLUSTER_MOST_DEVICES]; // given so far
    wide rest[SLR_CLUSTER_MOST_DEVICES];
};

static uint64_t room_of(const struct split *split, uint32_t i)
{
    return split->most ? split->most[i] / split->granularity - split->granules[i] : UINT64_MAX;
}

// Those that are full take part no more.
static wide sum_of_open(struct split *split)
{
    wide sum = 0;
    for (uint32_t i = 0; i < split->count; ++i) {
        if (room_of(split, i) == 0)
            split->weight[i] = 0;
        sum += split->weight[i];
    }
    return sum;
}

static uint64_t give(struct split *split, uint32_t i, uint64_t granules)
{
    uint64_t room = room_of(split, i), given = granules < room ? granules : room;
    split->granules[i] += given;
    return given;
}

// One granule to the largest remainder; of equal ones to the first.
static uint64_t give_left_over(struct split *split)
{
    uint32_t best = split->count;
    for (uint32_t i = 0; i < split->count; ++i)
        if (split->weight[i] != 0 && room_of(split, i) != 0 &&
            (best == split->count || split->rest[i] > split->rest[best]))
            best = i;
    if (best == split->count)
        return 0;
    split->rest[best] = 0;
    return give(split, best, 1);
}

// Shares out what is left among those with room; gives what then is left.
static uint64_t share_out(struct split *split, uint64_t left)
{
    for (;;) {
        wide sum = sum_of_open(split);
        uint64_t before = left;
        if (left == 0 || sum == 0)
            return left;
        bool any_full = false;
        for (uint32_t i = 0; i < split->count; ++i) {
            wide exact = (wide)before * split->weight[i];
            uint64_t share = (uint64_t)(exact / sum), given = give(split, i, share);
            split->rest[i] = exact % sum;
            left -= given;
            any_full |= given < share;
        }
        if (any_full)
            continue; // its surplus is shared out anew
        for (uint64_t given = 1; left != 0 && given != 0; left -= given)
            given = give_left_over(split);
    }
}

// The last granule, where it is short, fits where a whole one does not: behind all other items.
static bool take_short(struct split *split, uint64_t weightless)
{
    for (uint32_t i = split->count; i-- > 0;) {
        uint64_t items = (split->granules[i] + 1) * split->granularity - split->short_by;
        if ((weightless >> i & 1) == 0 && items <= split->most[i]) {
            ++split->granules[i];
            return true;
        }
        if (split->granules[i] != 0)
            return false;
    }
    return false;
}

static void place(const struct split *split, uint64_t items, slr_part *out)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < split->count; ++i) {
        uint64_t left = items - at, most = split->granules[i] * split->granularity;
        if (split->granules[i] > left / split->granularity) // with the last granule; also no overflow
            most = left;
        out[i] = (slr_part){.device = i, .offset = at, .items = most};
        at += most;
    }
}

slr_status slri_split(const uint64_t *weights, const uint64_t *most, uint32_t count, uint64_t items,
                      uint64_t granularity, slr_part *out)
{
    struct split split = {.most = most, .count = count, .granularity = granularity};
    uint64_t granules = items / granularity + (items % granularity != 0), weightless = 0;
    bool any = false;
    for (uint32_t i = 0; i < count; ++i)
        any |= weights[i] != 0;
    for (uint32_t i = 0; i < count; ++i) {
        split.weight[i] = any ? weights[i] : 1;
        weightless |= (uint64_t)(split.weight[i] == 0) << i;
    }
    split.short_by = items % granularity != 0 ? granularity - items % granularity : 0;
    uint64_t left = share_out(&split, granules);
    if (left == 1 && split.short_by != 0 && take_short(&split, weightless))
        left = 0;
    if (left != 0)
        return SLRI_FAIL(NO_MEMORY,
                         "the limits of the devices leave no room for %llu of %llu items: raise them, or add a device",
                         (unsigned long long)(left * granularity - split.short_by), (unsigned long long)items);
    place(&split, items, out);
    return SLR_OK;
}

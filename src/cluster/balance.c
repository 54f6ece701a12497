// SPDX-License-Identifier: Apache-2.0
// Who gets how much: the weights, and the limits.
#include "base/sized.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "device/kernel.h"

#include <string.h>

// A rate is a weight in so many bits.
#define RATE_BITS 40

struct weights {
    uint64_t weight[SLR_CLUSTER_MOST_DEVICES], most[SLR_CLUSTER_MOST_DEVICES];
};

// ---- what was measured ---------------------------------------------------------------------------------------------

struct slri_cluster_rates *slri_cluster_find_rates(slr_cluster *cluster, const slr_kernel *kernel)
{
    struct slri_cluster_rates *rates = cluster->rates;
    while (rates && rates->kernel != kernel)
        rates = rates->next;
    return rates;
}

// The mean of the first parts; then each new part counts for a quarter: a part that something disturbed changes the
// shares little, and a device that has become slower is known after a few.
#define MOST_PARTS 4

void slri_cluster_note_rate(struct slri_cluster_rates *rates, uint32_t index, uint64_t items, uint64_t duration_ns)
{
    struct slri_cluster_rate *rate = &rates->rate[index];
    double measured = (double)items * 1e9 / (double)(duration_ns ? duration_ns : 1);
    rate->parts += rate->parts < MOST_PARTS;
    rate->items_per_second += (measured - rate->items_per_second) / (double)rate->parts;
}

// A device that has not been measured counts as the mean of the others.
static void weigh_rates(const slr_cluster *cluster, const struct slri_cluster_rates *rates, struct weights *out)
{
    double sum = 0, most = 0;
    uint32_t measured = 0;
    for (uint32_t i = 0; rates && i < cluster->count; ++i) {
        double rate = rates->rate[i].items_per_second;
        sum += rate;
        measured += rate > 0;
        most = rate > most ? rate : most;
    }
    for (uint32_t i = 0; i < cluster->count; ++i) {
        double known = measured != 0 ? rates->rate[i].items_per_second : 1;
        double rate = known > 0 ? known : sum / measured;
        double share = rate / (measured == 0 ? 1 : most) * (double)(UINT64_C(1) << RATE_BITS);
        out->weight[i] = share >= 1 ? (uint64_t)share : 1;
    }
}

// ---- memory --------------------------------------------------------------------------------------------------------

static uint64_t free_memory(slr_device *device)
{
    slr_device_info info;
    slr_heap_stats heap;
    if (slr_device_get_info(device, &info) != SLR_OK || slr_heap_get_stats(device->heap, &heap) != SLR_OK)
        return 0;
    uint64_t most = info.memory_bytes < heap.max_bytes ? info.memory_bytes : heap.max_bytes;
    return most > heap.live_bytes ? most - heap.live_bytes : 0;
}

static void limit(const slr_cluster *cluster, const slr_balance_desc *desc, struct weights *out)
{
    for (uint32_t i = 0; i < cluster->count; ++i) {
        uint64_t most = desc->most ? desc->most[i] : UINT64_MAX;
        uint64_t room = desc->item_bytes ? free_memory(cluster->device[i].device) / desc->item_bytes : UINT64_MAX;
        out->most[i] = most < room ? most : room;
    }
}

// ---- the kinds -----------------------------------------------------------------------------------------------------

// Each device gets as much as lifts it to the level that all can reach together: so many items in flight, `pending`
// with the new ones. The weights are the shares themselves.
static void weigh_load(const slr_cluster *cluster, uint64_t items, struct weights *out)
{
    uint64_t low = 0, high = UINT64_MAX;
    while (low < high) { // the highest level that needs no more items than there are
        uint64_t level = low + (high - low) / 2 + 1, need = 0;
        for (uint32_t i = 0; i < cluster->count && need <= items; ++i) {
            uint64_t pending = cluster->device[i].stats.pending_items;
            uint64_t mine = level > pending && !cluster->device[i].is_lost ? level - pending : 0;
            need = mine > UINT64_MAX - need ? UINT64_MAX : need + mine;
        }
        if (need <= items)
            low = level;
        else
            high = level - 1;
    }
    uint64_t given = 0;
    for (uint32_t i = 0; i < cluster->count; ++i) {
        uint64_t pending = cluster->device[i].stats.pending_items;
        out->weight[i] = low > pending ? low - pending : 0;
        given += out->weight[i];
    }
    for (uint32_t i = 0; i < cluster->count && given < items; ++i) // fewer than there are devices
        if (cluster->device[i].stats.pending_items <= low && !cluster->device[i].is_lost) {
            ++out->weight[i];
            ++given;
        }
}

// Equal shares, and to each whose turn it is one granule more.
static void weigh_turns(slr_cluster *cluster, uint64_t granules, struct weights *out)
{
    uint32_t count = cluster->count;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t turn = (i + count - cluster->next % count) % count;
        out->weight[i] = granules / count + (turn < granules % count);
    }
    cluster->next = (cluster->next + (uint32_t)(granules % count)) % count;
}

static slr_status weigh(slr_cluster *cluster, uint64_t items, slr_balance balance, const slr_balance_desc *desc,
                        struct weights *out)
{
    uint64_t granules = items / desc->granularity + (items % desc->granularity != 0);
    switch (balance) {
    case SLR_BALANCE_THROUGHPUT:
        weigh_rates(cluster, desc->kernels ? slri_cluster_find_rates(cluster, desc->kernels[0]) : cluster->last, out);
        return SLR_OK;
    case SLR_BALANCE_MEMORY:
        for (uint32_t i = 0; i < cluster->count; ++i)
            out->weight[i] = free_memory(cluster->device[i].device);
        return SLR_OK;
    case SLR_BALANCE_ROUND_ROBIN:
        weigh_turns(cluster, granules, out);
        return SLR_OK;
    case SLR_BALANCE_LEAST_LOADED:
        weigh_load(cluster, items, out);
        return SLR_OK;
    case SLR_BALANCE_GIVEN:
        if (!desc->weights)
            return SLRI_FAIL(INVALID, "slr_cluster_balance: SLR_BALANCE_GIVEN needs slr_balance_desc.weights");
        memcpy(out->weight, desc->weights, cluster->count * sizeof *out->weight);
        return SLR_OK;
    default:
        return SLRI_FAIL(INVALID, "slr_cluster_balance: balance %d; expected 1 to %d", (int)balance, SLR_BALANCE_GIVEN);
    }
}

// A lost device gets nothing, also where all weights are zero and would count as equal.
static void leave_out_lost(const slr_cluster *cluster, struct weights *weights)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < cluster->count; ++i)
        any |= cluster->device[i].is_lost ? 0 : weights->weight[i];
    for (uint32_t i = 0; i < cluster->count; ++i) {
        if (cluster->device[i].is_lost)
            weights->most[i] = weights->weight[i] = 0;
        else if (any == 0)
            weights->weight[i] = 1;
    }
}

slr_status slr_cluster_balance(slr_cluster *cluster, uint64_t items, slr_balance balance, const slr_balance_desc *desc,
                               slr_part *out)
{
    slr_balance_desc whole;
    struct weights weights;
    if (!cluster || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_balance: %s is NULL", cluster ? "out" : "cluster");
    SLRI_TRY(SLRI_TAKE_DESC(slr_balance_desc, &whole, desc));
    whole.granularity = whole.granularity ? whole.granularity : 1;
    limit(cluster, &whole, &weights);
    slri_mutex_lock(&cluster->lock);
    slr_status status = weigh(cluster, items, balance, &whole, &weights);
    if (status == SLR_OK)
        leave_out_lost(cluster, &weights);
    slri_mutex_unlock(&cluster->lock);
    SLRI_TRY(status);
    return slri_split(weights.weight, weights.most, cluster->count, items, whole.granularity, out);
}

slr_status slri_cluster_share_rest(slr_cluster *cluster, const struct slri_cluster_rates *rates, uint64_t items,
                                   slr_part *out)
{
    struct weights weights;
    limit(cluster, &(slr_balance_desc){0}, &weights);
    slri_mutex_lock(&cluster->lock);
    weigh_rates(cluster, rates, &weights);
    leave_out_lost(cluster, &weights);
    slri_mutex_unlock(&cluster->lock);
    return slri_split(weights.weight, weights.most, cluster->count, items, 1, out);
}

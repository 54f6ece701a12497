// SPDX-License-Identifier: Apache-2.0
// Making a cluster, and its end.
#include "cluster/cluster.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/sized.h"
#include "base/status.h"
#include "cluster/launch.h"
#include "device/kernel.h"

#include <string.h>

static size_t cluster_bytes(uint32_t count)
{
    return sizeof(slr_cluster) + count * sizeof(struct slri_cluster_device);
}

static void free_rates(slr_cluster *cluster)
{
    while (cluster->rates) {
        struct slri_cluster_rates *rates = cluster->rates;
        cluster->rates = rates->next;
        slri_kernel_release(rates->kernel);
        slri_free(NULL, rates, sizeof *rates + cluster->count * sizeof *rates->rate);
    }
}

// Of one that may not have all its streams. The devices stay open.
static void take_cluster_apart(slr_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->count; ++i)
        slr_stream_destroy(cluster->device[i].stream);
    slr_stream_destroy(cluster->join);
    free_rates(cluster);
    slri_mutex_destroy(&cluster->lock);
    slri_free(NULL, cluster, cluster_bytes(cluster->count));
}

static slr_status check_devices(slr_device *const *devices, uint32_t count)
{
    if (count == 0 || count > SLR_CLUSTER_MOST_DEVICES)
        return SLRI_FAIL(INVALID, "slr_cluster_create: %u devices; expected 1 to %d", count, SLR_CLUSTER_MOST_DEVICES);
    for (uint32_t i = 0; i < count; ++i) {
        if (!devices[i])
            return SLRI_FAIL(INVALID, "slr_cluster_create: device %u is NULL", i);
        for (uint32_t k = 0; k < i; ++k)
            if (devices[k] == devices[i])
                return SLRI_FAIL(INVALID, "slr_cluster_create: devices %u and %u are the same", k, i);
    }
    return SLR_OK;
}

slr_status slr_cluster_create(slr_device *const *devices, uint32_t count, slr_cluster **out)
{
    if (!devices || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_create: %s is NULL", devices ? "out" : "devices");
    SLRI_TRY(check_devices(devices, count));
    slr_cluster *cluster = slri_alloc(NULL, cluster_bytes(count));
    if (!cluster)
        return SLRI_FAIL(NO_MEMORY, "no memory for a cluster of %u devices", count);
    cluster->count = count;
    cluster->failed = (struct slri_link){&cluster->failed, &cluster->failed};
    slri_mutex_init(&cluster->lock);
    slr_status status = slr_stream_create(devices[0], NULL, &cluster->join);
    for (uint32_t i = 0; i < count && status == SLR_OK; ++i) {
        cluster->device[i].device = devices[i];
        status = slr_stream_create(devices[i], NULL, &cluster->device[i].stream);
    }
    if (status == SLR_OK)
        *out = cluster;
    else
        take_cluster_apart(cluster);
    return status;
}

void slri_cluster_own(slr_cluster *cluster)
{
    cluster->owns = true;
}

void slr_cluster_destroy(slr_cluster *cluster)
{
    if (!cluster)
        return;
    for (uint32_t i = 0; i < cluster->count; ++i)
        (void)slr_stream_finish(cluster->device[i].stream,
                                SLRI_FOREVER); // its failure was of a launch, which is given up
    (void)slr_stream_finish(cluster->join, SLRI_FOREVER);
    slri_cluster_drop_failed(cluster);
    slr_device *devices[SLR_CLUSTER_MOST_DEVICES];
    uint32_t owned = cluster->owns ? cluster->count : 0;
    for (uint32_t i = 0; i < owned; ++i)
        devices[i] = cluster->device[i].device;
    take_cluster_apart(cluster);
    for (uint32_t i = 0; i < owned; ++i)
        slr_device_close(devices[i]);
}

// ---- what it is ----------------------------------------------------------------------------------------------------

uint32_t slr_cluster_size(const slr_cluster *cluster)
{
    return cluster ? cluster->count : 0;
}

static slr_status check_index(const slr_cluster *cluster, uint32_t index, const void *out, const char *call)
{
    if (!cluster || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, cluster ? "out" : "cluster");
    if (index >= cluster->count)
        return SLRI_FAIL(NOT_FOUND, "%s: device %u of a cluster of %u", call, index, cluster->count);
    return SLR_OK;
}

slr_status slr_cluster_get_device(const slr_cluster *cluster, uint32_t index, slr_device **out)
{
    SLRI_TRY(check_index(cluster, index, out, "slr_cluster_get_device"));
    *out = cluster->device[index].device;
    return SLR_OK;
}

slr_status slr_cluster_get_stats_sized(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out, size_t bytes)
{
    SLRI_TRY(check_index(cluster, index, out, "slr_cluster_get_stats"));
    slri_mutex_lock(&cluster->lock);
    slr_cluster_stats whole = cluster->device[index].stats;
    whole.items_per_second = cluster->last ? cluster->last->rate[index].items_per_second : 0;
    slri_mutex_unlock(&cluster->lock);
    return SLRI_GIVE_REPORT(slr_cluster_stats, out, bytes, &whole);
}

slr_status(slr_cluster_get_stats)(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out)
{
    return slr_cluster_get_stats_sized(cluster, index, out, SLRI_FIRST_slr_cluster_stats);
}

// SPDX-License-Identifier: Apache-2.0
// Waiting for the launches of a cluster. What a lost device has not done is shared out among the others.
#include "base/clock.h"
#include "base/status.h"
#include "cluster/launch.h"
#include "device/peer.h"
#include "engine/loss.h"

#include <stdio.h>

// ---- streams -------------------------------------------------------------------------------------------------------

static slr_status say_whose(const struct slri_cluster_device *of, uint32_t index, slr_status status)
{
    char why[400];
    snprintf(why, sizeof why, "%s", slr_error_message());
    return slri_fail(status, "device %u of the cluster (%s): %s", index, of->device->facts.identity.device, why);
}

static void look_if_lost(slr_cluster *cluster, struct slri_cluster_device *of)
{
    const struct slri_loss *loss = of->device->facts.loss;
    bool is_lost = loss && slri_is_lost(loss);
    slri_mutex_lock(&cluster->lock);
    of->is_lost = is_lost;
    slri_mutex_unlock(&cluster->lock);
}

// Waits for one device's parts. Its failure is then over for the stream: the launch is in the list of failed ones.
static slr_status finish_device(slr_cluster *cluster, uint32_t index, uint64_t deadline_ns)
{
    struct slri_cluster_device *of = &cluster->device[index];
    slr_point point;
    SLRI_TRY(slr_stream_signal(of->stream, &point));
    slr_status status = slri_queue_wait(&of->stream->queue, point.value, deadline_ns);
    look_if_lost(cluster, of);
    if (status == SLR_OK || status == SLR_TIMEOUT)
        return status;
    (void)say_whose(of, index, status);
    (void)slr_stream_recover(of->stream);
    return of->is_lost ? SLR_OK : status; // a lost one's parts are looked at below
}

// All of them, also behind a failure; gives the first.
static slr_status finish_streams(slr_cluster *cluster, uint64_t deadline_ns)
{
    slr_status first = SLR_OK;
    char why[512] = "";
    for (uint32_t i = 0; i < cluster->count; ++i) {
        slr_status status = finish_device(cluster, i, deadline_ns);
        if (status == SLR_TIMEOUT)
            return status;
        if (status != SLR_OK && first == SLR_OK) {
            first = status;
            snprintf(why, sizeof why, "%s", slr_error_message());
        }
    }
    (void)slr_stream_recover(cluster->join);
    return first == SLR_OK ? SLR_OK : slri_fail(first, "%s", why);
}

// ---- what was lost -------------------------------------------------------------------------------------------------

static struct slri_cluster_launch *take_failed(slr_cluster *cluster)
{
    slri_mutex_lock(&cluster->lock);
    struct slri_link *link = slri_links_first(&cluster->failed);
    if (link)
        slri_unlink(link);
    slri_mutex_unlock(&cluster->lock);
    return link ? SLRI_LINKED(struct slri_cluster_launch, in_failed, link) : NULL;
}

static slr_status share_again(struct slri_cluster_launch *launch, uint32_t index)
{
    slr_cluster *cluster = launch->cluster;
    const slr_part *lost = &launch->run[index].part;
    slr_part parts[SLR_CLUSTER_MOST_DEVICES];
    for (uint32_t k = 0; k < launch->args; ++k) // what could not go home has failed there, too
        if (slri_cluster_is_buffer(&launch->arg[k]))
            slri_peer_recover(launch->arg[k].value.buffer->device);
    slri_mutex_lock(&cluster->lock);
    cluster->device[index].stats.lost_items += lost->items;
    slri_mutex_unlock(&cluster->lock);
    if (slri_cluster_share_rest(launch->cluster, launch->rates, lost->items, parts) != SLR_OK)
        return SLRI_FAIL(DEVICE_LOST,
                         "items %llu to %llu were lost with device %u (%s), and no device is left for them",
                         (unsigned long long)lost->offset, (unsigned long long)(lost->offset + lost->items), index,
                         cluster->device[index].device->facts.identity.device);
    for (uint32_t i = 0; i < cluster->count; ++i)
        parts[i].offset += lost->offset;
    return slri_cluster_launch_again(launch, parts);
}

// The lost parts of one launch. Where another part has failed by itself, that was reported, and all is given up.
static slr_status do_again(struct slri_cluster_launch *launch)
{
    const slr_cluster *cluster = launch->cluster;
    for (uint32_t i = 0; i < cluster->count; ++i)
        if (launch->run[i].status != SLR_OK && !cluster->device[i].is_lost)
            return SLR_OK;
    for (uint32_t i = 0; i < cluster->count; ++i)
        if (launch->run[i].status != SLR_OK)
            SLRI_TRY(share_again(launch, i));
    return SLR_OK;
}

void slri_cluster_drop_failed(slr_cluster *cluster)
{
    for (struct slri_cluster_launch *launch; (launch = take_failed(cluster)) != NULL;)
        slri_cluster_free_launch(launch);
}

slr_status slr_cluster_finish(slr_cluster *cluster, uint64_t timeout_ns)
{
    if (!cluster)
        return SLRI_FAIL(INVALID, "slr_cluster_finish: cluster is NULL");
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    slr_status status = finish_streams(cluster, deadline_ns);
    for (struct slri_cluster_launch *launch; status == SLR_OK && (launch = take_failed(cluster)) != NULL;) {
        status = do_again(launch);
        slri_cluster_free_launch(launch);
        if (status == SLR_OK)
            status = finish_streams(cluster, deadline_ns); // which may lose another device
    }
    if (status != SLR_OK && status != SLR_TIMEOUT)
        slri_cluster_drop_failed(cluster);
    return status;
}

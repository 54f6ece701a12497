// SPDX-License-Identifier: Apache-2.0
// One ring kernel a device, as one.
#include "cluster/ring.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/key_hash.h"
#include "base/sized.h"
#include "base/status.h"

#include <string.h>

#define KEYED_INSTANCES 65536u // slr_ring_desc.instances, where nothing is said

static size_t ring_bytes(uint32_t count)
{
    return sizeof(slr_cluster_ring) + count * sizeof(struct slri_cluster_ring_part);
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status share_instances(slr_cluster_ring *ring)
{
    const uint64_t equal[SLR_CLUSTER_MOST_DEVICES] = {0};
    slr_part parts[SLR_CLUSTER_MOST_DEVICES];
    if (ring->instances < ring->count)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_create: %u instances on %u devices: each must have one",
                         ring->instances, ring->count);
    SLRI_TRY(slri_split(equal, NULL, ring->count, ring->instances, 1, parts));
    for (uint32_t i = 0; i < ring->count; ++i) {
        ring->part[i].first = (uint32_t)parts[i].offset;
        ring->part[i].instances = (uint32_t)parts[i].items;
    }
    return SLR_OK;
}

static slr_status make_part(slr_cluster_ring *ring, uint32_t index, const slr_ring_desc *whole, slr_program *program)
{
    struct slri_cluster_ring_part *part = &ring->part[index];
    slr_ring_desc desc = *whole;
    desc.program = program;
    desc.instances = part->instances;
    SLRI_TRY(slr_ring_create(ring->cluster->device[index].device, &desc, &part->ring));
    SLRI_TRY(slr_ring_launch(part->ring));
    return slr_ring_get_address(part->ring, 0, &part->address);
}

slr_status slr_cluster_ring_create(slr_cluster *cluster, const slr_ring_desc *desc, slr_program *const *programs,
                                   slr_cluster_ring **out)
{
    slr_ring_desc whole;
    if (!cluster || !desc || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_create: %s is NULL", !cluster ? "cluster" : !desc ? "desc" : "out");
    SLRI_TRY(SLRI_TAKE_DESC(slr_ring_desc, &whole, desc));
    slr_cluster_ring *ring = slri_alloc(NULL, ring_bytes(cluster->count));
    if (!ring)
        return SLRI_FAIL(NO_MEMORY, "no memory for a ring kernel on %u devices", cluster->count);
    ring->cluster = cluster;
    ring->count = cluster->count;
    ring->keys = whole.keys;
    ring->instances = whole.instances ? whole.instances : whole.keys ? KEYED_INSTANCES : ring->count;
    slr_status status = share_instances(ring);
    for (uint32_t i = 0; i < ring->count && status == SLR_OK; ++i)
        status = make_part(ring, i, &whole, programs ? programs[i] : NULL);
    if (status == SLR_OK)
        *out = ring;
    else
        slr_cluster_ring_destroy(ring);
    return status;
}

void slr_cluster_ring_destroy(slr_cluster_ring *ring)
{
    if (!ring)
        return;
    for (uint32_t i = 0; i < ring->count; ++i)
        slr_ring_destroy(ring->part[i].ring);
    slri_free(NULL, ring, ring_bytes(ring->count));
}

static uint64_t time_left(uint64_t deadline_ns)
{
    uint64_t now_ns = deadline_ns == SLRI_FOREVER || deadline_ns == 0 ? 0 : slri_now_ns();
    return deadline_ns > now_ns ? deadline_ns - now_ns : 0;
}

slr_status slr_cluster_ring_activate(slr_cluster_ring *ring, uint64_t timeout_ns)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_activate: ring is NULL");
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    for (uint32_t i = 0; i < ring->count; ++i)
        SLRI_TRY(slr_ring_activate(ring->part[i].ring, time_left(deadline_ns)));
    return SLR_OK;
}

slr_status slr_cluster_ring_drain(slr_cluster_ring *ring, uint64_t timeout_ns)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_drain: ring is NULL");
    uint64_t deadline_ns = slri_deadline_after(timeout_ns);
    for (uint32_t i = 0; i < ring->count; ++i)
        if (slr_ring_get_state(ring->part[i].ring) < SLR_RING_DRAINING)
            SLRI_TRY(slr_ring_close_input(ring->part[i].ring));
    for (uint32_t i = 0; i < ring->count; ++i)
        SLRI_TRY(slr_ring_wait(ring->part[i].ring, SLR_RING_TERMINATED, time_left(deadline_ns)));
    return SLR_OK;
}

// ---- counts --------------------------------------------------------------------------------------------------------

static void add_text(char *to, const char *from, size_t bytes)
{
    if (*to == '\0')
        memcpy(to, from, bytes);
}

static void add(slr_ring_stats *sum, const slr_ring_stats *one)
{
    uint64_t *const to[] = {&sum->accepted,    &sum->handled,        &sum->faulted,        &sum->dropped,
                            &sum->undelivered, &sum->in_doubt,       &sum->pending,        &sum->refused,
                            &sum->replied,     &sum->dropped_oldest, &sum->dropped_lowest, &sum->dead_letters_lost,
                            &sum->keys,        &sum->evicted,        &sum->failures,       &sum->restarts,
                            &sum->routed,      &sum->unrouted,       &sum->redelivered,    &sum->records_dropped,
                            &sum->printed,     &sum->prints_lost};
    const uint64_t from[] = {one->accepted,    one->handled,        one->faulted,        one->dropped,
                             one->undelivered, one->in_doubt,       one->pending,        one->refused,
                             one->replied,     one->dropped_oldest, one->dropped_lowest, one->dead_letters_lost,
                             one->keys,        one->evicted,        one->failures,       one->restarts,
                             one->routed,      one->unrouted,       one->redelivered,    one->records_dropped,
                             one->printed,     one->prints_lost};
    for (size_t i = 0; i < sizeof from / sizeof *from; ++i)
        *to[i] += from[i];
    if (*sum->first_fault == '\0') {
        sum->first_fault_ns = one->first_fault_ns;
        sum->first_fault_instance = one->first_fault_instance;
        sum->first_fault_message = one->first_fault_message;
    }
    add_text(sum->last_fault, one->last_fault, sizeof sum->last_fault);
    add_text(sum->first_fault, one->first_fault, sizeof sum->first_fault);
    add_text(sum->last_failure, one->last_failure, sizeof sum->last_failure);
    add_text(sum->mode_reason, one->mode_reason, sizeof sum->mode_reason);
    sum->running_ns = one->running_ns > sum->running_ns ? one->running_ns : sum->running_ns;
    bool failed = sum->state == SLR_RING_IN_FAILURE || one->state == SLR_RING_IN_FAILURE;
    sum->state = failed ? SLR_RING_IN_FAILURE : one->state < sum->state ? one->state : sum->state;
}

slr_status slr_cluster_ring_get_stats_sized(slr_cluster_ring *ring, slr_ring_stats *out, size_t bytes)
{
    slr_ring_stats sum = {.state = SLR_RING_TERMINATED}, one;
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_get_stats: %s is NULL", ring ? "out" : "ring");
    for (uint32_t i = 0; i < ring->count; ++i) {
        SLRI_TRY(slr_ring_get_stats(ring->part[i].ring, &one));
        if (i == 0)
            sum.mode = one.mode;
        add(&sum, &one);
    }
    return SLRI_GIVE_REPORT(slr_ring_stats, out, bytes, &sum);
}

slr_status(slr_cluster_ring_get_stats)(slr_cluster_ring *ring, slr_ring_stats *out)
{
    return slr_cluster_ring_get_stats_sized(ring, out, SLRI_FIRST_slr_ring_stats);
}

// ---- who owns what -------------------------------------------------------------------------------------------------

slr_status slr_cluster_ring_get(const slr_cluster_ring *ring, uint32_t index, slr_ring **out)
{
    if (!ring || !out)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_get: %s is NULL", ring ? "out" : "ring");
    if (index >= ring->count)
        return SLRI_FAIL(NOT_FOUND, "slr_cluster_ring_get: device %u of a cluster of %u", index, ring->count);
    *out = ring->part[index].ring;
    return SLR_OK;
}

slr_status slr_cluster_ring_find(const slr_cluster_ring *ring, uint32_t instance, uint32_t *device, uint32_t *local)
{
    if (!ring)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_find: ring is NULL");
    if (ring->keys)
        return SLRI_FAIL(INVALID, "the ring kernel has keys: instances are found by slr_cluster_ring_find_key");
    if (instance >= ring->instances)
        return SLRI_FAIL(INVALID, "instance %u of %u on %u devices", instance, ring->instances, ring->count);
    // Parts differ by one at most: the owner is near where equal parts would have it.
    uint32_t i = (uint32_t)((uint64_t)instance * ring->count / ring->instances);
    while (instance < ring->part[i].first)
        --i;
    while (instance - ring->part[i].first >= ring->part[i].instances)
        ++i;
    if (device)
        *device = i;
    if (local)
        *local = instance - ring->part[i].first;
    return SLR_OK;
}

// No secret: who sends elsewhere must find the same device. A device's own table has its own.
slr_status slr_cluster_ring_find_key(const slr_cluster_ring *ring, slr_key key, uint32_t *device)
{
    static const struct slri_key_secret known = {{0}};
    if (!ring || !device)
        return SLRI_FAIL(INVALID, "slr_cluster_ring_find_key: %s is NULL", ring ? "device" : "ring");
    if (!ring->keys)
        return SLRI_FAIL(INVALID, "the ring kernel has no keys: its instances are found by slr_cluster_ring_find");
    uint64_t hash = key.text ? slri_key_hash_bytes(&known, key.text, key.bytes) : slri_key_hash_u64(&known, key.number);
    *device = (uint32_t)(hash % ring->count);
    return SLR_OK;
}

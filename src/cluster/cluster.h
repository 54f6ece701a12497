// SPDX-License-Identifier: Apache-2.0
// A cluster, for the files of this folder.
#ifndef SLRI_CLUSTER_CLUSTER_H
#define SLRI_CLUSTER_CLUSTER_H

#include "base/links.h"
#include "base/thread.h"
#include "device/device.h"

#include <slipring/cluster.h>

struct slri_cluster_device {
    slr_device *device;
    slr_stream *stream; // the cluster's own
    // Under the cluster's lock.
    slr_cluster_stats stats; // but for its rate
    bool is_lost;            // it gets no more items
};

// Items a second of one kernel on a device, and of how many parts that is the mean.
struct slri_cluster_rate {
    double items_per_second; // 0: not measured yet
    uint64_t parts;
};

// Those of all devices. Under the cluster's lock.
struct slri_cluster_rates {
    struct slri_cluster_rates *next;
    slr_kernel *kernel; // of the first device; held, so that no other gets its address
    struct slri_cluster_rate rate[];
};

struct slr_cluster {
    uint32_t count;
    uint32_t next;    // of round robin: who gets the next item that is left over; under the lock
    bool owns;        // the devices
    slr_stream *join; // of the first device: for points behind all devices' parts
    slri_mutex lock;
    struct slri_cluster_rates *rates, *last; // of all kernels; of those launched last
    struct slri_link failed;                 // launches with parts that were not done
    struct slri_cluster_device device[];
};

// cluster.c: the devices are closed with it.
void slri_cluster_own(slr_cluster *cluster);

// split.c: shares `items` out by weights, with at most `most[i]` items each (NULL: no limits). Errors: NO_MEMORY.
slr_status slri_split(const uint64_t *weights, const uint64_t *most, uint32_t count, uint64_t items,
                      uint64_t granularity, slr_part *out);

// balance.c: shares out what a lost device had, among the others. Errors: NO_MEMORY (there is none).
slr_status slri_cluster_share_rest(slr_cluster *cluster, const struct slri_cluster_rates *rates, uint64_t items,
                                   slr_part *out);

// Under the lock: the record of a kernel's rates; NULL: there is none.
struct slri_cluster_rates *slri_cluster_find_rates(slr_cluster *cluster, const slr_kernel *kernel);
// Notes that a device has done so many items in that time.
void slri_cluster_note_rate(struct slri_cluster_rates *rates, uint32_t index, uint64_t items, uint64_t duration_ns);

#endif

// SPDX-License-Identifier: Apache-2.0
// A launch over the devices of a cluster.
#ifndef SLRI_CLUSTER_LAUNCH_H
#define SLRI_CLUSTER_LAUNCH_H

#include "cluster/cluster.h"

#include <stddef.h>

struct slri_cluster_launch;

struct slri_cluster_run { // the part of one device
    struct slri_cluster_launch *launch;
    slr_part part;
    uint64_t begin_ns, end_ns;
    slr_status status;
};

// What it is made of, held until all parts are done, because a part may have to be done again.
struct slri_cluster_launch {
    struct slri_link in_failed;
    slr_cluster *cluster;
    struct slri_cluster_rates *rates;
    size_t bytes;
    uint32_t remaining, args; // parts that are not done; under the cluster's lock
    slr_kernel **kernel;
    slr_arg *arg;
    struct slri_cluster_run run[];
};

static inline bool slri_cluster_is_buffer(const slr_arg *arg)
{
    return (arg->kind == SLR_ARG_BUFFER || arg->kind == SLR_ARG_SPLIT) && arg->value.buffer;
}

// launch.c: launches the parts, which have been checked. `like`: a launch with the same kernels and arguments.
slr_status slri_cluster_launch_again(const struct slri_cluster_launch *like, const slr_part *parts);
void slri_cluster_free_launch(struct slri_cluster_launch *launch);

// finish.c: at the end: launches that have failed are given up.
void slri_cluster_drop_failed(slr_cluster *cluster);

#endif

// SPDX-License-Identifier: Apache-2.0
/// Clusters: several devices of one machine that share the items of a launch. Contract: docs/contract/cluster.md.
///
///     slr_cluster *cluster;
///     slr_cluster_create_named("cpu?threads=1,cpu?threads=1", NULL, &cluster);
///     slr_cluster_balance(cluster, n, SLR_BALANCE_THROUGHPUT, &desc, parts);
///     slr_arg args[] = {slr_arg_float(2), slr_arg_split(x, 0), slr_arg_split(y, 0), slr_arg_items()};
///     slr_cluster_launch(cluster, kernels, parts, args, 4, NULL);
///     slr_cluster_finish(cluster, timeout_ns);
#ifndef SLIPRING_CLUSTER_H
#define SLIPRING_CLUSTER_H

#include <slipring/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SLR_CLUSTER_MOST_DEVICES 64

typedef struct slr_cluster slr_cluster;

/// Makes a cluster of 1 to SLR_CLUSTER_MOST_DEVICES different devices. The devices remain the caller's. Close the
/// devices after slr_cluster_destroy.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the cluster: slr_cluster_destroy.
/// Errors: INVALID (NULL, count, a device twice), NO_MEMORY, SYSTEM.
SLR_API slr_status slr_cluster_create(slr_device *const *devices, uint32_t count, slr_cluster **out);

/// Opens the devices that `names` lists, and makes a cluster of them: "cpu?threads=1,cpu?threads=1,opencl:0". A name
/// that appears twice opens two devices. `desc` applies to each device, and may be NULL.
/// Threads: any.  Blocks: while backends start.
/// Owns: the caller gets the cluster: slr_cluster_destroy, which also closes the devices.
/// Errors: as slr_device_open and slr_cluster_create.
SLR_API slr_status slr_cluster_create_named(const char *names, const slr_device_desc *desc, slr_cluster **out);

/// Waits for the launches of the cluster, and releases the cluster. NULL does nothing.
/// Threads: any, once.  Blocks: until its launches have ended.
SLR_API void slr_cluster_destroy(slr_cluster *cluster);

/// The number of devices; 0 for NULL.
/// Threads: any.  Blocks: no.
SLR_API uint32_t slr_cluster_size(const slr_cluster *cluster);

/// Gives a device of the cluster by its index.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NOT_FOUND (index).
/// Owns: the device belongs to the cluster after slr_cluster_create_named, and to the program after slr_cluster_create.
SLR_API slr_status slr_cluster_get_device(const slr_cluster *cluster, uint32_t index, slr_device **out);

// ---- shares of the devices ----------------------------------------------------------------------------------------

/// The rule by which a cluster divides items among its devices.
typedef enum slr_balance {
    SLR_BALANCE_THROUGHPUT = 1, ///< by items per second, measured in earlier launches of the kernels; at first equal
    SLR_BALANCE_MEMORY,         ///< by the device's free memory for buffers
    SLR_BALANCE_ROUND_ROBIN,    ///< equal parts; in each call other devices get the remainder, in rotation
    SLR_BALANCE_LEAST_LOADED,   ///< afterwards all devices have as many items in flight, if possible
    SLR_BALANCE_GIVEN           ///< by slr_balance_desc.weights
} slr_balance;

/// Zero is the default in every field.
typedef struct slr_balance_desc {
    uint32_t struct_size;
    uint32_t reserved;       ///< ignored
    uint64_t granularity;    ///< all parts but the last are multiples of this number; default 1
    const uint64_t *weights; ///< for SLR_BALANCE_GIVEN, one per device; all zero: equal parts
    const uint64_t *most;    ///< maximum of items for each device; NULL: no limit
    uint64_t item_bytes;     ///< device memory per item: a part must fit into free memory. 0: no limit
    slr_kernel *const
        *kernels; ///< for SLR_BALANCE_THROUGHPUT: as in slr_cluster_launch; NULL: the kernels launched last
} slr_balance_desc;
#ifdef __cplusplus
static inline slr_balance_desc slr_balance_desc_init(void)
{
    slr_balance_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_BALANCE_DESC_INIT slr_balance_desc_init()
#else
#define SLR_BALANCE_DESC_INIT                                                                                          \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_balance_desc)                                                              \
    }
#endif

/// The items that one device gets.
typedef struct slr_part {
    uint32_t device; ///< the device's index in the cluster
    uint32_t reserved;
    uint64_t offset; ///< the part's first item
    uint64_t items;  ///< 0: nothing
} slr_part;

/// Divides `items` items among the devices. `out` gets one part for each device, in the order of the devices, without
/// gaps. Each part's exact size is rounded down. The items left over go to the parts with the largest remainders.
/// `desc` may be NULL, except for SLR_BALANCE_GIVEN.
///
/// Threads: any.  Blocks: no.
/// Errors: INVALID (NULL, an unknown balance, no weights), NO_MEMORY (the limits leave no room for some items: the
///   message says how many).
SLR_API slr_status slr_cluster_balance(slr_cluster *cluster, uint64_t items, slr_balance balance,
                                       const slr_balance_desc *desc, slr_part *out);

// ---- launches ------------------------------------------------------------------------------------------------------

/// A buffer that is divided: each device gets its part, and the kernel's pointer points to the part's first item. If
/// `item_bytes` is 0, an item is one element of the parameter.
static inline slr_arg slr_arg_split(slr_buffer *buffer, uint32_t item_bytes)
{
    slr_arg arg = {SLR_ARG_SPLIT, item_bytes, {0}};
    arg.value.buffer = buffer;
    return arg;
}

/// The number of items in the device's part.
static inline slr_arg slr_arg_items(void)
{
    slr_arg arg = {SLR_ARG_ITEMS, 8, {0}};
    return arg;
}

/// The index of the first item in the device's part.
static inline slr_arg slr_arg_first(void)
{
    slr_arg arg = {SLR_ARG_FIRST, 8, {0}};
    return arg;
}

/// Launches a kernel on all devices at once, with one thread for each item, as SLR_1D. `kernels` holds the same kernel
/// for each device, from a program of that device. `parts` holds one part for each device. Buffers of slr_arg_split are
/// divided. All other buffers are passed whole, and only to parameters that the kernel does not write. Numbers are
/// copied. A buffer may belong to any device. slipring moves the bytes that another device needs to that device, and
/// moves written bytes back.
///
/// Only the thread of an item may read or write that item of a divided buffer. The point `out` (may be NULL) passes
/// when all parts have completed.
///
/// Threads: one at a time per cluster.  Blocks: while kernels are compiled, else no.
/// Owns: slipring holds buffers and kernels until the work ends; `kernels`, `parts` and `args` are copied.
/// Errors: as slr_launch; INVALID (a part outside a buffer; overlapping parts; a parameter that is written and whose
///   buffer is not split: the message names the parameter).
SLR_API slr_status slr_cluster_launch(slr_cluster *cluster, slr_kernel *const *kernels, const slr_part *parts,
                                      const slr_arg *args, uint32_t arg_count, slr_point *out);

/// Waits for all launches. If a device was lost, the other devices do its unfinished parts again. The lost device's
/// results of these parts reach no buffer, so each part takes effect once. A lost device gets no more items.
/// Threads: one at a time per cluster.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, DEVICE_LOST (no device is left for the lost items, or a buffer was lost), or the first failure of a
///   part, with its device's name.
SLR_API slr_status slr_cluster_finish(slr_cluster *cluster, uint64_t timeout_ns);

/// Counts of one device of a cluster.
typedef struct slr_cluster_stats {
    uint64_t parts;          ///< parts that the device has completed
    uint64_t items;          ///< items of those parts
    uint64_t pending_items;  ///< items launched and not completed
    uint64_t busy_ns;        ///< total time from the begin to the end of each part
    uint64_t idle_ns;        ///< total time from the end of each part to the end of the launch's last part
    uint64_t lost_items;     ///< items of its lost parts; another device does these items again, and counts them
    double items_per_second; ///< measured with the kernels launched last, for SLR_BALANCE_THROUGHPUT; 0: not yet
} slr_cluster_stats;

/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NOT_FOUND (index).
SLR_API slr_status slr_cluster_get_stats(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out);

/// The macro slr_cluster_get_stats calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_cluster_get_stats_sized(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out,
                                               size_t bytes);
#define slr_cluster_get_stats(cluster, index, out)                                                                     \
    slr_cluster_get_stats_sized((cluster), (index), (out), sizeof(slr_cluster_stats))

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// A cluster is several devices of one machine that share the items of a launch; each item, such as an element, is the
/// work of one thread. Contract: docs/contract/cluster.md.
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

/// Makes a cluster of 1 to SLR_CLUSTER_MOST_DEVICES different devices. The program still owns the devices of the
/// cluster. The program must close the devices itself, and only after slr_cluster_destroy.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the cluster, and frees it by slr_cluster_destroy.
/// Errors: INVALID (a NULL argument, a wrong count, a device that is given twice), NO_MEMORY, SYSTEM.
SLR_API slr_status slr_cluster_create(slr_device *const *devices, uint32_t count, slr_cluster **out);

/// Opens the devices that the text `names` lists, such as "cpu?threads=1,cpu?threads=1,opencl:0", and makes a cluster
/// of them. A name that appears twice in the list opens two devices. `desc` applies to each device; `desc` may be NULL.
/// Threads: any.  Blocks: while backends start.
/// Owns: the caller gets the cluster. slr_cluster_destroy frees the cluster and closes the devices.
/// Errors: those of slr_device_open and slr_cluster_create.
SLR_API slr_status slr_cluster_create_named(const char *names, const slr_device_desc *desc, slr_cluster **out);

/// Waits until the cluster's launches have completed, and releases the cluster. If `cluster` is NULL,
/// slr_cluster_destroy does nothing.
/// Threads: any, once for each cluster.  Blocks: until the cluster's launches have ended.
SLR_API void slr_cluster_destroy(slr_cluster *cluster);

/// Returns the number of devices in the cluster, or 0 if `cluster` is NULL.
/// Threads: any.  Blocks: no.
SLR_API uint32_t slr_cluster_size(const slr_cluster *cluster);

/// Gives the device with the index `index` in the cluster.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument), NOT_FOUND (no device has this index).
/// Owns: the cluster owns the devices that slr_cluster_create_named opened; the program owns the devices of
/// slr_cluster_create.
SLR_API slr_status slr_cluster_get_device(const slr_cluster *cluster, uint32_t index, slr_device **out);

// ---- shares of the devices ----------------------------------------------------------------------------------------

/// The enum slr_balance says how a cluster divides the items of a launch among its devices.
typedef enum slr_balance {
    /// Each device's part is in proportion to its items per second in earlier launches of the kernels. Before the first
    /// launch, the parts are equal.
    SLR_BALANCE_THROUGHPUT = 1,
    SLR_BALANCE_MEMORY, ///< in proportion to each device's free memory for buffers
    /// Equal parts; the items left over by the division go to other devices in each call, in turn.
    SLR_BALANCE_ROUND_ROBIN,
    SLR_BALANCE_LEAST_LOADED, ///< so that after the launch all devices have equally many uncompleted items, if possible
    SLR_BALANCE_GIVEN         ///< in proportion to slr_balance_desc.weights
} slr_balance;

/// slr_balance_desc has the options of slr_cluster_balance. A zero in any field of slr_balance_desc means the default.
typedef struct slr_balance_desc {
    uint32_t struct_size;
    uint32_t reserved;    ///< ignored
    uint64_t granularity; ///< the size of each part except the last is a multiple of this number of items; default 1
    /// For SLR_BALANCE_GIVEN: an array with a weight for each device; if all weights are zero, the parts are equal.
    const uint64_t *weights;
    const uint64_t *most; ///< an array with the largest number of items for each device; NULL: no limit
    uint64_t item_bytes;  ///< device memory for one item, in bytes: a device gets no more items than fit into its free
                          ///< memory. 0: no limit
    /// `kernels` is for SLR_BALANCE_THROUGHPUT: the kernels that slr_cluster_launch will get. If `kernels` is NULL,
    /// slr_cluster_balance takes the kernels that the cluster launched last.
    slr_kernel *const *kernels;
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

/// The struct slr_part says which range of a launch's items one device gets: the device's part.
typedef struct slr_part {
    uint32_t device; ///< the device's index in the cluster
    uint32_t reserved;
    uint64_t offset; ///< the index of the part's first item
    uint64_t items;  ///< the number of items in the part; 0: the device gets no items
} slr_part;

/// Divides `items` items among the devices of the cluster. `out` gets one part for each device, in the order of the
/// devices, and the parts have no gaps between them. The cluster computes each part's exact size, which may be a
/// fraction, and rounds this size down. The items that remain after the rounding go to the parts whose sizes lost the
/// largest fractions. `desc` may be NULL, except with SLR_BALANCE_GIVEN.
///
/// Threads: any.  Blocks: no.
/// Errors: INVALID (a NULL argument, an unknown balance, SLR_BALANCE_GIVEN without weights), NO_MEMORY (`most` and
///   `item_bytes` leave no room for some items: the error message has the number of these items).
SLR_API slr_status slr_cluster_balance(slr_cluster *cluster, uint64_t items, slr_balance balance,
                                       const slr_balance_desc *desc, slr_part *out);

// ---- launches ------------------------------------------------------------------------------------------------------

/// Makes an argument from a buffer that the cluster divides among its devices. Each device gets its part of the buffer,
/// and the kernel's pointer points to the part's first item. `item_bytes` is the size of one item; 0 means the size of
/// an element of the kernel's parameter.
static inline slr_arg slr_arg_split(slr_buffer *buffer, uint32_t item_bytes)
{
    slr_arg arg = {SLR_ARG_SPLIT, item_bytes, {0}};
    arg.value.buffer = buffer;
    return arg;
}

/// Makes an argument that passes the number of items in the device's part to the kernel.
static inline slr_arg slr_arg_items(void)
{
    slr_arg arg = {SLR_ARG_ITEMS, 8, {0}};
    return arg;
}

/// Makes an argument that passes the index of the first item in the device's part to the kernel.
static inline slr_arg slr_arg_first(void)
{
    slr_arg arg = {SLR_ARG_FIRST, 8, {0}};
    return arg;
}

/// Launches a kernel on all devices at once, with one thread for each item. On each device, the launch has the shape
/// SLR_1D(number of items in the device's part). `kernels` holds one kernel for each device: the same kernel, from a
/// program of that device. `parts` holds one part of the items for each device. The cluster divides the buffers that
/// slr_arg_split names. A buffer without slr_arg_split is passed whole, and the kernel must not write this buffer. Each
/// device gets a copy of every argument that is a number. A buffer may belong to any device. If a device needs bytes of
/// another device's buffer, slipring copies the bytes to that device before the launch. After the launch, slipring
/// copies to the buffer all bytes that the kernel may have written on that device.
///
/// In a divided buffer, only the thread of an item may read or write that item. `out` gets a point, on which a program
/// can wait until all parts of the launch have completed; `out` may be NULL.
///
/// Threads: one thread at a time for each cluster.  Blocks: only while slipring compiles the kernels.
/// Owns: slipring keeps buffers and kernels alive until the launch has completed, and copies `kernels`, `parts` and
/// `args`.
/// Errors: those of slr_launch; INVALID (a part outside a buffer; overlapping parts; the kernel writes a buffer that is
///   not divided: the error message names the parameter).
SLR_API slr_status slr_cluster_launch(slr_cluster *cluster, slr_kernel *const *kernels, const slr_part *parts,
                                      const slr_arg *args, uint32_t arg_count, slr_point *out);

/// Waits until all launches of the cluster have completed. If a device was lost, the other devices repeat the lost
/// device's unfinished parts. The results of the lost device's unfinished parts never reach a buffer, so each part
/// takes effect once. slipring gives no more items to a lost device.
/// Threads: one thread at a time for each cluster.  Blocks: for at most `timeout_ns`.
/// Errors: TIMEOUT, DEVICE_LOST (no device can repeat the lost items, or a buffer was lost), or the error of the first
///   part that failed; the error message names the part's device.
SLR_API slr_status slr_cluster_finish(slr_cluster *cluster, uint64_t timeout_ns);

/// The struct slr_cluster_stats counts what one device of a cluster did.
typedef struct slr_cluster_stats {
    uint64_t parts;         ///< parts that the device has completed
    uint64_t items;         ///< items of the completed parts
    uint64_t pending_items; ///< items that were launched on the device and have not completed
    uint64_t busy_ns;       ///< sum of the times of the device's parts: each from the part's beginning to its end
    uint64_t idle_ns;       ///< sum of the times from the end of a part to the end of the last part of the same launch
    uint64_t lost_items; ///< items of parts that the device lost; another device repeats these items, and counts them
                         ///< in `items`
    /// Items per second that the device reached with the kernels that were launched last; SLR_BALANCE_THROUGHPUT uses
    /// this rate. 0: not measured yet.
    double items_per_second;
} slr_cluster_stats;

/// Gives the counts of the device with the index `index` in the cluster.
/// Threads: any.  Blocks: no.  Errors: INVALID (a NULL argument), NOT_FOUND (no device has this index).
SLR_API slr_status slr_cluster_get_stats(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out);

/// The macro slr_cluster_get_stats calls slr_cluster_get_stats_sized with sizeof(slr_cluster_stats) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_cluster_get_stats_sized(slr_cluster *cluster, uint32_t index, slr_cluster_stats *out,
                                               size_t bytes);
#define slr_cluster_get_stats(cluster, index, out)                                                                     \
    slr_cluster_get_stats_sized((cluster), (index), (out), sizeof(slr_cluster_stats))

#ifdef __cplusplus
}
#endif
#endif

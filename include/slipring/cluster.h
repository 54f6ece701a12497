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

/// Makes a cluster of 1 to SLR_CLUSTER_MOST_DEVICES devices, each of which appears once. The devices remain the
/// caller's, and must be closed after the cluster's end.
///
/// Threads: any.  Blocks: no.  Owns: the caller gets the cluster: slr_cluster_destroy.
/// Errors: INVALID (NULL, count, a device twice), NO_MEMORY, SYSTEM.
SLR_API slr_status slr_cluster_create(slr_device *const *devices, uint32_t count, slr_cluster **out);

/// Opens the devices that `names` lists, and makes a cluster of them: "cpu?threads=1,cpu?threads=1,opencl:0". A name
/// that appears twice opens two devices. `desc` may be NULL, and applies to each device.
/// Threads: any.  Blocks: while backends start.  Owns: the caller gets the cluster, which closes the devices at its
/// end. Errors: as slr_device_open and slr_cluster_create.
SLR_API slr_status slr_cluster_create_named(const char *names, const slr_device_desc *desc, slr_cluster **out);

/// Waits for the launches of the cluster, and releases it. NULL does nothing.
/// Threads: any, once.  Blocks: until its launches have ended.
SLR_API void slr_cluster_destroy(slr_cluster *cluster);

/// The number of devices; 0 for NULL.
/// Threads: any.  Blocks: no.
SLR_API uint32_t slr_cluster_size(const slr_cluster *cluster);

/// A device of the cluster, by its index.
/// Threads: any.  Blocks: no.  Errors: INVALID (NULL), NOT_FOUND (index).
/// Owns: the device belongs to the cluster after slr_cluster_create_named, and to the program after slr_cluster_create.
SLR_API slr_status slr_cluster_get_device(const slr_cluster *cluster, uint32_t index, slr_device **out);

// ---- who gets how much ---------------------------------------------------------------------------------------------

/// By what items are shared out.
typedef enum slr_balance {
    SLR_BALANCE_THROUGHPUT = 1, ///< items a second, measured in earlier launches of the kernels; at first equal
    SLR_BALANCE_MEMORY,         ///< memory for buffers that is free on the device
    SLR_BALANCE_ROUND_ROBIN,    ///< equal parts; what is left over goes to the next device in each call
    SLR_BALANCE_LEAST_LOADED,   ///< so that items in flight, with the new ones, become equal
    SLR_BALANCE_GIVEN           ///< by the weights in the description
} slr_balance;

/// Zero is the default in every field.
typedef struct slr_balance_desc {
    uint32_t struct_size;
    uint32_t reserved;          ///< ignored
    uint64_t granularity;       ///< all parts but the last are multiples of it; default 1
    const uint64_t *weights;    ///< for SLR_BALANCE_GIVEN, one for each device; all zero: equal
    const uint64_t *most;       ///< most items of each device; NULL: no limit
    uint64_t item_bytes;        ///< memory of the device that an item needs; limits each part. 0: no limit
    slr_kernel *const *kernels; ///< for SLR_BALANCE_THROUGHPUT: as in slr_cluster_launch; NULL: the last ones launched
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

/// The part of a device.
typedef struct slr_part {
    uint32_t device; ///< its index in the cluster
    uint32_t reserved;
    uint64_t offset; ///< its first item
    uint64_t items;  ///< 0: nothing
} slr_part;

/// Shares `items` items out. `out` gets one part for each device, in the order of the devices, without gaps. Shares are
/// rounded by largest remainder: each is its exact value rounded down, and what is left over goes to the largest
/// remainders. `desc` may be NULL, except for SLR_BALANCE_GIVEN.
///
/// Threads: any.  Blocks: no.
/// Errors: INVALID (NULL, an unknown balance, no weights), NO_MEMORY (the limits leave no room for some items: says how
///   many).
SLR_API slr_status slr_cluster_balance(slr_cluster *cluster, uint64_t items, slr_balance balance,
                                       const slr_balance_desc *desc, slr_part *out);

// ---- launches ------------------------------------------------------------------------------------------------------

/// A buffer of which each device gets its part: the kernel's pointer is at the part's first item. `item_bytes` 0: an
/// item is one element of the parameter.
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

/// The number of the part's first item.
static inline slr_arg slr_arg_first(void)
{
    slr_arg arg = {SLR_ARG_FIRST, 8, {0}};
    return arg;
}

/// Launches a kernel over the parts, on all devices at once: one thread for each item, as SLR_1D. `kernels` has the
/// same kernel of a program of each device, and `parts` one part for each. Arguments made by slr_arg_split are split;
/// other buffers are passed whole, and only to parameters that the kernel does not write; numbers are copied. A buffer
/// may be of any device: what another device needs of it is moved there, and what is written is moved back.
///
/// Each item of a split buffer may be read and written only by the thread of that item. `out` (may be NULL) passes when
/// all parts are done.
///
/// Threads: one at a time per cluster.  Blocks: while kernels are compiled, else no.
/// Owns: slipring holds buffers and kernels until the work ends; `kernels`, `parts` and `args` are copied.
/// Errors: as slr_launch; INVALID (a part outside a buffer, parts that overlap; a parameter that is written and whose
///   buffer is not split: names it).
SLR_API slr_status slr_cluster_launch(slr_cluster *cluster, slr_kernel *const *kernels, const slr_part *parts,
                                      const slr_arg *args, uint32_t arg_count, slr_point *out);

/// Waits for all launches. Parts of a device that was lost are done again by the other devices, once: the results of a
/// lost part reach no buffer. A lost device gets no more items.
/// Threads: one at a time per cluster.  Blocks: until `timeout_ns`.
/// Errors: TIMEOUT, DEVICE_LOST (no device is left for the lost items, or a buffer was lost), or the first failure of a
///   part, with its device's name.
SLR_API slr_status slr_cluster_finish(slr_cluster *cluster, uint64_t timeout_ns);

/// Counts of one device of a cluster.
typedef struct slr_cluster_stats {
    uint64_t parts;          ///< parts that it has done
    uint64_t items;          ///< items in them
    uint64_t pending_items;  ///< launched and not done
    uint64_t busy_ns;        ///< time from the begin of each part to its end
    uint64_t idle_ns;        ///< time from the end of each part to the end of the launch's last part
    uint64_t lost_items;     ///< items of parts that it has lost; who did them again counts them in `items`
    double items_per_second; ///< measured with the last kernels launched, by which items are shared out; 0: not yet
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

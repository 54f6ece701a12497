// SPDX-License-Identifier: Apache-2.0
// Collectives. A reduction reads all ranks to the host at once, combines there, and writes to all at once; copies go
// from device to device.
#include "base/alloc.h"
#include "base/status.h"
#include "cluster/cluster.h"
#include "device/peer.h"

#include <slipring/collective.h>

static slr_status check_ranks(const slr_cluster *cluster, slr_buffer *const *buffers, uint64_t bytes, const char *call)
{
    if (!cluster || !buffers)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", call, cluster ? "buffers" : "cluster");
    for (uint32_t r = 0; r < cluster->count; ++r) {
        if (!buffers[r])
            return SLRI_FAIL(INVALID, "%s: buffers[%u] is NULL", call, r);
        if (buffers[r]->device != cluster->device[r].device)
            return SLRI_FAIL(INVALID, "%s: buffers[%u] belongs to another device than rank %u", call, r, r);
        if (buffers[r]->bytes < bytes)
            return SLRI_FAIL(INVALID, "%s: buffers[%u] has %llu bytes, fewer than %llu", call, r,
                             (unsigned long long)buffers[r]->bytes, (unsigned long long)bytes);
    }
    return SLR_OK;
}

// The cluster's join stream after all of them, or all of them after it.
static slr_status gather_streams(slr_cluster *cluster)
{
    for (uint32_t r = 0; r < cluster->count; ++r) {
        slr_point point;
        SLRI_TRY(slr_stream_signal(cluster->device[r].stream, &point));
        SLRI_TRY(slr_stream_wait(cluster->join, point));
    }
    return SLR_OK;
}

static slr_status spread_streams(slr_cluster *cluster)
{
    slr_point point;
    SLRI_TRY(slr_stream_signal(cluster->join, &point));
    for (uint32_t r = 0; r < cluster->count; ++r)
        SLRI_TRY(slr_stream_wait(cluster->device[r].stream, point));
    return SLR_OK;
}

static slr_status end_all(slr_cluster *cluster, slr_point *out)
{
    SLRI_TRY(gather_streams(cluster));
    return out ? slr_stream_signal(cluster->join, out) : SLR_OK;
}

// ---- reduction -----------------------------------------------------------------------------------------------------

struct reduction {
    slr_scalar scalar;
    slr_reduce reduce;
    uint32_t ranks;
    uint64_t count;
    size_t bytes; // of this, with the elements of all ranks after it
    unsigned char *memory;
};

// Sums of signed numbers as unsigned ones: they wrap around.
#define COMBINE(type, sum_type)                                                                                        \
    static void combine_##type(const struct reduction *r)                                                              \
    {                                                                                                                  \
        type *to = (type *)(void *)r->memory;                                                                          \
        for (uint32_t rank = 1; rank < r->ranks; ++rank) {                                                             \
            const type *from = to + rank * r->count;                                                                   \
            for (uint64_t i = 0; i < r->count; ++i) {                                                                  \
                if (r->reduce == SLR_REDUCE_MIN)                                                                       \
                    to[i] = from[i] < to[i] ? from[i] : to[i];                                                         \
                else if (r->reduce == SLR_REDUCE_MAX)                                                                  \
                    to[i] = from[i] > to[i] ? from[i] : to[i];                                                         \
                else                                                                                                   \
                    to[i] = (type)((sum_type)to[i] + (sum_type)from[i]);                                               \
            }                                                                                                          \
        }                                                                                                              \
        for (uint64_t i = 0; i < r->count && r->reduce == SLR_REDUCE_AVERAGE; ++i)                                     \
            to[i] = (type)(to[i] / (type)r->ranks);                                                                    \
    }
COMBINE(int32_t, uint32_t)
COMBINE(uint32_t, uint32_t)
COMBINE(int64_t, uint64_t)
COMBINE(uint64_t, uint64_t)
COMBINE(float, float)
COMBINE(double, double)

static void (*const combine_of[])(const struct reduction *) = {
    [SLR_I32] = combine_int32_t,  [SLR_U32] = combine_uint32_t, [SLR_I64] = combine_int64_t,
    [SLR_U64] = combine_uint64_t, [SLR_F32] = combine_float,    [SLR_F64] = combine_double};

static void combine(void *user, slr_status status)
{
    const struct reduction *r = user;
    if (status == SLR_OK)
        combine_of[r->scalar](r);
}

static void reduction_done(void *user, slr_status status)
{
    struct reduction *r = user;
    (void)status;
    slri_free(NULL, r, r->bytes);
}

static slr_status submit_reduction(slr_cluster *cluster, struct reduction *r, slr_buffer *const *buffers)
{
    uint64_t bytes = r->count * slri_scalar_bytes(r->scalar);
    for (uint32_t i = 0; i < r->ranks; ++i)
        SLRI_TRY(slr_stream_read(cluster->device[i].stream, buffers[i], 0, r->memory + i * bytes, bytes, NULL));
    SLRI_TRY(gather_streams(cluster));
    SLRI_TRY(slr_stream_call(cluster->join, combine, r, NULL));
    SLRI_TRY(spread_streams(cluster));
    for (uint32_t i = 0; i < r->ranks; ++i)
        SLRI_TRY(slr_stream_write(cluster->device[i].stream, buffers[i], 0, r->memory, bytes, NULL));
    return gather_streams(cluster);
}

static void await_streams(const slr_cluster *cluster)
{
    for (uint32_t r = 0; r < cluster->count; ++r)
        (void)slr_stream_finish(cluster->device[r].stream, UINT64_MAX); // the caller has a failure to report
    (void)slr_stream_finish(cluster->join, UINT64_MAX);
}

static slr_status check_reduction(slr_scalar scalar, uint64_t count, slr_reduce reduce)
{
    if ((size_t)scalar >= sizeof combine_of / sizeof *combine_of || !combine_of[scalar])
        return SLRI_FAIL(INVALID, "slr_all_reduce: scalar %d; expected one of 32 or 64 bits", (int)scalar);
    if (reduce < SLR_REDUCE_SUM || reduce > SLR_REDUCE_AVERAGE)
        return SLRI_FAIL(INVALID, "slr_all_reduce: operation %d; expected 1 to %d", (int)reduce, SLR_REDUCE_AVERAGE);
    if (count > UINT64_C(1) << 40)
        return SLRI_FAIL(INVALID, "slr_all_reduce: %llu elements; expected at most 2^40", (unsigned long long)count);
    return SLR_OK;
}

slr_status slr_all_reduce(slr_cluster *cluster, slr_buffer *const *buffers, slr_scalar scalar, uint64_t count,
                          slr_reduce reduce, slr_point *out)
{
    SLRI_TRY(check_reduction(scalar, count, reduce));
    uint64_t bytes = count * slri_scalar_bytes(scalar);
    SLRI_TRY(check_ranks(cluster, buffers, bytes, "slr_all_reduce"));
    size_t head = (sizeof(struct reduction) + 63) / 64 * 64, whole = head + cluster->count * bytes;
    struct reduction *r = slri_alloc(NULL, whole);
    if (!r)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u times %llu bytes to be reduced", cluster->count,
                         (unsigned long long)bytes);
    *r = (struct reduction){scalar, reduce, cluster->count, count, whole, (unsigned char *)r + head};
    slr_status status = submit_reduction(cluster, r, buffers);
    if (status == SLR_OK)
        status = slr_stream_call(cluster->join, reduction_done, r, NULL);
    if (status != SLR_OK) { // what was submitted may still use it
        await_streams(cluster);
        reduction_done(r, status);
        return status;
    }
    return out ? slr_stream_signal(cluster->join, out) : SLR_OK;
}

// ---- copies --------------------------------------------------------------------------------------------------------

slr_status slr_broadcast(slr_cluster *cluster, slr_buffer *const *buffers, uint32_t root, uint64_t bytes,
                         slr_point *out)
{
    SLRI_TRY(check_ranks(cluster, buffers, bytes, "slr_broadcast"));
    if (root >= cluster->count)
        return SLRI_FAIL(INVALID, "slr_broadcast: root %u of %u ranks", root, cluster->count);
    for (uint32_t r = 0; r < cluster->count; ++r)
        if (r != root)
            SLRI_TRY(
                slr_peer_copy(cluster->device[r].stream, buffers[r], 0, buffers[root], 0, bytes, SLR_PEER_ANY, NULL));
    return end_all(cluster, out);
}

slr_status slr_gather(slr_cluster *cluster, slr_buffer *const *buffers, uint64_t bytes, slr_buffer *to, slr_point *out)
{
    SLRI_TRY(check_ranks(cluster, buffers, bytes, "slr_gather"));
    if (!to || to->bytes / cluster->count < bytes)
        return SLRI_FAIL(INVALID, "slr_gather: `to` has %llu bytes, fewer than %u times %llu",
                         to ? (unsigned long long)to->bytes : 0, cluster->count, (unsigned long long)bytes);
    for (uint32_t r = 0; r < cluster->count; ++r)
        SLRI_TRY(slr_peer_copy(cluster->device[r].stream, to, r * bytes, buffers[r], 0, bytes, SLR_PEER_ANY, NULL));
    return end_all(cluster, out);
}

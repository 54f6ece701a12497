// SPDX-License-Identifier: Apache-2.0
// Handlers that are given many messages a call: what a shard needs for it, made at launch.
#include "base/round.h"
#include "base/share.h"
#include "base/status.h"
#include "ring/ring.h"

struct batch { // a shard's
    const slr_ring *ring;
    struct slri_share share; // what holds it
    slr_delivery *delivery;  // max_batch of both
    struct slri_call *call;
    uint32_t replies[]; // max_replies of each call, whole words each; then those
};

static void handle(void *self, struct slri_call *calls, uint32_t count)
{
    struct batch *batch = self;
    const slr_ring *ring = batch->ring;
    for (uint32_t k = 0; k < count; ++k)
        batch->delivery[k] = slri_ring_delivery(ring, &calls[k]);
    slr_status status = ring->on_batch(ring->user, batch->delivery, count);
    for (uint32_t k = 0; k < count && status != SLR_OK; ++k)
        calls[k].fault_line = (uint32_t)status;
}

slr_status slri_batch_create(slr_ring *ring, struct slri_shard *shard)
{
    size_t words = ((size_t)ring->reply_bytes + 3) / 4, each = sizeof(struct slri_call) + sizeof(slr_delivery);
    size_t replies = slri_round_up(words * 4 * ring->max_replies * ring->max_batch, 8);
    struct slri_share share;
    struct batch *batch = slri_share_bytes(sizeof(struct batch) + replies + each * ring->max_batch, &share);
    if (!batch)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for the replies of a batch of %u", ring->name,
                         ring->max_batch);
    batch->ring = ring;
    batch->share = share;
    batch->call = (struct slri_call *)(void *)((unsigned char *)batch->replies + replies);
    batch->delivery = (slr_delivery *)(void *)(batch->call + ring->max_batch);
    for (uint32_t k = 0; k < ring->max_batch; ++k)
        batch->call[k] =
            (struct slri_call){.reply_base = (unsigned char *)&batch->replies[words * ring->max_replies * k],
                               .reply_mask = UINT32_MAX,
                               .reply_stride = (uint32_t)words * 4,
                               .reply_bytes = ring->reply_bytes,
                               .max_replies = ring->max_replies};
    shard->batch_handler = handle;
    shard->handler_self = batch;
    shard->call = batch->call;
    return SLR_OK;
}

void slri_batch_destroy(struct slri_shard *shard)
{
    const struct batch *batch = shard->handler_self;
    struct slri_share share = batch->share;
    slri_share_give(&share, 0);
}

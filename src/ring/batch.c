// SPDX-License-Identifier: Apache-2.0
// Handlers that are given many messages a call: what a shard needs for it, made at launch. A host function is given all
// of them; a `__ring_batch__` handler those of one instance, one behind the other.
#include "base/round.h"
#include "base/share.h"
#include "base/status.h"
#include "engine/code.h"
#include "engine/instances.h"
#include "ring/ring.h"

#include <string.h>

#define MESSAGES_ALIGN 128u // the most that a struct may ask for

struct batch { // a shard's
    const slr_ring *ring;
    struct slri_shard *shard;
    struct slri_share share; // what holds it
    slr_delivery *delivery;  // max_batch of them, of a host function
    // Of a `__ring_batch__` handler: it, the messages of a call, and the calls of an instance among others.
    slri_handler *handler;
    void *handler_self;
    unsigned char *message;
    struct slri_call *gathered;
    struct slri_call *call; // max_batch
    uint32_t replies[];     // max_replies of each call, whole words each; then those
};

// ---- a host function -----------------------------------------------------------------------------------------------

static uint32_t handle_on_host(void *self, struct slri_call *calls, uint32_t count)
{
    struct batch *batch = self;
    const slr_ring *ring = batch->ring;
    for (uint32_t k = 0; k < count; ++k) {
        calls[k].fault_line = 0; // slr_fail may set it
        batch->delivery[k] = slri_ring_delivery(ring, &calls[k]);
    }
    slr_status status = ring->on_batch(ring->user, batch->delivery, count);
    for (uint32_t k = 0; k < count; ++k) {
        if (status != SLR_OK)
            calls[k].fault_line = (uint32_t)status;
        calls[k].fault = calls[k].fault_line != 0 ? SLRI_FAULT_STATUS : SLRI_FAULT_NONE;
    }
    return count;
}

// ---- a `__ring_batch__` handler ------------------------------------------------------------------------------------

// The messages of `count` calls, all of one instance.
static void handle_together(struct batch *batch, struct slri_call *calls, uint32_t count)
{
    const struct slri_shard *shard = batch->shard;
    const uint32_t bytes = batch->ring->message_bytes;
    const void *message = calls->message;
    if (count > 1)
        calls->message = batch->message;
    for (uint32_t i = 0; count > 1 && i < count; ++i)
        memcpy(batch->message + (size_t)i * bytes, i == 0 ? message : calls[i].message, bytes);
    calls->messages = count;
    calls->bound = shard->bound;
    calls->prints = shard->prints;
    calls->fuel = slri_batch_fuel(shard->fuel, count);
    uint32_t fault = batch->handler(batch->handler_self, calls);
    calls->message = message;
    for (uint32_t i = 0; i < count; ++i) {
        calls[i].fault = fault;
        calls[i].fault_file = calls->fault_file;
        calls[i].fault_line = calls->fault_line;
        calls[i].fault_column = calls->fault_column;
        calls[i].fault_index = calls->fault_index;
        calls[i].fault_size = calls->fault_size;
    }
}

// How many from the first one on are of its instance.
static uint32_t count_alike(const struct slri_call *calls, uint32_t count)
{
    uint32_t alike = 1;
    while (alike < count && calls[alike].instance == calls->instance)
        ++alike;
    return alike;
}

// In the order of the messages, up to a fault: the ring kernel's policy is to judge it, or messages behind it are of
// the instance that begins anew. Gives how many that was.
static uint32_t handle_in_order(struct batch *batch, struct slri_call *calls, uint32_t count)
{
    uint32_t done = 0;
    while (done < count) {
        uint32_t alike = batch->ring->one_a_call ? 1 : count_alike(calls + done, count - done);
        handle_together(batch, calls + done, alike);
        done += alike;
        if (calls[done - 1].fault != SLRI_FAULT_NONE)
            return done;
    }
    return count;
}

// An instance's messages in their order, and the instances in that of their first messages.
static void handle_by_instance(struct batch *batch, struct slri_call *calls, uint32_t count)
{
    struct slri_instances instances;
    slri_instances_begin(&instances);
    for (uint32_t k = 0; k < count; ++k)
        slri_instances_add(&instances, k, calls[k].instance);
    for (uint32_t k = 0; k < count; ++k) {
        uint32_t n = 0;
        if (!slri_instances_is_first(&instances, k))
            continue;
        for (uint32_t at = k; at != SLRI_NO_MESSAGE; at = slri_instances_next(&instances, at))
            batch->gathered[n++] = calls[at];
        handle_together(batch, batch->gathered, n);
        n = 0;
        for (uint32_t at = k; at != SLRI_NO_MESSAGE; at = slri_instances_next(&instances, at))
            calls[at] = batch->gathered[n++];
    }
}

static uint32_t handle_kernel(void *self, struct slri_call *calls, uint32_t count)
{
    struct batch *batch = self;
    if (batch->shard->calls.faulted || batch->ring->one_a_call)
        return handle_in_order(batch, calls, count);
    if (count_alike(calls, count) == count)
        handle_together(batch, calls, count);
    else
        handle_by_instance(batch, calls, count);
    return count;
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status take_handler(struct batch *batch)
{
    const slr_ring *ring = batch->ring;
    slr_status status = slri_code_handler(ring->program->code, ring->entry, &batch->handler, &batch->handler_self);
    struct slri_share share = batch->share;
    if (status != SLR_OK)
        slri_share_give(&share, 0);
    return status;
}

slr_status slri_batch_create(slr_ring *ring, struct slri_shard *shard)
{
    const size_t words = ((size_t)ring->reply_bytes + 3) / 4, most = ring->max_batch;
    const size_t replies = slri_round_up(words * 4 * ring->max_replies * most, 8),
                 calls = sizeof(struct slri_call) * most;
    const size_t other =
        ring->on_batch ? sizeof(slr_delivery) * most : calls + ring->message_bytes * most + MESSAGES_ALIGN;
    struct slri_share share;
    struct batch *batch = slri_share_bytes(sizeof(struct batch) + replies + calls + other, &share);
    if (!batch)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for the messages and replies of a batch of %u",
                         ring->name, ring->max_batch);
    batch->ring = ring;
    batch->shard = shard;
    batch->share = share;
    batch->call = (struct slri_call *)(void *)((unsigned char *)batch->replies + replies);
    if (ring->on_batch) {
        batch->delivery = (slr_delivery *)(void *)(batch->call + most);
    } else {
        batch->gathered = batch->call + most;
        batch->message = (unsigned char *)slri_round_up((uintptr_t)(batch->gathered + most), MESSAGES_ALIGN);
    }
    for (uint32_t k = 0; k < ring->max_batch; ++k)
        batch->call[k] =
            (struct slri_call){.reply_base = (unsigned char *)&batch->replies[words * ring->max_replies * k],
                               .reply_mask = UINT32_MAX,
                               .reply_stride = (uint32_t)words * 4,
                               .reply_bytes = ring->reply_bytes,
                               .max_replies = ring->max_replies};
    if (!ring->on_batch)
        SLRI_TRY(take_handler(batch));
    shard->batch_handler = ring->on_batch ? handle_on_host : handle_kernel;
    shard->handler_self = batch;
    shard->call = batch->call;
    return SLR_OK;
}

void slri_batch_destroy(struct slri_shard *shard)
{
    const struct batch *batch = shard->handler_self;
    struct slri_share share = batch->share;
    if (!batch->ring->on_batch)
        slri_code_handler_end(batch->ring->program->code, batch->handler_self);
    slri_share_give(&share, 0);
}

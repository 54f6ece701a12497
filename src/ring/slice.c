// SPDX-License-Identifier: Apache-2.0
// Payloads by reference: which fields of a ring kernel's messages and replies are slices, what a send checks of them,
// and who has the buffers that go with messages. A message that was accepted holds its buffers from before it is
// published until its owner has done with it; then they are those of what the handler passed them on with, or go back.
#include "base/alloc.h"
#include "base/status.h"
#include "device/coherence.h"
#include "device/given.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

struct slri_slices {
    uint32_t id; // among the ring kernels of the device whose messages own buffers
    uint32_t count;
    bool owns;
    struct slot {           // a field that is a slice
        slr_buffer *within; // the buffer that is bound; NULL: of a host handler. The ring kernel holds it
        uint32_t at, element_bytes;
        bool in_reply, owns;
        char field[32];
    } slot[SLR_MOST_REFERENCES];
};

static slr_slice slice_at(const void *payload, const struct slot *slot)
{
    slr_slice slice;
    memcpy(&slice, (const char *)payload + slot->at, sizeof slice);
    return slice;
}

static uint32_t message_of(const slr_ring *ring)
{
    return slri_given_holder(SLRI_GIVEN_MESSAGE, ring->slices->id, 0);
}

static uint32_t reply_of(const slr_ring *ring, uint32_t port)
{
    return slri_given_holder(SLRI_GIVEN_REPLY, ring->slices->id, port);
}

// ---- describing ----------------------------------------------------------------------------------------------------

// A kernel's struct has the four members of a slice there.
static bool is_slice(const slr_layout *layout, uint64_t offset)
{
    static const struct {
        uint64_t at;
        slr_scalar scalar;
    } members[] = {{0, SLR_U64}, {8, SLR_U64}, {16, SLR_U32}, {20, SLR_U32}};
    uint32_t found = 0;
    for (uint32_t i = 0; i < layout->field_count; ++i)
        for (uint32_t k = 0; k < 4; ++k)
            found += layout->fields[i].offset == offset + members[k].at && layout->fields[i].count == 1 &&
                     layout->fields[i].scalar == members[k].scalar;
    return found == 4;
}

static slr_status find_bound(const slr_ring *ring, const slr_reference *reference, struct slot *slot)
{
    const slr_handler_info *info = slri_ring_handler_info(ring);
    for (uint32_t i = 0; reference->binding && i < ring->bindings; ++i)
        if (info->parameters[i].is_buffer && strcmp(info->parameters[i].name, reference->binding) == 0) {
            slot->within = ring->buffer[i];
            slot->element_bytes = (uint32_t)info->parameters[i].element_bytes;
            return SLR_OK;
        }
    return SLRI_FAIL(NOT_FOUND,
                     "ring kernel '%s': reference '%s' names '%s'; handler '%s' has no such buffer parameter",
                     ring->name, slot->field, reference->binding ? reference->binding : "(NULL)", info->name);
}

static slr_status describe_one(const slr_ring *ring, const slr_reference *reference, struct slot *slot)
{
    snprintf(slot->field, sizeof slot->field, "%s", reference->field ? reference->field : "(no name)");
    if (reference->in_reply > 1 || reference->owns > 1)
        return SLRI_FAIL(INVALID, "ring kernel '%s': reference '%s': in_reply and owns are 0 or 1", ring->name,
                         slot->field);
    const char *what = reference->in_reply ? "reply" : "message";
    uint32_t bytes = reference->in_reply ? ring->reply_bytes : ring->message_bytes;
    if (reference->offset % 8 != 0 || reference->offset > bytes || bytes - reference->offset < sizeof(slr_slice))
        return SLRI_FAIL(LAYOUT,
                         "ring kernel '%s': reference '%s' is at byte %llu; a slice needs 24 B at a multiple of 8, and "
                         "the %s has %u B",
                         ring->name, slot->field, (unsigned long long)reference->offset, what, bytes);
    slot->at = (uint32_t)reference->offset;
    slot->in_reply = reference->in_reply != 0;
    slot->owns = reference->owns != 0;
    slot->element_bytes = 1;
    if (!ring->program && reference->binding)
        return SLRI_FAIL(
            INVALID, "ring kernel '%s': reference '%s' names a binding, but host handlers have none: set it to NULL",
            ring->name, slot->field);
    if (!ring->program)
        return slot->owns ? SLR_OK
                          : SLRI_FAIL(INVALID,
                                      "ring kernel '%s': reference '%s' only refers to bytes, but a host handler has "
                                      "no bound buffer: set `owns`",
                                      ring->name, slot->field);
    const slr_handler_info *info = slri_ring_handler_info(ring);
    if (!is_slice(reference->in_reply ? &info->reply : &info->message, reference->offset))
        return SLRI_FAIL(LAYOUT,
                         "ring kernel '%s': the kernel's %s has no struct ring_slice at byte %llu, where "
                         "reference '%s' is",
                         ring->name, what, (unsigned long long)reference->offset, slot->field);
    return find_bound(ring, reference, slot);
}

static slr_status check_possible(const slr_ring *ring, const slr_ring_desc *desc)
{
    if (desc->reference_count > SLR_MOST_REFERENCES || !desc->references)
        return SLRI_FAIL(INVALID, "ring kernel '%s': reference_count is %u%s", ring->name, desc->reference_count,
                         desc->references ? "; expected 0 to 16" : ", and references is NULL");
    if (ring->main)
        return SLRI_FAIL(UNSUPPORTED, "ring kernel '%s': references need a handler, not a loop", ring->name);
    return SLR_OK;
}

slr_status slri_slices_describe(slr_ring *ring, const slr_ring_desc *desc)
{
    ring->plain_bytes = ring->message_bytes;
    if (desc->reference_count == 0)
        return SLR_OK;
    SLRI_TRY(check_possible(ring, desc));
    struct slri_slices *slices = slri_alloc(ring->device->allocator, sizeof *slices);
    if (!slices)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its references", ring->name);
    ring->slices = slices;
    for (uint32_t i = 0; i < desc->reference_count; ++i) {
        SLRI_TRY(describe_one(ring, &desc->references[i], &slices->slot[i]));
        if (!slices->slot[i].in_reply)
            ring->plain_bytes = SLRI_NO_BYTES;
        slices->count = i + 1;
    }
    for (uint32_t i = 0; i < slices->count && !slices->owns; ++i) {
        if (!slices->slot[i].owns)
            continue;
        // An abandoned handler would go on with a buffer that is another's.
        if (ring->handler_timeout_ns)
            return SLRI_FAIL(UNSUPPORTED,
                             "ring kernel '%s': with handler_timeout_ns no buffer can move with a message: an "
                             "abandoned handler might still use it",
                             ring->name);
        SLRI_TRY(slri_given_enter_ring(ring->device, &slices->id));
        slices->owns = true;
    }
    return SLR_OK;
}

bool slri_slices_own(const slr_ring *ring)
{
    return ring->slices && ring->slices->owns;
}

void slri_slices_dispose(slr_ring *ring)
{
    struct slri_slices *slices = ring->slices;
    if (slri_slices_own(ring)) { // what nobody received
        slri_given_sweep(ring->device, slri_given_holder(SLRI_GIVEN_REPLY, slices->id, 0), ~255u);
        slri_given_leave_ring(ring->device, slices->id);
    }
    slri_free(ring->device->allocator, slices, sizeof *slices);
}

// Whether `to` finds under a slice what `from` meant.
slr_status slri_slices_check_route(const slr_ring *from, const slr_ring *to)
{
    for (uint32_t i = 0; to->slices && i < to->slices->count; ++i) {
        const struct slot *slot = &to->slices->slot[i];
        bool same = slot->in_reply || !slot->within;
        for (uint32_t k = 0; from->slices && k < from->slices->count && !same; ++k)
            same = from->slices->slot[k].within == slot->within;
        if (!same)
            return SLRI_FAIL(
                INVALID,
                "route from '%s' to '%s': field '%s' refers to a buffer that is not bound to a reference of '%s'",
                from->name, to->name, slot->field, from->name);
    }
    return SLR_OK;
}

// ---- sending -------------------------------------------------------------------------------------------------------

static slr_status check_owner(const slr_ring *ring, const struct slot *slot, const slr_slice *slice)
{
    if (!slot->owns)
        return SLRI_FAIL(INVALID, "ring kernel '%s': field '%s' names an owner, but its reference has not set `owns`",
                         ring->name, slot->field);
    const slr_buffer *buffer = slri_given_find(ring->device, slice, 0);
    if (!buffer)
        return SLRI_FAIL(WRONG_STATE,
                         "ring kernel '%s': the sender does not own the buffer of field '%s': it has been sent, or the "
                         "slice is stale (slr_slice_own)",
                         ring->name, slot->field);
    uint64_t begin = slot->within ? slot->within->offset + slice->offset : slice->offset;
    uint64_t first = slot->within ? buffer->offset : 0;
    bool same = !slot->within || slri_buffer_root((slr_buffer *)buffer) == slri_buffer_root(slot->within);
    if (!same || begin < first || begin + slice->bytes > first + buffer->bytes)
        return SLRI_FAIL(INVALID, "ring kernel '%s': field '%s' refers to bytes outside the buffer that moves with it",
                         ring->name, slot->field);
    return SLR_OK;
}

static slr_status check_one(const slr_ring *ring, const struct slot *slot, const slr_slice *slice)
{
    if (!slot->within && slice->bytes != 0 && slice->owner == 0)
        return SLRI_FAIL(INVALID, "ring kernel '%s': field '%s' refers to bytes without a buffer: call slr_slice_own",
                         ring->name, slot->field);
    if (slot->within && (slice->offset > slot->within->bytes || slice->bytes > slot->within->bytes - slice->offset))
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': field '%s' refers to %llu B from byte %llu; the bound buffer has %llu B",
                         ring->name, slot->field, (unsigned long long)slice->bytes, (unsigned long long)slice->offset,
                         (unsigned long long)slot->within->bytes);
    if (slice->offset % slot->element_bytes != 0 || slice->bytes % slot->element_bytes != 0)
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s': field '%s' refers to %llu B from byte %llu, which is not a multiple of the "
                         "element size, %u B",
                         ring->name, slot->field, (unsigned long long)slice->bytes, (unsigned long long)slice->offset,
                         slot->element_bytes);
    if (slice->owner != 0)
        SLRI_TRY(check_owner(ring, slot, slice));
    return slot->within ? slri_range_check_seen(slot->within, slice->offset, slice->bytes) : SLR_OK;
}

slr_status slri_slices_check(const slr_ring *ring, const void *message)
{
    for (uint32_t i = 0; ring->slices && i < ring->slices->count; ++i) {
        const struct slot *slot = &ring->slices->slot[i];
        slr_slice slice = slice_at(message, slot);
        if (!slot->in_reply)
            SLRI_TRY(check_one(ring, slot, &slice));
    }
    return SLR_OK;
}

slr_status slri_slices_depart(const slr_ring *ring, const void *message)
{
    if (!slri_slices_own(ring))
        return SLR_OK;
    uint32_t holder = message_of(ring), i = 0;
    for (; i < ring->slices->count; ++i) {
        const struct slot *slot = &ring->slices->slot[i];
        slr_slice slice = slice_at(message, slot);
        if (!slot->in_reply && slice.owner != 0 && !slri_given_move(ring->device, &slice, 0, holder))
            break;
    }
    if (i == ring->slices->count)
        return SLR_OK;
    const char *field = ring->slices->slot[i].field;
    while (i-- > 0) {
        slr_slice slice = slice_at(message, &ring->slices->slot[i]);
        if (!ring->slices->slot[i].in_reply && slice.owner != 0)
            slri_given_move(ring->device, &slice, holder, 0);
    }
    return SLRI_FAIL(WRONG_STATE,
                     "ring kernel '%s': the buffer of field '%s' has been sent already, by another thread "
                     "or with another field",
                     ring->name, field);
}

// ---- the owner's side ----------------------------------------------------------------------------------------------

// Whether the message owns what the slice names. A handler may write anything.
static bool has(const slr_ring *ring, const void *message, const slr_slice *slice)
{
    for (uint32_t i = 0; i < ring->slices->count; ++i) {
        const struct slot *slot = &ring->slices->slot[i];
        if (slot->in_reply || !slot->owns)
            continue;
        slr_slice own = slice_at(message, slot);
        if (own.owner == slice->owner && own.turn == slice->turn)
            return true;
    }
    return false;
}

// The first output that names it gets it.
static void pass(const slr_ring *ring, const void *message, const struct slri_slices *to, bool in_reply,
                 const void *output, uint32_t holder)
{
    for (uint32_t i = 0; i < to->count; ++i) {
        const struct slot *slot = &to->slot[i];
        if (slot->in_reply != in_reply || !slot->owns)
            continue;
        slr_slice slice = slice_at(output, slot);
        if (slice.owner != 0 && has(ring, message, &slice))
            slri_given_move(ring->device, &slice, message_of(ring), holder);
    }
}

void slri_slices_pass(struct slri_shard *shard, uint32_t k, const slr_ring *to, uint32_t port, const void *output)
{
    const slr_ring *ring = shard->ring;
    const void *message = &shard->shared[shard->own[MBP_BATCH(k) + 1] + MB_PAYLOAD];
    if (!to)
        pass(ring, message, ring->slices, true, output, reply_of(ring, port));
    else if (slri_slices_own(to))
        pass(ring, message, to->slices, false, output, message_of(to));
}

static void drop_slice(const slr_ring *ring, const void *message)
{
    for (uint32_t i = 0; i < ring->slices->count; ++i) {
        const struct slot *slot = &ring->slices->slot[i];
        slr_slice slice = slice_at(message, slot);
        if (!slot->in_reply && slice.owner != 0)
            slri_given_drop(ring->device, &slice, message_of(ring));
    }
}

// Message k of the batch is done with; its replies lie where the handler or the owner wrote them, and are not
// published. What routes took is theirs already.
static void settled(struct slri_shard *shard, uint32_t k, const struct slri_call *call, uint32_t fault)
{
    const slr_ring *ring = shard->ring;
    const uint32_t *S = shard->shared, *P = shard->own;
    uint32_t port = P[MBP_BATCH(k)];
    const void *message = &S[P[MBP_BATCH(k) + 1] + MB_PAYLOAD];
    bool replied = call && fault == SLRI_FAULT_NONE && P[MBP_SILENT] == 0 && !mb_is_gone(P, port);
    for (uint32_t n = 0; replied && n < call->replies; ++n)
        pass(ring, message, ring->slices, true,
             call->reply_base + (size_t)((call->reply_at + n) & call->reply_mask) * call->reply_stride,
             reply_of(ring, port));
    drop_slice(ring, message);
}

void slri_slices_follow(const slr_ring *ring, struct slri_shard *shard)
{
    if (!slri_slices_own(ring))
        return;
    shard->calls.settled = settled;
    shard->followed = true;
}

// What was dropped is first in the free list, whose links are not of the payload.
void slri_slices_evicted(struct slri_shard *shard)
{
    const uint32_t *S = shard->shared, *P = shard->own;
    uint32_t node = P[MBP_FREE];
    for (uint32_t n = P[MBP_EVICTED]; n != 0 && node != 0; --n, node = S[mb_node(S, P, node)])
        drop_slice(shard->ring, &S[mb_node(S, P, node) + MB_PAYLOAD]);
}

// ---- ends ----------------------------------------------------------------------------------------------------------

void slri_slices_end(const slr_ring *ring)
{
    if (slri_slices_own(ring))
        slri_given_sweep(ring->device, message_of(ring), UINT32_MAX);
}

void slri_slices_forsake(const slr_ring *ring, uint32_t port)
{
    if (slri_slices_own(ring))
        slri_given_sweep(ring->device, reply_of(ring, port), UINT32_MAX);
}

void slri_discard_reply(const struct slri_found *found)
{
    const slr_ring *ring = found->connection->ring;
    const uint32_t *slot = &ring->S[found->slot];
    for (uint32_t i = 0; slri_slices_own(ring) && slri_reply_status(slot[MB_HEAD]) == SLR_OK && i < ring->slices->count;
         ++i) {
        const struct slot *field = &ring->slices->slot[i];
        slr_slice slice = slice_at(&slot[MB_PAYLOAD], field);
        if (field->in_reply && slice.owner != 0)
            slri_given_drop(ring->device, &slice, reply_of(ring, found->connection->port));
    }
    slri_consume_reply(found);
}

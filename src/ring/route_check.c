// SPDX-License-Identifier: Apache-2.0
// What a route needs of its two ends, in the words of who asks for one.
#include "base/status.h"
#include "ring/ring.h"

#include <string.h>

static slr_status check_launched(const slr_ring *ring)
{
    slr_ring_state state = slr_ring_get_state(ring);
    if (state & (SLR_RING_LAUNCHED | SLR_RING_ACTIVE | SLR_RING_PAUSED))
        return SLR_OK;
    return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' is %s; slr_route needs it launched, active or paused", ring->name,
                     slr_ring_state_name(state));
}

slr_status slri_route_refused(const slr_ring *ring, slr_status status)
{
    if (status != SLR_RING_FAILED && status != SLR_CLOSED && status != SLR_RING_DEAD)
        return status;
    return SLRI_FAIL(WRONG_STATE, "ring kernel '%s' has %s meanwhile; slr_route needs it launched, active or paused",
                     ring->name, status == SLR_RING_FAILED ? "failed" : "been closed");
}

static slr_status check_outlet(const slr_ring *from, const slr_route_desc *desc, const slr_parameter **out)
{
    const slr_handler_info *info = slri_ring_handler_info(from);
    *out = NULL;
    for (uint32_t i = 0; desc->outlet && info && i < info->parameter_count; ++i)
        if (info->parameters[i].is_outlet && strcmp(info->parameters[i].name, desc->outlet) == 0)
            *out = &info->parameters[i];
    if (!desc->outlet || *out)
        return SLR_OK;
    return SLRI_FAIL(NOT_FOUND, "the handler of '%s' has no output channel '%s', a parameter ring_to(struct message)",
                     from->name, desc->outlet);
}

slr_status slri_route_check_source(const slr_ring *from, const slr_route_desc *desc)
{
    SLRI_TRY(check_launched(from));
    if (desc->reply_too > 1 || desc->close_with_source > 1)
        return SLRI_FAIL(INVALID, "route from '%s': %s is 0 or 1", from->name,
                         desc->reply_too > 1 ? "reply_too" : "close_with_source");
    if (from->main)
        return SLRI_FAIL(INVALID,
                         "ring kernel '%s' has a main, which sends by itself; it cannot be the source of a route",
                         from->name);
    SLRI_TRY(slri_passages_check(from));
    if (from->reply_bytes == 0 && !desc->outlet)
        return SLRI_FAIL(INVALID, "ring kernel '%s' never replies, so a route from it is useless", from->name);
    return SLR_OK;
}

const slr_handler_info *slri_ring_handler_info(const slr_ring *ring)
{
    for (uint32_t i = 0; ring->program && i < ring->program->entries; ++i)
        if (ring->program->entry[i].entry == ring->entry)
            return &ring->program->entry[i].info;
    return NULL;
}

// Two kernels' structs agree when each field of the one lies where the other has one of the same type.
static slr_status check_fields(const slr_ring *from, const slr_ring *to, const char *how, const slr_layout *reply)
{
    const slr_handler_info *target = slri_ring_handler_info(to);
    if (!reply || !target)
        return SLR_OK;
    const slr_layout *message = &target->message;
    bool same = reply->field_count == message->field_count;
    for (uint32_t i = 0; same && i < reply->field_count; ++i) {
        const slr_field *a = &reply->fields[i], *b = &message->fields[i];
        same = a->offset == b->offset && a->count == b->count && a->scalar == b->scalar;
    }
    if (same)
        return SLR_OK;
    return SLRI_FAIL(LAYOUT, "'%s' %s struct %s, whose fields differ from the message of '%s', struct %s", from->name,
                     how, reply->name, to->name, message->name);
}

static slr_status check_route_instance(const slr_ring *from, const slr_ring *to, const slr_route_desc *desc,
                                       uint64_t bytes)
{
    if (desc->instance_at && desc->instance_at - 1 + 4 > bytes)
        return SLRI_FAIL(INVALID, "route from '%s' to '%s': instance_at is byte %u; %s has %u B", from->name, to->name,
                         desc->instance_at - 1, desc->outlet ? "a message sent" : "a reply", (unsigned)bytes);
    if (!desc->outlet && !desc->instance_at && to->instances > 1 && from->instances > to->instances)
        return SLRI_FAIL(INVALID, "'%s' has %u instances and '%s' only %u: set slr_route_desc.instance_at", from->name,
                         from->instances, to->name, to->instances);
    return SLR_OK;
}

slr_status slri_route_check_pair(const slr_ring *from, const slr_ring *to, const slr_route_desc *desc)
{
    SLRI_TRY(check_launched(to));
    if (to->key_sort)
        return SLRI_FAIL(INVALID, "ring kernel '%s' is keyed, and routes have no keys", to->name);
    if (from->device != to->device)
        return SLRI_FAIL(INVALID, "ring kernels '%s' and '%s' are on different devices", from->name, to->name);
    const slr_parameter *outlet;
    SLRI_TRY(check_outlet(from, desc, &outlet));
    const slr_handler_info *source = slri_ring_handler_info(from);
    const slr_layout *layout = outlet ? &outlet->message : source ? &source->reply : NULL;
    uint64_t bytes = outlet ? outlet->message.bytes : from->reply_bytes;
    uint32_t each = outlet ? from->max_sends : from->max_replies;
    if (bytes != to->message_bytes)
        return SLRI_FAIL(LAYOUT, "%s of '%s' has %u B, a message of '%s' has %u B",
                         outlet ? "a message sent" : "a reply", from->name, (unsigned)bytes, to->name,
                         to->message_bytes);
    SLRI_TRY(check_fields(from, to, outlet ? "sends" : "replies with", layout));
    SLRI_TRY(slri_slices_check_route(from, to));
    if (each > to->queue_size)
        return SLRI_FAIL(INVALID,
                         "'%s' may %s %u times %s a message; the mailbox of '%s' holds %u messages: raise queue_size",
                         from->name, outlet ? "send" : "reply", each, outlet ? "for" : "to", to->name, to->queue_size);
    return check_route_instance(from, to, desc, bytes);
}

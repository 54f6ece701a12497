// SPDX-License-Identifier: Apache-2.0
// Makes a mailbox and what its shards work with. Memory is zero and becomes real when it is first touched.
#include "base/alloc.h"
#include "base/cpu.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "engine/loss.h"
#include "engine/code.h"
#include "engine/resident_groups.h"
#include "ring/keys.h"
#include "ring/layout.h"
#include "ring/printing.h"
#include "ring/ring.h"

#include <stdio.h>
#include <string.h>

static uint32_t instances_of(const slr_ring *ring, uint32_t shard)
{
    return (ring->instances - shard + ring->shards - 1) / ring->shards;
}

static uint64_t state_stride(const slr_ring *ring)
{
    return slri_round_up(ring->state_bytes, 16);
}

static void set_initial(const slr_ring *ring, const struct slri_shard *shard, unsigned char *states)
{
    for (uint32_t i = 0; i < instances_of(ring, shard->number); ++i)
        memcpy(states + i * state_stride(ring), ring->initial_state, ring->state_bytes);
}

#define WORTH_ASKING ((uint64_t)64 << 20)

// States that begin as zeros cost memory when they are first used; others all at once.
static slr_status check_initial(const slr_ring *ring, uint64_t bytes)
{
    if (!ring->initial_state || ring->key_sort || bytes < WORTH_ASKING)
        return SLR_OK;
    uint64_t available = slri_cpu_memory_available();
    if (bytes <= available - available / 16) // for what else is written meanwhile
        return SLR_OK;
    return SLRI_FAIL(NO_MEMORY,
                     "ring kernel '%s': no memory for the initial states of %u instances: a shard has %llu B of them, "
                     "and %llu B are free. Without initial_state they use memory only as they are used",
                     ring->name, ring->instances, (unsigned long long)bytes, (unsigned long long)available);
}

// The states of a shard in memory that the host may not be able to address: as a whole, by way of a copy.
static slr_status set_device_states(slr_ring *ring, struct slri_shard *shard, const unsigned char *checkpoint)
{
    uint64_t bytes = instances_of(ring, shard->number) * state_stride(ring);
    if (checkpoint)
        return slri_relaunch_store(ring->relaunch, shard->states, checkpoint + shard->number * ring->states_bytes,
                                   bytes);
    unsigned char *states = slri_map_reserve(bytes);
    if (!states)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a copy of its states", ring->name);
    if (ring->initial_state)
        set_initial(ring, shard, states);
    slr_status status = slri_relaunch_store(ring->relaunch, shard->states, states, bytes);
    slri_map_release(states, bytes);
    return status;
}

// The device's memory is zero from the beginning.
static slr_status create_device_states(slr_ring *ring, struct slri_shard *shard)
{
    shard->states = (unsigned char *)ring->relaunch->states + shard->number * ring->states_bytes;
    return ring->initial_state && !ring->key_sort ? set_device_states(ring, shard, NULL) : SLR_OK;
}

// Memory of a mailbox that a device owns. The status is the device's: it may be lost.
static slr_status reserve(const slr_ring *ring, const char *what, uint64_t bytes, void **out)
{
    const slr_device *device = ring->device;
    slr_status status = slri_queue_device_memory(&device->queues, SLRI_MEMORY_SHARED, bytes, out);
    if (status == SLR_OK)
        return SLR_OK;
    char why[192];
    snprintf(why, sizeof why, "%s", slr_error_message());
    *out = NULL;
    return slri_fail(status, "ring kernel '%s': no memory for its %s: %s", ring->name, what, why);
}

static void release(const slr_ring *ring, void *memory, uint64_t bytes)
{
    const slr_device *device = ring->device;
    if (memory)
        device->backend->memory_destroy(device->self, SLRI_MEMORY_SHARED, memory, bytes);
}

// The states of a shard's instances, on lines of their own, so that two workers never share one.
static slr_status create_states(slr_ring *ring, struct slri_shard *shard, uint64_t bytes)
{
    SLRI_TRY(check_initial(ring, bytes));
    if (ring->relaunch)
        return create_device_states(ring, shard);
    if (ring->mode == SLR_RING_PERSISTENT)
        SLRI_TRY(reserve(ring, "states", bytes, (void **)&shard->states));
    else
        shard->states = slri_share_bytes(bytes, &shard->share);
    if (!shard->states)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u instances of %u B", ring->name, ring->instances,
                         ring->state_bytes);
    if (ring->initial_state && !ring->key_sort) // with keys: when the key comes
        set_initial(ring, shard, shard->states);
    return SLR_OK;
}

// Small states lie in what their owner's last line has left, until a handler is abandoned with them (bury).
static void create_small_states(const slr_ring *ring, const struct slri_layout *l, struct slri_shard *shard)
{
    if (ring->mode != SLR_RING_ON_HOST || ring->state_bytes == 0 || ring->states_bytes > (l->own - l->own_used) * 4)
        return;
    shard->states = (unsigned char *)(shard->own + l->own_used);
    if (ring->initial_state && !ring->key_sort)
        set_initial(ring, shard, shard->states);
}

static size_t box_bytes(const slr_ring *ring, size_t *message_room, size_t *reply_stride)
{
    *message_room = slri_slot_words(ring->message_bytes, ring->stamped, slri_ring_drops(ring)) * 4;
    *reply_stride = slri_round_up(ring->reply_bytes, 16);
    return slri_round_up(sizeof(struct slri_box), 16) + slri_round_up(*message_room, 16) +
           ring->max_replies * *reply_stride;
}

// What an abandoned handler leaves: nobody else looks at it any more.
static void bury(struct slri_box *box)
{
    slr_ring *ring = box->ring;
    const slr_device *device = ring->device;
    slri_share_give(&box->share, 0);
    slri_free(device->allocator, box->out, box->out_bytes); // the ring kernel's is written by a restart
    if (ring->program)
        slri_code_handler_end(ring->program->code, box->handler_self);
    slri_free(device->allocator, box, box->bytes);
    slri_ring_release(ring);
}

static slr_status create_box(slr_ring *ring, struct slri_shard *shard)
{
    size_t message_room, reply_stride, bytes = box_bytes(ring, &message_room, &reply_stride);
    struct slri_box *box = slri_alloc(ring->device->allocator, bytes);
    if (!box)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a copy of a message", ring->name);
    *box = (struct slri_box){.reply_stride = (uint32_t)reply_stride, .holds = 2, .bury = bury, .bytes = bytes};
    unsigned char *slot = (unsigned char *)box + slri_round_up(sizeof *box, 16);
    box->message = slot + MB_PAYLOAD * 4;
    box->replies = slot + slri_round_up(message_room, 16);
    shard->box = box;
    return SLR_OK;
}

uint32_t slri_ring_out_stride(const slr_parameter *parameter)
{
    return parameter->is_outlet ? (uint32_t)slri_round_up(SLRI_OUT_HEAD + parameter->message.bytes, 16) : 0;
}

// Where a handler leaves what it sends: an entry for each parameter, then max_sends messages of each outlet.
static slr_status create_out(slr_ring *ring, struct slri_shard *shard)
{
    const slr_handler_info *info = slri_ring_handler_info(ring);
    uint64_t head = slri_round_up(info->parameter_count * sizeof *shard->route.out, 16), bytes = head;
    for (uint32_t i = 0; i < info->parameter_count; ++i)
        bytes += (uint64_t)ring->max_sends * slri_ring_out_stride(&info->parameters[i]);
    ring->out_bytes = bytes;
    shard->route.out = slri_alloc(ring->device->allocator, bytes);
    if (!shard->route.out)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its sends", ring->name);
    shard->outs = info->parameter_count;
    unsigned char *at = (unsigned char *)shard->route.out + head;
    for (uint32_t i = 0; i < shard->outs; ++i) {
        uint64_t stride = slri_ring_out_stride(&info->parameters[i]);
        shard->route.out[i] =
            (struct slri_out){.base = at, .stride = (uint32_t)stride, .most = stride ? ring->max_sends : 0};
        at += ring->max_sends * stride;
    }
    return SLR_OK;
}

static slr_status create_handler(slr_ring *ring, struct slri_shard *shard)
{
    if (ring->main || ring->relaunch)
        return SLR_OK;
    if (slri_takes_batches(ring) && ring->mode == SLR_RING_ON_HOST)
        return shard->batch_handler ? SLR_OK : slri_batch_create(ring, shard);
    if (ring->mode == SLR_RING_PERSISTENT)
        return SLR_OK; // the kernel that stays has it
    if (ring->program)
        return slri_code_handler(ring->program->code, ring->entry, &shard->handler, &shard->handler_self);
    shard->handler = slri_ring_host_handler;
    shard->handler_self = ring;
    return SLR_OK;
}

slr_status slri_arena_outfit(slr_ring *ring, struct slri_shard *shard)
{
    if (ring->state_bytes && !shard->states)
        SLRI_TRY(create_states(ring, shard, ring->states_bytes));
    if (!shard->handler)
        SLRI_TRY(create_handler(ring, shard));
    if (ring->has_outlets && !shard->route.out && ring->mode != SLR_RING_PERSISTENT) // its place is route_device.c's
        SLRI_TRY(create_out(ring, shard));
    if (!shard->prints && slri_printing_is_wanted(ring))
        SLRI_TRY(slri_printing_outfit(ring, shard));
    return shard->timeout_ns && !shard->box ? create_box(ring, shard) : SLR_OK;
}

slr_status slri_arena_set_states(slr_ring *ring, struct slri_shard *shard, const unsigned char *checkpoint)
{
    uint64_t bytes = instances_of(ring, shard->number) * state_stride(ring);
    if (bytes == 0)
        return SLR_OK;
    if (ring->relaunch)
        return set_device_states(ring, shard, checkpoint);
    if (checkpoint)
        memcpy(shard->states, checkpoint + shard->number * ring->states_bytes, bytes);
    else if (ring->initial_state)
        set_initial(ring, shard, shard->states);
    else
        memset(shard->states, 0, bytes);
    return SLR_OK;
}

// Behind a device's owner's words lies its histogram.
static size_t latency_at(const slr_ring *ring)
{
    return (size_t)MBP_HISTOGRAM_AT(MBP_WORDS(ring->max_ports)) * 4;
}

// Where a shard's owner works. In a device's memory all of it is one piece.
static slr_status create_own(slr_ring *ring, const struct slri_layout *l, struct slri_shard *shard)
{
    size_t histogram = sizeof(struct slri_histogram);
    unsigned char *latency;
    if (ring->mode == SLR_RING_PERSISTENT) {
        SLRI_TRY(reserve(ring, "owners", ring->own_bytes, (void **)&shard->own));
        latency = (unsigned char *)shard->own + latency_at(ring);
    } else {
        shard->own = (uint32_t *)slri_share_part(&ring->share, SLRI_PART_OWN) + shard->number * l->own;
        latency = (unsigned char *)slri_share_part(&ring->share, SLRI_PART_HISTOGRAM) + shard->number * histogram;
    }
    mb_open(ring->S, shard->own, shard->number, (uint32_t)(l->lists_at + shard->number * l->lists_next),
            (uint32_t)(l->ports_at + shard->number * l->ports_next), (uint32_t)l->port_stride);
    if (ring->latency_every)
        shard->notes.latency = (struct slri_histogram *)(void *)latency;
    shard->notes.early =
        ring->mode == SLR_RING_PERSISTENT ? SLRI_EARLY_OVER : 0; // a device's owner writes the histogram
    return SLR_OK;
}

static slr_status create_shard(slr_ring *ring, const struct slri_layout *l, uint32_t number)
{
    struct slri_shard *shard = &ring->shard[number];
    *shard = (struct slri_shard){.shared = ring->S,
                                 .number = number,
                                 .shards = ring->shards,
                                 .mode = ring->mode,
                                 .program = ring->program ? ring->program->code : NULL,
                                 .entry = ring->entry,
                                 .relaunch = ring->relaunch,
                                 .bound = ring->bound,
                                 .state_stride = state_stride(ring),
                                 .state_bytes = ring->state_bytes,
                                 .states_bytes = instances_of(ring, number) * state_stride(ring),
                                 .own_words = MBP_WORDS(ring->max_ports),
                                 .initial_state = ring->initial_state,
                                 .reply_bytes = ring->reply_bytes,
                                 .fuel = ring->fuel,
                                 .max_batch = ring->max_batch,
                                 .linger_ns = ring->linger_ns,
                                 .ring = ring,
                                 .relay = ring->mode == SLR_RING_PERSISTENT ? &slri_device_relay : &slri_relay,
                                 .calls.published = slri_ring_published,
                                 .calls.shown = ring->publish_each ? slri_ring_shown : NULL,
                                 .followed = ring->publish_each != 0,
                                 .calls.answered = slri_ring_answered,
                                 .calls.operate = slri_ring_operate_all,
                                 .calls.faulted = ring->fault_policy == SLR_FAULT_GO_ON ? NULL : slri_ring_faulted,
                                 .timeout_ns = ring->handler_timeout_ns,
                                 .calls.abandoned = slri_ring_abandoned,
                                 .calls.lost = slri_ring_lost,
                                 .redelivers = ring->redelivers != 0};
    SLRI_TRY(create_own(ring, l, shard));
    slri_slices_follow(ring, shard);
    shard->own[MBP_MOST] = ring->max_batch;
    create_small_states(ring, l, shard);
    if (ring->main)
        SLRI_TRY(slri_loop_create(ring));
    SLRI_TRY(slri_arena_outfit(ring, shard));
    const struct slri_facts *facts = &ring->device->facts;
    return ring->mode == SLR_RING_PERSISTENT ? slri_loss_seen(facts->loss, slri_groups_prepare(facts->residents, shard))
                                             : SLR_OK;
}

// A batch is not larger than what one dispatch takes.
static slr_status create_relaunch(slr_ring *ring)
{
    const slr_device *device = ring->device;
    const struct slri_relaunch_desc desc = {.name = ring->name,
                                            .program = ring->program->code,
                                            .entry = ring->entry,
                                            .bound = ring->bound,
                                            .initial_state = ring->initial_state,
                                            .state_bytes = ring->state_bytes,
                                            .state_stride = state_stride(ring),
                                            .states_bytes = ring->states_bytes,
                                            .fuel = ring->fuel,
                                            .message_bytes = ring->message_bytes,
                                            .reply_bytes = ring->reply_bytes,
                                            .max_replies = ring->max_replies,
                                            .max_sends = ring->max_sends,
                                            .shards = ring->shards,
                                            .max_batch = ring->max_batch,
                                            .unified = device->facts.unified,
                                            .stops = ring->fault_policy != SLR_FAULT_GO_ON,
                                            .one_a_call = ring->one_a_call};
    SLRI_TRY(slri_relaunch_create(&ring->device->queues, &desc, &ring->relaunch));
    if (ring->max_batch > ring->relaunch->room)
        ring->max_batch = ring->relaunch->room;
    return SLR_OK;
}

static slr_status create_mailbox_on_device(slr_ring *ring)
{
    const struct slri_shape shape = slri_layout_outside(ring);
    if (!slri_share_take(&shape, &ring->share))
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u shards and %u ports", ring->name, ring->shards,
                         ring->max_ports);
    return reserve(ring, "mailbox", ring->arena_bytes, (void **)&ring->S);
}

static slr_status create_mailbox_here(slr_ring *ring, struct slri_layout *l)
{
    struct slri_shape shape;
    slri_layout_shape(ring, l, &shape);
    if (!slri_share_take(&shape, &ring->share))
        return SLRI_FAIL(NO_MEMORY,
                         "ring kernel '%s': no memory for a mailbox: it needs %llu B of address space, with %llu B for "
                         "each of max_ports = %u ports",
                         ring->name, (unsigned long long)ring->arena_bytes,
                         (unsigned long long)((ring->arena_bytes - l->header * 4) / ring->max_ports), ring->max_ports);
    slri_layout_place(ring, l, &ring->share);
    ring->S = slri_share_part(&ring->share, SLRI_PART_HEADER);
    return SLR_OK;
}

static slr_status create_mailbox(slr_ring *ring, struct slri_layout *l)
{
    *l = slri_layout_in_one(ring);
    ring->arena_bytes = l->total * 4;
    ring->own_bytes = latency_at(ring) + (ring->latency_every ? sizeof(struct slri_histogram) : 0);
    SLRI_TRY(ring->mode == SLR_RING_PERSISTENT ? create_mailbox_on_device(ring) : create_mailbox_here(ring, l));
    ring->shard = slri_share_part(&ring->share, SLRI_PART_SHARDS);
    ring->lanes = slri_share_copy(&ring->share, SLRI_EACH_PORT, 0);
    ring->lane_stride = slri_share_stride(&ring->share);
    return SLR_OK;
}

slr_status slri_arena_open_port(slr_ring *ring, uint32_t port)
{
    if (port < ring->ports_opened)
        return SLR_OK;
    if (!slri_share_open(&ring->share, port))
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for another port", ring->name);
    struct slri_lane *lane = slri_lane_at(ring, port);
    lane->cursor = (struct slri_lane_cursor *)(void *)(lane + 1);
    __atomic_store_n(&ring->ports_opened, port + 1, __ATOMIC_RELEASE); // its lanes may be looked at
    return SLR_OK;
}

slr_status slri_arena_create(slr_ring *ring)
{
    struct slri_layout l;
    ring->states_bytes = instances_of(ring, 0) * state_stride(ring);
    SLRI_TRY(create_mailbox(ring, &l));
    slri_layout_write(ring, &l);
    ring->unblock_mask = (uint32_t)(l.reply_slots < 64 ? l.reply_slots > 2 ? l.reply_slots / 2 - 1 : 0 : 31);
    if (ring->mode == SLR_RING_RELAUNCHED)
        SLRI_TRY(create_relaunch(ring));
    for (uint32_t i = 0; i < ring->shards; ++i)
        SLRI_TRY(create_shard(ring, &l, i));
    SLRI_TRY(slri_keys_create(ring));
    SLRI_TRY(slri_routes_prepare(ring));
    return slri_printing_start(ring);
}

static void destroy_shard(slr_ring *ring, struct slri_shard *shard)
{
    const slr_device *device = ring->device;
    slri_groups_forsake(device->facts.residents, shard); // where it was never started
    if (ring->mode == SLR_RING_PERSISTENT) {
        release(ring, shard->own, ring->own_bytes);
        release(ring, shard->states, ring->states_bytes);
    }
    slri_share_give(&shard->share, 0);
    if (shard->batch_handler)
        slri_batch_destroy(shard);
    if (shard->handler && ring->program)
        slri_code_handler_end(ring->program->code, shard->handler_self);
    if (shard->box)
        slri_free(device->allocator, shard->box, shard->box->bytes);
    slri_free(device->allocator, shard->route.out, ring->out_bytes);
}

void slri_arena_destroy(slr_ring *ring)
{
    const slr_allocator *allocator = ring->device->allocator;
    slri_loop_destroy(ring);
    slri_keys_destroy(ring);
    for (uint32_t i = 0; ring->shard && i < ring->shards; ++i)
        destroy_shard(ring, &ring->shard[i]);
    for (uint32_t i = 0; i < ring->ports_opened; ++i) {
        slri_connection_release(allocator, slri_lane_at(ring, i)->connection);
        slri_waker_release(slri_lane_at(ring, i)->waker);
    }
    slri_near_destroy(ring);
    slri_printing_dispose(ring);
    slri_relaunch_destroy(ring->relaunch);
    if (ring->mode == SLR_RING_PERSISTENT)
        release(ring, ring->S, ring->arena_bytes);
    slri_share_give(&ring->share, ring->ports_opened);
    ring->ports_opened = 0;
    ring->S = NULL;
    ring->relaunch = NULL;
    ring->shard = NULL;
    ring->lanes = NULL;
}

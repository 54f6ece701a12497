// SPDX-License-Identifier: Apache-2.0
// Lays out a mailbox's arena and maps it. Pages are zero and become real when they are first touched, so that lanes
// which no port uses cost address space alone.
#include "base/alloc.h"
#include "base/memory_map.h"
#include "base/status.h"
#include "ring/keys.h"
#include "ring/ring.h"

#include <string.h>

struct layout { // in words, before it is known that they fit u32
    uint64_t slot, lane_slots, reply_slot, reply_slots, lane, lanes, reply_lane;
    uint64_t pool_at, letters_at, letter_slots, owner, total;
    uint64_t times_shift, times, lane_times_at, node_times_at;
};

static uint64_t power_of_two(uint64_t least)
{
    uint64_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
    return (value + to - 1) / to * to;
}

// A multiple of 16 bytes, so that a payload is aligned to 16.
static uint64_t slot_words(uint64_t bytes, uint32_t stamped, bool ticketed)
{
    return round_up(MB_PAYLOAD + (bytes + 3) / 4 + ticketed + (stamped ? 2 : 0), 4);
}

// How many messages may be under way. Where owners evict, senders get so many more credits than the capacity that
// bursts need not wait for the owner to look.
static uint64_t credits(const slr_ring *ring)
{
    uint64_t more = ring->queue_size < 256 ? 256 : ring->queue_size;
    return slri_ring_drops(ring) ? ring->queue_size + more : ring->queue_size;
}

// Where senders note times (mb_lane_time). Of two timed messages in one lane less than a quarter of `latency_every`
// lies between; the lane's length is covered twice, for a message may be written while one a lap before is not taken
// yet.
static void lay_out_times(const slr_ring *ring, struct layout *l)
{
    l->lane_times_at = round_up(MB_LANE_SLOTS + l->lane_slots * l->slot, MB_LINE);
    while (ring->latency_every >> l->times_shift > 7)
        ++l->times_shift;
    uint64_t cover = l->lane_slots >> l->times_shift;
    l->times = ring->latency_every ? 2 * (cover ? cover : 1) : 0;
}

static struct layout lay_out(const slr_ring *ring)
{
    struct layout l = {0};
    uint64_t replies = credits(ring) > ring->max_replies ? credits(ring) : ring->max_replies;
    l.slot = slot_words(ring->message_bytes, ring->stamped, slri_ring_drops(ring));
    l.reply_slot = slot_words(ring->reply_bytes, ring->stamped, false);
    l.lane_slots = power_of_two(credits(ring));
    l.reply_slots = ring->max_replies ? power_of_two(replies < 64 ? 64 : replies) : 1;
    lay_out_times(ring, &l);
    l.lane = round_up(l.lane_times_at + 2 * l.times, MB_LINE);
    l.lanes = l.lane * ring->max_ports;
    l.reply_lane = round_up(MB_REPLY_SLOTS + l.reply_slots * l.reply_slot, MB_LINE);
    l.pool_at = MB_REPLIES_AT + l.reply_lane * ring->max_ports;
    l.letters_at = round_up(l.pool_at + (credits(ring) + 1) * l.slot, MB_LINE);
    l.letter_slots = ring->dead_letters ? power_of_two(ring->dead_letters) : 0;
    l.node_times_at = round_up(l.letters_at + l.letter_slots * l.slot, MB_LINE);
    l.owner = round_up(l.node_times_at + (ring->latency_every ? 2 * (credits(ring) + 1) : 0), MB_LINE);
    l.total = MB_HEADER_WORDS(ring->shards) + (l.lanes + l.owner) * ring->shards;
    return l;
}

slr_status slri_arena_check(const slr_ring *ring)
{
    struct layout l = lay_out(ring);
    if (l.lanes + l.owner <= UINT32_MAX && l.total <= UINT32_MAX) // a shard's first: the sum of 256 may not fit u64
        return SLR_OK;
    return SLRI_FAIL(
        INVALID,
        "ring kernel '%s': a mailbox of %u messages of %u B and replies of %u B for %u ports needs %llu MiB "
        "of addresses, 16,384 are possible; lower queue_size or max_ports",
        ring->name, ring->queue_size, ring->message_bytes, ring->reply_bytes, ring->max_ports,
        (unsigned long long)(l.total >> 18));
}

static void write_header(const slr_ring *ring, const struct layout *l)
{
    uint32_t *S = ring->S;
    S[MB_CAPACITY] = (uint32_t)credits(ring);
    S[MB_SHARDS] = ring->shards;
    S[MB_PORT_WORDS] = (ring->max_ports + 31) / 32;
    S[MB_SLOT_WORDS] = (uint32_t)l->slot;
    S[MB_LANE_MASK] = (uint32_t)l->lane_slots - 1;
    S[MB_REPLY_SLOT_WORDS] = (uint32_t)l->reply_slot;
    S[MB_REPLY_MASK] = (uint32_t)l->reply_slots - 1;
    S[MB_MAX_REPLIES] = ring->max_replies;
    S[MB_LANES_AT] = MB_HEADER_WORDS(ring->shards);
    S[MB_LANE_STRIDE] = (uint32_t)l->lane;
    S[MB_LANES_STRIDE] = (uint32_t)l->lanes;
    S[MB_OWNERS_AT] = (uint32_t)(MB_HEADER_WORDS(ring->shards) + l->lanes * ring->shards);
    S[MB_OWNER_STRIDE] = (uint32_t)l->owner;
    S[MB_REPLY_STRIDE] = (uint32_t)l->reply_lane;
    S[MB_POOL_AT] = (uint32_t)l->pool_at;
    S[MB_STAMPED] = ring->stamped;
    S[MB_LETTERS] = ring->dead_letters;
    S[MB_LETTER_MASK] = ring->dead_letters ? (uint32_t)l->letter_slots - 1 : 0;
    S[MB_LETTERS_AT] = (uint32_t)l->letters_at;
    S[MB_TIMED_BELOW] = ring->latency_every ? (1u << 31) / ring->latency_every : 0;
    S[MB_TIMES_SHIFT] = (uint32_t)l->times_shift;
    S[MB_TIMES_MASK] = (uint32_t)l->times - 1;
    S[MB_LANE_TIMES_AT] = (uint32_t)l->lane_times_at;
    S[MB_NODE_TIMES_AT] = (uint32_t)l->node_times_at;
    if (slri_ring_drops(ring)) {
        S[MB_KEEP] = ring->queue_size;
        S[MB_EVICT] = ring->overflow == SLR_OVERFLOW_DROP_OLDEST ? MB_EVICT_OLDEST : MB_EVICT_LOWEST;
        S[MB_TICKET] = (uint32_t)l->slot - (ring->stamped ? 3 : 1);
    }
}

static uint32_t instances_of(const slr_ring *ring, uint32_t shard)
{
    return (ring->instances - shard + ring->shards - 1) / ring->shards;
}

static uint64_t state_stride(const slr_ring *ring)
{
    return round_up(ring->state_bytes, 16);
}

static void set_initial(const slr_ring *ring, const struct slri_shard *shard, unsigned char *states)
{
    for (uint32_t i = 0; i < instances_of(ring, shard->number); ++i)
        memcpy(states + i * state_stride(ring), ring->initial_state, ring->state_bytes);
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

// Memory that owners work in: the device's, where it owns the mailbox.
static void *reserve(const slr_ring *ring, uint64_t bytes)
{
    const slr_device *device = ring->device;
    void *memory = NULL;
    if (ring->mode != SLR_RING_PERSISTENT)
        return slri_map_reserve(bytes);
    return device->backend->ring_memory_create(device->self, bytes, &memory) == SLR_OK ? memory : NULL;
}

static void release(const slr_ring *ring, void *memory, uint64_t bytes)
{
    const slr_device *device = ring->device;
    if (memory && ring->mode == SLR_RING_PERSISTENT)
        device->backend->ring_memory_destroy(device->self, memory, bytes);
    else if (memory)
        slri_map_release(memory, bytes);
}

// The states of a shard's instances, on lines of their own, so that two workers never share one.
static slr_status create_states(slr_ring *ring, struct slri_shard *shard, uint64_t bytes)
{
    if (ring->relaunch)
        return create_device_states(ring, shard);
    shard->states = reserve(ring, bytes);
    if (!shard->states)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u instances of %u B", ring->name, ring->instances,
                         ring->state_bytes);
    if (ring->initial_state && !ring->key_sort) // with keys: when the key comes
        set_initial(ring, shard, shard->states);
    return SLR_OK;
}

static size_t box_bytes(const slr_ring *ring, size_t *message_room, size_t *reply_stride)
{
    *message_room = slot_words(ring->message_bytes, ring->stamped, slri_ring_drops(ring)) * 4;
    *reply_stride = round_up(ring->reply_bytes, 16);
    return round_up(sizeof(struct slri_box), 16) + round_up(*message_room, 16) + ring->max_replies * *reply_stride;
}

// What an abandoned handler leaves: nobody else looks at it any more.
static void bury(struct slri_box *box)
{
    slr_ring *ring = box->ring;
    const slr_device *device = ring->device;
    slri_map_release(box->states, ring->states_bytes);
    slri_free(device->allocator, box->out, box->out_bytes); // the ring kernel's is written by a restart
    if (ring->program)
        device->backend->handler_destroy(device->self, ring->program->self, box->handler_self);
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
    unsigned char *slot = (unsigned char *)box + round_up(sizeof *box, 16);
    box->message = slot + MB_PAYLOAD * 4;
    box->replies = slot + round_up(message_room, 16);
    shard->box = box;
    return SLR_OK;
}

uint32_t slri_ring_out_stride(const slr_parameter *parameter)
{
    return parameter->is_outlet ? (uint32_t)round_up(SLRI_OUT_HEAD + parameter->message.bytes, 16) : 0;
}

// Where a handler leaves what it sends: an entry for each parameter, then max_sends messages of each outlet.
static slr_status create_out(slr_ring *ring, struct slri_shard *shard)
{
    const slr_handler_info *info = slri_ring_handler_info(ring);
    uint64_t head = round_up(info->parameter_count * sizeof *shard->out, 16), bytes = head;
    for (uint32_t i = 0; i < info->parameter_count; ++i)
        bytes += (uint64_t)ring->max_sends * slri_ring_out_stride(&info->parameters[i]);
    ring->out_bytes = bytes;
    shard->out = slri_alloc(ring->device->allocator, bytes);
    if (!shard->out)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for what it sends", ring->name);
    shard->outs = info->parameter_count;
    unsigned char *at = (unsigned char *)shard->out + head;
    for (uint32_t i = 0; i < shard->outs; ++i) {
        uint64_t stride = slri_ring_out_stride(&info->parameters[i]);
        shard->out[i] = (struct slri_out){.base = at, .stride = (uint32_t)stride, .most = stride ? ring->max_sends : 0};
        at += ring->max_sends * stride;
    }
    return SLR_OK;
}

static slr_status create_handler(slr_ring *ring, struct slri_shard *shard)
{
    const slr_device *device = ring->device;
    if (ring->main || ring->relaunch)
        return SLR_OK;
    if (ring->on_batch)
        return shard->batch_handler ? SLR_OK : slri_batch_create(ring, shard);
    if (ring->mode == SLR_RING_PERSISTENT)
        return SLR_OK; // the kernel that stays has it
    if (ring->program)
        return device->backend->handler_create(device->self, ring->program->self, ring->entry, &shard->handler,
                                               &shard->handler_self);
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
    if (ring->has_outlets && !shard->out && ring->mode != SLR_RING_PERSISTENT) // its place is route_device.c's
        SLRI_TRY(create_out(ring, shard));
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

// Behind an owner's words lies its histogram.
static size_t latency_at(const slr_ring *ring)
{
    return (size_t)MBP_HISTOGRAM_AT(MBP_WORDS(ring->max_ports)) * 4;
}

static slr_status create_shard(slr_ring *ring, uint32_t number)
{
    struct slri_shard *shard = &ring->shard[number];
    *shard = (struct slri_shard){.shared = ring->S,
                                 .number = number,
                                 .shards = ring->shards,
                                 .mode = ring->mode,
                                 .program = ring->program ? ring->program->self : NULL,
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
                                 .published = slri_ring_published,
                                 .answered = slri_ring_answered,
                                 .operate = slri_ring_operate_all,
                                 .faulted = ring->fault_policy == SLR_FAULT_GO_ON ? NULL : slri_ring_faulted,
                                 .timeout_ns = ring->handler_timeout_ns,
                                 .abandoned = slri_ring_abandoned,
                                 .lost = slri_ring_lost,
                                 .redelivers = ring->redelivers != 0};
    shard->own = reserve(ring, ring->own_bytes);
    if (!shard->own)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a mailbox", ring->name);
    mb_open(ring->S, shard->own, number);
    if (ring->latency_every)
        shard->latency = (struct slri_histogram *)(void *)((unsigned char *)shard->own + latency_at(ring));
    shard->own[MBP_MOST] = ring->max_batch;
    if (ring->main)
        SLRI_TRY(slri_loop_create(ring));
    return slri_arena_outfit(ring, shard);
}

// A batch is not larger than what one dispatch takes.
static slr_status create_relaunch(slr_ring *ring)
{
    const slr_device *device = ring->device;
    const struct slri_relaunch_desc desc = {.name = ring->name,
                                            .program = ring->program->self,
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
                                            .stops = ring->fault_policy != SLR_FAULT_GO_ON};
    SLRI_TRY(slri_relaunch_create(device->backend, device->self, device->allocator, &desc, &ring->relaunch));
    if (ring->max_batch > ring->relaunch->room)
        ring->max_batch = ring->relaunch->room;
    return SLR_OK;
}

static slr_status create_lanes(slr_ring *ring)
{
    const slr_allocator *allocator = ring->device->allocator;
    ring->lane = slri_alloc(allocator, ring->max_ports * sizeof *ring->lane);
    if (!ring->lane)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u ports", ring->name, ring->max_ports);
    return SLR_OK;
}

slr_status slri_arena_create(slr_ring *ring)
{
    const slr_device *device = ring->device;
    const slr_allocator *allocator = device->allocator;
    struct layout l = lay_out(ring);
    ring->arena_bytes = l.total * 4;
    ring->own_bytes = latency_at(ring) + (ring->latency_every ? sizeof(struct slri_histogram) : 0);
    ring->states_bytes = instances_of(ring, 0) * state_stride(ring);
    if (ring->mode == SLR_RING_PERSISTENT && device->backend->ring_prepare)
        SLRI_TRY(device->backend->ring_prepare(device->self, ring->program->self, ring->entry));
    ring->S = reserve(ring, ring->arena_bytes);
    if (!ring->S)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for a mailbox of %zu B", ring->name,
                         ring->arena_bytes);
    write_header(ring, &l);
    if (ring->mode == SLR_RING_RELAUNCHED)
        SLRI_TRY(create_relaunch(ring));
    ring->shard = slri_alloc(allocator, ring->shards * sizeof *ring->shard);
    ring->seen = slri_alloc(allocator, ring->shards * sizeof *ring->seen);
    if (!ring->shard || !ring->seen)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for %u shards", ring->name, ring->shards);
    for (uint32_t i = 0; i < ring->shards; ++i)
        SLRI_TRY(create_shard(ring, i));
    SLRI_TRY(slri_keys_create(ring));
    SLRI_TRY(create_lanes(ring));
    return slri_routes_prepare(ring);
}

static void destroy_shard(slr_ring *ring, struct slri_shard *shard)
{
    const slr_device *device = ring->device;
    release(ring, shard->own, ring->own_bytes);
    release(ring, ring->relaunch ? NULL : shard->states, ring->states_bytes);
    if (shard->batch_handler)
        slri_batch_destroy(shard);
    if (shard->handler && ring->program)
        device->backend->handler_destroy(device->self, ring->program->self, shard->handler_self);
    if (shard->box)
        slri_free(device->allocator, shard->box, shard->box->bytes);
    slri_free(device->allocator, shard->out, ring->out_bytes);
}

void slri_arena_destroy(slr_ring *ring)
{
    const slr_allocator *allocator = ring->device->allocator;
    slri_loop_destroy(ring);
    slri_keys_destroy(ring);
    for (uint32_t i = 0; ring->shard && i < ring->shards; ++i)
        destroy_shard(ring, &ring->shard[i]);
    for (uint32_t i = 0; ring->lane && i < ring->max_ports; ++i) {
        slri_waker_release(ring->lane[i].waker);
        slri_free(allocator, ring->lane[i].cursor, ring->shards * sizeof *ring->lane[i].cursor);
    }
    slri_near_destroy(ring);
    slri_relaunch_destroy(ring->relaunch);
    slri_free(allocator, ring->lane, ring->max_ports * sizeof *ring->lane);
    slri_free(allocator, ring->seen, ring->shards * sizeof *ring->seen);
    slri_free(allocator, ring->shard, ring->shards * sizeof *ring->shard);
    release(ring, ring->S, ring->arena_bytes);
    ring->S = NULL;
    ring->relaunch = NULL;
    ring->shard = NULL;
    ring->lane = NULL;
    ring->seen = NULL;
}

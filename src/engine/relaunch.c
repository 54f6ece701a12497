// SPDX-License-Identifier: Apache-2.0
#include "engine/relaunch.h"

#include "base/round.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "engine/instances.h"
#include "engine/observe.h"

// Of each direction. A message that needs more goes alone.
#define MOST_BYTES ((uint64_t)16 << 20)

// ---- layout --------------------------------------------------------------------------------------------------------

// Bytes of one message that is sent through an outlet, or 0.
static uint64_t sent_stride(const struct slri_binding_info *binding)
{
    return binding->is_outlet ? slri_round_up(SLRI_OUT_HEAD + binding->type->bytes, 16) : 0;
}

// Where in a result an outlet's messages lie; with all bindings: its end.
static uint64_t sent_at(const struct slri_relaunch *relaunch, uint32_t bindings)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    uint64_t at = relaunch->replies_at + (uint64_t)desc->max_replies * relaunch->reply_stride;
    for (uint32_t i = 0; i < bindings; ++i)
        at += desc->max_sends * sent_stride(&desc->entry->binding[i]);
    return at;
}

// Bytes of `in` that a message takes, at most: in a batch of its own it has the number of its result, too.
static uint64_t most_packed(const struct slri_relaunch *relaunch)
{
    const uint64_t own = RL_PAYLOAD + (relaunch->takes_batches ? RL_BATCH_UNIT : 0);
    return slri_round_up(own + relaunch->desc.message_bytes, 16);
}

slr_status slri_relaunch_lay_out(struct slri_relaunch *relaunch)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    uint32_t words = RL_SENT(slri_entry_sends(desc->entry) ? desc->entry->bindings : 0);
    relaunch->replies_at = (uint32_t)slri_round_up(words * 4, 16);
    relaunch->reply_stride = (uint32_t)slri_round_up(desc->reply_bytes, 16);
    relaunch->takes_batches = desc->entry->kind == SLRI_ENTRY_BATCH;
    relaunch->message_stride =
        relaunch->takes_batches ? RL_BATCH_UNIT : (uint32_t)slri_round_up(RL_PAYLOAD + desc->message_bytes, 16);
    const uint64_t message = most_packed(relaunch);
    uint64_t result = sent_at(relaunch, desc->entry->bindings), room = desc->shards * desc->max_batch;
    if (result > UINT32_MAX)
        return SLRI_FAIL(UNSUPPORTED,
                         "ring kernel '%s': the replies and sends of one message need %llu B, which is too much",
                         desc->name, (unsigned long long)result);
    relaunch->result_stride = (uint32_t)result;
    uint64_t larger = result > message ? result : message;
    room = room < MOST_BYTES / larger ? room : MOST_BYTES / larger;
    relaunch->room = room ? (uint32_t)room : 1;
    relaunch->messages_at = (uint32_t)slri_round_up(relaunch->room * 4, 16);
    relaunch->in_bytes = relaunch->messages_at + (uint64_t)relaunch->room * message;
    relaunch->results_bytes = (uint64_t)relaunch->room * relaunch->result_stride;
    relaunch->states_a_shard = desc->state_bytes ? (uint32_t)(desc->states_bytes / desc->state_stride) : 0;
    relaunch->constants_bytes = RL_BINDING(desc->entry->bindings) + slri_round_up(desc->state_bytes, 16);
    return SLR_OK;
}

void slri_relaunch_constants(const struct slri_relaunch *relaunch, unsigned char *to)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    const uint32_t initial_at = RL_BINDING(desc->entry->bindings);
    uint32_t words[16] = {[RL_REPLIES_AT] = relaunch->replies_at,
                          [RL_REPLY_STRIDE] = relaunch->reply_stride,
                          [RL_MAX_REPLIES] = desc->max_replies,
                          [RL_MAX_SENDS] = desc->max_sends,
                          [RL_STOPS] = desc->stops,
                          [RL_STATE_BYTES] = (uint32_t)desc->state_bytes,
                          [RL_INITIAL_AT] = desc->initial_state ? initial_at : 0,
                          [RL_FUEL] = (uint32_t)desc->fuel,
                          [RL_FUEL + 1] = (uint32_t)(desc->fuel >> 32)};
    memcpy(to, words, sizeof words);
    for (uint32_t i = 0; i < desc->entry->bindings; ++i) {
        const struct slri_binding_info *binding = &desc->entry->binding[i];
        const uint32_t sent[] = {(uint32_t)sent_at(relaunch, i), (uint32_t)sent_stride(binding)};
        if (binding->is_outlet)
            memcpy(to + RL_BINDING(i), sent, sizeof sent);
        else if (binding->is_buffer)
            memcpy(to + RL_BINDING(i), &desc->bound[i].bytes, sizeof desc->bound[i].bytes);
        else
            memcpy(to + RL_BINDING(i), desc->bound[i].data, desc->bound[i].bytes);
    }
    if (desc->initial_state)
        memcpy(to + initial_at, desc->initial_state, desc->state_bytes);
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status create_memory(const struct slri_relaunch *relaunch, enum slri_memory_kind kind, uint64_t bytes,
                                void **memory)
{
    return slri_queue_device_memory(relaunch->of, kind, bytes, memory);
}

// Of `in` and `results`: host and device pass them to each other.
static enum slri_memory_kind passed_kind(const struct slri_relaunch *relaunch)
{
    return !relaunch->unified && relaunch->of->backend->shares_seen ? SLRI_MEMORY_SEEN : SLRI_MEMORY_DEVICE;
}

static unsigned char *view_of(const struct slri_relaunch *relaunch, void *memory)
{
    const struct slri_queue_device *of = relaunch->of;
    struct slri_memory_place place = {.host = relaunch->unified ? memory : NULL};
    if (!relaunch->unified && of->backend->shares_seen)
        of->backend->locate(of->device, memory, &place);
    return place.host;
}

static slr_status make_memory(struct slri_relaunch *relaunch)
{
    const slr_allocator *allocator = relaunch->of->allocator;
    const enum slri_memory_kind passed = passed_kind(relaunch);
    uint64_t states = relaunch->desc.states_bytes * relaunch->desc.shards;
    SLRI_TRY(create_memory(relaunch, passed, relaunch->in_bytes, &relaunch->in));
    SLRI_TRY(create_memory(relaunch, passed, relaunch->results_bytes, &relaunch->results));
    SLRI_TRY(create_memory(relaunch, SLRI_MEMORY_DEVICE, relaunch->constants_bytes, &relaunch->constants));
    if (states)
        SLRI_TRY(create_memory(relaunch, SLRI_MEMORY_DEVICE, states, &relaunch->states));
    unsigned char *in = view_of(relaunch, relaunch->in), *results = view_of(relaunch, relaunch->results);
    relaunch->sees = in && results;
    relaunch->host_in = relaunch->sees ? in : slri_alloc(allocator, relaunch->in_bytes);
    relaunch->host_results = relaunch->sees ? results : slri_alloc(allocator, relaunch->results_bytes);
    if (!relaunch->host_in || !relaunch->host_results)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for dispatches of %u messages", relaunch->desc.name,
                         relaunch->room);
    return SLR_OK;
}

static slr_status give_constants(struct slri_relaunch *relaunch)
{
    const slr_allocator *allocator = relaunch->of->allocator;
    unsigned char *constants = slri_alloc(allocator, relaunch->constants_bytes);
    if (!constants)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its bindings", relaunch->desc.name);
    slri_relaunch_constants(relaunch, constants);
    slr_status status = slri_relaunch_store(relaunch, relaunch->constants, constants, relaunch->constants_bytes);
    slri_free(allocator, constants, relaunch->constants_bytes);
    return status;
}

// Launches it once without a message: a driver that compiles or loads a kernel at its first launch does so now.
static slr_status try_out(struct slri_relaunch *relaunch)
{
    slri_relaunch_begin(relaunch);
    return slri_relaunch_end(relaunch);
}

slr_status slri_relaunch_create(struct slri_queue_device *of, const struct slri_relaunch_desc *desc,
                                struct slri_relaunch **out)
{
    struct slri_relaunch *relaunch = slri_alloc(of->allocator, sizeof *relaunch);
    if (!relaunch)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its dispatches", desc->name);
    relaunch->of = of;
    relaunch->desc = *desc;
    relaunch->unified = desc->unified;
    slr_status status = slri_relaunch_lay_out(relaunch);
    if (status == SLR_OK)
        status = slri_relaunch_make(relaunch);
    if (status != SLR_OK) {
        slri_relaunch_destroy(relaunch);
        return status;
    }
    *out = relaunch;
    return SLR_OK;
}

static void destroy_memory(const struct slri_relaunch *relaunch, enum slri_memory_kind kind, void **memory,
                           uint64_t bytes)
{
    if (*memory)
        relaunch->of->backend->memory_destroy(relaunch->of->device, kind, *memory, bytes);
    *memory = NULL;
}

static void free_host(const struct slri_relaunch *relaunch, unsigned char **memory, uint64_t bytes)
{
    if (!relaunch->sees && *memory)
        slri_queue_device_free(relaunch->of, *memory, bytes);
    *memory = NULL;
}

void slri_relaunch_drop(struct slri_relaunch *relaunch)
{
    const enum slri_memory_kind passed = passed_kind(relaunch), kept = SLRI_MEMORY_DEVICE;
    slri_batch_kernel_destroy(relaunch);
    free_host(relaunch, &relaunch->host_in, relaunch->in_bytes);
    free_host(relaunch, &relaunch->host_results, relaunch->results_bytes);
    destroy_memory(relaunch, kept, &relaunch->states, relaunch->desc.states_bytes * relaunch->desc.shards);
    destroy_memory(relaunch, kept, &relaunch->constants, relaunch->constants_bytes);
    destroy_memory(relaunch, passed, &relaunch->results, relaunch->results_bytes);
    destroy_memory(relaunch, passed, &relaunch->in, relaunch->in_bytes);
}

static slr_status make_all(struct slri_relaunch *relaunch)
{
    SLRI_TRY(make_memory(relaunch));
    SLRI_TRY(slri_batch_kernel_create(relaunch));
    SLRI_TRY(give_constants(relaunch));
    return try_out(relaunch);
}

slr_status slri_relaunch_make(struct slri_relaunch *relaunch)
{
    if (relaunch->kernel)
        return SLR_OK;
    slr_status status = make_all(relaunch);
    if (status != SLR_OK)
        slri_relaunch_drop(relaunch);
    return status;
}

void slri_relaunch_destroy(struct slri_relaunch *relaunch)
{
    if (!relaunch)
        return;
    slri_relaunch_drop(relaunch);
    slri_free(relaunch->of->allocator, relaunch, sizeof *relaunch);
}

// ---- states --------------------------------------------------------------------------------------------------------

static slr_status check_made(const struct slri_relaunch *relaunch)
{
    return relaunch->kernel
               ? SLR_OK
               : SLRI_FAIL(WRONG_STATE, "ring kernel '%s': its device was lost; restart the ring kernel first",
                           relaunch->desc.name);
}

slr_status slri_relaunch_load(struct slri_relaunch *relaunch, const void *state, void *to, uint64_t bytes)
{
    SLRI_TRY(check_made(relaunch));
    if (!relaunch->unified)
        return slri_queue_device_copy(relaunch->of, (void *)(uintptr_t)state, to, bytes, false);
    memcpy(to, state, bytes);
    return SLR_OK;
}

slr_status slri_relaunch_store(struct slri_relaunch *relaunch, void *state, const void *from, uint64_t bytes)
{
    SLRI_TRY(check_made(relaunch));
    if (!relaunch->unified)
        return slri_queue_device_copy(relaunch->of, state, (void *)(uintptr_t)from, bytes, true);
    memcpy(state, from, bytes);
    return SLR_OK;
}

slr_status slri_relaunch_clear(struct slri_relaunch *relaunch, void *state, uint64_t bytes)
{
    const struct slri_command zero = {.op = SLRI_FILL, .fill = {state, bytes, 1, {0}}};
    SLRI_TRY(check_made(relaunch));
    if (!relaunch->unified)
        return slri_queue_device_run(relaunch->of, &zero, 1);
    memset(state, 0, bytes);
    return SLR_OK;
}

slr_status slri_shard_store(const struct slri_shard *shard, void *state, const void *from)
{
    struct slri_relaunch *relaunch = shard->relaunch;
    if (!from)
        from = shard->initial_state;
    if (relaunch)
        return from ? slri_relaunch_store(relaunch, state, from, shard->state_bytes)
                    : slri_relaunch_clear(relaunch, state, shard->state_bytes);
    if (from)
        memcpy(state, from, shard->state_bytes);
    else
        memset(state, 0, shard->state_bytes);
    return SLR_OK;
}

// ---- packing -------------------------------------------------------------------------------------------------------

static uint32_t place_of(const struct slri_relaunch *relaunch, uint32_t record)
{
    return relaunch->messages_at + record * relaunch->message_stride;
}

// A message, or a batch.
static uint32_t *packed_at(const struct slri_relaunch *relaunch, uint32_t place)
{
    return (uint32_t *)(void *)(relaunch->host_in + place);
}

static const uint32_t *slot_of(const struct slri_shard *shard, uint32_t k)
{
    return &shard->shared[shard->own[MBP_BATCH(k) + 1]];
}

// The words in front of a message, or of a batch, which ends its chain so far.
static void put_head(const struct slri_relaunch *relaunch, const struct slri_shard *shard, uint32_t instance,
                     uint32_t *to)
{
    to[RL_INSTANCE] = instance;
    to[RL_NEXT] = RL_END;
    to[RL_STATE] = instance / relaunch->desc.shards + shard->number * relaunch->states_a_shard;
}

// What lies at `place` is handled behind what lies at `before`, or first of a chain.
static void link_up(struct slri_relaunch *relaunch, uint32_t before, uint32_t place)
{
    if (before == RL_END)
        packed_at(relaunch, 0)[relaunch->chains++] = place;
    else
        packed_at(relaunch, before)[RL_NEXT] = place;
}

// Gives how many it were.
static uint32_t pack_messages(struct slri_relaunch *relaunch, const struct slri_shard *shard, uint32_t ready)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    const uint32_t first = relaunch->messages;
    struct slri_instances instances;
    uint8_t turn[SLRI_MOST_BATCH]; // in its chain
    uint32_t k = 0;
    slri_instances_begin(&instances);
    for (; k < ready; ++k) {
        const uint32_t *slot = slot_of(shard, k);
        const uint32_t before = desc->stops ? k - 1 : slri_instances_add(&instances, k, slot[MB_INSTANCE]);
        turn[k] = before == SLRI_NO_MESSAGE ? 0 : (uint8_t)(turn[before] + 1);
        if (turn[k] == SLRI_RELAUNCH_MOST_CHAIN)
            break;
        uint32_t place = place_of(relaunch, first + k), *message = packed_at(relaunch, place);
        put_head(relaunch, shard, slot[MB_INSTANCE], message);
        message[RL_RECORD] = (first + k) * relaunch->result_stride;
        memcpy((unsigned char *)message + RL_PAYLOAD, &slot[MB_PAYLOAD], desc->message_bytes);
        link_up(relaunch, before == SLRI_NO_MESSAGE ? RL_END : place_of(relaunch, first + before), place);
    }
    relaunch->packed_bytes += (uint64_t)k * relaunch->message_stride;
    return k;
}

// The messages from k on that `instances` lists behind it. Gives where the batch lies.
static uint32_t pack_batch(struct slri_relaunch *relaunch, const struct slri_shard *shard,
                           const struct slri_instances *instances, uint32_t k)
{
    const uint32_t bytes = relaunch->desc.message_bytes, at = relaunch->messages_at + (uint32_t)relaunch->packed_bytes;
    uint32_t *head = packed_at(relaunch, at), count = 0;
    put_head(relaunch, shard, slot_of(shard, k)[MB_INSTANCE], head);
    for (uint32_t each = k; each != SLRI_NO_MESSAGE; each = slri_instances_next(instances, each))
        head[RL_PAYLOAD / 4 + count++] = (relaunch->messages + each) * relaunch->result_stride;
    head[RL_COUNT] = count;
    unsigned char *to = (unsigned char *)head + RL_PAYLOAD + slri_round_up(UINT64_C(4) * count, RL_BATCH_UNIT);
    for (uint32_t each = k; each != SLRI_NO_MESSAGE; each = slri_instances_next(instances, each), to += bytes)
        memcpy(to, &slot_of(shard, each)[MB_PAYLOAD], bytes);
    relaunch->packed_bytes += slri_round_up((uint64_t)(to - (unsigned char *)head), RL_BATCH_UNIT);
    return at;
}

// A batch for each instance; or, where a fault stops the messages behind it, one for each run of an instance's.
static void pack_batches(struct slri_relaunch *relaunch, const struct slri_shard *shard, uint32_t ready)
{
    const bool stops = relaunch->desc.stops;
    struct slri_instances instances;
    uint32_t before = RL_END, run = 0;
    slri_instances_begin(&instances);
    for (uint32_t k = 0; k < ready; ++k) {
        uint32_t instance = slot_of(shard, k)[MB_INSTANCE];
        run += stops && k != 0 && instance != slot_of(shard, k - 1)[MB_INSTANCE];
        slri_instances_add(&instances, k, stops ? run : instance);
    }
    for (uint32_t k = 0; k < ready; ++k) {
        if (!slri_instances_is_first(&instances, k))
            continue;
        uint32_t at = pack_batch(relaunch, shard, &instances, k);
        link_up(relaunch, before, at);
        before = stops ? at : RL_END;
    }
}

// A batch for each message, in the chain of its instance.
static void pack_singly(struct slri_relaunch *relaunch, const struct slri_shard *shard, uint32_t ready)
{
    struct slri_instances instances, alone;
    uint32_t at[SLRI_MOST_BATCH];
    slri_instances_begin(&instances);
    slri_instances_begin(&alone);
    for (uint32_t k = 0; k < ready; ++k) {
        slri_instances_add(&alone, k, k);
        at[k] = pack_batch(relaunch, shard, &alone, k);
        uint32_t before =
            relaunch->desc.stops ? k - 1 : slri_instances_add(&instances, k, slot_of(shard, k)[MB_INSTANCE]);
        link_up(relaunch, before == SLRI_NO_MESSAGE ? RL_END : at[before], at[k]);
    }
}

void slri_relaunch_pack(struct slri_relaunch *relaunch, struct slri_shard *shard, uint32_t ready, uint32_t batch)
{
    if (relaunch->takes_batches && relaunch->desc.one_a_call)
        pack_singly(relaunch, shard, ready);
    else if (relaunch->takes_batches)
        pack_batches(relaunch, shard, ready);
    else
        ready = pack_messages(relaunch, shard, ready);
    relaunch->part[relaunch->parts++] = (struct slri_relaunch_part){shard, relaunch->messages, ready, batch};
    relaunch->messages += ready;
}

// ---- dispatching ---------------------------------------------------------------------------------------------------

static slr_status note(struct slri_relaunch *relaunch, slr_status status)
{
    if (status != SLR_OK)
        slri_text_fit(relaunch->why, sizeof relaunch->why, slr_error_message());
    return status;
}

void slri_relaunch_begin(struct slri_relaunch *relaunch)
{
    relaunch->begin = slri_observe_begin();
    relaunch->begun = note(relaunch, slri_batch_kernel_launch(relaunch));
}

slr_status slri_relaunch_end(struct slri_relaunch *relaunch)
{
    uint64_t kernel_ns = 0;
    slr_status status = slri_batch_kernel_await(relaunch, &kernel_ns);
    relaunch->began_ns = relaunch->begin ? slri_tick_time_ns(relaunch->begin) : 0;
    relaunch->took_ns = !relaunch->begin ? 0
                        : kernel_ns      ? kernel_ns
                                         : slri_tick_ns() - relaunch->began_ns; // until the host knew of the end
    return relaunch->begun == SLR_OK ? note(relaunch, status) : relaunch->begun;
}

// SPDX-License-Identifier: Apache-2.0
// A handler's launch: made-up messages, one after the other, to instances whose states begin as zero.
#include "check/launch.h"

#include "base/status.h"
#include "base/text.h"
#include "ir/type.h"

#include <string.h>

enum { INSTANCES = 2 };

struct room { // what the calls of a launch write to
    unsigned char *state[INSTANCES], *message, *replies;
    struct slri_out *out;
    struct slri_call *call; // of a `__ring_batch__` handler as many as it may have messages; else one
};

// How many messages the calls of a `__ring_batch__` handler have, in turn.
static const uint32_t sizes[] = {1, 2, 5, 32, SLRI_BATCH_MESSAGES};

static uint64_t most_messages(const struct slri_entry *entry)
{
    return entry->kind == SLRI_ENTRY_BATCH ? SLRI_BATCH_MESSAGES : 1;
}

static uint32_t size_of_call(const struct slri_entry *entry, uint32_t number, uint64_t left)
{
    uint32_t size = entry->kind == SLRI_ENTRY_BATCH ? sizes[number % (sizeof sizes / sizeof *sizes)] : 1;
    return size < left ? size : (uint32_t)left;
}

static slr_status no_message_memory(const struct slri_plan *plan)
{
    return SLRI_FAIL(NO_MEMORY, "no memory to check handler %s", plan->entry->name);
}

static bool take_room(const struct slri_entry *entry, struct slri_region *region, struct room *room)
{
    uint64_t reply = entry->reply ? entry->reply->bytes : 0;
    for (int i = 0; i < INSTANCES; i++)
        if ((room->state[i] = slri_region_take(region, (entry->state ? entry->state->bytes : 0) + 16)) == NULL)
            return false;
    room->message = slri_region_take(region, most_messages(entry) * entry->message->bytes + 16);
    room->call = slri_region_take(region, most_messages(entry) * sizeof *room->call);
    room->replies = slri_region_take(region, SLRI_CHECK_SENDS * reply + 16);
    room->out = slri_region_take(region, (entry->bindings + 1) * sizeof *room->out);
    if (!room->message || !room->call || !room->replies || !room->out)
        return false;
    for (uint32_t i = 0; i < entry->bindings; i++) {
        uint64_t stride = (SLRI_OUT_HEAD + entry->binding[i].type->bytes + 7) / 8 * 8;
        if (!entry->binding[i].is_outlet)
            continue;
        room->out[i] = (struct slri_out){.stride = (uint32_t)stride, .most = SLRI_CHECK_SENDS};
        room->out[i].base = slri_region_take(region, stride * SLRI_CHECK_SENDS);
        if (room->out[i].base == NULL)
            return false;
    }
    return true;
}

static struct slri_call call_of(const struct slri_entry *entry, const struct room *room, const struct slri_grid *grid,
                                uint32_t instance, uint32_t messages)
{
    return (struct slri_call){.state = entry->state ? room->state[instance] : NULL,
                              .message = room->message,
                              .bound = grid->arg,
                              .reply_base = room->replies,
                              .reply_mask = SLRI_CHECK_SENDS - 1, // a power of two
                              .reply_stride = entry->reply ? (uint32_t)entry->reply->bytes : 0,
                              .reply_bytes = entry->reply ? (uint32_t)entry->reply->bytes : 0,
                              .max_replies = SLRI_CHECK_SENDS,
                              .instance = instance,
                              .fuel = slri_batch_fuel(grid->fuel, messages),
                              .out = room->out,
                              .messages = messages};
}

slr_status slri_messages_run(const struct slri_plan *plan, const struct slri_trial *trial, struct slri_run *run,
                             struct slri_grid *grid, struct slri_outcome *outcome)
{
    const struct slri_entry *entry = plan->entry;
    struct slri_interp_thread *block;
    struct room room;
    if (!take_room(entry, run->region, &room))
        return no_message_memory(plan);
    SLRI_TRY(slri_interp_block_create(plan->interp, entry, grid, &block));
    uint32_t number = 0, size;
    for (uint64_t i = 0; i < trial->grid[0] && outcome->instructions < trial->steps; i += size, number++) {
        struct slri_grid_end end;
        size = size_of_call(entry, number, trial->grid[0] - i);
        for (uint32_t k = 0; k < size; k++) {
            room.call[k] = call_of(entry, &room, grid, number % INSTANCES, size);
            slri_fill_message(plan, trial, i + k, room.message + k * entry->message->bytes);
        }
        uint64_t left = trial->steps - outcome->instructions;
        for (uint32_t k = 0; k < entry->bindings; k++)
            room.out[k].count = 0;
        slri_interp_block_message(block, room.call, i, left, &end);
        outcome->instructions += end.instructions;
        bool is_over = end.fault == SLRI_FAULT_FUEL && end.instructions >= left; // of the launch, not of the message
        outcome->was_cut |= end.fault == SLRI_FAULT_FUEL;
        outcome->handled += is_over ? 0 : size;
        if (!is_over)
            slri_run_judge(run, &end);
        if (end.fault != SLRI_FAULT_NONE && entry->state) // as a ring kernel's instance begins anew
            memset(room.call->state, 0, entry->state->bytes);
    }
    slri_interp_thread_destroy(block);
    return SLR_OK;
}

const char *slri_messages_words(const struct slri_plan *plan, const struct slri_trial *trial, uint32_t handled)
{
    static const char *const contents[] = {[SLRI_ZEROED] = "zero",
                                           [SLRI_POSITIVE] = "random, whole numbers from 1 to 100",
                                           [SLRI_EXTREME] = "the least, the most, 0, -1 and 1 of each type"};
    slri_text text = SLRI_TEXT_INIT;
    slri_text_printf(&text, "%u messages to %d instances, ", handled, INSTANCES);
    slri_type_spell_to(&text, plan->entry->message);
    slri_text_printf(&text, ": %s", contents[trial->messages]);
    const char *kept = slri_region_text(plan->region, slri_text_view(&text), text.length);
    slri_text_free(&text);
    return kept ? kept : "";
}

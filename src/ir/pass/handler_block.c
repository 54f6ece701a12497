// SPDX-License-Identifier: Apache-2.0
// What is another's of a `__ring_block__` handler: a block goes through a chain, all its threads call the handler on a
// message, and the first one that has a fault tells of it. Before each message shared memory is zero.
#include "abi/handler.h"
#include "abi/relaunch.h"
#include "base/round.h"
#include "ir/pass/handler_kernel.h"
#include "ir/pass/lower.h"
#include "ir/type.h"

// ---- the block's threads -------------------------------------------------------------------------------------------

static slri_reg number(struct slri_lowering *l, enum slri_kind kind, uint64_t value)
{
    return slri_lower_const(l, kind, value);
}

static slri_reg own_number(struct slri_lowering *l)
{
    return slri_lower_builtin(l, SLRI_BUILTIN_THREAD_X);
}

static void wait(struct slri_lowering *l)
{
    slri_lower_append(l, SLRI_OP_BARRIER, SLRI_VOID)->imm = SLRI_BARRIER_SYNC;
}

struct slri_block *slri_lower_if_first(struct slri_lowering *l)
{
    slri_reg none = number(l, SLRI_U32, 0);
    return slri_lower_if(l, slri_lower_op(l, SLRI_OP_EQ, SLRI_U32, own_number(l), none), NULL);
}

bool slri_lower_block_place(struct slri_lowering *l, const struct slri_instr *in)
{
    static const uint32_t one_block[SLRI_BUILTIN_COUNT] = {
        [SLRI_BUILTIN_BLOCK_DIM_Y] = 1, [SLRI_BUILTIN_BLOCK_DIM_Z] = 1, [SLRI_BUILTIN_GRID_DIM_X] = 1,
        [SLRI_BUILTIN_GRID_DIM_Y] = 1,  [SLRI_BUILTIN_GRID_DIM_Z] = 1,
    };
    if (in->imm == SLRI_BUILTIN_THREAD_X)
        return false;
    slri_lower_set_const(l, in->dst, SLRI_U32, in->imm == SLRI_BUILTIN_BLOCK_DIM_X ? l->threads : one_block[in->imm]);
    return true;
}

slri_reg slri_lower_block_fuel(struct slri_lowering *l, slri_reg fuel)
{
    return slri_lower_op(l, SLRI_OP_DIV, SLRI_U64, fuel, number(l, SLRI_U64, l->threads));
}

// ---- what they share -----------------------------------------------------------------------------------------------

// One object more than the handler's module has.
static struct slri_root shared_words(const struct slri_lowering *l)
{
    return (struct slri_root){SLRI_ROOT_SHARED, l->from->shareds};
}

static uint32_t count_at(uint32_t word)
{
    return SLRI_BLOCK_REPLIES + 4 * (word - SLRI_CALL_REPLIES);
}

static slri_reg shared_load(struct slri_lowering *l, uint32_t at)
{
    return slri_lower_load(l, SLRI_U32, shared_words(l), number(l, SLRI_I64, at));
}

static void shared_store(struct slri_lowering *l, uint32_t at, uint32_t value)
{
    slri_reg place = number(l, SLRI_I64, at);
    slri_lower_store(l, SLRI_U32, shared_words(l), place, number(l, SLRI_U32, value));
}

static slri_reg shared_atomic(struct slri_lowering *l, enum slri_rmw rmw, uint32_t at, slri_reg value)
{
    slri_reg place = number(l, SLRI_I64, at), old = slri_lower_reg(l, SLRI_U32);
    struct slri_instr *in = slri_lower_append(l, SLRI_OP_ATOMIC_RMW, SLRI_U32);
    in->imm = rmw;
    in->root = shared_words(l);
    in->a = place;
    in->b = value;
    in->dst = old;
    in->order = SLRI_RELAXED;
    in->scope = SLRI_SCOPE_BLOCK;
    return old;
}

slri_reg slri_lower_block_take(struct slri_lowering *l, uint32_t word)
{
    slri_reg old = shared_atomic(l, SLRI_RMW_ADD, count_at(word), number(l, SLRI_U32, 1));
    return slri_lower_convert(l, SLRI_U64, old);
}

uint64_t slri_lower_block_bytes(const struct slri_entry *handler)
{
    return slri_round_up(count_at(SLRI_CALL_SENT + handler->bindings), 16);
}

bool slri_lower_block_shared(struct slri_lowering *l, struct slri_types *types, struct slri_module *module,
                             struct slri_entry *entry)
{
    const struct slri_module *from = l->from;
    const uint32_t words = count_at(SLRI_CALL_SENT + l->handler->bindings) / 4;
    struct slri_shared *shared = slri_region_take(l->region, (from->shareds + (size_t)1) * sizeof *shared);
    uint64_t *offset = slri_region_take(l->region, (from->shareds + (size_t)1) * sizeof *offset);
    const struct slri_type *type = slri_type_array(types, slri_type_of(types, SLRI_U32), words);
    if (!shared || !offset || !type)
        return false;
    for (uint32_t i = 0; i < from->shareds; i++) {
        shared[i] = from->shared[i];
        offset[i] = slri_entry_shared(l->handler, i);
    }
    shared[from->shareds] = (struct slri_shared){"slri_block", type, l->handler->function->where};
    offset[from->shareds] = slri_round_up(l->handler->shared_bytes, 16);
    module->shared = shared;
    module->shareds = from->shareds + 1;
    entry->shared_offset = offset;
    entry->shareds = module->shareds;
    entry->shared_bytes = offset[from->shareds] + type->bytes;
    return true;
}

// ---- a message -----------------------------------------------------------------------------------------------------

// In which kind an object is written: the one that it is made of, or words, or bytes.
static enum slri_kind kind_of(const struct slri_type *type)
{
    const struct slri_type *leaf = type;
    while (leaf->kind == SLRI_ARRAY)
        leaf = leaf->of;
    if (leaf->kind != SLRI_STRUCT)
        return leaf->kind;
    return type->align % 4 == 0 && type->bytes % 4 == 0 ? SLRI_U32 : SLRI_U8;
}

// The threads take turns in it.
static void clear_object(struct slri_lowering *l, uint32_t index)
{
    const struct slri_type *type = l->from->shared[index].type;
    const enum slri_kind kind = kind_of(type);
    const uint32_t bytes = slri_kind_bytes(kind);
    slri_reg i = slri_lower_variable(l, SLRI_U32, "i"), threads = number(l, SLRI_U32, l->threads);
    slri_reg most = number(l, SLRI_U32, type->bytes / bytes), size = number(l, SLRI_I64, bytes);
    slri_reg none = number(l, slri_kind_in_register(kind), 0);
    slri_lower_set(l, i, SLRI_OP_MOVE, SLRI_U32, own_number(l), SLRI_NO_REG);
    struct slri_block *behind = slri_lower_for(l, i, most, threads);
    slri_reg at = slri_lower_op(l, SLRI_OP_MUL, SLRI_I64, slri_lower_convert(l, SLRI_I64, i), size);
    slri_lower_store(l, kind, (struct slri_root){SLRI_ROOT_SHARED, index}, at, none);
    l->block = behind;
}

static void clear_shared(struct slri_lowering *l)
{
    for (uint32_t i = 0; i < l->from->shareds; i++)
        if (slri_entry_has_shared(l->handler, i))
            clear_object(l, i);
    struct slri_block *behind = slri_lower_if_first(l);
    shared_store(l, SLRI_BLOCK_FIRST, UINT32_MAX);
    for (uint32_t word = SLRI_CALL_REPLIES; word < SLRI_CALL_SENT + l->handler->bindings; word++)
        if (word == SLRI_CALL_REPLIES || l->handler->binding[word - SLRI_CALL_SENT].is_outlet)
            shared_store(l, count_at(word), 0);
    l->block = behind;
}

// Those that were tried and had room.
static void put_count(struct slri_lowering *l, slri_reg record, uint32_t word_of_record, uint32_t word, uint32_t most)
{
    slri_reg count = slri_lower_variable(l, SLRI_U32, NULL), room = slri_lower_constant(l, most);
    slri_lower_set(l, count, SLRI_OP_MOVE, SLRI_U32, shared_load(l, count_at(word)), SLRI_NO_REG);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_GT, SLRI_U32, count, room), NULL);
    slri_lower_set(l, count, SLRI_OP_MOVE, SLRI_U32, room, SLRI_NO_REG);
    l->block = behind;
    slri_lower_put_word(l, record, word_of_record, count);
}

// By the first thread.
static void put_counts(struct slri_lowering *l, slri_reg record)
{
    put_count(l, record, RL_REPLIES, SLRI_CALL_REPLIES, RL_MAX_REPLIES);
    for (uint32_t i = 0; i < l->handler->bindings; i++)
        if (l->handler->binding[i].is_outlet)
            put_count(l, record, RL_SENT(i), SLRI_CALL_SENT + i, RL_MAX_SENDS);
}

// A thread's own, or of the first thread where there is none.
static void put_own_fault(struct slri_lowering *l, slri_reg record)
{
    for (uint32_t i = 0; i < 3; i++) {
        slri_reg word = slri_lower_convert(l, SLRI_U32, slri_lower_get(l, SLRI_CALL_FAULT + i));
        slri_lower_put_word(l, record, RL_FAULT + i, word);
    }
}

static void tell_fault(struct slri_lowering *l)
{
    slri_reg fault = slri_lower_get(l, SLRI_CALL_FAULT), none = number(l, SLRI_U64, SLRI_FAULT_NONE);
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_NE, SLRI_U64, fault, none), NULL);
    shared_atomic(l, SLRI_RMW_MIN, SLRI_BLOCK_FIRST, own_number(l));
    l->block = behind;
}

static void end_message(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg began, slri_reg stopped)
{
    slri_reg first = shared_load(l, SLRI_BLOCK_FIRST), none = number(l, SLRI_U32, UINT32_MAX);
    struct slri_block *other;
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_EQ, SLRI_U32, first, none), &other);
    slri_lower_if_first(l);
    put_own_fault(l, m->record);
    l->block = other;
    struct slri_block *faulted = slri_lower_if(l, slri_lower_op(l, SLRI_OP_EQ, SLRI_U32, first, own_number(l)), NULL);
    put_own_fault(l, m->record);
    if (l->handler->state)
        slri_lower_reset_state(l);
    l->block = faulted;
    slri_lower_set(l, stopped, SLRI_OP_MOVE, SLRI_U32, slri_lower_constant(l, RL_STOPS), SLRI_NO_REG);
    l->block = behind;
    behind = slri_lower_if_first(l);
    slri_lower_ticks(l, m->record, began);
    put_counts(l, m->record);
    l->block = behind;
}

void slri_lower_block_message(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg fuel,
                              slri_reg stopped)
{
    clear_shared(l);
    slri_lower_begin_call(l, m, fuel);
    wait(l);
    slri_reg began = slri_lower_clock(l);
    slri_lower_call_handler(l);
    tell_fault(l);
    wait(l);
    end_message(l, m, began, stopped);
    wait(l);
}

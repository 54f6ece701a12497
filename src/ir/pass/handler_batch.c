// SPDX-License-Identifier: Apache-2.0
// What is another's of a `__ring_batch__` handler: it is called once for the messages of a batch, which lie one behind
// the other. Each message has a record, in which its replies are counted. All of them have the handler's fault.
#include "abi/handler.h"
#include "abi/relaunch.h"
#include "ir/pass/handler_kernel.h"
#include "ir/pass/lower.h"

static slri_reg add(struct slri_lowering *l, slri_reg a, slri_reg b)
{
    return slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, a, b);
}

static slri_reg offset(struct slri_lowering *l, uint64_t bytes)
{
    return slri_lower_const(l, SLRI_I64, bytes);
}

// ---- its records ---------------------------------------------------------------------------------------------------

// That of message `i`; `places` is where the batch has their places.
static slri_reg record_of(struct slri_lowering *l, slri_reg places, slri_reg i)
{
    slri_reg behind = slri_lower_op(l, SLRI_OP_MUL, SLRI_I64, slri_lower_convert(l, SLRI_I64, i), offset(l, 4));
    slri_reg at = add(l, places, behind);
    return slri_lower_convert(l, SLRI_I64, slri_lower_load(l, SLRI_U32, slri_lower_root(SLRI_BATCH_IN), at));
}

slri_reg slri_lower_record(struct slri_lowering *l, slri_reg message)
{
    return record_of(l, slri_lower_convert(l, SLRI_I64, slri_lower_get(l, SLRI_CALL_RECORD)), message);
}

slri_reg slri_lower_messages(struct slri_lowering *l)
{
    return slri_lower_convert(l, SLRI_U32, slri_lower_get(l, SLRI_CALL_MESSAGES));
}

struct put { // a word of a record
    uint32_t word;
    slri_reg value;
};

// In the records of all messages of the batch at `at`.
static void put_all(struct slri_lowering *l, slri_reg at, const struct put *put, uint32_t puts)
{
    slri_reg places = add(l, at, offset(l, RL_PAYLOAD)), count = slri_lower_word_of(l, at, RL_COUNT);
    slri_reg i = slri_lower_variable(l, SLRI_U32, "i"), one = slri_lower_const(l, SLRI_U32, 1);
    slri_lower_set_const(l, i, SLRI_U32, 0);
    struct slri_block *behind = slri_lower_for(l, i, count, one);
    slri_reg record = record_of(l, places, i);
    for (uint32_t k = 0; k < puts; k++)
        slri_lower_put_word(l, record, put[k].word, put[k].value);
    l->block = behind;
}

void slri_lower_batch_not_run(struct slri_lowering *l, slri_reg at)
{
    const struct put fault = {RL_FAULT, slri_lower_const(l, SLRI_U32, RL_NOT_RUN)};
    put_all(l, at, &fault, 1);
}

// ---- a call --------------------------------------------------------------------------------------------------------

// What all messages have together: as much as each, unless nobody could use it up.
static slri_reg fuel_of_batch(struct slri_lowering *l, slri_reg fuel, slri_reg count)
{
    slri_reg whole = slri_lower_variable(l, SLRI_U64, NULL), none = slri_lower_const(l, SLRI_U64, 0);
    slri_lower_set(l, whole, SLRI_OP_MOVE, SLRI_U64, fuel, SLRI_NO_REG);
    slri_reg high = slri_lower_op(l, SLRI_OP_SHR, SLRI_U64, fuel, slri_lower_const(l, SLRI_U64, SLRI_BATCH_FUEL_BITS));
    struct slri_block *behind = slri_lower_if(l, slri_lower_op(l, SLRI_OP_EQ, SLRI_U64, high, none), NULL);
    slri_lower_set(l, whole, SLRI_OP_MUL, SLRI_U64, fuel, slri_lower_convert(l, SLRI_U64, count));
    l->block = behind;
    return whole;
}

static void begin_batch(struct slri_lowering *l, slri_reg at, slri_reg count, slri_reg fuel)
{
    const struct slri_lower_message m = {at, at};
    const struct put begun[] = {{RL_REPLIES, slri_lower_const(l, SLRI_U32, 0)},
                                {RL_TICKS, slri_lower_const(l, SLRI_U32, 0)}};
    put_all(l, at, begun, 2);
    slri_lower_begin_call(l, &m, fuel_of_batch(l, fuel, count));
    slri_reg size = slri_lower_op(l, SLRI_OP_MUL, SLRI_I64, slri_lower_convert(l, SLRI_I64, count), offset(l, 4));
    size = add(l, size, offset(l, 15));
    size = slri_lower_op(l, SLRI_OP_AND, SLRI_I64, size, offset(l, ~UINT64_C(15)));
    slri_reg places = add(l, at, offset(l, RL_PAYLOAD)), messages = add(l, places, size);
    slri_lower_put(l, SLRI_CALL_RECORD, slri_lower_convert(l, SLRI_U64, places));
    slri_lower_put(l, SLRI_CALL_MESSAGE, slri_lower_convert(l, SLRI_U64, messages));
    slri_lower_put(l, SLRI_CALL_MESSAGES, slri_lower_convert(l, SLRI_U64, count));
}

static void end_batch(struct slri_lowering *l, slri_reg at, slri_reg stopped)
{
    struct put ended[3];
    for (uint32_t i = 0; i < 3; i++)
        ended[i] = (struct put){RL_FAULT + i, slri_lower_convert(l, SLRI_U32, slri_lower_get(l, SLRI_CALL_FAULT + i))};
    put_all(l, at, ended, 3);
    slri_reg none = slri_lower_const(l, SLRI_U32, SLRI_FAULT_NONE);
    slri_reg faulted = slri_lower_op(l, SLRI_OP_NE, SLRI_U32, ended[0].value, none);
    struct slri_block *behind = slri_lower_if(l, faulted, NULL);
    if (l->handler->state)
        slri_lower_reset_state(l);
    slri_lower_set(l, stopped, SLRI_OP_MOVE, SLRI_U32, slri_lower_constant(l, RL_STOPS), SLRI_NO_REG);
    l->block = behind;
}

void slri_lower_batch(struct slri_lowering *l, slri_reg at, slri_reg fuel, slri_reg stopped)
{
    slri_reg count = slri_lower_word_of(l, at, RL_COUNT);
    begin_batch(l, at, count, fuel);
    slri_reg began = slri_lower_clock(l);
    slri_lower_call_handler(l);
    slri_lower_ticks(l, slri_lower_record(l, slri_lower_const(l, SLRI_U32, 0)), began);
    end_batch(l, at, stopped);
}

// SPDX-License-Identifier: Apache-2.0
// For the interpreter's tests: writing IR by hand, and running it both at once and one instruction at a time.
#ifndef SLRI_RUN_INTERPRETER_TEST_H
#define SLRI_RUN_INTERPRETER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/interpreter.h"
#include "ir/math/scalar.h"

#include <string.h>

enum { STATE_BYTES = 128, MESSAGE_BYTES = 64, MAX_FUNCTIONS = 8, MAX_BINDINGS = 4 };

static const struct slri_root STATE = {SLRI_ROOT_STATE, 0}, MESSAGE = {SLRI_ROOT_MESSAGE, 0};

// A module being written: one entry, "handle", whose function is the first one begun. `block` is where instructions go;
// each one is on a line of its own, counted from 1.
struct kit {
    struct slri_module module;
    struct slri_region *region;
    struct slri_function *function;
    struct slri_block *block;
    uint32_t line;
    struct slri_entry entry;
    struct slri_binding_info binding[MAX_BINDINGS];
    struct slri_function *functions[MAX_FUNCTIONS];
    struct slri_type state, message, element, reply;
    const char *file;
};

// ---- writing --------------------------------------------------------------------------------------------------------

static inline struct slri_function *kit_function(struct kit *kit, const char *name, enum slri_kind result)
{
    struct slri_function *function = slri_region_take(kit->region, sizeof *function);
    function->name = name;
    function->result = result;
    function->body = slri_block_create(kit->region);
    function->param = slri_region_take(kit->region, 4 * sizeof *function->param);
    function->local = slri_region_take(kit->region, 4 * sizeof *function->local);
    kit->functions[kit->module.functions++] = function;
    kit->function = function;
    kit->block = function->body;
    return function;
}

// An empty module; functions that the handler calls come before kit_handler.
static inline void kit_open(struct kit *kit)
{
    *kit = (struct kit){.region = slri_region_create(), .file = "by_hand.cu"};
    kit->state = (struct slri_type){.kind = SLRI_STRUCT, .bytes = STATE_BYTES, .align = 8, .name = "state"};
    kit->message = (struct slri_type){.kind = SLRI_STRUCT, .bytes = MESSAGE_BYTES, .align = 8, .name = "message"};
    kit->element = (struct slri_type){.kind = SLRI_U32, .bytes = 4, .align = 4};
    kit->reply = (struct slri_type){.kind = SLRI_U64, .bytes = 8, .align = 8};
    kit->module = (struct slri_module){.name = "by hand", .file = &kit->file, .files = 1, .region = kit->region};
    kit->module.function = kit->functions;
    kit->module.entry = &kit->entry;
}

static inline void kit_handler(struct kit *kit)
{
    kit->module.entries = 1;
    kit->entry = (struct slri_entry){.name = "handle",
                                     .state = &kit->state,
                                     .message = &kit->message,
                                     .reply = &kit->reply,
                                     .binding = kit->binding};
    kit->entry.function = kit_function(kit, "handle", SLRI_VOID);
}

static inline void kit_close(struct kit *kit)
{
    slri_region_destroy(kit->region);
}

static inline slri_reg kit_reg(struct kit *kit, enum slri_kind kind)
{
    return slri_function_add_reg(kit->region, kit->function, kind, NULL);
}

static inline struct slri_instr *kit_emit(struct kit *kit, enum slri_op op, enum slri_kind kind)
{
    return slri_block_append(kit->region, kit->block, op, kind, (struct slri_where){0, ++kit->line, 1});
}

static inline slri_reg kit_const(struct kit *kit, enum slri_kind kind, uint64_t bits)
{
    slri_reg dst = kit_reg(kit, kind);
    struct slri_instr *in = kit_emit(kit, SLRI_OP_CONST, kind);
    in->dst = dst;
    in->imm = bits;
    return dst;
}

// dst = a op b into an existing register.
static inline void kit_set(struct kit *kit, slri_reg dst, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    struct slri_instr *in = kit_emit(kit, op, kind);
    in->dst = dst;
    in->a = a;
    in->b = b;
}

static inline slri_reg kit_op(struct kit *kit, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b)
{
    slri_reg dst = kit_reg(kit, op >= SLRI_OP_EQ && op <= SLRI_OP_GE ? SLRI_I32 : slri_kind_in_register(kind));
    kit_set(kit, dst, op, kind, a, b);
    return dst;
}

static inline slri_reg kit_load_at(struct kit *kit, enum slri_kind kind, struct slri_root root, slri_reg offset)
{
    slri_reg dst = kit_reg(kit, slri_kind_in_register(kind));
    struct slri_instr *in = kit_emit(kit, SLRI_OP_LOAD, kind);
    in->dst = dst;
    in->a = offset;
    in->root = root;
    return dst;
}

static inline slri_reg kit_load(struct kit *kit, enum slri_kind kind, struct slri_root root, int64_t offset)
{
    return kit_load_at(kit, kind, root, kit_const(kit, SLRI_I64, (uint64_t)offset));
}

static inline void kit_store(struct kit *kit, enum slri_kind kind, struct slri_root root, int64_t offset,
                             slri_reg value)
{
    slri_reg at = kit_const(kit, SLRI_I64, (uint64_t)offset);
    struct slri_instr *in = kit_emit(kit, SLRI_OP_STORE, kind);
    in->a = at;
    in->b = value;
    in->root = root;
}

// Opens a body, where instructions go from now on; returns the block to go back to.
static inline struct slri_block *kit_into(struct kit *kit, struct slri_block **body)
{
    struct slri_block *outer = kit->block;
    kit->block = *body = slri_block_create(kit->region);
    return outer;
}

static inline void kit_if(struct kit *kit, slri_reg test, enum slri_op then)
{
    struct slri_instr *in = kit_emit(kit, SLRI_OP_IF, SLRI_VOID);
    in->a = test;
    struct slri_block *outer = kit_into(kit, &in->body[0]);
    kit_emit(kit, then, SLRI_VOID);
    kit->block = outer;
}

static inline slri_reg kit_i32(struct kit *kit, int32_t value)
{
    return kit_const(kit, SLRI_I32, (uint32_t)value);
}

static inline void kit_move(struct kit *kit, slri_reg to, slri_reg from)
{
    kit_set(kit, to, SLRI_OP_MOVE, kit->function->reg_kind[to], from, SLRI_NO_REG);
}

static inline void kit_add(struct kit *kit, slri_reg to, slri_reg what)
{
    kit_set(kit, to, SLRI_OP_ADD, SLRI_I32, to, what);
}

// for (i = 0; i < limit; i++): begin, then the body's instructions, then end.
struct kit_counted {
    struct slri_instr loop;
    struct slri_block *outer;
    slri_reg i;
};

static inline struct kit_counted kit_begin_counted(struct kit *kit, slri_reg limit)
{
    struct kit_counted c = {.i = kit_reg(kit, SLRI_I32)};
    kit_move(kit, c.i, kit_i32(kit, 0));
    c.outer = kit_into(kit, &c.loop.body[0]);
    c.loop.a = kit_op(kit, SLRI_OP_LT, SLRI_I32, c.i, limit);
    kit_into(kit, &c.loop.body[2]);
    kit_add(kit, c.i, kit_i32(kit, 1));
    kit_into(kit, &c.loop.body[1]);
    return c;
}

static inline void kit_end_counted(struct kit *kit, const struct kit_counted *c)
{
    kit->block = c->outer;
    struct slri_instr *in = kit_emit(kit, SLRI_OP_LOOP, SLRI_VOID);
    in->a = c->loop.a;
    memcpy(in->body, c->loop.body, sizeof in->body);
}

static inline uint32_t kit_buffer(struct kit *kit)
{
    kit->binding[kit->entry.bindings] = (struct slri_binding_info){
        .name = "buffer", .is_buffer = true, .type = &kit->element, .reg = kit_reg(kit, SLRI_I64)};
    return kit->entry.bindings++;
}

// ---- running --------------------------------------------------------------------------------------------------------

static inline void kit_prepare(struct kit *kit, struct slri_interp **interp, struct slri_interp_thread **thread)
{
    const char *wrong = slri_module_verify(&kit->module);
    if (wrong != NULL)
        fail_msg("%s", wrong);
    assert_int_equal(slri_interp_create(&kit->module, interp), SLR_OK);
    assert_int_equal(slri_interp_thread_create(*interp, 0, thread), SLR_OK);
}

// Handles one message in one go, and on a copy of the state in single steps: both must agree. Returns the fault.
static inline uint32_t kit_run(struct kit *kit, struct slri_call *call)
{
    struct slri_interp *interp;
    struct slri_interp_thread *thread;
    kit_prepare(kit, &interp, &thread);
    unsigned char state[STATE_BYTES], replies[256];
    struct slri_call stepped = *call;
    memcpy(state, call->state, sizeof state);
    stepped.state = state;
    stepped.reply_base = replies;
    slri_interp_thread_start(thread, &stepped);
    uint64_t steps = 0, done;
    while (slri_interp_step(thread, 1, &done) == SLRI_RUNNING)
        steps += done;
    steps += done;
    uint32_t single = slri_interp_fault(thread);

    slri_interp_thread_start(thread, call);
    enum slri_progress progress = slri_interp_step(thread, UINT64_MAX, &done);
    uint32_t fault = slri_interp_fault(thread);
    assert_int_equal(progress, fault == SLRI_FAULT_NONE ? SLRI_DONE : SLRI_FAULTED);
    assert_int_equal(single, fault);
    assert_int_equal(steps, done);
    assert_memory_equal(state, call->state, sizeof state);
    assert_int_equal(stepped.replies, call->replies);
    assert_int_equal(stepped.fuel, call->fuel);
    assert_int_equal(stepped.fault_line, call->fault_line);
    slri_interp_thread_destroy(thread);
    slri_interp_destroy(interp);
    return fault;
}

// The same with plenty of fuel and nothing bound.
static inline uint32_t kit_handle(struct kit *kit, void *state, const void *message)
{
    struct slri_call call = {.state = state, .message = message, .fuel = 1u << 20};
    return kit_run(kit, &call);
}

#endif

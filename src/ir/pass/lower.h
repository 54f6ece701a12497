// SPDX-License-Identifier: Apache-2.0
// What the files of this pass share: handler_kernel.c the kernel around a handler, handler_block.c what is another's of
// a `__ring_block__` handler, handler_batch.c of a `__ring_batch__` handler, handler_stay.c of a handler in a kernel
// that stays, handler_function.c a handler's functions, handler_loop.c their loops, handler_nest.c loops within loops,
// handler_keep.c what they keep of the state, lower.c the writing of instructions.
//
// All that a message's functions share is a block of words of 8 bytes, the call. It is a local of the kernel, and the
// last parameter of each function that needs it. In a block of threads each has a call, and what is the same in all of
// them is a block of words of its own, by which uniform.h sees that it is. What they count is in shared memory.
#ifndef SLRI_IR_PASS_LOWER_H
#define SLRI_IR_PASS_LOWER_H

#include "ir/counted.h"
#include "ir/ir.h"
#include "ir/type.h"
#include "ir/uniform.h"

enum slri_call_word {
    SLRI_CALL_FUEL,
    SLRI_CALL_FAULT, // an enum slri_fault; then, in a word each, its place
    SLRI_CALL_FILE,
    SLRI_CALL_LINE,
    SLRI_CALL_INSTANCE, // from here on the same in all threads of a block
    SLRI_CALL_STATE,    // where in the states, the batch and the results this message's lie
    SLRI_CALL_MESSAGE,
    SLRI_CALL_RECORD,
    SLRI_CALL_TURNS,   // of a block: what FUEL is, for loops that all threads take alike
    SLRI_CALL_REPLIES, // how many; of a block, from here on words of 4 bytes behind SLRI_BLOCK_REPLIES
    // Of a batch in its place: how many messages it is. Their replies are counted in their records, and RECORD is where
    // the batch has the places of these.
    SLRI_CALL_MESSAGES = SLRI_CALL_REPLIES,
    SLRI_CALL_SENT, // how many, a word a parameter of the handler
};

// What the threads of a block share, each 4 bytes.
#define SLRI_BLOCK_FIRST 0   // the first thread that has a fault, or UINT32_MAX
#define SLRI_BLOCK_REPLIES 4 // how many were tried, then the same of what was sent

#define SLRI_KEPT_WORDS 8u
struct slri_kept { // of the state, while a loop is lowered: handler_keep.c
    uint64_t at;
    enum slri_kind kind;
    slri_reg reg;
    bool is_stored;
};

enum slri_paying { SLRI_PAY_EACH, SLRI_PAY_IS_DONE, SLRI_PAY_EDGES };

struct slri_lowering {
    struct slri_region *region;
    const struct slri_module *from;
    const struct slri_entry *handler;
    struct slri_function **made;       // by the index of the one that it is made of; NULL: not needed
    bool *shares;                      // by the same: whether it takes the call
    uint32_t *binding;                 // of the kernel, by that of the handler
    uint64_t call_bytes, common_bytes; // common_bytes: 0 where a message has one thread
    bool is_block;                     // of a `__ring_block__` handler: who has a fault goes on, as others wait for it
    bool is_batch;                     // of a `__ring_batch__` handler
    uint32_t threads;                  // of a block
    struct slri_uniform *uniform;      // likewise: what is known of the functions of `from`
    struct slri_module *around;        // NULL, or the kernel that stays, which the handler becomes a part of
    bool out_of_memory;
    struct slri_instr lost; // with no memory left, what would be written goes there
    struct slri_block lost_block;
    // Of the function being written:
    const struct slri_function *source; // NULL: the kernel
    struct slri_function *function;
    struct slri_block *block; // where instructions go
    struct slri_where where;
    const struct slri_block *from_block; // the instruction of `source` that is being lowered
    uint32_t from_index;
    struct slri_root call, common;
    slri_reg state, message;           // where this message's begin, in a function that reads them
    bool in_test;                      // of a loop, or in its step, where only IFs may branch
    const struct slri_instr **literal; // by register: the CONST that a temporary stands for, or NULL
    bool has_literals;                 // those of what is being lowered are written
    struct slri_kept kept[SLRI_KEPT_WORDS];
    uint32_t kepts;
    enum slri_paying paying; // what the loops within a nest do: its fuel is paid, or each back edge takes its own
};

// lower.c. With no memory left they give register 0, and set `out_of_memory`.
struct slri_instr *slri_lower_append(struct slri_lowering *l, enum slri_op op, enum slri_kind kind);
slri_reg slri_lower_reg(struct slri_lowering *l, enum slri_kind kind);
slri_reg slri_lower_variable(struct slri_lowering *l, enum slri_kind kind, const char *name); // that is assigned again
void slri_lower_set_const(struct slri_lowering *l, slri_reg dst, enum slri_kind kind, uint64_t bits);
slri_reg slri_lower_const(struct slri_lowering *l, enum slri_kind kind, uint64_t bits);
void slri_lower_set(struct slri_lowering *l, slri_reg dst, enum slri_op op, enum slri_kind kind, slri_reg a,
                    slri_reg b);
slri_reg slri_lower_op(struct slri_lowering *l, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b);
slri_reg slri_lower_convert(struct slri_lowering *l, enum slri_kind kind, slri_reg a);
slri_reg slri_lower_load(struct slri_lowering *l, enum slri_kind kind, struct slri_root root, slri_reg at);
void slri_lower_store(struct slri_lowering *l, enum slri_kind kind, struct slri_root root, slri_reg at, slri_reg value);
struct slri_block *slri_lower_block(struct slri_lowering *l);
// Appends an IF; gives the block behind it, and leaves `block` in its body. `other`: NULL, or what takes its else.
struct slri_block *slri_lower_if(struct slri_lowering *l, slri_reg test, struct slri_block **other);
// Appends a LOOP that adds `step` to the variable `i` while it is below `end`, all U32; gives the block behind it, and
// leaves `block` in its body.
struct slri_block *slri_lower_for(struct slri_lowering *l, slri_reg i, slri_reg end, slri_reg step);

slri_reg slri_lower_get(struct slri_lowering *l, uint32_t word); // of the call: U64
void slri_lower_put(struct slri_lowering *l, uint32_t word, slri_reg value);
slri_reg slri_lower_constant(struct slri_lowering *l, uint32_t word); // U32, of the batch's constants
static inline bool slri_root_is_own(struct slri_root root)            // memory of a thread's own
{
    return root.kind == SLRI_ROOT_LOCAL || root.kind == SLRI_ROOT_PARAM;
}
static inline struct slri_root slri_lower_root(uint32_t binding)
{
    return (struct slri_root){SLRI_ROOT_BINDING, binding};
}

// handler_function.c
bool slri_lower_functions(struct slri_lowering *l); // all that the handler comes to; false: no memory
void slri_lower_instrs(struct slri_lowering *l, const struct slri_block *block);
struct slri_block *slri_lower_into(struct slri_lowering *l, const struct slri_block *block, bool in_test); // a new one
// What comes next runs only where `bad` is 0; the other way is written by `fault`, of which NONE is another's fault.
// The second: where the call has a fault. In a block what comes next runs in any case, and a fault is noted.
void slri_lower_leave_where(struct slri_lowering *l, slri_reg bad, uint32_t fault);
void slri_lower_leave_at_fault(struct slri_lowering *l);
// How often each register is assigned in the block, and, unless NULL, by which instruction last.
void slri_lower_count(const struct slri_block *block, uint32_t *count, const struct slri_instr **last);
bool slri_lower_is_literal(const struct slri_lowering *l, slri_reg reg, uint64_t least, uint64_t most);

void slri_lower_note(struct slri_lowering *l, uint32_t fault); // in a block, where there is none yet

// handler_kernel.c
struct slri_lower_message {
    slri_reg at, record; // offsets in the batch and in the results
};
slri_reg slri_lower_word_of(struct slri_lowering *l, slri_reg at, uint32_t word);                  // U32, of a message
void slri_lower_put_word(struct slri_lowering *l, slri_reg record, uint32_t word, slri_reg value); // of a record: U32
slri_reg slri_lower_builtin(struct slri_lowering *l, enum slri_builtin which);
slri_reg slri_lower_clock(struct slri_lowering *l);
void slri_lower_ticks(struct slri_lowering *l, slri_reg record, slri_reg began);
void slri_lower_begin_call(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg fuel); // U64
void slri_lower_call_handler(struct slri_lowering *l);
void slri_lower_reset_state(struct slri_lowering *l);
slri_reg slri_lower_stay_word(struct slri_lowering *l, uint32_t word); // of the record's memory, in a kernel that stays

// handler_batch.c. A batch is what is a message elsewhere; `at` is where it lies, `record` is not used.
void slri_lower_batch(struct slri_lowering *l, slri_reg at, slri_reg fuel, slri_reg stopped);
void slri_lower_batch_not_run(struct slri_lowering *l, slri_reg at);
slri_reg slri_lower_record(struct slri_lowering *l, slri_reg message); // I64: of one (U32) of the call's messages
slri_reg slri_lower_messages(struct slri_lowering *l);                 // U32: how many it has

// handler_block.c
uint64_t slri_lower_block_bytes(const struct slri_entry *handler);      // of shared memory, beside the handler's own
slri_reg slri_lower_block_fuel(struct slri_lowering *l, slri_reg fuel); // of one thread
void slri_lower_block_message(struct slri_lowering *l, const struct slri_lower_message *m, slri_reg fuel,
                              slri_reg stopped);
struct slri_block *slri_lower_if_first(struct slri_lowering *l); // as slri_lower_if: only the block's first thread
slri_reg slri_lower_block_take(struct slri_lowering *l, uint32_t word); // of REPLIES or SENT: counts up, gives U64
// Replaces a block's own place in the grid, of which a handler sees one block; false: it is none of these.
bool slri_lower_block_place(struct slri_lowering *l, const struct slri_instr *in);
bool slri_lower_block_shared(struct slri_lowering *l, struct slri_types *types, struct slri_module *module,
                             struct slri_entry *entry);

// handler_stay.c
bool slri_lower_around(struct slri_lowering *l, struct slri_module *module, struct slri_entry *entry);

// handler_loop.c
void slri_lower_loop(struct slri_lowering *l, const struct slri_instr *loop);
bool slri_lower_is_common(const struct slri_lowering *l, const struct slri_block *block, uint32_t index); // of a LOOP
bool slri_lower_counts(const struct slri_lowering *l, const struct slri_instr *loop, bool holds_loops,
                       struct slri_counted *out);
slri_reg slri_lower_trips(struct slri_lowering *l, const struct slri_counted *counted); // U64; UINT64_MAX: for ever

// handler_keep.c: true, if the loop keeps words of the state in registers, from here to the second; the third: whether
// the instruction is an access of these, which it lowers.
bool slri_lower_keep(struct slri_lowering *l, const struct slri_instr *loop);
void slri_lower_keep_no_more(struct slri_lowering *l);
bool slri_lower_kept(struct slri_lowering *l, const struct slri_instr *in);

// handler_nest.c: loops within a counted loop, of which all trips are known where it begins.
#define SLRI_NEST_LOOPS 8u
struct slri_nest {
    struct slri_nest_loop {
        const struct slri_instr *loop;
        struct slri_counted counted;
        uint32_t around, at; // which one it is in, and where in that one's body
    } loop[SLRI_NEST_LOOPS]; // a loop before those within it
    uint32_t loops;
};
bool slri_lower_find_nest(const struct slri_lowering *l, const struct slri_instr *loop, bool is_common,
                          struct slri_nest *out); // false: none, or none that can pay at once
// Whether there is fuel for all of it, I32; `trips` is then how much. The outermost loop's test has been done once.
slri_reg slri_lower_affords(struct slri_lowering *l, const struct slri_nest *nest, slri_reg fuel, slri_reg *trips);

#endif

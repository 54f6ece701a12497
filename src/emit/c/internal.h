// SPDX-License-Identifier: Apache-2.0
// What the C emitter's files share: emit_c.c the file around the functions, emit_c_prelude.c the text in front,
// emit_c_function.c a function, emit_c_instr.c instructions, emit_c_loop.c loops and their fuel, emit_c_text.c pieces
// of text.
#ifndef SLRI_EMIT_C_INTERNAL_H
#define SLRI_EMIT_C_INTERNAL_H

#include "base/text.h"
#include "ir/ir.h"

struct slri_c_function { // what callers must know of a function; by the function's index in the module
    bool can_fault;      // it returns an enum slri_fault, and its result through a pointer
    bool uses_fuel;
    bool gives_flag; // its result is always a comparison's
};

struct slri_c_register {
    uint32_t assignments;             // in the function, with those before its first instruction
    const struct slri_instr *literal; // the CONST that a temporary stands for: it is spelled where it is used
    bool is_given;                    // a parameter or a binding
    bool is_flag;                     // the C compiler may see that it is a comparison's result, 0 or 1
};

struct slri_c_emitter {
    const struct slri_module *module;
    struct slri_text *out;
    struct slri_region *scratch;
    struct slri_c_function *functions;
    bool is_grid;       // the file is a kernel's: nothing is checked, there is no fuel
    const char *prefix; // of device functions' names
    bool is_block;      // they are a `__ring_block__` handler's: they have a thread's place
    bool is_debug;      // emit_c_debug.h
    struct slri_c_debug_type *debug_types;
    bool has_helpers;                // those for functions of a warp and masks are in the file,
    uint32_t warps[SLRI_WARP_COUNT]; // and these functions of a warp, by kind of value
    struct slri_c_kernel *kernel;    // while its body is written: emit_c_plan.h; else NULL
    // Of the function being emitted:
    const struct slri_function *function;
    const struct slri_c_function *traits;
    struct slri_c_register *reg;
    uint32_t file, line;     // where the C compiler believes the output to be; line 0: nowhere
    bool fresh;              // nothing stands on the output's line yet
    uint32_t depth;          // of indentation
    uint32_t labels;         // used so far
    uint32_t continue_label; // of the innermost loop
};

void slri_c_prelude(struct slri_text *out, bool is_debug);
void slri_c_constants(struct slri_c_emitter *e);
void slri_c_count_registers(struct slri_c_emitter *e, const struct slri_entry *entry);
void slri_c_find_flags(struct slri_c_emitter *e); // of the function whose registers were counted
void slri_c_function(struct slri_c_emitter *e, uint32_t index);
void slri_c_block(struct slri_c_emitter *e, const struct slri_block *block);
const char *slri_c_builtin(const struct slri_c_emitter *e, uint64_t builtin); // threadIdx.x and its like
void slri_c_loop(struct slri_c_emitter *e, const struct slri_instr *loop);
// Whether a loop counts upwards to a literal bound, from wherever, and is left in no other way.
struct slri_c_count {
    slri_reg counter;
    enum slri_kind kind;
    int64_t to, by; // the first value that it does not go on from, or one behind it
};
bool slri_c_counts(const struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_c_count *out);
// Likewise of one whose bound may be known only when it begins.
struct slri_counted;
bool slri_c_counts_up(const struct slri_c_emitter *e, const struct slri_instr *loop, struct slri_counted *out);
// Whether such a bound is at most `most`: its trips are few then, most likely.
bool slri_c_has_few_trips(const struct slri_c_emitter *e, const struct slri_instr *loop, int64_t most);
// Of a kernel: whether a loop halves or doubles its counter, from a first value that is known: a tree over the block.
bool slri_c_is_tree(const struct slri_c_emitter *e, const struct slri_instr *loop);
void slri_c_return(struct slri_c_emitter *e, slri_reg value); // SLRI_NO_REG: 0, where the function has a result

// Text.
static inline void slri_c_put(struct slri_c_emitter *e, const char *text)
{
    slri_text_puts(e->out, text);
}

// A statement begins: continues the output's line if it is of the same source line, else opens one, with #line if
// needed.
void slri_c_begin(struct slri_c_emitter *e, struct slri_where where);
void slri_c_close(struct slri_c_emitter *e);                  // "}" on a line of its own, one level out
void slri_c_register(struct slri_c_emitter *e, slri_reg reg); // its name, or the literal that it stands for
void slri_c_literal(struct slri_c_emitter *e, enum slri_kind kind, uint64_t bits);
void slri_c_root(struct slri_c_emitter *e, struct slri_root root); // where the root's memory begins
void slri_c_address(struct slri_c_emitter *e, struct slri_root root, slri_reg offset);

// Questions.
const struct slri_c_function *slri_c_traits(const struct slri_c_emitter *e, const struct slri_function *function);

// Calls `visit` for each instruction of the block and of those in it, until one call gives true; true if one did.
typedef bool slri_c_visit(const struct slri_c_emitter *e, const struct slri_instr *instr, void *user);
bool slri_c_any(const struct slri_c_emitter *e, const struct slri_block *block, slri_c_visit *visit, void *user);

// The parts of a loop's `for (;;) {`; `put` writes a block: slri_c_block, or slri_c_sequence in kernels.
typedef void slri_c_put_block(struct slri_c_emitter *e, const struct slri_block *block);
void slri_c_loop_test(struct slri_c_emitter *e, const struct slri_instr *loop, slri_c_put_block *put);
// With the label that `continue` goes to, and the step.
void slri_c_loop_body(struct slri_c_emitter *e, const struct slri_instr *loop, slri_c_put_block *put);
// Whether the instruction itself (not those in it) may end the handler with a fault other than want of fuel.
bool slri_c_may_fault(const struct slri_c_emitter *e, const struct slri_instr *instr);
bool slri_c_faults(const struct slri_c_emitter *e, const struct slri_instr *instr, void *unused); // or with that
bool slri_c_is_literal(const struct slri_c_emitter *e, slri_reg reg,
                       uint64_t *value); // value as 64 bits, sign-extended

#endif

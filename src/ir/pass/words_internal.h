// SPDX-License-Identifier: Apache-2.0
// What the files of this pass share: words.c the module and its functions, words_need.c what is known of a function's
// registers, words_make.c the writing of instructions, words_instr.c instructions, words_wide.c arithmetic of 64 bits,
// words_divide.c division and what floats make of 0, words_convert.c conversions, words_math.c functions,
// words_memory.c accesses, words_atomic.c atomics, words_tell.c faults and printf.
#ifndef SLRI_IR_PASS_WORDS_INTERNAL_H
#define SLRI_IR_PASS_WORDS_INTERNAL_H

#include "ir/pass/lower.h"
#include "ir/pass/words.h"

#include "ir/math/functions.h"

// A value of 32 bits, or of a kind of 64 that stays: a register, or a constant that is not written yet.
struct slri_word {
    enum slri_kind kind;
    slri_reg reg; // SLRI_NO_REG: a constant, or nothing
    bool is_const;
    uint64_t value; // of a constant: its bits
};

struct slri_words_pair { // of 64 bits; of less, only `low`
    struct slri_word low, high;
};

// What is known of a register of the source, from words_need.c; and what it became.
struct slri_words_reg {
    uint32_t writes; // places that write it, a parameter's or binding's arrival among them
    bool high;       // its high word is asked for
    uint8_t zeros;   // low bits that are known to be 0, at most 3
    bool is_made;    // it has become `is`
    bool is_fixed;   // `is` are registers of its own, which are written
    struct slri_words_pair is;
};

struct slri_words_function {
    struct slri_function *made;
    struct slri_words_reg *reg; // by register of the source
    bool is_needed;
    uint32_t *param;     // of the made one, by that of the source; where it is memory, the memory
    uint32_t high_param; // of the made one: the memory for the high word of its result
};

struct slri_words {
    struct slri_lowering l; // its module, region, function, block and place
    struct slri_words_options options;
    const struct slri_entry *kernel;
    struct slri_types *types;
    const struct slri_type *word_type;
    struct slri_words_function *functions; // by index in the source's module
    struct slri_words_function *now;       // the one being written
    const struct slri_function *source;
    slri_reg first_fresh; // registers from here on are temporaries of the instruction being written
    bool has_high_local;
    slr_status refused; // not OK: why, as slr_error_message says
};

// words_need.c: of all functions that are needed, callees before callers. False: no memory.
bool slri_words_find(struct slri_words *w);

// words_make.c. A result that follows from constants is one.
struct slri_word slri_words_const(enum slri_kind kind, uint64_t bits);
static inline struct slri_word slri_words_u32(uint32_t value)
{
    return slri_words_const(SLRI_U32, value);
}
slri_reg slri_words_reg_of(struct slri_words *w, struct slri_word word);    // a register that holds it
struct slri_word slri_words_of(struct slri_words *w, slri_reg reg);         // of the made function
struct slri_word slri_words_new(struct slri_words *w, enum slri_kind kind); // a variable, not yet set
void slri_words_set(struct slri_words *w, struct slri_word variable, struct slri_word value);
struct slri_word slri_words_op(struct slri_words *w, enum slri_op op, enum slri_kind kind, struct slri_word a,
                               struct slri_word b);
struct slri_word slri_words_as(struct slri_words *w, enum slri_kind kind, struct slri_word a); // CONVERT
struct slri_word slri_words_bits(struct slri_words *w, struct slri_word a);                    // as U32 or U64
struct slri_word slri_words_from_bits(struct slri_words *w, enum slri_kind kind, struct slri_word a);
struct slri_word slri_words_call(struct slri_words *w, enum slri_math_id id, struct slri_word a, struct slri_word b);
struct slri_word slri_words_mask(struct slri_words *w, struct slri_word test); // all ones where the I32 0 or 1 is 1
struct slri_word slri_words_pick(struct slri_words *w, struct slri_word mask, struct slri_word a, struct slri_word b);
struct slri_word slri_words_is_zero(struct slri_words *w, struct slri_word a); // I32 0 or 1

// slri_lower_for of a variable that begins at `first`.
struct slri_block *slri_words_for(struct slri_words *w, struct slri_word i, uint32_t first, uint32_t end,
                                  uint32_t step);

#define SLRI_WORDS_OP(w, op, a, b) slri_words_op(w, SLRI_OP_##op, SLRI_U32, a, b)
// Of an ADD or a MUL: the low word of one of 64 bits.
struct slri_word slri_words_low(struct slri_words *w, enum slri_op op, struct slri_word a, struct slri_word b);

struct slri_words_pair slri_words_read(struct slri_words *w, slri_reg reg); // of the source
void slri_words_write(struct slri_words *w, slri_reg reg, struct slri_words_pair value);
static inline struct slri_words_pair slri_words_one(struct slri_word low)
{
    return (struct slri_words_pair){.low = low, .high = {.reg = SLRI_NO_REG}};
}
// Whether a value of that kind becomes two words.
static inline bool slri_words_is_wide(const struct slri_words *w, enum slri_kind kind)
{
    return !w->options.all_widths && (kind == SLRI_I64 || kind == SLRI_U64);
}
struct slri_words_pair slri_words_literal(struct slri_words *w, enum slri_kind kind, uint64_t bits);
struct slri_words_pair slri_words_split(struct slri_words *w, struct slri_word a); // of a kind of 64 bits that stays
void slri_words_refuse(struct slri_words *w, const struct slri_instr *in, const char *what, const char *advice);

// words_divide.c: of integers and floats that are no pairs
struct slri_word slri_words_divide(struct slri_words *w, const struct slri_instr *in, struct slri_word a,
                                   struct slri_word b);
// I32: whether it is 0, which is the fault of a division.
struct slri_word slri_words_fault_at_zero(struct slri_words *w, struct slri_word by);
struct slri_word slri_words_quotient(struct slri_words *w, enum slri_kind kind, struct slri_word a, struct slri_word b);
// Whether a float is a literal 0, and what a product or quotient with it is.
bool slri_words_is_float_zero(struct slri_word a);
struct slri_word slri_words_of_zero(struct slri_words *w, enum slri_op op, struct slri_word a, struct slri_word b);

// words_wide.c: of pairs. `high`: whether the result's high word is asked for.
struct slri_words_pair slri_words_arithmetic(struct slri_words *w, const struct slri_instr *in,
                                             struct slri_words_pair a, struct slri_words_pair b, bool high);
struct slri_word slri_words_compare(struct slri_words *w, enum slri_op op, enum slri_kind kind,
                                    struct slri_words_pair a, struct slri_words_pair b);
struct slri_words_pair slri_words_add(struct slri_words *w, struct slri_words_pair a, struct slri_words_pair b,
                                      bool high);
struct slri_words_pair slri_words_sub(struct slri_words *w, struct slri_words_pair a, struct slri_words_pair b,
                                      bool high);
struct slri_words_pair slri_words_shift(struct slri_words *w, enum slri_op op, bool is_signed, struct slri_words_pair a,
                                        struct slri_word count);
struct slri_words_pair slri_words_negate_where(struct slri_words *w, struct slri_words_pair a, struct slri_word mask);
struct slri_words_pair slri_words_pick_pair(struct slri_words *w, struct slri_word mask, struct slri_words_pair a,
                                            struct slri_words_pair b);
struct slri_word slri_words_sign(struct slri_words *w, struct slri_word high); // all ones or 0, as U32

// words_convert.c
struct slri_words_pair slri_words_convert(struct slri_words *w, enum slri_kind from, enum slri_kind to,
                                          struct slri_words_pair a, bool high);
struct slri_word slri_words_narrow(struct slri_words *w, enum slri_kind kind, struct slri_word bits); // widened, as I32
struct slri_word slri_words_half_bits(struct slri_words *w, enum slri_kind kind, struct slri_word a);
struct slri_word slri_words_half_value(struct slri_words *w, enum slri_kind kind, struct slri_word bits);
struct slri_word slri_words_clz(struct slri_words *w, struct slri_words_pair a); // U32

// words_math.c
void slri_words_math(struct slri_words *w, const struct slri_instr *in);

// words_memory.c: at a byte offset in U32
void slri_words_load_at(struct slri_words *w, const struct slri_instr *in, struct slri_word at);
void slri_words_store(struct slri_words *w, const struct slri_instr *in);
void slri_words_copy(struct slri_words *w, const struct slri_instr *in); // COPY and ZERO
struct slri_word slri_words_get(struct slri_words *w, struct slri_root root, struct slri_word at);
void slri_words_put(struct slri_words *w, struct slri_root root, struct slri_word at, struct slri_word value);
slri_reg slri_words_offset(struct slri_words *w, struct slri_word at); // the I64 of an access

// words_atomic.c
void slri_words_atomic(struct slri_words *w, const struct slri_instr *in);
// A loop: `seen` is what the word at (root, at) holds, and the caller writes what shall be there instead.
struct slri_words_swap {
    struct slri_root root;
    enum slri_kind kind; // of integers
    struct slri_word at, seen;
    uint8_t order, scope;
    struct slri_block *behind;
};
struct slri_word slri_words_cas(struct slri_words *w, const struct slri_words_swap *swap,
                                struct slri_word value); // once
void slri_words_begin_swap(struct slri_words *w, struct slri_words_swap *swap);
void slri_words_end_swap(struct slri_words *w, struct slri_words_swap *swap, struct slri_word value);

// words_tell.c
void slri_words_trap(struct slri_words *w, uint32_t fault);
void slri_words_print(struct slri_words *w, const struct slri_instr *in);

// words.c
struct slri_root slri_words_place(const struct slri_words *w, struct slri_root root); // of the made function
struct slri_root slri_words_high_local(struct slri_words *w); // that a call's high word is left in

// words_instr.c
void slri_words_block(struct slri_words *w, const struct slri_block *block);

#endif

// SPDX-License-Identifier: Apache-2.0
// What the writer's files share: emit_spirv.c the module, function.c a function and its registers, flow.c control flow,
// arithmetic.c and convert.c what a register gets, memory.c places and accesses, atomic.c, block.c barriers and warps.
//
// An integer is unsigned in all types; the instructions say how it is taken. A register that is assigned once, before
// all its uses, is a value; others are variables of the function.
#ifndef SLRI_EMIT_SPIRV_INTERNAL_H
#define SLRI_EMIT_SPIRV_INTERNAL_H

#include "emit/spirv/spirv.h"
#include "emit/spirv/words.h"
#include "ir/assigned.h"

struct slri_s_register {
    uint32_t id;            // of the value, of the variable; 0: not yet
    uint32_t flag;          // of a value that is 0 or 1: the bool, or 0
    uint32_t held, held_in; // of a variable: what it holds, and in which block that is known
    uint32_t stored_in;     // in which block it was last stored, and where in `code`
    size_t stored_at;
};

// Memory that is an array: of a function, of the block, a table.
struct slri_s_array {
    uint32_t sizes;    // of all accesses to it: bits 1, 2, 4, 8 bytes
    uint32_t element;  // bytes of one: as all accesses where they are alike, else 4
    uint32_t variable; // 0: not written yet
    uint32_t storage;
};

// What is known of an id: which instruction has made it of which operands (of a Constant, its low word and its high
// one), and the id of a quarter of it, in which block.
struct slri_s_known {
    enum slri_w_op op;
    uint32_t a, b;
    uint32_t word, word_in;
    bool is_whole; // the program's own sum or product: it may wrap at 32 bits, so it is not divided by 4 in parts
};

struct slri_s_place {
    uint32_t address; // id of one; 0: it is an element of `array`
    uint32_t pointer; // the address as a pointer to words; 0: it is not made yet
    struct slri_s_array array;
    uint32_t offset; // id of a number of bytes, of 32 bits among words, else of 64; 0: none
    uint64_t at;     // bytes behind it, or the offset
    bool is_volatile;
};

// The labels of a loop. The next turn begins with a branch from the block of `next` to `header`; what stands behind the
// loop begins with `merge`.
struct slri_s_loop {
    uint32_t header, body, next, merge;
};

struct slri_s {
    struct slri_w w;
    struct slri_s_known *known; // by id
    uint32_t knowns;
    const struct slri_module *module; // linked: all of its functions are written
    const struct slri_entry *entry;
    struct slri_spirv_options options;
    struct slri_arguments facts;
    const struct slri_entry *given; // whose arguments are given
    bool words;                     // no integer has 64 bits: an offset is a u32, an address two
    struct slri_region *scratch;
    slr_status refused; // SLR_OK, or the failure whose message is set
    uint32_t needs;
    uint64_t shared_bytes;
    // The module's ids.
    uint32_t pushed;    // member of the push block: the first word of the arguments there
    uint32_t all_words; // the type of a pointer to memory as words
    uint32_t glsl, push, workgroup_id, local_id, block_size[3], *file;
    uint32_t *function_id;       // by index
    struct slri_given **literal; // by function and parameter
    struct slri_s_array *shared, *constant, dynamic;
    struct slri_s_array **local, **param; // by function
    bool subgroups, has_loop;
    // Of the function being written:
    const struct slri_function *function;
    const struct slri_assigned *value; // by register
    struct slri_s_register *reg;
    uint32_t first_variable, variables; // ids of those that registers are; whether each is read
    bool *is_read;
    struct slri_s_loop flow; // around an instruction; `merge` is of the innermost loop or switch
    // Addresses: of the argument block, of bindings (slri_s_base). The pointers are made once a function, for devices
    // with words: some drivers put an address together lane by lane.
    uint32_t arguments, *base, *pointer;
    uint32_t line_file, line;
    bool ended;      // the block of SPIR-V has
    uint32_t blocks; // so far, this one among them
};

void *slri_s_take(struct slri_s *s, size_t count, size_t bytes); // zeroed; NULL: no memory, which the writer knows

// ---- instructions
uint32_t slri_s_make(struct slri_s *s, enum slri_w_op op, uint32_t type, const uint32_t *operand, size_t count);
#define SLRI_MAKE(s, op, type, ...)                                                                                    \
    slri_s_make(s, SLRI_W_##op, type, (const uint32_t[]){__VA_ARGS__},                                                 \
                sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define SLRI_DO(s, op, ...) SLRI_W(&(s)->w, &(s)->w.code, op, __VA_ARGS__)
void slri_s_begin(struct slri_s *s, uint32_t id); // the block of that label
void slri_s_branch(struct slri_s *s, uint32_t to);
void slri_s_return(struct slri_s *s, uint32_t value); // 0: none
void slri_s_refuse(struct slri_s *s, const struct slri_instr *in, const char *what, const char *advice);
// Whether the device has it; else the instruction is refused.
bool slri_s_need(struct slri_s *s, enum slri_spirv_feature feature, const struct slri_instr *in);

// ---- types and constants
uint32_t slri_s_bool(struct slri_s *s);
uint32_t slri_s_uint(struct slri_s *s, uint32_t bytes);
uint32_t slri_s_float(struct slri_s *s, uint32_t bytes);
uint32_t slri_s_type(struct slri_s *s, enum slri_kind kind); // of a register
uint32_t slri_s_pointer(struct slri_s *s, uint32_t storage, uint32_t to);
uint32_t slri_s_bits(struct slri_s *s, uint32_t bytes, uint64_t value); // an integer
uint32_t slri_s_const(struct slri_s *s, enum slri_kind kind, uint64_t bits);
uint32_t slri_s_u32(struct slri_s *s, uint32_t value);
uint32_t slri_s_address(struct slri_s *s); // the type of one
uint32_t slri_s_variable(struct slri_s *s, uint32_t storage, uint32_t type, uint32_t initial);

// ---- registers
uint32_t slri_s_get(struct slri_s *s, slri_reg reg);
void slri_s_set(struct slri_s *s, slri_reg reg, uint32_t value);
uint32_t slri_s_as_bits(struct slri_s *s, enum slri_kind kind, uint32_t value); // an integer as wide, of any kind
uint32_t slri_s_of_bits(struct slri_s *s, enum slri_kind kind, uint32_t bits);  // and back
void slri_s_set_flag(struct slri_s *s, slri_reg reg, uint32_t flag);            // from a bool
uint32_t slri_s_true(struct slri_s *s, slri_reg reg);                           // bool: it is not 0

// ---- fold.c: an id that stands for the result, or 0
uint32_t slri_s_fold(struct slri_s *s, enum slri_w_op op, uint32_t type, const uint32_t *operand);
void slri_s_note_constant(struct slri_s *s, uint32_t id, uint64_t value);
void slri_s_note_made(struct slri_s *s, enum slri_w_op op, uint32_t id, const uint32_t *operand);
void slri_s_note_aligned(struct slri_s *s, uint32_t id, const uint32_t *operand);
void slri_s_keep_whole(struct slri_s *s, uint32_t id);      // a sum or product that is not taken apart
uint32_t slri_s_word_of(struct slri_s *s, uint32_t offset); // offset / 4
uint32_t slri_s_narrow_of(struct slri_s *s, uint32_t id);   // the low word of a u64

// ---- function.c, flow.c
void slri_s_function(struct slri_s *s, uint32_t index);
// Of the types of its result and parameters; gives the parameters' ids.
void slri_s_begin_function(struct slri_s *s, uint32_t id, const uint32_t *type, uint32_t types, uint32_t *param);
void slri_s_finish_function(struct slri_s *s);
uint32_t slri_s_pushed(struct slri_s *s, uint32_t member, uint32_t type); // what the push block has
uint32_t slri_s_arguments(struct slri_s *s);                              // the address of the argument block
void slri_s_block(struct slri_s *s, const struct slri_block *block);
// An entry point that calls the kernel, and tells where one of its loops was ended.
uint32_t slri_s_ended_loops(struct slri_s *s, uint32_t kernel);

// ---- arithmetic.c, convert.c, math.c
void slri_s_arithmetic(struct slri_s *s, const struct slri_instr *in);
void slri_s_convert(struct slri_s *s, const struct slri_instr *in);
void slri_s_math(struct slri_s *s, const struct slri_instr *in);

// ---- memory.c, atomic.c
// NULL: the root has a device address.
struct slri_s_array *slri_s_array(struct slri_s *s, const struct slri_function *function, struct slri_root root);
void slri_s_find_uses(struct slri_s *s); // how all functions use their arrays
uint32_t slri_s_length(struct slri_s *s, struct slri_s_array *array, uint64_t bytes); // finds its element, too
uint32_t slri_s_array_type(struct slri_s *s, const struct slri_s_array *array, uint32_t length); // an id
void slri_s_declare(struct slri_s *s, struct slri_s_array *array, uint32_t storage, uint32_t length, uint32_t initial);
uint32_t slri_s_base(const struct slri_s *s, struct slri_root root); // which: the program's variables are behind all
struct slri_s_place slri_s_place(struct slri_s *s, const struct slri_instr *in); // of an access
void slri_s_store_bits(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes, uint32_t value);
uint32_t slri_s_load(struct slri_s *s, const struct slri_s_place *place, enum slri_kind kind);
uint32_t slri_s_reference(struct slri_s *s, const struct slri_s_place *place, uint32_t bytes); // a pointer
void slri_s_memory(struct slri_s *s, const struct slri_instr *in);                             // LOAD STORE
void slri_s_atomic(struct slri_s *s, const struct slri_instr *in);
void slri_s_fence(struct slri_s *s, const struct slri_instr *in);
uint32_t slri_s_semantics(struct slri_s *s, bool acquires, bool releases);

// ---- block.c
void slri_s_builtin(struct slri_s *s, const struct slri_instr *in);
void slri_s_meet(struct slri_s *s, const struct slri_instr *in); // BARRIER WARP

#endif

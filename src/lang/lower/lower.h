// SPDX-License-Identifier: Apache-2.0
// From the checked tree to IR. A pointer becomes an offset and a root that is known here; a function becomes one IR
// function for each combination of its pointers' roots. What depends on roots is checked here, and only here.
#ifndef SLRI_LANG_LOWER_LOWER_H
#define SLRI_LANG_LOWER_LOWER_H

#include "lang/check/check.h"
#include "ir/names.h"

#define SLRI_MODULE_MAX_INSTRUCTIONS (UINT32_C(1) << 20)
#define SLRI_MODULE_MAX_SPECIALS 2048 // of functions, for other objects than at their first call
#define SLRI_LOWER_DEPTH_LIMIT 3000   // of nested calls, blocks and expressions together: the lowering recurses
#define SLRI_UNBOUNDED UINT64_MAX     // bytes of a root whose accesses the executors check

struct slri_ref {          // an object that pointers point into
    struct slri_root root; // NONE: something was reported
    uint64_t bytes;        // or SLRI_UNBOUNDED
    const char *name;      // for messages: "the state", "the table 'band'"
};

struct slri_address { // a place in memory, or the value of a pointer
    struct slri_ref ref;
    slri_reg base;   // I64, or SLRI_NO_REG: 0
    uint64_t offset; // to be added, modulo 2^64
    uint64_t valid;  // so many bytes from here on are known to lie inside the root
    bool is_volatile;
};

struct slri_variable { // of the function being lowered
    bool is_made;
    slri_reg reg;           // a scalar, or a pointer's offset
    bool has_root;          // of a pointer: `at` says where it points
    struct slri_address at; // a pointer's value, or where an object lies
    bool is_ranged;         // a counter inside its loop: least <= reg <= most
    int64_t least, most;
    bool is_messages;    // how many a `__ring_batch__` handler has; never changed
    bool is_of_messages; // a counter inside its loop: the number of one of them
};

struct slri_key { // what a specialisation knows of one pointer parameter
    struct slri_root root;
    uint64_t bytes, valid;
    uint32_t same_as; // an earlier parameter with the same root in the caller's memory, or UINT32_MAX
};

struct slri_special {
    struct slri_key *key; // one for each parameter of the source; all zero for what is no pointer
    struct slri_function *ir;
    bool returns_pointer; // result: into what, as the callee sees it
    struct slri_ref result;
    const struct slri_type *reply; // of the ring_reply in it and in what it calls
    bool is_broken;                // it could not be lowered
    struct slri_special *next;
};

struct slri_reported {
    struct slri_where where;
    unsigned code;
    struct slri_reported *next;
};

struct slri_diverging {
    const struct slri_function *function;
    struct slri_diverging *next;
};

struct slri_lowering { // of a module
    struct slri_unit *unit;
    struct slri_region *region;
    struct slri_module *module;
    uint32_t specials; // made so far beyond the first of each function
    uint32_t function_room;
    struct slri_names named, sources; // functions of the module, and of the source
    uint32_t instructions, depth;
    struct slri_reported *reported;
    struct slri_func **source;        // of each entry of the module
    struct slri_diverging *diverging; // functions with a barrier that for certain not all threads reach
    uint32_t mark;                    // of the last pass that followed calls
};

struct slri_body { // of a function
    struct slri_lowering *all;
    struct slri_unit *unit;
    const struct slri_func *func;
    struct slri_special *special;
    struct slri_function *ir;
    struct slri_block *block; // where instructions go
    struct slri_variable *variable;
    uint64_t local_bytes;
    uint32_t local_room;
    bool left; // control has left this block: what follows is not reached
};

// ---- lower.c -------------------------------------------------------------------------------------------------------

void slri_lower_unit(struct slri_unit *unit, struct slri_module *module);
struct slri_special *slri_specialise(struct slri_lowering *all, struct slri_func *func, const struct slri_key *key);

// ---- reflect.c -----------------------------------------------------------------------------------------------------

// What each function uses.
void slri_reflect(struct slri_lowering *all);

// Where an entry's shared objects lie. Reports what the entry uses that its kind has not, shared objects that are too
// large together, and barriers that not all threads reach. `user` has a number for each shared object, 0 at first.
void slri_reflect_entry(struct slri_lowering *all, struct slri_entry *entry, uint32_t *user);

// Takes functions that no entry of the module calls out of the module.
void slri_forget_uncalled(struct slri_lowering *all);

// emptied.c: lists entries without an effect, where an #if took a part of them away.
void slri_list_emptied(struct slri_lowering *all);

// divergence.c: finds functions with barriers that some threads of a block reach and others do not, for certain; and
// reports the barriers of one.
void slri_find_diverging(struct slri_lowering *all);
void slri_report_diverging(struct slri_lowering *all, const struct slri_function *function);

// ---- lower_emit.c --------------------------------------------------------------------------------------------------

bool slri_lower_is_news(struct slri_lowering *all, struct slri_where where, unsigned code);

// A function lowered twice reports once.
#define SLRI_LOWER_ERROR(body, where, CODE, ...)                                                                       \
    (slri_lower_is_news((body)->all, where, SLRI_K_##CODE) ? SLRI_ERROR((body)->unit, where, CODE, __VA_ARGS__)        \
                                                           : (void)0)

void slri_lower_enter(struct slri_body *body, struct slri_where where); // gives up past the limit
void slri_lower_leave(struct slri_body *body);
struct slri_instr *slri_emit_instr(struct slri_body *body, enum slri_op op, enum slri_kind kind,
                                   struct slri_where where);
struct slri_block *slri_emit_block(struct slri_body *body); // a new one, not yet where instructions go
slri_reg slri_emit_reg(struct slri_body *body, enum slri_kind kind, const char *name);
slri_reg slri_emit_const(struct slri_body *body, enum slri_kind kind, uint64_t bits, struct slri_where where);
slri_reg slri_emit_binary(struct slri_body *body, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b,
                          struct slri_where where);
// The same of any kind: a half is computed in float and rounded.
slri_reg slri_emit_arithmetic(struct slri_body *body, enum slri_op op, enum slri_kind kind, slri_reg a, slri_reg b,
                              struct slri_where where);
void slri_emit_move(struct slri_body *body, slri_reg to, slri_reg from, struct slri_where where);
slri_reg slri_emit_convert(struct slri_body *body, slri_reg from, enum slri_kind has, enum slri_kind wants,
                           struct slri_where where);
uint32_t slri_emit_local(struct slri_body *body, const char *name, const struct slri_type *type);
void slri_emit_jump(struct slri_body *body, enum slri_op op, struct slri_where where);
struct slri_variable *slri_variable_of(struct slri_body *body, const struct slri_symbol *symbol);
bool slri_in_register(const struct slri_symbol *symbol); // a scalar whose address is not taken

// ---- lower_memory.c ------------------------------------------------------------------------------------------------

struct slri_address slri_address_of(struct slri_ref ref, uint64_t valid);
struct slri_address slri_lower_place(struct slri_body *body, const struct slri_expr *expr); // of an lvalue or a struct
struct slri_address slri_lower_pointer(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_point(struct slri_body *body, const struct slri_symbol *symbol, struct slri_address at,
                      struct slri_where where); // the pointer variable now has this value
struct slri_address slri_make_temporary(struct slri_body *body, const struct slri_type *type);
slri_reg slri_lower_offset(struct slri_body *body, const struct slri_address *at, struct slri_where where);
void slri_emit_check(struct slri_body *body, struct slri_address *at, uint64_t bytes, struct slri_where where);
slri_reg slri_emit_load(struct slri_body *body, struct slri_address at, enum slri_kind kind, struct slri_where where);
void slri_emit_store(struct slri_body *body, struct slri_address at, enum slri_kind kind, slri_reg value,
                     struct slri_where where);
// `align`: of the type that is copied.
void slri_emit_copy(struct slri_body *body, struct slri_address to, struct slri_address from, uint64_t bytes,
                    uint32_t align, struct slri_where where);
void slri_lower_init(struct slri_body *body, struct slri_address at, const struct slri_init *init,
                     struct slri_where where);
bool slri_same_root(const struct slri_ref *a, const struct slri_ref *b);

// ---- lower_expr.c, lower_call.c, lower_stmt.c, range.c -------------------------------------------------------------

slri_reg slri_lower_scalar(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_effect(struct slri_body *body, const struct slri_expr *expr); // its value is not wanted
void slri_lower_assign_variable(struct slri_body *body, const struct slri_symbol *symbol, slri_reg value,
                                struct slri_where where);
struct slri_address slri_lower_update_pointer(struct slri_body *body, const struct slri_expr *expr);

slri_reg slri_emit_messages(struct slri_body *body, struct slri_where where); // how many, a U32
// The fault of an index of a message that is not there. `index` is what `expr` gives, as an I64.
void slri_emit_message_check(struct slri_body *body, const struct slri_expr *expr, slri_reg index);
bool slri_is_of_messages(struct slri_body *body, const struct slri_expr *expr); // certainly the number of one

slri_reg slri_lower_call(struct slri_body *body, const struct slri_expr *expr, struct slri_address *memory);
slri_reg slri_lower_math_parts(struct slri_body *body, const struct slri_expr *expr);
slri_reg slri_lower_math(struct slri_body *body, const struct slri_expr *expr);
slri_reg slri_lower_atomic(struct slri_body *body, const struct slri_expr *expr);
slri_reg slri_lower_exchange(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_fence(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_reply(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_send(struct slri_body *body, const struct slri_expr *expr); // lower_send.c
void slri_merge_reply(struct slri_body *body, const struct slri_type *reply, struct slri_where where);

void slri_lower_list(struct slri_body *body, const struct slri_stmt *list);

struct slri_address slri_lower_at(struct slri_body *body, const struct slri_expr *expr); // lower_emitted.c
slri_reg slri_lower_offset_of(struct slri_body *body, const struct slri_expr *expr);
void slri_lower_emitted(struct slri_body *body, const struct slri_expr *expr);

// What an integer expression may be; false where nothing is known. Sound, not sharp.
bool slri_range_of(struct slri_body *body, const struct slri_expr *expr, int64_t *least, int64_t *most);
void slri_range_loop(struct slri_body *body, const struct slri_stmt *loop); // inside it, its counter has a range

#endif

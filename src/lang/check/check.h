// SPDX-License-Identifier: Apache-2.0
// C's rules on types, as makers of tree nodes: each checks its operands, adds the conversions that C leaves implicit,
// and folds constants. What is wrong is reported once and becomes an ERROR node, about which nothing more is said.
#ifndef SLRI_LANG_CHECK_CHECK_H
#define SLRI_LANG_CHECK_CHECK_H

#include "ir/fold.h"
#include "lang/check/parse.h"

// ---- check_expr.c --------------------------------------------------------------------------------------------------

struct slri_expr *slri_make(struct slri_unit *unit, enum slri_expr_op op, const struct slri_type *type,
                            struct slri_where where, struct slri_expr *left, struct slri_expr *right);
struct slri_expr *slri_make_error(struct slri_unit *unit, struct slri_where where);
struct slri_expr *slri_make_const(struct slri_unit *unit, enum slri_kind kind, uint64_t bits, struct slri_where where);
struct slri_expr *slri_make_symbol(struct slri_unit *unit, struct slri_symbol *symbol, struct slri_where where);

// The value of an expression: arrays become pointers, const scalars their values. Reports a void.
struct slri_expr *slri_rvalue(struct slri_unit *unit, struct slri_expr *expr);
// How a message names an expression: "'x'", "the member 'at'", "this".
const char *slri_expr_name(struct slri_unit *unit, const struct slri_expr *expr);
struct slri_expr *slri_truth(struct slri_unit *unit, struct slri_expr *expr); // an I32 that is 0 or not
struct slri_expr *slri_to_kind(struct slri_unit *unit, struct slri_expr *expr, enum slri_kind kind);
struct slri_expr *slri_to_index(struct slri_unit *unit, struct slri_expr *expr); // an I64

// As if by assignment. `what` completes "cannot use X as ..." ("the value of 'x'").
struct slri_expr *slri_convert(struct slri_unit *unit, struct slri_expr *expr, const struct slri_type *type,
                               const char *what);
struct slri_expr *slri_make_cast(struct slri_unit *unit, const struct slri_type *type, struct slri_expr *expr,
                                 struct slri_where where);

// ---- check_operator.c ----------------------------------------------------------------------------------------------

struct slri_expr *slri_make_unary(struct slri_unit *unit, const struct slri_token *token, struct slri_expr *expr);
struct slri_expr *slri_make_binary(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                   struct slri_expr *left, struct slri_expr *right);
struct slri_expr *slri_make_logical(struct slri_unit *unit, enum slri_expr_op op, struct slri_where where,
                                    struct slri_expr *left, struct slri_expr *right);
struct slri_expr *slri_make_cond(struct slri_unit *unit, struct slri_where where, struct slri_expr *test,
                                 struct slri_expr *yes, struct slri_expr *no);
struct slri_expr *slri_make_assign(struct slri_unit *unit, struct slri_where where, struct slri_expr *left,
                                   struct slri_expr *right);
struct slri_expr *slri_make_update(struct slri_unit *unit, enum slri_op instr, const struct slri_token *token,
                                   struct slri_expr *left, struct slri_expr *right, bool post);

// ---- check_memory.c ------------------------------------------------------------------------------------------------

void slri_take_address(struct slri_expr *expr); // the variable that it is, or is a part of, must lie in memory
struct slri_expr *slri_make_address(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr);
struct slri_expr *slri_make_deref(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr);
struct slri_expr *slri_make_field(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr,
                                  const struct slri_token *name);
struct slri_expr *slri_make_subscript(struct slri_unit *unit, struct slri_where where, struct slri_expr *expr,
                                      struct slri_expr *index);
// The member, or NULL (reported).
const struct slri_field *slri_find_field(struct slri_unit *unit, const struct slri_type *type,
                                         const struct slri_token *name);

// ---- check_call.c, check_builtin.c ---------------------------------------------------------------------------------

struct slri_expr *slri_make_call(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                 uint32_t args);
// A function that the language has built in; NULL when it has none of that name.
struct slri_expr *slri_make_builtin(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                    uint32_t args);
// check_emitted.c: a word of emitted text; NULL when there is none of that name.
struct slri_expr *slri_make_emitted_builtin(struct slri_unit *unit, const struct slri_token *name,
                                            struct slri_expr **arg, uint32_t args);
// A constant that is built in (true, INFINITY, __NV_ATOMIC_RELAXED); NULL when there is none of that name.
struct slri_expr *slri_make_builtin_constant(struct slri_unit *unit, const struct slri_token *name);
bool slri_check_argument_count(struct slri_unit *unit, const struct slri_token *name, uint32_t has, uint32_t needs);

// ---- check_block.c -------------------------------------------------------------------------------------------------

bool slri_names_place(const struct slri_token *name); // threadIdx, blockIdx, blockDim or gridDim
struct slri_expr *slri_make_place(struct slri_unit *unit, const struct slri_token *name,
                                  const struct slri_token *member);
struct slri_expr *slri_make_whole_place(struct slri_unit *unit, const struct slri_token *name); // a uint3 or dim3
// make_float4(...), printf(text, ...)
struct slri_expr *slri_make_vector(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                   uint32_t args); // NULL when there is no vector of that name
// `format`: the module's number for the text; UINT32_MAX: the next, or the one that the same text has.
struct slri_expr *slri_make_print(struct slri_unit *unit, const struct slri_token *name, const struct slri_token *text,
                                  uint32_t format, struct slri_expr **arg, uint32_t args);
// Behind the ( of a word of emitted text that prints: its format's number, and the comma. Else UINT32_MAX, and nothing
// is read.
uint32_t slri_parse_format_number(struct slri_unit *unit, const struct slri_token *name);
// A function of blocks that is built in (__syncthreads, __threadfence); NULL when there is none of that name.
struct slri_expr *slri_make_block_builtin(struct slri_unit *unit, const struct slri_token *name, struct slri_expr **arg,
                                          uint32_t args);

// ---- check_handler.c -----------------------------------------------------------------------------------------------

void slri_check_handler(struct slri_unit *unit, const struct slri_func *func);
bool slri_handler_has_state(const struct slri_func *func);       // of one that was checked
uint32_t slri_handler_message(const struct slri_func *func);     // which parameter is its message
uint32_t slri_handler_bindings_at(const struct slri_func *func); // and which is the first binding
void slri_check_kernel(struct slri_unit *unit, const struct slri_func *func);

#endif

// SPDX-License-Identifier: Apache-2.0
// The checked tree between the parser and the lowering: every name is resolved, every expression has its type, every
// conversion that C leaves implicit is a CAST or DECAY node, and what is constant has become a CONST node.
// What depends on a pointer's root is not decided here: a function is lowered once for each combination of roots.
#ifndef SLRI_LANG_CHECK_AST_H
#define SLRI_LANG_CHECK_AST_H

#include "ir/ir.h"
#include "ir/type.h"

struct slri_expr;
struct slri_stmt;
struct slri_func;

enum slri_symbol_kind {
    SLRI_SYMBOL_TYPEDEF,
    SLRI_SYMBOL_CONSTANT, // an enumerator
    SLRI_SYMBOL_VARIABLE, // of a function: a local or a parameter
    SLRI_SYMBOL_TABLE,    // a const object with static storage: a table of the module
    SLRI_SYMBOL_SHARED,   // a __shared__ object: of the module's, or all that is `extern`
    SLRI_SYMBOL_GLOBAL,   // a variable of the program: `__device__`, or `__constant__` that the host fills
    SLRI_SYMBOL_FUNCTION,
    SLRI_SYMBOL_LEFT_OUT, // a name of the host's or of C++
    SLRI_SYMBOL_TAG,      // of a struct or an enum: a name space of its own
};

struct slri_symbol {
    enum slri_symbol_kind kind;
    const char *name; // interned by the lexer: equal names are equal pointers
    struct slri_where where;
    const struct slri_type *type;
    bool is_const, is_volatile;
    bool is_known;          // a const scalar whose value is known; always so of a CONSTANT
    uint64_t bits;          // that value, in the register kind of `type`
    bool is_dynamic;        // of a SHARED: `extern`, its size is known at launch
    bool is_restrict;       // of a parameter
    bool is_changed;        // of a struct or an array that is a VARIABLE: some part of it is assigned to
    uint32_t index;         // of a VARIABLE: within its function; of a TABLE, SHARED or GLOBAL: within the module's
    uint32_t assignments;   // to a VARIABLE after its declaration
    bool address_taken;     // of a VARIABLE: it lives in memory
    struct slri_func *func; // of a FUNCTION
    struct slri_type *incomplete; // of a TAG: the struct that is still to be defined
    unsigned left_out_code;       // of a LEFT_OUT, and of a TAG that was left out: why; else 0
    const char *left_out_why;
    struct slri_symbol *shadowed; // chains of the parser's scopes
    struct slri_symbol *in_scope;
    uint32_t depth;
};

// A flattened initialiser: what stands at which offset; all that is not named is zero. Later items overwrite earlier
// ones.
struct slri_init_item {
    uint64_t offset;
    struct slri_expr *value; // a scalar already of the item's type, or a struct
    struct slri_init_item *next;
};

struct slri_init {
    const struct slri_type *type; // with the length that the initialiser gave an open array
    struct slri_init_item *first, **last;
    bool is_constant; // every item is
};

enum slri_expr_op {
    SLRI_EXPR_ERROR,    // something was reported here: say no more about it
    SLRI_EXPR_CONST,    // bits
    SLRI_EXPR_VARIABLE, // symbol: VARIABLE, TABLE, SHARED or GLOBAL
    SLRI_EXPR_UNARY,    // instr (NEG, NOT) of left
    SLRI_EXPR_BINARY,   // instr of left and right, both of the kind of left; also comparisons. index: of a division 0,
                        // or SLRI_DIVISOR_IS_NOT_ZERO
    SLRI_EXPR_AND,      // left && right, right || left: short circuits
    SLRI_EXPR_OR,
    SLRI_EXPR_COND,  // left ? right : third
    SLRI_EXPR_COMMA, // left, right
    SLRI_EXPR_CAST,  // scalar left to a scalar type; of pointers: the same bytes under another type
    SLRI_EXPR_DECAY, // the array left as a pointer to its first element
    SLRI_EXPR_ADDRESS,
    SLRI_EXPR_DEREF,
    SLRI_EXPR_FIELD,           // field of left (a struct, not a pointer)
    SLRI_EXPR_SUBSCRIPT,       // left[right]: left an array or a pointer, right an I64
    SLRI_EXPR_POINTER_ADD,     // left + right elements: right an I64
    SLRI_EXPR_POINTER_DIFF,    // (left - right) in elements
    SLRI_EXPR_POINTER_COMPARE, // instr of left and right
    SLRI_EXPR_ASSIGN,          // left = right
    SLRI_EXPR_UPDATE,          // left = left instr right, in the kind `work`; post: the value is the old one
    SLRI_EXPR_CALL,            // callee of arg
    SLRI_EXPR_MATH,            // row `index` of the math table of arg
    SLRI_EXPR_MATH_PARTS,      // row `index` of slri_math_parts: arg[0], then pointers to what is written
    SLRI_EXPR_ATOMIC,          // instr of arg: pointer, then values; order, scope, index: enum slri_rmw
    SLRI_EXPR_EXCHANGE,        // __nv_atomic_compare_exchange_n: arg is pointer, expected, desired
    SLRI_EXPR_FENCE,
    SLRI_EXPR_REPLY, // left: a pointer to the reply; right: to which message, a U32, or NULL
    SLRI_EXPR_SEND,  // left: the outlet; right: a pointer to the message; third: the instance, a U32, or NULL
    SLRI_EXPR_INSTANCE,
    SLRI_EXPR_BUILTIN, // index: enum slri_builtin
    SLRI_EXPR_WARP,    // index: enum slri_warp; arg; work: the kind of its value
    SLRI_EXPR_PRESENT, // whether left, a pointer, points into anything
    SLRI_EXPR_PRINT,   // index: the module's format; arg
    SLRI_EXPR_TRAP,    // index: enum slri_fault, where left (an I32, or NULL: always) is zero
    SLRI_EXPR_BARRIER, // index: enum slri_barrier; left: the value that is combined, an I32, or NULL
    SLRI_EXPR_LITERAL, // a compound literal: init
    // Of emitted text alone (check_emitted.c):
    SLRI_EXPR_AT,       // right bytes into the object that left is, or points into; not checked
    SLRI_EXPR_CLOCK,    // the device's counter, a U64
    SLRI_EXPR_MESSAGES, // how many the call has, a U32
    SLRI_EXPR_OFFSET,   // how far left points into its object
    SLRI_EXPR_EMITTED,  // instr (STORE, ZERO, COPY, INDEX) of left, right and third
};

struct slri_expr {
    enum slri_expr_op op;
    enum slri_op instr;
    const struct slri_type *type;
    struct slri_where where;
    bool is_lvalue, is_const, is_volatile, post;
    uint8_t order, scope;
    enum slri_kind work;
    uint32_t height; // of the tree below, bounded so that passes may recurse
    uint32_t index;
    uint64_t bits;
    struct slri_expr *left, *right, *third;
    struct slri_symbol *symbol;
    const struct slri_field *field;
    struct slri_func *callee;
    struct slri_expr **arg;
    uint32_t args;
    struct slri_init *init;
};

enum slri_stmt_kind {
    SLRI_STMT_EXPR,    // value
    SLRI_STMT_DECLARE, // symbol, init or value (of a scalar or pointer), or neither: it starts as zero
    SLRI_STMT_BLOCK,   // body
    SLRI_STMT_IF,      // value, body, other
    SLRI_STMT_LOOP,    // init; value (may be NULL); step; body; do_while
    SLRI_STMT_SWITCH,  // value, first case
    SLRI_STMT_BREAK,
    SLRI_STMT_CONTINUE,
    SLRI_STMT_RETURN, // value or NULL
};

struct slri_stmt_case {
    bool is_default;
    uint64_t bits;
    struct slri_where where;
    struct slri_stmt *body; // a list
    struct slri_stmt_case *next;
};

struct slri_stmt {
    enum slri_stmt_kind kind;
    struct slri_where where;
    struct slri_stmt *next; // in its list
    struct slri_expr *value, *step;
    struct slri_stmt *start; // of a for: its declaration or expression, a list
    struct slri_stmt *body, *other;
    struct slri_symbol *symbol;
    struct slri_init *init;
    struct slri_stmt_case *match;
    bool do_while;
    bool has_break;                // of a LOOP or SWITCH: some BREAK leaves it
    struct slri_symbol *untouched; // of a LOOP: the variable that its step changes and its body does not
};

struct slri_func {
    const char *name;
    struct slri_where where;
    const struct slri_type *result;
    struct slri_symbol **param;
    uint32_t params;
    uint32_t variables;                // parameters and locals, numbered from 0
    struct slri_stmt *body;            // NULL: only declared
    uint32_t removed_from, removed_to; // see slri_function
    bool is_ring;
    bool is_block; // of a handler: __ring_block__
    bool is_batch; // of a handler: __ring_batch__
    bool is_kernel;
    bool is_device;   // marked __device__ or __global__
    bool is_left_out; // it was outside the language
    bool is_defined;
    uint32_t max_threads, min_blocks; // of a kernel: __launch_bounds__, or 0
    bool is_lowering;                 // on the way down: a call to it now is recursion
    struct slri_special *special;     // the lowering's: one for each combination of roots
    unsigned last_number;             // in the name of one of those: name__1 and so on
    struct slri_func *next;           // in source order
};

#endif

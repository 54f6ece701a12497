// SPDX-License-Identifier: Apache-2.0
// The IR's tree made flat: one array of small instructions with jump targets, which the interpreter steps through.
// Immutable once made. What a step does is decided here as far as it can be: op and kind are one code, roots are places
// in a table of spans, the frame of each function has its layout.
#ifndef SLRI_RUN_FLATTEN_H
#define SLRI_RUN_FLATTEN_H

#include "ir/ir.h"
#include "ir/math/scalar.h"

#include <slipring/status.h>

// X(name, op): the kinds of register and of memory, in the IR's order.
#define SLRI_REGISTER_KINDS(X, op) X(I32, op) X(U32, op) X(I64, op) X(U64, op) X(F32, op) X(F64, op)
#define SLRI_MEMORY_KINDS(X, op)                                                                                       \
    X(BOOL, op) X(I8, op) X(U8, op) X(I16, op) X(U16, op) SLRI_REGISTER_KINDS(X, op) X(F16, op) X(BF16, op)
#define SLRI_MEMORY_KIND_COUNT (SLRI_BF16 - SLRI_BOOL + 1)

// The ops that are done in a register's kind, NEG to GE: one code for each pair, some of which (NOT of floats) no
// verified module holds. Then the codes by kind of memory, then the plain ones.
#define SLRI_ARITHMETIC_OPS(X)                                                                                         \
    X(NEG)                                                                                                             \
    X(NOT) X(ADD) X(SUB) X(MUL) X(DIV) X(REM) X(SHL) X(SHR) X(AND) X(OR) X(XOR) X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE)

// X(name): what it does with `struct slri_code`.
#define SLRI_PLAIN_CODES(X)                                                                                            \
    X(CONST32)      /* dst = low half of imm */                                                                        \
    X(CONST64)      /* dst = imm */                                                                                    \
    X(MOVE)         /* dst = a */                                                                                      \
    X(COPY)         /* imm bytes at (root, a) = those at (root2, b) */                                                 \
    X(ZERO)         /* imm bytes at (root, a) = 0 */                                                                   \
    X(INDEX)        /* fault unless 0 <= a < imm */                                                                    \
    X(INDEX_BELOW)  /* fault unless 0 <= a < b */                                                                      \
    X(MATH)         /* dst = function imm of the registers arg[b ..], a of them */                                     \
    X(ATOMIC_LOAD)  /* dst = `kind` at (root, a) */                                                                    \
    X(ATOMIC_STORE) /* `kind` at (root, a) = b */                                                                      \
    X(ATOMIC_RMW)   /* dst = old; `kind` at (root, a) = old (imm) b */                                                 \
    X(ATOMIC_CAS)   /* dst = old; `kind` at (root, a) = register c if old == b */                                      \
    X(FENCE)                                                                                                           \
    X(REPLY)        /* a reply of the bytes at (root, a) */                                                            \
    X(REPLY_TO)     /* the same, to message b of the call */                                                           \
    X(SEND)         /* imm bytes at (root, a) to instance b of the outlet target */                                    \
    X(INSTANCE)     /* dst = number of the instance */                                                                 \
    X(MESSAGES)     /* dst = how many the call has */                                                                  \
    X(CLOCK)        /* dst = 0: it has no counter */                                                                   \
    X(BUILTIN)      /* dst = the thread's builtin imm */                                                               \
    X(BARRIER)      /* enum slri_barrier imm of a; dst: its value */                                                   \
    X(WARP)         /* dst = enum slri_warp imm of the registers arg[b ..], a of them, of `kind` */                    \
    X(PRESENT)      /* dst = whether root is there */                                                                  \
    X(PRINT)        /* format imm with the registers arg[b ..], a of them */                                           \
    X(TRAP)         /* the fault imm */                                                                                \
    X(CALL)         /* dst = function imm, whose arguments are arg[b ..], a of them */                                 \
    X(RETURN)       /* a, or SLRI_NO_REG */                                                                            \
    X(JUMP)         /* to `target`, and so do the next three */                                                        \
    X(JUMP_IF_ZERO) /* if a is zero */                                                                                 \
    X(BACK_EDGE)    /* fuel -= 1, fault at 0 */                                                                        \
    X(SWITCH32)     /* match[b ..], imm of them, sorted by value; `target` where none equals a */                      \
    X(SWITCH64)

enum slri_code_op {
#define SLRI_CODE_KINDED(kind, op) SLRI_CODE_##op##_##kind,
#define SLRI_CODE_ARITHMETIC(op) SLRI_REGISTER_KINDS(SLRI_CODE_KINDED, op)
#define SLRI_CODE_PLAIN(op) SLRI_CODE_##op,
    SLRI_ARITHMETIC_OPS(SLRI_CODE_ARITHMETIC) SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, LOAD)
        SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, STORE)
            SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_I32) // CONVERT, from a register's kind to that
    SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_U32) SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_I64)
        SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_U64) SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_F32)
            SLRI_MEMORY_KINDS(SLRI_CODE_KINDED, FROM_F64) SLRI_PLAIN_CODES(SLRI_CODE_PLAIN)
#undef SLRI_CODE_KINDED
#undef SLRI_CODE_ARITHMETIC
#undef SLRI_CODE_PLAIN
};

// Which table of spans a root is in: the call's (state, message, const tables, shared objects, dynamic shared memory,
// variables, bindings), or the frame's (parameters, of which those in memory are used, then locals).
enum slri_span_table { SLRI_SPANS_OF_CALL, SLRI_SPANS_OF_FRAME };
enum { SLRI_SPAN_STATE, SLRI_SPAN_MESSAGE, SLRI_SPAN_CONST }; // the first const table's
static inline uint32_t slri_span_of_shared(const struct slri_module *module, uint32_t index)
{
    return SLRI_SPAN_CONST + module->constants + index; // the dynamic one's is that of index module->shareds
}
static inline uint32_t slri_span_of_global(const struct slri_module *module, uint32_t index)
{
    return slri_span_of_shared(module, module->shareds) + 1 + index;
}
static inline uint32_t slri_span_of_binding(const struct slri_module *module, uint32_t index)
{
    return slri_span_of_global(module, module->globals) + index;
}

struct slri_span_name {
    uint32_t table, index;
};

struct slri_code {      // 32 bytes, two a cache line
    unsigned op : 16;   // enum slri_code_op
    unsigned kind : 8;  // of atomics
    unsigned order : 6; // of atomics and fences. Of CONST32, CONST64, ZERO: 1 where no source gave that value
    unsigned table : 1, table2 : 1; // enum slri_span_table of root and root2
    uint32_t dst, a, b;
    uint32_t root; // index in the table
    union {
        uint32_t c;      // of ATOMIC_CAS
        uint32_t target; // of jumps and switches: index of an instruction
        uint32_t root2;  // of COPY
        uint32_t outlet; // of SEND: index of the binding
    } u;
    uint64_t imm;
};

struct slri_code_arg {
    uint32_t from, to; // registers: the caller's, the callee's
    bool is_memory;
    struct slri_span_name span; // the caller's name for a memory parameter
    uint32_t to_span;           // in the callee's frame
};

struct slri_code_match {
    uint64_t value;
    uint32_t target;
};

struct slri_flat_local {
    uint64_t offset, bytes; // from the frame's start
};

// A frame: struct slri_frame, registers, spans, then the locals' bytes.
struct slri_flat_function {
    uint32_t start; // index of its first instruction
    uint32_t regs, params, locals;
    const struct slri_flat_local *local;
    uint64_t span_offset; // of its spans, from the frame's start; registers follow the header
    uint64_t frame_bytes; // a multiple of 16
    uint64_t stack_bytes; // with all that it calls: there is no recursion, so this is a number
};

struct slri_flat {
    const struct slri_module *module;
    struct slri_code *code;
    struct slri_where *where; // of each instruction
    uint32_t count, room;
    struct slri_code_arg *arg;
    uint32_t args, arg_room;
    struct slri_code_match *match;
    uint32_t matches, match_room;
    struct slri_flat_function *function; // in the module's order
    uint32_t spans;                      // of the call's table: the highest binding named anywhere fits
    struct slri_region *region;
};

// At the bottom of each frame. Pointers, because a step through code reads them at each instruction.
struct slri_span {
    unsigned char *base;
    uint64_t bytes;
};

struct slri_frame {
    struct slri_frame *caller;    // NULL in the entry's
    const struct slri_code *back; // where the caller goes on
    uint32_t dst;                 // the caller's register for the result
    unsigned char *end;           // where a callee's frame goes
    union slri_scalar *reg;
    struct slri_span *span;
};

// A function and all that it calls may need this much stack; a handler that needs more is refused.
#define SLRI_INTERP_STACK_BYTES (1u << 20)

// Fills `flat`; everything it holds is in flat->region, which the caller destroys, also after an error.
// Errors: UNSUPPORTED (a function needs more stack than there is), INTERNAL (a function calls a later one), NO_MEMORY.
// `entry`: only what it calls, of a module that was through slri_module_verify. NULL: all.
slr_status slri_flatten(const struct slri_module *module, const struct slri_entry *entry, struct slri_flat *flat);

#endif

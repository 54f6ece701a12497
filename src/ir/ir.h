// SPDX-License-Identifier: Apache-2.0
// The typed, structured, three-address form between the checker and everything that runs or prints a kernel.
//
// Registers hold scalars of six kinds (I32 U32 I64 U64 F32 F64); memory holds all kinds. A register may be assigned
// more than once: this is not SSA, because every target is a structured language whose compiler makes its own.
// Every memory access is (root, byte offset, kind): a pointer in the source is an I64 offset register plus a root that
// is known at compile time, so that rules about pointers are checked once, in the front end, for every target.
// Control flow is a tree; a loop has one back edge, where fuel, coverage and a device's iteration limit hang.
//
// Arithmetic has defined results everywhere, the same on every target: integers wrap; a shift count is taken modulo the
// width; float to integer truncates, saturates, and NaN gives 0; a float operation is rounded once, to its own kind.
// Integer DIV and REM by zero, an index outside its extent, an access outside a root, and running out of fuel are
// faults. INT_MIN / -1 is INT_MIN and INT_MIN % -1 is 0: wrapping, no fault.
//
// A kernel's entry is run by every thread of every block; registers and locals are a thread's own, SLRI_ROOT_SHARED and
// SLRI_ROOT_DYNAMIC a block's, bindings everybody's. What a kernel does outside its arrays, its buffers or the words
// that it may race for is a fault in the interpreter and undefined elsewhere, as in CUDA: a target need not check it.
#ifndef SLRI_IR_IR_H
#define SLRI_IR_IR_H

#include <slipring/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- types ---------------------------------------------------------------------------------------------------------

// X(name, bytes, C spelling). BOOL is one byte holding 0 or 1.
#define SLRI_KIND_LIST(X)                                                                                              \
    X(BOOL, 1, "_Bool")                                                                                                \
    X(I8, 1, "int8_t")                                                                                                 \
    X(U8, 1, "uint8_t")                                                                                                \
    X(I16, 2, "int16_t")                                                                                               \
    X(U16, 2, "uint16_t")                                                                                              \
    X(I32, 4, "int32_t")                                                                                               \
    X(U32, 4, "uint32_t")                                                                                              \
    X(I64, 8, "int64_t")                                                                                               \
    X(U64, 8, "uint64_t")                                                                                              \
    X(F32, 4, "float")                                                                                                 \
    X(F64, 8, "double")                                                                                                \
    X(F16, 2, "float") /* these two are of memory only: a register holds the float that they are */                    \
    X(BF16, 2, "float")

enum slri_kind {
    SLRI_VOID,
#define SLRI_KIND_ENUM(name, bytes, spelling) SLRI_##name,
    SLRI_KIND_LIST(SLRI_KIND_ENUM)
#undef SLRI_KIND_ENUM
        SLRI_STRUCT, // the following are types of memory only, never of a register
    SLRI_ARRAY,
    SLRI_POINTER, // a type of the front end; no memory holds one
};

// A type as the host's C compiler lays it out (LP64: long is 64 bits, char is signed). Types are interned a module:
// two types are the same when their pointers are.
struct slri_type {
    enum slri_kind kind;
    uint64_t bytes;
    uint32_t align;
    bool is_const, is_volatile;     // of what a pointer points to
    const struct slri_type *of;     // element of an array, target of a pointer, message of an outlet (type.h)
    uint64_t count;                 // of an array
    const char *name;               // of a struct: its tag or typedef name ("" when it has none)
    const struct slri_field *field; // of a struct
    uint32_t fields;
    bool is_vector; // of a struct: float4 and its like, which every CUDA source knows
};

struct slri_field {
    const char *name;
    const struct slri_type *type;
    uint64_t offset;
    uint32_t align; // that the source asks for, 0: its type's
    bool is_volatile;
    bool is_text; // an array of `char`, spelled so: neither signed nor unsigned, and by no typedef
};

// ---- roots, registers, places --------------------------------------------------------------------------------------

enum slri_root_kind {
    SLRI_ROOT_NONE,
    SLRI_ROOT_STATE, // the instance's state
    // The message (read only); with index SLRI_MESSAGES all those of the call of a `__ring_batch__` handler, one behind
    // the other.
    SLRI_ROOT_MESSAGE,
    SLRI_ROOT_BINDING, // index: which binding of the entry; its size is known at launch and every access is checked
    SLRI_ROOT_CONST,   // index: which of the module's const tables
    SLRI_ROOT_LOCAL,   // index: which of the function's locals
    SLRI_ROOT_PARAM,   // index: which of the function's parameters: memory of the caller, passed by reference
    SLRI_ROOT_SHARED,  // index: which of the module's shared objects: memory a block, that begins as anything
    SLRI_ROOT_GLOBAL,  // index: which of the module's variables: memory of the program, everybody's
    SLRI_ROOT_DYNAMIC, // the block's `extern __shared__` memory; its size is known at launch
};

struct slri_root {
    enum slri_root_kind kind;
    uint32_t index;
};

#define SLRI_MESSAGES 1u // see SLRI_ROOT_MESSAGE

typedef uint32_t slri_reg; // index into slri_function.reg_kind
#define SLRI_NO_REG UINT32_MAX

struct slri_where { // a place in the source: file indexes slri_module.file; line and column count from 1
    uint32_t file, line, column;
};

// ---- instructions --------------------------------------------------------------------------------------------------

// X(name): what it does; `kind` is the kind that it works in. For comparisons `kind` is the operands', dst is I32 0/1.
#define SLRI_OP_LIST(X)                                                                                                \
    X(CONST) /* dst = imm (the bits of `kind`, zero-extended) */                                                       \
    X(MOVE)  /* dst = a */                                                                                             \
    X(NEG)   /* dst = -a */                                                                                            \
    X(NOT)   /* dst = ~a */                                                                                            \
    X(ADD)   /* dst = a + b, and so on */                                                                              \
    X(SUB)                                                                                                             \
    X(MUL)                                                                                                             \
    X(DIV) /* integer: faults on zero; imm: 0, or SLRI_DIVISOR_IS_NOT_ZERO, as a pass has seen to */                   \
    X(REM) /* integers only; as DIV */                                                                                 \
    X(SHL) /* b has the kind of a; its count is taken modulo the width */                                              \
    X(SHR) /* arithmetic for I32 and I64, logical for U32 and U64 */                                                   \
    X(AND)                                                                                                             \
    X(OR)                                                                                                              \
    X(XOR)                                                                                                             \
    X(EQ)                                                                                                              \
    X(NE)                                                                                                              \
    X(LT)                                                                                                              \
    X(LE)                                                                                                              \
    X(GT)                                                                                                              \
    X(GE)                                                                                                              \
    X(CONVERT)      /* dst = a, from the kind of a's register to `kind`; for BOOL..U16 dst is I32 holding the narrowed \
                       value, for F16 and BF16 F32 holding the rounded one */                                          \
    X(LOAD)         /* dst = `kind` at (root, a); BOOL..U16 are widened to I32, F16 and BF16 to F32 */                 \
    X(STORE)        /* `kind` at (root, a) = b, narrowed or rounded */                                                 \
    X(COPY)         /* imm bytes at (root, a) = those at (root2, b); the two do not overlap, or are the same */        \
    X(ZERO)         /* imm bytes at (root, a) = 0 */                                                                   \
    X(INDEX)        /* fault unless 0 <= a < imm, or < b where b is one; both are I64 */                               \
    X(MATH)         /* dst = function imm (ir/math/functions.h) of arg[0..args) */                                     \
    X(ATOMIC_LOAD)  /* dst = `kind` at (root, a); order, scope */                                                      \
    X(ATOMIC_STORE) /* `kind` at (root, a) = b */                                                                      \
    X(ATOMIC_RMW)   /* dst = old; `kind` at (root, a) = old (imm: enum slri_rmw) b */                                  \
    X(ATOMIC_CAS)   /* dst = old; `kind` at (root, a) = c if old == b */                                               \
    X(FENCE)        /* order, scope */                                                                                 \
    X(REPLY)    /* ring_reply: a reply with the entry's reply type's bytes at (root, a); faults past max_replies. Of   \
                   a `__ring_batch__` handler b (U32) says to which of its messages, of which it is one */             \
    X(SEND)     /* ring_send: the bytes at (root, a) to instance b (U32), or SLRI_OWN_INSTANCE; imm: slri_sent_bytes,  \
                   slri_sent_outlet; faults past max_sends */                                                          \
    X(INSTANCE) /* dst = U32 number of the instance */                                                                 \
    X(MESSAGES) /* dst = U32 how many messages the call of a `__ring_batch__` handler has; at least 1 */               \
    X(CLOCK)    /* dst = U64 ticks of the device's counter; 0 where the target has none */                             \
    X(BUILTIN)  /* dst = U32 value of enum slri_builtin imm */                                                         \
    X(BARRIER)  /* all threads of the block come here, then go on; imm: enum slri_barrier; dst, a: see there */        \
    X(WARP)     /* dst = enum slri_warp imm of arg[0..args) in the lanes of one warp */                                \
    X(PRESENT)  /* dst = I32 whether the root is there: a buffer may be none */                                        \
    X(PRINT)    /* printf: the module's format imm with the values of arg[0..args) */                                  \
    X(TRAP)     /* the fault imm (enum slri_fault: ASSERT or TRAP, from a pass DIVIDE) */                              \
    X(CALL)     /* dst (or SLRI_NO_REG) = callee(arg[0..args)) */                                                      \
    X(IF)       /* a (I32): body[0] if not zero, else body[1] (may be NULL) */                                         \
    X(LOOP)     /* see below */                                                                                        \
    X(SWITCH)   /* see below */                                                                                        \
    X(BREAK)    /* of the innermost LOOP or SWITCH */                                                                  \
    X(CONTINUE) /* of the innermost LOOP */                                                                            \
    X(RETURN)   /* a, or SLRI_NO_REG */

enum slri_op {
#define SLRI_OP_ENUM(name) SLRI_OP_##name,
    SLRI_OP_LIST(SLRI_OP_ENUM)
#undef SLRI_OP_ENUM
};

#define SLRI_DIVISOR_IS_NOT_ZERO 1

enum slri_rmw {
    SLRI_RMW_ADD,
    SLRI_RMW_SUB,
    SLRI_RMW_AND,
    SLRI_RMW_OR,
    SLRI_RMW_XOR,
    SLRI_RMW_MIN,
    SLRI_RMW_MAX,
    SLRI_RMW_EXCHANGE,
    SLRI_RMW_INCREMENT, // of U32: old >= b ? 0 : old + 1
    SLRI_RMW_DECREMENT, // of U32: old == 0 || old > b ? b : old - 1
};
enum slri_order { SLRI_RELAXED, SLRI_ACQUIRE, SLRI_RELEASE, SLRI_ACQ_REL, SLRI_SEQ_CST };
enum slri_scope { SLRI_SCOPE_BLOCK, SLRI_SCOPE_DEVICE, SLRI_SCOPE_SYSTEM };

// What a thread of a block knows of its place. Kernels and block handlers only.
// X(name, what a kernel's source calls it)
#define SLRI_BUILTIN_LIST(X)                                                                                           \
    X(THREAD_X, "threadIdx.x")                                                                                         \
    X(THREAD_Y, "threadIdx.y")                                                                                         \
    X(THREAD_Z, "threadIdx.z")                                                                                         \
    X(BLOCK_X, "blockIdx.x")                                                                                           \
    X(BLOCK_Y, "blockIdx.y")                                                                                           \
    X(BLOCK_Z, "blockIdx.z")                                                                                           \
    X(BLOCK_DIM_X, "blockDim.x")                                                                                       \
    X(BLOCK_DIM_Y, "blockDim.y")                                                                                       \
    X(BLOCK_DIM_Z, "blockDim.z")                                                                                       \
    X(GRID_DIM_X, "gridDim.x")                                                                                         \
    X(GRID_DIM_Y, "gridDim.y")                                                                                         \
    X(GRID_DIM_Z, "gridDim.z")

enum slri_builtin {
#define SLRI_BUILTIN_ENUM(name, spelling) SLRI_BUILTIN_##name,
    SLRI_BUILTIN_LIST(SLRI_BUILTIN_ENUM)
#undef SLRI_BUILTIN_ENUM
        SLRI_BUILTIN_COUNT
};

// BARRIER: a fault where not all threads that still run reach the same one (a thread that has returned from the entry
// is not waited for). It orders the block's accesses to shared and global memory. All but SYNC have an I32 in `a`, and
// their dst (I32) is the same in every thread: how many threads gave one that is not zero, whether all, whether any.
enum slri_barrier { SLRI_BARRIER_SYNC, SLRI_BARRIER_COUNT, SLRI_BARRIER_AND, SLRI_BARRIER_OR };

// WARP. arg[0] of all but ACTIVE is the mask (U32) of the lanes that take part; each of them that still runs must come
// to this instruction with the same mask, and one that comes must be in its own mask: else it is a fault. A lane is a
// thread's number in its block modulo 32.
//
// X(name, what a kernel's source calls it, arguments, result). Types: K the instruction's kind, U U32, I I32, F F32,
// - none.
// Shuffles: arg[1] the value (K), arg[2] a lane, a distance or a mask for lanes (I32), arg[3] the width (I32): a power
// of two from 1 to 32, else a fault. dst is the value of lane, where a lane's group are the `width` lanes about it that
// begin at a multiple of width: SHUFFLE the group's lane arg[2] modulo width; UP and DOWN that many lanes below and
// above, or the own where that leaves the group; XOR the own lane ^ arg[2], or the own where that is above the group.
// Where that lane takes no part (or is not there) it is the own value.
//
// MATRIX: all 32 lanes take part, else it is a fault. arg[1] to arg[4] are the lane's elements of A, 16 rows of 16, and
// arg[5], arg[6] those of B, 16 rows of 8: two halves each, the first in the low bits. With g = lane / 4, t = lane % 4:
// A has rows g, g + 8, g, g + 8 and columns 2t, 2t, 2t + 8, 2t + 8, and what is right of them; B has column g and rows
// 2t, 2t + 8, and what is below. dst is arg[7] plus the lane's element arg[8] modulo 4 of the product: rows g, g, g +
// 8, g + 8, columns 2t, 2t + 1, 2t, 2t + 1. Sums are floats. Not every target has it: matrix.h.
#define SLRI_WARP_LIST(X)                                                                                              \
    X(SYNC, "__syncwarp", "U", '-')                                                                                    \
    X(SHUFFLE, "__shfl_sync", "UKII", 'K')                                                                             \
    X(SHUFFLE_UP, "__shfl_up_sync", "UKII", 'K')                                                                       \
    X(SHUFFLE_DOWN, "__shfl_down_sync", "UKII", 'K')                                                                   \
    X(SHUFFLE_XOR, "__shfl_xor_sync", "UKII", 'K')                                                                     \
    X(BALLOT, "__ballot_sync", "UI", 'U') /* the lanes whose arg[1] is not zero */                                     \
    X(ALL, "__all_sync", "UI", 'I')       /* whether that is so of all that take part */                               \
    X(ANY, "__any_sync", "UI", 'I')                                                                                    \
    X(MATCH, "__match_any_sync", "UK", 'U')       /* the lanes whose arg[1] has the own bits */                        \
    X(REDUCE_ADD, "__reduce_add_sync", "UK", 'K') /* of I32 and U32, over those that take part */                      \
    X(REDUCE_MIN, "__reduce_min_sync", "UK", 'K')                                                                      \
    X(REDUCE_MAX, "__reduce_max_sync", "UK", 'K')                                                                      \
    X(REDUCE_AND, "__reduce_and_sync", "UK", 'K')                                                                      \
    X(REDUCE_OR, "__reduce_or_sync", "UK", 'K')                                                                        \
    X(REDUCE_XOR, "__reduce_xor_sync", "UK", 'K')                                                                      \
    X(MATRIX_F16, "__matrix_f16_sync", "UUUUUUUFI", 'F')                                                               \
    X(MATRIX_BF16, "__matrix_bf16_sync", "UUUUUUUFI", 'F')                                                             \
    X(ACTIVE, "__activemask", "", 'U') /* the lanes that stand here when no lane of the warp can go on without */

enum slri_warp {
#define SLRI_WARP_ENUM(name, spelling, args, result) SLRI_WARP_##name,
    SLRI_WARP_LIST(SLRI_WARP_ENUM)
#undef SLRI_WARP_ENUM
        SLRI_WARP_COUNT
};

static inline bool slri_warp_is_matrix(uint64_t warp)
{
    return warp == SLRI_WARP_MATRIX_F16 || warp == SLRI_WARP_MATRIX_BF16;
}

struct slri_warp_function {
    const char *name, *args;
    char result;
};
extern const struct slri_warp_function slri_warp_functions[SLRI_WARP_COUNT];

#define SLRI_BLOCK_MAX_THREADS 1024 // along x and y, and in all
#define SLRI_BLOCK_MAX_Z 64
#define SLRI_SHARED_MAX_BYTES (UINT64_C(48) << 10) // of objects of known size: what every CUDA device gives them
#define SLRI_WARP_THREADS 32                       // of a block in order of x, then y, then z; the same on every target

// LOOP: while (test) { body; step } with `test` run first, or body first when `do_while`:
//     if (do_while) goto body;
//     test:  body[0]; if (a != NO_REG && a == 0) leave;        a: I32, computed by body[0]
//     body:  body[1]; (CONTINUE comes here)
//     step:  body[2] (may be NULL); back edge: fuel -= 1, fault at 0; goto test
// SWITCH: a (I32 U32 I64 or U64); run the cases from the one whose value matches (values are of a's kind), else from
//     `is_default`, else none; a case that ends without BREAK falls through into the next, as in C.
struct slri_case {
    bool is_default;
    uint64_t value;
    struct slri_block *body; // never NULL; may be empty
};

struct slri_arg {
    slri_reg reg;          // the scalar, or a pointer's byte offset (I64)
    struct slri_root root; // of a pointer whose parameter is SLRI_ROOT_PARAM in the callee; else SLRI_ROOT_NONE
};

struct slri_instr {
    enum slri_op op;
    enum slri_kind kind;
    struct slri_where where;
    slri_reg dst, a, b, c;
    struct slri_root root, root2;
    uint64_t imm;
    uint8_t align;        // of COPY: both places are multiples of it; 0: of nothing but 1
    uint8_t order, scope; // of atomics and fences; a CAS that fails uses `order` without its release
    bool do_while;
    bool is_volatile; // LOAD, STORE: happens once for each time that a thread comes here, in the thread's order
    // ADD, MUL of U32: the low word of one of 64 bits, which does not wrap where this may. AND: of an offset, with ~3,
    // that slipring has laid out: neither is negative.
    bool is_low;
    bool is_unset; // CONST, ZERO: stands for a variable that its source gives no value, for checkers
    uint32_t args;
    struct slri_arg *arg;
    struct slri_block *body[3];
    uint32_t cases;
    struct slri_case *match;
    const struct slri_function *callee;
    // Of INDEX, for who tells of a fault: what is indexed, "'table'" or "the state", or NULL; and 0, or that a counts
    // bytes, and how many of them are wanted.
    const char *name;
    uint32_t indexed_bytes;
};

// What imm of SEND holds: how many bytes, and which binding of the entry is the outlet.
static inline uint32_t slri_sent_bytes(const struct slri_instr *send)
{
    return (uint32_t)send->imm;
}
static inline uint32_t slri_sent_outlet(const struct slri_instr *send)
{
    return (uint32_t)(send->imm >> 32);
}
// Whether it is a REPLY to one message of a `__ring_batch__` handler's call.
static inline bool slri_replies_to_one(const struct slri_instr *instr)
{
    return instr->op == SLRI_OP_REPLY && instr->b != SLRI_NO_REG;
}
static inline bool slri_root_is_messages(struct slri_root root)
{
    return root.kind == SLRI_ROOT_MESSAGE && root.index == SLRI_MESSAGES;
}
#define SLRI_OWN_INSTANCE UINT32_MAX // the one of the handler, or 0 where the destination has only one

struct slri_block {
    struct slri_instr *instr; // in order
    uint32_t count, room;
};

// ---- functions, entries, modules -----------------------------------------------------------------------------------

// A parameter arrives in a register: the scalar, or a pointer's byte offset. `is_memory`: the function also refers to
// it as (SLRI_ROOT_PARAM, its index): memory of the caller of `bytes` bytes, whole local or parameter of it.
// `is_common`: each thread has its own, and what a pass keeps there is the same in all threads of the block that are
// together.
struct slri_param {
    const char *name;
    slri_reg reg;
    bool is_memory, is_common;
    uint64_t bytes;
};

struct slri_local { // memory a call: arrays, structs, and scalars whose address is taken; not initialised
    const char *name;
    const struct slri_type *type;
};

// A function is specialised by the roots of its pointer arguments: the module holds one for each combination in use.
// There is no recursion. `name` is unique within the module and a C identifier.
struct slri_function {
    const char *name;
    struct slri_where where;
    enum slri_kind result; // of a register, or SLRI_VOID
    struct slri_param *param;
    uint32_t params;
    struct slri_local *local;
    uint32_t locals;
    enum slri_kind *reg_kind;
    const char **reg_name; // the variable's name in the source, or NULL for a temporary
    uint32_t regs, reg_room;
    struct slri_block *body;
    bool has_short_branches; // or a function that it calls; a source may have them without jumps (pass/select.h)
    uint32_t uses;           // enum slri_use bits, of this function and of all that it calls
    uint32_t mark;           // for passes that follow calls: which pass was here
    uint32_t index;          // in the module, as slri_module_verify or a pass left it
    uint32_t removed_from, removed_to; // the first lines of its body that #if or its like took away; 0: none
};

enum slri_use {
    SLRI_USES_PLACE = 1 << 0,    // BUILTIN
    SLRI_USES_BARRIER = 1 << 1,  // BARRIER
    SLRI_USES_SHARED = 1 << 2,   // SLRI_ROOT_SHARED
    SLRI_USES_DYNAMIC = 1 << 3,  // SLRI_ROOT_DYNAMIC
    SLRI_USES_REPLY = 1 << 4,    // REPLY without b, SEND
    SLRI_USES_INSTANCE = 1 << 5, // INSTANCE
    SLRI_USES_WARP = 1 << 6,     // WARP
    SLRI_USES_PRINT = 1 << 7,    // PRINT
    SLRI_USES_GLOBAL = 1 << 8,   // SLRI_ROOT_GLOBAL
    SLRI_USES_MATRIX = 1 << 9,   // WARP of MATRIX_F16 or MATRIX_BF16
    SLRI_USES_BATCH = 1 << 10,   // MESSAGES, REPLY with b, SLRI_ROOT_MESSAGE with SLRI_MESSAGES
};

// A parameter of a kernel, or of a handler after its message: a buffer (a pointer), or a value given at launch. A
// struct (of a kernel only) is read through SLRI_ROOT_BINDING as a buffer is, and nobody writes there.
struct slri_binding_info {
    const char *name;
    bool is_buffer, is_const;     // is_const: of a buffer that the handler does not write
    const struct slri_type *type; // the scalar's or the struct's, or the element's
    slri_reg reg; // of a scalar: where the entry finds it. Of a buffer: its offset register, 0 on entry. Else NO_REG
    bool is_restrict; // of a buffer: nothing else of this launch points into it
    bool is_outlet;   // instead of a buffer, of a handler: a way for ring_send; `type` is the message's
};

enum slri_entry_kind {
    SLRI_ENTRY_RING,   // a `__ring__` handler: one thread
    SLRI_ENTRY_KERNEL, // a `__global__` kernel: a grid of blocks of threads; it has neither message nor reply
    SLRI_ENTRY_BLOCK,  // a `__ring_block__` handler: a block of `max_threads` threads along x works on one message
    SLRI_ENTRY_BATCH,  // a `__ring_batch__` handler: one thread, and up to SLRI_BATCH_MESSAGES messages of one instance
};
#define SLRI_BATCH_MESSAGES 128u // of a call
// A call has the fuel of its messages together; more than this, in bits, nobody uses up.
#define SLRI_BATCH_FUEL_BITS 56
static inline uint64_t slri_batch_fuel(uint64_t fuel, uint32_t messages)
{
    return fuel >> SLRI_BATCH_FUEL_BITS ? fuel : fuel * messages;
}
#define SLRI_RING_BLOCK_THREADS 32 // of a `__ring_block__` handler without __launch_bounds__

// The entry function has no parameters: state, message and bindings are roots and registers.
struct slri_entry {
    const char *name;
    enum slri_entry_kind kind;
    struct slri_function *function;
    const struct slri_type *state;         // a struct, or NULL
    const struct slri_type *message;       // a struct, or NULL
    const struct slri_type *reply;         // a struct or scalar, or NULL: the handler never replies
    const char *state_name, *message_name; // what the handler calls its parameters
    struct slri_binding_info *binding;
    uint32_t bindings;
    // Of a block: where the module's shared objects from `shared_first` on lie (UINT64_MAX, and all others: not used by
    // this entry), how many bytes they take together (dynamic ones come behind them, aligned to 16), and what
    // __launch_bounds__ says (0: nothing).
    uint64_t *shared_offset;
    uint32_t shared_first, shareds;
    uint64_t shared_bytes;
    uint32_t max_threads, min_blocks;
};

// Whether it is a handler whose messages have one thread.
static inline bool slri_is_of_one_thread(const struct slri_entry *entry)
{
    return entry->kind == SLRI_ENTRY_RING || entry->kind == SLRI_ENTRY_BATCH;
}

// Whether a handler has outlets.
static inline bool slri_entry_sends(const struct slri_entry *entry)
{
    bool sends = false;
    for (uint32_t i = 0; i < entry->bindings; ++i)
        sends = sends || entry->binding[i].is_outlet;
    return sends;
}

// Where the module's shared object `index` lies; UINT64_MAX: this entry does not use it.
static inline uint64_t slri_entry_shared(const struct slri_entry *entry, uint32_t index)
{
    uint32_t own = index - entry->shared_first; // wraps below the first
    return own < entry->shareds ? entry->shared_offset[own] : UINT64_MAX;
}

static inline bool slri_entry_has_shared(const struct slri_entry *entry, uint32_t index)
{
    return slri_entry_shared(entry, index) != UINT64_MAX;
}

// What a source held and the module has not: host code, C++, headers that are not there. `why` is a sentence without a
// capital and a full stop.
struct slri_skipped {
    const char *name, *what, *why; // what: "the kernel", "the host function", "the template", "the header"
    struct slri_where where;
    unsigned code;  // of the diagnostic that says why
    bool is_kernel; // it is a __global__ function
};

// A printf's text, as in the source, escapes resolved. Its conversions fit the arguments of each PRINT that names it:
// d i u o x X c: an integer of 32 bits, with l or ll of 64; f F e E g G a A: F64; p: U64; %%. No *, s or n.
struct slri_format {
    const char *text;
};

struct slri_shared { // a `__shared__` object of known size
    const char *name;
    const struct slri_type *type;
    struct slri_where where;
};

// A variable of a program that its kernels share from launch to launch: `__device__`, or `__constant__` without values,
// which the host fills and no kernel writes.
struct slri_global {
    const char *name;
    const struct slri_type *type;
    const unsigned char *data; // how it begins, or NULL: as zero
    bool is_constant;
    uint64_t offset; // in the program's memory for them, a multiple of 64
};

struct slri_const { // a table of the module: `__constant__` or `static const` at file scope, or a const local array
    const char *name;
    const struct slri_type *type;
    const unsigned char *data; // type->bytes of them
};

#define SLRI_SELECT_MACRO "SLIPRING_SELECT" // see slri_module.selects; the tuner sets it
#define SLRI_GUARD_MACRO "SLIPRING_GUARD"   // not 0: pass/guard.h has been here; the tuner sets it

// What the source declares for the tuner, in lines "#pragma slipring ...". NULL in a module without any.
struct slri_tunable {
    const char *name; // of a macro
    const int64_t *value;
    uint32_t values;
    int64_t now; // what the macro is in this module
    uint32_t line;
};

struct slri_tuned_launch { // how the launches of a kernel follow its macros; 0: not declared
    const char *kernel;
    uint32_t block[3]; // threads
    uint32_t items[3]; // of a launch's threads, a block does so many
    struct slri_where where;
};

struct slri_tuning {
    struct slri_tunable *tunable;
    uint32_t tunables;
    struct slri_tuned_launch *launch;
    uint32_t launches;
    bool is_allowed; // all that it requires holds
};

struct slri_module {
    const char *name;
    const char **file; // the files read, by slri_where.file; 0 is the source itself
    uint32_t files;
    struct slri_function **function; // callees before their callers
    uint32_t functions;
    struct slri_entry *entry; // in source order
    uint32_t entries;
    struct slri_const *constant;
    uint32_t constants;
    struct slri_shared *shared;
    uint32_t shareds;
    struct slri_global *global;
    uint32_t globals;
    uint64_t global_bytes; // of all
    struct slri_format *format;
    uint32_t formats;
    struct slri_skipped *skipped; // in the order in which that was found out
    uint32_t skippeds;
    bool debug;                      // whoever compiles it keeps it as its source has it, for a debugger
    struct slri_host_launch *launch; // of its kernels, as far as the file's host code tells (host.h)
    uint32_t launches;
    unsigned char source_hash[16]; // of the text and of all it included
    unsigned char own_hash[16];    // the same without what the device defines: __CUDA_ARCH__
    const struct slri_tuning *tuning;
    bool selects;     // SLIPRING_SELECT is not 0: short branches are without jumps
    bool asks_select; // the source asks for SLIPRING_SELECT itself, or defines it: with another value it may be another
    bool guards;      // SLIPRING_GUARD is not 0: its kernels are guarded (pass/guard.h)
    const char *raw;  // NULL, or what holds the kernels' code: then their functions are empty (raw.h)
    size_t raw_bytes;
    const char *const *raw_option; // for its compiler, up to NULL
    struct slri_region *region;    // owns every byte of the module
};

// A region: memory that is freed all at once. NULL from slri_region_take only when the machine has no memory left.
struct slri_region *slri_region_create(void);
void *slri_region_take(struct slri_region *region, size_t bytes);                          // zeroed, aligned to 16
const char *slri_region_text(struct slri_region *region, const char *text, size_t length); // a copy, terminated
void slri_region_destroy(struct slri_region *region);

#define SLRI_KIND_COUNT (SLRI_BF16 + 1)
uint32_t slri_kind_bytes(enum slri_kind kind);             // 0 for VOID and types of memory
const char *slri_kind_spelling(enum slri_kind kind);       // the C spelling
enum slri_kind slri_kind_in_register(enum slri_kind kind); // BOOL..U16 -> I32, F16 and BF16 -> F32; others unchanged
static inline bool slri_kind_is_half(enum slri_kind kind)
{
    return kind == SLRI_F16 || kind == SLRI_BF16;
}
static inline bool slri_kind_is_float(enum slri_kind kind)
{
    return kind == SLRI_F32 || kind == SLRI_F64 || slri_kind_is_half(kind);
}
static inline bool slri_kind_is_signed(enum slri_kind kind)
{
    return kind == SLRI_I8 || kind == SLRI_I16 || kind == SLRI_I32 || kind == SLRI_I64;
}

// Gives the module's variables the values that they begin with; `memory` has global_bytes.
void slri_module_begin_globals(const struct slri_module *module, unsigned char *memory);

// Visits the instructions of a block (NULL: none) in the order of the text, each before those in it.
typedef void slri_visit(const struct slri_instr *instr, void *user);
void slri_block_each(const struct slri_block *block, slri_visit *visit, void *user);

// What an instruction itself uses (not those in it), and what an entry of a kind may use, as enum slri_use bits.
uint32_t slri_instr_uses(const struct slri_instr *instr);
uint32_t slri_entry_may_use(enum slri_entry_kind kind);

// Whether threads wait for others there: a barrier, a warp's function, a call of what has one.
bool slri_instr_waits(const struct slri_instr *instr);
// Whether an instruction, or one in it, jumps beyond it: by a return, or a jump of a branch around it. Whether by a
// return.
bool slri_instr_leaves(const struct slri_instr *instr);
bool slri_instr_returns(const struct slri_instr *instr);
// Whether some thread may leave a branch, or one round of a loop, from within.
bool slri_instr_has_jumps(const struct slri_instr *branch);
// Whether nobody waits in it, and nothing in it jumps beyond it.
bool slri_instr_is_plain(const struct slri_instr *instr);

// Building. Each returns NULL or SLRI_NO_REG only when memory has run out.
struct slri_block *slri_block_create(struct slri_region *region);
struct slri_instr *slri_block_append(struct slri_region *region, struct slri_block *block, enum slri_op op,
                                     enum slri_kind kind, struct slri_where where); // registers preset to SLRI_NO_REG
slri_reg slri_function_add_reg(struct slri_region *region, struct slri_function *function, enum slri_kind kind,
                               const char *name);

// Reads a whole module and says what breaks the rules above: kinds of operands, roots and indices in range, structure.
// NULL when all is well, else a text in the module's region. Run on every module in debug builds and in tests.
const char *slri_module_verify(const struct slri_module *module);

void slri_module_destroy(struct slri_module *module); // NULL is fine

// The entry of that name, or NULL. `name` NULL: the only one, or NULL if there are several.
const struct slri_entry *slri_module_entry(const struct slri_module *module, const char *name);

// NOT_FOUND, with the reason where that kernel was left out.
slr_status slri_module_no_entry(const struct slri_module *module, const char *name);

#endif

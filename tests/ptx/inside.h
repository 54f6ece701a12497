// SPDX-License-Identifier: Apache-2.0
// What the parts of the interpreter share: a text as it was read, and a block that runs.
#ifndef TESTS_PTX_INSIDE_H
#define TESTS_PTX_INSIDE_H

#include "tests/ptx/ptx.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- a text --------------------------------------------------------------------------------------------------------

enum ptx_class { PTX_B, PTX_U, PTX_S, PTX_F, PTX_PRED };

struct ptx_type {
    uint8_t class, bytes; // of a predicate 1
};

enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_PARAM, PTX_CONST };
enum ptx_order { PTX_WEAK, PTX_RELAXED, PTX_ACQUIRE, PTX_RELEASE, PTX_ACQ_REL, PTX_SC };
enum ptx_scope { PTX_CTA, PTX_GPU, PTX_SYS };
enum ptx_atom { PTX_ADD, PTX_MIN, PTX_MAX, PTX_AND, PTX_OR, PTX_XOR, PTX_EXCH, PTX_CAS, PTX_INC, PTX_DEC };
enum ptx_shuffle { PTX_UP, PTX_DOWN, PTX_BFLY, PTX_IDX };
enum ptx_vote { PTX_ALL, PTX_ANY, PTX_BALLOT };

enum ptx_operand_kind { PTX_NONE, PTX_REGISTER, PTX_VALUE, PTX_SPECIAL, PTX_SINK, PTX_FRAME };
enum ptx_special {
    PTX_TID,
    PTX_NTID = 3,
    PTX_CTAID = 6,
    PTX_NCTAID = 9,
    PTX_LANE = 12,
    PTX_WARP_INDEX,
    PTX_TIMER,
    PTX_CLOCK
};

struct ptx_operand {
    uint8_t kind, bytes;
    bool inverted;  // of a predicate
    uint32_t index; // of a register in its function, or which special one
    uint64_t value; // a number, a variable's address, or a place in the frame
};

enum ptx_kind {
    PTX_ALU,
    PTX_PACK,
    PTX_UNPACK,
    PTX_LD,
    PTX_ST,
    PTX_ATOMIC,
    PTX_FENCE,
    PTX_BRA,
    PTX_CALL,
    PTX_RET,
    PTX_EXIT,
    PTX_TRAP,
    PTX_NANOSLEEP,
    // what lanes of a warp do together
    PTX_ACTIVE,
    PTX_SYNCWARP,
    PTX_SHFL,
    PTX_VOTE,
    PTX_MATCH,
    PTX_REDUX,
    // and what threads of a block do
    PTX_BARRIER
};

struct ptx_lane;
struct ptx_ins;
typedef uint64_t ptx_alu(struct ptx_lane *lane, const uint64_t *v, const struct ptx_ins *ins);

#define PTX_OPERANDS 6

struct ptx_ins {
    uint8_t kind, what; // an atomic function, a shuffle, a vote, or what a barrier gives: 0, 'a', 'o' or 'p'
    bool is_target;     // a label stands before it
    bool is_aligned;    // a barrier: a warp's threads are all at it
    bool saturates, flushes;
    uint8_t space, order, scope, vector, round;
    struct ptx_type type, from;
    struct ptx_operand guard, op[PTX_OPERANDS], part[4]; // `part`: of a vector
    uint8_t operands;
    ptx_alu *alu;
    uint32_t target; // of a branch: an instruction of the image
    const struct ptx_function *called;
    const struct ptx_call *call;
    const char *words; // what it is
    uint32_t line;     // of its text
    bool ran, matters; // `matters`: it has released or learned something, or a guard has left a lane out
};

struct ptx_place {
    uint32_t at, bytes;
};

#define PTX_MOST_PARAMETERS 128

// Of a call: where its arguments lie in the caller's frame.
struct ptx_call {
    struct ptx_place result, argument[16];
    uint32_t arguments;
    char callee[256];
};

struct ptx_function {
    char *name;
    bool is_entry, is_known; // else it is declared alone
    uint32_t begin, end;     // instructions
    uint32_t registers, frame_bytes;
    struct ptx_place result, parameter[PTX_MOST_PARAMETERS];
    uint32_t parameters;
    uint32_t text;
    bool is_visible;
};

#define PTX_MOST_TEXTS 2

struct ptx_image {
    char name[PTX_MOST_TEXTS][64];
    struct ptx_ins *ins;
    uint32_t count, room;
    struct ptx_function *function;
    uint32_t functions;
    uint32_t shared_bytes; // and dynamic ones behind
    void **kept;           // names, calls: what else is freed with it
    uint32_t keeps;
};

struct ptx_kernel {
    struct ptx_function function;
};

bool ptx_parse(struct ptx_image *image, const char *text, uint32_t number);
void *ptx_keep(struct ptx_image *image, void *piece);

// An instruction from its words: false where it is none that is known.
bool ptx_decode(struct ptx_ins *ins, const char *opcode);
ptx_alu *ptx_find_alu(const char *opcode);
ptx_alu ptx_convert;
bool ptx_find_type(const char *word, struct ptx_type *out);

// ---- a block that runs ---------------------------------------------------------------------------------------------

#define PTX_WARP 32
#define PTX_MOST_THREADS 1024
#define PTX_STACK (64 * 1024) // bytes of a thread's own memory: frames of functions
#define PTX_REGISTERS 8192    // of a thread, in all its frames
#define PTX_DEPTH 32          // of calls
#define PTX_DYNAMIC_AT 65536  // where dynamic shared memory begins
#define PTX_LATE 12           // words of 8 bytes that a thread has stored and nobody else sees
#define PTX_BLOCK_LATE 1024   // likewise of a block: power of two
#define PTX_LINES 64          // of 128 bytes, which a block has read before

enum ptx_state { PTX_READY, PTX_IN_WARP, PTX_ASKS_WHO, PTX_AT_BARRIER, PTX_ENDED };

// What is stored to an aligned word of 8 bytes: `mask` of its bytes.
struct ptx_late {
    uintptr_t at;
    uint64_t bytes;
    uint8_t mask;
    uint32_t due; // the block's tick when it goes on by itself
};

struct ptx_frame {
    const struct ptx_function *function;
    uint32_t back; // instruction
    uint64_t *registers;
    uint8_t *is_set;
    unsigned char *frame;
};

struct ptx_lane {
    const struct ptx_function *function;
    uint64_t *registers; // of the frame
    uint8_t *is_set;
    unsigned char *frame, *stack;
    uint32_t pc, number; // `number`: in the block
    uint8_t state, depth, carry, lates;
    uint32_t tid[3];
    uint32_t mask; // of a warp function
    bool mine;     // of a barrier
    uint32_t result;
    struct ptx_frame above[PTX_DEPTH]; // what it goes back to
    struct ptx_late late[PTX_LATE];
};

struct ptx_line {
    uintptr_t at;
    uint64_t word[16];
};

struct ptx_block {
    const struct ptx_launch *launch;
    const struct ptx_image *image;
    struct ptx_lane *lane;
    uint32_t lanes, live, warps;
    enum ptx_end end;
    uint32_t ctaid[3];
    uint64_t random;
    uint32_t tick;
    bool moved;
    unsigned char *stacks, *shared, *parameters; // `parameters`: of the launch
    uint64_t *registers;
    uint8_t *are_set;
    uint32_t shared_bytes, late, next_due;
    struct ptx_race *race;
    int32_t first_agent; // of its threads, across blocks; below 0: they have none
    struct ptx_late word[PTX_BLOCK_LATE];
    struct ptx_line line[PTX_LINES];
    void *out[5]; // __builtin_setjmp's
    uint32_t at;  // the instruction that runs
};

extern __thread struct ptx_block *ptx_block;

uint64_t ptx_draw(void);
// Ends the launch: says why.
_Noreturn void ptx_wrong(const struct ptx_lane *lane, enum ptx_end end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Operands. What has not been set spreads.
uint64_t ptx_special(const struct ptx_lane *lane, const struct ptx_operand *op);
uint64_t ptx_need(const struct ptx_lane *lane, const struct ptx_operand *op, const char *what); // must be set

static inline uint64_t ptx_read(const struct ptx_lane *lane, const struct ptx_operand *op, bool *is_set)
{
    *is_set = true;
    if (op->kind == PTX_REGISTER) {
        *is_set = lane->is_set[op->index];
        uint64_t value = lane->registers[op->index];
        return op->inverted ? value == 0 : value;
    }
    return op->kind == PTX_VALUE ? op->value : ptx_special(lane, op);
}

static inline void ptx_write(struct ptx_lane *lane, const struct ptx_operand *op, uint64_t value, bool is_set)
{
    if (op->kind != PTX_REGISTER)
        return; // a sink
    lane->registers[op->index] = op->bytes == 8 ? value : value & ((UINT64_C(1) << 8 * op->bytes) - 1);
    lane->is_set[op->index] = is_set;
}

// Memory.
void ptx_load(struct ptx_lane *lane, const struct ptx_ins *ins);
void ptx_store(struct ptx_lane *lane, const struct ptx_ins *ins);
void ptx_atomic(struct ptx_lane *lane, const struct ptx_ins *ins);
void ptx_fence(struct ptx_lane *lane, unsigned order, unsigned scope);
void ptx_meet(struct ptx_lane *lane);                      // what a barrier does to memory
void ptx_drain_due(struct ptx_lane *lane, uint32_t lanes); // of a warp, and the block
void ptx_drain_block(void);
void ptx_memory_begins(void);
bool ptx_is_shared(uintptr_t at);
void ptx_read_bytes(struct ptx_lane *lane, uintptr_t at, void *to, size_t bytes); // as plain loads do

// Order among the threads of a block. By barriers and fences; by a place in memory; and what it
// must order.
struct ptx_race *ptx_race_make(uint32_t lanes);
void ptx_race_free(struct ptx_race *race);
void ptx_race_begins(void);
void ptx_race_meet(struct ptx_lane *const *lane, uint32_t lanes);
void ptx_race_end(const struct ptx_lane *lane);
void ptx_race_fence(const struct ptx_lane *lane, unsigned scope);
void ptx_race_tell(const struct ptx_lane *lane, uintptr_t at, const struct ptx_ins *ins, bool adds);
void ptx_race_learn(const struct ptx_lane *lane, uintptr_t at, const struct ptx_ins *ins);
void ptx_race_stored(const struct ptx_lane *lane);
void ptx_race_released(const struct ptx_lane *lane);
bool ptx_race_owes(const struct ptx_lane *lane);
enum ptx_touch_kind { PTX_LOADS, PTX_STORES, PTX_LOOKS, PTX_PUTS, PTX_CHANGES, PTX_SWAPS };
void ptx_race_touch(const struct ptx_lane *lane, uintptr_t at, unsigned bytes, enum ptx_touch_kind how, uint64_t value);

// Warps and barriers: lanes that come to one, and who may go on when some have ended.
void ptx_join(struct ptx_lane *warp, uint32_t active);
void ptx_release_warp(struct ptx_lane *warp);
void ptx_release_barriers(void);
bool ptx_release_active(void); // when nobody else can go on
uint32_t ptx_lanes_of(const struct ptx_lane *warp);
// What a block does, until its end.
void ptx_run_lanes(void);

void ptx_print(struct ptx_lane *lane, const struct ptx_call *call);

#endif

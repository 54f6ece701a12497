// SPDX-License-Identifier: Apache-2.0
// The walk. Registers are known or not; memory never is, but for scalars and structs that are given by value, and the
// module's tables.
#include "run/count.h"

#include "base/alloc.h"
#include "ir/fold.h"
#include "run/core_cache.h"
#include "run/interpreter_op.h"
#include "run/spread.h"
#include "ir/math/eval.h"
#include "ir/math/functions.h"

#include <math.h>
#include <string.h>

#define MOST_INSTRUCTIONS 400000u // of all threads that are walked, but for the first where more are allowed
#define TRACED_INSTRUCTIONS 1000000u
#define MOST_THREADS 64u
#define MOST_WARPS 4u
#define MOST_LANE_INSTRUCTIONS 8192u
#define MOST_REQUESTED 16u // bytes, by one instruction of a lane
#define MOST_LINES 4096u
#define MOST_BINDINGS SLRI_COUNT_BINDINGS
// Of a handler, after the bindings: its state and its message.
#define STATE MOST_BINDINGS
#define MESSAGE (MOST_BINDINGS + 1u)
#define PLACES (MOST_BINDINGS + 2u)

struct tally {
    uint64_t instructions, flops, flops64, common_bytes, row_instructions, updates, scattered, barriers;
    uint64_t divisions, row_divisions;
    uint64_t loaded[PLACES], stored[PLACES];
    bool at_most;
};

struct walk {
    const struct slri_count_launch *launch;
    uint32_t builtin[SLRI_BUILTIN_COUNT];
    struct tally tally;                  // of the thread
    uint64_t left;                       // instructions
    struct slri_core_cache_trace *trace; // NULL: accesses are not noted
    bool is_traced;                      // and there was room for all
    struct slri_warp_trace *warp;        // NULL: what warps ask for is not noted
    uint32_t lane;                       // of the warp
    uint64_t *of_line;
};

struct frame {
    struct walk *walk;
    const struct slri_function *function;
    struct slri_spread_value *reg, result;
};

enum way { ON, BROKEN, CONTINUED, RETURNED, LOST };

static enum way walk_block(struct frame *frame, const struct slri_block *block);

static struct slri_spread_value known(uint64_t bits)
{
    return (struct slri_spread_value){.bits = bits, .known = true};
}

static void set(struct frame *frame, slri_reg reg, struct slri_spread_value value)
{
    if (reg != SLRI_NO_REG)
        frame->reg[reg] = value;
}

// ---- arithmetic ----------------------------------------------------------------------------------------------------

static bool is_binary(enum slri_op op)
{
    return op >= SLRI_OP_ADD && op <= SLRI_OP_GE;
}

static void count_flops(struct walk *walk, enum slri_kind kind, uint32_t flops)
{
    if (kind == SLRI_F64)
        walk->tally.flops64 += flops;
    else if (slri_kind_is_float(kind))
        walk->tally.flops += flops;
}

static struct slri_spread_value binary(const struct frame *frame, const struct slri_instr *in)
{
    struct slri_spread_value a = frame->reg[in->a], b = frame->reg[in->b], out = {0};
    out.known = a.known && b.known && slri_fold_binary(in->op, in->kind, a.bits, b.bits, &out.bits);
    out.is_constant = out.known && a.is_constant && b.is_constant;
    return out;
}

static struct slri_spread_value unary(const struct frame *frame, const struct slri_instr *in)
{
    struct slri_spread_value a = frame->reg[in->a];
    if (!a.known)
        return a;
    a.bits = in->op == SLRI_OP_CONVERT ? slri_fold_convert(frame->function->reg_kind[in->a], in->kind, a.bits)
                                       : slri_fold_unary(in->op, in->kind, a.bits);
    return a;
}

static struct slri_spread_value math(struct frame *frame, const struct slri_instr *in)
{
    const struct slri_math_function *function = &slri_math_functions[in->imm];
    union slri_scalar value[3] = {{0}}, result;
    bool all = true;
    for (uint32_t i = 0; i < in->args && i < 3; ++i) {
        all = all && frame->reg[in->arg[i].reg].known;
        value[i].u64 = frame->reg[in->arg[i].reg].bits;
    }
    count_flops(frame->walk,
                function->result == SLRI_MATH_F64   ? SLRI_F64
                : function->result == SLRI_MATH_F32 ? SLRI_F32
                                                    : SLRI_I32,
                slri_math_is_fma((unsigned)in->imm) ? 2 : 1);
    if (!all)
        return (struct slri_spread_value){0};
    slri_math_eval((unsigned)in->imm, value, &result);
    return known(result.u64);
}

// ---- memory --------------------------------------------------------------------------------------------------------

// Which place is counted for memory under the root; PLACES: none. A struct that is given by value is no buffer.
static uint32_t counted_place_of(const struct frame *frame, struct slri_root root)
{
    if (root.kind == SLRI_ROOT_STATE)
        return STATE;
    if (root.kind == SLRI_ROOT_MESSAGE)
        return MESSAGE;
    bool is_counted = root.kind == SLRI_ROOT_BINDING && root.index < MOST_BINDINGS;
    return is_counted && frame->walk->launch->entry->binding[root.index].is_buffer ? root.index : PLACES;
}

// Which memory that is for the trace; 0: it is not noted. A thread's own is small, and compilers keep it in registers.
static uint32_t traced_place_of(struct slri_root root)
{
    return root.kind == SLRI_ROOT_SHARED                                  ? 1 + root.index % 31
           : root.kind == SLRI_ROOT_DYNAMIC                               ? 32
           : root.kind == SLRI_ROOT_BINDING && root.index < MOST_BINDINGS ? 33 + root.index
                                                                          : 0;
}

static void trace_access(struct frame *frame, const struct slri_instr *in)
{
    struct walk *walk = frame->walk;
    const uint32_t place = traced_place_of(in->root);
    const bool is_atomic = in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS;
    bool has_room = true;
    if (in->op == SLRI_OP_BARRIER)
        has_room = slri_core_cache_note_barrier(walk->trace);
    else if (place && (is_atomic || in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE) && frame->reg[in->a].known)
        has_room = slri_core_cache_note(walk->trace, place, frame->reg[in->a].bits);
    walk->is_traced = walk->is_traced && has_room;
}

// An address that is not known may still be known to be the same for a row, or to grow evenly from thread to thread.
static void note_request(struct frame *frame, const struct slri_instr *in, struct slri_root root, slri_reg at,
                         uint64_t bytes)
{
    struct walk *walk = frame->walk;
    const struct slri_spread_value value = frame->reg[at];
    const uint64_t row = walk->builtin[SLRI_BUILTIN_THREAD_Y] + (uint64_t)walk->builtin[SLRI_BUILTIN_THREAD_Z] * 1024;
    const uint64_t offset =
        value.known ? value.bits : (uint64_t)value.step * walk->builtin[SLRI_BUILTIN_THREAD_X] + (row << 32);
    // An offset may be below 0, or any number where the kernel is wrong. No end of an access goes past 64 bits.
    const uint64_t base = (uint64_t)traced_place_of(root) << 48, mask = ((uint64_t)1 << 48) - 1,
                   zero = (uint64_t)1 << 47;
    struct slri_warp_access access = {.instr = in,
                                      .is_shared = root.kind == SLRI_ROOT_SHARED || root.kind == SLRI_ROOT_DYNAMIC,
                                      .is_known = value.known || value.spread != SLRI_SPREAD_VARYING};
    if (traced_place_of(root) == 0 || (root.kind == SLRI_ROOT_BINDING && counted_place_of(frame, root) == PLACES))
        return;
    for (uint64_t done = 0; done < bytes; done += access.bytes) { // a struct is moved in pieces
        access.at = base + ((zero + offset + done) & mask);
        access.bytes = bytes - done < MOST_REQUESTED ? (uint32_t)(bytes - done) : MOST_REQUESTED;
        if (!slri_warp_trace_note(walk->warp, walk->lane, &access)) {
            walk->left = 0; // what was noted is enough
            return;
        }
    }
}

static void note_requests(struct frame *frame, const struct slri_instr *in)
{
    const bool is_atomic = in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS;
    if (is_atomic || in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE)
        note_request(frame, in, in->root, in->a, slri_kind_bytes(in->kind));
    if (in->op == SLRI_OP_COPY)
        note_request(frame, in, in->root2, in->b, in->imm);
    if (in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO)
        note_request(frame, in, in->root, in->a, in->imm);
}

static void count_load(struct frame *frame, struct slri_root root, uint64_t bytes)
{
    uint32_t place = counted_place_of(frame, root);
    if (place < PLACES)
        frame->walk->tally.loaded[place] += bytes;
}

static void count_store(struct frame *frame, struct slri_root root, uint64_t bytes)
{
    uint32_t place = counted_place_of(frame, root);
    if (place < PLACES)
        frame->walk->tally.stored[place] += bytes;
}

// Where the bytes of something that never changes are, or NULL.
static const unsigned char *constant(const struct frame *frame, struct slri_root root, uint64_t *bytes)
{
    const struct slri_count_launch *launch = frame->walk->launch;
    if (root.kind == SLRI_ROOT_BINDING && !launch->entry->binding[root.index].is_buffer) {
        *bytes = launch->bound[root.index].bytes;
        return launch->bound[root.index].data;
    }
    if (root.kind != SLRI_ROOT_CONST)
        return NULL;
    *bytes = launch->module->constant[root.index].type->bytes;
    return launch->module->constant[root.index].data;
}

static struct slri_spread_value load(struct frame *frame, const struct slri_instr *in)
{
    uint64_t bytes, wanted = slri_kind_bytes(in->kind);
    const unsigned char *from = constant(frame, in->root, &bytes);
    struct slri_spread_value at = frame->reg[in->a];
    if (!from) {
        count_load(frame, in->root, wanted);
        return (struct slri_spread_value){0};
    }
    if (!at.known || at.bits > bytes || wanted > bytes - at.bits)
        return (struct slri_spread_value){0};
    return known(slri_scalar_load(in->kind, from + at.bits).u64);
}

// ---- control -------------------------------------------------------------------------------------------------------

static struct slri_spread_value join_values(struct slri_spread_value a, struct slri_spread_value b)
{
    a.known = a.known && b.known && a.bits == b.bits;
    a.is_constant = a.is_constant && b.is_constant && a.known;
    a.step = a.step == b.step ? a.step : 0;
    a.spread = a.spread > b.spread ? a.spread : b.spread;
    return a;
}

// Both ways; what they do not agree on is unknown behind them. A way that leaves is followed only where both do: else
// the thread may go on, and what it then does counts.
static enum way walk_both(struct frame *frame, const struct slri_block *yes, const struct slri_block *no)
{
    uint32_t regs = frame->function->regs;
    size_t bytes = (regs + 1) * sizeof(struct slri_spread_value);
    struct slri_spread_value *before = slri_alloc(NULL, 2 * bytes), *behind = before + regs + 1;
    if (!before)
        return LOST;
    frame->walk->tally.at_most = true;
    memcpy(before, frame->reg, regs * sizeof *before);
    enum way first = walk_block(frame, yes);
    memcpy(behind, frame->reg, regs * sizeof *behind);
    memcpy(frame->reg, before, regs * sizeof *before);
    enum way second = walk_block(frame, no);
    if (first == ON && second != ON && second != LOST) {
        memcpy(frame->reg, behind, regs * sizeof *behind);
        second = ON;
    } else if (first == second) {
        for (uint32_t i = 0; i < regs; ++i)
            frame->reg[i] = join_values(frame->reg[i], behind[i]);
    } else if (second != ON) {
        second = LOST;
    }
    slri_free(NULL, before, 2 * bytes);
    return first == LOST ? LOST : second;
}

static enum way walk_if(struct frame *frame, const struct slri_instr *in)
{
    struct slri_spread_value test = frame->reg[in->a];
    if (!test.known)
        return walk_both(frame, in->body[0], in->body[1]);
    return walk_block(frame, in->body[(uint32_t)test.bits == 0]);
}

static enum way walk_loop(struct frame *frame, const struct slri_instr *in)
{
    for (bool first = in->do_while;; first = false) {
        if (!first) {
            enum way way = walk_block(frame, in->body[0]);
            if (way != ON)
                return way;
            struct slri_spread_value test = in->a == SLRI_NO_REG ? known(1) : frame->reg[in->a];
            if (!test.known)
                return LOST;
            if ((uint32_t)test.bits == 0)
                return ON;
        }
        enum way way = walk_block(frame, in->body[1]);
        if (way == BROKEN)
            return ON;
        if (way == RETURNED || way == LOST)
            return way;
        way = walk_block(frame, in->body[2]);
        if (way != ON)
            return way;
    }
}

static enum way walk_switch(struct frame *frame, const struct slri_instr *in)
{
    struct slri_spread_value on = frame->reg[in->a];
    if (!on.known)
        return LOST;
    uint32_t from = in->cases;
    for (uint32_t i = 0; i < in->cases; ++i)
        if (in->match[i].is_default)
            from = i;
    for (uint32_t i = 0; i < in->cases; ++i)
        if (!in->match[i].is_default && in->match[i].value == on.bits)
            from = i;
    for (; from < in->cases; ++from) {
        enum way way = walk_block(frame, in->match[from].body);
        if (way != ON)
            return way == BROKEN ? ON : way;
    }
    return ON;
}

// Memory of the caller that the callee is given stays memory: unknown.
static enum way walk_call(struct frame *frame, const struct slri_instr *in)
{
    const struct slri_function *callee = in->callee;
    struct frame inner = {.walk = frame->walk, .function = callee};
    size_t bytes = (callee->regs + 1) * sizeof(struct slri_spread_value);
    inner.reg = slri_alloc(NULL, bytes);
    if (!inner.reg)
        return LOST;
    for (uint32_t i = 0; i < in->args && i < callee->params; ++i)
        set(&inner, callee->param[i].reg, frame->reg[in->arg[i].reg]);
    enum way way = walk_block(&inner, callee->body);
    slri_free(NULL, inner.reg, bytes);
    set(frame, in->dst, inner.result);
    return way == LOST ? LOST : ON;
}

static enum way walk_return(struct frame *frame, const struct slri_instr *in)
{
    frame->result = in->a == SLRI_NO_REG ? (struct slri_spread_value){0} : frame->reg[in->a];
    return RETURNED;
}

// ---- one instruction -----------------------------------------------------------------------------------------------

static void compute(struct frame *frame, const struct slri_instr *in)
{
    const struct walk *walk = frame->walk;
    switch (in->op) {
    case SLRI_OP_CONST:
        set(frame, in->dst, (struct slri_spread_value){.bits = in->imm, .known = true, .is_constant = true});
        break;
    case SLRI_OP_MOVE:
        set(frame, in->dst, frame->reg[in->a]);
        break;
    case SLRI_OP_NEG:
    case SLRI_OP_NOT:
    case SLRI_OP_CONVERT:
        set(frame, in->dst, unary(frame, in));
        break;
    case SLRI_OP_LOAD:
        set(frame, in->dst, load(frame, in));
        break;
    case SLRI_OP_STORE:
        count_store(frame, in->root, slri_kind_bytes(in->kind));
        break;
    case SLRI_OP_COPY:
        count_load(frame, in->root2, in->imm);
        count_store(frame, in->root, in->imm);
        break;
    case SLRI_OP_ZERO:
        count_store(frame, in->root, in->imm);
        break;
    case SLRI_OP_MATH:
        set(frame, in->dst, math(frame, in));
        break;
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_RMW:
    case SLRI_OP_ATOMIC_CAS:
        if (in->op != SLRI_OP_ATOMIC_STORE)
            count_load(frame, in->root, slri_kind_bytes(in->kind));
        if (in->op != SLRI_OP_ATOMIC_LOAD)
            count_store(frame, in->root, slri_kind_bytes(in->kind));
        set(frame, in->dst, (struct slri_spread_value){0});
        break;
    case SLRI_OP_BUILTIN:
        set(frame, in->dst, known(walk->builtin[in->imm]));
        break;
    case SLRI_OP_BARRIER:
        ++frame->walk->tally.barriers;
        break;
    case SLRI_OP_PRESENT:
        set(frame, in->dst,
            (struct slri_spread_value){.bits = walk->launch->bound[in->root.index].data != NULL,
                                       .known = in->root.kind == SLRI_ROOT_BINDING});
        break;
    default:
        if (is_binary(in->op)) {
            if (in->op <= SLRI_OP_DIV)
                count_flops(frame->walk, in->kind, 1);
            set(frame, in->dst, binary(frame, in));
        } else {
            set(frame, in->dst, (struct slri_spread_value){0});
        }
        break;
    }
}

static bool divides_by_variable(const struct frame *frame, const struct slri_instr *in)
{
    return (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !slri_kind_is_float(in->kind) &&
           !frame->reg[in->b].is_constant;
}

static void count_for_row(struct frame *frame, const struct slri_instr *in, enum slri_spread spread)
{
    struct tally *tally = &frame->walk->tally;
    tally->row_instructions += spread != SLRI_SPREAD_VARYING;
    tally->updates += spread == SLRI_SPREAD_VARYING && in->dst != SLRI_NO_REG && (in->dst == in->a || in->dst == in->b);
    tally->scattered += slri_spread_scatters(frame->reg, in);
    if (divides_by_variable(frame, in)) {
        ++tally->divisions;
        tally->row_divisions += spread != SLRI_SPREAD_VARYING;
    }
    if (in->op == SLRI_OP_LOAD && spread == SLRI_SPREAD_SAME && counted_place_of(frame, in->root) < PLACES)
        tally->common_bytes += slri_kind_bytes(in->kind);
}

static void compute_in_row(struct frame *frame, const struct slri_instr *in)
{
    const struct slri_spread_value spread = slri_spread_of(frame->reg, in);
    count_for_row(frame, in, spread.spread);
    if (frame->walk->trace)
        trace_access(frame, in);
    if (frame->walk->warp)
        note_requests(frame, in);
    compute(frame, in);
    if (in->dst != SLRI_NO_REG) {
        frame->reg[in->dst].spread = spread.spread;
        frame->reg[in->dst].step = spread.step;
    }
}

// A branch is one for all threads of a row where all of them take the same.
static void count_branch(struct frame *frame, const struct slri_instr *in)
{
    frame->walk->tally.row_instructions += in->a == SLRI_NO_REG || frame->reg[in->a].spread == SLRI_SPREAD_SAME;
}

static enum way walk_one(struct frame *frame, const struct slri_instr *in)
{
    struct walk *walk = frame->walk;
    if (walk->left == 0)
        return LOST;
    --walk->left;
    ++walk->tally.instructions;
    if (in->where.file == 0 && in->where.line < MOST_LINES)
        ++walk->of_line[in->where.line];
    switch (in->op) {
    case SLRI_OP_IF:
        count_branch(frame, in);
        return walk_if(frame, in);
    case SLRI_OP_LOOP:
        count_branch(frame, in);
        return walk_loop(frame, in);
    case SLRI_OP_SWITCH:
        count_branch(frame, in);
        return walk_switch(frame, in);
    case SLRI_OP_CALL:
        return walk_call(frame, in);
    case SLRI_OP_RETURN:
        return walk_return(frame, in);
    case SLRI_OP_BREAK:
        ++walk->tally.row_instructions;
        return BROKEN;
    case SLRI_OP_CONTINUE:
        ++walk->tally.row_instructions;
        return CONTINUED;
    default:
        compute_in_row(frame, in);
        return ON;
    }
}

static enum way walk_block(struct frame *frame, const struct slri_block *block)
{
    enum way way = ON;
    for (uint32_t i = 0; block && i < block->count && way == ON; ++i)
        way = walk_one(frame, &block->instr[i]);
    return way;
}

// ---- threads -------------------------------------------------------------------------------------------------------

static uint64_t block_threads(const struct slri_count_launch *launch)
{
    return (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
}

// Of the grid: one that does what most blocks do.
static uint64_t middle_block(const struct slri_count_launch *launch)
{
    const uint32_t *grid = launch->grid;
    return grid[0] / 2 + grid[0] * (grid[1] / 2 + (uint64_t)grid[1] * (grid[2] / 2));
}

static void place(struct walk *walk, uint64_t thread)
{
    const uint32_t *grid = walk->launch->grid, *block = walk->launch->block;
    uint64_t threads = block_threads(walk->launch), at = thread % threads, b = thread / threads;
    for (uint32_t i = 0; i < 3; ++i) {
        walk->builtin[SLRI_BUILTIN_THREAD_X + i] = (uint32_t)(at % block[i]);
        walk->builtin[SLRI_BUILTIN_BLOCK_X + i] = (uint32_t)(b % grid[i]);
        walk->builtin[SLRI_BUILTIN_BLOCK_DIM_X + i] = block[i];
        walk->builtin[SLRI_BUILTIN_GRID_DIM_X + i] = grid[i];
        at /= block[i];
        b /= grid[i];
    }
}

static bool walk_thread(struct walk *walk, uint64_t thread)
{
    const struct slri_entry *entry = walk->launch->entry;
    struct frame frame = {.walk = walk, .function = entry->function};
    size_t bytes = (entry->function->regs + 1) * sizeof(struct slri_spread_value);
    frame.reg = slri_alloc(NULL, bytes);
    if (!frame.reg)
        return false;
    memset(&walk->tally, 0, sizeof walk->tally);
    place(walk, thread);
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        const struct slri_binding_info *binding = &entry->binding[i];
        if (binding->reg == SLRI_NO_REG || binding->is_outlet)
            continue;
        frame.reg[binding->reg] = binding->is_buffer
                                      ? known(0)
                                      : known(slri_scalar_load(binding->type->kind, walk->launch->bound[i].data).u64);
    }
    enum way way = walk_block(&frame, entry->function->body);
    slri_free(NULL, frame.reg, bytes);
    return way != LOST;
}

static void count_add(struct tally *sum, const struct tally *one)
{
    sum->instructions += one->instructions;
    sum->flops += one->flops;
    sum->common_bytes += one->common_bytes;
    sum->row_instructions += one->row_instructions;
    sum->updates += one->updates;
    sum->scattered += one->scattered;
    sum->divisions += one->divisions;
    sum->row_divisions += one->row_divisions;
    sum->barriers += one->barriers;
    sum->flops64 += one->flops64;
    sum->at_most = sum->at_most || one->at_most;
    for (uint32_t i = 0; i < PLACES; ++i) {
        sum->loaded[i] += one->loaded[i];
        sum->stored[i] += one->stored[i];
    }
}

static bool same(const struct tally *a, const struct tally *b)
{
    return a->instructions == b->instructions && a->flops == b->flops && a->flops64 == b->flops64 &&
           memcmp(a->loaded, b->loaded, sizeof a->loaded) == 0 && memcmp(a->stored, b->stored, sizeof a->stored) == 0;
}

// The thread to walk for one of `samples` equal parts of the grid. Not the middle of each: where sides are powers of 2,
// all middles may lie at an edge of the problem, or be the first of their block. Multiples of the golden ratio spread
// evenly. One of many is the first of its block, so that a store of each block's first thread is seen. That block lies
// in the middle: a part of the kernel that only the grid's first thread runs would count for each of the parts.
static uint64_t thread_of_part(const struct walk *walk, uint32_t part, uint32_t samples, uint64_t threads)
{
    double turns = (part + 1) * 0.6180339887498949, within = turns - floor(turns);
    uint64_t thread = (uint64_t)((part + within) * (double)threads / samples);
    bool is_first = samples == MOST_THREADS && part == MOST_THREADS / 2 && threads > samples;
    return is_first ? thread - thread % block_threads(walk->launch) : thread;
}

// One thread of each of equal parts of the grid; all threads where there are no more.
static uint32_t walk_threads(struct walk *walk, uint64_t threads, struct tally *sum, bool *alike)
{
    uint32_t samples = threads < MOST_THREADS ? (uint32_t)threads : MOST_THREADS;
    struct tally first;
    *alike = true;
    for (uint32_t i = 0; i < samples; ++i) {
        if (!walk_thread(walk, thread_of_part(walk, i, samples, threads)))
            return 0;
        if (i == 0)
            first = walk->tally;
        *alike = *alike && same(&first, &walk->tally);
        count_add(sum, &walk->tally);
        // A long walk is not made for each of them: what is left must be enough for one more like it.
        if (i == 0 && walk->tally.instructions * samples > MOST_INSTRUCTIONS / 2)
            samples = 1 + (uint32_t)(MOST_INSTRUCTIONS / 4 / walk->tally.instructions);
    }
    return samples;
}

static uint64_t scaled(uint64_t sum, uint32_t samples, uint64_t threads)
{
    return (uint64_t)((double)sum / samples * (double)threads + 0.5);
}

// ---- a core's cache ------------------------------------------------------------------------------------------------

// A block in the middle of the grid; as many of its threads as there is room for. One is enough, and may be as long as
// one that is counted: without its misses a long thread would seem cheap.
static void trace_block(struct walk *walk)
{
    const uint64_t threads = block_threads(walk->launch), at = middle_block(walk->launch);
    const uint64_t most =
        walk->launch->wanted.most > TRACED_INSTRUCTIONS ? walk->launch->wanted.most : TRACED_INSTRUCTIONS;
    walk->left = most;
    walk->is_traced = true;
    for (uint32_t i = 0; walk->is_traced && i < threads && i < SLRI_CORE_CACHE_THREADS; ++i) {
        if (most - walk->left >= TRACED_INSTRUCTIONS)
            break;
        const bool is_whole = walk_thread(walk, at * threads + i);
        walk->is_traced = walk->is_traced && is_whole;
        slri_core_cache_end_thread(walk->trace, walk->is_traced);
    }
}

static void count_misses(struct walk *walk, uint64_t threads, struct slri_count *out)
{
    walk->trace = slri_alloc(NULL, sizeof *walk->trace);
    if (!walk->trace)
        return;
    walk->trace->accesses = walk->trace->threads = 0;
    trace_block(walk);
    uint64_t missed = slri_core_cache_misses(walk->trace, walk->launch->wanted.cache_bytes);
    if (walk->trace->threads)
        out->missed_lines = scaled(missed, walk->trace->threads, threads);
    slri_free(NULL, walk->trace, sizeof *walk->trace);
    walk->trace = NULL;
}

// ---- a GPU's memory ------------------------------------------------------------------------------------------------

// Instructions of the warp's lanes that were walked. A long lane is walked from its beginning only.
static uint64_t walk_warp(struct walk *walk, uint64_t block, uint64_t first, uint64_t threads)
{
    uint64_t walked = 0;
    for (uint32_t lane = 0; lane < SLRI_WARP_THREADS && first + lane < threads; lane++) {
        walk->lane = lane;
        walk->left = MOST_LANE_INSTRUCTIONS;
        (void)walk_thread(walk, block * threads + first + lane);
        walked += walk->tally.instructions;
    }
    return walked;
}

// Some warps of a block in the middle of the grid, the first among them. Of the whole launch there is as much for each
// instruction.
static void count_requests(struct walk *walk, struct slri_count *out)
{
    const uint64_t threads = block_threads(walk->launch), at = middle_block(walk->launch);
    const uint64_t warps = (threads + SLRI_WARP_THREADS - 1) / SLRI_WARP_THREADS;
    const uint64_t samples = warps < MOST_WARPS ? warps : MOST_WARPS;
    uint64_t walked = 0;
    walk->warp = slri_alloc(NULL, sizeof *walk->warp);
    if (!walk->warp)
        return;
    memset(walk->warp->count, 0, sizeof walk->warp->count);
    for (uint64_t i = 0; i < samples; i++) {
        walked += walk_warp(walk, at, i * warps / samples * SLRI_WARP_THREADS, threads);
        slri_warp_trace_sum(walk->warp, &out->warps);
    }
    const double share = walked ? (double)out->instructions / (double)walked : 0;
    uint64_t *const sums[] = {&out->warps.requests, &out->warps.sectors, &out->warps.shared_requests,
                              &out->warps.passes, &out->warps.updates};
    for (uint32_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] = (uint64_t)((double)*sums[i] * share + 0.5);
    slri_free(NULL, walk->warp, sizeof *walk->warp);
    walk->warp = NULL;
}

// ---- the whole -----------------------------------------------------------------------------------------------------

static void find_lines(const uint64_t *of_line, uint64_t all, struct slri_count *out)
{
    for (uint32_t line = 1; line < MOST_LINES && all != 0; ++line) {
        float share = (float)((double)of_line[line] / (double)all);
        uint32_t at = SLRI_COUNT_LINES;
        while (at > 0 && out->line[at - 1].share < share)
            --at;
        for (uint32_t i = SLRI_COUNT_LINES - 1; i > at && at < SLRI_COUNT_LINES; --i)
            out->line[i] = out->line[i - 1];
        if (at < SLRI_COUNT_LINES && of_line[line] != 0) {
            out->line[at].line = line;
            out->line[at].share = share;
        }
    }
}

// Of `most` bytes, each counts as moved once in and once out.
static void fill_place(const struct tally *sum, uint32_t place, uint64_t most, uint32_t samples, uint64_t threads,
                       struct slri_count *out)
{
    uint64_t loaded = scaled(sum->loaded[place], samples, threads);
    uint64_t stored = scaled(sum->stored[place], samples, threads);
    out->accessed_bytes += loaded + stored;
    out->bytes_in += loaded < most ? loaded : most;
    out->bytes_out += stored < most ? stored : most;
    out->bytes = out->bytes_in + out->bytes_out;
    if (place < MOST_BINDINGS) {
        out->loads |= (uint64_t)(loaded > 0) << place;
        out->stores |= (uint64_t)(stored > 0) << place;
    }
}

static void fill(const struct slri_count_launch *launch, const struct tally *sum, uint32_t samples, uint64_t threads,
                 struct slri_count *out)
{
    const struct slri_entry *entry = launch->entry;
    out->instructions = scaled(sum->instructions, samples, threads);
    out->common_bytes = scaled(sum->common_bytes, samples, threads);
    out->row_instructions = scaled(sum->row_instructions, samples, threads);
    out->updates = scaled(sum->updates, samples, threads);
    out->scattered = scaled(sum->scattered, samples, threads);
    out->divisions = scaled(sum->divisions, samples, threads);
    out->row_divisions = scaled(sum->row_divisions, samples, threads);
    out->barriers = scaled(sum->barriers, samples, threads);
    out->flops = scaled(sum->flops, samples, threads);
    out->flops64 = scaled(sum->flops64, samples, threads);
    for (uint32_t i = 0; i < entry->bindings && i < MOST_BINDINGS; ++i)
        if (entry->binding[i].is_buffer && !entry->binding[i].is_outlet)
            fill_place(sum, i, launch->bound[i].bytes, samples, threads, out);
    if (entry->state)
        fill_place(sum, STATE, entry->state->bytes, samples, threads, out);
    if (entry->message)
        fill_place(sum, MESSAGE, entry->message->bytes, samples, threads, out);
}

void slri_count(const struct slri_count_launch *launch, struct slri_count *out)
{
    uint64_t threads = 1;
    struct tally sum = {0};
    bool alike;
    *out = (struct slri_count){0};
    for (uint32_t i = 0; i < 3; ++i)
        threads *= (uint64_t)launch->grid[i] * launch->block[i];
    size_t bytes = sizeof(struct walk) + MOST_LINES * sizeof(uint64_t);
    struct walk *walk = slri_alloc(NULL, bytes);
    if (!walk)
        return;
    walk->launch = launch;
    walk->trace = NULL;
    walk->warp = NULL;
    walk->left = launch->wanted.most ? launch->wanted.most : MOST_INSTRUCTIONS;
    walk->of_line = (uint64_t *)(walk + 1);
    uint32_t samples = walk_threads(walk, threads, &sum, &alike);
    if (samples != 0) {
        bool exact = alike && (samples > 1 || threads == 1);
        out->counted = sum.at_most ? SLRI_COUNT_AT_MOST : exact ? SLRI_COUNT_EXACT : SLRI_COUNT_SAMPLED;
        fill(launch, &sum, samples, threads, out);
        find_lines(walk->of_line, sum.instructions, out);
        if (launch->wanted.cache_bytes)
            count_misses(walk, threads, out);
        if (launch->wanted.requests)
            count_requests(walk, out);
    }
    slri_free(NULL, walk, bytes);
}

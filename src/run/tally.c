// SPDX-License-Identifier: Apache-2.0
// Counts along the tree. A loop `for (i = A; i < B; i += C)` of constants counts as often as it runs, any other once.
#include "run/tally.h"
#include "base/status.h"
#include "ir/math/functions.h"

struct counts { // of a block
    slr_counts all, loops;
    uint32_t counted, uncounted;
};

static const struct counts empty;
static const size_t count_words = sizeof(slr_counts) / sizeof(uint64_t);

static void add_times(slr_counts *to, const slr_counts *from, uint64_t times)
{
    uint64_t *a = (uint64_t *)to;
    const uint64_t *b = (const uint64_t *)from;
    for (size_t i = 0; i < count_words; i++) // modulo 2^64: loops in loops may well run that often
        a[i] += b[i] * times;
}

static void add(struct counts *to, const struct counts *from, uint64_t times)
{
    add_times(&to->all, &from->all, times);
    add_times(&to->loops, &from->loops, times);
    to->counted += from->counted;
    to->uncounted += from->uncounted;
}

// ---- instructions --------------------------------------------------------------------------------------------------

static bool is_global(enum slri_root_kind kind)
{
    return kind == SLRI_ROOT_STATE || kind == SLRI_ROOT_MESSAGE || kind == SLRI_ROOT_BINDING;
}

static bool is_shared(enum slri_root_kind kind)
{
    return kind == SLRI_ROOT_SHARED || kind == SLRI_ROOT_DYNAMIC;
}

static void count_access(slr_counts *c, enum slri_root_kind root, uint64_t bytes, bool writes)
{
    if (is_global(root)) {
        c->global_loads += !writes;
        c->global_stores += writes;
        c->global_load_bytes += writes ? 0 : bytes;
        c->global_store_bytes += writes ? bytes : 0;
    } else if (is_shared(root)) {
        c->shared_loads += !writes;
        c->shared_stores += writes;
    }
}

static void count_math(slr_counts *c, uint64_t function)
{
    if (slri_math_is_fma((unsigned)function)) {
        c->flops += 2;
        return;
    }
    switch (function) {
    case SLRI_MATH_FABSF:
    case SLRI_MATH_FABS:
    case SLRI_MATH_FMINF:
    case SLRI_MATH_FMAXF:
    case SLRI_MATH_FMIN:
    case SLRI_MATH_FMAX:
    case SLRI_MATH_FAST_FDIVIDEF:
        c->flops++;
        break;
    default:
        if (function >= SLRI_MATH_ISNAN_F32)
            c->integer_ops++;
        else
            c->math_calls++;
        break;
    }
}

static void count_instr(slr_counts *c, const struct slri_instr *in)
{
    bool arithmetic = in->op >= SLRI_OP_NEG && in->op <= SLRI_OP_XOR;
    if (arithmetic && slri_kind_is_float(in->kind))
        c->flops++;
    else if (arithmetic || (in->op >= SLRI_OP_EQ && in->op <= SLRI_OP_CONVERT))
        c->integer_ops++;
    else if (in->op == SLRI_OP_MATH)
        count_math(c, in->imm);
    else if (in->op == SLRI_OP_LOAD || in->op == SLRI_OP_STORE)
        count_access(c, in->root.kind, slri_kind_bytes(in->kind), in->op == SLRI_OP_STORE);
    else if (in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS)
        c->atomics++;
    else if (in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO)
        count_access(c, in->root.kind, in->imm, true);
    if (in->op == SLRI_OP_COPY)
        count_access(c, in->root2.kind, in->imm, false);
    c->barriers += in->op == SLRI_OP_BARRIER;
    c->warp_functions += in->op == SLRI_OP_WARP;
}

// ---- loops ---------------------------------------------------------------------------------------------------------

static const struct slri_instr *last_def(const struct slri_block *block, uint32_t end, slri_reg reg)
{
    while (end-- > 0)
        if (block->instr[end].dst == reg)
            return &block->instr[end];
    return NULL;
}

static bool tally_constant(const struct slri_block *block, uint32_t end, slri_reg reg, int64_t *out)
{
    const struct slri_instr *def = last_def(block, end, reg);
    if (!def || def->op != SLRI_OP_CONST || slri_kind_is_float(def->kind))
        return false;
    *out = def->kind == SLRI_I32 ? (int32_t)(uint32_t)def->imm : (int64_t)def->imm;
    return true;
}

static bool assigns(const struct slri_block *block, slri_reg reg)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool inside =
            in->dst == reg || assigns(in->body[0], reg) || assigns(in->body[1], reg) || assigns(in->body[2], reg);
        for (uint32_t c = 0; c < in->cases; c++)
            inside = inside || assigns(in->match[c].body, reg);
        if (inside)
            return true;
    }
    return false;
}

// How often the loop, instruction `at` of `block`, runs; 0 where the source does not say.
static uint64_t trips(const struct slri_block *block, uint32_t at)
{
    const struct slri_instr *loop = &block->instr[at];
    const struct slri_block *test = loop->body[0], *step = loop->body[2];
    const struct slri_instr *compare = loop->a == SLRI_NO_REG ? NULL : last_def(test, test->count, loop->a);
    int64_t from, to, by;
    if (loop->do_while || !compare || !step || compare->op < SLRI_OP_LT || compare->op > SLRI_OP_GE)
        return 0;
    const struct slri_instr *next = last_def(step, step->count, compare->a);
    bool counts = next && (next->op == SLRI_OP_ADD || next->op == SLRI_OP_SUB) && next->a == compare->a &&
                  !assigns(loop->body[1], compare->a) && tally_constant(block, at, compare->a, &from) &&
                  tally_constant(test, test->count, compare->b, &to) && tally_constant(step, step->count, next->b, &by);
    if (!counts || by == 0)
        return 0;
    by = next->op == SLRI_OP_SUB ? -by : by;
    bool upwards = compare->op == SLRI_OP_LT || compare->op == SLRI_OP_LE;
    int64_t distance = upwards ? to - from : from - to, stride = upwards ? by : -by;
    distance += compare->op == SLRI_OP_LE || compare->op == SLRI_OP_GE;
    return distance > 0 && stride > 0 ? (uint64_t)((distance + stride - 1) / stride) : 0;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

// Functions are counted once, callees before their callers: a chain of calls is no reason to take long.
struct counter {
    const struct slri_module *module;
    struct counts *function;
};

static struct counts count_block(const struct counter *counter, const struct slri_block *block);

static void count_loop(const struct counter *counter, struct counts *to, const struct slri_block *block, uint32_t at)
{
    const struct slri_instr *loop = &block->instr[at];
    struct counts body = {0};
    uint64_t times = trips(block, at);
    for (int part = 0; part < 3; part++) {
        if (!loop->body[part])
            continue;
        struct counts of_part = count_block(counter, loop->body[part]);
        add(&body, &of_part, 1);
    }
    if (times == 0)
        body.loops = body.all;
    body.counted += times != 0;
    body.uncounted += times == 0;
    add(to, &body, times ? times : 1);
}

static uint64_t work_of(const struct counts *counts)
{
    const uint64_t *words = (const uint64_t *)&counts->all;
    uint64_t work = 0;
    for (size_t i = 0; i < count_words; i++)
        work += words[i];
    return work;
}

// Whether what stands behind the block is not reached from its end.
static bool jumps(const struct slri_block *block)
{
    const enum slri_op op = block && block->count > 0 ? block->instr[block->count - 1].op : SLRI_OP_CONST;
    return op == SLRI_OP_RETURN || op == SLRI_OP_BREAK || op == SLRI_OP_CONTINUE;
}

// The side that does more. `rest`, what stands behind the IF, belongs to the sides that reach it.
static struct counts count_if(const struct counter *counter, const struct slri_instr *in, const struct counts *rest)
{
    struct counts sides[2] = {empty, empty};
    for (int side = 0; side < 2; side++) {
        if (in->body[side])
            sides[side] = count_block(counter, in->body[side]);
        if (!jumps(in->body[side]))
            add(&sides[side], rest, 1);
    }
    return sides[work_of(&sides[1]) > work_of(&sides[0])];
}

static const struct counts *counts_of(const struct counter *counter, const struct slri_function *function)
{
    for (uint32_t i = 0; i < counter->module->functions; i++)
        if (counter->module->function[i] == function)
            return &counter->function[i];
    return &empty; // not in a verified module
}

// From the end, so that what stands behind an IF is known.
static struct counts count_block(const struct counter *counter, const struct slri_block *block)
{
    struct counts made = {0};
    for (uint32_t i = block->count; i-- > 0;) {
        const struct slri_instr *in = &block->instr[i];
        if (in->op == SLRI_OP_IF)
            made = count_if(counter, in, &made);
        count_instr(&made.all, in);
        if (in->op == SLRI_OP_LOOP)
            count_loop(counter, &made, block, i);
        for (uint32_t c = 0; c < in->cases; c++) {
            struct counts of_case = count_block(counter, in->match[c].body);
            add(&made, &of_case, 1);
        }
        if (in->op == SLRI_OP_CALL)
            add(&made, counts_of(counter, in->callee), 1);
    }
    return made;
}

static double intensity_of(const slr_counts *c)
{
    uint64_t bytes = c->global_load_bytes + c->global_store_bytes;
    return bytes ? (double)c->flops / (double)bytes : 0;
}

slr_status slri_tally(const struct slri_module *module, const struct slri_entry *entry, slr_explanation *out)
{
    struct slri_region *region = slri_region_create();
    struct counter counter = {.module = module};
    if (region)
        counter.function = slri_region_take(region, (module->functions + 1) * sizeof *counter.function);
    if (!counter.function) {
        slri_region_destroy(region);
        return SLRI_FAIL(NO_MEMORY, "no memory to count the operations of %s", entry->name);
    }
    for (uint32_t i = 0; i < module->functions; i++)
        counter.function[i] = count_block(&counter, module->function[i]->body);
    struct counts made = *counts_of(&counter, entry->function);
    slri_region_destroy(region);
    bool in_loops = made.loops.global_load_bytes + made.loops.global_store_bytes > 0;
    *out = (slr_explanation){.thread = made.all,
                             .loops = made.loops,
                             .loops_counted = made.counted,
                             .loops_uncounted = made.uncounted,
                             .intensity = intensity_of(in_loops ? &made.loops : &made.all)};
    return SLR_OK;
}

// SPDX-License-Identifier: Apache-2.0
// A grid's blocks, a block's threads, and whose turn it is. A block's memory is taken once and used for one block after
// the other.
#include "run/grid.h"

#include "abi/prints.h"
#include "base/round.h"
#include "base/alloc.h"
#include "base/status.h"
#include "ir/format.h"
#include "run/interpreter_thread.h"
#include "run/warp.h"

#include <string.h>

#define TURN 256       // instructions, where turns are in order
#define TURN_DRAWN 32  // at most so many, where they are drawn: short, so that many interleavings are met
#define TURN_WARP 4096 // a warp's, in lockstep
#define TURN_LEFT 16   // of each lane that stayed behind in all of that: it may be what the others wait for

struct block {
    uint64_t number; // in the grid
    bool is_open;
    uint32_t live; // threads that have not ended
    struct slri_span *span;
    unsigned char *shared;
    uint32_t *turn;        // whose turns are next, as thread numbers
    unsigned char *thread; // `threads` of stride `thread_bytes`
    struct slri_call *call;
    uint32_t *builtin;
};

struct run {
    const struct slri_flat *flat;
    const struct slri_grid *grid;
    const struct slri_entry *entry;
    uint32_t function, threads, spans;
    uint64_t shared_bytes; // of both sorts
    size_t thread_bytes, block_bytes;
    uint64_t random;
    uint64_t next, end; // blocks still to open
    struct slri_grid_end *out;
    unsigned char *globals;
    struct slri_call *message; // of a handler's block: the call that all its threads share; else NULL
};

// ---- the launch ----------------------------------------------------------------------------------------------------

slr_status slri_kernel_check_shape(const struct slri_entry *entry, const uint32_t grid[3], const uint32_t block[3],
                                   uint64_t dynamic_shared)
{
    static const uint32_t most_blocks[] = {INT32_MAX, 65535, 65535};
    static const uint32_t most_threads[] = {SLRI_BLOCK_MAX_THREADS, SLRI_BLOCK_MAX_THREADS, SLRI_BLOCK_MAX_Z};
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || grid[i] > most_blocks[i])
            return SLRI_FAIL(INVALID, "'%s': a grid of %u blocks along %c; expected 1 to %u", entry->name, grid[i],
                             "xyz"[i], most_blocks[i]);
        if (block[i] == 0 || block[i] > most_threads[i])
            return SLRI_FAIL(INVALID, "'%s': a block of %u threads along %c; expected 1 to %u", entry->name, block[i],
                             "xyz"[i], most_threads[i]);
    }
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    uint32_t most = entry->max_threads ? entry->max_threads : SLRI_BLOCK_MAX_THREADS;
    if (threads > most || threads > SLRI_BLOCK_MAX_THREADS)
        return SLRI_FAIL(INVALID, "'%s': a block of %llu threads; expected at most %u%s", entry->name,
                         (unsigned long long)threads, most, entry->max_threads ? " (__launch_bounds__)" : "");
    if (dynamic_shared > SLRI_GRID_MAX_SHARED_BYTES - entry->shared_bytes)
        return SLRI_FAIL(INVALID, "'%s': %llu bytes of dynamic and %llu of static shared memory; the limit is %d",
                         entry->name, (unsigned long long)dynamic_shared, (unsigned long long)entry->shared_bytes,
                         SLRI_GRID_MAX_SHARED_BYTES);
    return SLR_OK;
}

static slr_status check_arguments(const struct slri_entry *entry, const struct slri_grid *g)
{
    if (g->args != entry->bindings)
        return SLRI_FAIL(INVALID, "'%s' takes %u arguments, but got %u", entry->name, entry->bindings, g->args);
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const struct slri_binding_info *info = &entry->binding[i];
        if (!info->is_buffer && (!g->arg[i].data || g->arg[i].bytes != info->type->bytes))
            return SLRI_FAIL(INVALID, "'%s': argument '%s' has %llu bytes, but got %llu", entry->name, info->name,
                             (unsigned long long)info->type->bytes, (unsigned long long)g->arg[i].bytes);
        if (info->is_buffer && !g->arg[i].data && g->arg[i].bytes)
            return SLRI_FAIL(INVALID, "'%s': buffer '%s' is NULL", entry->name, info->name);
    }
    return SLR_OK;
}

static uint64_t blocks_of(const struct slri_grid *g)
{
    return (uint64_t)g->grid[0] * g->grid[1] * g->grid[2]; // at most 2^63
}

slr_status slri_grid_check(const struct slri_module *module, const struct slri_grid *grid)
{
    if (grid->entry >= module->entries || module->entry[grid->entry].kind != SLRI_ENTRY_KERNEL)
        return SLRI_FAIL(INVALID, "'%s' has no kernel number %u", module->name, grid->entry);
    const struct slri_entry *entry = &module->entry[grid->entry];
    SLRI_TRY(slri_kernel_check_shape(entry, grid->grid, grid->block, grid->dynamic_shared));
    SLRI_TRY(check_arguments(entry, grid));
    uint64_t blocks = blocks_of(grid);
    if (grid->first >= blocks || grid->count > blocks - grid->first)
        return SLRI_FAIL(INVALID, "'%s': blocks %llu and on, of %llu", entry->name, (unsigned long long)grid->first,
                         (unsigned long long)blocks);
    return SLR_OK;
}

// ---- drawing -------------------------------------------------------------------------------------------------------

// splitmix64: any seed will do, also small ones.
static uint64_t draw(struct run *run)
{
    uint64_t z = run->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

static struct slri_interp_thread *thread_of(const struct run *run, const struct block *block, uint32_t number)
{
    return (struct slri_interp_thread *)(block->thread + number * run->thread_bytes);
}

static void place_of(const struct run *run, uint64_t block, uint32_t thread, uint32_t out[6])
{
    const struct slri_grid *g = run->grid;
    out[0] = thread % g->block[0];
    out[1] = thread / g->block[0] % g->block[1];
    out[2] = thread / g->block[0] / g->block[1];
    out[3] = (uint32_t)(block % g->grid[0]);
    out[4] = (uint32_t)(block / g->grid[0] % g->grid[1]);
    out[5] = (uint32_t)(block / g->grid[0] / g->grid[1]);
}

static void fill_shared(struct run *run, struct block *block)
{
    for (uint64_t i = 0; i < run->shared_bytes; i++)
        block->shared[i] = run->grid->seed ? (unsigned char)draw(run) : 0;
}

static void fill_builtins(const struct run *run, const struct block *block, uint32_t thread)
{
    uint32_t *to = block->builtin + (size_t)thread * SLRI_BUILTIN_COUNT;
    place_of(run, block->number, thread, to);
    memcpy(to + SLRI_BUILTIN_BLOCK_DIM_X, run->grid->block, sizeof run->grid->block);
    memcpy(to + SLRI_BUILTIN_GRID_DIM_X, run->grid->grid, sizeof run->grid->grid);
}

static void open_block(struct run *run, struct block *block, uint64_t number)
{
    block->number = number;
    block->is_open = true;
    block->live = run->threads;
    fill_shared(run, block);
    if (run->grid->watch && run->grid->watch->open)
        run->grid->watch->open(run->grid->watch->user, number);
    for (uint32_t i = 0; i < run->threads; i++) {
        struct slri_interp_thread *thread = thread_of(run, block, i);
        struct slri_call *call = run->message ? run->message : &block->call[i];
        if (!run->message)
            *call = (struct slri_call){.bound = run->grid->arg, .fuel = run->grid->fuel};
        fill_builtins(run, block, i);
        slri_interp_thread_open(thread, call);
    }
}

// ---- faults --------------------------------------------------------------------------------------------------------

static struct slri_grid_place describe(const struct run *run, const struct block *block, uint32_t thread)
{
    uint32_t place[6];
    const struct slri_interp_thread *t = thread_of(run, block, thread);
    place_of(run, block->number, thread, place);
    struct slri_grid_place made = {.where = run->flat->where[t->next - run->flat->code]};
    memcpy(made.thread, place, sizeof made.thread);
    memcpy(made.block, place + 3, sizeof made.block);
    return made;
}

static bool stop(struct run *run, const struct block *block, uint32_t thread, uint32_t fault)
{
    run->out->fault = fault;
    run->out->at = describe(run, block, thread);
    if (fault == SLRI_FAULT_INDEX || fault == SLRI_FAULT_ACCESS) {
        const struct slri_call *call = thread_of(run, block, thread)->call;
        run->out->index = call->fault_index;
        run->out->size = call->fault_size;
    }
    return false;
}

// ---- printing ------------------------------------------------------------------------------------------------------

void slri_interp_print(const struct slri_interp_thread *thread, const struct slri_code *in)
{
    union slri_scalar value[SLRI_PRINT_MAX_VALUES];
    struct slri_prints *prints = thread->call->prints; // of a handler
    bool is_told = thread->grid && thread->grid->print;
    if (!prints && !is_told)
        return;
    const uint32_t values = in->a;
    for (uint32_t i = 0; i < values; i++)
        value[i] = thread->frame->reg[thread->flat->arg[in->b + i].from];
    if (is_told)
        thread->grid->print(thread->grid->user, (uint32_t)in->imm, value, values);
    if (!prints)
        return;
    uint64_t word[SLRI_PRINT_MAX_VALUES];
    memcpy(word, value, values * sizeof *word);
    slri_prints_put(prints, thread->call->instance, thread->number, in->imm, values, word);
}

// ---- warps ---------------------------------------------------------------------------------------------------------

// A function of the warp that begins at thread `base`: done for all lanes that stand at `first`'s instruction, if they
// are all that must come.
static bool settle(struct run *run, struct block *block, uint32_t base, uint32_t lanes, uint32_t first)
{
    const struct slri_code *code = thread_of(run, block, base + first)->next;
    struct slri_lane lane[SLRI_WARP_THREADS] = {0};
    uint32_t part = 0;
    bool all_wait = true;
    for (uint32_t i = 0; i < lanes; i++) {
        struct slri_interp_thread *thread = thread_of(run, block, base + i);
        lane[i].is_live = thread->progress != SLRI_DONE;
        lane[i].is_here = thread->progress == SLRI_WAITING && thread->next == code;
        lane[i].reg = thread->frame->reg;
        all_wait &= thread->progress != SLRI_RUNNING;
    }
    enum slri_warp_outcome outcome = slri_warp_evaluate(code, run->flat->arg + code->b, lane, first, all_wait);
    if (outcome == SLRI_WARP_WRONG)
        return stop(run, block, base + first, SLRI_FAULT_WARP);
    if (outcome == SLRI_WARP_WAITS)
        return false;
    for (uint32_t i = 0; i < lanes; i++) {
        struct slri_interp_thread *thread = thread_of(run, block, base + i);
        if (!lane[i].takes_part)
            continue;
        if (code->dst != SLRI_NO_REG)
            thread->frame->reg[code->dst] = lane[i].result;
        thread->next = code + 1;
        thread->progress = SLRI_RUNNING;
        part |= 1u << i;
    }
    if (run->grid->watch && run->grid->watch->warp)
        run->grid->watch->warp(run->grid->watch->user, block->number, base, part, code);
    return true;
}

static bool is_at(const struct slri_interp_thread *thread, enum slri_code_op op)
{
    return thread->progress == SLRI_WAITING && thread->next->op == (unsigned)op;
}

// What the warp's lanes have come to is done, of __activemask or of all others. True if some thread can go on now.
static bool settle_warp(struct run *run, struct block *block, uint32_t base, bool is_active)
{
    uint32_t lanes = run->threads - base < SLRI_WARP_THREADS ? run->threads - base : SLRI_WARP_THREADS;
    bool any = false;
    for (uint32_t i = 0; i < lanes && run->out->fault == SLRI_FAULT_NONE; i++) {
        const struct slri_interp_thread *thread = thread_of(run, block, base + i);
        if (is_at(thread, SLRI_CODE_WARP) && (thread->next->imm == SLRI_WARP_ACTIVE) == is_active)
            any |= settle(run, block, base, lanes, i);
    }
    return any;
}

// __activemask comes last: lanes that another function lets go on may still come to it.
static bool settle_warps(struct run *run, struct block *block)
{
    bool any = false;
    for (uint32_t base = 0; base < run->threads; base += SLRI_WARP_THREADS)
        any |= settle_warp(run, block, base, false) || settle_warp(run, block, base, true);
    return any;
}

// Nobody can go on, and this thread waits for lanes that are elsewhere.
static bool stop_warp(struct run *run, const struct block *block, uint32_t number)
{
    const struct slri_interp_thread *waiting = thread_of(run, block, number);
    uint32_t base = number / SLRI_WARP_THREADS * SLRI_WARP_THREADS;
    for (uint32_t i = base; i < base + SLRI_WARP_THREADS && i < run->threads; i++) {
        const struct slri_interp_thread *other = thread_of(run, block, i);
        if (other->progress == SLRI_WAITING && other->next != waiting->next)
            run->out->other = describe(run, block, i);
    }
    return stop(run, block, number, SLRI_FAULT_WARP);
}

// ---- barriers ------------------------------------------------------------------------------------------------------

static int32_t combine_threads(const struct run *run, const struct block *block, const struct slri_code *barrier)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->threads; i++) {
        const struct slri_interp_thread *thread = thread_of(run, block, i);
        count += thread->progress == SLRI_WAITING && thread->frame->reg[barrier->a].i32 != 0;
    }
    if (barrier->imm == SLRI_BARRIER_AND)
        return count == block->live;
    return barrier->imm == SLRI_BARRIER_OR ? count > 0 : (int32_t)count;
}

// Every thread that still runs waits: all at one barrier, or it is a fault.
static bool lift(struct run *run, struct block *block)
{
    uint32_t first = 0;
    while (thread_of(run, block, first)->progress != SLRI_WAITING)
        first++;
    for (uint32_t i = first; i < run->threads; i++)
        if (is_at(thread_of(run, block, i), SLRI_CODE_WARP))
            return stop_warp(run, block, i);
    const struct slri_code *barrier = thread_of(run, block, first)->next;
    for (uint32_t i = first + 1; i < run->threads; i++) {
        const struct slri_interp_thread *thread = thread_of(run, block, i);
        if (thread->progress != SLRI_WAITING || thread->next == barrier)
            continue;
        run->out->other = describe(run, block, i);
        return stop(run, block, first, SLRI_FAULT_BARRIER);
    }
    int32_t value = barrier->imm == SLRI_BARRIER_SYNC ? 0 : combine_threads(run, block, barrier);
    for (uint32_t i = first; i < run->threads; i++) {
        struct slri_interp_thread *thread = thread_of(run, block, i);
        if (thread->progress != SLRI_WAITING)
            continue;
        if (barrier->dst != SLRI_NO_REG)
            thread->frame->reg[barrier->dst].i32 = value;
        thread->next = barrier + 1;
        thread->progress = SLRI_RUNNING;
    }
    run->out->missed += block->live < run->threads;
    if (run->grid->watch && run->grid->watch->lift)
        run->grid->watch->lift(run->grid->watch->user, block->number, barrier);
    return true;
}

// ---- turns ---------------------------------------------------------------------------------------------------------

static uint32_t list_turns(struct run *run, const struct block *block)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->threads; i++)
        if (thread_of(run, block, i)->progress == SLRI_RUNNING)
            block->turn[count++] = i;
    for (uint32_t i = count; run->grid->seed && i > 1; i--) {
        uint32_t other = (uint32_t)(draw(run) % i), moved = block->turn[other];
        block->turn[other] = block->turn[i - 1];
        block->turn[i - 1] = moved;
    }
    return count;
}

// The watcher may let a thread go on behind an instruction that cannot be done.
static bool forgive(const struct run *run, struct slri_interp_thread *thread)
{
    const struct slri_watch *watch = run->grid->watch;
    const struct slri_code *code = thread->next;
    bool may =
        thread->fault == SLRI_FAULT_ACCESS || thread->fault == SLRI_FAULT_INDEX || thread->fault == SLRI_FAULT_DIVIDE;
    if (!may || !watch || !watch->fault || !watch->fault(watch->user, thread, code, thread->fault))
        return false;
    if (code->dst != SLRI_NO_REG)
        thread->frame->reg[code->dst].u64 = 0;
    thread->next = code + 1;
    thread->fault = SLRI_FAULT_NONE;
    thread->progress = SLRI_RUNNING;
    return true;
}

static bool take_turn(struct run *run, struct block *block, uint32_t number, uint64_t length)
{
    struct slri_interp_thread *thread = thread_of(run, block, number);
    uint64_t done;
    enum slri_progress progress = slri_interp_step(thread, length, &done);
    run->out->instructions += done;
    if (progress == SLRI_FAULTED && !forgive(run, thread))
        return stop(run, block, number, thread->fault);
    if (run->grid->limit && run->out->instructions > run->grid->limit)
        return stop(run, block, number, SLRI_FAULT_FUEL);
    block->live -= progress == SLRI_DONE;
    return true;
}

// ---- lockstep ------------------------------------------------------------------------------------------------------

// Of a warp's lanes those that go on: in the innermost function, at the lowest instruction. Code is laid out in the
// order of its source, so lanes that are ahead wait where branches join and loops end.
static uint32_t leaders(const struct run *run, const struct block *block, uint32_t base, uint32_t lanes,
                        uint32_t *running)
{
    const struct slri_code *lowest = NULL;
    ptrdiff_t deepest = 0;
    uint32_t mask = 0;
    *running = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        const struct slri_interp_thread *thread = thread_of(run, block, base + i);
        if (thread->progress != SLRI_RUNNING)
            continue;
        *running |= 1u << i;
        ptrdiff_t depth = (unsigned char *)thread->frame - thread->stack;
        if (!lowest || depth > deepest || (depth == deepest && thread->next < lowest)) {
            lowest = thread->next;
            deepest = depth;
            mask = 0;
        }
        mask |= (uint32_t)(depth == deepest && thread->next == lowest) << i;
    }
    return mask;
}

static bool step_together(struct run *run, struct block *block, uint32_t base, uint32_t mask)
{
    const struct slri_watch *watch = run->grid->watch;
    uint32_t first = 0;
    while (!(mask >> first & 1))
        first++;
    if (watch && watch->together)
        watch->together(watch->user, block->number, base, mask, thread_of(run, block, base + first)->next);
    for (uint32_t i = first; i < SLRI_WARP_THREADS; i++)
        if ((mask >> i & 1) && !take_turn(run, block, base + i, 1))
            return false;
    return true;
}

// One lane alone, which the others may spin for.
static bool step_alone(struct run *run, struct block *block, uint32_t base, uint32_t lane)
{
    for (uint32_t n = 0; n < TURN_LEFT; n++)
        if (thread_of(run, block, base + lane)->progress == SLRI_RUNNING &&
            !step_together(run, block, base, 1u << lane))
            return false;
    return true;
}

static bool advance_warp(struct run *run, struct block *block, uint32_t base, bool *any)
{
    uint32_t lanes = run->threads - base < SLRI_WARP_THREADS ? run->threads - base : SLRI_WARP_THREADS;
    uint32_t mask = 0, running = 0, behind = UINT32_MAX;
    for (uint32_t n = 0; n < TURN_WARP; n++) {
        mask = leaders(run, block, base, lanes, &running);
        if (mask == 0)
            return true;
        *any = true;
        behind &= running & ~mask;
        if (!step_together(run, block, base, mask))
            return false;
    }
    for (uint32_t i = 0; i < lanes; i++)
        if ((behind >> i & 1) && !step_alone(run, block, base, i))
            return false;
    return true;
}

static bool take_turns(struct run *run, struct block *block, bool *any)
{
    for (uint32_t base = 0; run->grid->lockstep && base < run->threads; base += SLRI_WARP_THREADS)
        if (!advance_warp(run, block, base, any))
            return false;
    if (run->grid->lockstep)
        return true;
    uint32_t count = list_turns(run, block);
    *any = count > 0;
    for (uint32_t i = 0; i < count; i++)
        if (!take_turn(run, block, block->turn[i], run->grid->seed ? 1 + draw(run) % TURN_DRAWN : TURN))
            return false;
    return true;
}

// Every thread that can go on has one turn; then warp functions are done that all have come to. Where no thread could
// go on, the barrier is lifted. False after a fault.
static bool advance(struct run *run, struct block *block)
{
    bool goes_on = false;
    if (!take_turns(run, block, &goes_on))
        return false;
    if (block->live == 0) {
        block->is_open = false;
        if (run->grid->watch && run->grid->watch->close)
            run->grid->watch->close(run->grid->watch->user, block->number);
        return true;
    }
    if (run->entry->function->uses & SLRI_USES_WARP)
        goes_on |= settle_warps(run, block);
    return run->out->fault == SLRI_FAULT_NONE && (goes_on || lift(run, block));
}

static void run_blocks(struct run *run, struct block *block, uint32_t residents)
{
    for (uint32_t open = residents; open > 0;) {
        for (uint32_t i = 0; i < residents; i++) {
            if (!block[i].is_open)
                continue;
            if (!advance(run, &block[i]))
                return;
            if (block[i].is_open)
                continue;
            if (run->next < run->end)
                open_block(run, &block[i], run->next++);
            else
                open--;
        }
    }
}

// ---- memory --------------------------------------------------------------------------------------------------------

#define LINE 64 // bytes: parts of a block do not share one

// All that a block needs, one behind the other.
static size_t lay_out_block(const struct run *run, struct block *block, unsigned char *base)
{
    size_t at = 0;
#define PART(member, bytes)                                                                                            \
    (block ? (void)(block->member = (void *)(base + at)) : (void)0, at += slri_round_up(bytes, LINE))
    PART(span, run->spans * sizeof(struct slri_span));
    PART(shared, run->shared_bytes);
    PART(turn, run->threads * sizeof(uint32_t));
    PART(call, run->threads * sizeof(struct slri_call));
    PART(builtin, (size_t)run->threads * SLRI_BUILTIN_COUNT * sizeof(uint32_t));
    PART(thread, run->threads * run->thread_bytes);
#undef PART
    return at;
}

static void name_spans(const struct run *run, struct block *block)
{
    const struct slri_module *module = run->flat->module;
    for (uint32_t i = 0; i < module->constants; i++)
        block->span[SLRI_SPAN_CONST + i] =
            (struct slri_span){(unsigned char *)module->constant[i].data, module->constant[i].type->bytes};
    for (uint32_t i = 0; i < module->shareds; i++)
        if (slri_entry_has_shared(run->entry, i))
            block->span[slri_span_of_shared(module, i)] =
                (struct slri_span){block->shared + slri_entry_shared(run->entry, i), module->shared[i].type->bytes};
    block->span[slri_span_of_shared(module, module->shareds)] =
        (struct slri_span){block->shared + run->entry->shared_bytes, run->grid->dynamic_shared};
    for (uint32_t i = 0; i < module->globals && run->globals; i++)
        block->span[slri_span_of_global(module, i)] =
            (struct slri_span){run->globals + module->global[i].offset, module->global[i].type->bytes};
    for (uint32_t i = 0; i < run->grid->args; i++) // of a handler's block they are known with the message
        block->span[slri_span_of_binding(module, i)] =
            (struct slri_span){run->grid->arg[i].data, run->grid->arg[i].bytes};
}

static void make_block(const struct run *run, struct block *block, unsigned char *base)
{
    lay_out_block(run, block, base);
    name_spans(run, block);
    for (uint32_t i = 0; i < run->threads; i++) {
        struct slri_interp_thread *thread = thread_of(run, block, i);
        *thread = (struct slri_interp_thread){.flat = run->flat,
                                              .entry = run->entry,
                                              .function = run->function,
                                              .progress = SLRI_DONE,
                                              .span = block->span,
                                              .builtin = block->builtin + (size_t)i * SLRI_BUILTIN_COUNT,
                                              .number = i,
                                              .watch = run->grid->watch,
                                              .grid = run->grid};
        thread->stack = (unsigned char *)thread + slri_round_up(sizeof *thread, LINE);
    }
}

static void prepare(struct run *run)
{
    const struct slri_module *module = run->flat->module;
    const struct slri_grid *g = run->grid;
    while (module->function[run->function] != run->entry->function)
        run->function++;
    run->threads = g->block[0] * g->block[1] * g->block[2];
    run->spans = slri_span_of_binding(module, run->entry->bindings);
    if (run->spans < run->flat->spans)
        run->spans = run->flat->spans;
    run->shared_bytes = run->entry->shared_bytes + g->dynamic_shared;
    run->thread_bytes = slri_round_up(sizeof(struct slri_interp_thread), LINE) +
                        slri_round_up(run->flat->function[run->function].stack_bytes, LINE);
    run->block_bytes = lay_out_block(run, NULL, NULL);
    run->random = g->seed;
    run->next = g->first;
    run->end = g->count ? g->first + g->count : blocks_of(g);
}

slr_status slri_interpret_grid(const struct slri_interp *interp, const struct slri_grid *grid,
                               struct slri_grid_end *end)
{
    const struct slri_module *module = interp->flat.module;
    SLRI_TRY(slri_grid_check(module, grid));
    struct run run = {.flat = &interp->flat, .grid = grid, .entry = &module->entry[grid->entry], .out = end};
    prepare(&run);
    uint64_t blocks = run.end - run.next, wanted = grid->resident ? grid->resident : 1;
    uint32_t residents = (uint32_t)(wanted < blocks ? wanted : blocks);
    size_t head = slri_round_up(residents * sizeof(struct block), LINE), blocks_bytes = residents * run.block_bytes,
           own = grid->global ? 0 : module->global_bytes, bytes = head + blocks_bytes + own + 64;
    unsigned char *memory = slri_alloc(NULL, bytes);
    if (memory == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory for %u blocks of %u threads of '%s'", residents, run.threads,
                         run.entry->name);
    unsigned char *aligned = memory + (64 - (uintptr_t)memory % 64) % 64;
    struct block *block = (struct block *)aligned;
    *end = (struct slri_grid_end){.fault = SLRI_FAULT_NONE};
    run.globals = grid->global ? grid->global : aligned + head + blocks_bytes;
    if (!grid->global)
        slri_module_begin_globals(module, run.globals);
    for (uint32_t i = 0; i < residents; i++) {
        make_block(&run, &block[i], aligned + head + i * run.block_bytes);
        open_block(&run, &block[i], run.next++);
    }
    run_blocks(&run, block, residents);
    slri_free(NULL, memory, bytes);
    return SLR_OK;
}

// ---- a block that handles messages ---------------------------------------------------------------------------------

struct handler_block {
    struct slri_interp_thread head; // stands for the block: its entry, and how many bytes all this has
    struct slri_grid grid;
    struct run run;
    struct block block;
    struct slri_grid_end end;
};

slr_status slri_interp_block_create(const struct slri_interp *interp, const struct slri_entry *entry,
                                    const struct slri_grid *how, struct slri_interp_thread **out)
{
    struct slri_grid grid = how ? *how : (struct slri_grid){.grid = {1, 1, 1}};
    grid.block[0] = entry->kind == SLRI_ENTRY_BLOCK ? entry->max_threads : 1;
    grid.block[1] = grid.block[2] = 1;
    struct run run = {.flat = &interp->flat, .grid = &grid, .entry = entry};
    prepare(&run);
    size_t bytes = slri_round_up(sizeof(struct handler_block), LINE) + run.block_bytes + 64;
    struct handler_block *made = slri_alloc(NULL, bytes);
    if (made == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory for a block of %u threads of '%s'", entry->max_threads, entry->name);
    made->head.entry = entry;
    made->head.progress = SLRI_DONE;
    made->head.bytes = bytes;
    made->grid = grid;
    made->run = run;
    made->run.grid = &made->grid;
    made->run.out = &made->end;
    unsigned char *memory = (unsigned char *)made + slri_round_up(sizeof *made, LINE);
    make_block(&made->run, &made->block, memory + (64 - (uintptr_t)memory % 64) % 64);
    *out = &made->head;
    return SLR_OK;
}

static void run_message(struct slri_interp_thread *head, struct slri_call *call, uint64_t number)
{
    struct handler_block *self = (struct handler_block *)head;
    const struct slri_entry *entry = head->entry;
    self->end = (struct slri_grid_end){.fault = SLRI_FAULT_NONE};
    self->grid.arg = call->bound;
    self->grid.args = entry->bindings;
    self->run.message = call;
    name_spans(&self->run, &self->block);
    self->block.span[SLRI_SPAN_STATE] = (struct slri_span){call->state, entry->state ? entry->state->bytes : 0};
    self->block.span[SLRI_SPAN_MESSAGE] = slri_span_of_message(entry, call);
    open_block(&self->run, &self->block, number);
    while (self->block.is_open && advance(&self->run, &self->block))
        ;
    if (self->end.fault != SLRI_FAULT_NONE) {
        call->fault_file = self->end.at.where.file;
        call->fault_line = self->end.at.where.line;
        call->fault_column = self->end.at.where.column;
        call->fault_index = self->end.index;
        call->fault_size = self->end.size;
    }
    if (self->block.is_open && self->grid.watch && self->grid.watch->close) // it has faulted
        self->grid.watch->close(self->grid.watch->user, number);
    self->block.is_open = false;
}

uint32_t slri_interp_block_run(struct slri_interp_thread *head, struct slri_call *call)
{
    run_message(head, call, 0);
    return ((struct handler_block *)head)->end.fault;
}

void slri_interp_block_message(struct slri_interp_thread *head, struct slri_call *call, uint64_t number, uint64_t limit,
                               struct slri_grid_end *out)
{
    struct handler_block *self = (struct handler_block *)head;
    self->grid.limit = limit;
    run_message(head, call, number);
    *out = self->end;
}

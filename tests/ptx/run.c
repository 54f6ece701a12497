// SPDX-License-Identifier: Apache-2.0
// Warps, a few instructions at a time. Lanes that stand at one instruction go on together; where they part, the deepest
// call and then the first instruction goes first, so that they meet again. Now and then it is another's turn, or a part
// of them goes alone: PTX promises neither.
#define _POSIX_C_SOURCE 200809L
#include "tests/ptx/inside.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

__thread struct ptx_block *ptx_block;

uint64_t ptx_draw(void) // splitmix64
{
    uint64_t z = ptx_block->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void ptx_wrong(const struct ptx_lane *lane, enum ptx_end end, const char *format, ...)
{
    char what[256];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    const struct ptx_ins *ins = &ptx_block->image->ins[ptx_block->at];
    if (end != PTX_TRAPPED)
        fprintf(stderr, "ptx: block %u, thread %u: %s: %s (line %u: %s)\n", ptx_block->ctaid[0],
                lane ? lane->number : 0, lane && lane->function ? lane->function->name : "", what, ins->line,
                ins->words);
    ptx_block->end = end;
    __builtin_longjmp(ptx_block->out, 1);
}

// ---- operands ------------------------------------------------------------------------------------------------------

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + PTX_CLOCK_AHEAD_NS;
}

uint64_t ptx_special(const struct ptx_lane *lane, const struct ptx_operand *op)
{
    const struct ptx_launch *launch = ptx_block->launch;
    if (op->kind == PTX_FRAME)
        return (uintptr_t)lane->frame + op->value;
    if (op->index == UINT32_MAX)
        return (uintptr_t)ptx_block->parameters + op->value;
    const uint32_t size[] = {launch->block.x, launch->block.y, launch->block.z},
                   grid[] = {launch->grid.x, launch->grid.y, launch->grid.z};
    if (op->index < PTX_NTID)
        return lane->tid[op->index];
    if (op->index < PTX_CTAID)
        return size[op->index - PTX_NTID];
    if (op->index < PTX_NCTAID)
        return ptx_block->ctaid[op->index - PTX_CTAID];
    if (op->index < PTX_LANE)
        return grid[op->index - PTX_NCTAID];
    return op->index == PTX_LANE         ? lane->number % PTX_WARP
           : op->index == PTX_WARP_INDEX ? lane->number / PTX_WARP
                                         : now_ns();
}

uint64_t ptx_need(const struct ptx_lane *lane, const struct ptx_operand *op, const char *what)
{
    bool is_set;
    uint64_t value = ptx_read(lane, op, &is_set);
    if (!is_set)
        ptx_wrong(lane, PTX_WRONG, "%s hangs on a register that nobody has set", what);
    return value;
}

// ---- an instruction of a lane --------------------------------------------------------------------------------------

static void compute(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    uint64_t v[PTX_OPERANDS] = {0};
    bool set[PTX_OPERANDS] = {false}, all = true;
    for (unsigned i = 1; i < ins->operands; ++i) {
        v[i - 1] = ptx_read(lane, &ins->op[i], &set[i - 1]);
        all &= set[i - 1];
    }
    if (ins->what == 's') // selp
        all = set[2] && set[v[2] != 0 ? 0 : 1];
    else if (ins->what == '&')
        all |= (set[0] && v[0] == 0) || (set[1] && v[1] == 0);
    else if (ins->what == '|')
        all |= (set[0] && v[0] != 0) || (set[1] && v[1] != 0);
    ptx_write(lane, &ins->op[0], ins->alu(lane, v, ins), all);
}

static void pack(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    const unsigned bits = 8u * ins->type.bytes / ins->vector;
    uint64_t value = 0;
    bool all = true, one;
    for (unsigned i = 0; i < ins->vector; ++i) {
        value |= (ptx_read(lane, &ins->part[i], &one) & (UINT64_MAX >> (64 - bits))) << bits * i;
        all &= one;
    }
    ptx_write(lane, &ins->op[0], value, all);
}

static void unpack(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    const unsigned bits = 8u * ins->type.bytes / ins->vector;
    bool is_set;
    uint64_t value = ptx_read(lane, &ins->op[1], &is_set);
    for (unsigned i = 0; i < ins->vector; ++i)
        ptx_write(lane, &ins->part[i], value >> bits * i & (UINT64_MAX >> (64 - bits)), is_set);
}

static void enter(struct ptx_lane *lane, const struct ptx_function *f, uint64_t *registers, uint8_t *is_set,
                  unsigned char *frame)
{
    if (registers + f->registers > ptx_block->registers + (size_t)(lane->number + 1) * PTX_REGISTERS ||
        frame + f->frame_bytes > lane->stack + PTX_STACK)
        ptx_wrong(lane, PTX_WRONG, "its stack is full");
    lane->function = f;
    lane->registers = registers;
    lane->is_set = is_set;
    lane->frame = frame;
    lane->pc = f->begin;
    memset(is_set, 0, f->registers);
    memset(frame, 0xa5, f->frame_bytes);
}

static void call(struct ptx_lane *lane, const struct ptx_ins *ins, uint32_t pc)
{
    const struct ptx_function *f = ins->called;
    if (!f) {
        ptx_print(lane, ins->call);
        lane->pc = pc + 1;
        return;
    }
    if (lane->depth == PTX_DEPTH)
        ptx_wrong(lane, PTX_WRONG, "too many calls");
    lane->above[lane->depth++] = (struct ptx_frame){lane->function, pc, lane->registers, lane->is_set, lane->frame};
    const unsigned char *from = lane->frame;
    enter(lane, f, lane->registers + lane->function->registers, lane->is_set + lane->function->registers,
          lane->frame + lane->function->frame_bytes);
    for (uint32_t i = 0; i < ins->call->arguments; ++i)
        memcpy(lane->frame + f->parameter[i].at, from + ins->call->argument[i].at, f->parameter[i].bytes);
}

static void end_lane(struct ptx_lane *lane)
{
    ptx_meet(lane);
    ptx_race_end(lane);
    lane->state = PTX_ENDED;
    --ptx_block->live;
    ptx_block->moved = true;
}

static void give_back(struct ptx_lane *lane)
{
    if (lane->depth == 0) {
        end_lane(lane);
        return;
    }
    const struct ptx_frame *above = &lane->above[--lane->depth];
    const struct ptx_call *call = ptx_block->image->ins[above->back].call;
    memcpy(above->frame + call->result.at, lane->frame + lane->function->result.at, call->result.bytes);
    lane->function = above->function;
    lane->registers = above->registers;
    lane->is_set = above->is_set;
    lane->frame = above->frame;
    lane->pc = above->back + 1;
}

static void execute(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    switch (ins->kind) {
    case PTX_ALU:
        compute(lane, ins);
        return;
    case PTX_PACK:
        pack(lane, ins);
        return;
    case PTX_UNPACK:
        unpack(lane, ins);
        return;
    case PTX_LD:
        ptx_load(lane, ins);
        return;
    case PTX_ST:
        ptx_store(lane, ins);
        return;
    case PTX_ATOMIC:
        ptx_atomic(lane, ins);
        return;
    case PTX_FENCE:
        ptx_fence(lane, ins->order, ins->scope);
        ptx_race_fence(lane, ins->scope);
        return;
    default: // PTX_NANOSLEEP
        return;
    }
}

// ---- a few instructions of a warp ----------------------------------------------------------------------------------

#define EACH(lane, mask)                                                                                               \
    for (uint32_t rest_ = (mask); rest_ != 0; rest_ &= rest_ - 1)                                                      \
        for (struct ptx_lane *lane = &warp[__builtin_ctz(rest_)], *once_ = lane; once_; once_ = NULL)

static uint32_t ready_of(const struct ptx_lane *warp)
{
    uint32_t ready = 0, lanes = ptx_lanes_of(warp);
    for (uint32_t l = 0; l < lanes; ++l)
        ready |= (uint32_t)(warp[l].state == PTX_READY) << l;
    return ready;
}

static uint32_t random_of(uint32_t mask)
{
    uint32_t skip = (uint32_t)(ptx_draw() % (uint32_t)__builtin_popcount(mask));
    while (skip-- != 0)
        mask &= mask - 1;
    return (uint32_t)__builtin_ctz(mask);
}

static uint32_t choose(const struct ptx_lane *warp, uint32_t ready)
{
    uint32_t best = random_of(ready), group = 0;
    if (ptx_draw() % 8 != 0)
        for (uint32_t rest = ready; rest != 0; rest &= rest - 1) {
            const struct ptx_lane *one = &warp[__builtin_ctz(rest)];
            if (one->depth > warp[best].depth || (one->depth == warp[best].depth && one->pc < warp[best].pc))
                best = (uint32_t)__builtin_ctz(rest);
        }
    for (uint32_t rest = ready; rest != 0; rest &= rest - 1)
        group |= (uint32_t)(warp[__builtin_ctz(rest)].pc == warp[best].pc) << __builtin_ctz(rest);
    uint64_t random = ptx_draw();
    if (random % 16 == 0) { // they part
        uint32_t part = group & (uint32_t)(random >> 32);
        group = part ? part : group;
    }
    return group;
}

static uint32_t guarded(struct ptx_lane *warp, struct ptx_ins *ins, uint32_t group)
{
    if (ins->guard.kind == PTX_NONE)
        return group;
    uint32_t active = 0;
    EACH(lane, group)
    active |= (uint32_t)(ptx_need(lane, &ins->guard, "whether it is done") != 0) << lane->number % PTX_WARP;
    if (active != group)
        __atomic_store_n(&ins->matters, true, __ATOMIC_RELAXED);
    return active;
}

static void leave_at(struct ptx_lane *warp, uint32_t group, uint32_t pc)
{
    EACH(lane, group)
    lane->pc = pc;
}

// What changes where lanes stand. Those that the guard leaves out have gone on.
static void flow(struct ptx_lane *warp, const struct ptx_ins *ins, uint32_t active, uint32_t pc)
{
    switch (ins->kind) {
    case PTX_BRA:
        leave_at(warp, active, ins->target);
        return;
    case PTX_CALL:
        EACH(lane, active)
        call(lane, ins, pc);
        return;
    case PTX_RET:
    case PTX_EXIT:
        EACH(lane, active)
        ins->kind == PTX_RET ? give_back(lane) : end_lane(lane);
        ptx_release_warp(warp);
        ptx_release_barriers();
        return;
    case PTX_TRAP:
        ptx_wrong(&warp[__builtin_ctz(active)], PTX_TRAPPED, "a trap");
    default:
        leave_at(warp, active, pc);
        ptx_join(warp, active);
    }
}

static bool is_flow(const struct ptx_ins *ins)
{
    return (ins->kind >= PTX_BRA && ins->kind <= PTX_TRAP) || ins->kind >= PTX_ACTIVE;
}

static void run_slice(struct ptx_lane *warp, uint32_t ready)
{
    struct ptx_block *b = ptx_block;
    uint32_t group = choose(warp, ready), pc = warp[__builtin_ctz(group)].pc;
    uint32_t most = 1 + (uint32_t)(ptx_draw() % 96);
    for (uint32_t i = 0; i < most; ++i) {
        struct ptx_ins *ins = &b->image->ins[pc];
        b->at = pc;
        __atomic_store_n(&ins->ran, true, __ATOMIC_RELAXED);
        if (i != 0 && ins->is_target && group != ready)
            break; // others may be here
        uint32_t active = guarded(warp, ins, group);
        if (is_flow(ins)) {
            leave_at(warp, group & ~active, pc + 1);
            if (active != 0)
                flow(warp, ins, active, pc);
            bool stays = ins->kind == PTX_BRA && (active == group || active == 0);
            if (!stays)
                return;
            pc = active == group ? ins->target : pc + 1;
            continue;
        }
        if (ins->kind == PTX_ACTIVE)
            EACH(lane, active)
        ptx_write(lane, &ins->op[0], active, true);
        else EACH(lane, active) execute(lane, ins);
        ++pc;
        if (ins->kind == PTX_NANOSLEEP) {
            leave_at(warp, group, pc);
            sched_yield(); // for other blocks, and the host
            return;
        }
    }
    leave_at(warp, group, pc);
}

// ---- a block -------------------------------------------------------------------------------------------------------

static void begin_lanes(void)
{
    struct ptx_block *b = ptx_block;
    const struct ptx_dim *size = &b->launch->block;
    for (uint32_t i = 0; i < b->lanes; ++i) {
        struct ptx_lane *lane = &b->lane[i];
        lane->number = i;
        lane->tid[0] = i % size->x;
        lane->tid[1] = i / size->x % size->y;
        lane->tid[2] = i / size->x / size->y;
        lane->state = PTX_READY;
        lane->depth = lane->carry = lane->lates = 0;
        lane->stack = b->stacks + (size_t)i * PTX_STACK;
        size_t first = (size_t)i * PTX_REGISTERS;
        enter(lane, &b->launch->kernel->function, b->registers + first, b->are_set + first, lane->stack);
    }
}

static struct ptx_lane *next_warp(uint32_t *ready)
{
    struct ptx_block *b = ptx_block;
    uint32_t at = (uint32_t)(ptx_draw() % b->warps);
    for (uint32_t i = 0; i < b->warps; ++i, at = at + 1 == b->warps ? 0 : at + 1) {
        *ready = ready_of(&b->lane[at * PTX_WARP]);
        if (*ready != 0)
            return &b->lane[at * PTX_WARP];
    }
    return NULL;
}

void ptx_run_lanes(void)
{
    struct ptx_block *b = ptx_block;
    begin_lanes();
    while (b->live != 0) {
        uint32_t ready;
        ++b->tick;
        if (b->launch->goes_on && !b->launch->goes_on(b->launch->user)) {
            b->end = PTX_STOPPED;
            return;
        }
        struct ptx_lane *warp = next_warp(&ready);
        if (!warp && ptx_release_active())
            continue;
        if (!warp) {
            for (uint32_t i = 0; i < b->lanes; ++i)
                if (b->lane[i].state != PTX_ENDED)
                    b->at = b->lane[i].pc;
            ptx_wrong(NULL, PTX_WRONG, "threads wait for each other at different places");
        }
        run_slice(warp, ready);
        ptx_drain_due(warp, ptx_lanes_of(warp));
        if (b->tick % 256 == 0)
            sched_yield();
    }
    ptx_drain_block();
}

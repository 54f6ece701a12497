// SPDX-License-Identifier: Apache-2.0
// The watcher: each step's accesses against shadow memory, barriers, faults.
#include "check/watch.h"

#include "run/interpreter_op.h"

#include <stdio.h>
#include <string.h>

// ---- blocks --------------------------------------------------------------------------------------------------------

static struct slri_check_block *block_of(struct slri_run *run, uint64_t number)
{
    if (run->last != NULL && run->last->is_open && run->last->number == number)
        return run->last;
    for (uint32_t i = 0; i < run->residents; i++)
        if (run->block[i].is_open && run->block[i].number == number)
            return run->last = &run->block[i];
    return NULL;
}

static void name_lane(const struct slri_run *run, uint64_t block, uint32_t thread, struct slri_check_thread *out)
{
    const struct slri_grid *g = run->grid;
    *out = (struct slri_check_thread){
        {(uint32_t)(block % g->grid[0]), (uint32_t)(block / g->grid[0] % g->grid[1]),
         (uint32_t)(block / g->grid[0] / g->grid[1])},
        {thread % g->block[0], thread / g->block[0] % g->block[1], thread / g->block[0] / g->block[1]}};
}

static void forget_messages(struct slri_run *run)
{
    slri_shadow_forget(&run->state);
    for (uint32_t i = 0; i < run->entry->bindings; i++)
        if (!run->is_unset[i]) // else what was written is remembered
            slri_shadow_forget(&run->buffer[i]);
}

static void open_block(void *user, uint64_t number)
{
    struct slri_run *run = user;
    struct slri_check_block *block = run->block;
    while (block->is_open)
        block++;
    block->number = number;
    block->is_open = true;
    block->arrived = block->returned = 0;
    slri_order_open(&block->order, (uint32_t)number);
    for (uint32_t i = 0; i <= run->module->shareds; i++)
        slri_shadow_forget(&block->shared[i]);
    if (run->entry->kind != SLRI_ENTRY_KERNEL) // what one message did is ordered before the next
        forget_messages(run);
    for (uint32_t i = 0; i < run->threads; i++) {
        name_lane(run, number, i, &block->lane[i].place);
        block->lane[i].has_returned = block->lane[i].is_astray = false;
        slri_values_open(run, &block->lane[i]);
    }
}

static void close_block(void *user, uint64_t number)
{
    struct slri_check_block *block = block_of(user, number);
    block->is_open = false;
}

static uint64_t number_of(const struct slri_run *run, const struct slri_interp_thread *thread)
{
    const uint32_t *at = thread->builtin + SLRI_BUILTIN_BLOCK_X;
    return at[0] + (uint64_t)run->grid->grid[0] * (at[1] + (uint64_t)run->grid->grid[1] * at[2]);
}

// ---- races ---------------------------------------------------------------------------------------------------------

struct touch { // one access of one step
    struct slri_run *run;
    struct slri_check_block *block;
    struct slri_check_lane *lane;
    const struct slri_interp_thread *thread;
    const struct slri_code *code;
    const struct slri_access *access;
    struct slri_shadow *shadow;
    const unsigned char *memory; // the bytes themselves
};

// Does a plain store leave the bytes as they are?
static bool stores_the_same(const struct touch *t)
{
    const union slri_scalar *reg = t->thread->frame->reg;
    switch (t->code->op) {
#define STORED(kind, type, member, loaded, stored)                                                                     \
    case SLRI_CODE_STORE_##kind: {                                                                                     \
        const __typeof__(reg->member) value = reg[t->code->b].member;                                                  \
        const type narrow = (stored);                                                                                  \
        return memcmp(t->memory, &narrow, sizeof narrow) == 0;                                                         \
    }
        SLRI_ACCESS_TABLE(STORED)
#undef STORED
    default:
        return false;
    }
}

static const char *does(bool is_write, bool is_atomic)
{
    return is_atomic ? "updates (atomic)" : is_write ? "writes" : "reads";
}

// What the addresses of an instruction were computed from.
static uint64_t address_from(const struct slri_run *run, const struct slri_check_lane *lane,
                             const struct slri_interp_thread *thread, const struct slri_code *code)
{
    uint64_t from = slri_values_of(lane, thread, code->a);
    if (code->op == SLRI_CODE_COPY)
        from |= slri_values_of(lane, thread, code->b);
    return run->address_from[code - run->flat->code] |= from;
}

static void weigh(const struct touch *t, unsigned code, uint64_t from, const struct slri_check_thread *other)
{
    from |= address_from(t->run, t->lane, t->thread, t->code);
    slri_run_weigh(t->run, &(struct slri_evidence){code, from, UINT32_MAX, false, &t->lane->place, other});
}

static void report_race(const struct touch *t, const struct slri_mark *old, bool old_wrote)
{
    struct slri_run *run = t->run;
    const struct slri_code *old_code = run->flat->code + old->code;
    struct slri_where where = slri_run_where(run, t->code), other = slri_run_where(run, old_code);
    struct slri_check_thread by_other;
    name_lane(run, old->block - 1, old->thread, &by_other);
    bool is_global = t->access->root.kind == SLRI_ROOT_BINDING;
    bool is_write = t->access->is_write, is_plain = !t->access->is_atomic && !old->is_atomic;
    bool is_same = is_write && old_wrote && is_plain && stores_the_same(t);
    unsigned code = is_same ? SLRI_C_SAME_VALUE : is_global ? SLRI_C_RACE_GLOBAL : SLRI_C_RACE_SHARED;
    weigh(t, code, run->address_from[old->code], &by_other);
    if (!slri_findings_add(run->findings, code, where, &t->lane->place, &other, &by_other))
        return;
    char element[SLRI_WORDS_BYTES], one[SLRI_WORDS_BYTES], two[SLRI_WORDS_BYTES];
    const char *why = by_other.block[0] != t->lane->place.block[0] || by_other.block[1] != t->lane->place.block[1] ||
                              by_other.block[2] != t->lane->place.block[2]
                          ? "the two blocks are not ordered"
                          : "there is no barrier between them";
    slri_words_element(run, t->access->root, t->access->offset, element);
    slri_findings_say(run->findings, "%s %s %s, and %s %s it%s: %s", slri_words_thread(run, &t->lane->place, one),
                      does(is_write, t->access->is_atomic), element, slri_words_thread(run, &by_other, two),
                      does(old_wrote, old->is_atomic), is_same ? " with the same value" : "", why);
}

static void check_races(const struct touch *t)
{
    uint64_t first = t->access->offset / t->shadow->granule,
             last = (t->access->offset + t->access->bytes - 1) / t->shadow->granule;
    struct slri_mark mark = {.block = t->block->order.block + 1,
                             .epoch = t->block->order.epoch,
                             .sub = t->block->order.thread[t->thread->number].sub,
                             .code = (uint32_t)(t->code - t->run->flat->code),
                             .thread = (uint16_t)t->thread->number,
                             .is_atomic = t->access->is_atomic};
    for (uint64_t i = first; i <= last; i++) {
        struct slri_cell *cell = slri_shadow_cell(t->shadow, i * t->shadow->granule);
        if (cell == NULL) {
            t->run->out_of_memory = true;
            return;
        }
        const struct slri_mark *old = slri_shadow_race(cell, &t->block->order, &mark, t->access->is_write);
        if (old != NULL)
            report_race(t, old, old == &cell->write);
        slri_shadow_note(cell, &t->block->order, &mark, t->access->is_write);
    }
}

// ---- what was written ----------------------------------------------------------------------------------------------

static bool reads(const struct touch *t)
{
    bool is_store = t->code->op == SLRI_CODE_ATOMIC_STORE || !t->access->is_atomic;
    return !t->access->is_write || !is_store;
}

static void report_unset(const struct touch *t)
{
    bool is_global = t->access->root.kind == SLRI_ROOT_BINDING;
    char element[SLRI_WORDS_BYTES], by[SLRI_WORDS_BYTES];
    unsigned code = is_global ? SLRI_C_UNSET_BUFFER : SLRI_C_UNSET_SHARED;
    weigh(t, code, 0, NULL);
    if (slri_findings_add(t->run->findings, code, slri_run_where(t->run, t->code), &t->lane->place, NULL, NULL))
        slri_findings_say(
            t->run->findings, "%s reads %s, which is uninitialised%s", slri_words_thread(t->run, &t->lane->place, by),
            slri_words_element(t->run, t->access->root, t->access->offset, element), is_global ? "" : " in this block");
}

// A struct may be copied where some of it was written: the rest may be padding.
static void check_written(const struct touch *t)
{
    const struct slri_access *access = t->access;
    bool is_tracked = access->root.kind != SLRI_ROOT_BINDING || t->run->is_unset[access->root.index];
    if (!is_tracked || access->root.kind == SLRI_ROOT_STATE) // a state begins as something
        return;
    bool any, all;
    slri_shadow_written(t->shadow, access->offset, access->bytes, &any, &all);
    if (reads(t) && (t->code->op == SLRI_CODE_COPY ? !any : !all))
        report_unset(t);
    if (access->is_write || !all)
        slri_shadow_write(t->shadow, access->offset, access->bytes);
}

// ---- accesses ------------------------------------------------------------------------------------------------------

static struct slri_shadow *shadow_of(struct slri_run *run, struct slri_check_block *block, struct slri_root root)
{
    switch (root.kind) {
    case SLRI_ROOT_SHARED:
        return &block->shared[root.index];
    case SLRI_ROOT_DYNAMIC:
        return &block->shared[run->module->shareds];
    case SLRI_ROOT_BINDING:
        return run->entry->binding[root.index].is_buffer ? &run->buffer[root.index] : NULL;
    case SLRI_ROOT_STATE:
        return &run->state;
    default:
        return NULL;
    }
}

// x[threadIdx.x - 1] of thread 0: an index below zero, as 32 bits without a sign have it.
static bool is_wrapped(uint64_t offset, uint64_t element)
{
    uint64_t index = offset / element;
    return index <= UINT32_MAX && index > INT32_MAX;
}

static void learn_reach(struct slri_run *run, const struct slri_access *access)
{
    bool is_buffer = access->root.kind == SLRI_ROOT_BINDING && access->root.index < SLRI_SOURCES_MAX;
    if ((!is_buffer && access->root.kind != SLRI_ROOT_DYNAMIC) || (int64_t)access->offset < 0)
        return;
    uint64_t *reach = is_buffer ? &run->lessons->reach[access->root.index] : &run->lessons->shared_reach;
    uint64_t end = access->offset + access->bytes;
    if (is_buffer && is_wrapped(access->offset, run->entry->binding[access->root.index].type->bytes))
        return;
    *reach = end > *reach ? end : *reach;
    if (is_buffer && access->is_atomic && access->is_write)
        run->lessons->counts[access->root.index] = true;
}

static void check_alignment(const struct touch *t)
{
    char element[SLRI_WORDS_BYTES], by[SLRI_WORDS_BYTES];
    if (t->code->op == SLRI_CODE_COPY || t->code->op == SLRI_CODE_ZERO || t->access->offset % t->access->bytes == 0)
        return;
    weigh(t, SLRI_C_MISALIGNED, 0, NULL);
    if (slri_findings_add(t->run->findings, SLRI_C_MISALIGNED, slri_run_where(t->run, t->code), &t->lane->place, NULL,
                          NULL))
        slri_findings_say(t->run->findings, "%s %s %llu bytes at byte %llu of %s",
                          slri_words_thread(t->run, &t->lane->place, by),
                          does(t->access->is_write, t->access->is_atomic), (unsigned long long)t->access->bytes,
                          (unsigned long long)t->access->offset,
                          slri_words_element(t->run, t->access->root, t->access->offset, element));
}

static struct slri_word *word_of(struct touch *t)
{
    struct slri_run *run = t->run;
    bool is_global = t->access->root.kind == SLRI_ROOT_BINDING;
    uint64_t root = is_global ? t->access->root.index : 64 + t->access->root.index;
    uint64_t key = t->access->offset << 8 ^ root ^ (is_global ? 0 : (t->block->number + 1) << 40);
    struct slri_word **chain = &run->word[key * UINT64_C(0x9e3779b97f4a7c15) >> 56];
    for (struct slri_word *word = *chain; word; word = word->next)
        if (word->key == key)
            return word;
    struct slri_word *made = slri_region_take(run->region, sizeof *made);
    if (made == NULL)
        return NULL;
    *made = (struct slri_word){.key = key, .next = *chain};
    return *chain = made;
}

// An atomic publishes what its thread has fenced; with an order of its own it is the fence too.
static void publish(struct touch *t)
{
    struct slri_ordering *order = &t->block->order;
    uint32_t number = t->thread->number;
    bool is_release = t->code->order == SLRI_RELEASE || t->code->order >= SLRI_ACQ_REL;
    bool writes = t->code->op != SLRI_CODE_ATOMIC_LOAD, loads = t->code->op != SLRI_CODE_ATOMIC_STORE;
    if (is_release && writes)
        slri_order_fence(order, number);
    bool publishes = writes && (order->fenced.count > 0 || order->thread[number].fenced.count > 0);
    struct slri_word *word = word_of(t);
    if (word != NULL && (publishes || word->past.count > 0))
        slri_order_atomic(order, number, &word->past, loads, publishes);
}

// Where in the block's shared memory the object lies decides about its banks.
static void count_traffic(const struct touch *t)
{
    const struct slri_access *access = t->access;
    const struct slri_entry *entry = t->run->entry;
    bool is_shared = access->root.kind != SLRI_ROOT_BINDING;
    uint64_t base = access->root.kind == SLRI_ROOT_SHARED    ? slri_entry_shared(entry, access->root.index)
                    : access->root.kind == SLRI_ROOT_DYNAMIC ? entry->shared_bytes
                                                             : 0;
    if (!(is_shared && access->is_atomic))
        slri_traffic_access(t->run->traffic, is_shared, base + access->offset, access->bytes);
}

static void touch(struct touch *t)
{
    const struct slri_access *access = t->access;
    learn_reach(t->run, access);
    t->shadow = shadow_of(t->run, t->block, access->root);
    if (t->shadow == NULL || access->offset > t->shadow->bytes || access->bytes > t->shadow->bytes - access->offset)
        return;
    if (t->run->traffic != NULL)
        count_traffic(t);
    check_alignment(t);
    if (access->is_atomic)
        publish(t);
    check_written(t);
    check_races(t);
}

static const unsigned char *memory_of(const struct slri_interp_thread *thread, const struct slri_code *code)
{
    const struct slri_span *span = &thread->span[code->root];
    return (const unsigned char *)((uintptr_t)span->base + thread->frame->reg[code->a].u64); // it may lead astray
}

static void touch_all(struct slri_run *run, struct slri_check_block *block, struct slri_check_lane *lane,
                      const struct slri_interp_thread *thread, const struct slri_code *code)
{
    struct slri_access access[2];
    uint32_t count = slri_watch_access(thread, code, access);
    if (count == 0)
        return;
    bool is_astray = lane->is_astray;
    lane->is_astray = false;
    for (uint32_t i = count; i-- > 0 && !is_astray;) { // a copy reads first
        if (access[i].root.kind == SLRI_ROOT_LOCAL || access[i].bytes == 0)
            continue;
        struct touch t = {.run = run, .block = block, .lane = lane, .thread = thread, .code = code};
        t.access = &access[i];
        if (code->table == SLRI_SPANS_OF_CALL)
            t.memory = memory_of(thread, code);
        address_from(run, lane, thread, code);
        touch(&t);
    }
}

// ---- steps ---------------------------------------------------------------------------------------------------------

static bool is_function_end(const struct slri_run *run, const struct slri_code *code)
{
    uint32_t next = (uint32_t)(code - run->flat->code) + 1;
    for (uint32_t i = 0; i < run->module->functions; i++)
        if (run->flat->function[i].start == next)
            return true;
    return next == run->flat->count;
}

static void step(void *user, const struct slri_interp_thread *thread, const struct slri_code *code)
{
    struct slri_run *run = user;
    struct slri_check_block *block = block_of(run, number_of(run, thread));
    struct slri_check_lane *lane = &block->lane[thread->number];
    slri_values_step(run, lane, thread, code);
    if (code->op == SLRI_CODE_JUMP_IF_ZERO && run->traffic != NULL)
        slri_traffic_jump(run->traffic, thread->frame->reg[code->a].i32 == 0);
    if (code->op == SLRI_CODE_BARRIER)
        block->arrived++;
    else if (code->op == SLRI_CODE_FENCE)
        slri_order_fence(&block->order, thread->number);
    else if (code->op == SLRI_CODE_RETURN && thread->frame->caller == NULL && !is_function_end(run, code))
        lane->has_returned = true, block->returned++;
    else
        touch_all(run, block, lane, thread, code);
}

static void together(void *user, uint64_t number, uint32_t first, uint32_t lanes, const struct slri_code *code)
{
    (void)number, (void)first;
    slri_traffic_step(((struct slri_run *)user)->traffic, lanes, code);
}

static void lift(void *user, uint64_t number, const struct slri_code *barrier)
{
    struct slri_run *run = user;
    struct slri_check_block *block = block_of(run, number);
    uint32_t missing = run->threads - block->arrived, passed = missing - block->returned;
    slri_order_barrier(&block->order);
    block->arrived = 0;
    if (missing == 0)
        return;
    uint32_t first = 0;
    while (first + 1 < run->threads && block->lane[first].has_returned)
        first++;
    unsigned code = passed ? SLRI_C_BARRIER_PASSED : SLRI_C_BARRIER_RETURNED;
    slri_run_weigh(run, &(struct slri_evidence){code, 0, UINT32_MAX, false, &block->lane[first].place, NULL});
    if (slri_findings_add(run->findings, passed ? SLRI_C_BARRIER_PASSED : SLRI_C_BARRIER_RETURNED,
                          slri_run_where(run, barrier), &block->lane[first].place, NULL, NULL))
        slri_findings_say(
            run->findings, "%u of the %u threads of block (%u, %u, %u) ended without reaching this barrier", missing,
            run->threads, block->lane[0].place.block[0], block->lane[0].place.block[1], block->lane[0].place.block[2]);
}

static void warp_done(void *user, uint64_t number, uint32_t first, uint32_t lanes, const struct slri_code *code)
{
    if (code->imm == SLRI_WARP_SYNC)
        slri_order_warp(&block_of(user, number)->order, first, lanes);
}

// ---- faults --------------------------------------------------------------------------------------------------------

// Whether the address was computed from what generated buffers hold; they learn what their elements may be.
static bool by_data(struct slri_run *run, uint64_t from, uint64_t limit)
{
    bool is_made = false;
    for (uint32_t i = 0; i < run->entry->bindings && i < SLRI_SOURCES_MAX; i++) {
        if (!(from & SLRI_FROM_BUFFER(i)) || !run->is_made[i])
            continue;
        is_made = true;
        if (limit < run->lessons->limit[i])
            run->lessons->limit[i] = limit;
    }
    return is_made;
}

static void report_access(struct slri_run *run, struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                          const struct slri_code *code)
{
    struct slri_access access[2];
    uint32_t count = slri_watch_access(thread, code, access), which = 0;
    const struct slri_span *call = thread->span, *frame = thread->frame->span;
    uint64_t room = (code->table == SLRI_SPANS_OF_FRAME ? frame : call)[code->root].bytes;
    if (count == 2 && access[0].offset <= room && access[0].bytes <= room - access[0].offset) {
        which = 1;
        room = (code->table2 == SLRI_SPANS_OF_FRAME ? frame : call)[code->u.root2].bytes;
    }
    struct slri_root root = access[which].root;
    bool is_buffer = root.kind == SLRI_ROOT_BINDING;
    uint64_t element = is_buffer ? run->entry->binding[root.index].type->bytes : access[which].bytes;
    slri_reg address = which == 0 ? code->a : code->b;
    unsigned number = by_data(run, slri_values_of(lane, thread, address), room / element) ? SLRI_C_OUTSIDE_BY_DATA
                      : is_buffer && run->is_short[root.index] && (int64_t)access[which].offset >= 0
                          ? SLRI_C_NEEDS_PADDING
                      : is_buffer ? SLRI_C_OUTSIDE_BUFFER
                                  : SLRI_C_OUTSIDE_ARRAY;
    char words[SLRI_WORDS_BYTES], by[SLRI_WORDS_BYTES];
    uint32_t buffer = !is_buffer ? UINT32_MAX : root.index < SLRI_SOURCES_MAX ? root.index : SLRI_SOURCES_MAX - 1;
    slri_run_weigh(run, &(struct slri_evidence){number, slri_values_of(lane, thread, address), buffer,
                                                (int64_t)access[which].offset < 0 ||
                                                    (is_buffer && is_wrapped(access[which].offset, element)),
                                                &lane->place, NULL});
    if (slri_findings_add(run->findings, number, slri_run_where(run, code), &lane->place, NULL, NULL))
        slri_findings_say(run->findings, "%s %s %s, and %s has %llu %s", slri_words_thread(run, &lane->place, by),
                          does(access[which].is_write, access[which].is_atomic),
                          slri_words_element(run, root, access[which].offset, words), slri_words_root(run, root),
                          (unsigned long long)(is_buffer ? room / element : room), is_buffer ? "elements" : "bytes");
}

// The object that a failed test of an index was for: what the next access on its line touches.
static const char *indexed_name(const struct slri_run *run, const struct slri_interp_thread *thread,
                                const struct slri_code *code)
{
    struct slri_access access[2];
    struct slri_where where = slri_run_where(run, code);
    for (const struct slri_code *at = code + 1; at < run->flat->code + run->flat->count && at < code + 12; at++)
        if (slri_run_where(run, at).line == where.line && slri_watch_access(thread, at, access) > 0)
            return slri_words_root(run, access[0].root);
    return "an array";
}

static void report_index(struct slri_run *run, struct slri_check_lane *lane, const struct slri_interp_thread *thread,
                         const struct slri_code *code)
{
    char by[SLRI_WORDS_BYTES];
    unsigned number =
        by_data(run, slri_values_of(lane, thread, code->a), code->imm) ? SLRI_C_OUTSIDE_BY_DATA : SLRI_C_OUTSIDE_ARRAY;
    lane->is_astray = true;
    slri_run_weigh(run, &(struct slri_evidence){number, slri_values_of(lane, thread, code->a), UINT32_MAX,
                                                thread->frame->reg[code->a].i64 < 0, &lane->place, NULL});
    if (slri_findings_add(run->findings, number, slri_run_where(run, code), &lane->place, NULL, NULL))
        slri_findings_say(run->findings, "%s indexes %s with %lld; the valid range is 0 to %llu",
                          slri_words_thread(run, &lane->place, by), indexed_name(run, thread, code),
                          (long long)thread->frame->reg[code->a].i64, (unsigned long long)(code->imm - 1));
}

static bool fault(void *user, const struct slri_interp_thread *thread, const struct slri_code *code, uint32_t which)
{
    struct slri_run *run = user;
    struct slri_check_lane *lane = &block_of(run, number_of(run, thread))->lane[thread->number];
    char by[SLRI_WORDS_BYTES];
    if (which == SLRI_FAULT_ACCESS)
        report_access(run, lane, thread, code);
    else if (which == SLRI_FAULT_INDEX)
        report_index(run, lane, thread, code);
    else {
        uint64_t from = slri_values_of(lane, thread, code->b);
        slri_run_weigh(run,
                       &(struct slri_evidence){SLRI_C_DIVISION_BY_ZERO, from, UINT32_MAX, false, &lane->place, NULL});
        if (slri_findings_add(run->findings, SLRI_C_DIVISION_BY_ZERO, slri_run_where(run, code), &lane->place, NULL,
                              NULL))
            slri_findings_say(run->findings, "%s divides by zero", slri_words_thread(run, &lane->place, by));
    }
    return true;
}

void slri_run_judge(struct slri_run *run, const struct slri_grid_end *end)
{
    static const struct {
        uint32_t fault;
        unsigned code;
        const char *text;
    } ends[] = {
        {SLRI_FAULT_BARRIER, SLRI_C_BARRIER_DIVERGED,
         "%s waits at this barrier while other threads of its block wait at another"},
        {SLRI_FAULT_WARP, SLRI_C_WARP_DIVERGED,
         "%s waits for lanes of its warp that do not reach this call, or is not in its mask"},
        {SLRI_FAULT_FUEL, SLRI_C_ENDLESS,
         "%s has not ended when its loop iterations, or the launch's steps, are used up"},
        {SLRI_FAULT_ASSERT, SLRI_C_ASSERTION, "the assertion fails in %s"},
        {SLRI_FAULT_TRAP, SLRI_C_TRAPPED, "%s ends the kernel"},
        {SLRI_FAULT_REPLIES, SLRI_C_TOO_MANY_SENDS, "%s has more than 64 replies"},
        {SLRI_FAULT_SENDS, SLRI_C_TOO_MANY_SENDS, "%s sends more than 64 times through one output channel"},
    };
    struct slri_check_thread by, other;
    memcpy(by.block, end->at.block, sizeof by.block);
    memcpy(by.thread, end->at.thread, sizeof by.thread);
    memcpy(other.block, end->other.block, sizeof other.block);
    memcpy(other.thread, end->other.thread, sizeof other.thread);
    char words[SLRI_WORDS_BYTES], text[SLRI_WORDS_BYTES * 2];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        bool is_cut = end->fault == SLRI_FAULT_FUEL && end->instructions >= run->grid->limit;
        if (ends[i].fault == end->fault)
            slri_run_weigh(run, &(struct slri_evidence){ends[i].code, is_cut ? SLRI_FROM_STEPS : 0, UINT32_MAX, false,
                                                        &by, &other});
        if (ends[i].fault != end->fault || !slri_findings_add(run->findings, ends[i].code, end->at.where, &by,
                                                              end->other.where.line ? &end->other.where : NULL, &other))
            continue;
        slri_words_thread(run, &run->findings->list[run->findings->count - 1].by, words);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, ends[i].text, words);
#pragma GCC diagnostic pop
        slri_findings_say(run->findings, "%s", text);
    }
}

// ---- preparing -----------------------------------------------------------------------------------------------------

static bool is_narrow(const struct slri_code *code)
{
    if (code->op == SLRI_CODE_COPY || code->op == SLRI_CODE_ZERO)
        return code->imm % 4 != 0;
    bool loads = code->op >= SLRI_CODE_LOAD_BOOL && code->op <= SLRI_CODE_LOAD_BF16;
    unsigned kind = SLRI_BOOL + code->op - (loads ? SLRI_CODE_LOAD_BOOL : SLRI_CODE_STORE_BOOL);
    return slri_kind_bytes((enum slri_kind)kind) < 4;
}

static uint32_t granule_of(const struct slri_run *run, uint32_t span)
{
    for (uint32_t i = 0; i < run->flat->count; i++) {
        const struct slri_code *code = &run->flat->code[i];
        bool is_access = code->op >= SLRI_CODE_LOAD_BOOL && code->op <= SLRI_CODE_STORE_BF16;
        bool is_copy = code->op == SLRI_CODE_COPY || code->op == SLRI_CODE_ZERO;
        bool is_it = code->table == SLRI_SPANS_OF_CALL && code->root == span;
        is_it |= code->op == SLRI_CODE_COPY && code->table2 == SLRI_SPANS_OF_CALL && code->u.root2 == span;
        if ((is_access || is_copy) && is_it && is_narrow(code))
            return 1;
    }
    return 4;
}

static bool prepare_block(struct slri_run *run, struct slri_check_block *block)
{
    const struct slri_module *module = run->module;
    const uint32_t index = run->entry->function->index;
    uint64_t words = run->flat->function[index].stack_bytes / 8 + 1;
    block->order = (struct slri_ordering){.region = run->region, .threads = run->threads};
    block->order.thread = slri_region_take(run->region, run->threads * sizeof *block->order.thread);
    block->lane = slri_region_take(run->region, run->threads * sizeof *block->lane);
    block->shared = slri_region_take(run->region, (module->shareds + 1) * sizeof *block->shared);
    uint64_t *value = slri_region_take(run->region, run->threads * words * sizeof *value);
    if (!block->order.thread || !block->lane || !block->shared || !value)
        return false;
    for (uint32_t i = 0; i < run->threads; i++)
        block->lane[i].value = value + i * words;
    for (uint32_t i = 0; i <= module->shareds; i++) {
        uint64_t bytes = i == module->shareds ? run->grid->dynamic_shared : module->shared[i].type->bytes;
        if (!slri_shadow_create(&block->shared[i], run->region, bytes, granule_of(run, slri_span_of_shared(module, i))))
            return false;
    }
    return true;
}

bool slri_run_prepare(struct slri_run *run, struct slri_watch *watch)
{
    const struct slri_grid *g = run->grid;
    run->threads = g->block[0] * g->block[1] * g->block[2];
    run->residents = g->resident;
    run->block = slri_region_take(run->region, run->residents * sizeof *run->block);
    run->buffer = slri_region_take(run->region, (run->entry->bindings + 1) * sizeof *run->buffer);
    run->address_from = slri_region_take(run->region, (run->flat->count + 1) * sizeof *run->address_from);
    if (!run->block || !run->buffer || !run->address_from)
        return false;
    for (uint32_t i = 0; i < run->residents; i++)
        if (!prepare_block(run, &run->block[i]))
            return false;
    uint64_t state = run->entry->state ? run->entry->state->bytes : 0;
    if (!slri_shadow_create(&run->state, run->region, state, granule_of(run, SLRI_SPAN_STATE)))
        return false;
    for (uint32_t i = 0; i < run->entry->bindings; i++)
        if (!slri_shadow_create(&run->buffer[i], run->region, g->arg[i].bytes,
                                granule_of(run, slri_span_of_binding(run->module, i))))
            return false;
    *watch = (struct slri_watch){.user = run,
                                 .step = step,
                                 .lift = lift,
                                 .open = open_block,
                                 .close = close_block,
                                 .warp = warp_done,
                                 .together = run->traffic ? together : NULL,
                                 .fault = fault};
    return true;
}

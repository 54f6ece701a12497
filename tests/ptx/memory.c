// SPDX-License-Identifier: Apache-2.0
// Where a store is until all see it, and what a block has read before: the freedom that PTX's memory model gives.
//
// A store goes to the thread's own late words, from there to those of its block, from there to memory; each step comes
// at a random time, in any order of words. A release or a fence takes as many steps as its scope asks for. Plain loads
// come by lines of 128 bytes that the block keeps; an acquire or a fence for more than the block forgets them.
#define _POSIX_C_SOURCE 200809L
#include "tests/ptx/inside.h"

#include <string.h>
#include <time.h>

#define NOWHERE 1       // where no line begins
#define SEEN_NS 1000000 // many looks of a thread that waits for it

#define ORDER(order) ((order) == PTX_RELEASE || (order) == PTX_ACQ_REL || (order) == PTX_SC)
#define ACQUIRES(order) ((order) == PTX_ACQUIRE || (order) == PTX_ACQ_REL || (order) == PTX_SC)

static uint64_t bits_of(uint8_t mask)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < 8; ++i)
        bits |= (uint64_t)(mask >> i & 1 ? 0xff : 0) << (8 * i);
    return bits;
}

bool ptx_is_shared(uintptr_t at)
{
    return at - (uintptr_t)ptx_block->shared < ptx_block->shared_bytes;
}

static bool is_stack(uintptr_t at)
{
    return at - (uintptr_t)ptx_block->stacks < (uintptr_t)ptx_block->lanes * PTX_STACK;
}

// ---- a word of memory ----------------------------------------------------------------------------------------------

static uint64_t look(uintptr_t at)
{
    return __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
}

// In as few pieces as they are whole: who reads a float must not see half of it.
static void put_bytes(uintptr_t at, uint64_t bytes, uint8_t mask)
{
    if (mask == 0xff) {
        __atomic_store_n((uint64_t *)at, bytes, __ATOMIC_RELEASE);
        return;
    }
    for (unsigned i = 0; i < 8;) {
        unsigned four = mask >> i & 0xf, two = mask >> i & 3;
        if (i % 4 == 0 && four == 0xf) {
            __atomic_store_n((uint32_t *)(at + i), (uint32_t)(bytes >> 8 * i), __ATOMIC_RELEASE);
            i += 4;
        } else if (i % 2 == 0 && two == 3) {
            __atomic_store_n((uint16_t *)(at + i), (uint16_t)(bytes >> 8 * i), __ATOMIC_RELEASE);
            i += 2;
        } else {
            if (mask >> i & 1)
                __atomic_store_n((uint8_t *)(at + i), (uint8_t)(bytes >> 8 * i), __ATOMIC_RELEASE);
            ++i;
        }
    }
}

// ---- lines that were read ------------------------------------------------------------------------------------------

static struct ptx_line *line_of(uintptr_t at)
{
    return &ptx_block->line[at / 128 % PTX_LINES];
}

static void forget_lines(void)
{
    for (unsigned i = 0; i < PTX_LINES; ++i)
        ptx_block->line[i].at = NOWHERE;
}

// What this block has just seen or written it sees.
static void refresh(uintptr_t at, uint64_t bytes, uint64_t bits)
{
    struct ptx_line *line = line_of(at);
    uint64_t *word = &line->word[at % 128 / 8];
    if (line->at == at / 128 * 128)
        *word = (*word & ~bits) | (bytes & bits);
}

static uint64_t read_plain(uintptr_t at)
{
    struct ptx_line *line = line_of(at);
    uintptr_t begin = at / 128 * 128;
    if (line->at != begin) {
        for (unsigned i = 0; i < 16; ++i)
            line->word[i] = look(begin + 8 * i);
        line->at = begin;
    }
    return line->word[at % 128 / 8];
}

// ---- late words ----------------------------------------------------------------------------------------------------

#define GONE 1 // no word's address: what stood here went on alone

static struct ptx_late *slot_of(uintptr_t at)
{
    uint32_t i = (uint32_t)(at / 8 * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PTX_BLOCK_LATE;
    while (ptx_block->word[i].at != 0 && ptx_block->word[i].at != at)
        i = (i + 1) % PTX_BLOCK_LATE;
    return &ptx_block->word[i];
}

static void to_memory(const struct ptx_late *late)
{
    put_bytes(late->at, late->bytes, late->mask);
    refresh(late->at, late->bytes, bits_of(late->mask));
}

void ptx_drain_block(void)
{
    struct ptx_block *b = ptx_block;
    uint32_t from = (uint32_t)ptx_draw();
    for (uint32_t i = 0; i < PTX_BLOCK_LATE && b->late != 0; ++i) {
        struct ptx_late *late = &b->word[(i + from) % PTX_BLOCK_LATE];
        if (late->at == 0)
            continue;
        if (late->at != GONE)
            to_memory(late);
        late->at = 0;
        --b->late;
    }
}

// One word goes on alone.
static void drain_word(uintptr_t at)
{
    struct ptx_late *late = ptx_block->late != 0 ? slot_of(at) : NULL;
    if (!late || late->at != at)
        return;
    to_memory(late);
    late->at = GONE;
}

// Soon, later, or much later.
static uint32_t draw_due(void)
{
    uint64_t random = ptx_draw();
    static const uint32_t most[] = {4, 64, 400, 2000};
    return ptx_block->tick + 1 + (uint32_t)(random >> 8) % most[random % 4];
}

static void put_late(struct ptx_late *late, uintptr_t at, uint64_t bytes, uint8_t mask)
{
    uint64_t bits = bits_of(mask);
    if (late->at != at)
        *late = (struct ptx_late){.at = at, .due = draw_due()};
    late->bytes = (late->bytes & ~bits) | (bytes & bits);
    late->mask |= mask;
    if ((int32_t)(late->due - ptx_block->next_due) < 0)
        ptx_block->next_due = late->due;
}

// From a thread to its block. What is the block's own memory ends there.
static void to_block(const struct ptx_late *late)
{
    struct ptx_block *b = ptx_block;
    if (ptx_is_shared(late->at)) {
        put_bytes(late->at, late->bytes, late->mask);
        return;
    }
    if (b->late > PTX_BLOCK_LATE / 2)
        ptx_drain_block();
    struct ptx_late *slot = slot_of(late->at);
    b->late += slot->at == 0;
    put_late(slot, late->at, late->bytes, late->mask);
}

static void drain_one(struct ptx_lane *lane, unsigned which)
{
    to_block(&lane->late[which]);
    lane->late[which] = lane->late[--lane->lates];
}

static void drain_lane(struct ptx_lane *lane)
{
    while (lane->lates != 0)
        drain_one(lane, (unsigned)(ptx_draw() % lane->lates));
}

static struct ptx_late *late_of(struct ptx_lane *lane, uintptr_t at)
{
    for (unsigned i = 0; i < lane->lates; ++i)
        if (lane->late[i].at == at)
            return &lane->late[i];
    return NULL;
}

void ptx_meet(struct ptx_lane *lane)
{
    drain_lane(lane);
}

static bool is_due(const struct ptx_late *late)
{
    return (int32_t)(ptx_block->tick - late->due) >= 0;
}

// A table with holes must not hide what lies behind one: all of it, or nothing.
static void drain_due_words(void)
{
    struct ptx_block *b = ptx_block;
    static __thread struct ptx_late kept[PTX_BLOCK_LATE];
    uint32_t keeps = 0;
    b->next_due = b->tick + 2000;
    for (uint32_t i = 0; i < PTX_BLOCK_LATE; ++i) {
        struct ptx_late *late = &b->word[i];
        if (late->at > GONE && is_due(late))
            to_memory(late);
        else if (late->at > GONE)
            kept[keeps++] = *late;
        late->at = 0;
    }
    b->late = keeps;
    for (uint32_t i = 0; i < keeps; ++i) {
        *slot_of(kept[i].at) = kept[i];
        if ((int32_t)(kept[i].due - b->next_due) < 0)
            b->next_due = kept[i].due;
    }
}

void ptx_drain_due(struct ptx_lane *warp, uint32_t lanes)
{
    for (uint32_t l = 0; l < lanes; ++l)
        for (unsigned i = warp[l].lates; i-- > 0;)
            if (is_due(&warp[l].late[i]))
                drain_one(&warp[l], i);
    if (ptx_block->late != 0 && (int32_t)(ptx_block->tick - ptx_block->next_due) >= 0)
        drain_due_words();
}

void ptx_memory_begins(void)
{
    memset(ptx_block->word, 0, sizeof ptx_block->word);
    ptx_block->late = 0;
    forget_lines();
}

// The word's bytes of all that this thread knows of.
static uint64_t overlaid(struct ptx_lane *lane, uintptr_t at, uint64_t bytes, bool is_block)
{
    const struct ptx_late *late = ptx_block->late != 0 && !is_block ? slot_of(at) : NULL;
    if (late && late->at == at)
        bytes = (bytes & ~bits_of(late->mask)) | (late->bytes & bits_of(late->mask));
    late = lane->lates != 0 ? late_of(lane, at) : NULL;
    if (late)
        bytes = (bytes & ~bits_of(late->mask)) | (late->bytes & bits_of(late->mask));
    return bytes;
}

// What is late there goes to memory first: an atomic function works on that.
static void settle(struct ptx_lane *lane, uintptr_t at)
{
    struct ptx_late *late = late_of(lane, at);
    if (late)
        drain_one(lane, (unsigned)(late - lane->late));
    if (!ptx_is_shared(at))
        drain_word(at);
}

// ---- accesses ------------------------------------------------------------------------------------------------------

static const char *const space_names[] = {"generic", "global", "shared", "local", "param", "const"};

static uintptr_t address_of(struct ptx_lane *lane, const struct ptx_ins *ins, unsigned operand)
{
    unsigned bytes = ins->type.bytes * (ins->vector ? ins->vector : 1u);
    uint64_t at = ptx_need(lane, &ins->op[operand], "an address") + ins->op[operand + 1].value;
    if (at % bytes != 0)
        ptx_wrong(lane, PTX_ACCESS, "address %#llx is not aligned", (unsigned long long)at);
    if (ins->space == PTX_SHARED) {
        uint32_t own = ptx_block->image->shared_bytes, more = ptx_block->launch->dynamic_shared;
        at = (uint32_t)at;
        if (at + bytes > own && (at < PTX_DYNAMIC_AT || at + bytes > PTX_DYNAMIC_AT + more))
            ptx_wrong(lane, PTX_ACCESS, "shared memory has no address %#llx", (unsigned long long)at);
        return (uintptr_t)ptx_block->shared + at;
    }
    bool is_own = at - (uintptr_t)lane->stack < PTX_STACK;
    if ((is_stack(at) && !is_own) || (ins->space == PTX_LOCAL && !is_own) ||
        (ins->space == PTX_GLOBAL && (is_own || ptx_is_shared(at))))
        ptx_wrong(lane, PTX_ACCESS, "address %#llx is not this thread's %s memory", (unsigned long long)at,
                  space_names[ins->space]);
    return at;
}

static bool is_private(const struct ptx_ins *ins, uintptr_t at)
{
    return ins->space == PTX_PARAM || ins->space == PTX_LOCAL || is_stack(at);
}

static uint64_t read_word(struct ptx_lane *lane, const struct ptx_ins *ins, uintptr_t at)
{
    bool is_block = ptx_is_shared(at);
    uint64_t bytes;
    if (is_block || ins->space == PTX_CONST)
        bytes = look(at);
    else if (ins->order == PTX_WEAK)
        bytes = read_plain(at);
    else {
        if (ACQUIRES(ins->order) && ins->scope != PTX_CTA)
            forget_lines();
        bytes = look(at);
        refresh(at, bytes, UINT64_MAX);
    }
    return overlaid(lane, at, bytes, is_block);
}

static uint64_t widened(uint64_t bits, struct ptx_type type)
{
    const unsigned drop = 64 - 8u * type.bytes;
    return type.class == PTX_S ? (uint64_t)((int64_t)(bits << drop) >> drop) : bits << drop >> drop;
}

void ptx_load(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    const unsigned bytes = ins->type.bytes;
    uintptr_t at = address_of(lane, ins, 1);
    for (unsigned i = 0; i < ins->vector; ++i, at += bytes) {
        uint64_t value = 0;
        if (is_private(ins, at))
            memcpy(&value, (const void *)at, bytes);
        else {
            value = read_word(lane, ins, at & ~(uintptr_t)7) >> 8 * (at % 8);
            if (ins->order != PTX_WEAK)
                ptx_race_learn(lane, at, ins);
            ptx_race_touch(lane, at, bytes, ins->order == PTX_WEAK ? PTX_LOADS : PTX_LOOKS, 0);
        }
        ptx_write(lane, ins->vector > 1 ? &ins->part[i] : &ins->op[0], widened(value, ins->type), true);
    }
}

// A store that is not plain may be seen before all that are late: for a while it is.
static void overtake(struct ptx_lane *lane, uintptr_t word, uint64_t bytes, uint8_t mask)
{
    settle(lane, word);
    put_bytes(word, bytes, mask);
    refresh(word, bytes, bits_of(mask));
    if (ptx_block->launch->goes_on && ptx_race_owes(lane)) // the host looks on
        nanosleep(&(struct timespec){.tv_nsec = SEEN_NS}, NULL);
}

static void store_one(struct ptx_lane *lane, const struct ptx_ins *ins, uintptr_t at, uint64_t value)
{
    const unsigned bytes = ins->type.bytes;
    if (is_private(ins, at)) {
        memcpy((void *)at, &value, bytes);
        return;
    }
    uintptr_t word = at & ~(uintptr_t)7;
    uint8_t mask = (uint8_t)(((1u << bytes) - 1) << at % 8);
    uint64_t shifted = value << 8 * (at % 8);
    (void)*(volatile unsigned char *)at; // what is not there is told here
    if (ins->order == PTX_WEAK && !ptx_is_shared(at))
        ptx_race_stored(lane);
    if (ins->order != PTX_WEAK)
        ptx_race_tell(lane, at, ins, false);
    ptx_race_touch(lane, at, bytes, ins->order == PTX_WEAK ? PTX_STORES : PTX_PUTS, value);
    if (ins->order == PTX_RELAXED && !ptx_is_shared(at) && ptx_draw() % 4 != 0) {
        overtake(lane, word, shifted, mask);
        return;
    }
    struct ptx_late *late = late_of(lane, word);
    if (!late) {
        if (lane->lates == PTX_LATE)
            drain_one(lane, (unsigned)(ptx_draw() % PTX_LATE));
        late = &lane->late[lane->lates++];
        late->at = 0;
    }
    put_late(late, word, shifted, mask);
}

// For who asks what a release was for (mutants.sh).
static void note_order(const struct ptx_lane *lane)
{
    if (ptx_race_owes(lane))
        __atomic_store_n(&ptx_block->image->ins[ptx_block->at].matters, true, __ATOMIC_RELAXED);
    ptx_race_released(lane);
}

// Behind all that this thread has seen and done.
void ptx_fence(struct ptx_lane *lane, unsigned order, unsigned scope)
{
    if (ORDER(order)) {
        drain_lane(lane);
        note_order(lane);
    }
    if (scope == PTX_CTA)
        return;
    if (ORDER(order))
        ptx_drain_block();
    if (ACQUIRES(order))
        forget_lines();
}

void ptx_store(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    uintptr_t at = address_of(lane, ins, 0);
    if (ins->order == PTX_RELEASE)
        ptx_fence(lane, PTX_RELEASE, ins->scope);
    for (unsigned i = 0; i < ins->vector; ++i) {
        const struct ptx_operand *op = ins->vector > 1 ? &ins->part[i] : &ins->op[2];
        uintptr_t to = at + i * ins->type.bytes;
        bool is_set = true;
        uint64_t value = is_private(ins, to) ? ptx_read(lane, op, &is_set) : ptx_need(lane, op, "what is stored");
        store_one(lane, ins, to, is_set ? value : UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    if (ins->order == PTX_RELEASE)
        ptx_fence(lane, PTX_RELEASE, ins->scope); // no later than others might see it
}

// ---- atomic functions ----------------------------------------------------------------------------------------------

static uint64_t added(uint64_t a, uint64_t b, struct ptx_type type)
{
    if (type.class != PTX_F)
        return a + b;
    if (type.bytes == 8) {
        double x, y;
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
        x += y;
        memcpy(&a, &x, 8);
        return a;
    }
    float x, y;
    uint32_t low = (uint32_t)a;
    memcpy(&x, &low, 4);
    low = (uint32_t)b;
    memcpy(&y, &low, 4);
    x += y;
    memcpy(&low, &x, 4);
    return low;
}

static uint64_t changed(const struct ptx_ins *ins, uint64_t was, uint64_t b, uint64_t c)
{
    uint64_t a = widened(was, ins->type), bits = UINT64_MAX >> (64 - 8u * ins->type.bytes);
    bool is_less = ins->type.class == PTX_S ? (int64_t)a < (int64_t)widened(b, ins->type) : a < (b & bits);
    switch (ins->what) {
    case PTX_ADD:
        return added(a, b, ins->type);
    case PTX_MIN:
        return is_less ? a : b;
    case PTX_MAX:
        return is_less ? b : a;
    case PTX_AND:
        return a & b;
    case PTX_OR:
        return a | b;
    case PTX_XOR:
        return a ^ b;
    case PTX_EXCH:
        return b;
    case PTX_CAS:
        return a == (b & bits) ? c : a;
    case PTX_INC:
        return a >= (b & bits) ? 0 : a + 1;
    default: // PTX_DEC
        return a == 0 || a > (b & bits) ? b : a - 1;
    }
}

static uint64_t exchange(const struct ptx_ins *ins, uintptr_t at, uint64_t b, uint64_t c)
{
    if (ins->type.bytes == 8) {
        uint64_t was = look(at);
        while (!__atomic_compare_exchange_n((uint64_t *)at, &was, changed(ins, was, b, c), false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST))
            continue;
        return was;
    }
    if (ins->type.bytes == 4) {
        uint32_t was = __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
        while (!__atomic_compare_exchange_n((uint32_t *)at, &was, (uint32_t)changed(ins, was, b, c), false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        return was;
    }
    uint16_t was = __atomic_load_n((uint16_t *)at, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n((uint16_t *)at, &was, (uint16_t)changed(ins, was, b, c), false,
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        continue;
    return was;
}

// An atom has a result before its address, a red none.
void ptx_atomic(struct ptx_lane *lane, const struct ptx_ins *ins)
{
    unsigned first = ins->words[0] == 'r' || strncmp(ins->words, "red", 3) == 0 ? 0 : 1;
    uintptr_t at = address_of(lane, ins, first);
    uint64_t b = ptx_need(lane, &ins->op[first + 2], "an atomic function's operand"), c = 0;
    if (ins->what == PTX_CAS)
        c = ptx_need(lane, &ins->op[first + 3], "an atomic function's operand");
    uintptr_t word = at & ~(uintptr_t)7;
    ptx_fence(lane, ins->order, ins->scope);
    settle(lane, word);
    ptx_race_learn(lane, at, ins);
    ptx_race_touch(lane, at, ins->type.bytes, ins->what == PTX_CAS ? PTX_SWAPS : PTX_CHANGES, 0);
    ptx_race_tell(lane, at, ins, true);
    uint64_t was = exchange(ins, at, b, c);
    ptx_race_learn(lane, at, ins); // who told it between the two
    if (!ptx_is_shared(at))
        refresh(word, look(word), UINT64_MAX);
    if (first == 1)
        ptx_write(lane, &ins->op[0], was, true);
}

void ptx_read_bytes(struct ptx_lane *lane, uintptr_t at, void *to, size_t bytes)
{
    const struct ptx_ins plain = {.order = PTX_WEAK};
    for (size_t i = 0; i < bytes; ++i, ++at) {
        if (is_stack(at))
            memcpy((char *)to + i, (const void *)at, 1);
        else
            ((char *)to)[i] = (char)(read_word(lane, &plain, at & ~(uintptr_t)7) >> 8 * (at % 8));
    }
}

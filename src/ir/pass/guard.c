// SPDX-License-Identifier: Apache-2.0
// In front of each loop's body stands a count. At every SLRI_GUARD_STEP-th iteration the thread looks whether its fuel
// is out, and whether somebody has gone wrong. Loops whose threads wait for each other must be left by all of them
// together: there all threads ask at once.
#include "ir/pass/guard.h"

#include "ir/assigned.h"
#include "ir/pass/lower.h"

#include <stddef.h>
#include <string.h>

struct guarding {
    struct slri_lowering l;
    struct slri_module *module;
    struct slri_function *tell;
    uint32_t variable;                 // the module's
    uint32_t bindings;                 // the most that a kernel has
    bool *is_reached;                  // by the function's index: by a kernel
    slri_reg *bytes;                   // by binding: how many, U64; NO_REG: nobody has asked
    const struct slri_assigned *value; // of the function's own registers
    struct slri_block *head;
    slri_reg turns[3], fuel; // by what waits in a loop: nothing, some, or the block, whose threads count alike
};

// What lies where.
struct access {
    struct slri_root root;
    slri_reg at;
    uint64_t bytes;
    bool writes;
};

// ---- the variable --------------------------------------------------------------------------------------------------

static struct slri_root variable_of(const struct guarding *g)
{
    return (struct slri_root){SLRI_ROOT_GLOBAL, g->variable};
}

static slri_reg load_word(struct guarding *g, enum slri_kind kind, uint64_t at)
{
    return slri_lower_load(&g->l, kind, variable_of(g), slri_lower_const(&g->l, SLRI_I64, at));
}

static void store_word(struct guarding *g, enum slri_kind kind, uint64_t at, slri_reg value)
{
    slri_lower_store(&g->l, kind, variable_of(g), slri_lower_const(&g->l, SLRI_I64, at), value);
}

// Nothing hangs on the order: the host reads when the launch is done, and a thread that sees it late goes on for a
// step.
static struct slri_instr *atomic_word(struct guarding *g, enum slri_op op, uint64_t at)
{
    const slri_reg offset = slri_lower_const(&g->l, SLRI_I64, at), dst = slri_lower_reg(&g->l, SLRI_U32);
    struct slri_instr *in = slri_lower_append(&g->l, op, SLRI_U32);
    in->root = variable_of(g);
    in->a = offset;
    in->dst = dst;
    in->order = SLRI_RELAXED;
    in->scope = SLRI_SCOPE_DEVICE;
    return in;
}

static bool add_variable(struct guarding *g)
{
    struct slri_module *module = g->module;
    struct slri_types *types = slri_types_create(module->region);
    struct slri_global *global = slri_region_take(module->region, (module->globals + (size_t)1) * sizeof *global);
    const uint64_t bytes = sizeof(struct slri_guard) + sizeof(uint64_t) * g->bindings;
    const struct slri_type *word = types ? slri_type_of(types, SLRI_U64) : NULL;
    const struct slri_type *type = word ? slri_type_array(types, word, bytes / sizeof(uint64_t)) : NULL;
    if (!global || !type)
        return false;
    if (module->globals)
        memcpy(global, module->global, module->globals * sizeof *global);
    g->variable = module->globals;
    global[module->globals++] =
        (struct slri_global){.name = SLRI_GUARD_NAME, .type = type, .offset = (module->global_bytes + 63) / 64 * 64};
    module->global_bytes = global[g->variable].offset + bytes;
    module->global = global;
    return true;
}

// ---- telling -------------------------------------------------------------------------------------------------------

enum { TELL_FOUND, TELL_FILE, TELL_LINE, TELL_ROOT_KIND, TELL_ROOT_INDEX, TELL_OFFSET, TELLS };
static const uint64_t tell_at[TELLS] = {offsetof(struct slri_guard, found),      offsetof(struct slri_guard, file),
                                        offsetof(struct slri_guard, line),       offsetof(struct slri_guard, root_kind),
                                        offsetof(struct slri_guard, root_index), offsetof(struct slri_guard, offset)};

// A function, which goes before all others: the first who calls it is noted.
static bool add_tell(struct guarding *g)
{
    static const char *const names[TELLS] = {"found", "file", "line", "root_kind", "root_index", "offset"};
    struct slri_module *module = g->module;
    struct slri_function *made = slri_region_take(module->region, sizeof *made);
    struct slri_function **all = slri_region_take(module->region, (module->functions + (size_t)1) * sizeof *all);
    if (!made || !all || !(made->param = slri_region_take(module->region, TELLS * sizeof *made->param)))
        return false;
    made->name = SLRI_GUARD_NAME "_tell";
    made->where = (struct slri_where){0, 1, 1};
    made->params = TELLS;
    made->uses = SLRI_USES_GLOBAL;
    g->l.function = made;
    g->l.where = made->where;
    g->l.block = made->body = slri_lower_block(&g->l);
    for (uint32_t i = 0; i < TELLS; i++)
        made->param[i] = (struct slri_param){
            .name = names[i], .reg = slri_lower_variable(&g->l, i == TELL_OFFSET ? SLRI_I64 : SLRI_U32, names[i])};
    slri_reg none = slri_lower_const(&g->l, SLRI_U32, SLRI_GUARDED_NONE);
    struct slri_instr *first = atomic_word(g, SLRI_OP_ATOMIC_CAS, tell_at[TELL_FOUND]);
    first->b = none;
    first->c = made->param[TELL_FOUND].reg;
    (void)slri_lower_if(&g->l, slri_lower_op(&g->l, SLRI_OP_EQ, SLRI_U32, first->dst, none), NULL);
    for (uint32_t i = TELL_FILE; i < TELLS; i++)
        store_word(g, i == TELL_OFFSET ? SLRI_I64 : SLRI_U32, tell_at[i], made->param[i].reg);
    memcpy(all + 1, module->function, module->functions * sizeof *all);
    all[0] = g->tell = made;
    module->function = all;
    ++module->functions;
    return true;
}

static void write_tell(struct guarding *g, enum slri_guarded found, struct slri_root root, slri_reg offset)
{
    const uint64_t value[TELL_OFFSET] = {found, g->l.where.file, g->l.where.line, root.kind, root.index};
    struct slri_arg *arg = slri_region_take(g->l.region, TELLS * sizeof *arg);
    if (!arg) {
        g->l.out_of_memory = true;
        return;
    }
    for (uint32_t i = 0; i < TELL_OFFSET; i++)
        arg[i].reg = slri_lower_const(&g->l, SLRI_U32, value[i]);
    arg[TELL_OFFSET].reg = offset;
    struct slri_instr *call = slri_lower_append(&g->l, SLRI_OP_CALL, SLRI_VOID);
    call->callee = g->tell;
    call->arg = arg;
    call->args = TELLS;
}

// ---- accesses ------------------------------------------------------------------------------------------------------

// What is the same for the whole function is computed where it begins.
static struct slri_block *to_head(struct guarding *g)
{
    struct slri_block *here = g->l.block;
    g->l.block = g->head;
    return here;
}

static slri_reg bytes_of_binding(struct guarding *g, uint32_t index)
{
    if (g->bytes[index] == SLRI_NO_REG) {
        struct slri_block *here = to_head(g);
        g->bytes[index] = load_word(g, SLRI_U64, sizeof(struct slri_guard) + sizeof(uint64_t) * index);
        g->l.block = here;
    }
    return g->bytes[index];
}

// 0: it is known at launch only.
static uint64_t known_bytes_of(const struct guarding *g, struct slri_root root)
{
    const struct slri_module *module = g->module;
    const struct slri_function *function = g->l.function;
    switch (root.kind) {
    case SLRI_ROOT_SHARED:
        return module->shared[root.index].type->bytes;
    case SLRI_ROOT_GLOBAL:
        return module->global[root.index].type->bytes;
    case SLRI_ROOT_CONST:
        return module->constant[root.index].type->bytes;
    case SLRI_ROOT_LOCAL:
        return function->local[root.index].type->bytes;
    case SLRI_ROOT_PARAM:
        return function->param[root.index].bytes;
    default:
        return 0;
    }
}

static slri_reg bytes_of(struct guarding *g, struct slri_root root)
{
    const uint64_t known = known_bytes_of(g, root);
    if (root.kind == SLRI_ROOT_BINDING)
        return bytes_of_binding(g, root.index);
    if (root.kind == SLRI_ROOT_DYNAMIC)
        return slri_lower_convert(&g->l, SLRI_U64, load_word(g, SLRI_U32, offsetof(struct slri_guard, dynamic_bytes)));
    return known ? slri_lower_const(&g->l, SLRI_U64, known) : SLRI_NO_REG; // a kernel has no other
}

static uint32_t accesses_of(const struct slri_instr *in, struct access out[2])
{
    const bool moves = in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO;
    const bool reads = in->op == SLRI_OP_LOAD || in->op == SLRI_OP_ATOMIC_LOAD;
    const bool writes = moves || in->op == SLRI_OP_STORE || in->op == SLRI_OP_ATOMIC_STORE ||
                        in->op == SLRI_OP_ATOMIC_RMW || in->op == SLRI_OP_ATOMIC_CAS;
    if (!reads && !writes)
        return 0;
    out[0] = (struct access){in->root, in->a, moves ? in->imm : slri_kind_bytes(in->kind), writes};
    out[1] = (struct access){in->root2, in->b, in->imm, false};
    return in->op == SLRI_OP_COPY ? 2 : 1;
}

// A constant offset into an object of known size: no run can leave the object there.
static bool is_surely_inside(const struct guarding *g, const struct access *access)
{
    uint64_t at;
    const uint64_t bytes = known_bytes_of(g, access->root);
    return slri_assigned_is_literal(&g->value[access->at], &at) && at < bytes && access->bytes <= bytes - at;
}

// I32. An offset below 0 is a large one.
static slri_reg write_inside(struct guarding *g, const struct access *access, slri_reg size)
{
    slri_reg at = slri_lower_convert(&g->l, SLRI_U64, access->at);
    slri_reg bytes = slri_lower_const(&g->l, SLRI_U64, access->bytes);
    slri_reg end = slri_lower_op(&g->l, SLRI_OP_ADD, SLRI_U64, at, bytes); // wraps only where `at` is not below
    slri_reg begins = slri_lower_op(&g->l, SLRI_OP_LT, SLRI_U64, at, size);
    slri_reg ends = slri_lower_op(&g->l, SLRI_OP_LE, SLRI_U64, end, size);
    return slri_lower_op(&g->l, SLRI_OP_AND, SLRI_I32, begins, ends);
}

static void write_access(struct guarding *g, const struct slri_instr *in)
{
    struct access access[2];
    struct slri_block *behind = g->l.block;
    const uint32_t count = accesses_of(in, access);
    for (uint32_t i = 0; i < count; i++) {
        struct slri_block *outside;
        if (is_surely_inside(g, &access[i]))
            continue;
        slri_reg size = bytes_of(g, access[i].root);
        if (size == SLRI_NO_REG)
            continue;
        slri_reg is_inside = write_inside(g, &access[i], size);
        (void)slri_lower_if(&g->l, is_inside, &outside);
        struct slri_block *inside = g->l.block;
        g->l.block = outside;
        if (in->dst != SLRI_NO_REG)
            slri_lower_set_const(&g->l, in->dst, g->l.function->reg_kind[in->dst], 0);
        write_tell(g, access[i].writes ? SLRI_GUARDED_WRITE : SLRI_GUARDED_READ, access[i].root, access[i].at);
        g->l.block = inside;
    }
    *slri_lower_append(&g->l, in->op, in->kind) = *in;
    g->l.block = behind;
}

// ---- loops ---------------------------------------------------------------------------------------------------------

// In each of the loop's iterations, which therefore are as many for all threads of the block; or lanes, and the block
// under a condition.
struct waiting {
    bool block, some;
};

static void note_waits(const struct slri_instr *in, void *user)
{
    bool *waits = user;
    const uint32_t uses = in->op == SLRI_OP_CALL ? in->callee->uses : 0;
    *waits |= in->op == SLRI_OP_BARRIER || in->op == SLRI_OP_WARP || (uses & (SLRI_USES_BARRIER | SLRI_USES_WARP));
}

static bool always_waits(const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        bool is_there = in->op == SLRI_OP_BARRIER || (in->op == SLRI_OP_CALL && always_waits(in->callee->body));
        for (int part = 0; part < 3 && in->op == SLRI_OP_LOOP; part++)
            is_there |= always_waits(in->body[part]);
        if (is_there)
            return true;
    }
    return false;
}

static struct waiting waits_in(const struct slri_instr *loop)
{
    struct waiting waiting = {0};
    for (int part = 0; part < 3; part++) {
        waiting.block |= always_waits(loop->body[part]);
        slri_block_each(loop->body[part], note_waits, &waiting.some);
    }
    return waiting;
}

static slri_reg turns_of(struct guarding *g, struct waiting waiting)
{
    const int who = waiting.block ? 2 : waiting.some;
    if (g->turns[who] == SLRI_NO_REG) {
        struct slri_block *here = to_head(g);
        g->turns[who] = slri_lower_const(&g->l, SLRI_U32, 0);
        if (g->fuel == SLRI_NO_REG)
            g->fuel = load_word(g, SLRI_U32, offsetof(struct slri_guard, fuel));
        g->l.block = here;
    }
    return g->turns[who];
}

static slri_reg is_found(struct guarding *g)
{
    slri_reg found = atomic_word(g, SLRI_OP_ATOMIC_LOAD, offsetof(struct slri_guard, found))->dst;
    return slri_lower_op(&g->l, SLRI_OP_NE, SLRI_U32, found, slri_lower_const(&g->l, SLRI_U32, SLRI_GUARDED_NONE));
}

// I32: the thread leaves the loop.
static slri_reg write_stop(struct guarding *g, struct waiting waiting, slri_reg is_out)
{
    if (waiting.some && !waiting.block) // those that go on need each other, and who meets counts alike
        return is_out;
    slri_reg stops = is_found(g);
    if (!waiting.block)
        return stops;
    slri_reg any = slri_lower_reg(&g->l, SLRI_I32);
    struct slri_instr *in = slri_lower_append(&g->l, SLRI_OP_BARRIER, SLRI_VOID);
    in->imm = SLRI_BARRIER_OR;
    in->a = stops;
    in->dst = any;
    return any;
}

// Where an iteration begins.
static void write_turn(struct guarding *g, struct waiting waiting)
{
    const slri_reg turns = turns_of(g, waiting);
    slri_lower_set(&g->l, turns, SLRI_OP_ADD, SLRI_U32, turns, slri_lower_const(&g->l, SLRI_U32, 1));
    slri_reg step = slri_lower_const(&g->l, SLRI_U32, SLRI_GUARD_STEP - 1);
    slri_reg rest = slri_lower_op(&g->l, SLRI_OP_AND, SLRI_U32, turns, step);
    slri_reg is_step = slri_lower_op(&g->l, SLRI_OP_EQ, SLRI_U32, rest, slri_lower_const(&g->l, SLRI_U32, 0));
    struct slri_block *behind = slri_lower_if(&g->l, is_step, NULL);
    struct slri_instr *most = atomic_word(g, SLRI_OP_ATOMIC_RMW, offsetof(struct slri_guard, most));
    most->imm = SLRI_RMW_MAX;
    most->b = turns;
    slri_reg is_out = slri_lower_op(&g->l, SLRI_OP_GT, SLRI_U32, turns, g->fuel);
    struct slri_block *looks = slri_lower_if(&g->l, is_out, NULL);
    write_tell(g, SLRI_GUARDED_FUEL, (struct slri_root){0}, slri_lower_const(&g->l, SLRI_I64, 0));
    g->l.block = looks;
    (void)slri_lower_if(&g->l, write_stop(g, waiting, is_out), NULL);
    (void)slri_lower_append(&g->l, SLRI_OP_BREAK, SLRI_VOID);
    g->l.block = behind;
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void guard_block(struct guarding *g, struct slri_block *block, const struct slri_instr *loop)
{
    struct slri_block *outer = g->l.block, made = {0};
    if (!block)
        return;
    g->l.block = &made;
    if (loop) {
        g->l.where = loop->where;
        write_turn(g, waits_in(loop));
    }
    for (uint32_t i = 0; i < block->count && !g->l.out_of_memory; i++) {
        const struct slri_instr *in = &block->instr[i];
        for (int part = 0; part < 3; part++)
            guard_block(g, in->body[part], in->op == SLRI_OP_LOOP && part == 1 ? in : NULL);
        for (uint32_t c = 0; c < in->cases; c++)
            guard_block(g, in->match[c].body, NULL);
        g->l.where = in->where;
        write_access(g, in);
    }
    *block = made;
    g->l.block = outer;
}

static void note_called(const struct slri_instr *in, void *user)
{
    struct guarding *g = user;
    if (in->callee)
        g->is_reached[in->callee->index] = true;
}

// Before functions move: their indices are those of the module as it was.
static void find_reached(struct guarding *g)
{
    for (uint32_t i = 0; i < g->module->functions; i++)
        g->module->function[i]->index = i;
    for (uint32_t i = 0; i < g->module->entries; i++)
        g->is_reached[g->module->entry[i].function->index] = true;
    for (uint32_t i = g->module->functions; i-- > 0;)
        if (g->is_reached[i])
            slri_block_each(g->module->function[i]->body, note_called, g);
}

// Its kernel, whose arguments arrive in registers of it. Of any other function it does not matter which.
static const struct slri_entry *entry_of(const struct slri_module *module, const struct slri_function *function)
{
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].function == function)
            return &module->entry[i];
    return module->entry;
}

static void guard_function(struct guarding *g, struct slri_function *function)
{
    struct slri_block head = {0};
    g->value = slri_assigned_find(g->l.region, entry_of(g->module, function), function, NULL);
    if (!g->value) {
        g->l.out_of_memory = true;
        return;
    }
    g->l.function = function;
    g->head = &head;
    g->turns[0] = g->turns[1] = g->turns[2] = g->fuel = SLRI_NO_REG;
    for (uint32_t i = 0; i < g->bindings; i++)
        g->bytes[i] = SLRI_NO_REG;
    g->l.where = function->where;
    guard_block(g, function->body, NULL);
    g->l.block = &head;
    for (uint32_t i = 0; i < function->body->count; i++)
        *slri_lower_append(&g->l, function->body->instr[i].op, function->body->instr[i].kind) =
            function->body->instr[i];
    *function->body = head;
    function->uses |= SLRI_USES_GLOBAL;
}

static void keep_kernels(struct guarding *g)
{
    struct slri_module *module = g->module;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->entries; i++)
        if (module->entry[i].kind == SLRI_ENTRY_KERNEL)
            module->entry[kept++] = module->entry[i];
    module->entries = kept;
    for (uint32_t i = 0; i < kept; i++)
        if (module->entry[i].bindings > g->bindings)
            g->bindings = module->entry[i].bindings;
}

bool slri_guard(struct slri_module *module)
{
    struct guarding g = {.l = {.region = module->region}, .module = module};
    keep_kernels(&g);
    g.is_reached = slri_region_take(module->region, module->functions + (size_t)1);
    g.bytes = slri_region_take(module->region, (g.bindings + (size_t)1) * sizeof *g.bytes);
    if (!g.is_reached || !g.bytes)
        return false;
    find_reached(&g);
    if (!add_variable(&g) || !add_tell(&g))
        return false;
    for (uint32_t i = 1; i < module->functions && !g.l.out_of_memory; i++)
        if (g.is_reached[i - 1])
            guard_function(&g, module->function[i]);
    return !g.l.out_of_memory;
}

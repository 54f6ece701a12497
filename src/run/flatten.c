// SPDX-License-Identifier: Apache-2.0
// Walks each function's tree once and appends its instructions. Jumps whose target is not known yet hang on a chain
// through their own target fields, so that patching needs no memory.
#include "run/flatten.h"

#include "base/round.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define NO_JUMP UINT32_MAX

struct flattener {
    struct slri_flat *flat;
    const struct slri_function *source;
    struct slri_flat_function *function;
    uint32_t index;   // of the function
    uint64_t callees; // the most stack that one of its calls needs
    uint32_t *breaks; // the innermost loop's or switch's chain of jumps to its end
    uint32_t *continues;
    slr_status status; // of the first failure; what follows it is not looked at
};

static void fail(struct flattener *f, slr_status status)
{
    if (f->status == SLR_OK)
        f->status = status;
}

// ---- growing arrays -------------------------------------------------------------------------------------------------

// An array of at least count + more elements: `array` itself, or a copy. Old copies stay in the region until it goes.
static void *grow(struct flattener *f, void *array, uint32_t count, uint32_t more, uint32_t *room, size_t size)
{
    if (more <= *room - count)
        return array;
    uint32_t want = (count + more) * 2 + 64;
    void *larger = slri_region_take(f->flat->region, want * size);
    if (larger == NULL) {
        fail(f, SLRI_FAIL(NO_MEMORY, "no memory to prepare '%s' for the interpreter", f->source->name));
        return NULL;
    }
    if (count > 0)
        memcpy(larger, array, count * size);
    *room = want;
    return larger;
}

// Appends one instruction; NULL after a failure. The pointer holds until the next append.
static struct slri_code *append(struct flattener *f, enum slri_code_op op, struct slri_where where)
{
    struct slri_flat *flat = f->flat;
    uint32_t room = flat->room; // the two arrays grow together
    struct slri_code *code = grow(f, flat->code, flat->count, 1, &flat->room, sizeof *code);
    struct slri_where *place = grow(f, flat->where, flat->count, 1, &room, sizeof *place);
    if (code == NULL || place == NULL)
        return NULL;
    flat->code = code;
    flat->where = place;
    flat->where[flat->count] = where;
    code += flat->count++;
    *code = (struct slri_code){.op = op, .dst = SLRI_NO_REG, .a = SLRI_NO_REG, .b = SLRI_NO_REG};
    return code;
}

// ---- jumps ----------------------------------------------------------------------------------------------------------

static void append_jump(struct flattener *f, enum slri_code_op op, slri_reg test, uint32_t *chain,
                        struct slri_where where)
{
    struct slri_code *code = append(f, op, where);
    if (code == NULL)
        return;
    code->a = test;
    code->u.target = *chain;
    *chain = f->flat->count - 1;
}

// Makes every jump of the chain lead to the next instruction.
static void land(struct flattener *f, uint32_t chain)
{
    while (f->status == SLR_OK && chain != NO_JUMP) {
        uint32_t next = f->flat->code[chain].u.target;
        f->flat->code[chain].u.target = f->flat->count;
        chain = next;
    }
}

static void flatten_block(struct flattener *f, const struct slri_block *block);

static void flatten_if(struct flattener *f, const struct slri_instr *in)
{
    uint32_t to_else = NO_JUMP, to_end = NO_JUMP;
    append_jump(f, SLRI_CODE_JUMP_IF_ZERO, in->a, &to_else, in->where);
    flatten_block(f, in->body[0]);
    if (in->body[1] != NULL)
        append_jump(f, SLRI_CODE_JUMP, SLRI_NO_REG, &to_end, in->where);
    land(f, to_else);
    flatten_block(f, in->body[1]);
    land(f, to_end);
}

static void flatten_loop(struct flattener *f, const struct slri_instr *in)
{
    uint32_t *outer_breaks = f->breaks, *outer_continues = f->continues;
    uint32_t breaks = NO_JUMP, continues = NO_JUMP, to_body = NO_JUMP;
    f->breaks = &breaks;
    f->continues = &continues;
    if (in->do_while)
        append_jump(f, SLRI_CODE_JUMP, SLRI_NO_REG, &to_body, in->where);
    uint32_t test = f->flat->count;
    flatten_block(f, in->body[0]);
    if (in->a != SLRI_NO_REG)
        append_jump(f, SLRI_CODE_JUMP_IF_ZERO, in->a, &breaks, in->where);
    land(f, to_body);
    flatten_block(f, in->body[1]);
    land(f, continues);
    flatten_block(f, in->body[2]);
    struct slri_code *back = append(f, SLRI_CODE_BACK_EDGE, in->where);
    if (back != NULL)
        back->u.target = test;
    land(f, breaks);
    f->breaks = outer_breaks;
    f->continues = outer_continues;
}

// ---- switch ---------------------------------------------------------------------------------------------------------

static int compare_matches(const void *left, const void *right)
{
    uint64_t a = ((const struct slri_code_match *)left)->value, b = ((const struct slri_code_match *)right)->value;
    return a < b ? -1 : a > b;
}

// The bodies in order, each falling into the next; fills the table of where each begins. Returns the default's start,
// or NO_JUMP.
static uint32_t flatten_cases(struct flattener *f, const struct slri_instr *in, bool wide, uint32_t first)
{
    uint32_t fallback = NO_JUMP, at = first;
    for (uint32_t i = 0; i < in->cases && f->status == SLR_OK; i++) {
        const struct slri_case *one = &in->match[i];
        uint64_t value = wide ? one->value : (uint32_t)one->value;
        if (one->is_default)
            fallback = f->flat->count;
        else
            f->flat->match[at++] = (struct slri_code_match){value, f->flat->count};
        flatten_block(f, one->body);
    }
    return fallback;
}

static void flatten_switch(struct flattener *f, const struct slri_instr *in)
{
    struct slri_flat *flat = f->flat;
    uint32_t values = 0;
    for (uint32_t i = 0; i < in->cases; i++)
        values += !in->match[i].is_default;
    void *match = grow(f, flat->match, flat->matches, values, &flat->match_room, sizeof *flat->match);
    enum slri_kind kind = f->source->reg_kind[in->a];
    bool wide = kind == SLRI_I64 || kind == SLRI_U64;
    struct slri_code *code = append(f, wide ? SLRI_CODE_SWITCH64 : SLRI_CODE_SWITCH32, in->where);
    if (f->status != SLR_OK)
        return;
    uint32_t at = flat->count - 1, first = flat->matches;
    flat->match = match;
    flat->matches += values; // claimed before the bodies, which may hold switches of their own
    code->a = in->a;
    code->b = first;
    code->imm = values;

    uint32_t *outer = f->breaks, breaks = NO_JUMP;
    f->breaks = &breaks;
    uint32_t fallback = flatten_cases(f, in, wide, first);
    f->breaks = outer;
    if (f->status != SLR_OK)
        return;
    land(f, breaks);
    flat->code[at].u.target = fallback == NO_JUMP ? flat->count : fallback;
    if (values > 0)
        qsort(flat->match + first, values, sizeof *flat->match, compare_matches);
}

// ---- calls ----------------------------------------------------------------------------------------------------------

static struct slri_span_name span_name(const struct flattener *f, struct slri_root root)
{
    struct slri_span_name name = {SLRI_SPANS_OF_CALL, SLRI_SPAN_STATE};
    switch (root.kind) {
    case SLRI_ROOT_NONE:
    case SLRI_ROOT_STATE:
        break;
    case SLRI_ROOT_MESSAGE:
        name.index = SLRI_SPAN_MESSAGE;
        break;
    case SLRI_ROOT_CONST:
        name.index = SLRI_SPAN_CONST + root.index;
        break;
    case SLRI_ROOT_BINDING:
        name.index = slri_span_of_binding(f->flat->module, root.index);
        break;
    case SLRI_ROOT_SHARED:
        name.index = slri_span_of_shared(f->flat->module, root.index);
        break;
    case SLRI_ROOT_GLOBAL:
        name.index = slri_span_of_global(f->flat->module, root.index);
        break;
    case SLRI_ROOT_DYNAMIC:
        name.index = slri_span_of_shared(f->flat->module, f->flat->module->shareds);
        break;
    case SLRI_ROOT_PARAM:
        name = (struct slri_span_name){SLRI_SPANS_OF_FRAME, root.index};
        break;
    case SLRI_ROOT_LOCAL:
        name = (struct slri_span_name){SLRI_SPANS_OF_FRAME, f->function->params + root.index};
        break;
    }
    if (name.table == SLRI_SPANS_OF_CALL && name.index >= f->flat->spans)
        f->flat->spans = name.index + 1;
    return name;
}

// The arguments of MATH and CALL; returns the first one's index.
static uint32_t append_args(struct flattener *f, const struct slri_instr *in)
{
    struct slri_flat *flat = f->flat;
    void *arg = grow(f, flat->arg, flat->args, in->args, &flat->arg_room, sizeof *flat->arg);
    if (f->status != SLR_OK)
        return 0;
    flat->arg = arg;
    for (uint32_t i = 0; i < in->args; i++) {
        struct slri_code_arg *one = &flat->arg[flat->args + i];
        *one = (struct slri_code_arg){.from = in->arg[i].reg};
        if (in->op != SLRI_OP_CALL)
            continue;
        one->to = in->callee->param[i].reg;
        one->is_memory = in->callee->param[i].is_memory;
        one->span = span_name(f, in->arg[i].root);
        one->to_span = i;
    }
    flat->args += in->args;
    return flat->args - in->args;
}

static void flatten_with_args(struct flattener *f, enum slri_code_op op, const struct slri_instr *in)
{
    uint32_t first = append_args(f, in);
    struct slri_code *code = append(f, op, in->where);
    if (code == NULL)
        return;
    code->dst = in->dst;
    code->kind = in->kind;
    code->a = in->args;
    code->b = first;
    code->imm = in->imm;
}

static void flatten_call(struct flattener *f, const struct slri_instr *in)
{
    uint32_t callee = 0;
    while (callee < f->index && f->flat->module->function[callee] != in->callee)
        callee++;
    if (callee == f->index) {
        fail(f,
             SLRI_FAIL(INTERNAL, "'%s' calls '%s', which is not defined before it", f->source->name, in->callee->name));
        return;
    }
    uint64_t stack = f->flat->function[callee].stack_bytes;
    if (stack > f->callees)
        f->callees = stack;
    uint32_t first = append_args(f, in);
    struct slri_code *code = append(f, SLRI_CODE_CALL, in->where);
    if (code == NULL)
        return;
    code->dst = in->dst;
    code->a = in->args;
    code->b = first;
    code->imm = callee;
}

// ---- the rest -------------------------------------------------------------------------------------------------------

// The code of an instruction that is neither control flow nor a call.
static enum slri_code_op code_of(const struct flattener *f, const struct slri_instr *in)
{
    if (in->op >= SLRI_OP_NEG && in->op <= SLRI_OP_GE)
        return SLRI_CODE_NEG_I32 + 6 * (in->op - SLRI_OP_NEG) + (in->kind - SLRI_I32);
    switch (in->op) {
    case SLRI_OP_LOAD:
        return SLRI_CODE_LOAD_BOOL + (in->kind - SLRI_BOOL);
    case SLRI_OP_STORE:
        return SLRI_CODE_STORE_BOOL + (in->kind - SLRI_BOOL);
    case SLRI_OP_CONVERT:
        return SLRI_CODE_FROM_I32_BOOL + SLRI_MEMORY_KIND_COUNT * (f->source->reg_kind[in->a] - SLRI_I32) +
               (in->kind - SLRI_BOOL);
    case SLRI_OP_CONST:
        return slri_kind_bytes(in->kind) == 8 ? SLRI_CODE_CONST64 : SLRI_CODE_CONST32;
    case SLRI_OP_MOVE:
        return SLRI_CODE_MOVE;
    case SLRI_OP_COPY:
        return SLRI_CODE_COPY;
    case SLRI_OP_ZERO:
        return SLRI_CODE_ZERO;
    case SLRI_OP_INDEX:
        return in->b == SLRI_NO_REG ? SLRI_CODE_INDEX : SLRI_CODE_INDEX_BELOW;
    case SLRI_OP_ATOMIC_LOAD:
        return SLRI_CODE_ATOMIC_LOAD;
    case SLRI_OP_ATOMIC_STORE:
        return SLRI_CODE_ATOMIC_STORE;
    case SLRI_OP_ATOMIC_RMW:
        return SLRI_CODE_ATOMIC_RMW;
    case SLRI_OP_ATOMIC_CAS:
        return SLRI_CODE_ATOMIC_CAS;
    case SLRI_OP_FENCE:
        return SLRI_CODE_FENCE;
    case SLRI_OP_REPLY:
        return slri_replies_to_one(in) ? SLRI_CODE_REPLY_TO : SLRI_CODE_REPLY;
    case SLRI_OP_SEND:
        return SLRI_CODE_SEND;
    case SLRI_OP_INSTANCE:
        return SLRI_CODE_INSTANCE;
    case SLRI_OP_MESSAGES:
        return SLRI_CODE_MESSAGES;
    case SLRI_OP_CLOCK:
        return SLRI_CODE_CLOCK;
    case SLRI_OP_BUILTIN:
        return SLRI_CODE_BUILTIN;
    case SLRI_OP_BARRIER:
        return SLRI_CODE_BARRIER;
    case SLRI_OP_PRESENT:
        return SLRI_CODE_PRESENT;
    case SLRI_OP_TRAP:
        return SLRI_CODE_TRAP;
    default:
        return SLRI_CODE_RETURN;
    }
}

_Static_assert(SLRI_OP_GE - SLRI_OP_NEG == (SLRI_CODE_GE_F64 - SLRI_CODE_NEG_I32) / 6, "code_of counts on the order");
_Static_assert(SLRI_CODE_FROM_F64_BF16 - SLRI_CODE_FROM_I32_BOOL == 6 * SLRI_MEMORY_KIND_COUNT - 1,
               "code_of counts on the order");

static void flatten_plain(struct flattener *f, const struct slri_instr *in)
{
    struct slri_span_name root = span_name(f, in->root), root2 = span_name(f, in->root2);
    struct slri_code *code = append(f, code_of(f, in), in->where);
    if (code == NULL)
        return;
    code->dst = in->dst;
    code->a = in->a;
    code->b = in->b;
    code->imm = in->imm;
    code->kind = in->kind;
    code->order = in->is_unset ? 1 : in->order;
    code->table = root.table;
    code->root = root.index;
    code->table2 = root2.table;
    if (in->op == SLRI_OP_SEND) {
        code->imm = slri_sent_bytes(in);
        code->u.outlet = slri_sent_outlet(in);
    } else if (in->op == SLRI_OP_COPY)
        code->u.root2 = root2.index;
    else
        code->u.c = in->c;
}

static void flatten_instr(struct flattener *f, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_IF:
        flatten_if(f, in);
        break;
    case SLRI_OP_LOOP:
        flatten_loop(f, in);
        break;
    case SLRI_OP_SWITCH:
        flatten_switch(f, in);
        break;
    case SLRI_OP_BREAK:
        append_jump(f, SLRI_CODE_JUMP, SLRI_NO_REG, f->breaks, in->where);
        break;
    case SLRI_OP_CONTINUE:
        append_jump(f, SLRI_CODE_JUMP, SLRI_NO_REG, f->continues, in->where);
        break;
    case SLRI_OP_MATH:
        flatten_with_args(f, SLRI_CODE_MATH, in);
        break;
    case SLRI_OP_WARP:
        flatten_with_args(f, SLRI_CODE_WARP, in);
        break;
    case SLRI_OP_PRINT:
        flatten_with_args(f, SLRI_CODE_PRINT, in);
        break;
    case SLRI_OP_CALL:
        flatten_call(f, in);
        break;
    default:
        flatten_plain(f, in);
        break;
    }
}

static void flatten_block(struct flattener *f, const struct slri_block *block)
{
    for (uint32_t i = 0; block != NULL && i < block->count && f->status == SLR_OK; i++)
        flatten_instr(f, &block->instr[i]);
}

// ---- functions ------------------------------------------------------------------------------------------------------

static slr_status refuse_stack(const struct slri_function *source)
{
    return SLRI_FAIL(UNSUPPORTED,
                     "function '%s' needs more than the %u bytes of stack that the interpreter has; "
                     "make its arrays smaller, or keep them in the state or in a binding",
                     source->name, SLRI_INTERP_STACK_BYTES);
}

static slr_status lay_out_frame(struct flattener *f)
{
    const struct slri_function *source = f->source;
    struct slri_flat_function *function = f->function;
    function->regs = source->regs;
    function->params = source->params;
    function->locals = source->locals;
    uint64_t at = sizeof(struct slri_frame) + (uint64_t)source->regs * sizeof(union slri_scalar);
    function->span_offset = at;
    at += ((uint64_t)source->params + source->locals) * sizeof(struct slri_span);
    struct slri_flat_local *local = slri_region_take(f->flat->region, source->locals * sizeof *local);
    if (local == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory to prepare '%s' for the interpreter", source->name);
    for (uint32_t i = 0; i < source->locals; i++) {
        at = slri_round_up(at, 16); // more than any atomic needs
        local[i] = (struct slri_flat_local){at, source->local[i].type->bytes};
        if (local[i].bytes > SLRI_INTERP_STACK_BYTES || at > SLRI_INTERP_STACK_BYTES)
            return refuse_stack(source);
        at += local[i].bytes;
    }
    function->local = local;
    function->frame_bytes = slri_round_up(at, 16);
    return SLR_OK;
}

static slr_status flatten_function(struct slri_flat *flat, uint32_t index)
{
    struct flattener f = {.flat = flat,
                          .source = flat->module->function[index],
                          .function = &flat->function[index],
                          .index = index,
                          .status = SLR_OK};
    SLRI_TRY(lay_out_frame(&f));
    f.function->start = flat->count;
    flatten_block(&f, f.source->body);
    append(&f, SLRI_CODE_RETURN, f.source->where); // falling off the end
    SLRI_TRY(f.status);
    f.function->stack_bytes = f.function->frame_bytes + f.callees;
    return f.function->stack_bytes > SLRI_INTERP_STACK_BYTES ? refuse_stack(f.source) : SLR_OK;
}

static void mark_callees(bool *reached, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (in->callee)
            reached[in->callee->index] = true;
        for (int part = 0; part < 3; part++)
            mark_callees(reached, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            mark_callees(reached, in->match[c].body);
    }
}

// The functions of one entry; callees stand before their callers.
static void mark_reached(bool *reached, const struct slri_module *module, const struct slri_entry *entry)
{
    reached[entry->function->index] = true;
    for (uint32_t i = entry->function->index + 1; i-- > 0;)
        if (reached[i])
            mark_callees(reached, module->function[i]->body);
}

slr_status slri_flatten(const struct slri_module *module, const struct slri_entry *entry, struct slri_flat *flat)
{
    bool *reached = NULL;
    *flat = (struct slri_flat){.module = module, .spans = slri_span_of_binding(module, 0)};
    flat->region = slri_region_create();
    if (flat->region != NULL)
        flat->function = slri_region_take(flat->region, module->functions * sizeof *flat->function);
    if (flat->function != NULL)
        reached = slri_region_take(flat->region, module->functions * sizeof *reached);
    if (reached == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory to prepare '%s' for the interpreter", module->name);
    if (entry != NULL)
        mark_reached(reached, module, entry);
    for (uint32_t i = 0; i < module->functions; i++) {
        flat->function[i].start = flat->count; // also of one that is left out: it has no instructions
        if (entry == NULL || reached[i])
            SLRI_TRY(flatten_function(flat, i));
    }
    return SLR_OK;
}

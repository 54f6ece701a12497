// SPDX-License-Identifier: Apache-2.0
// A kernel and the functions of the libraries that it calls, as one module.
#include "base/round.h"
#include "base/status.h"
#include "ir/assigned.h"
#include "ir/ir_names.h"
#include "ir/pass/linked_internal.h"
#include "ir/type.h"

#include <stdio.h>
#include <string.h>

// A compiler of a driver may write each function where it is called, and a double's is hundreds of instructions.
#define MOST_SOFT 32

static void *take(struct slri_linker *l, size_t bytes)
{
    void *made = slri_region_take(l->region, bytes + 1);
    if (!made && l->refused == SLR_OK)
        l->refused = SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", l->to->name);
    return made;
}

static void *linked_copy(struct slri_linker *l, const void *of, size_t bytes)
{
    void *made = take(l, bytes);
    if (made && bytes)
        memcpy(made, of, bytes);
    return made;
}

bool slri_block_function(char name[static SLRI_BLOCK_NAME], enum slri_kind *kind, const struct slri_instr *in)
{
    static const char *const barriers[] = {NULL, "slri_syncthreads_count", "slri_syncthreads_and",
                                           "slri_syncthreads_or"};
    const char *of = NULL;
    *kind = SLRI_VOID;
    if (in->op == SLRI_OP_BARRIER) {
        of = barriers[in->imm];
    } else if (in->op == SLRI_OP_WARP && in->imm != SLRI_WARP_SYNC && !slri_warp_is_matrix(in->imm)) {
        const bool has_sign = in->imm == SLRI_WARP_REDUCE_MIN || in->imm == SLRI_WARP_REDUCE_MAX;
        of = slri_warp_functions[in->imm].name; // "__shfl_sync" is slri_shfl_sync_U32
        if (strchr(slri_warp_functions[in->imm].args, 'K'))
            *kind = slri_kind_bytes(in->kind) == 8 ? SLRI_I64 : has_sign ? in->kind : SLRI_U32;
    }
    if (of)
        snprintf(name, SLRI_BLOCK_NAME, "%s%s%s%s", *of == '_' ? "slri" : "", *of == '_' ? of + 1 : of,
                 *kind ? "_" : "", *kind ? slri_kind_name(*kind) : "");
    return of;
}

// ---- units ---------------------------------------------------------------------------------------------------------

// Takes over the tables of a module, and makes room for its functions.
static void add_unit(struct slri_linker *l, enum slri_linked_unit unit, const struct slri_module *from)
{
    struct slri_module *to = l->to;
    struct slri_function **function = take(l, (l->room + from->functions) * sizeof *function);
    struct slri_const *constant = take(l, (to->constants + from->constants) * sizeof *constant);
    l->made[unit] = take(l, from->functions * sizeof **l->made);
    l->soft[unit] = take(l, from->functions * sizeof **l->soft);
    if (l->refused != SLR_OK)
        return;
    for (uint32_t i = 0; i < to->functions; i++)
        function[i] = to->function[i];
    for (uint32_t i = 0; i < to->constants + from->constants; i++)
        constant[i] = i < to->constants ? to->constant[i] : from->constant[i - to->constants];
    l->from[unit] = from;
    l->table[unit] = to->constants;
    l->room += from->functions;
    to->function = function;
    to->constant = constant;
    to->constants += from->constants;
}

static struct slri_function *linked_function(struct slri_linker *l, enum slri_linked_unit unit,
                                             const struct slri_function *function);

struct slri_function *slri_linker_library(struct slri_linker *l, enum slri_linked_unit unit, const char *name)
{
    const struct slri_module *library = l->from[unit];
    if (!library && l->refused == SLR_OK)
        l->refused = l->libraries->get[unit](&library);
    if (!l->from[unit] && l->refused == SLR_OK)
        add_unit(l, unit, library);
    if (l->refused != SLR_OK)
        return NULL;
    uint32_t i = 0;
    while (strcmp(library->function[i]->name, name) != 0)
        i++;
    return linked_function(l, unit, library->function[i]);
}

// ---- instructions --------------------------------------------------------------------------------------------------

static void shift_root(struct slri_linker *l, struct slri_root *root)
{
    if (root->kind == SLRI_ROOT_CONST)
        root->index += l->table[l->unit];
    if (l->unit != SLRI_LINKED_BLOCK || root->kind != SLRI_ROOT_DYNAMIC)
        return;
    struct slri_entry *entry = l->to->entry; // the library's dynamic memory is the last shared object
    *root = (struct slri_root){SLRI_ROOT_SHARED, l->to->shareds - 1};
    if (!slri_entry_has_shared(entry, root->index)) {
        entry->shared_offset[root->index] = slri_round_up(entry->shared_bytes, 4);
        entry->shared_bytes = entry->shared_offset[root->index] + l->to->shared[root->index].type->bytes;
    }
}

static struct slri_block *link_block(struct slri_linker *l, const struct slri_block *block);

static void link_parts(struct slri_linker *l, struct slri_instr *in)
{
    for (int part = 0; part < 3; part++)
        if (in->body[part])
            in->body[part] = link_block(l, in->body[part]);
    if (in->cases)
        in->match = linked_copy(l, in->match, in->cases * sizeof *in->match);
    for (uint32_t i = 0; i < in->cases && l->refused == SLR_OK; i++)
        in->match[i].body = link_block(l, in->match[i].body);
}

struct slri_instr *slri_linker_append(struct slri_linker *l, const struct slri_instr *as)
{
    static struct slri_instr none;
    struct slri_instr *made = slri_block_append(l->region, l->block, as->op, as->kind, as->where);
    if (!made) {
        take(l, SIZE_MAX / 2); // says so
        return &none;
    }
    *made = *as;
    return made;
}

static bool is_linked(const struct slri_linker *l, const struct slri_instr *in)
{
    return in->op == SLRI_OP_MATH && l->unit != SLRI_LINKED_MATH && !slri_math_is_primitive(in->imm) &&
           l->libraries->get[SLRI_LINKED_MATH];
}

static slr_status refuse_softs(const struct slri_linker *l, const struct slri_instr *in)
{
    char what[64] = "this";
    if (in->op == SLRI_OP_MATH)
        snprintf(what, sizeof what, "'%s'", slri_math_functions[in->imm].name);
    return SLRI_FAIL(UNSUPPORTED,
                     "%s:%u: the device has no doubles (shaderFloat64). They are computed with integers, and with %s a "
                     "kernel does that %u times, more than the %d that a driver compiles in time; use float, and "
                     "functions that are exact in float",
                     l->to->file[in->where.file], in->where.line, what, l->softs, MOST_SOFT);
}

// Into a call of a library's function, with the arguments that it has, or else `a` and `b`.
static void link_call(struct slri_linker *l, struct slri_instr *in, enum slri_linked_unit unit, const char *name)
{
    if (in->a != SLRI_NO_REG) {
        in->args = in->b == SLRI_NO_REG ? 1 : 2;
        in->arg = take(l, 2 * sizeof *in->arg);
        if (l->refused != SLR_OK)
            return;
        in->arg[0].reg = in->a;
        in->arg[1].reg = in->b;
        in->a = in->b = SLRI_NO_REG;
    }
    in->callee = slri_linker_library(l, unit, name);
    in->op = SLRI_OP_CALL;
    in->kind = SLRI_VOID;
    in->imm = 0;
}

static bool is_literal(struct slri_linker *l, slri_reg reg, uint64_t *bits)
{
    if (!l->assigned)
        l->assigned = slri_assigned_find(l->region, l->entry, l->source, NULL);
    if (!l->assigned)
        take(l, SIZE_MAX / 2);
    return l->assigned && slri_assigned_is_literal(&l->assigned[reg], bits);
}

// The reciprocal of a power of two: a product with it is rounded as the quotient is. 0: it is none.
static uint32_t reciprocal_of_power(uint64_t bits)
{
    const uint32_t exponent = (uint32_t)bits >> 23 & 0xff;
    const bool is_power = ((uint32_t)bits & 0x7fffff) == 0 && exponent >= 1 && exponent <= 253;
    return is_power ? ((uint32_t)bits & UINT32_C(0x80000000)) | (254 - exponent) << 23 : 0;
}

// A quotient whose dividend is the literal 0 stays, because emitters know more of it.
static void link_quotient(struct slri_linker *l, struct slri_instr *in)
{
    uint64_t bits;
    const uint32_t factor = is_literal(l, in->b, &bits) ? reciprocal_of_power(bits) : 0;
    if (is_literal(l, in->a, &bits) && (bits & 0x7fffffff) == 0)
        return;
    if (factor) {
        struct slri_instr literal = {.op = SLRI_OP_CONST, .kind = SLRI_F32, .where = in->where, .imm = factor};
        literal.a = literal.b = literal.c = SLRI_NO_REG;
        literal.dst = in->b = slri_function_add_reg(l->region, l->function, SLRI_F32, NULL);
        slri_linker_append(l, &literal);
        in->op = SLRI_OP_MUL;
        return;
    }
    link_call(l, in, SLRI_LINKED_MATH, SLRI_ROUNDED_DIVF);
}

// Inside of the functions that round, the device's own operations are meant.
static bool is_rounded(const struct slri_linker *l)
{
    const char *name = l->source->name;
    return !l->libraries->get[SLRI_LINKED_MATH] || strcmp(name, SLRI_ROUNDED_DIVF) == 0 ||
           strcmp(name, SLRI_ROUNDED_SQRTF) == 0;
}

// Its own library is made of what stays.
static bool is_of_block(const struct slri_linker *l, const struct slri_instr *in)
{
    char name[SLRI_BLOCK_NAME];
    enum slri_kind kind;
    return l->libraries->get[SLRI_LINKED_BLOCK] && l->unit != SLRI_LINKED_BLOCK &&
           !(in->op == SLRI_OP_BARRIER && l->libraries->has_counts) && slri_block_function(name, &kind, in);
}

static slri_reg linked_reg(struct slri_linker *l, enum slri_kind kind)
{
    const slri_reg reg = slri_function_add_reg(l->region, l->function, kind, NULL);
    if (reg == SLRI_NO_REG)
        take(l, SIZE_MAX / 2); // says so
    return reg;
}

// A register of that kind with the bits of `from`: `dst`, or `from` itself where it is of that kind, or a new one.
static slri_reg put_bits(struct slri_linker *l, struct slri_where where, enum slri_kind kind, slri_reg dst,
                         slri_reg from)
{
    const enum slri_kind of = l->function->reg_kind[from];
    if (of == kind && dst == SLRI_NO_REG)
        return from;
    struct slri_instr in = {.op = SLRI_OP_CONVERT, .kind = kind, .where = where, .a = from};
    in.b = in.c = SLRI_NO_REG;
    in.dst = dst == SLRI_NO_REG ? linked_reg(l, kind) : dst;
    if (slri_kind_is_float(of) || slri_kind_is_float(kind)) {
        in.op = SLRI_OP_MATH;
        in.imm = of == SLRI_F32     ? SLRI_MATH_FLOAT_AS_UINT
                 : of == SLRI_F64   ? SLRI_MATH_DOUBLE_AS_LONGLONG
                 : kind == SLRI_F32 ? SLRI_MATH_UINT_AS_FLOAT
                                    : SLRI_MATH_LONGLONG_AS_DOUBLE;
        in.a = SLRI_NO_REG;
        in.args = 1;
        in.arg = take(l, sizeof *in.arg);
        if (l->refused == SLR_OK)
            in.arg[0].reg = from;
    }
    slri_linker_append(l, &in);
    return in.dst;
}

// A value of another kind goes into the function, and comes out of it, as its bits.
static void link_of_block(struct slri_linker *l, struct slri_instr *in)
{
    enum { VALUE = 1 }; // which argument is of the instruction's kind
    char name[SLRI_BLOCK_NAME];
    enum slri_kind kind;
    slri_block_function(name, &kind, in);
    const slri_reg dst = in->dst;
    const bool gives_value = kind && slri_warp_functions[in->imm].result == 'K' && l->function->reg_kind[dst] != kind;
    if (kind) {
        in->arg = linked_copy(l, in->arg, in->args * sizeof *in->arg);
        if (l->refused == SLR_OK)
            in->arg[VALUE].reg = put_bits(l, in->where, kind, SLRI_NO_REG, in->arg[VALUE].reg);
    }
    if (gives_value)
        in->dst = linked_reg(l, kind);
    link_call(l, in, SLRI_LINKED_BLOCK, name);
    if (l->refused != SLR_OK)
        return;
    l->function->uses |= in->callee->uses;
    slri_linker_append(l, in);
    if (gives_value)
        put_bits(l, in->where, l->function->reg_kind[dst], dst, in->dst);
}

static void link_instr(struct slri_linker *l, const struct slri_instr *from)
{
    struct slri_instr in = *from;
    if (l->unit != SLRI_LINKED_KERNEL) // its places are in files that the module has not
        in.where = (struct slri_where){0};
    shift_root(l, &in.root);
    shift_root(l, &in.root2);
    link_parts(l, &in);
    if (is_of_block(l, &in)) {
        link_of_block(l, &in);
        return;
    }
    if (in.op == SLRI_OP_CALL) {
        in.callee = linked_function(l, l->unit, in.callee);
    } else if (is_linked(l, &in)) {
        link_call(l, &in, SLRI_LINKED_MATH, slri_math_functions[in.imm].c_function);
    } else if (!is_rounded(l) && in.op == SLRI_OP_DIV && in.kind == SLRI_F32) {
        link_quotient(l, &in);
    } else if (!is_rounded(l) && in.op == SLRI_OP_MATH && in.imm == SLRI_MATH_SQRTF) {
        link_call(l, &in, SLRI_LINKED_MATH, SLRI_ROUNDED_SQRTF);
    }
    if (l->refused != SLR_OK)
        return;
    if (in.op == SLRI_OP_CALL)
        l->function->uses |= in.callee->uses;
    if (slri_linker_has_double(l, &in))
        slri_linker_soften(l, &in);
    else
        slri_linker_append(l, &in);
    if (l->refused == SLR_OK && l->unit == SLRI_LINKED_KERNEL && l->softs > MOST_SOFT)
        l->refused = refuse_softs(l, from);
}

static struct slri_block *link_block(struct slri_linker *l, const struct slri_block *block)
{
    struct slri_block *made = slri_block_create(l->region), *outer = l->block;
    if (!made)
        take(l, SIZE_MAX / 2);
    l->block = made;
    for (uint32_t i = 0; i < block->count && l->refused == SLR_OK; i++)
        link_instr(l, &block->instr[i]);
    l->block = outer;
    return made;
}

// ---- functions -----------------------------------------------------------------------------------------------------

static void link_registers(struct slri_linker *l, struct slri_function *made)
{
    made->reg_kind = linked_copy(l, made->reg_kind, made->regs * sizeof *made->reg_kind);
    made->reg_name = linked_copy(l, made->reg_name, made->regs * sizeof *made->reg_name);
    made->reg_room = made->regs;
    if (!l->libraries->get[SLRI_LINKED_SOFT])
        return;
    if (made->result == SLRI_F64)
        made->result = SLRI_U64;
    for (slri_reg reg = 0; l->refused == SLR_OK && reg < made->regs; reg++)
        if (made->reg_kind[reg] == SLRI_F64)
            made->reg_kind[reg] = SLRI_U64;
}

// Behind those that it calls.
static struct slri_function *linked_function(struct slri_linker *l, enum slri_linked_unit unit,
                                             const struct slri_function *function)
{
    uint32_t index = 0;
    while (l->from[unit]->function[index] != function)
        index++;
    if (l->made[unit][index])
        l->softs += unit != SLRI_LINKED_SOFT ? l->soft[unit][index] : l->unit != SLRI_LINKED_SOFT;
    if (l->made[unit][index] || l->refused != SLR_OK)
        return l->made[unit][index];
    const struct slri_linker outer = *l;
    struct slri_function *made = linked_copy(l, function, sizeof *function);
    l->unit = unit;
    l->source = function;
    l->assigned = NULL;
    l->function = made;
    l->softs = 0;
    if (made) {
        if (unit == SLRI_LINKED_BLOCK && made->uses & SLRI_USES_DYNAMIC)
            made->uses ^= SLRI_USES_DYNAMIC | SLRI_USES_SHARED;
        link_registers(l, made);
        made->body = link_block(l, function->body);
    }
    l->unit = outer.unit;
    l->source = outer.source;
    l->assigned = outer.assigned;
    l->function = outer.function;
    l->soft[unit][index] = l->softs;
    l->softs = outer.softs + (unit != SLRI_LINKED_SOFT ? l->softs : outer.unit != SLRI_LINKED_SOFT);
    if (l->refused != SLR_OK)
        return NULL;
    made->index = l->to->functions;
    l->to->function[l->to->functions++] = made;
    l->made[unit][index] = made;
    return made;
}

// ---- the module ----------------------------------------------------------------------------------------------------

// With one object more: a word for barriers that count, or the words of a block's lanes.
static void link_shared(struct slri_linker *l, const struct slri_module *module)
{
    const uint32_t threads = l->entry->max_threads ? l->entry->max_threads : SLRI_BLOCK_MAX_THREADS;
    const uint32_t words = l->entry->function->uses & SLRI_USES_WARP ? 2 * threads + 64 : 1;
    struct slri_entry *entry = linked_copy(l, l->entry, sizeof *entry);
    struct slri_shared *shared = take(l, (module->shareds + (size_t)1) * sizeof *shared);
    uint64_t *offset = take(l, (module->shareds + (size_t)1) * sizeof *offset);
    const struct slri_type *word = slri_type_of(l->types, SLRI_U32),
                           *lanes = word ? slri_type_array(l->types, word, words) : NULL;
    if (!lanes)
        take(l, SIZE_MAX / 2);
    if (l->refused != SLR_OK)
        return;
    for (uint32_t i = 0; i < module->shareds; i++) {
        shared[i] = module->shared[i];
        offset[i] = slri_entry_shared(l->entry, i);
    }
    shared[module->shareds] = (struct slri_shared){.name = SLRI_BLOCK_LANES, .type = lanes};
    offset[module->shareds] = UINT64_MAX; // until it is used
    entry->shared_first = 0;
    entry->shared_offset = offset;
    l->to->entry = entry;
    l->to->shared = shared;
    l->to->shareds = entry->shareds = module->shareds + 1;
}

static void begin_linked(struct slri_linker *l, const struct slri_module *module)
{
    l->to = slri_region_take(l->region, sizeof *l->to);
    l->types = slri_types_create(l->region);
    if (!l->to || !l->types) {
        l->refused = SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", module->name);
        return;
    }
    *l->to = *module;
    l->to->region = l->region;
    l->to->functions = l->to->constants = 0;
    link_shared(l, module);
    add_unit(l, SLRI_LINKED_KERNEL, module);
}

// A double that is given at launch comes as its bits.
static void link_entry(struct slri_linker *l, const struct slri_entry *from)
{
    struct slri_entry *entry = l->to->entry;
    struct slri_binding_info *binding = linked_copy(l, from->binding, from->bindings * sizeof *binding);
    const struct slri_type *bits = slri_type_of(l->types, SLRI_U64);
    if (!bits)
        take(l, SIZE_MAX / 2);
    if (l->refused != SLR_OK)
        return;
    for (uint32_t i = 0; i < from->bindings; i++)
        if (!binding[i].is_buffer && binding[i].type->kind == SLRI_F64 && l->libraries->get[SLRI_LINKED_SOFT])
            binding[i].type = bits;
    entry->binding = binding;
    entry->function = linked_function(l, SLRI_LINKED_KERNEL, from->function);
    l->to->entries = 1;
    l->to->skippeds = l->to->launches = 0;
}

slr_status slri_linked_kernel(const struct slri_module *module, const struct slri_entry *kernel,
                              const struct slri_linked_libraries *libraries, struct slri_module **out)
{
    struct slri_linker l = {.libraries = libraries, .entry = kernel};
    l.region = slri_region_create();
    if (!l.region)
        return SLRI_FAIL(NO_MEMORY, "no memory for the functions of '%s'", kernel->name);
    begin_linked(&l, module);
    if (l.refused == SLR_OK)
        link_entry(&l, kernel);
    if (l.refused == SLR_OK)
        *out = l.to;
    else
        slri_region_destroy(l.region);
    return l.refused;
}

// SPDX-License-Identifier: Apache-2.0
// Reads a module and says the first thing that breaks a rule of ir.h. Emitters and the interpreter rely on what is
// checked here and check nothing themselves.
#include "abi/handler.h"
#include "base/text.h"
#include "ir/format.h"
#include "ir/ir.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"
#include "ir/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct verifier {
    const struct slri_module *module;
    const struct slri_function *function; // being read, and its index
    uint32_t index;
    const struct slri_entry *entry; // for what depends on the entry: bindings, state, replies
    uint32_t *reached;              // by function: the last entry, from 1, that it was read for
    struct slri_names names;        // of the functions so far
    uint32_t loops, breakables;     // around the instruction
    struct slri_text problem;
};

__attribute__((format(printf, 3, 4))) static bool broken(struct verifier *v, const struct slri_instr *instr,
                                                         const char *format, ...);

// ---- the table of operands -----------------------------------------------------------------------------------------

enum kinds { NO_KIND, MEMORY_KINDS, REGISTER_KINDS, INTEGER_KINDS };
enum access { NO_ROOT, READS, WRITES };

// What stands in dst, a, b, c: '-' nothing, 'k' a register of the instruction's kind, 'o' an I64 offset, 'i' I32, 'u'
// U32, 'n' any integer, '*' any register, '?' and '.' are checked by the op's own function.
struct rule {
    const char *operands;
    enum kinds kinds;
    enum access root, root2;
};

static const struct rule rules[] = {
    [SLRI_OP_CONST] = {.operands = "k---", .kinds = REGISTER_KINDS},
    [SLRI_OP_MOVE] = {.operands = "kk--", .kinds = REGISTER_KINDS},
    [SLRI_OP_NEG] = {.operands = "kk--", .kinds = REGISTER_KINDS},
    [SLRI_OP_NOT] = {.operands = "kk--", .kinds = INTEGER_KINDS},
    [SLRI_OP_ADD] = {.operands = "kkk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_SUB] = {.operands = "kkk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_MUL] = {.operands = "kkk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_DIV] = {.operands = "kkk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_REM] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_SHL] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_SHR] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_AND] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_OR] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_XOR] = {.operands = "kkk-", .kinds = INTEGER_KINDS},
    [SLRI_OP_EQ] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_NE] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_LT] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_LE] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_GT] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_GE] = {.operands = "ikk-", .kinds = REGISTER_KINDS},
    [SLRI_OP_CONVERT] = {.operands = "k*--", .kinds = MEMORY_KINDS},
    [SLRI_OP_LOAD] = {.operands = "ko--", .kinds = MEMORY_KINDS, .root = READS},
    [SLRI_OP_STORE] = {.operands = "-ok-", .kinds = MEMORY_KINDS, .root = WRITES},
    [SLRI_OP_COPY] = {.operands = "-oo-", .root = WRITES, .root2 = READS},
    [SLRI_OP_ZERO] = {.operands = "-o--", .root = WRITES},
    [SLRI_OP_INDEX] = {.operands = "-o?-"},
    [SLRI_OP_MATH] = {.operands = "?---"},
    [SLRI_OP_ATOMIC_LOAD] = {.operands = "ko--", .kinds = REGISTER_KINDS, .root = READS},
    [SLRI_OP_ATOMIC_STORE] = {.operands = "-ok-", .kinds = REGISTER_KINDS, .root = WRITES},
    [SLRI_OP_ATOMIC_RMW] = {.operands = "kok-", .kinds = REGISTER_KINDS, .root = WRITES},
    [SLRI_OP_ATOMIC_CAS] = {.operands = "kokk", .kinds = INTEGER_KINDS, .root = WRITES},
    [SLRI_OP_FENCE] = {.operands = "----"},
    [SLRI_OP_REPLY] = {.operands = "-o?-", .root = READS},
    [SLRI_OP_SEND] = {.operands = "-ou-", .root = READS},
    [SLRI_OP_INSTANCE] = {.operands = "u---"},
    [SLRI_OP_MESSAGES] = {.operands = "u---"},
    [SLRI_OP_CLOCK] = {.operands = "?---"},
    [SLRI_OP_BUILTIN] = {.operands = "u---"},
    [SLRI_OP_BARRIER] = {.operands = "..--"},
    [SLRI_OP_WARP] = {.operands = ".---"},
    [SLRI_OP_PRESENT] = {.operands = "i---", .root = READS},
    [SLRI_OP_PRINT] = {.operands = "----"},
    [SLRI_OP_TRAP] = {.operands = "----"},
    [SLRI_OP_CALL] = {.operands = "?---"},
    [SLRI_OP_IF] = {.operands = "-i--"},
    [SLRI_OP_LOOP] = {.operands = "-?--"},
    [SLRI_OP_SWITCH] = {.operands = "-n--"},
    [SLRI_OP_BREAK] = {.operands = "----"},
    [SLRI_OP_CONTINUE] = {.operands = "----"},
    [SLRI_OP_RETURN] = {.operands = "-?--"},
};
#define RULES (sizeof rules / sizeof *rules)

// ---- saying what is wrong ------------------------------------------------------------------------------------------

static bool broken(struct verifier *v, const struct slri_instr *instr, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (v->function)
        slri_text_printf(&v->problem, "function %s: ", v->function->name ? v->function->name : "?");
    if (instr)
        slri_text_printf(&v->problem, "%u:%u: %s: ", instr->where.line, instr->where.column, slri_op_name(instr->op));
    slri_text_puts(&v->problem, what);
    return false;
}

// ---- operands ------------------------------------------------------------------------------------------------------

static bool is_register_kind(enum slri_kind kind)
{
    return kind >= SLRI_I32 && kind <= SLRI_F64;
}

static bool is_integer_kind(enum slri_kind kind)
{
    return kind >= SLRI_I32 && kind <= SLRI_U64;
}

static bool kind_fits(enum slri_kind kind, enum kinds kinds)
{
    switch (kinds) {
    case MEMORY_KINDS:
        return kind >= SLRI_BOOL && kind <= SLRI_BF16;
    case REGISTER_KINDS:
        return is_register_kind(kind);
    case INTEGER_KINDS:
        return is_integer_kind(kind);
    default:
        return true;
    }
}

static enum slri_kind kind_of(const struct verifier *v, slri_reg reg)
{
    return reg < v->function->regs ? v->function->reg_kind[reg] : SLRI_VOID;
}

static bool check_register(struct verifier *v, const struct slri_instr *instr, const char *place, slri_reg reg,
                           enum slri_kind kind)
{
    if (reg >= v->function->regs)
        return broken(v, instr, "%s: no such register", place);
    if (kind_of(v, reg) != kind)
        return broken(v, instr, "%s: register %u is %s, not %s", place, reg, slri_kind_name(kind_of(v, reg)),
                      slri_kind_name(kind));
    return true;
}

static bool check_operand(struct verifier *v, const struct slri_instr *instr, const char *place, slri_reg reg,
                          char rule)
{
    switch (rule) {
    case '-':
        return reg == SLRI_NO_REG || broken(v, instr, "%s is not used, but names register %u", place, reg);
    case 'k':
        return check_register(v, instr, place, reg, slri_kind_in_register(instr->kind));
    case 'o':
        return check_register(v, instr, place, reg, SLRI_I64);
    case 'i':
        return check_register(v, instr, place, reg, SLRI_I32);
    case 'u':
        return check_register(v, instr, place, reg, SLRI_U32);
    case 'n':
        return is_integer_kind(kind_of(v, reg)) || broken(v, instr, "%s is no integer register", place);
    case '*':
        return reg < v->function->regs || broken(v, instr, "%s: no such register", place);
    default:
        return true;
    }
}

static bool check_root(struct verifier *v, const struct slri_instr *instr, struct slri_root root, enum access access)
{
    const struct slri_function *function = v->function;
    if (access == WRITES && (root.kind == SLRI_ROOT_MESSAGE || root.kind == SLRI_ROOT_CONST))
        return broken(v, instr, "writes to a %s", slri_root_name(root.kind));
    switch (root.kind) {
    case SLRI_ROOT_MESSAGE:
        return root.index <= SLRI_MESSAGES || broken(v, instr, "no messages %u", root.index);
    case SLRI_ROOT_STATE:
    case SLRI_ROOT_DYNAMIC:
    case SLRI_ROOT_BINDING: // whether the entry has it: check_entry_root
        return true;
    case SLRI_ROOT_SHARED:
        return root.index < v->module->shareds || broken(v, instr, "no shared object %u", root.index);
    case SLRI_ROOT_GLOBAL:
        if (root.index >= v->module->globals)
            return broken(v, instr, "no variable %u", root.index);
        return access != WRITES || !v->module->global[root.index].is_constant ||
               broken(v, instr, "writes to a constant variable");
    case SLRI_ROOT_CONST:
        return root.index < v->module->constants || broken(v, instr, "no const table %u", root.index);
    case SLRI_ROOT_LOCAL:
        return root.index < function->locals || broken(v, instr, "no local %u", root.index);
    case SLRI_ROOT_PARAM:
        return (root.index < function->params && function->param[root.index].is_memory) ||
               broken(v, instr, "parameter %u is no memory", root.index);
    default:
        return broken(v, instr, "has no root");
    }
}

// ---- ops with rules of their own -----------------------------------------------------------------------------------

static bool check_order(struct verifier *v, const struct slri_instr *instr)
{
    bool is_release = instr->order == SLRI_RELEASE || instr->order == SLRI_ACQ_REL;
    bool is_acquire = instr->order == SLRI_ACQUIRE || instr->order == SLRI_ACQ_REL;
    if (instr->order > SLRI_SEQ_CST || instr->scope > SLRI_SCOPE_SYSTEM)
        return broken(v, instr, "no such memory order or scope");
    if (instr->op == SLRI_OP_ATOMIC_LOAD && is_release)
        return broken(v, instr, "a load cannot release");
    if (instr->op == SLRI_OP_ATOMIC_STORE && is_acquire)
        return broken(v, instr, "a store cannot acquire");
    if (instr->op == SLRI_OP_FENCE && instr->order == SLRI_RELAXED)
        return broken(v, instr, "a relaxed fence does nothing");
    return true;
}

static bool check_rmw(struct verifier *v, const struct slri_instr *instr)
{
    if (instr->imm > SLRI_RMW_DECREMENT)
        return broken(v, instr, "no such operation");
    if (instr->imm > SLRI_RMW_EXCHANGE && instr->kind != SLRI_U32)
        return broken(v, instr, "%s of another kind than U32", slri_rmw_name(instr->imm));
    if (slri_kind_is_float(instr->kind) && instr->imm >= SLRI_RMW_AND && instr->imm <= SLRI_RMW_XOR)
        return broken(v, instr, "%s of floats", slri_rmw_name(instr->imm));
    return true;
}

static bool check_argument(struct verifier *v, const struct slri_instr *instr, uint32_t i)
{
    const struct slri_param *param = &instr->callee->param[i];
    const struct slri_arg *arg = &instr->arg[i];
    if (!check_register(v, instr, "argument", arg->reg, instr->callee->reg_kind[param->reg]))
        return false;
    if (!param->is_memory)
        return arg->root.kind == SLRI_ROOT_NONE || broken(v, instr, "argument %u has a root, its parameter none", i);
    if (arg->root.kind != SLRI_ROOT_LOCAL && arg->root.kind != SLRI_ROOT_PARAM)
        return broken(v, instr, "argument %u is neither a local nor a parameter", i);
    if (!check_root(v, instr, arg->root, READS))
        return false;
    uint64_t bytes = arg->root.kind == SLRI_ROOT_LOCAL ? v->function->local[arg->root.index].type->bytes
                                                       : v->function->param[arg->root.index].bytes;
    return bytes == param->bytes || broken(v, instr, "argument %u has another size than its parameter", i);
}

// Where the function stands in the module, before the one that is being read; else UINT32_MAX.
static uint32_t earlier(const struct verifier *v, const struct slri_function *function)
{
    bool is_there = function->index < v->index && v->module->function[function->index] == function;
    return is_there ? function->index : UINT32_MAX;
}

static bool check_call(struct verifier *v, const struct slri_instr *instr)
{
    if (!instr->callee || earlier(v, instr->callee) == UINT32_MAX)
        return broken(v, instr, "the callee does not stand before its caller");
    if (instr->args != instr->callee->params)
        return broken(v, instr, "%u arguments for %u parameters", instr->args, instr->callee->params);
    if (instr->dst != SLRI_NO_REG && !check_register(v, instr, "dst", instr->dst, instr->callee->result))
        return false;
    for (uint32_t i = 0; i < instr->args; i++)
        if (!check_argument(v, instr, i))
            return false;
    return true;
}

static bool check_return(struct verifier *v, const struct slri_instr *instr)
{
    if (v->function->result == SLRI_VOID)
        return instr->a == SLRI_NO_REG || broken(v, instr, "a value in a function without a result");
    return check_register(v, instr, "a", instr->a, v->function->result);
}

static bool check_switch(struct verifier *v, const struct slri_instr *instr)
{
    uint32_t defaults = 0;
    uint64_t mask = slri_kind_bytes(kind_of(v, instr->a)) == 4 ? UINT32_MAX : UINT64_MAX;
    for (uint32_t i = 0; i < instr->cases; i++) {
        defaults += instr->match[i].is_default;
        if (!instr->match[i].body)
            return broken(v, instr, "case %u has no body", i);
        if (!instr->match[i].is_default && instr->match[i].value & ~mask)
            return broken(v, instr, "case %u does not fit its kind", i);
        for (uint32_t j = 0; j < i; j++)
            if (!instr->match[i].is_default && !instr->match[j].is_default &&
                instr->match[i].value == instr->match[j].value)
                return broken(v, instr, "cases %u and %u are equal", j, i);
    }
    return defaults <= 1 || broken(v, instr, "%u defaults", defaults);
}

static enum slri_kind kind_of_math(enum slri_math_type type)
{
    static const enum slri_kind kinds[] = {
        [SLRI_MATH_F32] = SLRI_F32, [SLRI_MATH_F64] = SLRI_F64, [SLRI_MATH_I32] = SLRI_I32,
        [SLRI_MATH_U32] = SLRI_U32, [SLRI_MATH_I64] = SLRI_I64, [SLRI_MATH_U64] = SLRI_U64,
    };
    return kinds[type];
}

static bool check_math(struct verifier *v, const struct slri_instr *instr)
{
    if (instr->imm >= SLRI_MATH_COUNT)
        return broken(v, instr, "no math function %llu", (unsigned long long)instr->imm);
    const struct slri_math_function *math = &slri_math_functions[instr->imm];
    if (instr->args != math->arity)
        return broken(v, instr, "%u arguments for %s", instr->args, math->name);
    for (uint32_t i = 0; i < instr->args; i++)
        if (!check_register(v, instr, "argument", instr->arg[i].reg, kind_of_math(math->args[i])))
            return false;
    return check_register(v, instr, "dst", instr->dst, kind_of_math(math->result));
}

static bool check_const(struct verifier *v, const struct slri_instr *instr)
{
    return slri_kind_bytes(instr->kind) == 8 || instr->imm <= UINT32_MAX ||
           broken(v, instr, "bits above the 32 of its kind");
}

static bool check_barrier(struct verifier *v, const struct slri_instr *instr)
{
    if (instr->imm > SLRI_BARRIER_OR)
        return broken(v, instr, "no such barrier");
    if (instr->imm == SLRI_BARRIER_SYNC)
        return (instr->dst == SLRI_NO_REG && instr->a == SLRI_NO_REG) || broken(v, instr, "has no value to combine");
    return check_register(v, instr, "dst", instr->dst, SLRI_I32) && check_register(v, instr, "a", instr->a, SLRI_I32);
}

static enum slri_kind kind_of_letter(const struct slri_instr *instr, char letter)
{
    return letter == 'U'   ? SLRI_U32
           : letter == 'I' ? SLRI_I32
           : letter == 'F' ? SLRI_F32
           : letter == 'K' ? instr->kind
                           : SLRI_VOID;
}

static bool check_warp(struct verifier *v, const struct slri_instr *instr)
{
    if (instr->imm >= SLRI_WARP_COUNT)
        return broken(v, instr, "no such warp function");
    const struct slri_warp_function *warp = &slri_warp_functions[instr->imm];
    bool reduces = instr->imm >= SLRI_WARP_REDUCE_ADD && instr->imm <= SLRI_WARP_REDUCE_XOR;
    if (strchr(warp->args, 'K') ? !is_register_kind(instr->kind) : instr->kind != SLRI_VOID)
        return broken(v, instr, "%s is of another kind", warp->name);
    if (reduces && instr->kind != SLRI_I32 && instr->kind != SLRI_U32)
        return broken(v, instr, "%s is of integers of 32 bits", warp->name);
    if (instr->args != strlen(warp->args))
        return broken(v, instr, "%u arguments for %s", instr->args, warp->name);
    for (uint32_t i = 0; i < instr->args; i++)
        if (!check_register(v, instr, "argument", instr->arg[i].reg, kind_of_letter(instr, warp->args[i])))
            return false;
    if (warp->result == '-')
        return instr->dst == SLRI_NO_REG || broken(v, instr, "%s has no result", warp->name);
    return check_register(v, instr, "dst", instr->dst, kind_of_letter(instr, warp->result));
}

static bool check_print(struct verifier *v, const struct slri_instr *instr)
{
    if (instr->imm >= v->module->formats)
        return broken(v, instr, "no format %llu", (unsigned long long)instr->imm);
    const char *text = v->module->format[instr->imm].text;
    struct slri_conversion conversion;
    uint32_t args = 0;
    while (slri_format_next(&text, &conversion)) {
        if (conversion.kind == SLRI_VOID)
            return broken(v, instr, "its text has a conversion that is none");
        if (args >= instr->args || !check_register(v, instr, "argument", instr->arg[args++].reg, conversion.kind))
            return broken(v, instr, "its arguments are not what its text says");
    }
    return args == instr->args || broken(v, instr, "%u arguments for %u conversions", instr->args, args);
}

static bool check_special(struct verifier *v, const struct slri_instr *instr)
{
    switch (instr->op) {
    case SLRI_OP_CONST:
        return check_const(v, instr);
    case SLRI_OP_INDEX:
        return instr->b == SLRI_NO_REG || check_register(v, instr, "b", instr->b, SLRI_I64);
    case SLRI_OP_REPLY:
        return instr->b == SLRI_NO_REG || check_register(v, instr, "b", instr->b, SLRI_U32);
    case SLRI_OP_MATH:
        return check_math(v, instr);
    case SLRI_OP_ATOMIC_RMW:
        return check_order(v, instr) && check_rmw(v, instr);
    case SLRI_OP_ATOMIC_LOAD:
    case SLRI_OP_ATOMIC_STORE:
    case SLRI_OP_ATOMIC_CAS:
    case SLRI_OP_FENCE:
        return check_order(v, instr);
    case SLRI_OP_CLOCK:
        return check_register(v, instr, "dst", instr->dst, SLRI_U64);
    case SLRI_OP_BUILTIN:
        return instr->imm < SLRI_BUILTIN_COUNT || broken(v, instr, "no such builtin");
    case SLRI_OP_BARRIER:
        return check_barrier(v, instr);
    case SLRI_OP_WARP:
        return check_warp(v, instr);
    case SLRI_OP_PRINT:
        return check_print(v, instr);
    case SLRI_OP_TRAP:
        return instr->imm == SLRI_FAULT_ASSERT || instr->imm == SLRI_FAULT_TRAP || instr->imm == SLRI_FAULT_DIVIDE ||
               broken(v, instr, "no such trap");
    case SLRI_OP_CALL:
        return check_call(v, instr);
    case SLRI_OP_IF:
        return instr->body[0] || broken(v, instr, "has no body");
    case SLRI_OP_LOOP:
        if (!instr->body[0] || !instr->body[1])
            return broken(v, instr, "has no test or no body");
        return instr->a == SLRI_NO_REG || check_register(v, instr, "a", instr->a, SLRI_I32);
    case SLRI_OP_SWITCH:
        return check_switch(v, instr);
    case SLRI_OP_BREAK:
        return v->breakables > 0 || broken(v, instr, "outside a loop or switch");
    case SLRI_OP_CONTINUE:
        return v->loops > 0 || broken(v, instr, "outside a loop");
    case SLRI_OP_RETURN:
        return check_return(v, instr);
    default:
        return true;
    }
}

// ---- instructions, blocks ------------------------------------------------------------------------------------------

static bool check_instr(struct verifier *v, const struct slri_instr *instr)
{
    if ((unsigned)instr->op >= RULES)
        return broken(v, instr, "no such op");
    const struct rule *rule = &rules[instr->op];
    if (instr->where.line && instr->where.file >= v->module->files)
        return broken(v, instr, "no file %u", instr->where.file);
    if (!kind_fits(instr->kind, rule->kinds))
        return broken(v, instr, "not on %s", slri_kind_name(instr->kind));
    return check_operand(v, instr, "dst", instr->dst, rule->operands[0]) &&
           check_operand(v, instr, "a", instr->a, rule->operands[1]) &&
           check_operand(v, instr, "b", instr->b, rule->operands[2]) &&
           check_operand(v, instr, "c", instr->c, rule->operands[3]) &&
           (rule->root == NO_ROOT || check_root(v, instr, instr->root, rule->root)) &&
           (rule->root2 == NO_ROOT || check_root(v, instr, instr->root2, rule->root2)) && check_special(v, instr);
}

static bool check_block(struct verifier *v, const struct slri_block *block);

static bool check_bodies(struct verifier *v, const struct slri_instr *instr)
{
    bool is_loop = instr->op == SLRI_OP_LOOP, is_switch = instr->op == SLRI_OP_SWITCH, good = true;
    v->loops += is_loop;
    v->breakables += is_loop || is_switch;
    if (is_loop || instr->op == SLRI_OP_IF)
        for (int i = 0; good && i < 3; i++)
            good = !instr->body[i] || check_block(v, instr->body[i]);
    for (uint32_t i = 0; good && is_switch && i < instr->cases; i++)
        good = check_block(v, instr->match[i].body);
    v->loops -= is_loop;
    v->breakables -= is_loop || is_switch;
    return good;
}

static bool check_block(struct verifier *v, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (!check_instr(v, &block->instr[i]) || !check_bodies(v, &block->instr[i]))
            return false;
    return true;
}

// ---- functions -----------------------------------------------------------------------------------------------------

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return name && *name && (*name < '0' || *name > '9') && strspn(name, letters) == strlen(name);
}

static bool check_param(struct verifier *v, uint32_t i)
{
    const struct slri_param *param = &v->function->param[i];
    if (param->reg >= v->function->regs)
        return broken(v, NULL, "parameter %u has no register", i);
    if (param->is_memory && kind_of(v, param->reg) != SLRI_I64)
        return broken(v, NULL, "parameter %u: a pointer's offset is I64", i);
    return true;
}

static bool check_function(struct verifier *v)
{
    const struct slri_function *function = v->function;
    if (!is_identifier(function->name))
        return broken(v, NULL, "its name is no C identifier");
    if (slri_names_have(&v->names, function->name))
        return broken(v, NULL, "another has its name");
    if (!slri_names_add(&v->names, v->module->region, function->name))
        return broken(v, NULL, "no memory to verify it");
    for (uint32_t i = 0; i < function->regs; i++)
        if (!is_register_kind(function->reg_kind[i]))
            return broken(v, NULL, "register %u cannot be %s", i, slri_kind_name(function->reg_kind[i]));
    if (function->result != SLRI_VOID && !is_register_kind(function->result))
        return broken(v, NULL, "its result cannot be %s", slri_kind_name(function->result));
    for (uint32_t i = 0; i < function->locals; i++)
        if (!function->local[i].type || !function->local[i].type->bytes)
            return broken(v, NULL, "local %u has no size", i);
    for (uint32_t i = 0; i < function->params; i++)
        if (!check_param(v, i))
            return false;
    return function->body ? check_block(v, function->body) : broken(v, NULL, "has no body");
}

// ---- entries: what the functions that they reach refer to -----------------------------------------------------------

static bool is_scalar_binding(const struct slri_binding_info *binding)
{
    return !binding->is_buffer && binding->type->kind != SLRI_STRUCT;
}

static bool check_entry_root(struct verifier *v, const struct slri_instr *instr, struct slri_root root,
                             enum access access)
{
    const struct slri_entry *entry = v->entry;
    if (root.kind == SLRI_ROOT_STATE)
        return entry->state || broken(v, instr, "entry %s has no state", entry->name);
    if (root.kind == SLRI_ROOT_MESSAGE)
        return (entry->message && slri_root_is_messages(root) == (entry->kind == SLRI_ENTRY_BATCH)) ||
               broken(v, instr, "entry %s has no message, or another number of them", entry->name);
    if (root.kind == SLRI_ROOT_SHARED)
        return slri_entry_has_shared(entry, root.index) ||
               broken(v, instr, "entry %s has no place for shared object %u", entry->name, root.index);
    if (root.kind != SLRI_ROOT_BINDING)
        return true;
    if (root.index >= entry->bindings || is_scalar_binding(&entry->binding[root.index]) ||
        entry->binding[root.index].is_outlet)
        return broken(v, instr, "entry %s has no buffer %u", entry->name, root.index);
    const struct slri_binding_info *binding = &entry->binding[root.index];
    return access != WRITES || (binding->is_buffer && !binding->is_const) ||
           broken(v, instr, "writes to const buffer %s", binding->name);
}

// What an instruction uses of a block, which a handler of one thread has not, or of a message, which a kernel has not.
static bool check_entry_use(struct verifier *v, const struct slri_instr *instr)
{
    uint32_t uses = slri_instr_uses(instr);
    if (uses & ~slri_entry_may_use(v->entry->kind))
        return broken(v, instr, "not in an entry of this kind");
    uint32_t of_blocks = uses & slri_entry_may_use(SLRI_ENTRY_KERNEL);
    return (v->function->uses & of_blocks) == of_blocks ||
           broken(v, instr, "its function does not say that it uses it");
}

static bool check_outlet(struct verifier *v, const struct slri_instr *send)
{
    const struct slri_entry *entry = v->entry;
    uint32_t outlet = slri_sent_outlet(send);
    if (outlet >= entry->bindings || !entry->binding[outlet].is_outlet)
        return broken(v, send, "entry %s has no outlet %u", entry->name, outlet);
    return entry->binding[outlet].type->bytes == slri_sent_bytes(send) ||
           broken(v, send, "outlet %s takes messages of another size", entry->binding[outlet].name);
}

static bool check_reached(struct verifier *v, const struct slri_block *block);

static bool check_callee(struct verifier *v, const struct slri_function *callee)
{
    const struct slri_function *caller = v->function;
    const uint32_t entry = (uint32_t)(v->entry - v->module->entry) + 1;
    uint32_t *reached = &v->reached[earlier(v, callee)];
    if (*reached == entry)
        return true;
    *reached = entry;
    v->function = callee;
    bool good = check_reached(v, callee->body);
    v->function = caller;
    return good;
}

static bool check_reached_instr(struct verifier *v, const struct slri_instr *instr)
{
    const struct rule *rule = &rules[instr->op];
    bool good = (rule->root == NO_ROOT || check_entry_root(v, instr, instr->root, rule->root)) &&
                (rule->root2 == NO_ROOT || check_entry_root(v, instr, instr->root2, rule->root2));
    good = good && check_entry_use(v, instr);
    if (good && instr->op == SLRI_OP_REPLY && !v->entry->reply)
        good = broken(v, instr, "entry %s does not reply", v->entry->name);
    if (good && instr->op == SLRI_OP_SEND)
        good = check_outlet(v, instr);
    if (good && instr->op == SLRI_OP_CALL)
        good = check_callee(v, instr->callee);
    for (int i = 0; good && i < 3; i++)
        good = !instr->body[i] || check_reached(v, instr->body[i]);
    for (uint32_t i = 0; good && i < instr->cases; i++)
        good = check_reached(v, instr->match[i].body);
    return good;
}

static bool check_reached(struct verifier *v, const struct slri_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (!check_reached_instr(v, &block->instr[i]))
            return false;
    return true;
}

static bool check_binding(struct verifier *v, const struct slri_binding_info *binding)
{
    if (!binding->type || !binding->name)
        return broken(v, NULL, "a binding without a type or name");
    if (binding->is_buffer && kind_of(v, binding->reg) == SLRI_I64)
        return true;
    if (!is_scalar_binding(binding) && v->entry->kind == SLRI_ENTRY_KERNEL)
        return true;
    if (!binding->is_buffer && kind_of(v, binding->reg) == slri_kind_in_register(binding->type->kind))
        return true;
    return broken(v, NULL, "binding %s: its register has another kind", binding->name);
}

static bool check_entry(struct verifier *v)
{
    const struct slri_entry *entry = v->entry;
    v->function = entry->function;
    v->index = v->module->functions;
    if (!is_identifier(entry->name) || !entry->function || earlier(v, entry->function) == UINT32_MAX)
        return broken(v, NULL, "an entry without a name, or whose function is not in the module");
    if (entry->function->params || entry->function->result != SLRI_VOID)
        return broken(v, NULL, "an entry has neither parameters nor a result");
    if (!entry->message != (entry->kind == SLRI_ENTRY_KERNEL))
        return broken(v, NULL, "entry %s has no message, or is a kernel with one", entry->name);
    if (entry->kind == SLRI_ENTRY_KERNEL && (entry->state || entry->reply))
        return broken(v, NULL, "the kernel %s has a state or a reply", entry->name);
    for (uint32_t i = 0; i < entry->bindings; i++)
        if (!check_binding(v, &entry->binding[i]))
            return false;
    return check_reached(v, entry->function->body);
}

static bool check_module(struct verifier *v)
{
    const struct slri_module *module = v->module;
    for (uint32_t i = 0; i < module->constants; i++)
        if (!module->constant[i].type || !module->constant[i].type->bytes || !module->constant[i].data)
            return broken(v, NULL, "const table %u is empty", i);
    for (uint32_t i = 0; i < module->shareds; i++)
        if (!module->shared[i].type || !module->shared[i].type->bytes)
            return broken(v, NULL, "shared object %u is empty", i);
    for (uint32_t i = 0; i < module->globals; i++) {
        const struct slri_global *global = &module->global[i];
        if (!global->type || !global->type->bytes || global->offset % 64 ||
            global->offset + global->type->bytes > module->global_bytes)
            return broken(v, NULL, "variable %u is empty, or has no place", i);
    }
    for (uint32_t i = 0; i < module->functions; i++)
        module->function[i]->index = i;
    for (v->index = 0; v->index < module->functions; v->index++) {
        v->function = module->function[v->index];
        if (!check_function(v))
            return false;
    }
    v->reached = slri_region_take(module->region, (module->functions + 1) * sizeof *v->reached);
    if (!v->reached)
        return broken(v, NULL, "no memory to verify it");
    for (uint32_t i = 0; i < module->entries; i++) {
        v->entry = &module->entry[i];
        if (!check_entry(v))
            return false;
    }
    return true;
}

const char *slri_module_verify(const struct slri_module *module)
{
    struct verifier v = {.module = module};
    const char *problem = NULL;
    if (!check_module(&v)) {
        const char *text = slri_text_view(&v.problem);
        problem = slri_region_text(module->region, text, strlen(text));
    }
    slri_text_free(&v.problem);
    return problem;
}

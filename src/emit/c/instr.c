// SPDX-License-Identifier: Apache-2.0
// Instructions and blocks. An instruction's spelling is a row of a table.
#include "emit/c/plan.h"
#include "ir/ir_names.h"
#include "ir/math/functions.h"

#include <string.h>

// ---- spellings -----------------------------------------------------------------------------------------------------

// In a row: $d $a $b $c registers; $p the address (root, a), $q (root2, b); $z where root begins; $K the kind's name,
// $T the C type of its registers; $v "volatile_" where that is so; $n imm; $w the mask of a shift count; $l "file,
// line, column"; $o $f the memory order, and that of a failed exchange; $r imm as an atomic operation; $B the size of a
// reply; $m $t the size of a message sent, and its outlet; $F a fault follows: `return slri_fault(call, SLRI_FAULT_`.
static const char *const spelling[] = {
    [SLRI_OP_MOVE] = "$d = $a;",
    [SLRI_OP_NEG] = "$d = -$a;",
    [SLRI_OP_NOT] = "$d = ~$a;",
    [SLRI_OP_ADD] = "$d = $a + $b;",
    [SLRI_OP_SUB] = "$d = $a - $b;",
    [SLRI_OP_MUL] = "$d = $a * $b;",
    [SLRI_OP_DIV] = "$d = slri_div_$K($a, $b);",
    [SLRI_OP_REM] = "$d = slri_rem_$K($a, $b);",
    [SLRI_OP_SHL] = "$d = $a << ($b & $w);",
    [SLRI_OP_SHR] = "$d = $a >> ($b & $w);",
    [SLRI_OP_AND] = "$d = $a & $b;",
    [SLRI_OP_OR] = "$d = $a | $b;",
    [SLRI_OP_XOR] = "$d = $a ^ $b;",
    [SLRI_OP_EQ] = "$d = $a == $b;",
    [SLRI_OP_NE] = "$d = $a != $b;",
    [SLRI_OP_LT] = "$d = $a < $b;",
    [SLRI_OP_LE] = "$d = $a <= $b;",
    [SLRI_OP_GT] = "$d = $a > $b;",
    [SLRI_OP_GE] = "$d = $a >= $b;",
    [SLRI_OP_LOAD] = "$d = slri_$vload_$K($p);",
    [SLRI_OP_STORE] = "slri_$vstore_$K($p, $b);",
    [SLRI_OP_COPY] = "__builtin_memmove($p, $q, $n);", // the two may be the same, which memcpy does not allow
    [SLRI_OP_ZERO] = "__builtin_memset($p, 0, $n);",
    [SLRI_OP_INDEX] = "if ((uint64_t)$a >= $n) return slri_misses(call, SLRI_FAULT_INDEX, $l, (uint64_t)$a, $n);",
    [SLRI_OP_ATOMIC_LOAD] = "$d = slri_atomic_load_$K($p, $o);",
    [SLRI_OP_ATOMIC_STORE] = "slri_atomic_store_$K($p, $b, $o);",
    [SLRI_OP_ATOMIC_RMW] = "$d = slri_atomic_$r_$K($p, $b, $o);",
    [SLRI_OP_ATOMIC_CAS] = "$d = slri_atomic_cas_$K($p, $b, $c, $o, $f);",
    [SLRI_OP_FENCE] = "__atomic_thread_fence($o);",
    [SLRI_OP_REPLY] = "if (!slri_reply(call, $p, $B)) $FREPLIES, $l);",
    [SLRI_OP_SEND] = "if (!slri_send(&call->out[$t], $p, $b, $m)) $FSENDS, $l);",
    [SLRI_OP_INSTANCE] = "$d = call->instance;",
    [SLRI_OP_MESSAGES] = "$d = call->messages;",
    [SLRI_OP_CLOCK] = "$d = 0;",
    [SLRI_OP_PRESENT] = "$d = $z != 0;",
    [SLRI_OP_TRAP] = "return slri_fault(call, $n, $l);",
};
#define SPELLINGS (sizeof spelling / sizeof *spelling)

// With b: of a `__ring_batch__` handler.
static const char index_below[] =
    "if ((uint64_t)$a >= (uint64_t)$b) return slri_misses(call, SLRI_FAULT_INDEX, $l, (uint64_t)$a, (uint64_t)$b);";
static const char reply_to[] = "if (!slri_reply(&call[$b], $p, $B)) $FREPLIES, $l);";

static const char *const orders[] = {"__ATOMIC_RELAXED", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE", "__ATOMIC_ACQ_REL",
                                     "__ATOMIC_SEQ_CST"};

static unsigned order_of_failure(unsigned order)
{
    return order == SLRI_RELEASE ? SLRI_RELAXED : order == SLRI_ACQ_REL ? SLRI_ACQUIRE : order;
}

// A number where all entries that reply agree on it, so that the copy is a few instructions.
static void put_reply_bytes(struct slri_c_emitter *e)
{
    const struct slri_type *reply = NULL;
    bool agree = true;
    for (uint32_t i = 0; i < e->module->entries; i++) {
        const struct slri_type *other = e->module->entry[i].reply;
        agree &= !reply || !other || reply->bytes == other->bytes;
        reply = other ? other : reply;
    }
    if (agree && reply)
        slri_text_printf(e->out, "%lluu", (unsigned long long)reply->bytes);
    else
        slri_c_put(e, "call->reply_bytes");
}

static void put_hole(struct slri_c_emitter *e, const struct slri_instr *in, char hole)
{
    switch (hole) {
    case 'd':
        slri_c_register(e, in->dst);
        break;
    case 'a':
        slri_c_register(e, in->a);
        break;
    case 'b':
        slri_c_register(e, in->b);
        break;
    case 'c':
        slri_c_register(e, in->c);
        break;
    case 'p':
        slri_c_address(e, in->root, in->a);
        break;
    case 'q':
        slri_c_address(e, in->root2, in->b);
        break;
    case 'z':
        slri_c_root(e, in->root);
        break;
    case 'K':
        slri_c_put(e, slri_kind_name(in->kind));
        break;
    case 'v':
        slri_c_put(e, in->is_volatile ? "volatile_" : "");
        break;
    case 'n':
        slri_text_printf(e->out, "%lluu", (unsigned long long)in->imm);
        break;
    case 'w':
        slri_c_put(e, slri_kind_bytes(in->kind) == 8 ? "63" : "31");
        break;
    case 'l':
        slri_text_printf(e->out, "%u, %u, %u", in->where.file, in->where.line, in->where.column);
        break;
    case 'o':
        slri_c_put(e, orders[in->order]);
        break;
    case 'f':
        slri_c_put(e, orders[order_of_failure(in->order)]);
        break;
    case 'r':
        slri_c_put(e, slri_rmw_name(in->imm));
        break;
    case 'B':
        put_reply_bytes(e);
        break;
    case 'm':
        slri_text_printf(e->out, "%uu", slri_sent_bytes(in));
        break;
    case 't':
        slri_text_printf(e->out, "%uu", slri_sent_outlet(in));
        break;
    default:
        slri_c_put(e, "return slri_fault(call, SLRI_FAULT_");
        break;
    }
}

static void put_spelling(struct slri_c_emitter *e, const struct slri_instr *in, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "$");
        slri_text_append(e->out, text, plain);
        text += plain;
        if (*text) {
            put_hole(e, in, text[1]);
            text += 2;
        }
    }
}

// ---- instructions that depend on more than a row -------------------------------------------------------------------

static void put_convert(struct slri_c_emitter *e, const struct slri_instr *in)
{
    static const char *const saturating[] = {
        [SLRI_I8] = "i8",   [SLRI_U8] = "u8",   [SLRI_I16] = "i16", [SLRI_U16] = "u16",
        [SLRI_I32] = "i32", [SLRI_U32] = "u32", [SLRI_I64] = "i64", [SLRI_U64] = "u64",
    };
    enum slri_kind from = e->function->reg_kind[in->a];
    slri_c_register(e, in->dst);
    if (in->kind == SLRI_BOOL)
        put_spelling(e, in, " = $a != 0;");
    else if (slri_kind_is_half(in->kind)) {
        static const char *const froms[] = {"i32", "u32", "i64", "u64", "f32", "f64"};
        slri_text_printf(e->out, " = slri_%s_to_%s", froms[from - SLRI_I32], in->kind == SLRI_F16 ? "f16" : "bf16");
        put_spelling(e, in, "($a);");
    } else if (slri_kind_is_float(from) && !slri_kind_is_float(in->kind)) {
        slri_text_printf(e->out, " = slri_f%u_to_%s", 8 * slri_kind_bytes(from), saturating[in->kind]);
        put_spelling(e, in, "($a);");
    } else {
        bool is_index = e->reg[in->a].is_flag && !e->reg[in->a].literal && slri_kind_bytes(in->kind) == 8;
        slri_text_printf(e->out, " = (%s)", slri_kind_spelling(in->kind));
        put_spelling(e, in, is_index ? "slri_opaque($a);" : "$a;");
    }
}

const char *slri_c_builtin(const struct slri_c_emitter *e, uint64_t builtin)
{
    static const char *const of_kernels[SLRI_BUILTIN_COUNT] = {
        "(uint32_t)lane", "thread_y",     "thread_z",     "block_x",         "block_y",         "block_z",
        "SLRI_BLOCK_X",   "SLRI_BLOCK_Y", "SLRI_BLOCK_Z", "launch->grid[0]", "launch->grid[1]", "launch->grid[2]",
    };
    static const char *const of_handlers[SLRI_BUILTIN_COUNT] = {
        "(uint32_t)lane", "0u", "0u", "0u", "0u", "0u", "SLRI_BLOCK_X", "1u", "1u", "1u", "1u", "1u",
    };
    return e->is_block ? of_handlers[builtin] : of_kernels[builtin];
}

static void put_builtin(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_register(e, in->dst);
    slri_text_printf(e->out, " = %s;", slri_c_builtin(e, in->imm));
}

static void put_math(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_register(e, in->dst);
    slri_text_printf(e->out, " = %s(", slri_math_functions[in->imm].c_function);
    for (uint32_t i = 0; i < in->args; i++) {
        slri_c_put(e, i ? ", " : "");
        slri_c_register(e, in->arg[i].reg);
    }
    slri_c_put(e, ");");
}

// A printf's values as bits, each in 8 bytes.
static void put_print(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_text_printf(e->out, "{ const uint64_t value[%u] = {", in->args + !in->args);
    for (uint32_t i = 0; i < in->args; i++) {
        enum slri_kind kind = e->function->reg_kind[in->arg[i].reg];
        slri_c_put(e, i ? ", " : "");
        slri_c_put(e, kind == SLRI_F64 ? "slri_bits(" : slri_kind_bytes(kind) == 8 ? "(uint64_t)(" : "(uint32_t)(");
        slri_c_register(e, in->arg[i].reg);
        slri_c_put(e, ")");
    }
    if (e->is_grid)
        slri_text_printf(e->out, "}; slri_print(launch, %lluu, %u, value); }", (unsigned long long)in->imm, in->args);
    else
        slri_text_printf(e->out, "}; slri_prints_put(call->prints, call->instance, %s, %lluu, %u, value); }",
                         e->is_block ? "(uint32_t)lane" : "0", (unsigned long long)in->imm, in->args);
}

static void put_arguments(struct slri_c_emitter *e, const struct slri_instr *in)
{
    slri_c_put(e, !e->is_grid ? "(call, state, message" : e->kernel ? "(SLRI_HERE" : "(SLRI_HERE_TOO");
    if (e->is_block)
        slri_c_put(e, e->kernel ? ", &roots, lane" : ", roots, lane");
    if (slri_c_traits(e, in->callee)->can_fault && in->callee->result != SLRI_VOID) {
        slri_c_put(e, ", &");
        if (in->dst == SLRI_NO_REG)
            slri_text_printf(e->out, "(%s){0}", slri_kind_spelling(in->callee->result));
        else
            slri_c_register(e, in->dst);
    }
    for (uint32_t i = 0; i < in->args; i++) {
        slri_c_put(e, ", ");
        if (in->callee->param[i].is_memory) {
            slri_c_root(e, in->arg[i].root);
            slri_c_put(e, ", ");
        }
        slri_c_register(e, in->arg[i].reg);
    }
    slri_c_put(e, ")");
}

static void put_plain_call(struct slri_c_emitter *e, const struct slri_instr *in)
{
    const struct slri_c_function *callee = slri_c_traits(e, in->callee);
    if (!callee->can_fault) {
        if (in->dst != SLRI_NO_REG)
            put_spelling(e, in, "$d = ");
        slri_text_printf(e->out, "%s%s", e->prefix, in->callee->name);
        put_arguments(e, in);
        slri_c_put(e, ";");
        return;
    }
    slri_c_put(e, callee->uses_fuel ? "call->fuel = fuel; " : "");
    slri_text_printf(e->out, "fault = %s%s", e->prefix, in->callee->name);
    put_arguments(e, in);
    slri_c_put(e, "; if (fault) return fault;");
    slri_c_put(e, callee->uses_fuel ? " fuel = call->fuel;" : "");
}

void slri_c_return(struct slri_c_emitter *e, slri_reg value)
{
    bool has_result = e->function->result != SLRI_VOID, can_fault = e->traits->can_fault;
    slri_c_put(e, e->traits->uses_fuel ? "call->fuel = fuel; " : "");
    slri_c_put(e, !has_result ? "" : can_fault ? "*result = " : "return ");
    if (has_result && value == SLRI_NO_REG)
        slri_c_put(e, "0");
    else if (has_result)
        slri_c_register(e, value);
    slri_c_put(e, has_result ? "; " : "");
    slri_c_put(e, can_fault ? "return SLRI_FAULT_NONE;" : has_result ? "" : "return;");
}

static void put_plain_if(struct slri_c_emitter *e, const struct slri_instr *in)
{
    put_spelling(e, in, "if ($a) {");
    e->depth++;
    slri_c_block(e, in->body[0]);
    if (in->body[1] && in->body[1]->count) {
        slri_c_close(e);
        slri_c_put(e, " else {");
        e->depth++;
        slri_c_block(e, in->body[1]);
    }
    slri_c_close(e);
}

static void put_plain_switch(struct slri_c_emitter *e, const struct slri_instr *in)
{
    bool break_masked = e->kernel && e->kernel->break_masked;
    put_spelling(e, in, "switch ($a) {");
    e->depth++;
    if (e->kernel)
        e->kernel->break_masked = false;
    for (uint32_t i = 0; i < in->cases; i++) {
        const struct slri_case *match = &in->match[i];
        slri_c_put(e, match->is_default ? " default" : " case ");
        if (!match->is_default)
            slri_c_literal(e, e->function->reg_kind[in->a], match->value);
        slri_c_put(e, ":;");
        slri_c_block(e, match->body);
    }
    if (e->kernel)
        e->kernel->break_masked = break_masked;
    slri_c_close(e);
}

// ---- faults --------------------------------------------------------------------------------------------------------

static void put_miss(struct slri_c_emitter *e, const struct slri_instr *in, slri_reg offset, struct slri_root root)
{
    put_spelling(e, in, "return slri_misses(call, SLRI_FAULT_ACCESS, $l, (uint64_t)");
    slri_c_register(e, offset);
    slri_text_printf(e->out, ", bound%u_bytes); ", root.index);
}

// Only a binding's size is unknown to the front end, which guards every other access with INDEX.
static void put_access_check(struct slri_c_emitter *e, const struct slri_instr *in, struct slri_root root,
                             slri_reg offset, uint64_t bytes)
{
    if (root.kind != SLRI_ROOT_BINDING || e->is_grid)
        return;
    slri_c_put(e, "if (slri_outside(");
    slri_c_register(e, offset);
    slri_text_printf(e->out, ", %lluu, bound%u_bytes)) ", (unsigned long long)bytes, root.index);
    put_miss(e, in, offset, root);
}

static void put_access_checks(struct slri_c_emitter *e, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_COPY || in->op == SLRI_OP_ZERO)
        put_access_check(e, in, in->root, in->a, in->imm);
    else if (in->op == SLRI_OP_REPLY && in->root.kind == SLRI_ROOT_BINDING) {
        put_spelling(e, in, "if (slri_outside($a, $B, ");
        slri_text_printf(e->out, "bound%u_bytes)) ", in->root.index);
        put_miss(e, in, in->a, in->root);
    } else if (in->op == SLRI_OP_SEND)
        put_access_check(e, in, in->root, in->a, slri_sent_bytes(in));
    else
        put_access_check(e, in, in->root, in->a, slri_kind_bytes(in->kind));
    if (in->op == SLRI_OP_COPY)
        put_access_check(e, in, in->root2, in->b, in->imm);
}

static bool is_division(const struct slri_instr *in)
{
    return (in->op == SLRI_OP_DIV || in->op == SLRI_OP_REM) && !slri_kind_is_float(in->kind);
}

static bool always_inside(const struct slri_c_emitter *e, const struct slri_instr *in)
{
    uint64_t index;
    return in->b == SLRI_NO_REG && slri_c_is_literal(e, in->a, &index) && index < in->imm;
}

static bool divides_well(const struct slri_c_emitter *e, const struct slri_instr *in)
{
    uint64_t divisor;
    return slri_c_is_literal(e, in->b, &divisor) && divisor != 0;
}

bool slri_c_may_fault(const struct slri_c_emitter *e, const struct slri_instr *in)
{
    uint64_t divisor;
    if (e->is_grid)
        return false;
    if (is_division(in))
        return !slri_c_is_literal(e, in->b, &divisor) || divisor == 0;
    if (in->op == SLRI_OP_INDEX)
        return !always_inside(e, in);
    if (in->op == SLRI_OP_CALL)
        return slri_c_traits(e, in->callee)->can_fault;
    if (in->op == SLRI_OP_TRAP || in->op == SLRI_OP_PRESENT)
        return in->op == SLRI_OP_TRAP;
    return in->op == SLRI_OP_REPLY || in->op == SLRI_OP_SEND || in->root.kind == SLRI_ROOT_BINDING ||
           in->root2.kind == SLRI_ROOT_BINDING;
}

// ---- blocks --------------------------------------------------------------------------------------------------------

// What a loop adds to a sum, in order.
static bool is_float_sum(const struct slri_instr *in)
{
    return slri_kind_is_float(in->kind) && ((in->op == SLRI_OP_ADD && (in->dst == in->a || in->dst == in->b)) ||
                                            (in->op == SLRI_OP_SUB && in->dst == in->a));
}

static void put_plain(struct slri_c_emitter *e, const struct slri_instr *in)
{
    if (in->op != SLRI_OP_PRESENT) // it does not touch what is there
        put_access_checks(e, in);
    if (is_division(in) && slri_c_may_fault(e, in))
        put_spelling(e, in, "if ($b == 0) $FDIVIDE, $l); ");
    if (in->op == SLRI_OP_DIV && slri_kind_is_float(in->kind))
        put_spelling(e, in, "$d = $a / $b;");
    else if (e->is_grid && is_division(in) && !divides_well(e, in))
        put_spelling(e, in,
                     in->op == SLRI_OP_DIV ? "$d = slri_kernel_div_$K($a, $b, launch, $l);"
                                           : "$d = slri_kernel_rem_$K($a, $b, launch, $l);");
    else if (in->op == SLRI_OP_INDEX && in->b != SLRI_NO_REG)
        put_spelling(e, in, index_below);
    else
        put_spelling(e, in, slri_replies_to_one(in) ? reply_to : spelling[in->op]);
    if (e->kernel && e->kernel->sums_alone && is_float_sum(in))
        put_spelling(e, in, " SLRI_ALONE($d);");
}

static bool is_spelled(const struct slri_c_emitter *e, const struct slri_instr *in)
{
    if (in->op == SLRI_OP_CONST)
        return !e->reg[in->dst].literal;
    return in->op != SLRI_OP_INDEX || !(e->is_grid || always_inside(e, in));
}

static void put_instr(struct slri_c_emitter *e, const struct slri_instr *in)
{
    if (!is_spelled(e, in))
        return;
    slri_c_begin(e, in->where);
    switch (in->op) {
    case SLRI_OP_CONST:
        put_spelling(e, in, "$d = ");
        slri_c_literal(e, in->kind, in->imm);
        slri_c_put(e, ";");
        break;
    case SLRI_OP_CONVERT:
        put_convert(e, in);
        break;
    case SLRI_OP_MATH:
        put_math(e, in);
        break;
    case SLRI_OP_CALL:
        put_plain_call(e, in);
        break;
    case SLRI_OP_BREAK:
        if (e->kernel && slri_c_is_leaving(e->kernel, in))
            slri_c_put_leaving(e, in);
        else
            slri_c_put(e, "break;");
        break;
    case SLRI_OP_RETURN:
        if (e->kernel && slri_c_is_leaving(e->kernel, in))
            slri_c_put_leaving(e, in);
        else if (e->kernel)
            slri_c_put(e, "goto next_thread;");
        else
            slri_c_return(e, in->a);
        break;
    case SLRI_OP_BUILTIN:
        put_builtin(e, in);
        break;
    case SLRI_OP_TRAP:
        put_spelling(e, in, e->is_grid ? "slri_launch_fault(launch, $n, $l);" : spelling[in->op]);
        break;
    case SLRI_OP_PRINT:
        put_print(e, in);
        break;
    case SLRI_OP_IF:
        put_plain_if(e, in);
        break;
    case SLRI_OP_LOOP:
        slri_c_loop(e, in);
        break;
    case SLRI_OP_SWITCH:
        put_plain_switch(e, in);
        break;
    case SLRI_OP_CONTINUE:
        if (e->kernel && slri_c_is_leaving(e->kernel, in))
            slri_c_put_leaving(e, in);
        else
            slri_text_printf(e->out, "goto continue_%u;", e->continue_label);
        break;
    default:
        put_plain(e, in);
        break;
    }
}

void slri_c_block(struct slri_c_emitter *e, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++)
        put_instr(e, &block->instr[i]);
}

// SPDX-License-Identifier: Apache-2.0
// Comparisons that say whether a thread has something to do, for devices that run a group's threads in a loop of a
// core.
#include "emit/opencl/whole.h"

#include "emit/opencl/emit_opencl.h"

#define TWICE 96u // instructions

static bool is_word(enum slri_kind kind)
{
    return kind == SLRI_I32 || kind == SLRI_U32;
}

// What sets the register, where that runs once: in the kernel's outermost block. NULL: there is no such instruction.
static const struct slri_instr *setter_of(const struct slri_d_emitter *e, slri_reg reg)
{
    const struct slri_block *body = e->c.function->body;
    for (uint32_t i = 0; e->c.reg[reg].assignments == 1 && i < body->count; i++)
        if (body->instr[i].dst == reg)
            return &body->instr[i];
    return NULL;
}

// Behind copies, and conversions that keep all bits.
static const struct slri_instr *origin_of(const struct slri_d_emitter *e, slri_reg reg)
{
    const struct slri_instr *in = setter_of(e, reg);
    while (in && (in->op == SLRI_OP_MOVE || (in->op == SLRI_OP_CONVERT && is_word(in->kind))) &&
           is_word(e->c.function->reg_kind[in->a])) {
        const struct slri_instr *from = setter_of(e, in->a);
        in = from && from < in ? from : NULL;
    }
    return in;
}

static bool is_thread(const struct slri_d_emitter *e, slri_reg reg)
{
    const struct slri_instr *in = origin_of(e, reg);
    return in && in->op == SLRI_OP_BUILTIN && in->imm == SLRI_BUILTIN_THREAD_X;
}

// Whether the register has its value when `user` runs, and from there on.
static bool is_settled(const struct slri_d_emitter *e, slri_reg reg, const struct slri_instr *user)
{
    const struct slri_instr *in = setter_of(e, reg);
    return in ? in < user : e->c.reg[reg].is_given && e->c.reg[reg].assignments == 1;
}

static bool is_base(const struct slri_d_emitter *e, slri_reg reg, const struct slri_instr *sum)
{
    return e->c.function->reg_kind[reg] == SLRI_U32 && is_settled(e, reg, sum);
}

// The register B of an index B + threadIdx.x, both unsigned, or SLRI_NO_REG.
static slri_reg base_of(const struct slri_d_emitter *e, slri_reg index)
{
    const struct slri_instr *sum = origin_of(e, index);
    if (!sum || sum->op != SLRI_OP_ADD || sum->kind != SLRI_U32)
        return SLRI_NO_REG;
    if (is_thread(e, sum->b) && is_base(e, sum->a, sum))
        return sum->a;
    return is_thread(e, sum->a) && is_base(e, sum->b, sum) ? sum->b : SLRI_NO_REG;
}

// Whether threads meet there, or it is too much to be written twice.
static bool is_bar(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    (void)c;
    uint32_t *left = user;
    return in->op == SLRI_OP_BARRIER || in->op == SLRI_OP_WARP || in->op == SLRI_OP_CALL || (*left)-- == 0;
}

// The test of an IF of the kernel's outermost block, all of whose operands keep their values from the test on, or NULL.
static const struct slri_instr *test_of(const struct slri_d_emitter *e, const struct slri_instr *in)
{
    const struct slri_block *body = e->c.function->body;
    const bool is_outermost = in >= body->instr && in < body->instr + body->count;
    const struct slri_instr *test = is_outermost ? setter_of(e, in->a) : NULL;
    const bool is_below = test && test < in && test->op == SLRI_OP_LT && is_word(test->kind);
    return is_below && is_settled(e, test->a, test) && is_settled(e, test->b, test) ? test : NULL;
}

// B + the group's size <= n says that no thread's index B + threadIdx.x wraps, and that each is below n.
void slri_opencl_put_whole(struct slri_d_emitter *e, const struct slri_instr *in)
{
    uint32_t left = TWICE;
    const struct slri_opencl_options *options = ((const struct slri_opencl_emitter *)e)->options;
    if (!options->loops_over_threads || !e->entry || e->entry->kind != SLRI_ENTRY_KERNEL ||
        e->entry->function != e->c.function)
        return;
    const struct slri_instr *test = test_of(e, in);
    const slri_reg base = test ? base_of(e, test->a) : SLRI_NO_REG;
    if (base == SLRI_NO_REG || slri_c_any(&e->c, in->body[0], is_bar, &left))
        return;
    slri_d_put(e, "if ((long)");
    slri_d_register(e, base);
    slri_d_spell(e, test, " + (long)get_local_size(0) <= (long)$b) {");
    e->c.depth++;
    slri_d_block(e, in->body[0]);
    slri_c_close(&e->c);
    slri_d_put(e, " else ");
}

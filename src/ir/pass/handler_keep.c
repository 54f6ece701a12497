// SPDX-License-Identifier: Apache-2.0
// Words of the state that a loop keeps in registers: loaded before it, stored behind it. No compiler of a device knows
// that a message and a state lie apart, so it stores in each turn, and loads what it has just stored. A fault leaves
// out the store: the state begins anew then. A block's threads share the state, so there all stays as it is.
#include "ir/pass/handler_kernel.h"
#include "ir/pass/lower.h"

struct kept_walk {
    struct slri_lowering *l;
    bool refused; // what else touches the state is not known
};

static bool is_state(struct slri_root root)
{
    return root.kind == SLRI_ROOT_STATE;
}

static bool overlaps(const struct slri_kept *kept, uint64_t at, uint64_t bytes)
{
    return kept->at < at + bytes && at < kept->at + slri_kind_bytes(kept->kind);
}

// The literal offset of a plain access of whole words; false: it is none.
static bool is_keepable(const struct slri_lowering *l, const struct slri_instr *in, uint64_t *at)
{
    if ((in->op != SLRI_OP_LOAD && in->op != SLRI_OP_STORE) || !is_state(in->root) || in->is_volatile ||
        slri_kind_bytes(in->kind) < 4 || !slri_lower_is_literal(l, in->a, 0, UINT32_MAX))
        return false;
    *at = l->literal[in->a]->imm;
    return true;
}

static void note_access(struct kept_walk *walk, const struct slri_instr *in, uint64_t at)
{
    struct slri_lowering *l = walk->l;
    uint32_t i = 0;
    while (i < l->kepts && !overlaps(&l->kept[i], at, slri_kind_bytes(in->kind)))
        i++;
    if (i == SLRI_KEPT_WORDS || (i < l->kepts && (l->kept[i].at != at || l->kept[i].kind != in->kind))) {
        walk->refused = true;
        return;
    }
    if (i == l->kepts)
        l->kept[l->kepts++] = (struct slri_kept){.at = at, .kind = in->kind};
    l->kept[i].is_stored |= in->op == SLRI_OP_STORE;
}

static void note_part(struct kept_walk *walk, const struct slri_block *block);

static void note_instr(struct kept_walk *walk, const struct slri_instr *in)
{
    struct slri_lowering *l = walk->l;
    uint64_t at;
    if (is_keepable(l, in, &at))
        note_access(walk, in, at);
    else
        walk->refused |= is_state(in->root) || is_state(in->root2) || in->op == SLRI_OP_RETURN ||
                         (in->op == SLRI_OP_CALL && l->shares[in->callee->index]);
    for (uint32_t i = 0; i < in->args; i++)
        walk->refused |= is_state(in->arg[i].root);
    for (int part = 0; part < 3; part++)
        note_part(walk, in->body[part]);
    for (uint32_t i = 0; i < in->cases; i++)
        note_part(walk, in->match[i].body);
}

static void note_part(struct kept_walk *walk, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count && !walk->refused; i++)
        note_instr(walk, &block->instr[i]);
}

static slri_reg place_of(struct slri_lowering *l, const struct slri_kept *kept)
{
    return slri_lower_op(l, SLRI_OP_ADD, SLRI_I64, l->state, slri_lower_const(l, SLRI_I64, kept->at));
}

bool slri_lower_keep(struct slri_lowering *l, const struct slri_instr *loop)
{
    struct kept_walk walk = {.l = l};
    if (l->is_block || l->kepts != 0)
        return false;
    note_instr(&walk, loop);
    if (walk.refused)
        l->kepts = 0;
    for (uint32_t i = 0; i < l->kepts; i++) {
        struct slri_kept *kept = &l->kept[i];
        kept->reg = slri_lower_load(l, kept->kind, slri_lower_root(SLRI_BATCH_STATES), place_of(l, kept));
    }
    return l->kepts != 0;
}

void slri_lower_keep_no_more(struct slri_lowering *l)
{
    for (uint32_t i = 0; i < l->kepts; i++)
        if (l->kept[i].is_stored)
            slri_lower_store(l, l->kept[i].kind, slri_lower_root(SLRI_BATCH_STATES), place_of(l, &l->kept[i]),
                             l->kept[i].reg);
    l->kepts = 0;
}

bool slri_lower_kept(struct slri_lowering *l, const struct slri_instr *in)
{
    uint64_t at;
    if (l->kepts == 0 || !is_keepable(l, in, &at))
        return false;
    const struct slri_kept *kept = l->kept;
    while (kept->at != at)
        kept++;
    if (in->op == SLRI_OP_LOAD)
        slri_lower_set(l, in->dst, SLRI_OP_MOVE, in->kind, kept->reg, SLRI_NO_REG);
    else
        slri_lower_set(l, kept->reg, SLRI_OP_MOVE, in->kind, in->b, SLRI_NO_REG);
    return true;
}

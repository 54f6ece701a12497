// SPDX-License-Identifier: Apache-2.0
// What a compiler sees of a function without running it. A register is plain where all that is written to it follows
// from what is the same in all threads, in places that all threads reach. Conservative: no order of writes is looked
// at.
#include "ir/pass/meet_internal.h"

struct walk {
    struct slri_plain *plain;
    bool changed;
    const struct slri_instr *unseen; // the first wait that not all are seen to come to
    bool looks;                      // for it
};

// ---- registers -----------------------------------------------------------------------------------------------------

static bool varies(const struct walk *walk, slri_reg reg)
{
    return reg != SLRI_NO_REG && walk->plain->varies[reg];
}

static bool is_given(const struct walk *walk, struct slri_root root)
{
    return root.kind == SLRI_ROOT_BINDING && !walk->plain->entry->binding[root.index].is_buffer;
}

static bool result_varies(const struct walk *walk, const struct slri_instr *in)
{
    switch (in->op) {
    case SLRI_OP_BARRIER:
        return false;
    case SLRI_OP_BUILTIN:
        return in->imm < SLRI_BUILTIN_BLOCK_X;
    case SLRI_OP_LOAD:
        return !is_given(walk, in->root) || varies(walk, in->a);
    case SLRI_OP_PRESENT:
        return !is_given(walk, in->root) && in->root.kind != SLRI_ROOT_BINDING;
    case SLRI_OP_MATH: {
        bool found = false;
        for (uint32_t i = 0; i < in->args; i++)
            found |= varies(walk, in->arg[i].reg);
        return found;
    }
    default:
        return in->op > SLRI_OP_CONVERT || varies(walk, in->a) || varies(walk, in->b);
    }
}

static void visit(struct walk *walk, const struct slri_block *block, bool together);

// Whether some thread may jump out of a loop, or of its round, where others do not.
static bool jumps_apart(const struct walk *walk, const struct slri_block *block, bool together)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (!slri_instr_leaves(in))
            continue;
        const bool is_branch = in->op == SLRI_OP_IF || in->op == SLRI_OP_SWITCH || in->op == SLRI_OP_LOOP;
        if (!is_branch && !together)
            return true;
        const bool within = together && !varies(walk, in->a);
        for (int part = 0; part < 3; part++)
            if (jumps_apart(walk, in->body[part], within))
                return true;
        for (uint32_t c = 0; c < in->cases; c++)
            if (jumps_apart(walk, in->match[c].body, within))
                return true;
    }
    return false;
}

static void visit_parts(struct walk *walk, const struct slri_instr *in, bool together)
{
    together = together && !varies(walk, in->a);
    if (in->op == SLRI_OP_LOOP)
        together = together && !jumps_apart(walk, in->body[1], true);
    for (int part = 0; part < 3; part++)
        visit(walk, in->body[part], together);
    for (uint32_t c = 0; c < in->cases; c++)
        visit(walk, in->match[c].body, together);
}

static void visit(struct walk *walk, const struct slri_block *block, bool together)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (walk->looks && !together && slri_instr_waits(in) && !walk->unseen)
            walk->unseen = in;
        if (in->op == SLRI_OP_RETURN && !together && !walk->plain->jumps)
            walk->plain->jumps = walk->changed = true;
        visit_parts(walk, in, together);
        if (in->dst == SLRI_NO_REG || walk->plain->varies[in->dst] || (together && !result_varies(walk, in)))
            continue;
        walk->plain->varies[in->dst] = walk->changed = true;
    }
}

bool slri_plain_find(struct slri_plain *plain, struct slri_region *region)
{
    struct walk walk = {.plain = plain};
    plain->varies = slri_region_take(region, plain->function->regs + (size_t)1);
    if (!plain->varies)
        return false;
    for (uint32_t i = 0; i < plain->function->params; i++)
        plain->varies[plain->function->param[i].reg] = true;
    do {
        walk.changed = false;
        visit(&walk, plain->function->body, !plain->jumps);
    } while (walk.changed);
    return true;
}

bool slri_plain_meets(const struct slri_plain *plain)
{
    struct walk walk = {.plain = (struct slri_plain *)plain, .looks = true};
    visit(&walk, plain->function->body, !plain->jumps);
    return !walk.unseen;
}

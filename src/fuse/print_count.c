// SPDX-License-Identifier: Apache-2.0
// Where registers are written and read: what can be a part of an expression, and where a variable is declared.
#include "fuse/printing.h"

static void count_read(struct printing *p, slri_reg reg, uint32_t at)
{
    if (reg == SLRI_NO_REG)
        return;
    struct printed *r = &p->reg[reg];
    r->first_read = r->reads ? r->first_read : at;
    r->last_read = at;
    ++r->reads;
}

bool slri_print_skips(const struct printing *p, const struct slri_instr *instr)
{
    return instr->op == SLRI_OP_INDEX || (p->print && slri_part_is_address(p->print->part, instr));
}

static void count_access(struct printing *p, const struct slri_instr *instr, uint32_t at)
{
    struct slri_access access;
    if (!p->print || !slri_part_access(p->print->part, instr, &access))
        slri_print_give_up(p, "an address is computed");
    else if (access.to == SLRI_TO_OTHER)
        count_read(p, access.index, at);
    if (instr->op == SLRI_OP_STORE)
        count_read(p, instr->b, at);
}

static void count_instr(struct printing *p, const struct slri_instr *instr, uint32_t block_from)
{
    uint32_t at = p->order++;
    if (instr->dst != SLRI_NO_REG) {
        struct printed *r = &p->reg[instr->dst];
        r->at = at;
        r->block_from = block_from;
        if (r->writes++ == 0) {
            r->first_at = at;
            r->first_to = block_from; // until its block has ended
        }
    }
    if (slri_print_skips(p, instr))
        return;
    if (instr->op == SLRI_OP_LOAD || instr->op == SLRI_OP_STORE) {
        count_access(p, instr, at);
        return;
    }
    count_read(p, instr->a, at);
    if (instr->op == SLRI_OP_LOOP && instr->a != SLRI_NO_REG)
        p->reg[instr->a].is_test = p->reg[instr->a].reads == 1 && p->reg[instr->a].writes == 0; // so far
    count_read(p, instr->b, at);
    count_read(p, instr->c, at);
    for (uint32_t i = 0; i < instr->args; ++i)
        count_read(p, instr->arg[i].reg, at);
    for (int k = 0; k < 3; ++k)
        if (instr->body[k])
            slri_print_count(p, instr->body[k], 0, instr->body[k]->count);
    for (uint32_t k = 0; k < instr->cases; ++k)
        slri_print_count(p, instr->match[k].body, 0, instr->match[k].body->count);
}

void slri_print_count(struct printing *p, const struct slri_block *block, uint32_t first, uint32_t end)
{
    uint32_t from = p->order;
    for (uint32_t i = first; i < end; ++i)
        count_instr(p, &block->instr[i], from);
    for (uint32_t i = first; i < end; ++i) {
        slri_reg dst = block->instr[i].dst;
        if (dst == SLRI_NO_REG)
            continue;
        if (p->reg[dst].block_from == from)
            p->reg[dst].block_to = p->order;
        if (p->reg[dst].first_to == from && p->reg[dst].first_at >= from)
            p->reg[dst].first_to = p->order;
    }
}

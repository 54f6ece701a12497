// SPDX-License-Identifier: Apache-2.0
// What follows from a module once it is whole: what functions and entries use of a block, where its shared memory
// lies, and what is wrong with an entry that only shows then.
#include "lang/check/advice.h"
#include "lang/lower/lower.h"

#include <stddef.h>

// ---- following calls -----------------------------------------------------------------------------------------------

struct visit {
    void (*each)(void *user, const struct slri_instr *in); // or NULL: functions are only marked
    void *user;
    uint32_t mark, uses; // only what uses one of these is looked into, each function once; 0: all is
};

static void visit_block(const struct visit *visit, const struct slri_block *block);

static void visit_function(const struct visit *visit, struct slri_function *function)
{
    if (function->mark == visit->mark || (visit->uses && !(function->uses & visit->uses)))
        return;
    function->mark = visit->mark;
    visit_block(visit, function->body);
}

static void visit_block(const struct visit *visit, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        if (visit->each)
            visit->each(visit->user, in);
        if (in->callee)
            visit_function(visit, (struct slri_function *)in->callee); // the module is still being made
        for (int part = 0; part < 3; part++)
            visit_block(visit, in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            visit_block(visit, in->match[c].body);
    }
}

// ---- what functions use --------------------------------------------------------------------------------------------

static uint32_t uses_of_block(const struct slri_block *block)
{
    uint32_t uses = 0;
    for (uint32_t i = 0; block && i < block->count; i++) {
        const struct slri_instr *in = &block->instr[i];
        uses |= slri_instr_uses(in) | (in->callee ? in->callee->uses : 0);
        for (int part = 0; part < 3; part++)
            uses |= uses_of_block(in->body[part]);
        for (uint32_t c = 0; c < in->cases; c++)
            uses |= uses_of_block(in->match[c].body);
    }
    return uses;
}

// ---- shared memory -------------------------------------------------------------------------------------------------

struct sharing {
    uint32_t *user; // by shared object: the mark of the last entry that was seen to use it
    uint32_t mark, first, end;
};

static void mark_root(struct sharing *sharing, struct slri_root root)
{
    if (root.kind != SLRI_ROOT_SHARED)
        return;
    sharing->user[root.index] = sharing->mark;
    sharing->first = root.index < sharing->first ? root.index : sharing->first;
    sharing->end = root.index >= sharing->end ? root.index + 1 : sharing->end;
}

static void mark_shared(void *user, const struct slri_instr *in)
{
    mark_root(user, in->root);
    mark_root(user, in->root2);
}

#define SHARED_ALIGN 16 // of each object, so that any access that is aligned within it is aligned

// An entry knows the objects from its first to its last, not all of a file with thousands of kernels.
static void lay_out_shared(struct slri_lowering *all, struct slri_entry *entry, uint32_t *user)
{
    const struct slri_module *module = all->module;
    struct sharing sharing = {user, ++all->mark, UINT32_MAX, 0};
    struct visit visit = {mark_shared, &sharing, sharing.mark, SLRI_USES_SHARED};
    uint64_t at = 0;
    visit_function(&visit, entry->function);
    if (sharing.first < sharing.end) {
        entry->shared_first = sharing.first;
        entry->shareds = sharing.end - sharing.first;
        entry->shared_offset = slri_unit_take(all->unit, entry->shareds * sizeof *entry->shared_offset);
    }
    for (uint32_t i = 0; i < entry->shareds; i++) {
        bool used = user[sharing.first + i] == sharing.mark;
        entry->shared_offset[i] = used ? at : UINT64_MAX;
        if (used)
            at = (at + module->shared[sharing.first + i].type->bytes + SHARED_ALIGN - 1) / SHARED_ALIGN * SHARED_ALIGN;
    }
    entry->shared_bytes = at;
    if (at > SLRI_SHARED_MAX_BYTES)
        SLRI_ERROR(all->unit, entry->function->where, TYPE_TOO_LARGE,
                   "the shared objects of '%s' need %llu bytes, a block has %llu for them", entry->name,
                   (unsigned long long)at, (unsigned long long)SLRI_SHARED_MAX_BYTES);
}

// ---- what an entry has not -----------------------------------------------------------------------------------------

struct misuse {
    struct slri_lowering *all;
    const struct slri_entry *entry;
    uint32_t forbidden;
};

static const char *name_use(const struct slri_instr *in, uint32_t use)
{
    switch (use) {
    case SLRI_USES_PLACE:
        return "a thread's place in its block or grid";
    case SLRI_USES_BARRIER:
        return "a barrier";
    case SLRI_USES_WARP:
    case SLRI_USES_MATRIX:
        return "a function of a warp";
    case SLRI_USES_DYNAMIC:
        return "extern __shared__ memory";
    case SLRI_USES_GLOBAL:
        return "a variable of the file";
    case SLRI_USES_REPLY:
        return in->op == SLRI_OP_SEND ? "ring_send" : "ring_reply";
    case SLRI_USES_BATCH:
        return "ring_reply_to";
    case SLRI_USES_INSTANCE:
        return "ring_instance";
    default:
        return in->op == SLRI_OP_STORE ? "a write to __shared__ memory" : "__shared__ memory";
    }
}

static const char *advise_handler(const struct slri_entry *entry, uint32_t use)
{
    if (use == SLRI_USES_GLOBAL)
        return "keep it in the state, the handler's first parameter (struct state *self); or make it a parameter after "
               "the message, which the host gives";
    if (use == SLRI_USES_REPLY)
        return "write ring_reply_to(i, &answer), where i is the number of one of its messages";
    if (use == SLRI_USES_BATCH)
        return "write ring_reply(&answer), or __ring_batch__ for a handler of many messages";
    if (entry->kind == SLRI_ENTRY_RING && use != SLRI_USES_DYNAMIC)
        return "write __ring_block__ in place of __ring__, for a block of threads a message; ring_instance() is the "
               "number "
               "of the instance";
    return NULL;
}

static void report_misuse(const struct misuse *m, const struct slri_instr *in, uint32_t use)
{
    bool in_kernel = m->entry->kind == SLRI_ENTRY_KERNEL;
    unsigned code = in_kernel ? SLRI_K_NOT_IN_KERNEL : SLRI_K_NOT_IN_HANDLER;
    if (slri_lower_is_news(m->all, in->where, code))
        slri_report_error(m->all->unit->front, in->where, code, "%s in the %s '%s'%s", name_use(in, use),
                          in_kernel ? "kernel" : "handler", m->entry->name,
                          in_kernel                            ? ", which has no message"
                          : use == SLRI_USES_GLOBAL            ? ": give it its state, or a binding"
                          : use == SLRI_USES_REPLY             ? ", which has many messages"
                          : use == SLRI_USES_BATCH             ? ", which has one message"
                          : m->entry->kind == SLRI_ENTRY_BLOCK ? ", which is never launched"
                                                               : ", which is one thread");
    if (!in_kernel)
        SLRI_ADVISE(m->all->unit, advise_handler(m->entry, use));
    slri_unit_after_error(m->all->unit);
}

static void find_misuse(void *user, const struct slri_instr *in)
{
    const struct misuse *m = user;
    uint32_t wrong = slri_instr_uses(in) & m->forbidden;
    if (wrong)
        report_misuse(m, in, wrong & (0 - wrong));
}

static void check_uses(struct slri_lowering *all, const struct slri_entry *entry)
{
    struct misuse misuse = {all, entry, ~slri_entry_may_use(entry->kind)};
    struct visit visit = {find_misuse, &misuse, ++all->mark, misuse.forbidden};
    visit_function(&visit, entry->function);
}

static void check_barriers(struct slri_lowering *all, const struct slri_entry *entry)
{
    if (!all->diverging)
        return;
    const struct visit visit = {.mark = ++all->mark, .uses = SLRI_USES_BARRIER};
    visit_function(&visit, entry->function);
    for (const struct slri_diverging *at = all->diverging; at; at = at->next)
        if (at->function->mark == visit.mark)
            slri_report_diverging(all, at->function);
}

// ---- the module ----------------------------------------------------------------------------------------------------

void slri_reflect(struct slri_lowering *all)
{
    struct slri_module *module = all->module;
    for (uint32_t i = 0; i < module->functions; i++) // callees come first
        module->function[i]->uses = uses_of_block(module->function[i]->body);
}

void slri_reflect_entry(struct slri_lowering *all, struct slri_entry *entry, uint32_t *user)
{
    if (entry->function->uses & ~slri_entry_may_use(entry->kind))
        check_uses(all, entry);
    else if (!slri_is_of_one_thread(entry))
        lay_out_shared(all, entry, user);
    check_barriers(all, entry);
}

void slri_forget_uncalled(struct slri_lowering *all)
{
    struct slri_module *module = all->module;
    const struct visit visit = {.mark = ++all->mark};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < module->entries; i++)
        visit_function(&visit, (struct slri_function *)module->entry[i].function);
    for (uint32_t i = 0; i < module->functions; i++)
        if (module->function[i]->mark == visit.mark)
            module->function[kept++] = module->function[i];
    module->functions = kept;
}

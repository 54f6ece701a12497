// SPDX-License-Identifier: Apache-2.0
// A fault is told as a place in the source; the instruction that stands there knows what it is about. Looked up when
// somebody asks, so that no run pays for it.
#include "ir/blame.h"
#include "abi/handler.h"
#include "base/status.h"
#include "ir/ir_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct search {
    const struct slri_module *module;
    const struct slri_entry *entry;
    const struct slri_blame *blame;
    const struct slri_function *function; // that is being looked through
    // What was found: an object's name and kind, and the bytes of its elements; 0: an index counts them.
    char name[96];
    uint32_t each, bytes; // bytes: of an INDEX that counts bytes, how many it was about
    uint32_t found;       // different ones
    bool only_buffers;
};

static bool has_place(const struct search *s, const struct slri_instr *in)
{
    const struct slri_where *at = &s->blame->where;
    return in->where.file == at->file && in->where.line == at->line &&
           (at->column == 0 || in->where.column == at->column);
}

static void note(struct search *s, const char *kind, const char *name, uint32_t each, uint32_t bytes)
{
    char text[sizeof s->name];
    snprintf(text, sizeof text, "%s%s%.70s%s", kind, *kind && *name ? " '" : "", name, *kind && *name ? "'" : "");
    if (s->found != 0 && strcmp(text, s->name) == 0 && s->each == each && s->bytes == bytes)
        return;
    memcpy(s->name, text, sizeof text);
    s->each = each;
    s->bytes = bytes;
    ++s->found;
}

static uint32_t element_bytes(const struct slri_type *type)
{
    while (type->kind == SLRI_ARRAY)
        type = type->of;
    return (uint32_t)type->bytes;
}

static void note_root(struct search *s, struct slri_root root)
{
    const struct slri_module *module = s->module;
    if (s->only_buffers && root.kind != SLRI_ROOT_BINDING)
        return;
    if (root.kind == SLRI_ROOT_BINDING && root.index < s->entry->bindings) {
        const struct slri_binding_info *binding = &s->entry->binding[root.index];
        note(s, "buffer", binding->name, element_bytes(binding->type), 0);
    } else if (root.kind == SLRI_ROOT_STATE) {
        note(s, "the state", "", 1, 0);
    } else if (root.kind == SLRI_ROOT_MESSAGE) {
        note(s, "the message", "", 1, 0);
    } else if (root.kind == SLRI_ROOT_CONST) {
        note(s, "table", module->constant[root.index].name, element_bytes(module->constant[root.index].type), 0);
    } else if (root.kind == SLRI_ROOT_SHARED) {
        note(s, "shared array", module->shared[root.index].name, element_bytes(module->shared[root.index].type), 0);
    } else if (root.kind == SLRI_ROOT_DYNAMIC) {
        note(s, "the dynamic shared memory", "", 1, 0);
    } else if (root.kind == SLRI_ROOT_GLOBAL) {
        note(s, "variable", module->global[root.index].name, element_bytes(module->global[root.index].type), 0);
    } else if (root.kind == SLRI_ROOT_LOCAL) {
        note(s, "local", s->function->local[root.index].name, element_bytes(s->function->local[root.index].type), 0);
    } else if (root.kind == SLRI_ROOT_PARAM) {
        note(s, "what parameter", s->function->param[root.index].name, 1, 0);
    }
}

static void look_for_blame(struct search *s, const struct slri_instr *in)
{
    const struct slri_blame *blame = s->blame;
    if (!has_place(s, in))
        return;
    if (blame->fault == SLRI_FAULT_INDEX) {
        if (in->op == SLRI_OP_INDEX && in->name && (blame->size == 0 || in->b != SLRI_NO_REG || in->imm == blame->size))
            note(s, "", in->name, 0, in->indexed_bytes);
        return;
    }
    if (in->op == SLRI_OP_INDEX || in->op == SLRI_OP_PRESENT)
        return;
    if (in->root.kind != SLRI_ROOT_NONE)
        note_root(s, in->root);
    if (in->root2.kind != SLRI_ROOT_NONE)
        note_root(s, in->root2);
}

static void look_through(struct search *s, const struct slri_block *block)
{
    for (uint32_t i = 0; block && i < block->count; ++i) {
        const struct slri_instr *in = &block->instr[i];
        look_for_blame(s, in);
        for (int part = 0; part < 3; ++part)
            look_through(s, in->body[part]);
        for (uint32_t c = 0; c < in->cases; ++c)
            look_through(s, in->match[c].body);
    }
}

static void look_everywhere(struct search *s)
{
    for (uint32_t i = 0; i < s->module->functions; ++i) {
        s->function = s->module->function[i];
        look_through(s, s->function->body);
    }
}

// The element that a signed offset lies in.
static int64_t element_at(int64_t offset, int64_t each)
{
    return offset >= 0 ? offset / each : -((-offset + each - 1) / each);
}

static void put_index(const struct search *s, char *out, size_t room)
{
    const struct slri_blame *blame = s->blame;
    int64_t index = (int64_t)blame->index;
    if (s->each == 0 && s->bytes != 0)
        snprintf(out, room, ": %u bytes at offset %" PRId64 " of %" PRIu64 " in %s", s->bytes, index,
                 blame->size - 1 + s->bytes, s->name);
    else if (s->each == 0)
        snprintf(out, room, ": index %" PRId64 " of %" PRIu64 " in %s", index, blame->size, s->name);
    else if (index >= 0 && (uint64_t)index < blame->size && (uint64_t)index + s->each <= blame->size)
        snprintf(out, room, ": byte %" PRId64 " of %" PRIu64 " in %s, where it is not aligned", index, blame->size,
                 s->name);
    else
        snprintf(out, room, ": index %" PRId64 " of %" PRIu64 " in %s", element_at(index, s->each),
                 blame->size / s->each, s->name);
}

void slri_blame_text(const struct slri_module *module, const struct slri_entry *entry, const struct slri_blame *blame,
                     char out[SLRI_BLAME_BYTES])
{
    struct search s = {.module = module, .entry = entry, .blame = blame};
    int length = snprintf(out, SLRI_BLAME_BYTES, "%s", slri_fault_text(blame->fault));
    if (blame->fault != SLRI_FAULT_INDEX && blame->fault != SLRI_FAULT_ACCESS)
        return;
    // The load of an index may stand at the same place as the access; it does not fail where a buffer's can.
    s.only_buffers = true;
    look_everywhere(&s);
    s.only_buffers = false;
    if (s.found == 0)
        look_everywhere(&s);
    if (s.found != 1) { // no place is known, or it is not known which: what the figures say alone
        snprintf(s.name, sizeof s.name, "%s", blame->fault == SLRI_FAULT_INDEX ? "an array" : "a buffer");
        s.each = blame->fault == SLRI_FAULT_ACCESS;
        s.bytes = 0;
    }
    if (blame->where.column != 0)
        put_index(&s, out + length, SLRI_BLAME_BYTES - (size_t)length);
    else if (s.found == 1)
        snprintf(out + length, SLRI_BLAME_BYTES - (size_t)length, ": %s", s.name);
}

slr_status slri_kernel_faulted(const struct slri_module *module, const struct slri_entry *entry,
                               const struct slri_blame *blame, const char *thread)
{
    char text[SLRI_BLAME_BYTES], column[16] = "";
    const struct slri_where *at = &blame->where;
    slri_blame_text(module, entry, blame, text);
    if (at->column != 0)
        snprintf(column, sizeof column, ":%u", at->column);
    return SLRI_FAIL(HANDLER_FAULT, "kernel %s: %s, at %s:%u%s%s%s", entry->name, text,
                     at->file < module->files ? module->file[at->file] : "?", at->line, column, thread ? ", " : "",
                     thread ? thread : "");
}

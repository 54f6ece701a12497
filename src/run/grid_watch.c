// SPDX-License-Identifier: Apache-2.0
// What a checker may ask of a thread that is about to take a step.
#include "run/grid.h"
#include "run/interpreter_thread.h"

void slri_watch_step(const struct slri_interp_thread *thread, const struct slri_code *code)
{
    thread->watch->step(thread->watch->user, thread, code);
}

const union slri_scalar *slri_watch_registers(const struct slri_interp_thread *thread)
{
    return thread->frame->reg;
}

const uint32_t *slri_watch_builtins(const struct slri_interp_thread *thread)
{
    return thread->builtin;
}

uint32_t slri_watch_number(const struct slri_interp_thread *thread)
{
    return thread->number;
}

// The other way round than flatten.c's span_name.
static struct slri_root root_of(const struct slri_module *module, unsigned table, uint32_t index)
{
    uint32_t shared = slri_span_of_shared(module, 0), dynamic = slri_span_of_shared(module, module->shareds);
    if (table == SLRI_SPANS_OF_FRAME)
        return (struct slri_root){SLRI_ROOT_LOCAL, index};
    if (index >= slri_span_of_binding(module, 0))
        return (struct slri_root){SLRI_ROOT_BINDING, index - slri_span_of_binding(module, 0)};
    if (index > dynamic)
        return (struct slri_root){SLRI_ROOT_GLOBAL, index - dynamic - 1};
    if (index == dynamic)
        return (struct slri_root){SLRI_ROOT_DYNAMIC, 0};
    if (index >= shared)
        return (struct slri_root){SLRI_ROOT_SHARED, index - shared};
    if (index < SLRI_SPAN_CONST)
        return (struct slri_root){index == SLRI_SPAN_STATE ? SLRI_ROOT_STATE : SLRI_ROOT_MESSAGE, 0};
    return (struct slri_root){SLRI_ROOT_CONST, index - SLRI_SPAN_CONST};
}

static uint64_t bytes_of(const struct slri_interp_thread *thread, const struct slri_code *code)
{
    static const uint8_t bytes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 2, 2}; // of the kinds of memory, in their order
    if (code->op >= SLRI_CODE_LOAD_BOOL && code->op <= SLRI_CODE_LOAD_BF16)
        return bytes[code->op - SLRI_CODE_LOAD_BOOL];
    if (code->op >= SLRI_CODE_STORE_BOOL && code->op <= SLRI_CODE_STORE_BF16)
        return bytes[code->op - SLRI_CODE_STORE_BOOL];
    if (code->op == SLRI_CODE_COPY || code->op == SLRI_CODE_ZERO || code->op == SLRI_CODE_SEND)
        return code->imm;
    if (code->op == SLRI_CODE_REPLY || code->op == SLRI_CODE_REPLY_TO)
        return thread->entry->reply->bytes;
    bool is_atomic = code->op >= SLRI_CODE_ATOMIC_LOAD && code->op <= SLRI_CODE_ATOMIC_CAS;
    return is_atomic ? slri_kind_bytes(code->kind) : 0;
}

uint32_t slri_watch_access(const struct slri_interp_thread *thread, const struct slri_code *code,
                           struct slri_access out[2])
{
    const struct slri_module *module = thread->flat->module;
    const union slri_scalar *reg = thread->frame->reg;
    uint64_t bytes = bytes_of(thread, code);
    if (bytes == 0)
        return 0;
    bool is_load = code->op <= SLRI_CODE_LOAD_BF16 || code->op == SLRI_CODE_ATOMIC_LOAD ||
                   code->op == SLRI_CODE_REPLY || code->op == SLRI_CODE_REPLY_TO || code->op == SLRI_CODE_SEND;
    bool is_atomic = code->op >= SLRI_CODE_ATOMIC_LOAD && code->op <= SLRI_CODE_ATOMIC_CAS;
    out[0] =
        (struct slri_access){root_of(module, code->table, code->root), reg[code->a].u64, bytes, !is_load, is_atomic};
    if (code->op != SLRI_CODE_COPY)
        return 1;
    out[1] = (struct slri_access){root_of(module, code->table2, code->u.root2), reg[code->b].u64, bytes, false, false};
    return 2;
}

// SPDX-License-Identifier: Apache-2.0
// Making and unmaking: the prepared module, its threads, and the state that a call begins in.
#include "run/interpreter.h"

#include "base/alloc.h"
#include "base/status.h"
#include "run/interpreter_op.h"
#include "run/interpreter_thread.h"

#include <string.h>

static slr_status create(const struct slri_module *module, const struct slri_entry *entry, struct slri_interp **out)
{
    struct slri_interp *interp = slri_alloc(NULL, sizeof *interp);
    if (interp == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory to prepare '%s' for the interpreter", module->name);
    slr_status status = slri_flatten(module, entry, &interp->flat);
    if (status != SLR_OK) {
        slri_interp_destroy(interp);
        return status;
    }
    *out = interp;
    return SLR_OK;
}

slr_status slri_interp_create(const struct slri_module *module, struct slri_interp **out)
{
    return create(module, NULL, out);
}

slr_status slri_interp_create_entry(const struct slri_module *module, const struct slri_entry *entry,
                                    struct slri_interp **out)
{
    return create(module, entry, out);
}

void slri_interp_destroy(struct slri_interp *interp)
{
    if (interp == NULL)
        return;
    slri_region_destroy(interp->flat.region);
    slri_free(NULL, interp, sizeof *interp);
}

static uint32_t function_index(const struct slri_module *module, const struct slri_function *function)
{
    uint32_t i = 0;
    while (module->function[i] != function)
        i++;
    return i;
}

slr_status slri_interp_thread_create(const struct slri_interp *interp, uint32_t entry, struct slri_interp_thread **out)
{
    const struct slri_module *module = interp->flat.module;
    if (entry >= module->entries)
        return SLRI_FAIL(INVALID, "entry %u of '%s', which has %u", entry, module->name, module->entries);
    const struct slri_entry *chosen = &module->entry[entry];
    uint32_t function = function_index(module, chosen->function);
    if (chosen->kind == SLRI_ENTRY_BLOCK)
        return slri_interp_block_create(interp, chosen, NULL, out);
    if (chosen->kind == SLRI_ENTRY_KERNEL)
        return SLRI_FAIL(UNSUPPORTED, "'%s' is a kernel: it runs as a grid of blocks, not as a handler", chosen->name);
    size_t spans = slri_span_of_binding(module, chosen->bindings);
    if (spans < interp->flat.spans)
        spans = interp->flat.spans;
    size_t head = (sizeof(struct slri_interp_thread) + spans * sizeof(struct slri_span) + 15) / 16 * 16;
    size_t bytes = head + interp->flat.function[function].stack_bytes;
    struct slri_interp_thread *thread = slri_alloc(NULL, bytes);
    if (thread == NULL)
        return SLRI_FAIL(NO_MEMORY, "no memory for a thread of '%s'", chosen->name);
    thread->flat = &interp->flat;
    thread->entry = chosen;
    thread->function = function;
    thread->progress = SLRI_DONE;
    thread->span = (struct slri_span *)(thread + 1);
    thread->stack = (unsigned char *)thread + head;
    thread->bytes = bytes;
    for (uint32_t i = 0; i < module->constants; i++) // only ever read: the front end refuses stores to them
        thread->span[SLRI_SPAN_CONST + i] =
            (struct slri_span){(unsigned char *)module->constant[i].data, module->constant[i].type->bytes};
    *out = thread;
    return SLR_OK;
}

void slri_interp_thread_destroy(struct slri_interp_thread *thread)
{
    if (thread != NULL)
        slri_free(NULL, thread, thread->bytes);
}

struct slri_frame *slri_frame_open(const struct slri_flat_function *function, unsigned char *base)
{
    struct slri_frame *frame = (struct slri_frame *)base;
    memset(base, 0, function->frame_bytes);
    frame->reg = (union slri_scalar *)(frame + 1);
    frame->span = (struct slri_span *)(base + function->span_offset);
    frame->end = base + function->frame_bytes;
    for (uint32_t i = 0; i < function->locals; i++)
        frame->span[function->params + i] =
            (struct slri_span){base + function->local[i].offset, function->local[i].bytes};
    return frame;
}

static void bind(struct slri_interp_thread *thread, uint32_t index)
{
    const struct slri_binding_info *info = &thread->entry->binding[index];
    const struct slri_bound *bound = &thread->call->bound[index];
    if (info->is_buffer)
        thread->span[slri_span_of_binding(thread->flat->module, index)] =
            (struct slri_span){bound->data, bound->bytes}; // its offset register is zero as all are
}

void slri_interp_thread_open(struct slri_interp_thread *thread, struct slri_call *call)
{
    const struct slri_flat_function *function = &thread->flat->function[thread->function];
    thread->call = call;
    thread->progress = SLRI_RUNNING;
    thread->fault = SLRI_FAULT_NONE;
    thread->next = thread->flat->code + function->start;
    thread->frame = slri_frame_open(function, thread->stack);
    for (uint32_t i = 0; i < thread->entry->bindings; i++) {
        const struct slri_binding_info *info = &thread->entry->binding[i];
        if (!info->is_buffer && info->reg != SLRI_NO_REG)
            thread->frame->reg[info->reg] = slri_scalar_load(info->type->kind, call->bound[i].data);
    }
}

void slri_interp_thread_start(struct slri_interp_thread *thread, struct slri_call *call)
{
    const struct slri_entry *entry = thread->entry;
    slri_interp_thread_open(thread, call);
    thread->span[SLRI_SPAN_STATE] = (struct slri_span){call->state, entry->state == NULL ? 0 : entry->state->bytes};
    thread->span[SLRI_SPAN_MESSAGE] = slri_span_of_message(entry, call);
    for (uint32_t i = 0; i < entry->bindings; i++)
        bind(thread, i);
}

uint32_t slri_interp_fault(const struct slri_interp_thread *thread)
{
    return thread->fault;
}

uint32_t slri_interp_handler(void *self, struct slri_call *call)
{
    const struct slri_interp_thread *thread = self;
    if (thread->entry->kind == SLRI_ENTRY_BLOCK)
        return slri_interp_block_run(self, call);
    slri_interp_thread_start(self, call);
    while (slri_interp_step(self, UINT64_MAX, NULL) == SLRI_RUNNING)
        ;
    return slri_interp_fault(self);
}

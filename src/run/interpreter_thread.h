// SPDX-License-Identifier: Apache-2.0
// What a thread of the interpreter is made of, and the steps that interpreter_run.c leaves to others.
#ifndef SLRI_RUN_INTERPRETER_THREAD_H
#define SLRI_RUN_INTERPRETER_THREAD_H

#include "run/flatten.h"
#include "run/interpreter.h"

struct slri_grid;
struct slri_grid_end;
struct slri_watch;

struct slri_interp {
    struct slri_flat flat;
};

struct slri_interp_thread {
    const struct slri_flat *flat;
    const struct slri_entry *entry;
    uint32_t function; // the entry's
    enum slri_progress progress;
    uint32_t fault;
    struct slri_call *call;
    const struct slri_code *next; // the next instruction
    struct slri_frame *frame;     // the innermost
    struct slri_span *span;       // the call's table
    unsigned char *stack;
    size_t bytes; // of the thread itself, span and stack included
    // Of a block's thread:
    const uint32_t *builtin;        // by enum slri_builtin
    uint32_t number;                // in its block
    const struct slri_watch *watch; // or NULL
    const struct slri_grid *grid;
};

void slri_interp_print(const struct slri_interp_thread *thread, const struct slri_code *in); // of a grid's thread
void slri_watch_step(const struct slri_interp_thread *thread, const struct slri_code *in);   // watch is not NULL

// Sets the thread to the entry's first instruction, with a frame and its bindings' values; spans are left alone.
void slri_interp_thread_open(struct slri_interp_thread *thread, struct slri_call *call);

// grid.c: a handler's block, whose first member is a thread that stands for it. A `__ring__` handler's has one thread.
// `how` (or NULL): its grid is the block's, and what it says of watching, lockstep, limit and printing holds.
slr_status slri_interp_block_create(const struct slri_interp *interp, const struct slri_entry *entry,
                                    const struct slri_grid *how, struct slri_interp_thread **out);
uint32_t slri_interp_block_run(struct slri_interp_thread *block, struct slri_call *call);
// The same for message `number`, which watchers see as the block's place; `limit` in place of how->limit.
void slri_interp_block_message(struct slri_interp_thread *block, struct slri_call *call, uint64_t number,
                               uint64_t limit, struct slri_grid_end *out);

// Opens a frame for `function` at `base`, all zero but for the spans of its locals.
struct slri_frame *slri_frame_open(const struct slri_flat_function *function, unsigned char *base);

// The `bytes` bytes at `offset` of a span, or NULL if they do not all lie in it.
static inline unsigned char *slri_span_place(const struct slri_span *span, int64_t offset, uint64_t bytes)
{
    uint64_t at = (uint64_t)offset; // a negative one is beyond any span
    return at <= span->bytes && bytes <= span->bytes - at ? span->base + at : NULL;
}

static inline struct slri_span slri_span_of_message(const struct slri_entry *entry, const struct slri_call *call)
{
    uint64_t messages = entry->kind == SLRI_ENTRY_BATCH ? call->messages : 1;
    return (struct slri_span){(unsigned char *)call->message, messages * entry->message->bytes};
}

// Performs one of the ATOMIC codes on the memory at `at`, which is aligned to its kind.
void slri_interp_atomic(const struct slri_code *in, union slri_scalar *reg, void *at);
void slri_interp_fence(enum slri_order order);

#endif

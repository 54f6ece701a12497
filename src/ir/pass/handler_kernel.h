// SPDX-License-Identifier: Apache-2.0
// Lowers a `__ring__` handler to an ordinary kernel over a batch of messages. What a handler alone has becomes loads,
// stores and branches: replies, sends, the instance, its fuel and its faults. Whoever runs the kernel, or writes it as
// text for a compiler, needs to know of none of them.
#ifndef SLRI_IR_PASS_HANDLER_KERNEL_H
#define SLRI_IR_PASS_HANDLER_KERNEL_H

#include "ir/ir.h"

// What the kernel is given, in this order. The first four are memory that abi/relaunch.h describes, CHAINS is a U32.
// Then the handler's buffers, in their order. The constants hold the length of each in bytes, where a scalar's value
// is.
enum slri_batch_binding {
    SLRI_BATCH_IN,
    SLRI_BATCH_RESULTS,
    SLRI_BATCH_STATES,
    SLRI_BATCH_CONSTANTS,
    SLRI_BATCH_CHAINS,
    SLRI_BATCH_BUFFERS
};

#define SLRI_BATCH_THREADS 32 // of a block; each handles a chain of messages, and those above CHAINS nothing

// The threads of a block, and how many blocks handle so many chains: at least one. Of a `__ring_block__` handler, of
// which no kernel is made here, a block handles a chain.
static inline uint32_t slri_batch_threads(const struct slri_entry *handler)
{
    return handler->kind != SLRI_ENTRY_BLOCK ? SLRI_BATCH_THREADS
           : handler->max_threads            ? handler->max_threads
                                             : SLRI_RING_BLOCK_THREADS;
}
static inline uint32_t slri_batch_blocks(const struct slri_entry *handler, uint32_t chains)
{
    uint32_t each = handler->kind == SLRI_ENTRY_BLOCK ? 1 : SLRI_BATCH_THREADS;
    return chains ? (chains - 1) / each + 1 : 1;
}

// A new module whose only entry is the kernel, of the handler's name. It refers to types, tables, texts and variables
// of `module`, which must outlive it. A handler's first fault ends it at once, as in the interpreter; its state then
// begins anew. Errors: UNSUPPORTED (the entry is no `__ring__` handler, or it prints), NO_MEMORY.
slr_status slri_handler_kernel(const struct slri_module *module, const struct slri_entry *handler,
                               struct slri_module **out);

#endif

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

// The threads of a block, and how many blocks of `threads` handle so many chains: at least one. Of a `__ring_block__`
// handler, of which no kernel is made here, a block handles a chain.
static inline uint32_t slri_batch_threads(const struct slri_entry *handler)
{
    return handler->kind != SLRI_ENTRY_BLOCK ? SLRI_BATCH_THREADS
           : handler->max_threads            ? handler->max_threads
                                             : SLRI_RING_BLOCK_THREADS;
}
static inline uint32_t slri_batch_blocks(const struct slri_entry *handler, uint32_t threads, uint32_t chains)
{
    uint32_t each = handler->kind == SLRI_ENTRY_BLOCK ? 1 : threads;
    return chains ? (chains - 1) / each + 1 : 1;
}

// A new module whose only entry is the kernel, of the handler's name. It refers to types, tables, texts and variables
// of `module`, which must outlive it. A handler's first fault ends it at once, as in the interpreter; its state then
// begins anew. Errors: UNSUPPORTED (the entry is no `__ring__` handler, or it prints), NO_MEMORY.
slr_status slri_handler_kernel(const struct slri_module *module, const struct slri_entry *handler,
                               struct slri_module **out);

// ---- a kernel that stays -------------------------------------------------------------------------------------------

// What the only kernel of `around` is given, in this order; then the handler's buffers, in theirs. A mailbox's arena S,
// where the message lies; words for what is handled now; the states, the constants of abi/relaunch.h, a U32 that nobody
// reads, the owner's words P, the table of engine/resident_layout.h.
enum slri_stay_binding {
    SLRI_STAY_MAILBOX,
    SLRI_STAY_RECORD,
    SLRI_STAY_STATES,
    SLRI_STAY_CONSTANTS,
    SLRI_STAY_NOTHING,
    SLRI_STAY_OWN,
    SLRI_STAY_TABLE,
    SLRI_STAY_BUFFERS
};
#define SLRI_STAY_HANDLER "slr_handle" // the function that becomes the handler; it takes no value
#define SLRI_STAY_SLOT 0u              // of RECORD, words: of the message, where in S it lies
#define SLRI_STAY_STATE 1u             // and the number of its instance's state
#define SLRI_STAY_LANE 6u              // bytes of S: the payload of the first slot of the reply lane
#define SLRI_STAY_POSITION 7u          // and the position there of its first reply: abi/relaunch.h has stride and mask
#define SLRI_STAY_RECORD_AT 64u        // bytes: the result of abi/relaunch.h

// Puts a handler into the kernel of `around`, whose call of SLRI_STAY_HANDLER handles one message. A new module whose
// only entry is that kernel, of the handler's name. `around` is changed, and must outlive it, as `module` must. Errors:
// as of slri_handler_kernel.
slr_status slri_handler_stay(const struct slri_module *module, const struct slri_entry *handler,
                             struct slri_module *around, struct slri_module **out);

#endif

// SPDX-License-Identifier: Apache-2.0
/// Contexts to switch between on one thread: what simulated threads are made of. ucontext, and what sanitizers want to
/// be told about it.
#ifndef SLRI_BASE_SIM_CONTEXT_H
#define SLRI_BASE_SIM_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

struct slri_sim_context {
    void *native; // a ucontext_t
    void *stack;
    const void *bottom; // of the stack, for AddressSanitizer; of the thread's own, found at the first switch away
    size_t bytes;
    void *fake_stack; // AddressSanitizer's, while it does not run
    void *fiber;      // ThreadSanitizer's
};

/// A context that will run `body` when it is first switched to. False: no memory, or no such thing in this C library.
bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void));
void slri_sim_context_dispose(struct slri_sim_context *context); // not the one that runs

/// The context that runs already. False as above.
bool slri_sim_context_of_thread(struct slri_sim_context *context);

/// `last`: `from` will never be switched to again.
void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last);

/// The first thing that a body calls.
void slri_sim_context_arrived(struct slri_sim_context *context);

#endif

// SPDX-License-Identifier: Apache-2.0
// Contexts on Emscripten's fibers, which Asyncify makes: a switch unwinds one stack to the engine and rewinds another.
// The library with threads is built without Asyncify, and simulates nothing.
#include "base/sim_context.h"

#if defined(__EMSCRIPTEN_PTHREADS__)

bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void))
{
    (void)context, (void)body;
    return false;
}

void slri_sim_context_dispose(struct slri_sim_context *context)
{
    (void)context;
}

bool slri_sim_context_of_thread(struct slri_sim_context *context)
{
    (void)context;
    return false;
}

void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last)
{
    (void)from, (void)to, (void)last;
}

void slri_sim_context_arrived(struct slri_sim_context *context)
{
    (void)context;
}

#else

#include <emscripten/fiber.h>
#include <stdlib.h>

#define STACK_BYTES ((size_t)128 << 10)
#define UNWOUND_BYTES ((size_t)32 << 10) // where a stack that was unwound is kept

struct fiber {
    emscripten_fiber_t fiber;
    void (*body)(void);
    unsigned char *unwound;
};

static void run_fiber(void *arg)
{
    ((struct fiber *)arg)->body();
}

bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void))
{
    struct fiber *fiber = calloc(1, sizeof *fiber);
    *context = (struct slri_sim_context){.native = fiber, .stack = aligned_alloc(16, STACK_BYTES)};
    if (fiber)
        fiber->unwound = malloc(UNWOUND_BYTES);
    if (!fiber || !context->stack || !fiber->unwound) {
        slri_sim_context_dispose(context);
        return false;
    }
    fiber->body = body;
    emscripten_fiber_init(&fiber->fiber, run_fiber, fiber, context->stack, STACK_BYTES, fiber->unwound, UNWOUND_BYTES);
    return true;
}

void slri_sim_context_dispose(struct slri_sim_context *context)
{
    struct fiber *fiber = context->native;
    free(context->stack);
    if (fiber)
        free(fiber->unwound);
    free(fiber);
}

bool slri_sim_context_of_thread(struct slri_sim_context *context)
{
    static struct fiber first; // there is one program a page
    static unsigned char unwound[UNWOUND_BYTES] __attribute__((aligned(16)));
    *context = (struct slri_sim_context){.native = &first};
    emscripten_fiber_init_from_current_context(&first.fiber, unwound, sizeof unwound);
    return true;
}

void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last)
{
    struct fiber *left = from->native, *entered = to->native;
    (void)last;
    emscripten_fiber_swap(&left->fiber, &entered->fiber);
}

void slri_sim_context_arrived(struct slri_sim_context *context)
{
    (void)context;
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Contexts on glibc's ucontext.
#define _GNU_SOURCE
#include "base/sim_context.h"

#include <stdint.h>
#include <stdlib.h> // and with it __GLIBC__

#ifdef __GLIBC__

#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES ((size_t)8 << 20) // as a thread has; pages come when they are touched
#define GUARD_BYTES ((size_t)64 << 10)

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

// Stacks are used again: a mapping and its first page faults cost more than all else that a simulated thread does.
static void *spare[64];
static unsigned spares;

static void *take_stack(void)
{
    if (spares != 0)
        return spare[--spares];
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return NULL;
    mprotect(stack, GUARD_BYTES, PROT_NONE);
    return stack;
}

static void give_stack(void *stack)
{
    if (stack && spares < sizeof spare / sizeof spare[0])
        spare[spares++] = stack;
    else if (stack)
        munmap(stack, STACK_BYTES);
}

// By itself: a function that calls getcontext() is taken for one that may return twice.
static __attribute__((noinline)) bool fill(ucontext_t *native)
{
    return getcontext(native) == 0;
}

bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void))
{
    ucontext_t *native = calloc(1, sizeof *native);
    *context = (struct slri_sim_context){.native = native, .stack = take_stack()};
    if (!native || !context->stack || !fill(native)) {
        slri_sim_context_dispose(context);
        return false;
    }
    context->bottom = (char *)context->stack + GUARD_BYTES;
    context->bytes = STACK_BYTES - GUARD_BYTES;
    native->uc_stack.ss_sp = (char *)context->stack + GUARD_BYTES;
    native->uc_stack.ss_size = context->bytes;
    makecontext(native, body, 0);
#ifdef __SANITIZE_THREAD__
    context->fiber = __tsan_create_fiber(0);
#endif
    return true;
}

void slri_sim_context_dispose(struct slri_sim_context *context)
{
#ifdef __SANITIZE_THREAD__
    if (context->fiber)
        __tsan_destroy_fiber(context->fiber);
#endif
    give_stack(context->stack);
    free(context->native);
}

bool slri_sim_context_of_thread(struct slri_sim_context *context)
{
    static ucontext_t native; // there is one simulation at a time
    *context = (struct slri_sim_context){.native = &native};
#ifdef __SANITIZE_THREAD__
    context->fiber = __tsan_get_current_fiber();
#endif
    return true;
}

#ifdef __SANITIZE_ADDRESS__
static struct slri_sim_context *left; // whose stack's place is not known before it has been left
#endif

void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last)
{
#ifdef __SANITIZE_ADDRESS__
    left = from;
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake_stack, to->bottom, to->bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)last;
    swapcontext(from->native, to->native);
    slri_sim_context_arrived(from);
}

void slri_sim_context_arrived(struct slri_sim_context *context)
{
    (void)context;
#ifdef __SANITIZE_ADDRESS__
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(context->fake_stack, &bottom, &bytes);
    if (!left->bottom) {
        left->bottom = bottom;
        left->bytes = bytes;
    }
#endif
}

#else // a C library without makecontext(): nothing can be simulated

bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void))
{
    (void)context, (void)body;
    return false;
}

bool slri_sim_context_of_thread(struct slri_sim_context *context)
{
    (void)context;
    return false;
}

void slri_sim_context_dispose(struct slri_sim_context *context)
{
    (void)context;
}

void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last)
{
    (void)from, (void)to, (void)last;
}

void slri_sim_context_arrived(struct slri_sim_context *context)
{
    (void)context;
}

#endif

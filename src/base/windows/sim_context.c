// SPDX-License-Identifier: Apache-2.0
// Contexts on the fibers of Windows.
#define WIN32_LEAN_AND_MEAN
#include "base/sim_context.h"

#include <stdint.h>
#include <windows.h>

#define STACK_BYTES ((SIZE_T)8 << 20) // as a thread has on Linux; pages come when they are touched

static void CALLBACK begin(void *body)
{
    void (*run)(void) = (void (*)(void))(uintptr_t)body;
    run();
}

bool slri_sim_context_create(struct slri_sim_context *context, void (*body)(void))
{
    *context =
        (struct slri_sim_context){.native = CreateFiberEx(65536, STACK_BYTES, 0, begin, (void *)(uintptr_t)body)};
    return context->native != NULL;
}

void slri_sim_context_dispose(struct slri_sim_context *context)
{
    if (context->native)
        DeleteFiber(context->native);
}

bool slri_sim_context_of_thread(struct slri_sim_context *context)
{
    void *fiber = IsThreadAFiber() ? GetCurrentFiber() : ConvertThreadToFiber(NULL);
    *context = (struct slri_sim_context){.native = fiber};
    return fiber != NULL;
}

void slri_sim_context_switch(struct slri_sim_context *from, struct slri_sim_context *to, bool last)
{
    (void)from, (void)last;
    SwitchToFiber(to->native);
}

void slri_sim_context_arrived(struct slri_sim_context *context)
{
    (void)context;
}

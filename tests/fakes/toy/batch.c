// SPDX-License-Identifier: Apache-2.0
// The kernel of batched launches of a block's handler (abi/relaunch.h). Its text is CUDA's, compiled as C for one chain
// at a time; what it calls is the emitted handler.
#include "tests/fakes/toy/toy.h"

#include "abi/relaunch.h"
#include "engine/code.h"

#define MOST_BINDINGS 127

// What the text sees of its launch.
static __thread struct launch {
    slri_handler *handler;
    const struct slri_entry *entry; // the handler
    const struct slri_bound *buffer;
    const unsigned char *constants;
    uint32_t chain, outs;
} now;

static void bind(struct slri_bound *bound)
{
    const struct slri_bound *next = now.buffer;
    for (uint32_t i = 0; i < now.entry->bindings; ++i) {
        const struct slri_binding_info *binding = &now.entry->binding[i];
        if (binding->is_outlet)
            continue;
        if (!binding->is_buffer) {
            bound[i] = (struct slri_bound){(void *)(uintptr_t)(now.constants + RL_BINDING(i)), binding->type->bytes};
            continue;
        }
        bound[i].data = toy_host(next++->data);
        memcpy(&bound[i].bytes, now.constants + RL_BINDING(i), sizeof bound[i].bytes);
    }
}

static uint32_t call_handler(struct slri_call *call)
{
    call->reply_bytes = now.entry->reply ? (uint32_t)now.entry->reply->bytes : 0;
    call->prints = NULL;
    return now.handler(NULL, call);
}

#define SLR_DISPATCH static void
#define SLR_DISPATCH_FN static
#define SLR_DISPATCH_SHARED
#define SLR_DISPATCH_CALL(call) call_handler(call)
#define SLR_DISPATCH_MEET() (void)0
#define SLR_HAS_OUTLETS now.outs
#define SLR_OUTS MOST_BINDINGS
#define SLR_BINDINGS MOST_BINDINGS
#define SLR_PARAMETERS
#define SLR_BIND(bound) bind(bound);
#define blockIdx ((struct { uint32_t x; }){now.chain})
#define threadIdx ((struct { uint32_t x; }){0})
#include "hal/cuda/device/cu_relaunch.h"
#undef blockIdx
#undef threadIdx

static bool has_outlets(const struct slri_entry *entry)
{
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_outlet)
            return true;
    return false;
}

void toy_dispatch_batch(const struct slri_command *command)
{
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const struct slri_bound *bound = command->dispatch.bound;
    uint32_t chains;
    memcpy(&chains, bound[4].data, sizeof chains);
    now = (struct launch){.handler = ready->kernel.handler,
                          .entry = ready->kernel.native,
                          .buffer = bound + RL_PARAMETERS,
                          .constants = toy_host(bound[3].data)};
    now.outs = has_outlets(now.entry) ? now.entry->bindings : 0;
    for (now.chain = 0; now.chain < chains; ++now.chain)
        slr_relaunch(toy_host(bound[0].data), toy_host(bound[1].data), toy_host(bound[2].data), now.constants, chains,
                     NULL);
}

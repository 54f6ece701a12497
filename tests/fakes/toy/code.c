// SPDX-License-Identifier: Apache-2.0
// Kernels: emitted C, compiled as the cpu's kernels are, and run by a queue's thread alone.
#include "tests/fakes/toy/toy.h"

#include "engine/code.h"
#include "ir/blame.h"

#define MOST_BOUND 127 // parameters of a kernel

slr_status toy_code_write(void *device, struct slri_code_text *text)
{
    if (((struct toy *)device)->words && toy_words_take(text))
        return SLR_OK; // without a text nothing is compiled
    return slri_cpu_code_write(&((struct toy *)device)->compiler, text);
}

slr_status toy_code_build(void *device, const struct slri_code_text *text, struct slri_blob *blob, void **loaded)
{
    return slri_cpu_code_build(&((struct toy *)device)->compiler, text, blob, loaded);
}

slr_status toy_code_kernel(void *device, void *loaded, const struct slri_code_text *of, struct slri_kernel *out)
{
    out->may_fault = !of->is_batched; // a handler's faults are in its results
    out->native = (void *)(uintptr_t)of->entry;
    slr_status status = slri_cpu_code_kernel(device, loaded, of, out);
    const bool as_words = status == SLR_OK && ((struct toy *)device)->words && toy_words_take(of);
    return as_words ? toy_words_kernel(of, out) : status;
}

// What the kernel is given are addresses of the host: it runs on its cores.
static void bind(const struct slri_command *command, struct slri_bound *bound)
{
    const struct slri_entry *entry = command->dispatch.entry;
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        bound[i] = command->dispatch.bound[i];
        if (entry->binding[i].is_buffer)
            bound[i].data = toy_host(bound[i].data);
    }
}

static void report(const struct slri_launch *launch, void *word)
{
    const uint64_t packed = SLRI_FAULT_WORD(launch->fault, launch->fault_file, launch->fault_line);
    if (launch->fault != SLRI_FAULT_NONE)
        memcpy(toy_host(word), &packed, sizeof packed);
}

void toy_dispatch(const struct slri_command *command, const struct slri_extras *extras)
{
    const struct slri_ready_kernel *ready = command->dispatch.ready;
    const uint32_t *grid = command->dispatch.grid;
    struct slri_bound bound[MOST_BOUND];
    struct slri_printed_head *head = toy_host(extras->printed);
    struct slri_printed printed = {.data = (unsigned char *)(head + 1), .bytes = head ? 8 * (uint64_t)head->room : 0};
    struct slri_launch launch = {.bound = bound,
                                 .grid = {grid[0], grid[1], grid[2]},
                                 .dynamic_bytes = command->dispatch.dynamic_bytes,
                                 .global = toy_host(ready->globals),
                                 .printed = head ? &printed : NULL};
    bind(command, bound);
    if (ready->kernel.release)
        toy_words_dispatch(command, ready->kernel.native, &launch);
    else
        ready->kernel.blocks(&launch, 0, (uint64_t)grid[0] * grid[1] * grid[2]);
    report(&launch, extras->faulted);
    if (head) {
        head->used = (uint32_t)(printed.used / 8);
        head->lost = (uint32_t)printed.lost;
    }
}

// SPDX-License-Identifier: Apache-2.0
// The kernel of batched launches: its parameters, as those of an ordinary kernel, and its queue.
#include "engine/relaunch.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "ir/pass/handler_kernel.h"

#include <stddef.h>

#define HIGHEST_PRIORITY 255u // a launch is short, and somebody waits for each of its messages

struct slri_batch_kernel {
    struct slri_ready_kernel ready; // its entry is the next, or the kernel that is made of the handler
    struct slri_entry entry;        // of a `__ring_block__` handler: parameters as abi/relaunch.h has them
    struct slri_function function;  // which uses nothing
    struct slri_bound *bound;       // one a parameter
    size_t bytes;
    void *scratch;
    uint32_t chains; // of the launch
    struct slri_binding_info parameter[];
};

// ---- parameters ----------------------------------------------------------------------------------------------------

static void add_parameter(struct slri_batch_kernel *kernel, bool is_buffer, void *data, uint64_t bytes)
{
    const uint32_t at = kernel->entry.bindings++;
    kernel->parameter[at] = (struct slri_binding_info){.name = "", .is_buffer = is_buffer};
    kernel->bound[at] = (struct slri_bound){data, bytes};
}

// A scalar among the handler's bindings lies in the constants, what it sends in the results.
static void fill_parameters(const struct slri_relaunch *relaunch, struct slri_batch_kernel *kernel)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    add_parameter(kernel, true, relaunch->in, relaunch->in_bytes);
    add_parameter(kernel, true, relaunch->results, relaunch->results_bytes);
    add_parameter(kernel, true, relaunch->states, desc->states_bytes * desc->shards);
    add_parameter(kernel, true, relaunch->constants, relaunch->constants_bytes);
    add_parameter(kernel, false, &kernel->chains, sizeof kernel->chains);
    if (desc->entry->kind == SLRI_ENTRY_BLOCK)
        add_parameter(kernel, true, kernel->scratch, kernel->ready.kernel.batch.scratch_bytes);
    for (uint32_t i = 0; i < desc->entry->bindings; ++i) {
        const struct slri_binding_info *binding = &desc->entry->binding[i];
        if (!binding->is_buffer || binding->is_outlet)
            continue;
        add_parameter(kernel, true, desc->bound[i].data, desc->bound[i].bytes);
    }
}

// ---- life ----------------------------------------------------------------------------------------------------------

static struct slri_batch_kernel *allocate(const struct slri_relaunch *relaunch)
{
    const struct slri_entry *handler = relaunch->desc.entry;
    const uint32_t parameters = RL_PARAMETERS + handler->bindings;
    size_t bytes =
        sizeof(struct slri_batch_kernel) + parameters * (sizeof(struct slri_binding_info) + sizeof(struct slri_bound));
    struct slri_batch_kernel *made = slri_alloc(relaunch->of->allocator, bytes);
    if (!made)
        return NULL;
    made->bytes = bytes;
    made->bound = (struct slri_bound *)(void *)(made->parameter + parameters);
    made->entry = (struct slri_entry){
        .name = handler->name, .kind = SLRI_ENTRY_KERNEL, .function = &made->function, .binding = made->parameter};
    return made;
}

slr_status slri_batch_kernel_create(struct slri_relaunch *relaunch)
{
    const struct slri_queue_device *of = relaunch->of;
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    struct slri_batch_kernel *kernel = relaunch->kernel = allocate(relaunch);
    if (!kernel)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its kernel", desc->name);
    struct slri_kernel *code = &kernel->ready.kernel;
    SLRI_TRY(slri_code_batched(desc->program, desc->entry, &kernel->ready));
    if (desc->entry->kind == SLRI_ENTRY_BLOCK)
        kernel->ready.entry = &kernel->entry;
    relaunch->has_ticks = code->batch.has_ticks;
    if (code->batch.scratch_bytes)
        SLRI_TRY(slri_queue_device_memory(of, SLRI_MEMORY_DEVICE, code->batch.scratch_bytes, &kernel->scratch));
    fill_parameters(relaunch, kernel);
    return slri_stream_open(&relaunch->stream, relaunch->of, NULL, HIGHEST_PRIORITY);
}

// The queue goes first: what a lost device was given may still touch the rest.
void slri_batch_kernel_destroy(struct slri_relaunch *relaunch)
{
    const struct slri_queue_device *of = relaunch->of;
    struct slri_batch_kernel *kernel = relaunch->kernel;
    if (!kernel)
        return;
    if (relaunch->stream.of)
        slri_stream_close(&relaunch->stream);
    uint64_t scratch_bytes = kernel->ready.kernel.batch.scratch_bytes;
    slri_code_batched_end(relaunch->desc.program, &kernel->ready.kernel);
    if (kernel->scratch)
        of->backend->memory_destroy(of->device, SLRI_MEMORY_DEVICE, kernel->scratch, scratch_bytes);
    slri_free(of->allocator, kernel, kernel->bytes);
    relaunch->kernel = NULL;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static struct slri_command dispatch_of(struct slri_relaunch *relaunch)
{
    struct slri_batch_kernel *kernel = relaunch->kernel;
    const struct slri_entry *handler = relaunch->desc.entry;
    kernel->chains = relaunch->chains;
    return (struct slri_command){.op = SLRI_DISPATCH,
                                 .dispatch = {.ready = &kernel->ready,
                                              .entry = kernel->ready.entry,
                                              .bound = kernel->bound,
                                              .grid = {slri_batch_blocks(handler, relaunch->chains), 1, 1},
                                              .block = {slri_batch_threads(handler), 1, 1}}};
}

slr_status slri_batch_kernel_launch(struct slri_relaunch *relaunch)
{
    const uint64_t in = relaunch->messages_at + (uint64_t)relaunch->messages * relaunch->message_stride;
    const uint64_t out = (uint64_t)relaunch->messages * relaunch->result_stride;
    struct slri_command command[3];
    struct slri_extras extras[3] = {0};
    uint32_t commands = 0;
    if (!relaunch->unified)
        command[commands++] = (struct slri_command){.op = SLRI_COPY_IN, .copy = {relaunch->in, relaunch->host_in, in}};
    extras[commands].wants_times = relaunch->begin != 0;
    command[commands++] = dispatch_of(relaunch);
    if (!relaunch->unified && out != 0)
        command[commands++] =
            (struct slri_command){.op = SLRI_COPY_OUT, .copy = {relaunch->results, relaunch->host_results, out}};
    extras[commands - 1].is_last = true;
    return slri_stream_begin(&relaunch->stream, command, extras, commands);
}

slr_status slri_batch_kernel_await(struct slri_relaunch *relaunch, uint64_t *kernel_ns)
{
    struct slri_times times = {0};
    slr_status status = relaunch->stream.begun != 0
                            ? slri_stream_await(&relaunch->stream, relaunch->begin != 0 ? &times : NULL)
                            : SLR_OK;
    *kernel_ns = times.to_ns - times.from_ns;
    return status;
}

// SPDX-License-Identifier: Apache-2.0
// The kernel of batched launches: its parameters, as those of an ordinary kernel, and its queue.
#include "engine/relaunch.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "ir/pass/handler_kernel.h"

#include <stddef.h>

#define HIGHEST_PRIORITY 255u // a launch is short, and somebody waits for each of its messages
#define FEWEST_THREADS 4u     // of a block

struct slri_batch_kernel {
    struct slri_ready_kernel ready; // its entry is the kernel that is made of the handler
    size_t bytes;
    uint32_t chains; // of the launch
    uint32_t parameters;
    struct slri_bound bound[]; // one a parameter
};

// ---- parameters ----------------------------------------------------------------------------------------------------

static void add_parameter(struct slri_batch_kernel *kernel, void *data, uint64_t bytes)
{
    kernel->bound[kernel->parameters++] = (struct slri_bound){data, bytes};
}

// A scalar among the handler's bindings lies in the constants, what it sends in the results.
static void fill_parameters(const struct slri_relaunch *relaunch, struct slri_batch_kernel *kernel)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    add_parameter(kernel, relaunch->in, relaunch->in_bytes);
    add_parameter(kernel, relaunch->results, relaunch->results_bytes);
    add_parameter(kernel, relaunch->states, desc->states_bytes * desc->shards);
    add_parameter(kernel, relaunch->constants, relaunch->constants_bytes);
    add_parameter(kernel, &kernel->chains, sizeof kernel->chains);
    for (uint32_t i = 0; i < desc->entry->bindings; ++i) {
        const struct slri_binding_info *binding = &desc->entry->binding[i];
        if (!binding->is_buffer || binding->is_outlet)
            continue;
        add_parameter(kernel, desc->bound[i].data, desc->bound[i].bytes);
    }
}

// ---- life ----------------------------------------------------------------------------------------------------------

static struct slri_batch_kernel *allocate(const struct slri_relaunch *relaunch)
{
    const struct slri_entry *handler = relaunch->desc.entry;
    size_t bytes =
        sizeof(struct slri_batch_kernel) + (SLRI_BATCH_BUFFERS + (size_t)handler->bindings) * sizeof(struct slri_bound);
    struct slri_batch_kernel *made = slri_alloc(relaunch->of->allocator, bytes);
    if (!made)
        return NULL;
    made->bytes = bytes;
    return made;
}

// Some drivers compute on the host's cores, and take time for each thread of a block, also for those without a chain.
// There, few instances have a small block. It still has a thread for each chain: where there are fewer shards than
// SLRI_RELAUNCH_MOST_SHARDS, each has one instance, and a launch has at most one chain of an instance.
// With fewer threads than chains, or with one thread, lavapipe (Mesa 22.3) fails. It computes 8 threads at once, also
// those that the block lacks. One of these whose number is less than CHAINS enters the loop over its chain, reads
// zeros, and stays until the driver ends the loop after 65,535 iterations. In a block of one thread the number of each
// is 0; in others they come behind the block's threads, and so behind all chains.
static uint32_t threads_of(const struct slri_relaunch *relaunch)
{
    _Static_assert(SLRI_RELAUNCH_MOST_SHARDS == SLRI_BATCH_THREADS, "many instances have blocks of the full size");
    const struct slri_entry *handler = relaunch->desc.entry;
    uint32_t threads = FEWEST_THREADS;
    if (!relaunch->of->backend->fits_blocks || handler->kind == SLRI_ENTRY_BLOCK)
        return slri_batch_threads(handler);
    while (threads < relaunch->desc.shards)
        threads *= 2;
    return threads;
}

slr_status slri_batch_kernel_create(struct slri_relaunch *relaunch)
{
    const struct slri_relaunch_desc *desc = &relaunch->desc;
    struct slri_batch_kernel *kernel = relaunch->kernel = allocate(relaunch);
    if (!kernel)
        return SLRI_FAIL(NO_MEMORY, "ring kernel '%s': no memory for its kernel", desc->name);
    struct slri_kernel *code = &kernel->ready.kernel;
    SLRI_TRY(slri_code_batched(desc->program, desc->entry, threads_of(relaunch), &kernel->ready));
    relaunch->has_ticks = code->batch.has_ticks;
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
    slri_code_batched_end(relaunch->desc.program, &kernel->ready.kernel);
    slri_free(of->allocator, kernel, kernel->bytes);
    relaunch->kernel = NULL;
}

// ---- launches ------------------------------------------------------------------------------------------------------

static struct slri_command dispatch_of(struct slri_relaunch *relaunch)
{
    struct slri_batch_kernel *kernel = relaunch->kernel;
    const struct slri_entry *handler = relaunch->desc.entry;
    const uint32_t threads = threads_of(relaunch);
    kernel->chains = relaunch->chains;
    return (struct slri_command){.op = SLRI_DISPATCH,
                                 .dispatch = {.ready = &kernel->ready,
                                              .entry = kernel->ready.entry,
                                              .bound = kernel->bound,
                                              .grid = {slri_batch_blocks(handler, threads, relaunch->chains), 1, 1},
                                              .block = {threads, 1, 1}}};
}

slr_status slri_batch_kernel_launch(struct slri_relaunch *relaunch)
{
    const uint64_t in = relaunch->messages_at + relaunch->packed_bytes;
    const uint64_t out = (uint64_t)relaunch->messages * relaunch->result_stride;
    struct slri_command command[3];
    struct slri_extras extras[3] = {0};
    uint32_t commands = 0;
    if (!relaunch->sees)
        command[commands++] = (struct slri_command){.op = SLRI_COPY_IN, .copy = {relaunch->in, relaunch->host_in, in}};
    extras[commands].wants_times = relaunch->begin != 0;
    command[commands++] = dispatch_of(relaunch);
    if (!relaunch->sees && out != 0)
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

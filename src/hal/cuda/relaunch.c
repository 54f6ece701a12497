// SPDX-License-Identifier: Apache-2.0
// Ring kernels that are relaunched: the kernel of a handler, and its dispatches. Each ring kernel has a stream of its
// own, and those of a handler its module; what they read and write lies in the device's memory, and is copied.
#include "engine/relaunch.h"

#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/cuda/cuda.h"
#include "hal/cuda/nvrtc.h"
#include "hal/cuda/relaunch_text.h"

struct runner {
    slri_cu_function function; // the program's
    slri_cu_stream stream;
    void *bound; // of the device: a struct slri_bound each binding
    uint64_t bound_bytes;
    struct slri_cu_relaunch_block block;
};

static slri_cu_pointer address(const void *memory)
{
    return (slri_cu_pointer)(uintptr_t)memory;
}

static slr_status check(struct slri_cuda *cuda, const struct slri_relaunch *relaunch, const char *call, int32_t error)
{
    return slri_cuda_check(cuda, call, relaunch->desc.entry->name, error);
}

// ---- in the context ------------------------------------------------------------------------------------------------

static slr_status launch(struct slri_cuda *cuda, struct slri_relaunch *relaunch, uint32_t chains)
{
    struct runner *runner = relaunch->runner;
    void *parameter[] = {&relaunch->in,        &relaunch->results, &relaunch->states,
                         &relaunch->constants, &runner->bound,     &chains};
    uint32_t grid = chains ? (chains + runner->block.chains - 1) / runner->block.chains : 1;
    return check(cuda, relaunch, "LaunchKernel",
                 cuda->cu->LaunchKernel(runner->function, grid, 1, 1, runner->block.threads, 1, 1, 0, runner->stream,
                                        parameter, NULL));
}

static slr_status copy_in(struct slri_cuda *cuda, const struct slri_relaunch *relaunch, void *to, const void *from,
                          uint64_t bytes)
{
    const struct runner *runner = relaunch->runner;
    return check(cuda, relaunch, "MemcpyHtoDAsync",
                 cuda->cu->MemcpyHtoDAsync_v2(address(to), from, bytes, runner->stream));
}

static slr_status copy_out(struct slri_cuda *cuda, const struct slri_relaunch *relaunch, void *to, const void *from,
                           uint64_t bytes)
{
    const struct runner *runner = relaunch->runner;
    return check(cuda, relaunch, "MemcpyDtoHAsync",
                 cuda->cu->MemcpyDtoHAsync_v2(to, address(from), bytes, runner->stream));
}

static slr_status synchronize(struct slri_cuda *cuda, const struct slri_relaunch *relaunch)
{
    const struct runner *runner = relaunch->runner;
    return check(cuda, relaunch, "StreamSynchronize", cuda->cu->StreamSynchronize(runner->stream));
}

// Once without a message, while no kernel stays: a first launch may take memory for the kernel's stack.
static slr_status warm_up(struct slri_cuda *cuda, struct slri_relaunch *relaunch, slri_cu_module module)
{
    const struct slri_cu *cu = cuda->cu;
    struct runner *runner = relaunch->runner;
    SLRI_TRY(
        check(cuda, relaunch, "ModuleGetFunction", cu->ModuleGetFunction(&runner->function, module, SLRI_CU_RELAUNCH)));
    SLRI_TRY(check(cuda, relaunch, "StreamCreateWithPriority",
                   cu->StreamCreateWithPriority(&runner->stream, SLRI_CU_STREAM_NON_BLOCKING, cuda->greatest)));
    SLRI_TRY(launch(cuda, relaunch, 0));
    return synchronize(cuda, relaunch);
}

// ---- life ----------------------------------------------------------------------------------------------------------

static slr_status write_text(void *device, struct slri_code_text *text)
{
    SLRI_TRY(slri_cuda_put_relaunch(text->module, text->entry, &text->text));
    text->option = slri_nvrtc_options;
    return slri_cuda_identify(device, text);
}

static slr_status build(struct slri_cuda *cuda, struct slri_relaunch *relaunch)
{
    void *loaded;
    SLRI_TRY(slri_code_handler_loaded(relaunch->desc.program, relaunch->desc.entry, write_text, &loaded));
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = warm_up(cuda, relaunch, slri_cuda_loaded_module(loaded));
    slri_cuda_leave_quiet(cuda);
    return status;
}

// Scalars lie among the constants, outlets in each message's result.
static slr_status give_bound(struct slri_cuda *cuda, struct slri_relaunch *relaunch)
{
    const struct slri_entry *entry = relaunch->desc.entry;
    struct runner *runner = relaunch->runner;
    struct slri_bound *bound = slri_alloc(cuda->allocator, runner->bound_bytes);
    if (!bound)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for the bindings of %s", cuda->name, entry->name);
    for (uint32_t i = 0; i < entry->bindings; ++i)
        if (entry->binding[i].is_buffer)
            bound[i] = relaunch->desc.bound[i];
        else if (!entry->binding[i].is_outlet)
            bound[i] = (struct slri_bound){(unsigned char *)relaunch->constants + RL_BINDING(i),
                                           relaunch->desc.bound[i].bytes};
    slr_status status = slri_cuda_relaunch_copy(cuda, relaunch, runner->bound, bound, runner->bound_bytes, true);
    slri_free(cuda->allocator, bound, runner->bound_bytes);
    return status;
}

slr_status slri_cuda_relaunch_create(void *device, struct slri_relaunch *relaunch)
{
    struct slri_cuda *cuda = device;
    const struct slri_entry *entry = relaunch->desc.entry;
    struct runner *runner = slri_alloc(cuda->allocator, sizeof *runner);
    if (!runner)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for handler %s", cuda->name, entry->name);
    relaunch->runner = runner; // from here on slri_cuda_relaunch_destroy takes back what there is
    runner->block = slri_cuda_relaunch_block(entry);
    runner->bound_bytes = entry->bindings * sizeof(struct slri_bound);
    if (runner->bound_bytes)
        SLRI_TRY(slri_cuda_buffer_create(cuda, runner->bound_bytes, &runner->bound));
    SLRI_TRY(build(cuda, relaunch));
    return runner->bound ? give_bound(cuda, relaunch) : SLR_OK;
}

void slri_cuda_relaunch_destroy(void *device, struct slri_relaunch *relaunch)
{
    struct slri_cuda *cuda = device;
    struct runner *runner = relaunch->runner;
    if (runner->stream && slri_cuda_enter_quiet(cuda) == SLR_OK) { // else it goes with the context
        cuda->cu->StreamDestroy_v2(runner->stream);
        slri_cuda_leave_quiet(cuda);
    }
    if (runner->bound)
        slri_cuda_buffer_destroy(cuda, runner->bound, runner->bound_bytes);
    slri_free(cuda->allocator, runner, sizeof *runner);
    relaunch->runner = NULL;
}

// ---- dispatches ----------------------------------------------------------------------------------------------------

static slr_status dispatch(struct slri_cuda *cuda, struct slri_relaunch *relaunch)
{
    uint64_t in = relaunch->messages_at + (uint64_t)relaunch->messages * relaunch->message_stride;
    if (!relaunch->unified)
        SLRI_TRY(copy_in(cuda, relaunch, relaunch->in, relaunch->host_in, in));
    SLRI_TRY(launch(cuda, relaunch, relaunch->chains));
    if (relaunch->unified || relaunch->messages == 0)
        return SLR_OK;
    return copy_out(cuda, relaunch, relaunch->host_results, relaunch->results,
                    (uint64_t)relaunch->messages * relaunch->result_stride);
}

slr_status slri_cuda_relaunch_begin(void *device, struct slri_relaunch *relaunch)
{
    SLRI_TRY(slri_cuda_enter(device));
    slr_status status = dispatch(device, relaunch);
    slri_cuda_leave(device);
    return status;
}

slr_status slri_cuda_relaunch_end(void *device, struct slri_relaunch *relaunch)
{
    SLRI_TRY(slri_cuda_enter(device));
    slr_status status = synchronize(device, relaunch);
    slri_cuda_leave(device);
    return status;
}

slr_status slri_cuda_relaunch_copy(void *device, struct slri_relaunch *relaunch, void *memory, void *host,
                                   uint64_t bytes, bool in)
{
    SLRI_TRY(slri_cuda_enter(device));
    slr_status status =
        in ? copy_in(device, relaunch, memory, host, bytes) : copy_out(device, relaunch, host, memory, bytes);
    slr_status waited = synchronize(device, relaunch);
    slri_cuda_leave(device);
    return status == SLR_OK ? waited : status;
}

// SPDX-License-Identifier: Apache-2.0
// Recorded lists as CUDA graphs: captured once, launched by one call each time.
#include "base/alloc.h"
#include "base/status.h"
#include "engine/code.h"
#include "hal/cuda/cuda.h"

struct list {
    slri_cu_exec exec;
    const char *kernel; // the last one in it, kept by whoever keeps the list; NULL: none is
};

// What one is made of.
struct made_of {
    const struct slri_command *command;
    const struct slri_extras *extras;
    uint32_t commands;
};

// ---- what can be in one --------------------------------------------------------------------------------------------

static slr_status check_command(const struct slri_cuda *cuda, const struct slri_command *command)
{
    if (command->op == SLRI_CALL || command->op == SLRI_TASK)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a host function cannot be in a CUDA graph", cuda->name);
    if (command->op == SLRI_DISPATCH && slri_print_is_heard(command))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': printf of kernel %s does not work in a CUDA graph", cuda->name,
                         command->dispatch.entry->name);
    if (command->op == SLRI_COPY && slri_move_overlaps(command))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a copy between overlapping ranges cannot be in a CUDA graph",
                         cuda->name);
    return SLR_OK;
}

static slr_status check_list(const struct slri_cuda *cuda, const struct slri_command *command, uint32_t commands)
{
    if (!cuda->cu->StreamBeginCapture_v2 || !cuda->cu->StreamEndCapture || !cuda->cu->GraphInstantiateWithFlags ||
        !cuda->cu->GraphDestroy || !cuda->cu->GraphExecDestroy || !cuda->cu->GraphLaunch)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': the driver has no CUDA graphs; they need CUDA 11.4 or later",
                         cuda->name);
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(check_command(cuda, &command[i]));
    return SLR_OK;
}

// ---- making one: in the context ------------------------------------------------------------------------------------

// The capture ends in any case.
static slr_status capture(struct slri_cuda *cuda, slri_cu_stream stream, const struct made_of *of, slri_cu_graph *out)
{
    const struct slri_cu *cu = cuda->cu;
    SLRI_TRY(
        slri_cuda_check(cuda, "StreamBeginCapture", NULL, cu->StreamBeginCapture_v2(stream, SLRI_CU_CAPTURE_THREAD)));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; status == SLR_OK && i < of->commands; ++i)
        status = slri_cuda_put(cuda, stream, &of->command[i], &of->extras[i]);
    slri_cu_graph graph = NULL;
    int32_t error = cu->StreamEndCapture(stream, &graph);
    if (status == SLR_OK)
        status = slri_cuda_check(cuda, "StreamEndCapture", NULL, error);
    if (status == SLR_OK)
        *out = graph;
    else if (graph)
        cu->GraphDestroy(graph);
    return status;
}

static slr_status instantiate(struct slri_cuda *cuda, const struct made_of *of, slri_cu_exec *out)
{
    slri_cu_graph graph = NULL;
    slri_cu_stream stream;
    SLRI_TRY(slri_cuda_own_stream(cuda, &stream));
    slr_status status = capture(cuda, stream, of, &graph);
    cuda->cu->StreamDestroy_v2(stream);
    SLRI_TRY(status);
    int32_t error = cuda->cu->GraphInstantiateWithFlags(out, graph, 0);
    status = slri_cuda_check(cuda, "GraphInstantiateWithFlags", NULL, error);
    cuda->cu->GraphDestroy(graph);
    return status;
}

static slr_status make_list(struct slri_cuda *cuda, const struct made_of *of, slri_cu_exec *out)
{
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = instantiate(cuda, of, out);
    slri_cuda_leave_quiet(cuda);
    return status;
}

slr_status slri_cuda_list_create(void *device, const struct slri_command *command, const struct slri_extras *extras,
                                 uint32_t commands, void **list)
{
    struct slri_cuda *cuda = device;
    const struct made_of of = {command, extras, commands};
    SLRI_TRY(check_list(cuda, command, commands));
    struct list *made = slri_alloc(cuda->allocator, sizeof *made);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", cuda->name);
    slr_status status = make_list(cuda, &of, &made->exec);
    if (status != SLR_OK) {
        slri_free(cuda->allocator, made, sizeof *made);
        return status;
    }
    for (uint32_t i = 0; i < commands; ++i)
        if (command[i].op == SLRI_DISPATCH)
            made->kernel = command[i].dispatch.entry->name;
    *list = made;
    return SLR_OK;
}

void slri_cuda_list_destroy(void *device, void *list)
{
    struct slri_cuda *cuda = device;
    struct list *dying = list;
    if (slri_cuda_enter_quiet(cuda) == SLR_OK) { // else it goes with the context
        cuda->cu->GraphExecDestroy(dying->exec);
        slri_cuda_leave_quiet(cuda);
    }
    slri_free(cuda->allocator, dying, sizeof *dying);
}

int32_t slri_cuda_list_launch(struct slri_cuda *cuda, slri_cu_stream stream, const void *list)
{
    return cuda->cu->GraphLaunch(((const struct list *)list)->exec, stream);
}

const char *slri_cuda_list_kernel(const void *list)
{
    return ((const struct list *)list)->kernel;
}

// SPDX-License-Identifier: Apache-2.0
// Recorded lists as CUDA graphs: captured once, launched by one call each time.
#include "base/alloc.h"
#include "base/status.h"
#include "backend/cuda/cuda.h"

#include <string.h>

struct list {
    slri_cu_exec exec;
    slri_mutex lock;               // the driver's graphs are for one thread at a time, and so is the next
    struct slri_cu_faults *faults; // NULL: no kernel of it may fault
    const char *kernel;            // the last one in it, kept by whoever keeps the list
    size_t bytes;
    struct slri_command command[]; // copies: the driver reads a fill's pattern at each launch
};

// ---- what can be in one --------------------------------------------------------------------------------------------

static slr_status check_command(const struct slri_cuda *cuda, const struct slri_command *command)
{
    if (command->op == SLRI_CALL || command->op == SLRI_TASK)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a host function cannot be in a CUDA graph", cuda->name);
    if (command->op == SLRI_DISPATCH && slri_print_is_heard(command))
        return SLRI_FAIL(UNSUPPORTED, "device '%s': what kernel %s prints could not be told from within a CUDA graph",
                         cuda->name, command->dispatch.entry->name);
    if (command->op != SLRI_COPY)
        return SLR_OK;
    uintptr_t to = (uintptr_t)command->move.to, from = (uintptr_t)command->move.from;
    if ((to > from ? to - from : from - to) < command->move.bytes)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': a copy over itself cannot be in a CUDA graph", cuda->name);
    return SLR_OK;
}

static slr_status check_list(const struct slri_cuda *cuda, const struct slri_command *command, uint32_t commands)
{
    if (!cuda->cu->StreamBeginCapture_v2 || !cuda->cu->StreamEndCapture || !cuda->cu->GraphInstantiateWithFlags ||
        !cuda->cu->GraphDestroy || !cuda->cu->GraphExecDestroy || !cuda->cu->GraphLaunch)
        return SLRI_FAIL(UNSUPPORTED, "device '%s': the driver has no CUDA graphs; those of CUDA 11.4 and later have",
                         cuda->name);
    for (uint32_t i = 0; i < commands; ++i)
        SLRI_TRY(check_command(cuda, &command[i]));
    return SLR_OK;
}

// ---- making one: in the context ------------------------------------------------------------------------------------

// The capture ends in any case.
static slr_status capture(struct slri_cuda *cuda, slri_cu_stream stream, struct list *list, uint32_t commands,
                          slri_cu_graph *out)
{
    const struct slri_cu *cu = cuda->cu;
    SLRI_TRY(
        slri_cuda_check(cuda, "StreamBeginCapture", NULL, cu->StreamBeginCapture_v2(stream, SLRI_CU_CAPTURE_THREAD)));
    slr_status status = SLR_OK;
    for (uint32_t i = 0; status == SLR_OK && i < commands; ++i)
        status = slri_cuda_put(cuda, stream, &list->command[i], list->faults);
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

static slr_status instantiate(struct slri_cuda *cuda, struct list *list, uint32_t commands)
{
    slri_cu_graph graph = NULL;
    slri_mutex_lock(&cuda->own_lock);
    slr_status status = capture(cuda, slri_cuda_own_stream(cuda), list, commands, &graph);
    slri_mutex_unlock(&cuda->own_lock);
    SLRI_TRY(status);
    int32_t error = cuda->cu->GraphInstantiateWithFlags(&list->exec, graph, 0);
    status = slri_cuda_check(cuda, "GraphInstantiateWithFlags", NULL, error);
    cuda->cu->GraphDestroy(graph);
    return status;
}

static slr_status make_faults(struct slri_cuda *cuda, struct list *list, uint32_t commands)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < commands; ++i)
        count += list->command[i].op == SLRI_DISPATCH && slri_cuda_may_fault(&list->command[i]);
    return count ? slri_cu_faults_create(cuda, count, &list->faults) : SLR_OK;
}

static slr_status make(struct slri_cuda *cuda, struct list *list, uint32_t commands)
{
    SLRI_TRY(make_faults(cuda, list, commands));
    SLRI_TRY(slri_cuda_enter_quiet(cuda));
    slr_status status = instantiate(cuda, list, commands);
    slri_cuda_leave_quiet(cuda);
    return status;
}

slr_status slri_cuda_list_create(void *device, const struct slri_command *command, uint32_t commands, void **list)
{
    struct slri_cuda *cuda = device;
    SLRI_TRY(check_list(cuda, command, commands));
    size_t bytes = sizeof(struct list) + commands * sizeof *command;
    struct list *made = slri_alloc(cuda->allocator, bytes);
    if (!made)
        return SLRI_FAIL(NO_MEMORY, "device '%s': no memory for a list", cuda->name);
    made->bytes = bytes;
    memcpy(made->command, command, commands * sizeof *command);
    slr_status status = make(cuda, made, commands);
    if (status != SLR_OK) {
        slri_cu_faults_destroy(cuda, made->faults);
        slri_free(cuda->allocator, made, bytes);
        return status;
    }
    slri_mutex_init(&made->lock);
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
    slri_cu_faults_destroy(cuda, dying->faults);
    slri_mutex_destroy(&dying->lock);
    slri_free(cuda->allocator, dying, dying->bytes);
}

int32_t slri_cuda_list_launch(struct slri_cuda *cuda, slri_cu_stream stream, void *list, const char **kernel)
{
    struct list *of = list;
    *kernel = of->kernel;
    slri_mutex_lock(&of->lock);
    return cuda->cu->GraphLaunch(of->exec, stream);
}

struct slri_cu_faults *slri_cuda_list_faults(void *list)
{
    return ((struct list *)list)->faults;
}

void slri_cuda_list_leave(void *list)
{
    slri_mutex_unlock(&((struct list *)list)->lock);
}

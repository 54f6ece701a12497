// SPDX-License-Identifier: Apache-2.0
// Streams, what is captured of them, and graphs.
#include "fake_cuda_inside.h"

#include <sched.h>
#include <stdlib.h>

// ---- streams -------------------------------------------------------------------------------------------------------

static int32_t create_stream(slri_cu_stream *stream, uint32_t flags, int32_t priority)
{
    int32_t error = next_in_context("StreamCreateWithPriority");
    if (error != 0)
        return error;
    if (flags > SLRI_CU_STREAM_NON_BLOCKING || priority > 0 || priority < -5)
        return refuse("StreamCreateWithPriority", INVALID_VALUE);
    fake_cuda.last_priority = priority;
    struct object *made = make(STREAM, current());
    made->waits_for_null = flags == 0;
    *stream = (slri_cu_stream)(void *)made;
    return 0;
}

int32_t cuStreamCreateWithPriority(slri_cu_stream *stream, uint32_t flags, int32_t priority)
{
    LOCKED(create_stream(stream, flags, priority));
    return error;
}

int32_t cuStreamDestroy_v2(slri_cu_stream stream)
{
    LOCKED(drop_from_context("StreamDestroy_v2", stream, STREAM));
    return error;
}

static void keep_waiting(void)
{
    uint32_t from = __atomic_load_n(&fake_cuda.keeps_waiting, __ATOMIC_ACQUIRE);
    if (from == 0 || __atomic_add_fetch(&fake_cuda.waiting, 1, __ATOMIC_RELEASE) < from) // what was done before
        return;
    while (__atomic_load_n(&fake_cuda.keeps_waiting, __ATOMIC_ACQUIRE))
        sched_yield();
}

static int32_t synchronize(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context("StreamSynchronize");
    if (error == 0 && (!object || object->kind != STREAM || object->context != current() || object->captured))
        return refuse("StreamSynchronize", INVALID_VALUE);
    if (error == 0)
        forget_user(current(), object);
    return error;
}

int32_t cuStreamSynchronize(slri_cu_stream stream)
{
    keep_waiting();
    LOCKED(synchronize(stream));
    sched_yield(); // as on a device, others come in between
    return error;
}

// Of a stream with a kernel in it that stays: whether that has ended.
static int32_t query(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    int32_t error = next_in_context("StreamQuery");
    if (error == 0 && (!object || object->kind != STREAM || object->context != current()))
        return refuse("StreamQuery", INVALID_VALUE);
    return error != 0 ? error : stays(object) ? SLRI_CU_NOT_READY : 0;
}

int32_t cuStreamQuery(slri_cu_stream stream)
{
    LOCKED(query(stream));
    return error;
}

// ---- events --------------------------------------------------------------------------------------------------------

static int32_t create_event(slri_cu_event *event, uint32_t flags)
{
    int32_t error = next_in_context("EventCreate");
    if (error == 0 && flags != SLRI_CU_EVENT_UNTIMED)
        return refuse("EventCreate", INVALID_VALUE);
    if (error == 0)
        *event = make(EVENT, current());
    return error;
}

int32_t cuEventCreate(slri_cu_event *event, uint32_t flags)
{
    LOCKED(create_event(event, flags));
    return error;
}

static int32_t record(slri_cu_event event, slri_cu_stream stream)
{
    struct object *object = (void *)event, *of = (void *)stream;
    int32_t error = next_in_context("EventRecord");
    if (error == 0 && (!object || object->kind != EVENT || object->context != current() || !of || of->kind != STREAM ||
                       of->context != current() || of->captured))
        return refuse("EventRecord", INVALID_VALUE);
    if (error == 0)
        object->recorded = of;
    return error;
}

int32_t cuEventRecord(slri_cu_event event, slri_cu_stream stream)
{
    LOCKED(record(event, stream));
    return error;
}

static int32_t synchronize_event(slri_cu_event event)
{
    struct object *object = (void *)event;
    int32_t error = next_in_context("EventSynchronize");
    if (error == 0 && (!object || object->kind != EVENT || object->context != current() || !object->recorded))
        return refuse("EventSynchronize", INVALID_VALUE);
    return error;
}

int32_t cuEventSynchronize(slri_cu_event event)
{
    keep_waiting();
    LOCKED(synchronize_event(event));
    sched_yield(); // as cuStreamSynchronize
    return error;
}

int32_t cuEventDestroy_v2(slri_cu_event event)
{
    LOCKED(drop_from_context("EventDestroy_v2", event, EVENT));
    return error;
}

// ---- graphs --------------------------------------------------------------------------------------------------------

bool capture(slri_cu_stream stream, const struct node *node)
{
    struct object *object = (void *)stream;
    pthread_mutex_lock(&lock);
    bool captured = object->captured;
    if (captured) {
        object->node = realloc(object->node, (object->nodes + 1) * sizeof *node);
        object->node[object->nodes++] = *node;
    }
    pthread_mutex_unlock(&lock);
    return captured;
}

static struct object *stream_here(slri_cu_stream stream)
{
    struct object *object = (void *)stream;
    return object && object->kind == STREAM && object->context == current() ? object : NULL;
}

static int32_t begin_capture(slri_cu_stream stream, int32_t mode)
{
    int32_t error = next_in_context("StreamBeginCapture_v2");
    struct object *object = error == 0 ? stream_here(stream) : NULL;
    if (error == 0 && (!object || object->captured || mode != SLRI_CU_CAPTURE_THREAD))
        return refuse("StreamBeginCapture_v2", INVALID_VALUE);
    if (error == 0)
        object->captured = true;
    return error;
}

int32_t cuStreamBeginCapture_v2(slri_cu_stream stream, int32_t mode)
{
    LOCKED(begin_capture(stream, mode));
    return error;
}

// It ends also where the call fails.
static int32_t end_capture(slri_cu_stream stream, slri_cu_graph *graph)
{
    struct object *object = stream_here(stream);
    *graph = NULL;
    if (!object || !object->captured)
        return refuse("StreamEndCapture", INVALID_VALUE);
    object->captured = false;
    int32_t error = next_in_context("StreamEndCapture");
    if (error != 0) {
        free_nodes(object);
        return error;
    }
    struct object *made = make(GRAPH, current());
    made->node = object->node;
    made->nodes = object->nodes;
    object->node = NULL;
    object->nodes = 0;
    *graph = (slri_cu_graph)(void *)made;
    return 0;
}

int32_t cuStreamEndCapture(slri_cu_stream stream, slri_cu_graph *graph)
{
    LOCKED(end_capture(stream, graph));
    return error;
}

static int32_t instantiate(slri_cu_exec *exec, slri_cu_graph graph)
{
    struct object *from = (void *)graph;
    int32_t error = next_in_context("GraphInstantiateWithFlags");
    if (error != 0)
        return error;
    if (!from || from->kind != GRAPH)
        return refuse("GraphInstantiateWithFlags", INVALID_VALUE);
    struct object *made = make(EXEC, current());
    made->node = from->node; // it keeps nothing of the graph, which is never instantiated twice here
    made->nodes = from->nodes;
    from->node = NULL;
    from->nodes = 0;
    *exec = (slri_cu_exec)(void *)made;
    return 0;
}

int32_t cuGraphInstantiateWithFlags(slri_cu_exec *exec, slri_cu_graph graph, uint64_t flags)
{
    wait_for_stays("GraphInstantiateWithFlags", LONG_MS);
    (void)flags;
    LOCKED(instantiate(exec, graph));
    return error;
}

int32_t cuGraphDestroy(slri_cu_graph graph)
{
    LOCKED(drop_from_context("GraphDestroy", graph, GRAPH));
    return error;
}

int32_t cuGraphExecDestroy(slri_cu_exec exec)
{
    wait_for_stays("GraphExecDestroy", LONG_MS);
    LOCKED(drop_from_context("GraphExecDestroy", exec, EXEC));
    return error;
}

static int32_t replay(struct node *n, slri_cu_stream stream)
{
    const uint32_t *s = n->size;
    switch (n->op) {
    case HTOD:
        return cuMemcpyHtoDAsync_v2(n->to, host_of(n->from), n->count, stream);
    case DTOH:
        return cuMemcpyDtoHAsync_v2(host_of(n->to), n->from, n->count, stream);
    case DTOD:
        return cuMemcpyDtoDAsync_v2(n->to, n->from, n->count, stream);
    case SET8:
        return cuMemsetD8Async(n->to, (unsigned char)n->value, n->count, stream);
    case SET16:
        return cuMemsetD16Async(n->to, (uint16_t)n->value, n->count, stream);
    case SET32:
        return cuMemsetD32Async(n->to, n->value, n->count, stream);
    default:
        return cuLaunchKernel(n->function, s[0], s[1], s[2], s[3], s[4], s[5], s[6], stream, n->parameter, NULL);
    }
}

int32_t cuGraphLaunch(slri_cu_exec exec, slri_cu_stream stream)
{
    struct object *object = (void *)exec;
    LOCKED(next_in_context("GraphLaunch"));
    if (error == 0 && (!object || object->kind != EXEC)) {
        LOCKED(refuse("GraphLaunch", INVALID_VALUE));
        return error;
    }
    __atomic_fetch_add(&fake_cuda.graph_launches, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; error == 0 && i < object->nodes; ++i)
        error = replay(&object->node[i], stream);
    return error;
}

// SPDX-License-Identifier: Apache-2.0
#include "calls.h"

#include "nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;
typedef uint64_t pointer;

// X(name, parameters): of the driver, each gives 0 or an error's number. Any may be missing: then its call is absent.
#define FUNCTIONS(X)                                                                                                   \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDeviceGetAttribute, (int *, int, int))                                                                         \
    X(cuDevicePrimaryCtxRetain, (handle *, int))                                                                       \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                             \
    X(cuCtxPushCurrent_v2, (handle))                                                                                   \
    X(cuCtxPopCurrent_v2, (handle *))                                                                                  \
    X(cuStreamCreateWithPriority, (handle *, unsigned, int))                                                           \
    X(cuStreamDestroy_v2, (handle))                                                                                    \
    X(cuStreamSynchronize, (handle))                                                                                   \
    X(cuStreamQuery, (handle))                                                                                         \
    X(cuMemAlloc_v2, (pointer *, size_t))                                                                              \
    X(cuMemFree_v2, (pointer))                                                                                         \
    X(cuMemAllocAsync, (pointer *, size_t, handle))                                                                    \
    X(cuMemFreeAsync, (pointer, handle))                                                                               \
    X(cuMemAllocManaged, (pointer *, size_t, unsigned))                                                                \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuMemFreeHost, (void *))                                                                                         \
    X(cuMemHostRegister_v2, (void *, size_t, unsigned))                                                                \
    X(cuMemHostUnregister, (void *))                                                                                   \
    X(cuMemcpyHtoD_v2, (pointer, const void *, size_t))                                                                \
    X(cuMemcpyDtoH_v2, (void *, pointer, size_t))                                                                      \
    X(cuMemcpyDtoD_v2, (pointer, pointer, size_t))                                                                     \
    X(cuMemcpyHtoDAsync_v2, (pointer, const void *, size_t, handle))                                                   \
    X(cuMemcpyDtoDAsync_v2, (pointer, pointer, size_t, handle))                                                        \
    X(cuMemsetD8_v2, (pointer, unsigned char, size_t))                                                                 \
    X(cuMemsetD8Async, (pointer, unsigned char, size_t, handle))                                                       \
    X(cuModuleLoadData, (handle *, const void *))                                                                      \
    X(cuModuleUnload, (handle))                                                                                        \
    X(cuModuleGetFunction, (handle *, handle, const char *))                                                           \
    X(cuLaunchKernel,                                                                                                  \
      (handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **))        \
    X(cuLaunchHostFunc, (handle, void (*)(void *), void *))                                                            \
    X(cuStreamAddCallback, (handle, void (*)(handle, int, void *), void *, unsigned))                                  \
    X(cuStreamBeginCapture_v2, (handle, int))                                                                          \
    X(cuStreamEndCapture, (handle, handle *))                                                                          \
    X(cuGraphInstantiateWithFlags, (handle *, handle, unsigned long long))                                             \
    X(cuGraphDestroy, (handle))                                                                                        \
    X(cuGraphLaunch, (handle, handle))                                                                                 \
    X(cuGraphExecDestroy, (handle))                                                                                    \
    X(cuCtxSetCacheConfig, (int))                                                                                      \
    X(cuCtxSetFlags, (unsigned))                                                                                       \
    X(cuCtxSetLimit, (int, size_t))                                                                                    \
    X(cuCtxSynchronize, (void))

enum { BYTES = 1 << 16, NON_BLOCKING = 1, PORTABLE_MAPPED = 1 | 2, MANY = 2000, LIMIT_STACK = 0, PREFER_SHARED = 1 };

struct gpu_calls {
    slr_device *device;
    int number;
    char *cubin;
    handle context, stream, made_stream, module, kernel, graph, exec;
    pointer memory, other, pooled, managed;
    void *host;
    unsigned char pageable[BYTES];
    _Alignas(4096) unsigned char registered[BYTES];
    slr_buffer *buffer, *result, *pinned;
    slr_ops *ops;
    slr_stream *own;
    slr_program *program;
    slr_kernel *own_kernel;
    slr_graph *list;
    slr_event *event;
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

// ---- the driver's
// ----------------------------------------------------------------------------------------------------

#define DRIVER(name, function, ...)                                                                                    \
    static int32_t name(struct gpu_calls *c)                                                                           \
    {                                                                                                                  \
        return c->function != NULL ? c->function(__VA_ARGS__) : GPU_ABSENT;                                            \
    }
#define NO_ARGUMENTS
DRIVER(query, cuStreamQuery, c->stream)
DRIVER(alloc, cuMemAlloc_v2, &c->other, BYTES)
DRIVER(set_memory, cuMemsetD8_v2, c->memory, 1, BYTES)
DRIVER(set_memory_async, cuMemsetD8Async, c->memory, 1, BYTES, c->stream)
DRIVER(copy_in, cuMemcpyHtoD_v2, c->memory, c->pageable, BYTES)
DRIVER(copy_out, cuMemcpyDtoH_v2, c->pageable, c->memory, BYTES)
DRIVER(copy_over, cuMemcpyDtoD_v2, c->other, c->memory, BYTES)
DRIVER(copy_over_async, cuMemcpyDtoDAsync_v2, c->other, c->memory, BYTES, c->stream)
DRIVER(copy_in_async, cuMemcpyHtoDAsync_v2, c->memory, c->pageable, BYTES, c->stream)
DRIVER(synchronize, cuStreamSynchronize, c->stream)
DRIVER(release, cuMemFree_v2, c->other)
DRIVER(alloc_async, cuMemAllocAsync, &c->pooled, BYTES, c->stream)
DRIVER(release_async, cuMemFreeAsync, c->pooled, c->stream)
DRIVER(alloc_managed, cuMemAllocManaged, &c->managed, BYTES, 1)
DRIVER(release_managed, cuMemFree_v2, c->managed)
DRIVER(host_alloc, cuMemHostAlloc, &c->host, BYTES, PORTABLE_MAPPED)
DRIVER(host_release, cuMemFreeHost, c->host)
DRIVER(host_register, cuMemHostRegister_v2, c->registered, BYTES, PORTABLE_MAPPED)
DRIVER(host_unregister, cuMemHostUnregister, c->registered)
DRIVER(create_stream, cuStreamCreateWithPriority, &c->made_stream, NON_BLOCKING, 0)
DRIVER(destroy_stream, cuStreamDestroy_v2, c->made_stream)
DRIVER(load_module, cuModuleLoadData, &c->module, c->cubin)
DRIVER(find_kernel, cuModuleGetFunction, &c->kernel, c->module, "count")
DRIVER(unload_module, cuModuleUnload, c->module)
DRIVER(instantiate, cuGraphInstantiateWithFlags, &c->exec, c->graph, 0)
DRIVER(launch_graph, cuGraphLaunch, c->exec, c->stream)
DRIVER(destroy_exec, cuGraphExecDestroy, c->exec)
DRIVER(destroy_graph, cuGraphDestroy, c->graph)
DRIVER(set_cache, cuCtxSetCacheConfig, PREFER_SHARED)
DRIVER(set_flags, cuCtxSetFlags, 0)
DRIVER(set_stack, cuCtxSetLimit, LIMIT_STACK, 2048)
DRIVER(synchronize_all, cuCtxSynchronize, NO_ARGUMENTS)

static int32_t launch_in(struct gpu_calls *c, handle stream)
{
    void *arguments[] = {&c->memory};
    return c->cuLaunchKernel(c->kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, NULL);
}

static int32_t launch(struct gpu_calls *c)
{
    return launch_in(c, c->stream);
}

static int32_t launch_null(struct gpu_calls *c)
{
    return launch_in(c, NULL);
}

static int32_t launch_many(struct gpu_calls *c)
{
    int32_t error = 0;
    for (int i = 0; i < MANY && error == 0; i++)
        error = launch_in(c, c->stream);
    return error;
}

static int32_t record(struct gpu_calls *c)
{
    int32_t error = c->cuStreamBeginCapture_v2(c->stream, 1);
    if (error == 0)
        error = launch_in(c, c->stream);
    int32_t ended = c->cuStreamEndCapture(c->stream, &c->graph);
    return error != 0 ? error : ended;
}

static void nothing(void *user)
{
    (void)user;
}

static void nothing_called(handle stream, int error, void *user)
{
    (void)stream, (void)error, (void)user;
}

DRIVER(host_function, cuLaunchHostFunc, c->stream, nothing, NULL)
DRIVER(add_callback, cuStreamAddCallback, c->stream, nothing_called, NULL, 0)

const struct gpu_call gpu_driver_calls[] = {
    {"cuStreamQuery", query},
    {"cuMemAlloc", alloc},
    {"cuMemsetD8", set_memory},
    {"cuMemsetD8Async", set_memory_async},
    {"cuMemcpyHtoD, pageable", copy_in},
    {"cuMemcpyDtoH, pageable", copy_out},
    {"cuMemcpyDtoD", copy_over},
    {"cuMemcpyDtoDAsync", copy_over_async},
    {"cuMemcpyHtoDAsync, pageable", copy_in_async},
    {"cuStreamSynchronize, of another stream", synchronize},
    {"cuMemFree", release},
    {"cuMemAllocAsync", alloc_async},
    {"cuMemFreeAsync", release_async},
    {"cuMemAllocManaged", alloc_managed},
    {"cuMemFree, managed", release_managed},
    {"cuMemHostAlloc", host_alloc},
    {"cuMemFreeHost", host_release},
    {"cuMemHostRegister", host_register},
    {"cuMemHostUnregister", host_unregister},
    {"cuStreamCreate", create_stream},
    {"cuStreamDestroy", destroy_stream},
    {"cuModuleLoadData", load_module},
    {"cuModuleGetFunction", find_kernel},
    {"cuLaunchKernel, its first", launch},
    {"cuLaunchKernel, 2,000", launch_many},
    {"cuStreamSynchronize, after these", synchronize},
    {"cuLaunchKernel, NULL stream", launch_null},
    {"cuLaunchHostFunc", host_function},
    {"cuStreamAddCallback", add_callback},
    {"cuStreamEndCapture", record},
    {"cuGraphInstantiate", instantiate},
    {"cuGraphLaunch", launch_graph},
    {"cuStreamSynchronize, after a graph", synchronize},
    {"cuGraphExecDestroy", destroy_exec},
    {"cuGraphDestroy", destroy_graph},
    {"cuCtxSetCacheConfig", set_cache},
    {"cuCtxSetFlags", set_flags},
    {"cuCtxSetLimit, stack", set_stack},
    {"cuModuleUnload", unload_module},
    {"cuCtxSynchronize", synchronize_all},
    {NULL, NULL},
};

// ---- slipring's
// ------------------------------------------------------------------------------------------------------

#define SLIPRING(name, call)                                                                                           \
    static int32_t name(struct gpu_calls *c)                                                                           \
    {                                                                                                                  \
        return call;                                                                                                   \
    }
#define SLIPRING_VOID(name, call)                                                                                      \
    static int32_t name(struct gpu_calls *c)                                                                           \
    {                                                                                                                  \
        call;                                                                                                          \
        return SLR_OK;                                                                                                 \
    }
static const char counts[] = "__global__ void counts(unsigned *p) { p[threadIdx.x] += 1u; }\n";
SLIPRING(make_buffer, slr_buffer_create(c->device, BYTES, &c->buffer))
SLIPRING(write_buffer, slr_buffer_write(c->buffer, 0, c->pageable, BYTES))
SLIPRING(read_buffer, slr_buffer_read(c->buffer, 0, c->pageable, BYTES))
SLIPRING(make_stream, slr_stream_create(c->device, NULL, &c->own))
SLIPRING(fill_buffer, slr_stream_fill(c->own, c->buffer, 0, BYTES, c->pageable, 1, NULL))
SLIPRING(write_in_stream, slr_stream_write(c->own, c->buffer, 0, c->pageable, BYTES, NULL))
SLIPRING(finish_stream, slr_stream_finish(c->own, 60 * SECOND))
SLIPRING(make_program, slr_program_from_text(c->device, "counts.cu", counts, NULL, &c->program))
SLIPRING(get_kernel, slr_program_get_kernel(c->program, "counts", &c->own_kernel))
SLIPRING(launch_kernel, SLR_LAUNCH(c->own, c->own_kernel, SLR_GRID(1, 32, 0), c->buffer))
SLIPRING(make_event, slr_event_create(c->device, &c->event))
SLIPRING(record_event, slr_event_record(c->event, c->own, NULL))
SLIPRING(wait_event, slr_event_wait(c->event, 60 * SECOND))
SLIPRING_VOID(destroy_event, slr_event_destroy(c->event))
SLIPRING(make_list, slr_graph_create(c->device, &c->list))
SLIPRING(begin_list, slr_graph_begin(c->list, c->own))
SLIPRING(end_list, slr_graph_end(c->list))
SLIPRING(launch_list, slr_graph_launch(c->list, c->own, NULL, 0, NULL))
SLIPRING_VOID(destroy_list, slr_graph_destroy(c->list))
SLIPRING_VOID(destroy_kernel, slr_kernel_destroy(c->own_kernel))
SLIPRING_VOID(destroy_program, slr_program_destroy(c->program))
SLIPRING_VOID(destroy_own_stream, slr_stream_destroy(c->own))
SLIPRING_VOID(destroy_buffer, slr_buffer_destroy(c->buffer))
SLIPRING_VOID(destroy_pinned, slr_buffer_destroy(c->pinned))
SLIPRING_VOID(destroy_ops, slr_ops_destroy(c->ops); slr_buffer_destroy(c->result))

// Where cuBLASLt and cuDNN are here, their first calls make handles, load kernels and take memory.
static int32_t make_ops(struct gpu_calls *c)
{
    slr_status status = slr_buffer_create(c->device, BYTES, &c->result);
    return status == SLR_OK ? slr_ops_create(c->device, NULL, &c->ops) : status;
}

static int32_t multiply(struct gpu_calls *c)
{
    slr_tensor a = slr_tensor_2d(SLR_F16, c->buffer, 64, 64), product = slr_tensor_2d(SLR_F16, c->result, 64, 64);
    slr_matmul_desc desc = SLR_MATMUL_DESC_INIT;
    desc.a = desc.b = &a, desc.c = &product;
    return slr_ops_matmul(c->ops, c->own, &desc, NULL);
}

static int32_t convolve(struct gpu_calls *c)
{
    slr_tensor x = slr_tensor_4d(SLR_F16, c->buffer, 1, 8, 16, 16),
               weights = slr_tensor_4d(SLR_F16, c->buffer, 8, 8, 1, 1);
    slr_tensor y = slr_tensor_4d(SLR_F16, c->result, 1, 8, 16, 16);
    slr_convolution_desc desc = SLR_CONVOLUTION_DESC_INIT;
    desc.x = &x, desc.weights = &weights, desc.y = &y;
    return slr_ops_convolution(c->ops, c->own, &desc, NULL);
}

static int32_t make_pinned(struct gpu_calls *c)
{
    slr_buffer_desc desc = SLR_BUFFER_DESC_INIT;
    desc.bytes = BYTES;
    desc.pinned = 1;
    return slr_buffer_create_with(c->device, &desc, &c->pinned);
}

const struct gpu_call gpu_slipring_calls[] = {
    {"slr_buffer_create", make_buffer},
    {"slr_buffer_write", write_buffer},
    {"slr_buffer_read", read_buffer},
    {"slr_buffer_create_with, pinned", make_pinned},
    {"slr_buffer_destroy, pinned", destroy_pinned},
    {"slr_stream_create", make_stream},
    {"slr_stream_fill", fill_buffer},
    {"slr_stream_write", write_in_stream},
    {"slr_stream_finish", finish_stream},
    {"slr_program_from_text", make_program},
    {"slr_program_get_kernel", get_kernel},
    {"slr_launch, its first", launch_kernel},
    {"slr_stream_finish, after it", finish_stream},
    {"slr_ops_create", make_ops},
    {"slr_ops_matmul, its first", multiply},
    {"slr_ops_convolution, its first", convolve},
    {"slr_stream_finish, after these", finish_stream},
    {"slr_ops_destroy", destroy_ops},
    {"slr_event_create", make_event},
    {"slr_event_record", record_event},
    {"slr_event_wait", wait_event},
    {"slr_event_destroy", destroy_event},
    {"slr_graph_create", make_list},
    {"slr_graph_begin", begin_list},
    {"slr_launch, recorded", launch_kernel},
    {"slr_graph_end", end_list},
    {"slr_graph_launch", launch_list},
    {"slr_stream_finish, after a list", finish_stream},
    {"slr_graph_destroy", destroy_list},
    {"slr_kernel_destroy", destroy_kernel},
    {"slr_program_destroy", destroy_program},
    {"slr_stream_destroy", destroy_own_stream},
    {"slr_buffer_destroy", destroy_buffer},
    {NULL, NULL},
};

// ---- before the kernel stays
// -----------------------------------------------------------------------------------------

static char *compile(int capability)
{
    static const char text[] = "extern \"C\" __global__ void count(unsigned *p) { p[threadIdx.x] += 1u; }\n";
    char target[40], *cubin = NULL;
    const char *options[] = {target};
    struct nvrtc nvrtc;
    nvrtc_program *program;
    size_t bytes = 0;
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", capability);
    if (!nvrtc_open(&nvrtc) || nvrtc.create(&program, text, "count.cu", 0, NULL, NULL) != 0)
        return NULL;
    if (nvrtc.compile(program, 1, options) == 0 && nvrtc.cubin_size(program, &bytes) == 0 &&
        (cubin = calloc(bytes, 1)) != NULL)
        nvrtc.cubin(program, cubin);
    nvrtc.destroy(&program);
    return cubin;
}

static bool start(struct gpu_calls *c)
{
    int major = 0, minor = 0, device = 0;
    if (c->cuDeviceGet == NULL || c->cuDeviceGet(&device, c->number) != 0 ||
        c->cuDeviceGetAttribute(&major, 75, device) != 0 || c->cuDeviceGetAttribute(&minor, 76, device) != 0 ||
        c->cuDevicePrimaryCtxRetain(&c->context, device) != 0)
        return false;
    c->cubin = compile(10 * major + minor);
    gpu_calls_enter(c);
    bool fine = c->cubin != NULL && c->cuStreamCreateWithPriority(&c->stream, NON_BLOCKING, 0) == 0 &&
                c->cuMemAlloc_v2(&c->memory, BYTES) == 0;
    gpu_calls_leave(c);
    return fine;
}

struct gpu_calls *gpu_calls_open(slr_device *device, uint32_t number, const char **why)
{
    const char *given = getenv("SLIPRING_CUDA_LIB");
    void *library = dlopen(given && *given ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    struct gpu_calls *c = aligned_alloc(4096, (sizeof *c + 4095) / 4096 * 4096);
    *why = "no driver, no NVRTC or no memory for the calls by hand";
    if (c == NULL || library == NULL) {
        free(c);
        return NULL;
    }
    memset(c, 0, sizeof *c);
    c->device = device;
    c->number = (int)number;
#define LOAD(name, parameters) *(void **)(void *)&c->name = dlsym(library, #name);
    FUNCTIONS(LOAD)
#undef LOAD
    if (start(c))
        return c;
    gpu_calls_close(c);
    return NULL;
}

void gpu_calls_enter(struct gpu_calls *c)
{
    holds(c->cuCtxPushCurrent_v2(c->context) == 0);
}

void gpu_calls_leave(struct gpu_calls *c)
{
    handle ours;
    c->cuCtxPopCurrent_v2(&ours);
}

void gpu_calls_close(struct gpu_calls *c)
{
    if (c == NULL)
        return;
    if (c->context != NULL) {
        gpu_calls_enter(c);
        if (c->memory != 0)
            c->cuMemFree_v2(c->memory);
        if (c->stream != NULL)
            c->cuStreamDestroy_v2(c->stream);
        gpu_calls_leave(c);
        c->cuDevicePrimaryCtxRelease_v2(c->number);
    }
    free(c->cubin);
    free(c);
}

// SPDX-License-Identifier: Apache-2.0
// As much of CUDA's driver as it takes. The prototypes are the driver's own, so that no header of it is needed to
// build.
#include "bench/cuda.h"

#include "memory.h"
#include "nvrtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;

// X(name, parameters): each gives 0, or an error's number.
#define FUNCTIONS(X)                                                                                                   \
    X(cuInit, (unsigned))                                                                                              \
    X(cuDeviceGet, (int *, int))                                                                                       \
    X(cuDeviceGetAttribute, (int *, int, int))                                                                         \
    X(cuDevicePrimaryCtxRetain, (handle *, int))                                                                       \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                             \
    X(cuCtxPushCurrent_v2, (handle))                                                                                   \
    X(cuCtxPopCurrent_v2, (handle *))                                                                                  \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                                     \
    X(cuMemFreeHost, (void *))                                                                                         \
    X(cuMemHostGetDevicePointer_v2, (cuda_pointer *, void *, unsigned))                                                \
    X(cuMemAlloc_v2, (cuda_pointer *, size_t))                                                                         \
    X(cuMemFree_v2, (cuda_pointer))                                                                                    \
    X(cuMemcpyHtoD_v2, (cuda_pointer, const void *, size_t))                                                           \
    X(cuMemcpyDtoH_v2, (void *, cuda_pointer, size_t))                                                                 \
    X(cuMemcpyHtoDAsync_v2, (cuda_pointer, const void *, size_t, handle))                                              \
    X(cuMemcpyDtoHAsync_v2, (void *, cuda_pointer, size_t, handle))                                                    \
    X(cuStreamCreateWithPriority, (handle *, unsigned, int))                                                           \
    X(cuStreamDestroy_v2, (handle))                                                                                    \
    X(cuStreamSynchronize, (handle))                                                                                   \
    X(cuStreamBeginCapture_v2, (handle, int))                                                                          \
    X(cuStreamEndCapture, (handle, handle *))                                                                          \
    X(cuGraphInstantiateWithFlags, (cuda_graph *, handle, unsigned long long))                                         \
    X(cuGraphDestroy, (handle))                                                                                        \
    X(cuGraphLaunch, (cuda_graph, handle))                                                                             \
    X(cuGraphExecDestroy, (cuda_graph))                                                                                \
    X(cuModuleLoadData, (handle *, const void *))                                                                      \
    X(cuModuleUnload, (handle))                                                                                        \
    X(cuModuleGetFunction, (cuda_kernel *, handle, const char *))                                                      \
    X(cuLaunchKernel,                                                                                                  \
      (cuda_kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **))

// Those of a window of L2, which older drivers lack.
#define OPTIONAL(X)                                                                                                    \
    X(cuCtxSetLimit, (int, size_t))                                                                                    \
    X(cuCtxResetPersistingL2Cache, (void))                                                                             \
    X(cuStreamSetAttribute, (handle, int, const void *))

enum { TAKES_TURNS = 0, PORTABLE_MAPPED = 1 | 2, CAPTURE_OF_THREAD = 1, MAJOR = 75, MINOR = 76 };

struct cuda {
    int device, capability;
    handle context, stream;
    struct nvrtc nvrtc;
    char why[300];
#define MEMBER(name, parameters) int(*name) parameters;
    FUNCTIONS(MEMBER)
    OPTIONAL(MEMBER)
#undef MEMBER
};

// ---- opening -------------------------------------------------------------------------------------------------------

static bool load(cuda *cu)
{
    const char *given = getenv("SLIPRING_CUDA_LIB");
    void *library = dlopen(given != NULL && *given ? given : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    bool all = library != NULL;
#define LOAD(name, parameters)                                                                                         \
    *(void **)(void *)&cu->name = library != NULL ? dlsym(library, #name) : NULL;                                      \
    all = all && cu->name != NULL;
    FUNCTIONS(LOAD)
    bool has_all = all;
    OPTIONAL(LOAD)
#undef LOAD
    return has_all;
}

static bool start(cuda *cu, const char *device)
{
    int number = 0, major = 0, minor = 0;
    if (sscanf(device, "cuda:%d", &number) != 1 && strcmp(device, "cuda") != 0)
        return false;
    if (cu->cuInit(0) != 0 || cu->cuDeviceGet(&cu->device, number) != 0 ||
        cu->cuDeviceGetAttribute(&major, MAJOR, cu->device) != 0 ||
        cu->cuDeviceGetAttribute(&minor, MINOR, cu->device) != 0 ||
        cu->cuDevicePrimaryCtxRetain(&cu->context, cu->device) != 0)
        return false;
    cu->capability = 10 * major + minor;
    // A stream that takes turns with the NULL stream, in which the copies that wait are: else a copy back does not wait
    // for the kernel, nor a kernel for the rest of a copy there.
    return cu->cuCtxPushCurrent_v2(cu->context) == 0 &&
           cu->cuStreamCreateWithPriority(&cu->stream, TAKES_TURNS, 0) == 0;
}

cuda *cuda_open(const char *device, const char **why)
{
    cuda *cu = memory_take(1, sizeof *cu);
    *why = "no driver of CUDA is here that has all its functions (libcuda.so.1)";
    if (load(cu)) {
        *why = "no NVRTC is here (SLIPRING_NVRTC_LIB says where it is)";
        if (nvrtc_open(&cu->nvrtc)) {
            *why = "the device does not open, or is not named by its number";
            if (start(cu, device))
                return cu;
        }
    }
    cuda_close(cu);
    return NULL;
}

void cuda_close(cuda *cu)
{
    handle ours;
    if (cu == NULL)
        return;
    if (cu->stream != NULL)
        cu->cuStreamDestroy_v2(cu->stream);
    if (cu->context != NULL) {
        cu->cuCtxPopCurrent_v2(&ours);
        cu->cuDevicePrimaryCtxRelease_v2(cu->device);
    }
    free(cu);
}

// ---- memory --------------------------------------------------------------------------------------------------------

void *cuda_take(cuda *cu, size_t bytes)
{
    void *memory = NULL;
    return cu->cuMemHostAlloc(&memory, bytes, PORTABLE_MAPPED) == 0 ? memset(memory, 0, bytes) : NULL;
}

void cuda_give(cuda *cu, void *memory)
{
    cu->cuMemFreeHost(memory);
}

cuda_pointer cuda_seen(cuda *cu, void *memory)
{
    cuda_pointer seen = 0;
    return cu->cuMemHostGetDevicePointer_v2(&seen, memory, 0) == 0 ? seen : 0;
}

cuda_pointer cuda_take_own(cuda *cu, size_t bytes)
{
    cuda_pointer memory = 0;
    return cu->cuMemAlloc_v2(&memory, bytes) == 0 ? memory : 0;
}

void cuda_give_own(cuda *cu, cuda_pointer memory)
{
    cu->cuMemFree_v2(memory);
}

bool cuda_copy_in(cuda *cu, cuda_pointer to, const void *from, size_t bytes, bool waits)
{
    return (waits ? cu->cuMemcpyHtoD_v2(to, from, bytes) : cu->cuMemcpyHtoDAsync_v2(to, from, bytes, cu->stream)) == 0;
}

bool cuda_copy_out(cuda *cu, void *to, cuda_pointer from, size_t bytes, bool waits)
{
    return (waits ? cu->cuMemcpyDtoH_v2(to, from, bytes) : cu->cuMemcpyDtoHAsync_v2(to, from, bytes, cu->stream)) == 0;
}

// ---- kernels -------------------------------------------------------------------------------------------------------

// The first error of NVRTC's own words, on one line.
static void note_complaint(cuda *cu, nvrtc_program *program, const char *name)
{
    size_t bytes = 0;
    char *log = cu->nvrtc.log_size(program, &bytes) == 0 ? memory_take(bytes + 1, 1) : NULL;
    if (log != NULL && cu->nvrtc.log(program, log) != 0)
        *log = '\0';
    const char *first = log != NULL ? strstr(log, "error") : NULL;
    first = first != NULL ? first : log != NULL ? log : "";
    snprintf(cu->why, sizeof cu->why, "NVRTC refuses %s: %.*s", name, (int)strcspn(first, "\n"), first);
    free(log);
}

static char *to_cubin(cuda *cu, const char *text, const char *name)
{
    char target[40];
    const char *options[] = {target, "--std=c++17"};
    nvrtc_program *program;
    size_t bytes = 0;
    char *cubin = NULL;
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", cu->capability);
    if (cu->nvrtc.create(&program, text, name, 0, NULL, NULL) != 0)
        return NULL;
    if (cu->nvrtc.compile(program, 2, options) != 0) {
        note_complaint(cu, program, name);
    } else if (cu->nvrtc.cubin_size(program, &bytes) == 0) {
        cubin = memory_take(bytes, 1);
        cu->nvrtc.cubin(program, cubin);
    }
    cu->nvrtc.destroy(&program);
    return cubin;
}

cuda_module *cuda_compile(cuda *cu, const char *text, const char *name, const char **why)
{
    handle module = NULL;
    snprintf(cu->why, sizeof cu->why, "the driver does not load %s", name);
    char *cubin = to_cubin(cu, text, name);
    bool loaded = cubin != NULL && cu->cuModuleLoadData(&module, cubin) == 0;
    free(cubin);
    *why = cu->why;
    return loaded ? module : NULL;
}

void cuda_unload(cuda *cu, cuda_module *module)
{
    if (module != NULL)
        cu->cuModuleUnload(module);
}

cuda_kernel cuda_find(cuda *cu, cuda_module *module, const char *name)
{
    cuda_kernel kernel = NULL;
    return cu->cuModuleGetFunction(&kernel, module, name) == 0 ? kernel : NULL;
}

bool cuda_launch(cuda *cu, cuda_kernel kernel, const uint32_t blocks[2], const uint32_t threads[2], void **arguments)
{
    return cu->cuLaunchKernel(kernel, blocks[0], blocks[1], 1, threads[0], threads[1], 1, 0, cu->stream, arguments,
                              NULL) == 0;
}

bool cuda_finish(cuda *cu)
{
    return cu->cuStreamSynchronize(cu->stream) == 0;
}

void *cuda_stream(cuda *cu)
{
    return cu->stream;
}

// ---- what L2 keeps -------------------------------------------------------------------------------------------------

enum {
    LIMIT_KEPT_IN_L2 = 6,
    ACCESS_WINDOW = 1,
    STREAMING = 1,
    PERSISTING = 2,
    MOST_KEPT_IN_L2 = 108,
    MOST_WINDOW = 109
};

size_t cuda_most_in_l2(cuda *cu)
{
    int kept = 0, within = 0;
    if (cu->cuCtxSetLimit == NULL || cu->cuCtxResetPersistingL2Cache == NULL || cu->cuStreamSetAttribute == NULL ||
        cu->cuDeviceGetAttribute(&kept, MOST_KEPT_IN_L2, cu->device) != 0 ||
        cu->cuDeviceGetAttribute(&within, MOST_WINDOW, cu->device) != 0)
        return 0;
    return (size_t)(kept < within ? kept : within);
}

bool cuda_keep_in_l2(cuda *cu, cuda_pointer from, size_t bytes)
{
    union { // as the driver's, which has 64 bytes
        struct {
            cuda_pointer from;
            size_t bytes;
            float share;
            int hit, miss;
        } window;
        char all[64];
    } value = {.window = {bytes != 0 ? from : 0, bytes, 1.0f, bytes != 0 ? PERSISTING : 0, bytes != 0 ? STREAMING : 0}};
    return cu->cuStreamSynchronize(cu->stream) == 0 && cu->cuCtxSetLimit(LIMIT_KEPT_IN_L2, bytes) == 0 &&
           cu->cuStreamSetAttribute(cu->stream, ACCESS_WINDOW, &value) == 0 && cu->cuCtxResetPersistingL2Cache() == 0;
}

// ---- graphs --------------------------------------------------------------------------------------------------------

bool cuda_record(cuda *cu)
{
    return cu->cuStreamBeginCapture_v2(cu->stream, CAPTURE_OF_THREAD) == 0;
}

cuda_graph cuda_recorded(cuda *cu)
{
    handle recorded = NULL;
    cuda_graph graph = NULL;
    if (cu->cuStreamEndCapture(cu->stream, &recorded) != 0)
        return NULL;
    if (cu->cuGraphInstantiateWithFlags(&graph, recorded, 0) != 0)
        graph = NULL;
    cu->cuGraphDestroy(recorded);
    return graph;
}

bool cuda_launch_graph(cuda *cu, cuda_graph graph)
{
    return cu->cuGraphLaunch(graph, cu->stream) == 0;
}

void cuda_drop_graph(cuda *cu, cuda_graph graph)
{
    if (graph != NULL)
        cu->cuGraphExecDestroy(graph);
}

// SPDX-License-Identifier: Apache-2.0
// OpenCL 1.2, as much as it takes to run the example kernels. The prototypes are OpenCL's own, so that no header of it
// is needed to build.
#include "bench/opencl.h"

#include "memory.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char hand_embedded_reduce_shuffle_cl[];

typedef void *handle;

// X(result, name, parameters)
#define FUNCTIONS(X)                                                                                                   \
    X(int32_t, clGetPlatformIDs, (uint32_t, handle *, uint32_t *))                                                     \
    X(int32_t, clGetDeviceIDs, (handle, uint64_t, uint32_t, handle *, uint32_t *))                                     \
    X(int32_t, clCreateSubDevices, (handle, const intptr_t *, uint32_t, handle *, uint32_t *))                         \
    X(handle, clCreateContext, (const intptr_t *, uint32_t, const handle *, void *, void *, int32_t *))                \
    X(handle, clCreateCommandQueue, (handle, handle, uint64_t, int32_t *))                                             \
    X(handle, clCreateProgramWithSource, (handle, uint32_t, const char **, const size_t *, int32_t *))                 \
    X(int32_t, clBuildProgram, (handle, uint32_t, const handle *, const char *, void *, void *))                       \
    X(handle, clCreateKernel, (handle, const char *, int32_t *))                                                       \
    X(handle, clCreateBuffer, (handle, uint64_t, size_t, void *, int32_t *))                                           \
    X(int32_t, clSetKernelArg, (handle, uint32_t, size_t, const void *))                                               \
    X(int32_t, clEnqueueNDRangeKernel,                                                                                 \
      (handle, handle, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, const handle *, handle *))  \
    X(int32_t, clFlush, (handle))                                                                                      \
    X(int32_t, clFinish, (handle))                                                                                     \
    X(int32_t, clReleaseMemObject, (handle))                                                                           \
    X(int32_t, clReleaseKernel, (handle))                                                                              \
    X(int32_t, clReleaseProgram, (handle))                                                                             \
    X(int32_t, clReleaseCommandQueue, (handle))                                                                        \
    X(int32_t, clReleaseContext, (handle))

enum { PARTITION_BY_COUNTS = 0x1087, READ_WRITE_COPY = 1 | 32, READ_WRITE_HOST = 1 | 8 };

struct opencl {
    void *library;
    handle device, context, queue;
#define MEMBER(result, name, parameters) result(*name) parameters;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

struct opencl_kernel {
    opencl *cl;
    const kernel_case *what;
    int n;
    unsigned shared; // buffers, of a kernel by its text
    handle program, kernel, buffer[KERNEL_BUFFERS];
};

// ---- opening -------------------------------------------------------------------------------------------------------

static bool load(opencl *cl)
{
    cl->library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (cl->library == NULL)
        return false;
    bool all = true;
#define LOAD(result, name, parameters)                                                                                 \
    *(void **)(void *)&cl->name = dlsym(cl->library, #name);                                                           \
    all = all && cl->name != NULL;
    FUNCTIONS(LOAD)
#undef LOAD
    return all;
}

static bool choose_device(opencl *cl, bool one_core)
{
    handle platform, whole;
    const intptr_t one[] = {PARTITION_BY_COUNTS, 1, 0, 0};
    if (cl->clGetPlatformIDs(1, &platform, NULL) != 0 ||
        cl->clGetDeviceIDs(platform, 0xffffffffu, 1, &whole, NULL) != 0)
        return false;
    cl->device = whole;
    return !one_core || cl->clCreateSubDevices(whole, one, 1, &cl->device, NULL) == 0;
}

opencl *opencl_open(bool one_core, const char **why)
{
    opencl *cl = memory_take(1, sizeof *cl);
    *why = "no OpenCL is here (libOpenCL.so.1; Debian: pocl-opencl-icd)";
    if (load(cl) && choose_device(cl, one_core)) {
        *why = "OpenCL makes no context";
        cl->context = cl->clCreateContext(NULL, 1, &cl->device, NULL, NULL, NULL);
        cl->queue = cl->context != NULL ? cl->clCreateCommandQueue(cl->context, cl->device, 0, NULL) : NULL;
        if (cl->queue != NULL)
            return cl;
    }
    opencl_close(cl);
    return NULL;
}

// The library stays loaded: its threads may.
void opencl_close(opencl *cl)
{
    if (cl == NULL)
        return;
    if (cl->queue != NULL)
        cl->clReleaseCommandQueue(cl->queue);
    if (cl->context != NULL)
        cl->clReleaseContext(cl->context);
    free(cl);
}

// ---- text ----------------------------------------------------------------------------------------------------------

static const char prelude[] =
    "typedef struct { uint x, y, z; } place;\n"
    "#define threadIdx ((place){get_local_id(0), get_local_id(1), get_local_id(2)})\n"
    "#define blockIdx ((place){get_group_id(0), get_group_id(1), get_group_id(2)})\n"
    "#define blockDim ((place){get_local_size(0), get_local_size(1), get_local_size(2)})\n"
    "#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)\n"
    "#define __global__ __kernel\n#define __device__\n#define __shared__ __local\n"
    "#define atomicAdd atomic_add\n#define sqrtf sqrt\n#define expf exp\n#define logf log\n#define fabsf fabs\n"
    "#define fmaxf fmax\n";

// Pointers among the kernel's parameters are to global memory.
static char *translate(const char *source)
{
    size_t room = strlen(source) + sizeof prelude + 256;
    char *text = memory_take(room, 1), *to = text + sprintf(text, "%s", prelude);
    const char *head = strstr(source, "__global__ void "), *open = strchr(head, '('), *close = strchr(open, ')');
    to += sprintf(to, "%.*s", (int)(open + 1 - source), source);
    for (const char *at = open + 1; at < close;) {
        size_t length = strcspn(at, ",)");
        bool is_pointer = memchr(at, '*', length) != NULL;
        to += sprintf(to, "%s%.*s%s", is_pointer ? "__global " : "", (int)length, at, at[length] == ',' ? "," : "");
        at += length + 1;
    }
    sprintf(to, "%s", close);
    return text;
}

// ---- kernels -------------------------------------------------------------------------------------------------------

static bool build_text(opencl_kernel *kernel, const char *text, const char *name, const char *options)
{
    opencl *cl = kernel->cl;
    kernel->program = cl->clCreateProgramWithSource(cl->context, 1, &text, NULL, NULL);
    bool fine =
        kernel->program != NULL && cl->clBuildProgram(kernel->program, 1, &cl->device, options, NULL, NULL) == 0;
    kernel->kernel = fine ? cl->clCreateKernel(kernel->program, name, NULL) : NULL;
    return kernel->kernel != NULL;
}

static bool build(opencl_kernel *kernel)
{
    const char *name = kernel->what->name;
    if (strcmp(name, "reduce_shuffle") == 0) // OpenCL 1.2 has no shuffles
        return build_text(kernel, hand_embedded_reduce_shuffle_cl, name, "-cl-std=CL1.2");
    char *text = translate(kernel->what->source);
    bool fine = build_text(kernel, text, name, "-cl-std=CL1.2");
    free(text);
    return fine;
}

static bool fill(opencl_kernel *kernel)
{
    opencl *cl = kernel->cl;
    for (unsigned i = 0; i < KERNEL_BUFFERS && kernel->what->buffer[i].times; i++) {
        size_t bytes = kernel_case_elements(kernel->what, i, kernel->n) * 4;
        void *memory = memory_take(bytes, 1);
        kernel_case_fill(kernel->what, i, kernel->n, memory);
        kernel->buffer[i] = cl->clCreateBuffer(cl->context, READ_WRITE_COPY, bytes, memory, NULL);
        free(memory);
        if (kernel->buffer[i] == NULL)
            return false;
    }
    return true;
}

static bool give(const opencl_kernel *kernel)
{
    const float two = 2.0f;
    uint32_t index = 0;
    for (const char *at = kernel->what->arguments; *at; at++, index++) {
        const void *value = *at == 'n'   ? (const void *)&kernel->n
                            : *at == 'f' ? (const void *)&two
                                         : (const void *)&kernel->buffer[*at - '0'];
        size_t bytes = *at == 'n' || *at == 'f' ? 4 : sizeof(handle);
        if (kernel->cl->clSetKernelArg(kernel->kernel, index, bytes, value) != 0)
            return false;
    }
    return true;
}

opencl_kernel *opencl_prepare(opencl *cl, const kernel_case *what, int n, const char **why)
{
    opencl_kernel *kernel = memory_take(1, sizeof *kernel);
    *kernel = (opencl_kernel){.cl = cl, .what = what, .n = n};
    *why = "OpenCL does not build it";
    if (build(kernel) && fill(kernel) && give(kernel))
        return kernel;
    opencl_release(kernel);
    return NULL;
}

bool opencl_run(opencl_kernel *kernel)
{
    slr_shape shape = kernel_case_shape(kernel->what, kernel->n);
    const size_t local[] = {shape.block[0], shape.block[1]};
    const size_t global[] = {(size_t)shape.grid[0] * local[0], (size_t)shape.grid[1] * local[1]};
    return kernel->cl->clEnqueueNDRangeKernel(kernel->cl->queue, kernel->kernel, 2, NULL, global, local, 0, NULL,
                                              NULL) == 0 &&
           kernel->cl->clFinish(kernel->cl->queue) == 0;
}

// ---- kernels by their text -----------------------------------------------------------------------------------------

opencl_kernel *opencl_prepare_text(opencl *cl, const char *text, const char *name, const opencl_shared *shared,
                                   unsigned buffers, const char **why)
{
    opencl_kernel *kernel = memory_take(1, sizeof *kernel);
    *kernel = (opencl_kernel){.cl = cl, .shared = buffers};
    *why = "OpenCL does not build it";
    bool fine = build_text(kernel, text, name, "-cl-std=CL3.0");
    for (unsigned i = 0; fine && i < buffers; i++) {
        kernel->buffer[i] = cl->clCreateBuffer(cl->context, READ_WRITE_HOST, shared[i].bytes, shared[i].memory, NULL);
        fine =
            kernel->buffer[i] != NULL && cl->clSetKernelArg(kernel->kernel, i, sizeof(handle), &kernel->buffer[i]) == 0;
    }
    if (fine)
        return kernel;
    opencl_release(kernel);
    return NULL;
}

bool opencl_begin(opencl_kernel *kernel, const uint32_t *values, unsigned count, size_t items, size_t group)
{
    const opencl *cl = kernel->cl;
    for (unsigned i = 0; i < count; i++)
        if (cl->clSetKernelArg(kernel->kernel, kernel->shared + i, sizeof values[i], &values[i]) != 0)
            return false;
    return cl->clEnqueueNDRangeKernel(cl->queue, kernel->kernel, 1, NULL, &items, &group, 0, NULL, NULL) == 0 &&
           cl->clFlush(cl->queue) == 0;
}

bool opencl_finish(opencl_kernel *kernel)
{
    return kernel->cl->clFinish(kernel->cl->queue) == 0;
}

void opencl_release(opencl_kernel *kernel)
{
    if (kernel == NULL)
        return;
    for (unsigned i = 0; i < KERNEL_BUFFERS; i++)
        if (kernel->buffer[i] != NULL)
            kernel->cl->clReleaseMemObject(kernel->buffer[i]);
    if (kernel->kernel != NULL)
        kernel->cl->clReleaseKernel(kernel->kernel);
    if (kernel->program != NULL)
        kernel->cl->clReleaseProgram(kernel->program);
    free(kernel);
}

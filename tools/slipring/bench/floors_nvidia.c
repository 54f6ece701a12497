// SPDX-License-Identifier: Apache-2.0
#include "bench/floors_nvidia.h"

#include "memory.h"

#include <dlfcn.h>
#include <stdlib.h>

// X(name, parameters): each gives 0, or an error's number. The numbers below are those of the vendor's headers.
#define CUBLASLT(X)                                                                                                    \
    X(Create, (void **handle))                                                                                         \
    X(Destroy, (void *handle))                                                                                         \
    X(MatmulDescCreate, (void **desc, int compute, int scale))                                                         \
    X(MatmulDescDestroy, (void *desc))                                                                                 \
    X(MatrixLayoutCreate, (void **layout, int type, uint64_t rows, uint64_t columns, int64_t stride))                  \
    X(MatrixLayoutDestroy, (void *layout))                                                                             \
    X(MatmulPreferenceCreate, (void **preference))                                                                     \
    X(MatmulPreferenceDestroy, (void *preference))                                                                     \
    X(MatmulPreferenceSetAttribute, (void *preference, int attribute, const void *value, size_t bytes))                \
    X(MatmulAlgoGetHeuristic, (void *handle, void *desc, void *a, void *b, void *c, void *d, void *preference,         \
                               int most, struct chosen_product *chosen, int *count))                                   \
    X(Matmul, (void *handle, void *desc, const float *alpha, const void *a, void *a_layout, const void *b,             \
               void *b_layout, const float *beta, const void *c, void *c_layout, void *d, void *d_layout,              \
               const uint64_t *algorithm, void *workspace, size_t workspace_bytes, void *stream))
#define CUDNN(X)                                                                                                       \
    X(Create, (void **handle))                                                                                         \
    X(Destroy, (void *handle))                                                                                         \
    X(SetStream, (void *handle, void *stream))                                                                         \
    X(CreateTensorDescriptor, (void **tensor))                                                                         \
    X(DestroyTensorDescriptor, (void *tensor))                                                                         \
    X(SetTensor4dDescriptor, (void *tensor, int format, int type, int n, int c, int h, int w))                         \
    X(CreateFilterDescriptor, (void **filter))                                                                         \
    X(DestroyFilterDescriptor, (void *filter))                                                                         \
    X(SetFilter4dDescriptor, (void *filter, int type, int format, int k, int c, int h, int w))                         \
    X(CreateConvolutionDescriptor, (void **convolution))                                                               \
    X(DestroyConvolutionDescriptor, (void *convolution))                                                               \
    X(SetConvolution2dDescriptor, (void *convolution, int pad_h, int pad_w, int stride_h, int stride_w,                \
                                   int dilation_h, int dilation_w, int mode, int compute))                             \
    X(SetConvolutionMathType, (void *convolution, int math))                                                           \
    X(GetConvolutionForwardAlgorithm_v7, (void *handle, const void *x, const void *weights, const void *convolution,   \
                                          const void *y, int most, int *count, struct chosen_convolution *chosen))     \
    X(ConvolutionForward, (void *handle, const float *alpha, const void *x_tensor, const void *x, const void *filter,  \
                           const void *weights, const void *convolution, int algorithm, void *workspace,               \
                           size_t workspace_bytes, const float *beta, const void *y_tensor, void *y))

struct chosen_product {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};

struct chosen_convolution {
    int algorithm, status;
    float time;
    size_t workspace_bytes;
    int deterministic, math, reserved[3];
};

enum { FLOAT = 0, HALF = 2, COMPUTE_FLOAT = 68, MOST_WORKSPACE = 1 };
enum { IN_ORDER = 0, CROSS_CORRELATION = 1, DEFAULT_MATH = 0, FMA_MATH = 3, MOST_CHOSEN = 16 };

#define MEMBER(name, parameters) int(*name) parameters;
static struct {
    CUBLASLT(MEMBER)
} lt;
static struct {
    CUDNN(MEMBER)
} dnn;
#undef MEMBER

static const float one = 1.0f, zero = 0.0f;

struct floors_product {
    cuda *cu;
    void *handle, *desc, *layout;
    struct chosen_product chosen;
    cuda_pointer memory[3], workspace;
};

struct floors_filter {
    cuda *cu;
    void *handle, *tensor[2], *filter, *convolution; // x and y are of one shape
    struct chosen_convolution chosen;
    cuda_pointer memory[3], workspace;
};

// The first that is there: of the environment, else of these names, until NULL.
static void *open_library(const char *variable, const char *const *names)
{
    const char *given = getenv(variable);
    if (given != NULL && *given)
        return dlopen(given, RTLD_NOW | RTLD_LOCAL);
    void *library = NULL;
    for (; *names != NULL && library == NULL; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
    return library;
}

static void *at(cuda_pointer memory)
{
    return (void *)(uintptr_t)memory;
}

static bool take_workspace(cuda *cu, size_t bytes, cuda_pointer *out)
{
    *out = bytes != 0 ? cuda_take_own(cu, bytes) : 0;
    return bytes == 0 || *out != 0;
}

// ---- cuBLASLt ------------------------------------------------------------------------------------------------------

static bool open_cublaslt(void)
{
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12",
                                        "/usr/local/cuda/lib64/libcublasLt.so", NULL};
    void *library = open_library("SLIPRING_CUBLASLT_LIB", names);
    bool all = library != NULL;
#define LOAD(name, parameters)                                                                                         \
    *(void **)(void *)&lt.name = library != NULL ? dlsym(library, "cublasLt" #name) : NULL;                            \
    all = all && lt.name != NULL;
    CUBLASLT(LOAD)
#undef LOAD
    return all;
}

static bool choose_product(floors_product *p)
{
    const uint64_t most = FLOORS_WORKSPACE;
    void *preference = NULL;
    int count = 0;
    if (lt.MatmulPreferenceCreate(&preference) != 0)
        return false;
    bool fine = lt.MatmulPreferenceSetAttribute(preference, MOST_WORKSPACE, &most, sizeof most) == 0 &&
                lt.MatmulAlgoGetHeuristic(p->handle, p->desc, p->layout, p->layout, p->layout, p->layout, preference, 1,
                                          &p->chosen, &count) == 0;
    lt.MatmulPreferenceDestroy(preference);
    return fine && count > 0 && p->chosen.state == 0;
}

floors_product *floors_cublaslt_make(cuda *cu, bool halves, unsigned side, const cuda_pointer memory[3],
                                     const char **why)
{
    *why = "no cuBLASLt of CUDA 12 or 13 is here (SLIPRING_CUBLASLT_LIB says where it is)";
    if (!open_cublaslt())
        return NULL;
    floors_product *p = memory_take(1, sizeof *p);
    p->cu = cu;
    for (int i = 0; i < 3; i++)
        p->memory[i] = memory[i];
    *why = "cuBLASLt refuses the product, or there is no memory for it";
    if (lt.Create(&p->handle) == 0 && lt.MatmulDescCreate(&p->desc, COMPUTE_FLOAT, FLOAT) == 0 &&
        lt.MatrixLayoutCreate(&p->layout, halves ? HALF : FLOAT, side, side, side) == 0 && choose_product(p) &&
        take_workspace(cu, p->chosen.workspace_bytes, &p->workspace))
        return p;
    floors_cublaslt_free(p);
    return NULL;
}

// It counts down columns: its first operand is the second of rows.
bool floors_cublaslt(const floors_product *p)
{
    void *c = at(p->memory[2]);
    return lt.Matmul(p->handle, p->desc, &one, at(p->memory[1]), p->layout, at(p->memory[0]), p->layout, &zero, c,
                     p->layout, c, p->layout, p->chosen.algorithm, at(p->workspace), p->chosen.workspace_bytes,
                     cuda_stream(p->cu)) == 0;
}

void floors_cublaslt_free(floors_product *p)
{
    if (p == NULL)
        return;
    if (p->workspace != 0)
        cuda_give_own(p->cu, p->workspace);
    if (p->layout != NULL)
        lt.MatrixLayoutDestroy(p->layout);
    if (p->desc != NULL)
        lt.MatmulDescDestroy(p->desc);
    if (p->handle != NULL)
        lt.Destroy(p->handle);
    free(p);
}

// ---- cuDNN ---------------------------------------------------------------------------------------------------------

static bool open_cudnn(void)
{
    static const char *const names[] = {"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9", NULL};
    void *library = open_library("SLIPRING_CUDNN_LIB", names);
    bool all = library != NULL;
#define LOAD(name, parameters)                                                                                         \
    *(void **)(void *)&dnn.name = library != NULL ? dlsym(library, "cudnn" #name) : NULL;                              \
    all = all && dnn.name != NULL;
    CUDNN(LOAD)
#undef LOAD
    return all;
}

static bool describe_filter(floors_filter *f, int images, int channels, int side)
{
    for (int i = 0; i < 2; i++)
        if (dnn.CreateTensorDescriptor(&f->tensor[i]) != 0 ||
            dnn.SetTensor4dDescriptor(f->tensor[i], IN_ORDER, FLOAT, images, channels, side, side) != 0)
            return false;
    return dnn.CreateFilterDescriptor(&f->filter) == 0 &&
           dnn.SetFilter4dDescriptor(f->filter, FLOAT, IN_ORDER, channels, channels, 3, 3) == 0 &&
           dnn.CreateConvolutionDescriptor(&f->convolution) == 0 &&
           dnn.SetConvolution2dDescriptor(f->convolution, 1, 1, 1, 1, 1, 1, CROSS_CORRELATION, FLOAT) == 0 &&
           dnn.SetConvolutionMathType(f->convolution, FMA_MATH) == 0;
}

static bool choose_filter(floors_filter *f)
{
    struct chosen_convolution chosen[MOST_CHOSEN];
    int count = 0;
    if (dnn.GetConvolutionForwardAlgorithm_v7(f->handle, f->tensor[0], f->filter, f->convolution, f->tensor[1],
                                              MOST_CHOSEN, &count, chosen) != 0)
        return false;
    for (int i = 0; i < count && i < MOST_CHOSEN; i++) {
        f->chosen = chosen[i];
        bool is_float = f->chosen.math == DEFAULT_MATH || f->chosen.math == FMA_MATH;
        if (f->chosen.status == 0 && is_float && f->chosen.workspace_bytes <= FLOORS_WORKSPACE)
            return true;
    }
    return false;
}

floors_filter *floors_cudnn_make(cuda *cu, unsigned images, unsigned channels, unsigned side,
                                 const cuda_pointer memory[3], const char **why)
{
    *why = "no cuDNN 9 is here (SLIPRING_CUDNN_LIB says where it is)";
    if (!open_cudnn())
        return NULL;
    floors_filter *f = memory_take(1, sizeof *f);
    f->cu = cu;
    for (int i = 0; i < 3; i++)
        f->memory[i] = memory[i];
    *why = "cuDNN refuses the convolution, or there is no memory for it";
    if (dnn.Create(&f->handle) == 0 && dnn.SetStream(f->handle, cuda_stream(cu)) == 0 &&
        describe_filter(f, (int)images, (int)channels, (int)side) && choose_filter(f) &&
        take_workspace(cu, f->chosen.workspace_bytes, &f->workspace))
        return f;
    floors_cudnn_free(f);
    return NULL;
}

bool floors_cudnn(const floors_filter *f)
{
    return dnn.ConvolutionForward(f->handle, &one, f->tensor[0], at(f->memory[0]), f->filter, at(f->memory[1]),
                                  f->convolution, f->chosen.algorithm, at(f->workspace), f->chosen.workspace_bytes,
                                  &zero, f->tensor[1], at(f->memory[2])) == 0;
}

void floors_cudnn_free(floors_filter *f)
{
    if (f == NULL)
        return;
    if (f->workspace != 0)
        cuda_give_own(f->cu, f->workspace);
    if (f->convolution != NULL)
        dnn.DestroyConvolutionDescriptor(f->convolution);
    if (f->filter != NULL)
        dnn.DestroyFilterDescriptor(f->filter);
    for (int i = 0; i < 2; i++)
        if (f->tensor[i] != NULL)
            dnn.DestroyTensorDescriptor(f->tensor[i]);
    if (f->handle != NULL)
        dnn.Destroy(f->handle);
    free(f);
}

// SPDX-License-Identifier: Apache-2.0
// oneDNN 2 called bare, as its own examples do: the tensors are reordered to the layouts that it asks for, and back.
#include "bench/floors.h"

#include "memory.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CPU = 1, IN_ORDER = 1, F32 = 3, ANY = 1, INFERENCE = 96, AUTO = 3, DIMENSIONS = 4 };
enum { SRC = 1, DST = 17, WEIGHTS = 33 };
enum { X, W, Y, TENSORS };

// Larger than in version 2, whose library alone looks inside.
typedef struct layout {
    _Alignas(16) unsigned char bytes[1024];
} layout;
typedef struct operation {
    _Alignas(16) unsigned char bytes[16384];
} operation;
typedef struct argument {
    int which;
    void *memory;
} argument;

// Each gives 0, or why not.
#define FUNCTIONS(F)                                                                                                   \
    F(engine_create, (void **engine, int kind, size_t index))                                                          \
    F(stream_create, (void **stream, void *engine, unsigned flags))                                                    \
    F(stream_wait, (void *stream))                                                                                     \
    F(memory_desc_init_by_strides, (layout * out, int ndims, const int64_t *dims, int type, const int64_t *strides))   \
    F(memory_desc_init_by_tag, (layout * out, int ndims, const int64_t *dims, int type, int tag))                      \
    F(memory_desc_equal, (const layout *a, const layout *b))                                                           \
    F(convolution_forward_desc_init,                                                                                   \
      (operation * out, int kind, int algorithm, const layout *src, const layout *weights, const layout *bias,         \
       const layout *dst, const int64_t *strides, const int64_t *left, const int64_t *right))                          \
    F(primitive_desc_create,                                                                                           \
      (void **out, const operation *what, const void *attributes, void *engine, const void *hint))                     \
    F(reorder_primitive_desc_create,                                                                                   \
      (void **out, const layout *from, void *from_engine, const layout *to, void *to_engine, const void *attributes))  \
    F(primitive_create, (void **out, const void *desc))                                                                \
    F(primitive_execute, (const void *primitive, void *stream, int count, const argument *arguments))                  \
    F(memory_create, (void **out, const layout *of, void *engine, void *handle))                                       \
    F(primitive_desc_destroy, (void *desc))                                                                            \
    F(primitive_destroy, (void *primitive))                                                                            \
    F(memory_destroy, (void *memory))

static struct {
#define POINTER(name, parameters) int(*name) parameters;
    FUNCTIONS(POINTER)
#undef POINTER
    const layout *(*query)(const void *desc, int what, int index);
    void *engine, *stream;
} onednn;

struct floors_convolution {
    layout plain[TENSORS], own[TENSORS];
    void *memory[TENSORS], *own_memory[TENSORS]; // the same where oneDNN takes the plain layout
    void *reorder[TENSORS], *convolution;        // NULL: it need not be reordered
};

bool floors_onednn_open(int threads)
{
    void *library = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    bool found = true;
#define FIND(name, parameters)                                                                                         \
    *(void **)(void *)&onednn.name = dlsym(library, "dnnl_" #name);                                                    \
    found = found && onednn.name != NULL;
    FUNCTIONS(FIND)
#undef FIND
    *(void **)(void *)&onednn.query = dlsym(library, "dnnl_primitive_desc_query_md");
    void (*set_threads)(int); // of the OpenMP that it is linked with
    *(void **)(void *)&set_threads = dlsym(library, "omp_set_num_threads");
    if (!found || onednn.query == NULL || set_threads == NULL)
        return false;
    set_threads(threads); // of the calling thread's teams
    return onednn.engine != NULL || (onednn.engine_create(&onednn.engine, CPU, 0) == 0 &&
                                     onednn.stream_create(&onednn.stream, onednn.engine, IN_ORDER) == 0);
}

static bool make_primitive(void *desc, void **out)
{
    bool fine = onednn.primitive_create(out, desc) == 0;
    onednn.primitive_desc_destroy(desc);
    return fine;
}

static bool make_reorder(floors_convolution *c, int which)
{
    const layout *from = which == Y ? &c->own[Y] : &c->plain[which], *to = which == Y ? &c->plain[Y] : &c->own[which];
    void *desc;
    c->own_memory[which] = c->memory[which];
    if (onednn.memory_desc_equal(&c->plain[which], &c->own[which]))
        return true;
    c->own_memory[which] = NULL;
    void *const allocate = (void *)(size_t)-1; // DNNL_MEMORY_ALLOCATE
    return onednn.memory_create(&c->own_memory[which], &c->own[which], onednn.engine, allocate) == 0 &&
           onednn.reorder_primitive_desc_create(&desc, from, onednn.engine, to, onednn.engine, NULL) == 0 &&
           make_primitive(desc, &c->reorder[which]);
}

static bool make_convolution(floors_convolution *c, const int64_t dims[TENSORS][DIMENSIONS])
{
    static const int query[TENSORS] = {129, 131, 133}; // source, weights, destination
    const int64_t ones[2] = {1, 1};                    // strides, and the padding that keeps the size
    enum { LAYOUT_BYTES = 696 };                       // in version 2
    layout any[TENSORS];
    operation what;
    void *desc;
    for (int i = 0; i < TENSORS; i++)
        if (onednn.memory_desc_init_by_strides(&c->plain[i], DIMENSIONS, dims[i], F32, NULL) != 0 ||
            onednn.memory_desc_init_by_tag(&any[i], DIMENSIONS, dims[i], F32, ANY) != 0)
            return false;
    if (onednn.convolution_forward_desc_init(&what, INFERENCE, AUTO, &any[X], &any[W], NULL, &any[Y], ones, ones,
                                             ones) != 0 ||
        onednn.primitive_desc_create(&desc, &what, NULL, onednn.engine, NULL) != 0)
        return false;
    for (int i = 0; i < TENSORS; i++)
        memcpy(&c->own[i], onednn.query(desc, query[i], 0), LAYOUT_BYTES);
    return make_primitive(desc, &c->convolution);
}

floors_convolution *floors_onednn_make(unsigned images, unsigned channels, unsigned side, const float *x,
                                       const float *weights, float *y)
{
    const int64_t dims[TENSORS][DIMENSIONS] = {
        {images, channels, side, side}, {channels, channels, 3, 3}, {images, channels, side, side}};
    void *const data[TENSORS] = {(void *)(uintptr_t)x, (void *)(uintptr_t)weights, y};
    floors_convolution *c = memory_take(1, sizeof *c);
    bool fine = make_convolution(c, dims);
    for (int i = 0; i < TENSORS && fine; i++)
        fine = onednn.memory_create(&c->memory[i], &c->plain[i], onednn.engine, data[i]) == 0 && make_reorder(c, i);
    if (fine)
        return c;
    floors_onednn_free(c);
    return NULL;
}

void floors_onednn_free(floors_convolution *c)
{
    for (int i = 0; i < TENSORS && c != NULL; i++) {
        if (c->reorder[i] != NULL)
            onednn.primitive_destroy(c->reorder[i]);
        if (c->own_memory[i] != NULL && c->own_memory[i] != c->memory[i])
            onednn.memory_destroy(c->own_memory[i]);
        if (c->memory[i] != NULL)
            onednn.memory_destroy(c->memory[i]);
    }
    if (c != NULL && c->convolution != NULL)
        onednn.primitive_destroy(c->convolution);
    free(c);
}

static bool reorder(const floors_convolution *c, int which)
{
    void *from = which == Y ? c->own_memory[Y] : c->memory[which],
         *to = which == Y ? c->memory[Y] : c->own_memory[which];
    const argument arguments[] = {{SRC, from}, {DST, to}};
    return c->reorder[which] == NULL || onednn.primitive_execute(c->reorder[which], onednn.stream, 2, arguments) == 0;
}

bool floors_onednn(const floors_convolution *c)
{
    const argument arguments[] = {{SRC, c->own_memory[X]}, {WEIGHTS, c->own_memory[W]}, {DST, c->own_memory[Y]}};
    return reorder(c, X) && reorder(c, W) &&
           onednn.primitive_execute(c->convolution, onednn.stream, 3, arguments) == 0 && reorder(c, Y) &&
           onednn.stream_wait(onednn.stream) == 0;
}

// SPDX-License-Identifier: Apache-2.0
// Only the C interface of version 2 is used, and only by what is declared here, so that no header is needed to build.
#include "ops/dnnl.h"
#include "ops/provider.h"
#include "ops/submit.h"

#include "base/dl.h"

#include <stdlib.h>
#include <string.h>

enum { CPU = 1, IN_ORDER = 1, F32 = 3, ANY = 1, TRAINING = 64, INFERENCE = 96, AUTO = 3 };
enum { QUERY_SRC = 129, QUERY_WEIGHTS = 131, QUERY_DST = 133, QUERY_SCRATCH = 136, QUERY_GRADIENT = 1 };
enum { SRC = 1, DST = 17, WEIGHTS = 33, BIAS = 41, SCRATCH = 80, GRADIENT = 128, BY_CALLER = 1 };
enum { LAYOUT_BYTES = 696 }; // of a layout in version 2
enum { MOST_PLANS = 128, MOST_DIMENSIONS = 12, ALIGNED = 64 };

// Larger than in version 2 (a layout has LAYOUT_BYTES, an operation 5,976 bytes); only the library looks inside.
typedef struct layout {
    _Alignas(16) unsigned char bytes[1024];
} layout;
typedef struct operation {
    _Alignas(16) unsigned char bytes[16384];
} operation;
typedef int64_t dimensions[MOST_DIMENSIONS];
typedef struct argument {
    int which;
    void *memory;
} argument;

#define FUNCTIONS(X)                                                                                                   \
    X(int, engine_create, (void **engine, int kind, size_t index))                                                     \
    X(int, stream_create, (void **stream, void *engine, unsigned flags))                                               \
    X(int, stream_wait, (void *stream))                                                                                \
    X(int, memory_desc_init_by_strides,                                                                                \
      (layout * out, int ndims, const int64_t *dims, int type, const int64_t *strides))                                \
    X(int, memory_desc_init_by_tag, (layout * out, int ndims, const int64_t *dims, int type, int tag))                 \
    X(int, memory_desc_equal, (const layout *a, const layout *b))                                                      \
    X(size_t, memory_desc_get_size, (const layout *of))                                                                \
    X(int, dilated_convolution_forward_desc_init,                                                                      \
      (operation * out, int kind, int algorithm, const layout *src, const layout *weights, const layout *bias,         \
       const layout *dst, const int64_t *strides, const int64_t *dilates, const int64_t *left, const int64_t *right))  \
    X(int, dilated_convolution_backward_data_desc_init,                                                                \
      (operation * out, int algorithm, const layout *diff_src, const layout *weights, const layout *diff_dst,          \
       const int64_t *strides, const int64_t *dilates, const int64_t *left, const int64_t *right))                     \
    X(int, dilated_convolution_backward_weights_desc_init,                                                             \
      (operation * out, int algorithm, const layout *src, const layout *diff_weights, const layout *diff_bias,         \
       const layout *diff_dst, const int64_t *strides, const int64_t *dilates, const int64_t *left,                    \
       const int64_t *right))                                                                                          \
    X(int, primitive_desc_create,                                                                                      \
      (void **out, const operation *what, const void *attributes, void *engine, const void *hint))                     \
    X(int, primitive_desc_destroy, (void *desc))                                                                       \
    X(const layout *, primitive_desc_query_md, (const void *desc, int what, int index))                                \
    X(int, reorder_primitive_desc_create,                                                                              \
      (void **out, const layout *from, void *from_engine, const layout *to, void *to_engine, const void *attributes))  \
    X(int, primitive_attr_create, (void **out))                                                                        \
    X(int, primitive_attr_set_scratchpad_mode, (void *attributes, int mode))                                           \
    X(int, primitive_create, (void **out, const void *desc))                                                           \
    X(int, primitive_destroy, (void *primitive))                                                                       \
    X(int, primitive_execute, (const void *primitive, void *stream, int count, const argument *arguments))             \
    X(int, memory_create, (void **out, const layout *of, void *engine, void *handle))                                  \
    X(int, memory_destroy, (void *memory))

static struct {
#define POINTER(type, name, parameters) type(*name) parameters;
    FUNCTIONS(POINTER)
#undef POINTER
    void (*set_threads)(int threads);
    int (*most_threads)(void);
} dnnl;

struct version { // the library's
    int major, minor, patch;
};

// ---- the library ---------------------------------------------------------------------------------------------------

static char path[256], version[64];
static void *engine, *stream, *attributes;
static slri_mutex calls =
    SLRI_MUTEX_INIT; // the stream is one for all callers, and plans are a list. No child takes it: provider.c

static slr_status start_onednn(slri_dl *library, const char *found)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(type, name, parameters) dnnl.name = (type(*) parameters)slri_dl_find(library, "dnnl_" #name, &missing);
    FUNCTIONS(FIND)
#undef FIND
    const struct version *(*get_version)(void) =
        (const struct version *(*)(void))slri_dl_find(library, "dnnl_version", &missing);
    // Of the OpenMP that it is linked with.
    dnnl.set_threads = (void (*)(int))slri_dl_find(library, "omp_set_num_threads", &missing);
    dnnl.most_threads = (int (*)(void))slri_dl_find(library, "omp_get_max_threads", &missing);
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, found, "oneDNN of version 2", &missing));
    if (get_version()->major != 2)
        return SLRI_FAIL(UNSUPPORTED, "%s is of version %d; expected 2", found, get_version()->major);
    // Scratch memory of its own would be the thread's that made a primitive, and streams have others.
    if (dnnl.engine_create(&engine, CPU, 0) != 0 || dnnl.stream_create(&stream, engine, IN_ORDER) != 0 ||
        dnnl.primitive_attr_create(&attributes) != 0 ||
        dnnl.primitive_attr_set_scratchpad_mode(attributes, BY_CALLER) != 0)
        return SLRI_FAIL(UNSUPPORTED, "%s makes no engine for the CPU", found);
    snprintf(path, sizeof path, "%s", found);
    snprintf(version, sizeof version, "oneDNN %d.%d.%d", get_version()->major, get_version()->minor,
             get_version()->patch);
    return SLR_OK;
}

const slr_provider *slri_dnnl_describe(void)
{
    static struct slri_ops_library library = {.vendor = {.variable = "SLIPRING_ONEDNN_LIB",
                                                         .places = {"libdnnl.so.2"},
                                                         .hint = "Debian: libdnnl2",
                                                         .absent = SLR_UNSUPPORTED,
                                                         .start = start_onednn,
                                                         .lock = SLRI_MUTEX_INIT},
                                              .told = {"onednn", path, version, "it was not looked for"}};
    return slri_ops_library_describe(&library);
}

// ---- plans ---------------------------------------------------------------------------------------------------------

enum { X = SLRI_WINDOW_X, W = SLRI_WINDOW_W, Y = SLRI_WINDOW_Y, TENSORS = SLRI_WINDOW_TENSORS };

struct slri_dnnl_plan {
    struct slri_dnnl_plan *next;
    struct slri_dnnl_shape shape;
    int written;         // the tensor that the pass writes
    const char *why_not; // NULL: it works
    layout plain[TENSORS], own[TENSORS], bias;
    void *reorder[TENSORS]; // NULL: the library takes the plain layout. Of what is written from its own
    void *convolution;
    uint64_t bytes[TENSORS]; // of the workspace; then comes what primitives scribble on, one after the other
    layout scratch;          // the largest of theirs
    uint64_t scratch_bytes;
};

static slri_dnnl_plan *plans; // under the lock
static unsigned plan_count;

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
}

// The weights have the groups in front.
static int describe_tensors(slri_dnnl_plan *plan, layout any[TENSORS])
{
    const struct slri_window *d = &plan->shape.window;
    int failed = 0;
    for (int i = 0; i < TENSORS && !failed; ++i) {
        dimensions dims = {d->groups};
        bool is_grouped = i == W && d->groups > 1;
        int64_t *shape = dims + is_grouped;
        slri_window_shape(d, i, shape);
        if (is_grouped)
            shape[0] /= d->groups;
        failed = dnnl.memory_desc_init_by_strides(&plan->plain[i], 4 + is_grouped, dims, F32, NULL);
        if (!failed)
            failed = dnnl.memory_desc_init_by_tag(&any[i], 4 + is_grouped, dims, F32, ANY);
    }
    const dimensions filters = {d->k};
    return failed ? failed : dnnl.memory_desc_init_by_strides(&plan->bias, 1, filters, F32, NULL);
}

static int make_primitive(slri_dnnl_plan *plan, void *desc, void **out)
{
    const layout *scratch = dnnl.primitive_desc_query_md(desc, QUERY_SCRATCH, 0);
    uint64_t bytes = scratch ? aligned(dnnl.memory_desc_get_size(scratch)) : 0;
    if (bytes > plan->scratch_bytes) {
        plan->scratch_bytes = bytes;
        memcpy(&plan->scratch, scratch, LAYOUT_BYTES);
    }
    return dnnl.primitive_create(out, desc);
}

static int make_reorder(slri_dnnl_plan *plan, int which)
{
    void *desc = NULL;
    const layout *plain = &plan->plain[which], *own = &plan->own[which];
    if (dnnl.memory_desc_equal(plain, own))
        return 0;
    plan->bytes[which] = aligned(dnnl.memory_desc_get_size(own));
    bool is_written = which == plan->written;
    int failed = dnnl.reorder_primitive_desc_create(&desc, is_written ? own : plain, engine, is_written ? plain : own,
                                                    engine, attributes);
    if (!failed)
        failed = make_primitive(plan, desc, &plan->reorder[which]);
    if (desc)
        dnnl.primitive_desc_destroy(desc);
    return failed;
}

// What the library calls the pass. A gradient is told the forward one, which `hint` then is, and the caller's.
static int describe_pass(slri_dnnl_plan *plan, operation *what, void **hint)
{
    const struct slri_window *d = &plan->shape.window;
    layout any[TENSORS];
    const dimensions strides = {d->stride_h, d->stride_w}, dilates = {d->dilation_h - 1, d->dilation_w - 1};
    const dimensions left = {d->pad_h, d->pad_w};
    // What a last stride leaves over is less than no padding.
    const dimensions right = {
        (int64_t)(d->p - 1) * d->stride_h + (int64_t)(d->r - 1) * d->dilation_h + 1 - d->h - d->pad_h,
        (int64_t)(d->q - 1) * d->stride_w + (int64_t)(d->s - 1) * d->dilation_w + 1 - d->w - d->pad_w};
    bool is_forward = plan->shape.pass == SLRI_FORWARD;
    int failed = describe_tensors(plan, any);
    if (!failed)
        failed = dnnl.dilated_convolution_forward_desc_init(what, is_forward ? INFERENCE : TRAINING, AUTO, &any[X],
                                                            &any[W], plan->shape.has_bias ? &plan->bias : NULL, &any[Y],
                                                            strides, dilates, left, right);
    if (failed || is_forward)
        return failed;
    failed = dnnl.primitive_desc_create(hint, what, attributes, engine, NULL);
    if (failed)
        return failed;
    return plan->shape.pass == SLRI_TO_INPUT
               ? dnnl.dilated_convolution_backward_data_desc_init(what, AUTO, &any[X], &any[W], &any[Y], strides,
                                                                  dilates, left, right)
               : dnnl.dilated_convolution_backward_weights_desc_init(what, AUTO, &any[X], &any[W], NULL, &any[Y],
                                                                     strides, dilates, left, right);
}

// Whether the library calls a tensor of this pass a gradient.
static bool is_gradient(const slri_dnnl_plan *plan, int which)
{
    return plan->shape.pass != SLRI_FORWARD && (which == plan->written || which == Y);
}

static int make_convolution(slri_dnnl_plan *plan)
{
    static const int query[TENSORS] = {[X] = QUERY_SRC, [W] = QUERY_WEIGHTS, [Y] = QUERY_DST};
    operation what;
    void *desc = NULL, *hint = NULL;
    int failed = describe_pass(plan, &what, &hint);
    if (!failed)
        failed = dnnl.primitive_desc_create(&desc, &what, attributes, engine, hint);
    for (int i = 0; i < TENSORS && !failed; ++i)
        memcpy(&plan->own[i],
               dnnl.primitive_desc_query_md(desc, query[i] + (is_gradient(plan, i) ? QUERY_GRADIENT : 0), 0),
               LAYOUT_BYTES);
    if (!failed)
        failed = make_primitive(plan, desc, &plan->convolution);
    if (desc)
        dnnl.primitive_desc_destroy(desc);
    if (hint)
        dnnl.primitive_desc_destroy(hint);
    for (int i = 0; i < TENSORS && !failed; ++i)
        failed = make_reorder(plan, i);
    return failed;
}

// Threads of the caller's OpenMP, for the length of a call. A primitive is made for as many as it runs on.
static int set_threads(int threads)
{
    int before = dnnl.most_threads();
    if (before != threads)
        dnnl.set_threads(threads);
    return before;
}

// Under the lock. NULL: no memory.
static slri_dnnl_plan *make_dnnl_plan(const struct slri_dnnl_shape *shape)
{
    slri_dnnl_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return NULL;
    plan->shape = *shape;
    plan->written = slri_window_writes(shape->pass);
    int before = set_threads(shape->threads);
    if (make_convolution(plan) != 0)
        plan->why_not = "oneDNN has no primitive for this shape";
    set_threads(before);
    plan->next = plans;
    plans = plan;
    plan_count++;
    return plan;
}

static bool is_same(const struct slri_dnnl_shape *a, const struct slri_dnnl_shape *b)
{
    return memcmp(&a->window, &b->window, sizeof a->window) == 0 && a->pass == b->pass && a->has_bias == b->has_bias &&
           a->threads == b->threads;
}

const slri_dnnl_plan *slri_dnnl_plan_of(const struct slri_dnnl_shape *shape, const char **reason)
{
    slri_mutex_lock(&calls);
    slri_dnnl_plan *plan = plans;
    while (plan && !is_same(&plan->shape, shape))
        plan = plan->next;
    *reason = "no memory for its plan";
    if (!plan && plan_count < MOST_PLANS)
        plan = make_dnnl_plan(shape);
    else if (!plan)
        *reason = "this process has used it for 128 other shapes";
    slri_mutex_unlock(&calls);
    if (plan)
        *reason = plan->why_not;
    return plan && !plan->why_not ? plan : NULL;
}

uint64_t slri_dnnl_workspace(const slri_dnnl_plan *plan)
{
    return plan->bytes[X] + plan->bytes[W] + plan->bytes[Y] + plan->scratch_bytes;
}

// ---- running -------------------------------------------------------------------------------------------------------

// A tensor in the caller's layout, and in the library's: the same where that is the caller's.
struct tensor {
    void *plain, *own;
};

static int open_tensor(const slri_dnnl_plan *plan, int which, void *data, unsigned char **workspace, struct tensor *out)
{
    int failed = dnnl.memory_create(&out->plain, &plan->plain[which], engine, data);
    out->own = out->plain;
    if (failed || !plan->reorder[which])
        return failed;
    failed = dnnl.memory_create(&out->own, &plan->own[which], engine, *workspace);
    *workspace += plan->bytes[which];
    return failed;
}

static void close_tensor(struct tensor *tensor)
{
    if (tensor->own && tensor->own != tensor->plain)
        dnnl.memory_destroy(tensor->own);
    if (tensor->plain)
        dnnl.memory_destroy(tensor->plain);
}

// The last argument, where there is memory to scribble on.
static int reorder(const slri_dnnl_plan *plan, int which, void *from, void *to, void *scratch)
{
    const argument arguments[] = {{SRC, from}, {DST, to}, {SCRATCH, scratch}};
    return plan->reorder[which] ? dnnl.primitive_execute(plan->reorder[which], stream, scratch ? 3 : 2, arguments) : 0;
}

// The pass between the reorders of what it reads, and of what it writes.
static int convolve(const slri_dnnl_plan *plan, struct tensor tensors[TENSORS], void *bias, void *scratch)
{
    static const int names[TENSORS] = {[X] = SRC, [W] = WEIGHTS, [Y] = DST};
    argument arguments[5];
    int count = 0, failed = 0;
    for (int i = 0; i < TENSORS; ++i) {
        arguments[count++] = (argument){names[i] + (is_gradient(plan, i) ? GRADIENT : 0), tensors[i].own};
        if (i != plan->written && !failed)
            failed = reorder(plan, i, tensors[i].plain, tensors[i].own, scratch);
    }
    if (bias)
        arguments[count++] = (argument){BIAS, bias};
    if (scratch)
        arguments[count++] = (argument){SCRATCH, scratch};
    if (!failed)
        failed = dnnl.primitive_execute(plan->convolution, stream, count, arguments);
    if (!failed)
        failed = reorder(plan, plan->written, tensors[plan->written].own, tensors[plan->written].plain, scratch);
    return failed ? failed : dnnl.stream_wait(stream);
}

// Under the lock, on the plan's threads.
static int convolve_in(const slri_dnnl_plan *plan, void *const data[TENSORS], void *bias, unsigned char *workspace)
{
    void *bias_memory = NULL, *scratch = NULL;
    struct tensor tensors[TENSORS] = {0};
    int failed = 0;
    for (int i = 0; i < TENSORS && !failed; ++i)
        failed = open_tensor(plan, i, data[i], &workspace, &tensors[i]);
    if (!failed && plan->shape.has_bias)
        failed = dnnl.memory_create(&bias_memory, &plan->bias, engine, bias);
    if (!failed && plan->scratch_bytes > 0)
        failed = dnnl.memory_create(&scratch, &plan->scratch, engine, workspace);
    if (!failed)
        failed = convolve(plan, tensors, bias_memory, scratch);
    if (scratch)
        dnnl.memory_destroy(scratch);
    for (int i = 0; i < TENSORS; ++i)
        close_tensor(&tensors[i]);
    if (bias_memory)
        dnnl.memory_destroy(bias_memory);
    return failed;
}

enum { READ_A, READ_B, READ_BIAS, WRITTEN };

static slr_status run_dnnl_plan(const struct slri_library_call *call, struct slri_native_queue *queue)
{
    const slri_dnnl_plan *plan = call->plan;
    void *data[TENSORS], *written = slri_library_at(call->buffer[WRITTEN]);
    (void)queue;
    for (int i = 0, read = READ_A; i < TENSORS; ++i)
        data[i] = i == plan->written ? written : slri_library_at(call->buffer[read++]);
    slri_mutex_lock(&calls);
    int before = set_threads(plan->shape.threads);
    int failed = convolve_in(plan, data, slri_library_at(call->buffer[READ_BIAS]), slri_library_workspace(call));
    set_threads(before);
    slri_mutex_unlock(&calls);
    if (failed)
        memset(written, 0xFF, dnnl.memory_desc_get_size(&plan->plain[plan->written]));
    return SLR_OK;
}

slr_status slri_dnnl_submit(const struct slri_convolution *c, const slri_dnnl_plan *plan, slr_point *out)
{
    struct slri_library_call call = {.name = "onednn.convolution",
                                     .run = run_dnnl_plan,
                                     .plan = plan,
                                     .workspace_bytes = slri_dnnl_workspace(plan),
                                     .buffer = {[READ_BIAS] = c->bias, [WRITTEN] = c->tensor[plan->written]},
                                     .reads = WRITTEN};
    for (int i = 0, read = READ_A; i < TENSORS; ++i)
        if (i != plan->written)
            call.buffer[read++] = c->tensor[i];
    return slri_library_submit(c->ops, c->stream, &call, out);
}

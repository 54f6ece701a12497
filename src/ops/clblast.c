// SPDX-License-Identifier: Apache-2.0
// A product for each matrix of a batch, one after the other in the device's queue.
#include "ops/clblast.h"
#include "ops/provider.h"
#include "ops/submit.h"

#include "base/alloc.h"
#include "device/stream.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_FIRST = 101, AS_IT_IS = 111, TRANSPOSE = 112 }; // clblast_c.h

#define FUNCTIONS(X)                                                                                                   \
    X(SGemmTempBufferSize,                                                                                             \
      (int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, size_t a_offset, size_t a_stride,   \
       size_t b_offset, size_t b_stride, size_t c_offset, size_t c_stride, void **queue, size_t *bytes))               \
    X(Sgemm, (int layout, int transpose_a, int transpose_b, size_t m, size_t n, size_t k, float alpha, const void *a,  \
              size_t a_offset, size_t a_stride, const void *b, size_t b_offset, size_t b_stride, float beta, void *c,  \
              size_t c_offset, size_t c_stride, void **queue, void **event))

static struct {
#define POINTER(name, parameters) int(*name) parameters;
    FUNCTIONS(POINTER)
#undef POINTER
    slri_function flush; // of the OpenCL that it calls
} clblast;

static char path[256], version[64] = "CLBlast"; // it does not say which

static slr_status start_clblast(slri_dl *library, const char *found)
{
    slri_text missing = SLRI_TEXT_INIT;
#define FIND(name, parameters) clblast.name = (int(*) parameters)slri_dl_find(library, "CLBlast" #name, &missing);
    FUNCTIONS(FIND)
#undef FIND
    clblast.flush = slri_dl_find(library, "clFlush", &missing);
    SLRI_TRY(slri_dl_all_found(SLR_UNSUPPORTED, found, "CLBlast", &missing));
    snprintf(path, sizeof path, "%s", found);
    return SLR_OK;
}

const slr_provider *slri_clblast_describe(void)
{
    static struct slri_ops_library library = {.vendor = {.variable = "SLIPRING_CLBLAST_LIB",
                                                         .places = {"libclblast.so.1"},
                                                         .hint = "Debian: libclblast1",
                                                         .absent = SLR_UNSUPPORTED,
                                                         .start = start_clblast,
                                                         .lock = SLRI_MUTEX_INIT},
                                              .told = {"clblast", path, version, "it was not looked for"}};
    return slri_ops_library_describe(&library);
}

// ---- a shape -------------------------------------------------------------------------------------------------------

// A product as the library is told it.
struct cl_shape {
    size_t m, n, k, a_stride, b_stride;
    int transpose_a, transpose_b;
    uint32_t batch, a_count, b_count;
};

static struct cl_shape shape_of(const struct slri_product *p)
{
    return (struct cl_shape){.m = p->m,
                             .n = p->n,
                             .k = p->k,
                             .a_stride = p->transpose_a ? p->m : p->k,
                             .b_stride = p->transpose_b ? p->k : p->n,
                             .transpose_a = p->transpose_a ? TRANSPOSE : AS_IT_IS,
                             .transpose_b = p->transpose_b ? TRANSPOSE : AS_IT_IS,
                             .batch = p->batch,
                             .a_count = p->a_count,
                             .b_count = p->b_count};
}

struct cl_question {
    struct cl_shape shape;
    size_t bytes;
    bool is_stranger;
    int error;
};

static slr_status ask(void *user, struct slri_native_queue *queue)
{
    struct cl_question *q = user;
    const struct cl_shape *s = &q->shape;
    q->is_stranger = queue->identity != clblast.flush;
    if (!q->is_stranger)
        q->error = clblast.SGemmTempBufferSize(ROWS_FIRST, s->transpose_a, s->transpose_b, s->m, s->n, s->k, 0,
                                               s->a_stride, 0, s->b_stride, 0, s->n, &queue->queue, &q->bytes);
    return SLR_OK;
}

const char *slri_clblast_check(slr_ops *ops, const struct slri_product *product, uint64_t *workspace_bytes)
{
    *workspace_bytes = 0;
    if (product->dtype != SLR_F32)
        return "its sums of halves are halves";
    if (strcmp(ops->device->backend->name, "opencl") != 0)
        return "this device is no opencl";
    const slr_provider *library = slri_clblast_describe();
    if (*library->why_not)
        return library->why_not;
    struct cl_question question = {.shape = shape_of(product)};
    const struct slri_command command = {.op = SLRI_NATIVE, .native = {ask, &question, "a library's set-up"}};
    if (slri_device_run(ops->device, &command, 1) != SLR_OK)
        return "the device does not answer";
    if (question.is_stranger)
        return "it calls another OpenCL than this device's";
    *workspace_bytes = question.bytes;
    return question.error ? "CLBlast has no algorithm for this shape" : NULL;
}

// ---- running -------------------------------------------------------------------------------------------------------

enum { IN_A, IN_B, OUT, BUFFERS, OPERANDS = BUFFERS };

struct operands {
    void *object[OPERANDS];
    uint64_t offset[OPERANDS]; // in elements
};

static int multiply_each(const struct slri_library_call *call, struct slri_native_queue *queue,
                         const struct operands *of)
{
    const struct cl_shape *s = (const struct cl_shape *)call->room;
    int error = 0;
    for (uint32_t z = 0; z < s->batch && error == 0; ++z) {
        queue->begins = true;
        error =
            clblast.Sgemm(ROWS_FIRST, s->transpose_a, s->transpose_b, s->m, s->n, s->k, call->alpha, of->object[IN_A],
                          of->offset[IN_A] + z % s->a_count * s->m * s->k, s->a_stride, of->object[IN_B],
                          of->offset[IN_B] + z % s->b_count * s->k * s->n, s->b_stride, call->beta, of->object[OUT],
                          of->offset[OUT] + z * s->m * s->n, s->n, &queue->queue, NULL);
    }
    return error;
}

static slr_status multiply_on_queue(const struct slri_library_call *call, struct slri_native_queue *queue)
{
    struct operands of = {0};
    bool all = true;
    for (int i = 0; i < OPERANDS; ++i) {
        uint64_t offset = 0;
        of.object[i] = queue->object(queue, slri_library_at(call->buffer[i]), call->buffer[i]->bytes, &offset);
        of.offset[i] = offset / 4;
        all = all && of.object[i];
    }
    int error = all ? multiply_each(call, queue, &of) : 0;
    for (int i = 0; i < OPERANDS; ++i)
        queue->release(queue, of.object[i]);
    if (!all)
        return SLRI_FAIL(NO_MEMORY, "no memory object for an operand of CLBlast");
    return error == 0 ? SLR_OK : SLRI_FAIL(UNSUPPORTED, "CLBlastSgemm gives %d", error);
}

slr_status slri_clblast_submit(slr_ops *ops, slr_stream *stream, const struct slri_product *product, slr_point *out)
{
    struct slri_library_call call = {.name = "clblast.sgemm",
                                     .run = multiply_on_queue,
                                     .buffer = {product->a, product->b, product->c},
                                     .reads = OUT,
                                     .alpha = product->alpha,
                                     .beta = product->beta,
                                     .is_native = true};
    const struct cl_shape shape = shape_of(product);
    _Static_assert(sizeof shape <= sizeof call.room, "its shape fits");
    memcpy(call.room, &shape, sizeof shape);
    return slri_library_submit(ops, stream, &call, out);
}

// SPDX-License-Identifier: Apache-2.0
// Sequences of layers that keep every k-th activation: T. Chen et al., "Training deep nets with sublinear memory cost",
// 2016.
//
// All memory is taken when a sequence is made, and layers share it in the order of the stream. So the plan is exact: no
// buffer's life depends on how far the device has come.
#include "base/alloc.h"
#include "base/sized.h"
#include "memory/pool.h"
#include "ops/operations.h"

#include <slipring/layers.h>

#include <string.h>

enum { MOST_LAYERS = 65536, GRADIENTS = 2 };

// The layers of a description, and where their outputs lie: the last one's in the caller's y, that of every k-th in a
// buffer of its own, and the others' in buffers that all segments of k layers share.
struct layout {
    uint32_t count, every;
    const slr_layer *layers;
};

static uint32_t kept_of(const struct layout *l)
{
    return (l->count - 1) / l->every;
}

static uint32_t shared_of(const struct layout *l)
{
    return (l->every < l->count ? l->every : l->count) - 1;
}

static bool is_kept(const struct layout *l, uint32_t i)
{
    return (i + 1) % l->every == 0;
}

// Which buffer has layer i's output, of kept_of, then shared_of.
static uint32_t buffer_of(const struct layout *l, uint32_t i)
{
    return is_kept(l, i) ? (i + 1) / l->every - 1 : kept_of(l) + i % l->every;
}

static uint32_t gradients_of(const struct layout *l)
{
    return l->count - 1 < GRADIENTS ? l->count - 1 : GRADIENTS;
}

// ---- bytes ---------------------------------------------------------------------------------------------------------

// How a plan differs from the description.
struct variant {
    uint64_t element_bytes; // 0: as described
    bool half_batch;
};

static uint64_t bytes_of(const slr_tensor *tensor, const struct variant *v)
{
    uint64_t elements = slri_tensor_elements(tensor), first = tensor->shape[0];
    if (v->half_batch)
        elements = elements / first * ((first + 1) / 2);
    return elements * (v->element_bytes ? v->element_bytes : slri_scalar_bytes(tensor->dtype));
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

// Of a shared buffer: the largest of what segments put there.
static uint64_t shared_bytes(const struct layout *l, uint32_t position, const struct variant *v)
{
    uint64_t most = 0;
    for (uint32_t i = position; i + 1 < l->count; i += l->every)
        most = larger(most, bytes_of(&l->layers[i].output, v));
    return most;
}

static uint64_t gradient_bytes(const struct layout *l, const struct variant *v)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i + 1 < l->count; ++i)
        most = larger(most, bytes_of(&l->layers[i].output, v));
    return most;
}

static uint64_t planned(const struct layout *l, const struct variant *v)
{
    uint64_t sum = gradients_of(l) * slri_pool_class_bytes(gradient_bytes(l, v));
    for (uint32_t i = 0; i < kept_of(l); ++i)
        sum += slri_pool_class_bytes(bytes_of(&l->layers[(i + 1) * l->every - 1].output, v));
    for (uint32_t i = 0; i < shared_of(l); ++i)
        sum += slri_pool_class_bytes(shared_bytes(l, i, v));
    return sum;
}

static slr_plan_bytes plan_bytes(const struct layout *l, struct variant v)
{
    struct layout all = *l;
    all.every = 1;
    return (slr_plan_bytes){planned(&all, &v), planned(l, &v)};
}

// ---- the description -----------------------------------------------------------------------------------------------

static uint32_t root(uint32_t n)
{
    uint32_t r = 1;
    while ((uint64_t)(r + 1) * (r + 1) <= n)
        ++r;
    return r;
}

static slr_status check_layer_shape(const char *call, const char *name, uint32_t index, const slr_tensor *tensor)
{
    uint64_t elements = 1;
    bool fits = tensor->rank > 0 && tensor->rank <= SLR_BUFFER_MOST_DIMENSIONS && slri_scalar_bytes(tensor->dtype) > 0;
    for (uint32_t i = 0; fits && i < tensor->rank; ++i) {
        fits = tensor->shape[i] > 0 && tensor->shape[i] <= 0x7FFFFFFF / elements;
        elements *= fits ? tensor->shape[i] : 1;
    }
    char shape[SLRI_SHAPE_BYTES];
    return fits ? SLR_OK
                : SLRI_FAIL(INVALID,
                            "%s: the %s of layer %u is %s of type %d; expected 1 to 2^31 - 1 elements of a type", call,
                            name, index, slri_shape_text(tensor->rank, tensor->shape, shape), (int)tensor->dtype);
}

static slr_status take_desc(const char *call, const slr_sequence_desc *desc, bool runs, slr_sequence_desc *whole)
{
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", call);
    SLRI_TRY(SLRI_TAKE_DESC(slr_sequence_desc, whole, desc));
    if (whole->count == 0 || whole->count > MOST_LAYERS || !whole->layers)
        return SLRI_FAIL(INVALID, "%s: there are %u layers at %p; expected 1 to %u", call, whole->count,
                         (const void *)whole->layers, MOST_LAYERS);
    SLRI_TRY(check_layer_shape(call, "input", 0, &whole->input));
    for (uint32_t i = 0; i < whole->count; ++i) {
        SLRI_TRY(check_layer_shape(call, "output", i, &whole->layers[i].output));
        if (runs && (!whole->layers[i].forward || !whole->layers[i].backward))
            return SLRI_FAIL(INVALID, "%s: layer %u has no function %s", call, i,
                             whole->layers[i].forward ? "backward" : "forward");
    }
    if (whole->every == 0)
        whole->every = root(whole->count);
    if (whole->every > whole->count)
        whole->every = whole->count;
    return SLR_OK;
}

// The last segment is still there when the gradients begin, and the outputs that are kept need not be computed again.
static uint32_t recomputed_of(const struct layout *l)
{
    uint32_t segments = (l->count + l->every - 1) / l->every;
    return (segments - 1) * (l->every - 1);
}

slr_status slr_ops_plan_sized(const slr_sequence_desc *desc, slr_plan *out, size_t bytes)
{
    slr_sequence_desc whole;
    if (!out)
        return SLRI_FAIL(INVALID, "slr_ops_plan: out is NULL");
    SLRI_TRY(SLRI_CHECK_REPORT(slr_plan, bytes));
    SLRI_TRY(take_desc("slr_ops_plan", desc, false, &whole));
    struct layout l = {whole.count, whole.every, whole.layers};
    slr_plan plan = {.every = l.every,
                     .recomputed = recomputed_of(&l),
                     .as_described = plan_bytes(&l, (struct variant){0, false}),
                     .f32 = plan_bytes(&l, (struct variant){4, false}),
                     .half = plan_bytes(&l, (struct variant){2, false}),
                     .f32_half_batch = plan_bytes(&l, (struct variant){4, true}),
                     .half_half_batch = plan_bytes(&l, (struct variant){2, true})};
    return SLRI_GIVE_REPORT(slr_plan, out, bytes, &plan);
}

slr_status(slr_ops_plan)(const slr_sequence_desc *desc, slr_plan *out)
{
    return slr_ops_plan_sized(desc, out, SLRI_FIRST_slr_plan);
}

// ---- the object ----------------------------------------------------------------------------------------------------

struct slr_sequence {
    slr_ops *ops;
    struct layout layout; // of its own copy of the layers
    slr_layer *layers;
    slr_tensor input;
    slr_buffer **buffers; // kept_of, shared_of, then gradients_of
    uint32_t buffer_count;
    bool forwarded;
};

static uint64_t buffer_bytes(const struct layout *l, uint32_t buffer)
{
    static const struct variant described;
    if (buffer < kept_of(l))
        return bytes_of(&l->layers[(buffer + 1) * l->every - 1].output, &described);
    buffer -= kept_of(l);
    return buffer < shared_of(l) ? shared_bytes(l, buffer, &described) : gradient_bytes(l, &described);
}

static slr_status take_buffers(slr_sequence *s)
{
    slr_pool *pool;
    SLRI_TRY(slr_device_get_pool(s->ops->device, &pool));
    for (uint32_t i = 0; i < s->buffer_count; ++i) {
        SLRI_TRY(slr_pool_acquire(pool, buffer_bytes(&s->layout, i), SLR_U8, &s->buffers[i]));
        s->buffers[i]->dtype = (slr_scalar)0, s->buffers[i]->rank = 0; // layers of several types may share it
    }
    return SLR_OK;
}

static void destroy(slr_sequence *s)
{
    const slr_allocator *allocator = s->ops->device->allocator;
    for (uint32_t i = 0; s->buffers && i < s->buffer_count; ++i)
        slr_buffer_destroy(s->buffers[i]);
    if (s->buffers)
        slri_free(allocator, s->buffers, s->buffer_count * sizeof *s->buffers);
    if (s->layers)
        slri_free(allocator, s->layers, s->layout.count * sizeof *s->layers);
    slri_free(allocator, s, sizeof *s);
}

slr_status slr_sequence_create(slr_ops *ops, const slr_sequence_desc *desc, slr_sequence **out)
{
    static const char name[] = "slr_sequence_create";
    slr_sequence_desc whole;
    if (!ops || !out)
        return SLRI_FAIL(INVALID, "%s: %s is NULL", name, ops ? "out" : "ops");
    SLRI_TRY(take_desc(name, desc, true, &whole));
    const slr_allocator *allocator = ops->device->allocator;
    slr_sequence *s = slri_alloc(allocator, sizeof *s);
    if (!s)
        return SLRI_FAIL(NO_MEMORY, "no memory for a sequence of layers");
    *s = (slr_sequence){.ops = ops, .layout = {whole.count, whole.every, whole.layers}, .input = whole.input};
    s->buffer_count = kept_of(&s->layout) + shared_of(&s->layout) + gradients_of(&s->layout);
    s->layers = slri_alloc(allocator, whole.count * sizeof *s->layers);
    if (s->buffer_count > 0)
        s->buffers = slri_alloc(allocator, s->buffer_count * sizeof *s->buffers);
    slr_status status = SLR_OK;
    if (!s->layers || (s->buffer_count > 0 && !s->buffers)) {
        status = SLRI_FAIL(NO_MEMORY, "no memory for a sequence of %u layers", whole.count);
    } else {
        memcpy(s->layers, whole.layers, whole.count * sizeof *s->layers);
        s->layout.layers = s->layers;
        if (s->buffers)
            memset(s->buffers, 0, s->buffer_count * sizeof *s->buffers);
        status = take_buffers(s);
    }
    if (status == SLR_OK)
        *out = s;
    else
        destroy(s);
    return status;
}

void slr_sequence_destroy(slr_sequence *sequence)
{
    if (sequence)
        destroy(sequence);
}

// ---- running -------------------------------------------------------------------------------------------------------

// The output of layer i, or of what comes before the first.
static slr_tensor output_of(const slr_sequence *s, uint32_t i, const slr_tensor *y)
{
    slr_tensor tensor = s->layers[i].output;
    tensor.buffer = i + 1 == s->layout.count ? y->buffer : s->buffers[buffer_of(&s->layout, i)];
    return tensor;
}

static slr_tensor input_of(const slr_sequence *s, uint32_t i, const slr_tensor *x, const slr_tensor *y)
{
    return i == 0 ? *x : output_of(s, i - 1, y);
}

static slr_tensor gradient_of(const slr_sequence *s, uint32_t i)
{
    slr_tensor tensor = s->layers[i].output;
    tensor.buffer = s->buffers[s->buffer_count - 1 - i % gradients_of(&s->layout)];
    return tensor;
}

static slr_status check_run(slr_sequence *s, slr_stream *stream, const char *call, const slr_tensor *x,
                            const slr_tensor *y)
{
    const slr_tensor *last = &s->layers[s->layout.count - 1].output;
    SLRI_TRY(SLRI_OPERANDS_CHECK(s->ops, stream, call, {"x", x, s->input.dtype, false}, {"y", y, last->dtype, false}));
    SLRI_TRY(slri_tensor_same(call, "x", x, "the sequence's input", &s->input));
    return slri_tensor_same(call, "y", y, "the output of its last layer", last);
}

static slr_status run_forward(const slr_sequence *s, slr_stream *stream, uint32_t first, uint32_t end,
                              const slr_tensor *x, const slr_tensor *y)
{
    for (uint32_t i = first; i < end; ++i) {
        slr_tensor from = input_of(s, i, x, y), to = output_of(s, i, y);
        SLRI_TRY(s->layers[i].forward(s->layers[i].user, stream, &from, &to));
    }
    return SLR_OK;
}

slr_status slr_sequence_forward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x, const slr_tensor *y)
{
    static const char name[] = "slr_sequence_forward";
    if (!sequence)
        return SLRI_FAIL(INVALID, "%s: sequence is NULL", name);
    SLRI_TRY(check_run(sequence, stream, name, x, y));
    sequence->forwarded = false;
    SLRI_TRY(run_forward(sequence, stream, 0, sequence->layout.count, x, y));
    sequence->forwarded = true;
    return SLR_OK;
}

// The gradients of the layers from `first` up to `end`, whose outputs are all there.
static slr_status run_backward(const slr_sequence *s, slr_stream *stream, uint32_t first, uint32_t end,
                               const slr_tensor *x, const slr_tensor *y, const slr_tensor *dy, const slr_tensor *dx)
{
    for (uint32_t i = end; i-- > first;) {
        bool last = i + 1 == s->layout.count;
        slr_tensor from = input_of(s, i, x, y), to = output_of(s, i, y);
        slr_tensor d_to = last ? *dy : gradient_of(s, i), d_from = i > 0 ? gradient_of(s, i - 1) : *x;
        SLRI_TRY(s->layers[i].backward(s->layers[i].user, stream, &from, &to, &d_to, i > 0 ? &d_from : dx));
    }
    return SLR_OK;
}

slr_status slr_sequence_backward(slr_sequence *sequence, slr_stream *stream, const slr_tensor *x, const slr_tensor *y,
                                 const slr_tensor *dy, const slr_tensor *dx)
{
    static const char name[] = "slr_sequence_backward";
    slr_sequence *s = sequence;
    if (!s)
        return SLRI_FAIL(INVALID, "%s: sequence is NULL", name);
    SLRI_TRY(check_run(s, stream, name, x, y));
    const slr_tensor *last = &s->layers[s->layout.count - 1].output;
    SLRI_TRY(
        SLRI_OPERANDS_CHECK(s->ops, stream, name, {"dy", dy, last->dtype, false}, {"dx", dx, s->input.dtype, true}));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "y", y));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", x));
    if (!s->forwarded)
        return SLRI_FAIL(WRONG_STATE, "%s: slr_sequence_forward was not called since the last gradients", name);
    s->forwarded = false;
    uint32_t every = s->layout.every, count = s->layout.count, first = (count - 1) / every * every;
    SLRI_TRY(run_backward(s, stream, first, count, x, y, dy, dx));
    while (first > 0) {
        first -= every;
        SLRI_TRY(run_forward(s, stream, first, first + every - 1, x, y));
        SLRI_TRY(run_backward(s, stream, first, first + every, x, y, dy, dx));
    }
    return SLR_OK;
}

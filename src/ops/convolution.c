// SPDX-License-Identifier: Apache-2.0
// slr_ops_convolution: shapes, then passes.
#include "base/sized.h"
#include "engine/observe.h"
#include "ops/convolution.h"

#include <stdio.h>
#include <string.h>

struct call {
    slr_ops *ops;
    slr_stream *stream;
    slr_convolution_desc desc;
    struct slri_window window;
};

// ---- shapes ---------------------------------------------------------------------------------------------------------

#define BECAUSE_BYTES (2 * SLRI_SHAPE_BYTES + 32)

static const char *because_of_weights(const slr_convolution_desc *d, char out[BECAUSE_BYTES])
{
    char x[SLRI_SHAPE_BYTES], w[SLRI_SHAPE_BYTES];
    snprintf(out, BECAUSE_BYTES, "x %s and weights %s", slri_shape_text(d->x->rank, d->x->shape, x),
             slri_shape_text(d->weights->rank, d->weights->shape, w));
    return out;
}

static slr_status check_convolved(const struct call *call, const char *name)
{
    const slr_convolution_desc *d = &call->desc;
    char x[SLRI_SHAPE_BYTES], w[SLRI_SHAPE_BYTES], because[BECAUSE_BYTES];
    SLRI_TRY(SLRI_OPERANDS_CHECK(call->ops, call->stream, name, {"x", d->x, SLRI_REAL, false},
                                 {"weights", d->weights, SLRI_REAL, false}, {"y", d->y, SLRI_REAL, false},
                                 {"bias", d->bias, SLRI_REAL, true}, {"pre", d->pre, SLRI_REAL, true}));
    SLRI_TRY(slri_activation_check(name, d->activation));
    if ((d->x->rank != 3 && d->x->rank != 4) || d->weights->rank != d->x->rank)
        return SLRI_FAIL(INVALID, "%s: x is %s and weights are %s; expected both of rank 3 or of rank 4", name,
                         slri_shape_text(d->x->rank, d->x->shape, x),
                         slri_shape_text(d->weights->rank, d->weights->shape, w));
    uint64_t groups = d->groups ? d->groups : 1;
    if (d->x->shape[1] % groups || d->weights->shape[0] % groups || d->weights->shape[1] != d->x->shape[1] / groups)
        return SLRI_FAIL(INVALID,
                         "%s: %s do not fit: in %u groups, weights need %llu / %u channels, and "
                         "channels and filters must be multiples of the groups",
                         name, because_of_weights(d, because), (uint32_t)groups, (unsigned long long)d->x->shape[1],
                         (uint32_t)groups);
    for (int i = 0; i < 2; ++i)
        if (d->stride[i] > 0x7FFF || d->padding[i] > 0x7FFF || d->dilation[i] > 0x7FFF)
            return SLRI_FAIL(INVALID, "%s: stride, padding and dilation [%d] are %u, %u and %u; expected at most 32767",
                             name, i, d->stride[i], d->padding[i], d->dilation[i]);
    return SLR_OK;
}

static int32_t or_one(uint32_t number)
{
    return number ? (int32_t)number : 1;
}

static slr_status place_convolution(struct call *call, const char *name)
{
    const slr_convolution_desc *d = &call->desc;
    char because[BECAUSE_BYTES];
    bool is_flat = d->x->rank == 3;
    struct slri_window *to = &call->window;
    *to = (struct slri_window){.k = (int32_t)d->weights->shape[0],
                               .r = is_flat ? 1 : (int32_t)d->weights->shape[2],
                               .s = (int32_t)d->weights->shape[d->weights->rank - 1],
                               .stride_h = is_flat ? 1 : or_one(d->stride[0]),
                               .stride_w = or_one(d->stride[1]),
                               .pad_h = is_flat ? 0 : (int32_t)d->padding[0],
                               .pad_w = (int32_t)d->padding[1],
                               .dilation_h = is_flat ? 1 : or_one(d->dilation[0]),
                               .dilation_w = or_one(d->dilation[1]),
                               .groups = or_one(d->groups)};
    SLRI_TRY(slri_window_place(name, d->x, to));
    const uint64_t shape[] = {d->x->shape[0], d->weights->shape[0], (uint64_t)(is_flat ? to->q : to->p),
                              (uint64_t)to->q};
    const uint64_t filters[] = {d->weights->shape[0]};
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "y", d->y, d->x->rank, shape, because_of_weights(d, because)));
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "pre", d->pre, d->x->rank, shape, because_of_weights(d, because)));
    return SLRI_TENSOR_SHAPED(name, "bias", d->bias, 1, filters, because_of_weights(d, because));
}

static slr_status begin_convolution(struct call *call, const slr_convolution_desc *desc, const char *name)
{
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", name);
    SLRI_TRY(SLRI_TAKE_DESC(slr_convolution_desc, &call->desc, desc));
    SLRI_TRY(check_convolved(call, name));
    return place_convolution(call, name);
}

// ---- forward --------------------------------------------------------------------------------------------------------

static struct slri_convolution forward(const struct call *call)
{
    const slr_convolution_desc *d = &call->desc;
    return (struct slri_convolution){.ops = call->ops,
                                     .stream = call->stream,
                                     .pass = SLRI_FORWARD,
                                     .dtype = d->x->dtype,
                                     .window = call->window,
                                     .tensor = {d->x->buffer, d->weights->buffer, d->y->buffer},
                                     .bias = d->bias ? d->bias->buffer : NULL,
                                     .pre = d->pre ? d->pre->buffer : NULL,
                                     .activation = (int)d->activation};
}

slr_status slr_ops_convolution(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    struct call call = {.ops = ops, .stream = stream};
    SLRI_TRY(begin_convolution(&call, desc, "slr_ops_convolution"));
    const struct slri_convolution convolution = forward(&call);
    return slri_convolution_run(&convolution, out);
}

slr_status slr_ops_convolution_bench(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                     slr_algorithm_visitor *visit, void *user)
{
    struct call call = {.ops = ops, .stream = stream};
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_ops_convolution_bench: visit is NULL");
    SLRI_TRY(begin_convolution(&call, desc, "slr_ops_convolution_bench"));
    const struct slri_convolution convolution = forward(&call);
    return slri_convolution_bench(&convolution, visit, user);
}

// ---- backward -------------------------------------------------------------------------------------------------------

static slr_status check_convolution_backward(const struct call *call, const char *name, const slr_tensor *dy,
                                             const slr_tensor *dx, const slr_tensor *dweights, const slr_tensor *dbias)
{
    const slr_convolution_desc *d = &call->desc;
    SLRI_TRY(SLRI_OPERANDS_CHECK(call->ops, call->stream, name, {"x", d->x, SLRI_REAL, false},
                                 {"dy", dy, SLRI_REAL, false}, {"dx", dx, SLRI_REAL, true},
                                 {"dweights", dweights, SLRI_REAL, true}, {"dbias", dbias, SLRI_REAL, true}));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "y", d->y));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", d->x));
    SLRI_TRY(slri_tensor_same(name, "dweights", dweights, "weights", d->weights));
    SLRI_TRY(slri_tensor_sized(name, "dbias", dbias, d->weights->shape[0], "weights", d->weights));
    if (d->activation && !d->pre)
        return SLRI_FAIL(INVALID, "%s: with an activation `pre` must be given, forward and backward", name);
    return SLR_OK;
}

// `d` is the gradient of what was before the activation.
static struct slri_convolution backward(const struct call *call, slr_buffer *d, const slr_tensor *of,
                                        enum slri_window_pass pass)
{
    struct slri_convolution convolution = {.ops = call->ops,
                                           .stream = call->stream,
                                           .pass = pass,
                                           .dtype = of->dtype,
                                           .window = call->window,
                                           .tensor = {call->desc.x->buffer, call->desc.weights->buffer, d}};
    convolution.tensor[slri_window_writes(pass)] = of->buffer;
    return convolution;
}

static slr_status gradient(const struct call *call, slr_buffer *d, const slr_tensor *of, enum slri_window_pass pass)
{
    if (!of)
        return SLR_OK;
    const struct slri_convolution convolution = backward(call, d, of, pass);
    return slri_convolution_run(&convolution, NULL);
}

static slr_status convolution_gradients(const struct call *call, slr_buffer *d, const slr_tensor *dx,
                                        const slr_tensor *dweights, const slr_tensor *dbias)
{
    SLRI_TRY(gradient(call, d, dx, SLRI_TO_INPUT));
    SLRI_TRY(gradient(call, d, dweights, SLRI_TO_WEIGHTS));
    if (dbias)
        SLRI_TRY(SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_CONVOLUTION_BIAS, call->desc.x->dtype,
                                 slri_shape_each(slri_tensor_elements(dbias)), NULL, slr_arg_buffer(d),
                                 slri_arg_of(dbias), slri_arg_window(&call->window)));
    return SLR_OK;
}

slr_status slr_ops_convolution_backward(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                        const slr_tensor *dy, const slr_tensor *dx, const slr_tensor *dweights,
                                        const slr_tensor *dbias, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_convolution_backward";
    struct call call = {.ops = ops, .stream = stream};
    SLRI_TRY(begin_convolution(&call, desc, name));
    SLRI_TRY(check_convolution_backward(&call, name, dy, dx, dweights, dbias));
    slr_tensor d = *dy;
    slr_buffer *workspace = NULL;
    slr_status status = SLR_OK;
    if (call.desc.activation) {
        SLRI_TRY(slri_ops_workspace(ops, slri_scalar_bytes(dy->dtype) * slri_tensor_elements(dy), &workspace));
        d.buffer = workspace;
        status = slr_ops_activation_backward(ops, stream, call.desc.activation, call.desc.pre, dy, &d, NULL);
    }
    if (status == SLR_OK)
        status = convolution_gradients(&call, d.buffer, dx, dweights, dbias);
    slr_buffer_destroy(workspace);
    return status == SLR_OK && out ? slr_stream_signal(stream, out) : status;
}

slr_status slr_ops_convolution_backward_bench(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                              const slr_tensor *dy, const slr_tensor *dx, const slr_tensor *dweights,
                                              slr_algorithm_visitor *visit, void *user)
{
    static const char name[] = "slr_ops_convolution_backward_bench";
    struct call call = {.ops = ops, .stream = stream};
    if (!visit || !dx == !dweights)
        return SLRI_FAIL(INVALID, "%s: %s", name, visit ? "expected one of dx and dweights" : "visit is NULL");
    SLRI_TRY(begin_convolution(&call, desc, name));
    SLRI_TRY(check_convolution_backward(&call, name, dy, dx, dweights, NULL));
    const struct slri_convolution convolution =
        backward(&call, dy->buffer, dx ? dx : dweights, dx ? SLRI_TO_INPUT : SLRI_TO_WEIGHTS);
    return slri_convolution_bench(&convolution, visit, user);
}

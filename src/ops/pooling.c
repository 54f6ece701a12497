// SPDX-License-Identifier: Apache-2.0
#include "base/sized.h"
#include "engine/observe.h"
#include "ops/window.h"

#include <stdio.h>

// How many places a window of `size` has along `length`; 0: none.
static int64_t places(int64_t length, int64_t size, int64_t stride, int64_t padding, int64_t dilation)
{
    int64_t room = length + 2 * padding - (dilation * (size - 1) + 1);
    return room < 0 ? 0 : room / stride + 1;
}

slr_status slri_window_place(const char *call, const slr_tensor *x, struct slri_window *d)
{
    char text[SLRI_SHAPE_BYTES];
    bool is_flat = x->rank == 3;
    d->n = (int32_t)x->shape[0], d->c = (int32_t)x->shape[1];
    d->h = is_flat ? 1 : (int32_t)x->shape[2], d->w = (int32_t)x->shape[x->rank - 1];
    int64_t p = places(d->h, d->r, d->stride_h, d->pad_h, d->dilation_h);
    int64_t q = places(d->w, d->s, d->stride_w, d->pad_w, d->dilation_w);
    if (p < 1 || q < 1 || p > 0x7FFFFFFF || q > 0x7FFFFFFF)
        return SLRI_FAIL(INVALID,
                         "%s: a window of %d by %d, dilated by %d and %d, does not fit into x %s, padded by %d and %d",
                         call, d->r, d->s, d->dilation_h, d->dilation_w, slri_shape_text(x->rank, x->shape, text),
                         d->pad_h, d->pad_w);
    d->p = (int32_t)p, d->q = (int32_t)q;
    return SLR_OK;
}

static slr_status check_numbers(const char *name, const slr_pooling_desc *d)
{
    for (int i = d->x->rank == 3; i < 2; ++i)
        if (d->window[i] == 0 || d->window[i] > 0x7FFF || d->stride[i] > 0x7FFF || d->padding[i] >= d->window[i])
            return SLRI_FAIL(INVALID,
                             "%s: window, stride and padding [%d] are %u, %u and %u; expected a window of 1 to 32767 "
                             "and less padding",
                             name, i, d->window[i], d->stride[i], d->padding[i]);
    return SLR_OK;
}

static uint32_t or_window(const slr_pooling_desc *d, int i)
{
    return d->stride[i] ? d->stride[i] : d->window[i];
}

#define BECAUSE_BYTES (SLRI_SHAPE_BYTES + 64)

static const char *because_of_window(const slr_tensor *x, const struct slri_window *window, char out[BECAUSE_BYTES])
{
    char text[SLRI_SHAPE_BYTES];
    snprintf(out, BECAUSE_BYTES, "x %s and a window of %d by %d", slri_shape_text(x->rank, x->shape, text), window->r,
             window->s);
    return out;
}

static slr_status place_pooling(const char *name, const slr_pooling_desc *d, struct slri_window *out)
{
    char text[SLRI_SHAPE_BYTES], because[BECAUSE_BYTES];
    const slr_tensor *x = d->x;
    if (x->rank != 3 && x->rank != 4)
        return SLRI_FAIL(INVALID, "%s: x is %s; expected rank 3 or 4", name, slri_shape_text(x->rank, x->shape, text));
    SLRI_TRY(check_numbers(name, d));
    bool is_flat = x->rank == 3;
    *out = (struct slri_window){.k = (int32_t)x->shape[1],
                                .r = is_flat ? 1 : (int32_t)d->window[0],
                                .s = (int32_t)d->window[1],
                                .stride_h = is_flat ? 1 : (int32_t)or_window(d, 0),
                                .stride_w = (int32_t)or_window(d, 1),
                                .pad_h = is_flat ? 0 : (int32_t)d->padding[0],
                                .pad_w = (int32_t)d->padding[1],
                                .dilation_h = 1,
                                .dilation_w = 1,
                                .groups = 1};
    SLRI_TRY(slri_window_place(name, x, out));
    const uint64_t shape[] = {x->shape[0], x->shape[1], (uint64_t)(is_flat ? out->q : out->p), (uint64_t)out->q};
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "y", d->y, x->rank, shape, because_of_window(x, out, because)));
    return SLRI_TENSOR_SHAPED(name, "indices", d->indices, x->rank, shape, because_of_window(x, out, because));
}

static slr_status begin_pooling(slr_ops *ops, slr_stream *stream, const slr_pooling_desc *desc, const char *name,
                                slr_pooling_desc *whole, struct slri_window *window)
{
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", name);
    SLRI_TRY(SLRI_TAKE_DESC(slr_pooling_desc, whole, desc));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", whole->x, SLRI_REAL, false},
                                 {"y", whole->y, SLRI_REAL, false}, {"indices", whole->indices, SLR_I32, true}));
    if (whole->kind != SLR_POOL_LARGEST && whole->kind != SLR_POOL_MEAN)
        return SLRI_FAIL(INVALID, "%s: kind is %d; expected SLR_POOL_LARGEST or SLR_POOL_MEAN", name, (int)whole->kind);
    return place_pooling(name, whole, window);
}

slr_status slr_ops_pooling(slr_ops *ops, slr_stream *stream, const slr_pooling_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    slr_pooling_desc d;
    struct slri_window window;
    SLRI_TRY(begin_pooling(ops, stream, desc, "slr_ops_pooling", &d, &window));
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_POOL, d.x->dtype, slri_shape_each(slri_tensor_elements(d.y)), out,
                           slri_arg_of(d.x), slri_arg_of(d.y), slri_arg_of(d.indices), slri_arg_window(&window),
                           slr_arg_unsigned(d.kind));
}

slr_status slr_ops_pooling_backward(slr_ops *ops, slr_stream *stream, const slr_pooling_desc *desc,
                                    const slr_tensor *dy, const slr_tensor *dx, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_pooling_backward";
    slr_pooling_desc d;
    struct slri_window window;
    SLRI_TRY(begin_pooling(ops, stream, desc, name, &d, &window));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", d.x, SLRI_REAL, false}, {"dy", dy, SLRI_REAL, false},
                                 {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "y", d.y));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", d.x));
    if (d.kind == SLR_POOL_LARGEST && !d.indices)
        return SLRI_FAIL(INVALID, "%s: indices are NULL; the forward call gives them", name);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_POOL_BACKWARD, d.x->dtype, slri_shape_each(slri_tensor_elements(dx)),
                           out, slri_arg_of(d.indices), slri_arg_of(dy), slri_arg_of(dx), slri_arg_window(&window),
                           slr_arg_unsigned(d.kind));
}

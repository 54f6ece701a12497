// SPDX-License-Identifier: Apache-2.0
// Reductions, and the losses, which are means of what each row or element costs.
#include "engine/observe.h"
#include "ops/operations.h"

#include <stdio.h>

// A long row is summed in pieces of this length, then the pieces: the same order on every device.
#define PIECE 16384u

struct view { // x as [outer][n][inner]
    uint64_t outer, n, inner;
};

// y is of floats.
static slr_status by_rows(slr_ops *ops, slr_stream *stream, slr_scalar dtype, uint32_t kind, slr_buffer *x,
                          slr_buffer *y, uint64_t rows, uint64_t n, double scale, slr_point *out)
{
    uint64_t pieces = (n + PIECE - 1) / PIECE;
    slr_shape shape = SLR_GRID_2D((uint32_t)pieces, (uint32_t)rows, SLRI_OPS_GROUP, 1);
    if (pieces == 1)
        return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_REDUCE_ROW, dtype, shape, out, slr_arg_buffer(x), slr_arg_buffer(y),
                               slri_arg_n(n), slri_arg_n(n), slri_arg_n(kind), slri_arg_real(scale));
    slr_buffer *parts;
    SLRI_TRY(slri_ops_workspace(ops, 4 * pieces * rows, &parts));
    uint32_t of_piece = kind == SLR_REDUCTION_MEAN ? (uint32_t)SLR_REDUCTION_SUM : kind;
    slr_status status =
        SLRI_OPS_LAUNCH(ops, stream, SLRI_K_REDUCE_ROW, dtype, shape, NULL, slr_arg_buffer(x), slr_arg_buffer(parts),
                        slri_arg_n(n), slri_arg_n(PIECE), slri_arg_n(of_piece), slri_arg_real(1));
    if (status == SLR_OK)
        status = by_rows(ops, stream, SLR_F32, kind, parts, y, rows, pieces, scale, out);
    slr_buffer_destroy(parts);
    return status;
}

// The same where y is of another type.
static slr_status by_rows_into(slr_ops *ops, slr_stream *stream, uint32_t kind, const slr_tensor *x,
                               const slr_tensor *y, const struct view *view, slr_point *out)
{
    double scale = 1.0 / (double)view->n;
    if (y->dtype == SLR_F32)
        return by_rows(ops, stream, SLR_F32, kind, x->buffer, y->buffer, view->outer, view->n, scale, out);
    slr_buffer *floats;
    SLRI_TRY(slri_ops_workspace(ops, 4 * view->outer, &floats));
    slr_status status = by_rows(ops, stream, x->dtype, kind, x->buffer, floats, view->outer, view->n, scale, NULL);
    if (status == SLR_OK)
        status = SLRI_OPS_LAUNCH(ops, stream, SLRI_K_FROM_FLOAT, y->dtype, slri_shape_each(view->outer), out,
                                 slr_arg_buffer(floats), slri_arg_of(y), slri_arg_n(view->outer));
    slr_buffer_destroy(floats);
    return status;
}

static slr_status mean(slr_ops *ops, slr_stream *stream, slr_buffer *x, uint64_t n, slr_buffer *y, slr_point *out)
{
    return by_rows(ops, stream, SLR_F32, SLR_REDUCTION_MEAN, x, y, 1, n, 1.0 / (double)n, out);
}

static slr_status look(const char *name, slr_reduction kind, uint32_t axis, const slr_tensor *x, const slr_tensor *y,
                       const char *y_name, struct view *out)
{
    uint64_t elements = slri_tensor_elements(x);
    if (kind < SLR_REDUCTION_SUM || kind > SLR_REDUCTION_LARGEST)
        return SLRI_FAIL(INVALID, "%s: kind is %d; expected SLR_REDUCTION_SUM to SLR_REDUCTION_LARGEST", name,
                         (int)kind);
    if (axis != SLR_EVERY_AXIS && axis >= x->rank)
        return SLRI_FAIL(INVALID, "%s: axis is %u; expected one of %u, or SLR_EVERY_AXIS", name, axis, x->rank);
    *out = (struct view){1, elements, 1};
    if (axis != SLR_EVERY_AXIS) {
        out->n = x->shape[axis];
        for (uint32_t i = axis + 1; i < x->rank; ++i)
            out->inner *= x->shape[i];
        out->outer = elements / out->n / out->inner;
    }
    return slri_tensor_sized(name, y_name, y, out->outer * out->inner, "x", x);
}

slr_status slr_ops_reduce(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis, const slr_tensor *x,
                          const slr_tensor *y, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_reduce";
    struct view view;
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(look(name, kind, axis, x, y, "y", &view));
    double scale = 1.0 / (double)view.n;
    if (view.inner == 1)
        return by_rows_into(ops, stream, kind, x, y, &view, out);
    uint64_t results = view.outer * view.inner;
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_REDUCE_COLUMN, x->dtype, slri_shape_each(results), out, slri_arg_of(x),
                           slri_arg_of(y), slri_arg_n(view.n), slri_arg_n(view.inner), slri_arg_n(results),
                           slri_arg_n(kind), slri_arg_real(scale));
}

slr_status slr_ops_reduce_backward(slr_ops *ops, slr_stream *stream, slr_reduction kind, uint32_t axis,
                                   const slr_tensor *x, const slr_tensor *y, const slr_tensor *dy, const slr_tensor *dx,
                                   slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_reduce_backward";
    struct view view;
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"y", y, SLRI_REAL, false},
                                 {"dy", dy, SLRI_REAL, false}, {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(look(name, kind, axis, x, dy, "dy", &view));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", x));
    SLRI_TRY(slri_tensor_sized(name, "y", y, view.outer * view.inner, "x", x));
    uint64_t results = view.outer * view.inner;
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_REDUCE_BACKWARD, x->dtype, slri_shape_each(results), out, slri_arg_of(x),
                           slri_arg_of(y), slri_arg_of(dy), slri_arg_of(dx), slri_arg_n(view.n), slri_arg_n(view.inner),
                           slri_arg_n(results), slri_arg_n(kind), slri_arg_real(1.0 / (double)view.n));
}

// ---- losses ---------------------------------------------------------------------------------------------------------

static slr_status check_entropy(const slr_ops *ops, const slr_stream *stream, const char *name,
                                const slr_tensor *logits, const slr_tensor *labels)
{
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"logits", logits, SLRI_REAL, false},
                                 {"labels", labels, SLR_I32, false}));
    return slri_tensor_sized(name, "labels", labels, slri_tensor_rows(logits), "logits", logits);
}

static slr_status check_loss(const slr_ops *ops, const slr_stream *stream, const char *name, const slr_tensor *loss)
{
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"loss", loss, SLR_F32, false}));
    return slri_tensor_elements(loss) == 1 ? SLR_OK
                                           : SLRI_FAIL(INVALID, "%s: loss has %llu elements; expected 1", name,
                                                       (unsigned long long)slri_tensor_elements(loss));
}

slr_status slr_ops_cross_entropy(slr_ops *ops, slr_stream *stream, const slr_tensor *logits, const slr_tensor *labels,
                                 const slr_tensor *loss, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_cross_entropy";
    slr_buffer *losses;
    SLRI_TRY(check_entropy(ops, stream, name, logits, labels));
    SLRI_TRY(check_loss(ops, stream, name, loss));
    uint64_t rows = slri_tensor_rows(logits);
    SLRI_TRY(slri_ops_workspace(ops, 4 * rows, &losses));
    slr_status status = SLRI_OPS_LAUNCH(ops, stream, SLRI_K_CROSS_ENTROPY, logits->dtype, slri_shape_rows(rows), NULL,
                                        slri_arg_of(logits), slri_arg_of(labels), slr_arg_buffer(losses),
                                        slri_arg_n(slri_tensor_row(logits)));
    if (status == SLR_OK)
        status = mean(ops, stream, losses, rows, loss->buffer, out);
    slr_buffer_destroy(losses);
    return status;
}

slr_status slr_ops_cross_entropy_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *logits,
                                          const slr_tensor *labels, float scale, const slr_tensor *dlogits,
                                          slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_cross_entropy_backward";
    SLRI_TRY(check_entropy(ops, stream, name, logits, labels));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"logits", logits, SLRI_REAL, false},
                                 {"dlogits", dlogits, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "dlogits", dlogits, "logits", logits));
    uint64_t rows = slri_tensor_rows(logits);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_CROSS_ENTROPY_BACKWARD, logits->dtype, slri_shape_rows(rows), out,
                           slri_arg_of(logits), slri_arg_of(labels), slri_arg_of(dlogits),
                           slri_arg_n(slri_tensor_row(logits)), slri_arg_real((double)scale / (double)rows));
}

static slr_status check_square(const slr_ops *ops, const slr_stream *stream, const char *name, const slr_tensor *x,
                               const slr_tensor *target)
{
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"target", target, SLRI_REAL, false}));
    return slri_tensor_same(name, "target", target, "x", x);
}

slr_status slr_ops_mean_square(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *target,
                               const slr_tensor *loss, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_mean_square";
    slr_buffer *losses;
    SLRI_TRY(check_square(ops, stream, name, x, target));
    SLRI_TRY(check_loss(ops, stream, name, loss));
    uint64_t n = slri_tensor_elements(x);
    SLRI_TRY(slri_ops_workspace(ops, 4 * n, &losses));
    slr_status status = SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SQUARE_ERROR, x->dtype, slri_shape_each(n), NULL,
                                        slri_arg_of(x), slri_arg_of(target), slr_arg_buffer(losses), slri_arg_n(n));
    if (status == SLR_OK)
        status = mean(ops, stream, losses, n, loss->buffer, out);
    slr_buffer_destroy(losses);
    return status;
}

slr_status slr_ops_mean_square_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *target,
                                        float scale, const slr_tensor *dx, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_mean_square_backward";
    SLRI_TRY(check_square(ops, stream, name, x, target));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", x));
    uint64_t n = slri_tensor_elements(x);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SQUARE_ERROR_BACKWARD, x->dtype, slri_shape_each(n), out, slri_arg_of(x),
                           slri_arg_of(target), slri_arg_of(dx), slri_arg_n(n),
                           slri_arg_real(2.0 * (double)scale / (double)n));
}

// SPDX-License-Identifier: Apache-2.0
// Operations on elements: activations, embeddings, optimisers.
#include "base/sized.h"
#include "engine/observe.h"
#include "ops/operations.h"

#include <math.h>

static slr_status check_kind(const char *name, slr_activation kind)
{
    SLRI_TRY(slri_activation_check(name, kind));
    return kind ? SLR_OK : SLRI_FAIL(INVALID, "%s: kind is 0; expected SLR_RELU to SLR_LEAKY_RELU", name);
}

slr_status slr_ops_activation(slr_ops *ops, slr_stream *stream, slr_activation kind, const slr_tensor *x,
                              const slr_tensor *y, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_activation";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(check_kind(name, kind));
    SLRI_TRY(slri_tensor_same(name, "y", y, "x", x));
    uint64_t n = slri_tensor_elements(x);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_ACTIVATION, x->dtype, slri_shape_each(n), out, slri_arg_of(x),
                           slri_arg_of(y), slri_arg_n(n), slri_arg_n(kind));
}

slr_status slr_ops_activation_backward(slr_ops *ops, slr_stream *stream, slr_activation kind, const slr_tensor *x,
                                       const slr_tensor *dy, const slr_tensor *dx, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_activation_backward";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"dy", dy, SLRI_REAL, false},
                                 {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(check_kind(name, kind));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "x", x));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", x));
    uint64_t n = slri_tensor_elements(x);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_ACTIVATION_BACKWARD, x->dtype, slri_shape_each(n), out, slri_arg_of(x),
                           slri_arg_of(dy), slri_arg_of(dx), slri_arg_n(n), slri_arg_n(kind));
}

// ---- types ----------------------------------------------------------------------------------------------------------

// Between the two small types by floats.
static slr_status cast_by_floats(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y, uint64_t n,
                                 slr_point *out)
{
    slr_buffer *floats;
    SLRI_TRY(slri_ops_workspace(ops, 4 * n, &floats));
    slr_status status = SLRI_OPS_LAUNCH(ops, stream, SLRI_K_TO_FLOAT, x->dtype, slri_shape_each(n), NULL,
                                        slri_arg_of(x), slr_arg_buffer(floats), slri_arg_n(n));
    if (status == SLR_OK)
        status = SLRI_OPS_LAUNCH(ops, stream, SLRI_K_FROM_FLOAT, y->dtype, slri_shape_each(n), out,
                                 slr_arg_buffer(floats), slri_arg_of(y), slri_arg_n(n));
    slr_buffer_destroy(floats);
    return status;
}

slr_status slr_ops_cast(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_cast";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "y", y, "x", x));
    if (x->buffer == y->buffer && x->dtype != y->dtype)
        return SLRI_FAIL(INVALID, "%s: x and y have one buffer, but elements of another length", name);
    uint64_t n = slri_tensor_elements(x);
    if (x->dtype != SLR_F32 && y->dtype != SLR_F32)
        return cast_by_floats(ops, stream, x, y, n, out);
    return SLRI_OPS_LAUNCH(ops, stream, y->dtype == SLR_F32 ? SLRI_K_TO_FLOAT : SLRI_K_FROM_FLOAT,
                           y->dtype == SLR_F32 ? x->dtype : y->dtype, slri_shape_each(n), out, slri_arg_of(x),
                           slri_arg_of(y), slri_arg_n(n));
}

// ---- embedding ------------------------------------------------------------------------------------------------------

// y has a row of the table an index.
static slr_status check_embedding(const char *name, const slr_tensor *table, const char *table_name,
                                  const slr_tensor *indices, const slr_tensor *y, const char *y_name)
{
    char text[SLRI_SHAPE_BYTES], other[SLRI_SHAPE_BYTES];
    if (table->rank != 2)
        return SLRI_FAIL(INVALID, "%s: %s is %s; expected rank 2", name, table_name,
                         slri_shape_text(table->rank, table->shape, text));
    if (slri_tensor_row(y) != table->shape[1])
        return SLRI_FAIL(INVALID, "%s: %s is %s, but the rows of %s %s have another length", name, y_name,
                         slri_shape_text(y->rank, y->shape, text), table_name,
                         slri_shape_text(table->rank, table->shape, other));
    return slri_tensor_sized(name, "indices", indices, slri_tensor_rows(y), y_name, y);
}

slr_status slr_ops_embedding(slr_ops *ops, slr_stream *stream, const slr_tensor *table, const slr_tensor *indices,
                             const slr_tensor *y, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_embedding";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"table", table, SLRI_REAL, false},
                                 {"indices", indices, SLR_I32, false}, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(check_embedding(name, table, "table", indices, y, "y"));
    uint64_t n = slri_tensor_elements(y);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_EMBEDDING, table->dtype, slri_shape_each(n), out, slri_arg_of(table),
                           slri_arg_of(indices), slri_arg_of(y), slri_arg_n(n), slri_arg_n(table->shape[0]),
                           slri_arg_n(table->shape[1]));
}

slr_status slr_ops_embedding_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices, const slr_tensor *dy,
                                      const slr_tensor *dtable, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_embedding_backward";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"indices", indices, SLR_I32, false}, {"dy", dy, SLRI_REAL, false},
                                 {"dtable", dtable, SLRI_REAL, false}));
    SLRI_TRY(check_embedding(name, dtable, "dtable", indices, dy, "dy"));
    uint64_t n = slri_tensor_elements(dtable);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_EMBEDDING_BACKWARD, dy->dtype, slri_shape_each(n), out,
                           slri_arg_of(indices), slri_arg_of(dy), slri_arg_of(dtable), slri_arg_n(n),
                           slri_arg_n(slri_tensor_elements(indices)), slri_arg_n(dtable->shape[1]));
}

// ---- optimisers -----------------------------------------------------------------------------------------------------

slr_status slr_ops_sgd(slr_ops *ops, slr_stream *stream, const slr_tensor *weights, const slr_tensor *gradient,
                       const slr_tensor *velocity, float rate, float momentum, float decay, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_sgd";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"weights", weights, SLR_F32, false},
                                 {"gradient", gradient, SLRI_REAL, false}, {"velocity", velocity, SLR_F32, true}));
    SLRI_TRY(slri_tensor_same(name, "gradient", gradient, "weights", weights));
    SLRI_TRY(slri_tensor_same(name, "velocity", velocity, "weights", weights));
    if (momentum != 0.0f && !velocity)
        return SLRI_FAIL(INVALID, "%s: momentum is %g, but velocity is NULL", name, (double)momentum);
    uint64_t n = slri_tensor_elements(weights);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SGD, gradient->dtype, slri_shape_each(n), out, slri_arg_of(weights),
                           slri_arg_of(gradient), slri_arg_of(velocity), slri_arg_n(n), slri_arg_real((double)rate),
                           slri_arg_real((double)momentum), slri_arg_real((double)decay));
}

static float or_usual(float value, float usual)
{
    return value != 0.0f ? value : usual;
}

slr_status slr_ops_adam(slr_ops *ops, slr_stream *stream, const slr_adam_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_adam";
    slr_adam_desc d;
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", name);
    SLRI_TRY(SLRI_TAKE_DESC(slr_adam_desc, &d, desc));
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"weights", d.weights, SLR_F32, false},
                                 {"gradient", d.gradient, SLRI_REAL, false}, {"mean", d.mean, SLR_F32, false},
                                 {"square", d.square, SLR_F32, false}));
    SLRI_TRY(slri_tensor_same(name, "gradient", d.gradient, "weights", d.weights));
    SLRI_TRY(slri_tensor_same(name, "mean", d.mean, "weights", d.weights));
    SLRI_TRY(slri_tensor_same(name, "square", d.square, "weights", d.weights));
    float beta1 = or_usual(d.beta1, 0.9f), beta2 = or_usual(d.beta2, 0.999f), epsilon = or_usual(d.epsilon, 1e-8f);
    if (d.step == 0)
        return SLRI_FAIL(INVALID, "%s: step is 0; the first is 1", name);
    if (!(beta1 > 0.0f && beta1 < 1.0f && beta2 > 0.0f && beta2 < 1.0f))
        return SLRI_FAIL(INVALID, "%s: beta1 and beta2 are %g and %g; expected numbers between 0 and 1", name,
                         (double)beta1, (double)beta2);
    uint64_t n = slri_tensor_elements(d.weights);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_ADAM, d.gradient->dtype, slri_shape_each(n), out, slri_arg_of(d.weights),
                           slri_arg_of(d.gradient), slri_arg_of(d.mean), slri_arg_of(d.square), slri_arg_n(n),
                           slri_arg_real((double)d.rate), slri_arg_real((double)beta1), slri_arg_real((double)beta2),
                           slri_arg_real((double)epsilon), slri_arg_real((double)d.decay),
                           slri_arg_real(1.0 - pow((double)beta1, d.step)),
                           slri_arg_real(1.0 - pow((double)beta2, d.step)));
}

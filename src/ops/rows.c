// SPDX-License-Identifier: Apache-2.0
// Operations along rows: soft-max, layer norm, scan, top-k.
#include "engine/observe.h"
#include "ops/operations.h"

// ---- soft-max -------------------------------------------------------------------------------------------------------

slr_status slr_ops_softmax(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *y, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_softmax";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "y", y, "x", x));
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SOFTMAX, x->dtype, slri_shape_rows(slri_tensor_rows(x)), out,
                           slri_arg_of(x), slri_arg_of(y), slri_arg_n(slri_tensor_row(x)));
}

slr_status slr_ops_softmax_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *y, const slr_tensor *dy,
                                    const slr_tensor *dx, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_softmax_backward";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"y", y, SLRI_REAL, false}, {"dy", dy, SLRI_REAL, false},
                                 {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "y", y));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "y", y));
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SOFTMAX_BACKWARD, y->dtype, slri_shape_rows(slri_tensor_rows(y)), out,
                           slri_arg_of(y), slri_arg_of(dy), slri_arg_of(dx), slri_arg_n(slri_tensor_row(y)));
}

// ---- layer norm -----------------------------------------------------------------------------------------------------

static slr_status check_row(const char *name, const char *what, const slr_tensor *tensor, const slr_tensor *x)
{
    return slri_tensor_sized(name, what, tensor, slri_tensor_row(x), "x", x);
}

static slr_status check_column(const char *name, const char *what, const slr_tensor *tensor, const slr_tensor *x)
{
    return slri_tensor_sized(name, what, tensor, slri_tensor_rows(x), "x", x);
}

slr_status slr_ops_layer_norm(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *gamma,
                              const slr_tensor *beta, float epsilon, const slr_tensor *y, const slr_tensor *means,
                              const slr_tensor *scales, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_layer_norm";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"gamma", gamma, SLRI_REAL, false},
                                 {"beta", beta, SLRI_REAL, false}, {"y", y, SLRI_REAL, false},
                                 {"means", means, SLR_F32, false}, {"scales", scales, SLR_F32, false}));
    SLRI_TRY(slri_tensor_same(name, "y", y, "x", x));
    SLRI_TRY(check_row(name, "gamma", gamma, x));
    SLRI_TRY(check_row(name, "beta", beta, x));
    SLRI_TRY(check_column(name, "means", means, x));
    SLRI_TRY(check_column(name, "scales", scales, x));
    if (!(epsilon >= 0.0f))
        return SLRI_FAIL(INVALID, "%s: epsilon is %g; expected 0 or more", name, (double)epsilon);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_LAYER_NORM, x->dtype, slri_shape_rows(slri_tensor_rows(x)), out,
                           slri_arg_of(x), slri_arg_of(gamma), slri_arg_of(beta), slri_arg_of(y), slri_arg_of(means),
                           slri_arg_of(scales), slri_arg_n(slri_tensor_row(x)), slr_arg_float((double)epsilon));
}

slr_status slr_ops_layer_norm_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *gamma,
                                       const slr_tensor *means, const slr_tensor *scales, const slr_tensor *dy,
                                       const slr_tensor *dx, const slr_tensor *dgamma, const slr_tensor *dbeta,
                                       slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_layer_norm_backward";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"gamma", gamma, SLRI_REAL, false},
                                 {"means", means, SLR_F32, false}, {"scales", scales, SLR_F32, false},
                                 {"dy", dy, SLRI_REAL, false}, {"dx", dx, SLRI_REAL, false},
                                 {"dgamma", dgamma, SLRI_REAL, true}, {"dbeta", dbeta, SLRI_REAL, true}));
    SLRI_TRY(slri_tensor_same(name, "dy", dy, "x", x));
    SLRI_TRY(slri_tensor_same(name, "dx", dx, "x", x));
    SLRI_TRY(check_row(name, "gamma", gamma, x));
    SLRI_TRY(check_row(name, "dgamma", dgamma, x));
    SLRI_TRY(check_row(name, "dbeta", dbeta, x));
    SLRI_TRY(check_column(name, "means", means, x));
    SLRI_TRY(check_column(name, "scales", scales, x));
    if (!dgamma != !dbeta)
        return SLRI_FAIL(INVALID, "%s: one of dgamma and dbeta is NULL; expected both or none", name);
    uint64_t n = slri_tensor_row(x), rows = slri_tensor_rows(x);
    if (dgamma)
        SLRI_TRY(SLRI_OPS_LAUNCH(ops, stream, SLRI_K_LAYER_NORM_WEIGHTS, x->dtype, slri_shape_each(n), NULL,
                                 slri_arg_of(x), slri_arg_of(means), slri_arg_of(scales), slri_arg_of(dy),
                                 slri_arg_of(dgamma), slri_arg_of(dbeta), slri_arg_n(rows), slri_arg_n(n)));
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_LAYER_NORM_BACKWARD, x->dtype, slri_shape_rows(rows), out,
                           slri_arg_of(x), slri_arg_of(gamma), slri_arg_of(means), slri_arg_of(scales), slri_arg_of(dy),
                           slri_arg_of(dx), slri_arg_n(n));
}

// ---- scan and top-k -------------------------------------------------------------------------------------------------

slr_status slr_ops_scan(slr_ops *ops, slr_stream *stream, uint32_t flags, const slr_tensor *x, const slr_tensor *y,
                        slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_scan";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"y", y, SLRI_REAL, false}));
    SLRI_TRY(slri_tensor_same(name, "y", y, "x", x));
    if (flags & ~(SLR_SCAN_REVERSE | SLR_SCAN_EXCLUSIVE))
        return SLRI_FAIL(INVALID, "%s: flags are %#x; expected SLR_SCAN_REVERSE and SLR_SCAN_EXCLUSIVE", name, flags);
    uint64_t rows = slri_tensor_rows(x);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_SCAN, x->dtype, slri_shape_each(rows), out, slri_arg_of(x),
                           slri_arg_of(y), slri_arg_n(rows), slri_arg_n(slri_tensor_row(x)),
                           slri_arg_n((flags & SLR_SCAN_REVERSE) != 0), slri_arg_n((flags & SLR_SCAN_EXCLUSIVE) != 0));
}

// The shapes of x and of what was taken out of it: the same but for the row, which is no longer than x's.
static slr_status check_taken(const char *name, const slr_tensor *x, const char *what, const slr_tensor *taken)
{
    uint64_t shape[SLR_BUFFER_MOST_DIMENSIONS];
    char because[SLRI_SHAPE_BYTES + 32];
    for (uint32_t i = 0; i < x->rank; ++i)
        shape[i] = x->shape[i];
    uint64_t k = taken->rank ? taken->shape[taken->rank - 1] : 0;
    shape[x->rank - 1] = k < slri_tensor_row(x) ? k : slri_tensor_row(x);
    return SLRI_TENSOR_SHAPED(name, what, taken, x->rank, shape, slri_because_of("x", x, because));
}

slr_status slr_ops_top_k(slr_ops *ops, slr_stream *stream, const slr_tensor *x, const slr_tensor *values,
                         const slr_tensor *indices, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_top_k";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"x", x, SLRI_REAL, false}, {"values", values, SLRI_REAL, false},
                                 {"indices", indices, SLR_I32, false}));
    SLRI_TRY(check_taken(name, x, "values", values));
    SLRI_TRY(slri_tensor_same(name, "indices", indices, "values", values));
    uint64_t rows = slri_tensor_rows(x);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_TOP_K, x->dtype, slri_shape_each(rows), out, slri_arg_of(x),
                           slri_arg_of(values), slri_arg_of(indices), slri_arg_n(rows), slri_arg_n(slri_tensor_row(x)),
                           slri_arg_n(slri_tensor_row(values)));
}

slr_status slr_ops_top_k_backward(slr_ops *ops, slr_stream *stream, const slr_tensor *indices,
                                  const slr_tensor *dvalues, const slr_tensor *dx, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_top_k_backward";
    SLRI_TRY(SLRI_OPERANDS_CHECK(ops, stream, name, {"indices", indices, SLR_I32, false},
                                 {"dvalues", dvalues, SLRI_REAL, false}, {"dx", dx, SLRI_REAL, false}));
    SLRI_TRY(check_taken(name, dx, "dvalues", dvalues));
    SLRI_TRY(slri_tensor_same(name, "indices", indices, "dvalues", dvalues));
    uint64_t rows = slri_tensor_rows(dx);
    return SLRI_OPS_LAUNCH(ops, stream, SLRI_K_TOP_K_BACKWARD, dx->dtype, slri_shape_each(rows), out,
                           slri_arg_of(indices), slri_arg_of(dvalues), slri_arg_of(dx), slri_arg_n(rows),
                           slri_arg_n(slri_tensor_row(dx)), slri_arg_n(slri_tensor_row(dvalues)));
}

// SPDX-License-Identifier: Apache-2.0
// slr_ops_matmul: shapes, then products.
#include "base/sized.h"
#include "engine/observe.h"
#include "ops/product.h"

#include <stdio.h>

struct call {
    slr_ops *ops;
    slr_stream *stream;
    slr_matmul_desc desc;
    struct slri_product product; // forward
};

static uint32_t dimension(const slr_tensor *tensor, uint32_t from_last)
{
    return (uint32_t)tensor->shape[tensor->rank - 1 - from_last];
}

static slr_status check_multiplied(const struct call *call, const char *name)
{
    const slr_matmul_desc *d = &call->desc;
    SLRI_TRY(SLRI_OPERANDS_CHECK(call->ops, call->stream, name, {"a", d->a, SLRI_REAL, false},
                                 {"b", d->b, SLRI_REAL, false}, {"c", d->c, SLRI_REAL, false},
                                 {"bias", d->bias, SLRI_REAL, true}, {"pre", d->pre, SLRI_REAL, true}));
    SLRI_TRY(slri_activation_check(name, d->activation));
    if (d->a->rank < 2 || d->a->rank > 3 || d->b->rank < 2 || d->b->rank > d->a->rank)
        return SLRI_FAIL(INVALID, "%s: the ranks of a and b are %u and %u; expected 2 and 2, 3 and 3, or 3 and 2", name,
                         d->a->rank, d->b->rank);
    return SLR_OK;
}

#define BECAUSE_BYTES (2 * SLRI_SHAPE_BYTES + 64)

static const char *because_of_factors(const slr_matmul_desc *d, char out[BECAUSE_BYTES])
{
    char a[SLRI_SHAPE_BYTES], b[SLRI_SHAPE_BYTES];
    snprintf(out, BECAUSE_BYTES, "a %s%s and b %s%s", slri_shape_text(d->a->rank, d->a->shape, a),
             d->transpose_a ? " transposed" : "", slri_shape_text(d->b->rank, d->b->shape, b),
             d->transpose_b ? " transposed" : "");
    return out;
}

static slr_status check_shapes(struct call *call, const char *name)
{
    const slr_matmul_desc *d = &call->desc;
    const slr_tensor *a = d->a, *b = d->b;
    char because[BECAUSE_BYTES];
    uint32_t m = dimension(a, !d->transpose_a), k = dimension(a, d->transpose_a != 0);
    uint32_t n = dimension(b, d->transpose_b != 0), depth = dimension(b, !d->transpose_b);
    if (k != depth || (b->rank == 3 && a->shape[0] != b->shape[0]))
        return SLRI_FAIL(INVALID, "%s: %s do not fit: %s", name, because_of_factors(d, because),
                         k != depth ? "the inner dimensions differ" : "the batches differ");
    uint32_t batch = a->rank == 3 ? (uint32_t)a->shape[0] : 1;
    const uint64_t shape[] = {batch, m, n}, columns[] = {n};
    SLRI_TRY(
        SLRI_TENSOR_SHAPED(name, "c", d->c, a->rank, a->rank == 3 ? shape : shape + 1, because_of_factors(d, because)));
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "pre", d->pre, a->rank, a->rank == 3 ? shape : shape + 1,
                                because_of_factors(d, because)));
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "bias", d->bias, 1, columns, because_of_factors(d, because)));
    call->product = (struct slri_product){.dtype = a->dtype,
                                          .m = m,
                                          .n = n,
                                          .k = k,
                                          .batch = batch,
                                          .a_count = batch,
                                          .b_count = b->rank == 3 ? batch : 1,
                                          .transpose_a = d->transpose_a != 0,
                                          .transpose_b = d->transpose_b != 0,
                                          .alpha = d->alpha,
                                          .beta = d->beta,
                                          .activation = (int)d->activation,
                                          .a = a->buffer,
                                          .b = b->buffer,
                                          .c = d->c->buffer,
                                          .bias = d->bias ? d->bias->buffer : NULL,
                                          .pre = d->pre ? d->pre->buffer : NULL};
    return SLR_OK;
}

// A buffer that is both read and written would change under the product.
static slr_status check_apart(const slr_matmul_desc *d, const char *name)
{
    const slr_tensor *read[] = {d->a, d->b, d->bias};
    for (int i = 0; i < 3; ++i)
        if (read[i] && (read[i]->buffer == d->c->buffer || (d->pre && read[i]->buffer == d->pre->buffer)))
            return SLRI_FAIL(INVALID, "%s: the buffer of c or pre is that of an operand, too", name);
    return SLR_OK;
}

static slr_status begin_matmul(struct call *call, const slr_matmul_desc *desc, const char *name)
{
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", name);
    SLRI_TRY(SLRI_TAKE_DESC(slr_matmul_desc, &call->desc, desc));
    if (call->desc.alpha == 0.0f)
        call->desc.alpha = 1.0f;
    SLRI_TRY(check_multiplied(call, name));
    SLRI_TRY(check_shapes(call, name));
    return check_apart(&call->desc, name);
}

slr_status slr_ops_matmul(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    struct call call = {.ops = ops, .stream = stream};
    SLRI_TRY(begin_matmul(&call, desc, "slr_ops_matmul"));
    return slri_product_run(ops, stream, &call.product, out);
}

slr_status slr_ops_matmul_bench(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc,
                                slr_algorithm_visitor *visit, void *user)
{
    struct call call = {.ops = ops, .stream = stream};
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_ops_matmul_bench: visit is NULL");
    SLRI_TRY(begin_matmul(&call, desc, "slr_ops_matmul_bench"));
    return slri_product_bench(ops, stream, &call.product, visit, user);
}

// ---- backward -------------------------------------------------------------------------------------------------------

// `d` is the gradient of what was before the activation.
static slr_status gradient_of_a(const struct call *call, slr_buffer *d, const slr_tensor *da)
{
    const struct slri_product *f = &call->product;
    struct slri_product p = {.dtype = f->dtype, .k = f->n, .batch = f->batch, .alpha = f->alpha, .c = da->buffer};
    p.a_count = f->batch, p.b_count = f->b_count;
    if (!f->transpose_a) { // d op(B)^T
        p.m = f->m, p.n = f->k;
        p.a = d, p.b = f->b, p.transpose_b = !f->transpose_b;
        return slri_product_run(call->ops, call->stream, &p, NULL);
    }
    p.m = f->k, p.n = f->m; // op(B) d^T
    p.a = f->b, p.transpose_a = f->transpose_b, p.a_count = f->b_count;
    p.b = d, p.transpose_b = true, p.b_count = f->batch;
    return slri_product_run(call->ops, call->stream, &p, NULL);
}

// Where one b serves a batch, its gradient is a sum over the batch: the product of all rows at once, which lie one
// after the other unless a is transposed.
static slr_status gradient_of_b(const struct call *call, slr_buffer *d, const slr_tensor *db)
{
    const struct slri_product *f = &call->product;
    uint32_t matrices = f->b_count, rows = f->m * (f->batch / matrices);
    struct slri_product p = {.dtype = f->dtype, .k = rows, .batch = matrices, .alpha = f->alpha, .c = db->buffer};
    p.a_count = p.b_count = matrices;
    if (!f->transpose_b) { // op(A)^T d
        p.m = f->k, p.n = f->n;
        p.a = f->a, p.transpose_a = !f->transpose_a, p.b = d;
    } else { // d^T op(A)
        p.m = f->n, p.n = f->k;
        p.a = d, p.transpose_a = true, p.b = f->a, p.transpose_b = f->transpose_a;
    }
    return slri_product_run(call->ops, call->stream, &p, NULL);
}

static slr_status matmul_gradients(const struct call *call, const slr_tensor *d, const slr_tensor *da,
                                   const slr_tensor *db, const slr_tensor *dbias)
{
    if (da)
        SLRI_TRY(gradient_of_a(call, d->buffer, da));
    if (db)
        SLRI_TRY(gradient_of_b(call, d->buffer, db));
    if (!dbias)
        return SLR_OK;
    slr_tensor all =
        slr_tensor_2d(d->dtype, d->buffer, (uint64_t)call->product.batch * call->product.m, call->product.n);
    return slr_ops_reduce(call->ops, call->stream, SLR_REDUCTION_SUM, 0, &all, dbias, NULL);
}

static slr_status check_matmul_backward(const struct call *call, const char *name, const slr_tensor *dc,
                                        const slr_tensor *da, const slr_tensor *db, const slr_tensor *dbias)
{
    const slr_matmul_desc *d = &call->desc;
    SLRI_TRY(SLRI_OPERANDS_CHECK(call->ops, call->stream, name, {"a", d->a, SLRI_REAL, false},
                                 {"dc", dc, SLRI_REAL, false}, {"da", da, SLRI_REAL, true}, {"db", db, SLRI_REAL, true},
                                 {"dbias", dbias, SLRI_REAL, true}));
    const uint64_t columns[] = {call->product.n};
    char because[SLRI_SHAPE_BYTES + 32];
    SLRI_TRY(slri_tensor_same(name, "dc", dc, "c", d->c));
    SLRI_TRY(slri_tensor_same(name, "da", da, "a", d->a));
    SLRI_TRY(slri_tensor_same(name, "db", db, "b", d->b));
    SLRI_TRY(SLRI_TENSOR_SHAPED(name, "dbias", dbias, 1, columns, slri_because_of("c", d->c, because)));
    if (d->beta != 0.0f)
        return SLRI_FAIL(INVALID, "%s: beta is %g; expected 0", name, (double)d->beta);
    if (d->activation && !d->pre)
        return SLRI_FAIL(INVALID, "%s: with an activation `pre` must be given, forward and backward", name);
    if (db && call->product.b_count != call->product.batch && call->product.transpose_a)
        return SLRI_FAIL(UNSUPPORTED, "%s: the gradient of one b for a batch of transposed a", name);
    return SLR_OK;
}

slr_status slr_ops_matmul_backward(slr_ops *ops, slr_stream *stream, const slr_matmul_desc *desc, const slr_tensor *dc,
                                   const slr_tensor *da, const slr_tensor *db, const slr_tensor *dbias, slr_point *out)
{
    SLRI_OBSERVE_SITE_OF_ALL();
    static const char name[] = "slr_ops_matmul_backward";
    struct call call = {.ops = ops, .stream = stream};
    SLRI_TRY(begin_matmul(&call, desc, name));
    SLRI_TRY(check_matmul_backward(&call, name, dc, da, db, dbias));
    slr_tensor d = *dc;
    slr_buffer *workspace = NULL;
    slr_status status = SLR_OK;
    if (call.desc.activation) {
        SLRI_TRY(slri_ops_workspace(ops, slri_scalar_bytes(dc->dtype) * slri_tensor_elements(dc), &workspace));
        d.buffer = workspace;
        status = slr_ops_activation_backward(ops, stream, call.desc.activation, call.desc.pre, dc, &d, NULL);
    }
    if (status == SLR_OK)
        status = matmul_gradients(&call, &d, da, db, dbias);
    slr_buffer_destroy(workspace);
    return status == SLR_OK && out ? slr_stream_signal(stream, out) : status;
}

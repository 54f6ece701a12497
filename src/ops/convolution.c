// SPDX-License-Identifier: Apache-2.0
// Convolutions: directly, or as a product of matrices over the places that each result reads.
#include "base/sized.h"
#include "device/stream.h"
#include "engine/observe.h"
#include "ops/dnnl.h"
#include "ops/pick.h"
#include "ops/product.h"
#include "ops/window.h"

#include <slipring/pool.h>

#include <stdio.h>
#include <string.h>

enum { ONEDNN, COLUMNS, DIRECT, ALGORITHMS };

struct call {
    slr_ops *ops;
    slr_stream *stream;
    slr_convolution_desc desc;
    struct slri_window window;
    slr_buffer *y, *pre; // where results go
};

// ---- shapes ---------------------------------------------------------------------------------------------------------

static slr_status check_operands(const struct call *call, const char *name)
{
    const slr_convolution_desc *d = &call->desc;
    char x[SLRI_SHAPE_BYTES], w[SLRI_SHAPE_BYTES];
    SLRI_TRY(SLRI_OPERANDS_CHECK(call->ops, call->stream, name, {"x", d->x, SLRI_REAL, false},
                                 {"weights", d->weights, SLRI_REAL, false}, {"y", d->y, SLRI_REAL, false},
                                 {"bias", d->bias, SLRI_REAL, true}, {"pre", d->pre, SLRI_REAL, true}));
    SLRI_TRY(slri_activation_check(name, d->activation));
    slri_shape_text(d->x->rank, d->x->shape, x);
    slri_shape_text(d->weights->rank, d->weights->shape, w);
    if ((d->x->rank != 3 && d->x->rank != 4) || d->weights->rank != d->x->rank)
        return SLRI_FAIL(INVALID, "%s: x is %s and weights are %s; expected both of rank 3 or of rank 4", name, x, w);
    uint64_t groups = d->groups ? d->groups : 1;
    if (d->x->shape[1] % groups || d->weights->shape[0] % groups || d->weights->shape[1] != d->x->shape[1] / groups)
        return SLRI_FAIL(INVALID,
                         "%s: x %s and weights %s do not fit: in %u groups, weights need %llu / %u channels, and "
                         "channels and filters must be multiples of the groups",
                         name, x, w, (uint32_t)groups, (unsigned long long)d->x->shape[1], (uint32_t)groups);
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

static slr_status place(struct call *call, const char *name)
{
    const slr_convolution_desc *d = &call->desc;
    char x[SLRI_SHAPE_BYTES], w[SLRI_SHAPE_BYTES], because[2 * SLRI_SHAPE_BYTES + 32];
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
    snprintf(because, sizeof because, "x %s and weights %s", slri_shape_text(d->x->rank, d->x->shape, x),
             slri_shape_text(d->weights->rank, d->weights->shape, w));
    SLRI_TRY(slri_tensor_shaped(name, "y", d->y, d->x->rank, shape, because));
    SLRI_TRY(slri_tensor_shaped(name, "pre", d->pre, d->x->rank, shape, because));
    return slri_tensor_shaped(name, "bias", d->bias, 1, filters, because);
}

static slr_status begin(struct call *call, const slr_convolution_desc *desc, const char *name)
{
    if (!desc)
        return SLRI_FAIL(INVALID, "%s: desc is NULL", name);
    SLRI_TRY(SLRI_TAKE_DESC(slr_convolution_desc, &call->desc, desc));
    SLRI_TRY(check_operands(call, name));
    call->y = call->desc.y->buffer;
    call->pre = call->desc.pre ? call->desc.pre->buffer : NULL;
    return place(call, name);
}

// ---- forward --------------------------------------------------------------------------------------------------------

static slr_status directly(const struct call *call, slr_point *out)
{
    const slr_convolution_desc *d = &call->desc;
    return SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_CONVOLUTION, call->desc.x->dtype,
                           slri_shape_each(slri_tensor_elements(d->y)), out, slri_arg_of(d->x), slri_arg_of(d->weights),
                           slri_arg_of(d->bias), slr_arg_buffer(call->y), slr_arg_buffer(call->pre),
                           slri_arg_window(&call->window), slr_arg_unsigned(d->activation));
}

static uint64_t column_elements(const struct slri_window *d)
{
    return (uint64_t)d->n * (uint64_t)d->c * (uint64_t)d->r * (uint64_t)d->s * (uint64_t)d->p * (uint64_t)d->q;
}

// y[n][group] = weights[group] columns[n][group]
static struct slri_product product_of(const struct call *call, slr_buffer *columns)
{
    const struct slri_window *d = &call->window;
    const slr_convolution_desc *desc = &call->desc;
    return (struct slri_product){.dtype = desc->x->dtype,
                                 .m = (uint32_t)(d->k / d->groups),
                                 .n = (uint32_t)(d->p * d->q),
                                 .k = (uint32_t)(d->c / d->groups * d->r * d->s),
                                 .batch = (uint32_t)(d->n * d->groups),
                                 .a_count = (uint32_t)d->groups,
                                 .b_count = (uint32_t)(d->n * d->groups),
                                 .bias_by_row = true,
                                 .alpha = 1.0f,
                                 .activation = (int)desc->activation,
                                 .a = desc->weights->buffer,
                                 .b = columns,
                                 .c = call->y,
                                 .bias = desc->bias ? desc->bias->buffer : NULL,
                                 .pre = call->pre};
}

static slr_status by_columns(const struct call *call, slr_point *out)
{
    slr_buffer *columns;
    uint64_t elements = column_elements(&call->window);
    SLRI_TRY(slri_ops_workspace(call->ops, slri_scalar_bytes(call->desc.x->dtype) * elements, &columns));
    const struct slri_window *d = &call->window;
    uint32_t threads = d->q <= 16 ? 16 : d->q <= 32 ? 32 : 64;
    slr_shape shape =
        SLR_GRID_2D((uint32_t)(d->n * d->c * d->r * d->s), ((uint32_t)d->q + threads - 1) / threads, threads, 1);
    slr_status status = SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_CONVOLUTION_COLUMNS, call->desc.x->dtype, shape,
                                        NULL, slri_arg_of(call->desc.x), slr_arg_buffer(columns), slri_arg_window(d));
    struct slri_product product = product_of(call, columns);
    if (status == SLR_OK)
        status = slri_product_run(call->ops, call->stream, &product, out);
    slr_buffer_destroy(columns);
    return status;
}

// NULL, and why, where oneDNN cannot do this.
static const slri_dnnl_plan *dnnl_plan(const struct call *call, const char **why_not)
{
    const slr_device *device = call->ops->device;
    *why_not = NULL;
    if (call->desc.x->dtype != SLR_F32)
        *why_not = "it is used for floats alone";
    else if (strcmp(device->backend->name, "cpu") != 0)
        *why_not = "its memory is the host's, and this device is no cpu";
    else if (!slri_dnnl_is_there())
        *why_not = slri_dnnl_describe()->why_not;
    int threads = device->facts.limits.units ? (int)device->facts.limits.units : 1;
    return *why_not ? NULL : slri_dnnl_plan_of(&call->window, call->desc.bias != NULL, threads, why_not);
}

// The activation follows as a kernel.
static slr_status by_dnnl(const struct call *call, slr_point *out)
{
    const slr_convolution_desc *d = &call->desc;
    const char *why_not;
    bool finishes = call->pre || d->activation;
    struct slri_dnnl_call library = {dnnl_plan(call, &why_not), d->x->buffer, d->weights->buffer,
                                     d->bias ? d->bias->buffer : NULL, call->pre ? call->pre : call->y};
    uint64_t n = slri_tensor_elements(d->y);
    SLRI_TRY(slri_dnnl_submit(call->ops, call->stream, &library, finishes ? NULL : out));
    return finishes ? SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_ACTIVATION, SLR_F32, slri_shape_each(n), out,
                                      slr_arg_buffer(library.y), slr_arg_buffer(call->y), slri_arg_n(n),
                                      slr_arg_unsigned(d->activation))
                    : SLR_OK;
}

static slr_status run_by(const struct call *call, uint32_t algorithm, slr_point *out)
{
    return algorithm == ONEDNN    ? by_dnnl(call, out)
           : algorithm == COLUMNS ? by_columns(call, out)
                                  : directly(call, out);
}

static slr_status rehearse(void *user, uint32_t algorithm, slr_stream *stream)
{
    const struct call *call = user;
    (void)stream; // the call's
    return run_by(call, algorithm, NULL);
}

static void fill_pick(const struct call *call, struct slri_pick *out)
{
    const struct slri_window *d = &call->window;
    uint64_t columns = column_elements(d), results = slri_tensor_elements(call->desc.y);
    uint64_t depth = (uint64_t)(d->c / d->groups) * (uint64_t)d->r * (uint64_t)d->s;
    *out = (struct slri_pick){.sizes = {(uint64_t)d->n, (uint64_t)d->h, (uint64_t)d->w},
                              .flops = 2.0 * (double)results * (double)depth,
                              .count = ALGORITHMS,
                              .run = rehearse};
    snprintf(out->key, sizeof out->key, "ops.convolution %s %d>%d/%d %dx%d s%d,%d p%d,%d d%d,%d",
             slri_real_name(call->desc.x->dtype), d->c, d->k, d->groups, d->r, d->s, d->stride_h, d->stride_w, d->pad_h,
             d->pad_w, d->dilation_h, d->dilation_w);
    const char *why_not;
    const slri_dnnl_plan *plan = dnnl_plan(call, &why_not);
    out->contender[ONEDNN] = (struct slri_contender){
        "onednn.convolution", "onednn", plan ? slri_dnnl_workspace(plan) : 0, false, why_not, 0};
    out->contender[COLUMNS] =
        (struct slri_contender){"own.columns",
                                "own",
                                4 * columns,
                                call->ops->desc.deterministic != 0,
                                columns > 0x7FFFFFFF ? "its columns are 2^31 elements or more" : NULL,
                                0};
    out->contender[DIRECT] = (struct slri_contender){"own.direct", "own", 0, true, NULL, 0};
    // With few channels a group's product is too thin to pay for its columns.
    if (plan && !call->ops->desc.deterministic)
        out->heuristic = ONEDNN;
    else
        out->heuristic = d->c / d->groups >= 4 && d->k / d->groups >= 4 ? COLUMNS : DIRECT;
}

static slr_status begin_rehearsal(const struct call *call, struct call *out)
{
    slr_pool *pool;
    uint64_t elements = slri_tensor_elements(call->desc.y);
    *out = *call;
    out->y = out->pre = NULL;
    SLRI_TRY(slr_device_get_pool(call->ops->device, &pool));
    slr_status status = slr_pool_acquire(pool, elements, SLR_F32, &out->y);
    if (status == SLR_OK && call->pre)
        status = slr_pool_acquire(pool, elements, SLR_F32, &out->pre);
    return status;
}

static void end_rehearsal(struct call *rehearsal)
{
    slr_buffer_destroy(rehearsal->y);
    slr_buffer_destroy(rehearsal->pre);
}

slr_status slr_ops_convolution(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc, slr_point *out)
{
    SLRI_OBSERVE_SITE(false);
    struct call call = {.ops = ops, .stream = stream}, rehearsal;
    struct slri_pick pick;
    uint32_t algorithm;
    SLRI_TRY(begin(&call, desc, "slr_ops_convolution"));
    fill_pick(&call, &pick);
    if (ops->desc.choice != SLR_CHOICE_BENCHMARK) {
        SLRI_TRY(slri_pick_choose(ops, stream, &pick, &algorithm));
        return run_by(&call, algorithm, out);
    }
    slr_status status = begin_rehearsal(&call, &rehearsal);
    pick.user = &rehearsal;
    if (status == SLR_OK)
        status = slri_pick_choose(ops, stream, &pick, &algorithm);
    end_rehearsal(&rehearsal);
    return status == SLR_OK ? run_by(&call, algorithm, out) : status;
}

slr_status slr_ops_convolution_bench(slr_ops *ops, slr_stream *stream, const slr_convolution_desc *desc,
                                     slr_algorithm_visitor *visit, void *user)
{
    struct call call = {.ops = ops, .stream = stream}, rehearsal;
    struct slri_pick pick;
    if (!visit)
        return SLRI_FAIL(INVALID, "slr_ops_convolution_bench: visit is NULL");
    SLRI_TRY(begin(&call, desc, "slr_ops_convolution_bench"));
    fill_pick(&call, &pick);
    slr_status status = begin_rehearsal(&call, &rehearsal);
    pick.user = &rehearsal;
    if (status == SLR_OK)
        status = slri_pick_bench(ops, stream, &pick, visit, user);
    end_rehearsal(&rehearsal);
    return status;
}

// ---- backward -------------------------------------------------------------------------------------------------------

static slr_status check_backward(const struct call *call, const char *name, const slr_tensor *dy, const slr_tensor *dx,
                                 const slr_tensor *dweights, const slr_tensor *dbias)
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

static slr_status gradients(const struct call *call, slr_buffer *d, const slr_tensor *dx, const slr_tensor *dweights,
                            const slr_tensor *dbias)
{
    const slr_convolution_desc *desc = &call->desc;
    if (dx)
        SLRI_TRY(SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_CONVOLUTION_INPUT, call->desc.x->dtype,
                                 slri_shape_each(slri_tensor_elements(dx)), NULL, slri_arg_of(desc->weights),
                                 slr_arg_buffer(d), slri_arg_of(dx), slri_arg_window(&call->window)));
    if (dweights)
        SLRI_TRY(SLRI_OPS_LAUNCH(call->ops, call->stream, SLRI_K_CONVOLUTION_WEIGHTS, call->desc.x->dtype,
                                 slri_shape_each(slri_tensor_elements(dweights)), NULL, slri_arg_of(desc->x),
                                 slr_arg_buffer(d), slri_arg_of(dweights), slri_arg_window(&call->window)));
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
    SLRI_OBSERVE_SITE(false);
    static const char name[] = "slr_ops_convolution_backward";
    struct call call = {.ops = ops, .stream = stream};
    SLRI_TRY(begin(&call, desc, name));
    SLRI_TRY(check_backward(&call, name, dy, dx, dweights, dbias));
    slr_tensor d = *dy;
    slr_buffer *workspace = NULL;
    slr_status status = SLR_OK;
    if (call.desc.activation) {
        SLRI_TRY(slri_ops_workspace(ops, slri_scalar_bytes(dy->dtype) * slri_tensor_elements(dy), &workspace));
        d.buffer = workspace;
        status = slr_ops_activation_backward(ops, stream, call.desc.activation, call.desc.pre, dy, &d, NULL);
    }
    if (status == SLR_OK)
        status = gradients(&call, d.buffer, dx, dweights, dbias);
    slr_buffer_destroy(workspace);
    return status == SLR_OK && out ? slr_stream_signal(stream, out) : status;
}

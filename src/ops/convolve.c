// SPDX-License-Identifier: Apache-2.0
// Convolutions: by a library, directly, or as a product of matrices over the places that each result reads.
#include "device/stream.h"
#include "ops/convolution.h"
#include "ops/cudnn.h"
#include "ops/dnnl.h"
#include "ops/pick.h"
#include "ops/product.h"

#include <slipring/pool.h>

#include <stdio.h>
#include <string.h>

enum { X = SLRI_WINDOW_X, W = SLRI_WINDOW_W, Y = SLRI_WINDOW_Y };
enum { ONEDNN, CUDNN, COLUMNS, DIRECT, ALGORITHMS };

// ---- own ------------------------------------------------------------------------------------------------------------

static slr_status directly(const struct slri_convolution *c, slr_point *out)
{
    slr_buffer *x = c->tensor[X], *w = c->tensor[W], *y = c->tensor[Y];
    slr_shape shape = slri_shape_each(slri_window_elements(&c->window, slri_window_writes(c->pass)));
    slr_arg window = slri_arg_window(&c->window);
    if (c->pass == SLRI_TO_INPUT)
        return SLRI_OPS_LAUNCH(c->ops, c->stream, SLRI_K_CONVOLUTION_INPUT, c->dtype, shape, out, slr_arg_buffer(w),
                               slr_arg_buffer(y), slr_arg_buffer(x), window);
    if (c->pass == SLRI_TO_WEIGHTS)
        return SLRI_OPS_LAUNCH(c->ops, c->stream, SLRI_K_CONVOLUTION_WEIGHTS, c->dtype, shape, out, slr_arg_buffer(x),
                               slr_arg_buffer(y), slr_arg_buffer(w), window);
    return SLRI_OPS_LAUNCH(c->ops, c->stream, SLRI_K_CONVOLUTION, c->dtype, shape, out, slr_arg_buffer(x),
                           slr_arg_buffer(w), slr_arg_buffer(c->bias), slr_arg_buffer(y), slr_arg_buffer(c->pre),
                           window, slr_arg_unsigned((uint32_t)c->activation));
}

static uint64_t column_elements(const struct slri_window *d)
{
    return (uint64_t)d->n * (uint64_t)d->c * (uint64_t)d->r * (uint64_t)d->s * (uint64_t)d->p * (uint64_t)d->q;
}

// y[n][group] = weights[group] columns[n][group]
static struct slri_product product_of(const struct slri_convolution *c, slr_buffer *columns)
{
    const struct slri_window *d = &c->window;
    return (struct slri_product){.dtype = c->dtype,
                                 .m = (uint32_t)(d->k / d->groups),
                                 .n = (uint32_t)(d->p * d->q),
                                 .k = (uint32_t)(d->c / d->groups * d->r * d->s),
                                 .batch = (uint32_t)(d->n * d->groups),
                                 .a_count = (uint32_t)d->groups,
                                 .b_count = (uint32_t)(d->n * d->groups),
                                 .bias_by_row = true,
                                 .alpha = 1.0f,
                                 .activation = c->activation,
                                 .a = c->tensor[W],
                                 .b = columns,
                                 .c = c->tensor[Y],
                                 .bias = c->bias,
                                 .pre = c->pre};
}

static slr_status by_columns(const struct slri_convolution *c, slr_point *out)
{
    slr_buffer *columns;
    uint64_t elements = column_elements(&c->window);
    SLRI_TRY(slri_ops_workspace(c->ops, slri_scalar_bytes(c->dtype) * elements, &columns));
    const struct slri_window *d = &c->window;
    uint32_t threads = d->q <= 16 ? 16 : d->q <= 32 ? 32 : 64;
    slr_shape shape =
        SLR_GRID_2D((uint32_t)(d->n * d->c * d->r * d->s), ((uint32_t)d->q + threads - 1) / threads, threads, 1);
    slr_status status = SLRI_OPS_LAUNCH(c->ops, c->stream, SLRI_K_CONVOLUTION_COLUMNS, c->dtype, shape, NULL,
                                        slr_arg_buffer(c->tensor[X]), slr_arg_buffer(columns), slri_arg_window(d));
    struct slri_product product = product_of(c, columns);
    if (status == SLR_OK)
        status = slri_product_run(c->ops, c->stream, &product, out);
    slr_buffer_destroy(columns);
    return status;
}

// ---- libraries ------------------------------------------------------------------------------------------------------

// NULL, and why, where oneDNN cannot do this.
static const slri_dnnl_plan *dnnl_plan(const struct slri_convolution *c, const char **why_not)
{
    const slr_device *device = c->ops->device;
    *why_not = NULL;
    if (c->dtype != SLR_F32)
        *why_not = "it is used for floats alone";
    else if (strcmp(device->backend->name, "cpu") != 0)
        *why_not = "its memory is the host's, and this device is no cpu";
    else if (!slri_dnnl_is_there())
        *why_not = slri_dnnl_describe()->why_not;
    const struct slri_dnnl_shape shape = {c->window, c->pass, c->bias != NULL,
                                          device->facts.limits.units ? (int)device->facts.limits.units : 1};
    return *why_not ? NULL : slri_dnnl_plan_of(&shape, why_not);
}

// The activation follows as a kernel: what comes before it goes where it is wanted, or where the results go.
static slr_status by_library(const struct slri_convolution *c, uint32_t algorithm, slr_point *out)
{
    bool finishes = c->pre || c->activation;
    const char *why_not;
    slr_status status;
    struct slri_convolution linear = *c;
    if (c->pre)
        linear.tensor[Y] = c->pre;
    if (algorithm == ONEDNN) {
        const slri_dnnl_plan *plan = dnnl_plan(c, &why_not);
        status = plan ? slri_dnnl_submit(&linear, plan, finishes ? NULL : out)
                      : SLRI_FAIL(UNSUPPORTED, "onednn.convolution: %s", why_not);
    } else {
        const struct slri_cudnn_plan *plan = slri_cudnn_plan_of(c, &why_not);
        status = plan ? slri_cudnn_submit(&linear, plan, finishes ? NULL : out)
                      : SLRI_FAIL(UNSUPPORTED, "cudnn.convolution: %s", why_not);
    }
    if (status != SLR_OK || !finishes)
        return status;
    uint64_t n = slri_window_elements(&c->window, Y);
    return SLRI_OPS_LAUNCH(c->ops, c->stream, SLRI_K_ACTIVATION, c->dtype, slri_shape_each(n), out,
                           slr_arg_buffer(linear.tensor[Y]), slr_arg_buffer(c->tensor[Y]), slri_arg_n(n),
                           slr_arg_unsigned((uint32_t)c->activation));
}

// ---- which one ------------------------------------------------------------------------------------------------------

static slr_status convolve_by(const struct slri_convolution *c, uint32_t algorithm, slr_point *out)
{
    return algorithm == COLUMNS  ? by_columns(c, out)
           : algorithm == DIRECT ? directly(c, out)
                                 : by_library(c, algorithm, out);
}

static slr_status rehearse_convolution(void *user, uint32_t algorithm, slr_stream *stream)
{
    const struct slri_convolution *c = user;
    (void)stream; // its own
    return convolve_by(c, algorithm, NULL);
}

static void fill_own(const struct slri_convolution *c, struct slri_pick *out)
{
    uint64_t columns = column_elements(&c->window);
    const char *why_not = c->pass != SLRI_FORWARD ? "it computes results alone"
                          : columns > 0x7FFFFFFF  ? "its columns are 2^31 elements or more"
                                                  : NULL;
    // Its product may be a library's, unless that is ruled out.
    out->contender[COLUMNS] =
        (struct slri_contender){"own.columns", "own", 4 * columns, c->ops->desc.deterministic != 0, why_not, 0};
    out->contender[DIRECT] = (struct slri_contender){"own.direct", "own", 0, true, NULL, 0};
}

static void write_convolution_key(const void *problem, char *key)
{
    static const char *const passes[] = {"", " to input", " to weights"};
    const struct slri_convolution *c = problem;
    const struct slri_window *d = &c->window;
    snprintf(key, SLRI_PICK_KEY_BYTES, "ops.convolution%s %s %d>%d/%d %dx%d s%d,%d p%d,%d d%d,%d", passes[c->pass],
             slri_real_name(c->dtype), d->c, d->k, d->groups, d->r, d->s, d->stride_h, d->stride_w, d->pad_h, d->pad_w,
             d->dilation_h, d->dilation_w);
}

static void fill_convolution_pick(const struct slri_convolution *c, struct slri_pick *out)
{
    const struct slri_window *d = &c->window;
    const char *why_not;
    uint64_t depth = (uint64_t)(d->c / d->groups) * (uint64_t)d->r * (uint64_t)d->s;
    *out = (struct slri_pick){.sizes = {(uint64_t)d->n, (uint64_t)d->h, (uint64_t)d->w},
                              .flops = 2.0 * (double)slri_window_elements(d, Y) * (double)depth,
                              .count = ALGORITHMS,
                              .run = rehearse_convolution};
    out->write_key = write_convolution_key, out->problem = c;
    const slri_dnnl_plan *dnnl = dnnl_plan(c, &why_not);
    out->contender[ONEDNN] = (struct slri_contender){
        "onednn.convolution", "onednn", dnnl ? slri_dnnl_workspace(dnnl) : 0, false, why_not, 0};
    const struct slri_cudnn_plan *cudnn = slri_cudnn_plan_of(c, &why_not);
    out->contender[CUDNN] = (struct slri_contender){"cudnn.convolution",
                                                    "cudnn",
                                                    cudnn ? slri_cudnn_workspace(cudnn) : 0,
                                                    cudnn && slri_cudnn_is_deterministic(cudnn),
                                                    why_not,
                                                    0};
    fill_own(c, out);
    slri_pick_restrict(c->ops, out);
    // With few channels a group's product is too thin to pay for its columns.
    bool is_thin = d->c / d->groups < 4 || d->k / d->groups < 4;
    out->heuristic = !out->contender[ONEDNN].why_not              ? ONEDNN
                     : !out->contender[CUDNN].why_not             ? CUDNN
                     : is_thin || out->contender[COLUMNS].why_not ? DIRECT
                                                                  : COLUMNS;
}

// A call into memory that nobody reads.
static slr_status begin_convolution_rehearsal(const struct slri_convolution *c, struct slri_convolution *out)
{
    slr_pool *pool;
    int written = slri_window_writes(c->pass);
    uint64_t elements = slri_window_elements(&c->window, written);
    *out = *c;
    out->tensor[written] = out->pre = NULL;
    SLRI_TRY(slr_device_get_pool(c->ops->device, &pool));
    slr_status status = slr_pool_acquire(pool, elements, SLR_F32, &out->tensor[written]);
    if (status == SLR_OK && c->pre)
        status = slr_pool_acquire(pool, elements, SLR_F32, &out->pre);
    return status;
}

static void end_convolution_rehearsal(struct slri_convolution *rehearsal)
{
    slr_buffer_destroy(rehearsal->tensor[slri_window_writes(rehearsal->pass)]);
    slr_buffer_destroy(rehearsal->pre);
}

slr_status slri_convolution_run(const struct slri_convolution *c, slr_point *out)
{
    struct slri_convolution rehearsal;
    struct slri_pick pick;
    uint32_t algorithm;
    fill_convolution_pick(c, &pick);
    if (c->ops->desc.choice != SLR_CHOICE_BENCHMARK) {
        SLRI_TRY(slri_pick_choose(c->ops, c->stream, &pick, &algorithm));
        return convolve_by(c, algorithm, out);
    }
    slr_status status = begin_convolution_rehearsal(c, &rehearsal);
    pick.user = &rehearsal;
    if (status == SLR_OK)
        status = slri_pick_choose(c->ops, c->stream, &pick, &algorithm);
    end_convolution_rehearsal(&rehearsal);
    return status == SLR_OK ? convolve_by(c, algorithm, out) : status;
}

slr_status slri_convolution_bench(const struct slri_convolution *c, slr_algorithm_visitor *visit, void *user)
{
    struct slri_convolution rehearsal;
    struct slri_pick pick;
    fill_convolution_pick(c, &pick);
    slr_status status = begin_convolution_rehearsal(c, &rehearsal);
    pick.user = &rehearsal;
    if (status == SLR_OK)
        status = slri_pick_bench(c->ops, c->stream, &pick, visit, user);
    end_convolution_rehearsal(&rehearsal);
    return status;
}

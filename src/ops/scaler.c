// SPDX-License-Identifier: Apache-2.0
// Loss scaling: P. Micikevicius et al., "Mixed precision training", 2018, section 3.2.
#include "base/alloc.h"
#include "base/sized.h"
#include "ops/operations.h"

#include <math.h>

#define WAIT_NS 600000000000ull

struct slr_scaler {
    slr_ops *ops;
    slr_scaler_desc desc; // with the defaults filled in
    slr_scaler_info info;
    slr_buffer *found; // two words: 1 once a gradient of this step is not finite; zeros among those of SLR_F16
    uint64_t halves;   // of this step
    bool has_gradients;
};

static slr_status check(const slr_scaler_desc *d)
{
    if (!(d->initial > 0.0f && isfinite(d->initial) && d->growth >= 1.0f && isfinite(d->growth) && d->backoff > 0.0f &&
          d->backoff <= 1.0f))
        return SLRI_FAIL(INVALID,
                         "slr_scaler_create: initial, growth and backoff are %g, %g and %g; expected a scale above 0, "
                         "growth from 1, and backoff above 0 and up to 1",
                         (double)d->initial, (double)d->growth, (double)d->backoff);
    return SLR_OK;
}

static float or_default(float value, float usual)
{
    return value != 0.0f ? value : usual;
}

slr_status slr_scaler_create(slr_ops *ops, const slr_scaler_desc *desc, slr_scaler **out)
{
    slr_scaler_desc d;
    if (!ops || !out)
        return SLRI_FAIL(INVALID, "slr_scaler_create: %s is NULL", ops ? "out" : "ops");
    SLRI_TRY(SLRI_TAKE_DESC(slr_scaler_desc, &d, desc));
    d.growth_interval = d.growth_interval ? d.growth_interval : 2000;
    d.initial = or_default(d.initial, 65536.0f);
    d.growth = or_default(d.growth, 2.0f);
    d.backoff = or_default(d.backoff, 0.5f);
    SLRI_TRY(check(&d));
    const slr_allocator *allocator = ops->device->allocator;
    slr_scaler *scaler = slri_alloc(allocator, sizeof *scaler);
    if (!scaler)
        return SLRI_FAIL(NO_MEMORY, "no memory for a scaler");
    *scaler = (slr_scaler){.ops = ops, .desc = d, .info = {.scale = d.initial, .advice = ""}};
    slr_status status = slr_buffer_create(ops->device, 2 * sizeof(uint32_t), &scaler->found);
    if (status != SLR_OK)
        slri_free(allocator, scaler, sizeof *scaler);
    else
        *out = scaler;
    return status;
}

void slr_scaler_destroy(slr_scaler *scaler)
{
    if (!scaler)
        return;
    slr_buffer_destroy(scaler->found);
    slri_free(scaler->ops->device->allocator, scaler, sizeof *scaler);
}

slr_status slr_scaler_unscale(slr_scaler *scaler, slr_stream *stream, const slr_tensor *gradient, const slr_tensor *to,
                              slr_point *out)
{
    static const char name[] = "slr_scaler_unscale";
    if (!scaler)
        return SLRI_FAIL(INVALID, "%s: scaler is NULL", name);
    SLRI_TRY(SLRI_OPERANDS_CHECK(scaler->ops, stream, name, {"gradient", gradient, SLRI_REAL, false},
                                 {"to", to, SLR_F32, false}));
    SLRI_TRY(slri_tensor_same(name, "to", to, "gradient", gradient));
    if (gradient->buffer == to->buffer && gradient->dtype != SLR_F32)
        return SLRI_FAIL(INVALID, "%s: gradient and to have one buffer, but elements of another length", name);
    uint64_t n = slri_tensor_elements(gradient);
    SLRI_TRY(SLRI_OPS_LAUNCH(scaler->ops, stream, SLRI_K_UNSCALE, gradient->dtype, slri_shape_each(n), out,
                             slri_arg_of(gradient), slri_arg_of(to), slr_arg_buffer(scaler->found), slr_arg_unsigned(n),
                             slr_arg_float((double)(1.0f / scaler->info.scale)),
                             slr_arg_unsigned(gradient->dtype == SLR_F16)));
    scaler->halves += gradient->dtype == SLR_F16 ? n : 0;
    scaler->has_gradients = true;
    return SLR_OK;
}

static void grow(slr_scaler *scaler)
{
    float grown = scaler->info.scale * scaler->desc.growth;
    scaler->info.steps++;
    if (++scaler->info.good_steps < scaler->desc.growth_interval)
        return;
    scaler->info.good_steps = 0;
    if (isfinite(grown))
        scaler->info.scale = grown;
}

static void back_off(slr_scaler *scaler)
{
    float less = scaler->info.scale * scaler->desc.backoff;
    scaler->info.skipped++;
    scaler->info.good_steps = 0;
    if (less > 0.0f && isfinite(1.0f / less))
        scaler->info.scale = less;
}

// Gradients that SLR_F16 cannot hold are 0. Those of a weight that has no part in the loss are 0 as well, but seldom
// half of all.
static void diagnose(slr_scaler *scaler, uint32_t zeros)
{
    scaler->info.halves = scaler->halves;
    scaler->info.zeros = zeros;
    scaler->halves = 0;
    bool lost = zeros > 0 && 2 * (uint64_t)zeros >= scaler->info.halves;
    bool grows = scaler->desc.growth > 1.0f && scaler->info.scale > 1.0f;
    scaler->info.advice =
        !lost ? ""
        : grows
            ? "half or more of the gradients in SLR_F16 are 0: a larger slr_scaler_desc.initial, or SLR_BF16, keeps "
              "those below 2^-25"
            : "half or more of the gradients in SLR_F16 are 0, and the loss is not scaled: the defaults of "
              "slr_scaler_desc scale it, and SLR_BF16 needs no scaling";
}

slr_status slr_scaler_step(slr_scaler *scaler, slr_stream *stream, slr_scaler_function *step, void *user,
                           uint32_t *skipped)
{
    uint32_t found[2] = {0};
    static const uint32_t none[2] = {0};
    if (!scaler || !stream || !step)
        return SLRI_FAIL(INVALID, "slr_scaler_step: %s is NULL", !scaler ? "scaler" : stream ? "step" : "stream");
    if (!scaler->has_gradients)
        return SLRI_FAIL(WRONG_STATE, "slr_scaler_step: slr_scaler_unscale was not called since the last step");
    SLRI_TRY(slr_stream_finish(stream, WAIT_NS));
    SLRI_TRY(slr_buffer_read(scaler->found, 0, found, sizeof found));
    SLRI_TRY(slr_buffer_write(scaler->found, 0, none, sizeof none));
    scaler->has_gradients = false;
    diagnose(scaler, found[1]);
    if (skipped)
        *skipped = found[0] != 0;
    if (found[0])
        back_off(scaler);
    else
        grow(scaler);
    return found[0] ? SLR_OK : step(user, stream);
}

slr_status slr_scaler_get_info_sized(const slr_scaler *scaler, slr_scaler_info *out, size_t bytes)
{
    if (!scaler || !out)
        return SLRI_FAIL(INVALID, "slr_scaler_get_info: %s is NULL", scaler ? "out" : "scaler");
    return SLRI_GIVE_REPORT(slr_scaler_info, out, bytes, &scaler->info);
}

slr_status(slr_scaler_get_info)(const slr_scaler *scaler, slr_scaler_info *out)
{
    return slr_scaler_get_info_sized(scaler, out, SLRI_FIRST_slr_scaler_info);
}

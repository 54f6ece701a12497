// SPDX-License-Identifier: Apache-2.0
// Rules of operations of networks (slipring/ops.h), by the names of their kernels and by what they measured.
#include "diagnose/rules.h"

#include <string.h>

enum { STEPS = 10 };
#define HALVES "ops/f16/"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

// Those whose results are gradients in half precision. A product's is not told from the way forward.
static bool is_half_gradient(const slr_profile_row *row)
{
    static const char *const names[] = {"convolution_input", "convolution_weights", "convolution_bias",
                                        "layer_norm_weights"};
    if (row->kind != SLR_PROFILE_KERNEL || strncmp(row->file, HALVES, sizeof HALVES - 1) != 0)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(row->name, names[i]) == 0)
            return true;
    return ends_with(row->name, "_backward");
}

static bool is_unscaling(const slr_profile_row *row)
{
    return row->kind == SLR_PROFILE_KERNEL && strcmp(row->name, "unscale") == 0 && strncmp(row->file, "ops/", 4) == 0;
}

// Gradients below 6e-8 are 0 in half precision. Bfloat16 has a float's range.
void slri_rule_unscaled(struct slri_diagnosing *d)
{
    uint64_t gradients = 0;
    const slr_profile_row *most = NULL;
    for (uint32_t i = 0; i < d->rows; ++i) {
        if (is_unscaling(&d->row[i]))
            return;
        if (!is_half_gradient(&d->row[i]))
            continue;
        gradients += d->row[i].n;
        most = most ? most : &d->row[i];
    }
    if (gradients < STEPS)
        return;
    const struct slri_verdict verdict = {
        .bottleneck = SLR_BOTTLENECK_UNSCALED,
        .figure = (double)gradients,
        .limit = STEPS,
        .measure = "gradients in half precision, without a scaler",
        .change = "slr_scaler_unscale(scaler, stream, &gradient, &gradient32, NULL); // then slr_scaler_step"};
    slri_diagnosis_give(
        d, &verdict,
        "%llu operations ('%s' first of all) computed gradients in half precision, and no slr_scaler unscaled any. "
        "There gradients below 6e-8 become 0. Multiply the loss by slr_scaler_info.scale, or compute in SLR_BF16.",
        (unsigned long long)gradients, most->name);
}

#define SLOWER 1.2

static const slr_profile_row *chosen_of(const struct slri_diagnosing *d, const slr_profile_row *kept_out)
{
    for (uint32_t i = 0; i < d->rows; ++i)
        if (d->row[i].kind == SLR_PROFILE_ALGORITHM && strcmp(d->row[i].name, kept_out->name) == 0 &&
            strcmp(d->row[i].device, kept_out->device) == 0)
            return &d->row[i];
    return NULL;
}

// Whether there is a reason the program alone knows: the price is what can be said.
void slri_rule_deterministic(struct slri_diagnosing *d)
{
    double worst = SLOWER;
    const slr_profile_row *fast = NULL, *slow = NULL;
    for (uint32_t i = 0; i < d->rows; ++i) {
        const slr_profile_row *row = &d->row[i];
        const slr_profile_row *chosen = row->kind == SLR_PROFILE_KEPT_OUT ? chosen_of(d, row) : NULL;
        if (!chosen || (double)chosen->min_ns <= worst * (double)row->min_ns)
            continue;
        worst = slri_ratio((double)chosen->min_ns, (double)row->min_ns);
        fast = row;
        slow = chosen;
    }
    if (!fast)
        return;
    const struct slri_verdict verdict = {.bottleneck = SLR_BOTTLENECK_DETERMINISTIC,
                                         .figure = worst,
                                         .limit = SLOWER,
                                         .measure = "time of the algorithm used / of the one kept out",
                                         .change = "desc.deterministic = 0; // slr_ops_desc"};
    slri_diagnosis_give(
        d, &verdict,
        "Deterministic mode is on, and makes '%s' use %s (%.1f us) instead of %s (%.1f us). Without a need for the "
        "same bits in every run, leave slr_ops_desc.deterministic at 0.",
        fast->name, slow->file, (double)slow->min_ns / 1e3, fast->file, (double)fast->min_ns / 1e3);
}

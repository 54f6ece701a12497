// SPDX-License-Identifier: Apache-2.0
// The buffers of a launch: put back before each, and compared with what the default left in them.
#include "tuner/tuner.h"

#include "base/alloc.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static slr_status save_one(struct slri_tuner *tuner, struct slri_tuner_output *output)
{
    SLRI_TRY(slr_buffer_create(tuner->kernel->program->device, output->bytes, &output->saved));
    output->expected = slri_alloc(NULL, output->bytes);
    output->found = slri_alloc(NULL, output->bytes);
    if (!output->expected || !output->found)
        return SLRI_FAIL(NO_MEMORY, "no memory to compare the results of kernel %s", tuner->kernel->info.name);
    return slr_stream_copy(tuner->stream, output->saved, 0, output->buffer, 0, output->bytes, NULL);
}

slr_status slri_tuner_save(struct slri_tuner *tuner)
{
    const slr_kernel_info *info = &tuner->kernel->info;
    tuner->output = slri_alloc(NULL, (info->parameter_count + 1) * sizeof *tuner->output);
    if (!tuner->output)
        return SLRI_FAIL(NO_MEMORY, "no memory to tune kernel %s", info->name);
    memset(tuner->output, 0, (info->parameter_count + 1) * sizeof *tuner->output);
    tuner->outputs = info->parameter_count;
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        const slr_arg *arg = &tuner->problem->args[i];
        struct slri_tuner_output *output = &tuner->output[i];
        if (arg->kind != SLR_ARG_BUFFER || !arg->value.buffer || info->parameters[i].is_const)
            continue;
        *output = (struct slri_tuner_output){.buffer = arg->value.buffer,
                                             .parameter = &info->parameters[i],
                                             .bytes = slr_buffer_size(arg->value.buffer)};
        SLRI_TRY(save_one(tuner, output));
    }
    return slr_stream_finish(tuner->stream, UINT64_MAX);
}

static slr_status put_back(struct slri_tuner *tuner, bool only_read)
{
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        const struct slri_tuner_output *output = &tuner->output[i];
        if (output->saved && (output->is_read || !only_read))
            SLRI_TRY(slr_stream_copy(tuner->stream, output->buffer, 0, output->saved, 0, output->bytes, NULL));
    }
    return slr_stream_finish(tuner->stream, UINT64_MAX);
}

slr_status slri_tuner_restore(struct slri_tuner *tuner)
{
    return put_back(tuner, false);
}

slr_status slri_tuner_renew(struct slri_tuner *tuner)
{
    return put_back(tuner, true);
}

static slr_status read_outputs(struct slri_tuner *tuner, bool expected)
{
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        const struct slri_tuner_output *output = &tuner->output[i];
        if (output->saved)
            SLRI_TRY(slr_stream_read(tuner->stream, output->buffer, 0, expected ? output->expected : output->found,
                                     output->bytes, NULL));
    }
    return slr_stream_finish(tuner->stream, UINT64_MAX);
}

slr_status slri_tuner_expect(struct slri_tuner *tuner)
{
    return read_outputs(tuner, true);
}

static double number_at(slr_scalar scalar, const unsigned char *at)
{
    float single;
    double real;
    if (scalar == SLR_F32) {
        memcpy(&single, at, sizeof single);
        return single;
    }
    memcpy(&real, at, sizeof real);
    return real;
}

static bool is_real(const struct slri_tuner_output *output)
{
    return output->parameter->scalar == SLR_F32 || output->parameter->scalar == SLR_F64;
}

static bool is_near(double a, double b, double tolerance)
{
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b));
}

// The first element that is wrong; its number, or UINT64_MAX.
static uint64_t find_wrong(const struct slri_tuner *tuner, const struct slri_tuner_output *output)
{
    uint64_t bytes = output->parameter->element_bytes ? output->parameter->element_bytes : 1;
    for (uint64_t at = 0; at + bytes <= output->bytes; at += bytes) {
        const unsigned char *expected = output->expected + at, *found = output->found + at;
        if (memcmp(expected, found, bytes) == 0)
            continue;
        if (!is_real(output) || !is_near(number_at(output->parameter->scalar, expected),
                                         number_at(output->parameter->scalar, found), tuner->desc->tolerance))
            return at / bytes;
    }
    return UINT64_MAX;
}

static void say_difference(struct slri_tuner *tuner, const struct slri_tuner_output *output, uint64_t index)
{
    int length =
        snprintf(tuner->why, sizeof tuner->why, "%s[%llu]", output->parameter->name, (unsigned long long)index);
    tuner->differs_in_reals = is_real(output);
    if (is_real(output) && length > 0 && (size_t)length < sizeof tuner->why) {
        uint64_t at = index * output->parameter->element_bytes;
        snprintf(tuner->why + length, sizeof tuner->why - (size_t)length, " is %.9g, not %.9g",
                 number_at(output->parameter->scalar, output->found + at),
                 number_at(output->parameter->scalar, output->expected + at));
    }
}

slr_status slri_tuner_compare(struct slri_tuner *tuner, bool *is_exact)
{
    *is_exact = true;
    SLRI_TRY(read_outputs(tuner, false));
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        const struct slri_tuner_output *output = &tuner->output[i];
        if (!output->saved || memcmp(output->expected, output->found, output->bytes) == 0)
            continue;
        uint64_t wrong = find_wrong(tuner, output);
        *is_exact = false;
        if (wrong == UINT64_MAX)
            continue;
        say_difference(tuner, output, wrong);
        return SLR_WRONG_STATE;
    }
    return SLR_OK;
}

void slri_tuner_free_outputs(struct slri_tuner *tuner)
{
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        struct slri_tuner_output *output = &tuner->output[i];
        slr_buffer_destroy(output->saved);
        slri_free(NULL, output->expected, output->bytes);
        slri_free(NULL, output->found, output->bytes);
    }
    slri_free(NULL, tuner->output, (tuner->outputs + 1) * sizeof *tuner->output);
}

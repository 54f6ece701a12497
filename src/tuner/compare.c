// SPDX-License-Identifier: Apache-2.0
// The buffers of a launch: put back before each, and compared with what the default left in them.
#include "tuner/tuner.h"

#include "base/alloc.h"
#include "base/status.h"

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
                                             .element = tuner->kernel->entry->binding[i].type,
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

// Of a number: "y[3].x is 2, not 1". Two texts are the same only of NaNs, which their bits tell apart.
static void say_numbers(struct slri_tuner *tuner, const struct slri_tuner_output *output, const char *place,
                        const struct slri_tuner_difference *difference)
{
    char found[SLRI_SCALAR_TEXT], expected[SLRI_SCALAR_TEXT];
    uint64_t bits[2] = {0, 0};
    slri_scalar_spell((slr_scalar)difference->kind, output->found + difference->at, found);
    slri_scalar_spell((slr_scalar)difference->kind, output->expected + difference->at, expected);
    memcpy(&bits[0], output->found + difference->at, slri_kind_bytes(difference->kind));
    memcpy(&bits[1], output->expected + difference->at, slri_kind_bytes(difference->kind));
    if (strcmp(found, expected) != 0)
        snprintf(tuner->why, sizeof tuner->why, "%s%s is %s, not %s", place, difference->member, found, expected);
    else
        snprintf(tuner->why, sizeof tuner->why, "%s%s is nan with the bits 0x%llx, not 0x%llx", place,
                 difference->member, (unsigned long long)bits[0], (unsigned long long)bits[1]);
}

static void say_difference(struct slri_tuner *tuner, const struct slri_tuner_output *output,
                           const struct slri_tuner_difference *difference)
{
    char place[84];
    const uint64_t bytes = output->element->bytes, at = difference->at;
    snprintf(place, sizeof place, "%.60s[%llu]", output->parameter->name, (unsigned long long)(at / bytes));
    tuner->differs_in_reals = slri_kind_is_float(difference->kind);
    if (difference->kind != SLRI_VOID)
        say_numbers(tuner, output, place, difference);
    else
        snprintf(tuner->why, sizeof tuner->why, "%s has the byte 0x%02x, not 0x%02x, at %llu, where no number lies",
                 place, output->found[at], output->expected[at], (unsigned long long)(at % bytes));
}

slr_status slri_tuner_compare(struct slri_tuner *tuner, bool *is_exact)
{
    *is_exact = true;
    SLRI_TRY(read_outputs(tuner, false));
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        const struct slri_tuner_output *output = &tuner->output[i];
        if (!output->saved || memcmp(output->expected, output->found, output->bytes) == 0)
            continue;
        *is_exact = false;
        struct slri_tuner_difference difference;
        if (!slri_tuner_differs(output, tuner->desc->tolerance, &difference))
            continue;
        say_difference(tuner, output, &difference);
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

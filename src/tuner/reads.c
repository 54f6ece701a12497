// SPDX-License-Identifier: Apache-2.0
// Which of the buffers that a kernel may write to it reads, too: what its code says, so that a read by a single thread
// counts, and one that no launch comes to.
#include "tuner/tuner.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"

#include <string.h>

struct reading {
    struct slri_tuner *tuner;
    bool *is_reached; // by the function's index
};

static const slr_buffer *whole_of(const slr_buffer *buffer)
{
    return buffer->parent ? buffer->parent : buffer;
}

// A launch may be given the same memory for several parameters.
static void note_read(struct slri_tuner *tuner, struct slri_root root)
{
    const slr_arg *arg = tuner->problem->args;
    if (root.kind != SLRI_ROOT_BINDING || arg[root.index].kind != SLR_ARG_BUFFER || !arg[root.index].value.buffer)
        return;
    for (uint32_t i = 0; i < tuner->outputs; i++) {
        struct slri_tuner_output *output = &tuner->output[i];
        if (output->buffer && whole_of(output->buffer) == whole_of(arg[root.index].value.buffer))
            output->is_read = true;
    }
}

// At `root`. What is not known here counts as reading.
static bool only_writes(enum slri_op op)
{
    return op == SLRI_OP_STORE || op == SLRI_OP_ATOMIC_STORE || op == SLRI_OP_COPY || op == SLRI_OP_ZERO ||
           op == SLRI_OP_PRESENT;
}

static void note_reads(const struct slri_instr *in, void *user)
{
    struct reading *reading = user;
    if (!only_writes(in->op))
        note_read(reading->tuner, in->root);
    note_read(reading->tuner, in->root2);
    for (uint32_t i = 0; i < in->args; i++)
        note_read(reading->tuner, in->arg[i].root);
    if (in->callee)
        reading->is_reached[in->callee->index] = true;
}

slr_status slri_tuner_find_read(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    const struct slri_module *module = launch->kernel->program->module;
    const uint32_t kernel = launch->kernel->entry->function->index;
    struct reading reading = {tuner, slri_alloc(NULL, module->functions)};
    if (!reading.is_reached)
        return SLRI_FAIL(NO_MEMORY, "no memory to tune kernel %s", launch->kernel->info.name);
    memset(reading.is_reached, 0, module->functions);
    reading.is_reached[kernel] = true;
    for (uint32_t i = kernel + 1; i-- > 0;) // functions stand behind those that they call
        if (reading.is_reached[i])
            slri_block_each(module->function[i]->body, note_reads, &reading);
    slri_free(NULL, reading.is_reached, module->functions);
    return SLR_OK;
}

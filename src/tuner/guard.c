// SPDX-License-Identifier: Apache-2.0
// The first run of a candidate, as a guarded kernel (ir/pass/guard.h): nothing can stop a kernel that does not end, and
// on a CPU it writes wherever it likes. What it leaves in the buffers is not looked at.
#include "tuner/tuner.h"

#include "base/alloc.h"
#include "base/status.h"
#include "ir/pass/guard.h"

#include <slipring/symbol.h>

#include <stdio.h>
#include <string.h>

// A thread may do so many times the iterations of the default's threads, of which each counts as a whole step. A
// candidate whose threads are fewer has more iterations in each.
enum { FUEL_OF_DEFAULT = 256 };
static const uint64_t launch_timeout_ns = 60000000000u;

struct run {
    struct slri_guard guard;
    uint64_t bytes[]; // of each argument
};

static uint64_t threads_of(const slr_shape *shape)
{
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (uint64_t)shape->grid[i] * shape->block[i];
    return threads;
}

static uint32_t fuel_for(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    if (launch->code == tuner->start || !tuner->default_turns)
        return UINT32_MAX; // what it does is right; or it ran unguarded, and nobody knows its iterations
    double more = (double)tuner->default_threads / (double)threads_of(&launch->shape);
    double fuel = (double)tuner->default_turns * FUEL_OF_DEFAULT * (more > 1 ? more : 1);
    return fuel > UINT32_MAX ? UINT32_MAX : (uint32_t)fuel;
}

static void fill(const struct slri_tuner *tuner, const struct slri_tuner_launch *launch, struct run *run)
{
    const struct slri_entry *entry = tuner->kernel->entry;
    run->guard = (struct slri_guard){.fuel = fuel_for(tuner, launch), .dynamic_bytes = launch->shape.shared_bytes};
    for (uint32_t i = 0; i < entry->bindings; i++) {
        const slr_arg *arg = &tuner->problem->args[i];
        run->bytes[i] = !entry->binding[i].is_buffer ? entry->binding[i].type->bytes
                        : arg->value.buffer          ? slr_buffer_size(arg->value.buffer)
                                                     : 0;
    }
}

// What is right with one vector width is right with all.
static slr_shape guarded_shape(const struct slri_tuner_launch *launch)
{
    slr_shape shape = launch->shape;
    shape.vector_width = 0;
    return shape;
}

// Variables that the host has written, or an earlier launch.
static slr_status copy_variable(struct slri_tuner *tuner, slr_program *to, const struct slri_global *global)
{
    slr_program *from = tuner->kernel->program;
    void *values = slri_alloc(NULL, global->type->bytes);
    if (!values)
        return SLRI_FAIL(NO_MEMORY, "no memory to copy the variable %s", global->name);
    slr_status status = slr_stream_read_symbol(tuner->stream, from, global->name, 0, values, global->type->bytes, NULL);
    if (status == SLR_OK)
        status = slr_stream_write_symbol(tuner->stream, to, global->name, 0, values, global->type->bytes, NULL);
    slr_status finished = slr_stream_finish(tuner->stream, launch_timeout_ns);
    slri_free(NULL, values, global->type->bytes);
    return status == SLR_OK ? finished : status;
}

static slr_status launch_guarded(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, slr_kernel *kernel,
                                 struct run *run, uint64_t bytes)
{
    const struct slri_module *module = tuner->kernel->program->module;
    for (uint32_t i = 0; i < module->globals; i++)
        SLRI_TRY(copy_variable(tuner, kernel->program, &module->global[i]));
    SLRI_TRY(slri_tuner_restore(tuner));
    SLRI_TRY(slr_stream_write_symbol(tuner->stream, kernel->program, SLRI_GUARD_NAME, 0, run, bytes, NULL));
    SLRI_TRY(slr_launch(tuner->stream, kernel, guarded_shape(launch), tuner->problem->args, tuner->problem->arg_count,
                        NULL));
    SLRI_TRY(slr_stream_read_symbol(tuner->stream, kernel->program, SLRI_GUARD_NAME, 0, run, sizeof run->guard, NULL));
    return slr_stream_finish(tuner->stream, launch_timeout_ns);
}

static const char *name_of(const struct slri_tuner *tuner, const struct slri_module *module,
                           const struct slri_guard *guard)
{
    switch (guard->root_kind) {
    case SLRI_ROOT_BINDING:
        return tuner->kernel->info.parameters[guard->root_index].name;
    case SLRI_ROOT_SHARED:
        return module->shared[guard->root_index].name;
    case SLRI_ROOT_GLOBAL:
        return module->global[guard->root_index].name;
    case SLRI_ROOT_CONST:
        return module->constant[guard->root_index].name;
    default:
        return guard->root_kind == SLRI_ROOT_DYNAMIC ? "the dynamic shared memory" : "a variable of a thread";
    }
}

static void say(struct slri_tuner *tuner, const struct slri_module *module, const struct run *run)
{
    const struct slri_guard *guard = &run->guard;
    int length =
        snprintf(tuner->why, sizeof tuner->why,
                 "%s:%u: ", guard->file < module->files ? module->file[guard->file] : module->name, guard->line);
    const size_t room = sizeof tuner->why - (size_t)length;
    if (length < 0 || (size_t)length >= sizeof tuner->why)
        return;
    if (guard->found == SLRI_GUARDED_FUEL)
        snprintf(tuner->why + length, room, "a thread does not end within %u iterations of loops", guard->fuel);
    else
        snprintf(tuner->why + length, room, "it %s outside '%s', at byte %lld",
                 guard->found == SLRI_GUARDED_WRITE ? "writes" : "reads", name_of(tuner, module, guard),
                 (long long)guard->offset);
}

static slr_status run_guarded(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, slr_kernel *kernel,
                              bool *is_bad)
{
    const uint64_t bytes = sizeof(struct run) + sizeof(uint64_t) * tuner->kernel->entry->bindings;
    struct run *run = slri_alloc(NULL, bytes);
    if (!run)
        return SLRI_FAIL(NO_MEMORY, "no memory to guard kernel %s", kernel->info.name);
    fill(tuner, launch, run);
    slr_status status = launch_guarded(tuner, launch, kernel, run, bytes);
    if (status == SLR_OK) {
        *is_bad = run->guard.found != SLRI_GUARDED_NONE;
        if (*is_bad)
            say(tuner, kernel->program->module, run);
        if (launch->code == tuner->start)
            tuner->default_turns = run->guard.most + SLRI_GUARD_STEP;
    } else {
        snprintf(tuner->why, sizeof tuner->why, "%s", slr_error_message());
        slr_stream_recover(tuner->stream);
    }
    slri_free(NULL, run, bytes);
    return status;
}

// Candidates that differ in SLIPRING_SELECT alone share one guarded program, which branches as the default does. A
// branch without a jump holds no access, no loop, no barrier and nothing that faults, and each value stays the same bit
// for bit (ir/pass/select.h). So each access goes to the same place, each loop takes as many iterations, and one run
// proves both candidates. A source that asks for the macro itself may be another one with it. Up to where it asks, both
// candidates are the same text, so either both ask or neither does.
static slr_status take_guarded(struct slri_tuner *tuner, const struct slri_tuner_launch *launch,
                               struct slri_tuner_variant **out)
{
    char own[SLRI_TUNED_DEFINES_BYTES];
    slri_tuner_own_defines(tuner, launch->defines, own);
    const char *defines = launch->kernel->program->module->asks_select ? launch->defines : own;
    return slri_tuner_take(tuner, tuner->guarded, defines, slri_tuned_guarded, out);
}

// The grid follows from the block.
static bool is_proven(const struct slri_tuner_variant *guarded, const struct slri_tuner_launch *launch)
{
    for (uint32_t i = 0; i < guarded->provens; i++)
        if (memcmp(guarded->proven[i], launch->shape.block, sizeof launch->shape.block) == 0)
            return true;
    return false;
}

static void note_proven(struct slri_tuner_variant *guarded, const struct slri_tuner_launch *launch)
{
    if (guarded->provens < SLRI_TUNER_BLOCKS)
        memcpy(guarded->proven[guarded->provens++], launch->shape.block, sizeof launch->shape.block);
}

void slri_tuner_guard_ahead(struct slri_tuner *tuner, const struct slri_tuner_launch *launch)
{
    const slr_shape shape = guarded_shape(launch);
    slr_prefetch_desc desc = SLR_PREFETCH_DESC_INIT;
    struct slri_tuner_variant *guarded;
    desc.kernel = tuner->kernel->info.name;
    desc.shapes = &shape;
    desc.shape_count = 1;
    if (take_guarded(tuner, launch, &guarded) == SLR_OK && !is_proven(guarded, launch))
        (void)slr_program_prefetch(guarded->program, &desc, NULL); // what is wrong is found again, and told then
}

static slr_status make_guarded(const struct slri_tuner *tuner, const struct slri_tuner_variant *guarded,
                               const struct slri_tuner_launch *launch, slr_kernel **out)
{
    slr_kernel *kernel;
    SLRI_TRY(slr_program_get_kernel(guarded->program, tuner->kernel->info.name, &kernel));
    slr_status status = slr_kernel_prepare(kernel, guarded_shape(launch));
    if (status == SLR_OK)
        *out = kernel;
    else
        slr_kernel_destroy(kernel);
    return status;
}

slr_status slri_tuner_guard(struct slri_tuner *tuner, const struct slri_tuner_launch *launch, bool *is_bad)
{
    slr_kernel *kernel = NULL;
    struct slri_tuner_variant *guarded;
    *is_bad = false;
    if (launch->code == tuner->start)
        tuner->default_threads = threads_of(&launch->shape);
    slr_status status = take_guarded(tuner, launch, &guarded);
    if (status == SLR_OK && is_proven(guarded, launch))
        return SLR_OK;
    if (status == SLR_OK)
        status = make_guarded(tuner, guarded, launch, &kernel);
    if (status != SLR_OK) {
        if (tuner->unguarded++ == 0)
            snprintf(tuner->why_unguarded, sizeof tuner->why_unguarded, "%s", slr_error_message());
        return SLR_OK;
    }
    status = run_guarded(tuner, launch, kernel, is_bad);
    if (status == SLR_OK && !*is_bad)
        note_proven(guarded, launch);
    slr_kernel_destroy(kernel);
    return status;
}

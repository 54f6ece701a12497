// SPDX-License-Identifier: Apache-2.0
// What may change of a launch.
#include "tuner/tuner.h"

#include "base/status.h"
#include "base/thread.h"
#include "lang/text/source.h"

#include <stdio.h>
#include <string.h>

// Threads along x and y of blocks that are tried where nobody says the block.
static const uint32_t lines[][2] = {{32, 1}, {64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}};
static const uint32_t planes[][2] = {{8, 8},   {16, 4}, {16, 8}, {16, 16}, {32, 1},  {32, 2},  {32, 4},  {32, 8},
                                     {32, 16}, {64, 1}, {64, 4}, {64, 8},  {128, 1}, {128, 4}, {256, 1}, {512, 1}};
static const uint32_t widths[] = {1, 4, 8, 16};

static void add_dimension(struct slri_tuner *tuner, uint32_t size, uint32_t start, uint64_t *scale)
{
    tuner->space.size[tuner->space.dimensions++] = size;
    tuner->start += start * *scale;
    *scale *= size;
}

// The values of a macro by size, with the one that it has now.
static uint32_t list_values(const struct slri_tunable *tunable, int64_t *to, uint32_t *start)
{
    uint32_t count = 0;
    bool has_now = false;
    for (uint32_t i = 0; i < tunable->values; i++) {
        if (!has_now && tunable->value[i] >= tunable->now) {
            *start = count;
            has_now = true;
            if (tunable->value[i] != tunable->now)
                to[count++] = tunable->now;
        }
        to[count++] = tunable->value[i];
    }
    if (!has_now) {
        *start = count;
        to[count++] = tunable->now;
    }
    return count;
}

static void add_macro(struct slri_tuner *tuner, const struct slri_tunable *tunable, uint64_t *scale)
{
    uint32_t start = 0, at = tuner->macros++;
    tuner->macro[at] = tunable->name;
    tuner->now[at] = tunable->now;
    uint32_t count = list_values(tunable, tuner->value[at], &start);
    add_dimension(tuner, count, start, scale);
}

// Short branches as they are, or without jumps: a macro that slipring declares for every source.
static void add_select(struct slri_tuner *tuner, uint64_t *scale)
{
    static const int64_t values[] = {0, 1};
    const struct slri_module *module = tuner->kernel->program->module;
    bool is_kept = (tuner->desc->flags & SLR_TUNE_KEEP_BRANCHES) || !tuner->kernel->entry->function->has_short_branches;
    for (uint32_t i = 0; i < tuner->macros; i++)
        is_kept |= strcmp(tuner->macro[i], SLRI_SELECT_MACRO) == 0; // the source declares it, too
    is_kept |= slri_source_defines(tuner->kernel->program->source, SLRI_SELECT_MACRO);
    tuner->adds_select = !is_kept;
    if (!is_kept)
        add_macro(tuner, &(struct slri_tunable){SLRI_SELECT_MACRO, values, 2, module->selects, 0}, scale);
}

static void add_macros(struct slri_tuner *tuner, uint64_t *scale)
{
    const struct slri_module *module = tuner->kernel->program->module;
    const struct slri_tuning *tuning = module->tuning;
    if (module->globals)
        return; // variables of a program are one: with other macros it would have others
    for (uint32_t i = 0; tuning && i < tuning->tunables && !(tuner->desc->flags & SLR_TUNE_KEEP_MACROS); i++)
        // A value that the program's caller has given (slr_program_desc.defines, -D) is meant.
        if (!slri_source_defines(tuner->kernel->program->source, tuning->tunable[i].name))
            add_macro(tuner, &tuning->tunable[i], scale);
    add_select(tuner, scale);
}

// Slipring's own choice, which is a candidate already. 0: it is not known.
static void find_own_block(const struct slri_tuner *tuner, uint32_t block[3])
{
    bool none;
    slr_shape shape = tuner->problem->shape;
    if (slri_shape_settle(tuner->kernel, &shape, &none) != SLR_OK || none)
        memset(shape.block, 0, sizeof shape.block);
    memcpy(block, shape.block, sizeof shape.block);
}

// 0 is slipring's choice.
static void add_blocks(struct slri_tuner *tuner, uint64_t *scale)
{
    const slr_shape *shape = &tuner->problem->shape;
    const uint32_t limit = tuner->kernel->program->device->facts.limits.block_threads;
    uint32_t count = 1, most = tuner->kernel->info.max_threads;
    bool is_said = (tuner->desc->flags & SLR_TUNE_KEEP_BLOCK) || shape->block[0] || shape->grid[0] ||
                   (tuner->kernel->declared && tuner->kernel->declared->block[0]);
    bool is_line = shape->threads[1] <= 1 && shape->threads[2] <= 1;
    size_t choices = is_said ? 0 : is_line ? sizeof lines / sizeof *lines : sizeof planes / sizeof *planes;
    const uint32_t(*choice)[2] = is_line ? lines : planes;
    uint32_t own[3];
    most = limit && limit < most ? limit : most; // 256 of some drivers: a third of a line's blocks would be refused
    find_own_block(tuner, own);
    for (size_t i = 0; i < choices; i++) {
        bool is_own = choice[i][0] == own[0] && choice[i][1] == own[1] && own[2] == 1;
        if (choice[i][0] * choice[i][1] > most || is_own)
            continue;
        tuner->block[count][0] = choice[i][0];
        tuner->block[count][1] = choice[i][1];
        tuner->block[count++][2] = 1;
    }
    add_dimension(tuner, count, 0, scale);
}

// What computes at the same time. PoCL runs more threads than there are cores: its persistent kernels need them.
static uint32_t count_units(const slr_device_info *info)
{
    uint32_t units = info->workers > info->compute_units ? info->workers : info->compute_units;
    uint32_t cores = slri_core_count();
    return info->device_class == SLR_DEVICE_SOFTWARE && units > cores ? cores : units;
}

static slr_status add_widths(struct slri_tuner *tuner, uint64_t *scale)
{
    slr_device_info info;
    uint32_t count = 1;
    SLRI_TRY(slr_device_get_info(tuner->kernel->program->device, &info));
    tuner->units = count_units(&info);
    tuner->width[0] = tuner->problem->shape.vector_width;
    bool is_kept = tuner->width[0] || (tuner->desc->flags & SLR_TUNE_KEEP_WIDTH);
    if (!is_kept && strstr(info.features, "vector_width"))
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
            tuner->width[count++] = widths[i];
    add_dimension(tuner, count, 0, scale);
    return SLR_OK;
}

slr_status slri_tuner_make_space(struct slri_tuner *tuner)
{
    uint64_t scale = 1;
    add_macros(tuner, &scale);
    add_blocks(tuner, &scale);
    SLRI_TRY(add_widths(tuner, &scale));
    if (slri_space_count(&tuner->space) == UINT64_MAX)
        return SLRI_FAIL(INVALID, "kernel %s: its tunable macros have more than 2^63 combinations",
                         tuner->kernel->info.name);
    return SLR_OK;
}

void slri_tuner_own_defines(const struct slri_tuner *tuner, const char *defines, char out[SLRI_TUNED_DEFINES_BYTES])
{
    static const char added[] = SLRI_SELECT_MACRO "=";
    snprintf(out, SLRI_TUNED_DEFINES_BYTES, "%s", defines);
    char *blank = strrchr(out, ' '), *last = blank ? blank + 1 : out;
    if (tuner->adds_select && strncmp(last, added, sizeof added - 1) == 0)
        *(blank ? blank : out) = '\0';
}

bool slri_tuner_decode(const struct slri_tuner *tuner, uint64_t code, char defines[SLRI_TUNED_DEFINES_BYTES],
                       slr_shape *shape)
{
    uint32_t choice[SLRI_SPACE_DIMENSIONS];
    size_t length = 0;
    slri_space_decode(&tuner->space, code, choice);
    *defines = '\0';
    for (uint32_t i = 0; i < tuner->macros; i++) {
        int64_t value = tuner->value[i][choice[i]];
        if (value == tuner->now[i])
            continue;
        int more = snprintf(defines + length, SLRI_TUNED_DEFINES_BYTES - length, "%s%s=%lld", length ? " " : "",
                            tuner->macro[i], (long long)value);
        if (more < 0 || (size_t)more >= SLRI_TUNED_DEFINES_BYTES - length)
            return false;
        length += (size_t)more;
    }
    *shape = tuner->problem->shape;
    if (tuner->block[choice[tuner->macros]][0])
        memcpy(shape->block, tuner->block[choice[tuner->macros]], sizeof shape->block);
    shape->vector_width = tuner->width[choice[tuner->macros + 1]];
    return true;
}

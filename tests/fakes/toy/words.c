// SPDX-License-Identifier: Apache-2.0
// toy:0?words=1: kernels as their words of 32 bits, with threads that meet (src/ir/pass), interpreted. So the whole
// suite proves both passes. What they refuse is compiled as on the plain toy.
#include "tests/fakes/toy/toy.h"

#include "base/round.h"
#include "ir/pass/meet.h"
#include "ir/pass/words.h"
#include "run/grid.h"

#include <stdlib.h>

#define MOST_BOUND 127
#define VALUE_BYTES 8 // of a scalar
#define FUEL (UINT64_C(1) << 40)

struct words {
    struct slri_module *module;
    struct slri_interp *interp;
};

static void release(void *device, void *native)
{
    struct words *words = native;
    (void)device;
    slri_interp_destroy(words->interp);
    slri_module_destroy(words->module);
    free(words);
}

static slr_status words_of(const struct slri_code_text *of, struct slri_module **out)
{
    static const struct slri_words_options options = {.doubles = true};
    slr_status status = slri_words_kernel(of->module, of->entry, &options, out);
    return status == SLR_OK ? slri_meet_kernel(*out, "the toy") : status;
}

bool toy_words_take(const struct slri_code_text *of)
{
    struct slri_module *module = NULL;
    bool taken = of->entry && of->entry->kind == SLRI_ENTRY_KERNEL && words_of(of, &module) == SLR_OK;
    slri_module_destroy(module);
    return taken;
}

slr_status toy_words_kernel(const struct slri_code_text *of, struct slri_kernel *out)
{
    struct words *words = calloc(1, sizeof *words);
    slr_status status = words ? words_of(of, &words->module) : SLR_NO_MEMORY;
    if (status == SLR_OK)
        status = slri_interp_create(words->module, &words->interp);
    if (status != SLR_OK && words) {
        release(NULL, words);
        return status;
    }
    out->native = words;
    out->release = release;
    return status;
}

// Memory ends at a whole word, and values are whole words.
static void bind(const struct slri_command *command, struct slri_bound *bound, unsigned char (*room)[VALUE_BYTES])
{
    const struct slri_entry *entry = command->dispatch.entry;
    for (uint32_t i = 0; i < entry->bindings; ++i) {
        bound[i] = command->dispatch.bound[i];
        if (entry->binding[i].is_buffer) {
            bound[i].data = toy_host(bound[i].data);
        } else if (bound[i].bytes <= VALUE_BYTES) {
            memset(room[i], 0, VALUE_BYTES);
            memcpy(room[i], bound[i].data, bound[i].bytes);
            bound[i].data = room[i];
        }
        bound[i].bytes = slri_round_up(bound[i].bytes, 4);
    }
}

void toy_words_dispatch(const struct slri_command *command, const void *native, struct slri_launch *launch)
{
    const struct words *words = native;
    struct slri_bound bound[MOST_BOUND];
    unsigned char room[MOST_BOUND][VALUE_BYTES];
    struct slri_grid grid = {.arg = bound,
                             .args = command->dispatch.entry->bindings,
                             .dynamic_shared = command->dispatch.dynamic_bytes,
                             .fuel = FUEL,
                             .global = launch->global};
    struct slri_grid_end end = {0};
    bind(command, bound, room);
    memcpy(grid.grid, command->dispatch.grid, sizeof grid.grid);
    memcpy(grid.block, command->dispatch.block, sizeof grid.block);
    if (slri_interpret_grid(words->interp, &grid, &end) != SLR_OK)
        end.fault = SLRI_FAULT_STATUS;
    launch->fault = end.fault;
    launch->fault_file = end.at.where.file;
    launch->fault_line = end.at.where.line;
}

// SPDX-License-Identifier: Apache-2.0
// For tests of kernels: text in, a grid of it run by the interpreter.
#ifndef SLRI_RUN_GRID_TEST_H
#define SLRI_RUN_GRID_TEST_H

#include "lang/compile_test.h"

#include "run/grid.h"

struct launch {
    struct slri_module *module;
    struct slri_interp *interp;
    struct slri_grid grid;
    struct slri_bound arg[8];
    struct slri_grid_end end;
};

static inline struct launch begin(const char *text, const char *kernel, uint32_t blocks, uint32_t threads)
{
    struct launch l = {.module = compile_text(text)};
    assert_int_equal(slri_interp_create(l.module, &l.interp), SLR_OK);
    const struct slri_entry *entry = slri_module_entry(l.module, kernel);
    assert_non_null(entry);
    l.grid = (struct slri_grid){.entry = (uint32_t)(entry - l.module->entry),
                                .grid = {blocks, 1, 1},
                                .block = {threads, 1, 1},
                                .fuel = 1u << 20};
    return l;
}

#define GIVE(l, value, size) ((l)->arg[(l)->grid.args++] = (struct slri_bound){(value), (size)})

static inline uint32_t go(struct launch *l)
{
    l->grid.arg = l->arg;
    if (slri_interpret_grid(l->interp, &l->grid, &l->end) != SLR_OK)
        fail_msg("%s", slr_error_message());
    return l->end.fault;
}

static inline void end(struct launch *l)
{
    slri_interp_destroy(l->interp);
    slri_module_destroy(l->module);
}

#endif

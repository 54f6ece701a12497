// SPDX-License-Identifier: Apache-2.0
// What the files of this emitter share: emit_wgsl.c the module, function.c functions and control flow, instr.c
// instructions, math.c functions of the math library.
#ifndef SLRI_EMIT_WGSL_INTERNAL_H
#define SLRI_EMIT_WGSL_INTERNAL_H

#include "base/text.h"
#include "emit/wgsl/emit_wgsl.h"
#include "ir/assigned.h"
#include "ir/ir.h"

struct slri_wgsl_emitter {
    struct slri_text *out; // of functions; the module is put around them
    const struct slri_module *module;
    const struct slri_entry *entry;
    const struct slri_wgsl_options *options;
    struct slri_region *scratch;
    const struct slri_function *function;
    const struct slri_assigned *reg; // by register
    uint32_t depth;
    struct slri_where where; // of the last line
    slr_status refused;
    bool *atomic_binding, *written_binding, *used_binding, *atomic_shared, *used_constant; // by index
    bool atomic_dynamic, atomic_globals;
};

// emit_wgsl.c
void slri_wgsl_refuse(struct slri_wgsl_emitter *e, const struct slri_instr *in, const char *what);
bool slri_wgsl_is_atomic(const struct slri_wgsl_emitter *e, struct slri_root root);
uint32_t slri_wgsl_argument(const struct slri_wgsl_emitter *e, uint32_t binding); // its first word

// function.c
void slri_wgsl_function(struct slri_wgsl_emitter *e, const struct slri_function *function);
void slri_wgsl_entry_around(struct slri_wgsl_emitter *e); // the entry point, where the kernel is a function of its own
void slri_wgsl_line(struct slri_wgsl_emitter *e, struct slri_where where); // begins a line
void slri_wgsl_put(struct slri_wgsl_emitter *e, const char *text);
void slri_wgsl_reg(struct slri_wgsl_emitter *e, slri_reg reg);
void slri_wgsl_set(struct slri_wgsl_emitter *e, slri_reg dst); // "let r_1: u32 = " or "r_1 = "
const char *slri_wgsl_type(enum slri_kind kind);
const struct slri_instr *slri_wgsl_literal(const struct slri_wgsl_emitter *e, slri_reg reg); // its CONST, or NULL
bool slri_wgsl_takes_place(const struct slri_function *function); // the builtins, as parameters

// instr.c
bool slri_wgsl_is_written(const struct slri_wgsl_emitter *e, const struct slri_instr *in);
void slri_wgsl_instr(struct slri_wgsl_emitter *e, const struct slri_instr *in);
void slri_wgsl_spell(struct slri_wgsl_emitter *e, const struct slri_instr *in, const char *text);

// math.c
const char *slri_wgsl_math(uint64_t id); // with $0, $1, $2 for its arguments; NULL: WGSL has none

#endif

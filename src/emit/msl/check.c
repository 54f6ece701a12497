// SPDX-License-Identifier: Apache-2.0
#include "emit/msl/check.h"
#include "base/status.h"
#include "emit/device/spaces.h"
#include "emit/msl/emit_msl.h"
#include "ir/math/functions.h"

#include <ctype.h>
#include <string.h>

extern const char slri_embedded_slr_msl_more_h[];

// What a look over all that a kernel comes to finds: the first of each.
struct look {
    const struct slri_instr *is_double, *is_wide, *is_ordered, *is_unknown;
};

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if (!isalnum((unsigned char)at[length]) && at[length] != '_' && !isalnum((unsigned char)at[-1]) &&
            at[-1] != '_')
            return true;
    return false;
}

static bool is_known(const char *function)
{
    return has_word(slri_embedded_slr_spaces_h, function) || has_word(slri_embedded_slr_msl_more_h, function);
}

// Whether it computes one: a double that is moved, given and taken is its bits, and each float is a double.
static bool computes_double(const struct slri_c_emitter *c, const struct slri_instr *in)
{
    const enum slri_kind *kind = c->function->reg_kind;
    bool has_one = in->op == SLRI_OP_MATH && kind[in->dst] == SLRI_F64;
    switch (in->op) {
    case SLRI_OP_CONVERT:
        return kind[in->a] == SLRI_F64 || (in->kind == SLRI_F64 && kind[in->a] != SLRI_F32);
    case SLRI_OP_MATH:
        for (uint32_t i = 0; i < in->args; i++)
            has_one |= kind[in->arg[i].reg] == SLRI_F64;
        return has_one && !is_known(slri_math_functions[in->imm].c_function);
    default:
        return in->kind == SLRI_F64 && in->op >= SLRI_OP_NEG && in->op <= SLRI_OP_GE;
    }
}

// What other threads write while this one looks: with atomics that order it, behind fences, or as volatile.
static bool is_order(const struct slri_instr *in)
{
    const bool is_atomic = in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS;
    const bool is_of_device = in->root.kind == SLRI_ROOT_BINDING || in->root.kind == SLRI_ROOT_GLOBAL;
    return in->op == SLRI_OP_FENCE || (is_atomic && in->order != SLRI_RELAXED) || (in->is_volatile && is_of_device);
}

static bool notes(const struct slri_c_emitter *c, const struct slri_instr *in, void *user)
{
    struct look *look = user;
    const bool is_atomic = in->op >= SLRI_OP_ATOMIC_LOAD && in->op <= SLRI_OP_ATOMIC_CAS;
    if (!look->is_double && computes_double(c, in))
        look->is_double = in;
    if (!look->is_wide && is_atomic && slri_kind_bytes(in->kind) == 8)
        look->is_wide = in;
    if (!look->is_ordered && is_order(in))
        look->is_ordered = in;
    if (!look->is_unknown && in->op == SLRI_OP_MATH && !is_known(slri_math_functions[in->imm].c_function))
        look->is_unknown = in;
    return false;
}

static slr_status look_at(const struct slri_module *module, const struct slri_entry *kernel, struct look *out)
{
    static const struct slri_dialect any = {0}; // how it is spelled changes nothing
    struct slri_d_emitter e = {0};
    bool begun = slri_d_begin(&e, module, kernel, &any);
    for (uint32_t i = 0; begun && i < module->functions; i++) {
        e.c.function = module->function[i];
        if (e.functions[i].is_used)
            slri_c_any(&e.c, e.c.function->body, notes, out);
    }
    slri_region_destroy(e.c.scratch);
    return begun ? SLR_OK : SLRI_FAIL(NO_MEMORY, "no memory to emit %s", kernel->name);
}

static slr_status refuse(const struct slri_module *module, const struct slri_instr *in, const char *what)
{
    return SLRI_FAIL(UNSUPPORTED, "%s:%u: Metal %s", module->file[in->where.file], in->where.line, what);
}

slr_status slri_msl_check(const struct slri_module *module, const struct slri_entry *kernel, uint32_t version)
{
    struct look look = {0};
    if (kernel->kind != SLRI_ENTRY_KERNEL)
        return SLRI_FAIL(UNSUPPORTED,
                         "%s: '%s' is a handler; Metal's text is of kernels, and of the kernel of a handler's batched "
                         "launches",
                         module->name, kernel->name);
    SLRI_TRY(look_at(module, kernel, &look));
    if (look.is_double)
        return refuse(module, look.is_double, "computes no double; use float, and no literal without f");
    if (look.is_wide)
        return refuse(module, look.is_wide,
                      "has no atomics of 64 bits but a minimum and a maximum without a result; use 32-bit ones");
    if (look.is_ordered && version < SLRI_MSL_3_2)
        return refuse(module, look.is_ordered,
                      "orders memory between threads from version 3.2 on (macOS 15); take the order or the volatile "
                      "away, or use __syncthreads()");
    if (look.is_unknown)
        return SLRI_FAIL(UNSUPPORTED, "%s:%u: Metal has no '%s'; write it with functions of float that it has",
                         module->file[look.is_unknown->where.file], look.is_unknown->where.line,
                         slri_math_functions[look.is_unknown->imm].name);
    return SLR_OK;
}

slr_status slri_msl_facts(const struct slri_module *module, const struct slri_entry *kernel, struct slri_msl_facts *out)
{
    struct look look = {0};
    *out = (struct slri_msl_facts){.has_warps = (kernel->function->uses & SLRI_USES_WARP) != 0};
    SLRI_TRY(slri_arguments_find(module, kernel, &out->arguments));
    SLRI_TRY(look_at(module, kernel, &look));
    out->version = look.is_ordered ? SLRI_MSL_3_2 : SLRI_MSL_3_0;
    return SLR_OK;
}

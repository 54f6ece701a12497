// SPDX-License-Identifier: Apache-2.0
// The libraries as programs: their headers, and a kernel that calls each function, so that each is there. The kernel
// takes arguments from the first elements of its arrays, and leaves results where nothing else does.
#include "lang/library.h"
#include "base/status.h"
#include "base/text.h"
#include "ir/pass/linked.h"
#include "ir/pass/words.h"
#include "lang/kernel.h"

#include <stdatomic.h>
#include <string.h>

extern const char slri_embedded_slr_math_self_h[], slri_embedded_slr_math_h[], slri_embedded_slr_math_angles_h[];
extern const char slri_embedded_slr_math_double_h[], slri_embedded_slr_math_more_h[], slri_embedded_slr_half_h[];
extern const char slri_embedded_slr_fma_h[], slri_embedded_slr_soft_h[], slri_embedded_slr_rounded_h[];
extern const char slri_embedded_slr_block_h[];

#define HEAD "__global__ void slri_all(float *f, double *d, int *i, unsigned *u, long *l, unsigned long *m)\n{\n"

static bool comes_first(unsigned id) // of those with its function
{
    for (unsigned i = 0; i < id; i++)
        if (strcmp(slri_math_functions[i].c_function, slri_math_functions[id].c_function) == 0)
            return false;
    return true;
}

static void put_math_calls(struct slri_text *text)
{
    static const char *const array[] = {"", "f", "d", "i", "u", "l", "m"};
    slri_text_puts(text, HEAD);
    for (unsigned id = 0; id < SLRI_MATH_COUNT; id++) {
        const struct slri_math_function *function = &slri_math_functions[id];
        if (!comes_first(id))
            continue;
        slri_text_printf(text, "    %s[%u] = %s(", array[function->result], SLRI_MATH_RESULT + id,
                         function->c_function);
        for (unsigned k = 0; k < function->arity; k++)
            slri_text_printf(text, "%s%s[%u]", k ? ", " : "", array[function->args[k]], k);
        slri_text_puts(text, ");\n");
    }
    slri_text_printf(text, "    f[%u] = " SLRI_ROUNDED_DIVF "(f[0], f[1]);\n", SLRI_MATH_RESULT + SLRI_MATH_COUNT);
    slri_text_printf(text, "    f[%u] = " SLRI_ROUNDED_SQRTF "(f[0]);\n", SLRI_MATH_RESULT + SLRI_MATH_COUNT + 1);
    slri_text_puts(text, "}\n");
}

static void put_soft_calls(struct slri_text *text)
{
    static const struct {
        const char *result, *args;
    } functions[] = {
#define FUNCTION(ID, name, result, args) {result, args},
        SLRI_SOFT_LIST(FUNCTION)
#undef FUNCTION
    };
    slri_text_puts(text, HEAD);
    for (unsigned id = 0; id < SLRI_SOFT_COUNT; id++) {
        const char *args = functions[id].args;
        slri_text_printf(text, "    %s[%u] = %s(%c[0]", functions[id].result, SLRI_MATH_RESULT + id,
                         slri_soft_functions[id], args[0]);
        if (args[1])
            slri_text_printf(text, ", %c[1]", args[1]);
        slri_text_puts(text, ");\n");
    }
    slri_text_puts(text, "}\n");
}

// Each function of a warp and of a barrier, once.
static void put_block_calls(struct slri_text *text)
{
    static const struct {
        enum slri_kind kind;
        char array;
    } of[] = {{SLRI_U32, 'u'}, {SLRI_I32, 'i'}, {SLRI_I64, 'l'}};
    char name[SLRI_BLOCK_NAME];
    enum slri_kind kind;
    slri_text_puts(text, HEAD);
    for (unsigned imm = 0; imm <= SLRI_BARRIER_OR; imm++)
        if (slri_block_function(name, &kind, &(struct slri_instr){.op = SLRI_OP_BARRIER, .imm = imm}))
            slri_text_printf(text, "    i[0] = %s(i[0]);\n", name);
    for (unsigned imm = 0; imm < SLRI_WARP_COUNT; imm++) {
        const struct slri_warp_function *warp = &slri_warp_functions[imm];
        const unsigned kinds = imm >= SLRI_WARP_REDUCE_ADD && imm <= SLRI_WARP_REDUCE_XOR ? 2 : 3;
        for (unsigned k = 0; k < kinds; k++) {
            const struct slri_instr in = {.op = SLRI_OP_WARP, .kind = of[k].kind, .imm = imm};
            if (!slri_block_function(name, &kind, &in) || (kind ? kind != of[k].kind : k > 0))
                continue;
            slri_text_printf(text, "    %c[0] = %s(", warp->result == 'K' ? of[k].array : 'u', name);
            for (const char *arg = warp->args; *arg; arg++)
                slri_text_printf(text, "%s%c[0]", arg == warp->args ? "" : ", ",
                                 *arg == 'K'   ? of[k].array
                                 : *arg == 'U' ? 'u'
                                               : 'i');
            slri_text_puts(text, ");\n");
        }
    }
    slri_text_puts(text, "}\n");
}

// A library is texts, and behind them a kernel that calls each function.
struct library {
    const char *path, *part[8];
    void (*put_calls)(struct slri_text *text);
};

static slr_status make(const struct library *library, struct slri_module **out)
{
    struct slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, "#define " SLRI_SELECT_MACRO " 1\n"); // compilers that are exponential in branches get none
    for (int i = 0; i < 8 && library->part[i]; i++)
        slri_text_puts(&text, library->part[i]);
    library->put_calls(&text);
    struct slri_source source = {.path = library->path, .text = slri_text_view(&text)};
    slr_status status = slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

// Made once; who comes second throws its own away.
static const struct slri_module *keep_first(_Atomic(struct slri_module *) *made, struct slri_module *own)
{
    struct slri_module *there = NULL;
    if (atomic_compare_exchange_strong(made, &there, own))
        return own;
    slri_module_destroy(own);
    return there;
}

static slr_status once(_Atomic(struct slri_module *) *made, const struct library *library,
                       const struct slri_module **out)
{
    struct slri_module *own = NULL;
    *out = atomic_load(made);
    if (*out)
        return SLR_OK;
    SLRI_TRY(make(library, &own));
    *out = keep_first(made, own);
    return SLR_OK;
}

slr_status slri_math_library(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) made;
    static const struct library library = {"slr_math.h",
                                           {slri_embedded_slr_math_self_h, slri_embedded_slr_fma_h,
                                            slri_embedded_slr_math_h, slri_embedded_slr_math_angles_h,
                                            slri_embedded_slr_math_double_h, slri_embedded_slr_math_more_h,
                                            slri_embedded_slr_half_h, slri_embedded_slr_rounded_h},
                                           put_math_calls};
    return once(&made, &library, out);
}

slr_status slri_soft_library(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) made;
    static const struct library library = {"slr_soft.h", {slri_embedded_slr_soft_h}, put_soft_calls};
    return once(&made, &library, out);
}

slr_status slri_block_library(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) made;
    static const struct library library = {"slr_block.h", {slri_embedded_slr_block_h}, put_block_calls};
    return once(&made, &library, out);
}

slr_status slri_block_library_of_subgroups(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) made;
    static const struct library library = {
        "slr_block.h", {"#define SLRI_SUBGROUPS\n", slri_embedded_slr_block_h}, put_block_calls};
    return once(&made, &library, out);
}

// Its words refer to what they are made of, which lasts as long.
slr_status slri_block_library_of_words(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) made;
    const struct slri_module *whole = NULL;
    struct slri_module *own = NULL;
    *out = atomic_load(&made);
    if (*out)
        return SLR_OK;
    SLRI_TRY(slri_block_library(&whole));
    SLRI_TRY(slri_words_kernel(whole, whole->entry, NULL, &own));
    *out = keep_first(&made, own);
    return SLR_OK;
}

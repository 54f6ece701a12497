// SPDX-License-Identifier: Apache-2.0
// The math library as a program: the library's headers, and a kernel that calls each function, so that each is there.
// The kernel takes arguments from the first elements of its arrays, and leaves results where nothing else does.
#include "lang/library.h"
#include "base/text.h"
#include "lang/kernel.h"

#include <stdatomic.h>
#include <string.h>

extern const char slri_embedded_slr_math_self_h[], slri_embedded_slr_math_h[], slri_embedded_slr_math_angles_h[];
extern const char slri_embedded_slr_math_double_h[], slri_embedded_slr_math_more_h[], slri_embedded_slr_half_h[];
extern const char slri_embedded_slr_fma_h[], slri_embedded_slr_soft_h[], slri_embedded_slr_rounded_h[];

#define HEAD "__global__ void slri_all(float *f, double *d, int *i, unsigned *u, long *l, unsigned long *m)\n{\n"

static bool comes_first(unsigned id) // of those with its function
{
    for (unsigned i = 0; i < id; i++)
        if (strcmp(slri_math_functions[i].c_function, slri_math_functions[id].c_function) == 0)
            return false;
    return true;
}

static void put_calls(struct slri_text *text)
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

static slr_status make(struct slri_module **out)
{
    const char *const parts[] = {slri_embedded_slr_math_self_h,   slri_embedded_slr_fma_h,
                                 slri_embedded_slr_math_h,        slri_embedded_slr_math_angles_h,
                                 slri_embedded_slr_math_double_h, slri_embedded_slr_math_more_h,
                                 slri_embedded_slr_half_h,        slri_embedded_slr_rounded_h};
    struct slri_text text = SLRI_TEXT_INIT;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        slri_text_puts(&text, parts[i]);
    put_calls(&text);
    struct slri_source source = {.path = "slr_math.h", .text = slri_text_view(&text)};
    slr_status status = slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

static slr_status make_soft(struct slri_module **out)
{
    static const struct {
        const char *result, *args;
    } functions[] = {
#define FUNCTION(ID, name, result, args) {result, args},
        SLRI_SOFT_LIST(FUNCTION)
#undef FUNCTION
    };
    struct slri_text text = SLRI_TEXT_INIT;
    slri_text_puts(&text, slri_embedded_slr_soft_h);
    slri_text_puts(&text, HEAD);
    for (unsigned id = 0; id < SLRI_SOFT_COUNT; id++) {
        const char *args = functions[id].args;
        slri_text_printf(&text, "    %s[%u] = %s(%c[0]", functions[id].result, SLRI_MATH_RESULT + id,
                         slri_soft_functions[id], args[0]);
        if (args[1])
            slri_text_printf(&text, ", %c[1]", args[1]);
        slri_text_puts(&text, ");\n");
    }
    slri_text_puts(&text, "}\n");
    struct slri_source source = {.path = "slr_soft.h", .text = slri_text_view(&text)};
    slr_status status = slri_kernel_compile(&source, out);
    slri_text_free(&text);
    return status;
}

// Made once; who comes second throws its own away.
static slr_status once(_Atomic(struct slri_module *) *library, slr_status (*make_it)(struct slri_module **out),
                       const struct slri_module **out)
{
    struct slri_module *made = atomic_load(library), *there = NULL;
    if (!made) {
        slr_status status = make_it(&made);
        if (status != SLR_OK)
            return status;
        if (!atomic_compare_exchange_strong(library, &there, made)) {
            slri_module_destroy(made);
            made = there;
        }
    }
    *out = made;
    return SLR_OK;
}

slr_status slri_math_library(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) library;
    return once(&library, make, out);
}

slr_status slri_soft_library(const struct slri_module **out)
{
    static _Atomic(struct slri_module *) library;
    return once(&library, make_soft, out);
}

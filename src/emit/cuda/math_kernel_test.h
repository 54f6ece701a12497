// SPDX-License-Identifier: Apache-2.0
// A kernel that calls every math function of the table once.
#ifndef SLRI_EMIT_CUDA_MATH_KERNEL_TEST_H
#define SLRI_EMIT_CUDA_MATH_KERNEL_TEST_H

#include "base/text.h"
#include "ir/math/functions.h"

static inline void put_math_kernel(struct slri_text *text)
{
    static const char letters[] = " fdiulw"; // by enum slri_math_type
    slri_text_puts(
        text,
        "__global__ void math(float *f, double *d, int *i, unsigned *u, long long *l, unsigned long long *w)\n{\n");
    for (int row = 0; row < SLRI_MATH_COUNT; row++) {
        const struct slri_math_function *function = &slri_math_functions[row];
        slri_text_printf(text, "    %c[%d] = %s(", letters[function->result], row, function->name);
        for (unsigned arg = 0; arg < function->arity; arg++)
            slri_text_printf(text, "%s%c[%u]", arg ? ", " : "", letters[function->args[arg]], arg);
        slri_text_puts(text, ");\n");
    }
    slri_text_puts(text, "}\n");
}

#endif

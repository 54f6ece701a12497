// SPDX-License-Identifier: Apache-2.0
// The math library as IR: slr_math.h read by the front end, for targets that are given functions, not text.
#ifndef SLRI_LANG_LIBRARY_H
#define SLRI_LANG_LIBRARY_H

#include "ir/ir.h"
#include "ir/math/functions.h"

#include <slipring/status.h>

// A module of which only functions are of interest: slri_math_functions[id].c_function names that of a MATH. Inside of
// them a MATH is one of SLRI_MATH_PRIMITIVES, and only there. It lasts as long as the process.
// Threads: any. Errors: NO_MEMORY.
slr_status slri_math_library(const struct slri_module **out);

// The module's kernel calls each function, for whoever tests it: it has an array of each type, in the order of enum
// slri_math_type, whose first elements are arguments; the result of function id is element SLRI_MATH_RESULT + id.
#define SLRI_MATH_RESULT 4u

// What the library is made of, beside IR's own instructions: X(id).
#define SLRI_MATH_PRIMITIVES(X)                                                                                        \
    X(SQRTF)                                                                                                           \
    X(SQRT)                                                                                                            \
    X(CLZ)                                                                                                             \
    X(CLZLL)                                                                                                           \
    X(FFS)                                                                                                             \
    X(FFSLL)                                                                                                           \
    X(FLOAT_AS_UINT)                                                                                                   \
    X(UINT_AS_FLOAT)                                                                                                   \
    X(INT_AS_FLOAT)                                                                                                    \
    X(DOUBLE_AS_LONGLONG)                                                                                              \
    X(LONGLONG_AS_DOUBLE)

#endif

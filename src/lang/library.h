// SPDX-License-Identifier: Apache-2.0
// The math library as IR: slr_math.h read by the front end, for targets that are given functions, not text.
#ifndef SLRI_LANG_LIBRARY_H
#define SLRI_LANG_LIBRARY_H

#include "ir/ir.h"
#include "ir/math/library.h"

#include <slipring/status.h>

// A module of which only functions are of interest: slri_math_functions[id].c_function names that of a MATH. Inside of
// them a MATH is one of SLRI_MATH_PRIMITIVES, and only there. It lasts as long as the process.
// Threads: any. Errors: NO_MEMORY.
slr_status slri_math_library(const struct slri_module **out);

// The module's kernel calls each function, for whoever tests it: it has an array of each type, in the order of enum
// slri_math_type, whose first elements are arguments; the result of function id is element SLRI_MATH_RESULT + id.
#define SLRI_MATH_RESULT 4u

// Results of SLRI_ROUNDED_DIVF and SLRI_ROUNDED_SQRTF: the floats behind those of all others.
#define SLRI_MATH_RESULTS (SLRI_MATH_RESULT + SLRI_MATH_COUNT + 2)

// Doubles by integers, likewise: the module's kernel calls the functions of SLRI_SOFT_LIST.
slr_status slri_soft_library(const struct slri_module **out);

// Functions of a warp, and barriers that count, likewise: slri_block_function names them. Inside of them a BARRIER is
// SYNC, and a WARP is SYNC; OF_SUBGROUPS: or a SHUFFLE or BALLOT of the whole warp.
slr_status slri_block_library(const struct slri_module **out);
slr_status slri_block_library_of_subgroups(const struct slri_module **out);
slr_status slri_block_library_of_words(const struct slri_module **out); // of words of 32 bits (ir/pass/words.h)

#endif

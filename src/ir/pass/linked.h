// SPDX-License-Identifier: Apache-2.0
// Links a kernel with the functions of the libraries (ir/math/library.h) that it calls, for devices whose own are
// missing or less exact. Passes that change the signatures of functions, as words.h does, then see all of them.
//
// What is left in the new module:
// - A MATH is one of SLRI_MATH_PRIMITIVES; the others are calls. The quotient and the square root of F32 are calls,
//   too. A DIV of F32 and a MATH of SQRTF stand only within the functions that these two call.
// - Nothing has the kind F64. A double is a U64 that holds its bits, also where it is given at launch, and what is
//   computed of it is a call of a function that does it with integers, and rounds as a double does.
// - Instructions of the libraries have no place in the source: line 0.
// - Functions stand behind those that they call; tables of the libraries stand behind the kernel's.
#ifndef SLRI_IR_PASS_LINKED_H
#define SLRI_IR_PASS_LINKED_H

#include "ir/ir.h"

// A new module whose only entry is the kernel, of the same name. It refers to types, tables, texts and variables of the
// three modules, which must outlive it. `math` and `soft` are the libraries, as lang/library.h gives them.
// Errors: UNSUPPORTED (more operations on doubles than a driver compiles in time, or an atomic that computes with
// doubles; the message names the place and says what to write instead), NO_MEMORY.
slr_status slri_linked_kernel(const struct slri_module *module, const struct slri_entry *kernel,
                              const struct slri_module *math, const struct slri_module *soft, struct slri_module **out);

// The name of the math library's function for a quotient or a square root of F32; of other instructions NULL.
const char *slri_rounded_name(const struct slri_instr *in);
// Whether it is one of those: inside, the device's own operations are meant.
bool slri_is_rounded(const struct slri_function *function);

#endif

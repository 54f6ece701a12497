// SPDX-License-Identifier: Apache-2.0
// Links a kernel with the functions of the libraries (ir/math/library.h) that it calls, for devices whose own are
// missing or less exact. Passes that change the signatures of functions, as words.h does, then see all of them.
//
// What is left in the new module:
// - With the library MATH a MATH is one of SLRI_MATH_PRIMITIVES; the others are calls. The quotient and the square root
// of F32 are calls,
//   too. A MATH of SQRTF stands only within the function that is called for it, and so does a DIV of F32, but one of
//   the literal 0 or by a literal power of two.
// - With the library SOFT nothing has the kind F64. A double is a U64 that holds its bits, also where it is given at
//   launch, and what is computed of it is a call of a function that does it with integers, and rounds as a double does.
// - With the library BLOCK a BARRIER is SYNC, but with `has_counts`, and a WARP is of SYNC, or stands in a function of
//   that library.
// - Instructions of the libraries have no place in the source: line 0.
// - Functions stand behind those that they call; tables of the libraries stand behind the kernel's. Behind its
//   shared objects stands SLRI_BLOCK_LANES, for BLOCK.
#ifndef SLRI_IR_PASS_LINKED_H
#define SLRI_IR_PASS_LINKED_H

#include "ir/ir.h"

// Where functions come from: the kernel's module, and the libraries.
enum slri_linked_unit { SLRI_LINKED_KERNEL, SLRI_LINKED_MATH, SLRI_LINKED_SOFT, SLRI_LINKED_BLOCK, SLRI_LINKED_UNITS };

// How a library is got (lang/library.h). Only one that the kernel needs is asked for.
struct slri_linked_libraries {
    // NULL: it is the device's own.
    slr_status (*get[SLRI_LINKED_UNITS])(const struct slri_module **out);
    bool has_counts; // barriers that count are the device's own
};

// A new module whose only entry is the kernel, of the same name. It refers to types, tables, texts and variables of
// `module` and of the libraries, which must outlive it.
// Errors: UNSUPPORTED (more operations on doubles than a driver compiles in time, or an atomic that computes with
// doubles; the message names the place and says what to write instead), NO_MEMORY.
slr_status slri_linked_kernel(const struct slri_module *module, const struct slri_entry *kernel,
                              const struct slri_linked_libraries *libraries, struct slri_module **out);

// Functions of a warp and barriers that count (slr_block.h): the name of the one that does what the instruction does.
// False: there is none. Its value is of `kind`, with the bits of the instruction's; VOID: of the types that the
// instruction has. They keep two words for each thread, in the order of threads, and 64 words behind them in the shared
// object SLRI_BLOCK_LANES. It is of the largest block; an emitter may shorten it. Of a kernel that only has barriers it
// is a word.
#define SLRI_BLOCK_NAME 40
#define SLRI_BLOCK_LANES "slri_lanes"
bool slri_block_function(char name[static SLRI_BLOCK_NAME], enum slri_kind *kind, const struct slri_instr *in);

#endif

// SPDX-License-Identifier: Apache-2.0
// Lowers what devices leave open, or do each in its own way, to what all do alike. And lowers a kernel to words of 32
// bits, for devices that have no others: WebGPU, and Vulkan without types of 8, 16 and 64 bits. Who runs the result, or
// writes it as text, needs to know of no other width.
//
// What is left in the new module, with words or with all widths:
// - A SWITCH has no case that falls into the next, but those that are empty.
// - A DIV of integers is by a literal of at least 1, or of U32 or U64 and not by 0; there is no REM. A division by 0 is
//   a TRAP; who goes on behind it gets 0.
// - The count of a shift is below the width.
// - A float is not multiplied by a literal 0, nor is one divided.
// - CONVERT is between kinds of registers, and no access is of BOOL, F16 or BF16. A half is rounded once.
// - There is no COPY, no ZERO and no INDEX. CLOCK is 0. Atomics are of integers, and an RMW is no INCREMENT or
//   DECREMENT. The others became loops around a CAS.
//
// With words:
// - Registers are I32, U32 and F32. Two sorts of I64 registers stay, because an access's offset is I64 (ir.h): one that
//   is written once, by a CONVERT from U32, and only used as the offset of the access behind it; and the offset of a
//   parameter that is memory, which is 0 and is never read. An emitter uses the U32 in place of the first, and neither
//   names the second.
// - LOAD and STORE are of U32, at multiples of 4. COPY and ZERO became words, with loops where they are long.
// - CONVERT is between I32, U32 and F32, and from U32 to the I64 of an access. MATH takes and gives those kinds, and
//   is never a function of 64 bits. A WARP is of one of those kinds.
// - Atomics are of U32.
// - A value of 64 bits is two registers, low and high; only the low one where nothing asks for the high one, as for
//   offsets of an access. Functions take both, low first, and give the high one through a parameter that is memory.
// - A byte or a half is stored in the word that holds it: by a CAS where other threads may store in that word, so that
//   no neighbour is lost; plainly in a function's own memory.
// - All memory is words. A buffer, table, local or shared object is as long as before, rounded up to 4 bytes, and
//   begins at a multiple of 4.
// - A value given at launch is a scalar of I32, U32 or F32, or a struct of words: of 64 bits two, low first; a narrower
//   one lies in the low bits of one, the others 0.
#ifndef SLRI_IR_PASS_WORDS_H
#define SLRI_IR_PASS_WORDS_H

#include "ir/ir.h"

struct slri_words_options {
    // Registers of 64 bits stay, accesses of all widths, and atomics of 64 bits. Includes `doubles`. A buffer
    // begins at a multiple of 4 and of its element's alignment, all other memory at one of 8.
    bool all_widths;
    bool doubles; // registers of F64 stay, with CONVERT and MATH of them; false: they are refused
    // A PRINT writes to a buffer of words that stands behind the entry's own (engine/printed.h; without it nobody
    // hears), a TRAP to another one (emit/device/arguments.h). False: a PRINT is refused, and a TRAP stays.
    bool tells;
    bool faults; // with `tells`: false: no TRAP can happen, and none is written
};

enum { SLRI_WORDS_PRINTED, SLRI_WORDS_FAULTED, SLRI_WORDS_BUFFERS }; // those buffers

// A new module whose only entry is the kernel, of the same name. It refers to types, tables, texts and variables of
// `module`, which must outlive it. `options` NULL: all as 0.
// Errors: UNSUPPORTED (the entry is no kernel: see handler_kernel.h; doubles, atomics of 64 bits or a printf that
// `options` does not keep, with the place and what to write instead), NO_MEMORY.
slr_status slri_words_kernel(const struct slri_module *module, const struct slri_entry *kernel,
                             const struct slri_words_options *options, struct slri_module **out);

#endif

// SPDX-License-Identifier: Apache-2.0
// The WGSL emitter: a kernel becomes one WGSL module, by way of its words (ir/pass/words.h).
//
// A `__global__` kernel NAME becomes the entry point slrk_NAME. Its bindings, all of group 0, in this order:
//   0 ...            for each buffer of the kernel, in their order, a storage buffer; `read` where the kernel only
//                    reads it. Its length is a multiple of 4 bytes, and it begins at a multiple of 4.
//   then             a uniform buffer, where the kernel takes values or asks whether a buffer is there: words, rounded
//                    up to 16 bytes. Word 0 has bit i set where buffer i is there; then each value in the kernel's
//                    order, as words (words.h).
//                    With `in_parts` behind them, where the kernel asks for its place: the first block of the part
//                    along x, y, z, then the whole grid. With `has_bases`, behind six that are there then, too: how
//                    many words of each buffer's binding lie before it.
//   then             the program's memory for its variables, where the kernel uses any: a storage buffer
//   then             where slri_kernel_may_fault, a storage buffer of three words, zero, of which the first thread that
//                    faults makes enum slri_fault, file and line; it goes on, and what it divides is 0.
// What the kernel does not touch is not declared, and still has its number. For a buffer that is none, bind any memory
// of its own.
//
// Where the block has no shape, it is made of the overrides slri_block_x, _y and _z (256, 1, 1). `extern __shared__`
// memory has slri_dynamic_words words, an override that must be given.
//
// A line `// FILE:LINE` stands above the statements of that line of the source: so a message that names a line of WGSL
// is about the last such place above it.
//
// Accesses are not checked. Floats are WGSL's: a division is within 2.5 ULP, an infinity or NaN may be any value, and
// exp, pow and the like have the bounds of WGSL.
#ifndef SLRI_EMIT_WGSL_EMIT_WGSL_H
#define SLRI_EMIT_WGSL_EMIT_WGSL_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

#define SLRI_WGSL_KERNEL_PREFIX "slrk_"
#define SLRI_WGSL_STORAGE_BUFFERS 8     // that every WebGPU device has for one stage
#define SLRI_WGSL_WORKGROUP_BYTES 16384 // of workgroup storage, likewise
#define SLRI_WGSL_BLOCK_THREADS 256
#define SLRI_WGSL_PART_WORDS 6

struct slri_wgsl_options {
    const uint32_t *block; // NULL, or the shape of all launches
    bool writes_all;       // every buffer is `read_write`: then a launch may give the same memory twice
    // The driver ends a thread's loops after so many turns, and each loop after that behind its first turn: so behind
    // the kernel comes a loop of two turns, which tells in a storage buffer of a word, behind that of faults.
    bool tells_ended_loops;
    bool in_parts;  // a grid may be launched in parts: six more words, as above
    bool has_bases; // a buffer's binding may begin before it: a word more for each, as above
    // What a device has of it; 0: what every device has, as above.
    uint32_t storage_buffers, workgroup_bytes, block_threads;
};

// Appends the module of one kernel. `options` NULL: all as 0.
// Errors: UNSUPPORTED (no kernel; what words.h refuses; a fence, an order of memory or a function that WGSL has not,
// a barrier that not all threads reach, or more buffers, shared memory or threads than the device has; with the
// place), NO_MEMORY.
slr_status slri_emit_wgsl(const struct slri_module *module, const struct slri_entry *kernel,
                          const struct slri_wgsl_options *options, struct slri_text *out);

#endif

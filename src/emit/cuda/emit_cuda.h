// SPDX-License-Identifier: Apache-2.0
// The CUDA C emitter: kernels and handlers of a module become one file that NVRTC and nvcc compile without a header,
// and that slipring's front end reads again (slri_source.is_emitted) as the same IR.
//
// A `__global__` kernel keeps its name and parameters. One that prints, has variables of the program or may fault
// (slri_kernel_may_fault) is given three more behind them, which the front end does not see: the memory of those
// variables, as the module lays them out; memory for what this launch prints (engine/printed.h), or NULL; and a word of
// 8 bytes, zero, which the first thread that divides by zero, or whose assertion fails, or that traps, makes
// SLRI_FAULT_WORD (ir/blame.h). One that divides goes on with 0; the others end. A handler NAME becomes `extern "C"
// __device__ unsigned slre_NAME(struct slri_call *call)`, called as abi/handler.h says, by a thread for a
// `__ring__` handler and by all threads of a block for a `__ring_block__` one; a fault is noted, the handler runs on
// with its loops left and its indices in bounds, and the result is the fault. Of a kernel no access is checked.
//
// Of a block, which may have more threads than the handler: the call lies in memory that its threads share, all get the
// same result, and they meet (slri_meet) before the next call. No thread waits for one that has returned or faulted, at
// a barrier; at a warp function it does.
#ifndef SLRI_EMIT_CUDA_EMIT_CUDA_H
#define SLRI_EMIT_CUDA_EMIT_CUDA_H

#include "base/text.h"
#include "ir/ir.h"

#include <slipring/status.h>

// Appends the file: of one entry, or of all of the module's where `entry` is NULL. `#line` maps every statement to
// where the user wrote it. Must be compiled with --fmad=false for the interpreter's results, as far as arithmetic goes:
// math functions are CUDA's own. The module must pass slri_module_verify. Errors: UNSUPPORTED (a block's handler has a
// warp function that threads may have returned before; its place is named), NO_MEMORY.
slr_status slri_emit_cuda(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *out);

// Appends the layouts of a call alone (abi/handler.h), for text that calls a handler of another file.
void slri_emit_cuda_call(struct slri_text *out);

// Appends what stands before any file that HIPRTC compiles.
void slri_emit_hip_words(struct slri_text *out);

// Appends these words and then such a file, as slri_emit_cuda. Errors: also UNSUPPORTED (matrix fragments).
slr_status slri_emit_hip(const struct slri_module *module, const struct slri_entry *entry, struct slri_text *out);

#endif

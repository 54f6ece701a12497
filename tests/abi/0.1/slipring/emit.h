// SPDX-License-Identifier: Apache-2.0
/// A program's kernels and handlers as text of a target's language. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_EMIT_H
#define SLIPRING_EMIT_H

#include <slipring/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slr_language {
    SLR_LANGUAGE_C = 1, ///< C17 for gcc and clang: one kernel for one shape of block, or all handlers
    SLR_LANGUAGE_CUDA,  ///< CUDA C for NVRTC and nvcc: no header is needed; compile with --fmad=false
    SLR_LANGUAGE_OPENCL ///< OpenCL C 1.2: kernels and handlers
} slr_language;

typedef struct slr_emit_desc {
    uint32_t struct_size;
    slr_language language; ///< must be given
    const char *name;      ///< of the kernel or handler; NULL: of a language that can, all of the program
    uint32_t block[3];     ///< threads a block. C: 0 is 256 along x, else 1. OpenCL: 0 is any, else required
} slr_emit_desc;
#ifdef __cplusplus
static inline slr_emit_desc slr_emit_desc_init(void)
{
    slr_emit_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_EMIT_DESC_INIT slr_emit_desc_init()
#else
#define SLR_EMIT_DESC_INIT                                                                                             \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_emit_desc)                                                                 \
    }
#endif

/// Writes the text with its NUL to the `room` bytes at `text` if they suffice, and how many it needs to `*needed` in
/// any case; `text` may be NULL where `room` is 0. `#line` in it names the user's source.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (struct_size, language, no name where the language takes one kernel), NOT_FOUND (no such name),
/// UNSUPPORTED (the language has no word for what the kernel does; the message names the place), NO_MEMORY.
SLR_API slr_status slr_program_emit(const slr_program *program, const slr_emit_desc *desc, char *text, size_t room,
                                    size_t *needed);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// The function slr_program_emit translates the kernels and handlers (functions that handle messages) of a program to
/// another language. Contract: docs/contract/kernels.md.
#ifndef SLIPRING_EMIT_H
#define SLIPRING_EMIT_H

#include <slipring/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slr_language {
    /// C17 for gcc and clang: either one kernel, for blocks of one shape, or all handlers of the program.
    SLR_LANGUAGE_C = 1,
    SLR_LANGUAGE_CUDA,   ///< CUDA C for NVRTC and nvcc. The text needs no header; compile it with --fmad=false
    SLR_LANGUAGE_OPENCL, ///< OpenCL C 1.2: kernels and handlers
    SLR_LANGUAGE_SPIRV, ///< SPIR-V 1.5 for Vulkan 1.2: one kernel, as text that the assembler spirv-as reads, or binary
    SLR_LANGUAGE_WGSL,  ///< WGSL for WebGPU: one kernel. docs/contract/kernels.md describes the kernel's bindings
    SLR_LANGUAGE_HIP,   ///< HIP C++ for HIPRTC. The text needs no header; compile it with -ffp-contract=off
    SLR_LANGUAGE_MSL    ///< one kernel in Metal Shading Language 3.0, or in 3.2 if the kernel orders memory between
                        ///< threads
} slr_language;

typedef struct slr_emit_desc {
    uint32_t struct_size;
    slr_language language; ///< the language of the emitted text; the program must set it
    /// `name` is the name of the kernel or handler to emit. If `name` is NULL, slr_program_emit emits the program's
    /// only kernel or handler. If a text in the language can contain several kernels and handlers, slr_program_emit
    /// then emits all of them.
    const char *name;
    /// `block` is the number of threads per block along x, y and z. In emitted C, a `block` of 0 means 256 threads
    /// along x and 1 along y and z. In OpenCL, WGSL and MSL, text that is emitted with a `block` of 0 works for blocks
    /// of any size; with another `block`, the text works only for this block. slr_program_emit ignores `block` for CUDA
    /// C, HIP C++ and SPIR-V.
    uint32_t block[3];
    uint32_t reserved; ///< ignored
    /// If `batched` is 1, slr_program_emit emits a kernel that handles a batch of messages with the handler `name`,
    /// instead of the handler itself. With `batched`, a `block` of 0 means the handler's own block.
    uint32_t batched;
    uint32_t binary; ///< 1: SPIR-V as binary, without a final NUL. Other languages have no binary form
    /// If `linked` is 1, the exported names in the emitted C text contain a hash of this text, so that a program can
    /// link several emitted texts into one library.
    uint32_t linked;
    uint32_t reserved_too; ///< ignored
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

/// Translates the program, and writes the emitted text with its final NUL to `text`, if the text needs at most `room`
/// bytes. `*needed` always gets the number of bytes that the text needs. `text` may be NULL if `room` is 0. In the
/// emitted text, `#line` directives name the user's source file.
///
/// Threads: any.  Blocks: no.  Owns: nothing.
/// Errors: INVALID (a wrong struct_size or language; no `name` if the language takes one kernel and the program has
///   several; no `name` with `batched`; `binary` for a language without a binary form; `linked` for a language other
///   than C), NOT_FOUND (the program has no kernel or handler `name`), UNSUPPORTED (the language cannot express an
///   operation of the kernel: the error message names the place in the source; with `batched`: `name` is no handler, or
///   the handler prints), NO_MEMORY.
SLR_API slr_status slr_program_emit(const slr_program *program, const slr_emit_desc *desc, char *text, size_t room,
                                    size_t *needed);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// A program is a compiled kernel source, with the properties of its kernels and of its handlers (functions that handle
/// messages). Contract: docs/contract/kernels.md.
#ifndef SLIPRING_PROGRAM_H
#define SLIPRING_PROGRAM_H

#include <slipring/devices.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slr_program slr_program;

/// The enum says which of the tuner's choices the launches of a program use (docs/contract/tuning.md).
typedef enum slr_tuned_use {
    SLR_TUNED_EXACT = 1, ///< only choices whose results equalled the results of the default launch, bit for bit
    SLR_TUNED_ANY,       ///< also choices whose results differ by no more than slr_tune_desc.tolerance allowed
    SLR_TUNED_OFF        ///< none of the tuner's choices
} slr_tuned_use;

/// The enum says what a raw source is: a source that slipring does not translate, but passes to the driver unchanged.
typedef enum slr_raw_source {
    SLR_RAW_CUDA = 1, ///< CUDA C++, on devices of cuda
    SLR_RAW_SPIRV     ///< a SPIR-V module with OpenCL kernels, on devices of opencl with the feature `spirv`
} slr_raw_source;

typedef struct slr_program_desc {
    uint32_t struct_size;
    uint32_t define_count;
    /// Macros for the source: "NAME" or "NAME=VALUE". If the list lacks __CUDA_ARCH__, slipring defines it: on cuda as
    /// the GPU's number, such as 900, else as 800.
    const char *const *defines;
    const char *const *include_paths; ///< folders that "#include" searches after the source's own folder
    uint32_t include_path_count;
    /// Level of optimization of `__global__` kernels on a CPU: level 1 compiles about four times as fast as level 2;
    /// with level 2 (the default) the kernels run faster.
    uint32_t optimize;
    /// 0, or a value of slr_raw_source: slipring passes the source unchanged to the driver's compiler. A raw source has
    /// kernels, but no handlers. A SPIR-V module comes from a file (slr_program_load) and needs raw_table. The
    /// parameters of its kernels are pointers to global memory (CrossWorkgroup) and numbers.
    uint32_t raw;
    /// raw_table lists the prototypes of the kernels in a raw source, such as
    /// "__global__ void k(const float *x, int n);". If raw_table is NULL, slipring reads the prototypes from the
    /// source, which must define each kernel as `extern "C" __global__ void`. Kernels of a SPIR-V module also get
    /// prototypes in CUDA C: a pointer to global memory is `T *`, and a number is `T`.
    const char *raw_table;
    /// If `debug` is 1, slipring compiles the code of cpu devices for a debugger: without optimisation, with the
    /// source's lines and variables (docs/debugging.md). If `debug` is 0, slipring compiles for a debugger only if the
    /// environment variable SLIPRING_DEBUG is 1.
    uint32_t debug;
    /// A value of slr_tuned_use. If slipring chooses the block size of a launch, `tuned` decides whether the launch
    /// uses the choice that slr_tune has stored. The default is SLR_TUNED_EXACT, or SLR_TUNED_OFF if the environment
    /// variable SLIPRING_TUNED is 0.
    uint32_t tuned;
} slr_program_desc;
#ifdef __cplusplus
static inline slr_program_desc slr_program_desc_init(void)
{
    slr_program_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_PROGRAM_DESC_INIT slr_program_desc_init()
#else
#define SLR_PROGRAM_DESC_INIT                                                                                          \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_program_desc)                                                              \
    }
#endif

/// The enum lists the scalar types (types of one number) in messages, replies, states, bindings and buffers.
typedef enum slr_scalar {
    SLR_BOOL = 1,
    SLR_I8,
    SLR_U8,
    SLR_I16,
    SLR_U16,
    SLR_I32,
    SLR_U32,
    SLR_I64,
    SLR_U64,
    SLR_F32,
    SLR_F64,
    SLR_F16, ///< half precision, only for buffers and tensors
    SLR_BF16 ///< bfloat16: the upper 16 bits of an SLR_F32, only for buffers and tensors
} slr_scalar;

/// slr_field describes one member of a struct: a scalar or an array of scalars. Members of nested structs have names
/// such as "pos.x". An array of structs has one entry for each member of each element, such as "leg[0].angle".
typedef struct slr_field {
    const char *name;
    slr_scalar scalar;
    uint32_t count; ///< number of elements; 1 for a plain scalar
    uint64_t offset;
    uint8_t is_array; ///< 1: declared as an array, even of one element
    uint8_t is_text;  ///< 1: declared as an array of plain `char`, which holds a text up to its first NUL
} slr_field;

/// slr_layout describes a struct that host and device share. If a reply is a plain scalar, its layout has one field
/// with the name "value".
typedef struct slr_layout {
    const char *name; ///< the struct's name; "" if the handler has no state or no reply
    uint64_t bytes;   ///< size of the struct; 0 if the handler has no state or no reply
    const slr_field *fields;
    uint32_t field_count;
} slr_layout;

/// slr_parameter describes a handler's parameter after the message parameter: a buffer or a scalar, whose value
/// slr_ring_desc.bindings gives, or an output channel (through which the handler sends messages to other ring kernels).
typedef struct slr_parameter {
    const char *name;
    uint8_t is_buffer;
    uint8_t is_const;       ///< 1: a buffer that the handler only reads
    slr_scalar scalar;      ///< type of the scalar, or of the buffer's elements; 0 for structs
    uint64_t element_bytes; ///< size in bytes of one element of the buffer, or of the scalar
    /// 1: the parameter is an output channel, `ring_to(struct message)`; slr_route connects it, and
    /// slr_ring_desc.bindings must not name it.
    uint8_t is_outlet;
    slr_layout message; ///< for an output channel: the message that the channel takes
} slr_parameter;

/// slr_handler_info gives the properties of a `__ring__` handler. The texts and arrays in slr_handler_info live as long
/// as the program.
typedef struct slr_handler_info {
    const char *name;
    slr_layout state, message, reply;
    const slr_parameter *parameters;
    uint32_t parameter_count;
} slr_handler_info;

/// Compiles a file of kernel source for a device.
///
/// Threads: any.  Blocks: while slipring compiles the file for the device. If the compiled code is in the disk cache,
/// slr_program_load takes milliseconds.
/// Owns: the caller gets the program, and frees it by slr_program_destroy.
/// Errors: NOT_FOUND (no such file), UNSUPPORTED (the device runs no kernels), SYSTEM, NO_MEMORY, COMPILE (the error
///   message holds all messages of the compiler, each with file, line, column, a mark under the source text, number and
///   advice).
SLR_API slr_status slr_program_load(slr_device *device, const char *path, const slr_program_desc *desc,
                                    slr_program **out);

/// slr_program_from_text compiles as slr_program_load does, but takes the source from memory. `name` replaces the file
/// name in diagnostics; "#include" searches the folder of `name` first.
SLR_API slr_status slr_program_from_text(slr_device *device, const char *name, const char *text,
                                         const slr_program_desc *desc, slr_program **out);

/// Releases the caller's reference to the program. Ring kernels whose handlers come from the program continue to work
/// after slr_program_destroy. If `program` is NULL, slr_program_destroy does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_program_destroy(slr_program *program);

/// Gives a handler of a program. `index` counts the handlers from 0, in the order of the source.
/// Threads: any.  Blocks: no.  Owns: the program owns the texts and arrays in `out`.
/// Errors: NOT_FOUND (`index` is past the last handler), INVALID (a NULL argument).
SLR_API slr_status slr_program_get_handler(const slr_program *program, uint32_t index, slr_handler_info *out);

/// The macro slr_program_get_handler calls slr_program_get_handler_sized with `sizeof(slr_handler_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_get_handler_sized(const slr_program *program, uint32_t index, slr_handler_info *out,
                                                 size_t bytes);
#define slr_program_get_handler(program, index, out)                                                                   \
    slr_program_get_handler_sized((program), (index), (out), sizeof(slr_handler_info))

// ---- what a source holds ------------------------------------------------------------------------------------------

typedef enum slr_function_kind {
    SLR_FUNCTION_RING = 1,   ///< a handler `__ring__`
    SLR_FUNCTION_RING_BLOCK, ///< a handler `__ring_block__`
    SLR_FUNCTION_KERNEL,     ///< a kernel `__global__`
    SLR_FUNCTION_RING_BATCH  ///< a handler `__ring_batch__`
} slr_function_kind;

/// slr_function_info describes a handler or kernel as its source declares it.
typedef struct slr_function_info {
    const char *name;
    slr_function_kind kind;
    const char *file; ///< with `line`: the place of the declaration
    uint32_t line;
    uint32_t parameter_count; ///< for a handler: the parameters after its message; for `__ring_batch__`, after the
                              ///< number of messages
    const slr_parameter *parameters;
    const char *const *types; ///< type of each parameter, as in C: "const float *", "struct pose"
    /// The two values of __launch_bounds__: the most threads of a block, and the least number of blocks on a
    /// multiprocessor; 0: not given.
    uint32_t max_threads, min_blocks;
    uint32_t shared_bytes;        ///< bytes of shared memory per block, in `__shared__` objects of known size
    uint8_t takes_dynamic_shared; ///< 1: has an `extern __shared__` object
    uint8_t has_barriers;         ///< 1: the function, or one that it calls, synchronises the block
    uint8_t has_warp_functions;   ///< 1: the function, or one that it calls, exchanges values between threads of a warp
    uint32_t block[3];            ///< threads of a block along x, y and z, from "#pragma slipring block"; 0: not given
    /// Number of output elements that a block computes along x, y and z, from "#pragma slipring items"; without this
    /// pragma, the numbers of `block`.
    uint32_t items[3];
} slr_function_info;

/// slr_skipped_info describes a part of a source that is not in the program, such as host code, C++ or a missing
/// header.
typedef struct slr_skipped_info {
    const char *name;
    const char *what; ///< the kind of part, such as "the host function", "the template" or "the header"
    const char *why;  ///< the reason, as a sentence without capital and full stop
    const char *file; ///< with `line`: the place of the part
    uint32_t line;
    uint32_t code;     ///< number of the compiler message that gives the reason: 12 for SLR-K012
    uint8_t is_kernel; ///< 1: a `__global__` function
} slr_skipped_info;

/// Gives a handler or kernel of a program. `index` counts handlers and kernels from 0, in the order of the source.
/// Threads: any.  Blocks: no.  Owns: the program owns the texts and arrays in `out`.
/// Errors: NOT_FOUND (`index` is past the last function), INVALID (a NULL argument).
SLR_API slr_status slr_program_get_function(const slr_program *program, uint32_t index, slr_function_info *out);

/// The macro slr_program_get_function calls slr_program_get_function_sized with `sizeof(slr_function_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_get_function_sized(const slr_program *program, uint32_t index, slr_function_info *out,
                                                  size_t bytes);
#define slr_program_get_function(program, index, out)                                                                  \
    slr_program_get_function_sized((program), (index), (out), sizeof(slr_function_info))

/// Gives a part of the source that the compiler skipped. `index` counts the skipped parts from 0, in the order in which
/// the compiler found them.
/// Threads: any.  Blocks: no.  Owns: the program owns the texts and arrays in `out`.
/// Errors: NOT_FOUND (`index` is past the last skipped part), INVALID (a NULL argument).
SLR_API slr_status slr_program_get_skipped(const slr_program *program, uint32_t index, slr_skipped_info *out);

/// The macro slr_program_get_skipped calls slr_program_get_skipped_sized with `sizeof(slr_skipped_info)` as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_program_get_skipped_sized(const slr_program *program, uint32_t index, slr_skipped_info *out,
                                                 size_t bytes);
#define slr_program_get_skipped(program, index, out)                                                                   \
    slr_program_get_skipped_sized((program), (index), (out), sizeof(slr_skipped_info))

#ifdef __cplusplus
}
#endif
#endif

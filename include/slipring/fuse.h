// SPDX-License-Identifier: Apache-2.0
/// Fusion: several element-wise operations, or several kernels, become one kernel in readable source.
/// Contract: docs/contract/fusion.md.
///
///     static const slr_op ops[] = {SLR_OP_ADD, SLR_OP_MULTIPLY, SLR_OP_ACTIVATION};
///     slr_fusion_desc desc = SLR_FUSION_DESC_INIT;
///     desc.ops = ops, desc.op_count = 3, desc.activation = SLR_RELU;
///     slr_fuse(device, &desc, &kernel, NULL); // relu((in0 + in1) * in2)
///     SLR_LAUNCH(stream, kernel, SLR_1D(n), a, b, c, out, n);
#ifndef SLIPRING_FUSE_H
#define SLIPRING_FUSE_H

#include <slipring/graph.h>
#include <slipring/kernel.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- from a list of operations ------------------------------------------------------------------------------------

/// An operation on elements. `v`, `w` and `x` are its first, second and third operand.
typedef enum slr_op {
    SLR_OP_ADD = 1,    ///< v + w
    SLR_OP_SUBTRACT,   ///< v - w
    SLR_OP_MULTIPLY,   ///< v * w
    SLR_OP_DIVIDE,     ///< v / w; integers: a fault where w is 0
    SLR_OP_MINIMUM,    ///< of v and w; floats: as fminf
    SLR_OP_MAXIMUM,    ///< of v and w; floats: as fmaxf
    SLR_OP_FMA,        ///< v * w + x; floats: rounded once
    SLR_OP_SCALE,      ///< v * w, where w is a number for all elements unless the step says otherwise
    SLR_OP_NEGATE,     ///< -v
    SLR_OP_ABS,        ///< |v|
    SLR_OP_SQRT,       ///< of floats, as the next two
    SLR_OP_EXP,        ///< e to the power v
    SLR_OP_LOG,        ///< the natural logarithm of v
    SLR_OP_ACTIVATION, ///< of floats: slr_fusion_desc.activation, or the step's
    SLR_OP_SUM,        ///< an end: over all elements, or along an axis
    SLR_OP_LARGEST,    ///< an end; floats: as fmaxf
    SLR_OP_SMALLEST,   ///< an end; floats: as fminf
    SLR_OP_SOFTMAX,    ///< an end, of floats: along each row
    SLR_OP_SCALE_BIAS, ///< v * w + x in two roundings, where w and x are numbers for all elements
    SLR_OP_CLAMP,      ///< the smaller of x and the larger of v and w, where w and x are numbers for all elements
    SLR_OP_EQUAL,      ///< v == w: 1 or 0, an SLR_I32, as the next five
    SLR_OP_NOT_EQUAL,
    SLR_OP_LESS,
    SLR_OP_LESS_EQUAL,
    SLR_OP_GREATER,
    SLR_OP_GREATER_EQUAL,
    SLR_OP_SELECT, ///< v != 0 ? w : x
    SLR_OP_CAST    ///< v as the step's type, as C converts it
} slr_op;

typedef enum slr_activation {
    SLR_RELU = 1,  ///< v < 0 ? 0 : v
    SLR_SIGMOID,   ///< 1 / (1 + exp(-v))
    SLR_TANH,      ///< tanh(v)
    SLR_GELU,      ///< v / 2 * (1 + erf(v / sqrt(2)))
    SLR_SILU,      ///< v / (1 + exp(-v))
    SLR_LEAKY_RELU ///< v < 0 ? v / 100 : v
} slr_activation;

/// What an input has an element for. Rows and columns: the kernel takes the number of columns as its last argument.
typedef enum slr_extent {
    SLR_EACH = 1,    ///< each element
    SLR_NUMBER,      ///< none: it is a number, the same for all
    SLR_EACH_COLUMN, ///< each column: the same for all rows
    SLR_EACH_ROW     ///< each row: the same for all columns
} slr_extent;

/// Along which axis an end goes.
typedef enum slr_axis {
    SLR_ALL = 0,     ///< over all elements; SLR_OP_SOFTMAX: along each row
    SLR_ALONG_ROW,   ///< over the columns of a row: one result a row
    SLR_ALONG_COLUMN ///< over the rows: one result a column
} slr_axis;

#define SLR_NEXT 0u                     ///< operand: the first is the last step's result, the others the next input
#define SLR_INPUT(k) (1u + (k))         ///< operand: input `k`, counted from 0
#define SLR_STEP(k) (0x80000000u + (k)) ///< operand: the result of step `k`, an earlier one

/// A step of a list that is more than a chain. Zero means the default.
typedef struct slr_fusion_step {
    slr_op op;
    slr_activation activation; ///< of SLR_OP_ACTIVATION; 0: slr_fusion_desc.activation
    slr_scalar type;           ///< of SLR_OP_CAST
    slr_axis axis;             ///< of an end
    uint32_t operand[3];       ///< SLR_NEXT, SLR_INPUT(k) or SLR_STEP(k)
    uint32_t keep;             ///< 1: the result is an output, too
} slr_fusion_step;

typedef struct slr_fusion_input {
    slr_scalar type;   ///< 0: slr_fusion_desc.dtype
    slr_extent extent; ///< 0: SLR_EACH, or what the operation that reads it says
} slr_fusion_input;

typedef struct slr_fusion_desc {
    uint32_t struct_size;
    uint32_t op_count;              ///< 1 to 64, of `ops` or of `steps`
    const slr_op *ops;              ///< a chain: each takes the result before it, and the next inputs
    slr_activation activation;      ///< of each SLR_OP_ACTIVATION; 0: SLR_RELU
    slr_scalar dtype;               ///< of the inputs: SLR_I32 to SLR_F64; 0: SLR_F32
    const char *name;               ///< of the kernel; NULL: "fused"
    const slr_fusion_step *steps;   ///< instead of `ops`
    const slr_fusion_input *inputs; ///< what the inputs are; further ones are as `{0}`
    uint32_t input_count;
    uint32_t reserved; ///< ignored
} slr_fusion_desc;
#ifdef __cplusplus
static inline slr_fusion_desc slr_fusion_desc_init(void)
{
    slr_fusion_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_FUSION_DESC_INIT slr_fusion_desc_init()
#else
#define SLR_FUSION_DESC_INIT                                                                                           \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_fusion_desc)                                                               \
    }
#endif

typedef struct slr_fusion_info {
    uint32_t inputs, outputs;          ///< buffers that the result reads, and that it writes
    uint32_t launches, launches_apart; ///< with fusion and without
    uint64_t bytes_an_element;         ///< of buffers with an element for each, that the result reads and writes
    uint64_t bytes_apart;              ///< the same without fusion
    double bound; ///< bytes_apart / bytes_an_element: the gain of a program that only moves bytes. 1: nothing to gain
    const char *source;  ///< of the result, "" without one: lives as long as the kernel or graph
    const char *why_not; ///< what was not joined, a line each with its reason; lives as `source`
} slr_fusion_info;

/// Makes one kernel of a list of operations.
/// The kernel's parameters are the inputs in order (`const T *`, or a number), the outputs (kept steps, then the last),
/// `int n`, and `int columns` if an input or an end has rows or columns. Without an end the results are for SLR_1D(n)
/// threads, or more. docs/contract/fusion.md has the parameters and shapes of ends.
///
/// Threads: any.  Blocks: while it compiles.  Owns: the caller gets the kernel: slr_kernel_destroy. `info` may be NULL.
/// Errors: INVALID (NULL; an unknown operation, activation or type; operands of different types: the message names the
///   step), UNSUPPORTED (an operation after an end: an end is a barrier; the device runs no kernels), NO_MEMORY,
///   COMPILE.
SLR_API slr_status slr_fuse(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info);

/// The macro slr_fuse calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_fuse_sized(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out,
                                  slr_fusion_info *info, size_t bytes);
#define slr_fuse(device, desc, out, info) slr_fuse_sized((device), (desc), (out), (info), sizeof(slr_fusion_info))

// ---- from kernels -------------------------------------------------------------------------------------------------

/// A kernel of a program.
typedef struct slr_fusion_part {
    slr_program *program;
    const char *kernel; ///< NULL: the only one
} slr_fusion_part;

/// Two parameters that are one buffer or number. Parts count from 0. The buffers of `other_part` are then no others' by
/// their names.
typedef struct slr_fusion_join {
    uint32_t part, other_part;
    const char *parameter, *other;
} slr_fusion_join;

typedef struct slr_kernel_fusion_desc {
    uint32_t struct_size;
    uint32_t part_count;          ///< 2 to 32
    const slr_fusion_part *parts; ///< in the order in which they would be launched
    const slr_fusion_join *joins; ///< besides parameters of one name and type, which are one
    uint32_t join_count;
    uint32_t keep_count;
    const char *const *keep; ///< intermediate buffers that are read later, too: they are written
    const char *name;        ///< of the kernel; NULL: the parts' names with _ between them
    uint32_t always;         ///< 1: even where a model says that the result is slower
    uint32_t reserved;       ///< ignored
} slr_kernel_fusion_desc;
#ifdef __cplusplus
static inline slr_kernel_fusion_desc slr_kernel_fusion_desc_init(void)
{
    slr_kernel_fusion_desc desc = {};
    desc.struct_size = (uint32_t)sizeof desc;
    return desc;
}
#define SLR_KERNEL_FUSION_DESC_INIT slr_kernel_fusion_desc_init()
#else
#define SLR_KERNEL_FUSION_DESC_INIT                                                                                    \
    {                                                                                                                  \
        .struct_size = (uint32_t)sizeof(slr_kernel_fusion_desc)                                                        \
    }
#endif

/// Makes one kernel of element-wise kernels with one index and one guard, with the same results bit for bit. A buffer
/// that a part writes and a later part reads is an intermediate: it is neither a parameter nor written, unless `keep`
/// names it. Without a parameter in common, the only buffer that a part writes is the only one that the next reads.
///
/// Threads: any.  Blocks: while it compiles.  Owns: the caller gets the kernel: slr_kernel_destroy. `info` may be NULL.
/// Errors: INVALID (NULL, a count, programs of different devices), NOT_FOUND (no such kernel, parameter or buffer),
///   UNSUPPORTED (it would be wrong, or slower by a model: the message gives the reason), NO_MEMORY, COMPILE.
SLR_API slr_status slr_fuse_kernels(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info);

/// The macro slr_fuse_kernels calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_fuse_kernels_sized(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info,
                                          size_t bytes);
#define slr_fuse_kernels(desc, out, info) slr_fuse_kernels_sized((desc), (out), (info), sizeof(slr_fusion_info))

/// Joins adjacent launches of a recorded graph where that gives the same results and is not slower by a model. A buffer
/// that only the graph holds (the program has destroyed it) and that no other command uses is not written. Every other
/// buffer has the same bytes afterwards. `info` may be NULL; its figures are the joined launches', `launches` and
/// `launches_apart` the whole graph's.
///
/// A launch with rebindings that make two buffers of a joined kernel one is refused.
///
/// Threads: one at a time per graph, and no slr_graph_launch meanwhile.  Blocks: while it compiles.  Owns: nothing.
/// Errors: INVALID (NULL), WRONG_STATE (recording), NO_MEMORY, COMPILE. Then the graph is as it was. Launches that
///   cannot be joined are no error: slr_fusion_info.why_not has the reasons.
SLR_API slr_status slr_graph_fuse(slr_graph *graph, slr_fusion_info *info);

/// The macro slr_graph_fuse calls this function, with the struct's size as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_graph_fuse_sized(slr_graph *graph, slr_fusion_info *info, size_t bytes);
#define slr_graph_fuse(graph, info) slr_graph_fuse_sized((graph), (info), sizeof(slr_fusion_info))

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// Fusion makes one kernel, in readable source, of several element-wise operations (one result for each element) or of
/// several kernels. Contract: docs/contract/fusion.md.
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

/// The enum slr_op names an operation on the elements of buffers. In the comments on the operations, `v`, `w` and `x`
/// are the first, second and third operand. An end is an operation that combines many elements, such as a sum. An end
/// can only be the last operation of a list of operations.
typedef enum slr_op {
    SLR_OP_ADD = 1,    ///< v + w
    SLR_OP_SUBTRACT,   ///< v - w
    SLR_OP_MULTIPLY,   ///< v * w
    SLR_OP_DIVIDE,     ///< v / w; integers: a fault where w is 0
    SLR_OP_MINIMUM,    ///< the smaller of v and w; floats: as fminf
    SLR_OP_MAXIMUM,    ///< the larger of v and w; floats: as fmaxf
    SLR_OP_FMA,        ///< v * w + x; floats: rounded once
    SLR_OP_SCALE,      ///< v * w; by default w is one number for all elements (an input with the extent SLR_NUMBER)
    SLR_OP_NEGATE,     ///< -v
    SLR_OP_ABS,        ///< |v|
    SLR_OP_SQRT,       ///< the square root of v; only floats
    SLR_OP_EXP,        ///< e to the power v; only floats
    SLR_OP_LOG,        ///< the natural logarithm of v; only floats
    SLR_OP_ACTIVATION, ///< an slr_activation of v, which the step or slr_fusion_desc names; only floats
    SLR_OP_SUM,        ///< an end: the sum of all elements, or sums along an axis (slr_axis)
    SLR_OP_LARGEST,    ///< an end: the maximum of all elements, or along an axis; floats: as fmaxf
    SLR_OP_SMALLEST,   ///< an end: the minimum of all elements, or along an axis; floats: as fminf
    SLR_OP_SOFTMAX,    ///< an end, only floats: softmax along each row
    SLR_OP_SCALE_BIAS, ///< v * w + x in two roundings; w and x are one number each for all elements
    SLR_OP_CLAMP,      ///< the larger of v and w, but at most x; w and x are one number each for all elements
    SLR_OP_EQUAL, ///< 1 if v == w, else 0; the result has the type SLR_I32. The next five operations also give 1 or 0
    SLR_OP_NOT_EQUAL,     ///< v != w
    SLR_OP_LESS,          ///< v < w
    SLR_OP_LESS_EQUAL,    ///< v <= w
    SLR_OP_GREATER,       ///< v > w
    SLR_OP_GREATER_EQUAL, ///< v >= w
    SLR_OP_SELECT,        ///< v != 0 ? w : x
    SLR_OP_CAST           ///< v, converted to slr_fusion_step.type as C converts it
} slr_op;

/// The enum slr_activation names the functions that SLR_OP_ACTIVATION can apply to v.
typedef enum slr_activation {
    SLR_RELU = 1,  ///< v < 0 ? 0 : v
    SLR_SIGMOID,   ///< 1 / (1 + exp(-v))
    SLR_TANH,      ///< tanh(v)
    SLR_GELU,      ///< v / 2 * (1 + erf(v / sqrt(2)))
    SLR_SILU,      ///< v / (1 + exp(-v))
    SLR_LEAKY_RELU ///< v < 0 ? v / 100 : v
} slr_activation;

/// The enum slr_extent says how many elements an input of the fused kernel has. If an input has the extent
/// SLR_EACH_COLUMN or SLR_EACH_ROW, the kernel's last argument is the number of columns.
typedef enum slr_extent {
    SLR_EACH = 1,    ///< one value for each element
    SLR_NUMBER,      ///< one number for all elements
    SLR_EACH_COLUMN, ///< one value for each column, the same in all rows
    SLR_EACH_ROW     ///< one value for each row, the same in all columns
} slr_extent;

/// The enum slr_axis names the axis along which an end combines elements.
typedef enum slr_axis {
    SLR_ALL = 0,     ///< over all elements: one result; but SLR_OP_SOFTMAX works along each row
    SLR_ALONG_ROW,   ///< along a row, over its columns: one result per row
    SLR_ALONG_COLUMN ///< along a column, over its rows: one result per column
} slr_axis;

/// As the first operand of a step, SLR_NEXT is the result of the previous step; in the first step, SLR_NEXT is the
/// first input. As any other operand, SLR_NEXT is the next input.
#define SLR_NEXT 0u
#define SLR_INPUT(k) (1u + (k))         ///< an operand: input `k`, counted from 0
#define SLR_STEP(k) (0x80000000u + (k)) ///< an operand: the result of the earlier step `k`, counted from 0

/// slr_fusion_step describes one step of a list of operations, if the list is not a simple chain. A zero in any field
/// of slr_fusion_step means the default.
typedef struct slr_fusion_step {
    slr_op op;                 ///< the step's operation
    slr_activation activation; ///< for SLR_OP_ACTIVATION; 0: slr_fusion_desc.activation
    slr_scalar type;           ///< for SLR_OP_CAST: the type of the result
    slr_axis axis;             ///< for an end: the axis along which it combines elements
    uint32_t operand[3];       ///< SLR_NEXT, input k (SLR_INPUT(k)) or the result of step k (SLR_STEP(k))
    uint32_t keep;             ///< 1: the step's result is an output of the fused kernel, too
} slr_fusion_step;

/// slr_fusion_input describes one input of the fused kernel.
typedef struct slr_fusion_input {
    slr_scalar type;   ///< type of the input's elements; 0: slr_fusion_desc.dtype
    slr_extent extent; ///< 0: SLR_NUMBER if the operation needs one number there (such as SLR_OP_CLAMP), else SLR_EACH
} slr_fusion_input;

/// slr_fusion_desc describes the list of operations that slr_fuse fuses: either `ops` or `steps`.
typedef struct slr_fusion_desc {
    uint32_t struct_size;
    uint32_t op_count;         ///< number of elements of `ops` or of `steps`, 1 to 64
    const slr_op *ops;         ///< a chain: the operands of each operation are the previous result and the next inputs
    slr_activation activation; ///< for each SLR_OP_ACTIVATION; 0: SLR_RELU
    slr_scalar dtype;          ///< the inputs' default type: SLR_I32 to SLR_F64; 0: SLR_F32
    const char *name;          ///< the fused kernel's name; NULL: "fused"
    const slr_fusion_step *steps; ///< the steps of a list that is not a chain, instead of `ops`
    /// The types and extents of the first `input_count` inputs. All other inputs have the defaults.
    const slr_fusion_input *inputs;
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

/// slr_fusion_info says what slipring fused, and how much memory traffic the fusion saves.
typedef struct slr_fusion_info {
    /// `inputs`: number of buffers that the fused kernel reads; `outputs`: number of buffers that it writes.
    uint32_t inputs, outputs;
    /// `launches`: number of launches with fusion; `launches_apart`: number without fusion.
    uint32_t launches, launches_apart;
    uint64_t bytes_an_element; ///< bytes that the fused kernel reads and writes per element
    uint64_t bytes_apart;      ///< bytes that the unfused kernels read and write per element
    double bound; ///< bytes_apart / bytes_an_element: the speed-up if only memory limits the speed. 1: none
    /// The fused kernel's source; "" if nothing was fused. The text lives as long as the kernel or graph.
    const char *source;
    /// What slipring did not fuse, with the reasons: one line of text for each reason. The text lives as long as
    /// `source`.
    const char *why_not;
} slr_fusion_info;

/// Makes one kernel from a list of operations. The first parameters of the fused kernel are the inputs, in order: each
/// is a `const T *` or a number. After the inputs come the output buffers: one for each step that the program keeps,
/// and one for the last step. After the output buffers comes the parameter `int n`, the number of elements. If an input
/// has one value for each column or row, or an end works along rows or columns, the last parameter of the fused kernel
/// is `int columns`. If the list of operations has no end, launch the fused kernel with SLR_1D(n) threads or more.
/// docs/contract/fusion.md describes the parameters and launch shapes of ends.
///
/// Threads: any.  Blocks: while the call compiles.  Owns: the caller gets the kernel, and frees it by
/// slr_kernel_destroy. `info` may be NULL.
/// Errors: INVALID (a NULL argument; an unknown operation, activation or type; operands of different types; a step or
///   input that no step reads: the error message names it), UNSUPPORTED (an operation after an end; the device runs no
///   kernels), NO_MEMORY, COMPILE.
SLR_API slr_status slr_fuse(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info);

/// The macro slr_fuse calls slr_fuse_sized with sizeof(slr_fusion_info) as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_fuse_sized(slr_device *device, const slr_fusion_desc *desc, slr_kernel **out,
                                  slr_fusion_info *info, size_t bytes);
#define slr_fuse(device, desc, out, info) slr_fuse_sized((device), (desc), (out), (info), sizeof(slr_fusion_info))

// ---- from kernels -------------------------------------------------------------------------------------------------

/// slr_fusion_part names one kernel of a program, which slr_fuse_kernels fuses with other kernels.
typedef struct slr_fusion_part {
    slr_program *program;
    const char *kernel; ///< NULL: the program's only kernel
} slr_fusion_part;

/// A join says that the parameter `parameter` of the part `part` and the parameter `other` of the part `other_part` are
/// the same buffer or number. The parts of a fused kernel are numbered from 0. Without joins, slipring joins parameters
/// that have the same name and type. If a join names a part as `other_part`, slipring joins the buffers of that part
/// only as the joins say, and ignores equal names.
typedef struct slr_fusion_join {
    uint32_t part, other_part;
    const char *parameter, *other;
} slr_fusion_join;

/// slr_kernel_fusion_desc describes the kernels that slr_fuse_kernels fuses, which are the parts of the fused kernel.
typedef struct slr_kernel_fusion_desc {
    uint32_t struct_size;
    uint32_t part_count;          ///< number of parts, 2 to 32
    const slr_fusion_part *parts; ///< the parts, in the order in which the program would launch them
    const slr_fusion_join *joins; ///< pairs of parameters to join; parameters with the same name and type need no join
    uint32_t join_count;
    uint32_t keep_count;     ///< number of names in `keep`
    const char *const *keep; ///< names of intermediate buffers (see slr_fuse_kernels) that the fused kernel also writes
    const char *name;        ///< the fused kernel's name; NULL: the names of the parts, with _ between them
    uint32_t always;         ///< 1: fuses even if slipring's model predicts that the fused kernel is slower
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

/// Makes one kernel from several element-wise kernels. The fused kernel gives the same results as the separate kernels,
/// bit for bit. A buffer is intermediate if one part writes it, and the last part that uses it only reads it. The loads
/// and stores of a part decide this; `const` does not. The fused kernel has no parameter for an intermediate buffer and
/// does not write it, unless `keep` names the buffer, or the fused kernel also reads the buffer, because a part changes
/// it in place. If two adjacent parts have no buffer in common, but the first part writes exactly one buffer, and the
/// second part has exactly one buffer that it only reads, slipring joins these two buffers.
///
/// Threads: any.  Blocks: while the call compiles.  Owns: the caller gets the kernel, and frees it by
/// slr_kernel_destroy. `info` may be NULL.
/// Errors: INVALID (a NULL argument, a wrong count, programs of different devices), NOT_FOUND (no such kernel,
///   parameter or buffer), UNSUPPORTED (the fused kernel would give wrong results, or be slower by slipring's model:
///   the error message gives the reason), NO_MEMORY, COMPILE.
SLR_API slr_status slr_fuse_kernels(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info);

/// The macro slr_fuse_kernels calls slr_fuse_kernels_sized with sizeof(slr_fusion_info) as `bytes`
/// (docs/contract/abi.md).
SLR_API slr_status slr_fuse_kernels_sized(const slr_kernel_fusion_desc *desc, slr_kernel **out, slr_fusion_info *info,
                                          size_t bytes);
#define slr_fuse_kernels(desc, out, info) slr_fuse_kernels_sized((desc), (out), (info), sizeof(slr_fusion_info))

/// Fuses adjacent launches of a recorded graph, if the results stay the same and slipring's model predicts no loss of
/// speed. After the fusion, the graph no longer writes an intermediate buffer that the program has destroyed and that
/// no other command uses. All buffers that the fused graph writes get the same bytes as before the fusion. `info` may
/// be NULL. The fields `launches` and `launches_apart` count the launches of the whole graph; all other fields of
/// slr_fusion_info describe the fused launches.
///
/// After the fusion, a launch of the graph fails if its rebindings (replacements of buffers for one launch) replace two
/// buffers of a fused kernel by the same buffer.
///
/// Threads: one thread at a time for each graph, while no thread calls slr_graph_launch for this graph.  Blocks: while
/// the call compiles.
/// Owns: nothing.
/// Errors: INVALID (a NULL argument), WRONG_STATE (slr_graph_begin was called for the graph, and slr_graph_end not
///   yet), NO_MEMORY, COMPILE. If slr_graph_fuse fails, the graph is unchanged. slr_graph_fuse succeeds even if some
///   launches cannot be fused: slr_fusion_info.why_not has the reasons.
SLR_API slr_status slr_graph_fuse(slr_graph *graph, slr_fusion_info *info);

/// The macro slr_graph_fuse calls slr_graph_fuse_sized with sizeof(slr_fusion_info) as `bytes` (docs/contract/abi.md).
SLR_API slr_status slr_graph_fuse_sized(slr_graph *graph, slr_fusion_info *info, size_t bytes);
#define slr_graph_fuse(graph, info) slr_graph_fuse_sized((graph), (info), sizeof(slr_fusion_info))

#ifdef __cplusplus
}
#endif
#endif

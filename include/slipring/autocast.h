// SPDX-License-Identifier: Apache-2.0
/// An autocast policy says in which number type (such as f16 or f32) each operation of a neural network runs. A program
/// can read an autocast policy and change it. Contract: docs/contract/ops.md.
#ifndef SLIPRING_AUTOCAST_H
#define SLIPRING_AUTOCAST_H

#include <slipring/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slr_operation {
    SLR_OPERATION_MATMUL = 1,
    SLR_OPERATION_CONVOLUTION,
    SLR_OPERATION_POOLING,
    SLR_OPERATION_ACTIVATION,
    SLR_OPERATION_SOFTMAX,
    SLR_OPERATION_LAYER_NORM,
    SLR_OPERATION_REDUCE,
    SLR_OPERATION_SCAN,
    SLR_OPERATION_TOP_K,
    SLR_OPERATION_EMBEDDING,
    SLR_OPERATION_CROSS_ENTROPY,
    SLR_OPERATION_MEAN_SQUARE
} slr_operation;

#define SLR_TYPE_AS_IT_COMES ((slr_scalar)0) ///< for slr_autocast_set: the operation runs in the type of its operands

typedef struct slr_autocast slr_autocast;

/// Makes an autocast policy with the default types. Matrix products and convolutions run in the type `low`: SLR_F16,
/// SLR_BF16, or SLR_F32 for full precision. Operations that sum many terms or compute exponentials run in the type
/// SLR_F32. Operations for which the policy sets no type run in the type of their operands.
/// Threads: any.  Blocks: no.  Owns: the caller gets the policy, and frees it by slr_autocast_destroy before
/// slr_ops_destroy.
/// Errors: INVALID (a NULL argument, another type as `low`), NO_MEMORY.
SLR_API slr_status slr_autocast_create(slr_ops *ops, slr_scalar low, slr_autocast **out);

/// Releases the policy, and all copies of tensors that slr_autocast_tensor made with this policy. Work that was
/// submitted before slr_autocast_destroy still runs. If `autocast` is NULL, slr_autocast_destroy does nothing.
/// Threads: any, once for each policy.  Blocks: no.
SLR_API void slr_autocast_destroy(slr_autocast *autocast);

/// Sets the type in which the operation `operation` runs. `type` is SLR_F32, SLR_F16, SLR_BF16, or
/// SLR_TYPE_AS_IT_COMES.
/// Threads: one thread at a time for each policy.  Blocks: no.  Errors: INVALID (a NULL argument, no such operation or
/// type).
SLR_API slr_status slr_autocast_set(slr_autocast *autocast, slr_operation operation, slr_scalar type);

/// slr_autocast_visitor is a function of the program, which slr_autocast_visit calls once for each operation. `name` is
/// the operation's name, such as "matmul". `type` is the name of the type in which the operation runs, such as "f16";
/// for SLR_TYPE_AS_IT_COMES, `type` is an empty text. `why` is the reason for the operation's default type, or "set" if
/// the program set the type by slr_autocast_set. The texts `name`, `type` and `why` live as long as the process.
typedef void slr_autocast_visitor(void *user, slr_operation operation, const char *name, const char *type,
                                  const char *why);

/// Calls `visit` once for each operation, in the order of the enum slr_operation.
/// Threads: one thread at a time for each policy.  Blocks: no.  Errors: INVALID (a NULL argument).
SLR_API slr_status slr_autocast_visit(const slr_autocast *autocast, slr_autocast_visitor *visit, void *user);

/// Converts the tensor `in` to the type that the policy has for `operation`. If `in` already has that type, `out` is
/// `in` itself. If `in` has another type, `out` is a copy in a buffer from the device's pool (<slipring/pool.h>), and
/// the conversion is work of the stream `stream`. The converted copy is valid until the program calls
/// slr_autocast_clear.
/// Threads: one thread at a time for each policy.  Blocks: no.  Owns: the policy keeps the buffer of the converted
/// copy.
/// Errors: those of the operations of <slipring/ops.h>; INVALID (no such operation).
SLR_API slr_status slr_autocast_tensor(slr_autocast *autocast, slr_stream *stream, slr_operation operation,
                                       const slr_tensor *in, slr_tensor *out);

/// Releases all copies that slr_autocast_tensor made with the policy `autocast`. A program should call
/// slr_autocast_clear after each training step. Submitted work keeps the copies that it uses, until the work ends. If
/// `autocast` is NULL, slr_autocast_clear does nothing.
/// Threads: one thread at a time for each policy.  Blocks: no.
SLR_API void slr_autocast_clear(slr_autocast *autocast);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// Autocast: which operation runs in which type, as a policy that can be read and changed.
/// Contract: docs/contract/ops.md.
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

#define SLR_TYPE_AS_IT_COMES ((slr_scalar)0) ///< an operation takes its operands as they are

typedef struct slr_autocast slr_autocast;

/// Makes the default policy: products and convolutions in `low` (SLR_F16 or SLR_BF16; SLR_F32 for a policy that casts
/// nothing), what sums many terms or takes exponentials in SLR_F32, and the others as their operands come.
/// Threads: any.  Blocks: no.  Owns: the caller gets the policy: slr_autocast_destroy, before its operations.
/// Errors: INVALID (NULL, no such type), NO_MEMORY.
SLR_API slr_status slr_autocast_create(slr_ops *ops, slr_scalar low, slr_autocast **out);

/// Submitted work still runs. NULL does nothing.
/// Threads: any, once.  Blocks: no.
SLR_API void slr_autocast_destroy(slr_autocast *autocast);

/// Changes the type of one operation: SLR_F32, SLR_F16, SLR_BF16 or SLR_TYPE_AS_IT_COMES.
/// Threads: one at a time per policy.  Blocks: no.  Errors: INVALID (NULL, no such operation or type).
SLR_API slr_status slr_autocast_set(slr_autocast *autocast, slr_operation operation, slr_scalar type);

/// `name`: "matmul"; `type`: "f16", or "" for as it comes; `why`: of the default, or "set". They live as long as the
/// process.
typedef void slr_autocast_visitor(void *user, slr_operation operation, const char *name, const char *type,
                                  const char *why);

/// Visits all operations in the order of slr_operation.
/// Threads: one at a time per policy.  Blocks: no.  Errors: INVALID (NULL).
SLR_API slr_status slr_autocast_visit(const slr_autocast *autocast, slr_autocast_visitor *visit, void *user);

/// `out` becomes `in` in the operation's type: `in` itself where it has that type already, else a copy that is cast in
/// the stream, into memory of the device's pool. The copy lives until slr_autocast_clear.
/// Threads: one at a time per policy.  Blocks: no.  Owns: the policy has the buffer.
/// Errors: as operations; INVALID (no such operation).
SLR_API slr_status slr_autocast_tensor(slr_autocast *autocast, slr_stream *stream, slr_operation operation,
                                       const slr_tensor *in, slr_tensor *out);

/// Releases all copies: after a step. Submitted work still has them. NULL does nothing.
/// Threads: one at a time per policy.  Blocks: no.
SLR_API void slr_autocast_clear(slr_autocast *autocast);

#ifdef __cplusplus
}
#endif
#endif

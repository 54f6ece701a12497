// SPDX-License-Identifier: Apache-2.0
/// Host ring kernels in loop form: a main function on its own thread. It takes messages, holds any number of them, and
/// completes them in any order. Contract: docs/contract/loops.md.
///
///     static slr_status echo(void *user, slr_context *context)
///     {
///         slr_delivery held[8];
///         uint32_t taken;
///         slr_status status;
///         while ((status = slr_take(context, held, 8, 0, FOREVER, &taken)) == SLR_OK)
///             for (uint32_t k = 0; k < taken; ++k) {
///                 slr_reply_to(&held[k], held[k].message, held[k].bytes);
///                 slr_done(&held[k]);
///             }
///         return status == SLR_END ? SLR_OK : status;
///     }
///
/// When main returns, the input is closed. If it returns SLR_OK and every accepted message has completed, the ring
/// kernel has terminated. Otherwise it has failed; its held and pending messages remain until slr_ring_terminate
/// returns them. Only main's own thread may call the functions of this header.
#ifndef SLIPRING_LOOP_H
#define SLIPRING_LOOP_H

#include <slipring/port.h>
#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Takes up to `most` messages, the highest priority first. Waits for the first until `timeout_ns`. Then, while there
/// are fewer than `most`, waits up to `linger_ns` for more. Each message is held until slr_done or slr_fail; its
/// message and state are valid until then. A paused ring kernel takes no messages.
///
/// SLR_END: no more messages will come. Either the input is closed and everything has been taken, or the deadline of
/// slr_ring_terminate has passed. Held messages can still be completed.
///
/// Threads: the one that runs main.  Blocks: until `timeout_ns` plus `linger_ns`.  `taken` is always set.
/// Errors: TIMEOUT (no message came; the ring kernel is paused; no space is left for possible replies: held messages
///   and replies not yet received use it), INVALID.
SLR_API slr_status slr_take(slr_context *context, slr_delivery *out, uint32_t most, uint64_t linger_ns,
                            uint64_t timeout_ns, uint32_t *taken);

/// Completes a held message as handled and publishes its replies.
/// Threads: the one that runs main.  Blocks: no.  Errors: INVALID (the message is not held, or no longer).
SLR_API slr_status slr_done(const slr_delivery *delivery);

/// Completes a held message as faulted, with the reason `status` (not SLR_OK). Its replies are dropped, its instance is
/// reset to the initial state, and its sender receives a notice. In a handler: the same, when the handler returns; in a
/// batch for this message alone.
/// Threads: the one that runs main or the handler.  Blocks: no.
/// Errors: INVALID (the message is not held, or no longer; `status` is SLR_OK).
SLR_API slr_status slr_fail(const slr_delivery *delivery, slr_status status);

/// Waits for the end of a pause. SLR_OK: active, or draining.
/// Threads: the one that runs main.  Blocks: until `timeout_ns`.  Errors: TIMEOUT (still paused), END (as slr_take).
SLR_API slr_status slr_wait_until_active(slr_context *context, uint64_t timeout_ns);

/// Returns 1 if the ring kernel is active or draining: not paused, and not asked to stop.
/// Threads: the one that runs main.  Blocks: no.
SLR_API int slr_is_active(slr_context *context);

/// Returns 1 if main should return at once: the deadline of slr_ring_terminate has passed.
/// Threads: the one that runs main.  Blocks: no.
SLR_API int slr_should_terminate(slr_context *context);

/// The loop's own port, for sends to other ring kernels and for their replies. The first call opens it.
/// Threads: the one that runs main.  Blocks: no.  Owns: nothing: the port is closed after main returns.
/// Errors: NO_MEMORY, SYSTEM.
SLR_API slr_status slr_context_port(slr_context *context, slr_port **out);

#ifdef __cplusplus
}
#endif
#endif

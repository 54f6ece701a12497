// SPDX-License-Identifier: Apache-2.0
/// Host ring kernels in loop form: a main with a thread of its own, which takes messages, holds as many as it likes,
/// and ends each in any order. Contract: docs/contract/loops.md.
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
/// When main returns the input is closed. If it returns SLR_OK and all that was accepted has ended, the ring kernel has
/// terminated; otherwise it has failed, and what it held and what was pending stay until slr_ring_terminate hands them
/// back. Every call of this header is for main's own thread.
#ifndef SLIPRING_LOOP_H
#define SLIPRING_LOOP_H

#include <slipring/port.h>
#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Takes up to `most` messages, the highest priority first: waits for the first until `timeout_ns`, then, while there
/// are fewer than `most`, up to `linger_ns` for more. Each is held, and its message and state are valid, until slr_done
/// or slr_fail. Nothing is taken while the ring kernel is paused.
///
/// SLR_END: nothing will come any more, because the input is closed and everything has been taken, or because the
/// deadline of slr_ring_terminate has passed. What is held can still be ended.
///
/// Threads: main's.  Blocks: until `timeout_ns` plus `linger_ns`.  Owns: nothing.  `taken` is always set.
/// Errors: TIMEOUT (none came, or it is paused, or no room is left for the replies that it might send: what is held and
/// what its senders have not received count), INVALID.
SLR_API slr_status slr_take(slr_context *context, slr_delivery *out, uint32_t most, uint64_t linger_ns,
                            uint64_t timeout_ns, uint32_t *taken);

/// Ends a held message as handled; its replies are sent now.
/// Threads: main's.  Blocks: no.  Errors: INVALID (it is not held, or not any more).
SLR_API slr_status slr_done(const slr_delivery *delivery);

/// Ends a held message as faulted, for the reason `status` (not SLR_OK): its replies are dropped, its instance is reset
/// to its initial state, its sender receives a notice. In a handler: the same, when it returns; of a batch for this
/// message alone. Threads: main's, or the handler's.  Blocks: no.  Errors: INVALID (it is not held, or not any more;
/// `status` is SLR_OK).
SLR_API slr_status slr_fail(const slr_delivery *delivery, slr_status status);

/// Waits out a pause. SLR_OK: active, or draining.
/// Threads: main's.  Blocks: until `timeout_ns`.  Errors: TIMEOUT (still paused), END (as slr_take).
SLR_API slr_status slr_wait_until_active(slr_context *context, uint64_t timeout_ns);

/// Whether it is active or draining: not paused, and not to stop.  Threads: main's.  Blocks: no.
SLR_API int slr_is_active(slr_context *context);

/// Whether main should return at once: the deadline of slr_ring_terminate has passed.  Threads: main's.  Blocks: no.
SLR_API int slr_should_terminate(slr_context *context);

/// The loop's own port, to send to other ring kernels and receive their replies with. Opened by the first call.
/// Threads: main's.  Blocks: no.  Owns: nothing: it is closed when main has returned.  Errors: NO_MEMORY, SYSTEM.
SLR_API slr_status slr_context_port(slr_context *context, slr_port **out);

#ifdef __cplusplus
}
#endif
#endif

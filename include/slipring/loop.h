// SPDX-License-Identifier: Apache-2.0
/// A ring kernel is a part of a program that handles messages, with a mailbox (a queue of messages) and states. A ring
/// kernel in loop form has a main function that runs on its own host thread. The main function takes messages, may hold
/// several of them at a time, and completes them in any order. Contract: docs/contract/loops.md.
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
/// When the main function returns, the ring kernel accepts no more messages. If the main function returns SLR_OK and
/// every accepted message has completed, the ring kernel has terminated. If the main function returns an error, or
/// returns while messages are held (taken, not yet completed) or pending (accepted, not yet taken), the ring kernel has
/// failed. The held and pending messages of a failed ring kernel remain until slr_ring_terminate returns them to the
/// program. Only the thread of the main function may call the functions of this header; a host handler may call
/// slr_fail, too.
#ifndef SLIPRING_LOOP_H
#define SLIPRING_LOOP_H

#include <slipring/port.h>
#include <slipring/ring.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Takes up to `most` messages from the mailbox, the highest priority first. slr_take waits for the first message for
/// at most `timeout_ns`. If fewer than `most` messages are present then, slr_take waits up to `linger_ns` for more
/// messages. The main function holds each message until it calls slr_done or slr_fail for the message; until then, the
/// message and its instance's state stay valid. While the ring kernel is paused, slr_take takes no messages. `taken`
/// always gets the number of messages that the call took, also after an error.
///
/// The result SLR_END of slr_take means that no more messages will come. slr_take gives SLR_END for two reasons: the
/// input is closed and the main function has taken all messages, or the program has called slr_ring_terminate, and the
/// deadline of that call has passed. After SLR_END, the main function can still complete the messages that it holds.
///
/// Threads: the thread that runs main.  Blocks: for at most `timeout_ns` plus `linger_ns`.
/// Errors: TIMEOUT (no message came; the ring kernel is paused; the port of the next message has no space left for
///   replies, because held messages and unreceived replies use the space), INVALID.
SLR_API slr_status slr_take(slr_context *context, slr_delivery *out, uint32_t most, uint64_t linger_ns,
                            uint64_t timeout_ns, uint32_t *taken);

/// Completes a message that the main function holds: the message counts as handled, and the sender gets the replies to
/// the message.
/// Threads: the thread that runs main.  Blocks: no.  Errors: INVALID (the main function does not hold the message, or
/// holds it no longer).
SLR_API slr_status slr_done(const slr_delivery *delivery);

/// Completes a message that the main function holds: the message counts as faulted, with the reason `status`, which is
/// not SLR_OK. slipring drops the message's replies, resets the state of the message's instance to its initial value,
/// and sends a notice (a reply without payload) to the sender. A host handler may call slr_fail for its message, too;
/// the message then faults when the handler returns. If a batch handler calls slr_fail, only the given message of the
/// batch faults.
/// Threads: the thread that runs main or the host handler.  Blocks: no.
/// Errors: INVALID (the main function does not hold the message, or holds it no longer; `status` is SLR_OK).
SLR_API slr_status slr_fail(const slr_delivery *delivery, slr_status status);

/// Waits until the ring kernel is no longer paused. If slr_wait_until_active returns SLR_OK, the ring kernel is active
/// or draining.
/// Threads: the thread that runs main.  Blocks: for at most `timeout_ns`.  Errors: TIMEOUT (the ring kernel is still
/// paused), END (as for slr_take).
SLR_API slr_status slr_wait_until_active(slr_context *context, uint64_t timeout_ns);

/// Returns 1 if the ring kernel is active or draining, and 0 if the ring kernel is paused or the deadline of
/// slr_ring_terminate has passed.
/// Threads: the thread that runs main.  Blocks: no.
SLR_API int slr_is_active(slr_context *context);

/// Returns 1 if the main function should return at once, because the deadline of slr_ring_terminate has passed.
/// Otherwise slr_should_terminate returns 0.
/// Threads: the thread that runs main.  Blocks: no.
SLR_API int slr_should_terminate(slr_context *context);

/// Gives the loop's own port, through which the main function can send to other ring kernels and receive their replies.
/// The first call of slr_context_port opens the loop's port.
/// Threads: the thread that runs main.  Blocks: no.  Owns: slipring keeps the port and closes it after main returns.
/// Errors: NO_MEMORY, SYSTEM.
SLR_API slr_status slr_context_port(slr_context *context, slr_port **out);

#ifdef __cplusplus
}
#endif
#endif

// SPDX-License-Identifier: Apache-2.0
/// The header <slipring/device.h> is for kernel sources, which contain handlers (functions that handle messages) and
/// kernels. Three kinds of compiler read the header:
///   - slipring's own compiler, which already knows the words that this header defines for other compilers.
///   - nvcc, for which `__ring__`, `__ring_block__` and `__ring_batch__` handlers become plain `__device__` functions.
///   - a host C or C++ compiler. Because a host compiler reads the header, host and device can share a header of
///     structs, and the host can call a handler as a plain C function.
/// For a host compiler, define the following functions or macros before the include:
///   - `slr_host_reply(const void *reply, size_t bytes)`, if the handler replies;
///   - `slr_host_reply_to(unsigned message, const void *reply, size_t bytes)`, if a `__ring_batch__` handler replies;
///   - `slr_host_send(const void *outlet, unsigned instance, const void *message, size_t bytes)`, if the handler sends.
///     `outlet` is the output channel. ring_send, which names no instance, passes 0xffffffff as `instance`.
#ifndef SLIPRING_DEVICE_H
#define SLIPRING_DEVICE_H

#if defined(__SLIPRING__)
// The following words are built into slipring's front end: __ring__, __device__, ring_reply, ring_reply_to, ring_to,
// ring_send, ring_send_at, ring_instance, the math functions and __nv_atomic_*.
#else

#if defined(__CUDACC__)
#define __ring__ __device__
#define __ring_block__ __device__
#define __ring_batch__ __device__
#else
#include <math.h>
#define __ring__
#define __ring_block__
#define __ring_batch__
#ifndef __device__
#define __device__
#define __constant__
#define __forceinline__ inline
#endif
#endif

#define ring_reply(reply) slr_host_reply((reply), sizeof *(reply))
#define ring_reply_to(message, reply) slr_host_reply_to((message), (reply), sizeof *(reply))
#define ring_to(message) message *
#define ring_send(outlet, message) slr_host_send((outlet), 0xffffffffu, (message), sizeof *(message))
#define ring_send_at(outlet, instance, message) slr_host_send((outlet), (instance), (message), sizeof *(message))

#endif
#endif

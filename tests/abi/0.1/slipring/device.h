// SPDX-License-Identifier: Apache-2.0
/// What a kernel source may include. It is read three ways:
///   by slipring's own front end, which knows the words below as built-ins;
///   by nvcc, where `__ring__` and `__ring_block__` handlers become plain `__device__` functions;
///   by a host C or C++ compiler, so that host and device share one header of structs, and a handler can be called as a
///   plain C function. The file that includes it so must first define `slr_host_reply(const void *reply, size_t bytes)`
///   (a function or a macro) if the handler replies, and
///   `slr_host_send(const void *outlet, unsigned instance, const void *message, size_t bytes)` if it sends (instance
///   0xffffffff: that of ring_send).
#ifndef SLIPRING_DEVICE_H
#define SLIPRING_DEVICE_H

#if defined(__SLIPRING__)
// __ring__, __device__, ring_reply, ring_to, ring_send, ring_send_at, ring_instance, the math functions and
// __nv_atomic_* are built in.
#else

#if defined(__CUDACC__)
#define __ring__ __device__
#define __ring_block__ __device__
#else
#include <math.h>
#define __ring__
#define __ring_block__
#ifndef __device__
#define __device__
#define __constant__
#define __forceinline__ inline
#endif
#endif

#define ring_reply(reply) slr_host_reply((reply), sizeof *(reply))
#define ring_to(message) message *
#define ring_send(outlet, message) slr_host_send((outlet), 0xffffffffu, (message), sizeof *(message))
#define ring_send_at(outlet, instance, message) slr_host_send((outlet), (instance), (message), sizeof *(message))

#endif
#endif

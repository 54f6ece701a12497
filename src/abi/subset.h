// SPDX-License-Identifier: Apache-2.0
// Host C's spelling of the few CUDA words that code written in the kernel subset uses. slipring's front end and nvcc
// know these words themselves and never read this file.
#ifndef SLRI_ABI_SUBSET_H
#define SLRI_ABI_SUBSET_H

#define __device__ static inline
#define __NV_ATOMIC_RELAXED __ATOMIC_RELAXED
#define __NV_ATOMIC_ACQUIRE __ATOMIC_ACQUIRE
#define __NV_ATOMIC_RELEASE __ATOMIC_RELEASE
#define __NV_ATOMIC_ACQ_REL __ATOMIC_ACQ_REL
#define __NV_THREAD_SCOPE_SYSTEM 0
#define __nv_atomic_load_n(p, order, scope) __atomic_load_n((p), (order))
#define __nv_atomic_store_n(p, value, order, scope) __atomic_store_n((p), (value), (order))
#define __nv_atomic_compare_exchange_n(p, expected, desired, weak, success, failure, scope)                            \
    __atomic_compare_exchange_n((p), (expected), (desired), (weak), (success), (failure))
#define __nv_atomic_fetch_add(p, value, order, scope) __atomic_fetch_add((p), (value), (order))
#define __nv_atomic_fetch_sub(p, value, order, scope) __atomic_fetch_sub((p), (value), (order))
#define __clz(x) __builtin_clz((unsigned)(x))

#endif

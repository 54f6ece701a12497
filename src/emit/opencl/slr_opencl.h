// SPDX-License-Identifier: Apache-2.0
// What stands in front of emitted OpenCL C: what the words of emit/device/slr_spaces.h, which comes next, are made of.
// clang-format off
#define SLRI_FN static inline __attribute__((always_inline))
#define SLRI_SPACE_G __global
#define SLRI_SPACE_L __local
#define SLRI_SPACE_P __private
#define SLRI_SPACE_C __constant
#define SLRI_ALIGNED_16 __attribute__((aligned(16)))
#define SLRI_FLOAT(bits) as_float(bits)
#define SLRI_DOUBLE(bits) as_double(bits)
#pragma OPENCL FP_CONTRACT OFF
#define SLRI_OWN(f) f
#define SLRI_OUT(x) &x
#define SLRI_CAST(T, p) ((T)(p))
#ifdef cl_khr_fp64
#define SLRI_F64 double
#endif
#define SLRI_SWAP_32(S) atomic_cmpxchg
#ifdef SLRI_CLOCK
#define SLRI_TICKS() ((ulong)__builtin_readcyclecounter())
#else
#define SLRI_TICKS() ((ulong)0)
#endif

// ---- atomics. Orders are 0 relaxed, 1 acquire, 2 release, 3 acquire and release, 4 sequentially consistent; scopes 0
// block, 1 device, 2 system.

#ifdef SLRI_C11_ATOMICS
#ifdef SLRI_SVM_SCOPE
#define slri_system memory_scope_all_svm_devices
#else
#define slri_system memory_scope_device
#endif
#define slri_scope(scope) ((scope) == 0 ? memory_scope_work_group : (scope) == 1 ? memory_scope_device : slri_system)
#define slri_order(order) \
    ((order) == 0 ? memory_order_relaxed : (order) == 1 ? memory_order_acquire : (order) == 2 ? memory_order_release : \
     (order) == 3 ? memory_order_acq_rel : memory_order_seq_cst)
#define slri_failed(order) ((order) == 2 ? memory_order_relaxed : (order) == 3 ? memory_order_acquire : slri_order(order))
SLRI_FN void slri_fence(int order, int scope)
{
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE, slri_order(order), slri_scope(scope));
}
#define slri_atomic_I32 atomic_int
#define slri_atomic_U32 atomic_uint
#define slri_atomic_I64 atomic_long
#define slri_atomic_U64 atomic_ulong
#else
SLRI_FN void slri_fence(int order, int scope) { mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE); }
#endif

// An operation of OpenCL's own between fences.
#define SLRI_DIRECT(name, op, K, type, S) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { slri_before(order, scope); type a = op(p, b); slri_after(order, scope); return a; }
#ifdef SLRI_C11_ATOMICS
#define SLRI_FETCH(name, op, K, type, S) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { return op((volatile SLRI_SPACE_##S slri_atomic_##K *)p, b, slri_order(order), slri_scope(scope)); }
#define SLRI_INTEGERS(K, type, S, prefix) \
    SLRI_FN type slri_load_##K##_##S(volatile SLRI_SPACE_##S type *p, int order, int scope) \
    { return atomic_load_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, slri_order(order), slri_scope(scope)); } \
    SLRI_FN void slri_store_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { atomic_store_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, b, slri_order(order), slri_scope(scope)); } \
    SLRI_FN type slri_cas_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b, int order, int scope) \
    { \
        atomic_compare_exchange_strong_explicit((volatile SLRI_SPACE_##S slri_atomic_##K *)p, &old, b, \
                                                slri_order(order), slri_failed(order), slri_scope(scope)); \
        return old; \
    } \
    SLRI_FETCHES(K, type, S)
#else
#define SLRI_PLAIN(K, type, S) \
    SLRI_FN type slri_load_##K##_##S(volatile SLRI_SPACE_##S type *p, int order, int scope) \
    { if (order == 4) slri_fence(order, scope); type a = *p; slri_after(order, scope); return a; } \
    SLRI_FN void slri_store_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { slri_before(order, scope); *p = b; if (order == 4) slri_fence(order, scope); }
#define SLRI_EXCHANGES(cas, K, type, S) \
    SLRI_FN type slri_cas_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b, int order, int scope) \
    { slri_before(order, scope); type a = cas(p, old, b); slri_after(order, scope); return a; }
#define SLRI_INTEGERS(K, type, S, prefix) \
    SLRI_PLAIN(K, type, S) SLRI_EXCHANGES(prefix##cmpxchg, K, type, S) \
    SLRI_DIRECT(add, prefix##add, K, type, S) SLRI_DIRECT(sub, prefix##sub, K, type, S) \
    SLRI_DIRECT(exchange, prefix##xchg, K, type, S) SLRI_DIRECT(min, prefix##min, K, type, S) \
    SLRI_DIRECT(max, prefix##max, K, type, S) SLRI_DIRECT(and, prefix##and, K, type, S) \
    SLRI_DIRECT(or, prefix##or, K, type, S) SLRI_DIRECT(xor, prefix##xor, K, type, S)
#endif

// ---- a block

#define SLRI_SYNC() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
SLRI_FN uint slri_lane(void)
{
    return (uint)(get_local_id(0) + get_local_size(0) * (get_local_id(1) + get_local_size(1) * get_local_id(2)));
}
SLRI_FN uint slri_threads(void) { return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2)); }
// What goes through `scratch` ends with a barrier, so that the next finds it free.
#define slri_count(value, scratch) slri_count_with(value, slri_lane() == 0, (volatile __local uint *)(scratch))
#define SLRI_COUNT(value) slri_count(value, slri_scratch)
#define SLRI_THREADS() ((int)slri_threads())

// ---- warps

#ifdef SLRI_SUB_GROUPS
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#ifdef SLRI_SUB_GROUPS_REQUIRED
#define SLRI_KERNEL __kernel __attribute__((intel_reqd_sub_group_size(32)))
#endif
#define SLRI_SYNC_WARP() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define SLRI_LEND(bits) (void)lanes
#define SLRI_LENT(bits, lane) sub_group_shuffle(bits, lane)
#define SLRI_LENT_ALL() (void)0
#define SLRI_BALLOT(value) sub_group_ballot(value).x
#else
#define SLRI_SYNC_WARP() SLRI_SYNC()
#define SLRI_LEND(bits) (lanes[slri_lane()] = (bits), SLRI_SYNC())
#define SLRI_LENT(bits, lane) lanes[(slri_lane() & ~31u) + (lane)]
#define SLRI_LENT_ALL() SLRI_SYNC()
#endif
#ifndef SLRI_KERNEL
#define SLRI_KERNEL __kernel
#endif

SLRI_FN uint slri_warp_threads(void) // of this thread's
{
    uint left = slri_threads() - (slri_lane() & ~31u);
    return left < 32 ? left : 32;
}
SLRI_FN uint slri_present(void)
{
    return 0xffffffffu >> (32 - slri_warp_threads());
}
#define SLRI_LANES __local ulong *
#define SLRI_LANE(lanes) slri_lane()
#define SLRI_OWN_LANES slri_scratch
#define SLRI_AT_ONCE(name, mask, value) (void)0
typedef uint slri_word_4 __attribute__((may_alias)); // as wide as the value, in the same memory
typedef ulong slri_word_8 __attribute__((may_alias));

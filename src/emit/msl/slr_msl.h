// SPDX-License-Identifier: Apache-2.0
// What stands in front of emitted MSL, behind #include <metal_stdlib>: what the words of emit/device/slr_spaces.h,
// which comes next, are made of.
// clang-format off
#pragma METAL fp math_mode(safe)
#pragma METAL fp contract(off)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define SLRI_FN static inline __attribute__((always_inline))
#ifdef SLRI_COHERENT // threads of several blocks read what others wrote
#define SLRI_SPACE_G coherent(device) device
#else
#define SLRI_SPACE_G device
#endif
#define SLRI_SPACE_L threadgroup
#define SLRI_SPACE_P thread
#define SLRI_SPACE_C constant
#define SLRI_ALIGNED_16 __attribute__((aligned(16)))
#define as_int(a) as_type<int>(a)
#define as_uint(a) as_type<uint>(a)
#define as_long(a) as_type<long>(a)
#define as_ulong(a) as_type<ulong>(a)
#define as_float(a) as_type<float>(a)
#define SLRI_F64 ulong // a double is only moved, as its bits
#define as_double(a) as_type<ulong>(a)
#define SLRI_FLOAT(bits) as_float(bits)
#define SLRI_OWN(f) metal::f
#define SLRI_OUT(x) x
#define SLRI_CAST(T, p) reinterpret_cast<T>(p) // within an address space alone
#define SLRI_TICKS() ((ulong)0)

struct slri_place {
    metal::uint3 thread_at, block_at, block_size, grid_size;
    uint lane;
};

// ---- atomics. Metal's are relaxed: an order is a fence. Orders are 0 relaxed, 1 acquire, 2 release, 3 acquire and
// release, 4 sequentially consistent; scopes 0 block, 1 device, 2 system, which is taken for the device.

SLRI_FN void slri_fence(int, int scope)
{
#ifdef SLRI_COHERENT
    if (scope == 0)
        metal::atomic_thread_fence(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup,
                                   metal::memory_order_seq_cst, metal::thread_scope_threadgroup);
    else
        metal::atomic_thread_fence(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup,
                                   metal::memory_order_seq_cst, metal::thread_scope_device);
#endif
}
#define slri_atomic_I32 metal::atomic_int
#define slri_atomic_U32 metal::atomic_uint
#define SLRI_WORD(K, p, S) SLRI_CAST(volatile SLRI_SPACE_##S slri_atomic_##K *, p)
#define SLRI_FETCH(name, op, K, type, S) \
    SLRI_FN type slri_##name##_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { \
        slri_before(order, scope); \
        type a = metal::op(SLRI_WORD(K, p, S), b, metal::memory_order_relaxed); \
        slri_after(order, scope); \
        return a; \
    }
// Metal's own compare and exchange may fail without a reason.
#define SLRI_INTEGERS(K, type, S, prefix) \
    SLRI_FN type slri_load_##K##_##S(volatile SLRI_SPACE_##S type *p, int order, int scope) \
    { \
        if (order == 4) slri_fence(order, scope); \
        type a = metal::atomic_load_explicit(SLRI_WORD(K, p, S), metal::memory_order_relaxed); \
        slri_after(order, scope); \
        return a; \
    } \
    SLRI_FN void slri_store_##K##_##S(volatile SLRI_SPACE_##S type *p, type b, int order, int scope) \
    { \
        slri_before(order, scope); \
        metal::atomic_store_explicit(SLRI_WORD(K, p, S), b, metal::memory_order_relaxed); \
        if (order == 4) slri_fence(order, scope); \
    } \
    SLRI_FN type slri_swap_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b) \
    { \
        type seen = old; \
        while (!metal::atomic_compare_exchange_weak_explicit(SLRI_WORD(K, p, S), &seen, b, metal::memory_order_relaxed, \
                                                             metal::memory_order_relaxed) && seen == old) \
            ; \
        return seen; \
    } \
    SLRI_FN type slri_cas_##K##_##S(volatile SLRI_SPACE_##S type *p, type old, type b, int order, int scope) \
    { \
        slri_before(order, scope); \
        type a = slri_swap_##K##_##S(p, old, b); \
        slri_after(order, scope); \
        return a; \
    } \
    SLRI_FETCHES(K, type, S)
#define SLRI_SWAP_32(S) slri_swap_U32_##S

// ---- a block

#define SLRI_SYNC() metal::threadgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup)
#define SLRI_COUNT(value) \
    slri_count_with(value, slri_at.thread_at.x + slri_at.thread_at.y + slri_at.thread_at.z == 0, slri_votes)
#define SLRI_THREADS() ((int)(slri_at.block_size.x * slri_at.block_size.y * slri_at.block_size.z))

// ---- a warp is a simdgroup of 32

#define SLRI_SUB_GROUPS
#define SLRI_SYNC_WARP() metal::simdgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup)
#define SLRI_BALLOT(value) (uint)(ulong)(metal::simd_vote::vote_t)metal::simd_ballot(value)
SLRI_FN uint slri_present(void) { return SLRI_BALLOT(true); }
SLRI_FN uint slri_lent(uint bits, uint lane) { return metal::simd_shuffle(bits, (ushort)lane); }
SLRI_FN ulong slri_lent(ulong bits, uint lane)
{
    return (ulong)slri_lent((uint)(bits >> 32), lane) << 32 | slri_lent((uint)bits, lane);
}
#define SLRI_LANES uint
#define SLRI_LANE(lanes) lanes
#define SLRI_OWN_LANES slri_at.lane
#define SLRI_LEND(bits) (void)lanes
#define SLRI_LENT(bits, lane) slri_lent(bits, lane)
#define SLRI_LENT_ALL() (void)0
typedef uint slri_word_4;
typedef ulong slri_word_8;
// All of the warp are in the mask, as nearly always.
#define slri_simd_add metal::simd_sum
#define slri_simd_min metal::simd_min
#define slri_simd_max metal::simd_max
#define slri_simd_and metal::simd_and
#define slri_simd_or metal::simd_or
#define slri_simd_xor metal::simd_xor
#define SLRI_AT_ONCE(name, mask, value) \
    if (metal::simd_all((slri_present() & ~mask) == 0)) \
        return slri_simd_##name(value)

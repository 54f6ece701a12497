// SPDX-License-Identifier: Apache-2.0
// What stands in front of emitted CUDA C for HIPRTC: those of CUDA's words that HIP has not, or has with another
// meaning. slipring's front end skips it. A warp is 32 lanes; of a wave of 64 each half is one. Lanes of a wave run in
// step, so that those who are at a word at all are at it together: a mask only leaves some of them out.
// clang-format off
#ifndef __SLIPRING__
#define SLRI_HIP 1
#define SLRI_HIP_FN static __device__ inline __attribute__((always_inline))
#ifndef SLRI_PLACE // a test numbers the places that lanes are at
#define SLRI_PLACE (void)0
#endif

#ifdef __AMDGCN__ // not where a test compiles the text for the host
#undef __launch_bounds__ // its second number means something else to HIP
#define __launch_bounds__(most, ...) __attribute__((amdgpu_flat_work_group_size(1, most)))
#endif
SLRI_HIP_FN unsigned slri_wave_lanes(void) { return (unsigned)warpSize; } // 32 or 64
#define warpSize 32

// ---- warps ---------------------------------------------------------------------------------------------------------

SLRI_HIP_FN unsigned slri_wave_lane(void) { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
// Of the lanes that are here: the bits of the own warp.
SLRI_HIP_FN unsigned slri_votes(bool vote) { return (unsigned)(__ballot64(vote) >> (slri_wave_lane() & 32u)); }
#define SLRI_PART(mask) ((mask) & (SLRI_PLACE, slri_votes(true)))
// The value of lane `from`; the own one where that takes no part.
template <class T> SLRI_HIP_FN T slri_from_lane(unsigned mask, T value, unsigned from, bool is_inside)
{
    static_assert(sizeof(T) % 4 == 0, "whole words");
    int word[sizeof(T) / 4];
    const unsigned part = mask & slri_votes(true); // of all who are here, also those outside
    const bool takes = is_inside && (part >> (from & 31u) & 1u) != 0;
    const unsigned at = ((slri_wave_lane() & 32u) | (from & 31u)) * 4u;
    __builtin_memcpy(word, &value, sizeof word);
    for (unsigned i = 0; i < sizeof(T) / 4; ++i) {
        const int other = __builtin_amdgcn_ds_bpermute((int)at, word[i]);
        word[i] = takes ? other : word[i];
    }
    __builtin_memcpy(&value, word, sizeof word);
    return value;
}
#define SLRI_SHUFFLE(name, by_type, source, is_inside) \
    template <class T> SLRI_HIP_FN T name(unsigned mask, T value, by_type by, int width = 32) \
    { \
        const int own = (int)(slri_wave_lane() & 31u), first = own & -width, from = (source); \
        (void)first; \
        return slri_from_lane(mask, value, (unsigned)from, is_inside); \
    }
SLRI_SHUFFLE(slri_shfl, int, first + (by & (width - 1)), true)
SLRI_SHUFFLE(slri_shfl_up, unsigned, own - (int)by, by < 32 && from >= first)
SLRI_SHUFFLE(slri_shfl_down, unsigned, own + (int)by, by < 32 && from < first + width)
SLRI_SHUFFLE(slri_shfl_xor, int, own ^ by, from >= 0 && from < first + width)
#define __shfl_sync(...) (SLRI_PLACE, slri_shfl(__VA_ARGS__))
#define __shfl_up_sync(...) (SLRI_PLACE, slri_shfl_up(__VA_ARGS__))
#define __shfl_down_sync(...) (SLRI_PLACE, slri_shfl_down(__VA_ARGS__))
#define __shfl_xor_sync(...) (SLRI_PLACE, slri_shfl_xor(__VA_ARGS__))
#define __ballot_sync(mask, vote) (SLRI_PLACE, slri_votes((vote) != 0) & (mask))
#define __any_sync(mask, vote) ((int)(__ballot_sync(mask, vote) != 0))
#define __all_sync(mask, vote) ((int)(__ballot_sync(mask, (vote) == 0) == 0))
#define __activemask() (SLRI_PLACE, slri_votes(true))
template <class T> SLRI_HIP_FN bool slri_same_bits(T a, T b)
{
    unsigned of_a[sizeof(T) / 4], of_b[sizeof(T) / 4], differ = 0;
    __builtin_memcpy(of_a, &a, sizeof a);
    __builtin_memcpy(of_b, &b, sizeof b);
    for (unsigned i = 0; i < sizeof(T) / 4; ++i)
        differ |= of_a[i] ^ of_b[i];
    return differ == 0;
}
template <class T> SLRI_HIP_FN unsigned slri_match(unsigned mask, T value)
{
    unsigned same = 0;
    for (unsigned i = 0; i < 32; ++i) {
        const T other = slri_from_lane(mask, value, i, true);
        same |= (unsigned)slri_same_bits(other, value) << i;
    }
    return same & mask & slri_votes(true);
}
#define __match_any_sync(mask, value) (SLRI_PLACE, slri_match(mask, value))
SLRI_HIP_FN void slri_syncwarp(unsigned mask = ~0u)
{
    (void)mask;
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#define __syncwarp(...) (SLRI_PLACE, slri_syncwarp(__VA_ARGS__))

// ---- the threads of a block (slr_cuda_ring.h) -----------------------------------------------------------------------

// A wave comes to a barrier once, for those of its lanes that are there: one that has returned from the handler is not,
// until all have. So each wave says how many of its threads have not ended.
#ifndef SLRI_BARRIER
SLRI_HIP_FN void slri_wave_meet(void)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
SLRI_HIP_FN unsigned slri_barrier(bool has_ended)
{
    __shared__ volatile unsigned staying[32]; // of each wave
    const unsigned long long here = __ballot64(true), stay = __ballot64(!has_ended);
    const unsigned wave = slri_wave_lanes();
    unsigned stays = 0;
    if (slri_wave_lane() == (unsigned)__builtin_ctzll(here))
        staying[threadIdx.x / wave] = (unsigned)__builtin_popcountll(stay);
    slri_wave_meet();
    for (unsigned i = 0; i * wave < blockDim.x; ++i)
        stays += staying[i];
    slri_wave_meet(); // all have read
    return blockDim.x - stays;
}
#define SLRI_BARRIER(ended, has_ended) ended = slri_barrier((has_ended) != 0)
#endif
#define SLRI_PUT_WORD(word, value) (*(volatile slri_u32 *)&(word) = (value))
#define SLRI_GET_WORD(word) (*(volatile slri_u32 *)&(word))

// ---- atomics -------------------------------------------------------------------------------------------------------

// No macros: they are parts of other words.
enum { __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED, __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
       __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
       __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_BLOCK = __HIP_MEMORY_SCOPE_WORKGROUP, __NV_THREAD_SCOPE_DEVICE = __HIP_MEMORY_SCOPE_AGENT,
       __NV_THREAD_SCOPE_SYSTEM = __HIP_MEMORY_SCOPE_SYSTEM };
#define __nv_atomic_load_n(p, order, scope) __hip_atomic_load(p, order, scope)
#define __nv_atomic_store_n(p, value, order, scope) __hip_atomic_store(p, value, order, scope)
#define __nv_atomic_exchange_n(p, value, order, scope) __hip_atomic_exchange(p, value, order, scope)
#define __nv_atomic_compare_exchange_n(p, was, value, weak, order, failed, scope) \
    __hip_atomic_compare_exchange_strong(p, was, value, order, failed, scope)
#define __nv_atomic_fetch_add(p, value, order, scope) __hip_atomic_fetch_add(p, value, order, scope)
#define __nv_atomic_fetch_sub(p, value, order, scope) __hip_atomic_fetch_add(p, slri_negated(value), order, scope)
#define __nv_atomic_fetch_and(p, value, order, scope) __hip_atomic_fetch_and(p, value, order, scope)
#define __nv_atomic_fetch_or(p, value, order, scope) __hip_atomic_fetch_or(p, value, order, scope)
#define __nv_atomic_fetch_xor(p, value, order, scope) __hip_atomic_fetch_xor(p, value, order, scope)
#define __nv_atomic_fetch_min(p, value, order, scope) __hip_atomic_fetch_min(p, value, order, scope)
#define __nv_atomic_fetch_max(p, value, order, scope) __hip_atomic_fetch_max(p, value, order, scope)
SLRI_HIP_FN int slri_negated(int a) { return (int)(0u - (unsigned)a); }
SLRI_HIP_FN unsigned slri_negated(unsigned a) { return 0u - a; }
SLRI_HIP_FN long long slri_negated(long long a) { return (long long)(0ull - (unsigned long long)a); }
SLRI_HIP_FN unsigned long long slri_negated(unsigned long long a) { return 0ull - a; }
SLRI_HIP_FN float slri_negated(float a) { return -a; }
SLRI_HIP_FN double slri_negated(double a) { return -a; }
// A fence of no order is none.
#define __nv_atomic_thread_fence(order, scope) SLRI_FENCE_##scope(order)
#define SLRI_FENCE_OF(order, where) \
    ((order) == __ATOMIC_RELAXED ? (void)0 : __builtin_amdgcn_fence((order) == __ATOMIC_RELAXED ? __ATOMIC_ACQUIRE : (order), where))
#define SLRI_FENCE___NV_THREAD_SCOPE_BLOCK(order) SLRI_FENCE_OF(order, "workgroup")
#define SLRI_FENCE___NV_THREAD_SCOPE_DEVICE(order) SLRI_FENCE_OF(order, "agent")
#define SLRI_FENCE___NV_THREAD_SCOPE_SYSTEM(order) SLRI_FENCE_OF(order, "")
#define SLRI_COUNT(name, scope, next) \
    SLRI_HIP_FN unsigned name(unsigned *p, unsigned b) \
    { \
        unsigned a = __hip_atomic_load(p, __ATOMIC_RELAXED, scope); \
        while (!__hip_atomic_compare_exchange_strong(p, &a, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED, scope)) {} \
        return a; \
    }
#define SLRI_COUNTS(scope, suffix) \
    SLRI_COUNT(slri_inc##suffix, scope, a >= b ? 0 : a + 1) \
    SLRI_COUNT(slri_dec##suffix, scope, a == 0 || a > b ? b : a - 1)
SLRI_COUNTS(__HIP_MEMORY_SCOPE_WORKGROUP, _block)
SLRI_COUNTS(__HIP_MEMORY_SCOPE_AGENT, )
SLRI_COUNTS(__HIP_MEMORY_SCOPE_SYSTEM, _system)
#define atomicInc slri_inc
#define atomicDec slri_dec
#define atomicInc_block slri_inc_block
#define atomicDec_block slri_dec_block
#define atomicInc_system slri_inc_system
#define atomicDec_system slri_dec_system

// ---- numbers -------------------------------------------------------------------------------------------------------

SLRI_HIP_FN float slri_f16_to_float(unsigned short bits)
{
    _Float16 half;
    __builtin_memcpy(&half, &bits, sizeof half);
    return (float)half;
}
SLRI_HIP_FN unsigned short slri_half_bits(_Float16 half)
{
    unsigned short bits;
    __builtin_memcpy(&bits, &half, sizeof bits);
    return (bits & 0x7fff) > 0x7c00 ? 0x7fff : bits; // one NaN, as CUDA has it
}
SLRI_HIP_FN unsigned short slri_float_to_f16(float a) { return slri_half_bits((_Float16)a); }
SLRI_HIP_FN float __slri_hfma(float a, float b, float c)
{
    return slri_f16_to_float(slri_half_bits(__builtin_fmaf16((_Float16)a, (_Float16)b, (_Float16)c)));
}
// A lane that ends alone takes its wave with it.
#define SLRI_EXIT() __builtin_amdgcn_endpgm()
// Sums of other roundings: the nearest one's neighbour, if it is on the wrong side.
SLRI_HIP_FN double slri_next(double a, bool up)
{
    unsigned long long bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    bits = a == 0 ? 1ull | (unsigned long long)!up << 63 : (a > 0) == up ? bits + 1 : bits - 1;
    __builtin_memcpy(&a, &bits, sizeof bits);
    return a;
}
SLRI_HIP_FN double slri_sum_error(double a, double b, double sum)
{
    const double v = sum - a;
    return (a - (sum - v)) + (b - v);
}
SLRI_HIP_FN double __dadd_ru(double a, double b) { return slri_sum_error(a, b, a + b) > 0 ? slri_next(a + b, true) : a + b; }
SLRI_HIP_FN double __dadd_rd(double a, double b) { return slri_sum_error(a, b, a + b) < 0 ? slri_next(a + b, false) : a + b; }
SLRI_HIP_FN double __dadd_rz(double a, double b) { return a + b > 0 ? __dadd_rd(a, b) : __dadd_ru(a, b); }
#endif

// SPDX-License-Identifier: Apache-2.0
// What stands before a text that was meant for NVRTC when the host's C++ compiler compiles it: CUDA's words, as calls
// of shim_calls (calls.h). Behind it stands math.h, which the shim writes from the list of math functions, then the
// text, then SHIM_KERNEL(name) for each kernel.
// clang-format off
#include "tests/shim/words.h"

#define __global__
#define __device__
#define __constant__
#define __shared__ thread_local // a block's lanes share a thread of the host
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __CUDA_ARCH__ 900
#define __CUDACC_RTC__ 1

#define threadIdx (shim->here()->threadIdx)
#define blockIdx (shim->here()->blockIdx)
#define blockDim (shim->here()->blockDim)
#define gridDim (shim->here()->gridDim)
#ifndef SHIM_HIP
#define warpSize 32
#endif

#define SHIM_VECTORS(T, name, two, four) \
    struct name##1 { T x; }; \
    struct __align__(two) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct __align__(four) name##4 { T x, y, z, w; };
SHIM_VECTORS(signed char, char, 2, 4) SHIM_VECTORS(unsigned char, uchar, 2, 4)
SHIM_VECTORS(short, short, 4, 8) SHIM_VECTORS(unsigned short, ushort, 4, 8)
SHIM_VECTORS(int, int, 8, 16) SHIM_VECTORS(unsigned, uint, 8, 16)
SHIM_VECTORS(long long, longlong, 16, 16) SHIM_VECTORS(shim_u64, ulonglong, 16, 16)
SHIM_VECTORS(float, float, 8, 16) SHIM_VECTORS(double, double, 16, 16)
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    dim3(const shim_dim &d) : x(d.x), y(d.y), z(d.z) {}
};

#define memcpy(to, from, bytes) shim_copy(to, from, bytes)
#define memset(to, value, bytes) shim_fill(to, value, bytes)
#define printf(...) shim->print(__VA_ARGS__)
#define assert(holds) ((holds) ? (void)0 : shim->wrong("assertion failed: " #holds))
#define __trap() shim->end(1)
inline void __nanosleep(unsigned) { shim->pause(); }
inline long long clock64() { return (long long)shim->clock_ns(); }

// ---- barriers and warps --------------------------------------------------------------------------------------------

#define __syncthreads() ((void)shim->meet(SHIM_SYNC, SHIM_SITE, 0))
#define __syncthreads_count(vote) ((int)shim->meet(SHIM_COUNT, SHIM_SITE, (vote) != 0))
#define __syncthreads_and(vote) ((int)shim->meet(SHIM_AND, SHIM_SITE, (vote) != 0))
#define __syncthreads_or(vote) ((int)shim->meet(SHIM_OR, SHIM_SITE, (vote) != 0))
#ifndef SHIM_HIP
#define __activemask() shim->active(SHIM_SITE)
#define __syncwarp(...) shim_syncwarp(__VA_ARGS__)
inline void shim_syncwarp(unsigned mask = 0xffffffffu) { unsigned part; shim->warp(0, mask, 0, &part); }

#endif

#ifndef SHIM_HIP
inline bool shim_is_width(int width) { return width > 0 && width <= 32 && (width & (width - 1)) == 0; }
// The source lane as a function of the own one; of one that takes no part, or outside the segment, the own value.
#define SHIM_SHUFFLE(name, by_type, source, is_inside) \
    template <class T> T shim_##name(unsigned site, unsigned mask, T value, by_type by, int width = 32) \
    { \
        unsigned part; \
        if (!shim_is_width(width)) \
            shim->wrong(#name ": a width that is none"); \
        const shim_word *given = shim->warp(site, mask, shim_bits(value), &part); \
        const shim_dim t = threadIdx, d = blockDim; \
        const int own = (int)((t.x + d.x * (t.y + d.y * t.z)) % 32), first = own & -width, from = (source); \
        (void)first; \
        return (is_inside) && (part >> from & 1) != 0 ? shim_from<T>(given[from]) : value; \
    }
SHIM_SHUFFLE(shfl_sync, int, first + (by & (width - 1)), true)
SHIM_SHUFFLE(shfl_up_sync, unsigned, own - (int)by, by < 32 && from >= first)
SHIM_SHUFFLE(shfl_down_sync, unsigned, own + (int)by, by < 32 && from < first + width)
SHIM_SHUFFLE(shfl_xor_sync, int, own ^ by, from >= 0 && from < first + width)
#define __shfl_sync(...) shim_shfl_sync(SHIM_SITE, __VA_ARGS__)
#define __shfl_up_sync(...) shim_shfl_up_sync(SHIM_SITE, __VA_ARGS__)
#define __shfl_down_sync(...) shim_shfl_down_sync(SHIM_SITE, __VA_ARGS__)
#define __shfl_xor_sync(...) shim_shfl_xor_sync(SHIM_SITE, __VA_ARGS__)

// `combined` of `a`, the values so far, and `b`, the one of lane i.
#define SHIM_OVER_WARP(name, result, start, combined) \
    template <class T> result shim_##name(unsigned site, unsigned mask, T value) \
    { \
        unsigned part; \
        const shim_word *given = shim->warp(site, mask, shim_bits(value), &part); \
        result a = start; \
        for (unsigned i = 0; i < 32; ++i) { \
            if ((part >> i & 1) == 0) \
                continue; \
            const T b = shim_from<T>(given[i]); \
            a = combined; \
            (void)b; \
        } \
        return a; \
    }
SHIM_OVER_WARP(ballot_sync, unsigned, 0, a | (unsigned)(b != 0) << i)
SHIM_OVER_WARP(all_sync, int, 1, a && b != 0)
SHIM_OVER_WARP(any_sync, int, 0, a || b != 0)
SHIM_OVER_WARP(match_any_sync, unsigned, 0, a | (unsigned)(shim_bits(b) == shim_bits(value)) << i)
SHIM_OVER_WARP(reduce_add_sync, T, 0, (T)((unsigned)a + (unsigned)b))
SHIM_OVER_WARP(reduce_min_sync, T, value, b < a ? b : a)
SHIM_OVER_WARP(reduce_max_sync, T, value, a < b ? b : a)
SHIM_OVER_WARP(reduce_and_sync, T, value, a & b)
SHIM_OVER_WARP(reduce_or_sync, T, value, a | b)
SHIM_OVER_WARP(reduce_xor_sync, T, 0, a ^ b)
#define __ballot_sync(mask, vote) shim_ballot_sync(SHIM_SITE, mask, (int)((vote) != 0))
#define __all_sync(mask, vote) shim_all_sync(SHIM_SITE, mask, (int)((vote) != 0))
#define __any_sync(mask, vote) shim_any_sync(SHIM_SITE, mask, (int)((vote) != 0))
#define __match_any_sync(mask, value) shim_match_any_sync(SHIM_SITE, mask, value)
#define __reduce_add_sync(mask, value) shim_reduce_add_sync(SHIM_SITE, mask, value)
#define __reduce_min_sync(mask, value) shim_reduce_min_sync(SHIM_SITE, mask, value)
#define __reduce_max_sync(mask, value) shim_reduce_max_sync(SHIM_SITE, mask, value)
#define __reduce_and_sync(mask, value) shim_reduce_and_sync(SHIM_SITE, mask, value)
#define __reduce_or_sync(mask, value) shim_reduce_or_sync(SHIM_SITE, mask, value)
#define __reduce_xor_sync(mask, value) shim_reduce_xor_sync(SHIM_SITE, mask, value)
#endif

// ---- atomics -------------------------------------------------------------------------------------------------------

#ifdef SHIM_HIP // by HIP's names
#define __nv_atomic_load_n shim_hip_load
#define __nv_atomic_store_n shim_hip_store
#define __nv_atomic_fetch_add shim_hip_fetch_add
#define __nv_atomic_fetch_and shim_hip_fetch_and
#define __nv_atomic_fetch_or shim_hip_fetch_or
#define __nv_atomic_fetch_xor shim_hip_fetch_xor
#define __nv_atomic_fetch_min shim_hip_fetch_min
#define __nv_atomic_fetch_max shim_hip_fetch_max
#define __nv_atomic_exchange_n shim_hip_exchange
#define __nv_atomic_fetch_sub shim_fetch_sub
#define __nv_atomic_compare_exchange_n shim_compare_exchange
#define __nv_atomic_thread_fence shim_thread_fence
#define __NV_THREAD_SCOPE_SYSTEM 0
#else
// No macros: they must be whole tokens of other macros' names.
enum { __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED, __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
       __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
       __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL, __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
       __NV_THREAD_SCOPE_SYSTEM };
#endif

template <class T> struct shim_plain { typedef T type; };
template <class T> struct shim_plain<const T> { typedef T type; };
template <class T> struct shim_plain<volatile T> { typedef T type; };
template <class T> struct shim_plain<const volatile T> { typedef T type; };
#define SHIM_VALUE typename shim_plain<T>::type
#define SHIM_FN template <class T> inline __attribute__((always_inline))

SHIM_FN SHIM_VALUE __nv_atomic_load_n(T *p, int order, int)
{
    SHIM_VALUE value;
    shim->load(order);
    __atomic_load((SHIM_VALUE *)p, &value, __ATOMIC_ACQUIRE);
    return value;
}
SHIM_FN void __nv_atomic_store_n(T *p, SHIM_VALUE value, int order, int)
{
    shim->store((void *)p, &value, sizeof value, order);
}
SHIM_FN bool __nv_atomic_compare_exchange_n(T *p, SHIM_VALUE *was, SHIM_VALUE value, bool, int order, int, int)
{
    return shim->swap((void *)p, was, &value, sizeof value, order) != 0;
}
inline void __nv_atomic_thread_fence(int order, int) { shim->fence(order); }
#define __threadfence() shim->fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __threadfence()
#define __threadfence_system() __threadfence()

// `combined` of `a`, what was there, and `b`.
template <class T> T shim_add(T a, T b) { return a + b; }
inline int shim_add(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
inline long long shim_add(long long a, long long b) { return (long long)((shim_u64)a + (shim_u64)b); }
template <class T> T shim_sub(T a, T b) { return a - b; }
inline int shim_sub(int a, int b) { return (int)((unsigned)a - (unsigned)b); }
inline long long shim_sub(long long a, long long b) { return (long long)((shim_u64)a - (shim_u64)b); }
#define SHIM_RMW(name, atomic, combined) \
    SHIM_FN SHIM_VALUE name(T *p, SHIM_VALUE b, int order, int) \
    { \
        SHIM_VALUE a, next; \
        __atomic_load(p, &a, __ATOMIC_RELAXED); \
        do \
            next = (combined); \
        while (!shim->swap((void *)p, &a, &next, sizeof next, order)); \
        return a; \
    } \
    SHIM_FN SHIM_VALUE atomic(T *p, SHIM_VALUE b) { return name(p, b, __ATOMIC_RELAXED, 0); } \
    SHIM_FN SHIM_VALUE atomic##_block(T *p, SHIM_VALUE b) { return name(p, b, __ATOMIC_RELAXED, 0); } \
    SHIM_FN SHIM_VALUE atomic##_system(T *p, SHIM_VALUE b) { return name(p, b, __ATOMIC_RELAXED, 0); }
SHIM_RMW(__nv_atomic_fetch_add, atomicAdd, shim_add(a, b))
SHIM_RMW(__nv_atomic_fetch_sub, atomicSub, shim_sub(a, b))
SHIM_RMW(__nv_atomic_fetch_and, atomicAnd, a & b)
SHIM_RMW(__nv_atomic_fetch_or, atomicOr, a | b)
SHIM_RMW(__nv_atomic_fetch_xor, atomicXor, a ^ b)
SHIM_RMW(__nv_atomic_fetch_min, atomicMin, b < a ? b : a)
SHIM_RMW(__nv_atomic_fetch_max, atomicMax, a < b ? b : a)
SHIM_RMW(__nv_atomic_exchange_n, atomicExch, b)
SHIM_RMW(shim_inc, atomicInc, a >= b ? 0 : a + 1)
SHIM_RMW(shim_dec, atomicDec, a == 0 || a > b ? b : a - 1)
SHIM_FN SHIM_VALUE atomicCAS(T *p, SHIM_VALUE was, SHIM_VALUE value)
{
    __nv_atomic_compare_exchange_n(p, &was, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, 0);
    return was;
}

// ---- inline PTX ----------------------------------------------------------------------------------------------------
//
// `asm volatile("t" : "=r"(a) : "r"(b) : "memory")` in a text is made `shim_ptx("t", (a), (b))` before it is compiled
// (image.c): the host's assembler knows no PTX.

#define SHIM_IS(known) (__builtin_strcmp(ptx, known) == 0)
inline void shim_must(bool is_known, const char *ptx) { if (!is_known) shim->wrong(ptx); }

inline void shim_ptx(const char *ptx)
{
    shim_must(SHIM_IS("exit;") || SHIM_IS("fence.acq_rel.sys;") || SHIM_IS("fence.acq_rel.gpu;"), ptx);
    if (SHIM_IS("exit;"))
        shim->end(0);
    shim->fence(__ATOMIC_ACQ_REL);
}
inline void shim_ptx(const char *ptx, unsigned &count, unsigned vote)
{
    shim_must(SHIM_IS("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }"), ptx);
    count = shim->meet(SHIM_COUNT, 0, vote);
}
inline void shim_ptx(const char *ptx, shim_u64 &word, const shim_u64 *from)
{
    shim_must(SHIM_IS("ld.relaxed.sys.u64 %0, [%1];"), ptx);
    word = __nv_atomic_load_n(from, __ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM);
}
inline void shim_ptx(const char *ptx, shim_u64 &ns)
{
    shim_must(SHIM_IS("mov.u64 %0, %%globaltimer;"), ptx);
    ns = shim->clock_ns();
}

#ifndef SHIM_HIP
// The lane's four elements of a product of 16 rows of 16 and 16 rows of 8: PTX, mma.m16n8k16.
inline void shim_ptx(const char *ptx, float &d0, float &d1, float &d2, float &d3, unsigned a0, unsigned a1, unsigned a2,
                     unsigned a3, unsigned b0, unsigned b1, float c)
{
    const bool is_half = SHIM_IS("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
                                 "%7}, {%8, %9}, {%10, %10, %10, %10};");
    shim_must(is_half || SHIM_IS("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, "
                                 "%7}, {%8, %9}, {%10, %10, %10, %10};"), ptx);
    const unsigned mine[6] = {a0, a1, a2, a3, b0, b1}, site = 0xfffffff0u;
    unsigned all[6][32], part;
    for (unsigned i = 0; i < 6; ++i) {
        const shim_word *given = shim->warp(site + i, 0xffffffffu, mine[i], &part);
        if (part != 0xffffffffu)
            shim->wrong("mma.sync in a warp that is not whole");
        for (unsigned lane = 0; lane < 32; ++lane)
            all[i][lane] = (unsigned)given[lane];
    }
    const shim_dim t = threadIdx, d = blockDim;
    const unsigned own = (t.x + d.x * (t.y + d.y * t.z)) % 32;
    float *const to[4] = {&d0, &d1, &d2, &d3};
    for (unsigned which = 0; which < 4; ++which) {
        double sum = 0;
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned a = all[which / 2 + k / 8 * 2][own / 4 * 4 + k % 8 / 2] >> 16 * (k % 2);
            const unsigned b = all[4 + k / 8][(own % 4 * 2 + which % 2) * 4 + k % 8 / 2] >> 16 * (k % 2);
            const auto number = [is_half](unsigned bits) {
                return is_half ? shim_of_half((unsigned short)bits) : shim_from<float>((shim_word)(bits & 0xffff) << 16);
            };
            sum += (double)number(a) * (double)number(b);
        }
        *to[which] = c + (float)sum;
    }
}
#endif
inline void shim_ptx(const char *ptx, float &to, unsigned short bits)
{
    shim_must(SHIM_IS("cvt.f32.f16 %0, %1;"), ptx);
    to = shim_of_half(bits);
}
inline void shim_ptx(const char *ptx, unsigned short &to, float a)
{
    shim_must(SHIM_IS("cvt.rn.f16.f32 %0, %1;"), ptx);
    to = shim_to_half(a);
}
// The product is exact in double; the sum is made odd in its last place where it is not.
inline void shim_ptx(const char *ptx, unsigned short &to, unsigned short a, unsigned short b, unsigned short c)
{
    shim_must(SHIM_IS("fma.rn.f16 %0, %1, %2, %3;"), ptx);
    const double p = (double)shim_of_half(a) * shim_of_half(b), d = shim_of_half(c), s = p + d;
    const double v = s - p, error = (p - (s - v)) + (d - v);
    shim_u64 bits = shim_bits(s);
    if (error != 0 && error == error && (bits & 1) == 0) // towards the error: then it is odd
        bits += (error > 0) == (s > 0) ? 1 : -1;
    to = shim_to_half(shim_from<double>(bits));
}

// ---- roundings that the list of math functions has not -------------------------------------------------------------

template <class F, class B> F shim_nudge(F a, bool up) // to its neighbour
{
    B bits;
    __builtin_memcpy(&bits, &a, sizeof bits);
    bits = a == 0 ? (B)1 | (B)!up << (8 * sizeof bits - 1) : (a > 0) == up ? bits + 1 : bits - 1;
    __builtin_memcpy(&a, &bits, sizeof bits);
    return a;
}
inline float __double2float_rz(double a)
{
    const float r = (float)a;
    return __builtin_fabs((double)r) > __builtin_fabs(a) ? shim_nudge<float, unsigned>(r, r < 0) : r;
}
inline float __ull2float_rz(shim_u64 a)
{
    const float r = (float)a;
    return (double)r > 18446744073709549568.0 || (shim_u64)r > a ? shim_nudge<float, unsigned>(r, false) : r;
}
#ifndef SHIM_HIP
inline double shim_error(double a, double b, double s)
{
    const double v = s - a;
    return (a - (s - v)) + (b - v);
}
inline double __dadd_ru(double a, double b)
{
    const double s = a + b;
    return shim_error(a, b, s) > 0 ? shim_nudge<double, shim_u64>(s, true) : s;
}
inline double __dadd_rd(double a, double b)
{
    const double s = a + b;
    return shim_error(a, b, s) < 0 ? shim_nudge<double, shim_u64>(s, false) : s;
}
inline double __dadd_rz(double a, double b) { return a + b > 0 ? __dadd_rd(a, b) : __dadd_ru(a, b); }
#endif
inline float frexpf(float a, int *e) { return __builtin_frexpf(a, e); }
inline double frexp(double a, int *e) { return __builtin_frexp(a, e); }
inline float modff(float a, float *whole) { return __builtin_modff(a, whole); }
inline double modf(double a, double *whole) { return __builtin_modf(a, whole); }

#ifdef SHIM_HIP
#include "tests/shim/device_hip.h"
#endif

// ---- kernels -------------------------------------------------------------------------------------------------------

template <class T> struct shim_held { typedef T type; };
template <class T> struct shim_held<const T> { typedef T type; };
template <int... N> struct shim_numbers {};
template <int N, int... M> struct shim_count : shim_count<N - 1, N - 1, M...> {};
template <int... M> struct shim_count<0, M...> { typedef shim_numbers<M...> type; };
template <class R, class... P, int... N> R shim_call(R (*function)(P...), void **parameter, shim_numbers<N...>)
{
    return function(*(typename shim_held<P>::type *)parameter[N]...);
}
template <class... P> void shim_launch(void (*kernel)(P...), void **parameter)
{
    shim_call(kernel, parameter, typename shim_count<sizeof...(P)>::type());
}
// What gives something back, a handler: behind the parameters lies where to.
template <class R, class... P> void shim_launch(R (*function)(P...), void **parameter)
{
    *(R *)parameter[sizeof...(P)] = shim_call(function, parameter, typename shim_count<sizeof...(P)>::type());
}
#define SHIM_KERNEL(name) extern "C" void shim_kernel_##name(void **parameter) { shim_launch(name, parameter); }

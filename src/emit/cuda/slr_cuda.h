// SPDX-License-Identifier: Apache-2.0
// What stands in front of emitted CUDA C. The text behind it is read by two: slipring's front end, for which each
// macro is the word of the IR that it came from, and NVRTC or nvcc, for which it is what that word does.
// clang-format off
#ifdef __SLIPRING__
#define SLRI_FLOAT(bits) __slri_float(bits)
#define SLRI_DOUBLE(bits) __slri_double(bits)
#define SLRI_NEG(K, a) (-(a))
#define SLRI_ADD(K, a, b) ((a) + (b))
#define SLRI_SUB(K, a, b) ((a) - (b))
#define SLRI_MUL(K, a, b) ((a) * (b))
#define SLRI_DIV(K, a, b, file, line) ((a) / (b))
#define SLRI_REM(K, a, b, file, line) ((a) % (b))
#define SLRI_TICKS() __slri_clock()
#define SLRI_SAFE_DIV(K, a, b) __slri_divide((a) / (b))
#define SLRI_SAFE_REM(K, a, b) __slri_divide((a) % (b))
#define SLRI_SHL(K, a, b) ((a) << (b))
#define SLRI_SHR(K, a, b) ((a) >> (b))
#define SLRI_TO_I8(a) ((signed char)(a))
#define SLRI_TO_U8(a) ((unsigned char)(a))
#define SLRI_TO_I16(a) ((short)(a))
#define SLRI_TO_U16(a) ((unsigned short)(a))
#define SLRI_TO_I32(a) ((int)(a))
#define SLRI_TO_U32(a) ((unsigned int)(a))
#define SLRI_TO_I64(a) ((long long)(a))
#define SLRI_TO_U64(a) ((unsigned long long)(a))
#define SLRI_TO_F16(a) ((float)(__half)(a))
#define SLRI_TO_BF16(a) ((float)(__nv_bfloat16)(a))
#define SLRI_AT(T, p, at) ((T *)__slri_at(p, at))
#define SLRI_AT_OBJECT(T, x, at) ((T *)__slri_at(x, at))
#define SLRI_GET_BOOL(p) (*(p))
#define SLRI_GET_F16(p) (*(p))
#define SLRI_GET_BF16(p) (*(p))
#define SLRI_PUT(p, value) __slri_put(p, value)
#define SLRI_PUT_BOOL(p, value) __slri_put(p, value)
#define SLRI_PUT_F16(p, value) __slri_put(p, value)
#define SLRI_PUT_BF16(p, value) __slri_put(p, value)
#define SLRI_GIVEN_BOOL(x) (x)
#define SLRI_GIVEN_F16(x) (x)
#define SLRI_GIVEN_BF16(x) (x)
#define SLRI_ZERO(p, n) __slri_zero(p, n)
#define SLRI_COPY(p, q, n, align) __slri_copy(p, q, n, align)
#define SLRI_EXTENT(i, n) __slri_index(i, n)
#define SLRI_CAS(p, old, new, order, scope) __slri_cas(p, old, new, order, scope)
#define SLRI_FETCH(function, p, value, order, scope) function(p, value, order, scope)
#define SLRI_EXCHANGE_F32(p, value, order, scope) __nv_atomic_exchange_n(p, value, order, scope)
#define SLRI_EXCHANGE_F64(p, value, order, scope) __nv_atomic_exchange_n(p, value, order, scope)
#define SLRI_ASSERT(file, line) __slri_assert()
#define SLRI_TRAP(file, line) __trap()
#define SLRI_MEMORY_PARAM(p) unsigned char *p
#define SLRI_MEMORY(p, at) (unsigned char *)__slri_at(p, at)
#define SLRI_MEMORY_OBJECT(x, at) (unsigned char *)__slri_at(x, at)
#define SLRI_OFFSET(p) __slri_offset(p)
#define SLRI_ROOT(p) (unsigned char *)__slri_at(p, 0)
#define SLRI_ROOT_OBJECT(x) (unsigned char *)__slri_at(x, 0)
#define SLRI_DYNAMIC extern __shared__ unsigned char slri_dynamic[]
#define SLRI_ALIGNED_16
#define slri_f16 __half
#define slri_bf16 __nv_bfloat16
#define slri_half2 half2
#define slri___nv_bfloat162 __nv_bfloat162
#define SLRI_LAUNCH void
#define SLRI_AND_LAUNCH
#define SLRI_GIVE_LAUNCH
#define SLRI_PASS_LAUNCH
#define SLRI_PRINT(number, ...) __slri_print(number, __VA_ARGS__)
#else
#pragma nv_diag_suppress 177, 550 // what of this nobody uses
#define SLRI_FN static __device__ __forceinline__
typedef unsigned int slri_u32;
typedef unsigned long long slri_u64;
struct slri_f16 { unsigned short bits; };
struct slri_bf16 { unsigned short bits; };
struct __align__(4) slri_half2 { slri_f16 x, y; };
struct __align__(4) slri___nv_bfloat162 { slri_bf16 x, y; };
#define SLRI_FLOAT(bits) __uint_as_float(bits)
#define SLRI_DOUBLE(bits) __longlong_as_double((long long)(bits))

// Signed integers wrap, which C++ leaves undefined.
#define SLRI_NEG(K, a) slri_neg(a)
#define SLRI_ADD(K, a, b) slri_add(a, b)
#define SLRI_SUB(K, a, b) slri_sub(a, b)
#define SLRI_MUL(K, a, b) slri_mul(a, b)
#define SLRI_DIV(K, a, b, file, line) slri_kernel_div(a, b, slri_faulted, SLRI_FAULTED(1, file, line))
#define SLRI_REM(K, a, b, file, line) slri_kernel_rem(a, b, slri_faulted, SLRI_FAULTED(1, file, line))
#define SLRI_TICKS() 0ull
#define SLRI_SAFE_DIV(K, a, b) slri_div(a, b)
#define SLRI_SAFE_REM(K, a, b) slri_rem(a, b)
#define SLRI_SHL(K, a, b) slri_shl(a, b)
#define SLRI_SHR(K, a, b) ((a) >> ((b) & (8 * sizeof(a) - 1)))
SLRI_FN int slri_neg(int a) { return (int)(0u - (slri_u32)a); }
SLRI_FN int slri_add(int a, int b) { return (int)((slri_u32)a + (slri_u32)b); }
SLRI_FN int slri_sub(int a, int b) { return (int)((slri_u32)a - (slri_u32)b); }
SLRI_FN int slri_mul(int a, int b) { return (int)((slri_u32)a * (slri_u32)b); }
SLRI_FN int slri_shl(int a, int b) { return (int)((slri_u32)a << (b & 31)); }
SLRI_FN slri_u32 slri_shl(slri_u32 a, slri_u32 b) { return a << (b & 31); }
SLRI_FN long long slri_neg(long long a) { return (long long)(0ull - (slri_u64)a); }
SLRI_FN long long slri_add(long long a, long long b) { return (long long)((slri_u64)a + (slri_u64)b); }
SLRI_FN long long slri_sub(long long a, long long b) { return (long long)((slri_u64)a - (slri_u64)b); }
SLRI_FN long long slri_mul(long long a, long long b) { return (long long)((slri_u64)a * (slri_u64)b); }
SLRI_FN long long slri_shl(long long a, long long b) { return (long long)((slri_u64)a << (b & 63)); }
SLRI_FN slri_u64 slri_shl(slri_u64 a, slri_u64 b) { return a << (b & 63); }
// By zero: 0, and in a kernel the host is told. The least integer by -1 wraps.
SLRI_FN int slri_div(int a, int b) { return b == 0 ? 0 : b == -1 ? slri_neg(a) : a / b; }
SLRI_FN int slri_rem(int a, int b) { return b == 0 || b == -1 ? 0 : a % b; }
SLRI_FN long long slri_div(long long a, long long b) { return b == 0 ? 0 : b == -1 ? slri_neg(a) : a / b; }
SLRI_FN long long slri_rem(long long a, long long b) { return b == 0 || b == -1 ? 0 : a % b; }
SLRI_FN slri_u32 slri_div(slri_u32 a, slri_u32 b) { return b ? a / b : 0; }
SLRI_FN slri_u32 slri_rem(slri_u32 a, slri_u32 b) { return b ? a % b : 0; }
SLRI_FN slri_u64 slri_div(slri_u64 a, slri_u64 b) { return b ? a / b : 0; }
SLRI_FN slri_u64 slri_rem(slri_u64 a, slri_u64 b) { return b ? a % b : 0; }

// Float to integer truncates, saturates, and makes 0 of NaN. The machine's 32-bit conversions do; the narrow ones by
// way of those, the wide ones but for NaN.
#define SLRI_TO_I8(a) slri_clamp(slri_to_int(a), -128, 127)
#define SLRI_TO_U8(a) slri_clamp(slri_to_int(a), 0, 255)
#define SLRI_TO_I16(a) slri_clamp(slri_to_int(a), -32768, 32767)
#define SLRI_TO_U16(a) slri_clamp(slri_to_int(a), 0, 65535)
#define SLRI_TO_I32(a) slri_to_int(a)
#define SLRI_TO_U32(a) slri_to_uint(a)
#define SLRI_TO_I64(a) slri_to_ll(a)
#define SLRI_TO_U64(a) slri_to_ull(a)
SLRI_FN int slri_clamp(int a, int least, int most) { return min(max(a, least), most); }
SLRI_FN int slri_to_int(float a) { return __float2int_rz(a); }
SLRI_FN int slri_to_int(double a) { return a == a ? __double2int_rz(a) : 0; }
SLRI_FN slri_u32 slri_to_uint(float a) { return __float2uint_rz(a); }
SLRI_FN slri_u32 slri_to_uint(double a) { return a == a ? __double2uint_rz(a) : 0; }
SLRI_FN long long slri_to_ll(float a) { return a == a ? __float2ll_rz(a) : 0; }
SLRI_FN long long slri_to_ll(double a) { return a == a ? __double2ll_rz(a) : 0; }
SLRI_FN slri_u64 slri_to_ull(float a) { return a == a ? __float2ull_rz(a) : 0; }
SLRI_FN slri_u64 slri_to_ull(double a) { return a == a ? __double2ull_rz(a) : 0; }

// A half in a register is the float that it is. Wider numbers become odd in their last place before the second
// rounding, so that it sees that there was more.
#ifndef SLRI_HIP // slr_hip.h has its own
SLRI_FN float slri_f16_to_float(unsigned short bits) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(bits)); return r; }
SLRI_FN unsigned short slri_float_to_f16(float a) { unsigned short r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(a)); return r; }
#endif
SLRI_FN float slri_bf16_to_float(unsigned short bits) { return __uint_as_float((slri_u32)bits << 16); }
SLRI_FN unsigned short slri_float_to_bf16(float a)
{
    slri_u32 bits = __float_as_uint(a);
    return a == a ? (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : 0x7fc0;
}
SLRI_FN float slri_odd(double a)
{
    float r = __double2float_rz(a);
    slri_u32 bits = __float_as_uint(r);
    return (double)r == a || a != a || !(fabs(a) <= 3.4028234663852886e38) ? r : __uint_as_float(bits | 1);
}
SLRI_FN float slri_odd(float a) { return a; }
SLRI_FN float slri_odd(slri_u64 a)
{
    float r = __ull2float_rz(a);
    return (slri_u64)r == a ? r : __uint_as_float(__float_as_uint(r) | 1);
}
SLRI_FN float slri_odd(slri_u32 a) { return slri_odd((slri_u64)a); }
SLRI_FN float slri_odd(long long a) { return a < 0 ? -slri_odd(0ull - (slri_u64)a) : slri_odd((slri_u64)a); }
SLRI_FN float slri_odd(int a) { return slri_odd((long long)a); }
#define SLRI_TO_F16(a) slri_f16_to_float(slri_float_to_f16(slri_odd(a)))
#define SLRI_TO_BF16(a) slri_bf16_to_float(slri_float_to_bf16(slri_odd(a)))
#define SLRI_PARTS(T, f) \
    SLRI_FN T __slri_frexp_fraction##f(T a) { int e; return frexp##f(a, &e); } \
    SLRI_FN int __slri_frexp_exponent##f(T a) { int e; frexp##f(a, &e); return isfinite(a) ? e : 0; } \
    SLRI_FN T __slri_modf_fraction##f(T a) { T whole; return modf##f(a, &whole); }
SLRI_PARTS(float, f)
SLRI_PARTS(double, )
#ifndef SLRI_HIP
SLRI_FN float __slri_hfma(float a, float b, float c)
{
    unsigned short r;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(r) : "h"(slri_float_to_f16(a)), "h"(slri_float_to_f16(b)), "h"(slri_float_to_f16(c)));
    return slri_f16_to_float(r);
}
#endif
// The product is exact in double, and so is the sum but for its last place.
SLRI_FN float __slri_bfma(float a, float b, float c)
{
    double p = (double)a * b, s = __dadd_rz(p, c);
    double error = __dadd_rn(__dsub_rn(p, __dsub_rn(s, c)), 0.0);
    if (error != 0 || __dadd_ru(p, c) != __dadd_rd(p, c))
        s = __longlong_as_double(__double_as_longlong(s) | 1);
    return slri_bf16_to_float(slri_float_to_bf16(slri_odd(s)));
}

#define SLRI_AT(T, p, at) ((T *)((unsigned char *)(p) + (at)))
#define SLRI_AT_OBJECT(T, x, at) ((T *)((unsigned char *)&(x) + (at)))
SLRI_FN unsigned char *slri_byte(bool *p) { return (unsigned char *)p; }
SLRI_FN volatile unsigned char *slri_byte(volatile bool *p) { return (volatile unsigned char *)p; }
#define SLRI_GET_BOOL(p) (*slri_byte(p) != 0)
#define SLRI_GET_F16(p) slri_f16_to_float((p)->bits)
#define SLRI_GET_BF16(p) slri_bf16_to_float((p)->bits)
#define SLRI_PUT(p, value) (*(p) = (value))
#define SLRI_PUT_BOOL(p, value) (*slri_byte(p) = (value) != 0)
#define SLRI_PUT_F16(p, value) ((p)->bits = slri_float_to_f16(value))
#define SLRI_PUT_BF16(p, value) ((p)->bits = slri_float_to_bf16(value))
#define SLRI_GIVEN_BOOL(x) ((x) != 0)
#define SLRI_GIVEN_F16(x) slri_f16_to_float((x).bits)
#define SLRI_GIVEN_BF16(x) slri_bf16_to_float((x).bits)
#define SLRI_ZERO(p, n) memset(p, 0, n)
// Of both, so that a float4 goes in one access.
#define SLRI_COPY(p, q, n, align) \
    memcpy(__builtin_assume_aligned(p, align), __builtin_assume_aligned(q, align), n)
#define SLRI_EXTENT(i, n) ((void)0)

// Orders and scopes must be literals where the compiler sees them: a function for each pair.
#define SLRI_CAS(p, old, new, order, scope) slri_cas##order##scope(p, old, new)
#define SLRI_CAS_OF(name, order, failed, scope) \
    template <class T> SLRI_FN T name(T *p, T old, T value) \
    { __nv_atomic_compare_exchange_n(p, &old, value, false, order, failed, scope); return old; }
#define SLRI_CAS_ORDERS(scope) \
    SLRI_CAS_OF(slri_cas__NV_ATOMIC_RELAXED##scope, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, scope) \
    SLRI_CAS_OF(slri_cas__NV_ATOMIC_ACQUIRE##scope, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_ACQUIRE, scope) \
    SLRI_CAS_OF(slri_cas__NV_ATOMIC_RELEASE##scope, __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED, scope) \
    SLRI_CAS_OF(slri_cas__NV_ATOMIC_ACQ_REL##scope, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE, scope) \
    SLRI_CAS_OF(slri_cas__NV_ATOMIC_SEQ_CST##scope, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST, scope)
SLRI_CAS_ORDERS(__NV_THREAD_SCOPE_BLOCK)
SLRI_CAS_ORDERS(__NV_THREAD_SCOPE_DEVICE)
SLRI_CAS_ORDERS(__NV_THREAD_SCOPE_SYSTEM)
// Of atomicAdd and the like NVRTC sees whether the place is shared (ATOMS), and whether the result is wanted (RED); of
// functions with an order it sees neither.
#ifdef __CUDACC__
SLRI_FN int *slri_own(int *p) { return p; }
SLRI_FN slri_u32 *slri_own(slri_u32 *p) { return p; }
SLRI_FN slri_u64 *slri_own(slri_u64 *p) { return p; }
SLRI_FN slri_u64 *slri_own(long long *p) { return (slri_u64 *)p; }
SLRI_FN float *slri_own(float *p) { return p; }
SLRI_FN double *slri_own(double *p) { return p; }
#define SLRI_FETCH_IN(function, own, place, scope, suffix) \
    template <class T> SLRI_FN T slri_relaxed_##function##scope(T *p, T value) { return (T)own##suffix(place(p), value); }
#define SLRI_FETCH_OF(function, own, place) \
    SLRI_FETCH_IN(function, own, place, __NV_THREAD_SCOPE_BLOCK, _block) \
    SLRI_FETCH_IN(function, own, place, __NV_THREAD_SCOPE_DEVICE, ) \
    SLRI_FETCH_IN(function, own, place, __NV_THREAD_SCOPE_SYSTEM, _system)
SLRI_FETCH_OF(__nv_atomic_fetch_add, atomicAdd, slri_own)
SLRI_FETCH_OF(__nv_atomic_fetch_sub, atomicSub, slri_own)
SLRI_FETCH_OF(__nv_atomic_fetch_and, atomicAnd, slri_own)
SLRI_FETCH_OF(__nv_atomic_fetch_or, atomicOr, slri_own)
SLRI_FETCH_OF(__nv_atomic_fetch_xor, atomicXor, slri_own)
SLRI_FETCH_OF(__nv_atomic_exchange_n, atomicExch, slri_own)
SLRI_FETCH_OF(__nv_atomic_fetch_min, atomicMin, )
SLRI_FETCH_OF(__nv_atomic_fetch_max, atomicMax, )
#define SLRI_FETCH(function, p, value, order, scope) slri_relaxed_##function##scope(p, value)
#else
#define SLRI_FETCH(function, p, value, order, scope) function(p, value, order, scope)
#endif
#define SLRI_EXCHANGE_F32(p, value, order, scope) \
    __int_as_float(__nv_atomic_exchange_n((int *)(p), __float_as_int(value), order, scope))
#define SLRI_EXCHANGE_F64(p, value, order, scope) \
    __longlong_as_double(__nv_atomic_exchange_n((long long *)(p), __double_as_longlong(value), order, scope))
#define SLRI_ASSERT(file, line) slri_kernel_stop(slri_faulted, SLRI_FAULTED(11, file, line))
#define SLRI_TRAP(file, line) slri_kernel_stop(slri_faulted, SLRI_FAULTED(12, file, line))

// A fault of a kernel: enum slri_fault, file and line in one word of the host's, which has the first. Not by an atomic,
// which over a bus need not be one: a word is stored whole, and a thread that finds it zero has not faulted before, so
// that whichever of those is stored last is the first of its thread. Relaxed: it is read when the kernel is done.
#define SLRI_FAULTED(fault, file, line) ((slri_u64)(fault) << 56 | (slri_u64)(file) << 32 | (line))
SLRI_FN void slri_kernel_fault(volatile slri_u64 *to, slri_u64 fault)
{
    if (*to == 0)
        *to = fault;
}
template <class T> SLRI_FN T slri_kernel_div(T a, T b, volatile slri_u64 *to, slri_u64 fault)
{
    if (b == 0)
        slri_kernel_fault(to, fault);
    return slri_div(a, b);
}
template <class T> SLRI_FN T slri_kernel_rem(T a, T b, volatile slri_u64 *to, slri_u64 fault)
{
    if (b == 0)
        slri_kernel_fault(to, fault);
    return slri_rem(a, b);
}
// The thread ends: behind an assertion that failed it might reach memory that is not there, which loses the device.
// Barriers and functions of a warp do not wait for threads that have ended.
#ifndef SLRI_HIP
// Not volatile: calls for the four elements of one lane are one product. Each compute capability from 8.0 has it.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
SLRI_FN float __matrix_f16_sync(unsigned mask, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, float c, int which)
{
    float d0, d1, d2, d3;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};" : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(0.0f));
    (void)mask;
    return c + ((which & 2) != 0 ? (which & 1) != 0 ? d3 : d2 : (which & 1) != 0 ? d1 : d0);
}
SLRI_FN float __matrix_bf16_sync(unsigned mask, unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0, unsigned b1, float c, int which)
{
    float d0, d1, d2, d3;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};" : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "f"(0.0f));
    (void)mask;
    return c + ((which & 2) != 0 ? (which & 1) != 0 ? d3 : d2 : (which & 1) != 0 ? d1 : d0);
}
#endif
#define SLRI_EXIT() asm volatile("exit;")
#define SLRI_PART(mask) (mask)
#endif
SLRI_FN void slri_kernel_stop(volatile slri_u64 *to, slri_u64 fault)
{
    slri_kernel_fault(to, fault);
    SLRI_EXIT();
}

// What a kernel is given that its source does not name.
#define SLRI_LAUNCH unsigned char *slri_globals, slri_u32 *slri_printed, volatile slri_u64 *slri_faulted
#define SLRI_AND_LAUNCH , SLRI_LAUNCH
#define SLRI_GIVE_LAUNCH slri_globals, slri_printed, slri_faulted
#define SLRI_PASS_LAUNCH , SLRI_GIVE_LAUNCH
// A record: the number of printf's text, which the host has, and above it how many values; then their bits. In front of
// all of them four words: how much is used and how many found no room, both atomic, and how much room there is.
// Relaxed: records are read when the kernel is done.
#define SLRI_PRINT(number, ...) slri_print(slri_printed, number, __VA_ARGS__)
SLRI_FN slri_u64 slri_bits(int a) { return (slri_u32)a; }
SLRI_FN slri_u64 slri_bits(slri_u32 a) { return a; }
SLRI_FN slri_u64 slri_bits(long long a) { return (slri_u64)a; }
SLRI_FN slri_u64 slri_bits(slri_u64 a) { return a; }
SLRI_FN slri_u64 slri_bits(double a) { return (slri_u64)__double_as_longlong(a); }
template <class... T> static __device__ __noinline__ void slri_put_record(slri_u32 *to, slri_u32 number, T... a)
{
    const slri_u64 value[] = {slri_bits(a)..., 0};
    const slri_u32 words = 1 + sizeof...(a);
    slri_u32 at = __nv_atomic_load_n(to, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE), was;
    for (;; at = was) {
        if (words > to[2] - at) {
            atomicAdd(&to[1], 1u);
            return;
        }
        was = atomicCAS(to, at, at + words);
        if (was == at)
            break;
    }
    slri_u64 *record = (slri_u64 *)to + 2 + at;
    record[0] = number | (slri_u64)(words - 1) << 32;
    for (slri_u32 i = 1; i < words; i++)
        record[i] = value[i - 1];
}
// The text goes nowhere, and so is not in the machine code.
template <class... T> SLRI_FN void slri_print(slri_u32 *to, slri_u32 number, const char *, T... a)
{
    if (to)
        slri_put_record(to, number, a...);
}
#define SLRI_MEMORY_PARAM(p) unsigned char *p, long long p##_offset
#define SLRI_MEMORY(p, at) (unsigned char *)(p), (at)
#define SLRI_MEMORY_OBJECT(x, at) (unsigned char *)&(x), (at)
#define SLRI_OFFSET(p) p##_offset
#define SLRI_ROOT(p) (unsigned char *)(p)
#define SLRI_ROOT_OBJECT(x) (unsigned char *)&(x)
#define SLRI_DYNAMIC extern __shared__ __align__(16) unsigned char slri_dynamic[]
#define SLRI_ALIGNED_16 __align__(16)

#if defined(SLRI_HIP) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800) // these came with compute capability 8.0
#define SLRI_REDUCE(name, type, combined) \
    SLRI_FN type name(slri_u32 mask, type value) \
    { \
        type a = value; \
        slri_u32 part = SLRI_PART(mask), rest = part & (part - 1); \
        a = __shfl_sync(mask, value, __ffs(part) - 1); \
        for (; rest; rest &= rest - 1) { type b = __shfl_sync(mask, value, __ffs(rest) - 1); a = combined; } \
        return a; \
    }
SLRI_REDUCE(slri_reduce_add, int, slri_add(a, b)) SLRI_REDUCE(slri_reduce_add, slri_u32, a + b)
SLRI_REDUCE(slri_reduce_min, int, min(a, b)) SLRI_REDUCE(slri_reduce_min, slri_u32, min(a, b))
SLRI_REDUCE(slri_reduce_max, int, max(a, b)) SLRI_REDUCE(slri_reduce_max, slri_u32, max(a, b))
SLRI_REDUCE(slri_reduce_and, slri_u32, a & b) SLRI_REDUCE(slri_reduce_and, int, a & b)
SLRI_REDUCE(slri_reduce_or, slri_u32, a | b) SLRI_REDUCE(slri_reduce_or, int, a | b)
SLRI_REDUCE(slri_reduce_xor, slri_u32, a ^ b) SLRI_REDUCE(slri_reduce_xor, int, a ^ b)
#define __reduce_add_sync slri_reduce_add
#define __reduce_min_sync slri_reduce_min
#define __reduce_max_sync slri_reduce_max
#define __reduce_and_sync slri_reduce_and
#define __reduce_or_sync slri_reduce_or
#define __reduce_xor_sync slri_reduce_xor
#endif
#endif

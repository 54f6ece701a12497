// SPDX-License-Identifier: Apache-2.0
// <cuda_fp16.h> and <cuda_bf16.h>, written in the language that they are for. Operators on halves are built in; these
// are the names that CUDA code uses beside them.
#ifndef SLRI_LANG_TEXT_HEADER_HALF_H
#define SLRI_LANG_TEXT_HEADER_HALF_H

// clang-format off
#define SLRI_CUDA_FP16_H \
    "#pragma once\n" \
    "#define SLRI_HALF static __device__ inline\n" \
    "typedef half2 __half2;\n" \
    "SLRI_HALF half __float2half(float a) { return (half)a; }\n" \
    "SLRI_HALF half __float2half_rn(float a) { return (half)a; }\n" \
    "SLRI_HALF half __double2half(double a) { return (half)a; }\n" \
    "SLRI_HALF half __int2half_rn(int a) { return (half)a; }\n" \
    "SLRI_HALF half __uint2half_rn(unsigned a) { return (half)a; }\n" \
    "SLRI_HALF float __half2float(half a) { return (float)a; }\n" \
    "SLRI_HALF int __half2int_rz(half a) { return (int)a; }\n" \
    "SLRI_HALF unsigned __half2uint_rz(half a) { return (unsigned)a; }\n" \
    "SLRI_HALF unsigned short __half_as_ushort(half a) { return *(unsigned short *)&a; }\n" \
    "SLRI_HALF half __ushort_as_half(unsigned short a) { return *(half *)&a; }\n" \
    "SLRI_HALF half __hneg(half a) { return -a; }\n" \
    "SLRI_HALF half __habs(half a) { return fabsf(a); }\n" \
    "SLRI_HALF half hsqrt(half a) { return sqrtf(a); }\n" \
    "SLRI_HALF half hrsqrt(half a) { return rsqrtf(a); }\n" \
    "SLRI_HALF half hrcp(half a) { return 1.0f / (float)a; }\n" \
    "SLRI_HALF half hexp(half a) { return expf(a); }\n" \
    "SLRI_HALF half hexp2(half a) { return exp2f(a); }\n" \
    "SLRI_HALF half hlog(half a) { return logf(a); }\n" \
    "SLRI_HALF half hlog2(half a) { return log2f(a); }\n" \
    "SLRI_HALF half hsin(half a) { return sinf(a); }\n" \
    "SLRI_HALF half hcos(half a) { return cosf(a); }\n" \
    "SLRI_HALF half htanh(half a) { return tanhf(a); }\n" \
    "SLRI_HALF half hfloor(half a) { return floorf(a); }\n" \
    "SLRI_HALF half hceil(half a) { return ceilf(a); }\n" \
    "SLRI_HALF half htrunc(half a) { return truncf(a); }\n" \
    "SLRI_HALF half hrint(half a) { return rintf(a); }\n" \
    "SLRI_HALF half __hadd(half a, half b) { return a + b; }\n" \
    "SLRI_HALF half __hsub(half a, half b) { return a - b; }\n" \
    "SLRI_HALF half __hmul(half a, half b) { return a * b; }\n" \
    "SLRI_HALF half __hdiv(half a, half b) { return a / b; }\n" \
    "SLRI_HALF half __hmax(half a, half b) { return fmaxf(a, b); }\n" \
    "SLRI_HALF half __hmin(half a, half b) { return fminf(a, b); }\n" \
    "SLRI_HALF bool __heq(half a, half b) { return a == b; }\n" \
    "SLRI_HALF bool __hne(half a, half b) { return a != b; }\n" \
    "SLRI_HALF bool __hlt(half a, half b) { return a < b; }\n" \
    "SLRI_HALF bool __hle(half a, half b) { return a <= b; }\n" \
    "SLRI_HALF bool __hgt(half a, half b) { return a > b; }\n" \
    "SLRI_HALF bool __hge(half a, half b) { return a >= b; }\n" \
    "SLRI_HALF bool __hisnan(half a) { return a != a; }\n" \
    "SLRI_HALF half __hfma(half a, half b, half c) { return __slri_hfma(a, b, c); }\n" \
    "SLRI_HALF half2 __halves2half2(half a, half b) { return make_half2(a, b); }\n" \
    "SLRI_HALF half2 __half2half2(half a) { return make_half2(a, a); }\n" \
    "SLRI_HALF half2 __float2half2_rn(float a) { return make_half2(a, a); }\n" \
    "SLRI_HALF half2 __floats2half2_rn(float a, float b) { return make_half2(a, b); }\n" \
    "SLRI_HALF half2 __float22half2_rn(float2 a) { return make_half2(a.x, a.y); }\n" \
    "SLRI_HALF float2 __half22float2(half2 a) { return make_float2(a.x, a.y); }\n" \
    "SLRI_HALF half __low2half(half2 a) { return a.x; }\n" \
    "SLRI_HALF half __high2half(half2 a) { return a.y; }\n" \
    "SLRI_HALF float __low2float(half2 a) { return a.x; }\n" \
    "SLRI_HALF float __high2float(half2 a) { return a.y; }\n" \
    "SLRI_HALF half2 __hadd2(half2 a, half2 b) { return make_half2(a.x + b.x, a.y + b.y); }\n" \
    "SLRI_HALF half2 __hsub2(half2 a, half2 b) { return make_half2(a.x - b.x, a.y - b.y); }\n" \
    "SLRI_HALF half2 __hmul2(half2 a, half2 b) { return make_half2(a.x * b.x, a.y * b.y); }\n" \
    "SLRI_HALF half2 __h2div(half2 a, half2 b) { return make_half2(a.x / b.x, a.y / b.y); }\n" \
    "SLRI_HALF half2 __hfma2(half2 a, half2 b, half2 c) { return make_half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }\n"

#define SLRI_CUDA_BF16_H \
    "#pragma once\n" \
    "typedef __nv_bfloat162 nv_bfloat162;\n" \
    "static __device__ inline __nv_bfloat16 __float2bfloat16(float a) { return (__nv_bfloat16)a; }\n" \
    "static __device__ inline __nv_bfloat16 __float2bfloat16_rn(float a) { return (__nv_bfloat16)a; }\n" \
    "static __device__ inline __nv_bfloat16 __double2bfloat16(double a) { return (__nv_bfloat16)a; }\n" \
    "static __device__ inline __nv_bfloat16 __int2bfloat16_rn(int a) { return (__nv_bfloat16)a; }\n" \
    "static __device__ inline float __bfloat162float(__nv_bfloat16 a) { return (float)a; }\n" \
    "static __device__ inline int __bfloat162int_rz(__nv_bfloat16 a) { return (int)a; }\n" \
    "static __device__ inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return *(unsigned short *)&a; }\n" \
    "static __device__ inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return *(__nv_bfloat16 *)&a; }\n" \
    "static __device__ inline __nv_bfloat162 __floats2bfloat162_rn(float a, float b) { return make___nv_bfloat162(a, b); }\n" \
    "static __device__ inline float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(a.x, a.y); }\n"
// clang-format on

#endif

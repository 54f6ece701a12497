// SPDX-License-Identifier: Apache-2.0
// Products of matrix fragments: 16 rows of 16 by 16 rows of 8, of halves, with sums of floats. `b` has its columns side
// by side. `bad` says where a product is further from that of doubles than docs/contract/kernels.md allows.

//: products_of_f16_are_those_of_double block=32 a:f32[256]=random b:f32[128]=random c:f32[128]=random bad:u32[128] d:f32[128] abs=2e-5
//:  : bad==0,0,0,0
#include <cuda_fp16.h>
__device__ unsigned pair(const float *from, int at)
{
    return __half_as_ushort(__float2half(from[at])) | (unsigned)__half_as_ushort(__float2half(from[at + 1])) << 16;
}
__device__ double value(const float *from, int at)
{
    return __half2float(__float2half(from[at]));
}
__global__ void k(const float *a, const float *b, const float *c, unsigned *bad, float *d)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
    unsigned a0 = pair(a, g * 16 + t), a1 = pair(a, g * 16 + 128 + t), a2 = pair(a, g * 16 + t + 8);
    unsigned a3 = pair(a, g * 16 + 128 + t + 8), b0 = pair(b, g * 16 + t), b1 = pair(b, g * 16 + t + 8);
    for (int i = 0; i < 4; i++) {
        int row = g + i / 2 * 8, column = t + i % 2, at = row * 8 + column;
        double want = c[at], size = fabs(want);
        for (int p = 0; p < 16; p++) {
            double term = value(a, row * 16 + p) * value(b, column * 16 + p);
            want += term;
            size += fabs(term);
        }
        d[at] = __matrix_f16_sync(0xffffffff, a0, a1, a2, a3, b0, b1, c[at], i);
        bad[at] = fabs(d[at] - want) <= 0x1p-20 * size ? 0 : 1;
    }
}

//: products_of_bf16_are_those_of_double block=32 a:f32[256]=random b:f32[128]=random c:f32[128]=random bad:u32[128] d:f32[128] abs=2e-5
//:  : bad==0,0,0,0
#include <cuda_bf16.h>
__device__ unsigned pair(const float *from, int at)
{
    return __bfloat16_as_ushort(__float2bfloat16(from[at])) | (unsigned)__bfloat16_as_ushort(__float2bfloat16(from[at + 1])) << 16;
}
__device__ double value(const float *from, int at)
{
    return __bfloat162float(__float2bfloat16(from[at]));
}
__global__ void k(const float *a, const float *b, const float *c, unsigned *bad, float *d)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
    unsigned a0 = pair(a, g * 16 + t), a1 = pair(a, g * 16 + 128 + t), a2 = pair(a, g * 16 + t + 8);
    unsigned a3 = pair(a, g * 16 + 128 + t + 8), b0 = pair(b, g * 16 + t), b1 = pair(b, g * 16 + t + 8);
    for (int i = 0; i < 4; i++) {
        int row = g + i / 2 * 8, column = t + i % 2, at = row * 8 + column;
        double want = c[at], size = fabs(want);
        for (int p = 0; p < 16; p++) {
            double term = value(a, row * 16 + p) * value(b, column * 16 + p);
            want += term;
            size += fabs(term);
        }
        d[at] = __matrix_bf16_sync(0xffffffff, a0, a1, a2, a3, b0, b1, c[at], i);
        bad[at] = fabs(d[at] - want) <= 0x1p-20 * size ? 0 : 1;
    }
}

//: products_of_small_integers_are_exact block=32 a:f32[256]=iota b:f32[128]=iota d:f32[128] : d==1240,3160,5080
#include <cuda_fp16.h>
__device__ unsigned pair(const float *from, int at)
{
    return __half_as_ushort(__float2half(from[at])) | (unsigned)__half_as_ushort(__float2half(from[at + 1])) << 16;
}
__global__ void k(const float *a, const float *b, float *d)
{
    int g = threadIdx.x / 4, t = threadIdx.x % 4 * 2;
    unsigned a0 = pair(a, g * 16 + t), a1 = pair(a, g * 16 + 128 + t), a2 = pair(a, g * 16 + t + 8);
    unsigned a3 = pair(a, g * 16 + 128 + t + 8), b0 = pair(b, g * 16 + t), b1 = pair(b, g * 16 + t + 8);
    for (int i = 0; i < 4; i++)
        d[(g + i / 2 * 8) * 8 + t + i % 2] = __matrix_f16_sync(0xffffffff, a0, a1, a2, a3, b0, b1, 0.0f, i);
}

//: each_warp_has_fragments_of_its_own grid=2 block=32x3 d:f32[768]
__global__ void k(float *d)
{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4 * 2, warp = blockIdx.x * 3 + threadIdx.y;
    unsigned one = 0x3c00, left = g == warp ? one | one << 16 : 0, right = one | one << 16;
    for (int i = 0; i < 4; i++)
        d[warp * 128 + (g + i / 2 * 8) * 8 + t + i % 2] =
            __matrix_f16_sync(0xffffffff, left, 0, left, 0, right, right, (float)warp, i);
}

//: a_sum_goes_on_through_several_products block=32 d:f32[128] depth:i32=8
__global__ void k(float *d, int depth)
{
    unsigned two = 0x4000 | 0x4000 << 16, half = 0x3800 | 0x3800 << 16;
    float sum[4] = {0.0f, 1.0f, 2.0f, 3.0f};
    for (int p = 0; p < depth; p++)
        for (int i = 0; i < 4; i++)
            sum[i] = __matrix_f16_sync(0xffffffff, two, half, two, half, two, half, sum[i], i);
    for (int i = 0; i < 4; i++)
        d[threadIdx.x * 4 + i] = sum[i];
}

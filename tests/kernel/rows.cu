// SPDX-License-Identifier: Apache-2.0
// Kernels whose parameters are rows, aligned structs, pairs of halves, and every vector type.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct __align__(16) body { float x, y, z; };
typedef struct { int a; char b; } __attribute__((aligned(32))) padded;
struct alignas(8) inner { int k; };
struct outer { char c; struct inner in; __align__(16) float f; char tail __attribute__((aligned(8))); struct body arr[2]; };
struct tile { half2 h[2]; float4 f[3][2]; };
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void rows(const float (*a)[16], float (*__restrict__ b)[16], const int c[][4][2], int n)
{
    int i = threadIdx.x;
    const float (*row)[16] = a + 1;
    b[i][3] = a[i][2] + (*row)[1] + c[i][1][0] + n;
}
__global__ void bodies(struct body *p, padded *q, const struct outer *o, struct tile t, struct tile *u)
{
    int i = threadIdx.x;
    __shared__ __align__(16) char raw[256];
    alignas(float4) float mine[4] = {1, 2, 3, 4};
    float4 v = *(float4 *)mine;
    *(float *)&raw[4 * i] = v.y;
    __syncthreads();
    p[i].z = p[i].x + q[i].a + o[i].f + o[i].arr[1].y + sizeof(struct outer) + *(float *)&raw[4 * i];
    u[i] = t;
    u[i].h[1].x = t.h[0].y;
}
__global__ void halves(const half2 *a, half2 *b, __half2 s, const __nv_bfloat162 *c, nv_bfloat162 *d, half2 (*e)[4])
{
    int i = threadIdx.x;
    b[i] = __hadd2(a[i], s);
    d[i].x = c[i].y;
    e[i][2] = a[i];
}
__global__ void vectors(char1 a, uchar2 b, short3 c, ushort4 d, int1 e, uint2 f, long3 g, ulong4 h, longlong2 i, ulonglong4 j, float3 k, double2 l, dim3 m, double4 n, half2 o, const float3 *p, float *out)
{
    out[threadIdx.x] = a.x + b.y + c.z + d.w + e.x + f.y + g.z + h.w + i.y + j.w + k.z + l.y + m.z + n.w + (float)o.y + p[threadIdx.x].z;
}

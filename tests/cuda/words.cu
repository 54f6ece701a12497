// SPDX-License-Identifier: Apache-2.0
// Every kind of word that kernels have, for the emitters: what they print of it must compile, and be read again as the
// same IR.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <math.h>
#include <stdint.h>

struct inner {
    short s[3];
    bool flag;
    double d;
};
struct outer {
    struct inner in[2];
    float4 v;
    int template_, class_;
};

__constant__ float weights[5] = {0.5f, -1.0f, 3.0e-5f, 1e30f, 0.1f};
__constant__ short narrow[3] = {-1, 2, 300};
__constant__ double2 wide[2] = {{1.0, -2.5}, {3.0, 4.0}};
static const unsigned char bytes[7] = {1, 2, 3, 4, 5, 6, 255};

__device__ struct outer filled(int i)
{
    struct outer made = {0};
    made.in[i & 1].s[2] = (short)i;
    made.in[1].flag = i > 3;
    made.v = make_float4(1.0f, (float)i, weights[i % 5], -0.0f);
    return made;
}

__device__ void swap(int *a, int *b)
{
    int was = *a;
    *a = *b;
    *b = was;
}

__device__ float sum(const float *from, int n)
{
    float total = 0.0f;
    while (n-- > 0)
        total += *from++;
    return total;
}

__device__ int *second(int *of)
{
    return of + 1;
}

__global__ void __launch_bounds__(256, 2) memory(const float *__restrict__ x, float *y, struct outer *all, struct outer by_value,
                                                 bool *flags, signed char *c, unsigned short *u, double *d, long long *l,
                                                 const int n, bool some, short narrow_one)
{
    __shared__ float tile[16][17];
    __shared__ int count;
    __shared__ struct inner kept;
    extern __shared__ float dynamic[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, pair[2] = {i, n}, j = 3;
    if (threadIdx.x == 0) {
        count = 0;
        kept.d = by_value.in[1].d;
    }
    __syncthreads();
    tile[threadIdx.x % 16][threadIdx.y % 16] = x ? x[i] : 1.0f;
    dynamic[threadIdx.x] = sum(x + 1, 4) + sum(&tile[1][2], 3) + sum(dynamic, 2) + sum(weights, 5);
    swap(&pair[0], &pair[1]);
    swap(&j, second(pair));
    __syncthreads();
    all[i] = filled(i);
    all[i + 1].in[0] = kept;
    flags[i] = some && !flags[i + 1];
    c[i] = (signed char)(c[i] + narrow_one + narrow[i % 3]);
    u[i] = (unsigned short)(u[i] << 3);
    d[i] = wide[i & 1].y * d[i] + kept.d + bytes[i % 7];
    l[i] = (l[i] >> (i & 63)) / (l[i] | 1) % 7 - (-9223372036854775807ll - 1);
    y[i] = (float)count + (float)j + by_value.v.z + (float)pair[1];
}

__global__ void control(int *out, int n, unsigned long long big, float f, double g)
{
    int i = (int)threadIdx.x, at = 0;
    for (int k = 0; k < n && out[k] != 7; k += 2) {
        if (k == 4)
            continue;
        if (out[k] > 100 || (k & 1 && f > 0.5f))
            break;
        do {
            at++;
            if (at % 3 == 0)
                continue;
            at += 2;
        } while (at < k && (at ^ k) != 5);
        switch (out[k]) {
        case -1:
            at--;
        case 2:
            at *= 3;
            break;
        case 2147483647:
            return;
        default:
            at = at > 3 ? -at : ~at;
        }
        switch (big) {
        case 18446744073709551615ull:
            at = 9;
        }
    }
    for (;;) {
        if (--at < 0)
            break;
    }
    while (true)
        if (at++ > 4)
            break;
    out[i] = at + (int)f + (int)(unsigned)g + (int)(long long)f + (int)(unsigned long long)g + (signed char)f +
             (unsigned short)g + (int)(short)big + (int)(f == g) + (int)(big << at) + (at << (i & 31)) + (at >> 1);
    out[i] += n / (at | 1) + n % (i | 1) + n / 4 + (int)(big / (big | 1u));
    if (f != f || g > INFINITY || g < -INFINITY || f == NAN)
        out[i] = -2147483647 - 1;
    float h = 1.5f * f - 2.0f / f;
    out[i] += (int)-h;
    printf("%d of %u: %g \"%lld\"\n", at, 3u, g, (long long)big);
    assert(at >= 0);
    if (n < 0)
        __trap();
}

__global__ void warps(int *out, unsigned *u, float *f, double *d, long long *l)
{
    unsigned all = 0xffffffffu, lane = threadIdx.x % warpSize;
    int v = out[threadIdx.x];
    v += __shfl_sync(all, v, 3) + __shfl_up_sync(all, v, 1, 16) + __shfl_down_sync(all, v, 2) + __shfl_xor_sync(all, v, 8);
    f[threadIdx.x] = __shfl_down_sync(all, f[threadIdx.x], 16);
    d[threadIdx.x] = __shfl_xor_sync(all, d[threadIdx.x], 16);
    l[threadIdx.x] = __shfl_up_sync(all, l[threadIdx.x], 1) + __shfl_sync(all, (unsigned long long)u[0], 5);
    v += __popc(__ballot_sync(all, v > 3)) + __all_sync(all, v) + __any_sync(all, v) + (int)__match_any_sync(all, v);
    v += (int)(__match_any_sync(all, l[0]) + __activemask());
    v += __reduce_add_sync(all, v) + __reduce_min_sync(all, v) + __reduce_max_sync(all, v);
    u[lane] = __reduce_add_sync(all, u[lane]) ^ __reduce_min_sync(all, u[1]) ^ __reduce_max_sync(all, u[2]) ^
              __reduce_and_sync(all, u[3]) ^ __reduce_or_sync(all, u[4]) ^ __reduce_xor_sync(all, u[5]);
    __syncwarp();
    out[threadIdx.x] = v + __syncthreads_count(v > 3) + __syncthreads_and(v) + __syncthreads_or(v);
}

__global__ void atomics(int *i, unsigned *u, long long *l, unsigned long long *w, float *f, double *d)
{
    __shared__ int kept;
    kept = 0;
    __syncthreads();
    atomicAdd(&kept, 1);
    atomicAdd(i, 2);
    atomicSub(i + 1, 1);
    i[2] = atomicExch(i + 3, 4) + atomicMin(i, 3) + atomicMax(i, 4) + atomicAnd(i, 5) + atomicOr(i, 6) + atomicXor(i, 7);
    u[2] = atomicInc(u, 9u) + atomicDec_block(u, 8u) + atomicInc_system(u, 1u) + atomicCAS(u, 1u, 2u) + atomicMax(u, 4u);
    w[1] = atomicAdd(w, 5ull) + atomicCAS_system(w, 1ull, 2ull) + atomicMax(w, 3ull);
    l[1] = __nv_atomic_load_n(l, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_store_n(l + 2, 3ll, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_BLOCK);
    l[3] = __nv_atomic_fetch_min(l, 5ll, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    int was = 3;
    if (__nv_atomic_compare_exchange_n(i, &was, 4, false, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE))
        i[5] = was;
    f[0] = atomicAdd(f, 1.5f) + atomicExch(f + 1, 2.0f);
    d[0] = atomicAdd(d, 1.5);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
    i[6] = kept;
}

__global__ void halves(__half *h, __nv_bfloat16 *b, float *f, __half one, const int *i, const unsigned long long *w, double g)
{
    h[1] = h[0] * one + __float2half(f[0]);
    b[1] = b[0] + (__nv_bfloat16)f[1];
    f[2] = (float)h[1] - (float)b[1] + (float)__hfma(h[0], h[1], one);
    h[2] = (__half)i[0];
    h[3] = (__half)w[0];
    h[4] = (__half)g;
    b[2] = (__nv_bfloat16)w[1];
    b[3] = (__nv_bfloat16)g;
    h[5] = -h[1];
    i[0] > 0 ? (void)(f[3] = h[0] > h[1] ? 1.0f : 2.0f) : (void)(f[4] = 0.0f);
}

__device__ int counter = 3;
__device__ struct inner last;
__constant__ float table[4];

__device__ int counted(void)
{
    return atomicAdd(&counter, 1);
}

__global__ void variables(int *out, struct inner *all)
{
    last = all[threadIdx.x];
    out[threadIdx.x] = counted() + (int)table[threadIdx.x % 4] + (int)last.d;
}

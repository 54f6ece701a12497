// SPDX-License-Identifier: Apache-2.0
// As much as there may be.

//: the_most_static_shared_memory block=256 out:i32[256]
__global__ void k(int *out)
{
    __shared__ int s[12288];
    for (int i = threadIdx.x; i < 12288; i += 256)
        s[i] = i;
    __syncthreads();
    out[threadIdx.x] = s[12287 - threadIdx.x * 48];
}

//: a_long_loop block=4 out:u32[4]
__global__ void k(unsigned *out)
{
    unsigned x = threadIdx.x;
    for (int i = 0; i < 100000; i++)
        x = x * 1664525u + 1013904223u;
    out[threadIdx.x] = x;
}

//: a_wide_grid grid=70000 block=1 out:i32[70000]
__global__ void k(int *out)
{
    out[blockIdx.x] = (int)(blockIdx.x & 1);
}

//: deep_nesting block=32 a:i32[32]=small out:i32[32]
__global__ void k(const int *a, int *out)
{
    int v = a[threadIdx.x], n = 0;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int l = 0; l < 2; l++)
                if (v & 1) {
                    if (v & 2) {
                        if (v & 4) {
                            if (v & 8)
                                n += 8;
                            else
                                n += 4;
                        } else
                            n += 2;
                    } else
                        n += 1;
                } else
                    n -= i + j + l;
    out[threadIdx.x] = n;
}

//: many_local_values block=64 a:i32[64]=random out:i32[64]
__global__ void k(const int *a, int *out)
{
    int v[40], sum = 0;
    for (int i = 0; i < 40; i++)
        v[i] = a[(threadIdx.x + i) % 64] + i;
    for (int i = 0; i < 40; i++)
        for (int j = i; j < 40; j++)
            sum += v[i] ^ v[j];
    out[threadIdx.x] = sum;
}

//: a_chain_of_functions block=16 out:i32[16]
__device__ int f1(int x) { return x * 3 + 1; }
__device__ int f2(int x) { return f1(f1(x)) ^ 5; }
__device__ int f3(int x) { return f2(f2(x)) + f1(x); }
__device__ int f4(int x) { return f3(f3(x)) - f2(x); }
__global__ void k(int *out)
{
    out[threadIdx.x] = f4((int)threadIdx.x);
}

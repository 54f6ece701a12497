// SPDX-License-Identifier: Apache-2.0
// The sum of each block's 256 elements: warps by shuffles, then their sums.
extern "C" __global__ void reduce_shared(const float *__restrict__ in, float *__restrict__ out, int n)
{
    __shared__ float part[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = i < n ? in[i] : 0.0f;
    for (int s = 16; s > 0; s /= 2)
        v += __shfl_down_sync(0xffffffffu, v, s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
        for (int s = 4; s > 0; s /= 2)
            v += __shfl_down_sync(0xffffffffu, v, s);
        if (threadIdx.x == 0)
            out[blockIdx.x] = v;
    }
}

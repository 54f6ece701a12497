// SPDX-License-Identifier: Apache-2.0
// 256 bins: each block counts in shared memory, then adds what it has to the whole.
__global__ void histogram(const int *in, int *out, int n)
{
    __shared__ int bins[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    bins[t] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&bins[in[i] & 255], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}

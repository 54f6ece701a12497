// SPDX-License-Identifier: Apache-2.0
// Softmax of rows of 256, a block a row: greatest element and sum are trees in shared memory.
__global__ void softmax(const float *in, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = in[i];
    part[t] = x;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    float e = expf(x - part[0]);
    __syncthreads();
    part[t] = e;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (i < n)
        out[i] = e / part[0];
}

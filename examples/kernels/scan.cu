// SPDX-License-Identifier: Apache-2.0
// Inclusive sums within blocks of 256 (Hillis and Steele), between two halves of shared memory.
__global__ void scan(const float *in, float *out, int n)
{
    __shared__ float part[2][256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, from = 0;
    part[0][t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t >= d)
            part[1 - from][t] = part[from][t] + part[from][t - d];
        else
            part[1 - from][t] = part[from][t];
        from = 1 - from;
        __syncthreads();
    }
    if (i < n)
        out[i] = part[from][t];
}

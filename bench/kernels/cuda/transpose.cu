// SPDX-License-Identifier: Apache-2.0
// A tile of 32 x 32 a block of 32 x 8 threads, through shared memory whose rows do not fall on the same banks.
extern "C" __global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int side)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (x < side && y + k < side)
            tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * side + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
    for (int k = 0; k < 32; k += 8)
        if (x < side && y + k < side)
            out[(y + k) * side + x] = tile[threadIdx.x][threadIdx.y + k];
}

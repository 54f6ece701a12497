// SPDX-License-Identifier: Apache-2.0
// 256 bins: each block counts PER numbers a thread in shared memory, then adds what it has to the whole.
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef PER
#define PER 1
#endif
#ifndef COPIES
#define COPIES 1 // of the bins, so that fewer threads meet at one
#endif
#pragma slipring tune BLOCK = 64, 128, 256, 512
#pragma slipring tune PER = 1, 2, 4, 8, 16, 32, 64, 128
#pragma slipring tune COPIES = 1, 2, 4
#pragma slipring block histogram = BLOCK
#pragma slipring items histogram = BLOCK * PER
__global__ void histogram(const int *in, int *out, int n)
{
    __shared__ int bins[256 * COPIES];
    int t = threadIdx.x, first = blockIdx.x * (BLOCK * PER);
    for (int i = t; i < 256 * COPIES; i += BLOCK)
        bins[i] = 0;
    __syncthreads();
    for (int k = 0; k < PER; k++) {
        int i = first + k * BLOCK + t;
        if (i < n)
            atomicAdd(&bins[(in[i] & 255) + t % COPIES * 256], 1);
    }
    __syncthreads();
    for (int i = t; i < 256; i += BLOCK) {
        int sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += bins[i + c * 256];
        atomicAdd(&out[i], sum);
    }
}

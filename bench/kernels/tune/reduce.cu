// SPDX-License-Identifier: Apache-2.0
// The sum of whole numbers: PER of them a thread, then a tree in shared memory, then one addition a block.
#ifndef BLOCK
#define BLOCK 256
#endif
#ifndef PER
#define PER 1
#endif
#ifndef NEIGHBOURS
#define NEIGHBOURS 0 // 1: a thread's numbers lie side by side, else those of a block do
#endif
#pragma slipring tune BLOCK = 32, 64, 128, 256, 512
#pragma slipring tune PER = 1, 2, 4, 8, 16, 32, 64, 128
#pragma slipring tune NEIGHBOURS = 0, 1
#pragma slipring block reduce = BLOCK
#pragma slipring items reduce = BLOCK * PER
__global__ void reduce(const int *in, int *out, int n)
{
    __shared__ int part[BLOCK];
    int t = threadIdx.x, first = blockIdx.x * (BLOCK * PER), sum = 0;
    for (int k = 0; k < PER; k++) {
        int i = first + (NEIGHBOURS ? t * PER + k : k * BLOCK + t);
        sum += i < n ? in[i] : 0;
    }
    part[t] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(out, part[0]);
}

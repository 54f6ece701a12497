// SPDX-License-Identifier: Apache-2.0
// Each division that may fail, of each kind; threads that end before others wait for them.
#include <assert.h>

__global__ void divisions(int *i, unsigned *u, long long *l, unsigned long long *m)
{
    int at = 2 * threadIdx.x;
    i[at] = i[at] / i[at + 1] + i[at] % i[at + 1];
    u[at] = u[at] / u[at + 1] + u[at] % u[at + 1];
    l[at] = l[at] / l[at + 1] + l[at] % l[at + 1];
    m[at] = m[at] / m[at + 1] + m[at] % m[at + 1];
}

__device__ int checked(int a, int least)
{
    assert(a >= least);
    return a;
}

__global__ void meetings(int *p, int n)
{
    __shared__ int part[64];
    for (int turn = 0; turn < n; turn++) {
        part[threadIdx.x] = checked(p[threadIdx.x], turn);
        __syncthreads();
        if (part[63 - threadIdx.x] == n)
            __trap();
        __syncwarp();
        p[threadIdx.x] = __shfl_xor_sync(0xffffffff, part[threadIdx.x], 1) / n;
        __syncthreads();
    }
}

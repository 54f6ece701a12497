// SPDX-License-Identifier: Apache-2.0
// How n bodies of equal mass pull at each: TILE of them at a time in shared memory, and a thread does PER bodies. n is a
// multiple of TILE * PER.
#ifndef TILE
#define TILE 256
#endif
#ifndef PER
#define PER 1
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#pragma slipring tune TILE = 32, 64, 128, 256, 512
#pragma slipring tune PER = 1, 2, 4, 8
#pragma slipring tune UNROLL = 1, 2, 4, 8
#pragma slipring block nbody = TILE
#pragma slipring items nbody = TILE * PER
__device__ void attract(float dx, float dy, float dz, float *ax, float *ay, float *az)
{
    float r = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1.0f / sqrtf(r), cube = inverse * inverse * inverse;
    *ax += dx * cube;
    *ay += dy * cube;
    *az += dz * cube;
}

__global__ void nbody(const float *x, const float *y, const float *z, float *pull, int n)
{
    __shared__ float sx[TILE], sy[TILE], sz[TILE];
    int t = threadIdx.x, first = blockIdx.x * (TILE * PER) + t;
    float ax[PER], ay[PER], az[PER];
    for (int p = 0; p < PER; p++)
        ax[p] = ay[p] = az[p] = 0.0f;
    for (int tile = 0; tile < n; tile += TILE) {
        sx[t] = x[tile + t];
        sy[t] = y[tile + t];
        sz[t] = z[tile + t];
        __syncthreads();
        for (int p = 0; p < PER; p++) {
            int i = first + p * TILE;
            for (int k = 0; k < TILE; k += UNROLL)
                for (int u = 0; u < UNROLL; u++)
                    attract(sx[k + u] - x[i], sy[k + u] - y[i], sz[k + u] - z[i], &ax[p], &ay[p], &az[p]);
        }
        __syncthreads();
    }
    for (int p = 0; p < PER; p++) {
        int i = first + p * TILE;
        pull[3 * i] = ax[p];
        pull[3 * i + 1] = ay[p];
        pull[3 * i + 2] = az[p];
    }
}

// SPDX-License-Identifier: Apache-2.0
// How n bodies of equal mass pull at each: all pairs, 256 of them at a time in shared memory. n is a multiple of 256.
__global__ void nbody(const float *x, const float *y, const float *z, float *pull, int n)
{
    __shared__ float sx[256], sy[256], sz[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float px = x[i], py = y[i], pz = z[i], ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int tile = 0; tile < n; tile += 256) {
        sx[t] = x[tile + t];
        sy[t] = y[tile + t];
        sz[t] = z[tile + t];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float dx = sx[k] - px, dy = sy[k] - py, dz = sz[k] - pz;
            float r = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1.0f / sqrtf(r), cube = inverse * inverse * inverse;
            ax += dx * cube;
            ay += dy * cube;
            az += dz * cube;
        }
        __syncthreads();
    }
    pull[3 * i] = ax;
    pull[3 * i + 1] = ay;
    pull[3 * i + 2] = az;
}

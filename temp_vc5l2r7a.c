#define grid_size_x 128
#define grid_size_y 1
#define grid_size_z 1
#define BLOCK_SIDE_X 16
#define block_size_y 1
#define block_size_z 1
#define TILE 16
#define PER 2
#define SHARED 0
#define UNROLL 1
#define kernel_tuner 1
#line 1
// SPDX-License-Identifier: Apache-2.0
// How n bodies of equal mass pull at each: TILE of them at a time in shared memory, and a thread does PER bodies. n is a
// multiple of TILE * PER.
#ifndef TILE
#define TILE 256
#endif
#ifndef PER
#define PER 1
#endif
#ifndef SHARED
#define SHARED 1 // 0: straight from memory
#endif
#ifndef UNROLL
#define UNROLL 1
#endif






#if PER == 1
#define EACH(DO) DO(0)
#elif PER == 2
#define EACH(DO) DO(0) DO(1)
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#endif
#define BEGIN(p)                                                                                                       \
    float px##p = x[first + p * TILE], py##p = y[first + p * TILE], pz##p = z[first + p * TILE];                       \
    float ax##p = 0.0f, ay##p = 0.0f, az##p = 0.0f;
#define PULL(p)                                                                                                        \
    {                                                                                                                  \
        float dx = qx - px##p, dy = qy - py##p, dz = qz - pz##p;                                                       \
        float r = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1.0f / sqrtf(r), cube = inverse * inverse * inverse;  \
        ax##p += dx * cube;                                                                                            \
        ay##p += dy * cube;                                                                                            \
        az##p += dz * cube;                                                                                            \
    }
#define STORE(p)                                                                                                       \
    pull[3 * (first + p * TILE)] = ax##p;                                                                              \
    pull[3 * (first + p * TILE) + 1] = ay##p;                                                                          \
    pull[3 * (first + p * TILE) + 2] = az##p;

__kernel void nbody(__global const float *x, __global const float *y, __global const float *z, __global float *pull, int n)
{
#if SHARED
    __local float sx[TILE], sy[TILE], sz[TILE];
#endif
    int t = ((int)get_local_id(0)), first = ((int)get_group_id(0)) * (TILE * PER) + t;
    EACH(BEGIN)
    for (int tile = 0; tile < n; tile += TILE) {
#if SHARED
        sx[t] = x[tile + t];
        sy[t] = y[tile + t];
        sz[t] = z[tile + t];
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        __global const float *sx = x + tile, *sy = y + tile, *sz = z + tile;
#endif
        for (int k = 0; k < TILE; k += UNROLL)
            for (int u = 0; u < UNROLL; u++) {
                float qx = sx[k + u], qy = sy[k + u], qz = sz[k + u];
                EACH(PULL)
            }
#if SHARED
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
    }
    EACH(STORE)
}

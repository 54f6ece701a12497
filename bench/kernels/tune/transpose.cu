// SPDX-License-Identifier: Apache-2.0
// A square matrix by tiles in shared memory; a thread moves ROWS elements. The side is a multiple of TILE.
#ifndef TILE
#define TILE 16
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef PAD
#define PAD 1 // columns more, which keep a GPU's banks apart
#endif
#ifndef SHARED
#define SHARED 1 // 0: straight from memory to memory
#endif
#pragma slipring tune TILE = 8, 16, 32, 64
#pragma slipring tune ROWS = 1, 2, 4, 8, 16, 32
#pragma slipring tune PAD = 0, 1
#pragma slipring tune SHARED = 0, 1
#pragma slipring require TILE % ROWS == 0 && TILE * (TILE / ROWS) <= 1024 && (SHARED || PAD)
#pragma slipring block transpose = TILE, TILE / ROWS
#pragma slipring items transpose = TILE, TILE
__global__ void transpose(const float *in, float *out, int side)
{
    int tx = threadIdx.x, ty = threadIdx.y, high = TILE / ROWS, x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
#if SHARED
    __shared__ float tile[TILE][TILE + PAD];
    for (int r = 0; r < ROWS; r++)
        tile[ty + r * high][tx] = in[(y0 + ty + r * high) * side + x0 + tx];
    __syncthreads();
    for (int r = 0; r < ROWS; r++)
        out[(x0 + ty + r * high) * side + y0 + tx] = tile[tx][ty + r * high];
#else
    for (int r = 0; r < ROWS; r++)
        out[(x0 + ty + r * high) * side + y0 + tx] = in[(y0 + tx) * side + x0 + ty + r * high];
#endif
}

// SPDX-License-Identifier: Apache-2.0
// C = A B for square matrices by tiles; a thread computes ROWS elements of a column. The side is a multiple of TILE and of
// HIGH * ROWS.
#ifndef TILE
#define TILE 16
#endif
#ifndef HIGH
#define HIGH 16
#endif
#ifndef ROWS
#define ROWS 1
#endif
#pragma slipring tune TILE = 8, 16, 32, 64
#pragma slipring tune HIGH = 1, 2, 4, 8, 16, 32
#pragma slipring tune ROWS = 1, 2, 4, 8
#pragma slipring require TILE % HIGH == 0 && TILE * HIGH >= 16 && TILE * HIGH <= 1024 && HIGH * ROWS <= 64
#pragma slipring block matmul = TILE, HIGH
#pragma slipring items matmul = TILE, HIGH * ROWS
#if ROWS == 1
#define EACH(DO) DO(0)
#elif ROWS == 2
#define EACH(DO) DO(0) DO(1)
#elif ROWS == 4
#define EACH(DO) DO(0) DO(1) DO(2) DO(3)
#else
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#endif
#define BEGIN(r) float sum##r = 0.0f;
#define LOAD(r) at[ty + r * HIGH][tx] = a[(row + r * HIGH) * side + tile + tx];
#define ADD(r) sum##r += at[ty + r * HIGH][k] * right;
#define STORE(r) c[(row + r * HIGH) * side + col] = sum##r;

__global__ void matmul(const float *a, const float *b, float *c, int side)
{
    __shared__ float at[HIGH * ROWS][TILE], bt[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * (HIGH * ROWS) + ty, col = blockIdx.x * TILE + tx;
    EACH(BEGIN)
    for (int tile = 0; tile < side; tile += TILE) {
        EACH(LOAD)
        for (int j = 0; j < TILE; j += HIGH)
            bt[ty + j][tx] = b[(tile + ty + j) * side + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float right = bt[k][tx];
            EACH(ADD)
        }
        __syncthreads();
    }
    EACH(STORE)
}

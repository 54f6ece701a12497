// SPDX-License-Identifier: Apache-2.0
// C = A B for square matrices by tiles; a thread computes ROWS x COLS elements. The side is a multiple of TILE.
#ifndef TILE
#define TILE 16
#endif
#ifndef ROWS
#define ROWS 1
#endif
#ifndef COLS
#define COLS 1
#endif
#pragma slipring tune TILE = 8, 16, 32, 64
#pragma slipring tune ROWS = 1, 2, 4, 8, 16
#pragma slipring tune COLS = 1, 2, 4, 8
#pragma slipring require TILE % ROWS == 0 && TILE % COLS == 0
#pragma slipring require TILE / ROWS * (TILE / COLS) >= 8 && TILE / ROWS * (TILE / COLS) <= 1024
#pragma slipring block matmul = TILE / COLS, TILE / ROWS
#pragma slipring items matmul = TILE, TILE
__global__ void matmul(const float *a, const float *b, float *c, int side)
{
    __shared__ float at[TILE][TILE], bt[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, wide = TILE / COLS, high = TILE / ROWS;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum[ROWS][COLS];
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < COLS; q++)
            sum[r][q] = 0.0f;
    for (int tile = 0; tile < side; tile += TILE) {
        for (int r = 0; r < ROWS; r++)
            for (int q = 0; q < COLS; q++) {
                at[ty + r * high][tx + q * wide] = a[(row + r * high) * side + tile + tx + q * wide];
                bt[ty + r * high][tx + q * wide] = b[(tile + ty + r * high) * side + col + q * wide];
            }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int r = 0; r < ROWS; r++)
                for (int q = 0; q < COLS; q++)
                    sum[r][q] += at[ty + r * high][k] * bt[k][tx + q * wide];
        __syncthreads();
    }
    for (int r = 0; r < ROWS; r++)
        for (int q = 0; q < COLS; q++)
            c[(row + r * high) * side + col + q * wide] = sum[r][q];
}

// SPDX-License-Identifier: Apache-2.0
// examples/kernels/matmul.cu as its compiler shall write it: k outside, k and rows unrolled, lanes innermost: the
// sums then stay in registers. The next tile's rows of b, each in a page of its own, are asked for ahead: at n = 1024,
// where b does not fit into L2, 63 GFLOP/s instead of 52.
#include "hand.h"

void hand(void *const *buffer, int n)
{
    const float *a = buffer[0], *b = buffer[1];
    float *c = buffer[2];
    int tiles = n / 16;
    for (int block = 0; block < tiles * tiles; block++) {
        _Alignas(64) float at[16][16], bt[16][16], sum[16][16];
        long row = block / tiles * 16, col = block % tiles * 16;
        for (int y = 0; y < 16; y++)
            LANES for (int x = 0; x < 16; x++) sum[y][x] = 0.0f;
        for (int tile = 0; tile < tiles; tile++) {
            for (int y = 0; y < 16; y++) {
                const float *from = &b[((long)tile * 16 + y) * n + col];
                LANES for (int x = 0; x < 16; x++)
                {
                    at[y][x] = a[(row + y) * n + tile * 16 + x];
                    bt[y][x] = from[x];
                }
                __builtin_prefetch((const void *)((unsigned long)from + 64ul * (unsigned long)n), 0, 2);
            }
            ROWS for (int k = 0; k < 16; k++) ROWS for (int y = 0; y < 16; y++)
            {
                float left = at[y][k];
                LANES for (int x = 0; x < 16; x++) sum[y][x] += left * bt[k][x];
            }
        }
        for (int y = 0; y < 16; y++)
            LANES for (int x = 0; x < 16; x++) c[(row + y) * n + col + x] = sum[y][x];
    }
}

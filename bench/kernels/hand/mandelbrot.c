// SPDX-License-Identifier: Apache-2.0
// examples/kernels/mandelbrot.cu as its compiler shall write it: loops that end apart stay in the lane.
#include "hand.h"

void hand(void *const *buffer, int n)
{
    int *out = buffer[0];
    for (int by = 0; by < n; by += 8)
        for (int bx = 0; bx < n; bx += 32)
            for (int y = by; y < by + 8 && y < n; y++)
                for (int x = bx; x < bx + 32 && x < n; x++) {
                    float cx = -2.0f + 3.0f * (float)x / (float)n, cy = -1.5f + 3.0f * (float)y / (float)n;
                    float p = 0.0f, q = 0.0f;
                    int step = 0;
                    while (step < 64 && p * p + q * q < 4.0f) {
                        float next = p * p - q * q + cx;
                        q = 2.0f * p * q + cy;
                        p = next;
                        step++;
                    }
                    out[(long)y * n + x] = step;
                }
}

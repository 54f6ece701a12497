// SPDX-License-Identifier: Apache-2.0
// examples/kernels/stencil.cu as its compiler shall write it: blocks of 32 x 8, the rim is the loops' bounds.
#include "hand.h"

void hand(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int by = 0; by < n; by += 8)
        for (int bx = 0; bx < n; bx += 32)
            for (int y = by; y < by + 8; y++) {
                int low = bx == 0, high = n - 1 - bx < 32 ? n - 1 - bx : 32;
                if (y < 1 || y >= n - 1)
                    continue;
                long i = (long)y * n + bx;
                LANES for (int x = low; x < high; x++) out[i + x] =
                    0.2f * (in[i + x] + in[i + x - 1] + in[i + x + 1] + in[i + x - n] + in[i + x + n]);
            }
}

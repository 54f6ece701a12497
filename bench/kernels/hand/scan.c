// SPDX-License-Identifier: Apache-2.0
// examples/kernels/scan.cu as its compiler shall write it: either side of t >= d is a range of lanes.
#include "hand.h"

void hand(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int block = 0; block * 256 < n; block++) {
        _Alignas(64) float part[2][256];
        int left = n - block * 256 < 256 ? n - block * 256 : 256, from = 0;
        LANES for (int t = 0; t < 256; t++) part[0][t] = t < left ? in[block * 256l + t] : 0.0f;
        for (int d = 1; d < 256; d *= 2, from = 1 - from) {
            LANES for (int t = d; t < 256; t++) part[1 - from][t] = part[from][t] + part[from][t - d];
            LANES for (int t = 0; t < d; t++) part[1 - from][t] = part[from][t];
        }
        LANES for (int t = 0; t < left; t++) out[block * 256l + t] = part[from][t];
    }
}

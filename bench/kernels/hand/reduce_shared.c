// SPDX-License-Identifier: Apache-2.0
// examples/kernels/reduce_shared.cu as its compiler shall write it: the condition t < s is the loop's bound.
#include "hand.h"

void hand(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int block = 0; block * 256 < n; block++) {
        _Alignas(64) float part[256];
        int left = n - block * 256 < 256 ? n - block * 256 : 256;
        LANES for (int t = 0; t < 256; t++) part[t] = t < left ? in[block * 256l + t] : 0.0f;
        for (int s = 128; s > 0; s >>= 1)
            LANES for (int t = 0; t < s; t++) part[t] += part[t + s];
        out[block] = part[0];
    }
}

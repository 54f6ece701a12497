// SPDX-License-Identifier: Apache-2.0
// One step of a 5-point stencil on a square; the rim stays. A thread does PER elements of a column.
#ifndef WIDE
#define WIDE 32
#endif
#ifndef HIGH
#define HIGH 8
#endif
#ifndef PER
#define PER 1
#endif
#pragma slipring tune WIDE = 16, 32, 64, 128, 256, 512
#pragma slipring tune HIGH = 1, 2, 4, 8, 16
#pragma slipring tune PER = 1, 2, 4, 8, 16
#pragma slipring require WIDE * HIGH <= 1024 && WIDE * HIGH >= 32
#pragma slipring block stencil = WIDE, HIGH
#pragma slipring items stencil = WIDE, HIGH * PER
__global__ void stencil(const float *in, float *out, int side)
{
    int x = blockIdx.x * WIDE + threadIdx.x;
    for (int k = 0; k < PER; k++) {
        int y = (blockIdx.y * PER + k) * HIGH + threadIdx.y;
        if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
            int i = y * side + x;
            out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - side] + in[i + side]);
        }
    }
}

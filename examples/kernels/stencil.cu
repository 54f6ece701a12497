// SPDX-License-Identifier: Apache-2.0
// One step of a 5-point stencil on a square; the rim stays.
__global__ void stencil(const float *in, float *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < side - 1 && y > 0 && y < side - 1) {
        int i = y * side + x;
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - side] + in[i + side]);
    }
}

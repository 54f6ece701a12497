// SPDX-License-Identifier: Apache-2.0
// How soon each point leaves, up to 64 steps; neighbours differ, so the threads of a block do.
__global__ void mandelbrot(int *out, int side)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < side && py < side) {
        float cx = -2.0f + 3.0f * (float)px / (float)side, cy = -1.5f + 3.0f * (float)py / (float)side;
        float x = 0.0f, y = 0.0f;
        int step = 0;
        while (step < 64 && x * x + y * y < 4.0f) {
            float next = x * x - y * y + cx;
            y = 2.0f * x * y + cy;
            x = next;
            step++;
        }
        out[py * side + px] = step;
    }
}

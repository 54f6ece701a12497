// SPDX-License-Identifier: Apache-2.0
// Large matrices: c = a b, one element per thread.
__global__ void matrix(const float *a, const float *b, float *c, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= side || y >= side) return;
    float sum = 0.0f;
    for (int k = 0; k < side; k++) sum += a[y * side + k] * b[k * side + x];
    c[y * side + x] = sum;
}

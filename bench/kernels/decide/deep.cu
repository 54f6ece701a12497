// SPDX-License-Identifier: Apache-2.0
// Deep learning: a convolution of 3 by 3 over a batch of images. One output per thread; z is image times channel.
#define CHANNELS 64
__global__ void deep(const float *in, const float *weight, float *out, int side, int images)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    int image = z / CHANNELS, channel = z % CHANNELS, row = side + 2;
    if (x >= side || y >= side || image >= images) return;
    float sum = 0.0f;
    for (int c = 0; c < CHANNELS; c++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++)
                sum += weight[((channel * CHANNELS + c) * 3 + j) * 3 + i] *
                       in[((image * CHANNELS + c) * row + y + j) * row + x + i];
    out[(z * side + y) * side + x] = sum > 0.0f ? sum : 0.0f;
}

// SPDX-License-Identifier: Apache-2.0
// A square matrix, by tiles of 16 x 16 in shared memory; a column more keeps a GPU's banks apart.
__global__ void transpose(const float *in, float *out, int side)
{
    __shared__ float tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * side + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    out[y * side + x] = tile[threadIdx.x][threadIdx.y];
}

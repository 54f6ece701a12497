// SPDX-License-Identifier: Apache-2.0
// c = a b, a tile of 64 x 64 a block of 16 x 16 threads, 4 x 4 elements each in registers. `side` is a multiple of 64.
// fmaf is what NVRTC makes of a * b + c by itself; slipring does only where the source says it.
extern "C" __global__ void matmul(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c, int side)
{
    __shared__ float left[16][64 + 4], right[16][64];
    int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    int row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k = 0; k < side; k += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int at = t + i * 256;
            left[at % 16][at / 16] = a[(row + at / 16) * side + k + at % 16];
            right[at / 64][at % 64] = b[(k + at / 64) * side + column + at % 64];
        }
        __syncthreads();
#pragma unroll
        for (int m = 0; m < 16; m++) {
            float4 u = *reinterpret_cast<const float4 *>(&left[m][y * 4]);
            float4 v = *reinterpret_cast<const float4 *>(&right[m][x * 4]);
            float us[4] = {u.x, u.y, u.z, u.w}, vs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] = fmaf(us[i], vs[j], sum[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
        *reinterpret_cast<float4 *>(&c[(row + y * 4 + i) * side + column + x * 4]) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

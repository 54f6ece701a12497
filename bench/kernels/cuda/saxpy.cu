// SPDX-License-Identifier: Apache-2.0
// y = a x + y, four elements a thread in one request. n is a multiple of four, or the rest is the last thread's.
extern "C" __global__ void saxpy(float a, const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i + 3 < n) {
        float4 from = *reinterpret_cast<const float4 *>(x + i), to = *reinterpret_cast<float4 *>(y + i);
        *reinterpret_cast<float4 *>(y + i) =
            make_float4(a * from.x + to.x, a * from.y + to.y, a * from.z + to.z, a * from.w + to.w);
    } else {
        for (; i < n; i++)
            y[i] = a * x[i] + y[i];
    }
}

// SPDX-License-Identifier: Apache-2.0
// Sorts blocks of 256 in shared memory (Batcher 1968).
__global__ void bitonic(const float *in, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    part[t] = in[i];
    __syncthreads();
    for (int size = 2; size <= 256; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            int other = t ^ step;
            if (other > t) {
                float low = part[t], high = part[other];
                if ((low > high) == ((t & size) == 0)) {
                    part[t] = high;
                    part[other] = low;
                }
            }
            __syncthreads();
        }
    if (i < n)
        out[i] = part[t];
}

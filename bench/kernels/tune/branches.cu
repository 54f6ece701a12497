// SPDX-License-Identifier: Apache-2.0
// A short branch that each of 100 iterations takes by chance, which no processor foresees.
__global__ void branches(const unsigned *seed, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned random = seed[i];
    float a = 0.0f, b = 1.0f;
    for (int k = 0; k < 100; k++) {
        random = random * 1664525u + 1013904223u;
        if (random & 0x800000u)
            a = a * 0.5f + b;
        else
            b = b * 0.25f - a;
    }
    out[i] = a + b;
}

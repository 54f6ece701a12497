// SPDX-License-Identifier: Apache-2.0
// Operations on tensors. This text stands in front of each of the others. T is the type of the elements in memory;
// every sum is a float, in one order, so results do not depend on the device's threads.
#ifndef T
#define T float
#endif
#define GROUP 64 // threads that share a row

__device__ float activated(int kind, float x)
{
    switch (kind) {
    case 1: // relu
        return x < 0.0f ? 0.0f : x;
    case 2: // sigmoid
        return 1.0f / (1.0f + expf(-x));
    case 3:
        return tanhf(x);
    case 4: // gelu
        return x * 0.5f * (1.0f + erff(x * 0.70710678f));
    case 5: // silu
        return x / (1.0f + expf(-x));
    case 6: // leaky relu
        return x < 0.0f ? x / 100.0f : x;
    }
    return x;
}

// The derivative of that at x.
__device__ float slope(int kind, float x)
{
    float s;
    switch (kind) {
    case 1:
        return x < 0.0f ? 0.0f : 1.0f;
    case 2:
        s = 1.0f / (1.0f + expf(-x));
        return s * (1.0f - s);
    case 3:
        s = tanhf(x);
        return 1.0f - s * s;
    case 4:
        return 0.5f * (1.0f + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x);
    case 5:
        s = 1.0f / (1.0f + expf(-x));
        return s * (1.0f + x * (1.0f - s));
    case 6:
        return x < 0.0f ? 0.01f : 1.0f;
    }
    return 1.0f;
}

// SPDX-License-Identifier: Apache-2.0
// The network of network.c as a message handler: a block of threads classifies a beat. Its bindings are the trained
// weights. Two layers of convolution, ReLU and pooling by two, then a product with one column a kind. This is no medical
// device.
#include <slipring/device.h>

#include "beats.h"

enum {
    THREADS = 64,
    LENGTH1 = BEATS_POINTS / 2, // after the first pooling
    LENGTH2 = BEATS_POINTS / 4
};

__device__ float sum_of_all(float *part, float mine)
{
    int t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    float all = part[0];
    __syncthreads();
    return all;
}

// One value of a convolution, which is padded so that it keeps the length.
__device__ float convolved(const float *x, int channels, int length, const float *weights, float bias, int width, int at)
{
    float sum = bias;
    for (int c = 0; c < channels; c++) {
        for (int k = 0; k < width; k++) {
            int from = at + k - width / 2;
            if (from >= 0 && from < length)
                sum += x[c * length + from] * weights[c * width + k];
        }
    }
    return sum > 0.0f ? sum : 0.0f;
}

__ring_block__ void __launch_bounds__(THREADS) classify(const struct beat_window *in, const float *weights1, const float *bias1,
                                        const float *weights2, const float *bias2, const float *weights3,
                                        const float *bias3)
{
    __shared__ float x[BEATS_POINTS];
    __shared__ float y[BEATS_FILTERS1 * LENGTH1];
    __shared__ float z[BEATS_FEATURES];
    __shared__ float part[THREADS];
    int t = threadIdx.x;

    // In millivolts, without the electrode's offset.
    float point = (float)(in->adc[2 * t] + in->adc[2 * t + 1]) * 0.5f;
    float mean = sum_of_all(part, point) / (float)BEATS_POINTS;
    x[t] = (point - mean) * 0.005f;
    __syncthreads();

    for (int i = t; i < BEATS_FILTERS1 * LENGTH1; i += THREADS) {
        int f = i / LENGTH1;
        int at = i % LENGTH1 * 2;
        float a = convolved(x, 1, BEATS_POINTS, weights1 + f * BEATS_WIDTH1, bias1[f], BEATS_WIDTH1, at);
        float b = convolved(x, 1, BEATS_POINTS, weights1 + f * BEATS_WIDTH1, bias1[f], BEATS_WIDTH1, at + 1);
        y[i] = fmaxf(a, b);
    }
    __syncthreads();
    for (int i = t; i < BEATS_FEATURES; i += THREADS) {
        int f = i / LENGTH2;
        int at = i % LENGTH2 * 2;
        const float *w = weights2 + f * BEATS_FILTERS1 * BEATS_WIDTH2;
        float a = convolved(y, BEATS_FILTERS1, LENGTH1, w, bias2[f], BEATS_WIDTH2, at);
        float b = convolved(y, BEATS_FILTERS1, LENGTH1, w, bias2[f], BEATS_WIDTH2, at + 1);
        z[i] = fmaxf(a, b);
    }
    __syncthreads();

    // The likelihood needs the difference of the two results alone.
    float difference = 0.0f;
    for (int i = t; i < BEATS_FEATURES; i += THREADS)
        difference += z[i] * (weights3[2 * i + 1] - weights3[2 * i]);
    difference = sum_of_all(part, difference) + bias3[1] - bias3[0];
    if (t == 0) {
        struct beat_kind kind;
        kind.likely = 1.0f / (1.0f + expf(-difference));
        kind.premature = difference > 0.0f;
        ring_reply(&kind);
    }
}

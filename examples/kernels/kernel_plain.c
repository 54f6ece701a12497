// SPDX-License-Identifier: Apache-2.0
#include "kernel_plain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void plain_saxpy(void *const *buffer, int n)
{
    const float *x = buffer[0];
    float *y = buffer[1];
    for (int i = 0; i < n; i++)
        y[i] = 2.0f * x[i] + y[i];
}

void plain_strided_copy(void *const *buffer, int n)
{
    const float *x = buffer[0];
    float *y = buffer[1];
    for (int i = 0; i < n; i++)
        y[i] = x[i * 4];
}

// Sums in the order of a tree, which is what makes them the same bits.
static float tree_sum(float *part, int count)
{
    for (int s = count / 2; s > 0; s /= 2)
        for (int t = 0; t < s; t++)
            part[t] += part[t + s];
    return part[0];
}

void plain_reduce_shared(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1], part[256];
    for (int block = 0; block * 256 < n; block++) {
        for (int t = 0; t < 256; t++)
            part[t] = block * 256 + t < n ? in[block * 256 + t] : 0.0f;
        out[block] = tree_sum(part, 256);
    }
}

void plain_reduce_shuffle(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1], lane[32];
    for (int block = 0; block * 256 < n; block++) {
        float part[32] = {0};
        for (int warp = 0; warp < 8; warp++) {
            for (int t = 0; t < 32; t++)
                lane[t] = block * 256 + warp * 32 + t < n ? in[block * 256 + warp * 32 + t] : 0.0f;
            part[warp] = tree_sum(lane, 32);
        }
        out[block] = tree_sum(part, 32);
    }
}

void plain_scan(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1], part[2][256];
    for (int block = 0; block * 256 < n; block++) {
        int from = 0;
        for (int t = 0; t < 256; t++)
            part[0][t] = block * 256 + t < n ? in[block * 256 + t] : 0.0f;
        for (int d = 1; d < 256; d *= 2, from = !from)
            for (int t = 0; t < 256; t++)
                part[!from][t] = t >= d ? part[from][t] + part[from][t - d] : part[from][t];
        for (int t = 0; t < 256 && block * 256 + t < n; t++)
            out[block * 256 + t] = part[from][t];
    }
}

void plain_histogram(void *const *buffer, int n)
{
    const int *in = buffer[0];
    int *out = buffer[1];
    for (int i = 0; i < n; i++)
        out[in[i] & 255]++;
}

void plain_transpose(void *const *buffer, int side)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++)
            out[x * side + y] = in[y * side + x];
}

void plain_matmul(void *const *buffer, int side)
{
    const float *a = buffer[0], *b = buffer[1];
    float *c = buffer[2];
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            float sum = 0.0f;
            for (int k = 0; k < side; k++)
                sum += a[y * side + k] * b[k * side + x];
            c[y * side + x] = sum;
        }
}

void plain_stencil(void *const *buffer, int side)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int y = 1; y < side - 1; y++)
        for (int i = y * side + 1; i < y * side + side - 1; i++)
            out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - side] + in[i + side]);
}

void plain_softmax(void *const *buffer, int n)
{
    const float *in = buffer[0];
    float *out = buffer[1];
    for (int row = 0; row < n; row += 256) {
        float most = in[row], sum = 0.0f;
        for (int t = 1; t < 256; t++)
            most = fmaxf(most, in[row + t]);
        for (int t = 0; t < 256; t++)
            sum += out[row + t] = expf(in[row + t] - most);
        for (int t = 0; t < 256; t++)
            out[row + t] /= sum;
    }
}

static double normal(double d)
{
    return 0.5 * erfc(-d / sqrt(2.0));
}

// By erfc, not by the polynomial, whose error is 7.5e-8.
void plain_black_scholes(void *const *buffer, int n)
{
    const float *price = buffer[0], *strike = buffer[1];
    float *call = buffer[2], *put = buffer[3];
    for (int i = 0; i < n; i++) {
        double rate = 0.02, volatility = 0.3, s = 5.0 + 25.0 * (double)price[i], x = 1.0 + 99.0 * (double)strike[i];
        double d1 = (log(s / x) + rate + 0.5 * volatility * volatility) / volatility, d2 = d1 - volatility;
        double c = s * normal(d1) - x * exp(-rate) * normal(d2);
        call[i] = (float)c;
        put[i] = (float)(c + x * exp(-rate) - s);
    }
}

void plain_nbody(void *const *buffer, int n)
{
    const float *x = buffer[0], *y = buffer[1], *z = buffer[2];
    float *pull = buffer[3];
    for (int i = 0; i < n; i++) {
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int k = 0; k < n; k++) {
            float dx = x[k] - x[i], dy = y[k] - y[i], dz = z[k] - z[i];
            float r = dx * dx + dy * dy + dz * dz + 0.01f, inverse = 1.0f / sqrtf(r),
                  cube = inverse * inverse * inverse;
            ax += dx * cube;
            ay += dy * cube;
            az += dz * cube;
        }
        pull[3 * i] = ax;
        pull[3 * i + 1] = ay;
        pull[3 * i + 2] = az;
    }
}

void plain_spmv(void *const *buffer, int rows)
{
    const int *first = buffer[0], *column = buffer[1];
    const float *value = buffer[2], *x = buffer[3];
    float *y = buffer[4];
    for (int row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (int k = first[row]; k < first[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

void plain_bitonic(void *const *buffer, int n)
{
    float *out = buffer[1];
    memcpy(out, buffer[0], (size_t)n * sizeof *out);
    for (int block = 0; block < n; block += 256)
        qsort(out + block, 256, sizeof *out, by_size);
}

void plain_mandelbrot(void *const *buffer, int side)
{
    int *out = buffer[0];
    for (int py = 0; py < side; py++)
        for (int px = 0; px < side; px++) {
            float cx = -2.0f + 3.0f * (float)px / (float)side, cy = -1.5f + 3.0f * (float)py / (float)side;
            float x = 0.0f, y = 0.0f;
            int step = 0;
            for (; step < 64 && x * x + y * y < 4.0f; step++) {
                float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
            }
            out[py * side + px] = step;
        }
}

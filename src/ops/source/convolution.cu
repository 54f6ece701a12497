// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling. x is [n][c][h][w], weights [k][c / groups][r][s], y [n][k][p][q], all contiguous. A thread
// has one element of the result and sums in one order. One dimension is h = r = p = 1.

struct shape {
    int n, c, h, w, k, r, s, p, q;
    int stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w, groups;
};

__global__ void convolution(const T *x, const T *weights, const T *bias, T *y, T *pre, struct shape d, int kind)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < d.n * d.k * d.p * d.q) {
        int q = at % d.q, p = at / d.q % d.p, k = at / d.q / d.p % d.k, n = at / d.q / d.p / d.k;
        int channels = d.c / d.groups, first = k / (d.k / d.groups) * channels;
        float sum = bias != 0 ? (float)bias[k] : 0.0f;
        for (int c = 0; c < channels; c++)
            for (int r = 0; r < d.r; r++) {
                int h = p * d.stride_h - d.pad_h + r * d.dilation_h;
                for (int s = 0; s < d.s; s++) {
                    int w = q * d.stride_w - d.pad_w + s * d.dilation_w;
                    if (h >= 0 && h < d.h && w >= 0 && w < d.w)
                        sum = fmaf((float)x[((n * d.c + first + c) * d.h + h) * d.w + w],
                                   (float)weights[((k * channels + c) * d.r + r) * d.s + s], sum);
                }
            }
        if (pre != 0)
            pre[at] = (T)sum;
        y[at] = (T)activated(kind, sum);
    }
}

__global__ void convolution_input(const T *weights, const T *dy, T *dx, struct shape d)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < d.n * d.c * d.h * d.w) {
        int w = at % d.w, h = at / d.w % d.h, c = at / d.w / d.h % d.c, n = at / d.w / d.h / d.c;
        int channels = d.c / d.groups, filters = d.k / d.groups, group = c / channels;
        float sum = 0.0f;
        for (int k = group * filters; k < (group + 1) * filters; k++)
            for (int r = 0; r < d.r; r++) {
                int up = h + d.pad_h - r * d.dilation_h, p = up / d.stride_h;
                for (int s = 0; s < d.s; s++) {
                    int left = w + d.pad_w - s * d.dilation_w, q = left / d.stride_w;
                    if (up >= 0 && left >= 0 && p < d.p && q < d.q && p * d.stride_h == up && q * d.stride_w == left)
                        sum = fmaf((float)dy[((n * d.k + k) * d.p + p) * d.q + q],
                                   (float)weights[((k * channels + c - group * channels) * d.r + r) * d.s + s], sum);
                }
            }
        dx[at] = (T)sum;
    }
}

__global__ void convolution_weights(const T *x, const T *dy, T *dweights, struct shape d)
{
    int channels = d.c / d.groups, at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < d.k * channels * d.r * d.s) {
        int s = at % d.s, r = at / d.s % d.r, c = at / d.s / d.r % channels, k = at / d.s / d.r / channels;
        int from = k / (d.k / d.groups) * channels + c;
        float sum = 0.0f;
        for (int n = 0; n < d.n; n++)
            for (int p = 0; p < d.p; p++) {
                int h = p * d.stride_h - d.pad_h + r * d.dilation_h;
                for (int q = 0; q < d.q; q++) {
                    int w = q * d.stride_w - d.pad_w + s * d.dilation_w;
                    if (h >= 0 && h < d.h && w >= 0 && w < d.w)
                        sum = fmaf((float)x[((n * d.c + from) * d.h + h) * d.w + w],
                                   (float)dy[((n * d.k + k) * d.p + p) * d.q + q], sum);
                }
            }
        dweights[at] = (T)sum;
    }
}

// Sums over images and places: a thread a filter.
__global__ void convolution_bias(const T *dy, T *dbias, struct shape d)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < d.k) {
        float sum = 0.0f;
        for (int n = 0; n < d.n; n++)
            for (int i = 0; i < d.p * d.q; i++)
                sum += (float)dy[(n * d.k + k) * d.p * d.q + i];
        dbias[k] = (T)sum;
    }
}

// The places that each result reads, as columns: [n][c][r][s][p][q]. A block has a window's element of one channel
// (blockIdx.x) and as many q as it has threads.
__global__ void convolution_columns(const T *x, T *columns, struct shape d)
{
    int lane = threadIdx.x, first = blockIdx.y * blockDim.x, q = first + lane;
    int s = blockIdx.x % d.s, r = blockIdx.x / d.s % d.r, plane = blockIdx.x / (d.r * d.s);
    int shift = s * d.dilation_w - d.pad_w;
    for (int p = 0; p < d.p; p++) {
        int h = p * d.stride_h - d.pad_h + r * d.dilation_h;
        const T *row = x + (plane * d.h + (h < 0 ? 0 : h < d.h ? h : d.h - 1)) * d.w;
        T *to = columns + (blockIdx.x * d.p + p) * d.q;
        if (h < 0 || h >= d.h) {
            if (q < d.q)
                to[q] = (T)0.0f;
        } else if (d.stride_w == 1) { // side by side
            if (q < d.q)
                to[q] = q + shift >= 0 && q + shift < d.w ? row[q + shift] : (T)0.0f;
        } else if (q < d.q) {
            int w = q * d.stride_w + shift;
            to[q] = w >= 0 && w < d.w ? row[w] : (T)0.0f;
        }
    }
}

// ---- pooling: k = c; r and s are the window. kind: 1 the largest, 2 the mean of the window's elements that are there --

__global__ void pool(const T *x, T *y, int *indices, struct shape d, int kind)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < d.n * d.c * d.p * d.q) {
        int q = at % d.q, p = at / d.q % d.p, plane = at / d.q / d.p, best_at = -1, count = 0;
        float best = 0.0f, sum = 0.0f;
        for (int r = 0; r < d.r; r++)
            for (int s = 0; s < d.s; s++) {
                int h = p * d.stride_h - d.pad_h + r * d.dilation_h, w = q * d.stride_w - d.pad_w + s * d.dilation_w;
                if (h >= 0 && h < d.h && w >= 0 && w < d.w) {
                    float v = (float)x[(plane * d.h + h) * d.w + w];
                    count++;
                    sum += v;
                    if (best_at < 0 || v > best) {
                        best = v;
                        best_at = h * d.w + w;
                    }
                }
            }
        y[at] = (T)(kind == 1 ? best : count > 0 ? sum / (float)count : 0.0f);
        if (indices != 0)
            indices[at] = best_at;
    }
}

// A thread an element of x: it asks every window that may have read it.
__global__ void pool_backward(const int *indices, const T *dy, T *dx, struct shape d, int kind)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < d.n * d.c * d.h * d.w) {
        int w = at % d.w, h = at / d.w % d.h, plane = at / d.w / d.h;
        float sum = 0.0f;
        for (int r = 0; r < d.r; r++)
            for (int s = 0; s < d.s; s++) {
                int up = h + d.pad_h - r * d.dilation_h, left = w + d.pad_w - s * d.dilation_w;
                int p = up / d.stride_h, q = left / d.stride_w;
                if (up >= 0 && left >= 0 && p < d.p && q < d.q && p * d.stride_h == up && q * d.stride_w == left) {
                    int from = (plane * d.p + p) * d.q + q;
                    if (kind == 1) {
                        if (indices[from] == h * d.w + w)
                            sum += (float)dy[from];
                    } else {
                        int rows = 0, columns = 0;
                        for (int i = 0; i < d.r; i++) {
                            int y = p * d.stride_h - d.pad_h + i * d.dilation_h;
                            rows += y >= 0 && y < d.h;
                        }
                        for (int i = 0; i < d.s; i++) {
                            int x = q * d.stride_w - d.pad_w + i * d.dilation_w;
                            columns += x >= 0 && x < d.w;
                        }
                        sum += (float)dy[from] / (float)(rows * columns);
                    }
                }
            }
        dx[at] = (T)sum;
    }
}

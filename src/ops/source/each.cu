// SPDX-License-Identifier: Apache-2.0
// Operations on elements: a thread an element of the result.

// The kind is asked for in the kernel, not below it: so each kind is a loop over elements of its own.
#define EACH_KIND(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define ACTIVATE(k)                                                                                                    \
    case k:                                                                                                            \
        y[i] = (T)activated(k, v);                                                                                     \
        break;
#define GO_BACK(k)                                                                                                     \
    case k:                                                                                                            \
        dx[i] = (T)(d * slope(k, v));                                                                                  \
        break;

__global__ void activation(const T *x, T *y, int n, int kind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = (float)x[i];
        switch (kind) {
            EACH_KIND(ACTIVATE)
        default: // none: the result of a library is copied
            y[i] = (T)v;
        }
    }
}

__global__ void activation_backward(const T *x, const T *dy, T *dx, int n, int kind)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = (float)x[i], d = (float)dy[i];
        switch (kind) {
            EACH_KIND(GO_BACK)
        default:
            dx[i] = (T)d;
        }
    }
}

__global__ void square_error(const T *x, const T *target, float *losses, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = (float)x[i] - (float)target[i];
        losses[i] = d * d;
    }
}

__global__ void square_error_backward(const T *x, const T *target, T *dx, int n, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        dx[i] = (T)(((float)x[i] - (float)target[i]) * scale);
}

// ---- embedding -------------------------------------------------------------------------------------------------------

// An index that is no row of the table gives zeros.
__global__ void embedding(const T *table, const int *indices, T *y, int elements, int rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        int row = indices[i / width];
        y[i] = row < 0 || row >= rows ? (T)0.0f : table[row * width + i % width];
    }
}

// A thread an element of the table: it looks for its row among all indices, so the order of the sum is theirs.
__global__ void embedding_backward(const int *indices, const T *dy, T *dtable, int elements, int count, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        int row = i / width, column = i % width;
        float sum = 0.0f;
        for (int j = 0; j < count; j++)
            if (indices[j] == row)
                sum += (float)dy[j * width + column];
        dtable[i] = (T)sum;
    }
}

// ---- optimisers ------------------------------------------------------------------------------------------------------

__global__ void sgd(float *w, const T *g, float *velocity, int n, float rate, float momentum, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = fmaf(decay, w[i], (float)g[i]);
        if (velocity != 0) {
            d = fmaf(momentum, velocity[i], d);
            velocity[i] = d;
        }
        w[i] = w[i] - rate * d;
    }
}

// `first` and `second` are 1 - beta1^step and 1 - beta2^step.
__global__ void adam(float *w, const T *g, float *mean, float *square, int n, float rate, float beta1, float beta2,
                     float epsilon, float decay, float first, float second)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float d = (float)g[i];
        float m = beta1 * mean[i] + (1.0f - beta1) * d, v = beta2 * square[i] + (1.0f - beta2) * d * d;
        mean[i] = m;
        square[i] = v;
        w[i] = w[i] - rate * (m / first / (sqrtf(v / second) + epsilon) + decay * w[i]);
    }
}

// ---- types -----------------------------------------------------------------------------------------------------------

__global__ void to_float(const T *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (float)x[i];
}

__global__ void from_float(const float *x, T *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = (T)x[i];
}

// ---- loss scaling ----------------------------------------------------------------------------------------------------

// y = x * scale; found[0] becomes 1 where a result is no finite number. found[1] counts zeros, where they count.
__global__ void unscale(const T *x, float *y, unsigned *found, int n, float scale, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned zeros = (unsigned)__syncthreads_count(i < n && (float)x[i] == 0.0f);
    if (count && threadIdx.x == 0)
        atomicAdd(found + 1, zeros);
    if (i < n) {
        float v = (float)x[i] * scale;
        y[i] = v;
        if (!(fabsf(v) <= 3.402823466e38f))
            atomicOr(found, 1u);
    }
}

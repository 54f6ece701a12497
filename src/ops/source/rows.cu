// SPDX-License-Identifier: Apache-2.0
// Operations along rows: a block of GROUP threads a row.

__device__ float row_sum(float *part, float mine)
{
    int t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (int s = GROUP / 2; s > 0; s >>= 1) {
        if (t < s)
            part[t] += part[t + s];
        __syncthreads();
    }
    float all = part[0];
    __syncthreads();
    return all;
}

__device__ float row_most(float *part, float mine)
{
    int t = threadIdx.x;
    part[t] = mine;
    __syncthreads();
    for (int s = GROUP / 2; s > 0; s >>= 1) {
        if (t < s)
            part[t] = fmaxf(part[t], part[t + s]);
        __syncthreads();
    }
    float all = part[0];
    __syncthreads();
    return all;
}

__device__ float row_largest(float *part, const T *x, int first, int n)
{
    float most = -3.402823466e38f;
    for (int i = threadIdx.x; i < n; i += GROUP)
        most = fmaxf(most, (float)x[first + i]);
    return row_most(part, most);
}

// The sum of exp(x - most), where most is the row's largest.
__device__ float row_exponentials(float *part, const T *x, int first, int n, float most)
{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += GROUP)
        sum += expf((float)x[first + i] - most);
    return row_sum(part, sum);
}

// ---- soft-max --------------------------------------------------------------------------------------------------------

__global__ void softmax(const T *x, T *y, int n)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n;
    float most = row_largest(part, x, first, n);
    float sum = row_exponentials(part, x, first, n, most);
    for (int i = threadIdx.x; i < n; i += GROUP)
        y[first + i] = (T)(expf((float)x[first + i] - most) / sum);
}

// dx = y * (dy - sum(y * dy))
__global__ void softmax_backward(const T *y, const T *dy, T *dx, int n)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += GROUP)
        sum = fmaf((float)y[first + i], (float)dy[first + i], sum);
    sum = row_sum(part, sum);
    for (int i = threadIdx.x; i < n; i += GROUP)
        dx[first + i] = (T)((float)y[first + i] * ((float)dy[first + i] - sum));
}

// ---- layer norm ------------------------------------------------------------------------------------------------------

__global__ void layer_norm(const T *x, const T *gamma, const T *beta, T *y, float *means, float *scales, int n,
                           float epsilon)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += GROUP)
        sum += (float)x[first + i];
    float mean = row_sum(part, sum) / (float)n;
    sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += GROUP) {
        float d = (float)x[first + i] - mean;
        sum = fmaf(d, d, sum);
    }
    float scale = 1.0f / sqrtf(row_sum(part, sum) / (float)n + epsilon);
    for (int i = threadIdx.x; i < n; i += GROUP) {
        float v = ((float)x[first + i] - mean) * scale;
        y[first + i] = (T)fmaf(v, (float)gamma[i], (float)beta[i]);
    }
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        scales[blockIdx.x] = scale;
    }
}

__global__ void layer_norm_backward(const T *x, const T *gamma, const float *means, const float *scales, const T *dy,
                                    T *dx, int n)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n;
    float mean = means[blockIdx.x], scale = scales[blockIdx.x], sum = 0.0f, sum_of_products = 0.0f;
    for (int i = threadIdx.x; i < n; i += GROUP) {
        float g = (float)dy[first + i] * (float)gamma[i];
        sum += g;
        sum_of_products = fmaf(g, ((float)x[first + i] - mean) * scale, sum_of_products);
    }
    sum = row_sum(part, sum) / (float)n;
    sum_of_products = row_sum(part, sum_of_products) / (float)n;
    for (int i = threadIdx.x; i < n; i += GROUP) {
        float g = (float)dy[first + i] * (float)gamma[i], v = ((float)x[first + i] - mean) * scale;
        dx[first + i] = (T)(scale * (g - sum - v * sum_of_products));
    }
}

// A thread a column: sums over the rows.
__global__ void layer_norm_weights(const T *x, const float *means, const float *scales, const T *dy, T *dgamma,
                                   T *dbeta, int rows, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float g = 0.0f, b = 0.0f;
        for (int row = 0; row < rows; row++) {
            float d = (float)dy[row * n + i];
            g = fmaf(d, ((float)x[row * n + i] - means[row]) * scales[row], g);
            b += d;
        }
        dgamma[i] = (T)g;
        dbeta[i] = (T)b;
    }
}

// ---- losses: a number a row, which `reduce` then makes a mean of -----------------------------------------------------

// A label that is no class has no loss and no gradient.
__global__ void cross_entropy(const T *logits, const int *labels, float *losses, int n)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n, label = labels[blockIdx.x];
    float most = row_largest(part, logits, first, n);
    float sum = row_exponentials(part, logits, first, n, most);
    if (threadIdx.x == 0)
        losses[blockIdx.x] = label < 0 || label >= n ? 0.0f : logf(sum) + most - (float)logits[first + label];
}

__global__ void cross_entropy_backward(const T *logits, const int *labels, T *dx, int n, float scale)
{
    __shared__ float part[GROUP];
    int first = blockIdx.x * n, label = labels[blockIdx.x];
    float most = row_largest(part, logits, first, n);
    float sum = row_exponentials(part, logits, first, n, most);
    for (int i = threadIdx.x; i < n; i += GROUP) {
        float p = expf((float)logits[first + i] - most) / sum - (i == label ? 1.0f : 0.0f);
        dx[first + i] = (T)(label < 0 || label >= n ? 0.0f : p * scale);
    }
}

// ---- reductions ------------------------------------------------------------------------------------------------------
// kind: 1 sum, 2 mean, 3 largest. x is [outer][n][inner]; the result is [outer][inner].

// Rows of contiguous elements, in pieces: y is [outer][pieces]; `length` elements a piece.
__global__ void reduce_row(const T *x, float *y, int n, int length, int kind, float scale)
{
    __shared__ float part[GROUP];
    int begin = blockIdx.x * length, end = begin + length < n ? begin + length : n, row = blockIdx.y * n;
    float mine = kind == 3 ? -3.402823466e38f : 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += GROUP)
        mine = kind == 3 ? fmaxf(mine, (float)x[row + i]) : mine + (float)x[row + i];
    mine = kind == 3 ? row_most(part, mine) : row_sum(part, mine);
    if (threadIdx.x == 0)
        y[blockIdx.y * gridDim.x + blockIdx.x] = kind == 2 ? mine * scale : mine;
}

__global__ void reduce_column(const T *x, T *y, int n, int inner, int results, int kind, float scale)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < results) {
        int first = at / inner * n * inner + at % inner;
        float mine = (float)x[first];
        for (int i = 1; i < n; i++) {
            float v = (float)x[first + i * inner];
            mine = kind == 3 ? fmaxf(mine, v) : mine + v;
        }
        y[at] = (T)(kind == 2 ? mine * scale : mine);
    }
}

// Of the largest: to the first element that has its value.
__global__ void reduce_backward(const T *x, const T *y, const T *dy, T *dx, int n, int inner, int results, int kind,
                                float scale)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < results) {
        int first = at / inner * n * inner + at % inner, given = 0;
        float d = (float)dy[at];
        for (int i = 0; i < n; i++) {
            int takes = 1;
            if (kind == 3) {
                takes = given == 0 && (float)x[first + i * inner] == (float)y[at];
                given += takes;
            }
            dx[first + i * inner] = (T)(takes ? (kind == 2 ? d * scale : d) : 0.0f);
        }
    }
}

// ---- scan: running sums along rows, a thread a row -------------------------------------------------------------------

__global__ void scan(const T *x, T *y, int rows, int n, int reverse, int exclusive)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) {
            int at = row * n + (reverse ? n - 1 - i : i);
            float v = (float)x[at];
            y[at] = (T)(exclusive ? sum : sum + v);
            sum += v;
        }
    }
}

// ---- top-k: the k largest of a row, in falling order; of equal ones the first is first -------------------------------

__global__ void top_k(const T *x, T *values, int *indices, int rows, int n, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float last = 3.402823466e38f;
        int last_at = -1;
        for (int j = 0; j < k; j++) {
            float best = 0.0f;
            int best_at = -1;
            for (int i = 0; i < n; i++) {
                float v = (float)x[row * n + i];
                int is_later = v < last || (v == last && i > last_at) || j == 0;
                if (is_later && (best_at < 0 || v > best)) {
                    best = v;
                    best_at = i;
                }
            }
            values[row * k + j] = (T)best;
            indices[row * k + j] = best_at;
            last = best;
            last_at = best_at;
        }
    }
}

__global__ void top_k_backward(const int *indices, const T *dvalues, T *dx, int rows, int n, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        for (int i = 0; i < n; i++)
            dx[row * n + i] = (T)0.0f;
        for (int j = 0; j < k; j++) {
            int at = indices[row * k + j];
            if (at >= 0 && at < n)
                dx[row * n + at] = dvalues[row * k + j];
        }
    }
}

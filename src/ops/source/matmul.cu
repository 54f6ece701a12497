// SPDX-License-Identifier: Apache-2.0
// Matrix products: C = activation(alpha * op(A) op(B) + beta * C + bias), for each matrix of a batch (blockIdx.z).
// C has m rows of n; op(A) is m by k, op(B) is k by n. There are a_count matrices A and b_count matrices B, each used
// again and again. A bias has a number a column of C; or, where bias_rows is not 0, a number a row of all matrices A.

// What becomes of a sum: element `at` of C, whose bias is the one at `bias_at`.
__device__ void finish(float sum, T *c, T *pre, const T *bias, int at, int bias_at, float alpha, float beta, int kind)
{
    float v = alpha * sum;
    if (beta != 0.0f)
        v += beta * (float)c[at];
    if (bias != 0)
        v += (float)bias[bias_at];
    if (pre != 0)
        pre[at] = (T)v;
    c[at] = (T)activated(kind, v);
}

// ---- by tiles in shared memory: an element a thread, no workspace ---------------------------------------------------

#define TILE 16
// Element (row, p) of op(A) is a[row * a_row + p * a_col], and so for B.
__global__ void matmul_tile(const T *a, const T *b, T *c, T *pre, const T *bias, int m, int n, int k, int a_count,
                            int b_count, int a_row, int a_col, int b_row, int b_col, int bias_rows, float alpha,
                            float beta, int kind)
{
    __shared__ float at[TILE][TILE], bt[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, z = blockIdx.z;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int a_first = z % a_count * m * k, b_first = z % b_count * k * n;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        int pa = first + tx, pb = first + ty;
        at[ty][tx] = row < m && pa < k ? (float)a[a_first + row * a_row + pa * a_col] : 0.0f;
        bt[ty][tx] = col < n && pb < k ? (float)b[b_first + pb * b_row + col * b_col] : 0.0f;
        __syncthreads();
        for (int p = 0; p < TILE; p++)
            sum = fmaf(at[ty][p], bt[p][tx], sum);
        __syncthreads();
    }
    if (row < m && col < n)
        finish(sum, c, pre, bias, z * m * n + row * n + col, bias_rows ? z % a_count * m + row : col, alpha, beta, kind);
}

// The same with 16 elements a thread, for products that have enough of them: a block has SIDE by SIDE of C. Each sum is of
// the same terms in the same order.
#define SIDE 64
#define APART (SIDE + 4) // rows of a tile begin in different banks, each at a multiple of 16 bytes
#define EACH_FOURTH(X) X(0) X(1) X(2) X(3)
#define BEGIN_ROW(i) float s##i##0 = 0.0f, s##i##1 = 0.0f, s##i##2 = 0.0f, s##i##3 = 0.0f;
#define ADD_ROW(i)                                                                                                     \
    {                                                                                                                  \
        s##i##0 = fmaf(left[i], right[0], s##i##0);                                                                    \
        s##i##1 = fmaf(left[i], right[1], s##i##1);                                                                    \
        s##i##2 = fmaf(left[i], right[2], s##i##2);                                                                    \
        s##i##3 = fmaf(left[i], right[3], s##i##3);                                                                    \
    }
#define FINISH_ONE(i, j)                                                                                               \
    if (row + i < m && col + j < n)                                                                                    \
        finish(s##i##j, c, pre, bias, z * m * n + (row + i) * n + col + j,                                             \
               bias_rows ? z % a_count * m + row + i : col + j, alpha, beta, kind);
#define FINISH_ROW(i) FINISH_ONE(i, 0) FINISH_ONE(i, 1) FINISH_ONE(i, 2) FINISH_ONE(i, 3)
__global__ void matmul_block(const T *a, const T *b, T *c, T *pre, const T *bias, int m, int n, int k, int a_count,
                             int b_count, int a_row, int a_col, int b_row, int b_col, int bias_rows, float alpha,
                             float beta, int kind)
{
    __shared__ float at[TILE][APART], bt[TILE][APART];
    int tx = threadIdx.x, ty = threadIdx.y, z = blockIdx.z, first_row = blockIdx.y * SIDE, first_col = blockIdx.x * SIDE;
    int a_first = z % a_count * m * k, b_first = z % b_count * k * n, thread = ty * TILE + tx;
    EACH_FOURTH(BEGIN_ROW)
    for (int first = 0; first < k; first += TILE) {
        for (int i = thread; i < SIDE * TILE; i += TILE * TILE) { // neighbours load neighbours, whichever way they lie
            int pa = a_col == 1 ? i % TILE : i / SIDE, r = a_col == 1 ? i / TILE : i % SIDE, row = first_row + r;
            int pb = b_col == 1 ? i / SIDE : i % TILE, q = b_col == 1 ? i % SIDE : i / TILE, col = first_col + q;
            at[pa][r] = row < m && first + pa < k ? (float)a[a_first + row * a_row + (first + pa) * a_col] : 0.0f;
            bt[pb][q] = col < n && first + pb < k ? (float)b[b_first + (first + pb) * b_row + col * b_col] : 0.0f;
        }
        __syncthreads();
        for (int p = 0; p < TILE; p++) {
            const float *left = &at[p][ty * 4], *right = &bt[p][tx * 4]; // each four is one load
            EACH_FOURTH(ADD_ROW)
        }
        __syncthreads();
    }
    int row = first_row + ty * 4, col = first_col + tx * 4;
    EACH_FOURTH(FINISH_ROW)
}

// ---- by panels: op(A) as strips of 12 rows, op(B) as strips of 32 columns, each packed in the order of its use ------

#define ROWS 12
#define LANES 16

// Strips of `width` rows of a matrix whose rows are contiguous: A as it is, B transposed. A strip is [depth][width],
// zero beyond the last row.
__global__ void matmul_pack_rows(const T *from, float *to, int rows, int depth, int width)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, strip = blockIdx.y, z = blockIdx.z;
    const T *source = from + z * rows * depth;
    float *target = to + (z * gridDim.y + strip) * depth * width;
    for (int i = 0; i < width; i++) {
        int row = strip * width + i;
        if (p < depth)
            target[p * width + i] = row < rows ? (float)source[row * depth + p] : 0.0f;
    }
}

// Strips of `width` columns of a matrix whose rows are contiguous: B as it is, A transposed.
__global__ void matmul_pack_columns(const T *from, float *to, int columns, int depth, int width)
{
    int lane = threadIdx.x, strip = blockIdx.x, z = blockIdx.z, first = blockIdx.y * 64, column = strip * width + lane;
    const T *source = from + z * columns * depth;
    float *target = to + (z * gridDim.x + strip) * depth * width;
    int last = first + 64 < depth ? first + 64 : depth;
    for (int p = first; p < last; p++)
        if (lane < width)
            target[p * width + lane] = column < columns ? (float)source[p * columns + column] : 0.0f;
}

#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define BEGIN(i) float s##i = 0.0f, t##i = 0.0f;
#define ADD(i)                                                                                                         \
    {                                                                                                                  \
        float v = a[i];                                                                                                \
        s##i = fmaf(v, left, s##i);                                                                                    \
        t##i = fmaf(v, right, t##i);                                                                                   \
    }
#define FINISH(i)                                                                                                      \
    if (row + i < m) {                                                                                                 \
        int at = (z * m + row + i) * n + col;                                                                          \
        if (col < n)                                                                                                   \
            finish(s##i, c, pre, bias, at, bias_rows ? bias_first + i : col, alpha, beta, kind);                       \
        if (col + LANES < n)                                                                                           \
            finish(t##i, c, pre, bias, at + LANES, bias_rows ? bias_first + i : col + LANES, alpha, beta, kind);       \
    }

// A thread has 12 rows of two columns. What a step reads lies side by side, so that vectors need no gather.
__global__ void matmul_panel(const float *__restrict__ a_strips, const float *__restrict__ b_strips, T *c, T *pre,
                             const T *bias, int m, int n, int k, int a_count, int b_count, int bias_rows, float alpha,
                             float beta, int kind)
{
    int lane = threadIdx.x, z = blockIdx.z, row = blockIdx.x * ROWS, col = blockIdx.y * (2 * LANES) + lane;
    int bias_first = z % a_count * m + row;
    const float *a = a_strips + (z % a_count * gridDim.x + blockIdx.x) * k * ROWS;
    const float *b = b_strips + (z % b_count * gridDim.y + blockIdx.y) * k * (2 * LANES);
    EACH_ROW(BEGIN)
    for (int p = 0; p < k; p++) {
        float left = b[lane], right = b[LANES + lane];
        EACH_ROW(ADD)
        a += ROWS;
        b += 2 * LANES;
    }
    EACH_ROW(FINISH)
}

// ---- behind a product of somebody else's -----------------------------------------------------------------------------

// Adds the bias and applies the activation to what is in C.
__global__ void matmul_finish(T *c, T *pre, const T *bias, int elements, int n, int bias_rows, int kind)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < elements)
        finish(0.0f, c, pre, bias, at, bias_rows ? at / n % bias_rows : at % n, 0.0f, 1.0f, kind);
}

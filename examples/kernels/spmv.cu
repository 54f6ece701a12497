// SPDX-License-Identifier: Apache-2.0
// y = A x for a sparse matrix in rows (CSR), a row a thread.
__global__ void spmv(const int *first, const int *column, const float *value, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = first[row]; k < first[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

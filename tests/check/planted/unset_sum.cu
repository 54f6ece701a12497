// The sum begins as anything.
__global__ void rows(const float *in, float *out, int n, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum;
    for (int k = 0; k < columns; k++)
        sum += in[row * columns + k]; // finds SLR-C021
    out[row] = sum;
}

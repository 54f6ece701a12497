// Smooths in place: a neighbour may have been written already.
__global__ void smooth(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        x[i] = 0.5f * (x[i - 1] + x[i + 1]); // finds SLR-C011
    else if (i < n)
        y[i] = x[i];
}

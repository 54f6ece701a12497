// The first element has no left neighbour.
__global__ void edges(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] - x[i > 0 ? i - 1 : 0];
}

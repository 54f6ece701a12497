// The last element has no right neighbour.
__global__ void differences(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i + 1] - x[i]; // finds SLR-C001
}

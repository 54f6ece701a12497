// One thread too many.
__global__ void scale(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i] = a * x[i]; // finds SLR-C001
}

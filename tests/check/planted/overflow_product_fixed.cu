// The square of the index leaves an int.
__global__ void squares(long long *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (long long)(i * 1000) * (i * 1000);
}

// The bins are counted up from whatever shared memory holds.
__global__ void histogram(const unsigned char *in, int *out, int n)
{
    __shared__ int bins[256];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    bins[t] = 0;
    __syncthreads();
    if (i < n)
        atomicAdd(&bins[in[i]], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}

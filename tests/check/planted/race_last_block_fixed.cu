// The last block adds up what the others wrote, without a fence before they say that they have.
__global__ void total(const float *in, float *part, unsigned *arrived, float *out)
{
    __shared__ bool is_last;
    float own = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (threadIdx.x == 0) {
        part[blockIdx.x] = own;
        __threadfence();
        is_last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0.0f;
        for (int i = 0; i < gridDim.x; i++)
            sum += part[i];
        out[0] = sum;
    }
}

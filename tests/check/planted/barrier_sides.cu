// The two sides of a branch wait at barriers of their own.
__global__ void sides(const float *in, float *out)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = in[i];
    tile[t] = x;
    if (x > 0.5f) {
        __syncthreads();
        out[i] = tile[255 - t];
    } else {
        __syncthreads(); // finds SLR-C030
        out[i] = -tile[255 - t];
    }
}

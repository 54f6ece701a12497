// The two sides of a branch wait at barriers of their own.
__global__ void sides(const float *in, float *out)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    float x = in[i];
    tile[t] = x;
    __syncthreads();
    if (x > 0.5f) {
        out[i] = tile[255 - t];
    } else {
        out[i] = -tile[255 - t];
    }
}

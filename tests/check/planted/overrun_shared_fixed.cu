// The tile has no room for the element behind the block's last one.
__global__ void blur(const float *in, float *out, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    tile[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (i < n)
        out[i] = 0.5f * (tile[t] + tile[t < 255 ? t + 1 : t]);
}

// Each thread reads what another one wrote to the tile.
__global__ void reverse(const float *in, float *out)
{
    __shared__ float tile[256];
    int t = threadIdx.x, first = blockIdx.x * 256;
    tile[t] = in[first + t];
    __syncthreads();
    out[first + t] = tile[255 - t];
}

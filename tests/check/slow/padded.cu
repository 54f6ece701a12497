// The same with a column more: nothing to say.
__global__ void transpose(const float *in, float *out, int side)
{
    __shared__ float tile[32][33];
    int tx = threadIdx.x, ty = threadIdx.y;
    tile[ty][tx] = in[(blockIdx.y * 32 + ty) * side + blockIdx.x * 32 + tx];
    __syncthreads();
    out[(blockIdx.x * 32 + ty) * side + blockIdx.y * 32 + tx] = tile[tx][ty];
}

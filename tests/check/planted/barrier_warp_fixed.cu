// Half of a warp shuffles with a mask that names all of it.
__global__ void pairs(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    float other = __shfl_xor_sync(0xffffffffu, x, 1);
    if (x > 0.5f)
        x += other;
    __syncwarp();
    out[i] = x;
}

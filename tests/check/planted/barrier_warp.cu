// Half of a warp shuffles with a mask that names all of it.
__global__ void pairs(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (x > 0.5f)
        x += __shfl_xor_sync(0xffffffffu, x, 1); // finds SLR-C033
    __syncwarp();
    out[i] = x;
}

// Neighbouring threads write elements that are a row apart.
__global__ void transpose(const float *in, float *out, int side)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < side && y < side)
        out[x * side + y] = in[y * side + x]; // finds SLR-C060
}

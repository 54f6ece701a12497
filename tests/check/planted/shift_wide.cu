// A bit beyond the word.
__global__ void bits(const int *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 1u << in[i]; // finds SLR-C041
}

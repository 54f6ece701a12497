// Blocks and threads add to one word.
__global__ void count(const float *in, int *found, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.5f)
        found[0] += 1; // finds SLR-C011
}

// Adds to what nobody has filled.
// unset: out
__global__ void accumulate(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

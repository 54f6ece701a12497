// Seven bins, and a remainder of eight.
__global__ void bins(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, count[8] = {0};
    if (i >= n)
        return;
    for (int k = 0; k < 16; k++)
        count[(i + k) % 8]++;
    out[i] = count[0] + in[i];
}

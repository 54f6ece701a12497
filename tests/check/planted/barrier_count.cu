// Threads go round different numbers of times, with a barrier in each.
__global__ void relax(const int *times, float *x, int n)
{
    __shared__ float tile[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, own = i < n ? times[i] % 4 : 0;
    tile[t] = i < n ? x[i] : 0.0f;
    for (int k = 0; k < own; k++) {
        tile[t] *= 0.5f;
        __syncthreads(); // finds SLR-C031
    }
    if (i < n)
        x[i] = tile[t];
}

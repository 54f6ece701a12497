// The next tile is loaded while others still read this one.
#define TILE 16
__global__ void multiply(const float *a, const float *b, float *c, int side)
{
    __shared__ float at[TILE][TILE], bt[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int tile = 0; tile < side / TILE; tile++) {
        at[ty][tx] = a[row * side + tile * TILE + tx];
        bt[ty][tx] = b[(tile * TILE + ty) * side + col];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += at[ty][k] * bt[k][tx];
        __syncthreads();
    }
    c[row * side + col] = sum;
}
